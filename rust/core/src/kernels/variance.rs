//! `var`: the mean of the squared distances from the mean, along axes.

use std::sync::Arc;

use half::{bf16, f16};
use num_complex::Complex;

use crate::data::{Column, DType, Dims, PartialShape, Spec, Tensor, Wanted};
use crate::error::{Error, Result};
use crate::graph::attr::Attrs;
use crate::graph::kernel::{Arg, Kernel, Tolerance};
use crate::kernels::cast::{dense, inputs};
use crate::kernels::reduce::{in_runs, runs, without};
use crate::kernels::shape::{normal_axes, stacked};
use crate::kernels::sums::Accumulate;

#[derive(Debug)]
struct Variance {
    /// All axes if `None`.
    axes: Option<Vec<i64>>,
    keepdims: bool,
    /// What is taken from the number of values that the squares are divided by.
    ddof: f64,
}

pub(super) fn build(op: &str, attrs: &Attrs) -> Result<Option<Arc<dyn Kernel>>> {
    if op != "var" {
        return Ok(None);
    }
    attrs.only(&["axis", "keepdims", "ddof"])?;
    let (axes, keepdims) = (attrs.opt_ints("axis")?, attrs.bool_or("keepdims", false)?);
    let ddof = attrs.opt_float("ddof")?.unwrap_or(0.0);
    Ok(Some(Arc::new(Variance { axes, keepdims, ddof })))
}

impl Variance {
    fn axes(&self, rank: usize) -> Result<Vec<usize>> {
        match &self.axes {
            None => Ok((0..rank).collect()),
            Some(axes) => normal_axes(axes, rank),
        }
    }

    fn compute(&self, x: &Tensor, count: usize, dims: Dims) -> Result<Tensor> {
        let parts = (count as f64 - self.ddof).max(0.0);
        let dtype = x.dtype();
        macro_rules! real {
            ($type:ty, $wide:ty, $get:expr, $put:expr) => {
                runs::<$type, $type>(x, count, dims, dtype, |run| {
                    let mean = <$type>::sum(run) / count as $wide;
                    let away: Vec<$wide> = run
                        .iter()
                        .map(|value| {
                            let away = $get(*value) - mean;
                            away * away
                        })
                        .collect();
                    $put(<$wide>::sum(&away) / parts as $wide)
                })
            };
        }
        macro_rules! complex {
            ($part:ty, $dtype:expr) => {
                runs::<Complex<$part>, $part>(x, count, dims, $dtype, |run| {
                    let mean = Complex::<$part>::sum(run) / count as $part;
                    let away = run.iter().map(|value| (value - mean).norm_sqr());
                    let away: Vec<$part> = away.collect();
                    <$part>::sum(&away) / parts as $part
                })
            };
        }
        match dtype {
            DType::Float16 => real!(f16, f32, f16::to_f32, f16::from_f32),
            DType::BFloat16 => real!(bf16, f32, bf16::to_f32, bf16::from_f32),
            DType::Float32 => real!(f32, f32, |x| x, |x| x),
            DType::Float64 => real!(f64, f64, |x| x, |x| x),
            DType::Complex64 => complex!(f32, DType::Float32),
            DType::Complex128 => complex!(f64, DType::Float64),
            _ => Err(Error::internal(format!("var of {dtype}"))),
        }
    }
}

impl Kernel for Variance {
    fn infer(&self, specs: &[Spec]) -> Result<Vec<Spec>> {
        let [spec] = inputs(specs)?;
        let (dtype, shape) = dense(spec)?;
        let output = match dtype {
            DType::Complex64 => DType::Float32,
            DType::Complex128 => DType::Float64,
            float if float.is_float() => float,
            _ => {
                let text = format!("var does not take {dtype}: cast it to a float");
                return Err(Error::invalid_argument(text));
            }
        };
        let shape = match shape.dims() {
            Some(dims) => {
                let axes = self.axes(dims.len())?;
                PartialShape::new(without(dims, &axes, self.keepdims.then_some(Some(1))))
            }
            None if self.axes.is_none() && !self.keepdims => PartialShape::scalar(),
            None => PartialShape::UNKNOWN,
        };
        Ok(vec![Spec::Tensor { dtype: output, shape }])
    }

    fn run(&self, args: &[Arg], rows: usize, _: &[Wanted]) -> Result<Vec<Column>> {
        let [arg] = inputs(args)?;
        let tensor = stacked(arg, rows)?;
        let row = tensor.dims().get(1..).unwrap_or_default();
        let axes = self.axes(row.len())?;
        let rest = without(row, &axes, self.keepdims.then_some(1));
        let dims = std::iter::once(rows).chain(rest).collect();
        let (tensor, count) = in_runs(&tensor, &axes)?;
        Ok(vec![Column::Stacked(self.compute(&tensor, count, dims)?)])
    }

    fn tolerance(&self) -> Tolerance {
        Tolerance::Sum
    }
}
