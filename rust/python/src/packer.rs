//! Structures made ready for Python: nests built and taken apart fast.

use headrace::Error;
use headrace::data::Structure;
use headrace::data::spec::Key;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PyString, PyTuple, PyType};

use crate::errors::Result;
use crate::imports;
use crate::nest::{Lists, Making, RecordType, field, is_leaf};

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
