//! Nests of Python objects and the core's [`Structure`].
//!
//! [`flatten`] finds the structure of a nest; a [`Packer`] is a structure made ready to build and
//! to take apart nests of that one kind fast: keys are Python strings already.

use std::any::Any;
use std::sync::Arc;

use headrace::Error;
use headrace::data::Structure;
use headrace::data::spec::{ForeignType, Key};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{
    PyBool, PyBytes, PyDict, PyFloat, PyInt, PyList, PyMapping, PyString, PyTuple, PyType,
};

use crate::convert::{Array, is_scalar};
use crate::errors::{Result, invalid};
use crate::imports;

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
struct RecordType {
    class: Py<PyType>,
    making: Making,
}

impl ForeignType for RecordType {
    fn name(&self) -> String {
        let name =
            Python::try_attach(|py| self.class.bind(py).name().map(|name| name.to_string()).ok());
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
fn field<'py>(
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
fn is_leaf(value: &Bound<'_, PyAny>, lists: Lists) -> Result<bool> {
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

/// A structure made ready for Python.
pub(crate) enum Packer {
    Leaf,
    Nothing,
    Tuple(Vec<Packer>),
    Dict(Vec<(Py<PyAny>, Packer)>),
    Record { class: Py<PyType>, making: Making, fields: Vec<(Py<PyString>, Packer)> },
}

impl Packer {
    /// The packer of a structure.
    pub(crate) fn new(py: Python<'_>, structure: &Structure) -> Result<Self> {
        Ok(match structure {
            Structure::Leaf => Packer::Leaf,
            Structure::Nothing => Packer::Nothing,
            Structure::Tuple(items) => {
                let items = items.iter().map(|item| Packer::new(py, item));
                Packer::Tuple(items.collect::<Result<_>>()?)
            }
            Structure::Dict(items) => {
                let items = items.iter().map(|(key, item)| {
                    let key = match key {
                        Key::Int(key) => key.into_pyobject(py)?.into_any().unbind(),
                        Key::Str(key) => PyString::intern(py, key).into_any().unbind(),
                    };
                    Ok((key, Packer::new(py, item)?))
                });
                Packer::Dict(items.collect::<Result<_>>()?)
            }
            Structure::Record(kind, items) => {
                let Some(kind) = kind.as_any().downcast_ref::<RecordType>() else {
                    return Err(Error::internal("a class that the binding does not know").into());
                };
                let items = items.iter().map(|(name, item)| {
                    Ok((PyString::intern(py, name).unbind(), Packer::new(py, item)?))
                });
                Packer::Record {
                    class: kind.class.clone_ref(py),
                    making: kind.making,
                    fields: items.collect::<Result<_>>()?,
                }
            }
        })
    }

    /// A nest of `leaves`, which come in order.
    pub(crate) fn pack<'py>(
        &self,
        py: Python<'py>,
        leaves: &mut impl FnMut() -> Result<Bound<'py, PyAny>>,
    ) -> Result<Bound<'py, PyAny>> {
        match self {
            Packer::Leaf => leaves(),
            Packer::Nothing => Ok(py.None().into_bound(py)),
            Packer::Tuple(items) => Ok(tuple(py, items.iter(), leaves)?.into_any()),
            Packer::Dict(items) => {
                let dict = PyDict::new(py);
                for (key, item) in items {
                    dict.set_item(key, item.pack(py, leaves)?)?;
                }
                Ok(dict.into_any())
            }
            Packer::Record { class, making, fields } => {
                let class = class.bind(py);
                match making {
                    Making::NamedTuple => {
                        let items = tuple(py, fields.iter().map(|(_, item)| item), leaves)?;
                        Ok(class.call_method1(intern!(py, "_make"), (items,))?)
                    }
                    Making::Mapping => {
                        let dict = PyDict::new(py);
                        for (name, item) in fields {
                            dict.set_item(name, item.pack(py, leaves)?)?;
                        }
                        Ok(class.call1((dict,))?)
                    }
                    Making::Attributes => {
                        let made = class.call_method1(intern!(py, "__new__"), (class,))?;
                        // Frozen classes forbid their own `__setattr__`.
                        let set = imports::set_attribute(py)?;
                        for (name, item) in fields {
                            set.call1((&made, name, item.pack(py, leaves)?))?;
                        }
                        Ok(made)
                    }
                }
            }
        }
    }

    /// Appends the leaves of a nest of just this structure; false if it has another.
    pub(crate) fn unpack<'py>(
        &self,
        value: &Bound<'py, PyAny>,
        lists: Lists,
        leaves: &mut Vec<Bound<'py, PyAny>>,
    ) -> Result<bool> {
        let py = value.py();
        match self {
            Packer::Leaf => {
                leaves.push(value.clone());
                is_leaf(value, lists)
            }
            Packer::Nothing => Ok(value.is_none()),
            Packer::Tuple(items) => {
                let tuple = match (value.cast_exact::<PyTuple>(), value.cast_exact::<PyList>()) {
                    (Ok(tuple), _) => tuple.clone(),
                    (_, Ok(list)) if lists == Lists::Tuple => list.to_tuple(),
                    _ => return Ok(false),
                };
                if tuple.len() != items.len() {
                    return Ok(false);
                }
                all(items.iter().zip(tuple.iter()), |(item, value)| {
                    item.unpack(&value, lists, leaves)
                })
            }
            Packer::Dict(items) => {
                let Ok(dict) = value.cast_exact::<PyDict>() else {
                    return Ok(false);
                };
                if dict.len() != items.len() {
                    return Ok(false);
                }
                // The order of the first element's keys holds.
                all(items.iter(), |(key, item)| match dict.get_item(key)? {
                    Some(value) => item.unpack(&value, lists, leaves),
                    None => Ok(false),
                })
            }
            Packer::Record { class, making, fields } => {
                if !value.get_type().is(class) {
                    return Ok(false);
                }
                if *making == Making::Mapping && value.len()? != fields.len() {
                    return Ok(false);
                }
                all(fields.iter().enumerate(), |(index, (name, item))| {
                    let name = name.bind(py);
                    if *making == Making::Mapping && !value.contains(name)? {
                        return Ok(false);
                    }
                    item.unpack(&field(value, *making, index, name)?, lists, leaves)
                })
            }
        }
    }
}

/// True if `check` says so of all; stops at the first that does not fit.
fn all<T>(
    mut items: impl Iterator<Item = T>,
    mut check: impl FnMut(T) -> Result<bool>,
) -> Result<bool> {
    items
        .try_fold(true, |_, item| match check(item) {
            Ok(true) => Ok(true),
            Ok(false) => Err(None),
            Err(fault) => Err(Some(fault)),
        })
        .or_else(|stop| stop.map_or(Ok(false), Err))
}

fn tuple<'a, 'py>(
    py: Python<'py>,
    items: impl Iterator<Item = &'a Packer>,
    leaves: &mut impl FnMut() -> Result<Bound<'py, PyAny>>,
) -> Result<Bound<'py, PyTuple>> {
    // On the stack: most elements have few components.
    let items: smallvec::SmallVec<[Bound<'py, PyAny>; 8]> =
        items.map(|item| item.pack(py, leaves)).collect::<Result<_>>()?;
    Ok(PyTuple::new(py, items)?)
}
