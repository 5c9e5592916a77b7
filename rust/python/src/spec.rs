//! Specs of `headrace.spec` and of the core.

use std::sync::Arc;

use headrace::Error;
use headrace::data::{DType, ElementSpec, PartialShape, Spec};
use pyo3::IntoPyObjectExt;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyString, PyTuple, PyType};

use crate::convert::dtype_of;
use crate::errors::{Result, invalid};
use crate::imports;
use crate::nest::{Lists, flatten};
use crate::packer::Packer;

/// Anything that names a dtype: a NumPy dtype or scalar type, `bytes`, `str`, a name.
pub(crate) fn dtype(value: &Bound<'_, PyAny>) -> Result<DType> {
    let py = value.py();
    if let Ok(name) = value.cast::<PyString>()
        && let Ok(dtype) = DType::from_name(name.to_str()?)
    {
        return Ok(dtype);
    }
    if value.is(PyType::new::<PyBytes>(py)) {
        return Ok(DType::Bytes);
    }
    if value.is(PyType::new::<PyString>(py)) {
        return Ok(DType::Str);
    }
    let class = imports::np_dtype(py)?;
    if value.is_instance(class)? {
        return dtype_of(value);
    }
    match class.call1((value,)) {
        Ok(descr) => dtype_of(&descr),
        Err(_) => invalid(format!("{} is not a dtype", value.repr()?)),
    }
}

/// A tuple of sizes, `None` where unknown; `None` for an unknown rank.
pub(crate) fn shape(value: &Bound<'_, PyAny>) -> Result<PartialShape> {
    if value.is_none() {
        return Ok(PartialShape::UNKNOWN);
    }
    let dims: Vec<Option<i64>> = value.extract()?;
    let dims = dims.into_iter().map(|dim| match dim {
        None | Some(-1) => Ok(None),
        Some(dim) => match usize::try_from(dim) {
            Ok(dim) => Ok(Some(dim)),
            Err(_) => invalid(format!("{dim} is no size of an axis")),
        },
    });
    Ok(PartialShape::new(dims.collect::<Result<Vec<_>>>()?))
}

/// One spec of `headrace.spec`.
pub(crate) fn spec(value: &Bound<'_, PyAny>) -> Result<Spec> {
    let py = value.py();
    let class = value.get_type().name()?;
    let part = |name: &str| value.getattr(name);
    let shape = || shape(&part("shape")?);
    Ok(match class.to_str()? {
        "TensorSpec" => Spec::Tensor { dtype: dtype(&part("dtype")?)?, shape: shape()? },
        "SparseTensorSpec" => Spec::Sparse { dtype: dtype(&part("dtype")?)?, shape: shape()? },
        "RaggedTensorSpec" => Spec::Ragged {
            dtype: dtype(&part("dtype")?)?,
            shape: shape()?,
            ragged_rank: value.getattr(intern!(py, "ragged_rank"))?.extract()?,
            splits_dtype: dtype(&part("row_splits_dtype")?)?,
        },
        "DatasetSpec" => {
            let element = Box::new(element_spec(&part("element_spec")?)?);
            Spec::Dataset { element, shape: shape()? }
        }
        "OptionalSpec" => Spec::Optional(Box::new(element_spec(&part("element_spec")?)?)),
        "ObjectSpec" => Spec::Object,
        _ => return invalid(format!("expected a spec, got {}", value.repr()?)),
    })
}

/// A nest of specs.
pub(crate) fn element_spec(value: &Bound<'_, PyAny>) -> Result<ElementSpec> {
    if value.is_instance(imports::unknown_spec(value.py())?)? {
        return Ok(ElementSpec::Unknown);
    }
    let (structure, leaves) = flatten(value, Lists::Leaf)?;
    let specs = leaves.iter().map(spec).collect::<Result<Arc<[Spec]>>>()?;
    Ok(ElementSpec::Known(Arc::new(structure), specs))
}

fn shape_to_python<'py>(py: Python<'py>, shape: &PartialShape) -> Result<Bound<'py, PyAny>> {
    match shape.dims() {
        Some(dims) => Ok(PyTuple::new(py, dims)?.into_any()),
        None => Ok(py.None().into_bound(py)),
    }
}

/// A spec as an object of `headrace.spec`.
pub(crate) fn spec_to_python<'py>(py: Python<'py>, spec: &Spec) -> Result<Bound<'py, PyAny>> {
    let module = imports::spec(py)?;
    let make = |class: &str, shape: &PartialShape, dtype: DType| -> Result<_> {
        let arguments = (shape_to_python(py, shape)?, dtype.name());
        Ok(module.getattr(class)?.call1(arguments)?)
    };
    Ok(match spec {
        Spec::Tensor { dtype, shape } => make("TensorSpec", shape, *dtype)?,
        Spec::Sparse { dtype, shape } => make("SparseTensorSpec", shape, *dtype)?,
        Spec::Ragged { dtype, shape, ragged_rank, splits_dtype } => {
            let shape = shape_to_python(py, shape)?;
            let arguments = (shape, dtype.name(), *ragged_rank, splits_dtype.name());
            module.getattr("RaggedTensorSpec")?.call1(arguments)?
        }
        Spec::Dataset { element, shape } => {
            let spec = element_spec_to_python(py, element)?;
            module.getattr("DatasetSpec")?.call1((spec, shape_to_python(py, shape)?))?
        }
        Spec::Optional(spec) => {
            let spec = element_spec_to_python(py, spec)?;
            module.getattr("OptionalSpec")?.call1((spec,))?
        }
        Spec::Object => module.getattr("ObjectSpec")?.call0()?,
    })
}

/// A nest of spec objects; `UnknownSpec()` if not known.
pub(crate) fn element_spec_to_python<'py>(
    py: Python<'py>,
    spec: &ElementSpec,
) -> Result<Bound<'py, PyAny>> {
    let ElementSpec::Known(structure, specs) = spec else {
        return Ok(imports::unknown_spec(py)?.call0()?);
    };
    let mut specs = specs.iter();
    Packer::new(py, structure)?.pack(py, &mut || match specs.next() {
        Some(spec) => spec_to_python(py, spec),
        None => Err(Error::internal("more leaves than specs").into()),
    })
}

/// Takes specs in and gives them out again: what tests of the conversions call.
#[pyfunction]
pub(crate) fn echo_spec(object: Bound<'_, PyAny>) -> Result<Py<PyAny>> {
    let py = object.py();
    Ok(element_spec_to_python(py, &element_spec(&object)?)?.into_py_any(py)?)
}
