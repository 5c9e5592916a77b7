//! Ragged and sparse components of dense parts, and dense arrays of them: `ragged_pack`,
//! `ragged_to_dense`, `row_splits`, `sparse_pack`, `sparse_to_dense`.

use std::sync::Arc;

use crate::data::column::{RaggedColumn, SparseColumn};
use crate::data::{Column, DType, Dims, PartialShape, Spec, Tensor, Wanted};
use crate::error::{Error, Result};
use crate::graph::attr::Attrs;
use crate::graph::kernel::{Arg, Kernel, Tolerance};
use crate::kernels::cast::{cast_tensor, dense, inputs};
use crate::kernels::places::{FILL, bounded, by_row, pick_or, room};

#[derive(Debug)]
enum Parts {
    /// Values and row splits, outermost first.
    Ragged,
    /// Indices, values, dense shape.
    Sparse,
}

#[derive(Debug)]
struct Pack {
    parts: Parts,
    /// What is known of the sizes beside the parts' own shapes; below zero is unknown.
    shape: Option<Vec<i64>>,
}

#[derive(Debug)]
enum Unpack {
    /// Values, row splits, filler; as wide as the longest row unless static.
    Ragged(Option<usize>),
    /// Indices, values, dense shape, filler.
    Sparse { strict: bool },
    /// Lengths to row splits.
    Splits,
}

pub(super) fn build(op: &str, attrs: &Attrs) -> Result<Option<Arc<dyn Kernel>>> {
    let kernel: Arc<dyn Kernel> = match op {
        "ragged_pack" | "sparse_pack" => {
            attrs.only(&["shape"])?;
            let parts = if op == "ragged_pack" { Parts::Ragged } else { Parts::Sparse };
            return Ok(Some(Arc::new(Pack { parts, shape: attrs.opt_ints("shape")? })));
        }
        "ragged_to_dense" => {
            attrs.only(&["width"])?;
            let width = attrs.opt_int("width")?.and_then(|width| usize::try_from(width).ok());
            return Ok(Some(Arc::new(Unpack::Ragged(width))));
        }
        "sparse_to_dense" => {
            attrs.only(&["strict"])?;
            let strict = attrs.bool_or("strict", true)?;
            return Ok(Some(Arc::new(Unpack::Sparse { strict })));
        }
        "row_splits" => Arc::new(Unpack::Splits),
        _ => return Ok(None),
    };
    attrs.only(&[])?;
    Ok(Some(kernel))
}

/// Row splits as numbers, checked against the number of values that they cut.
fn splits(tensor: &Tensor, count: usize) -> Result<Vec<usize>> {
    let tensor = cast_tensor(tensor, DType::Int64)?;
    let values = tensor.values::<i64>()?;
    let rising = values.windows(2).all(|pair| pair[0] <= pair[1]);
    if values.first() != Some(&0) || !rising || values.last() != Some(&(count as i64)) {
        let text = format!("row splits must rise from 0 to {count}, the number of values");
        return Err(Error::invalid_argument(text));
    }
    Ok(values.iter().map(|value| *value as usize).collect())
}

fn first_dim(tensor: &Tensor) -> Result<usize> {
    tensor.dims().first().copied().ok_or_else(|| Error::invalid_argument("values are a scalar"))
}

/// Row `row` of a dense argument.
fn row_of(column: &Column, row: usize) -> Result<Tensor> {
    match column {
        Column::Stacked(tensor) => tensor.row(row),
        Column::Rows(rows) => rows.row(row),
        other => Err(Error::internal(format!("a part of {}", other.kind()))),
    }
}

impl Pack {
    /// A shape with the sizes that are stated.
    fn stated(&self, shape: PartialShape) -> Result<PartialShape> {
        let Some(stated) = &self.shape else { return Ok(shape) };
        let sizes = || stated.iter().map(|size| usize::try_from(*size).ok());
        let Some(dims) = shape.dims() else { return Ok(PartialShape::new(sizes())) };
        let alike = |(own, size): (&Option<usize>, Option<usize>)| {
            own.is_none() || size.is_none() || *own == size
        };
        if dims.len() != stated.len() || !dims.iter().zip(sizes()).all(alike) {
            let text = format!("a value of shape {shape} is not one of shape {stated:?}");
            return Err(Error::invalid_argument(text));
        }
        Ok(PartialShape::new(dims.iter().zip(sizes()).map(|(own, size)| own.or(size))))
    }

    /// Checks one size of one row's value.
    fn check(&self, axis: usize, found: usize) -> Result<()> {
        let stated = self.shape.as_ref().and_then(|shape| shape.get(axis).copied());
        match stated.map(usize::try_from) {
            Some(Ok(size)) if size != found => Err(Error::invalid_argument(format!(
                "axis {axis} of a value is stated to be {size} long, but is {found}"
            ))),
            _ => Ok(()),
        }
    }

    /// Checks one row's parts of a ragged value.
    fn check_ragged(&self, values: &Tensor, parts: &[Tensor]) -> Result<()> {
        let mut count = first_dim(values)?;
        for (level, part) in parts.iter().enumerate().rev() {
            let ends = splits(part, count)?;
            for pair in ends.windows(2) {
                self.check(level + 1, pair[1] - pair[0])?;
            }
            count = ends.len() - 1;
        }
        self.check(0, count)?;
        let inner = values.dims()[1..].iter().enumerate();
        inner.into_iter().try_for_each(|(axis, size)| self.check(1 + parts.len() + axis, *size))
    }
}

impl Kernel for Pack {
    fn infer(&self, specs: &[Spec]) -> Result<Vec<Spec>> {
        let vector = |spec: &Spec| match dense(spec)? {
            (dtype @ (DType::Int32 | DType::Int64), shape)
                if shape.rank().is_none_or(|rank| rank == 1) =>
            {
                Ok((dtype, shape.dims().and_then(|dims| dims[0])))
            }
            _ => Err(Error::invalid_argument(format!("expected a vector of integers, got {spec}"))),
        };
        match (&self.parts, specs) {
            (Parts::Ragged, [values, splits @ ..]) if !splits.is_empty() => {
                let (dtype, shape) = dense(values)?;
                let found = splits.iter().map(vector).collect::<Result<Vec<_>>>()?;
                let (splits_dtype, rows) = found[0];
                if found.iter().any(|(dtype, _)| *dtype != splits_dtype) {
                    return Err(Error::invalid_argument("row splits must be of one dtype"));
                }
                let Some((_, inner)) = shape.dims().and_then(<[_]>::split_first) else {
                    return Err(Error::invalid_argument(
                        "values must be of known rank, and no scalar",
                    ));
                };
                let rows = rows.map(|rows| rows.saturating_sub(1));
                let ragged = std::iter::repeat_n(None, found.len());
                let dims = std::iter::once(rows).chain(ragged).chain(inner.iter().copied());
                let shape = self.stated(PartialShape::new(dims))?;
                let ragged_rank = found.len();
                Ok(vec![Spec::Ragged { dtype, shape, ragged_rank, splits_dtype }])
            }
            (Parts::Sparse, [indices, values, dense_shape]) => {
                let (kind, shape) = dense(indices)?;
                let (dtype, _) = dense(values)?;
                let (own, rank) = vector(dense_shape)?;
                if kind != DType::Int64 || own != DType::Int64 {
                    return Err(Error::invalid_argument("indices and dense shape must be int64"));
                }
                let rank = rank.or_else(|| shape.dims().and_then(|dims| *dims.get(1)?));
                let shape = rank.map_or(PartialShape::UNKNOWN, |rank| {
                    PartialShape::new(std::iter::repeat_n(None, rank))
                });
                Ok(vec![Spec::Sparse { dtype, shape: self.stated(shape)? }])
            }
            _ => Err(Error::invalid_argument(format!("got {} inputs", specs.len()))),
        }
    }

    fn run(&self, args: &[Arg], rows: usize, _: &[Wanted]) -> Result<Vec<Column>> {
        let columns = args.iter().map(|arg| arg.clone().into_column(rows));
        let columns: Vec<Column> = columns.collect::<Result<_>>()?;
        let packed = match (&self.parts, columns.as_slice()) {
            (Parts::Ragged, [values, parts @ ..]) => {
                for row in 0..rows {
                    let own =
                        parts.iter().map(|part| row_of(part, row)).collect::<Result<Vec<_>>>()?;
                    self.check_ragged(&row_of(values, row)?, &own)?;
                }
                let (values, splits) = (values.clone(), parts.to_vec());
                Column::Ragged(Box::new(RaggedColumn { values, splits }))
            }
            (Parts::Sparse, [indices, values, dense_shape]) => {
                for row in 0..rows {
                    let (at, found) = (row_of(indices, row)?, row_of(values, row)?);
                    let shape = row_of(dense_shape, row)?;
                    for (axis, size) in shape.values::<i64>()?.iter().enumerate() {
                        self.check(axis, usize::try_from(*size).unwrap_or(usize::MAX))?;
                    }
                    let rank = shape.len();
                    if at.dims() != [found.len(), rank] || found.dims().len() != 1 {
                        return Err(Error::invalid_argument(format!(
                            "indices of shape {} do not fit {} values and rank {rank}",
                            PartialShape::from(at.dims()),
                            found.len()
                        )));
                    }
                }
                Column::Sparse(Box::new(SparseColumn {
                    indices: indices.clone(),
                    values: values.clone(),
                    dense_shape: dense_shape.clone(),
                }))
            }
            _ => return Err(Error::internal("another number of parts")),
        };
        Ok(vec![packed])
    }

    fn tolerance(&self) -> Tolerance {
        Tolerance::Moved
    }

    fn accepts(&self, column: &Column) -> bool {
        matches!(column, Column::Stacked(_) | Column::Rows(_))
    }
}

impl Unpack {
    fn ragged(
        width: Option<usize>,
        values: &Tensor,
        own: &Tensor,
        filler: &Tensor,
    ) -> Result<Tensor> {
        let ends = splits(own, first_dim(values)?)?;
        let longest = ends.windows(2).map(|pair| pair[1] - pair[0]).max().unwrap_or(0);
        let width = width.unwrap_or(longest);
        let inner = &values.dims()[1..];
        let rows = ends.len() - 1;
        let dims: Dims = [rows, width].into_iter().chain(inner.iter().copied()).collect();
        bounded(&dims, values.dtype().size())?;
        let mut places = room(rows * width)?;
        for pair in ends.windows(2) {
            let count = (pair[1] - pair[0]).min(width);
            places.extend(pair[0]..pair[0] + count);
            places.extend(std::iter::repeat_n(FILL, width - count));
        }
        pick_or(values, filler, &places, inner.iter().product(), dims)
    }

    fn sparse(
        strict: bool,
        at: &Tensor,
        values: &Tensor,
        shape: &Tensor,
        filler: &Tensor,
    ) -> Result<Tensor> {
        let (sizes, indices) = (shape.values::<i64>()?, at.values::<i64>()?);
        let dim = |dim: &i64| {
            usize::try_from(*dim)
                .map_err(|_| Error::invalid_argument(format!("dense shape {sizes:?} is negative")))
        };
        let dims: Dims = sizes.iter().map(dim).collect::<Result<_>>()?;
        let count = bounded(&dims, values.dtype().size())?;
        bounded(&[count], Some(8))?;
        if at.dims() != [values.len(), dims.len()] {
            return Err(Error::invalid_argument("indices, values and dense shape do not fit"));
        }
        let mut places: Vec<usize> = room(count)?;
        places.resize(count, FILL);
        let mut last = None;
        for (k, index) in indices.chunks_exact(dims.len().max(1)).take(values.len()).enumerate() {
            let mut place = 0;
            for (at, size) in index.iter().zip(&dims) {
                let inside = usize::try_from(*at).ok().filter(|at| at < size);
                place = place * size
                    + inside.ok_or_else(|| {
                        Error::invalid_argument(format!(
                            "indices[{k}] = {index:?} is out of bounds: need 0 <= index < {sizes:?}"
                        ))
                    })?;
            }
            if strict && last.is_some_and(|last| last >= place) {
                let what = if last == Some(place) { "repeated" } else { "out of order" };
                let text = format!("indices[{k}] = {index:?} is {what}");
                return Err(Error::invalid_argument(text));
            }
            last = Some(place);
            places[place] = k;
        }
        pick_or(values, filler, &places, 1, dims)
    }

    fn one(&self, row: &[Tensor]) -> Result<Tensor> {
        match (self, row) {
            (Unpack::Ragged(width), [values, own, filler]) => {
                Self::ragged(*width, values, own, filler)
            }
            (Unpack::Sparse { strict }, [at, values, shape, filler]) => {
                Self::sparse(*strict, at, values, shape, filler)
            }
            (Unpack::Splits, [lengths]) => {
                let own = cast_tensor(lengths, DType::Int64)?;
                let mut ends = room(own.len() + 1)?;
                ends.push(0_i64);
                let mut end = 0_i64;
                for length in own.values::<i64>()? {
                    let next = end.checked_add(*length).filter(|_| *length >= 0);
                    end = next.ok_or_else(|| {
                        Error::invalid_argument(format!(
                            "row lengths must not be negative: {length}"
                        ))
                    })?;
                    ends.push(end);
                }
                cast_tensor(&Tensor::from_values(&[ends.len()], &ends)?, lengths.dtype())
            }
            _ => Err(Error::internal("another number of parts")),
        }
    }
}

impl Kernel for Unpack {
    fn infer(&self, specs: &[Spec]) -> Result<Vec<Spec>> {
        let filled = |values: &Spec, filler: &Spec| match (dense(values)?, dense(filler)?) {
            ((dtype, shape), (other, scalar)) if dtype == other && scalar.accepts(&[]) => {
                Ok((dtype, shape.clone()))
            }
            _ => Err(Error::invalid_argument(format!(
                "the default value must be a scalar of the values' dtype, got {filler} for {values}"
            ))),
        };
        let integers = |spec: &Spec| match dense(spec)? {
            (dtype, shape) if dtype.is_integer() => Ok((dtype, shape.clone())),
            _ => Err(Error::invalid_argument(format!("expected integers, got {spec}"))),
        };
        let (dtype, shape) = match self {
            Unpack::Ragged(width) => {
                let [values, own, filler] = inputs(specs)?;
                let (dtype, shape) = filled(values, filler)?;
                let (_, own) = integers(own)?;
                let rows = own.dims().and_then(|dims| *dims.first()?);
                let rows = rows.map(|rows| rows.saturating_sub(1));
                let shape = match shape.dims() {
                    Some([_, inner @ ..]) => {
                        PartialShape::new([rows, *width].into_iter().chain(inner.iter().copied()))
                    }
                    Some([]) => return Err(Error::invalid_argument("values are a scalar")),
                    None => PartialShape::UNKNOWN,
                };
                (dtype, shape)
            }
            Unpack::Sparse { .. } => {
                let [at, values, shape, filler] = inputs(specs)?;
                let (dtype, _) = filled(values, filler)?;
                let (own, shape) = integers(shape)?;
                let (kind, indices) = integers(at)?;
                if kind != DType::Int64 || own != DType::Int64 {
                    return Err(Error::invalid_argument("indices and dense shape must be int64"));
                }
                let rank = shape.dims().and_then(|dims| *dims.first()?);
                let rank = rank.or_else(|| indices.dims().and_then(|dims| *dims.get(1)?));
                let shape = rank.map_or(PartialShape::UNKNOWN, |rank| {
                    PartialShape::new(std::iter::repeat_n(None, rank))
                });
                (dtype, shape)
            }
            Unpack::Splits => {
                let [lengths] = inputs(specs)?;
                let (dtype, shape) = integers(lengths)?;
                match shape.dims() {
                    Some([count]) => (dtype, PartialShape::new([count.map(|count| count + 1)])),
                    None => (dtype, PartialShape::new([None])),
                    _ => return Err(Error::invalid_argument("row lengths must be a vector")),
                }
            }
        };
        Ok(vec![Spec::Tensor { dtype, shape }])
    }

    fn run(&self, args: &[Arg], rows: usize, _: &[Wanted]) -> Result<Vec<Column>> {
        by_row(args, rows, |row| Ok([self.one(row)?]))
    }

    fn tolerance(&self) -> Tolerance {
        Tolerance::Moved
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ints(dims: &[usize], values: &[i64]) -> Tensor {
        Tensor::from_values(dims, values).unwrap()
    }

    #[test]
    fn ragged_rows_are_padded_or_cut() {
        let (values, own, zero) =
            (ints(&[4], &[1, 2, 3, 4]), ints(&[4], &[0, 3, 3, 4]), ints(&[], &[0]));
        let wide = Unpack::ragged(None, &values, &own, &zero).unwrap();
        assert_eq!(wide.values::<i64>().unwrap(), [1, 2, 3, 0, 0, 0, 4, 0, 0]);
        let cut = Unpack::ragged(Some(2), &values, &own, &zero).unwrap();
        assert_eq!(cut.values::<i64>().unwrap(), [1, 2, 0, 0, 4, 0]);
        assert!(Unpack::ragged(None, &values, &ints(&[2], &[0, 9]), &zero).is_err());
        assert!(Unpack::ragged(Some(1 << 50), &values, &own, &zero).is_err());
    }

    #[test]
    fn sizes_that_are_stated_are_checked() {
        let values = Tensor::from_values(&[4], &[1_i32, 2, 3, 4]).unwrap();
        let run = |splits: &[i64], shape: &[i64]| {
            let pack = Pack { parts: Parts::Ragged, shape: Some(shape.to_vec()) };
            let args = [Arg::Const(values.clone()), Arg::Const(ints(&[splits.len()], splits))];
            pack.run(&args, 1, &[])
        };
        assert!(run(&[0, 2, 4], &[2, 2]).is_ok());
        assert!(run(&[0, 1, 4], &[2, -1]).is_ok());
        assert!(run(&[0, 1, 4], &[2, 2]).err().unwrap().message().contains("axis 1"));
        assert!(run(&[0, 4], &[2, -1]).err().unwrap().message().contains("axis 0"));
        let pack = Pack { parts: Parts::Sparse, shape: Some(vec![2, 3]) };
        let args = |dims: &[i64]| {
            let (at, one) = (ints(&[1, 2], &[0, 0]), Tensor::from_values(&[1], &[7_i32]).unwrap());
            [Arg::Const(at), Arg::Const(one), Arg::Const(ints(&[2], dims))]
        };
        assert!(pack.run(&args(&[2, 3]), 1, &[]).is_ok());
        for dims in [[2, 4], [2, -3]] {
            assert!(pack.run(&args(&dims), 1, &[]).is_err());
        }
        let spec = |shape: &[i64]| Pack { parts: Parts::Sparse, shape: Some(shape.to_vec()) };
        let known = PartialShape::new([None, Some(3)]);
        assert_eq!(spec(&[2, -1]).stated(known.clone()).unwrap().known().unwrap()[..], [2, 3]);
        assert!(spec(&[2, 4]).stated(known.clone()).is_err());
        assert!(spec(&[2]).stated(known).is_err());
    }

    #[test]
    fn sparse_values_go_where_they_belong() {
        let (at, values, zero) =
            (ints(&[2, 2], &[0, 1, 1, 0]), ints(&[2], &[5, 6]), ints(&[], &[0]));
        let dense = Unpack::sparse(true, &at, &values, &ints(&[2], &[2, 2]), &zero).unwrap();
        assert_eq!(dense.values::<i64>().unwrap(), [0, 5, 6, 0]);
        let outside = Unpack::sparse(true, &at, &values, &ints(&[2], &[1, 2]), &zero);
        assert!(outside.unwrap_err().message().contains("out of bounds"));
        assert!(
            Unpack::sparse(true, &at, &values, &ints(&[2], &[1 << 40, 1 << 40]), &zero).is_err()
        );
        let same = ints(&[2, 2], &[1, 0, 1, 0]);
        let repeated = Unpack::sparse(true, &same, &values, &ints(&[2], &[2, 2]), &zero);
        assert!(repeated.unwrap_err().message().contains("repeated"));
    }
}
