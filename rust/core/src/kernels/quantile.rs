//! `quantile`: values at given shares of the sorted ones along axes (`numpy.median`,
//! `numpy.percentile`).
//!
//! Between two values the result lies on the line through them. A NaN among the values makes the
//! result NaN, or is left out with `skip_nan` (`numpy.nanmedian`); of no values the result is NaN.

use std::sync::Arc;

use half::f16;

use crate::data::shape::volume;
use crate::data::{Column, DType, Element, PartialShape, Spec, Tensor, Wanted};
use crate::error::{Error, Result};
use crate::graph::attr::{Attr, Attrs};
use crate::graph::kernel::{Arg, Kernel, Tolerance};
use crate::kernels::cast::{dense, inputs, scratch};
use crate::kernels::order::Ordered;
use crate::kernels::reduce::{in_runs, without};
use crate::kernels::shape::{normal_axes, stacked};

#[derive(Debug)]
struct Quantile {
    /// All axes if `None`.
    axes: Option<Vec<i64>>,
    keepdims: bool,
    /// The shares, each in [0, 1]; `None` for the mean of the two values in the middle.
    shares: Option<Vec<f64>>,
    /// The result has no axis for the shares.
    single: bool,
    /// The result is float64, whatever the values are.
    wide: bool,
    /// NaN counts as no value.
    skip_nan: bool,
}

pub(super) fn build(op: &str, attrs: &Attrs) -> Result<Option<Arc<dyn Kernel>>> {
    let mut wide = false;
    let (shares, single) = match op {
        "median" => {
            attrs.only(&["axis", "keepdims", "skip_nan"])?;
            (None, true)
        }
        "quantile" => {
            attrs.only(&["axis", "keepdims", "q", "wide", "skip_nan"])?;
            wide = attrs.bool_or("wide", false)?;
            let (shares, single) = match attrs.get("q") {
                Some(Attr::Float(share)) => (vec![*share], true),
                Some(Attr::List(shares)) => {
                    let share = |share: &Attr| match share {
                        Attr::Float(share) => Ok(*share),
                        other => Err(wrong(other)),
                    };
                    (shares.iter().map(share).collect::<Result<_>>()?, false)
                }
                other => return Err(wrong(other.unwrap_or(&Attr::None))),
            };
            if shares.iter().any(|share| !(0.0..=1.0).contains(share)) {
                return Err(Error::invalid_argument("quantiles must be in the range [0, 1]"));
            }
            (Some(shares), single)
        }
        _ => return Ok(None),
    };
    let (axes, keepdims) = (attrs.opt_ints("axis")?, attrs.bool_or("keepdims", false)?);
    let skip_nan = attrs.bool_or("skip_nan", false)?;
    Ok(Some(Arc::new(Quantile { axes, keepdims, shares, single, wide, skip_nan })))
}

fn wrong(attr: &Attr) -> Error {
    Error::invalid_argument(format!("argument \"q\" must be a float or floats, got {attr}"))
}

/// A float that lines are drawn through.
trait Float: Element + Ordered {
    fn is_nan(self) -> bool;
    fn wide(self) -> f64;
    /// The point between `a` and `b` at this share of the way.
    fn between(a: Self, b: Self, share: f64) -> Self;
    /// The same in float64, but for the distance of the two, which is rounded to this type.
    fn between_wide(a: Self, b: Self, share: f64) -> f64;
    fn middle(a: Self, b: Self) -> Self;
    fn nan() -> Self;
}

macro_rules! floats {
    ($($type:ty, $wide:ty, $get:expr, $put:expr);*) => {$(
        impl Float for $type {
            fn is_nan(self) -> bool {
                <$type>::is_nan(self)
            }
            fn wide(self) -> f64 {
                f64::from(self)
            }
            fn between(a: Self, b: Self, share: f64) -> Self {
                let (a, b, share) = ($get(a), $get(b), share as $wide);
                // From the nearer end, so that the ends are met exactly.
                $put(if share < 0.5 { a + (b - a) * share } else { b - (b - a) * (1.0 - share) })
            }
            fn between_wide(a: Self, b: Self, share: f64) -> f64 {
                let (low, high) = (f64::from(a), f64::from(b));
                let away = f64::from($put($get(b) - $get(a)));
                if share < 0.5 { low + away * share } else { high - away * (1.0 - share) }
            }
            fn nan() -> Self {
                $put(<$wide>::NAN)
            }
            fn middle(a: Self, b: Self) -> Self {
                $put(($get(a) + $get(b)) / 2.0)
            }
        }
    )*};
}

floats!(
    f16, f32, f16::to_f32, f16::from_f32;
    f32, f32, |x: f32| x, |x: f32| x;
    f64, f64, |x: f64| x, |x: f64| x
);

impl Quantile {
    fn axes(&self, rank: usize) -> Result<Vec<usize>> {
        match &self.axes {
            None => Ok((0..rank).collect()),
            Some(axes) => normal_axes(axes, rank),
        }
    }

    fn count(&self) -> usize {
        self.shares.as_ref().map_or(1, Vec::len)
    }

    /// For each row one result for each share and place.
    fn compute<T: Float>(&self, x: &Tensor, n: usize, rows: usize, each: usize) -> Result<Tensor> {
        match self.wide {
            false => self.fill::<T, T>(x, n, [rows, each], |sorted, k| self.pick(sorted, k)),
            true => self.fill::<T, f64>(x, n, [rows, each], |sorted, k| self.pick_wide(sorted, k)),
        }
    }

    fn fill<T: Float, R: Element>(
        &self,
        x: &Tensor,
        n: usize,
        [rows, each]: [usize; 2],
        pick: impl Fn(&[T], usize) -> R,
    ) -> Result<Tensor> {
        let values = x.values::<T>()?;
        let count = self.count();
        let mut out = scratch::<R>(volume(&[rows, count, each])?)?;
        let result = out.typed_mut::<R>();
        let mut sorted: Vec<T> = Vec::with_capacity(n);
        for row in 0..rows {
            for place in 0..each {
                let start = (row * each + place) * n;
                sorted.clear();
                sorted.extend_from_slice(&values[start..start + n]);
                if self.skip_nan {
                    sorted.retain(|value| !value.is_nan());
                }
                sorted.sort_unstable_by_key(|value| value.key());
                for k in 0..count {
                    result[(row * count + k) * each + place] = pick(&sorted, k);
                }
            }
        }
        Tensor::fixed(R::DTYPE, [rows, count, each][..].into(), out.freeze())
    }

    fn pick<T: Float>(&self, sorted: &[T], k: usize) -> T {
        let Some(shares) = &self.shares else {
            return match sorted.len().checked_sub(1) {
                None => T::nan(),
                Some(last) if sorted[last].is_nan() => sorted[last],
                // One value is the middle as it is: twice a large one is none.
                Some(last) if last % 2 == 0 => sorted[last / 2],
                Some(last) => T::middle(sorted[last / 2], sorted[last - last / 2]),
            };
        };
        let (a, b, share) = neighbours(sorted, shares[k]);
        if a.wide() == b.wide() { a } else { T::between(a, b, share) }
    }

    fn pick_wide<T: Float>(&self, sorted: &[T], k: usize) -> f64 {
        let share = self.shares.as_ref().map_or(0.5, |shares| shares[k]);
        let (a, b, share) = neighbours(sorted, share);
        if a.wide() == b.wide() { a.wide() } else { T::between_wide(a, b, share) }
    }
}

/// The values on both sides of a share of them, and the share of the way between these two.
fn neighbours<T: Float>(sorted: &[T], share: f64) -> (T, T, f64) {
    let Some(last) = sorted.len().checked_sub(1) else {
        return (T::nan(), T::nan(), 0.0);
    };
    if sorted[last].is_nan() {
        return (sorted[last], sorted[last], 0.0);
    }
    let place = last as f64 * share;
    let below = (place.floor() as usize).min(last);
    let above = (below + 1).min(last);
    (sorted[below], sorted[above], place - below as f64)
}

impl Kernel for Quantile {
    fn infer(&self, specs: &[Spec]) -> Result<Vec<Spec>> {
        let [spec] = inputs(specs)?;
        let (dtype, shape) = dense(spec)?;
        if !matches!(dtype, DType::Float16 | DType::Float32 | DType::Float64) {
            let text = format!("quantile does not take {dtype}: cast it to a float");
            return Err(Error::invalid_argument(text));
        }
        let shape = match shape.dims() {
            None => PartialShape::UNKNOWN,
            Some(dims) => {
                let axes = self.axes(dims.len())?;
                let rest = without(dims, &axes, self.keepdims.then_some(Some(1)));
                let shares = (!self.single).then(|| Some(self.count()));
                PartialShape::new(shares.into_iter().chain(rest))
            }
        };
        let dtype = if self.wide { DType::Float64 } else { dtype };
        Ok(vec![Spec::Tensor { dtype, shape }])
    }

    fn run(&self, args: &[Arg], rows: usize, _: &[Wanted]) -> Result<Vec<Column>> {
        let [arg] = inputs(args)?;
        let tensor = stacked(arg, rows)?;
        let row = tensor.dims().get(1..).unwrap_or_default();
        let axes = self.axes(row.len())?;
        let rest = without(row, &axes, self.keepdims.then_some(1));
        let each = volume(&rest)?;
        let shares = (!self.single).then(|| self.count());
        let dims = std::iter::once(rows).chain(shares).chain(rest).collect();
        let (tensor, n) = in_runs(&tensor, &axes)?;
        if n == 0 && each > 0 && self.shares.is_some() && !self.skip_nan {
            return Err(Error::invalid_argument("a quantile of no values"));
        }
        let result = match tensor.dtype() {
            DType::Float16 => self.compute::<f16>(&tensor, n, rows, each)?,
            DType::Float32 => self.compute::<f32>(&tensor, n, rows, each)?,
            _ => self.compute::<f64>(&tensor, n, rows, each)?,
        };
        Ok(vec![Column::Stacked(result.reshape(dims)?)])
    }

    fn tolerance(&self) -> Tolerance {
        Tolerance::Sum
    }
}
