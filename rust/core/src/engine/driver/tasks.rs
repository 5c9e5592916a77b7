//! The tasks of a driver: each pulls a chunk under the source's lock and works on it without.

use std::sync::Arc;
use std::time::Instant;

use crate::data::Chunk;
use crate::engine::driver::{Outcomes, Round, Shared, Slot, Source};
use crate::engine::limit::{limited, unlimited};
use crate::engine::lock;
use crate::engine::pool;
use crate::engine::stage::{EXACT_FROM, Input};
use crate::engine::stats::{busy, since_ns, waiting};
use crate::engine::sync::atomic::{Ordering::Relaxed, Ordering::SeqCst};
use crate::engine::sync::{MutexGuard, bounded};
use crate::engine::wait::poll;
use crate::error::Result;

/// What the results of one chunk of heavy elements may take, and how many elements are tried
/// before that is known. Each worker has two such chunks at most.
const HEAVY_BYTES: usize = 64 << 20;
const HEAVY_ROWS: usize = 128;

impl Shared {
    /// Spawns a task if there is room for its result.
    pub(in crate::engine) fn wake(shared: &Arc<Self>) {
        loop {
            let tasks = shared.tasks.load(SeqCst);
            if tasks >= shared.plan.workers.now() || !shared.has_room() || shared.over() {
                return;
            }
            if shared.tasks.compare_exchange(tasks, tasks + 1, SeqCst, SeqCst).is_ok() {
                break;
            }
        }
        if shared.plan.group.as_ref().is_some_and(|group| !group.enter(shared)) {
            shared.tasks.fetch_sub(1, SeqCst);
            return;
        }
        let since = shared.stalled.swap(0, Relaxed);
        if since > 0 {
            let time = shared.run.now_ns().saturating_sub(since);
            shared.stats.output_wait_ns.fetch_add(time, Relaxed);
            shared.meter.full_ns.fetch_add(time, Relaxed);
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

    pub(super) fn has_room(&self) -> bool {
        self.meter.in_flight.load(SeqCst) < self.meter.window()
    }

    pub(super) fn over(&self) -> bool {
        self.dropped.load(SeqCst) || self.run.is_cancelled()
    }

    fn task(self: &Arc<Self>) {
        self.running.fetch_add(1, SeqCst);
        self.rounds();
        self.running.fetch_sub(1, SeqCst);
    }

    fn rounds(self: &Arc<Self>) {
        // Tasks above a number that was taken back end.
        while !self.over() && self.tasks.load(SeqCst) <= self.plan.workers.now() {
            let limit = self.run.limit();
            match limited(limit, || busy(&self.stats, || self.step())) {
                Ok(true) => self.tell_group(),
                _ => break,
            }
        }
    }

    fn tell_group(&self) {
        if let Some(group) = &self.plan.group {
            group.ring();
        }
    }

    /// One round of a task; false if there is nothing more to do for now.
    fn step(self: &Arc<Self>) -> bool {
        match unlimited(|| waiting(&self.stats, || lock(&self.source))) {
            Ok(source) if !self.over() => self.round_of_task(source),
            _ => false,
        }
    }

    pub(super) fn round_of_task(self: &Arc<Self>, mut source: MutexGuard<'_, Source>) -> bool {
        match self.round(&mut source, false) {
            Round::End => false,
            Round::Full => {
                let now = self.run.now_ns().max(1);
                let _ = self.stalled.compare_exchange(0, now, Relaxed, Relaxed);
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
    pub(super) fn round(&self, source: &mut Source, by_consumer: bool) -> Round {
        if source.slots.is_none() {
            return Round::End;
        }
        // The element the consumer waits for is always admitted, unless it is in work already.
        let admitted = by_consumer && self.meter.in_flight.load(SeqCst) == 0;
        if !admitted && !self.has_room() {
            return Round::Full;
        }
        self.meter.in_flight.fetch_add(1, SeqCst);
        let start = Instant::now();
        let pulled = self.pull(&mut source.input);
        self.meter.pull_ns.fetch_add(since_ns(start), Relaxed);
        let first = source.pulled;
        source.pulled += match &pulled {
            Ok(chunk) => chunk.as_ref().map_or(0, |chunk| chunk.rows() as u64),
            Err(_) => 1,
        };
        match pulled {
            Ok(Some(chunk)) if self.plan.work.is_some() => Round::Pulled(chunk, first),
            Ok(Some(chunk)) => Round::Outcome(Ok(chunk)),
            Ok(None) => {
                self.meter.in_flight.fetch_sub(1, SeqCst);
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

    pub(super) fn work(&self, chunk: Chunk, first: u64) -> Outcomes {
        let Some(work) = &self.plan.work else { return Outcomes::from([Ok(chunk)]) };
        let (rows, start) = (chunk.rows() as u64, Instant::now());
        let outcomes = work.run(chunk, first);
        self.meter.worked(rows, since_ns(start));
        if work.is_heavy() {
            for done in outcomes.iter().flatten() {
                let bytes = done.payload_bytes() / done.rows().max(1);
                self.element_bytes.store(bytes, Relaxed);
            }
        }
        outcomes
    }

    /// A wait of the consumer that can be interrupted and cancelled.
    pub(super) fn waiting<T>(&self, wait: impl FnOnce() -> T) -> Result<T> {
        self.run.check()?;
        let start = Instant::now();
        let result = unlimited(|| waiting(&self.stats, wait))?;
        self.starved(since_ns(start));
        poll()?;
        Ok(result)
    }

    /// Counts time in which the consumer had nothing to take.
    pub(super) fn starved(&self, time: u64) {
        self.meter.starved_ns.fetch_add(time, Relaxed);
        self.run.controller().pass(self.run.now_ns());
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
        if let Some(group) = &self.0.plan.group {
            group.ring();
            group.leave();
        }
        if !ended {
            Shared::wake(&self.0);
        }
    }
}
