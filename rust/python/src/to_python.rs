//! Components of the core as Python objects.
//!
//! Shape [] gives a NumPy scalar, `bytes` or `str`; anything larger an array, text as an object
//! array. Rows of a stacked column are made straight from its memory.

use std::sync::Arc;

use headrace::Error;
use headrace::data::foreign::{ForeignArray, OptionalValue};
use headrace::data::{BytesArray, Column, DType, Data, Tensor, Value};
use headrace::engine::nested::plan_of;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyString};

use crate::convert::{Access, array, array_from_bytes, object_array, scalar};
use crate::elements::element;
use crate::errors::Result;
use crate::from_python::Object;
use crate::imports;
use crate::packer::Packer;
use crate::plan::Plan;
use crate::spares;
use crate::spec::element_spec_to_python;

/// One of several strings: the object that it was read into, where there is one.
fn text_of<'py>(
    py: Python<'py>,
    dtype: DType,
    values: &BytesArray,
    index: usize,
) -> Result<Bound<'py, PyAny>> {
    let value = values.get(index);
    match spares::handed_out(py, values, index).filter(|_| dtype == DType::Bytes) {
        Some(object) => Ok(object.into_any()),
        None => text(py, dtype, value),
    }
}

/// One string.
fn text<'py>(py: Python<'py>, dtype: DType, value: &[u8]) -> Result<Bound<'py, PyAny>> {
    if dtype == DType::Bytes {
        return Ok(PyBytes::new(py, value).into_any());
    }
    match std::str::from_utf8(value) {
        Ok(value) => Ok(PyString::new(py, value).into_any()),
        Err(error) => Err(Error::data_loss(format!("a str value is not UTF-8: {error}"))
            .with_hint("declare the component as bytes")
            .into()),
    }
}

fn texts<'py>(
    py: Python<'py>,
    dtype: DType,
    dims: &[usize],
    values: &BytesArray,
    access: Access,
) -> Result<Bound<'py, PyAny>> {
    match dims {
        [] if values.len() == 1 => text_of(py, dtype, values, 0),
        _ => {
            let items = (0..values.len()).map(|index| text_of(py, dtype, values, index));
            object_array(py, dims, items, access)
        }
    }
}

/// A dense component.
pub(crate) fn tensor<'py>(
    py: Python<'py>,
    tensor: Tensor,
    access: Access,
) -> Result<Bound<'py, PyAny>> {
    let dtype = tensor.dtype();
    match tensor.data() {
        Data::Text(values) => texts(py, dtype, tensor.dims(), values, access),
        Data::Fixed(buffer) if tensor.dims().is_empty() => scalar(py, dtype, buffer),
        Data::Fixed(buffer) => {
            let buffer = buffer.clone();
            let dims = headrace::data::Dims::from(tensor.dims());
            // The tensor's own reference would make the buffer look shared.
            drop(tensor);
            array(py, dtype, &dims, buffer, access)
        }
    }
}

/// Any component.
pub(crate) fn value<'py>(
    py: Python<'py>,
    value: Value,
    access: Access,
) -> Result<Bound<'py, PyAny>> {
    match value {
        Value::Tensor(dense) => tensor(py, dense, access),
        Value::Sparse { indices, values, dense_shape } => {
            let part = |part| tensor(py, part, access);
            let parts = (part(indices)?, part(values)?, part(dense_shape)?);
            Ok(imports::sparse_tensor(py)?.call1(parts)?)
        }
        Value::Ragged { values, splits } => {
            let mut inner = tensor(py, values, access)?;
            for splits in splits.into_iter().rev() {
                let splits = tensor(py, splits, access)?;
                inner = imports::ragged_tensor(py)?.call1((inner, splits))?;
            }
            Ok(inner)
        }
        Value::Foreign(foreign) => {
            if let Some(Object(object)) = foreign.downcast_ref() {
                return Ok(object.bind(py).clone());
            }
            if let Some(plan) = plan_of(&foreign) {
                return Ok(imports::dataset_of_plan(py)?.call1((Plan(plan),))?);
            }
            if let Some(optional) = foreign.downcast_ref::<OptionalValue>() {
                return self::optional(py, optional, access);
            }
            let Some(objects) = foreign.downcast_ref::<ForeignArray>() else {
                return Err(Error::internal("an object that the binding does not know").into());
            };
            let items = objects.items.iter();
            let items = items.map(|item| self::value(py, Value::Foreign(Arc::clone(item)), access));
            object_array(py, &objects.dims, items, access)
        }
    }
}

fn optional<'py>(
    py: Python<'py>,
    optional: &OptionalValue,
    access: Access,
) -> Result<Bound<'py, PyAny>> {
    let spec = element_spec_to_python(py, &optional.element_spec)?;
    let element = match &optional.value {
        Some(chunk) => Some(element(py, &Packer::new(py, chunk.structure())?, chunk, 0, access)?),
        None => None,
    };
    Ok(imports::make_optional(py)?.call1((spec, element.is_some(), element))?)
}

/// Row `index` of a column that goes on living.
pub(crate) fn row<'py>(
    py: Python<'py>,
    column: &Column,
    index: usize,
    access: Access,
) -> Result<Bound<'py, PyAny>> {
    let Column::Stacked(stacked) = column else {
        return value(py, column.row(index)?, access);
    };
    let (dtype, dims) = (stacked.dtype(), stacked.dims().get(1..).unwrap_or_default());
    match (stacked.data(), dtype.size()) {
        (Data::Text(values), _) if dims.is_empty() => text_of(py, dtype, values, index),
        (Data::Fixed(buffer), Some(size)) if dims.is_empty() => {
            let one = buffer.get(index * size..(index + 1) * size);
            scalar(py, dtype, one.unwrap_or_default())
        }
        (Data::Fixed(buffer), Some(size)) if access == Access::Own => {
            let size = size * dims.iter().product::<usize>();
            let one = buffer.get(index * size..(index + 1) * size);
            array_from_bytes(py, dtype, dims, one.unwrap_or_default(), access)
        }
        _ => tensor(py, stacked.row(index)?, access),
    }
}

/// The only row of a column, whose memory goes to the user.
pub(crate) fn only_row<'py>(py: Python<'py>, column: Column) -> Result<Bound<'py, PyAny>> {
    match column {
        Column::Stacked(stacked) if stacked.dims().first() == Some(&1) => {
            let dims = stacked.dims()[1..].into();
            tensor(py, stacked.reshape(dims)?, Access::Own)
        }
        Column::Stacked(_) | Column::Foreign(_) => row(py, &column, 0, Access::Own),
        _ => {
            let row = column.row(0)?;
            drop(column);
            value(py, row, Access::Own)
        }
    }
}
