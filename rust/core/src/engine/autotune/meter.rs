//! What one driver does, in numbers: its own threads write them, the controller and `stats` read.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use crate::engine::autotune::knob::{Knob, Window};
use crate::engine::sync::atomic::{AtomicBool, AtomicUsize};

/// The knobs and counters of a driver; times in nanoseconds.
#[derive(Debug)]
pub struct Meter {
    /// At most so many tasks at once.
    pub workers: Arc<Knob>,
    /// At most so many chunks in work or waiting for the consumer.
    pub window: Window,
    /// True if its work may block, or hold a lock of the caller's: it is not bound to a core.
    pub blocking: bool,
    /// Chunks pulled and not yet taken by the consumer: bounds unordered work too.
    pub in_flight: AtomicUsize,
    /// Chunks whose work is done.
    pub works: AtomicU64,
    /// Rows of them.
    pub rows: AtomicU64,
    /// Time that this work took, on all threads together.
    pub busy_ns: AtomicU64,
    /// Time in which somebody pulled from the input.
    pub pull_ns: AtomicU64,
    /// Time in which the consumer waited for a result, or made one itself.
    pub starved_ns: AtomicU64,
    /// Time in which the driver stood still because its window was full.
    pub full_ns: AtomicU64,
    /// The driver is gone.
    pub closed: AtomicBool,
}

impl Meter {
    /// Of a driver with these knobs, which has done nothing yet.
    pub fn new(workers: Arc<Knob>, window: Window, blocking: bool) -> Self {
        Meter {
            workers,
            window,
            blocking,
            in_flight: AtomicUsize::default(),
            works: AtomicU64::default(),
            rows: AtomicU64::default(),
            busy_ns: AtomicU64::default(),
            pull_ns: AtomicU64::default(),
            starved_ns: AtomicU64::default(),
            full_ns: AtomicU64::default(),
            closed: AtomicBool::default(),
        }
    }

    /// Counts a chunk whose work is done.
    pub fn worked(&self, rows: u64, ns: u64) {
        self.works.fetch_add(1, Relaxed);
        self.rows.fetch_add(rows, Relaxed);
        self.busy_ns.fetch_add(ns, Relaxed);
    }

    /// The size of the window now.
    pub fn window(&self) -> usize {
        self.window.now(&self.workers)
    }

    /// The most that the window can become.
    pub fn most_window(&self) -> usize {
        self.window.most(&self.workers)
    }
}
