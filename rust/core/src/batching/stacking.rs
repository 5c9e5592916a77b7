//! Rows of a column become the rows of its batches.

use std::sync::Arc;

use crate::data::foreign::{self, ForeignArray, OptionalValue};
use crate::data::shape::Brackets;
use crate::data::{Column, DType, Dims, ForeignValue, Rows, Spec, Tensor, Value};
use crate::error::{Error, Result};

/// Joins each `size` rows into one; the column holds a whole number of them.
///
/// A stacked column is only given another shape. Rows must agree in shape within a batch.
///
/// # Errors
/// `InvalidArgument` if they do not; `component` names the column in the message.
pub(crate) fn stack(column: &Column, size: usize, component: usize) -> Result<Column> {
    let batches = column.len() / size.max(1);
    match column {
        Column::Stacked(tensor) => {
            let row = tensor.dims().get(1..).unwrap_or_default();
            let dims: Dims = [batches, size].iter().chain(row).copied().collect();
            Ok(Column::Stacked(tensor.clone().reshape(dims)?))
        }
        Column::Rows(rows) => stack_rows(rows, size, component),
        Column::Sparse(_) | Column::Ragged(_) => {
            let values = (0..batches).map(|batch| {
                let rows = (batch * size..(batch + 1) * size).map(|row| column.row(row));
                let rows = rows.collect::<Result<Vec<_>>>()?;
                if matches!(column, Column::Sparse(_)) {
                    batch_sparse(&rows)
                } else {
                    batch_ragged(&rows)
                }
            });
            Column::from_values(&values.collect::<Result<Vec<_>>>()?)
        }
        Column::Foreign(items) => {
            let arrays = items.chunks(size).map(|items| stack_foreign(items, component));
            Ok(Column::Foreign(arrays.collect::<Result<_>>()?))
        }
    }
}

/// An array of datasets or objects; arrays of them become one with an axis more.
fn stack_foreign(items: &[ForeignValue], component: usize) -> Result<ForeignValue> {
    if items.iter().any(|item| item.is::<OptionalValue>()) {
        return Err(optionals_in_batch(&foreign::spec_of(items)));
    }
    let arrays = items.iter().map(|item| item.downcast_ref::<ForeignArray>());
    let Some(arrays) = arrays.collect::<Option<Vec<_>>>() else {
        let dims = [items.len()][..].into();
        return Ok(Arc::new(ForeignArray { items: items.to_vec(), dims }));
    };
    let first = arrays.first().map(|array| array.dims.clone()).unwrap_or_default();
    if let Some(at) = arrays.iter().position(|array| array.dims != first) {
        return Err(unlike(component, &first, at, &arrays[at].dims));
    }
    let dims = std::iter::once(items.len()).chain(first).collect();
    let items = arrays.iter().flat_map(|array| array.items.iter().cloned()).collect();
    Ok(Arc::new(ForeignArray { items, dims }))
}

/// The error of a batch of optionals.
pub(crate) fn optionals_in_batch(spec: &Spec) -> Error {
    Error::invalid_argument(format!("{spec} cannot be batched"))
        .with_hint("take the values out in a map, or filter those that have one")
}

/// The error of a batch of arrays that differ in shape.
fn unlike(component: usize, first: &Dims, at: usize, dims: &Dims) -> Error {
    let (a, b) = (Brackets(first), Brackets(dims));
    // The words of TensorFlow: programs look for them.
    Error::invalid_argument(format!(
        "Cannot batch tensors with different shapes in component {component}. First element had \
         shape {a} and element {at} had shape {b}."
    ))
    .with_hint("use padded_batch, or make the shapes equal in a map")
}

fn stack_rows(rows: &Rows, size: usize, component: usize) -> Result<Column> {
    for (i, shape) in rows.shapes().iter().enumerate() {
        let first = &rows.shapes()[i / size * size];
        if shape != first {
            return Err(unlike(component, first, i % size, shape));
        }
    }
    let flat = rows.flat()?.0;
    let shapes = rows
        .shapes()
        .chunks(size)
        .map(|batch| std::iter::once(size).chain(batch[0].iter().copied()).collect::<Dims>());
    Rows::new(flat, shapes.collect())?.into_column()
}

/// One sparse tensor with a new first axis.
fn batch_sparse(rows: &[Value]) -> Result<Value> {
    let mut indices: Vec<i64> = Vec::new();
    let mut values = Vec::new();
    let mut dense: Vec<i64> = Vec::new();
    for (row, value) in rows.iter().enumerate() {
        let Value::Sparse { indices: at, values: some, dense_shape } = value else {
            return Err(Error::internal("a sparse column with a dense row"));
        };
        let shape = dense_shape.values::<i64>()?;
        if row > 0 && shape.len() != dense.len() {
            return Err(Error::invalid_argument("cannot batch sparse tensors of different ranks"));
        }
        dense.resize(shape.len(), 0);
        dense.iter_mut().zip(shape).for_each(|(dense, size)| *dense = (*dense).max(*size));
        for index in at.values::<i64>()?.chunks_exact(shape.len().max(1)) {
            indices.push(row as i64);
            indices.extend_from_slice(index);
        }
        values.push(some);
    }
    let values = Tensor::concat(&values)?;
    let rank = dense.len() + 1;
    let shape: Vec<i64> = std::iter::once(rows.len() as i64).chain(dense).collect();
    Ok(Value::Sparse {
        indices: Tensor::from_values(&[values.len(), rank], &indices)?,
        values,
        dense_shape: Tensor::from_values(&[rank], &shape)?,
    })
}

/// One ragged tensor with a new outermost partition.
fn batch_ragged(rows: &[Value]) -> Result<Value> {
    let mut flats = Vec::new();
    let mut parts: Vec<Vec<&Tensor>> = Vec::new();
    for value in rows {
        let Value::Ragged { values, splits } = value else {
            return Err(Error::internal("a ragged column with a dense row"));
        };
        flats.push(values);
        parts.push(splits.iter().collect());
    }
    let ragged_rank = parts.first().map_or(0, Vec::len);
    let dtype = parts.first().and_then(|splits| splits.first()).map_or(DType::Int64, |s| s.dtype());
    let mut outer = vec![0_i64];
    for (values, splits) in flats.iter().zip(&parts) {
        let last = outer.last().copied().unwrap_or(0);
        // A row without partitions, such as a slice of a ragged matrix, is all values.
        let dense = values.dims().first().copied().unwrap_or(0) as i64;
        outer.push(last + splits.first().map_or(dense, |splits| splits.len() as i64 - 1));
    }
    let mut splits = vec![splits_tensor(&outer, dtype)?];
    for level in 0..ragged_rank {
        let mut joined = vec![0_i64];
        for own in &parts {
            let base = joined.last().copied().unwrap_or(0);
            joined.extend(splits_values(own[level])?.iter().skip(1).map(|split| base + split));
        }
        splits.push(splits_tensor(&joined, dtype)?);
    }
    Ok(Value::Ragged { values: Tensor::concat(&flats)?, splits })
}

/// Row splits of either dtype.
pub(crate) fn splits_values(splits: &Tensor) -> Result<Vec<i64>> {
    match splits.dtype() {
        DType::Int32 => Ok(splits.values::<i32>()?.iter().map(|split| i64::from(*split)).collect()),
        _ => Ok(splits.values::<i64>()?.to_vec()),
    }
}

/// Row splits as a tensor of int32 or int64.
pub(crate) fn splits_tensor(splits: &[i64], dtype: DType) -> Result<Tensor> {
    match dtype {
        DType::Int32 => {
            let narrow: Vec<i32> = splits.iter().map(|split| *split as i32).collect();
            Tensor::from_values(&[splits.len()], &narrow)
        }
        _ => Tensor::from_values(&[splits.len()], splits),
    }
}
