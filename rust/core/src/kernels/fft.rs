//! Fourier transforms along the last axis: `fft`, `ifft`, `rfft`, `irfft`.
//!
//! Values are cut off or zeros put behind them until there are `n`. float32 is transformed in
//! float32, as NumPy and TensorFlow do. Transforms along other axes, and of several, are recorded as
//! these between transpositions.

use std::sync::Arc;

use half::f16;
use num_complex::Complex;
use realfft::RealFftPlanner;
use rustfft::num_traits::Zero;
use rustfft::{FftDirection, FftNum, FftPlanner};

use crate::data::shape::volume;
use crate::data::{Column, DType, Dims, Element, PartialShape, Spec, Tensor, Wanted};
use crate::error::{Error, Result};
use crate::graph::attr::Attrs;
use crate::graph::kernel::{Arg, Kernel, Tolerance};
use crate::kernels::cast::{cast_tensor, dense, inputs, scratch};
use crate::kernels::shape::stacked;

/// Which transform it is.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Way {
    Forward,
    Inverse,
    /// Of real numbers: the half of the result that the other half follows from.
    Real,
    /// From such a half to real numbers.
    ToReal,
}

/// What results are divided by.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Norm {
    None,
    Root,
    Whole,
}

#[derive(Debug)]
struct Fft {
    way: Way,
    /// So many values go in, or come out of [`Way::ToReal`]; as many as there are if `None`.
    n: Option<usize>,
    norm: Norm,
}

pub(super) fn build(op: &str, attrs: &Attrs) -> Result<Option<Arc<dyn Kernel>>> {
    let way = match op {
        "fft" => Way::Forward,
        "ifft" => Way::Inverse,
        "rfft" => Way::Real,
        "irfft" => Way::ToReal,
        _ => return Ok(None),
    };
    attrs.only(&["n", "norm"])?;
    let n = match attrs.opt_int("n")? {
        None => None,
        Some(n) => match usize::try_from(n) {
            Ok(n) if n > 0 => Some(n),
            _ => {
                let text = format!("invalid number of data points ({n}) specified");
                return Err(Error::invalid_argument(text));
            }
        },
    };
    let inverse = matches!(way, Way::Inverse | Way::ToReal);
    let norm = match attrs.opt_str("norm")?.unwrap_or("backward") {
        "ortho" => Norm::Root,
        "backward" if inverse => Norm::Whole,
        "forward" if !inverse => Norm::Whole,
        "backward" | "forward" => Norm::None,
        other => {
            let text =
                format!("norm must be \"backward\", \"ortho\" or \"forward\", got {other:?}");
            return Err(Error::invalid_argument(text));
        }
    };
    Ok(Some(Arc::new(Fft { way, n, norm })))
}

/// What a transform of values of this dtype is made with: float32 or float64.
fn precision(dtype: DType) -> Result<DType> {
    match dtype {
        DType::Float16 | DType::BFloat16 | DType::Float32 | DType::Complex64 => Ok(DType::Float32),
        DType::Float64 | DType::Complex128 | DType::Bool => Ok(DType::Float64),
        whole if whole.is_integer() => Ok(DType::Float64),
        _ => Err(Error::invalid_argument(format!("no Fourier transform takes {dtype}"))),
    }
}

fn complex_of(real: DType) -> DType {
    if real == DType::Float32 { DType::Complex64 } else { DType::Complex128 }
}

impl Fft {
    /// The number of values of a transform, where so many are given.
    fn points(&self, given: usize) -> Result<usize> {
        let points = match (self.n, self.way) {
            (Some(n), _) => n,
            (None, Way::ToReal) => given.saturating_sub(1).saturating_mul(2),
            (None, _) => given,
        };
        if points == 0 {
            let text = "invalid number of data points (0) specified: the axis has no values";
            return Err(Error::invalid_argument(text));
        }
        Ok(points)
    }

    /// How many values a transform gives.
    fn given(&self, points: usize) -> usize {
        if self.way == Way::Real { points / 2 + 1 } else { points }
    }

    fn shape(&self, shape: &PartialShape) -> Result<PartialShape> {
        let Some(dims) = shape.dims() else { return Ok(PartialShape::UNKNOWN) };
        let Some((last, rest)) = dims.split_last() else {
            return Err(Error::invalid_argument("a Fourier transform needs an axis"));
        };
        let points = match (last, self.n) {
            (Some(given), _) => Some(self.points(*given)?),
            (None, n) => n,
        };
        let last = points.map(|points| self.given(points));
        Ok(PartialShape::new(rest.iter().copied().chain([last])))
    }

    /// What results of values of this dtype are multiplied with. Of float16 it is a float16 itself,
    /// as in NumPy, though the transform is made in float32.
    fn scale(&self, points: usize, dtype: DType) -> f64 {
        let rounded = |number: f64| match dtype {
            DType::Float16 => f16::from_f64(number).to_f64(),
            _ => number,
        };
        let points = rounded(points as f64);
        match self.norm {
            Norm::None => 1.0,
            Norm::Root => rounded(1.0 / rounded(points.sqrt())),
            Norm::Whole => rounded(1.0 / points),
        }
    }

    fn compute<T>(&self, x: &Tensor, dims: Dims, points: usize, scale: f64) -> Result<Tensor>
    where
        T: FftNum + Element,
        Complex<T>: Element,
    {
        let given = x.dims().last().copied().unwrap_or(0);
        let scale = T::from_f64(scale)
            .ok_or_else(|| Error::internal("no number to scale a transform with"))?;
        let total = volume(&dims)?;
        match self.way {
            Way::ToReal => {
                let mut out = scratch::<T>(total)?;
                to_real(x.values::<Complex<T>>()?, given, out.typed_mut::<T>(), points)?;
                if scale != T::one() {
                    out.typed_mut::<T>().iter_mut().for_each(|value| *value = *value * scale);
                }
                Tensor::fixed(T::DTYPE, dims, out.freeze())
            }
            Way::Real => {
                let mut out = scratch::<Complex<T>>(total)?;
                real(x.values::<T>()?, given, out.typed_mut::<Complex<T>>(), points)?;
                scaled(out.typed_mut::<Complex<T>>(), scale);
                Tensor::fixed(complex_of(T::DTYPE), dims, out.freeze())
            }
            Way::Forward | Way::Inverse => {
                let mut out = scratch::<Complex<T>>(total)?;
                let direction = match self.way {
                    Way::Forward => FftDirection::Forward,
                    _ => FftDirection::Inverse,
                };
                let values = out.typed_mut::<Complex<T>>();
                padded(x.values::<Complex<T>>()?, given, values, points);
                if !values.is_empty() {
                    let plan = FftPlanner::<T>::new().plan_fft(points, direction);
                    let mut room = room(plan.get_inplace_scratch_len())?;
                    plan.process_with_scratch(values, &mut room);
                }
                scaled(values, scale);
                Tensor::fixed(complex_of(T::DTYPE), dims, out.freeze())
            }
        }
    }
}

fn room<V: Clone + Zero>(count: usize) -> Result<Vec<V>> {
    let mut room = Vec::new();
    room.try_reserve_exact(count)
        .map_err(|_| Error::resource_exhausted("no memory for a Fourier transform"))?;
    room.resize(count, V::zero());
    Ok(room)
}

fn scaled<T: FftNum>(values: &mut [Complex<T>], scale: T) {
    if scale != T::one() {
        values.iter_mut().for_each(|value| *value = *value * scale);
    }
}

/// Copies runs of `from` values into runs of `to`, with zeros behind them or without their end.
fn padded<V: Copy + Zero>(x: &[V], from: usize, out: &mut [V], to: usize) {
    let kept = from.min(to);
    for (run, out) in out.chunks_exact_mut(to).enumerate() {
        out[..kept].copy_from_slice(&x[run * from..run * from + kept]);
        out[kept..].fill(V::zero());
    }
}

fn failed(error: realfft::FftError) -> Error {
    Error::internal(format!("a Fourier transform failed: {error}"))
}

/// The transforms of runs of real numbers.
fn real<T: FftNum>(x: &[T], given: usize, out: &mut [Complex<T>], points: usize) -> Result<()> {
    if out.is_empty() {
        return Ok(());
    }
    let plan = RealFftPlanner::<T>::new().plan_fft_forward(points);
    let mut own = room(points)?;
    let mut room = room(plan.get_scratch_len())?;
    let kept = given.min(points);
    for (run, out) in out.chunks_exact_mut(points / 2 + 1).enumerate() {
        own[..kept].copy_from_slice(&x[run * given..run * given + kept]);
        own[kept..].fill(T::zero());
        plan.process_with_scratch(&mut own, out, &mut room).map_err(failed)?;
    }
    Ok(())
}

/// Real numbers from halves of transforms.
fn to_real<T: FftNum>(x: &[Complex<T>], given: usize, out: &mut [T], points: usize) -> Result<()> {
    if out.is_empty() {
        return Ok(());
    }
    let plan = RealFftPlanner::<T>::new().plan_fft_inverse(points);
    let half = points / 2 + 1;
    let mut own = room::<Complex<T>>(half)?;
    let mut room = room(plan.get_scratch_len())?;
    let kept = given.min(half);
    for (run, out) in out.chunks_exact_mut(points).enumerate() {
        own[..kept].copy_from_slice(&x[run * given..run * given + kept]);
        own[kept..].fill(Complex::zero());
        // These parts of a transform of real numbers are 0; where they are not, they do not count.
        own[0].im = T::zero();
        if points.is_multiple_of(2) {
            own[half - 1].im = T::zero();
        }
        plan.process_with_scratch(&mut own, out, &mut room).map_err(failed)?;
    }
    Ok(())
}

impl Kernel for Fft {
    fn infer(&self, specs: &[Spec]) -> Result<Vec<Spec>> {
        let [spec] = inputs(specs)?;
        let (dtype, shape) = dense(spec)?;
        let real = precision(dtype)?;
        if self.way == Way::Real && matches!(dtype, DType::Complex64 | DType::Complex128) {
            let text = format!("rfft is of real numbers, got {dtype}: use fft");
            return Err(Error::invalid_argument(text));
        }
        let dtype = if self.way == Way::ToReal { real } else { complex_of(real) };
        Ok(vec![Spec::Tensor { dtype, shape: self.shape(shape)? }])
    }

    fn run(&self, args: &[Arg], rows: usize, _: &[Wanted]) -> Result<Vec<Column>> {
        let [arg] = inputs(args)?;
        let x = stacked(arg, rows)?;
        let (rest, given) = match x.dims() {
            [rest @ .., given] if !rest.is_empty() => (rest, *given),
            _ => return Err(Error::invalid_argument("a Fourier transform needs an axis")),
        };
        let points = self.points(given)?;
        let dims: Dims = rest.iter().copied().chain([self.given(points)]).collect();
        let (real, scale) = (precision(x.dtype())?, self.scale(points, x.dtype()));
        let taken = if self.way == Way::Real { real } else { complex_of(real) };
        let x = cast_tensor(&x, taken)?;
        Ok(vec![Column::Stacked(match real {
            DType::Float32 => self.compute::<f32>(&x, dims, points, scale)?,
            _ => self.compute::<f64>(&x, dims, points, scale)?,
        })])
    }

    fn tolerance(&self) -> Tolerance {
        Tolerance::Mixed
    }
}
