//! What one driver does, in numbers: its own threads write them, the controller and `stats` read.
//!
//! Drivers of a group have a meter of the whole group besides, to which each adds what it does: for
//! that one, to pull is the work, and it stands still in as far as its tasks do while the consumer
//! waits.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed, Ordering::SeqCst};

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
    /// Of that, time in which it made one itself.
    pub helped_ns: AtomicU64,
    /// Time in which the driver stood still because its window was full.
    pub full_ns: AtomicU64,
    /// The driver is gone.
    pub closed: AtomicBool,
    /// That of the group.
    group: Option<Arc<Meter>>,
    /// Of a group: its drivers.
    drivers: AtomicUsize,
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
            helped_ns: AtomicU64::default(),
            full_ns: AtomicU64::default(),
            closed: AtomicBool::default(),
            group: None,
            drivers: AtomicUsize::default(),
        }
    }

    /// Of one more driver of a group, if that has a meter.
    #[must_use]
    pub fn of_group(mut self, group: Option<&Arc<Meter>>) -> Self {
        if let Some(group) = group {
            group.drivers.fetch_add(1, Relaxed);
        }
        self.group = group.cloned();
        self
    }

    /// Counts a chunk in that is about to be pulled.
    pub fn enter(&self) {
        self.in_flight.fetch_add(1, SeqCst);
        if let Some(group) = &self.group {
            group.in_flight.fetch_add(1, Relaxed);
        }
    }

    /// Counts a chunk out that the consumer has taken, or that was none.
    pub fn leave(&self) {
        self.in_flight.fetch_sub(1, SeqCst);
        if let Some(group) = &self.group {
            group.in_flight.fetch_sub(1, Relaxed);
        }
    }

    /// Counts a pull of so many rows.
    pub fn pulled(&self, rows: u64, ns: u64) {
        self.pull_ns.fetch_add(ns, Relaxed);
        if let Some(group) = &self.group {
            group.worked(rows, ns);
        }
    }

    /// Counts time in which the consumer made a result itself.
    pub fn helped(&self, ns: u64) {
        self.helped_ns.fetch_add(ns, Relaxed);
        if let Some(group) = &self.group {
            group.helped_ns.fetch_add(ns, Relaxed);
        }
    }

    /// Counts time in which the consumer had nothing to take, and for what part of it tasks of the
    /// group stood still.
    pub fn starved(&self, ns: u64, idle: f64) {
        self.starved_ns.fetch_add(ns, Relaxed);
        if let Some(group) = &self.group {
            group.starved_ns.fetch_add(ns, Relaxed);
            group.full_ns.fetch_add((ns as f64 * idle) as u64, Relaxed);
        }
    }

    /// Counts a chunk whose work is done.
    pub fn worked(&self, rows: u64, ns: u64) {
        self.works.fetch_add(1, Relaxed);
        self.rows.fetch_add(rows, Relaxed);
        self.busy_ns.fetch_add(ns, Relaxed);
    }

    /// The size of the window now; of a group, of all windows together.
    pub fn window(&self) -> usize {
        self.window.now(&self.workers).saturating_mul(self.drivers())
    }

    /// The most that the window can become.
    pub fn most_window(&self) -> usize {
        self.window.most(&self.workers).saturating_mul(self.drivers())
    }

    fn drivers(&self) -> usize {
        self.drivers.load(Relaxed).max(1)
    }
}

impl Drop for Meter {
    fn drop(&mut self) {
        if let Some(group) = &self.group {
            group.drivers.fetch_sub(1, Relaxed);
            group.in_flight.fetch_sub(self.in_flight.load(Relaxed), Relaxed);
        }
    }
}

impl Meter {
    /// What its counters say at `at_ns`.
    pub fn counts(&self, at_ns: u64) -> Counts {
        Counts {
            at_ns,
            works: self.works.load(Relaxed),
            rows: self.rows.load(Relaxed),
            busy_ns: self.busy_ns.load(Relaxed),
            pull_ns: self.pull_ns.load(Relaxed),
            starved_ns: self.starved_ns.load(Relaxed),
            helped_ns: self.helped_ns.load(Relaxed),
            full_ns: self.full_ns.load(Relaxed),
            in_flight: self.in_flight.load(Relaxed),
            window: self.window(),
        }
    }
}

/// The counters of a [`Meter`] at one moment, or what came to them since another.
#[derive(Clone, Copy, Debug, Default)]
pub struct Counts {
    /// When that was, or for how long.
    pub at_ns: u64,
    /// See [`Meter`].
    pub works: u64,
    /// See [`Meter`].
    pub rows: u64,
    /// See [`Meter`].
    pub busy_ns: u64,
    /// See [`Meter`].
    pub pull_ns: u64,
    /// See [`Meter`].
    pub starved_ns: u64,
    /// See [`Meter`].
    pub helped_ns: u64,
    /// See [`Meter`].
    pub full_ns: u64,
    /// How many they were just then.
    pub in_flight: usize,
    /// How many there might have been.
    pub window: usize,
}

impl Counts {
    /// What came since `before`.
    #[must_use]
    pub fn since(&self, before: &Counts) -> Counts {
        Counts {
            at_ns: self.at_ns.saturating_sub(before.at_ns),
            works: self.works.saturating_sub(before.works),
            rows: self.rows.saturating_sub(before.rows),
            busy_ns: self.busy_ns.saturating_sub(before.busy_ns),
            pull_ns: self.pull_ns.saturating_sub(before.pull_ns),
            starved_ns: self.starved_ns.saturating_sub(before.starved_ns),
            helped_ns: self.helped_ns.saturating_sub(before.helped_ns),
            full_ns: self.full_ns.saturating_sub(before.full_ns),
            in_flight: self.in_flight,
            window: self.window,
        }
    }

    fn part(&self, ns: u64) -> f64 {
        ns as f64 / self.at_ns.max(1) as f64
    }

    /// The part of the time in which the consumer had nothing to take.
    pub fn waits(&self) -> f64 {
        self.part(self.starved_ns)
    }

    /// The part of the time in which the consumer worked itself.
    pub fn helps(&self) -> f64 {
        self.part(self.helped_ns).min(1.0)
    }

    /// The part of the time in which it stood still.
    pub fn stands(&self) -> f64 {
        self.part(self.full_ns)
    }

    /// The part of the time in which somebody pulled from the input.
    pub fn pulls(&self) -> f64 {
        self.part(self.pull_ns)
    }

    /// How many tasks were busy on average, and a quarter more.
    pub fn in_use(&self) -> usize {
        (self.part(self.busy_ns) * 1.25).ceil() as usize
    }
}
