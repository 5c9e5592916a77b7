//! `sample_distorted_bounding_box`: a random part of an image that shows enough of an object.
//!
//! Parts of random proportions and areas are drawn until one covers enough of one of the boxes;
//! after too many attempts it is the whole image. The draws are TensorFlow's.

use std::sync::Arc;

use super::resize::integers;
use crate::data::{Column, DType, PartialShape, Spec, Tensor, Wanted};
use crate::error::{Error, Result};
use crate::graph::attr::{Attr, Attrs};
use crate::graph::kernel::{Arg, Kernel};
use crate::kernels::cast::{cast_tensor, dense, inputs};
use crate::random::Philox;
use crate::random::draw::{stateless, uniform_f32};

/// Rows and columns, the ends not included.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Part {
    top: i32,
    left: i32,
    bottom: i32,
    right: i32,
}

impl Part {
    fn area(&self) -> f32 {
        let (height, width) = (self.bottom - self.top, self.right - self.left);
        if height <= 0 || width <= 0 { 0.0 } else { height as f32 * width as f32 }
    }

    fn common(&self, other: &Part) -> Part {
        Part {
            top: self.top.max(other.top),
            left: self.left.max(other.left),
            bottom: self.bottom.min(other.bottom),
            right: self.right.min(other.right),
        }
    }
}

#[derive(Debug)]
struct Distort {
    proportions: [f32; 2],
    areas: [f32; 2],
    attempts: i64,
    image_if_none: bool,
}

pub(super) fn build(op: &str, attrs: &Attrs) -> Result<Option<Arc<dyn Kernel>>> {
    if op != "stateless_sample_distorted_bounding_box" {
        return Ok(None);
    }
    let names =
        ["aspect_ratio_range", "area_range", "max_attempts", "use_image_if_no_bounding_boxes"];
    attrs.only(&names)?;
    let pair = |name: &str| -> Result<[f32; 2]> {
        let ends = attrs.list(name)?.iter().map(|end| match end {
            Attr::Float(end) => Ok(*end as f32),
            Attr::Int(end) => Ok(*end as f32),
            other => Err(Error::invalid_argument(format!("{name} has numbers, got {other}"))),
        });
        match ends.collect::<Result<Vec<f32>>>()?[..] {
            [low, high] if low > 0.0 && high > 0.0 && low <= high => Ok([low, high]),
            ref other => Err(Error::invalid_argument(format!(
                "{name} must be two numbers above zero, the lower one first, got {other:?}"
            ))),
        }
    };
    let (proportions, areas) = (pair("aspect_ratio_range")?, pair("area_range")?);
    if areas[1] > 1.0 {
        let text = format!("area_range must be within (0, 1], got {areas:?}");
        return Err(Error::invalid_argument(text));
    }
    let attempts = attrs.opt_int("max_attempts")?.unwrap_or(100);
    if attempts <= 0 || attempts > i64::from(i32::MAX) {
        let text = format!("max_attempts must be positive, got {attempts}");
        return Err(Error::invalid_argument(text));
    }
    let image_if_none = attrs.bool_or("use_image_if_no_bounding_boxes", false)?;
    Ok(Some(Arc::new(Distort { proportions, areas, attempts, image_if_none })))
}

/// A number below `count`, each as likely; takes a word even where there is no choice.
fn below(words: &mut Philox, count: u32) -> u32 {
    if count == 0 {
        words.next_u32();
        return 0;
    }
    if count.is_power_of_two() {
        return words.next_u32() & (count - 1);
    }
    let surplus = u32::MAX % count + 1;
    loop {
        let word = words.next_u32();
        if word >= surplus {
            return word % count;
        }
    }
}

fn rounded(value: f32) -> i32 {
    value.round_ties_even() as i32
}

impl Distort {
    /// A part of these proportions and of an area within the range, if there is one.
    fn attempt(
        &self,
        height: i32,
        width: i32,
        proportion: f32,
        words: &mut Philox,
    ) -> Option<Part> {
        if height <= 0 || width <= 0 {
            return None;
        }
        let [least, most] = self.areas.map(|area| area * width as f32 * height as f32);
        let mut own = rounded((least / proportion).sqrt());
        let mut tallest = rounded((most / proportion).sqrt());
        if rounded(tallest as f32 * proportion) > width {
            tallest = ((width as f32 + 0.5 - 1e-7) / proportion) as i32;
            if rounded(tallest as f32 * proportion) > width {
                tallest -= 1;
            }
        }
        tallest = tallest.min(height);
        own = own.min(tallest);
        if own < tallest {
            own += below(words, (tallest - own + 1) as u32) as i32;
        }
        let across = |height: i32| rounded(height as f32 * proportion);
        let covers = |height: i32| height as f32 * across(height) as f32;
        // Rounding may have led out of the range of areas.
        if covers(own) < least {
            own += 1;
        }
        if covers(own) > most {
            own -= 1;
        }
        let (area, own_width) = (covers(own), across(own));
        if area < least
            || area > most
            || own_width > width
            || own > height
            || own_width <= 0
            || own <= 0
        {
            return None;
        }
        let top = if own < height { below(words, (height - own) as u32) as i32 } else { 0 };
        let left =
            if own_width < width { below(words, (width - own_width) as u32) as i32 } else { 0 };
        Some(Part { top, left, bottom: top + own, right: left + own_width })
    }

    fn sample(
        &self,
        height: i32,
        width: i32,
        boxes: &[Part],
        covered: f32,
        words: &mut Philox,
    ) -> Part {
        for _ in 0..self.attempts {
            let [low, high] = self.proportions;
            let proportion = uniform_f32(words.next_u32()) * (high - low) + low;
            let Some(part) = self.attempt(height, width, proportion, words) else { continue };
            let shows = |object: &Part| {
                object.area() >= 1.0 && part.common(object).area() / object.area() >= covered
            };
            if part.area() >= 1.0 && boxes.iter().any(shows) {
                return part;
            }
        }
        Part { top: 0, left: 0, bottom: height, right: width }
    }

    /// The boxes as parts of the image.
    fn boxes(&self, boxes: &Tensor, height: i32, width: i32) -> Result<Vec<Part>> {
        let boxes = cast_tensor(boxes, DType::Float32)?;
        let values = boxes.values::<f32>()?;
        if values.is_empty() {
            if self.image_if_none {
                return Ok(vec![Part { top: 0, left: 0, bottom: height, right: width }]);
            }
            return Err(Error::invalid_argument("No bounding boxes provided as input")
                .with_hint("use_image_if_no_bounding_boxes=True takes the image for one"));
        }
        if let Some(value) = values.iter().find(|value| !(0.0..=1.0).contains(*value)) {
            return Err(Error::invalid_argument(format!(
                "All bounding box coordinates must be in [0.0, 1.0]: {value}"
            )));
        }
        let part = |share: &[f32; 4]| Part {
            top: (share[0] * height as f32) as i32,
            left: (share[1] * width as f32) as i32,
            bottom: (share[2] * height as f32) as i32,
            right: (share[3] * width as f32) as i32,
        };
        Ok(values.as_chunks::<4>().0.iter().map(part).collect())
    }

    /// Begin, size and box of one row.
    fn row(&self, args: &[Tensor]) -> Result<[Tensor; 3]> {
        let op = "sample_distorted_bounding_box";
        let sizes = integers(op, &args[0])?;
        let limit = i64::from(i32::MAX);
        let [height, width, _] = sizes[..] else {
            let text = format!("image_size must contain 3 elements, got {}", sizes.len());
            return Err(Error::invalid_argument(text));
        };
        if !(0..=limit).contains(&height) || !(0..=limit).contains(&width) {
            let text = format!("{op}: an image of height {height} and width {width}");
            return Err(Error::invalid_argument(text));
        }
        let (height, width) = (height as i32, width as i32);
        let boxes = self.boxes(&args[1], height, width)?;
        let seed = integers(op, &args[2])?;
        let [first, second] = seed[..] else {
            let text = format!("{op}: a seed is two integers, got {}", seed.len());
            return Err(Error::invalid_argument(text));
        };
        let covered = cast_tensor(&args[3], DType::Float32)?;
        let covered = match covered.values::<f32>()? {
            [one] if *one >= 0.0 => *one,
            other => {
                let text = format!("min_object_covered must be non-negative, got {other:?}");
                return Err(Error::invalid_argument(text));
            }
        };
        let mut words = stateless([first as u64, second as u64]);
        let part = self.sample(height, width, &boxes, covered, &mut words);
        let whole =
            |values: [i64; 3]| cast_tensor(&Tensor::from_values(&[3], &values)?, args[0].dtype());
        let share = |place: i32, size: i32| place as f32 / size as f32;
        let shares = [
            share(part.top, height),
            share(part.left, width),
            share(part.bottom, height),
            share(part.right, width),
        ];
        Ok([
            whole([i64::from(part.top), i64::from(part.left), 0])?,
            whole([i64::from(part.bottom - part.top), i64::from(part.right - part.left), -1])?,
            Tensor::from_values(&[1, 1, 4], &shares)?,
        ])
    }
}

impl Kernel for Distort {
    fn infer(&self, specs: &[Spec]) -> Result<Vec<Spec>> {
        let [size, boxes, ..] = inputs::<4, _>(specs)?;
        let (dtype, shape) = dense(size)?;
        if !dtype.is_integer() {
            let text = format!("image_size must be of integers, got {dtype}");
            return Err(Error::invalid_argument(text));
        }
        if !shape.accepts(&[3]) {
            let text = format!("image_size must be 1-D of 3 elements, got shape {shape}");
            return Err(Error::invalid_argument(text));
        }
        let (_, shape) = dense(boxes)?;
        let fits = shape.dims().is_none_or(|dims| {
            dims.len() == 3 && dims.last().is_none_or(|dim| dim.is_none_or(|dim| dim == 4))
        });
        if !fits {
            let text = format!("bounding_boxes must be 3-D [batch, boxes, 4], got shape {shape}");
            return Err(Error::invalid_argument(text));
        }
        let three = PartialShape::from(&[3][..]);
        let whole = || Spec::Tensor { dtype, shape: three.clone() };
        Ok(vec![whole(), whole(), Spec::tensor(DType::Float32, [Some(1), Some(1), Some(4)])])
    }

    fn run(&self, args: &[Arg], rows: usize, _: &[Wanted]) -> Result<Vec<Column>> {
        let mut made: [Vec<Tensor>; 3] = Default::default();
        for row in 0..rows {
            let args = args.iter().map(|arg| super::each::row_of(arg, row));
            let found = self.row(&args.collect::<Result<Vec<_>>>()?)?;
            made.iter_mut().zip(found).for_each(|(made, tensor)| made.push(tensor));
        }
        if rows == 0 {
            let dtype = args[0].dtype().unwrap_or(DType::Int32);
            let none =
                |dtype, dims: &[usize]| Ok(Column::Stacked(Tensor::zeros(dtype, dims.into())?));
            return Ok(vec![
                none(dtype, &[0, 3])?,
                none(dtype, &[0, 3])?,
                none(DType::Float32, &[0, 1, 1, 4])?,
            ]);
        }
        made.iter().map(|tensors| Column::from_tensors(tensors)).collect()
    }

    fn accepts(&self, column: &Column) -> bool {
        matches!(column, Column::Stacked(_) | Column::Rows(_))
    }
}
