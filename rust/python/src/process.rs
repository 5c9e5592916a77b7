//! The end of the process.
//!
//! Before the interpreter goes, `atexit` closes every run, with the GIL released since their
//! threads may be waiting for it. From then on other threads begin nothing new: they are kept where
//! they come in. Functions of the user that go on get an exception: CPython ends
//! a thread that comes back to a finalized interpreter in a way that Rust frames do not survive.

#![allow(unsafe_code)]

use std::ffi::{c_long, c_ulong};
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering::SeqCst};
use std::sync::{Arc, Mutex, TryLockError, Weak};
use std::thread;
use std::time::{Duration, Instant};

use headrace::engine::pool;
use headrace::engine::run::RunContext;
use pyo3::exceptions::PySystemExit;
use pyo3::ffi;
use pyo3::prelude::*;

use crate::enter::enter;
use crate::errors::Result;
use crate::shared::SharedRun;
use crate::{forks, thread_state};

unsafe extern "C" {
    /// Part of the stable ABI that PyO3 does not declare.
    fn PyThread_get_thread_ident() -> c_ulong;
}

/// How long the end of the process waits for what is running, before and after interrupting it: a
/// function of the user's may sleep. Twice this is less than a second.
const PATIENCE: Duration = Duration::from_millis(300);
/// How long it waits for those that came in while it looked: they need nothing but the GIL.
const GRACE: Duration = Duration::from_millis(200);

/// A run that may be open. Its context outlives it while its tasks run.
struct Known {
    run: Weak<SharedRun>,
    context: Weak<RunContext>,
}

static RUNS: Mutex<Vec<Known>> = Mutex::new(Vec::new());

/// The thread that ends the interpreter, by Python's number for it; 0 before it closes all runs.
static CLOSING: AtomicU64 = AtomicU64::new(0);
/// The same; 0 before it has closed all runs.
static LEAVING: AtomicU64 = AtomicU64::new(0);

/// True once the interpreter is leaving and must not be entered from this thread any more.
pub(crate) fn is_left() -> bool {
    is_other(&LEAVING)
}

/// True once all runs are being closed: other threads must begin nothing new.
pub(crate) fn is_closing() -> bool {
    is_other(&CLOSING)
}

/// True once the interpreter has begun to end.
pub(crate) fn is_ending() -> bool {
    CLOSING.load(SeqCst) != 0
}

fn is_other(thread: &AtomicU64) -> bool {
    let thread = thread.load(SeqCst);
    thread != 0 && thread != own_number() as u64
}

/// True for a thread of the engine, which holds the GIL only where it runs Python code.
pub(crate) fn is_of_engine() -> bool {
    thread::current().name().is_some_and(|name| name.starts_with("headrace-"))
}

/// Threads that are about to have the GIL.
static COMING: AtomicUsize = AtomicUsize::new(0);

/// Keeps the interpreter from leaving before this thread has the GIL; to be dropped then.
pub(crate) struct Coming(());

impl Coming {
    /// Counts the present thread; who looks at [`is_left`] after that is seen by who leaves.
    pub(crate) fn new() -> Self {
        COMING.fetch_add(1, SeqCst);
        Coming(())
    }
}

impl Drop for Coming {
    fn drop(&mut self) {
        COMING.fetch_sub(1, SeqCst);
    }
}

/// Keeps a thread that is about to come back to an interpreter that is leaving: CPython would end
/// it under the frames of Rust. It ends with the process.
pub(crate) fn stay_if_left() -> Coming {
    loop {
        let coming = Coming::new();
        if !is_left() {
            return coming;
        }
        drop(coming);
        thread::park();
    }
}

/// Keeps a thread that would begin something new, a daemon's, while all that runs is closed.
pub(crate) fn stay_if_closing() {
    while is_closing() {
        thread::park();
    }
}

fn own_number() -> c_ulong {
    // SAFETY: asks for the number of this thread.
    unsafe { PyThread_get_thread_ident() }
}

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

/// Threads that run Python code for the engine, by Python's number for them, with how many forks
/// lie behind: those of a parent process are not here.
static INSIDE: Mutex<Vec<(usize, c_ulong)>> = Mutex::new(Vec::new());

/// Tells that a thread runs Python code, until dropped. Made and dropped with the GIL held.
pub(crate) struct Inside((usize, c_ulong));

impl Inside {
    /// Counts the present thread in.
    pub(crate) fn new(_py: Python<'_>) -> Self {
        let thread = (pool::generation(), own_number());
        locked(&INSIDE, |inside| inside.push(thread));
        Inside(thread)
    }

    /// The threads but for this one.
    fn others() -> Vec<c_ulong> {
        let (here, own) = (pool::generation(), own_number());
        let is_other = |thread: &&(usize, c_ulong)| thread.0 == here && thread.1 != own;
        let others = |inside: &mut Vec<(usize, c_ulong)>| {
            inside.iter().filter(is_other).map(|thread| thread.1).collect()
        };
        locked(&INSIDE, others).unwrap_or_default()
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

/// Looks every millisecond whether `condition` holds; false if it does not at `deadline`.
fn wait_until(deadline: Instant, condition: impl Fn() -> bool) -> bool {
    while !condition() {
        if Instant::now() >= deadline {
            return false;
        }
        thread::sleep(Duration::from_millis(1));
    }
    true
}

/// Waits until no other thread is about to have the GIL.
fn none_come(deadline: Instant) -> bool {
    wait_until(deadline, || COMING.load(SeqCst) == 0)
}

/// Waits until no other thread runs Python code for the engine: one that lets go of the last of a
/// run may still be ending its workers. False if one does at `deadline`.
fn all_come_out(deadline: Instant) -> bool {
    wait_until(deadline, || Inside::others().is_empty())
}

/// Raises `SystemExit` in all threads that run Python code for the engine.
fn interrupt_all(py: Python<'_>) {
    let class = py.get_type::<PySystemExit>();
    for thread in Inside::others() {
        // SAFETY: the GIL is held; a thread that is gone is not found, which is no error.
        unsafe { ffi::PyThreadState_SetAsyncExc(thread as c_long, class.as_ptr()) };
    }
}

/// Remembers a run for [`close_all`].
pub(crate) fn register(run: &Arc<SharedRun>) {
    remember(Arc::downgrade(run), run.context());
}

/// Remembers a run that no iterator has.
pub(crate) fn register_context(context: &Arc<RunContext>) {
    remember(Weak::new(), context);
}

fn remember(run: Weak<SharedRun>, context: &Arc<RunContext>) {
    locked(&RUNS, |runs| {
        if runs.len() == runs.capacity() {
            runs.retain(|known| known.context.strong_count() > 0);
        }
        runs.push(Known { run, context: Arc::downgrade(context) });
    });
    if is_closing() {
        context.cancel();
    }
}

/// Cancels and joins everything that runs.
#[pyfunction]
pub(crate) fn close_all(py: Python<'_>) -> Result<()> {
    CLOSING.store(own_number() as u64, SeqCst);
    let known = locked(&RUNS, std::mem::take).unwrap_or_default();
    let contexts: Vec<_> = known.iter().filter_map(|known| known.context.upgrade()).collect();
    let contexts: Vec<_> = contexts.into_iter().filter(|context| context.is_here()).collect();
    // All are told before any is waited for.
    contexts.iter().for_each(|context| context.cancel());
    let close = || {
        let deadline = Instant::now() + PATIENCE;
        enter(py, || {
            let mut all = true;
            for run in known.iter().filter_map(|known| known.run.upgrade()) {
                all &= run.close(deadline)?;
            }
            // Tasks of runs that were dropped before may be busy still.
            all &= contexts.iter().all(|context| context.wait_for_tasks(deadline));
            Ok(all_come_out(deadline) && all)
        })
    };
    let mut all = close()?;
    if !all {
        interrupt_all(py);
        all = close()?;
    }
    LEAVING.store(own_number() as u64, SeqCst);
    // Some may have come in just before; from now on nobody does.
    py.detach(|| none_come(Instant::now() + GRACE));
    if all && !py.detach(|| all_come_out(Instant::now() + GRACE)) {
        interrupt_all(py);
        py.detach(|| all_come_out(Instant::now() + GRACE));
    }
    Ok(())
}

/// In a forked child nothing ends yet.
pub(crate) fn after_fork() {
    COMING.store(0, SeqCst);
    CLOSING.store(0, SeqCst);
    LEAVING.store(0, SeqCst);
}

/// Registers `close_all` for the end, and watches forks.
pub(crate) fn install(py: Python<'_>, close_all: Bound<'_, PyAny>) -> PyResult<()> {
    forks::install();
    thread_state::install(py);
    py.import("atexit")?.call_method1("register", (close_all,))?;
    Ok(())
}
