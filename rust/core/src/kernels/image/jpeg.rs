//! JPEG by libjpeg-turbo, with TensorFlow's settings and its way with damaged data.
//!
//! The one file of the kernels that calls foreign code. `jpeg.c` beside it wraps the library: it
//! catches libjpeg's jumps, so that each call here returns. Sizes are known after [`Decoder::open`]
//! and checked by the caller before there is room for pixels.

#![allow(unsafe_code)]

use std::ffi::{CStr, c_char, c_int};
use std::marker::PhantomData;
use std::ptr;

// Its archive holds the functions that jpeg.c calls.
use turbojpeg_sys as _;

use crate::error::{Error, Result};
use crate::kernels::image::size::Size;

/// How a JPEG is decoded.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Options {
    /// 0 for the image's own, 1 or 3.
    pub(crate) channels: u8,
    /// 1, 2, 4 or 8: one pixel of the result for so many each way.
    pub(crate) ratio: u8,
    pub(crate) fancy_upscaling: bool,
    pub(crate) try_recover_truncated: bool,
    /// The share of the lines that must be there.
    pub(crate) acceptable_fraction: f32,
    /// The fast inverse DCT, less exact.
    pub(crate) fast_dct: bool,
}

/// Where a part of an image is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Window {
    pub(crate) y: i32,
    pub(crate) x: i32,
    pub(crate) height: i32,
    pub(crate) width: i32,
}

/// How pixels become a JPEG.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Encoding {
    pub(crate) quality: u8,
    pub(crate) progressive: bool,
    pub(crate) optimize_size: bool,
    pub(crate) chroma_downsampling: bool,
    /// 1 for inches, 2 for centimetres.
    pub(crate) density_unit: u8,
    pub(crate) x_density: u16,
    pub(crate) y_density: u16,
    pub(crate) xmp_metadata: Vec<u8>,
}

#[repr(C)]
struct RawOptions {
    ratio: i32,
    channels: i32,
    fancy_upscaling: i32,
    recover_truncated: i32,
    fast_dct: i32,
    crop: i32,
    crop_y: i32,
    crop_x: i32,
    crop_height: i32,
    crop_width: i32,
}

#[repr(C)]
struct Info {
    width: i32,
    height: i32,
    channels: i32,
    components: i32,
    lines_read: i32,
    message: [c_char; MESSAGE],
}

/// libjpeg's JMSG_LENGTH_MAX.
const MESSAGE: usize = 200;

#[repr(C)]
struct RawEncoding {
    width: i32,
    height: i32,
    channels: i32,
    quality: i32,
    progressive: i32,
    optimize_size: i32,
    chroma_downsampling: i32,
    density_unit: i32,
    x_density: i32,
    y_density: i32,
}

enum RawDecoder {}
enum RawEncoder {}

unsafe extern "C" {
    fn headrace_jpeg_open(
        data: *const u8,
        len: usize,
        options: *const RawOptions,
        info: *mut Info,
        made: *mut *mut RawDecoder,
    ) -> c_int;
    fn headrace_jpeg_read(decoder: *mut RawDecoder, info: *mut Info, out: *mut u8) -> c_int;
    fn headrace_jpeg_close(decoder: *mut RawDecoder);
    fn headrace_jpeg_encode(
        pixels: *const u8,
        how: *const RawEncoding,
        packet: *const u8,
        packet_len: usize,
        info: *mut Info,
        made: *mut *mut RawEncoder,
    ) -> c_int;
    fn headrace_jpeg_encoded(encoder: *const RawEncoder, len: *mut usize) -> *const u8;
    fn headrace_jpeg_free(encoder: *mut RawEncoder);
}

impl Info {
    fn new() -> Self {
        Info {
            width: 0,
            height: 0,
            channels: 0,
            components: 0,
            lines_read: 0,
            message: [0; MESSAGE],
        }
    }

    fn message(&self) -> String {
        let bytes: Vec<u8> = self.message.iter().map(|c| *c as u8).collect();
        let text = CStr::from_bytes_until_nul(&bytes).map(CStr::to_string_lossy);
        text.map_or_else(|_| "unknown error".into(), Into::into)
    }

    fn size(&self) -> Size {
        let whole = |value: i32| usize::try_from(value).unwrap_or(0);
        Size {
            height: whole(self.height),
            width: whole(self.width),
            channels: whole(self.channels),
        }
    }
}

/// A JPEG whose header is read.
pub(crate) struct Decoder<'a> {
    raw: *mut RawDecoder,
    info: Box<Info>,
    acceptable_fraction: f32,
    data: PhantomData<&'a [u8]>,
}

impl<'a> Decoder<'a> {
    /// Reads the header.
    ///
    /// # Errors
    /// `InvalidArgument` if there is none, or the window is not inside of the image.
    pub(crate) fn open(data: &'a [u8], options: &Options, window: Option<Window>) -> Result<Self> {
        let crop = window.unwrap_or(Window { y: 0, x: 0, height: 0, width: 0 });
        let raw_options = RawOptions {
            ratio: i32::from(options.ratio),
            channels: i32::from(options.channels),
            fancy_upscaling: i32::from(options.fancy_upscaling),
            recover_truncated: i32::from(options.try_recover_truncated),
            fast_dct: i32::from(options.fast_dct),
            crop: i32::from(window.is_some()),
            crop_y: crop.y,
            crop_x: crop.x,
            crop_height: crop.height,
            crop_width: crop.width,
        };
        let mut decoder = Decoder {
            raw: ptr::null_mut(),
            info: Box::new(Info::new()),
            acceptable_fraction: options.acceptable_fraction,
            data: PhantomData,
        };
        // SAFETY: `data` is valid for its length and outlives the decoder ('a); options and info
        // are laid out as in C; `raw` is freed by drop, whatever the call returns.
        let code = unsafe {
            headrace_jpeg_open(
                data.as_ptr(),
                data.len(),
                &raw const raw_options,
                &raw mut *decoder.info,
                &raw mut decoder.raw,
            )
        };
        if code == 0 { Ok(decoder) } else { Err(failed(&decoder.info.message())) }
    }

    /// The size of the result.
    pub(crate) fn size(&self) -> Size {
        self.info.size()
    }

    /// Number of components in the file.
    pub(crate) fn components(&self) -> i32 {
        self.info.components
    }

    /// Decodes into `out`, which has just the size of the result.
    ///
    /// # Errors
    /// `InvalidArgument` if the data is damaged or too little of it is there.
    pub(crate) fn read(mut self, out: &mut [u8]) -> Result<()> {
        if out.len() != self.size().len() {
            return Err(Error::internal("a JPEG and the room for it differ in size"));
        }
        // SAFETY: `raw` was opened without an error and its data is alive; `out` is as large as
        // the C side takes it to be (checked above).
        let code = unsafe { headrace_jpeg_read(self.raw, &raw mut *self.info, out.as_mut_ptr()) };
        if code != 0 {
            return Err(failed(&self.info.message()));
        }
        let (read, height) = (self.info.lines_read, self.info.height);
        if (read as f32 / height as f32) < self.acceptable_fraction.min(1.0) {
            let text = format!("{} after {read} of {height} lines", self.info.message());
            return Err(failed(&text));
        }
        Ok(())
    }
}

impl Drop for Decoder<'_> {
    fn drop(&mut self) {
        // SAFETY: `raw` comes from headrace_jpeg_open (or is null) and is not used after this.
        unsafe { headrace_jpeg_close(self.raw) }
    }
}

fn failed(message: &str) -> Error {
    Error::invalid_argument(format!("Invalid JPEG data or crop window: {message}"))
}

struct Encoder(*mut RawEncoder);

impl Drop for Encoder {
    fn drop(&mut self) {
        // SAFETY: the pointer comes from headrace_jpeg_encode (or is null); nothing uses it later.
        unsafe { headrace_jpeg_free(self.0) }
    }
}

/// The bytes of a JPEG of `pixels`, which are one or three channels.
///
/// # Errors
/// `InvalidArgument` for sizes that JPEG does not have.
pub(crate) fn encode(pixels: &[u8], size: Size, how: &Encoding) -> Result<Vec<u8>> {
    let narrow = |value: usize| {
        i32::try_from(value).map_err(|_| Error::invalid_argument("the image is too large for JPEG"))
    };
    if pixels.len() != size.len() || pixels.is_empty() || !matches!(size.channels, 1 | 3) {
        return Err(Error::internal("an image and its size differ"));
    }
    let raw = RawEncoding {
        width: narrow(size.width)?,
        height: narrow(size.height)?,
        channels: narrow(size.channels)?,
        quality: i32::from(how.quality),
        progressive: i32::from(how.progressive),
        optimize_size: i32::from(how.optimize_size),
        chroma_downsampling: i32::from(how.chroma_downsampling),
        density_unit: i32::from(how.density_unit),
        x_density: i32::from(how.x_density),
        y_density: i32::from(how.y_density),
    };
    let packet = match how.xmp_metadata.as_slice() {
        [] => Vec::new(),
        metadata => [b"http://ns.adobe.com/xap/1.0/\0", metadata].concat(),
    };
    let mut info = Info::new();
    let mut encoder = Encoder(ptr::null_mut());
    // SAFETY: `pixels` is height x width x channels bytes (checked above), the packet is valid for
    // its length, the structs are laid out as in C; drop frees what is made.
    let code = unsafe {
        headrace_jpeg_encode(
            pixels.as_ptr(),
            &raw const raw,
            packet.as_ptr(),
            packet.len(),
            &raw mut info,
            &raw mut encoder.0,
        )
    };
    if code != 0 {
        return Err(Error::invalid_argument(format!("JPEG encoding failed: {}", info.message())));
    }
    let mut len = 0;
    // SAFETY: encoding went well, so the encoder holds `len` bytes until it is dropped.
    let bytes = unsafe {
        let bytes = headrace_jpeg_encoded(encoder.0, &raw mut len);
        std::slice::from_raw_parts(bytes, len)
    };
    Ok(bytes.to_vec())
}
