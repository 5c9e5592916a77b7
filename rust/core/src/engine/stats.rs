//! Counters of each stage: who worked, who waited for whom.
//!
//! Time is measured per chunk, never per element. A stage's busy time leaves out what its inputs
//! took and what it waited; both are known because stages nest on a thread like calls do.

use std::cell::Cell;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, OnceLock};
use std::time::Instant;

use crate::data::{Chunk, Mark};
use crate::engine::autotune::Meter;
use crate::engine::budget::Account;
use crate::engine::lock;
use crate::engine::skipping::Skipped;
use crate::engine::stage::Stage;
use crate::engine::sync::Mutex;
use crate::error::Result;

/// What one stage did so far; times in nanoseconds.
#[derive(Debug, Default)]
pub struct StageStats {
    /// Elements handed on.
    pub elements: AtomicU64,
    /// Time spent working, on all threads together.
    pub busy_ns: AtomicU64,
    /// Time spent waiting for an element of the input.
    pub input_wait_ns: AtomicU64,
    /// Time in which its driver stood still because its channel was full.
    pub output_wait_ns: AtomicU64,
    /// Of its drivers: those that run, or else the last one.
    meters: Mutex<Vec<Arc<Meter>>>,
    /// Elements handed on of each source, where the stage mixes sources.
    pub shares: OnceLock<Vec<AtomicU64>>,
    /// Damaged places that it has left out.
    pub lost: AtomicU64,
    /// Bytes of files that it has left out with them, as far as is known.
    pub lost_bytes: AtomicU64,
    /// Memory of what it holds because its meaning requires it: buffers, windows, what it must
    /// remember.
    pub held_bytes: AtomicU64,
    /// The most that was.
    pub peak_bytes: AtomicU64,
    /// Memory of what it has made ahead of its consumer.
    pub queued_bytes: AtomicU64,
    /// The most that was.
    pub peak_queued_bytes: AtomicU64,
    /// What an element takes, plus 1; 0 if that is not known yet.
    pub(super) element_bytes: AtomicU64,
    /// The account of all this memory.
    pub(super) account: Option<Arc<Account>>,
}

impl StageStats {
    /// Counts `elements` of source `source` out of `sources`.
    pub fn count_share(&self, source: usize, sources: usize, elements: u64) {
        let shares = self.shares.get_or_init(|| (0..sources).map(|_| AtomicU64::new(0)).collect());
        if let Some(share) = shares.get(source) {
            share.fetch_add(elements, Relaxed);
        }
    }

    /// Takes the meter of one more driver.
    pub fn metered(&self, meter: &Arc<Meter>) {
        let mut meters = lock(&self.meters);
        meters.retain(|meter| !meter.closed.load(Relaxed));
        meters.push(Arc::clone(meter));
    }

    /// The meters of its drivers: of those that run, or else of the last one.
    pub fn meters(&self) -> Vec<Arc<Meter>> {
        let meters = lock(&self.meters);
        let running = meters.iter().filter(|meter| !meter.closed.load(Relaxed));
        let running: Vec<_> = running.cloned().collect();
        if running.is_empty() { meters.last().cloned().into_iter().collect() } else { running }
    }

    /// Sets what is held, and the most that was.
    pub fn hold(&self, bytes: usize) {
        let bytes = bytes as u64;
        let before = self.held_bytes.swap(bytes, Relaxed);
        if bytes == before {
            return;
        }
        self.peak_bytes.fetch_max(bytes, Relaxed);
        if let Some(account) = &self.account {
            account.hold(before, bytes);
        }
    }
}

impl Drop for StageStats {
    fn drop(&mut self) {
        // Of a plan inside another: the account lives on.
        self.hold(0);
    }
}

/// A stage's name and counters, in the order of the plan.
#[derive(Clone, Debug)]
pub struct StageReport {
    /// Name of the op.
    pub name: &'static str,
    /// Depth in the tree of stages; the outermost has 0.
    pub depth: usize,
    /// Its counters.
    pub stats: Arc<StageStats>,
    /// Elements handed on in a second, of late.
    pub per_second: f64,
    /// The part of the time in which it was busy of late, for each of its tasks.
    pub load: f64,
    /// True of the stage that holds up the run, if the consumer does not.
    pub limiting: bool,
}

impl StageReport {
    /// Of a stage that has done nothing yet.
    pub fn new(name: &'static str, depth: usize, stats: Arc<StageStats>) -> Self {
        StageReport { name, depth, stats, per_second: 0.0, load: 0.0, limiting: false }
    }
}

thread_local! {
    /// Time that stages inside the present one took on this thread.
    static INNER_NS: Cell<u64> = const { Cell::new(0) };
}

/// Nanoseconds since `start`.
pub fn since_ns(start: Instant) -> u64 {
    u64::try_from(start.elapsed().as_nanos()).unwrap_or(u64::MAX)
}

/// Runs `work` of a stage and counts it as busy, apart from what stages inside it took.
pub fn busy<T>(stats: &StageStats, work: impl FnOnce() -> T) -> T {
    let outer = INNER_NS.with(|inner| inner.replace(0));
    let start = Instant::now();
    let result = work();
    let total = since_ns(start);
    let inner = INNER_NS.with(|inner| inner.replace(outer + total));
    stats.busy_ns.fetch_add(total.saturating_sub(inner), Relaxed);
    result
}

/// Runs a wait of a stage for its input: counted as waiting, not as busy.
pub fn waiting<T>(stats: &StageStats, wait: impl FnOnce() -> T) -> T {
    let start = Instant::now();
    let result = wait();
    let total = since_ns(start);
    INNER_NS.with(|inner| inner.set(inner.get() + total));
    stats.input_wait_ns.fetch_add(total, Relaxed);
    result
}

/// A stage with its counters.
pub struct Metered {
    stage: Box<dyn Stage>,
    stats: Arc<StageStats>,
    /// Its time counts as that of the stage around it too, which reports for it.
    nested: bool,
}

impl Metered {
    /// Counts for `stage`.
    pub fn new(stage: Box<dyn Stage>, stats: Arc<StageStats>, nested: bool) -> Self {
        Metered { stage, stats, nested }
    }

    fn busy<T>(&mut self, work: impl FnOnce(&mut dyn Stage) -> T) -> T {
        let inner = INNER_NS.get();
        let result = busy(&self.stats, || work(&mut *self.stage));
        if self.nested {
            INNER_NS.set(inner);
        }
        result
    }
}

impl Stage for Metered {
    fn next(&mut self, max: usize) -> Result<Option<Chunk>> {
        let result = self.busy(|stage| stage.next(max));
        if let Ok(Some(chunk)) = &result {
            self.stats.elements.fetch_add(chunk.rows() as u64, Relaxed);
        }
        result
    }

    fn skip(&mut self, n: u64) -> Skipped {
        self.busy(|stage| stage.skip(n))
    }

    fn state(&self) -> Option<Mark> {
        self.stage.state()
    }

    fn quiet(&self) -> bool {
        self.stage.quiet()
    }
}

impl Drop for Metered {
    fn drop(&mut self) {
        // What the stage holds goes with it.
        self.stats.hold(0);
    }
}
