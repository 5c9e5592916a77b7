//! Graphs of traced functions, and their operations run at once on arrays.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use headrace::Error;
use headrace::data::{PartialShape, Spec, Tensor, Value, Wanted};
use headrace::graph::attr::{Attr, Attrs};
use headrace::graph::graph::{Graph as CoreGraph, GraphBuilder as CoreBuilder, ValueId};
use headrace::graph::kernel::Arg;
use headrace::kernels;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict, PyFloat, PyInt, PyList, PyString, PyTuple, PyType};

use crate::enter::enter;
use crate::errors::{Result, invalid};
use crate::from_python::{Arrays, value};
use crate::imports;
use crate::nest::{Lists, flatten};
use crate::spec::{dtype, element_spec_to_python, spec_to_python};
use crate::to_python;

/// What a traced function recorded.
#[pyclass(frozen, module = "headrace._headrace")]
pub(crate) struct Graph(pub(crate) Arc<CoreGraph>);

#[pymethods]
impl Graph {
    #[getter]
    fn structure_spec<'py>(&self, py: Python<'py>) -> Result<Bound<'py, PyAny>> {
        element_spec_to_python(py, &self.0.element_spec())
    }

    fn __str__(&self) -> String {
        self.0.to_string()
    }

    fn __eq__(&self, other: &Bound<'_, PyAny>) -> bool {
        other.cast::<Graph>().is_ok_and(|other| *self.0 == *other.get().0)
    }

    fn __hash__(&self) -> u64 {
        let mut hasher = DefaultHasher::new();
        self.0.hash64().hash(&mut hasher);
        hasher.finish()
    }
}

/// A graph in the making; Python knows its values by number.
struct Recording {
    builder: CoreBuilder,
    values: Vec<ValueId>,
    /// Specs that Python has asked for: neighbouring values mostly look alike.
    shown: Vec<(Spec, Py<PyAny>)>,
}

/// So many specs are worth looking through.
const SHOWN: usize = 8;

impl Recording {
    fn number(&mut self, id: ValueId) -> usize {
        self.values.push(id);
        self.values.len() - 1
    }

    fn value(&self, number: usize) -> Result<ValueId> {
        match self.values.get(number) {
            Some(id) => Ok(*id),
            None => invalid(format!("the graph has no value {number}")),
        }
    }
}

/// Records operations.
#[pyclass(frozen, module = "headrace._headrace")]
pub(crate) struct GraphBuilder(Mutex<Option<Recording>>);

impl GraphBuilder {
    fn lock(&self) -> MutexGuard<'_, Option<Recording>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn with<T>(&self, work: impl FnOnce(&mut Recording) -> Result<T>) -> Result<T> {
        match self.lock().as_mut() {
            Some(recording) => work(recording),
            None => Err(Error::failed_precondition("the graph is finished").into()),
        }
    }
}

#[pymethods]
impl GraphBuilder {
    #[new]
    fn new() -> Self {
        let recording =
            Recording { builder: CoreBuilder::new(), values: Vec::new(), shown: Vec::new() };
        GraphBuilder(Mutex::new(Some(recording)))
    }

    fn input(&self, spec: &Bound<'_, PyAny>) -> Result<usize> {
        let spec = crate::spec::spec(spec)?;
        self.with(|recording| {
            let id = recording.builder.input(spec);
            Ok(recording.number(id))
        })
    }

    fn constant(&self, value: &Bound<'_, PyAny>) -> Result<usize> {
        let tensor = tensor(value)?;
        self.with(|recording| {
            let id = recording.builder.constant(tensor);
            Ok(recording.number(id))
        })
    }

    fn add(&self, op: &str, attrs: &Bound<'_, PyDict>, inputs: Vec<usize>) -> Result<Vec<usize>> {
        let attrs = attributes(attrs)?;
        self.with(|recording| {
            let inputs = inputs.into_iter().map(|number| recording.value(number));
            let inputs = inputs.collect::<Result<Vec<_>>>()?;
            let outputs = recording.builder.add(op, attrs, &inputs)?;
            Ok(outputs.into_iter().map(|id| recording.number(id)).collect())
        })
    }

    fn spec<'py>(&self, py: Python<'py>, value: usize) -> Result<Bound<'py, PyAny>> {
        let (spec, known) = self.with(|recording| {
            let spec = recording.builder.spec(recording.value(value)?);
            let known = recording.shown.iter().find(|(seen, _)| seen == spec);
            Ok((spec.clone(), known.map(|(_, object)| object.clone_ref(py))))
        })?;
        if let Some(known) = known {
            return Ok(known.into_bound(py));
        }
        let object = spec_to_python(py, &spec)?;
        self.with(|recording| {
            if recording.shown.len() < SHOWN {
                recording.shown.push((spec, object.clone().unbind()));
            }
            Ok(())
        })?;
        Ok(object)
    }

    fn finish(&self, outputs: &Bound<'_, PyAny>) -> Result<Graph> {
        let (structure, leaves) = flatten(outputs, Lists::Tuple)?;
        let numbers = leaves.iter().map(|leaf| leaf.extract::<usize>());
        let numbers = numbers.collect::<PyResult<Vec<_>>>()?;
        let outputs = self.with(|recording| {
            numbers.into_iter().map(|number| recording.value(number)).collect::<Result<Vec<_>>>()
        })?;
        let Some(recording) = self.lock().take() else {
            return Err(Error::failed_precondition("the graph is finished").into());
        };
        Ok(Graph(Arc::new(recording.builder.finish(structure, outputs)?)))
    }
}

fn tensor(object: &Bound<'_, PyAny>) -> Result<Tensor> {
    match value(object, Arrays::Copy)? {
        Value::Tensor(tensor) => Ok(tensor),
        _ => invalid(format!("expected an array or a scalar, got {}", object.repr()?)),
    }
}

/// The static arguments of an operation.
pub(crate) fn attributes(attrs: &Bound<'_, PyDict>) -> Result<Attrs> {
    attrs.iter().map(|(name, value)| Ok((name.extract()?, attribute(&value)?))).collect()
}

fn attribute(value: &Bound<'_, PyAny>) -> Result<Attr> {
    if value.is_none() {
        return Ok(Attr::None);
    }
    if let Ok(value) = value.cast_exact::<PyBool>() {
        return Ok(Attr::Bool(value.is_true()));
    }
    if value.is_exact_instance_of::<PyInt>() {
        return Ok(Attr::Int(value.extract()?));
    }
    if let Ok(value) = value.cast_exact::<PyFloat>() {
        return Ok(Attr::Float(value.value()));
    }
    if let Ok(value) = value.cast_exact::<PyString>() {
        return Ok(Attr::Str(value.extract()?));
    }
    if value.is_instance_of::<PyType>() || value.is_instance(imports::np_dtype(value.py())?)? {
        return Ok(Attr::DType(dtype(value)?));
    }
    if value.is_instance_of::<PyTuple>() || value.is_instance_of::<PyList>() {
        let items = value.try_iter()?.map(|item| attribute(&item?));
        return Ok(Attr::List(items.collect::<Result<_>>()?));
    }
    if let Ok(graph) = value.cast_exact::<Graph>() {
        return Ok(Attr::Graph(Arc::clone(&graph.get().0)));
    }
    if let Ok(dict) = value.cast::<PyDict>() {
        let items = dict.iter().map(|(name, item)| Ok((name.extract()?, attribute(&item)?)));
        return Ok(Attr::Map(items.collect::<Result<_>>()?));
    }
    Ok(Attr::Tensor(tensor(value)?))
}

/// What an array that is at hand looks like.
fn spec_of(value: &Value) -> Spec {
    let shape = |tensor: &Tensor| PartialShape::from(tensor.dims());
    match value {
        Value::Tensor(tensor) => Spec::Tensor { dtype: tensor.dtype(), shape: shape(tensor) },
        Value::Sparse { values, dense_shape, .. } => {
            let dims = dense_shape.values::<i64>().unwrap_or_default();
            let dims = dims.iter().map(|dim| usize::try_from(*dim).ok());
            Spec::Sparse { dtype: values.dtype(), shape: PartialShape::new(dims) }
        }
        Value::Ragged { values, splits } => {
            let rows = splits.first().map(|splits| splits.len().saturating_sub(1));
            let ragged = std::iter::repeat_n(None, splits.len());
            let inner = values.dims().iter().skip(1).map(|dim| Some(*dim));
            Spec::Ragged {
                dtype: values.dtype(),
                shape: PartialShape::new(std::iter::once(rows).chain(ragged).chain(inner)),
                ragged_rank: splits.len(),
                splits_dtype: splits.first().map_or(headrace::data::DType::Int64, Tensor::dtype),
            }
        }
        Value::Foreign(_) => Spec::Object,
    }
}

/// Runs one operation on arrays at once.
#[pyfunction]
pub(crate) fn run_op<'py>(
    py: Python<'py>,
    op: &str,
    attrs: &Bound<'py, PyDict>,
    args: Vec<Bound<'py, PyAny>>,
) -> Result<Bound<'py, PyList>> {
    let kernel = kernels::build(op, &attributes(attrs)?)?;
    let values = args.iter().map(|arg| value(arg, Arrays::Borrow)).collect::<Result<Vec<_>>>()?;
    let columns = enter(py, || {
        let specs: Vec<Spec> = values.iter().map(spec_of).collect();
        let outputs = kernel.infer(&specs)?.len();
        let arg = |value: Value| match value {
            Value::Tensor(tensor) => Ok(Arg::Const(tensor)),
            value => Ok(Arg::Column(value.to_column()?)),
        };
        let args = values.into_iter().map(arg).collect::<headrace::Result<Vec<_>>>()?;
        kernel.run(&args, 1, &vec![Wanted::All; outputs])
    })?;
    let outputs = columns.into_iter().map(|column| to_python::only_row(py, column));
    Ok(PyList::new(py, outputs.collect::<Result<Vec<_>>>()?)?)
}
