//! Python objects that the binding calls, imported once.

use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::PyModule;

fn module<'py>(
    py: Python<'py>,
    cell: &'static PyOnceLock<Py<PyModule>>,
    name: &str,
) -> PyResult<&'py Bound<'py, PyModule>> {
    let module = cell.get_or_try_init(py, || PyModule::import(py, name).map(Bound::unbind))?;
    Ok(module.bind(py))
}

macro_rules! modules {
    ($($(#[$doc:meta])* $function:ident => $name:literal),* $(,)?) => {
        $($(#[$doc])*
        pub(crate) fn $function(py: Python<'_>) -> PyResult<&Bound<'_, PyModule>> {
            static MODULE: PyOnceLock<Py<PyModule>> = PyOnceLock::new();
            module(py, &MODULE, $name)
        })*
    };
}

modules! {
    errors => "headrace.errors",
    spec => "headrace.spec",
}

macro_rules! attributes {
    ($($function:ident => $module:literal . $name:literal),* $(,)?) => {
        $(pub(crate) fn $function(py: Python<'_>) -> PyResult<&Bound<'_, PyAny>> {
            static VALUE: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
            let get = || PyModule::import(py, $module)?.getattr($name).map(Bound::unbind);
            Ok(VALUE.get_or_try_init(py, get)?.bind(py))
        })*
    };
}

attributes! {
    sparse_tensor => "headrace.tensors"."SparseTensor",
    dataset => "headrace.dataset"."Dataset",
    optional => "headrace.optional"."Optional",
    make_optional => "headrace.optional"."_make",
    dataset_of_plan => "headrace.dataset"."dataset_of_plan",
    ragged_tensor => "headrace.tensors"."RaggedTensor",
    asarray => "numpy"."asarray",
    ended => "headrace.process_pool"."Ended",
    worker_died => "headrace.process_pool"."WorkerDied",
    np_dtype => "numpy"."dtype",
    object_class => "builtins"."object",
    copy_context => "contextvars"."copy_context",
    next => "builtins"."next",
    notice => "headrace.report"."notice",
    unknown_spec => "headrace.spec"."UnknownSpec",
}

/// `object.__setattr__`, which frozen dataclasses do not shadow.
pub(crate) fn set_attribute(py: Python<'_>) -> PyResult<&Bound<'_, PyAny>> {
    static VALUE: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
    let get = || object_class(py)?.getattr("__setattr__").map(Bound::unbind);
    Ok(VALUE.get_or_try_init(py, get)?.bind(py))
}

/// An object that no iterator yields.
pub(crate) fn sentinel(py: Python<'_>) -> PyResult<&Bound<'_, PyAny>> {
    static VALUE: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
    let get = || object_class(py)?.call0().map(Bound::unbind);
    Ok(VALUE.get_or_try_init(py, get)?.bind(py))
}
