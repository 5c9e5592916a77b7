//! `encode_jpeg` and `encode_png`.

use std::sync::Arc;

use ::png::{BitDepth, ColorType, DeflateCompression, Encoder, EncodingError, Filter};

use crate::data::{BytesArray, Column, DType, PartialShape, Spec, Tensor, Wanted};
use crate::error::{Error, Result};
use crate::graph::attr::Attrs;
use crate::graph::kernel::{Arg, Kernel};
use crate::kernels::cast::{dense, inputs};
use crate::kernels::image::jpeg::{self, Encoding};
use crate::kernels::image::size::Size;
use crate::kernels::shape::stacked;

/// Inputs: the image, and the quality if that is computed.
#[derive(Debug)]
struct EncodeJpeg {
    how: Encoding,
    /// Channels that the format asks for, with its name.
    format: Option<(usize, &'static str)>,
}

#[derive(Debug)]
struct EncodePng {
    compression: DeflateCompression,
}

pub(super) fn build(op: &str, attrs: &Attrs) -> Result<Option<Arc<dyn Kernel>>> {
    match op {
        "encode_jpeg" => Ok(Some(Arc::new(EncodeJpeg::new(attrs)?))),
        "encode_png" => {
            attrs.only(&["compression"])?;
            let compression = match attrs.opt_int("compression")?.unwrap_or(-1) {
                -1 => DeflateCompression::Level(6),
                0 => DeflateCompression::NoCompression,
                level @ 1..=9 => DeflateCompression::Level(level as u8),
                other => {
                    let text = format!("compression should be in [-1,9], got {other}");
                    return Err(Error::invalid_argument(text));
                }
            };
            Ok(Some(Arc::new(EncodePng { compression })))
        }
        _ => Ok(None),
    }
}

fn quality(value: i64) -> Result<u8> {
    match u8::try_from(value) {
        Ok(quality @ 0..=100) => Ok(quality),
        _ => Err(Error::invalid_argument(format!("quality must be in [0,100], got {value}"))),
    }
}

impl EncodeJpeg {
    fn new(attrs: &Attrs) -> Result<Self> {
        attrs.only(&[
            "format",
            "quality",
            "progressive",
            "optimize_size",
            "chroma_downsampling",
            "density_unit",
            "x_density",
            "y_density",
            "xmp_metadata",
        ])?;
        let format = match attrs.opt_str("format")?.unwrap_or("") {
            "" => None,
            "grayscale" => Some((1, "grayscale")),
            "rgb" => Some((3, "rgb")),
            other => {
                return Err(Error::invalid_argument(format!(
                    "format must be \"\", \"grayscale\" or \"rgb\", got {other:?}"
                )));
            }
        };
        let density_unit = match attrs.opt_str("density_unit")?.unwrap_or("in") {
            "in" => 1,
            "cm" => 2,
            other => {
                let text = format!("density_unit must be \"in\" or \"cm\", got {other:?}");
                return Err(Error::invalid_argument(text));
            }
        };
        // The file has 16 bits for it; TensorFlow cuts what is larger.
        let density = |name| Ok::<u16, Error>(attrs.opt_int(name)?.unwrap_or(300) as u16);
        let how = Encoding {
            quality: quality(attrs.opt_int("quality")?.unwrap_or(95))?,
            progressive: attrs.bool_or("progressive", false)?,
            optimize_size: attrs.bool_or("optimize_size", false)?,
            chroma_downsampling: attrs.bool_or("chroma_downsampling", true)?,
            density_unit,
            x_density: density("x_density")?,
            y_density: density("y_density")?,
            xmp_metadata: attrs.opt_str("xmp_metadata")?.unwrap_or("").into(),
        };
        Ok(EncodeJpeg { how, format })
    }

    fn size(&self, dims: &[usize]) -> Result<Size> {
        let shape = PartialShape::from(dims);
        let wrong = |text: String| Err(Error::invalid_argument(text));
        let &[height, width, channels] = dims else {
            return wrong(format!("image must be 3-dimensional, got shape {shape}"));
        };
        match self.format {
            Some((wanted, name)) if wanted != channels => {
                return wrong(format!("format {name} expects {wanted} channels, got {shape}"));
            }
            _ if !matches!(channels, 1 | 3) => {
                return wrong(format!("image must have 1 or 3 channels, got {shape}"));
            }
            _ => {}
        }
        if height == 0 || width == 0 {
            return wrong(format!("JPEG encoding failed: an image of shape {shape} has no pixels"));
        }
        Ok(Size { height, width, channels })
    }
}

fn check_image(spec: &Spec, dtypes: &[DType]) -> Result<PartialShape> {
    let (dtype, shape) = dense(spec)?;
    if dtypes.contains(&dtype) {
        return Ok(shape.clone());
    }
    let names = dtypes.iter().map(|dtype| dtype.name()).collect::<Vec<_>>().join(" or ");
    Err(Error::invalid_argument(format!("image must be of type {names}, got {dtype}")))
}

fn texts(values: Vec<Vec<u8>>, dims: &[usize]) -> Result<Vec<Column>> {
    let values = BytesArray::from_values(values)?;
    Ok(vec![Column::Stacked(Tensor::text(DType::Bytes, dims.into(), values)?)])
}

impl Kernel for EncodeJpeg {
    fn infer(&self, specs: &[Spec]) -> Result<Vec<Spec>> {
        let image = match specs {
            [image] => image,
            [image, quality] => {
                let (dtype, shape) = dense(quality)?;
                if dtype != DType::Int32 || shape.rank().is_some_and(|rank| rank > 0) {
                    let text = format!("quality must be an int32 scalar, got {quality}");
                    return Err(Error::invalid_argument(text));
                }
                image
            }
            _ => return Err(Error::invalid_argument("encode_jpeg takes an image and a quality")),
        };
        let shape = check_image(image, &[DType::UInt8])?;
        if shape.rank().is_some_and(|rank| rank != 3) {
            let text = format!("image must be 3-dimensional, got shape {shape}");
            return Err(Error::invalid_argument(text));
        }
        Ok(vec![Spec::scalar(DType::Bytes)])
    }

    fn run(&self, args: &[Arg], rows: usize, _: &[Wanted]) -> Result<Vec<Column>> {
        let (images, qualities) = match args {
            [images] => (stacked(images, rows)?, None),
            [images, qualities] => (stacked(images, rows)?, Some(stacked(qualities, rows)?)),
            _ => return Err(Error::internal("encode_jpeg with other inputs")),
        };
        let size = self.size(images.dims().get(1..).unwrap_or_default())?;
        let qualities = qualities.as_ref().map(Tensor::values::<i32>).transpose()?;
        let mut files = Vec::with_capacity(rows);
        for row in 0..rows {
            let pixels = &images.bytes()?[row * size.len()..][..size.len()];
            let mut how = self.how.clone();
            if let Some(value) = qualities.and_then(|qualities| qualities.get(row)) {
                how.quality = quality(i64::from(*value))?;
            }
            files.push(jpeg::encode(pixels, size, &how)?);
        }
        texts(files, &[rows])
    }
}

impl EncodePng {
    fn file(&self, pixels: &[u8], size: Size, wide: bool) -> Result<Vec<u8>> {
        let failed =
            |error: EncodingError| Error::invalid_argument(format!("PNG encoding failed: {error}"));
        let large = |_| Error::invalid_argument("PNG encoding failed: the image is too large");
        let width = u32::try_from(size.width).map_err(large)?;
        let height = u32::try_from(size.height).map_err(large)?;
        let mut file = Vec::new();
        let mut encoder = Encoder::new(&mut file, width, height);
        encoder.set_color(match size.channels {
            1 => ColorType::Grayscale,
            2 => ColorType::GrayscaleAlpha,
            3 => ColorType::Rgb,
            _ => ColorType::Rgba,
        });
        encoder.set_depth(if wide { BitDepth::Sixteen } else { BitDepth::Eight });
        encoder.set_filter(Filter::Adaptive);
        encoder.set_deflate_compression(self.compression);
        let mut writer = encoder.write_header().map_err(failed)?;
        if wide {
            let swapped = pixels.chunks_exact(2);
            let swapped =
                swapped.flat_map(|pair| u16::from_ne_bytes([pair[0], pair[1]]).to_be_bytes());
            writer.write_image_data(&swapped.collect::<Vec<_>>()).map_err(failed)?;
        } else {
            writer.write_image_data(pixels).map_err(failed)?;
        }
        writer.finish().map_err(failed)?;
        Ok(file)
    }
}

impl Kernel for EncodePng {
    fn infer(&self, specs: &[Spec]) -> Result<Vec<Spec>> {
        let [image] = inputs(specs)?;
        let shape = check_image(image, &[DType::UInt8, DType::UInt16])?;
        let shape = match shape.dims() {
            None => PartialShape::UNKNOWN,
            Some([before @ .., _, _, _]) => PartialShape::new(before.iter().copied()),
            Some(_) => {
                let text = format!("images must be at least rank 3, got shape {shape}");
                return Err(Error::invalid_argument(text));
            }
        };
        Ok(vec![Spec::Tensor { dtype: DType::Bytes, shape }])
    }

    fn run(&self, args: &[Arg], rows: usize, _: &[Wanted]) -> Result<Vec<Column>> {
        let [arg] = inputs(args)?;
        let images = stacked(arg, rows)?;
        let shape = PartialShape::from(images.dims().get(1..).unwrap_or_default());
        let [before @ .., height, width, channels] = images.dims() else {
            let text = format!("images must be at least rank 3, got shape {shape}");
            return Err(Error::invalid_argument(text));
        };
        let size = Size { height: *height, width: *width, channels: *channels };
        if before.is_empty() || !(1..=4).contains(channels) {
            let text = format!("image must have 1, 2, 3, or 4 channels, got {channels}");
            return Err(Error::invalid_argument(text));
        }
        if *height == 0 || *width == 0 {
            let text = format!("PNG encoding failed: an image of shape {shape} has no pixels");
            return Err(Error::invalid_argument(text));
        }
        let wide = images.dtype() == DType::UInt16;
        let bytes = size.len() * if wide { 2 } else { 1 };
        let images = images.bytes()?.chunks_exact(bytes);
        let files = images.map(|pixels| self.file(pixels, size, wide)).collect::<Result<_>>()?;
        texts(files, before)
    }
}
