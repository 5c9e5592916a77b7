//! The life of the process: its end, and forks.
//!
//! Before the interpreter goes, `atexit` closes every run, with the GIL released since their
//! threads may be waiting for it. In a forked child a number is stored, by which the core notices
//! that threads and locks of the parent are not its own.

#![allow(unsafe_code)]

use std::sync::{Arc, Mutex, TryLockError, Weak};
use std::thread;

use headrace::engine::pool;
use pyo3::prelude::*;

use crate::enter::enter;
use crate::errors::Result;
use crate::shared::SharedRun;

/// The runs that may be open.
static RUNS: Mutex<Vec<Weak<SharedRun>>> = Mutex::new(Vec::new());

/// Works on the list; gives up if it stays locked, as it may in a forked child.
fn with_runs<T>(work: impl FnOnce(&mut Vec<Weak<SharedRun>>) -> T) -> Option<T> {
    for _ in 0..10_000 {
        match RUNS.try_lock() {
            Ok(mut runs) => return Some(work(&mut runs)),
            Err(TryLockError::Poisoned(poisoned)) => return Some(work(&mut poisoned.into_inner())),
            Err(TryLockError::WouldBlock) => thread::yield_now(),
        }
    }
    None
}

/// Remembers a run for [`close_all`].
pub(crate) fn register(run: &Arc<SharedRun>) {
    with_runs(|runs| {
        if runs.len() == runs.capacity() {
            runs.retain(|run| run.strong_count() > 0);
        }
        runs.push(Arc::downgrade(run));
    });
}

/// Cancels and joins everything that runs.
#[pyfunction]
pub(crate) fn close_all(py: Python<'_>) -> Result<()> {
    let runs = with_runs(std::mem::take).unwrap_or_default();
    enter(py, || {
        let runs: Vec<_> = runs.iter().filter_map(Weak::upgrade).collect();
        // All are told before any is waited for.
        runs.iter().filter(|run| run.is_here()).for_each(|run| run.cancel());
        runs.iter().try_for_each(|run| run.close())
    })
}

/// Registers both hooks.
pub(crate) fn install(py: Python<'_>, close_all: Bound<'_, PyAny>) -> PyResult<()> {
    #[cfg(unix)]
    {
        extern "C" fn in_child() {
            pool::after_fork();
        }
        // SAFETY: the handler only stores to an atomic, which is safe in a forked child.
        unsafe { libc::pthread_atfork(None, None, Some(in_child)) };
    }
    py.import("atexit")?.call_method1("register", (close_all,))?;
    Ok(())
}
