//! `image_resize`: images to another height and width, by TensorFlow's methods.
//!
//! One image `[height, width, channels]` or a batch of such a row. The size is a static argument,
//! or an input of two integers. Nearest keeps the dtype, the others give float32.

use std::sync::Arc;

use super::bilinear;
use super::each::{Each, Known, each_row, typed_mut};
use super::grid::Grid;
use super::spans::Spans;
use crate::data::{DType, Dims, Element, PartialShape, Tensor};
use crate::error::{Error, Result};
use crate::graph::attr::Attrs;
use crate::graph::kernel::{Kernel, Tolerance};
use crate::kernels::cast::{Source, cast_tensor};
use crate::kernels::dispatch::with_type;

/// How values between the pixels are found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Method {
    Bilinear,
    Nearest,
    Bicubic,
    Area,
    Lanczos3,
    Lanczos5,
    Gaussian,
    MitchellCubic,
}

const METHODS: [(&str, Method); 8] = [
    ("bilinear", Method::Bilinear),
    ("nearest", Method::Nearest),
    ("bicubic", Method::Bicubic),
    ("area", Method::Area),
    ("lanczos3", Method::Lanczos3),
    ("lanczos5", Method::Lanczos5),
    ("gaussian", Method::Gaussian),
    ("mitchellcubic", Method::MitchellCubic),
];

/// What is done where image and size are of different proportions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fit {
    /// The image is stretched.
    Fill,
    /// The largest image within the size.
    Within,
    /// As within, with zeros around it.
    Pad,
}

/// The sizes of a batch of images.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Frame {
    pub(super) batch: usize,
    pub(super) height: usize,
    pub(super) width: usize,
    pub(super) channels: usize,
}

impl Frame {
    /// The sizes of an image or a batch of images.
    pub(super) fn of(dims: &[usize]) -> Result<Self> {
        match *dims {
            [height, width, channels] => Ok(Frame { batch: 1, height, width, channels }),
            [batch, height, width, channels] => Ok(Frame { batch, height, width, channels }),
            _ => Err(wrong_rank("resize", dims.len())),
        }
    }

    fn sized(self, (height, width): (usize, usize)) -> Self {
        Frame { height, width, ..self }
    }
}

/// The error of an operation that takes images and batches of images.
pub(super) fn wrong_rank(op: &str, rank: usize) -> Error {
    Error::invalid_argument(format!(
        "{op}: 'images' must have either 3 or 4 dimensions, got {rank}"
    ))
    .with_hint("add the axis of channels: image[..., np.newaxis]")
}

#[derive(Debug)]
struct Resize {
    method: Method,
    antialias: bool,
    grid: Grid,
    fit: Fit,
    size: Option<(usize, usize)>,
}

pub(super) fn build(op: &str, attrs: &Attrs) -> Result<Option<Arc<dyn Kernel>>> {
    if op != "image_resize" {
        return Ok(None);
    }
    attrs.only(&["method", "antialias", "grid", "fit", "size"])?;
    let name = attrs.opt_str("method")?.unwrap_or("bilinear");
    let Some((_, method)) = METHODS.iter().find(|(known, _)| *known == name) else {
        let known: Vec<_> = METHODS.iter().map(|(name, _)| *name).collect();
        let text = format!("resize: method must be one of {known:?}, got {name:?}");
        return Err(Error::invalid_argument(text));
    };
    let fit = match attrs.opt_str("fit")?.unwrap_or("fill") {
        "fill" => Fit::Fill,
        "within" => Fit::Within,
        "pad" => Fit::Pad,
        other => return Err(Error::invalid_argument(format!("resize: no fit {other:?}"))),
    };
    let antialias = attrs.bool_or("antialias", false)?;
    let grid = Grid::of(attrs)?;
    let first = [Method::Bilinear, Method::Nearest, Method::Bicubic, Method::Area];
    if grid != Grid::HalfPixels && (antialias || !first.contains(method)) {
        let text = format!("resize: method {name:?} and antialias know half pixels only");
        return Err(Error::invalid_argument(text));
    }
    let size = attrs.opt_ints("size")?.map(|size| positive(&size)).transpose()?;
    Ok(each_row(Resize { method: *method, antialias, grid, fit, size }))
}

/// Height and width from two positive integers.
fn positive(size: &[i64]) -> Result<(usize, usize)> {
    match *size {
        // Products of four such sizes of which two are an image's cannot leave 64 bits unseen.
        [height, width] if (1..=1 << 31).contains(&height) && (1..=1 << 31).contains(&width) => {
            Ok((height as usize, width as usize))
        }
        [height, width] => Err(Error::invalid_argument(format!(
            "resize: output dimensions must be positive, got height {height} and width {width}"
        ))),
        _ => Err(Error::invalid_argument(format!(
            "resize: 'size' must be a 1-D Tensor of 2 elements: new_height, new_width; got {} \
             elements",
            size.len()
        ))),
    }
}

/// The integers of an argument, whatever integer type they have.
pub(super) fn integers(op: &str, tensor: &Tensor) -> Result<Vec<i64>> {
    if !tensor.dtype().is_integer() {
        let text = format!("{op}: sizes and places are integers, got {}", tensor.dtype());
        return Err(Error::invalid_argument(text));
    }
    Ok(cast_tensor(tensor, DType::Int64)?.values::<i64>()?.to_vec())
}

impl Resize {
    /// Where in the result the image lies: its size, and its first row and column.
    fn place(
        &self,
        (height, width): (usize, usize),
        size: (usize, usize),
    ) -> ((usize, usize), (usize, usize)) {
        let (height, width) = (height as f32, width as f32);
        let (to_height, to_width) = (size.0 as f32, size.1 as f32);
        match self.fit {
            Fit::Fill => (size, (0, 0)),
            Fit::Within => {
                let scale = (to_height / height).min(to_width / width);
                let scaled = |side: f32| (scale * side).round_ties_even() as usize;
                ((scaled(height), scaled(width)), (0, 0))
            }
            Fit::Pad => {
                let ratio = (width / to_width).max(height / to_height);
                let (own_height, own_width) = (height / ratio, width / ratio);
                let left = |all: f32, own: f32| ((all - own) / 2.0).floor().max(0.0) as usize;
                let at = (left(to_height, own_height), left(to_width, own_width));
                ((own_height.floor() as usize, own_width.floor() as usize), at)
            }
        }
    }

    fn size(&self, args: &[Tensor]) -> Result<(usize, usize)> {
        match (self.size, args.get(1)) {
            (Some(size), _) => Ok(size),
            (None, Some(size)) => positive(&integers("resize", size)?),
            (None, None) => Err(Error::invalid_argument("resize: there is no size")),
        }
    }

    fn fill(&self, image: &Tensor, from: Frame, to: Frame, out: &mut [u8]) -> Result<()> {
        with_type!(image.dtype(), S: [int, float] => {
            let values = image.values::<S>()?;
            match self.method {
                Method::Nearest => nearest(self.grid, values, from, to, typed_mut::<S>(out)?),
                Method::Bilinear if !self.antialias => {
                    bilinear::resize(self.grid, values, from, to, typed_mut::<f32>(out)?);
                }
                _ => {
                    let spans = |size: usize, results: usize| {
                        Spans::of(self.method, self.antialias, self.grid, size, results)
                    };
                    let (across, down) =
                        (spans(from.width, to.width), spans(from.height, to.height));
                    blend(values, from, &down, &across, typed_mut::<f32>(out)?, to);
                }
            }
            Ok(())
        }, else Err(not_numeric("resize", image.dtype())))
    }

    fn pad(&self, args: &[Tensor], from: Frame, to: Frame, out: &mut [u8]) -> Result<()> {
        let (size, (top, left)) = self.place((from.height, from.width), (to.height, to.width));
        let (own_height, own_width) = size;
        out.fill(0);
        if own_height == 0 || own_width == 0 {
            return Err(Error::invalid_argument(format!(
                "resize_with_pad: an image of height {} and width {} has no pixel left in height \
                 {} and width {}",
                from.height, from.width, to.height, to.width
            )));
        }
        let own = from.sized(size);
        let item = self.dtype(args[0].dtype()).size().unwrap_or(1);
        let mut made =
            vec![0_u64; (own.batch * own_height * own_width * own.channels * item).div_ceil(8)];
        let made: &mut [u8] = bytemuck::cast_slice_mut(&mut made);
        let row = own_width * own.channels * item;
        let made = &mut made[..own.batch * own_height * row];
        self.fill(&args[0], from, own, made)?;
        let row_out = to.width * to.channels * item;
        if row == 0 {
            return Ok(());
        }
        for (i, made) in made.chunks_exact(row).enumerate() {
            let line = i / own_height * to.height + i % own_height + top;
            let start = line * row_out + left * to.channels * item;
            out[start..start + row].copy_from_slice(made);
        }
        Ok(())
    }

    fn dtype(&self, from: DType) -> DType {
        if self.method == Method::Nearest { from } else { DType::Float32 }
    }
}

/// The error of a dtype that images do not have.
pub(super) fn not_numeric(op: &str, dtype: DType) -> Error {
    Error::invalid_argument(format!("{op}: images are of integers or floats, got {dtype}"))
}

fn nearest<T: Element>(grid: Grid, values: &[T], from: Frame, to: Frame, out: &mut [T]) {
    let channels = from.channels;
    let picks = |size: usize, results: usize| -> Vec<usize> {
        let scale = grid.scale(size, results);
        (0..results).map(|result| grid.nearest(result, scale, size)).collect()
    };
    let (across, down) = (picks(from.width, to.width), picks(from.height, to.height));
    let (row_in, row_out) = (from.width * channels, to.width * channels);
    let images = values.chunks_exact(from.height * row_in);
    for (image, out) in images.zip(out.chunks_exact_mut(to.height * row_out)) {
        for (y, out) in down.iter().zip(out.chunks_exact_mut(row_out)) {
            let row = &image[y * row_in..][..row_in];
            for (x, out) in across.iter().zip(out.chunks_exact_mut(channels)) {
                out.copy_from_slice(&row[x * channels..][..channels]);
            }
        }
    }
}

/// Sums of weighted rows, then of weighted columns.
fn blend<S: Source>(
    values: &[S],
    from: Frame,
    down: &Spans,
    across: &Spans,
    out: &mut [f32],
    to: Frame,
) {
    let channels = from.channels;
    let (row_in, row_out) = (from.width * channels, to.width * channels);
    let mut line = vec![0.0_f32; row_in];
    let images = values.chunks_exact(from.height * row_in);
    for (image, out) in images.zip(out.chunks_exact_mut(to.height * row_out)) {
        for ((start, weights), out) in down.iter().zip(out.chunks_exact_mut(row_out)) {
            line.fill(0.0);
            for (row, weight) in image[start * row_in..].chunks_exact(row_in).zip(weights) {
                for (sum, value) in line.iter_mut().zip(row) {
                    *sum += weight * value.to_f32();
                }
            }
            for ((start, weights), out) in across.iter().zip(out.chunks_exact_mut(channels)) {
                out.fill(0.0);
                for (pixel, weight) in line[start * channels..].chunks_exact(channels).zip(weights)
                {
                    for (out, value) in out.iter_mut().zip(pixel) {
                        *out += weight * value;
                    }
                }
            }
        }
    }
}

impl Each for Resize {
    fn rule(&self, args: &[Known]) -> Result<Known> {
        let wanted = if self.size.is_some() { 1 } else { 2 };
        if args.len() != wanted {
            let text = format!("resize: expected {wanted} inputs, got {}", args.len());
            return Err(Error::invalid_argument(text));
        }
        let (from, shape) = &args[0];
        if !from.is_integer() && !from.is_float() {
            return Err(not_numeric("resize", *from));
        }
        let dtype = self.dtype(*from);
        let Some(dims) = shape.dims() else { return Ok((dtype, PartialShape::UNKNOWN)) };
        if dims.len() != 3 && dims.len() != 4 {
            return Err(wrong_rank("resize", dims.len()));
        }
        let mut dims = dims.to_vec();
        let (height, width) = (dims.len() - 3, dims.len() - 2);
        let size = match (self.fit, self.size, dims[height], dims[width]) {
            (Fit::Fill | Fit::Pad, size, ..) => size,
            (Fit::Within, Some(size), Some(h), Some(w)) if h > 0 && w > 0 => {
                Some(self.place((h, w), size).0)
            }
            _ => None,
        };
        dims[height] = size.map(|size| size.0);
        dims[width] = size.map(|size| size.1);
        Ok((dtype, PartialShape::new(dims)))
    }

    fn dims(&self, args: &[Tensor]) -> Result<Dims> {
        let mut dims: Dims = args[0].dims().into();
        let frame = Frame::of(&dims)?;
        let asked = self.size(args)?;
        if frame.height == 0 || frame.width == 0 {
            return Err(Error::invalid_argument(format!(
                "resize: input image must be of non-zero size, got height {} and width {}",
                frame.height, frame.width
            )));
        }
        let size = match self.fit {
            Fit::Within => self.place((frame.height, frame.width), asked).0,
            Fit::Fill | Fit::Pad => asked,
        };
        if size.0 == 0 || size.1 == 0 {
            return Err(Error::invalid_argument(format!(
                "resize: output dimensions must be positive, but height {} and width {} become \
                 height {} and width {} within the size",
                frame.height, frame.width, size.0, size.1
            )));
        }
        let rank = dims.len();
        (dims[rank - 3], dims[rank - 2]) = size;
        Ok(dims)
    }

    fn write(&self, args: &[Tensor], dims: &[usize], out: &mut [u8]) -> Result<()> {
        let (from, to) = (Frame::of(args[0].dims())?, Frame::of(dims)?);
        if out.is_empty() {
            return Ok(());
        }
        match self.fit {
            Fit::Pad => self.pad(args, from, to, out),
            Fit::Fill | Fit::Within => self.fill(&args[0], from, to, out),
        }
    }

    fn tolerance(&self) -> Tolerance {
        if self.method == Method::Nearest { Tolerance::Moved } else { Tolerance::Exact }
    }
}
