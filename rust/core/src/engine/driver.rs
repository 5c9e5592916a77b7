//! A driver pulls ahead of its consumer and works on several chunks at once.
//!
//! It is a set of tasks, not a thread. Each task takes the source's lock, pulls one chunk, puts a
//! slot for its result into the bounded channel (so slots stand in the order of the input),
//! releases the lock and does the work. Tasks end when the channel is full and are spawned again
//! when the consumer makes room. A consumer that finds the channel empty and the source free does
//! a round itself, so it never waits for a task that has no thread yet.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed, Ordering::SeqCst};
use std::sync::{Arc, Mutex, MutexGuard, TryLockError};
use std::time::{Duration, Instant};

use crossbeam_channel::{Receiver, RecvTimeoutError, Sender, TryRecvError, bounded};

use crate::data::Chunk;
use crate::engine::limit::{limited, unlimited};
use crate::engine::lock;
use crate::engine::pool::{self, Kind};
use crate::engine::run::RunContext;
use crate::engine::stage::{EXACT_FROM, Input, skip_by_running};
use crate::engine::stats::{StageStats, busy, since_ns, waiting};
use crate::engine::wait::{POLL, poll};
use crate::error::{Error, Result};

/// How long a consumer leaves a task of foreign code to find a thread, before it works itself.
const START: Duration = Duration::from_millis(1);

/// What the results of one chunk of heavy elements may take, and how many elements are tried
/// before that is known. Each worker has two such chunks at most.
const HEAVY_BYTES: usize = 64 << 20;
const HEAVY_ROWS: usize = 128;

/// What happens to a chunk between source and consumer.
pub trait Work: Send + Sync {
    /// The outcomes for the elements of a chunk, in order; `first` is the number of its first
    /// element among the outcomes of the input.
    fn run(&self, chunk: Chunk, first: u64) -> Outcomes;

    /// How many elements at once are best, of a driver that takes single ones.
    fn rows(&self) -> usize {
        1
    }

    /// True if one element is much work, or much memory.
    fn is_heavy(&self) -> bool {
        false
    }
}

/// Outcomes in order: chunks, and errors that stand for one element each.
pub type Outcomes = VecDeque<Result<Chunk>>;

/// How a driver goes about it.
pub struct Plan {
    /// What to do with each chunk; `None` hands it on as it is.
    pub work: Option<Arc<dyn Work>>,
    /// At most so many tasks at once.
    pub workers: usize,
    /// At most so many chunks in work or waiting for the consumer.
    pub window: usize,
    /// One element at a time, for foreign functions: each worker has one.
    pub single: bool,
    /// Whether small chunks of the input are joined up to the consumer's demand.
    pub fill: bool,
    /// Whether results keep the order of the input.
    pub ordered: bool,
    /// Which threads run the tasks.
    pub kind: Kind,
}

enum Slot {
    Done(Result<Chunk>),
    Working(Receiver<Outcomes>),
}

struct Source {
    input: Input,
    /// The number of the next outcome.
    pulled: u64,
    /// `None` once the input has ended.
    slots: Option<Sender<Slot>>,
}

struct Shared {
    run: Arc<RunContext>,
    stats: Arc<StageStats>,
    plan: Plan,
    source: Mutex<Source>,
    /// What the consumer last asked for: chunks of that size reach it without being cut or joined.
    demand: AtomicUsize,
    /// What an element of the results takes; 0 if that is not known yet.
    element_bytes: AtomicUsize,
    /// Chunks pulled and not yet taken by the consumer: bounds unordered work too.
    in_flight: AtomicUsize,
    /// Tasks that are spawned and have not ended.
    tasks: AtomicUsize,
    /// Tasks that have a thread.
    running: AtomicUsize,
    dropped: AtomicBool,
    /// When the driver last stood still because its channel was full.
    stalled: Mutex<Option<Instant>>,
}

/// The consumer's end of a driver.
pub struct Driver {
    shared: Arc<Shared>,
    slots: Receiver<Slot>,
    /// Outcomes of the slot taken last.
    ready: Outcomes,
    quiet: bool,
    /// The consumer has waited for a task to start.
    waited: bool,
}

enum Round {
    Pulled(Chunk, u64),
    Outcome(Result<Chunk>),
    End,
    Full,
}

impl Driver {
    /// A driver over `input`. Nothing is pulled before the consumer first asks.
    pub fn new(input: Input, plan: Plan, run: &Arc<RunContext>, stats: &Arc<StageStats>) -> Self {
        Self::at(0, input, plan, run, stats)
    }

    /// As [`Driver::new`], where the first outcome of the input has number `first`.
    pub fn at(
        first: u64,
        input: Input,
        plan: Plan,
        run: &Arc<RunContext>,
        stats: &Arc<StageStats>,
    ) -> Self {
        // Twice the window, so that a send never waits: the consumer's own round comes on top.
        let (tx, rx) = bounded(plan.window.max(1) * 2);
        let quiet = input.quiet();
        stats.parallelism.store(plan.workers as u64, Relaxed);
        let shared = Shared {
            run: Arc::clone(run),
            stats: Arc::clone(stats),
            plan,
            source: Mutex::new(Source { input, pulled: first, slots: Some(tx) }),
            demand: AtomicUsize::new(1),
            element_bytes: AtomicUsize::new(0),
            in_flight: AtomicUsize::new(0),
            tasks: AtomicUsize::new(0),
            running: AtomicUsize::new(0),
            dropped: AtomicBool::new(false),
            stalled: Mutex::new(None),
        };
        Driver { shared: Arc::new(shared), slots: rx, ready: Outcomes::new(), quiet, waited: false }
    }

    /// The next outcome, of at most `max` elements.
    ///
    /// # Errors
    /// One outcome of the input or the work, or that the run was closed.
    pub fn next(&mut self, max: usize) -> Result<Option<Chunk>> {
        self.shared.demand.store(max, SeqCst);
        loop {
            if let Some(outcome) = self.ready.pop_front() {
                return self.at_most(max, outcome?).map(Some);
            }
            match self.slots.try_recv() {
                Ok(slot) => self.open(slot)?,
                Err(TryRecvError::Disconnected) => return Ok(None),
                Err(TryRecvError::Empty) => {
                    Shared::wake(&self.shared);
                    if self.leaves_work_to_tasks() {
                        self.wait_for_slot(START)?;
                    } else if !self.work_here()? {
                        self.wait_for_slot(POLL)?;
                    }
                }
            }
        }
    }

    /// Begins to pull before the consumer first asks.
    pub fn start(&self) {
        Shared::wake(&self.shared);
    }

    /// True if the next outcome, or the end, is there without waiting.
    pub fn is_ready(&self) -> bool {
        let ended = || self.shared.source.try_lock().is_ok_and(|source| source.slots.is_none());
        !self.ready.is_empty() || !self.slots.is_empty() || ended()
    }

    /// Takes outcomes and drops them. The input is told how many, if nothing is in flight.
    ///
    /// # Errors
    /// As [`crate::engine::Stage::skip`].
    pub fn skip(&mut self, n: u64) -> Result<u64> {
        if self.ready.is_empty()
            && self.shared.in_flight.load(SeqCst) == 0
            && let Ok(mut source) = self.shared.source.try_lock()
            && self.slots.is_empty()
            && source.slots.is_some()
        {
            let skipped = source.input.skip(n)?;
            source.pulled += skipped;
            return Ok(skipped);
        }
        skip_by_running(n, |max| self.next(max))
    }

    /// The first `max` rows; the others are the next outcome.
    fn at_most(&mut self, max: usize, chunk: Chunk) -> Result<Chunk> {
        if chunk.rows() <= max {
            return Ok(chunk);
        }
        self.ready.push_front(chunk.slice(max..chunk.rows()));
        chunk.slice(0..max)
    }

    /// True if the input may be asked for more than is needed.
    pub fn quiet(&self) -> bool {
        self.quiet
    }

    fn open(&mut self, slot: Slot) -> Result<()> {
        let outcomes = match slot {
            Slot::Done(outcome) => Ok(Outcomes::from([outcome])),
            Slot::Working(result) => self.wait_for_result(&result),
        };
        self.shared.in_flight.fetch_sub(1, SeqCst);
        self.waited = false;
        Shared::wake(&self.shared);
        self.ready = outcomes?;
        Ok(())
    }

    /// True while tasks of foreign code run: one slow call in the consumer's thread would hold up
    /// the results of all others. Without a running task the consumer waits once for one to start.
    fn leaves_work_to_tasks(&mut self) -> bool {
        if !self.shared.plan.single || self.shared.tasks.load(SeqCst) == 0 {
            return false;
        }
        let waited = std::mem::replace(&mut self.waited, true);
        self.shared.running.load(SeqCst) > 0 || !waited
    }

    /// One round in the consumer's own thread; false if another thread is at the source.
    fn work_here(&mut self) -> Result<bool> {
        let shared = Arc::clone(&self.shared);
        let mut source = match shared.source.try_lock() {
            Ok(source) => source,
            Err(TryLockError::Poisoned(poisoned)) => poisoned.into_inner(),
            Err(TryLockError::WouldBlock) => return Ok(false),
        };
        // Only who holds the lock adds slots: what came in meanwhile comes first.
        if !self.slots.is_empty() || source.slots.is_none() {
            return Ok(true);
        }
        let round = shared.round(&mut source, true);
        drop(source);
        match round {
            Round::Pulled(chunk, first) => {
                let outcomes = shared.work(chunk, first);
                shared.in_flight.fetch_sub(1, SeqCst);
                self.ready = outcomes;
            }
            Round::Outcome(outcome) => {
                shared.in_flight.fetch_sub(1, SeqCst);
                self.ready.push_back(outcome);
            }
            // Unordered results of running tasks are still to come.
            Round::Full => return Ok(false),
            Round::End => {}
        }
        Ok(true)
    }

    fn wait_for_slot(&mut self, time: Duration) -> Result<()> {
        let slots = self.slots.clone();
        let received = self.shared.waiting(|| slots.recv_timeout(time))?;
        match received {
            Ok(slot) => self.open(slot),
            Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => Ok(()),
        }
    }

    /// The result of a chunk in work. Meanwhile the consumer works on further chunks like a task:
    /// it may sit on one of the few threads that the tasks need.
    fn wait_for_result(&self, result: &Receiver<Outcomes>) -> Result<Outcomes> {
        loop {
            if let Ok(outcomes) = result.try_recv() {
                return Ok(outcomes);
            }
            if self.help() {
                continue;
            }
            match self.shared.waiting(|| result.recv_timeout(POLL))? {
                Ok(outcomes) => return Ok(outcomes),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => {
                    self.shared.run.check()?;
                    return Err(Error::internal("a worker of a parallel stage panicked"));
                }
            }
        }
    }
}

impl Driver {
    /// A round of a task in the consumer's thread; false if there is none to do.
    fn help(&self) -> bool {
        let shared = &self.shared;
        if shared.plan.single || !shared.has_room() || shared.over() {
            return false;
        }
        match shared.source.try_lock() {
            // A slow source would keep the consumer from results that are ready.
            Ok(source) if source.input.quiet() => shared.round_of_task(source),
            _ => false,
        }
    }
}

impl Drop for Driver {
    fn drop(&mut self) {
        self.shared.dropped.store(true, SeqCst);
    }
}

impl Shared {
    /// Spawns a task if there is room for its result.
    fn wake(shared: &Arc<Self>) {
        loop {
            let tasks = shared.tasks.load(SeqCst);
            if tasks >= shared.plan.workers || !shared.has_room() || shared.over() {
                return;
            }
            if shared.tasks.compare_exchange(tasks, tasks + 1, SeqCst, SeqCst).is_ok() {
                break;
            }
        }
        if let Some(since) = lock(&shared.stalled).take() {
            shared.stats.output_wait_ns.fetch_add(since_ns(since), SeqCst);
        }
        let task = TaskGuard(Arc::clone(shared));
        shared.run.task_started();
        pool::spawn(shared.plan.kind, Box::new(move || task.0.task()));
    }

    /// Before a call of foreign code, which may take long: the consumer wakes tasks only when it
    /// has a result.
    fn wake_another(self: &Arc<Self>) {
        if self.plan.single {
            Self::wake(self);
        }
    }

    fn has_room(&self) -> bool {
        self.in_flight.load(SeqCst) < self.plan.window
    }

    fn over(&self) -> bool {
        self.dropped.load(SeqCst) || self.run.is_cancelled()
    }

    fn task(self: &Arc<Self>) {
        self.running.fetch_add(1, SeqCst);
        self.rounds();
        self.running.fetch_sub(1, SeqCst);
    }

    fn rounds(self: &Arc<Self>) {
        while !self.over() {
            let limit = self.run.limit();
            match limited(limit, || busy(&self.stats, || self.step())) {
                Ok(true) => {}
                _ => break,
            }
        }
    }

    /// One round of a task; false if there is nothing more to do for now.
    fn step(self: &Arc<Self>) -> bool {
        match unlimited(|| waiting(&self.stats, || lock(&self.source))) {
            Ok(source) if !self.over() => self.round_of_task(source),
            _ => false,
        }
    }

    fn round_of_task(self: &Arc<Self>, mut source: MutexGuard<'_, Source>) -> bool {
        match self.round(&mut source, false) {
            Round::End => false,
            Round::Full => {
                lock(&self.stalled).get_or_insert_with(Instant::now);
                false
            }
            Round::Outcome(outcome) => {
                let slots = source.slots.clone();
                slots.is_some_and(|slots| slots.send(Slot::Done(outcome)).is_ok())
            }
            Round::Pulled(chunk, first) => self.deliver(source, chunk, first),
        }
    }

    fn deliver(self: &Arc<Self>, source: MutexGuard<'_, Source>, chunk: Chunk, first: u64) -> bool {
        let Some(slots) = source.slots.clone() else { return false };
        let (tx, rx) = bounded(1);
        if self.plan.ordered {
            if slots.send(Slot::Working(rx)).is_err() {
                return false;
            }
            drop(source);
            self.wake_another();
            tx.send(self.work(chunk, first)).is_ok()
        } else {
            drop(source);
            self.wake_another();
            let _ = tx.send(self.work(chunk, first));
            slots.send(Slot::Working(rx)).is_ok()
        }
    }

    /// Pulls once, under the lock. Work of an identity driver is done there too.
    fn round(&self, source: &mut Source, by_consumer: bool) -> Round {
        if source.slots.is_none() {
            return Round::End;
        }
        // The element the consumer waits for is always admitted, unless it is in work already.
        let admitted = by_consumer && self.in_flight.load(SeqCst) == 0;
        if !admitted && !self.has_room() {
            return Round::Full;
        }
        self.in_flight.fetch_add(1, SeqCst);
        let pulled = self.pull(&mut source.input);
        let first = source.pulled;
        source.pulled += match &pulled {
            Ok(chunk) => chunk.as_ref().map_or(0, |chunk| chunk.rows() as u64),
            Err(_) => 1,
        };
        match pulled {
            Ok(Some(chunk)) if self.plan.work.is_some() => Round::Pulled(chunk, first),
            Ok(Some(chunk)) => Round::Outcome(Ok(chunk)),
            Ok(None) => {
                self.in_flight.fetch_sub(1, SeqCst);
                source.slots = None;
                Round::End
            }
            Err(error) => Round::Outcome(Err(error)),
        }
    }

    fn pull(&self, input: &mut Input) -> Result<Option<Chunk>> {
        let demand = self.demand.load(SeqCst);
        if self.plan.single {
            // Only what cannot be observed is made before its turn.
            let rows = self.plan.work.as_ref().filter(|_| input.quiet());
            input.next(rows.map_or(1, |work| work.rows()))
        } else if input.quiet() && self.plan.work.as_ref().is_some_and(|work| work.is_heavy()) {
            // No more than the consumer asks for: what waits in chunks is work and memory.
            let rows = demand.clamp(1, self.most_rows());
            match self.plan.fill && rows >= EXACT_FROM {
                true => input.fill(rows),
                false => input.next(rows),
            }
        } else if demand < EXACT_FROM || !input.quiet() {
            input.next_chunk()
        } else if self.plan.fill {
            input.fill(demand)
        } else {
            input.next(demand)
        }
    }

    /// How many heavy elements are worked on at once.
    fn most_rows(&self) -> usize {
        let rows = HEAVY_BYTES.checked_div(self.element_bytes.load(Relaxed));
        rows.unwrap_or(HEAVY_ROWS).max(1)
    }

    fn work(&self, chunk: Chunk, first: u64) -> Outcomes {
        match &self.plan.work {
            Some(work) if work.is_heavy() => {
                let outcomes = work.run(chunk, first);
                for done in outcomes.iter().flatten() {
                    let bytes = done.payload_bytes() / done.rows().max(1);
                    self.element_bytes.store(bytes, Relaxed);
                }
                outcomes
            }
            Some(work) => work.run(chunk, first),
            None => Outcomes::from([Ok(chunk)]),
        }
    }

    /// A wait of the consumer that can be interrupted and cancelled.
    fn waiting<T>(&self, wait: impl FnOnce() -> T) -> Result<T> {
        self.run.check()?;
        let result = unlimited(|| waiting(&self.stats, wait))?;
        poll()?;
        Ok(result)
    }
}

/// Counts a task out when it ends, by return or panic, and makes sure that room which appeared
/// meanwhile is not forgotten.
struct TaskGuard(Arc<Shared>);

impl Drop for TaskGuard {
    fn drop(&mut self) {
        self.0.tasks.fetch_sub(1, SeqCst);
        self.0.run.task_ended();
        let ended = match self.0.source.try_lock() {
            Ok(source) => source.slots.is_none(),
            Err(_) => false,
        };
        if !ended {
            Shared::wake(&self.0);
        }
    }
}
