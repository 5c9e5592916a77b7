//! Columns to bytes.

use super::{OPTIONAL, RAGGED, ROWS, SPARSE, STACKED};
use crate::data::foreign::OptionalValue;
use crate::data::{Chunk, Column, DType, Data, ElementSpec, Tensor};
use crate::error::{Error, Result};

/// The columns of a chunk as one record.
///
/// # Errors
/// `InvalidArgument` for objects of the caller, which have no bytes.
pub fn encode(chunk: &Chunk) -> Result<Vec<u8>> {
    let mut out = Vec::with_capacity(chunk.payload_bytes() + 64);
    put_u32(&mut out, chunk.rows())?;
    put_u32(&mut out, chunk.columns().len())?;
    chunk.columns().iter().try_for_each(|column| put_column(&mut out, column))?;
    Ok(out)
}

fn put_column(out: &mut Vec<u8>, column: &Column) -> Result<()> {
    match column {
        Column::Stacked(tensor) => {
            out.extend([STACKED, code(tensor.dtype())]);
            put_shape(out, tensor.dims())?;
            put_values(out, tensor);
            Ok(())
        }
        Column::Rows(rows) => {
            out.extend([ROWS, code(rows.dtype())]);
            rows.shapes().iter().try_for_each(|shape| put_shape(out, shape))?;
            put_values(out, &rows.flat()?.0);
            Ok(())
        }
        Column::Sparse(sparse) => {
            out.push(SPARSE);
            put_column(out, &sparse.indices)?;
            put_column(out, &sparse.values)?;
            put_column(out, &sparse.dense_shape)
        }
        Column::Ragged(ragged) => {
            let partitions = u8::try_from(ragged.splits.len());
            let partitions = partitions.map_err(|_| too_deep("ragged partitions"))?;
            out.extend([RAGGED, partitions]);
            put_column(out, &ragged.values)?;
            ragged.splits.iter().try_for_each(|splits| put_column(out, splits))
        }
        Column::Foreign(values) => {
            let optionals = values.iter().map(|value| value.downcast_ref::<OptionalValue>());
            if let Some(optionals) = optionals.collect::<Option<Vec<_>>>() {
                return put_optionals(out, &optionals);
            }
            let text = format!("{} components cannot be written to a file", column.kind());
            let hint = "a map that turns them into arrays or bytes can come before";
            Err(Error::invalid_argument(text).with_hint(hint))
        }
    }
}

fn put_optionals(out: &mut Vec<u8>, optionals: &[&OptionalValue]) -> Result<()> {
    let specs = optionals.iter().map(|optional| Some(optional.element_spec.clone()));
    let spec = specs.reduce(|a, b| a?.widen(&b?)).flatten().unwrap_or(ElementSpec::Unknown);
    let text = super::spec_json::to_json(&spec)?.to_string();
    out.push(OPTIONAL);
    put_varint(out, text.len() as u64);
    out.extend_from_slice(text.as_bytes());
    out.extend(optionals.iter().map(|optional| u8::from(optional.value.is_some())));
    let values: Vec<Chunk> = optionals.iter().filter_map(|o| o.value.clone()).collect();
    if values.is_empty() {
        return Ok(());
    }
    let values = Chunk::concat(values)?;
    values.columns().iter().try_for_each(|column| put_column(out, column))
}

fn put_values(out: &mut Vec<u8>, tensor: &Tensor) {
    match tensor.data() {
        Data::Fixed(buffer) => out.extend_from_slice(buffer),
        Data::Text(values) => {
            values.iter().for_each(|value| put_varint(out, value.len() as u64));
            values.iter().for_each(|value| out.extend_from_slice(value));
        }
    }
}

fn put_shape(out: &mut Vec<u8>, dims: &[usize]) -> Result<()> {
    out.push(u8::try_from(dims.len()).map_err(|_| too_deep("axes"))?);
    dims.iter().for_each(|dim| put_varint(out, *dim as u64));
    Ok(())
}

fn put_u32(out: &mut Vec<u8>, number: usize) -> Result<()> {
    let number = u32::try_from(number).map_err(|_| Error::internal("too many for one chunk"))?;
    out.extend(number.to_le_bytes());
    Ok(())
}

fn put_varint(out: &mut Vec<u8>, mut number: u64) {
    while number >= 0x80 {
        out.push(number as u8 | 0x80);
        number >>= 7;
    }
    out.push(number as u8);
}

fn too_deep(what: &str) -> Error {
    Error::invalid_argument(format!("more than 255 {what} cannot be written to a file"))
}

/// The number of a dtype: its place among all.
fn code(dtype: DType) -> u8 {
    DType::ALL.iter().position(|known| *known == dtype).unwrap_or(0) as u8
}
