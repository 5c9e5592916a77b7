//! Errors on their way out as exceptions, and exceptions on their way through the core.
//!
//! An exception raised in a user's function travels through the core inside [`Error::foreign`]
//! and comes out as the same object with its traceback; a note names the stage. `StopIteration`
//! becomes `RuntimeError` on the way in (as in PEP 479), since it would end the user's loop.

use headrace::engine::wait::interrupt;
use headrace::{Error, ErrorKind};
use pyo3::exceptions::{PyException, PyRuntimeError, PyStopIteration};
use pyo3::intern;
use pyo3::prelude::*;

use crate::imports;

/// What fails in the binding: an error of the core, or a Python exception.
pub(crate) enum Fault {
    Core(Error),
    Python(PyErr),
}

/// What the binding returns.
pub(crate) type Result<T, E = Fault> = std::result::Result<T, E>;

impl From<Error> for Fault {
    fn from(error: Error) -> Self {
        Fault::Core(error)
    }
}

impl From<PyErr> for Fault {
    fn from(error: PyErr) -> Self {
        Fault::Python(error)
    }
}

impl From<pyo3::CastError<'_, '_>> for Fault {
    fn from(error: pyo3::CastError<'_, '_>) -> Self {
        Fault::Python(error.into())
    }
}

impl From<pyo3::CastIntoError<'_>> for Fault {
    fn from(error: pyo3::CastIntoError<'_>) -> Self {
        Fault::Python(error.into())
    }
}

impl From<std::convert::Infallible> for Fault {
    fn from(never: std::convert::Infallible) -> Self {
        match never {}
    }
}

impl From<Fault> for PyErr {
    fn from(fault: Fault) -> Self {
        match fault {
            Fault::Python(error) => error,
            Fault::Core(error) => Python::attach(|py| exception(py, error)),
        }
    }
}

impl From<Fault> for Error {
    fn from(fault: Fault) -> Self {
        match fault {
            Fault::Core(error) => error,
            Fault::Python(error) => Python::attach(|py| carry(py, error)),
        }
    }
}

/// Shorthand for a value that is not acceptable.
pub(crate) fn invalid<T>(message: impl Into<String>) -> Result<T> {
    Err(Error::invalid_argument(message).into())
}

/// Wraps an exception for its way through the core.
pub(crate) fn carry(py: Python<'_>, error: PyErr) -> Error {
    let text = error.to_string();
    if !error.is_instance_of::<PyException>(py) {
        // KeyboardInterrupt, SystemExit: no outcome of an element, but the end of the run.
        return interrupt(Error::leave(text, Box::new(error)));
    }
    if error.is_instance_of::<PyStopIteration>(py) {
        let outer = PyRuntimeError::new_err("the function raised StopIteration");
        outer.set_cause(py, Some(error));
        return Error::foreign(text, Box::new(outer));
    }
    Error::foreign(text, Box::new(error))
}

/// The class of `headrace.errors` for each kind.
fn class_name(kind: ErrorKind) -> &'static str {
    match kind {
        ErrorKind::InvalidArgument => "InvalidArgumentError",
        ErrorKind::OutOfRange => "OutOfRangeError",
        ErrorKind::DataLoss => "DataLossError",
        ErrorKind::NotFound => "NotFoundError",
        ErrorKind::PermissionDenied => "PermissionDeniedError",
        ErrorKind::FailedPrecondition => "FailedPreconditionError",
        ErrorKind::AlreadyExists => "AlreadyExistsError",
        ErrorKind::Unimplemented => "UnimplementedError",
        ErrorKind::Unavailable => "UnavailableError",
        ErrorKind::ResourceExhausted => "ResourceExhaustedError",
        ErrorKind::Aborted => "AbortedError",
        ErrorKind::Cancelled => "CancelledError",
        ErrorKind::Unknown | ErrorKind::Foreign => "UnknownError",
        ErrorKind::Internal => "InternalError",
    }
}

/// The exception for an error.
pub(crate) fn exception(py: Python<'_>, error: Error) -> PyErr {
    let node = error.place().node.clone();
    let error = match error.into_foreign().map(|foreign| foreign.downcast::<PyErr>()) {
        Ok(Ok(exception)) => return noted(py, *exception, node.as_deref()),
        Ok(Err(_)) => Error::internal("an exception that the binding does not know"),
        Err(error) => error,
    };
    build(py, &error).unwrap_or_else(|failure| failure)
}

/// Tells where in the pipeline the user's exception happened.
fn noted(py: Python<'_>, exception: PyErr, node: Option<&str>) -> PyErr {
    if let Some(node) = node {
        let note = format!("in {node}");
        // An exception object that refuses notes is still the user's exception.
        let _ = exception.value(py).call_method1(intern!(py, "add_note"), (note,));
    }
    exception
}

fn build(py: Python<'_>, error: &Error) -> PyResult<PyErr> {
    let class = imports::errors(py)?.getattr(class_name(error.kind()))?;
    let value = class.call1((error.to_string(),))?;
    let place = error.place();
    value.setattr(intern!(py, "message"), error.message())?;
    value.setattr(intern!(py, "file"), place.file.as_deref())?;
    value.setattr(intern!(py, "record"), place.record)?;
    value.setattr(intern!(py, "offset"), place.offset)?;
    value.setattr(intern!(py, "feature"), place.feature.as_deref())?;
    value.setattr(intern!(py, "node"), place.node.as_deref())?;
    Ok(PyErr::from_value(value))
}
