//! Messages of `tf.train`: from the objects of `headrace.tf.train` to bytes, and back.

use headrace::Error;
use headrace::formats::message::{Content, Kind, Message, Schema, decode, encode, schema};
use pyo3::buffer::PyBuffer;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::pybacked::{PyBackedBytes, PyBackedStr};
use pyo3::types::{PyBytes, PyDict, PyList, PyString, PyTuple};

use crate::errors::{Result, invalid};

/// Bytes that a Python object holds.
enum Held {
    Bytes(PyBackedBytes),
    Str(PyBackedStr),
}

impl AsRef<[u8]> for Held {
    fn as_ref(&self) -> &[u8] {
        match self {
            Held::Bytes(bytes) => bytes,
            Held::Str(text) => text.as_bytes(),
        }
    }
}

fn schema_of(name: &str) -> Result<&'static Schema> {
    match schema(name) {
        Some(schema) => Ok(schema),
        None => invalid(format!("there is no message {name:?}")),
    }
}

/// A message object: its fields by name in `_data`, what is not known in `_unknown`.
fn message(schema: &'static Schema, object: &Bound<'_, PyAny>) -> Result<Message<Held>> {
    let py = object.py();
    let data = object.getattr(intern!(py, "_data"))?;
    let data = data.cast::<PyDict>()?;
    let unknown = object.getattr(intern!(py, "_unknown"))?.extract::<PyBackedBytes>()?.to_vec();
    let mut fields = Vec::with_capacity(data.len());
    for (name, value) in data {
        let name = name.cast::<PyString>()?;
        let name = name.to_str()?;
        let index = schema.fields.iter().position(|field| field.name == name);
        let Some(index) = index else {
            return Err(Error::internal("a message with a field of another").into());
        };
        fields.push((index, content(schema.fields[index].kind, &value)?));
    }
    fields.sort_by_key(|(index, _)| *index);
    Ok(Message { fields, unknown })
}

fn content(kind: Kind, value: &Bound<'_, PyAny>) -> Result<Content<Held>> {
    let py = value.py();
    Ok(match kind {
        // An empty array has no memory that a buffer could be of.
        Kind::Ints if value.len()? == 0 => Content::Ints(Vec::new()),
        Kind::Floats if value.len()? == 0 => Content::Floats(Vec::new()),
        Kind::Ints => Content::Ints(PyBuffer::<i64>::get(value)?.to_vec(py)?),
        Kind::Floats => Content::Floats(PyBuffer::<f32>::get(value)?.to_vec(py)?),
        Kind::Strings => {
            let items = value.cast::<PyList>()?.iter();
            let items = items.map(|item| Ok(Held::Bytes(item.extract::<PyBackedBytes>()?)));
            Content::Strings(items.collect::<Result<_>>()?)
        }
        Kind::Message(schema) => Content::Message(message(schema, value)?),
        Kind::Messages(schema) => {
            let items = value.cast::<PyList>()?.iter();
            Content::Messages(items.map(|item| message(schema, &item)).collect::<Result<_>>()?)
        }
        Kind::Map(schema) => {
            let items = value.cast::<PyDict>()?.iter();
            let item = |(key, value): (Bound<'_, PyAny>, _)| {
                Ok((Held::Str(key.extract::<PyBackedStr>()?), message(schema, &value)?))
            };
            Content::Map(items.map(item).collect::<Result<_>>()?)
        }
    })
}

/// Writes a message.
#[pyfunction]
pub(crate) fn encode_message<'py>(
    py: Python<'py>,
    name: &str,
    object: &Bound<'py, PyAny>,
) -> Result<Bound<'py, PyBytes>> {
    let schema = schema_of(name)?;
    Ok(PyBytes::new(py, &encode(schema, &message(schema, object)?)))
}

/// Fields by name and unknown bytes. Numbers are bytes in the machine's order.
fn tree<'py>(
    py: Python<'py>,
    schema: &Schema,
    message: &Message<&[u8]>,
) -> Result<Bound<'py, PyTuple>> {
    let fields = PyDict::new(py);
    for (index, content) in &message.fields {
        let Some(field) = schema.fields.get(*index) else {
            return Err(Error::internal("a field of another message").into());
        };
        fields.set_item(field.name, leaf(py, field.kind, content)?)?;
    }
    let unknown = PyBytes::new(py, &message.unknown);
    Ok(PyTuple::new(py, [fields.into_any(), unknown.into_any()])?)
}

fn leaf<'py>(py: Python<'py>, kind: Kind, content: &Content<&[u8]>) -> Result<Bound<'py, PyAny>> {
    Ok(match (content, kind) {
        (Content::Ints(values), _) => PyBytes::new(py, bytemuck::cast_slice(values)).into_any(),
        (Content::Floats(values), _) => PyBytes::new(py, bytemuck::cast_slice(values)).into_any(),
        (Content::Strings(values), _) => {
            PyList::new(py, values.iter().map(|value| PyBytes::new(py, value)))?.into_any()
        }
        (Content::Message(value), Kind::Message(schema)) => tree(py, schema, value)?.into_any(),
        (Content::Messages(values), Kind::Messages(schema)) => {
            let items = values.iter().map(|value| tree(py, schema, value));
            PyList::new(py, items.collect::<Result<Vec<_>>>()?)?.into_any()
        }
        (Content::Map(values), Kind::Map(schema)) => {
            let map = PyDict::new(py);
            for (key, value) in values {
                map.set_item(str::from_utf8(key).unwrap_or_default(), tree(py, schema, value)?)?;
            }
            map.into_any()
        }
        _ => return Err(Error::internal("a field of another kind").into()),
    })
}

/// Reads a message as a tree: fields by name, and what is not known.
#[pyfunction]
pub(crate) fn decode_message<'py>(
    py: Python<'py>,
    name: &str,
    bytes: &[u8],
) -> Result<Bound<'py, PyTuple>> {
    let schema = schema_of(name)?;
    match decode(schema, bytes) {
        Ok(message) => tree(py, schema, &message),
        Err(malformed) => invalid(malformed.to_string()),
    }
}
