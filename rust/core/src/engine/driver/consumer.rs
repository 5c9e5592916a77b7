//! The consumer's end of a driver: takes outcomes, wakes tasks, and works itself rather than wait
//! for a task that has no thread.

use std::collections::VecDeque;
use std::sync::atomic::AtomicU64;
use std::sync::{Arc, OnceLock, TryLockError};
use std::time::{Duration, Instant};

use crossbeam_channel::{RecvTimeoutError, TryRecvError};

use crate::data::Chunk;
use crate::engine::autotune::Meter;
use crate::engine::budget::Queue;
use crate::engine::driver::{Driver, Outcomes, Plan, Round, Shared, Slot, Source, Ticket, Worked};
use crate::engine::lookahead::Lookahead;
use crate::engine::pool::Kind;
use crate::engine::run::RunContext;
use crate::engine::skipping::{Skipped, passed, skip_by_running};
use crate::engine::stage::Input;
use crate::engine::stats::{StageStats, since_ns};
use crate::engine::sync::atomic::{AtomicBool, AtomicUsize, Ordering::SeqCst};
use crate::engine::sync::{Mutex, Receiver, unbounded};
use crate::engine::wait::POLL;
use crate::error::{Error, Result};

/// How long a consumer leaves a task of foreign code to find a thread, before it works itself, which
/// holds up the results of others; and how long where tasks found none before.
const PATIENCE: Duration = Duration::from_millis(20);
const IMPATIENCE: Duration = Duration::from_millis(1);

/// What became of a search for a result before its turn.
enum Found {
    Ready,
    Nothing,
    Waited,
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
        let blocking = plan.kind == Kind::Blocking;
        let meter = Meter::new(Arc::clone(&plan.workers), plan.window.clone(), blocking);
        let group = plan.group.as_ref().and_then(|group| group.meter());
        let meter = Arc::new(meter.of_group(group));
        if group.is_none() {
            stats.metered(&meter);
            run.controller().register(&meter);
        }
        // What is in flight is counted: a send never waits, and a large window costs nothing.
        let (tx, rx) = unbounded();
        let quiet = input.quiet();
        let lookahead = match input.lookahead() {
            Some(lookahead) => Arc::clone(lookahead),
            None => Lookahead::new(run, None),
        };
        let shared = Shared {
            run: Arc::clone(run),
            stats: Arc::clone(stats),
            meter,
            queue: Queue::new(stats),
            plan,
            lookahead,
            last_draws: OnceLock::new(),
            source: Mutex::new(Source { input, pulled: first, slots: Some(tx) }),
            demand: AtomicUsize::new(1),
            open: Default::default(),
            quiet: AtomicBool::new(quiet),
            tasks: AtomicUsize::new(0),
            running: AtomicUsize::new(0),
            hungry: AtomicBool::new(false),
            nudged: AtomicBool::new(false),
            dropped: AtomicBool::new(false),
            stalled: AtomicU64::new(0),
        };
        let (shared, ready, patience) = (Arc::new(shared), Outcomes::new(), PATIENCE);
        let (held, charge) = (VecDeque::new(), None);
        Driver { shared, slots: rx, held, ready, charge, max: 1, patience, waited: false, quiet }
    }

    /// The next outcome, of at most `max` elements.
    ///
    /// # Errors
    /// One outcome of the input or the work, or that the run was closed.
    pub fn next(&mut self, max: usize) -> Result<Option<Chunk>> {
        self.shared.demand.store(max, SeqCst);
        self.outcome(max)
    }

    /// The next outcome, of as many elements as come at no extra cost.
    ///
    /// # Errors
    /// As [`Driver::next`].
    pub fn next_chunk(&mut self) -> Result<Option<Chunk>> {
        self.shared.demand.store(1, SeqCst);
        self.outcome(usize::MAX)
    }

    fn outcome(&mut self, max: usize) -> Result<Option<Chunk>> {
        self.max = max;
        loop {
            if let Some(outcome) = self.ready.pop_front() {
                let outcome = outcome.and_then(|chunk| self.at_most(max, chunk));
                self.charge = self.charge.take().filter(|_| !self.ready.is_empty());
                return outcome.map(Some);
            }
            if self.shared.plan.reorder > 0 {
                match self.first_ready()? {
                    Found::Ready | Found::Waited => continue,
                    Found::Nothing => {}
                }
            }
            match self.slots.try_recv() {
                Ok(slot) => self.open(slot)?,
                Err(TryRecvError::Disconnected) => {
                    let draws = self.shared.last_draws.get().cloned();
                    self.shared.lookahead.taken(draws.unwrap_or_default())?;
                    return Ok(None);
                }
                Err(TryRecvError::Empty) => {
                    self.shared.hungry.store(true, SeqCst);
                    Shared::wake(&self.shared);
                    if self.leaves_work_to_tasks() {
                        self.wait_for_slot(self.patience)?;
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

    /// True if a task of it has a thread.
    pub fn is_running(&self) -> bool {
        self.shared.running.load(SeqCst) > 0
    }

    /// Makes an outcome in the consumer's own thread, unless another thread is at it.
    ///
    /// # Errors
    /// That the run was closed.
    pub fn work_once(&mut self) -> Result<()> {
        self.shared.run.check()?;
        self.shared.hungry.store(true, SeqCst);
        self.work_here().map(drop)
    }

    /// Waits until a driver of the group has something new for its consumer since the group had
    /// `seen` arrivals; false if none had before `time` was over.
    ///
    /// # Errors
    /// That the run was closed, or an interrupt.
    pub fn wait_for_group(&self, seen: u64, time: Duration) -> Result<bool> {
        let Some(group) = &self.shared.plan.group else { return Ok(false) };
        // It at least has room, whatever the others have taken.
        self.shared.hungry.store(true, SeqCst);
        Shared::wake(&self.shared);
        self.shared.waiting(|| group.wait(seen, time))
    }

    /// True if the next outcome, or the end, is there without waiting.
    pub fn is_ready(&self) -> bool {
        let ended = || self.shared.source.try_lock().is_ok_and(|source| source.slots.is_none());
        let nudges = usize::from(self.shared.nudged.load(SeqCst));
        !self.ready.is_empty() || !self.held.is_empty() || self.slots.len() > nudges || ended()
    }

    /// Takes outcomes and drops them. The input is told how many, if nothing is in flight.
    ///
    /// # Errors
    /// As [`crate::engine::Stage::skip`].
    pub fn skip(&mut self, n: u64) -> Skipped {
        if self.ready.is_empty()
            && self.held.is_empty()
            && self.shared.meter.in_flight.load(SeqCst) == 0
            && let Ok(mut source) = self.shared.source.try_lock()
            && self.slots.is_empty()
            && source.slots.is_some()
        {
            let skipped = source.input.skip(n);
            source.pulled += passed(&skipped);
            self.quiet = source.input.quiet();
            return skipped;
        }
        skip_by_running(n, |max| self.next(max))
    }

    /// Takes the first slot with a result among those that may be next: results are overtaken by
    /// `reorder` later ones at most. As the oldest slot was overtaken by all that have overtaken
    /// others, only its count matters.
    fn first_ready(&mut self) -> Result<Found> {
        let shared = Arc::clone(&self.shared);
        let seen = shared.plan.group.as_ref().map_or(0, |group| group.arrivals());
        while self.held.len() <= shared.plan.reorder
            && let Ok(slot) = self.slots.try_recv()
        {
            self.open(slot)?;
        }
        let Some((_, overtaken)) = self.held.front() else { return Ok(Found::Nothing) };
        let next = if *overtaken < shared.plan.reorder { self.held.len() } else { 1 };
        for at in 0..next {
            let Some((slot, overtaken)) = self.held.remove(at) else { break };
            let worked = match slot {
                Slot::Done(outcome, ticket) => Ok((Outcomes::from([outcome]), ticket)),
                Slot::Nudge => break,
                Slot::Working(result) => match result.try_recv() {
                    Ok(worked) => Ok(worked),
                    Err(TryRecvError::Empty) => {
                        self.held.insert(at, (Slot::Working(result), overtaken));
                        continue;
                    }
                    Err(TryRecvError::Disconnected) => {
                        shared.run.check()?;
                        Err(Error::internal("a worker of a parallel stage panicked"))
                    }
                },
            };
            self.held.iter_mut().take(at).for_each(|(_, overtaken)| *overtaken += 1);
            self.waited = false;
            return self.take(worked).map(|()| Found::Ready);
        }
        Shared::wake(&shared);
        self.wait_for_group(seen, POLL)?;
        Ok(Found::Waited)
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
        self.quiet || !self.ready.is_empty()
    }

    fn open(&mut self, slot: Slot) -> Result<()> {
        let worked = match slot {
            Slot::Nudge => {
                self.shared.nudged.store(false, SeqCst);
                return Ok(());
            }
            slot if self.shared.plan.reorder > 0 => {
                self.held.push_back((slot, 0));
                return Ok(());
            }
            Slot::Done(outcome, ticket) => Ok((Outcomes::from([outcome]), ticket)),
            Slot::Working(result) => self.wait_for_result(&result),
        };
        self.waited = false;
        self.take(worked)
    }

    /// Takes outcomes for the consumer, who at once takes what was asked for; tasks have room for
    /// others then.
    fn take(&mut self, worked: Result<Worked>) -> Result<()> {
        self.shared.meter.leave();
        let taken = worked.and_then(|(outcomes, Ticket { charge, draws, quiet })| {
            self.quiet = quiet;
            self.shared.hungry.store(false, SeqCst);
            let rest = match outcomes.front() {
                Some(Ok(chunk)) => chunk.rows() > self.max || outcomes.len() > 1,
                _ => outcomes.len() > 1,
            };
            self.ready = outcomes;
            // What it took is given back before others are told.
            self.charge = rest.then_some(charge);
            self.shared.lookahead.taken(draws)
        });
        Shared::wake(&self.shared);
        taken
    }

    /// True while tasks of foreign code run: one slow call in the consumer's thread would hold up
    /// the results of all others. Without a running task the consumer waits once for one to start.
    fn leaves_work_to_tasks(&mut self) -> bool {
        if !self.shared.plan.single || self.shared.tasks.load(SeqCst) == 0 {
            return false;
        }
        let waited = std::mem::replace(&mut self.waited, true);
        let running = self.shared.running.load(SeqCst) > 0;
        if running || waited {
            self.patience = if running { PATIENCE } else { IMPATIENCE };
        }
        running || !waited
    }

    /// One round in the consumer's own thread, which is time it waits for this driver; false if
    /// another thread is at the source, or the input has ended.
    fn work_here(&mut self) -> Result<bool> {
        let (start, idle) = (Instant::now(), self.shared.idle());
        let worked = self.round_here();
        if matches!(worked, Ok(true)) {
            let time = since_ns(start);
            self.shared.meter.helped(time);
            self.shared.starved(time, idle);
        }
        worked
    }

    fn round_here(&mut self) -> Result<bool> {
        let shared = Arc::clone(&self.shared);
        let mut source = match shared.source.try_lock() {
            Ok(source) => source,
            Err(TryLockError::Poisoned(poisoned)) => poisoned.into_inner(),
            Err(TryLockError::WouldBlock) => return Ok(false),
        };
        // Only who holds the lock adds slots: what came in meanwhile comes first.
        if !self.slots.is_empty() {
            return Ok(true);
        }
        // Tasks that work on the last chunks hold the channel open until they are done.
        if source.slots.is_none() {
            return Ok(false);
        }
        let round = shared.round(&mut source);
        drop(source);
        match round {
            Round::Pulled(chunk, first, ticket) => {
                self.take(Ok(Shared::work(&shared, chunk, first, ticket)))?;
            }
            Round::Outcome(outcome, ticket) => {
                self.take(Ok((Outcomes::from([outcome]), ticket)))?;
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
    fn wait_for_result(&self, result: &Receiver<Worked>) -> Result<Worked> {
        loop {
            if let Ok(worked) = result.try_recv() {
                return Ok(worked);
            }
            if self.help() {
                continue;
            }
            match self.shared.waiting(|| result.recv_timeout(POLL))? {
                Ok(worked) => return Ok(worked),
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
        if shared.plan.single || shared.over() {
            return false;
        }
        let start = Instant::now();
        if shared.work_on_row() {
            shared.starved(since_ns(start), shared.idle());
            return true;
        }
        if !shared.has_room() {
            return false;
        }
        match shared.source.try_lock() {
            // A slow source would keep the consumer from results that are ready.
            Ok(source) if source.input.quiet() => {
                let worked = shared.round_of_task(source);
                shared.starved(since_ns(start), shared.idle());
                worked
            }
            _ => false,
        }
    }
}

impl Drop for Driver {
    fn drop(&mut self) {
        self.shared.dropped.store(true, SeqCst);
        self.shared.lookahead.leave();
        self.shared.meter.closed.store(true, SeqCst);
    }
}
