//! As built: std and crossbeam.

use std::sync::{LazyLock, PoisonError};
use std::thread;
use std::time::Duration;

pub(crate) use std::sync::atomic;
pub(crate) use std::sync::{Condvar, Mutex, MutexGuard};
pub(crate) use std::thread::{Builder, JoinHandle};
pub(crate) use std::thread_local;

pub(crate) use crossbeam_channel::{Receiver, Sender, bounded, unbounded};
pub(crate) use crossbeam_deque::Injector;

/// A value that the process has one of, made when it is first asked for.
pub(crate) struct PerProcess<T>(LazyLock<T>);

impl<T> PerProcess<T> {
    /// A value that `make` makes.
    pub(crate) const fn new(make: fn() -> T) -> Self {
        PerProcess(LazyLock::new(make))
    }

    /// The value.
    pub(crate) fn get(&'static self) -> &'static T {
        &self.0
    }
}

/// How long threads without work wait for some.
pub(crate) const FOR_EVER: Duration = Duration::MAX;

/// Number of cores that the process may use; reads files to find out.
pub(crate) fn cores() -> usize {
    thread::available_parallelism().map_or(1, usize::from)
}

/// Locks without regard to poison: a panic in a task is caught and reported where it happened,
/// and the data under these locks is whole between any two statements.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
