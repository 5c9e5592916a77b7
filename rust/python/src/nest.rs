//! Nests of Python objects and the core's [`Structure`].
//!
//! Tuples, dicts, `None` and instances of record-like classes are structure; all else is a leaf.

use std::any::Any;
use std::sync::Arc;

use headrace::data::Structure;
use headrace::data::spec::{ForeignType, Key};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{
    PyBool, PyBytes, PyDict, PyFloat, PyInt, PyList, PyMapping, PyString, PyTuple, PyType,
};

use crate::convert::{Array, is_scalar};
use crate::errors::{Result, invalid};
use crate::thread_state::try_attach;

/// Nests deeper than this are taken for a mistake, such as a dict that holds itself.
const DEEPEST: usize = 64;

/// What a list is.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Lists {
    /// One array, as in data.
    Leaf,
    /// A tuple, as in what a function returns.
    Tuple,
}

/// How instances of a class are made of their fields.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Making {
    /// `class._make(values)`.
    NamedTuple,
    /// Dataclasses and attrs classes: attributes are set, `__init__` is not called.
    Attributes,
    /// `class({key: value})`.
    Mapping,
}

/// A class that elements are instances of.
pub(crate) struct RecordType {
    pub(crate) class: Py<PyType>,
    pub(crate) making: Making,
}

impl ForeignType for RecordType {
    fn name(&self) -> String {
        let name = try_attach(|py| self.class.bind(py).name().map(|name| name.to_string()).ok());
        name.flatten().unwrap_or_else(|| "record".into())
    }

    fn same(&self, other: &dyn ForeignType) -> bool {
        let other = other.as_any().downcast_ref::<Self>();
        other.is_some_and(|other| other.class.is(&self.class))
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}

/// The class and the field names of a namedtuple, dataclass, attrs class or mapping.
fn record<'py>(
    value: &Bound<'py, PyAny>,
) -> Result<Option<(RecordType, Vec<Bound<'py, PyString>>)>> {
    let py = value.py();
    let class = value.get_type();
    let found =
        |making, names| Ok(Some((RecordType { class: class.clone().unbind(), making }, names)));
    if value.is_instance_of::<PyTuple>() {
        return match class.getattr_opt(intern!(py, "_fields"))? {
            Some(names) => found(Making::NamedTuple, names.extract()?),
            None => Ok(None),
        };
    }
    for (attribute, function) in
        [("__dataclass_fields__", "dataclasses"), ("__attrs_attrs__", "attr")]
    {
        if class.hasattr(attribute)? {
            let fields = py.import(function)?.call_method1("fields", (&class,))?;
            let names = fields
                .try_iter()?
                .map(|field| Ok(field?.getattr("name")?.cast_into::<PyString>()?));
            return found(Making::Attributes, names.collect::<Result<_>>()?);
        }
    }
    if let Ok(mapping) = value.cast::<PyMapping>() {
        let keys: Vec<Bound<'py, PyAny>> = mapping.keys()?.iter().collect();
        let names: Result<Vec<_>, _> =
            keys.iter().map(|key| key.cast::<PyString>().cloned()).collect();
        return match names {
            Ok(names) => found(Making::Mapping, names),
            Err(_) => invalid(format!("the keys of a {} must be str", class.name()?)),
        };
    }
    Ok(None)
}

/// The value of a field of a record.
pub(crate) fn field<'py>(
    value: &Bound<'py, PyAny>,
    making: Making,
    index: usize,
    name: &Bound<'py, PyString>,
) -> PyResult<Bound<'py, PyAny>> {
    match making {
        Making::NamedTuple => value.cast::<PyTuple>()?.get_item(index),
        Making::Attributes => value.getattr(name),
        Making::Mapping => value.get_item(name),
    }
}

fn key(key: &Bound<'_, PyAny>) -> Result<Key> {
    if let Ok(text) = key.cast::<PyString>() {
        return Ok(Key::Str(text.to_str()?.into()));
    }
    match key.extract::<i64>() {
        Ok(number) => Ok(Key::Int(number)),
        Err(_) => invalid(format!("keys of a dict must be str or int, got {}", key.repr()?)),
    }
}

/// True for the most common leaves.
fn is_common_leaf(value: &Bound<'_, PyAny>) -> bool {
    is_scalar(value)
        || value.is_exact_instance_of::<PyBytes>()
        || value.is_exact_instance_of::<PyString>()
        || value.is_exact_instance_of::<PyFloat>()
        || value.is_exact_instance_of::<PyInt>()
        || value.is_exact_instance_of::<PyBool>()
        || Array::of(value).is_some()
}

/// True for what is no structure.
pub(crate) fn is_leaf(value: &Bound<'_, PyAny>, lists: Lists) -> Result<bool> {
    if is_common_leaf(value) {
        return Ok(true);
    }
    let structure = value.is_none()
        || value.is_exact_instance_of::<PyTuple>()
        || value.is_exact_instance_of::<PyDict>()
        || (lists == Lists::Tuple && value.is_exact_instance_of::<PyList>());
    Ok(!structure && (is_plain_leaf(value)? || record(value)?.is_none()))
}

/// True for what is never structure, whatever attributes it has.
fn is_plain_leaf(value: &Bound<'_, PyAny>) -> Result<bool> {
    if is_common_leaf(value) || value.is_instance_of::<PyType>() {
        return Ok(true);
    }
    if value.is_instance_of::<PyTuple>() {
        return Ok(value.get_type().hasattr(intern!(value.py(), "_is_leaf"))?);
    }
    // Specs, sparse and ragged tensors, plans.
    let module = value.get_type().getattr_opt(intern!(value.py(), "__module__"))?;
    Ok(module.is_some_and(|module| {
        module.cast::<PyString>().is_ok_and(|name| {
            name.to_str().is_ok_and(|name| name.split('.').next() == Some("headrace"))
        })
    }))
}

/// The structure of a nest, and its leaves.
pub(crate) fn flatten<'py>(
    value: &Bound<'py, PyAny>,
    lists: Lists,
) -> Result<(Structure, Vec<Bound<'py, PyAny>>)> {
    let mut leaves = Vec::new();
    let structure = walk(value, lists, 0, &mut leaves)?;
    Ok((structure, leaves))
}

fn walk<'py>(
    value: &Bound<'py, PyAny>,
    lists: Lists,
    depth: usize,
    leaves: &mut Vec<Bound<'py, PyAny>>,
) -> Result<Structure> {
    if depth > DEEPEST {
        return invalid(format!("elements may nest {DEEPEST} deep, not more"));
    }
    let mut inner = |value: &Bound<'py, PyAny>| walk(value, lists, depth + 1, leaves);
    if value.is_none() {
        return Ok(Structure::Nothing);
    }
    if let Ok(tuple) = value.cast_exact::<PyTuple>() {
        let items = tuple.iter().map(|item| inner(&item));
        return Ok(Structure::Tuple(items.collect::<Result<_>>()?));
    }
    if let Ok(dict) = value.cast_exact::<PyDict>() {
        let items = dict.iter().map(|(name, item)| Ok((key(&name)?, inner(&item)?)));
        return Ok(Structure::Dict(items.collect::<Result<_>>()?));
    }
    if lists == Lists::Tuple
        && let Ok(list) = value.cast_exact::<PyList>()
    {
        let items = list.iter().map(|item| inner(&item));
        return Ok(Structure::Tuple(items.collect::<Result<_>>()?));
    }
    if !is_plain_leaf(value)?
        && let Some((kind, names)) = record(value)?
    {
        let items = names.iter().enumerate().map(|(index, name)| {
            let item = field(value, kind.making, index, name)?;
            Ok((name.to_str()?.into(), inner(&item)?))
        });
        let items = items.collect::<Result<_>>()?;
        return Ok(Structure::Record(Arc::new(kind), items));
    }
    leaves.push(value.clone());
    Ok(Structure::Leaf)
}
