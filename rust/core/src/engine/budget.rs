//! The memory of an iterator: one account of all its buffers, and a limit to what may wait in them.
//!
//! What stages make ahead is *queued*: a driver reserves room before it pulls, by the size of the
//! elements so far, corrects that when it sees what came, and gives it back when the consumer has
//! taken it. Where there is no room it pulls nothing and stands still; nobody ever waits here. What
//! a consumer waits for is made whatever the account says, so the budget never stops a run. What a
//! stage holds because its meaning requires it (a shuffle's buffer, a batch in the making) is
//! *held*: counted, never refused, and queues have what is left.
//!
//! Memory counts by blocks, once in each queue, however little of a block an element sees. Arrays of
//! the user's that elements are views of are not the iterator's memory and count as nothing, nor do
//! foreign objects, whose size nobody knows.

use std::sync::atomic::{AtomicBool, AtomicI64, AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex, Weak};

use crate::data::{Chunk, ElementSpec, Spec};
use crate::engine::node::{Node, Plan, RunOptions};
use crate::engine::stats::StageStats;
// What drivers go by, and so part of their models.
use crate::engine::sync::atomic::AtomicU64 as Amount;
use crate::engine::{fingerprint, lock, notices, ram};

/// The part of the memory that an iterator's buffers may take unless the user says otherwise.
const SHARE: u64 = 4;
/// One chunk that is made ahead takes at most this part of the budget.
const CHUNKS: u64 = 16;
/// Queues have at least this part of the budget, whatever is held: what waits there beside a buffer
/// that is too large anyway makes little difference to memory and much to time.
const LEAST: u64 = 8;
/// What an element takes of which nothing is known: its size shows when the first of them is made.
const UNKNOWN_BYTES: u64 = 16 << 20;
/// What the results of one chunk of heavy elements may take, and how many elements are tried
/// before that is known.
const HEAVY_BYTES: u64 = 64 << 20;
const HEAVY_ROWS: u64 = 128;
/// What steps may hold together whatever memory there is.
const HARMLESS: u64 = 1 << 20;
/// A surplus below this is a trifle.
const TRIFLE: usize = 64 << 10;

/// What steps hold together. Where one task ends a step while another begins it anew, what is given
/// back may be told before what was taken: then it is below zero for a moment.
#[derive(Default)]
struct Held(AtomicI64);

impl Held {
    fn change(&self, before: u64, now: u64) {
        self.0.fetch_add(now.wrapping_sub(before) as i64, Relaxed);
    }

    fn bytes(&self) -> u64 {
        u64::try_from(self.0.load(Relaxed)).unwrap_or(0)
    }
}

/// The account of a run and of the plans nested in it.
pub struct Account {
    /// What the user says; else a quarter of the memory, which is asked for where it matters.
    given: Option<u64>,
    /// Bytes of a full chunk.
    full_chunk: usize,
    queued: Amount,
    held: Held,
    /// The most that both were together.
    peak: AtomicU64,
    warned: AtomicBool,
    /// The steps of the run's own plan, with their names.
    steps: Mutex<Vec<(&'static str, Weak<StageStats>)>>,
    plan: Weak<dyn Node>,
}

impl std::fmt::Debug for Account {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Account({} of {} bytes)", self.total(), self.limit())
    }
}

impl Account {
    /// An empty account for a run of `plan`.
    pub fn new(options: &RunOptions, plan: &Plan) -> Self {
        let given = Some(options.autotune.ram_budget as u64).filter(|bytes| *bytes > 0);
        let most = given.and_then(|bytes| usize::try_from(bytes / CHUNKS).ok());
        Account {
            given,
            full_chunk: options.chunk_bytes.min(most.unwrap_or(usize::MAX)),
            queued: Amount::new(0),
            held: Held::default(),
            peak: AtomicU64::new(0),
            warned: AtomicBool::new(false),
            steps: Mutex::default(),
            plan: Arc::downgrade(plan),
        }
    }

    /// Bytes that all buffers may take.
    pub fn limit(&self) -> u64 {
        self.given.unwrap_or_else(|| ram::total() / SHARE)
    }

    /// Bytes that all buffers take.
    pub fn total(&self) -> u64 {
        self.queued.load(Relaxed).saturating_add(self.held.bytes())
    }

    /// The most that was.
    pub fn peak(&self) -> u64 {
        self.peak.load(Relaxed)
    }

    /// Bytes of a full chunk.
    pub fn full_chunk(&self) -> usize {
        self.full_chunk
    }

    /// What a chunk that is made ahead may take.
    fn most_chunk_bytes(&self) -> u64 {
        self.limit() / CHUNKS
    }

    /// Notes a step, which a warning may name.
    pub fn add_step(&self, name: &'static str, stats: &Arc<StageStats>) {
        lock(&self.steps).push((name, Arc::downgrade(stats)));
    }

    /// What queues may take together.
    fn room(&self) -> u64 {
        let limit = self.limit();
        limit.saturating_sub(self.held.bytes()).max(limit / LEAST)
    }

    fn admits(&self, bytes: u64) -> bool {
        bytes == 0 || self.queued.load(Relaxed).saturating_add(bytes) <= self.room()
    }

    fn note_peak(&self) {
        let total = self.total();
        if total > self.peak.load(Relaxed) {
            self.peak.fetch_max(total, Relaxed);
        }
    }

    /// A step holds `now` bytes where it held `before`.
    pub(crate) fn hold(&self, before: u64, now: u64) {
        self.held.change(before, now);
        if now <= before {
            return;
        }
        self.note_peak();
        let held = self.held.bytes();
        if held > self.given.unwrap_or(HARMLESS)
            && held > self.limit()
            && !self.warned.swap(true, Relaxed)
        {
            self.warn(held);
        }
    }

    /// Tells the user that the plan needs more than it may have, once for each plan.
    fn warn(&self, held: u64) {
        let bytes = |(name, stats): &(&'static str, Weak<StageStats>)| {
            Some((stats.upgrade()?.held_bytes.load(Relaxed), *name))
        };
        let largest = lock(&self.steps).iter().filter_map(bytes).max();
        // Steps of nested plans are not among those of the run.
        let (most, name) = largest.filter(|(most, _)| *most > 0).unwrap_or((held, "a nested step"));
        let together = match most < held {
            true => format!(" of the {} that all steps hold together", megabytes(held)),
            false => String::new(),
        };
        let text = format!(
            "{name} holds {} by now{together}, more than the memory budget of {} for all buffers of \
             an iterator; steps that read ahead wait meanwhile: {}, or raise \
             `Options.autotune.ram_budget`",
            megabytes(most),
            megabytes(self.limit()),
            remedy(name),
        );
        let plan = self.plan.upgrade().map(|plan| fingerprint::fingerprint(&plan));
        notices::give_once(format!("{name} over {} in {plan:?}", self.limit()), text);
    }
}

/// What makes a step hold less.
fn remedy(step: &str) -> &'static str {
    match step {
        "shuffle" | "shuffle_and_repeat" => {
            "give a smaller `buffer_size`, or shuffle before elements get large"
        }
        "cache" => "cache into files by giving a `filename`",
        "unique" => "map elements to smaller keys",
        "window" | "group_by_window" => "make windows smaller",
        name if name.contains("batch") => "make batches smaller",
        _ => "make its buffer smaller",
    }
}

fn megabytes(bytes: u64) -> String {
    match bytes {
        0..0x400 => format!("{bytes} bytes"),
        0x400..0x10_0000 => format!("{} KiB", bytes >> 10),
        _ => format!("{} MiB", bytes >> 20),
    }
}

/// What an element takes by its spec, if that tells.
fn spec_bytes(spec: &ElementSpec) -> Option<u64> {
    let bytes = |spec: &Spec| match spec {
        // As the account counts them.
        Spec::Object => Some(0),
        spec => spec.bytes().map(|bytes| bytes as u64),
    };
    let all = spec.specs()?.iter().map(bytes);
    all.sum()
}

impl StageStats {
    /// Counters of a step whose elements are known to look like `spec`, and whose memory goes to
    /// `account`.
    pub fn on_account(account: &Arc<Account>, spec: &ElementSpec) -> Self {
        let mut stats = StageStats::default();
        stats.account = Some(Arc::clone(account));
        if let Some(bytes) = spec_bytes(spec) {
            stats.element_bytes.store(bytes + 1, Relaxed);
        }
        stats
    }

    /// What an element takes, if that is known.
    pub fn element_bytes(&self) -> Option<u64> {
        self.element_bytes.load(Relaxed).checked_sub(1)
    }

    /// Learns from `rows` elements that take `bytes`. It is better to expect too much than too
    /// little.
    fn learn(&self, rows: usize, bytes: u64) {
        let seen = bytes / rows.max(1) as u64;
        let expected = match self.element_bytes() {
            Some(expected) if expected > seen => (expected * 7 + seen) / 8,
            _ => seen,
        };
        self.element_bytes.store(expected + 1, Relaxed);
    }
}

/// Numbers of counters, see [`Chunk::count`]; two for each queue.
static COUNTERS: AtomicU64 = AtomicU64::new(1);

/// The account of one queue.
pub struct Queue {
    stats: Arc<StageStats>,
    counter: u64,
}

impl Queue {
    /// For a queue of the step that `stats` belong to.
    pub fn new(stats: &Arc<StageStats>) -> Arc<Self> {
        let counter = COUNTERS.fetch_add(2, Relaxed);
        Arc::new(Queue { stats: Arc::clone(stats), counter })
    }

    /// What `rows` elements will take, as far as one can tell.
    pub fn forecast(&self, rows: usize) -> u64 {
        let Some(account) = &self.stats.account else { return 0 };
        match self.stats.element_bytes() {
            Some(bytes) => bytes.saturating_mul(rows as u64),
            None => account.most_chunk_bytes().clamp(1, UNKNOWN_BYTES),
        }
    }

    /// How many elements of at most `bytes` together go into a chunk.
    fn rows_within(&self, bytes: u64) -> Option<usize> {
        let rows = bytes.checked_div(self.stats.element_bytes()?)?;
        Some(usize::try_from(rows).unwrap_or(usize::MAX).max(1))
    }

    /// How many elements a chunk may have that is made ahead.
    pub fn most_rows(&self, heavy: bool) -> usize {
        let Some(account) = &self.stats.account else { return usize::MAX };
        let bytes = account.most_chunk_bytes();
        match (self.stats.element_bytes(), heavy) {
            (Some(_), true) => self.rows_within(bytes.min(HEAVY_BYTES)).unwrap_or(usize::MAX),
            (Some(_), false) => self.rows_within(bytes).unwrap_or(usize::MAX),
            // Of so many megabytes each.
            (None, true) => (bytes >> 20).clamp(1, HEAVY_ROWS) as usize,
            (None, false) => usize::MAX,
        }
    }

    /// How many elements make a full chunk where only few are asked for.
    pub fn full_rows(&self) -> usize {
        let Some(account) = &self.stats.account else { return usize::MAX };
        self.rows_within(account.full_chunk as u64).unwrap_or(usize::MAX)
    }

    /// True if there is room for `rows` elements more.
    pub fn admits(&self, rows: usize) -> bool {
        self.stats.account.as_ref().is_none_or(|account| account.admits(self.forecast(rows)))
    }

    /// Reserves room for `rows` elements, if there is any.
    pub fn try_reserve(self: &Arc<Self>, rows: usize) -> Option<Charge> {
        let Some(account) = &self.stats.account else { return Some(self.charge(0)) };
        let bytes = self.forecast(rows);
        // The last of several that reserve at once may see too much, never too little.
        let charge = self.charge(bytes);
        let fits = bytes == 0 || account.queued.load(Relaxed) <= account.room();
        fits.then_some(charge)
    }

    /// Room for `rows` elements, whether there is any or not.
    pub fn reserve(self: &Arc<Self>, rows: usize) -> Charge {
        self.charge(self.forecast(rows))
    }

    fn charge(self: &Arc<Self>, bytes: u64) -> Charge {
        let mut charge = Charge { queue: Arc::clone(self), bytes: 0 };
        charge.set(bytes);
        charge
    }

    /// What is left over of a chunk, unless it is a trifle.
    pub fn surplus(self: &Arc<Self>, chunk: &Chunk) -> Option<Charge> {
        let bytes = chunk.count(self.counter);
        let charge = (bytes >= TRIFLE).then(|| self.charge(bytes as u64))?;
        charge.note_peak();
        Some(charge)
    }
}

/// Memory on the account, given back when this is dropped.
pub struct Charge {
    queue: Arc<Queue>,
    bytes: u64,
}

impl Charge {
    fn set(&mut self, bytes: u64) {
        let stats = &self.queue.stats;
        let Some(account) = &stats.account else { return };
        if bytes > self.bytes {
            let more = bytes - self.bytes;
            stats.queued_bytes.fetch_add(more, Relaxed);
            account.queued.fetch_add(more, Relaxed);
        } else if bytes < self.bytes {
            let less = self.bytes - bytes;
            stats.queued_bytes.fetch_sub(less, Relaxed);
            account.queued.fetch_sub(less, Relaxed);
        }
        self.bytes = bytes;
    }

    /// The elements are in work: they and so many results take room.
    pub fn pulled(&mut self, chunk: &Chunk, results: usize) {
        let bytes = chunk.count(self.queue.counter + 1) as u64;
        let results = match self.queue.stats.element_bytes() {
            Some(bytes) => bytes.saturating_mul(results as u64),
            None => self.bytes,
        };
        self.set(bytes.saturating_add(results));
    }

    /// The results are there.
    pub fn made<'a>(&mut self, results: impl IntoIterator<Item = &'a Chunk>) {
        let mut total = 0;
        for chunk in results {
            let bytes = chunk.count(self.queue.counter) as u64;
            self.queue.stats.learn(chunk.rows(), bytes);
            total += bytes;
        }
        self.set(total);
        self.note_peak();
    }

    /// Peaks are of what is there, not of what is expected.
    fn note_peak(&self) {
        let stats = &self.queue.stats;
        let queued = stats.queued_bytes.load(Relaxed);
        if queued > stats.peak_queued_bytes.load(Relaxed) {
            stats.peak_queued_bytes.fetch_max(queued, Relaxed);
        }
        if let Some(account) = &stats.account {
            account.note_peak();
        }
    }
}

impl Drop for Charge {
    fn drop(&mut self) {
        self.set(0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_given_back_may_be_told_before_what_was_taken() {
        let held = Held::default();
        held.change(1000, 0);
        assert_eq!(held.bytes(), 0);
        held.change(0, 3000);
        assert_eq!(held.bytes(), 2000);
    }
}
