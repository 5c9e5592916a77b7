//! VarLen and FixedLenSequence, made of flat lists.

use crate::data::{
    BufferMut, BytesArray, Column, DType, Dims, Rows, SparseColumn, Tensor, Value, View, Wanted,
};
use crate::error::{Error, Result};
use crate::formats::parse::flat::Flat;

/// A column of rows that nobody reads.
pub(super) fn placeholder(rows: usize) -> Result<Column> {
    Ok(Column::Stacked(Tensor::zeros(DType::Int64, Dims::from_slice(&[rows, 0]))?))
}

/// A column of flat values, each row of the shape that `shape` makes of its length.
pub(super) fn rows_of(
    values: Tensor,
    lengths: impl Iterator<Item = usize>,
    shape: impl Fn(usize) -> Dims,
) -> Result<Column> {
    Rows::new(values, lengths.map(shape).collect())?.into_column()
}

/// Sparse vectors, one a row.
pub(super) fn rows(flat: &Flat, wanted: Wanted) -> Result<Column> {
    let values = rows_of(flat.values.clone(), flat.lengths(), |n| Dims::from_slice(&[n]))?;
    let rows = flat.rows();
    let (indices, dense_shape) = match wanted {
        Wanted::All => {
            let positions: Vec<i64> = flat.lengths().flat_map(|n| 0..n as i64).collect();
            let positions = Tensor::from_values(&[positions.len()], &positions)?;
            let lengths: Vec<i64> = flat.lengths().map(|n| n as i64).collect();
            let indices = rows_of(positions, flat.lengths(), |n| Dims::from_slice(&[n, 1]))?;
            (indices, Column::Stacked(Tensor::from_values(&[rows, 1], &lengths)?))
        }
        _ => (placeholder(rows)?, placeholder(rows)?),
    };
    Ok(Column::Sparse(Box::new(SparseColumn { indices, values, dense_shape })))
}

/// One sparse matrix of all rows, as wide as the longest.
pub(super) fn batch(flat: &Flat, wanted: Wanted) -> Result<Value> {
    let values = flat.values.clone();
    if wanted != Wanted::All {
        let nothing = Tensor::zeros(DType::Int64, Dims::from_slice(&[0]))?;
        return Ok(Value::Sparse { indices: nothing.clone(), values, dense_shape: nothing });
    }
    let mut indices = Vec::with_capacity(values.len() * 2);
    for (row, length) in flat.lengths().enumerate() {
        indices.extend((0..length).flat_map(|column| [row as i64, column as i64]));
    }
    let width = flat.lengths().max().unwrap_or(0);
    let indices = Tensor::from_values(&[values.len(), 2], &indices)?;
    let dense_shape = Tensor::from_values(&[2], &[flat.rows() as i64, width as i64])?;
    Ok(Value::Sparse { indices, values, dense_shape })
}

/// Sequences of rows of shape `dims`, one a row.
pub(super) fn sequence_rows(flat: &Flat, dims: &Dims) -> Result<Column> {
    let stride: usize = dims.iter().product();
    rows_of(flat.values.clone(), flat.lengths(), |n| {
        let steps = n.checked_div(stride).unwrap_or(0);
        std::iter::once(steps).chain(dims.iter().copied()).collect()
    })
}

/// Sequences of rows of shape `dims`, padded to the longest.
pub(super) fn padded(flat: &Flat, dims: &Dims, padding: Option<&Tensor>) -> Result<Value> {
    let stride: usize = dims.iter().product();
    let width = flat.lengths().max().unwrap_or(0);
    let steps = width.checked_div(stride).unwrap_or(0);
    let shape: Dims = [flat.rows(), steps].into_iter().chain(dims.iter().copied()).collect();
    let values = &flat.values;
    let count = flat.rows().checked_mul(width).filter(|count| count.checked_mul(8).is_some());
    let count = count.ok_or_else(|| {
        Error::resource_exhausted(format!("a batch of shape {shape:?} is too large"))
    })?;
    let Some(size) = values.dtype().size() else {
        return padded_strings(flat, width, shape, padding);
    };
    let mut out = BufferMut::scratch(count * size)?;
    let source = values.bytes()?;
    let padding = padding.map_or(Ok(&[0; 8][..size]), |value| value.bytes().map(|b| &**b))?;
    for (row, out) in out.chunks_exact_mut((width * size).max(1)).enumerate() {
        let range = flat.range(row);
        let (written, rest) = out.split_at_mut(range.len() * size);
        written.copy_from_slice(&source[range.start * size..range.end * size]);
        rest.chunks_exact_mut(size).for_each(|value| value.copy_from_slice(padding));
    }
    Ok(Value::Tensor(Tensor::fixed(values.dtype(), shape, out.freeze())?))
}

fn padded_strings(
    flat: &Flat,
    width: usize,
    shape: Dims,
    padding: Option<&Tensor>,
) -> Result<Value> {
    let strings = flat.values.strings()?;
    let padding =
        padding.map_or_else(|| BytesArray::from_values([b""]), |value| value.strings().cloned())?;
    let (buffers, views) = strings.parts();
    let base = buffers.len() as u32;
    let pad = padding.parts().1.first().copied().unwrap_or_default();
    let pad = View { buffer: pad.buffer + base, ..pad };
    let mut out = Vec::with_capacity(flat.rows() * width);
    for row in 0..flat.rows() {
        let range = flat.range(row);
        let missing = width - range.len();
        out.extend_from_slice(&views[range]);
        out.extend(std::iter::repeat_n(pad, missing));
    }
    let buffers = buffers.iter().chain(padding.parts().0).cloned().collect();
    Ok(Value::Tensor(Tensor::text(DType::Bytes, shape, BytesArray::new(buffers, out)?)?))
}
