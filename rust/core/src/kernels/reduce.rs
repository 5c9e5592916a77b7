//! Reductions: `sum`, `mean`, `prod`, `max`, `min`, `any`, `all`, `count_nonzero`, `argmax`,
//! `argmin`; `reduce_fmax` and others where the plain name is an operation of two values.
//!
//! The reduced axes are moved to the end, where they are one run of values for each result.
//! Floats are added pairwise as NumPy does along contiguous runs.

use std::sync::Arc;

use num_complex::Complex;

use crate::data::shape::volume;
use crate::data::{Column, DType, Dims, Element, PartialShape, Spec, Tensor, Wanted};
use crate::error::{Error, Result};
use crate::graph::attr::Attrs;
use crate::graph::kernel::{Arg, Kernel, Tolerance};
use crate::kernels::cast::{Bool, Source, cast_tensor, dense, inputs, scratch};
use crate::kernels::dispatch::with_type;
use crate::kernels::elementwise;
use crate::kernels::elementwise::complex::{Part, extreme};
use crate::kernels::elementwise::number::{Integer, Number};
use crate::kernels::shape::{normal_axes, stacked};
use crate::kernels::strided::Walk;
use crate::kernels::sums::Accumulate;

const OPS: &[&str] = &[
    "sum",
    "mean",
    "prod",
    "max",
    "min",
    "reduce_fmax",
    "reduce_fmin",
    "any",
    "all",
    "reduce_logical_xor",
    "reduce_bitwise_and",
    "reduce_bitwise_or",
    "reduce_bitwise_xor",
    "count_nonzero",
    "argmax",
    "argmin",
];

#[derive(Debug)]
struct Reduce {
    op: &'static str,
    /// All axes if `None`.
    axes: Option<Vec<i64>>,
    keepdims: bool,
    /// In which type it adds up; that of the input if `None`.
    dtype: Option<DType>,
    /// A scalar of the result's type, that every result takes in.
    initial: Option<Tensor>,
}

pub(super) fn build(op: &str, attrs: &Attrs) -> Result<Option<Arc<dyn Kernel>>> {
    let Some(op) = OPS.iter().find(|name| **name == op) else { return Ok(None) };
    let typed = matches!(*op, "sum" | "mean" | "prod");
    let starts = typed || matches!(*op, "max" | "min" | "reduce_fmax" | "reduce_fmin");
    let names: &[&str] = match (typed, starts) {
        (true, _) => &["axis", "keepdims", "initial", "dtype"],
        (_, true) => &["axis", "keepdims", "initial"],
        _ => &["axis", "keepdims"],
    };
    attrs.only(names)?;
    let initial = attrs.opt_tensor("initial")?.cloned();
    let axes = attrs.opt_ints("axis")?;
    if op.starts_with("arg") && axes.as_ref().is_some_and(|axes| axes.len() != 1) {
        return Err(Error::invalid_argument(format!("{op} takes one axis or none")));
    }
    let dtype = if typed { attrs.opt_dtype("dtype")? } else { None };
    let keepdims = attrs.bool_or("keepdims", false)?;
    Ok(Some(Arc::new(Reduce { op, axes, keepdims, dtype, initial })))
}

impl Reduce {
    fn axes(&self, rank: usize) -> Result<Vec<usize>> {
        match &self.axes {
            None => Ok((0..rank).collect()),
            Some(axes) => normal_axes(axes, rank),
        }
    }

    /// The type of the result for values of this type.
    fn output(&self, dtype: DType) -> Option<DType> {
        let real = dtype.is_integer() || dtype.is_float();
        let adds = |dtype: DType| !dtype.is_text() && dtype != DType::Bool;
        match self.op {
            "sum" | "prod" => {
                let out = self.dtype.unwrap_or(dtype);
                (!dtype.is_text() && adds(out)).then_some(out)
            }
            "mean" => {
                let out = self.dtype.unwrap_or(dtype);
                (!dtype.is_text() && adds(out)).then_some(out)
            }
            "max" | "min" => (!dtype.is_text()).then_some(dtype),
            "reduce_fmax" | "reduce_fmin" => (real || dtype == DType::Bool).then_some(dtype),
            "any" | "all" | "reduce_logical_xor" => (!dtype.is_text()).then_some(DType::Bool),
            "reduce_bitwise_and" | "reduce_bitwise_or" | "reduce_bitwise_xor" => {
                (dtype.is_integer() || dtype == DType::Bool).then_some(dtype)
            }
            "count_nonzero" => (!dtype.is_text()).then_some(DType::Int64),
            _ => (real || dtype == DType::Bool).then_some(DType::Int64),
        }
    }

    /// The shape of the result.
    fn rule(&self, dims: &[Option<usize>]) -> Result<Vec<Option<usize>>> {
        Ok(without(dims, &self.axes(dims.len())?, self.keepdims.then_some(Some(1))))
    }

    /// The values with the reduced axes at the end, and how many they are.
    fn in_runs(&self, tensor: &Tensor) -> Result<(Tensor, usize)> {
        let axes = self.axes(tensor.dims().len().saturating_sub(1))?;
        in_runs(tensor, &axes)
    }

    fn compute(&self, tensor: &Tensor, count: usize, dims: Dims) -> Result<Tensor> {
        let dtype = tensor.dtype();
        let unknown = || Error::internal(format!("{} does not take {dtype}", self.op));
        let stored = if dtype == DType::Bool { DType::UInt8 } else { dtype };
        match self.op {
            "sum" | "mean" | "prod" => with_type!(dtype, T: [int, float, complex] => {
                self.accumulate::<T>(tensor, count, dims)
            }, else Err(unknown())),
            "any" => with_type!(dtype, T: [bool, int, float, complex] => {
                runs::<T, Bool>(tensor, count, dims, DType::Bool, |run| {
                    Bool(u8::from(run.iter().any(|value| value.truth())))
                })
            }, else Err(unknown())),
            "all" => with_type!(dtype, T: [bool, int, float, complex] => {
                runs::<T, Bool>(tensor, count, dims, DType::Bool, |run| {
                    Bool(u8::from(run.iter().all(|value| value.truth())))
                })
            }, else Err(unknown())),
            "reduce_logical_xor" => with_type!(dtype, T: [bool, int, float, complex] => {
                runs::<T, Bool>(tensor, count, dims, DType::Bool, |run| {
                    Bool(run.iter().fold(0, |odd, value| odd ^ u8::from(value.truth())))
                })
            }, else Err(unknown())),
            "count_nonzero" => with_type!(dtype, T: [bool, int, float, complex] => {
                runs::<T, i64>(tensor, count, dims, DType::Int64, |run| {
                    run.iter().map(|value| i64::from(value.truth())).sum()
                })
            }, else Err(unknown())),
            "reduce_bitwise_and" | "reduce_bitwise_or" | "reduce_bitwise_xor" => {
                with_type!(stored, T: [int] => {
                // The identity of `and` is all ones, which of a boolean is 1.
                let ones = if dtype == DType::Bool { T::one() } else { T::zero().not() };
                runs::<T, T>(tensor, count, dims, dtype, |run| match self.op {
                    "reduce_bitwise_and" => run.iter().fold(ones, |bits, value| bits.and(*value)),
                    "reduce_bitwise_or" => run.iter().fold(T::zero(), |bits, value| bits.or(*value)),
                    _ => run.iter().fold(T::zero(), |bits, value| bits.xor(*value)),
                })
            }, else Err(unknown()))
            }
            "max" | "min" if dtype == DType::Complex64 => self.extremes::<f32>(tensor, count, dims),
            "max" | "min" if dtype == DType::Complex128 => {
                self.extremes::<f64>(tensor, count, dims)
            }
            _ => with_type!(stored, T: [int, float] => match self.op {
                "reduce_fmax" => runs::<T, T>(tensor, count, dims, dtype, |run| lanes(run, Number::fmax)),
                "reduce_fmin" => runs::<T, T>(tensor, count, dims, dtype, |run| lanes(run, Number::fmin)),
                "max" => runs::<T, T>(tensor, count, dims, dtype, |run| lanes(run, Number::maximum)),
                "min" => runs::<T, T>(tensor, count, dims, dtype, |run| lanes(run, Number::minimum)),
                "argmax" => runs::<T, i64>(tensor, count, dims, DType::Int64, |run| {
                    first(run, |value, best| value > best)
                }),
                _ => runs::<T, i64>(tensor, count, dims, DType::Int64, |run| {
                    first(run, |value, best| value < best)
                }),
            }, else Err(unknown())),
        }
    }

    fn accumulate<T: Accumulate>(
        &self,
        tensor: &Tensor,
        count: usize,
        dims: Dims,
    ) -> Result<Tensor> {
        let dtype = tensor.dtype();
        match self.op {
            "sum" => runs::<T, T>(tensor, count, dims, dtype, |run| T::narrow(T::sum(run))),
            "prod" => runs::<T, T>(tensor, count, dims, dtype, T::product),
            _ => runs::<T, T>(tensor, count, dims, dtype, T::mean),
        }
    }

    fn extremes<P: Part>(&self, tensor: &Tensor, count: usize, dims: Dims) -> Result<Tensor>
    where
        Complex<P>: Element,
    {
        let largest = self.op == "max";
        runs::<Complex<P>, Complex<P>>(tensor, count, dims, tensor.dtype(), |run| {
            run.iter().fold(run[0], |best, value| extreme(best, *value, best, largest))
        })
    }

    fn check_empty(&self) -> Result<()> {
        match self.op {
            "max" | "min" | "reduce_fmax" | "reduce_fmin" => Err(Error::invalid_argument(format!(
                "zero-size array to reduction operation {} which has no identity",
                match self.op {
                    "max" => "maximum",
                    "min" => "minimum",
                    other => other.trim_start_matches("reduce_"),
                }
            ))),
            "argmax" | "argmin" => {
                let text = format!("attempt to get {} of an empty sequence", self.op);
                Err(Error::invalid_argument(text))
            }
            _ => Ok(()),
        }
    }
}

/// A column with these axes of its rows at the end, and how many values they are.
pub(crate) fn in_runs(tensor: &Tensor, axes: &[usize]) -> Result<(Tensor, usize)> {
    let row = tensor.dims().get(1..).unwrap_or_default();
    let order: Vec<usize> = std::iter::once(0)
        .chain((0..row.len()).filter(|axis| !axes.contains(axis)).map(|axis| axis + 1))
        .chain(axes.iter().map(|axis| axis + 1))
        .collect();
    let plain = Walk::plain(tensor.dims());
    let walk = Walk {
        dims: order.iter().map(|axis| tensor.dims()[*axis]).collect(),
        strides: order.iter().map(|axis| plain.strides[*axis]).collect(),
        start: 0,
    };
    let count = axes.iter().map(|axis| row[*axis]).product();
    Ok((walk.collect(tensor)?, count))
}

/// A shape without these axes, or with 1 in their place.
pub(crate) fn without<T: Copy>(dims: &[T], axes: &[usize], keep: Option<T>) -> Vec<T> {
    let dim = |(axis, dim): (usize, &T)| match axes.contains(&axis) {
        true => keep,
        false => Some(*dim),
    };
    dims.iter().enumerate().filter_map(dim).collect()
}

/// One result for each run of `count` values.
#[inline(always)]
pub(crate) fn runs<A: Element, R: Element>(
    tensor: &Tensor,
    count: usize,
    dims: Dims,
    dtype: DType,
    reduce: impl Fn(&[A]) -> R,
) -> Result<Tensor> {
    let values = tensor.values::<A>()?;
    let mut out = scratch::<R>(volume(&dims)?)?;
    for (i, out) in out.typed_mut::<R>().iter_mut().enumerate() {
        *out = reduce(&values[i * count..(i + 1) * count]);
    }
    Tensor::fixed(dtype, dims, out.freeze())
}

/// Folds in eight lanes, which the compiler vectorises; the order does not matter to `f`.
#[inline(always)]
pub(crate) fn lanes<T: Number>(run: &[T], f: impl Fn(T, T) -> T) -> T {
    let (chunks, rest) = run.as_chunks::<8>();
    let mut result = run[0];
    if let Some((first, chunks)) = chunks.split_first() {
        let mut lanes = *first;
        for chunk in chunks {
            (0..8).for_each(|i| lanes[i] = f(lanes[i], chunk[i]));
        }
        lanes.iter().for_each(|lane| result = f(result, *lane));
    }
    rest.iter().fold(result, |result, value| f(result, *value))
}

/// Index of the first value that no other is better than; a NaN is better than all.
fn first<T: Number>(run: &[T], better: impl Fn(T, T) -> bool) -> i64 {
    let (mut at, mut best) = (0, run[0]);
    for (i, value) in run.iter().enumerate() {
        if best.is_nan() {
            break;
        }
        if better(*value, best) || value.is_nan() {
            (at, best) = (i, *value);
        }
    }
    at as i64
}

impl Kernel for Reduce {
    fn infer(&self, specs: &[Spec]) -> Result<Vec<Spec>> {
        let [spec] = inputs(specs)?;
        let (dtype, shape) = dense(spec)?;
        if let Some(initial) = &self.initial
            && (Some(initial.dtype()) != self.output(dtype) || !initial.dims().is_empty())
        {
            let text = format!("the initial value of {} must be a scalar of its type", self.op);
            return Err(Error::invalid_argument(text));
        }
        let Some(output) = self.output(dtype) else {
            let to = self.dtype.map(|to| format!(" in {to}")).unwrap_or_default();
            return Err(Error::invalid_argument(format!("{} does not take {dtype}{to}", self.op)));
        };
        let shape = match shape.dims() {
            Some(dims) => PartialShape::new(self.rule(dims)?),
            None if self.axes.is_none() && !self.keepdims => PartialShape::scalar(),
            None => PartialShape::UNKNOWN,
        };
        Ok(vec![Spec::Tensor { dtype: output, shape }])
    }

    fn run(&self, args: &[Arg], rows: usize, _: &[Wanted]) -> Result<Vec<Column>> {
        let [arg] = inputs(args)?;
        let tensor = stacked(arg, rows)?;
        let row = tensor.dims().get(1..).unwrap_or_default();
        let partial: Vec<_> = row.iter().map(|dim| Some(*dim)).collect();
        let dims = PartialShape::new(self.rule(&partial)?).prepend(Some(rows)).known();
        let dims = dims.ok_or_else(|| Error::internal("a shape is known in part only"))?;
        let (mut tensor, count) = self.in_runs(&tensor)?;
        if let Some(dtype) = self.dtype {
            tensor = cast_tensor(&tensor, dtype)?;
        }
        let Some(initial) = &self.initial else {
            if count == 0 && volume(&dims)? > 0 {
                self.check_empty()?;
            }
            return Ok(vec![Column::Stacked(self.compute(&tensor, count, dims)?)]);
        };
        let initial = Arg::Const(initial.clone());
        let combine = match self.op {
            "sum" | "mean" => "add",
            "prod" => "multiply",
            "max" => "maximum",
            "min" => "minimum",
            other => other.trim_start_matches("reduce_"),
        };
        if count == 0 && matches!(combine, "maximum" | "minimum" | "fmax" | "fmin") {
            let column = initial.into_column(volume(&dims)?)?;
            let Column::Stacked(filled) = column else {
                return Err(Error::internal("an initial value that is no tensor"));
            };
            return Ok(vec![Column::Stacked(filled.reshape(dims)?)]);
        }
        let result = Arg::Column(Column::Stacked(self.compute(&tensor, count, dims)?));
        let kernel = elementwise::build(combine, &Attrs::new())?
            .ok_or_else(|| Error::internal("a reduction by no operation"))?;
        kernel.run(&[result, initial], rows, &[Wanted::All])
    }

    fn tolerance(&self) -> Tolerance {
        match self.op {
            "sum" | "mean" | "prod" => Tolerance::Sum,
            "max" | "min" | "reduce_fmax" | "reduce_fmin" => Tolerance::Moved,
            _ => Tolerance::Exact,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::attr::Attr;

    fn reduce(op: &str, attrs: Attrs, tensor: Tensor) -> Result<Tensor> {
        let kernel = build(op, &attrs)?.unwrap();
        let column = kernel.run(&[Arg::Const(tensor)], 1, &[Wanted::All])?.remove(0);
        stacked(&Arg::Column(column), 1)?.row(0)
    }

    #[test]
    fn axes_other_than_the_last_are_moved_there() {
        let tensor = Tensor::from_values(&[2, 3], &[1_i64, 2, 3, 4, 5, 6]).unwrap();
        let axis = |axis| Attrs::from([("axis", Attr::Int(axis))]);
        let sum = reduce("sum", axis(0), tensor.clone()).unwrap();
        assert_eq!(sum.values::<i64>().unwrap(), [5, 7, 9]);
        let keep = axis(-1).with("keepdims", Attr::Bool(true));
        let max = reduce("max", keep, tensor.clone()).unwrap();
        assert_eq!((max.dims(), max.values::<i64>().unwrap()), (&[2, 1][..], &[3, 6][..]));
        let mean = Attrs::from([("dtype", Attr::DType(DType::Float64))]);
        assert_eq!(reduce("mean", mean, tensor).unwrap().values::<f64>().unwrap(), [3.5]);
    }

    #[test]
    fn nan_is_the_largest_and_the_least() {
        let tensor = Tensor::from_values(&[4], &[1.0, f64::NAN, 3.0, f64::NAN]).unwrap();
        let at = reduce("argmin", Attrs::new(), tensor.clone()).unwrap();
        assert_eq!(at.values::<i64>().unwrap(), [1]);
        assert!(reduce("max", Attrs::new(), tensor).unwrap().values::<f64>().unwrap()[0].is_nan());
    }

    #[test]
    fn nothing_has_no_largest_value() {
        let tensor = Tensor::from_values::<f32>(&[0], &[]).unwrap();
        assert!(reduce("max", Attrs::new(), tensor.clone()).is_err());
        assert_eq!(reduce("sum", Attrs::new(), tensor).unwrap().values::<f32>().unwrap(), [0.0]);
    }
}
