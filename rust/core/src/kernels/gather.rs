//! Values at computed places along axes: `take`, `take_along_axis`, `gather_nd`.

use std::sync::Arc;

use crate::data::shape::volume;
use crate::data::{Column, DType, Dims, PartialShape, Spec, Tensor, Wanted};
use crate::error::{Error, Result};
use crate::graph::attr::Attrs;
use crate::graph::kernel::{Arg, Kernel, Tolerance};
use crate::kernels::cast::{cast_tensor, dense, inputs};
use crate::kernels::elementwise::loops::broadcast_partial;
use crate::kernels::places::{FILL, each_index, pick, pick_or, room};
use crate::kernels::shape::normal_axis;

/// What becomes of a place outside of the axis.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Outside {
    /// Negative ones count from the end; others are an error, in NumPy's words.
    Raise,
    /// The next place inside.
    Clip,
    /// Round and round.
    Wrap,
    /// All are an error, in TensorFlow's words.
    Strict,
    /// Zeros stand for what is not there; `gather_nd` alone knows it.
    Zero,
}

impl Outside {
    pub(crate) fn of(attrs: &Attrs) -> Result<Self> {
        Ok(match attrs.opt_str("mode")?.unwrap_or("raise") {
            "raise" => Outside::Raise,
            "clip" => Outside::Clip,
            "wrap" => Outside::Wrap,
            "strict" => Outside::Strict,
            mode => return Err(Error::invalid_argument(format!("there is no mode {mode:?}"))),
        })
    }

    /// The place along the axis; `at` is where the index stands in the indices, for messages.
    pub(crate) fn place(
        self,
        index: i64,
        axis: usize,
        size: usize,
        at: impl FnOnce() -> String,
    ) -> Result<usize> {
        let count = size as i64;
        let place = match self {
            Outside::Raise if index < 0 => index + count,
            Outside::Clip => index.clamp(0, (count - 1).max(0)),
            Outside::Wrap if count > 0 => index.rem_euclid(count),
            _ => index,
        };
        usize::try_from(place).ok().filter(|place| *place < size).ok_or_else(|| {
            Error::invalid_argument(match self {
                Outside::Strict => format!("indices{} = {index} is not in [0, {size})", at()),
                _ if size == 0 => "cannot do a non-empty take from an empty axes.".into(),
                _ => {
                    format!("index {index} is out of bounds for axis {axis} with size {size}")
                }
            })
        })
    }
}

/// Where the value of a number stands, as TensorFlow writes it: `[1,0]`, nothing for a scalar.
fn coordinates(mut number: usize, dims: &[usize]) -> String {
    let mut places: Vec<String> = Vec::with_capacity(dims.len());
    for size in dims.iter().rev() {
        places.push((number % size.max(&1)).to_string());
        number /= size.max(&1);
    }
    places.reverse();
    if places.is_empty() { String::new() } else { format!("[{}]", places.join(",")) }
}

#[derive(Debug)]
enum Gather {
    Take { axis: i64, batch: usize, outside: Outside },
    Along { axis: i64, outside: Outside },
    Nd { batch: usize, outside: Outside },
}

pub(super) fn build(op: &str, attrs: &Attrs) -> Result<Option<Arc<dyn Kernel>>> {
    let batch = || -> Result<usize> {
        let batch = attrs.opt_int("batch_dims")?.unwrap_or(0);
        usize::try_from(batch).map_err(|_| {
            Error::invalid_argument(format!("batch_dims may not be negative, got {batch}"))
        })
    };
    let gather = match op {
        "take" => {
            attrs.only(&["axis", "batch_dims", "mode"])?;
            let axis = attrs.opt_int("axis")?.unwrap_or(0);
            Gather::Take { axis, batch: batch()?, outside: Outside::of(attrs)? }
        }
        "take_along_axis" => {
            attrs.only(&["axis", "mode"])?;
            Gather::Along { axis: attrs.int("axis")?, outside: Outside::of(attrs)? }
        }
        "gather_nd" => {
            attrs.only(&["batch_dims", "mode"])?;
            let outside = match attrs.opt_str("mode")? {
                Some("zero") => Outside::Zero,
                _ => Outside::of(attrs)?,
            };
            Gather::Nd { batch: batch()?, outside }
        }
        _ => return Ok(None),
    };
    Ok(Some(Arc::new(gather)))
}

type Partial = Vec<Option<usize>>;

fn without(dims: &[Option<usize>], axis: usize) -> PartialShape {
    PartialShape::new(dims.iter().enumerate().filter(|(k, _)| *k != axis).map(|(_, dim)| *dim))
}

impl Gather {
    /// The shape of the result.
    fn rule(&self, x: &[Option<usize>], at: &[Option<usize>]) -> Result<Partial> {
        let batch_of = |batch: usize| {
            let fits = batch <= at.len()
                && batch <= x.len()
                && x.iter().zip(at).take(batch).all(|(a, b)| a.is_none() || b.is_none() || a == b);
            let (own, other) = (PartialShape::new(x.to_vec()), PartialShape::new(at.to_vec()));
            fits.then_some(()).ok_or_else(|| {
                Error::invalid_argument(format!(
                    "shapes {own} and {other} do not share their first {batch} axes (batch_dims)"
                ))
            })
        };
        match self {
            Gather::Take { axis, batch, .. } => {
                batch_of(*batch)?;
                let axis = normal_axis(*axis, x.len())?;
                if axis < *batch {
                    return Err(Error::invalid_argument(format!(
                        "batch_dims ({batch}) must not be greater than axis ({axis})"
                    )));
                }
                Ok([&x[..axis], &at[*batch..], &x[axis + 1..]].concat())
            }
            Gather::Along { axis, .. } => {
                if x.len() != at.len() {
                    return Err(Error::invalid_argument(
                        "`indices` and `arr` must have the same number of dimensions",
                    ));
                }
                let axis = normal_axis(*axis, x.len())?;
                let both = broadcast_partial(&without(x, axis), &without(at, axis))?;
                let mut dims: Partial = both.dims().unwrap_or_default().to_vec();
                dims.insert(axis, at[axis]);
                Ok(dims)
            }
            Gather::Nd { batch, .. } => {
                batch_of(*batch)?;
                let Some((last, front)) = at[*batch..].split_last() else {
                    return Err(Error::invalid_argument("indices must be at least a vector"));
                };
                let depth = last.ok_or_else(|| {
                    Error::invalid_argument("the size of the last axis of indices must be known")
                })?;
                if batch + depth > x.len() {
                    let rank = x.len();
                    return Err(Error::invalid_argument(format!(
                        "index innermost dimension length must be <= params rank; saw: {depth} vs. \
                         {rank}"
                    )));
                }
                Ok([&x[..*batch], front, &x[batch + depth..]].concat())
            }
        }
    }

    /// The places of one row's runs, added to `places`, and the length of a run.
    fn places(
        &self,
        x: &[usize],
        at: &[usize],
        indices: &[i64],
        base: usize,
        places: &mut Vec<usize>,
    ) -> Result<usize> {
        match self {
            Gather::Take { axis, batch, outside } => {
                let axis = normal_axis(*axis, x.len())?;
                let (batches, size) = (x[..*batch].iter().product::<usize>(), x[axis]);
                let outer: usize = x[*batch..axis].iter().product();
                let count: usize = at[*batch..].iter().product();
                let run: usize = x[axis + 1..].iter().product();
                let base = base / run.max(1);
                for b in 0..batches {
                    let indices = &indices[b * count..(b + 1) * count];
                    for o in 0..outer {
                        let start = base + (b * outer + o) * size;
                        for (k, index) in indices.iter().enumerate() {
                            let number = || coordinates(b * count + k, at);
                            places.push(start + outside.place(*index, axis, size, number)?);
                        }
                    }
                }
                Ok(run)
            }
            Gather::Along { axis, outside } => {
                let axis = normal_axis(*axis, x.len())?;
                let dims = self.rule(&known(x), &known(at))?;
                let dims: Dims = dims.into_iter().flatten().collect();
                each_index(&dims, |index| {
                    let flat = |own: &[usize]| {
                        let step = |sum: usize, (at, dim): (&usize, &usize)| {
                            sum * dim + if *dim == 1 { 0 } else { *at }
                        };
                        index.iter().zip(own).fold(0, step)
                    };
                    let mut place = Dims::from(index);
                    let i = flat(at);
                    place[axis] =
                        outside.place(indices[i], axis, x[axis], || coordinates(i, at))?;
                    let step = |sum: usize, (k, dim): (usize, &usize)| {
                        let at = if *dim == 1 && k != axis { 0 } else { place[k] };
                        sum * dim + at
                    };
                    places.push(base + x.iter().enumerate().fold(0, step));
                    Ok(())
                })?;
                Ok(1)
            }
            Gather::Nd { batch, outside } => {
                let depth = at.last().copied().unwrap_or(0);
                let run: usize = x[batch + depth..].iter().product();
                let indexed = &x[*batch..batch + depth];
                let span: usize = indexed.iter().product();
                let batches: usize = x[..*batch].iter().product();
                let count: usize = at[*batch..at.len() - 1].iter().product();
                let base = base / run.max(1);
                for k in 0..batches * count {
                    let index = &indices[k * depth..(k + 1) * depth];
                    let mut place = 0;
                    let is_inside = |(k, size): (&i64, &usize)| (0..*size as i64).contains(k);
                    if *outside == Outside::Zero && !index.iter().zip(indexed).all(is_inside) {
                        places.push(FILL);
                        continue;
                    }
                    for (axis, (value, size)) in index.iter().zip(indexed).enumerate() {
                        let found = outside.place(*value, axis + batch, *size, || format!("[{k}]"));
                        place = place * size
                            + found.map_err(|error| match outside {
                                Outside::Strict => Error::invalid_argument(format!(
                                    "indices[{k}] = {index:?} does not index into param shape {x:?}"
                                )),
                                _ => error,
                            })?;
                    }
                    places.push(base + k / count.max(1) * span + place);
                }
                Ok(run)
            }
        }
    }
}

pub(crate) fn known(dims: &[usize]) -> Partial {
    dims.iter().map(|dim| Some(*dim)).collect()
}

impl Kernel for Gather {
    fn infer(&self, specs: &[Spec]) -> Result<Vec<Spec>> {
        let [x, at] = inputs(specs)?;
        let ((dtype, shape), (index, at)) = (dense(x)?, dense(at)?);
        if !index.is_integer() {
            return Err(Error::invalid_argument(format!("indices must be integers, got {index}")));
        }
        let shape = match (shape.dims(), at.dims()) {
            (Some(x), Some(at)) => PartialShape::new(self.rule(x, at)?),
            _ => PartialShape::UNKNOWN,
        };
        Ok(vec![Spec::Tensor { dtype, shape }])
    }

    fn run(&self, args: &[Arg], rows: usize, _: &[Wanted]) -> Result<Vec<Column>> {
        let [x, at] = inputs(args)?;
        let indices = cast_tensor(at.tensor()?, DType::Int64)?;
        let indices = indices.values::<i64>()?;
        let (own, index) = (x.row_dims()?, at.row_dims()?);
        let row: Dims = self.rule(&known(own), &known(index))?.into_iter().flatten().collect();
        let (per_row, per_index) = (volume(own)?, volume(index)?);
        let dims: Dims = std::iter::once(rows).chain(row).collect();
        let mut places = room(0)?;
        let mut run = 1;
        for row in 0..rows {
            let base = if x.is_const() { 0 } else { row * per_row };
            let start = if at.is_const() { 0 } else { row * per_index };
            let indices = &indices[start..start + per_index];
            run = self.places(own, index, indices, base, &mut places)?;
        }
        let x = x.tensor()?;
        Ok(vec![Column::Stacked(match self {
            Gather::Nd { outside: Outside::Zero, .. } => {
                pick_or(x, &Tensor::zeros(x.dtype(), Dims::new())?, &places, run, dims)?
            }
            _ => pick(x, &places, run, dims)?,
        })])
    }

    fn tolerance(&self) -> Tolerance {
        Tolerance::Moved
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_outside_are_taken_as_asked_for() {
        assert_eq!(Outside::Raise.place(-1, 0, 3, String::new).unwrap(), 2);
        assert_eq!(Outside::Clip.place(-1, 0, 3, String::new).unwrap(), 0);
        assert_eq!(Outside::Wrap.place(-1, 0, 3, String::new).unwrap(), 2);
        assert!(Outside::Strict.place(-1, 0, 3, String::new).is_err());
        assert!(Outside::Clip.place(0, 0, 0, String::new).is_err());
        assert!(Outside::Raise.place(i64::MIN, 0, 3, String::new).is_err());
    }
}
