//! `image_window`: a part of an image, or an image with zeros around it.
//!
//! What is asked for comes to a rectangle of the image and a place for it in the result, worked
//! out for each row: the sizes of images differ, and a run may know the numbers only.

use std::sync::Arc;

use super::each::{Each, Known, each_row};
use super::resize::{Frame, integers, wrong_rank};
use crate::data::{Dims, PartialShape, Tensor};
use crate::error::{Error, Result};
use crate::graph::attr::Attrs;
use crate::graph::kernel::{Kernel, Tolerance};
use crate::kernels::cast::to_f64;

#[derive(Clone, Copy, Debug, PartialEq)]
enum Kind {
    /// Rows and columns to leave out before, and the size of what is kept.
    Crop,
    /// Rows and columns of zeros before, and the size of the result.
    Pad,
    /// The size of the result; what is too much or too little is shared by both sides.
    CropOrPad,
    /// The share of height and width that is kept in the middle.
    Central,
}

/// What is copied from where to where: along height and width.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Axis {
    from: usize,
    to: usize,
    count: usize,
    size: usize,
}

#[derive(Debug)]
struct Window {
    kind: Kind,
    numbers: Option<Vec<f64>>,
}

pub(super) fn build(op: &str, attrs: &Attrs) -> Result<Option<Arc<dyn Kernel>>> {
    if op != "image_window" {
        return Ok(None);
    }
    attrs.only(&["kind", "window", "fraction"])?;
    let kind = match attrs.str("kind")? {
        "crop" => Kind::Crop,
        "pad" => Kind::Pad,
        "crop_or_pad" => Kind::CropOrPad,
        "central" => Kind::Central,
        other => return Err(Error::invalid_argument(format!("there is no window {other:?}"))),
    };
    let numbers = match kind {
        Kind::Central => attrs.opt_float("fraction")?.map(|fraction| vec![fraction]),
        _ => attrs.opt_ints("window")?.map(|w| w.iter().map(|n| *n as f64).collect()),
    };
    Ok(each_row(Window { kind, numbers }))
}

fn refused(text: impl Into<String>) -> Error {
    Error::invalid_argument(text.into())
}

impl Window {
    fn op(&self) -> &'static str {
        match self.kind {
            Kind::Crop => "crop_to_bounding_box",
            Kind::Pad => "pad_to_bounding_box",
            Kind::CropOrPad => "resize_with_crop_or_pad",
            Kind::Central => "central_crop",
        }
    }

    fn numbers(&self, args: &[Tensor]) -> Result<Vec<f64>> {
        match (&self.numbers, args.get(1)) {
            (Some(numbers), _) => Ok(numbers.clone()),
            (None, Some(numbers)) if self.kind == Kind::Central => to_f64(numbers),
            (None, Some(numbers)) => {
                Ok(integers(self.op(), numbers)?.into_iter().map(|n| n as f64).collect())
            }
            (None, None) => Err(refused(format!("{}: there are no sizes", self.op()))),
        }
    }

    /// The windows along height and width of an image of this size; `None` for what is not known.
    fn axes(&self, numbers: &[f64], size: [Option<usize>; 2]) -> Result<[Option<Axis>; 2]> {
        let names = ["height", "width"];
        let mut axes = [None, None];
        for (k, (axis, size)) in axes.iter_mut().zip(size).enumerate() {
            let name = names[k];
            *axis = match (self.kind, numbers) {
                (Kind::Crop, [.., _, _, _, _]) => {
                    Some(crop(name, numbers[k], numbers[k + 2], size)?)
                }
                (Kind::Pad, [.., _, _, _, _]) => pad(name, numbers[k], numbers[k + 2], size)?,
                (Kind::CropOrPad, [_, _]) => crop_or_pad(name, numbers[k], size)?,
                (Kind::Central, [fraction]) => central(*fraction, size)?,
                _ => {
                    let text = format!("{}: {} numbers", self.op(), numbers.len());
                    return Err(refused(text));
                }
            };
        }
        Ok(axes)
    }
}

fn whole(name: &str, number: f64, least: f64) -> Result<usize> {
    if number < least {
        let sign = if least > 0.0 { "> 0" } else { ">= 0" };
        return Err(refused(format!("{name} must be {sign}, got {number}")));
    }
    if number > f64::from(i32::MAX) {
        return Err(Error::resource_exhausted(format!("{name} is too large: {number}")));
    }
    Ok(number as usize)
}

fn crop(name: &str, offset: f64, target: f64, size: Option<usize>) -> Result<Axis> {
    let from = whole(&format!("offset_{name}"), offset, 0.0)?;
    let count = whole(&format!("target_{name}"), target, 1.0)?;
    match size {
        Some(size) if size < from + count => Err(refused(format!(
            "{name} must be >= target + offset, got {name} {size}, target {count} and offset {from}"
        ))),
        _ => Ok(Axis { from, to: 0, count, size: count }),
    }
}

fn pad(name: &str, offset: f64, target: f64, size: Option<usize>) -> Result<Option<Axis>> {
    let to = whole(&format!("offset_{name}"), offset, 0.0)?;
    let target = whole(&format!("target_{name}"), target, 0.0)?;
    match size {
        Some(size) if size + to > target => Err(refused(format!(
            "{name} must be <= target - offset, got {name} {size}, target {target} and offset {to}"
        ))),
        size => Ok(Some(Axis { from: 0, to, count: size.unwrap_or(0), size: target })),
    }
}

fn crop_or_pad(name: &str, target: f64, size: Option<usize>) -> Result<Option<Axis>> {
    let target = whole(&format!("target_{name}"), target, 1.0)?;
    let own = size.unwrap_or(target);
    let (from, to) = (own.saturating_sub(target) / 2, target.saturating_sub(own) / 2);
    Ok(Some(Axis { from, to, count: own.min(target), size: target }))
}

fn central(fraction: f64, size: Option<usize>) -> Result<Option<Axis>> {
    if !(fraction > 0.0 && fraction <= 1.0) {
        let text = format!("central_fraction must be within (0, 1], got {fraction}");
        return Err(refused(text));
    }
    Ok(size.map(|size| {
        let sides = size as f64;
        let from = ((sides - sides * fraction) / 2.0) as usize;
        let count = size - 2 * from;
        Axis { from, to: 0, count, size: count }
    }))
}

impl Each for Window {
    fn rule(&self, args: &[Known]) -> Result<Known> {
        let wanted = if self.numbers.is_some() { 1 } else { 2 };
        if args.len() != wanted {
            let text = format!("{}: expected {wanted} inputs, got {}", self.op(), args.len());
            return Err(refused(text));
        }
        let (dtype, shape) = &args[0];
        if dtype.size().is_none() {
            return Err(refused(format!("{}: images are of numbers, got {dtype}", self.op())));
        }
        let Some(dims) = shape.dims() else { return Ok((*dtype, PartialShape::UNKNOWN)) };
        if dims.len() != 3 && dims.len() != 4 {
            return Err(wrong_rank(self.op(), dims.len()));
        }
        let mut dims = dims.to_vec();
        let at = dims.len() - 3;
        let axes = match &self.numbers {
            Some(numbers) => self.axes(numbers, [dims[at], dims[at + 1]])?,
            None => [None, None],
        };
        for (k, axis) in axes.into_iter().enumerate() {
            dims[at + k] = axis.map(|axis| axis.size);
        }
        Ok((*dtype, PartialShape::new(dims)))
    }

    fn dims(&self, args: &[Tensor]) -> Result<Dims> {
        let mut dims: Dims = args[0].dims().into();
        let frame = Frame::of(&dims)?;
        let numbers = self.numbers(args)?;
        let axes = self.axes(&numbers, [Some(frame.height), Some(frame.width)])?;
        let at = dims.len() - 3;
        for (k, axis) in axes.into_iter().flatten().enumerate() {
            dims[at + k] = axis.size;
        }
        Ok(dims)
    }

    fn write(&self, args: &[Tensor], _: &[usize], out: &mut [u8]) -> Result<()> {
        let frame = Frame::of(args[0].dims())?;
        let numbers = self.numbers(args)?;
        let axes = self.axes(&numbers, [Some(frame.height), Some(frame.width)])?;
        let [Some(down), Some(across)] = axes else {
            return Err(Error::internal("a window of an unknown size"));
        };
        let item = frame.channels * args[0].dtype().size().unwrap_or(1);
        copy(args[0].bytes()?, frame, item, down, across, out);
        Ok(())
    }

    fn tolerance(&self) -> Tolerance {
        Tolerance::Moved
    }
}

fn copy(bytes: &[u8], frame: Frame, item: usize, down: Axis, across: Axis, out: &mut [u8]) {
    if down.count < down.size || across.count < across.size {
        out.fill(0);
    }
    let (row_in, row_out) = (frame.width * item, across.size * item);
    let run = across.count * item;
    if run == 0 || down.count == 0 {
        return;
    }
    let images = bytes.chunks_exact(frame.height * row_in);
    for (image, out) in images.zip(out.chunks_exact_mut(down.size * row_out)) {
        let rows = image[down.from * row_in..].chunks_exact(row_in).take(down.count);
        let places = out[down.to * row_out..].chunks_exact_mut(row_out);
        for (row, place) in rows.zip(places) {
            let from = &row[across.from * item..][..run];
            place[across.to * item..][..run].copy_from_slice(from);
        }
    }
}
