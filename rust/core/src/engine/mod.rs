//! From plan to run: nodes, stages, drivers, the work pool.

pub mod access;
pub mod apply;
pub mod autotune;
pub mod driver;
pub mod explain;
pub mod fills;
pub mod fingerprint;
pub mod limit;
pub mod nested;
pub mod nested_log;
pub mod node;
pub mod notices;
pub mod optimise;
pub mod pool;
pub mod rewrites;
pub mod run;
pub mod seeds;
pub mod stage;
pub mod state;
pub mod stats;
pub mod wait;

pub use node::{Cardinality, Node, Plan, RunOptions};
pub use run::Run;
pub use stage::{Input, Opening, Stage};

use std::sync::{Mutex, MutexGuard, PoisonError};

/// Locks without regard to poison: a panic in a task is caught and reported where it happened,
/// and the data under these locks is whole between any two statements.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
