//! Rows of values as sets: `set_size` of sparse tensors, and `set_operation` of two tensors, dense
//! or sparse (`tf.sets`).
//!
//! The last axis holds the members, in any order and perhaps more than once; a sparse tensor comes
//! as its three parts. Members of each set are sorted once and merged, so the work is that of
//! sorting, and nothing is made of a size that only a shape names but the counts of `set_size`.

use std::cmp::Ordering;
use std::sync::Arc;

use crate::data::shape::volume;
use crate::data::{BytesArray, Column, DType, Dims, Spec, Tensor, Wanted};
use crate::error::{Error, Result};
use crate::graph::attr::{Attr, Attrs};
use crate::graph::kernel::{Arg, Kernel};
use crate::kernels::cast::{cast_tensor, dense, inputs};
use crate::kernels::places::{bounded, by_row, room};

/// How many members each set of a sparse tensor has.
#[derive(Debug)]
struct Size {
    validate: bool,
}

#[derive(Clone, Copy, Debug)]
enum Operation {
    Intersection,
    Union,
    /// What the first set has and the second has not.
    Difference,
}

/// Combines each set with its like: outputs the parts of a sparse tensor.
#[derive(Debug)]
struct Combine {
    operation: Operation,
    /// Which of the two tensors come as parts.
    sparse: [bool; 2],
    validate: bool,
}

pub(super) fn build(op: &str, attrs: &Attrs) -> Result<Option<Arc<dyn Kernel>>> {
    let validate = || attrs.bool_or("validate", true);
    Ok(Some(match op {
        "set_size" => {
            attrs.only(&["validate"])?;
            Arc::new(Size { validate: validate()? })
        }
        "set_operation" => {
            attrs.only(&["operation", "sparse", "validate"])?;
            let operation = match attrs.str("operation")? {
                "intersection" => Operation::Intersection,
                "union" => Operation::Union,
                "difference" => Operation::Difference,
                other => {
                    return Err(Error::invalid_argument(format!("sets have no {other:?}")));
                }
            };
            let sparse = match attrs.list("sparse")? {
                [Attr::Bool(a), Attr::Bool(b)] => [*a, *b],
                _ => {
                    return Err(Error::invalid_argument("sparse is a flag for each of two inputs"));
                }
            };
            Arc::new(Combine { operation, sparse, validate: validate()? })
        }
        _ => return Ok(None),
    }))
}

/// Members as they are compared: integers of any width, or strings.
enum Members<'a> {
    Whole(Vec<i64>),
    Text(&'a BytesArray),
}

impl Members<'_> {
    fn of(values: &Tensor) -> Result<Members<'_>> {
        Ok(match values.dtype().is_text() {
            true => Members::Text(values.strings()?),
            false => Members::Whole(cast_tensor(values, DType::Int64)?.values::<i64>()?.to_vec()),
        })
    }

    fn compare(&self, at: usize, other: &Self, place: usize) -> Ordering {
        match (self, other) {
            (Members::Whole(a), Members::Whole(b)) => a[at].cmp(&b[place]),
            (Members::Text(a), Members::Text(b)) => a.get(at).cmp(b.get(place)),
            // `infer` asks for one dtype.
            _ => Ordering::Equal,
        }
    }
}

/// One input: its shape, its values, and for each the number of the set that it belongs to.
struct Side<'a> {
    dims: Dims,
    values: &'a Tensor,
    members: Members<'a>,
    /// Places of different members by set and then in ascending order.
    places: Vec<(usize, usize)>,
}

impl<'a> Side<'a> {
    fn new(parts: &'a [Tensor], validate: bool) -> Result<Self> {
        let (dims, values) = match parts {
            [values] => (values.dims().into(), values),
            [_, values, shape] => (dims_of(shape)?, values),
            _ => return Err(Error::internal("an input of another number of parts")),
        };
        let members = Members::of(values)?;
        let mut places: Vec<(usize, usize)> = room(values.len())?;
        match parts {
            [indices, ..] if parts.len() == 3 => {
                let indices = Indices::new(indices, values.len(), &dims)?;
                if validate {
                    indices.check(&dims)?;
                }
                for (at, index) in indices.rows().enumerate() {
                    places.push((set_of(index, &dims)?, at));
                }
            }
            _ => {
                let last = dims.last().copied().unwrap_or(1).max(1);
                places.extend((0..values.len()).map(|at| (at / last, at)));
            }
        }
        let order = |a: &(usize, usize), b: &(usize, usize)| {
            a.0.cmp(&b.0).then_with(|| members.compare(a.1, &members, b.1))
        };
        places.sort_by(order);
        places.dedup_by(|a, b| order(a, b).is_eq());
        Ok(Side { dims, values, members, places })
    }
}

/// The shape that a sparse tensor says it has.
fn dims_of(shape: &Tensor) -> Result<Dims> {
    let sizes = shape.values::<i64>()?.iter();
    let size = |size: &i64| {
        usize::try_from(*size)
            .map_err(|_| Error::invalid_argument(format!("a sparse tensor has a size of {size}")))
    };
    sizes.map(size).collect()
}

/// Indices of a sparse tensor.
struct Indices<'a> {
    flat: &'a [i64],
    rank: usize,
}

impl<'a> Indices<'a> {
    fn new(indices: &'a Tensor, count: usize, dims: &[usize]) -> Result<Self> {
        if indices.dims() != [count, dims.len()] {
            return Err(Error::invalid_argument(format!(
                "a sparse tensor of {count} values and {} axes has indices of shape {:?}",
                dims.len(),
                indices.dims()
            )));
        }
        Ok(Indices { flat: indices.values::<i64>()?, rank: dims.len() })
    }

    fn rows(&self) -> impl Iterator<Item = &'a [i64]> {
        self.flat.chunks_exact(self.rank.max(1))
    }

    /// Refuses indices that are outside of the shape, out of order, or there twice.
    fn check(&self, dims: &[usize]) -> Result<()> {
        let mut last: Option<&[i64]> = None;
        for (at, index) in self.rows().enumerate() {
            if index.iter().zip(dims).any(|(k, dim)| *k < 0 || *k as usize >= *dim) {
                return Err(Error::invalid_argument(format!(
                    "indices[{at}] = {index:?} is out of bounds: need 0 <= index < {dims:?}"
                )));
            }
            match last.map(|last| last.cmp(index)) {
                Some(Ordering::Greater) => {
                    let text = format!("indices[{at}] = {index:?} is out of order");
                    return Err(Error::invalid_argument(text).with_hint("use tf.sparse.reorder"));
                }
                Some(Ordering::Equal) => {
                    let text = format!("indices[{at}] = {index:?} is repeated");
                    return Err(Error::invalid_argument(text));
                }
                _ => last = Some(index),
            }
        }
        Ok(())
    }
}

/// The number of the set that an index belongs to.
fn set_of(index: &[i64], dims: &[usize]) -> Result<usize> {
    let outside =
        || Error::invalid_argument(format!("index {index:?} is outside of a tensor of {dims:?}"));
    let outer = index.split_last().map_or(&[][..], |(_, outer)| outer);
    let mut set = 0_usize;
    for (k, dim) in outer.iter().zip(dims) {
        let k = usize::try_from(*k).ok().filter(|k| k < dim).ok_or_else(outside)?;
        set = set.checked_mul(*dim).and_then(|set| set.checked_add(k)).ok_or_else(outside)?;
    }
    Ok(set)
}

impl Kernel for Size {
    fn infer(&self, specs: &[Spec]) -> Result<Vec<Spec>> {
        let [indices, values, shape] = inputs(specs)?;
        let ((_, indices), (dtype, _), (_, shape)) =
            (dense(indices)?, dense(values)?, dense(shape)?);
        check_members(dtype)?;
        let size = |shape: &[Option<usize>], axis: usize| shape.get(axis).copied().flatten();
        let rank = indices
            .dims()
            .and_then(|dims| size(dims, 1))
            .or_else(|| shape.dims().and_then(|dims| size(dims, 0)));
        Ok(vec![match rank {
            Some(rank) => Spec::tensor(DType::Int32, vec![None; rank.saturating_sub(1)]),
            None => Spec::Tensor { dtype: DType::Int32, shape: crate::data::PartialShape::UNKNOWN },
        }])
    }

    fn run(&self, args: &[Arg], rows: usize, _: &[Wanted]) -> Result<Vec<Column>> {
        by_row(args, rows, |parts| {
            let side = Side::new(parts, self.validate)?;
            let Some((_, outer)) = side.dims.split_last().filter(|(_, outer)| !outer.is_empty())
            else {
                let text =
                    format!("sets are the last of two axes or more, got {}", side.dims.len());
                return Err(Error::invalid_argument(text));
            };
            let mut counts: Vec<i32> = room(bounded(outer, Some(size_of::<i32>()))?)?;
            counts.resize(volume(outer)?, 0);
            side.places.iter().for_each(|(set, _)| counts[*set] += 1);
            Ok([Tensor::from_values(outer, &counts)?])
        })
    }
}

fn check_members(dtype: DType) -> Result<()> {
    match dtype.is_text() || dtype.is_integer() && dtype != DType::UInt64 {
        true => Ok(()),
        false => Err(Error::invalid_argument(format!("there are no sets of {dtype}"))),
    }
}

impl Combine {
    fn one(&self, args: &[Tensor]) -> Result<[Tensor; 3]> {
        let parts = |sparse: bool| if sparse { 3 } else { 1 };
        let (first, second) = args.split_at(parts(self.sparse[0]).min(args.len()));
        let (a, b) = (Side::new(first, self.validate)?, Side::new(second, self.validate)?);
        let rank = a.dims.len();
        let outer = a.dims.split_last().map(|(_, outer)| outer);
        if rank < 2 || outer != b.dims.split_last().map(|(_, outer)| outer) {
            return Err(Error::invalid_argument(format!(
                "sets are compared along the last of two axes or more, and the other axes are \
                 alike; got shapes {:?} and {:?}",
                a.dims, b.dims
            )));
        }
        let outer = outer.unwrap_or_default();
        let found = self.merged(&a, &b)?;
        let values = gathered(&a, &b, &found)?;
        let (mut indices, mut widest) = (room::<i64>(found.len().saturating_mul(rank))?, 0);
        let (mut last, mut member) = (None, 0);
        for (set, _) in &found {
            member = if last == Some(*set) { member + 1 } else { 0 };
            last = Some(*set);
            widest = widest.max(member + 1);
            let (start, mut rest) = (indices.len(), *set);
            indices.resize(start + rank, member);
            for (axis, dim) in outer.iter().enumerate().rev() {
                indices[start + axis] = (rest % dim) as i64;
                rest /= dim;
            }
        }
        let shape: Vec<i64> = outer.iter().map(|dim| *dim as i64).chain([widest]).collect();
        Ok([
            Tensor::from_values(&[found.len(), rank], &indices)?,
            values,
            Tensor::from_values(&[rank], &shape)?,
        ])
    }

    /// The sets of the result and their members: places in the first input, or behind it in the
    /// second.
    fn merged(&self, a: &Side<'_>, b: &Side<'_>) -> Result<Vec<(usize, usize)>> {
        let mut found = room(a.places.len().saturating_add(b.places.len()))?;
        let behind = a.values.len();
        let (mut i, mut j) = (0, 0);
        loop {
            let order = match (a.places.get(i), b.places.get(j)) {
                (None, None) => return Ok(found),
                (Some(_), None) => Ordering::Less,
                (None, Some(_)) => Ordering::Greater,
                (Some((set, at)), Some((other, place))) => {
                    set.cmp(other).then_with(|| a.members.compare(*at, &b.members, *place))
                }
            };
            let both = order.is_eq();
            if order.is_le() {
                let kept = match self.operation {
                    Operation::Intersection => both,
                    Operation::Union => true,
                    Operation::Difference => !both,
                };
                found.extend(kept.then(|| a.places[i]));
                i += 1;
            } else if let Operation::Union = self.operation {
                found.push((b.places[j].0, behind + b.places[j].1));
            }
            j += usize::from(order.is_ge());
        }
    }
}

/// The values at places of two inputs, one behind the other.
fn gathered(a: &Side<'_>, b: &Side<'_>, found: &[(usize, usize)]) -> Result<Tensor> {
    let flat = |values: &Tensor| values.clone().reshape([values.len()][..].into());
    let both = Tensor::concat(&[&flat(a.values)?, &flat(b.values)?])?;
    both.gather(&found.iter().map(|(_, at)| *at).collect::<Vec<_>>())
}

impl Kernel for Combine {
    fn infer(&self, specs: &[Spec]) -> Result<Vec<Spec>> {
        let count = |sparse: bool| if sparse { 3 } else { 1 };
        let wanted = count(self.sparse[0]) + count(self.sparse[1]);
        if specs.len() != wanted {
            let text = format!("set_operation: expected {wanted} inputs, got {}", specs.len());
            return Err(Error::invalid_argument(text));
        }
        let (mut dtypes, mut rank, mut at) = (Vec::new(), None, 0);
        for sparse in self.sparse {
            let (dtype, shape) = dense(&specs[at + usize::from(sparse)])?;
            check_members(dtype)?;
            dtypes.push(dtype);
            let own = match sparse {
                true => dense(&specs[at])?.1.dims().and_then(|dims| dims.get(1).copied().flatten()),
                false => shape.rank(),
            };
            rank = rank.or(own);
            at += count(sparse);
        }
        if dtypes[0] != dtypes[1] {
            let text = format!("sets of {} and {}: make them one type", dtypes[0], dtypes[1]);
            return Err(Error::invalid_argument(text));
        }
        Ok(vec![
            Spec::tensor(DType::Int64, [None, rank]),
            Spec::tensor(dtypes[0], [None]),
            Spec::tensor(DType::Int64, [rank]),
        ])
    }

    fn run(&self, args: &[Arg], rows: usize, _: &[Wanted]) -> Result<Vec<Column>> {
        by_row(args, rows, |row| self.one(row))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn combine(operation: Operation, a: &[i32], b: &[i32]) -> Vec<i32> {
        let kernel = Combine { operation, sparse: [false, false], validate: true };
        let tensor = |values: &[i32]| Tensor::from_values(&[1, values.len()], values).unwrap();
        let [_, values, _] = kernel.one(&[tensor(a), tensor(b)]).unwrap();
        values.values::<i32>().unwrap().to_vec()
    }

    #[test]
    fn members_are_merged() {
        assert_eq!(combine(Operation::Union, &[3, 1, 3], &[2, 1]), [1, 2, 3]);
        assert_eq!(combine(Operation::Intersection, &[3, 1, 3], &[2, 1]), [1]);
        assert_eq!(combine(Operation::Difference, &[3, 1, 3], &[2, 1]), [3]);
        assert_eq!(combine(Operation::Union, &[], &[2, 2]), [2]);
    }

    #[test]
    fn huge_shapes_cost_nothing() {
        let parts = [
            Tensor::from_values(&[1, 3], &[0_i64, 0, 0]).unwrap(),
            Tensor::from_values(&[1], &[7_i64]).unwrap(),
            Tensor::from_values(&[3], &[1_i64 << 40, 1 << 40, 2]).unwrap(),
        ];
        let side = Side::new(&parts, true).unwrap();
        assert_eq!(side.places, [(0, 0)]);
        let args: Vec<Arg> = parts.iter().cloned().map(Arg::Const).collect();
        assert!(Size { validate: true }.run(&args, 1, &[]).is_err());
        let far = Tensor::from_values(&[1, 3], &[(1_i64 << 40) - 1, 0, 0]).unwrap();
        assert!(Side::new(&[far, parts[1].clone(), parts[2].clone()], true).is_err());
    }

    #[test]
    fn indices_are_checked() {
        let parts = |indices: &[i64]| {
            [
                Tensor::from_values(&[2, 2], indices).unwrap(),
                Tensor::from_values(&[2], &[1_i32, 2]).unwrap(),
                Tensor::from_values(&[2], &[2_i64, 2]).unwrap(),
            ]
        };
        for bad in [[0, 1, 0, 0], [0, 0, 0, 0], [0, 0, 2, 0], [0, -1, 1, 0]] {
            assert!(Side::new(&parts(&bad), true).is_err(), "{bad:?}");
        }
        assert!(Side::new(&parts(&[0, 1, 0, 0]), false).is_ok());
    }
}
