//! Colours: `image_adjust` for brightness, contrast and the like, `image_colour` between the ways
//! to write colours, `per_image_standardization`.
//!
//! Adjustments compute in float32, in the range 0 to 1 for integers, and go back to the dtype of
//! the image, as TensorFlow's do. Between colour spaces values keep dtype and range.

use std::sync::Arc;

use half::f16;

use super::dtype::{from_unit, to_unit};
use super::each::{Each, Known, each_row, typed_mut};
use super::pixels;
use super::resize::not_numeric;
use crate::data::{DType, PartialShape, Tensor};
use crate::error::{Error, Result};
use crate::graph::attr::Attrs;
use crate::graph::kernel::{Kernel, Tolerance};
use crate::kernels::cast::{cast_tensor, to_f64};

/// What is adjusted; the number that says how much is an input.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Adjust {
    Brightness,
    Contrast,
    Gamma,
    Hue,
    Saturation,
}

/// From one way to write colours to another.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Space {
    RgbToHsv,
    HsvToRgb,
    /// Each pixel, as a row, times a matrix.
    Matrix([[f64; 3]; 3]),
    RgbToGrayscale,
    GrayscaleToRgb,
}

const SPACES: [(&str, Space); 8] = [
    ("rgb_to_hsv", Space::RgbToHsv),
    ("hsv_to_rgb", Space::HsvToRgb),
    ("rgb_to_grayscale", Space::RgbToGrayscale),
    ("grayscale_to_rgb", Space::GrayscaleToRgb),
    (
        "rgb_to_yiq",
        Space::Matrix([
            [0.299, 0.59590059, 0.2115],
            [0.587, -0.27455667, -0.52273617],
            [0.114, -0.32134392, 0.31119955],
        ]),
    ),
    (
        "yiq_to_rgb",
        Space::Matrix([
            [1.0, 1.0, 1.0],
            [0.95598634, -0.27201283, -1.10674021],
            [0.6208248, -0.64720424, 1.70423049],
        ]),
    ),
    (
        "rgb_to_yuv",
        Space::Matrix([
            [0.299, -0.14714119, 0.61497538],
            [0.587, -0.28886916, -0.51496512],
            [0.114, 0.43601035, -0.10001026],
        ]),
    ),
    (
        "yuv_to_rgb",
        Space::Matrix([
            [1.0, 1.0, 1.0],
            [0.0, -0.394642334, 2.03206185],
            [1.13988303, -0.58062185, 0.0],
        ]),
    ),
];

#[derive(Debug)]
struct Adjusted(Adjust);

#[derive(Debug)]
struct Converted {
    name: &'static str,
    space: Space,
}

#[derive(Debug)]
struct Standardized;

pub(super) fn build(op: &str, attrs: &Attrs) -> Result<Option<Arc<dyn Kernel>>> {
    Ok(match op {
        "image_adjust" => {
            attrs.only(&["what"])?;
            let adjust = match attrs.str("what")? {
                "brightness" => Adjust::Brightness,
                "contrast" => Adjust::Contrast,
                "gamma" => Adjust::Gamma,
                "hue" => Adjust::Hue,
                "saturation" => Adjust::Saturation,
                other => return Err(Error::invalid_argument(format!("cannot adjust {other:?}"))),
            };
            each_row(Adjusted(adjust))
        }
        "image_colour" => {
            attrs.only(&["space"])?;
            let name = attrs.str("space")?;
            let Some((name, space)) = SPACES.iter().find(|(known, _)| *known == name) else {
                let text = format!("there is no change of colours {name:?}");
                return Err(Error::invalid_argument(text));
            };
            each_row(Converted { name, space: *space })
        }
        "per_image_standardization" => {
            attrs.only(&[])?;
            each_row(Standardized)
        }
        _ => return Ok(None),
    })
}

/// Checks the dtype, the least rank, and the number of channels where that matters.
fn check(op: &str, (dtype, shape): &Known, rank: usize, channels: Option<usize>) -> Result<()> {
    if !dtype.is_integer() && !dtype.is_float() {
        return Err(not_numeric(op, *dtype));
    }
    let Some(dims) = shape.dims() else { return Ok(()) };
    if dims.len() < rank {
        return Err(Error::invalid_argument(format!(
            "{op}: images must be at least {rank}-D, got {} dimensions",
            dims.len()
        )));
    }
    match (channels, dims.last()) {
        (Some(channels), Some(Some(found))) if *found != channels => Err(Error::invalid_argument(
            format!("{op}: input must have {channels} channels, got {found} in shape {shape}"),
        )),
        _ => Ok(()),
    }
}

/// The one number of an argument.
fn number(op: &str, tensor: &Tensor) -> Result<f64> {
    match to_f64(tensor)?.as_slice() {
        [one] => Ok(*one),
        _ => {
            let shape = PartialShape::from(tensor.dims());
            let text = format!("{op} takes one number for an image, got shape {shape}");
            Err(Error::invalid_argument(text))
        }
    }
}

impl Adjusted {
    fn name(&self) -> &'static str {
        match self.0 {
            Adjust::Brightness => "adjust_brightness",
            Adjust::Contrast => "adjust_contrast",
            Adjust::Gamma => "adjust_gamma",
            Adjust::Hue => "adjust_hue",
            Adjust::Saturation => "adjust_saturation",
        }
    }
}

impl Each for Adjusted {
    fn rule(&self, args: &[Known]) -> Result<Known> {
        let wanted = if self.0 == Adjust::Gamma { 3 } else { 2 };
        if args.len() != wanted {
            let text = format!("{}: expected {wanted} inputs, got {}", self.name(), args.len());
            return Err(Error::invalid_argument(text));
        }
        let (rank, channels) = match self.0 {
            Adjust::Brightness | Adjust::Gamma => (0, None),
            Adjust::Contrast => (3, None),
            Adjust::Hue | Adjust::Saturation => (3, Some(3)),
        };
        check(self.name(), &args[0], rank, channels)?;
        Ok(args[0].clone())
    }

    fn write(&self, args: &[Tensor], dims: &[usize], out: &mut [u8]) -> Result<()> {
        let name = self.name();
        let mut values = to_unit(name, &args[0])?;
        let by = number(name, &args[1])?;
        // Half precision adds in half precision.
        let amount = match (self.0, args[0].dtype()) {
            (Adjust::Brightness, DType::Float16) => f16::from_f64(by).to_f32(),
            _ => by as f32,
        };
        match self.0 {
            Adjust::Brightness => values.iter_mut().for_each(|value| *value += amount),
            Adjust::Contrast => {
                let channels = dims.last().copied().unwrap_or(1);
                let image = dims[dims.len() - 3..].iter().product();
                pixels::contrast(&mut values, image, channels, amount);
            }
            Adjust::Gamma => {
                if by < 0.0 {
                    let text = format!("Gamma should be a non-negative real number, got {by}");
                    return Err(Error::invalid_argument(text));
                }
                let gain = number(name, &args[2])? as f32;
                values.iter_mut().for_each(|value| *value = gain * value.powf(amount));
            }
            Adjust::Hue => {
                if !(-1.0..=1.0).contains(&by) {
                    let text = format!("delta must be in the interval [-1, 1], got {by}");
                    return Err(Error::invalid_argument(text));
                }
                values.as_chunks_mut::<3>().0.iter_mut().for_each(|p| *p = pixels::hue(*p, amount));
            }
            Adjust::Saturation => {
                let pixels = values.as_chunks_mut::<3>().0;
                pixels.iter_mut().for_each(|p| *p = pixels::saturation(*p, amount));
            }
        }
        // Hue and saturation stay within the range by themselves.
        let saturate = !matches!(self.0, Adjust::Hue | Adjust::Saturation);
        from_unit(&values, args[0].dtype(), saturate, out)
    }
}

impl Each for Converted {
    fn rule(&self, args: &[Known]) -> Result<Known> {
        let [image] = args else {
            let text = format!("{}: expected 1 input, got {}", self.name, args.len());
            return Err(Error::invalid_argument(text));
        };
        let (channels, rank, becomes) = match self.space {
            Space::RgbToGrayscale => (3, 1, 1),
            Space::GrayscaleToRgb => (1, 2, 3),
            Space::Matrix(_) | Space::RgbToHsv | Space::HsvToRgb => (3, 1, 3),
        };
        let (dtype, shape) = image;
        check(self.name, image, rank, Some(channels))?;
        let of_floats = !matches!(self.space, Space::RgbToGrayscale | Space::GrayscaleToRgb);
        if of_floats && !dtype.is_float() {
            return Err(Error::invalid_argument(format!(
                "{}: images are of floats, got {dtype}",
                self.name
            ))
            .with_hint("convert_image_dtype(image, np.float32) brings it to the range 0 to 1"));
        }
        let Some(dims) = shape.dims() else { return Ok(image.clone()) };
        let mut dims = dims.to_vec();
        if let Some(last) = dims.last_mut() {
            *last = Some(becomes);
        }
        Ok((*dtype, PartialShape::new(dims)))
    }

    fn write(&self, args: &[Tensor], _: &[usize], out: &mut [u8]) -> Result<()> {
        let image = &args[0];
        match (self.space, image.dtype()) {
            (Space::GrayscaleToRgb, dtype) => {
                let size = dtype.size().unwrap_or(1);
                let places = out.chunks_exact_mut(3 * size);
                for (out, value) in places.zip(image.bytes()?.chunks_exact(size)) {
                    out.chunks_exact_mut(size).for_each(|out| out.copy_from_slice(value));
                }
            }
            (Space::RgbToGrayscale, dtype) => {
                let values = to_unit(self.name, image)?;
                let grey = |p: &[f32; 3]| p[0] * 0.2989 + p[1] * 0.587 + p[2] * 0.114;
                let values: Vec<f32> = values.as_chunks::<3>().0.iter().map(grey).collect();
                from_unit(&values, dtype, false, out)?;
            }
            (space, DType::Float64) => {
                let pixels = image.values::<f64>()?.as_chunks::<3>().0;
                let out = typed_mut::<f64>(out)?.as_chunks_mut::<3>().0;
                let change = pixels::change_f64(space.into());
                out.iter_mut().zip(pixels).for_each(|(out, pixel)| *out = change(*pixel));
            }
            (space, dtype) => {
                let wide = cast_tensor(image, DType::Float32)?;
                let pixels = wide.values::<f32>()?.as_chunks::<3>().0;
                let change = pixels::change_f32(space.into());
                let made: Vec<[f32; 3]> = pixels.iter().map(|pixel| change(*pixel)).collect();
                from_unit(made.as_flattened(), dtype, false, out)?;
            }
        }
        Ok(())
    }
}

impl From<Space> for pixels::Change {
    fn from(space: Space) -> Self {
        match space {
            Space::HsvToRgb => pixels::Change::HsvToRgb,
            Space::Matrix(matrix) => pixels::Change::Matrix(matrix),
            _ => pixels::Change::RgbToHsv,
        }
    }
}

impl Each for Standardized {
    fn rule(&self, args: &[Known]) -> Result<Known> {
        let [image] = args else {
            let text = format!("per_image_standardization: expected 1 input, got {}", args.len());
            return Err(Error::invalid_argument(text));
        };
        check("per_image_standardization", image, 3, None)?;
        Ok((DType::Float32, image.1.clone()))
    }

    fn write(&self, args: &[Tensor], dims: &[usize], out: &mut [u8]) -> Result<()> {
        let values = cast_tensor(&args[0], DType::Float32)?;
        let image: usize = dims[dims.len() - 3..].iter().product();
        if image == 0 {
            return Ok(());
        }
        let images = values.values::<f32>()?.chunks_exact(image);
        for (image, out) in images.zip(typed_mut::<f32>(out)?.chunks_exact_mut(image)) {
            pixels::standardize(image, out);
        }
        Ok(())
    }

    fn tolerance(&self) -> Tolerance {
        Tolerance::Sum
    }
}
