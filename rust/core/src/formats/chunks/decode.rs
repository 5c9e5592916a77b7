//! Bytes to columns. A record may hold anything: each size is compared with the bytes that are
//! there before something is allocated for it.

use std::sync::Arc;

use super::{OPTIONAL, RAGGED, ROWS, SPARSE, STACKED, spec_json};
use crate::data::foreign::OptionalValue;
use crate::data::shape::volume;
use crate::data::{
    Buffer, BytesArray, Chunk, Column, DType, Dims, ElementSpec, ForeignValue, RaggedColumn, Rows,
    SparseColumn, Structure, Tensor, Value, View,
};
use crate::error::{Error, Result};

/// The chunk that [`encode`](super::encode()) made a record of. Text shares the record's memory.
///
/// # Errors
/// `DataLoss` if the bytes are something else.
pub fn decode(record: &Buffer, structure: &Arc<Structure>) -> Result<Chunk> {
    let mut bytes = Cursor { record, at: 0 };
    let rows = bytes.u32()? as usize;
    let columns = bytes.u32()? as usize;
    if columns != structure.leaves() {
        let text = format!("{columns} components where elements are {structure}");
        return Err(damaged(&text));
    }
    let columns = (0..columns).map(|_| bytes.column(rows, 0)).collect::<Result<Vec<_>>>()?;
    if bytes.left() > 0 {
        return Err(damaged("bytes after the last column"));
    }
    Chunk::new(rows, Arc::clone(structure), columns)
}

/// Optionals nested beyond this are no element's.
const MAX_DEPTH: usize = 16;

fn damaged(what: &str) -> Error {
    Error::data_loss(format!("not a chunk of elements: {what}"))
}

struct Cursor<'a> {
    record: &'a Buffer,
    at: usize,
}

impl Cursor<'_> {
    fn left(&self) -> usize {
        self.record.len() - self.at
    }

    fn take(&mut self, count: usize) -> Result<&[u8]> {
        if count > self.left() {
            return Err(damaged("it ends too early"));
        }
        self.at += count;
        Ok(&self.record[self.at - count..self.at])
    }

    fn u8(&mut self) -> Result<u8> {
        self.take(1)?.first().copied().ok_or_else(|| damaged("it ends too early"))
    }

    fn u32(&mut self) -> Result<u32> {
        let bytes = self.take(4)?.first_chunk::<4>().copied();
        bytes.map(u32::from_le_bytes).ok_or_else(|| damaged("it ends too early"))
    }

    fn varint(&mut self) -> Result<usize> {
        let mut number = 0_u64;
        for shift in (0..64).step_by(7) {
            let byte = self.u8()?;
            let bits = u64::from(byte & 0x7f);
            if bits << shift >> shift != bits {
                break;
            }
            number |= bits << shift;
            if byte < 0x80 {
                return usize::try_from(number).map_err(|_| damaged("a size beyond memory"));
            }
        }
        Err(damaged("a size beyond 64 bits"))
    }

    fn dtype(&mut self) -> Result<DType> {
        let code = self.u8()?;
        DType::ALL.get(code as usize).copied().ok_or_else(|| damaged("an unknown dtype"))
    }

    fn shape(&mut self) -> Result<Dims> {
        let rank = self.u8()?;
        (0..rank).map(|_| self.varint()).collect()
    }

    /// A column, which `depth` columns of optionals hold.
    fn column(&mut self, rows: usize, depth: usize) -> Result<Column> {
        match self.u8()? {
            STACKED => {
                let (dtype, dims) = (self.dtype()?, self.shape()?);
                if dims.first() != Some(&rows) {
                    return Err(damaged("a column with another number of rows"));
                }
                self.values(dtype, dims).map(Column::Stacked)
            }
            ROWS => {
                let dtype = self.dtype()?;
                // Each shape takes a byte at least.
                if rows > self.left() {
                    return Err(damaged("it ends too early"));
                }
                let shapes = (0..rows).map(|_| self.shape()).collect::<Result<Vec<_>>>()?;
                let total = shapes
                    .iter()
                    .try_fold(0_usize, |sum, shape| sum.checked_add(volume(shape).ok()?));
                let total = total.ok_or_else(|| damaged("sizes beyond memory"))?;
                let flat = self.values(dtype, [total][..].into())?;
                Rows::new(flat, shapes)?.into_column()
            }
            SPARSE => self.sparse(rows),
            RAGGED => self.ragged(rows),
            OPTIONAL => self.optional(rows, depth + 1),
            _ => Err(damaged("an unknown kind of column")),
        }
    }

    fn optional(&mut self, rows: usize, depth: usize) -> Result<Column> {
        if depth > MAX_DEPTH {
            return Err(damaged("optionals nested too deep"));
        }
        let length = self.varint()?;
        let spec = serde_json::from_slice(self.take(length)?).ok();
        let spec = spec.as_ref().and_then(spec_json::from_json);
        let element_spec = spec.ok_or_else(|| damaged("optionals without a spec"))?;
        let flags = self.take(rows)?.to_vec();
        if flags.iter().any(|flag| *flag > 1) {
            return Err(damaged("a flag that is neither 0 nor 1"));
        }
        let count = flags.iter().filter(|flag| **flag == 1).count();
        let values = match &element_spec {
            _ if count == 0 => None,
            ElementSpec::Unknown => return Err(damaged("optionals without a spec")),
            ElementSpec::Known(structure, specs) => {
                let columns = (0..specs.len()).map(|_| self.column(count, depth));
                let columns = columns.collect::<Result<Vec<_>>>()?;
                Some(Chunk::new(count, Arc::clone(structure), columns)?)
            }
        };
        let mut at = 0;
        let optional = |flag: &u8| {
            let value = match &values {
                Some(values) if *flag == 1 => Some(values.slice(at..at + 1)?),
                _ => None,
            };
            at += usize::from(*flag);
            let element_spec = element_spec.clone();
            Ok(Arc::new(OptionalValue { element_spec, value }) as ForeignValue)
        };
        Ok(Column::Foreign(flags.iter().map(optional).collect::<Result<_>>()?))
    }

    fn values(&mut self, dtype: DType, dims: Dims) -> Result<Tensor> {
        let count = volume(&dims).map_err(|_| damaged("sizes beyond memory"))?;
        let Some(size) = dtype.size() else { return self.text(dtype, dims, count) };
        let bytes = count.checked_mul(size).ok_or_else(|| damaged("sizes beyond memory"))?;
        let values = self.take(bytes)?;
        if dtype == DType::Bool && values.iter().any(|value| *value > 1) {
            return Err(damaged("a bool that is neither true nor false"));
        }
        Tensor::fixed(dtype, dims, Buffer::copy_from(values)?)
    }

    fn text(&mut self, dtype: DType, dims: Dims, count: usize) -> Result<Tensor> {
        // Each length takes a byte at least.
        if count > self.left() {
            return Err(damaged("it ends too early"));
        }
        let lens = (0..count).map(|_| self.varint()).collect::<Result<Vec<_>>>()?;
        let mut views = Vec::with_capacity(count);
        for len in lens {
            let start = self.at;
            let value = self.take(len)?;
            if dtype == DType::Str && std::str::from_utf8(value).is_err() {
                return Err(damaged("text that is not UTF-8"));
            }
            views.push(View { buffer: 0, start, len });
        }
        Tensor::text(dtype, dims, BytesArray::new(vec![self.record.clone()], views)?)
    }

    fn dense(&mut self, rows: usize) -> Result<Column> {
        match self.column(rows, 0)? {
            column @ (Column::Stacked(_) | Column::Rows(_)) => Ok(column),
            _ => Err(damaged("a part of a component that is not dense")),
        }
    }

    fn sparse(&mut self, rows: usize) -> Result<Column> {
        let (indices, values) = (self.dense(rows)?, self.dense(rows)?);
        let dense_shape = self.dense(rows)?;
        for row in 0..rows {
            let (at, of) = (tensor(&indices, row)?, tensor(&dense_shape, row)?);
            let count = tensor(&values, row)?.dims().to_vec();
            let [rank] = *of.dims() else { return Err(damaged("a dense shape that is none")) };
            if count.len() != 1 || at.dims() != [count[0], rank] {
                return Err(damaged("sparse parts that do not fit together"));
            }
            if at.dtype() != DType::Int64 || of.dtype() != DType::Int64 {
                return Err(damaged("positions that are no integers"));
            }
        }
        Ok(Column::Sparse(Box::new(SparseColumn { indices, values, dense_shape })))
    }

    fn ragged(&mut self, rows: usize) -> Result<Column> {
        let partitions = self.u8()?;
        let values = self.dense(rows)?;
        let splits = (0..partitions).map(|_| self.dense(rows)).collect::<Result<Vec<_>>>()?;
        for row in 0..rows {
            let scalar = tensor(&values, row)?.dims().is_empty();
            // What the splits say is not checked anywhere: their kind is.
            for splits in &splits {
                let splits = tensor(splits, row)?;
                let integers = matches!(splits.dtype(), DType::Int32 | DType::Int64);
                if scalar || splits.dims().len() != 1 || !integers {
                    return Err(damaged("ragged parts that do not fit together"));
                }
            }
        }
        Ok(Column::Ragged(Box::new(RaggedColumn { values, splits })))
    }
}

fn tensor(column: &Column, row: usize) -> Result<Tensor> {
    match column.row(row)? {
        Value::Tensor(tensor) => Ok(tensor),
        _ => Err(damaged("a part of a component that is not dense")),
    }
}
