/* libjpeg behind a few functions that return instead of jumping.
 *
 * libjpeg reports errors by a call that must not come back. Here it leaves by longjmp, which never
 * crosses a frame of Rust: each function below sets its own place to land and returns a code. The
 * order of calls, the handling of data that ends early and the conversion of CMYK follow
 * TensorFlow's, so that pixels are equal, those of damaged files too. */

#include <setjmp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jpeglib.h>
#include <jerror.h>

/* Multiples of a whole image that all scans together may decode: a file can hold thousands. */
#define MOST_SAMPLES_OF_SCANS ((int64_t)1 << 32)
#define FREE_SCANS 64
/* No block has more bytes. */
#define MOST_READS 16384
#define MOST_ENDS 16

enum { DONE = 0, FAILED = 1 };

typedef struct {
    int32_t ratio;
    int32_t channels; /* 0: those of the image */
    int32_t fancy_upscaling;
    int32_t recover_truncated;
    int32_t fast_dct;
    int32_t crop; /* 0: the whole image */
    int32_t crop_y, crop_x, crop_height, crop_width;
} Options;

typedef struct {
    int32_t width, height, channels; /* of the result */
    int32_t components;              /* of the file */
    int32_t lines_read;
    char message[JMSG_LENGTH_MAX];
} Info;

typedef struct {
    struct jpeg_error_mgr manager;
    jmp_buf place;
    Info *info;
} Errors;

typedef struct {
    struct jpeg_source_mgr manager;
    const JOCTET *data;
    size_t len;
    int recover;
    const JOCTET *place; /* where it was asked for more last, and how often */
    int times;
    int ends; /* how often the end of the image was made up */
    int skipping; /* lines are skipped, in which libjpeg cannot wait for more data */
    int behind;   /* all lines that are wanted have been read */
} Source;

typedef struct {
    struct jpeg_decompress_struct cinfo;
    struct jpeg_progress_mgr progress;
    Errors errors;
    Source source;
    Options options;
    JSAMPLE *line;
} Decoder;

static void leave(j_common_ptr cinfo) {
    Errors *errors = (Errors *)cinfo->err;
    errors->manager.format_message(cinfo, errors->info->message);
    longjmp(errors->place, 1);
}

/* Warnings are kept as the message in case that an error without one follows. */
static void hold_message(j_common_ptr cinfo, int level) {
    Errors *errors = (Errors *)cinfo->err;
    if (level < 0) {
        errors->manager.num_warnings++;
        errors->manager.format_message(cinfo, errors->info->message);
    }
}

static void print_nothing(j_common_ptr cinfo) { (void)cinfo; }

static struct jpeg_error_mgr *errors_into(Errors *errors, Info *info) {
    jpeg_std_error(&errors->manager);
    errors->manager.error_exit = leave;
    errors->manager.emit_message = hold_message;
    errors->manager.output_message = print_nothing;
    errors->info = info;
    return &errors->manager;
}

static void count_scans(j_common_ptr common) {
    j_decompress_ptr cinfo = (j_decompress_ptr)common;
    int64_t samples = (int64_t)cinfo->image_width * cinfo->image_height * cinfo->num_components;
    int64_t scans = cinfo->input_scan_number;
    if (scans > FREE_SCANS && samples * scans > MOST_SAMPLES_OF_SCANS) {
        Errors *errors = (Errors *)cinfo->err;
        snprintf(errors->info->message, JMSG_LENGTH_MAX, "more than %d scans of a large image",
                 (int)scans - 1);
        longjmp(errors->place, 1);
    }
}

static void source_nothing(j_decompress_ptr cinfo) { (void)cinfo; }

static const JOCTET END_OF_IMAGE[2] = {0xff, JPEG_EOI};

static boolean fill(j_decompress_ptr cinfo) {
    Source *source = (Source *)cinfo->src;
    if (source->manager.bytes_in_buffer > 0) {
        /* In the middle of a block. To recover, the decoder reads its last bytes once more. That
         * may be needed for each byte of a block, but a marker is never found in this way. */
        if (source->skipping && !source->recover) ERREXIT(cinfo, JERR_INPUT_EOF);
        if (!source->recover) return FALSE;
        if (source->place != source->manager.next_input_byte) source->times = 0;
        source->place = source->manager.next_input_byte;
        if (source->times++ < MOST_READS) return TRUE;
    }
    if (source->len == 0) ERREXIT(cinfo, JERR_INPUT_EMPTY);
    if (!source->recover || source->ends++ >= MOST_ENDS) ERREXIT(cinfo, JERR_INPUT_EOF);
    WARNMS(cinfo, JWRN_JPEG_EOF);
    source->manager.next_input_byte = END_OF_IMAGE;
    source->manager.bytes_in_buffer = 2;
    return TRUE;
}

static void skip(j_decompress_ptr cinfo, long count) {
    struct jpeg_source_mgr *source = cinfo->src;
    if (count <= 0) return;
    if ((unsigned long)count > source->bytes_in_buffer) {
        source->bytes_in_buffer = 0;
    } else {
        source->next_input_byte += count;
        source->bytes_in_buffer -= count;
    }
}

static void set_source(Decoder *decoder, const uint8_t *data, size_t len) {
    Source *source = &decoder->source;
    source->manager.init_source = source_nothing;
    source->manager.fill_input_buffer = fill;
    source->manager.skip_input_data = skip;
    source->manager.resync_to_restart = jpeg_resync_to_restart;
    source->manager.term_source = source_nothing;
    source->manager.next_input_byte = data;
    source->manager.bytes_in_buffer = len;
    source->data = data;
    source->len = len;
    source->recover = decoder->options.recover_truncated;
    decoder->cinfo.src = &source->manager;
}

static int says(Info *info, const char *message) {
    snprintf(info->message, JMSG_LENGTH_MAX, "%s", message);
    return FAILED;
}

void headrace_jpeg_close(Decoder *decoder) {
    if (decoder == NULL) return;
    Info ignored;
    decoder->errors.info = &ignored;
    if (setjmp(decoder->errors.place) == 0) {
        jpeg_destroy_decompress(&decoder->cinfo);
    }
    free(decoder->line);
    free(decoder);
}

/* What the pixels are asked as, once the header is read. */
static int set_output(Decoder *decoder, Info *info) {
    j_decompress_ptr cinfo = &decoder->cinfo;
    const Options *options = &decoder->options;
    int channels = options->channels;
    if (channels == 0) channels = cinfo->num_components < 3 ? cinfo->num_components : 3;
    if (channels == 1) {
        cinfo->out_color_space = JCS_GRAYSCALE;
    } else if (channels == 3) {
        int cmyk =
            cinfo->jpeg_color_space == JCS_CMYK || cinfo->jpeg_color_space == JCS_YCCK;
        cinfo->out_color_space = cmyk ? JCS_CMYK : JCS_RGB;
    } else {
        return says(info, "images of two components are not supported");
    }
    cinfo->do_fancy_upsampling = options->fancy_upscaling ? TRUE : FALSE;
    cinfo->scale_num = 1;
    cinfo->scale_denom = options->ratio;
    cinfo->dct_method = options->fast_dct ? JDCT_IFAST : JDCT_ISLOW;
    jpeg_calc_output_dimensions(cinfo);
    info->width = (int32_t)cinfo->output_width;
    info->height = (int32_t)cinfo->output_height;
    info->channels = channels;
    info->components = cinfo->num_components;
    if (!options->crop) return DONE;
    if (options->crop_y < 0 || options->crop_x < 0 || options->crop_height <= 0 ||
        options->crop_width <= 0 ||
        (int64_t)options->crop_y + options->crop_height > info->height ||
        (int64_t)options->crop_x + options->crop_width > info->width) {
        snprintf(info->message, JMSG_LENGTH_MAX,
                 "the crop window (y %d, x %d, height %d, width %d) is not inside of the "
                 "image of height %d and width %d",
                 options->crop_y, options->crop_x, options->crop_height, options->crop_width,
                 info->height, info->width);
        return FAILED;
    }
    info->height = options->crop_height;
    info->width = options->crop_width;
    return DONE;
}

/* Reads the header. `*made` must be closed whatever comes back. */
int headrace_jpeg_open(const uint8_t *data, size_t len, const Options *options, Info *info,
                       Decoder **made) {
    Decoder *decoder = calloc(1, sizeof(Decoder));
    *made = decoder;
    if (decoder == NULL) return says(info, "out of memory");
    decoder->options = *options;
    decoder->cinfo.err = errors_into(&decoder->errors, info);
    if (setjmp(decoder->errors.place) != 0) return FAILED;
    jpeg_create_decompress(&decoder->cinfo);
    decoder->progress.progress_monitor = count_scans;
    decoder->cinfo.progress = &decoder->progress;
    set_source(decoder, data, len);
    if (jpeg_read_header(&decoder->cinfo, TRUE) != JPEG_HEADER_OK) {
        return says(info, "the header ends early");
    }
    return set_output(decoder, info);
}

static void rgb_of_cmyk(const JSAMPLE *in, uint8_t *out, size_t count, int inverted) {
    for (size_t i = 0; i < count; i++, in += 4, out += 3) {
        for (int c = 0; c < 3; c++) {
            out[c] = inverted ? in[3] * in[c] / 255 : (255 - in[3]) * (255 - in[c]) / 255;
        }
    }
}

/* One line into `out`; 0 if the data has ended. */
static JDIMENSION read_line(Decoder *decoder, const Info *info, uint8_t *out) {
    j_decompress_ptr cinfo = &decoder->cinfo;
    if (decoder->line == NULL) return jpeg_read_scanlines(cinfo, &out, 1);
    JDIMENSION read = jpeg_read_scanlines(cinfo, &decoder->line, 1);
    if (read == 0) return 0;
    size_t width = (size_t)info->width;
    int cmyk = cinfo->out_color_space == JCS_CMYK;
    size_t before = (cinfo->output_width - width) * (cmyk ? 4 : (size_t)info->channels);
    if (cmyk) {
        rgb_of_cmyk(decoder->line + before, out, width, cinfo->saw_Adobe_marker);
    } else {
        memcpy(out, decoder->line + before, width * (size_t)info->channels);
    }
    return read;
}

/* Decodes into `out`, which has room for height x width x channels. `lines_read` tells how many
 * lines the data had; the others are filled in if the data is to be recovered, and are zero
 * otherwise. */
int headrace_jpeg_read(Decoder *decoder, Info *info, uint8_t *out) {
    j_decompress_ptr cinfo = &decoder->cinfo;
    const Options *options = &decoder->options;
    decoder->errors.info = info;
    if (setjmp(decoder->errors.place) != 0) {
        /* Data that ends behind the crop window is not missed. */
        if (!decoder->source.behind || cinfo->err->msg_code != JERR_INPUT_EOF) return FAILED;
        jpeg_abort_decompress(cinfo);
        return DONE;
    }
    if (!jpeg_start_decompress(cinfo)) return says(info, "the image data ends early");
    JDIMENSION first = 0;
    if (options->crop) {
        JDIMENSION x = (JDIMENSION)options->crop_x;
        JDIMENSION width = (JDIMENSION)options->crop_width;
        jpeg_crop_scanline(cinfo, &x, &width);
        decoder->source.skipping = 1;
        first = jpeg_skip_scanlines(cinfo, (JDIMENSION)options->crop_y);
        decoder->source.skipping = 0;
        if (first != (JDIMENSION)options->crop_y) {
            return says(info, "the image data ends before the crop window");
        }
    }
    int cmyk = cinfo->out_color_space == JCS_CMYK;
    if (cmyk || cinfo->output_width != (JDIMENSION)info->width) {
        decoder->line = malloc((size_t)cinfo->output_width * 4);
        if (decoder->line == NULL) return says(info, "out of memory");
    }
    size_t stride = (size_t)info->width * (size_t)info->channels;
    JDIMENSION end = first + (JDIMENSION)info->height;
    info->lines_read = info->height;
    while (cinfo->output_scanline < end) {
        JDIMENSION line = cinfo->output_scanline - first;
        uint8_t *place = out + line * stride;
        if (read_line(decoder, info, place) > 0) continue;
        size_t left = (size_t)info->height - line;
        if (options->recover_truncated) {
            for (; left > 0; left--, line++, place += stride) {
                if (line == 0) {
                    memset(place, 0, stride);
                } else {
                    memcpy(place, place - stride, stride);
                }
            }
        } else {
            info->lines_read = (int32_t)line;
            memset(place, 0, left * stride);
            says(info, "the image data ends early");
        }
        jpeg_abort_decompress(cinfo);
        return DONE;
    }
    /* The rest is read too: damage behind a crop window is damage. */
    if (cinfo->output_scanline < cinfo->output_height) {
        decoder->source.skipping = decoder->source.behind = 1;
        jpeg_skip_scanlines(cinfo, cinfo->output_height - cinfo->output_scanline);
    }
    if (cinfo->output_scanline == cinfo->output_height) {
        jpeg_finish_decompress(cinfo);
    } else {
        jpeg_abort_decompress(cinfo);
    }
    return DONE;
}

typedef struct {
    int32_t width, height, channels;
    int32_t quality;
    int32_t progressive, optimize_size, chroma_downsampling;
    int32_t density_unit; /* 1: inch, 2: centimetre */
    int32_t x_density, y_density;
} Encoding;

typedef struct {
    struct jpeg_compress_struct cinfo;
    Errors errors;
    struct jpeg_destination_mgr sink;
    JOCTET *bytes;
    size_t len, room;
} Encoder;

static void grow(j_compress_ptr cinfo, size_t used, size_t room) {
    Encoder *encoder = (Encoder *)cinfo->client_data;
    JOCTET *bytes = realloc(encoder->bytes, room);
    if (bytes == NULL) ERREXIT1(cinfo, JERR_OUT_OF_MEMORY, 0);
    encoder->bytes = bytes;
    encoder->room = room;
    encoder->sink.next_output_byte = bytes + used;
    encoder->sink.free_in_buffer = room - used;
}

static void sink_starts(j_compress_ptr cinfo) { grow(cinfo, 0, 1 << 14); }

static boolean sink_is_full(j_compress_ptr cinfo) {
    Encoder *encoder = (Encoder *)cinfo->client_data;
    grow(cinfo, encoder->room, encoder->room * 2);
    return TRUE;
}

static void sink_ends(j_compress_ptr cinfo) {
    Encoder *encoder = (Encoder *)cinfo->client_data;
    encoder->len = encoder->room - encoder->sink.free_in_buffer;
}

/* Compresses `pixels`. `*made` is freed by headrace_jpeg_free whatever comes back. */
int headrace_jpeg_encode(const uint8_t *pixels, const Encoding *how, const uint8_t *packet,
                         size_t packet_len, Info *info, Encoder **made) {
    Encoder *encoder = calloc(1, sizeof(Encoder));
    *made = encoder;
    if (encoder == NULL) return says(info, "out of memory");
    j_compress_ptr cinfo = &encoder->cinfo;
    cinfo->err = errors_into(&encoder->errors, info);
    if (setjmp(encoder->errors.place) != 0) return FAILED;
    jpeg_create_compress(cinfo);
    cinfo->client_data = encoder;
    encoder->sink.init_destination = sink_starts;
    encoder->sink.empty_output_buffer = sink_is_full;
    encoder->sink.term_destination = sink_ends;
    cinfo->dest = &encoder->sink;
    cinfo->image_width = (JDIMENSION)how->width;
    cinfo->image_height = (JDIMENSION)how->height;
    cinfo->input_components = how->channels;
    cinfo->in_color_space = how->channels == 1 ? JCS_GRAYSCALE : JCS_RGB;
    jpeg_set_defaults(cinfo);
    if (how->optimize_size) cinfo->optimize_coding = TRUE;
    cinfo->density_unit = (UINT8)how->density_unit;
    cinfo->X_density = (UINT16)how->x_density;
    cinfo->Y_density = (UINT16)how->y_density;
    jpeg_set_quality(cinfo, how->quality, TRUE);
    if (how->progressive) jpeg_simple_progression(cinfo);
    if (!how->chroma_downsampling) {
        for (int i = 0; i < cinfo->num_components; i++) {
            cinfo->comp_info[i].h_samp_factor = 1;
            cinfo->comp_info[i].v_samp_factor = 1;
        }
    }
    jpeg_start_compress(cinfo, TRUE);
    if (packet_len > 0) {
        jpeg_write_marker(cinfo, JPEG_APP0 + 1, packet, (unsigned int)packet_len);
    }
    size_t stride = (size_t)how->width * (size_t)how->channels;
    while (cinfo->next_scanline < cinfo->image_height) {
        JSAMPLE *line = (JSAMPLE *)(pixels + cinfo->next_scanline * stride);
        jpeg_write_scanlines(cinfo, &line, 1);
    }
    jpeg_finish_compress(cinfo);
    return DONE;
}

const uint8_t *headrace_jpeg_encoded(const Encoder *encoder, size_t *len) {
    *len = encoder->len;
    return encoder->bytes;
}

void headrace_jpeg_free(Encoder *encoder) {
    if (encoder == NULL) return;
    Info ignored;
    encoder->errors.info = &ignored;
    if (setjmp(encoder->errors.place) == 0) {
        jpeg_destroy_compress(&encoder->cinfo);
    }
    free(encoder->bytes);
    free(encoder);
}
