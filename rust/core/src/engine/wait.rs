//! Waiting that can be interrupted.
//!
//! A thread of the caller that waits in the engine must notice Ctrl-C, and must not hold the
//! caller's locks. The binding installs a hook for the time of its call; every wait wakes up now
//! and then to ask it. Threads of the engine have no hook.

use std::cell::Cell;
use std::time::{Duration, Instant};

use crate::error::Result;

/// How long a wait may last before the hook is asked again.
pub const POLL: Duration = Duration::from_millis(50);

/// What a wait asks: an error ends it.
pub type Hook = fn() -> Result<()>;

thread_local! {
    /// When `poll_if_due` last asked.
    static LAST: Cell<Option<Instant>> = const { Cell::new(None) };
    static HOOK: Cell<Option<Hook>> = const { Cell::new(None) };
}

/// Runs `work` with `hook` asked during every wait on this thread; an error of the hook ends the
/// wait with that error.
pub fn with_interrupt<T>(hook: Hook, work: impl FnOnce() -> T) -> T {
    struct Restore(Option<Hook>);
    impl Drop for Restore {
        fn drop(&mut self) {
            HOOK.with(|cell| cell.set(self.0));
        }
    }
    let _restore = Restore(HOOK.with(|cell| cell.replace(Some(hook))));
    work()
}

/// Asks the hook of this thread, if it has one.
///
/// # Errors
/// That of the hook.
pub fn poll() -> Result<()> {
    match HOOK.with(Cell::get) {
        Some(hook) => hook(),
        None => Ok(()),
    }
}

/// Asks the hook if the last time is a while ago: for loops that may go on for long without a wait.
///
/// # Errors
/// That of the hook.
pub fn poll_if_due() -> Result<()> {
    if HOOK.with(Cell::get).is_none() {
        return Ok(());
    }
    let now = Instant::now();
    let due = LAST.with(|last| match last.get() {
        Some(then) if now.duration_since(then) < POLL => false,
        _ => {
            last.set(Some(now));
            true
        }
    });
    if due { poll() } else { Ok(()) }
}
