//! The life of the process: its end, and forks.
//!
//! Before the interpreter goes, `atexit` closes every run, with the GIL released since their
//! threads may be waiting for it. Functions of the user that go on get an exception: CPython ends
//! a thread that comes back to a finalized interpreter in a way that Rust frames do not survive.
//! In a forked child a number is stored, by which the core notices
//! that threads and locks of the parent are not its own.

#![allow(unsafe_code)]

use std::ffi::{c_long, c_ulong};
use std::sync::{Arc, Mutex, TryLockError, Weak};
use std::thread;
use std::time::{Duration, Instant};

use headrace::engine::pool;
use pyo3::exceptions::PySystemExit;
use pyo3::ffi;
use pyo3::prelude::*;

use crate::enter::enter;
use crate::errors::Result;
use crate::shared::SharedRun;

unsafe extern "C" {
    /// Part of the stable ABI that PyO3 does not declare.
    fn PyThread_get_thread_ident() -> c_ulong;
}

/// How long the end of the process waits for what is running, before and after interrupting it: a
/// function of the user's may sleep.
const PATIENCE: Duration = Duration::from_secs(1);

/// The runs that may be open.
static RUNS: Mutex<Vec<Weak<SharedRun>>> = Mutex::new(Vec::new());

/// Works on a list; gives up if it stays locked, as it may in a forked child.
fn locked<V, T>(list: &Mutex<V>, work: impl FnOnce(&mut V) -> T) -> Option<T> {
    for _ in 0..10_000 {
        match list.try_lock() {
            Ok(mut list) => return Some(work(&mut list)),
            Err(TryLockError::Poisoned(poisoned)) => return Some(work(&mut poisoned.into_inner())),
            Err(TryLockError::WouldBlock) => thread::yield_now(),
        }
    }
    None
}

/// Threads that run Python code for the engine, by Python's number for them.
static INSIDE: Mutex<Vec<c_ulong>> = Mutex::new(Vec::new());

/// Tells that a thread runs Python code, until dropped. Made and dropped with the GIL held.
pub(crate) struct Inside(c_ulong);

impl Inside {
    /// Counts the present thread in.
    pub(crate) fn new(_py: Python<'_>) -> Self {
        // SAFETY: asks for the number of this thread.
        let thread = unsafe { PyThread_get_thread_ident() };
        locked(&INSIDE, |inside| inside.push(thread));
        Inside(thread)
    }
}

impl Drop for Inside {
    fn drop(&mut self) {
        locked(&INSIDE, |inside| {
            if let Some(at) = inside.iter().rposition(|thread| *thread == self.0) {
                inside.swap_remove(at);
            }
        });
    }
}

/// Raises `SystemExit` in all threads that run Python code for the engine.
fn interrupt_all(py: Python<'_>) {
    // SAFETY: asks for the number of this thread.
    let own = unsafe { PyThread_get_thread_ident() };
    let class = py.get_type::<PySystemExit>();
    for thread in locked(&INSIDE, |inside| inside.clone()).unwrap_or_default() {
        if thread != own {
            // SAFETY: the GIL is held; a thread that is gone is not found, which is no error.
            unsafe { ffi::PyThreadState_SetAsyncExc(thread as c_long, class.as_ptr()) };
        }
    }
}

/// Remembers a run for [`close_all`].
pub(crate) fn register(run: &Arc<SharedRun>) {
    locked(&RUNS, |runs| {
        if runs.len() == runs.capacity() {
            runs.retain(|run| run.strong_count() > 0);
        }
        runs.push(Arc::downgrade(run));
    });
}

/// Cancels and joins everything that runs.
#[pyfunction]
pub(crate) fn close_all(py: Python<'_>) -> Result<()> {
    let runs = locked(&RUNS, std::mem::take).unwrap_or_default();
    let runs: Vec<_> = runs.iter().filter_map(Weak::upgrade).filter(|run| run.is_here()).collect();
    // All are told before any is waited for.
    runs.iter().for_each(|run| run.cancel());
    let close = |limit| {
        let deadline = Instant::now() + limit;
        enter(py, || runs.iter().try_fold(true, |all, run| Ok(run.close(deadline)? && all)))
    };
    if !close(PATIENCE)? {
        interrupt_all(py);
        close(PATIENCE)?;
    }
    Ok(())
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
