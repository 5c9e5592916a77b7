//! `sort`, `argsort`, `top_k`: values in order along an axis.
//!
//! NaNs come last and zeros of both signs are equal, as in NumPy; falling order is the reverse.
//! Positions are those of a stable sort:
//! equal values keep their order, also where they fall.

use std::cmp::Reverse;
use std::sync::Arc;

use crate::data::{BytesArray, Column, DType, Dims, Element, PartialShape, Spec, Tensor, Wanted};
use crate::error::{Error, Result};
use crate::graph::attr::Attrs;
use crate::graph::kernel::{Arg, Kernel, Tolerance};
use crate::kernels::cast::{dense, inputs, scratch};
use crate::kernels::dispatch::with_type;
use crate::kernels::order::Ordered;
use crate::kernels::shape::{normal_axis, stacked};
use crate::kernels::strided::Walk;

#[derive(Debug)]
enum What {
    Values,
    Positions,
    /// So many of the largest values, and where they are.
    Top(usize),
}

#[derive(Debug)]
struct Sort {
    what: What,
    axis: i64,
    falling: bool,
    /// The function asked for the stable order.
    stable: bool,
}

pub(super) fn build(op: &str, attrs: &Attrs) -> Result<Option<Arc<dyn Kernel>>> {
    let what = match op {
        "sort" => What::Values,
        "argsort" => What::Positions,
        "top_k" => {
            attrs.only(&["k"])?;
            let negative = |_| Error::invalid_argument("the k of top_k must be at least 0");
            let k = usize::try_from(attrs.int("k")?).map_err(negative)?;
            return Ok(Some(Arc::new(Sort {
                what: What::Top(k),
                axis: -1,
                falling: true,
                stable: true,
            })));
        }
        _ => return Ok(None),
    };
    attrs.only(&["axis", "descending", "stable"])?;
    let falling = attrs.bool_or("descending", false)?;
    let stable = attrs.bool_or("stable", true)?;
    let axis = attrs.opt_int("axis")?.unwrap_or(-1);
    Ok(Some(Arc::new(Sort { what, axis, falling, stable })))
}

/// Sorts each run of `n` values.
fn sort_runs<T: Element + Ordered>(x: &Tensor, n: usize, falling: bool) -> Result<Tensor> {
    let mut out = scratch::<T>(x.len())?;
    let values = out.typed_mut::<T>();
    values.copy_from_slice(x.values::<T>()?);
    for run in values.chunks_exact_mut(n.max(1)) {
        match falling {
            false => run.sort_unstable_by_key(|value| value.key()),
            true => run.sort_unstable_by_key(|value| Reverse(value.key())),
        }
    }
    Tensor::fixed(x.dtype(), x.dims().into(), out.freeze())
}

/// Calls `body` with the places of each run of `n` values in the order of the values.
fn order_runs<K: Ord>(
    len: usize,
    n: usize,
    falling: bool,
    key: impl Fn(usize) -> K,
    mut body: impl FnMut(usize, &[i64]),
) {
    let mut order: Vec<i64> = Vec::with_capacity(n);
    for (run, start) in (0..len).step_by(n.max(1)).enumerate() {
        order.clear();
        order.extend(0..n as i64);
        match falling {
            false => order.sort_by_key(|i| key(start + *i as usize)),
            true => order.sort_by_key(|i| Reverse(key(start + *i as usize))),
        }
        body(run, &order);
    }
}

/// The first `keep` places of each run of `n` values in their order.
fn positions(x: &Tensor, n: usize, keep: usize, falling: bool) -> Result<Vec<i64>> {
    let runs = x.len().checked_div(n).unwrap_or(0);
    let mut found = Vec::with_capacity(runs * keep);
    let mut take = |_: usize, order: &[i64]| found.extend_from_slice(&order[..keep]);
    if x.dtype().is_text() {
        let values = x.strings()?;
        order_runs(x.len(), n, falling, |i| values.get(i), take);
    } else {
        with_type!(x.dtype(), T: [bool, int, float, complex] => {
            let values = x.values::<T>()?;
            order_runs(x.len(), n, falling, |i| values[i].key(), &mut take);
        }, else return Err(Error::internal("order of text as numbers")));
    }
    Ok(found)
}

impl Sort {
    fn values(&self, x: &Tensor, n: usize) -> Result<Tensor> {
        if x.dtype().is_text() {
            let order = positions(x, n, n, self.falling)?;
            let place = |(i, at): (usize, &i64)| i / n * n + *at as usize;
            let places: Vec<usize> = order.iter().enumerate().map(place).collect();
            let values: BytesArray = x.strings()?.gather(&places);
            return Tensor::text(x.dtype(), x.dims().into(), values);
        }
        with_type!(x.dtype(), T: [bool, int, float, complex] => {
            sort_runs::<T>(x, n, self.falling)
        }, else Err(Error::internal("order of text as numbers")))
    }

    /// The largest `k` values of each run of `n`, and their places.
    fn top(&self, x: &Tensor, n: usize, k: usize) -> Result<Vec<Column>> {
        let order = positions(x, n, k, true)?;
        let places: Vec<usize> =
            order.iter().enumerate().map(|(i, at)| i / k * n + *at as usize).collect();
        let flat = x.clone().reshape([x.len()][..].into())?.gather(&places)?;
        let mut dims: Dims = x.dims().into();
        if let Some(last) = dims.last_mut() {
            *last = k;
        }
        let order: Vec<i32> = order.iter().map(|at| *at as i32).collect();
        let order = Tensor::from_values(&dims, &order)?;
        Ok(vec![Column::Stacked(flat.reshape(dims)?), Column::Stacked(order)])
    }
}

impl Kernel for Sort {
    fn infer(&self, specs: &[Spec]) -> Result<Vec<Spec>> {
        let [spec] = inputs(specs)?;
        let (dtype, shape) = dense(spec)?;
        if let Some(rank) = shape.rank() {
            normal_axis(self.axis, rank)?;
        }
        let tensor = |dtype, shape: &PartialShape| Spec::Tensor { dtype, shape: shape.clone() };
        match self.what {
            What::Values => Ok(vec![spec.clone()]),
            What::Positions => Ok(vec![tensor(DType::Int64, shape)]),
            What::Top(k) => {
                if !dtype.is_integer() && !dtype.is_float() {
                    return Err(Error::invalid_argument(format!("top_k does not take {dtype}")));
                }
                let shape = match shape.dims() {
                    None => PartialShape::UNKNOWN,
                    Some(dims) => {
                        if let Some(Some(n)) = dims.last()
                            && *n < k
                        {
                            return Err(too_few(*n, k));
                        }
                        let rest = dims.len().saturating_sub(1);
                        PartialShape::new(dims[..rest].iter().copied().chain([Some(k)]))
                    }
                };
                Ok(vec![tensor(dtype, &shape), tensor(DType::Int32, &shape)])
            }
        }
    }

    fn run(&self, args: &[Arg], rows: usize, _: &[Wanted]) -> Result<Vec<Column>> {
        let [arg] = inputs(args)?;
        let tensor = stacked(arg, rows)?;
        let rank = tensor.dims().len();
        let axis = normal_axis(self.axis, rank.saturating_sub(1))? + 1;
        let n = tensor.dims()[axis];
        let tensor = exchanged(&tensor, axis)?;
        let result = match self.what {
            What::Values => self.values(&tensor, n)?,
            What::Positions => {
                let order = positions(&tensor, n, n, self.falling)?;
                Tensor::from_values(tensor.dims(), &order)?
            }
            What::Top(k) if k > n => return Err(too_few(n, k)),
            What::Top(k) => return self.top(&tensor, n, k),
        };
        Ok(vec![Column::Stacked(exchanged(&result, axis)?)])
    }

    fn tolerance(&self) -> Tolerance {
        match self.what {
            What::Positions => Tolerance::Exact,
            _ => Tolerance::Moved,
        }
    }

    fn caveat(&self) -> Option<&'static str> {
        let open = matches!(self.what, What::Positions) && !self.stable;
        open.then_some(
            "NumPy promises the order of equal values for argsort(kind=\"stable\") alone, which is \
             what the graph gives",
        )
    }
}

fn too_few(n: usize, k: usize) -> Error {
    Error::invalid_argument(format!("input must have at least k columns. Had {n}, needed {k}"))
}

/// With `axis` and the last axis in each other's place.
fn exchanged(tensor: &Tensor, axis: usize) -> Result<Tensor> {
    let mut walk = Walk::plain(tensor.dims());
    let last = walk.dims.len() - 1;
    if axis == last {
        return Ok(tensor.clone());
    }
    walk.dims.swap(axis, last);
    walk.strides.swap(axis, last);
    walk.collect(tensor)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::attr::Attr;

    fn run(op: &str, attrs: Attrs, tensor: Tensor) -> Vec<Tensor> {
        let kernel = build(op, &attrs).unwrap().unwrap();
        let columns = kernel.run(&[Arg::Const(tensor)], 1, &[Wanted::All]).unwrap();
        columns.into_iter().map(|c| stacked(&Arg::Column(c), 1).unwrap()).collect()
    }

    #[test]
    fn nan_is_last_and_equal_values_keep_their_order() {
        let x = [2.0, f64::NAN, -0.0, 0.0, f64::NEG_INFINITY, -1.0];
        let tensor = Tensor::from_values(&[6], &x).unwrap();
        let sorted = run("sort", Attrs::new(), tensor.clone()).remove(0);
        let sorted = sorted.values::<f64>().unwrap();
        assert_eq!(sorted[..5], [f64::NEG_INFINITY, -1.0, 0.0, 0.0, 2.0]);
        assert!(sorted[5].is_nan());
        let order = run("argsort", Attrs::new(), tensor.clone()).remove(0);
        assert_eq!(order.values::<i64>().unwrap(), [4, 5, 2, 3, 0, 1]);
        let falling = Attrs::from([("descending", Attr::Bool(true))]);
        let order = run("argsort", falling, tensor).remove(0);
        assert_eq!(order.values::<i64>().unwrap(), [1, 0, 2, 3, 5, 4]);
    }

    #[test]
    fn other_axes_and_text_are_sorted() {
        let tensor = Tensor::from_values(&[2, 2], &[3_u8, 1, 2, 4]).unwrap();
        let first = Attrs::from([("axis", Attr::Int(0))]);
        let sorted = run("sort", first, tensor).remove(0);
        assert_eq!(sorted.values::<u8>().unwrap(), [2, 1, 3, 4]);
        let text = BytesArray::from_values(["b", "", "ab"]).unwrap();
        let text = Tensor::text(DType::Bytes, [3][..].into(), text).unwrap();
        let sorted = run("sort", Attrs::new(), text).remove(0);
        assert_eq!(sorted.strings().unwrap().iter().collect::<Vec<_>>(), [&b""[..], b"ab", b"b"]);
    }

    #[test]
    fn the_largest_come_with_their_places() {
        let tensor = Tensor::from_values(&[2, 3], &[1_i32, 3, 3, 9, 8, 7]).unwrap();
        let k = Attrs::from([("k", Attr::Int(2))]);
        let found = run("top_k", k, tensor);
        assert_eq!(found[0].values::<i32>().unwrap(), [3, 3, 9, 8]);
        assert_eq!(found[1].values::<i32>().unwrap(), [1, 2, 0, 1]);
    }
}
