//! `decode_jpeg`, `decode_and_crop_jpeg`, `decode_png`, `decode_gif`, `decode_bmp`, `decode_webp`
//! and `decode_image`.
//!
//! What a file is, its first bytes say. As in TensorFlow, each of JPEG, PNG and GIF is decoded by
//! the others' functions too. All rows are opened before any is decoded, so that each is decoded
//! into its place.

use std::sync::Arc;

use crate::data::{Column, DType, Dims, PartialShape, Rows, Spec, Tensor, Wanted};
use crate::error::{Error, Result};
use crate::graph::attr::Attrs;
use crate::graph::kernel::{Arg, Kernel};
use crate::kernels::cast::{dense, inputs, scratch};
use crate::kernels::image::bmp::Bmp;
use crate::kernels::image::exif;
use crate::kernels::image::gif::Gif;
use crate::kernels::image::jpeg::{self, Window};
use crate::kernels::image::png::Png;
use crate::kernels::image::size::Size;
use crate::kernels::image::webp::WebP;
use crate::kernels::shape::stacked;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Op {
    Jpeg,
    CropJpeg,
    Png,
    Gif,
    Bmp,
    WebP,
    Image,
}

#[derive(Debug)]
struct Decode {
    op: Op,
    jpeg: jpeg::Options,
    /// Asked for; 0: those of the file.
    channels: usize,
    dtype: DType,
    expand_animations: bool,
    apply_orientation: bool,
}

const JPEG_ATTRS: [&str; 6] = [
    "channels",
    "ratio",
    "fancy_upscaling",
    "try_recover_truncated",
    "acceptable_fraction",
    "dct_method",
];

pub(super) fn build(op: &str, attrs: &Attrs) -> Result<Option<Arc<dyn Kernel>>> {
    let op = match op {
        "decode_jpeg" => Op::Jpeg,
        "decode_and_crop_jpeg" => Op::CropJpeg,
        "decode_png" => Op::Png,
        "decode_gif" => Op::Gif,
        "decode_bmp" => Op::Bmp,
        "decode_webp" => Op::WebP,
        "decode_image" => Op::Image,
        _ => return Ok(None),
    };
    match op {
        Op::Jpeg => attrs.only(&[&JPEG_ATTRS[..], &["apply_orientation"]].concat())?,
        Op::CropJpeg => attrs.only(&JPEG_ATTRS)?,
        Op::Png => attrs.only(&["channels", "dtype"])?,
        Op::Gif => attrs.only(&[])?,
        Op::Bmp | Op::WebP => attrs.only(&["channels"])?,
        Op::Image => {
            attrs.only(&["channels", "dtype", "expand_animations", "apply_orientation"])?;
        }
    }
    let channels = match attrs.opt_int("channels")?.unwrap_or(0) {
        _ if op == Op::Gif => 3,
        channels @ (0 | 1 | 3 | 4) => channels as usize,
        other => {
            let text = format!("`channels` must be 0, 1, 3 or 4 but got {other}");
            return Err(Error::invalid_argument(text));
        }
    };
    let dtype = attrs.opt_dtype("dtype")?.unwrap_or(DType::UInt8);
    let fits = match dtype {
        DType::UInt8 | DType::UInt16 => true,
        DType::Float32 => op == Op::Image,
        _ => false,
    };
    if !fits {
        let given = if op == Op::Image { "uint8, uint16 or float32" } else { "uint8 or uint16" };
        return Err(Error::invalid_argument(format!("`dtype` must be {given}, got {dtype}")));
    }
    Ok(Some(Arc::new(Decode {
        op,
        jpeg: jpeg_options(attrs, channels)?,
        channels,
        dtype,
        expand_animations: attrs.bool_or("expand_animations", true)?,
        apply_orientation: attrs.bool_or("apply_orientation", false)?,
    })))
}

fn jpeg_options(attrs: &Attrs, channels: usize) -> Result<jpeg::Options> {
    let ratio = match attrs.opt_int("ratio")?.unwrap_or(1) {
        ratio @ (1 | 2 | 4 | 8) => ratio as u8,
        other => {
            let text = format!("ratio must be 1, 2, 4, or 8, got {other}");
            return Err(Error::invalid_argument(text));
        }
    };
    let fast_dct = match attrs.opt_str("dct_method")?.unwrap_or("") {
        "" | "INTEGER_FAST" => true,
        "INTEGER_ACCURATE" => false,
        other => {
            return Err(Error::invalid_argument(format!(
                "dct_method must be one of {{'', 'INTEGER_FAST', 'INTEGER_ACCURATE'}}, got {other:?}"
            )));
        }
    };
    Ok(jpeg::Options {
        channels: channels as u8,
        ratio,
        fancy_upscaling: attrs.bool_or("fancy_upscaling", true)?,
        try_recover_truncated: attrs.bool_or("try_recover_truncated", false)?,
        acceptable_fraction: attrs.opt_float("acceptable_fraction")?.unwrap_or(1.0) as f32,
        fast_dct,
    })
}

/// A file whose header is read: its size is known, its pixels are not.
enum Opened<'a> {
    Jpeg(jpeg::Decoder<'a>, u8),
    Png(Box<Png<'a>>),
    Gif(Gif),
    Bmp(Bmp<'a>),
    WebP(Box<WebP<'a>>),
}

impl Opened<'_> {
    fn size(&self) -> Size {
        match self {
            Opened::Jpeg(jpeg, orientation) => exif::turned(jpeg.size(), *orientation),
            Opened::Png(png) => png.size,
            Opened::Gif(gif) => gif.size,
            Opened::Bmp(bmp) => bmp.size,
            Opened::WebP(webp) => webp.size,
        }
    }

    /// Number of frames; `None` of formats that have no animations.
    fn frames(&self) -> Option<usize> {
        match self {
            Opened::Gif(gif) => Some(gif.frames()),
            Opened::WebP(webp) => Some(webp.frames),
            _ => None,
        }
    }

    /// Decodes into `out`: bytes, or 16 bits each of a PNG that was opened so.
    fn read(self, out: &mut [u8]) -> Result<()> {
        match self {
            Opened::Jpeg(jpeg, 1) => jpeg.read(out),
            Opened::Jpeg(jpeg, orientation) => {
                let size = jpeg.size();
                let mut pixels = scratch::<u8>(size.len())?;
                jpeg.read(&mut pixels)?;
                exif::turn(&pixels, size, orientation, out);
                Ok(())
            }
            Opened::Png(mut png) => png.read(out),
            Opened::Gif(gif) => gif.read(out),
            Opened::Bmp(bmp) => {
                bmp.read(out);
                Ok(())
            }
            Opened::WebP(mut webp) => webp.read(out),
        }
    }
}

impl Decode {
    fn open<'a>(&self, data: &'a [u8], window: Option<Window>) -> Result<Opened<'a>> {
        let wrong = |text: String| Err(Error::invalid_argument(text));
        let (format, function) = match data {
            [] => return wrong("Input is empty.".into()),
            [0xff, 0xd8, 0xff, ..] => ("JPEG", "decode_jpeg"),
            [b'G', b'I', b'F', b'8', ..] => ("GIF", "decode_gif"),
            [b'B', b'M', ..] => ("BMP", "decode_bmp"),
            [b'R', b'I', b'F', b'F', _, _, _, _, b'W', b'E', b'B', b'P', ..] => {
                ("WebP", "decode_webp")
            }
            _ if data.starts_with(b"\x89PNG\r\n\x1a\n") => ("PNG", "decode_png"),
            _ if data.starts_with(b"\xff\x0a") || data.starts_with(b"\0\0\0\x0cJXL \r\n\x87\n") => {
                return wrong(
                    "JPEG XL images are not supported; convert them to JPEG or PNG".into(),
                );
            }
            _ => {
                let start = &data[..data.len().min(8)];
                return wrong(format!(
                    "Unknown image file format. One of JPEG, JPEG XL, PNG, GIF, BMP, WebP \
                     required. The data starts with \"{}\"",
                    start.escape_ascii()
                ));
            }
        };
        let fits = match self.op {
            Op::Image => true,
            Op::Jpeg | Op::Png | Op::Gif => matches!(format, "JPEG" | "PNG" | "GIF"),
            Op::CropJpeg if format != "JPEG" => {
                return wrong(format!(
                    "DecodeAndCropJpeg operation can run on JPEG only, but detected {format}."
                ));
            }
            Op::CropJpeg => true,
            Op::Bmp => format == "BMP",
            Op::WebP => format == "WebP",
        };
        if !fits && self.op == Op::Bmp {
            return wrong(format!(
                "Trying to decode {format} format using DecodeBmp op. Use `{function}` or \
                 `decode_image` instead."
            ));
        }
        if !fits {
            return wrong(format!(
                "Trying to decode {format} format using a wrong op. Use `{function}` or \
                 `decode_image` instead. Op used: Decode{:?}",
                self.op
            ));
        }
        match format {
            "JPEG" => self.open_jpeg(data, window),
            "PNG" => {
                let wide = self.dtype != DType::UInt8;
                Ok(Opened::Png(Box::new(Png::open(data, self.channels, wide)?)))
            }
            "GIF" => self.open_gif(data),
            "BMP" if self.channels == 1 => {
                wrong("`channels` must be 0, 3 or 4 for BMP, but got 1".into())
            }
            "BMP" => Ok(Opened::Bmp(Bmp::open(data, self.channels)?)),
            _ if self.channels == 1 => wrong("WebP only supports 3 or 4 channels, got 1".into()),
            _ => {
                let webp = WebP::open(data, self.channels, !self.expand_animations)?;
                Ok(Opened::WebP(Box::new(webp)))
            }
        }
    }

    fn open_jpeg<'a>(&self, data: &'a [u8], window: Option<Window>) -> Result<Opened<'a>> {
        if self.channels == 4 {
            return Err(Error::invalid_argument("JPEG does not support 4 channels"));
        }
        let jpeg = jpeg::Decoder::open(data, &self.jpeg, window)?;
        jpeg.size().check(1, 1)?;
        let orientation = if self.apply_orientation { exif::orientation(data) } else { 1 };
        Ok(Opened::Jpeg(jpeg, orientation))
    }

    fn open_gif(&self, data: &[u8]) -> Result<Opened<'static>> {
        if !matches!(self.channels, 0 | 3) {
            let text = format!("channels must be 0 or 3 for GIF, got {}", self.channels);
            return Err(Error::invalid_argument(text));
        }
        let gif = Gif::open(data, !self.expand_animations)?;
        if gif.frames() > 1 && matches!(self.op, Op::Jpeg | Op::Png) {
            return Err(Error::invalid_argument(format!(
                "Got {} frames, but animated gifs can only be decoded by tf.io.decode_gif or \
                 tf.io.decode_image",
                gif.frames()
            )));
        }
        Ok(Opened::Gif(gif))
    }

    /// The shape of the result for a file.
    fn dims(&self, opened: &Opened<'_>) -> Dims {
        let Size { height, width, channels } = opened.size();
        let one: Dims = [height, width, channels][..].into();
        let frames = match (self.op, opened.frames()) {
            (Op::Gif, frames) => Some(frames.unwrap_or(1)),
            (Op::WebP, frames) => frames,
            (Op::Image, frames) if self.expand_animations => frames,
            _ => None,
        };
        frames.into_iter().chain(one).collect()
    }

    /// Decodes into `out`, values of the result's dtype.
    fn read(&self, opened: Opened<'_>, out: &mut [u8]) -> Result<()> {
        let wide = matches!(opened, Opened::Png(_));
        if self.dtype == DType::UInt8 || wide && self.dtype == DType::UInt16 {
            return opened.read(out);
        }
        let size = self.dtype.size().unwrap_or(1);
        let count = out.len() / size;
        let mut given = scratch::<u16>(if wide { count } else { count.div_ceil(2) })?;
        given.truncate(if wide { 2 * count } else { count });
        opened.read(&mut given)?;
        let put = |(out, value): (&mut [u8], f32)| out.copy_from_slice(&value.to_ne_bytes());
        if self.dtype == DType::UInt16 {
            for (out, value) in out.chunks_exact_mut(2).zip(given.iter()) {
                out.copy_from_slice(&(u16::from(*value) << 8).to_ne_bytes());
            }
        } else if wide {
            let values = given.chunks_exact(2).map(|pair| u16::from_ne_bytes([pair[0], pair[1]]));
            let scaled = values.map(|value| f32::from(value) * (1.0 / 65535.0));
            out.chunks_exact_mut(4).zip(scaled).for_each(put);
        } else {
            let scaled = given.iter().map(|value| f32::from(*value) * (1.0 / 255.0));
            out.chunks_exact_mut(4).zip(scaled).for_each(put);
        }
        Ok(())
    }

    fn shape(&self) -> PartialShape {
        let channels = if self.channels == 0 { None } else { Some(self.channels) };
        match self.op {
            Op::Gif | Op::WebP => PartialShape::new([None, None, None, channels]),
            Op::Image if self.expand_animations => PartialShape::UNKNOWN,
            _ => PartialShape::new([None, None, channels]),
        }
    }
}

fn window(values: &[i32]) -> Result<Window> {
    match *values {
        [y, x, height, width] => Ok(Window { y, x, height, width }),
        _ => Err(Error::internal("a crop window without four numbers")),
    }
}

/// Fails unless rows are scalars.
pub(super) fn scalars(tensor: &Tensor) -> Result<()> {
    match tensor.dims().get(1..) {
        Some([]) => Ok(()),
        dims => {
            let shape = PartialShape::from(dims.unwrap_or_default());
            Err(Error::invalid_argument(format!("`contents` must be scalar but got shape {shape}")))
        }
    }
}

impl Kernel for Decode {
    fn infer(&self, specs: &[Spec]) -> Result<Vec<Spec>> {
        let mut shape = self.shape();
        let contents = if self.op == Op::CropJpeg {
            let [contents, window] = inputs(specs)?;
            let (dtype, dims) = dense(window)?;
            if dtype != DType::Int32 {
                let text = format!("crop_window must be of type int32, got {dtype}");
                return Err(Error::invalid_argument(text));
            }
            match dims.dims() {
                None | Some([None | Some(4)]) => {}
                Some([Some(_)]) => {
                    let text = format!("crop_window must have four elements, got shape {dims}");
                    return Err(Error::invalid_argument(text));
                }
                Some(_) => {
                    let text = format!("crop_window must be 1-D, got shape {dims}");
                    return Err(Error::invalid_argument(text));
                }
            }
            if self.channels == 0 {
                shape = PartialShape::new([None, None, None]);
            }
            contents
        } else {
            let [contents] = inputs(specs)?;
            contents
        };
        let (dtype, dims) = dense(contents)?;
        if !dtype.is_text() {
            return Err(Error::invalid_argument(format!("an image file is bytes, got {dtype}")));
        }
        if dims.rank().is_some_and(|rank| rank > 0) {
            let text = format!("`contents` must be scalar but got shape {dims}");
            return Err(Error::invalid_argument(text));
        }
        Ok(vec![Spec::Tensor { dtype: self.dtype, shape }])
    }

    fn is_heavy(&self) -> bool {
        true
    }

    fn run(&self, args: &[Arg], rows: usize, _: &[Wanted]) -> Result<Vec<Column>> {
        let (contents, windows) = match args {
            [contents] => (stacked(contents, rows)?, None),
            [contents, windows] => (stacked(contents, rows)?, Some(stacked(windows, rows)?)),
            _ => return Err(Error::internal("a decoder of images with other inputs")),
        };
        scalars(&contents)?;
        let windows = windows.as_ref().map(Tensor::values::<i32>).transpose()?;
        if windows.is_some_and(|windows| windows.len() != 4 * rows) {
            return Err(Error::invalid_argument("crop_window must have four elements"));
        }
        let mut files = Vec::with_capacity(rows);
        for (row, data) in contents.strings()?.iter().enumerate() {
            let window = windows.map(|windows| window(&windows[4 * row..][..4])).transpose()?;
            files.push(self.open(data, window)?);
        }
        let dims: Vec<Dims> = files.iter().map(|file| self.dims(file)).collect();
        let lens: Vec<usize> = dims.iter().map(|dims| dims.iter().product()).collect();
        let size = self.dtype.size().unwrap_or(1);
        let mut out = scratch::<u8>(lens.iter().sum::<usize>().saturating_mul(size))?;
        let mut rest = &mut out[..];
        for (file, len) in files.into_iter().zip(&lens) {
            let (place, after) = std::mem::take(&mut rest).split_at_mut(len * size);
            self.read(file, place)?;
            rest = after;
        }
        let flat = Tensor::fixed(self.dtype, [lens.iter().sum()][..].into(), out.freeze())?;
        if rows == 0 {
            let dims = std::iter::once(0).chain(self.empty_dims()).collect();
            return Ok(vec![Column::Stacked(flat.reshape(dims)?)]);
        }
        Ok(vec![Rows::new(flat, dims)?.into_column()?])
    }
}

impl Decode {
    /// What rows look like where there are none.
    fn empty_dims(&self) -> Dims {
        let shape = self.shape();
        shape
            .dims()
            .map_or_else(Dims::new, |dims| dims.iter().map(|dim| dim.unwrap_or(0)).collect())
    }
}
