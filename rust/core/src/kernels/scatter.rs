//! Values put together by the places they go to: `scatter` into slices of an array, `segments` of
//! rows (`tf.tensor_scatter_nd_*`, `tf.math.segment_*`, `tf.math.unsorted_segment_*`).

use std::sync::Arc;

use crate::data::shape::volume;
use crate::data::{Column, DType, Dims, PartialShape, Spec, Tensor, Wanted};
use crate::error::{Error, Result};
use crate::graph::attr::Attrs;
use crate::graph::kernel::{Arg, Kernel, Tolerance};
use crate::kernels::cast::{cast_tensor, dense, scratch};
use crate::kernels::dispatch::with_type;
use crate::kernels::elementwise::number::Number;
use crate::kernels::places::{bounded, by_row, pick, room};

/// How a value and those already at its place become one.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Combine {
    Update,
    Add,
    Subtract,
    Multiply,
    Min,
    Max,
}

impl Combine {
    fn of(attrs: &Attrs) -> Result<Self> {
        Ok(match attrs.opt_str("op")?.unwrap_or("update") {
            "update" => Combine::Update,
            "add" => Combine::Add,
            "subtract" => Combine::Subtract,
            "multiply" => Combine::Multiply,
            "min" => Combine::Min,
            "max" => Combine::Max,
            op => return Err(Error::invalid_argument(format!("cannot combine by {op:?}"))),
        })
    }

    #[inline(always)]
    fn apply<T: Number>(self, old: T, new: T) -> T {
        match self {
            Combine::Update => new,
            Combine::Add => old.add(new),
            Combine::Subtract => old.subtract(new),
            Combine::Multiply => old.multiply(new),
            Combine::Min if old < new => old,
            Combine::Max if old > new => old,
            Combine::Min | Combine::Max => new,
        }
    }

    /// Refuses types that have no such operation.
    fn check(self, dtype: DType) -> Result<()> {
        if self == Combine::Update || dtype.is_integer() || dtype.is_float() {
            return Ok(());
        }
        Err(Error::invalid_argument(format!("values of {dtype} cannot be combined")))
    }
}

/// Inputs: the array, indices `[..., k]` of its first k axes, the slices for them.
#[derive(Debug)]
struct Scatter {
    combine: Combine,
}

/// Inputs: rows, the segment of each, and if they are not sorted the number of segments.
#[derive(Debug)]
struct Segments {
    combine: Combine,
    sorted: bool,
    /// What a segment without rows is, a scalar.
    empty: Tensor,
    /// The number of segments where it is known.
    count: Option<usize>,
}

pub(super) fn build(op: &str, attrs: &Attrs) -> Result<Option<Arc<dyn Kernel>>> {
    match op {
        "scatter" => {
            attrs.only(&["op"])?;
            Ok(Some(Arc::new(Scatter { combine: Combine::of(attrs)? })))
        }
        "segments" => {
            attrs.only(&["op", "sorted", "empty", "count"])?;
            let empty = attrs
                .opt_tensor("empty")?
                .filter(|empty| empty.dims().is_empty())
                .ok_or_else(|| Error::invalid_argument("segments need a scalar for empty ones"))?;
            let count = attrs.opt_int("count")?.map(number_of).transpose()?;
            Ok(Some(Arc::new(Segments {
                combine: Combine::of(attrs)?,
                sorted: attrs.bool_or("sorted", false)?,
                empty: empty.clone(),
                count,
            })))
        }
        _ => Ok(None),
    }
}

fn number_of(count: i64) -> Result<usize> {
    usize::try_from(count).map_err(|_| {
        Error::invalid_argument(format!("Input num_segments == {count} must not be negative."))
    })
}

/// A copy of `x` in which runs of `run` values are combined with those of `from`.
fn combined(
    combine: Combine,
    x: &Tensor,
    from: &Tensor,
    places: &[Option<usize>],
    run: usize,
) -> Result<Tensor> {
    if combine == Combine::Update {
        // The last one stays; what is not replaced comes from `x` itself.
        let rows = x.len().checked_div(run).unwrap_or(0);
        let mut source: Vec<usize> = room(rows)?;
        source.extend(0..rows);
        for (k, place) in places.iter().enumerate() {
            if let Some(place) = place {
                source[*place] = rows + k;
            }
        }
        if x.is_empty() {
            return Ok(x.clone());
        }
        let flat = |x: &Tensor| x.clone().reshape([x.len()][..].into());
        let both = Tensor::concat(&[&flat(x)?, &flat(from)?])?;
        return pick(&both, &source, run, x.dims().into());
    }
    let wrong = || Error::internal(format!("cannot combine {}", x.dtype()));
    with_type!(x.dtype(), T: [int, float] => {
        let mut out = scratch::<T>(x.len())?;
        let values = out.typed_mut::<T>();
        values.copy_from_slice(x.values::<T>()?);
        for (place, new) in places.iter().zip(from.values::<T>()?.chunks(run.max(1))) {
            let Some(place) = place else { continue };
            for (old, new) in values[place * run..(place + 1) * run].iter_mut().zip(new) {
                *old = combine.apply(*old, *new);
            }
        }
        Tensor::fixed(x.dtype(), x.dims().into(), out.freeze())
    }, else Err(wrong()))
}

/// Whole numbers as int64.
fn whole(x: &Tensor) -> Result<Tensor> {
    cast_tensor(x, DType::Int64)
}

impl Scatter {
    fn one(&self, x: &Tensor, at: &Tensor, updates: &Tensor) -> Result<Tensor> {
        let depth = depth_of(x.dims().len(), at.dims())?;
        let outer = &at.dims()[..at.dims().len() - 1];
        let slice = &x.dims()[depth..];
        let expected: Dims = outer.iter().chain(slice).copied().collect();
        if updates.dims() != expected.as_slice() {
            return Err(Error::invalid_argument(format!(
                "updates must have shape {expected:?}, the indices' {outer:?} and the slices' \
                 {slice:?}, got {:?}",
                updates.dims()
            )));
        }
        let indices = whole(at)?;
        let indices = indices.values::<i64>()?;
        let count = volume(outer)?;
        let mut places = room(count)?;
        for k in 0..count {
            let index = &indices[k * depth..(k + 1) * depth];
            let mut place = 0;
            for (index, size) in index.iter().zip(x.dims()) {
                let inside = usize::try_from(*index).ok().filter(|index| index < size);
                let Some(own) = inside else {
                    return Err(outside(k, &indices[k * depth..], depth, x));
                };
                place = place * size + own;
            }
            places.push(Some(place));
        }
        combined(self.combine, x, updates, &places, volume(slice)?)
    }
}

fn outside(k: usize, index: &[i64], depth: usize, x: &Tensor) -> Error {
    Error::invalid_argument(format!(
        "indices[{k}] = {:?} does not index into shape {:?}",
        &index[..depth],
        x.dims()
    ))
}

/// How many axes indices of this shape name.
fn depth_of(rank: usize, indices: &[usize]) -> Result<usize> {
    indices.last().copied().filter(|depth| *depth <= rank).ok_or_else(|| {
        Error::invalid_argument(format!(
            "the last axis of indices of shape {indices:?} must name at most {rank} axes"
        ))
    })
}

fn is_index(spec: &Spec) -> Result<()> {
    match dense(spec)?.0 {
        DType::Int32 | DType::Int64 | DType::Int16 | DType::UInt16 | DType::UInt32 => Ok(()),
        dtype => Err(Error::invalid_argument(format!("indices must be integers, got {dtype}"))),
    }
}

impl Kernel for Scatter {
    fn infer(&self, specs: &[Spec]) -> Result<Vec<Spec>> {
        let [x, at, updates] = specs else {
            return Err(Error::invalid_argument("scatter needs an array, indices and updates"));
        };
        is_index(at)?;
        let ((dtype, _), (other, _)) = (dense(x)?, dense(updates)?);
        if dtype != other {
            return Err(Error::invalid_argument(format!("cannot put {other} into {dtype}")));
        }
        self.combine.check(dtype)?;
        Ok(vec![x.clone()])
    }

    fn run(&self, args: &[Arg], rows: usize, _: &[Wanted]) -> Result<Vec<Column>> {
        by_row(args, rows, |row| Ok([self.one(&row[0], &row[1], &row[2])?]))
    }

    fn tolerance(&self) -> Tolerance {
        Tolerance::Sum
    }
}

impl Segments {
    fn one(&self, x: &Tensor, ids: &Tensor, count: Option<&Tensor>) -> Result<Tensor> {
        if !x.dims().starts_with(ids.dims()) || (self.sorted && ids.dims().len() != 1) {
            let text = match self.sorted {
                true => "segment_ids should be the same size as dimension 0 of input.".into(),
                false => format!(
                    "data.shape = {:?} does not start with segment_ids.shape = {:?}",
                    x.dims(),
                    ids.dims()
                ),
            };
            return Err(Error::invalid_argument(text));
        }
        let ids = whole(ids)?;
        let rank = ids.dims().len();
        let ids = ids.values::<i64>()?;
        let count = match (count, self.count) {
            (Some(count), _) => {
                number_of(whole(count)?.values::<i64>()?.first().copied().unwrap_or(0))?
            }
            (None, Some(count)) => count,
            (None, None) => sorted_count(ids)?,
        };
        let slice = &x.dims()[rank..];
        let dims: Dims = std::iter::once(count).chain(slice.iter().copied()).collect();
        bounded(&dims, x.dtype().size())?;
        let mut places = room(ids.len())?;
        let mut seen: Vec<bool> = room(count)?;
        seen.resize(count, false);
        let mut last: Vec<usize> = room(count)?;
        last.resize(count, 0);
        for (k, id) in ids.iter().enumerate() {
            let place = usize::try_from(*id).ok();
            if place.is_some_and(|place| place >= count) {
                return Err(Error::invalid_argument(format!(
                    "segment_ids[{k}] = {id} is out of range [0, {count})"
                )));
            }
            places.push(place);
        }
        let run = volume(slice)?;
        // The first row of a segment is its start, so that no identity is needed.
        let wrong = || Error::internal(format!("cannot combine {}", x.dtype()));
        with_type!(x.dtype(), T: [int, float] => {
            let empty = self.empty.values::<T>()?.first().copied().ok_or_else(wrong)?;
            let mut out = scratch::<T>(count * run)?;
            let values = out.typed_mut::<T>();
            values.fill(empty);
            for (place, new) in places.iter().zip(x.values::<T>()?.chunks(run.max(1))) {
                let Some(place) = place else { continue };
                let old = &mut values[place * run..(place + 1) * run];
                match std::mem::replace(&mut seen[*place], true) {
                    false => old.copy_from_slice(new),
                    true => old.iter_mut().zip(new).for_each(|(old, new)| {
                        *old = self.combine.apply(*old, *new);
                    }),
                }
            }
            Tensor::fixed(x.dtype(), dims, out.freeze())
        }, else Err(wrong()))
    }
}

/// The number of segments of sorted rows.
fn sorted_count(ids: &[i64]) -> Result<usize> {
    if ids.windows(2).any(|pair| pair[1] < pair[0]) {
        return Err(Error::invalid_argument("segment ids are not increasing"));
    }
    let last = ids.last().map_or(0, |last| last.saturating_add(1));
    if let Some(first) = ids.first().filter(|first| **first < 0) {
        return Err(Error::invalid_argument(format!(
            "Segment id {first} out of range [0, {last})"
        )));
    }
    usize::try_from(last).map_err(|_| Error::invalid_argument("segment ids must not be negative"))
}

impl Kernel for Segments {
    fn infer(&self, specs: &[Spec]) -> Result<Vec<Spec>> {
        let (x, ids) = match specs {
            [x, ids] if self.sorted || self.count.is_some() => (x, ids),
            [x, ids, count] if !self.sorted && self.count.is_none() => {
                is_index(count)?;
                (x, ids)
            }
            _ => return Err(Error::invalid_argument("segments need rows, ids and a count")),
        };
        is_index(ids)?;
        let ((dtype, shape), (_, of_ids)) = (dense(x)?, dense(ids)?);
        if self.empty.dtype() != dtype || self.combine == Combine::Update {
            return Err(Error::invalid_argument(format!("cannot combine segments of {dtype}")));
        }
        self.combine.check(dtype)?;
        let shape = match (shape.dims(), of_ids.rank()) {
            (Some(dims), Some(rank)) if rank <= dims.len() => {
                PartialShape::new(dims[rank..].iter().copied()).prepend(self.count)
            }
            (Some(_), Some(_)) => {
                let text = format!("data {x} does not start with segment_ids {ids}");
                return Err(Error::invalid_argument(text));
            }
            _ => PartialShape::UNKNOWN,
        };
        Ok(vec![Spec::Tensor { dtype, shape }])
    }

    fn run(&self, args: &[Arg], rows: usize, _: &[Wanted]) -> Result<Vec<Column>> {
        by_row(args, rows, |row| Ok([self.one(&row[0], &row[1], row.get(2))?]))
    }

    fn tolerance(&self) -> Tolerance {
        Tolerance::Sum
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::attr::Attr;

    fn run(op: &str, attrs: Attrs, args: &[Tensor]) -> Result<Tensor> {
        let kernel = build(op, &attrs)?.unwrap();
        let args: Vec<Arg> = args.iter().map(|x| Arg::Const(x.clone())).collect();
        match kernel.run(&args, 1, &[Wanted::All])?.remove(0) {
            Column::Stacked(tensor) => tensor.row(0),
            _ => Err(Error::internal("not stacked")),
        }
    }

    fn attrs(op: &str) -> Attrs {
        Attrs::from([("op", Attr::Str(op.into()))])
    }

    #[test]
    fn slices_are_replaced_and_added() {
        let x = Tensor::from_values(&[3, 2], &[1_i32, 2, 3, 4, 5, 6]).unwrap();
        let at = Tensor::from_values(&[2, 1], &[2_i32, 2]).unwrap();
        let new = Tensor::from_values(&[2, 2], &[10_i32, 20, 30, 40]).unwrap();
        let args = [x.clone(), at, new.clone()];
        let found = run("scatter", attrs("update"), &args).unwrap();
        assert_eq!(found.values::<i32>().unwrap(), [1, 2, 3, 4, 30, 40]);
        let found = run("scatter", attrs("add"), &args).unwrap();
        assert_eq!(found.values::<i32>().unwrap(), [1, 2, 3, 4, 45, 66]);
        let outside = Tensor::from_values(&[2, 1], &[0_i32, -1]).unwrap();
        let error = run("scatter", attrs("add"), &[x, outside, new]).unwrap_err();
        assert_eq!(error.message(), "indices[1] = [-1] does not index into shape [3, 2]");
    }

    #[test]
    fn rows_of_a_segment_become_one() {
        let x = Tensor::from_values(&[3], &[1.0_f32, 2.0, 3.0]).unwrap();
        let ids = Tensor::from_values(&[3], &[0_i32, 0, 2]).unwrap();
        let zero = Attr::Tensor(Tensor::scalar(0.0_f32).unwrap());
        let sum = attrs("add").with("empty", zero.clone()).with("sorted", Attr::Bool(true));
        let found = run("segments", sum.clone(), &[x.clone(), ids]).unwrap();
        assert_eq!(found.values::<f32>().unwrap(), [3.0, 0.0, 3.0]);
        let back = Tensor::from_values(&[3], &[1_i32, 0, 2]).unwrap();
        assert!(run("segments", sum, &[x.clone(), back.clone()]).is_err());
        let some = attrs("max").with("empty", zero.clone()).with("count", Attr::Int(4));
        let found = run("segments", some, &[x.clone(), back.clone()]).unwrap();
        assert_eq!(found.values::<f32>().unwrap(), [2.0, 1.0, 3.0, 0.0]);
        let few = attrs("max").with("empty", zero.clone()).with("count", Attr::Int(2));
        assert!(run("segments", few, &[x.clone(), back]).is_err());
        let far = Tensor::from_values(&[3], &[0_i64, 1, i64::MAX - 1]).unwrap();
        let sum = attrs("add").with("empty", zero).with("sorted", Attr::Bool(true));
        assert!(run("segments", sum, &[x, far]).is_err());
    }
}
