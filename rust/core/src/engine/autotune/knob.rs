//! The numbers by which a driver goes, which may move during a run.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

/// A number that a driver reads each time it needs it: fixed, or moved between two bounds.
#[derive(Debug)]
pub struct Knob {
    now: AtomicUsize,
    least: usize,
    most: usize,
}

impl Knob {
    /// A number that stays what it is; at least 1.
    pub fn fixed(n: usize) -> Arc<Self> {
        Self::between(n, n, n)
    }

    /// A number from `least`, which is at least 1, to `most`, that stands at `start` as far as they
    /// allow.
    pub fn between(least: usize, start: usize, most: usize) -> Arc<Self> {
        let least = least.max(1);
        let most = most.max(least);
        Arc::new(Knob { now: AtomicUsize::new(start.clamp(least, most)), least, most })
    }

    /// The number now.
    pub fn now(&self) -> usize {
        self.now.load(Relaxed)
    }

    /// The least it may be.
    pub fn least(&self) -> usize {
        self.least
    }

    /// The most it may be.
    pub fn most(&self) -> usize {
        self.most
    }

    /// True if it never moves.
    pub fn is_fixed(&self) -> bool {
        self.least == self.most
    }

    /// Moves it to `n`, as far as its bounds allow.
    pub fn set(&self, n: usize) {
        self.now.store(n.clamp(self.least, self.most), Relaxed);
    }
}

/// How many chunks (elements, where a driver takes single ones) may be in work or waiting for the
/// consumer.
#[derive(Clone, Debug)]
pub enum Window {
    /// So many.
    Chunks(Arc<Knob>),
    /// So many for each task that there may be.
    PerWorker(usize),
}

impl Window {
    /// A window of a size that stays what it is.
    pub fn fixed(chunks: usize) -> Self {
        Window::Chunks(Knob::fixed(chunks))
    }

    /// Its size where there may be as many tasks as `workers` says.
    pub fn now(&self, workers: &Knob) -> usize {
        match self {
            Window::Chunks(chunks) => chunks.now(),
            Window::PerWorker(each) => each.saturating_mul(workers.now()),
        }
    }

    /// The most that can become.
    pub fn most(&self, workers: &Knob) -> usize {
        match self {
            Window::Chunks(chunks) => chunks.most(),
            Window::PerWorker(each) => each.saturating_mul(workers.most()),
        }
    }
}
