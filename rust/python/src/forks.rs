//! Forks of the process: what must not happen at the same time, and what a child must know.

#![cfg_attr(unix, allow(unsafe_code))]

#[cfg(unix)]
pub(crate) use unix::{hold_back, install};

/// Does `work`: no process forks here.
#[cfg(not(unix))]
pub(crate) fn hold_back<T>(work: impl FnOnce() -> T) -> T {
    work()
}

/// Nothing to watch: no process forks here.
#[cfg(not(unix))]
pub(crate) fn install() {}

#[cfg(unix)]
mod unix {
    use std::cell::UnsafeCell;
    use std::sync::Once;

    use headrace::engine::pool;

    use crate::process;

    /// Held while forking, and by threads that take a lock of CPython's which a child would find
    /// locked. One of pthread's, since the child unlocks it as well.
    struct Gate(UnsafeCell<libc::pthread_mutex_t>);

    // SAFETY: a mutex is made to be shared.
    unsafe impl Sync for Gate {}

    static GATE: Gate = Gate(UnsafeCell::new(libc::PTHREAD_MUTEX_INITIALIZER));

    extern "C" fn close_gate() {
        // SAFETY: the mutex is never moved; none of its holders takes it twice.
        unsafe { libc::pthread_mutex_lock(GATE.0.get()) };
    }

    extern "C" fn open_gate() {
        // SAFETY: this thread closed it, or is what a fork made of the one that did.
        unsafe { libc::pthread_mutex_unlock(GATE.0.get()) };
    }

    extern "C" fn in_child() {
        open_gate();
        pool::after_fork();
        process::after_fork();
    }

    /// Does `work` while nothing forks. It must not wait for the GIL: who forks holds it.
    pub(crate) fn hold_back<T>(work: impl FnOnce() -> T) -> T {
        close_gate();
        let done = work();
        open_gate();
        done
    }

    /// Watches forks from now on.
    pub(crate) fn install() {
        static ONCE: Once = Once::new();
        ONCE.call_once(|| {
            // SAFETY: the handlers use a mutex of pthread's and store to atomics, which is safe in
            // a forked child.
            unsafe { libc::pthread_atfork(Some(close_gate), Some(open_gate), Some(in_child)) };
        });
    }
}
