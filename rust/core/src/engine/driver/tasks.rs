//! The tasks of a driver: each pulls a chunk under the source's lock and works on it without.

use std::sync::Arc;
use std::time::Instant;

use crate::data::Chunk;
use crate::engine::driver::rows::Crew;
use crate::engine::driver::{Outcomes, Round, Shared, Slot, Source, Ticket, Worked};
use crate::engine::limit::{limited, unlimited};
use crate::engine::lock;
use crate::engine::pool;
use crate::engine::stage::{EXACT_FROM, Input};
use crate::engine::stats::{busy, since_ns, waiting};
use crate::engine::sync::atomic::{Ordering::Relaxed, Ordering::SeqCst};
use crate::engine::sync::{MutexGuard, bounded};
use crate::engine::wait::poll;
use crate::error::Result;

impl Shared {
    /// Spawns a task if there is room for its result.
    pub(in crate::engine) fn wake(shared: &Arc<Self>) {
        loop {
            let tasks = shared.tasks.load(SeqCst);
            let busy = tasks >= shared.plan.workers.now();
            if busy || !(shared.has_room() || shared.has_rows()) || shared.over() {
                return;
            }
            if shared.tasks.compare_exchange(tasks, tasks + 1, SeqCst, SeqCst).is_ok() {
                break;
            }
        }
        if let Some(group) = &shared.plan.group
            && !group.enter(shared)
        {
            shared.tasks.fetch_sub(1, SeqCst);
            // A task that left just now has found this driver busy.
            if group.has_turn() {
                Self::wake(shared);
            }
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
        self.in_window() && (self.is_awaited() || self.queue.admits(self.rows_ahead()))
    }

    /// True if the consumer waits for what is pulled next.
    fn is_awaited(&self) -> bool {
        self.hungry.load(SeqCst) && self.meter.in_flight.load(SeqCst) == 0
    }

    fn in_window(&self) -> bool {
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

    /// One round of a task, or a row for another; false if there is nothing more to do for now.
    fn step(self: &Arc<Self>) -> bool {
        self.step_of_its_own() || (!self.over() && self.work_on_row())
    }

    fn step_of_its_own(self: &Arc<Self>) -> bool {
        if let Ok(source) = self.source.try_lock() {
            return !self.over() && self.round_of_task(source);
        }
        if !self.over() && self.work_on_row() {
            return true;
        }
        match unlimited(|| waiting(&self.stats, || lock(&self.source))) {
            Ok(source) if !self.over() => self.round_of_task(source),
            _ => false,
        }
    }

    pub(super) fn round_of_task(self: &Arc<Self>, mut source: MutexGuard<'_, Source>) -> bool {
        match self.round(&mut source) {
            Round::End => false,
            Round::Full => {
                let now = self.run.now_ns().max(1);
                let _ = self.stalled.compare_exchange(0, now, Relaxed, Relaxed);
                false
            }
            Round::Outcome(outcome, ticket) => {
                let slots = source.slots.clone();
                slots.is_some_and(|slots| slots.send(Slot::Done(outcome, ticket)).is_ok())
            }
            Round::Pulled(chunk, first, ticket) => self.deliver(source, chunk, first, ticket),
        }
    }

    fn deliver(
        self: &Arc<Self>,
        source: MutexGuard<'_, Source>,
        chunk: Chunk,
        first: u64,
        ticket: Ticket,
    ) -> bool {
        let Some(slots) = source.slots.clone() else { return false };
        let (tx, rx) = bounded(1);
        if self.plan.ordered {
            if slots.send(Slot::Working(rx)).is_err() {
                return false;
            }
            drop(source);
            self.wake_another();
            tx.send(self.work(chunk, first, ticket)).is_ok()
        } else {
            drop(source);
            self.wake_another();
            let _ = tx.send(self.work(chunk, first, ticket));
            slots.send(Slot::Working(rx)).is_ok()
        }
    }

    /// Pulls once, under the lock. Work of an identity driver is done there too.
    pub(super) fn round(&self, source: &mut Source) -> Round {
        if source.slots.is_none() {
            return Round::End;
        }
        // The element the consumer waits for is always admitted, unless it is in work already.
        let admitted = self.is_awaited();
        let rows = self.rows_ahead();
        let charge = match admitted {
            true => Some(self.queue.reserve(rows)),
            false if self.in_window() => self.queue.try_reserve(rows),
            false => None,
        };
        let Some(mut charge) = charge else { return Round::Full };
        self.meter.enter();
        let start = Instant::now();
        let (pulled, draws) = self.lookahead.read(|| self.pull(&mut source.input));
        let rows = pulled.as_ref().ok().and_then(Option::as_ref).map_or(0, Chunk::rows);
        self.meter.pulled(rows as u64, since_ns(start));
        let quiet = source.input.quiet();
        self.quiet.store(quiet, SeqCst);
        let first = source.pulled;
        source.pulled += if pulled.is_err() { 1 } else { rows as u64 };
        match pulled {
            Ok(Some(chunk)) if self.plan.work.is_some() => {
                charge.pulled(&chunk, if self.plan.whole { 1 } else { chunk.rows() });
                Round::Pulled(chunk, first, Ticket { charge, draws, quiet })
            }
            Ok(Some(chunk)) => {
                charge.made([&chunk]);
                Round::Outcome(Ok(chunk), Ticket { charge, draws, quiet })
            }
            Ok(None) => {
                self.meter.leave();
                let _ = self.last_draws.set(draws);
                source.slots = None;
                Round::End
            }
            Err(error) => Round::Outcome(Err(error), Ticket { charge, draws, quiet }),
        }
    }

    fn pull(&self, input: &mut Input) -> Result<Option<Chunk>> {
        if self.plan.single {
            // Only what cannot be observed is made before its turn.
            return input.next(if input.quiet() { self.single_rows() } else { 1 });
        }
        if self.plan.whole {
            return input.next_whole();
        }
        let rows = self.rows_of_chunk();
        if !input.quiet() || (self.demand.load(SeqCst) < EXACT_FROM && !self.is_heavy()) {
            input.next_chunk(rows)
        } else if self.plan.fill && rows >= EXACT_FROM {
            input.fill(rows)
        } else {
            input.next(rows)
        }
    }

    fn is_heavy(&self) -> bool {
        self.plan.work.as_ref().is_some_and(|work| work.is_heavy())
    }

    fn single_rows(&self) -> usize {
        // Where order is loosened by numbers of elements each counts.
        let work = self.plan.work.as_ref().filter(|_| self.plan.reorder == 0);
        work.map_or(1, |work| work.rows())
    }

    /// At most so many rows of a quiet input make a chunk: no more of heavy ones than the consumer
    /// asks for, since what waits in chunks is work and memory.
    fn rows_of_chunk(&self) -> usize {
        let (demand, heavy) = (self.demand.load(SeqCst).max(1), self.is_heavy());
        let rows = match heavy {
            false if demand < EXACT_FROM => demand.max(self.queue.full_rows()),
            _ => demand,
        };
        rows.min(self.queue.most_rows(heavy))
    }

    /// How many rows are pulled next, as far as one can tell without asking the input.
    fn rows_ahead(&self) -> usize {
        if self.plan.whole {
            return 1;
        }
        match (self.plan.single, self.quiet.load(SeqCst)) {
            (true, true) => self.single_rows(),
            (false, true) => self.rows_of_chunk().min(self.run.options.chunk_rows),
            _ => 1,
        }
    }

    pub(super) fn work(self: &Arc<Self>, chunk: Chunk, first: u64, mut ticket: Ticket) -> Worked {
        let (rows, start) = (chunk.rows() as u64, Instant::now());
        let outcomes = match &self.plan.work {
            Some(work) => work.run(chunk, first, &Crew(self)),
            None => return (Outcomes::from([Ok(chunk)]), ticket),
        };
        self.meter.worked(rows, since_ns(start));
        ticket.charge.made(outcomes.iter().flatten());
        (outcomes, ticket)
    }

    /// A wait of the consumer that can be interrupted and cancelled.
    pub(super) fn waiting<T>(&self, wait: impl FnOnce() -> T) -> Result<T> {
        self.run.check()?;
        let (start, idle) = (Instant::now(), self.idle());
        let result = unlimited(|| waiting(&self.stats, wait))?;
        self.starved(since_ns(start), idle);
        poll()?;
        Ok(result)
    }

    /// The part of the tasks of its group that have nothing to do.
    pub(super) fn idle(&self) -> f64 {
        self.plan.group.as_ref().map_or(0.0, |group| group.idle())
    }

    /// Counts time in which the consumer had nothing to take, while this part of the tasks stood
    /// still.
    pub(super) fn starved(&self, time: u64, idle: f64) {
        self.meter.starved(time, idle);
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
        let slots = self.0.source.try_lock().map(|source| source.slots.clone());
        if let Some(group) = &self.0.plan.group {
            group.ring();
            group.leave();
        }
        match slots {
            Ok(None) if !self.0.has_rows() => {}
            Ok(None) => Shared::wake(&self.0),
            Ok(Some(slots)) => {
                Shared::wake(&self.0);
                // The task may have found no room just before the consumer began to wait, which
                // saw it at the source and so left the work to it.
                if self.0.is_awaited() && !self.0.nudged.swap(true, SeqCst) {
                    let _ = slots.send(Slot::Nudge);
                }
            }
            Err(_) => Shared::wake(&self.0),
        }
    }
}
