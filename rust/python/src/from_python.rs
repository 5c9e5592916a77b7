//! Python objects as components of the core.
//!
//! Arrays of the user are borrowed where a plan is built and copied where a function returned
//! them (it may return the same array again). Lists are arrays. What is neither array, number,
//! text, sparse nor ragged is carried as an opaque [`Object`].

use std::sync::Arc;

use headrace::Error;
use headrace::data::foreign::{DatasetValue, ForeignArray, OptionalValue};
use headrace::data::{
    Buffer, BytesBuilder, Chunk, Column, DType, Dims, Element, ForeignValue, Tensor, Value,
};
use headrace::engine::nested::dataset_value;
use num_complex::Complex;
use pyo3::exceptions::PyOverflowError;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{
    PyBool, PyBytes, PyComplex, PyDict, PyFloat, PyInt, PyList, PyRange, PyString, PyTuple,
};

use crate::convert::{Access, Array, Kind, descriptor, is_scalar, scalar_value};
use crate::errors::{Result, invalid};
use crate::imports;
use crate::nest::{Lists, flatten};
use crate::packer::Packer;
use crate::plan::Plan;
use crate::scalars;
use crate::spec::element_spec;
use crate::to_python;

/// An opaque object of the user. Dropped with the GIL held, or handed to PyO3 to be so.
pub(crate) struct Object(pub(crate) Py<PyAny>);

/// What becomes of the memory of an array.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Arrays {
    /// It is borrowed.
    Borrow,
    /// It is copied.
    Copy,
}

/// Type and value of a scalar, as bytes.
pub(crate) enum Scalar<'a> {
    Fixed(DType, [u8; 16]),
    Text(DType, &'a [u8]),
}

fn fixed<T: Element>(value: T) -> Scalar<'static> {
    let mut bytes = [0; 16];
    bytes[..size_of::<T>()].copy_from_slice(bytemuck::bytes_of(&value));
    Scalar::Fixed(T::DTYPE, bytes)
}

/// The scalar that an object is, by NumPy 2's rules for Python's own numbers.
pub(crate) fn scalar<'a>(object: &'a Bound<'_, PyAny>) -> Result<Option<Scalar<'a>>> {
    if let Some((dtype, value)) = scalars::read(object) {
        return Ok(Some(Scalar::Fixed(dtype, value)));
    }
    if let Ok(value) = object.cast::<PyBytes>() {
        return Ok(Some(Scalar::Text(DType::Bytes, value.as_bytes())));
    }
    if let Ok(value) = object.cast::<PyString>() {
        return match value.to_str() {
            Ok(value) => Ok(Some(Scalar::Text(DType::Str, value.as_bytes()))),
            Err(_) => invalid(format!("{} is not valid Unicode", value.repr()?)),
        };
    }
    if is_scalar(object) {
        return Ok(scalar_value(object).map(|(dtype, value)| Scalar::Fixed(dtype, value)));
    }
    if let Ok(value) = object.cast_exact::<PyFloat>() {
        return Ok(Some(fixed(value.value())));
    }
    if let Ok(value) = object.cast_exact::<PyBool>() {
        let mut bytes = [0; 16];
        bytes[0] = u8::from(value.is_true());
        return Ok(Some(Scalar::Fixed(DType::Bool, bytes)));
    }
    if let Ok(value) = object.cast_exact::<PyInt>() {
        return integer(value).map(Some);
    }
    if let Ok(value) = object.cast_exact::<PyComplex>() {
        let value = Complex::new(value.real(), value.imag());
        return Ok(Some(fixed(value)));
    }
    Ok(None)
}

fn integer(value: &Bound<'_, PyInt>) -> Result<Scalar<'static>> {
    match value.extract::<i64>() {
        Ok(value) => Ok(fixed(value)),
        Err(error) if error.is_instance_of::<PyOverflowError>(value.py()) => {
            match value.extract::<u64>() {
                Ok(value) => Ok(fixed(value)),
                Err(_) => invalid(format!("{value} does not fit into int64 or uint64")),
            }
        }
        Err(error) => Err(error.into()),
    }
}

/// Text in the making: all `bytes` or all `str`.
struct Texts {
    dtype: Option<DType>,
    builder: BytesBuilder,
}

impl Texts {
    /// Appends a value; false if it is not text.
    fn push(&mut self, item: &Bound<'_, PyAny>) -> Result<bool> {
        let Some(Scalar::Text(dtype, value)) = scalar(item)? else {
            return Ok(false);
        };
        match self.dtype {
            Some(own) if own != dtype => {
                return invalid("an array holds both bytes and str; make them one type");
            }
            _ => self.dtype = Some(dtype),
        }
        self.builder.push(value);
        Ok(true)
    }
}

/// The values of an array of strings or objects, flat: text, or opaque objects.
fn array_items(object: &Bound<'_, PyAny>, dims: Dims, kind: Kind) -> Result<Value> {
    let flat = object.call_method0(intern!(object.py(), "ravel"))?;
    let items = flat.call_method0(intern!(object.py(), "tolist"))?.cast_into::<PyList>()?;
    let mut texts = Texts { dtype: None, builder: BytesBuilder::default() };
    for item in &items {
        if !texts.push(&item)? {
            if kind == Kind::Text || texts.dtype.is_some() {
                return invalid(format!("an array of text holds {}", item.repr()?));
            }
            let items = items.iter().map(|item| foreign(&item)).collect::<Result<_>>()?;
            return Ok(Value::Foreign(Arc::new(ForeignArray { items, dims })));
        }
    }
    let dtype = match texts.dtype {
        Some(dtype) => dtype,
        None => empty_text(object)?,
    };
    Ok(Value::Tensor(Tensor::text(dtype, dims, texts.builder.finish()?)?))
}

/// A dataset, an optional or an opaque object.
fn foreign(object: &Bound<'_, PyAny>) -> Result<ForeignValue> {
    let py = object.py();
    if object.is_instance(imports::dataset(py)?)? {
        let plan = object.getattr(intern!(py, "_plan"))?;
        return Ok(dataset_value(Arc::clone(&plan.cast::<Plan>()?.get().0)));
    }
    if object.is_instance(imports::optional(py)?)? {
        return optional(object);
    }
    Ok(Arc::new(Object(object.clone().unbind())))
}

fn optional(object: &Bound<'_, PyAny>) -> Result<ForeignValue> {
    let py = object.py();
    let element_spec = element_spec(&object.getattr(intern!(py, "_element_spec"))?)?;
    let value = match object.getattr(intern!(py, "_has_value"))?.is_truthy()? {
        true => {
            let element = object.getattr(intern!(py, "_value"))?;
            let (structure, leaves) = flatten(&element, Lists::Leaf)?;
            let column = |leaf| Ok(value(leaf, Arrays::Copy)?.to_column()?);
            let columns = leaves.iter().map(column).collect::<Result<_>>()?;
            Some(Chunk::new(1, Arc::new(structure), columns)?)
        }
        false => None,
    };
    Ok(Arc::new(OptionalValue { element_spec, value }))
}

/// Nested lists of datasets as an array of them: NumPy would ask them for their elements.
fn datasets(object: &Bound<'_, PyAny>) -> Result<Option<ForeignArray>> {
    let Ok(list) = object.cast::<PyList>() else { return Ok(None) };
    let mut first = list.get_item(0).ok();
    while let Some(inner) = first.as_ref().and_then(|first| first.cast::<PyList>().ok()) {
        first = inner.get_item(0).ok();
    }
    match first {
        Some(first) if first.is_instance(imports::dataset(object.py())?)? => {}
        _ => return Ok(None),
    }
    let mut items = Vec::new();
    let dims = collect_datasets(object, &mut items)?;
    let specs = items.iter().filter_map(|item| item.downcast_ref::<DatasetValue>());
    let specs = specs.map(|dataset| Some(dataset.element_spec.clone()));
    if specs.reduce(|a, b| a?.widen(&b?)).flatten().is_none() {
        return invalid("the datasets of one component must have one element spec, up to shapes");
    }
    Ok(Some(ForeignArray { items, dims }))
}

fn collect_datasets(object: &Bound<'_, PyAny>, items: &mut Vec<ForeignValue>) -> Result<Dims> {
    let Ok(list) = object.cast::<PyList>() else {
        if !object.is_instance(imports::dataset(object.py())?)? {
            return invalid(format!("a list of datasets holds {}", object.repr()?));
        }
        items.push(foreign(object)?);
        return Ok(Dims::new());
    };
    let mut inner: Option<Dims> = None;
    for item in list {
        let dims = collect_datasets(&item, items)?;
        if inner.get_or_insert_with(|| dims.clone()) != &dims {
            return invalid("lists of datasets in one list must have one length");
        }
    }
    let mut dims = inner.unwrap_or_default();
    dims.insert(0, list.len());
    Ok(dims)
}

/// The type of an array of no strings: that of the dtype, `bytes` for objects.
fn empty_text(object: &Bound<'_, PyAny>) -> Result<DType> {
    let kind: String = object.getattr("dtype")?.getattr("kind")?.extract()?;
    Ok(if kind == "S" || kind == "O" { DType::Bytes } else { DType::Str })
}

/// An array as a component; `None` if the object is no array.
fn array(object: &Bound<'_, PyAny>, arrays: Arrays) -> Result<Option<Value>> {
    let Some(array) = Array::of(object) else {
        return Ok(None);
    };
    let dims = array.dims();
    let dtype = match array.kind() {
        Kind::Fixed(dtype) => dtype,
        Kind::Other => {
            let dtype = object.getattr("dtype")?;
            return invalid(format!("arrays of dtype {dtype} are not supported by headrace"));
        }
        kind => return array_items(object, dims, kind).map(Some),
    };
    let array = array.plain(dtype)?;
    let buffer = buffer(array, dtype, arrays)?;
    Ok(Some(Value::Tensor(Tensor::fixed(dtype, dims, buffer)?)))
}

fn buffer(array: Array<'_>, dtype: DType, arrays: Arrays) -> Result<Buffer> {
    let Some(size) = dtype.size() else {
        return Err(Error::internal("an array of text read as fixed-size values").into());
    };
    Ok(match arrays {
        Arrays::Borrow => array.borrow(size),
        Arrays::Copy => array.copy(size)?,
    })
}

/// True for what NumPy can make an array of: lists, ranges, buffers, arrays of other libraries.
fn is_array_like(object: &Bound<'_, PyAny>) -> Result<bool> {
    let py = object.py();
    let known = object.is_instance_of::<PyList>()
        || object.is_instance_of::<PyRange>()
        || is_scalar(object)
        || object.is_instance_of::<PyInt>()
        || object.is_instance_of::<PyFloat>()
        || object.is_instance_of::<pyo3::types::PyMemoryView>();
    let class = object.get_type();
    Ok(known
        || class.hasattr(intern!(py, "__array__"))?
        || class.hasattr(intern!(py, "__array_interface__"))?)
}

/// True if the first scalar inside nested lists is text, which NumPy would pad and strip.
fn holds_text(object: &Bound<'_, PyAny>) -> bool {
    let first = match (object.cast::<PyList>(), object.cast::<PyTuple>()) {
        (Ok(list), _) => list.get_item(0),
        (_, Ok(tuple)) => tuple.get_item(0),
        _ => return object.is_instance_of::<PyBytes>() || object.is_instance_of::<PyString>(),
    };
    first.is_ok_and(|first| holds_text(&first))
}

fn as_array<'py>(object: &Bound<'py, PyAny>) -> Result<Bound<'py, PyAny>> {
    let py = object.py();
    let asarray = imports::asarray(py)?;
    if holds_text(object) {
        let kwargs = PyDict::new(py);
        kwargs.set_item(intern!(py, "dtype"), descriptor(py, DType::Bytes)?)?;
        return Ok(asarray.call((object,), Some(&kwargs))?);
    }
    Ok(asarray.call1((object,))?)
}

fn dense(object: &Bound<'_, PyAny>, name: &str, arrays: Arrays) -> Result<Tensor> {
    let part = object.getattr(name)?;
    match value(&part, arrays)? {
        Value::Tensor(tensor) => Ok(tensor),
        _ => invalid(format!("expected an array as {name}, got {}", part.repr()?)),
    }
}

fn sparse(object: &Bound<'_, PyAny>, arrays: Arrays) -> Result<Value> {
    Ok(Value::Sparse {
        indices: dense(object, "indices", arrays)?,
        values: dense(object, "values", arrays)?,
        dense_shape: dense(object, "dense_shape", arrays)?,
    })
}

fn ragged(object: &Bound<'_, PyAny>, arrays: Arrays) -> Result<Value> {
    let class = imports::ragged_tensor(object.py())?;
    let mut splits = Vec::new();
    let mut inner = object.clone();
    while inner.is_instance(class)? {
        splits.push(dense(&inner, "row_splits", arrays)?);
        inner = inner.getattr("values")?;
    }
    match value(&inner, arrays)? {
        Value::Tensor(values) => Ok(Value::Ragged { values, splits }),
        _ => invalid(format!("expected an array as values, got {}", inner.repr()?)),
    }
}

/// Any object as a component.
pub(crate) fn value(object: &Bound<'_, PyAny>, arrays: Arrays) -> Result<Value> {
    match scalar(object)? {
        Some(Scalar::Fixed(dtype, bytes)) => {
            let bytes = &bytes[..dtype.size().unwrap_or(0)];
            let buffer = Buffer::copy_from(bytes)?;
            return Ok(Value::Tensor(Tensor::fixed(dtype, Dims::new(), buffer)?));
        }
        Some(Scalar::Text(dtype, text)) => {
            let mut builder = BytesBuilder::default();
            builder.push(text);
            return Ok(Value::Tensor(Tensor::text(dtype, Dims::new(), builder.finish()?)?));
        }
        None => {}
    }
    if let Some(value) = array(object, arrays)? {
        return Ok(value);
    }
    if object.is_instance(imports::sparse_tensor(object.py())?)? {
        return sparse(object, arrays);
    }
    if object.is_instance(imports::ragged_tensor(object.py())?)? {
        return ragged(object, arrays);
    }
    if let Some(datasets) = datasets(object)? {
        return Ok(Value::Foreign(Arc::new(datasets)));
    }
    if is_array_like(object)?
        && let Some(value) = array(&as_array(object)?, arrays)?
    {
        return Ok(value);
    }
    Ok(Value::Foreign(foreign(object)?))
}

/// A component whose first axis counts rows, as a column of its rows.
pub(crate) fn slices(object: &Bound<'_, PyAny>) -> Result<Column> {
    match value(object, Arrays::Borrow)? {
        Value::Tensor(tensor) if tensor.dims().is_empty() => {
            invalid(format!("expected an array with at least one axis, got {}", object.repr()?))
        }
        Value::Tensor(tensor) => Ok(Column::Stacked(tensor)),
        Value::Foreign(foreign) => match foreign.downcast_ref::<ForeignArray>() {
            Some(objects) => object_rows(objects),
            None => invalid(format!("expected an array, got {}", object.repr()?)),
        },
        value => Ok(headrace::batching::unbatch::slices(&value)?),
    }
}

fn object_rows(objects: &ForeignArray) -> Result<Column> {
    match objects.rows() {
        Some(rows) => Ok(Column::Foreign(rows.into())),
        None => invalid("expected an array with at least one axis, got a single object"),
    }
}

/// Takes a nest in and gives it out again: what tests of the conversions call.
#[pyfunction]
#[pyo3(signature = (object, *, copy = false, view = false))]
pub(crate) fn echo<'py>(
    object: &Bound<'py, PyAny>,
    copy: bool,
    view: bool,
) -> Result<Bound<'py, PyAny>> {
    let py = object.py();
    let arrays = if copy { Arrays::Copy } else { Arrays::Borrow };
    let access = if view { Access::View } else { Access::Own };
    let (structure, leaves) = flatten(object, if copy { Lists::Tuple } else { Lists::Leaf })?;
    let mut leaves = leaves.iter();
    Packer::new(py, &structure)?.pack(py, &mut || match leaves.next() {
        Some(leaf) => to_python::value(py, value(leaf, arrays)?, access),
        None => Err(Error::internal("more leaves than the structure has").into()),
    })
}
