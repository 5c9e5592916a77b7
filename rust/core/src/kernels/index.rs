//! Indexing: `slice` with static indices as NumPy's basic indexing, `getitem` with computed ones;
//! `block`, whose start and size are vectors.

use std::sync::Arc;

use crate::data::{Column, DType, Dims, PartialShape, Spec, Tensor, Wanted};
use crate::error::{Error, Result};
use crate::graph::attr::{Attr, Attrs};
use crate::graph::kernel::{Arg, Kernel, Tolerance};
use crate::kernels::cast::{cast_tensor, dense, inputs};
use crate::kernels::places::by_row;
use crate::kernels::shape::stacked;
use crate::kernels::strided::Walk;

/// One part of a key.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Item {
    Index(i64),
    Range(Option<i64>, Option<i64>, i64),
    NewAxis,
    Ellipsis,
}

pub(crate) fn parse_item(attr: &Attr) -> Result<Item> {
    let wrong = || Error::invalid_argument(format!("{attr} is no index"));
    let bound = |attr: &Attr| match attr {
        Attr::None => Ok(None),
        Attr::Int(value) => Ok(Some(*value)),
        _ => Err(wrong()),
    };
    match attr {
        Attr::Int(index) => Ok(Item::Index(*index)),
        Attr::None => Ok(Item::NewAxis),
        Attr::Str(text) if text == "..." => Ok(Item::Ellipsis),
        Attr::List(items) => match items.as_slice() {
            [start, stop, step] => match bound(step)?.unwrap_or(1) {
                0 => Err(Error::invalid_argument("slice step cannot be zero")),
                step => Ok(Item::Range(bound(start)?, bound(stop)?, step)),
            },
            _ => Err(wrong()),
        },
        _ => Err(wrong()),
    }
}

/// Python's `slice.indices`: first index and number of steps.
pub(crate) fn range(start: Option<i64>, stop: Option<i64>, step: i64, size: usize) -> (i64, usize) {
    let size = size as i64;
    let (low, high) = if step > 0 { (0, size) } else { (-1, size - 1) };
    let clamp = |bound: i64| {
        if bound < 0 { (bound.saturating_add(size)).max(low) } else { bound.min(high) }
    };
    let start = start.map_or(if step > 0 { low } else { high }, clamp);
    let stop = stop.map_or(if step > 0 { high } else { low }, clamp);
    let span = if step > 0 { stop - start } else { start - stop };
    let step = step.unsigned_abs();
    (start, u64::try_from(span).map_or(0, |span| span.div_ceil(step)) as usize)
}

/// An index from 0, where negative ones count from the end.
pub(crate) fn normal_index(index: i64, axis: usize, size: usize) -> Result<usize> {
    let from_start = if index < 0 { index + size as i64 } else { index };
    usize::try_from(from_start).ok().filter(|index| *index < size).ok_or_else(|| {
        Error::invalid_argument(format!(
            "index {index} is out of bounds for axis {axis} with size {size}"
        ))
    })
}

#[derive(Debug)]
struct Slice {
    key: Vec<Item>,
}

pub(super) fn build(op: &str, attrs: &Attrs) -> Result<Option<Arc<dyn Kernel>>> {
    match op {
        "slice" => {
            attrs.only(&["key"])?;
            let key: Vec<Item> =
                attrs.list("key")?.iter().map(parse_item).collect::<Result<_>>()?;
            if key.iter().filter(|item| matches!(item, Item::Ellipsis)).count() > 1 {
                let text = "an index can only have a single ellipsis ('...')";
                return Err(Error::invalid_argument(text));
            }
            Ok(Some(Arc::new(Slice { key })))
        }
        "getitem" => {
            attrs.only(&[])?;
            Ok(Some(Arc::new(GetItem)))
        }
        "block" => {
            attrs.only(&[])?;
            Ok(Some(Arc::new(Block)))
        }
        _ => Ok(None),
    }
}

impl Slice {
    /// The key with one item for each axis: the ellipsis, and axes left out, are whole.
    fn full(&self, rank: usize) -> Result<Vec<Item>> {
        let taken = self.key.iter().filter(|i| matches!(i, Item::Index(_) | Item::Range(..)));
        let taken = taken.count();
        let Some(whole) = rank.checked_sub(taken) else {
            return Err(Error::invalid_argument(format!(
                "too many indices for array: array is {rank}-dimensional, but {taken} were indexed"
            )));
        };
        let fill = std::iter::repeat_n(Item::Range(None, None, 1), whole);
        let at = self.key.iter().position(|item| matches!(item, Item::Ellipsis));
        let (before, after) = match at {
            Some(at) => (&self.key[..at], &self.key[at + 1..]),
            None => (&self.key[..], &[][..]),
        };
        Ok(before.iter().copied().chain(fill).chain(after.iter().copied()).collect())
    }

    fn rule(&self, dims: &[Option<usize>]) -> Result<Vec<Option<usize>>> {
        let mut out = Vec::new();
        let mut axis = 0;
        for item in self.full(dims.len())? {
            match item {
                Item::NewAxis => out.push(Some(1)),
                Item::Index(index) => {
                    if let Some(size) = dims[axis] {
                        normal_index(index, axis, size)?;
                    }
                    axis += 1;
                }
                Item::Range(start, stop, step) => {
                    out.push(dims[axis].map(|size| range(start, stop, step, size).1));
                    axis += 1;
                }
                Item::Ellipsis => {}
            }
        }
        Ok(out)
    }

    fn walk(&self, row: &[usize]) -> Result<Walk> {
        let plain = Walk::plain(row);
        let mut walk = Walk { dims: Dims::new(), strides: Default::default(), start: 0 };
        let mut axis = 0;
        for item in self.full(row.len())? {
            match item {
                Item::NewAxis => {
                    walk.dims.push(1);
                    walk.strides.push(0);
                    continue;
                }
                Item::Index(index) => {
                    let index = normal_index(index, axis, row[axis])?;
                    walk.start += index * plain.strides[axis] as usize;
                }
                Item::Range(start, stop, step) => {
                    let (start, count) = range(start, stop, step, row[axis]);
                    // An empty range may start outside.
                    if count > 0 {
                        walk.start += start as usize * plain.strides[axis] as usize;
                    }
                    walk.dims.push(count);
                    walk.strides.push(plain.strides[axis].wrapping_mul(step as isize));
                }
                Item::Ellipsis => continue,
            }
            axis += 1;
        }
        Ok(walk)
    }
}

impl Kernel for Slice {
    fn infer(&self, specs: &[Spec]) -> Result<Vec<Spec>> {
        let [spec] = inputs(specs)?;
        let (dtype, shape) = dense(spec)?;
        let shape = match shape.dims() {
            Some(dims) => PartialShape::new(self.rule(dims)?),
            None => PartialShape::UNKNOWN,
        };
        Ok(vec![Spec::Tensor { dtype, shape }])
    }

    fn run(&self, args: &[Arg], rows: usize, _: &[Wanted]) -> Result<Vec<Column>> {
        let [arg] = inputs(args)?;
        let tensor = stacked(arg, rows)?;
        let row: Dims = tensor.dims().get(1..).unwrap_or_default().into();
        let walk = self.walk(&row)?.for_rows(rows, row.iter().product());
        Ok(vec![Column::Stacked(walk.collect(&tensor)?)])
    }

    fn tolerance(&self) -> Tolerance {
        Tolerance::Moved
    }
}

/// `x[i]` for integers `i` of any shape, along the first axis of `x`.
#[derive(Debug)]
struct GetItem;

impl Kernel for GetItem {
    fn infer(&self, specs: &[Spec]) -> Result<Vec<Spec>> {
        let [x, i] = inputs(specs)?;
        let ((dtype, shape), (index, index_shape)) = (dense(x)?, dense(i)?);
        if !index.is_integer() {
            return Err(Error::invalid_argument(format!(
                "an index must be an integer, got {index}"
            )));
        }
        let Some((_, rest)) = shape.split_first() else {
            return Err(Error::invalid_argument(
                "too many indices for array: array is 0-dimensional, but 1 were indexed",
            ));
        };
        let shape = match (index_shape.dims(), rest.dims()) {
            (Some(index), Some(rest)) => PartialShape::new(index.iter().chain(rest).copied()),
            _ => PartialShape::UNKNOWN,
        };
        Ok(vec![Spec::Tensor { dtype, shape }])
    }

    fn run(&self, args: &[Arg], rows: usize, _: &[Wanted]) -> Result<Vec<Column>> {
        let [x, i] = inputs(args)?;
        let index = cast_tensor(&stacked(i, rows)?, DType::Int64)?;
        let (row, table) = (x.row_dims()?, x.tensor()?);
        let Some((size, rest)) = row.split_first() else {
            return Err(Error::internal("getitem of a scalar"));
        };
        let per_row = index.dims().get(1..).unwrap_or_default().iter().product::<usize>();
        let place = |(k, i): (usize, &i64)| {
            let base = if x.is_const() { 0 } else { k / per_row.max(1) * size };
            Ok(base + normal_index(*i, 0, *size)?)
        };
        let places: Vec<usize> =
            index.values::<i64>()?.iter().enumerate().map(place).collect::<Result<_>>()?;
        let dims: Dims = index.dims().iter().chain(rest).copied().collect();
        let total = if x.is_const() { *size } else { rows * size };
        let flat: Dims = std::iter::once(total).chain(rest.iter().copied()).collect();
        let picked: Tensor = table.clone().reshape(flat)?.gather(&places)?;
        Ok(vec![Column::Stacked(picked.reshape(dims)?)])
    }

    fn tolerance(&self) -> Tolerance {
        Tolerance::Moved
    }
}

/// A block of an array: for each axis where it starts, and its size, -1 for all that is left.
#[derive(Debug)]
struct Block;

impl Block {
    fn one(x: &Tensor, starts: &Tensor, sizes: &Tensor) -> Result<Tensor> {
        let (starts, sizes) =
            (cast_tensor(starts, DType::Int64)?, cast_tensor(sizes, DType::Int64)?);
        let (starts, sizes) = (starts.values::<i64>()?, sizes.values::<i64>()?);
        let rank = x.dims().len();
        if starts.len() != rank || sizes.len() != rank {
            return Err(Error::invalid_argument(format!(
                "expected begin and size to have {rank} numbers, got {} and {}",
                starts.len(),
                sizes.len()
            )));
        }
        let mut walk = Walk::plain(x.dims());
        for (axis, (start, size)) in starts.iter().zip(sizes).enumerate() {
            let whole = x.dims()[axis];
            let first = usize::try_from(*start).ok().filter(|start| *start <= whole);
            let first = first.ok_or_else(|| {
                let text = format!("expected begin[{axis}] in [0, {whole}], but got {start}");
                Error::invalid_argument(text)
            })?;
            let left = whole - first;
            let count = if *size == -1 { Some(left) } else { usize::try_from(*size).ok() };
            let count = count.filter(|count| *count <= left).ok_or_else(|| {
                let text = format!("expected size[{axis}] in [0, {left}], but got {size}");
                Error::invalid_argument(text)
            })?;
            walk.start += first * walk.strides[axis] as usize;
            walk.dims[axis] = count;
        }
        walk.collect(x)
    }
}

impl Kernel for Block {
    fn infer(&self, specs: &[Spec]) -> Result<Vec<Spec>> {
        let [x, starts, sizes] = inputs(specs)?;
        for spec in [starts, sizes] {
            if !dense(spec)?.0.is_integer() {
                let text = format!("begin and size must be integers, got {spec}");
                return Err(Error::invalid_argument(text));
            }
        }
        let (dtype, shape) = dense(x)?;
        let shape = shape.rank().map_or(PartialShape::UNKNOWN, |rank| {
            PartialShape::new(std::iter::repeat_n(None, rank))
        });
        Ok(vec![Spec::Tensor { dtype, shape }])
    }

    fn run(&self, args: &[Arg], rows: usize, _: &[Wanted]) -> Result<Vec<Column>> {
        by_row(args, rows, |row| Ok([Block::one(&row[0], &row[1], &row[2])?]))
    }

    fn tolerance(&self) -> Tolerance {
        Tolerance::Moved
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_are_those_of_python() {
        assert_eq!(range(None, None, -1, 5), (4, 5));
        assert_eq!(range(Some(-2), None, 1, 5), (3, 2));
        assert_eq!(range(Some(10), None, 1, 5), (5, 0));
        assert_eq!(range(Some(3), Some(-10), -2, 5), (3, 2));
        assert_eq!(range(Some(1), Some(0), 1, 5).1, 0);
        assert_eq!(range(None, None, i64::MIN, 5), (4, 1));
    }

    #[test]
    fn keys_place_axes_as_numpy_does() {
        let key = [
            Attr::Str("...".into()),
            Attr::Int(-1),
            Attr::None,
            Attr::List(vec![Attr::None, Attr::Int(2), Attr::None]),
        ];
        let slice = Slice { key: key.iter().map(|attr| parse_item(attr).unwrap()).collect() };
        let dims = slice.rule(&[Some(4), Some(3), None]).unwrap();
        assert_eq!(dims, [Some(4), Some(1), None]);
        assert_eq!(slice.walk(&[4, 3, 5]).unwrap().dims.as_slice(), [4, 1, 2]);
        assert_eq!(slice.walk(&[4, 3, 5]).unwrap().start, 10);
        assert!(slice.rule(&[Some(3)]).is_err());
    }
}
