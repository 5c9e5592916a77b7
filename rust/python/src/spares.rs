//! `bytes` objects that long values are read into.
//!
//! Threads that read have no GIL, and waiting for it would hold them up, so objects are made ahead
//! whenever the user asks for the next element: as many as were missed, and one for each that was
//! handed out. An object has the length it was made with, so this serves values of one length.

#![allow(unsafe_code)]

use std::any::Any;
use std::ptr::NonNull;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Mutex, MutexGuard};

use headrace::data::{BufferMut, BytesArray, Lender};
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::PyBytes;

/// Below this, copying costs less than keeping objects.
const LONG: usize = 64 << 10;
/// Most spare objects.
const MOST: usize = 16;
/// Most bytes of spare objects.
const MOST_BYTES: usize = 32 << 20;

/// An object that nobody has seen yet, and its memory.
struct Spare {
    object: Py<PyBytes>,
    ptr: NonNull<u8>,
    len: usize,
}

// SAFETY: the pointer is into the memory of the object, which is ours alone until it is handed out
// and only read from then on.
unsafe impl Send for Spare {}
// SAFETY: shared access only reads.
unsafe impl Sync for Spare {}

#[derive(Default)]
struct State {
    free: Vec<Spare>,
    /// Lengths of objects to be made.
    missed: Vec<usize>,
    /// The length last asked for.
    last: usize,
    closed: bool,
}

/// The spare objects of one run.
#[derive(Default)]
pub(crate) struct Spares {
    state: Mutex<State>,
    /// There is something to be made.
    wanting: AtomicBool,
}

/// An object that is lent to the core.
struct Loan {
    /// `None` once it is back or dropped.
    spare: Option<Spare>,
    handed_out: AtomicBool,
    spares: Arc<Spares>,
}

impl Spares {
    /// Only ever tried: who does not get it does without a spare.
    fn state(&self) -> Option<MutexGuard<'_, State>> {
        self.state.try_lock().ok()
    }

    fn miss(&self, state: &mut State, len: usize) {
        if state.missed.len() < MOST && len <= MOST_BYTES && !state.closed {
            state.missed.push(len);
            self.wanting.store(true, Relaxed);
        }
    }

    /// Makes the objects that were missed.
    pub(crate) fn refill(&self, py: Python<'_>) {
        if !self.wanting.load(Relaxed) {
            return;
        }
        let missed = match self.state() {
            Some(mut state) => {
                self.wanting.store(false, Relaxed);
                std::mem::take(&mut state.missed)
            }
            None => return,
        };
        // Python may run any code while it makes an object, so the lock is not held.
        let made: Vec<Spare> = missed.into_iter().filter_map(|len| Spare::new(py, len)).collect();
        let mut outdated = Vec::new();
        if let Some(mut state) = self.state() {
            for spare in made {
                state.free.push(spare);
                while state.free.len() > MOST || state.bytes() > MOST_BYTES {
                    outdated.push(state.free.remove(0));
                }
            }
        }
    }

    /// Drops the spare objects, and makes no more.
    pub(crate) fn close(&self) {
        let free = self.state().map(|mut state| {
            state.closed = true;
            std::mem::take(&mut state.free)
        });
        drop(free);
    }
}

impl State {
    fn bytes(&self) -> usize {
        self.free.iter().map(|spare| spare.len).sum()
    }
}

impl Spare {
    /// `None` if there is no memory for it.
    fn new(py: Python<'_>, len: usize) -> Option<Self> {
        let size = isize::try_from(len).ok()?;
        // SAFETY: without a source the object is made with memory of unspecified value, which may
        // be written as long as nobody else has seen the object.
        let (object, ptr) = unsafe {
            let object = ffi::PyBytes_FromStringAndSize(std::ptr::null(), size);
            let object = Bound::from_owned_ptr_or_err(py, object).ok()?;
            let ptr = NonNull::new(ffi::PyBytes_AsString(object.as_ptr()))?;
            (object.cast_into_unchecked::<PyBytes>(), ptr.cast())
        };
        Some(Spare { object: object.unbind(), ptr, len })
    }
}

/// The way to the core: it knows the spares only as somebody who lends.
pub(crate) struct Lending(pub(crate) Arc<Spares>);

impl Lender for Lending {
    fn lend(&self, len: usize) -> Option<BufferMut> {
        if len < LONG {
            return None;
        }
        let mut state = self.0.state()?;
        let Some(at) = state.free.iter().rposition(|spare| spare.len == len) else {
            // A length that comes twice is likely to come again.
            if std::mem::replace(&mut state.last, len) == len {
                self.0.miss(&mut state, len);
            }
            return None;
        };
        state.last = len;
        // The one that came last is most likely still in the cache.
        let spare = state.free.remove(at);
        drop(state);
        let ptr = spare.ptr;
        let spares = Arc::clone(&self.0);
        let loan = Loan { spare: Some(spare), handed_out: AtomicBool::new(false), spares };
        // SAFETY: the loan keeps the object, which nobody else has seen, and hands it out only
        // when it is frozen.
        Some(unsafe { BufferMut::lent(ptr, len, Arc::new(loan)) })
    }
}

impl Drop for Loan {
    fn drop(&mut self) {
        let Some(spare) = self.spare.take() else { return };
        let Some(mut state) = self.spares.state() else { return };
        if *self.handed_out.get_mut() {
            self.spares.miss(&mut state, spare.len);
        } else if !state.closed && state.free.len() < MOST {
            state.free.push(spare);
            return;
        }
        drop(state);
        drop(spare);
    }
}

/// The object that value number `index` was read into, if it is the whole of one.
pub(crate) fn handed_out<'py>(
    py: Python<'py>,
    values: &BytesArray,
    index: usize,
) -> Option<Bound<'py, PyBytes>> {
    let (buffers, views) = values.parts();
    let view = views.get(index).filter(|view| view.len >= LONG)?;
    let buffer = buffers.get(view.buffer as usize)?;
    let loan = (&**buffer.lender()? as &dyn Any).downcast_ref::<Loan>()?;
    let spare = loan.spare.as_ref()?;
    let start = buffer.as_ptr().wrapping_add(view.start);
    if start != spare.ptr.as_ptr() || view.len != spare.len {
        return None;
    }
    loan.handed_out.store(true, Relaxed);
    Some(spare.object.bind(py).clone())
}
