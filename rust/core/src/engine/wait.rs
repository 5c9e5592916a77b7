//! Waiting that can be interrupted.
//!
//! A thread of the caller that waits in the engine must notice Ctrl-C, and must not hold the
//! caller's locks. The binding installs a hook for the time of its call; every wait wakes up now
//! and then to ask it, and so does work that may take long. Threads of the engine have no hook.
//!
//! What the hook raises is no outcome of an element, which a stage may keep for later: it is put
//! aside, everything on the thread is told `Cancelled` from then on, and the call ends with it.

use std::cell::{Cell, RefCell};
use std::time::{Duration, Instant};

use crate::error::{Error, Result};

/// How long a wait may last before the hook is asked again.
pub const POLL: Duration = Duration::from_millis(50);

/// What a wait asks: an error ends it.
pub type Hook = fn() -> Result<()>;

thread_local! {
    static HOOK: Cell<Option<Hook>> = const { Cell::new(None) };
    /// When the hook was asked last.
    static ASKED: Cell<Option<Instant>> = const { Cell::new(None) };
    /// What ends the present call.
    static INTERRUPT: RefCell<Option<Error>> = const { RefCell::new(None) };
}

/// Runs `work` with `hook` asked during every wait on this thread.
///
/// # Errors
/// What the hook raised, whatever `work` made of it; else that of `work`.
pub fn with_interrupt<T>(hook: Hook, work: impl FnOnce() -> Result<T>) -> Result<T> {
    /// The call of the caller's code from which this one was made.
    struct Outer(Option<Hook>, Option<Error>);
    impl Drop for Outer {
        fn drop(&mut self) {
            HOOK.set(self.0);
            INTERRUPT.set(self.1.take());
        }
    }
    let _outer = Outer(HOOK.replace(Some(hook)), INTERRUPT.take());
    ASKED.set(None);
    let outcome = work();
    INTERRUPT.take().map_or(outcome, Err)
}

/// True while this thread is in a call into the engine.
pub fn is_interruptible() -> bool {
    HOOK.get().is_some()
}

/// Asks the hook of this thread, if it has one.
///
/// # Errors
/// `Cancelled` if the hook raised an error, now or before.
pub fn poll() -> Result<()> {
    let Some(hook) = HOOK.get() else { return Ok(()) };
    if is_interrupted() {
        return Err(Error::cancelled());
    }
    ASKED.set(Some(Instant::now()));
    hook().map_err(interrupt)
}

/// As [`poll`], but asks now and then only: for work that does not wait but may go on for long.
///
/// # Errors
/// As [`poll`].
pub fn poll_if_due() -> Result<()> {
    if HOOK.get().is_none() {
        return Ok(());
    }
    match ASKED.get() {
        Some(asked) if asked.elapsed() < POLL && !is_interrupted() => Ok(()),
        Some(_) => poll(),
        // The call has only begun.
        None => {
            ASKED.set(Some(Instant::now()));
            Ok(())
        }
    }
}

/// Ends the present call into the engine with `error`, which the caller's code raised to end the
/// program; returns what is to be said instead. On threads of the engine there is no call to end:
/// there it stays what it is, and reaches the consumer in its place.
pub fn interrupt(error: Error) -> Error {
    if HOOK.get().is_none() {
        return error;
    }
    INTERRUPT.with_borrow_mut(|first| first.get_or_insert(error).kind());
    Error::cancelled()
}

/// True if the present call is to end.
pub fn is_interrupted() -> bool {
    INTERRUPT.with_borrow(Option::is_some)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn raise() -> Result<()> {
        Err(Error::data_loss("raised"))
    }

    #[test]
    fn what_the_hook_raises_cannot_be_lost() {
        let outcome = with_interrupt(raise, || {
            assert!(poll().is_err());
            assert!(is_interrupted());
            assert!(poll_if_due().is_err());
            Ok(1)
        });
        assert_eq!(outcome.unwrap_err().message(), "raised");
        assert!(!is_interrupted());
    }

    #[test]
    fn calls_nest() {
        let outcome = with_interrupt(raise, || {
            let inner = with_interrupt(|| Ok(()), poll);
            assert!(inner.is_ok());
            poll()
        });
        assert!(outcome.is_err());
        assert!(poll().is_ok());
    }
}
