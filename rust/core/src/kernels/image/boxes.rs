//! Operations with boxes, rows of `[top, left, bottom, right]` in shares of height and width:
//! `crop_and_resize`, `draw_bounding_boxes`.

use std::sync::Arc;

use super::each::{Each, Known, each_row, typed_mut};
use super::resize::{integers, not_numeric};
use crate::data::{DType, Dims, PartialShape, Tensor};
use crate::error::{Error, Result};
use crate::graph::attr::Attrs;
use crate::graph::kernel::{Kernel, Tolerance};
use crate::kernels::cast::{Source, cast_tensor};
use crate::kernels::dispatch::with_type;

pub(super) type Box4 = [f32; 4];

#[derive(Debug)]
struct CropAndResize {
    size: Option<Vec<i64>>,
    nearest: bool,
    outside: f32,
}

#[derive(Debug)]
struct Draw;

pub(super) fn build(op: &str, attrs: &Attrs) -> Result<Option<Arc<dyn Kernel>>> {
    Ok(match op {
        "crop_and_resize" => {
            attrs.only(&["size", "method", "extrapolation_value"])?;
            let nearest = match attrs.opt_str("method")?.unwrap_or("bilinear") {
                "bilinear" => false,
                "nearest" => true,
                other => {
                    let text = format!(
                        "crop_and_resize: method must be 'bilinear' or 'nearest', got {other:?}"
                    );
                    return Err(Error::invalid_argument(text));
                }
            };
            let outside = attrs.opt_float("extrapolation_value")?.unwrap_or(0.0) as f32;
            each_row(CropAndResize { size: attrs.opt_ints("size")?, nearest, outside })
        }
        "draw_bounding_boxes" => {
            attrs.only(&[])?;
            each_row(Draw)
        }
        _ => return Ok(None),
    })
}

fn refused<T>(text: impl Into<String>) -> Result<T> {
    Err(Error::invalid_argument(text.into()))
}

/// Refuses a shape that has another rank, or another last size.
pub(super) fn shaped(
    op: &str,
    name: &str,
    shape: &PartialShape,
    rank: usize,
    last: Option<usize>,
) -> Result<()> {
    let Some(dims) = shape.dims() else { return Ok(()) };
    let ends = last.is_none_or(|last| dims.last().is_none_or(|dim| dim.is_none_or(|d| d == last)));
    if dims.len() == rank && ends {
        return Ok(());
    }
    let ending = last.map(|last| format!(" ending in {last}")).unwrap_or_default();
    refused(format!("{op}: {name} must be {rank}-D{ending}, got shape {shape}"))
}

pub(super) fn boxes_of(tensor: &Tensor) -> Result<Vec<Box4>> {
    let tensor = cast_tensor(tensor, DType::Float32)?;
    Ok(tensor.values::<f32>()?.as_chunks::<4>().0.to_vec())
}

impl CropAndResize {
    fn size(&self, args: &[Tensor]) -> Result<(usize, usize)> {
        let size = match (&self.size, args.get(3)) {
            (Some(size), _) => size.clone(),
            (None, Some(size)) => integers("crop_and_resize", size)?,
            (None, None) => return refused("crop_and_resize: there is no crop_size"),
        };
        match size[..] {
            [height, width] if height > 0 && width > 0 => Ok((height as usize, width as usize)),
            [height, width] => refused(format!(
                "crop_and_resize: crop dimensions must be positive, got height {height} and width \
                 {width}"
            )),
            _ => refused(format!("crop_size must have two elements, got {}", size.len())),
        }
    }

    /// Crops one box out of one image.
    fn crop<S: Source>(
        &self,
        image: &[S],
        [h, w, c]: [usize; 3],
        at: Box4,
        size: (usize, usize),
        out: &mut [f32],
    ) {
        let [top, left, bottom, right] = at;
        let row = w * c;
        let pixel = |y: usize, x: usize| &image[y * row + x * c..][..c];
        for (y, out) in out.chunks_exact_mut(size.1 * c).enumerate() {
            let Some(in_y) = place(top, bottom, h, size.0, y) else {
                out.fill(self.outside);
                continue;
            };
            for (x, out) in out.chunks_exact_mut(c).enumerate() {
                let Some(in_x) = place(left, right, w, size.1, x) else {
                    out.fill(self.outside);
                    continue;
                };
                if self.nearest {
                    let nearest = pixel(in_y.round() as usize, in_x.round() as usize);
                    out.iter_mut().zip(nearest).for_each(|(out, value)| *out = value.to_f32());
                    continue;
                }
                let (up, down) = (in_y.floor() as usize, in_y.ceil() as usize);
                let (west, east) = (in_x.floor() as usize, in_x.ceil() as usize);
                let (y_lerp, x_lerp) = (in_y - in_y.floor(), in_x - in_x.floor());
                let corners =
                    [pixel(up, west), pixel(up, east), pixel(down, west), pixel(down, east)];
                for (k, out) in out.iter_mut().enumerate() {
                    let [a, b, c, d] = corners.map(|corner| corner[k].to_f32());
                    let (top, bottom) = (a + (b - a) * x_lerp, c + (d - c) * x_lerp);
                    *out = top + (bottom - top) * y_lerp;
                }
            }
        }
    }
}

/// Where in an image of `size` value number `i` of `count` between two shares lies; `None` if it
/// is outside.
fn place(from: f32, to: f32, size: usize, count: usize, i: usize) -> Option<f32> {
    let last = (size - 1) as f32;
    let at = if count > 1 {
        let scale = (to - from) * last / (count - 1) as f32;
        from * last + i as f32 * scale
    } else {
        0.5 * (from + to) * last
    };
    (0.0..=last).contains(&at).then_some(at)
}

impl Each for CropAndResize {
    fn rule(&self, args: &[Known]) -> Result<Known> {
        let op = "crop_and_resize";
        let wanted = if self.size.is_some() { 3 } else { 4 };
        if args.len() != wanted {
            return refused(format!("{op}: expected {wanted} inputs, got {}", args.len()));
        }
        if !args[0].0.is_integer() && !args[0].0.is_float() {
            return Err(not_numeric(op, args[0].0));
        }
        shaped(op, "input image", &args[0].1, 4, None)?;
        shaped(op, "boxes", &args[1].1, 2, Some(4))?;
        shaped(op, "box_indices", &args[2].1, 1, None)?;
        let first = |shape: &PartialShape| shape.dims().and_then(|dims| dims.first().copied()?);
        let counts = (first(&args[1].1), first(&args[2].1));
        if let (Some(boxes), Some(indices)) = counts
            && boxes != indices
        {
            return refused(format!(
                "{op}: box_indices has incompatible shape: {indices} indices for {boxes} boxes"
            ));
        }
        let size = self.size.as_ref().map(|_| self.size(&[])).transpose()?;
        let channels = args[0].1.dims().and_then(|dims| dims.last().copied()?);
        let dims = [counts.0.or(counts.1), size.map(|s| s.0), size.map(|s| s.1), channels];
        Ok((DType::Float32, PartialShape::new(dims)))
    }

    fn dims(&self, args: &[Tensor]) -> Result<Dims> {
        let (height, width) = self.size(args)?;
        let channels = args[0].dims().last().copied().unwrap_or(0);
        Ok([args[1].dims()[0], height, width, channels][..].into())
    }

    fn write(&self, args: &[Tensor], dims: &[usize], out: &mut [u8]) -> Result<()> {
        let [batch, h, w, c] = *args[0].dims() else {
            return refused("crop_and_resize: input image must be 4-D");
        };
        let size = (dims[1], dims[2]);
        let indices = integers("crop_and_resize", &args[2])?;
        if let Some(index) = indices.iter().find(|index| !(0..batch as i64).contains(index)) {
            return refused(format!(
                "crop_and_resize: box_index has values outside [0, batch_size), got {index} for \
                 {batch} images"
            ));
        }
        if out.is_empty() {
            return Ok(());
        }
        if h == 0 || w == 0 {
            return refused(format!(
                "crop_and_resize: image dimensions must be positive, got height {h} and width {w}"
            ));
        }
        let boxes = boxes_of(&args[1])?;
        if boxes.iter().flatten().any(|share| !share.is_finite()) {
            return refused(
                "crop_and_resize: Boxes contains at least one element that is not finite",
            );
        }
        let out = typed_mut::<f32>(out)?.chunks_exact_mut(size.0 * size.1 * c);
        with_type!(args[0].dtype(), S: [int, float] => {
            let values = args[0].values::<S>()?;
            for ((at, index), out) in boxes.iter().zip(&indices).zip(out) {
                let image = &values[*index as usize * h * w * c..][..h * w * c];
                self.crop(image, [h, w, c], *at, size, out);
            }
            Ok(())
        }, else Err(not_numeric("crop_and_resize", args[0].dtype())))
    }
}

/// The colours of boxes where none are given.
const COLOURS: [[f32; 4]; 10] = [
    [1.0, 1.0, 0.0, 1.0],
    [0.0, 0.0, 1.0, 1.0],
    [1.0, 0.0, 0.0, 1.0],
    [0.0, 1.0, 0.0, 1.0],
    [0.5, 0.0, 0.5, 1.0],
    [0.5, 0.5, 0.0, 1.0],
    [0.5, 0.0, 0.0, 1.0],
    [0.0, 0.0, 0.5, 1.0],
    [0.0, 1.0, 1.0, 1.0],
    [1.0, 0.0, 1.0, 1.0],
];

impl Each for Draw {
    fn rule(&self, args: &[Known]) -> Result<Known> {
        let op = "draw_bounding_boxes";
        if args.len() != 2 && args.len() != 3 {
            return refused(format!("{op}: expected 2 or 3 inputs, got {}", args.len()));
        }
        if !args[0].0.is_float() {
            return refused(format!("{op}: images are of floats, got {}", args[0].0));
        }
        shaped(op, "images", &args[0].1, 4, None)?;
        shaped(op, "boxes", &args[1].1, 3, Some(4))?;
        if let Some(colours) = args.get(2) {
            shaped(op, "colors", &colours.1, 2, None)?;
        }
        Ok(args[0].clone())
    }

    fn write(&self, args: &[Tensor], dims: &[usize], out: &mut [u8]) -> Result<()> {
        let ([batch, h, w, c], [images, count, _]) = (dims, args[1].dims()) else {
            return refused("draw_bounding_boxes: images must be 4-D and boxes 3-D");
        };
        if batch != images {
            return refused(format!(
                "draw_bounding_boxes: the batch sizes should be the same, got {batch} images and \
                 boxes for {images}"
            ));
        }
        out.copy_from_slice(args[0].bytes()?);
        if !matches!(c, 1 | 3 | 4) {
            return refused(format!(
                "draw_bounding_boxes: channel depth should be either 1 (GRY), 3 (RGB), or 4 \
                 (RGBA), got {c}"
            ));
        }
        let colours: Vec<Vec<f32>> = match args.get(2).filter(|given| !given.is_empty()) {
            Some(given) => {
                let width = given.dims().last().copied().unwrap_or(1);
                let given = cast_tensor(given, DType::Float32)?;
                given.values::<f32>()?.chunks_exact(width).map(<[f32]>::to_vec).collect()
            }
            None if *c == 1 => vec![vec![1.0]],
            None => COLOURS.iter().map(|colour| colour.to_vec()).collect(),
        };
        if colours.iter().any(|colour| colour.len() < *c) {
            return refused(format!(
                "draw_bounding_boxes: colors need at least {c} parts for images of {c} channels"
            ));
        }
        let boxes = boxes_of(&args[1])?;
        let item = args[0].dtype().size().unwrap_or(1);
        for (k, at) in boxes.iter().enumerate() {
            let (image, number) = (k / count.max(&1), k % count.max(&1));
            let colour = &colours[number % colours.len()][..*c];
            let colour = cast_tensor(&Tensor::from_values(&[*c], colour)?, args[0].dtype())?;
            let image = &mut out[image * h * w * c * item..][..h * w * c * item];
            frame(image, *h, *w, colour.bytes()?, *at);
        }
        Ok(())
    }

    fn tolerance(&self) -> Tolerance {
        Tolerance::Moved
    }
}

/// Draws the edges of a box, as far as they are within the image.
fn frame(image: &mut [u8], height: usize, width: usize, colour: &[u8], at: Box4) {
    if height == 0 || width == 0 || colour.is_empty() {
        return;
    }
    let (last_row, last_column) = (height as i64 - 1, width as i64 - 1);
    let [top, bottom] = [at[0], at[2]].map(|share| (share * last_row as f32) as i64);
    let [left, right] = [at[1], at[3]].map(|share| (share * last_column as f32) as i64);
    let is_outside = top > last_row || bottom < 0 || left > last_column || right < 0;
    if top > bottom || left > right || is_outside {
        return;
    }
    let mut dot = |row: i64, column: i64| {
        let place = (row as usize * width + column as usize) * colour.len();
        image[place..place + colour.len()].copy_from_slice(colour);
    };
    for column in left.max(0)..=right.min(last_column) {
        [top, bottom]
            .into_iter()
            .filter(|row| (0..=last_row).contains(row))
            .for_each(|row| dot(row, column));
    }
    for row in top.max(0)..=bottom.min(last_row) {
        [left, right]
            .into_iter()
            .filter(|column| (0..=last_column).contains(column))
            .for_each(|column| dot(row, column));
    }
}
