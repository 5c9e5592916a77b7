//! Numbered places that hold rows for longer than the chunk that brought them.
//!
//! A shuffle buffer must not pin the file block or chunk of each row it holds, so rows are copied
//! in: fixed-size rows into one slab, strings into memory of their place, anything else as values of
//! their own. Rows of the user's own arrays stay where they are.

use std::sync::Arc;

use crate::data::buffer::{Buffer, BufferMut, prefetch};
use crate::data::bytes::{BytesArray, View};
use crate::data::chunk::Chunk;
use crate::data::column::{Column, Value};
use crate::data::dtype::DType;
use crate::data::lent::{LEND_FROM_BYTES, LentRows};
use crate::data::shape::{Dims, volume};
use crate::data::spec::Structure;
use crate::data::tensor::Tensor;
use crate::error::{Error, Result};

/// Rows of chunks in numbered places.
#[derive(Default)]
pub struct ChunkStore {
    structure: Option<Arc<Structure>>,
    columns: Vec<ColumnStore>,
}

impl ChunkStore {
    /// Copies row `i` of the chunk into place `slots[i]`.
    ///
    /// # Errors
    /// `InvalidArgument` if the structure differs from that of earlier rows.
    pub fn put(&mut self, slots: &[usize], chunk: &Chunk) -> Result<()> {
        match &self.structure {
            None => {
                self.structure = Some(Arc::clone(chunk.structure()));
                self.columns = chunk.columns().iter().map(ColumnStore::for_column).collect();
            }
            Some(own) if own != chunk.structure() => {
                let other = chunk.structure();
                return Err(Error::invalid_argument(format!(
                    "expected elements of structure {own}, got {other}"
                )));
            }
            Some(_) => {}
        }
        self.columns.iter_mut().zip(chunk.columns()).try_for_each(|(s, c)| s.put(slots, c))
    }

    /// Memory that the store takes.
    pub fn bytes(&self) -> usize {
        self.columns.iter().map(ColumnStore::bytes).sum()
    }

    /// Takes the rows at `slots` out, copied together.
    ///
    /// # Errors
    /// `Internal` if a place is empty.
    pub fn take(&mut self, slots: &[usize]) -> Result<Chunk> {
        let structure = self.structure.clone();
        let structure = structure.ok_or_else(|| Error::internal("take from an empty store"))?;
        let columns = self.columns.iter_mut().map(|s| s.take(slots)).collect::<Result<Vec<_>>>()?;
        Chunk::new(slots.len(), structure, columns)
    }
}

enum ColumnStore {
    Fixed {
        dtype: DType,
        row: Dims,
        row_bytes: usize,
        places: usize,
        slab: Vec<u8>,
    },
    Lent {
        dtype: DType,
        row: Dims,
        row_bytes: usize,
        rows: LentRows,
    },
    /// Strings, and the memory of their places.
    Text {
        dtype: DType,
        values: Vec<Vec<u8>>,
        bytes: usize,
    },
    /// Values, and their memory.
    Any(Vec<Option<Value>>, usize),
}

impl ColumnStore {
    fn for_column(column: &Column) -> Self {
        match column {
            Column::Stacked(tensor) => {
                let row: Dims = tensor.dims().get(1..).unwrap_or_default().into();
                match tensor.dtype().size() {
                    Some(size) => {
                        let (dtype, row_bytes) = (tensor.dtype(), volume(&row).unwrap_or(0) * size);
                        if row_bytes >= LEND_FROM_BYTES && is_lent(tensor) {
                            let rows = LentRows::new(row_bytes);
                            return Self::Lent { dtype, row, row_bytes, rows };
                        }
                        Self::Fixed { dtype, row, row_bytes, places: 0, slab: Vec::new() }
                    }
                    None if row.is_empty() => {
                        let dtype = tensor.dtype();
                        Self::Text { dtype, values: Vec::new(), bytes: 0 }
                    }
                    None => Self::Any(Vec::new(), 0),
                }
            }
            _ => Self::Any(Vec::new(), 0),
        }
    }

    fn put(&mut self, slots: &[usize], column: &Column) -> Result<()> {
        let places = slots.iter().max().map_or(0, |slot| slot + 1);
        match (&mut *self, column) {
            (
                Self::Fixed { dtype, row, row_bytes, places: held, slab },
                Column::Stacked(tensor),
            ) if *dtype == tensor.dtype() && tensor.dims().get(1..) == Some(&row[..]) => {
                if *held < places {
                    *held = places;
                    slab.resize(places * *row_bytes, 0);
                }
                scatter(tensor.bytes()?, slab, *row_bytes, slots);
                Ok(())
            }
            (Self::Lent { dtype, row, rows, .. }, Column::Stacked(tensor))
                if *dtype == tensor.dtype()
                    && tensor.dims().get(1..) == Some(&row[..])
                    && is_lent(tensor) =>
            {
                rows.put(slots, tensor.bytes()?)
            }
            // Rows of other memory, from now on or for a while: all are copied.
            (store @ Self::Lent { .. }, column) => {
                store.copy_lent()?;
                store.put(slots, column)
            }
            (Self::Text { dtype, values, bytes }, Column::Stacked(tensor))
                if *dtype == tensor.dtype() && tensor.dims().len() == 1 =>
            {
                if values.len() < places {
                    values.resize_with(places, Vec::new);
                }
                for (i, (slot, value)) in slots.iter().zip(tensor.strings()?.iter()).enumerate() {
                    if let Some(later) = slots.get(i + AHEAD) {
                        let place = &mut values[*later];
                        // What it held is gone; where the next string goes is cold.
                        prefetch(&place[..place.len().min(FORESEEN)]);
                    }
                    *bytes -= values[*slot].capacity();
                    keep(&mut values[*slot], value);
                    *bytes += values[*slot].capacity();
                }
                Ok(())
            }
            (Self::Any(values, bytes), column) => {
                if values.len() < places {
                    values.resize(places, None);
                }
                for (i, slot) in slots.iter().enumerate() {
                    let value = own(column.row(i)?)?;
                    *bytes += payload(&value);
                    values[*slot] = Some(value);
                }
                Ok(())
            }
            // The first row of another shape or kind: hold single values from now on.
            (store, column) => {
                store.generalise()?;
                store.put(slots, column)
            }
        }
    }

    fn bytes(&self) -> usize {
        match self {
            Self::Fixed { slab, .. } => slab.capacity(),
            Self::Lent { rows, .. } => rows.bytes(),
            Self::Text { values, bytes, .. } => bytes + values.capacity() * size_of::<Vec<u8>>(),
            Self::Any(values, bytes) => bytes + values.capacity() * size_of::<Option<Value>>(),
        }
    }

    /// Turns a store of lent rows into one of copies.
    fn copy_lent(&mut self) -> Result<()> {
        if let Self::Lent { dtype, row, row_bytes, rows } = self {
            let places = rows.len();
            let all: Vec<usize> = (0..places).collect();
            let slab = rows.take(&all)?.to_vec();
            let (dtype, row, row_bytes) = (*dtype, std::mem::take(row), *row_bytes);
            *self = Self::Fixed { dtype, row, row_bytes, places, slab };
        }
        Ok(())
    }

    /// Turns a store of alike rows into one of single values.
    fn generalise(&mut self) -> Result<()> {
        let places = match self {
            Self::Fixed { places, .. } => *places,
            Self::Lent { rows, .. } => rows.len(),
            Self::Text { values, .. } => values.len(),
            Self::Any(..) => return Ok(()),
        };
        let all: Vec<usize> = (0..places).collect();
        let column = self.take(&all)?;
        let mut values = Vec::with_capacity(places);
        let mut bytes = 0;
        for index in all {
            let value = own(column.row(index)?)?;
            bytes += payload(&value);
            values.push(Some(value));
        }
        *self = Self::Any(values, bytes);
        Ok(())
    }

    fn take(&mut self, slots: &[usize]) -> Result<Column> {
        match self {
            Self::Fixed { dtype, row, row_bytes, slab, .. } => {
                let mut out = BufferMut::scratch(slots.len() * *row_bytes)?;
                gather(slab, &mut out, *row_bytes, slots);
                let dims = std::iter::once(slots.len()).chain(row.iter().copied()).collect();
                Ok(Column::Stacked(Tensor::fixed(*dtype, dims, out.freeze())?))
            }
            Self::Lent { dtype, row, rows, .. } => {
                let dims = std::iter::once(slots.len()).chain(row.iter().copied()).collect();
                Ok(Column::Stacked(Tensor::fixed(*dtype, dims, rows.take(slots)?)?))
            }
            Self::Text { dtype, values, .. } => {
                let array = gather_text(values, slots)?;
                Ok(Column::Stacked(Tensor::text(*dtype, [slots.len()][..].into(), array)?))
            }
            Self::Any(values, bytes) => {
                let taken = slots.iter().map(|slot| {
                    let value = values.get_mut(*slot).and_then(Option::take);
                    let value = value.ok_or_else(|| Error::internal("take from an empty place"))?;
                    *bytes = bytes.saturating_sub(payload(&value));
                    Ok(value)
                });
                Column::from_values(&taken.collect::<Result<Vec<_>>>()?)
            }
        }
    }
}

/// True if the rows stay where they are without us.
fn is_lent(tensor: &Tensor) -> bool {
    tensor.bytes().is_ok_and(Buffer::is_borrowed)
}

/// Copies a string into its place. The memory of the string before it is used again, unless it is
/// too small or would be half empty.
fn keep(place: &mut Vec<u8>, value: &[u8]) {
    let (capacity, len) = (place.capacity(), value.len());
    if capacity < len || capacity / 2 > len {
        // An eighth more, so that strings of about one length do not take turns at allocating.
        *place = Vec::with_capacity(len + len / 8);
    }
    place.clear();
    place.extend_from_slice(value);
}

/// How many strings ahead a place is asked for: places are drawn at random, so the memory is cold.
const AHEAD: usize = 4;
/// How much of a string is asked for: of longer ones the machine foresees the rest itself.
const FORESEEN: usize = 1024;

fn gather_text(values: &[Vec<u8>], slots: &[usize]) -> Result<BytesArray> {
    let total = slots.iter().map(|slot| values[*slot].len()).sum();
    let mut payload = BufferMut::scratch(total)?;
    let mut views = Vec::with_capacity(slots.len());
    let mut start = 0;
    for (i, slot) in slots.iter().enumerate() {
        if let Some(later) = slots.get(i + AHEAD) {
            let value = &values[*later];
            prefetch(&value[..value.len().min(FORESEEN)]);
        }
        let value = &values[*slot];
        payload[start..start + value.len()].copy_from_slice(value);
        views.push(View { buffer: 0, start, len: value.len() });
        start += value.len();
    }
    BytesArray::new(vec![payload.freeze()], views)
}

fn scatter(rows: &[u8], slab: &mut [u8], row_bytes: usize, slots: &[usize]) {
    if row_bytes == 8 {
        let (slab, rows) = (slab.as_chunks_mut::<8>().0, rows.as_chunks::<8>().0);
        slots.iter().zip(rows).for_each(|(slot, row)| slab[*slot] = *row);
    } else if row_bytes > 0 {
        for (slot, row) in slots.iter().zip(rows.chunks_exact(row_bytes)) {
            slab[slot * row_bytes..][..row_bytes].copy_from_slice(row);
        }
    }
}

fn gather(slab: &[u8], out: &mut [u8], row_bytes: usize, slots: &[usize]) {
    if row_bytes == 8 {
        let (slab, out) = (slab.as_chunks::<8>().0, out.as_chunks_mut::<8>().0);
        slots.iter().zip(out).for_each(|(slot, out)| *out = slab[*slot]);
    } else if row_bytes > 0 {
        for (slot, out) in slots.iter().zip(out.chunks_exact_mut(row_bytes)) {
            out.copy_from_slice(&slab[slot * row_bytes..][..row_bytes]);
        }
    }
}

/// Memory of the value, which it alone holds.
fn payload(value: &Value) -> usize {
    match value {
        Value::Tensor(tensor) => tensor.payload_bytes(),
        Value::Sparse { indices, values, dense_shape } => {
            [indices, values, dense_shape].into_iter().map(Tensor::payload_bytes).sum()
        }
        Value::Ragged { values, splits } => {
            values.payload_bytes() + splits.iter().map(Tensor::payload_bytes).sum::<usize>()
        }
        Value::Foreign(_) => 0,
    }
}

/// The value in memory of its own, strings included.
fn own(value: Value) -> Result<Value> {
    let dense = |tensor: Tensor| match tensor.strings() {
        Ok(strings) => {
            let copy = BytesArray::from_values(strings.iter())?;
            Tensor::text(tensor.dtype(), tensor.dims().into(), copy)
        }
        Err(_) => tensor.into_owned(),
    };
    Ok(match value {
        Value::Tensor(tensor) => Value::Tensor(dense(tensor)?),
        Value::Sparse { indices, values, dense_shape } => Value::Sparse {
            indices: dense(indices)?,
            values: dense(values)?,
            dense_shape: dense(dense_shape)?,
        },
        Value::Ragged { values, splits } => Value::Ragged {
            values: dense(values)?,
            splits: splits.into_iter().map(dense).collect::<Result<_>>()?,
        },
        Value::Foreign(value) => Value::Foreign(value),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chunk(tensor: Tensor) -> Chunk {
        Chunk::of_column(Column::Stacked(tensor)).unwrap()
    }

    #[test]
    fn rows_come_back_from_their_places() {
        let mut store = ChunkStore::default();
        store.put(&[2, 0], &chunk(Tensor::from_values(&[2], &[10_i64, 20]).unwrap())).unwrap();
        let out = store.take(&[0, 2]).unwrap();
        let Column::Stacked(tensor) = &out.columns()[0] else { panic!("not stacked") };
        assert_eq!(tensor.values::<i64>().unwrap(), [20, 10]);
    }

    #[test]
    fn a_row_of_another_shape_turns_the_store_into_values() {
        let mut store = ChunkStore::default();
        store.put(&[0, 1], &chunk(Tensor::from_values(&[2, 1], &[1_i64, 2]).unwrap())).unwrap();
        store.put(&[2], &chunk(Tensor::from_values(&[1, 2], &[3_i64, 4]).unwrap())).unwrap();
        let out = store.take(&[2, 1]).unwrap();
        let Column::Rows(rows) = &out.columns()[0] else { panic!("not rows") };
        assert_eq!(rows.row(1).unwrap().values::<i64>().unwrap(), [2]);
    }

    #[test]
    fn empty_rows_survive_a_later_row_of_another_shape() {
        let mut store = ChunkStore::default();
        store.put(&[0], &chunk(Tensor::from_values::<i64>(&[1, 0], &[]).unwrap())).unwrap();
        store.put(&[1], &chunk(Tensor::from_values(&[1, 2], &[3_i64, 4]).unwrap())).unwrap();
        assert_eq!(store.take(&[0, 1]).unwrap().rows(), 2);
    }

    #[test]
    fn strings_do_not_share_their_source() {
        let values = BytesArray::from_values(["abc", "d"]).unwrap();
        let tensor = Tensor::text(DType::Bytes, [2][..].into(), values).unwrap();
        let mut store = ChunkStore::default();
        store.put(&[1, 0], &chunk(tensor)).unwrap();
        let out = store.take(&[1]).unwrap();
        let Column::Stacked(tensor) = &out.columns()[0] else { panic!("not stacked") };
        assert_eq!(tensor.strings().unwrap().get(0), b"abc");
    }
}
