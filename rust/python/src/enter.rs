//! The one door into the core.
//!
//! Whoever calls something that may take long goes through [`enter`]: the GIL is released, a
//! panic becomes an `InternalError`, and whatever waits inside polls for signals, so that Ctrl-C
//! is seen while waiting.

use std::panic::{AssertUnwindSafe, catch_unwind};

use headrace::Error;
use headrace::engine::wait::{is_interruptible, with_interrupt};
use pyo3::prelude::*;

use crate::errors::{Result, carry};
use crate::process::{Coming, is_closing, is_left, is_of_engine, stay_if_closing, stay_if_left};

/// Runs `work` without the GIL.
pub(crate) fn enter<T: Send>(
    py: Python<'_>,
    work: impl FnOnce() -> headrace::Result<T> + Send,
) -> Result<T> {
    let (outcome, _coming) = py.detach(|| {
        // A function of the user's has called in: its thread is waited for.
        let is_nested = is_of_engine() || is_interruptible();
        if is_closing() && is_nested {
            return (Err(Error::cancelled()), stay_if_left());
        }
        stay_if_closing();
        let outcome = catch(|| with_interrupt(check_signals, work));
        if outcome.is_err() && !is_nested {
            // A daemon whose run was closed at the end has nobody to tell.
            stay_if_closing();
        }
        (outcome, stay_if_left())
    });
    Ok(outcome?)
}

/// Runs `work` and turns a panic into an error.
pub(crate) fn catch<T>(work: impl FnOnce() -> headrace::Result<T>) -> headrace::Result<T> {
    catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|panic| {
        let text = panic.downcast_ref::<String>().map(String::as_str);
        let text = text.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("no message");
        Err(Error::internal(format!("panic: {text}")))
    })
}

/// Runs Python's signal handlers; whoever waits calls it a few times a second.
fn check_signals() -> headrace::Result<()> {
    let coming = Coming::new();
    if is_left() {
        return Err(Error::cancelled());
    }
    let checked = Python::try_attach(|py| {
        drop(coming);
        py.check_signals().map_err(|error| carry(py, error))
    });
    // Not attached: the interpreter is leaving.
    checked.unwrap_or_else(|| Err(Error::cancelled()))
}
