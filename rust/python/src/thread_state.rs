//! CPython's state of each thread of the engine, kept for as long as the thread lives.
//!
//! `PyGILState_Ensure` would make one for every call and delete it after: that costs time, and
//! `threading.local` would forget. It also takes a lock of CPython's that a forked child may then
//! find locked forever. So a thread makes its state here, once, and no fork comes in between.

#![allow(unsafe_code)]

use std::cell::OnceCell;
use std::ptr;
use std::sync::atomic::{AtomicPtr, Ordering::Relaxed};

use pyo3::ffi;
use pyo3::prelude::*;

use crate::forks::hold_back;
use crate::process::{Coming, is_closing, is_left};

/// The interpreter; null before the module is loaded.
static INTERPRETER: AtomicPtr<ffi::PyInterpreterState> = AtomicPtr::new(ptr::null_mut());

thread_local!(static OWN: OnceCell<Option<Own>> = const { OnceCell::new() });

/// Attaches to the interpreter, with the state this thread has; None if it is leaving.
pub(crate) fn try_attach<T>(work: impl FnOnce(Python<'_>) -> T) -> Option<T> {
    // Not there: the thread is ending, and takes a state for this one call.
    let _ = OWN.try_with(|own| own.get_or_init(Own::new).is_some());
    Python::try_attach(work)
}

/// The state that this thread made for itself.
struct Own;

impl Own {
    /// None if the thread has one already: Python started it.
    fn new() -> Option<Self> {
        let interpreter = INTERPRETER.load(Relaxed);
        // SAFETY: asks for the state of this thread.
        let known = unsafe { !ffi::PyGILState_GetThisThreadState().is_null() };
        if known || interpreter.is_null() || is_left() {
            return None;
        }
        // SAFETY: the interpreter has not ended, and this thread has no state. CPython finds the
        // new one by the thread from now on.
        let made = hold_back(|| unsafe { ffi::PyThreadState_New(interpreter) });
        (!made.is_null()).then_some(Own)
    }
}

impl Drop for Own {
    fn drop(&mut self) {
        let _coming = Coming::new();
        // A state that is left behind goes with the interpreter.
        if is_closing() || is_left() {
            return;
        }
        // Objects that were dropped without the GIL go when somebody takes it: nobody else may.
        Python::try_attach(|_| ());
        // SAFETY: the thread has a state and is not attached. The first release undoes `Ensure`
        // but for the GIL; the second, of what the state was made with, deletes it.
        unsafe {
            let before = ffi::PyGILState_Ensure();
            ffi::PyGILState_Release(ffi::PyGILState_STATE::PyGILState_LOCKED);
            ffi::PyGILState_Release(before);
        }
    }
}

/// Remembers the interpreter.
pub(crate) fn install(_py: Python<'_>) {
    // SAFETY: the GIL is held.
    INTERPRETER.store(unsafe { ffi::PyInterpreterState_Get() }, Relaxed);
}
