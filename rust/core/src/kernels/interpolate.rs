//! `interp`: values of the lines through given points (`numpy.interp`).

use std::sync::Arc;

use crate::data::{Column, DType, Spec, Wanted};
use crate::error::{Error, Result};
use crate::graph::attr::Attrs;
use crate::graph::kernel::{Arg, Kernel, Tolerance};
use crate::kernels::cast::{dense, inputs, map_flat};
use crate::kernels::elementwise::unary::map;

#[derive(Debug)]
struct Interpolate {
    /// Where the points are, ascending, and their values.
    xp: Vec<f64>,
    fp: Vec<f64>,
    left: f64,
    right: f64,
}

pub(super) fn build(op: &str, attrs: &Attrs) -> Result<Option<Arc<dyn Kernel>>> {
    if op != "interp" {
        return Ok(None);
    }
    attrs.only(&["xp", "fp", "left", "right"])?;
    let points = |name: &str| -> Result<Vec<f64>> {
        let tensor = attrs.opt_tensor(name)?;
        let tensor = tensor.ok_or_else(|| {
            Error::invalid_argument(format!("interp needs the points as an array {name:?}"))
        })?;
        Ok(tensor.values::<f64>()?.to_vec())
    };
    let (xp, fp) = (points("xp")?, points("fp")?);
    let (Some(first), Some(last)) = (fp.first(), fp.last()) else {
        return Err(Error::invalid_argument("array of sample points is empty"));
    };
    if xp.len() != fp.len() {
        return Err(Error::invalid_argument("fp and xp are not of the same length."));
    }
    let left = attrs.opt_float("left")?.unwrap_or(*first);
    let right = attrs.opt_float("right")?.unwrap_or(*last);
    Ok(Some(Arc::new(Interpolate { xp, fp, left, right })))
}

impl Interpolate {
    fn at(&self, x: f64) -> f64 {
        let (xp, fp, last) = (&self.xp, &self.fp, self.xp.len() - 1);
        if x.is_nan() {
            return x;
        }
        if x > xp[last] {
            return self.right;
        }
        if x < xp[0] {
            return self.left;
        }
        let j = xp.partition_point(|point| *point <= x).saturating_sub(1);
        if j == last || xp[j] == x {
            return fp[j];
        }
        let slope = (fp[j + 1] - fp[j]) / (xp[j + 1] - xp[j]);
        let y = slope * (x - xp[j]) + fp[j];
        if !y.is_nan() {
            return y;
        }
        // Infinite points: the line may be known from its other end.
        let y = slope * (x - xp[j + 1]) + fp[j + 1];
        if y.is_nan() && fp[j] == fp[j + 1] { fp[j] } else { y }
    }
}

impl Kernel for Interpolate {
    fn infer(&self, specs: &[Spec]) -> Result<Vec<Spec>> {
        let [spec] = inputs(specs)?;
        let (dtype, shape) = dense(spec)?;
        if dtype != DType::Float64 {
            return Err(Error::invalid_argument(format!("interp takes float64, got {dtype}")));
        }
        Ok(vec![Spec::Tensor { dtype, shape: shape.clone() }])
    }

    fn run(&self, args: &[Arg], rows: usize, _: &[Wanted]) -> Result<Vec<Column>> {
        let [arg] = inputs(args)?;
        let change = |x: &crate::data::Tensor| map::<f64, f64>(x, DType::Float64, |x| self.at(x));
        Ok(vec![map_flat(arg, rows, change)?])
    }

    fn tolerance(&self) -> Tolerance {
        Tolerance::Ulp(4)
    }

    fn accepts(&self, column: &Column) -> bool {
        matches!(column, Column::Stacked(_) | Column::Rows(_))
    }
}
