//! Overlapping pieces of the last axis and their sum: `frame`, `overlap_and_add`.

use std::sync::Arc;

use crate::data::shape::volume;
use crate::data::{Column, Dims, Element, PartialShape, Spec, Tensor, Wanted};
use crate::error::{Error, Result};
use crate::graph::attr::Attrs;
use crate::graph::kernel::{Arg, Kernel, Tolerance};
use crate::kernels::cast::{Source, cast_tensor, dense, inputs, scratch};
use crate::kernels::dispatch::with_type;
use crate::kernels::elementwise::number::Number;
use crate::kernels::shape::stacked;

#[derive(Debug)]
struct Frame {
    length: usize,
    step: usize,
    /// What is put behind the last values, so that each start of a frame has one.
    pad: Option<f64>,
}

#[derive(Debug)]
struct Overlap {
    step: usize,
}

pub(super) fn build(op: &str, attrs: &Attrs) -> Result<Option<Arc<dyn Kernel>>> {
    let size = |name: &str, least: i64| -> Result<usize> {
        let value = attrs.int(name)?;
        match usize::try_from(value) {
            Ok(size) if value >= least => Ok(size),
            _ => {
                let text = format!("{name} must be at least {least}, got {value}");
                Err(Error::invalid_argument(text))
            }
        }
    };
    match op {
        "frame" => {
            attrs.only(&["frame_length", "frame_step", "pad_value"])?;
            let (length, step) = (size("frame_length", 0)?, size("frame_step", 1)?);
            Ok(Some(Arc::new(Frame { length, step, pad: attrs.opt_float("pad_value")? })))
        }
        "overlap_and_add" => {
            attrs.only(&["frame_step"])?;
            Ok(Some(Arc::new(Overlap { step: size("frame_step", 1)? })))
        }
        _ => Ok(None),
    }
}

impl Frame {
    /// How many frames so many values have.
    fn count(&self, samples: usize) -> usize {
        match (self.pad, samples.checked_sub(self.length)) {
            (Some(_), _) => samples.div_ceil(self.step),
            (None, Some(more)) => 1 + more / self.step,
            (None, None) => 0,
        }
    }

    fn cut<T: Source>(&self, x: &Tensor, dims: Dims, pad: T) -> Result<Tensor> {
        let samples = x.dims().last().copied().unwrap_or(0);
        let frames = self.count(samples);
        let mut out = scratch::<T>(volume(&dims)?)?;
        let values = x.values::<T>()?;
        let each = out.typed_mut::<T>().chunks_exact_mut(self.length.max(1));
        for (at, out) in each.enumerate() {
            let own = &values[at / frames * samples..(at / frames + 1) * samples];
            let start = (at % frames).saturating_mul(self.step).min(samples);
            let kept = self.length.min(samples - start);
            out[..kept].copy_from_slice(&own[start..start + kept]);
            out[kept..].fill(pad);
        }
        Tensor::fixed(x.dtype(), dims, out.freeze())
    }
}

impl Kernel for Frame {
    fn infer(&self, specs: &[Spec]) -> Result<Vec<Spec>> {
        let [spec] = inputs(specs)?;
        let (dtype, shape) = dense(spec)?;
        if dtype.is_text() {
            return Err(Error::invalid_argument(format!("frame does not take {dtype}")));
        }
        let shape = match shape.dims() {
            None => PartialShape::UNKNOWN,
            Some([rest @ .., samples]) => {
                let count = samples.map(|samples| self.count(samples));
                PartialShape::new(rest.iter().copied().chain([count, Some(self.length)]))
            }
            Some([]) => return Err(Error::invalid_argument("frame needs an axis, got a scalar")),
        };
        Ok(vec![Spec::Tensor { dtype, shape }])
    }

    fn run(&self, args: &[Arg], rows: usize, _: &[Wanted]) -> Result<Vec<Column>> {
        let [arg] = inputs(args)?;
        let x = stacked(arg, rows)?;
        let [rest @ .., samples] = x.dims() else {
            return Err(Error::internal("rows without an axis"));
        };
        if rest.is_empty() {
            return Err(Error::invalid_argument("frame needs an axis, got a scalar"));
        }
        let shape = [self.count(*samples), self.length];
        let dims: Dims = rest.iter().copied().chain(shape).collect();
        let pad = Tensor::scalar(self.pad.unwrap_or(0.0))?;
        let pad = cast_tensor(&pad, x.dtype())?;
        with_type!(x.dtype(), T: [bool, int, float, complex] => {
            let pad = pad.values::<T>()?.first().copied();
            let pad = pad.ok_or_else(|| Error::internal("a scalar without a value"))?;
            Ok(vec![Column::Stacked(self.cut::<T>(&x, dims, pad)?)])
        }, else Err(Error::internal("frames of text")))
    }

    fn tolerance(&self) -> Tolerance {
        Tolerance::Moved
    }
}

impl Overlap {
    fn length(&self, frames: usize, length: usize) -> Result<usize> {
        let Some(last) = frames.checked_sub(1) else { return Ok(0) };
        let total = last.checked_mul(self.step).and_then(|start| start.checked_add(length));
        total.ok_or_else(|| Error::resource_exhausted("the frames are too long together"))
    }

    fn sum<T: Number + Element>(&self, x: &Tensor, dims: Dims) -> Result<Tensor> {
        let [.., frames, length] = x.dims() else {
            return Err(Error::internal("frames without axes"));
        };
        let total = dims.last().copied().unwrap_or(0);
        let mut out = scratch::<T>(volume(&dims)?)?;
        let values = x.values::<T>()?;
        let sums = out.typed_mut::<T>();
        sums.fill(T::from_bool(false));
        for (signal, out) in sums.chunks_exact_mut(total.max(1)).enumerate() {
            for frame in 0..*frames {
                let start = (signal * frames + frame) * length;
                let place = &mut out[frame * self.step..];
                let own = &values[start..start + length];
                place.iter_mut().zip(own).for_each(|(sum, value)| *sum = sum.add(*value));
            }
        }
        Tensor::fixed(x.dtype(), dims, out.freeze())
    }
}

impl Kernel for Overlap {
    fn infer(&self, specs: &[Spec]) -> Result<Vec<Spec>> {
        let [spec] = inputs(specs)?;
        let (dtype, shape) = dense(spec)?;
        if !dtype.is_integer() && !dtype.is_float() {
            return Err(Error::invalid_argument(format!("overlap_and_add does not take {dtype}")));
        }
        let shape = match shape.dims() {
            None => PartialShape::UNKNOWN,
            Some([rest @ .., frames, length]) => {
                let total = frames.zip(*length);
                let total =
                    total.map(|(frames, length)| self.length(frames, length)).transpose()?;
                PartialShape::new(rest.iter().copied().chain([total]))
            }
            Some(_) => {
                let text = format!("overlap_and_add needs frames of samples, got shape {shape}");
                return Err(Error::invalid_argument(text));
            }
        };
        Ok(vec![Spec::Tensor { dtype, shape }])
    }

    fn run(&self, args: &[Arg], rows: usize, _: &[Wanted]) -> Result<Vec<Column>> {
        let [arg] = inputs(args)?;
        let x = stacked(arg, rows)?;
        let [rest @ .., frames, length] = x.dims() else {
            return Err(Error::invalid_argument("overlap_and_add needs frames of samples"));
        };
        if rest.is_empty() {
            return Err(Error::invalid_argument("overlap_and_add needs frames of samples"));
        }
        let total = self.length(*frames, *length)?;
        let dims: Dims = rest.iter().copied().chain([total]).collect();
        with_type!(x.dtype(), T: [int, float] => {
            Ok(vec![Column::Stacked(self.sum::<T>(&x, dims)?)])
        }, else Err(Error::internal("sums of what is no number")))
    }

    fn tolerance(&self) -> Tolerance {
        Tolerance::Sum
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::attr::Attr;

    fn run(op: &str, attrs: &[(&str, Attr)], x: Tensor) -> Result<(Dims, Vec<i32>)> {
        let attrs =
            attrs.iter().fold(Attrs::new(), |own, (name, attr)| own.with(name, attr.clone()));
        let kernel = build(op, &attrs)?.unwrap();
        let Column::Stacked(out) = kernel.run(&[Arg::Const(x)], 1, &[Wanted::All])?.remove(0)
        else {
            return Err(Error::internal("not stacked"));
        };
        Ok((out.dims()[1..].into(), out.values::<i32>()?.to_vec()))
    }

    fn frame(
        samples: &[i32],
        length: i64,
        step: i64,
        pad: Option<f64>,
    ) -> Result<(Dims, Vec<i32>)> {
        let mut attrs = vec![("frame_length", Attr::Int(length)), ("frame_step", Attr::Int(step))];
        attrs.extend(pad.map(|pad| ("pad_value", Attr::Float(pad))));
        run("frame", &attrs, Tensor::from_values(&[samples.len()], samples).unwrap())
    }

    #[test]
    fn frames_start_step_by_step() {
        let found = frame(&[1, 2, 3, 4, 5], 3, 2, None).unwrap();
        assert_eq!(found, ([2, 3][..].into(), vec![1, 2, 3, 3, 4, 5]));
        let found = frame(&[1, 2, 3, 4], 3, 2, Some(9.0)).unwrap();
        assert_eq!(found, ([2, 3][..].into(), vec![1, 2, 3, 3, 4, 9]));
        assert_eq!(frame(&[1, 2], 3, 2, None).unwrap(), ([0, 3][..].into(), vec![]));
        assert_eq!(frame(&[], 3, 2, Some(0.0)).unwrap(), ([0, 3][..].into(), vec![]));
        assert_eq!(frame(&[1, 2], 0, 5, None).unwrap().0[..], [1, 0]);
        assert!(frame(&[1], 1, 0, None).is_err() && frame(&[1], -1, 1, None).is_err());
        // A frame that would not fit in memory is refused before any is made.
        assert!(frame(&[1], i64::MAX, 1, Some(0.0)).is_err());
    }

    #[test]
    fn frames_add_up_where_they_overlap() {
        let x = Tensor::from_values(&[2, 3], &[1, 2, 3, 10, 20, 30]).unwrap();
        let step = |step: i64| [("frame_step", Attr::Int(step))];
        let found = run("overlap_and_add", &step(1), x.clone()).unwrap();
        assert_eq!(found, ([4][..].into(), vec![1, 12, 23, 30]));
        assert_eq!(
            run("overlap_and_add", &step(5), x.clone()).unwrap().1,
            [1, 2, 3, 0, 0, 10, 20, 30]
        );
        assert!(run("overlap_and_add", &step(i64::MAX), x).is_err());
    }
}
