//! The cycle of an `interleave` in a run.

use std::collections::VecDeque;
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::time::{Duration, Instant};

use super::opening::{OpeningStage, Turnstile};
use super::slot::{Picked, Slot};
use super::standing::{Open, Standing};
use crate::combine::plans::{Before, Plans};
use crate::data::{Chunk, Mark};
use crate::engine::autotune::{Knob, Meter, Window};
use crate::engine::driver::{self, Driver};
use crate::engine::group::Group;
use crate::engine::lookahead::Lookahead;
use crate::engine::pool::Kind;
use crate::engine::run::RunContext;
use crate::engine::skipping::{skip_by_running, skip_on, told};
use crate::engine::stage::is_final;
use crate::engine::stats::{StageStats, since_ns};
use crate::engine::{Input, Opening, Skipped, Stage};
use crate::error::{Error, Result};

mod skipping;

/// Datasets that are opened for slots that are still taken, at most.
const SPARE: usize = 16;
/// With more slots than this marks would make states too long.
const MOST_MARKED: usize = 4096;
/// How long a consumer that waits for any dataset leaves the tasks to find threads before it works
/// itself, which keeps it from what the others have; and how long where they found none before.
const PATIENCE: Duration = Duration::from_millis(20);
const IMPATIENCE: Duration = Duration::from_millis(1);

/// How datasets are read before their turn.
pub(super) struct Ahead {
    /// How many at a time, from the one whose turn it is, and how far.
    meter: Arc<Meter>,
    group: Arc<Group>,
    turnstile: Arc<Turnstile>,
    /// Who takes elements before the turn of their dataset, and the draws on the way to their end.
    lookahead: Arc<Lookahead>,
    last: Range<u64>,
    /// Datasets made so far.
    made: u64,
    stats: Arc<StageStats>,
}

impl Ahead {
    /// Reads as many datasets at a time as `slots` says, and as many chunks of each as `window`.
    pub(super) fn new(slots: Arc<Knob>, window: Arc<Knob>, opening: &Opening<'_>) -> Self {
        let meter = Arc::new(Meter::new(slots, Window::Chunks(window), true));
        opening.stats.metered(&meter);
        opening.run.controller().register_group(&meter);
        let group = Group::metered(Arc::clone(&meter));
        let stats = Arc::clone(&opening.stats);
        let lookahead = Lookahead::new(opening.run, opening.lookahead());
        Ahead { meter, group, turnstile: Arc::default(), lookahead, last: 0..0, made: 0, stats }
    }
}

impl Drop for Ahead {
    fn drop(&mut self) {
        self.lookahead.leave();
        self.meter.closed.store(true, Relaxed);
    }
}

pub(super) struct InterleaveStage {
    plans: Plans,
    /// Number of slots there may be.
    cycle: usize,
    /// Those that there are: one more is made when the turn first comes to it, so that a cycle much
    /// longer than the input costs nothing.
    slots: Vec<Option<Slot>>,
    /// Datasets that are read ahead before they have a slot.
    spare: VecDeque<Slot>,
    /// Number of slots that were filled once.
    reached: usize,
    /// Number of slots with a dataset.
    open: usize,
    input_ended: bool,
    /// The slot whose turn it is.
    turn: usize,
    /// Outcomes taken in this turn.
    taken: usize,
    block: usize,
    ahead: Option<Ahead>,
    ordered: bool,
    /// An error is an outcome of its turn.
    errors_count: bool,
    /// The next outcome.
    deferred: Option<Error>,
    /// How often it was asked.
    calls: u64,
    patience: Duration,
    /// What was asked for may be more than is needed.
    asked_quiet: bool,
    /// Where the cycle is to be taken up, before anything else.
    standing: Option<Standing>,
    marks: Option<Marks>,
    run: Arc<RunContext>,
}

/// What marks of the cycle take.
struct Marks {
    /// The stage's among the seeds of the run.
    slot: usize,
    /// Outcomes since the last mark.
    since: usize,
}

impl InterleaveStage {
    pub(super) fn new(plans: Plans, cycle: usize, block: usize, run: &Arc<RunContext>) -> Self {
        InterleaveStage {
            plans,
            cycle,
            slots: vec![None],
            spare: VecDeque::new(),
            reached: 0,
            open: 0,
            input_ended: false,
            turn: 0,
            taken: 0,
            block,
            ahead: None,
            ordered: true,
            errors_count: false,
            deferred: None,
            calls: 0,
            patience: PATIENCE,
            asked_quiet: false,
            standing: None,
            marks: None,
            run: Arc::clone(run),
        }
    }

    /// Takes the cycle up where the mark says, and marks its own chunks if there is a `slot` for that.
    pub(super) fn stands(&mut self, at: &Mark, slot: Option<usize>) {
        self.standing = Standing::of(at);
        self.marks = slot.map(|slot| Marks { slot, since: 0 });
    }

    /// Sets how datasets are read before their turn.
    pub(super) fn reads(&mut self, ahead: Option<Ahead>, ordered: bool, errors_count: bool) {
        self.ahead = ahead;
        self.ordered = ordered;
        self.errors_count = errors_count;
    }

    /// The slot whose turn it is, with a dataset in it; false at the end of all.
    fn settle(&mut self) -> Result<bool> {
        while self.slots[self.turn].is_none() {
            if self.is_exhausted() {
                if let Some(ahead) = &mut self.ahead {
                    ahead.lookahead.taken(std::mem::take(&mut ahead.last))?;
                }
                if self.open == 0 {
                    return Ok(false);
                }
                self.pass();
            } else {
                let opened = self.open_next()?;
                self.put(self.turn, opened);
            }
        }
        Ok(true)
    }

    fn is_exhausted(&self) -> bool {
        self.input_ended && self.spare.is_empty()
    }

    /// Fills slots before their turn, and lets their datasets be read. A slot that was left empty
    /// waits for its turn, so that datasets keep their slots whatever is read ahead.
    fn look_ahead(&mut self) -> Result<()> {
        let Some(ahead) = &self.ahead else { return Ok(()) };
        let slots = ahead.meter.workers.now();
        let last = self.cycle.min(self.turn.saturating_add(slots));
        while self.reached < last && !self.is_exhausted() {
            let opened = self.open_next()?;
            self.put(self.reached, opened);
        }
        if !self.ordered {
            // No turn may come by.
            for at in 0..self.slots.len() {
                if self.slots[at].is_none() && !self.is_exhausted() {
                    let opened = self.open_next()?;
                    self.put(at, opened);
                }
            }
        }
        if self.reached == self.cycle {
            while self.spare.len() < slots.min(SPARE) && !self.input_ended {
                match self.open_from_input()? {
                    Some(slot) => self.spare.push_back(slot),
                    None => self.input_ended = true,
                }
            }
        }
        let around = (self.turn..self.slots.len()).chain(0..self.turn);
        let most = if self.ordered { slots } else { self.cycle };
        for at in around.take(most) {
            if let Some(driver) = self.slots[at].as_mut().and_then(Slot::driver) {
                driver.start();
            }
        }
        self.spare.iter_mut().filter_map(Slot::driver).for_each(|driver| driver.start());
        Ok(())
    }

    /// The next dataset; `None` if there is none.
    fn open_next(&mut self) -> Result<Option<Slot>> {
        match self.spare.pop_front() {
            Some(slot) => Ok(Some(slot)),
            None => self.open_from_input(),
        }
    }

    fn open_from_input(&mut self) -> Result<Option<Slot>> {
        let before = self.plans.before();
        let Some(ahead) = &mut self.ahead else {
            return match self.plans.next() {
                Err(error) if self.errors_count && !is_final(&error) => {
                    Ok(Some(Slot::failed(error, before)))
                }
                input => Ok(input?.map(|input| Slot::plain(input, before))),
            };
        };
        let start = Instant::now();
        let (sown, draws) = ahead.lookahead.read(|| self.plans.sow());
        ahead.meter.pull_ns.fetch_add(since_ns(start), Relaxed);
        let seedling = match sown {
            Ok(Some(seedling)) => seedling,
            Ok(None) => {
                ahead.last = draws;
                return Ok(None);
            }
            Err(error) if is_final(&error) => return Err(error),
            Err(error) => {
                return Ok(Some(Slot::failed(error, before).early(&ahead.lookahead, draws)));
            }
        };
        let reader = seedling.lookahead().cloned();
        let stage = OpeningStage::new(seedling, ahead.made, &ahead.turnstile, &self.run);
        ahead.made += 1;
        let plan = driver::Plan {
            group: Some(Arc::clone(&ahead.group)),
            ..driver::Plan::new(Knob::fixed(1), ahead.meter.window.clone(), Kind::Blocking)
        };
        let length = stage.length();
        let mut input = Input::new(Box::new(stage), &self.run);
        if let Some(reader) = reader {
            input = input.read_ahead_by(reader);
        }
        let driver = Driver::new(input, plan, &self.run, &ahead.stats);
        Ok(Some(Slot::driven(driver, before, length).early(&ahead.lookahead, draws)))
    }

    fn put(&mut self, at: usize, slot: Option<Slot>) {
        self.input_ended |= slot.is_none();
        self.open += usize::from(slot.is_some());
        match self.slots.get_mut(at) {
            Some(place) => *place = slot,
            None => self.slots.push(slot),
        }
        self.reached = self.reached.max(at + 1);
    }

    fn pass(&mut self) {
        self.turn += 1;
        if self.turn == self.slots.len() {
            if self.is_exhausted() || self.turn == self.cycle {
                self.turn = 0;
            } else {
                self.slots.push(None);
            }
        }
        self.taken = 0;
    }

    fn leave(&mut self) {
        self.slots[self.turn] = None;
        self.open -= 1;
        self.pass();
    }

    /// Counts outcomes of the slot whose turn it is.
    fn count(&mut self, outcomes: usize) {
        self.taken += outcomes;
        if let Some(marks) = &mut self.marks {
            marks.since = marks.since.saturating_add(outcomes);
        }
        if self.taken >= self.block {
            self.pass();
        }
    }

    /// Opens the datasets that the mark tells of, each where it stood.
    fn take_up(&mut self) -> Result<()> {
        let Some(Standing { turn, taken, slots }) = self.standing.take() else { return Ok(()) };
        let reached = slots.len().max(turn.saturating_add(1));
        if reached > self.cycle || taken >= self.block {
            return Err(Error::invalid_argument("a state of more slots than an interleave has"));
        }
        (self.turn, self.taken, self.reached) = (turn, taken, slots.len());
        self.slots = std::iter::repeat_with(|| None).take(reached).collect();
        let mut open: Vec<(usize, Open)> = slots
            .into_iter()
            .enumerate()
            .filter_map(|(at, open)| open.map(|open| (at, open)))
            .collect();
        open.sort_unstable_by_key(|(_, open)| open.offset);
        let mut next = 0;
        for (at, Open { offset, passed }) in open {
            while next < offset && self.plans.sow()?.is_some() {
                self.run.check()?;
                next += 1;
            }
            next += 1;
            let mut slot = self.open_from_input()?.ok_or_else(changed)?;
            if skip_on(passed, &mut None, |left| slot.skip(left))? < passed {
                return Err(changed());
            }
            self.slots[at] = Some(slot);
            self.open += 1;
        }
        Ok(())
    }

    /// Where the cycle stands, if it is time for a mark: each costs as much as there are slots. Only
    /// where nobody notices that datasets are opened anew, and nothing has failed.
    fn due_mark(&mut self) -> Option<Mark> {
        let marks = self.marks.as_ref()?;
        let often = self.run.options.chunk_rows.max(self.slots.len());
        let long = self.slots.len() > MOST_MARKED;
        if long || marks.since < often || !self.plans.quiet() || self.run.has_failed() {
            return None;
        }
        let open = self.slots.iter().flatten().chain(&self.spare);
        let oldest = open.map(Slot::before).min_by_key(|before| before.taken);
        let oldest: Before = oldest.map_or_else(|| self.plans.before(), Before::clone);
        let reached = self.slots.get(..self.reached)?;
        let slots = reached.iter().map(|slot| {
            slot.as_ref().map(|slot| Open {
                offset: slot.before().taken - oldest.taken,
                passed: slot.taken(),
            })
        });
        let standing = Standing { turn: self.turn, taken: self.taken, slots: slots.collect() };
        let mark = standing.mark(marks.slot, oldest);
        self.marks = Some(Marks { since: 0, ..*marks });
        Some(mark)
    }

    /// Moves the turn to a dataset that has something; waits for one if `waits`. False if there is
    /// none.
    fn find_ready(&mut self, waits: bool) -> Result<bool> {
        loop {
            let group = self.ahead.as_ref().map(|ahead| Arc::clone(&ahead.group));
            let seen = group.map_or(0, |group| group.arrivals());
            let ready = |at: &usize| self.slots[*at].as_ref().is_some_and(Slot::is_ready);
            if let Some(at) = (self.turn..self.slots.len()).chain(0..self.turn).find(ready) {
                if at != self.turn {
                    (self.turn, self.taken) = (at, 0);
                }
                return Ok(true);
            }
            if !waits {
                return Ok(false);
            }
            let (before, after) = self.slots.split_at_mut(self.turn);
            let slots = after.iter_mut().chain(before).flatten();
            let mut drivers = slots.filter_map(Slot::driver);
            let Some(first) = drivers.next() else { return Ok(true) };
            if first.wait_for_group(seen, self.patience)?
                || first.is_running()
                || drivers.any(|driver| driver.is_running())
            {
                // Where tasks have threads it is for them to go on.
                self.patience = PATIENCE;
            } else {
                self.patience = IMPATIENCE;
                first.work_once()?;
            }
        }
    }

    /// True if more was asked for than is needed, and a dataset turned up in which that is noticed.
    fn is_too_much(&self) -> bool {
        self.asked_quiet && !self.plans.quiet()
    }

    /// Takes elements of one dataset; false if no more can be joined to those taken.
    fn step(&mut self, max: usize, picked: &mut Picked) -> Result<bool> {
        loop {
            if !self.settle()? || (self.is_too_much() && picked.rows() > 0) {
                return Ok(false);
            }
            if !self.slots[self.turn].as_ref().is_some_and(Slot::is_loaded) {
                self.look_ahead()?;
                if !self.ordered && !self.find_ready(picked.rows() == 0)? {
                    return Ok(false);
                }
            }
            let mut max = (max - picked.rows()).min(self.block - self.taken);
            if self.is_too_much() {
                max = 1;
            }
            let Some(slot) = &mut self.slots[self.turn] else { continue };
            let loaded = slot.load(max);
            // A driver may have opened it only now.
            if self.is_too_much() {
                if picked.rows() > 0 && loaded.is_ok() {
                    return Ok(false);
                }
                max = 1;
            }
            let Some(slot) = &mut self.slots[self.turn] else { continue };
            match loaded {
                Ok(true) => {
                    let rows = picked.take(slot, max);
                    self.count(rows);
                    return Ok(rows > 0);
                }
                Ok(false) => self.leave(),
                Err(error) => {
                    if self.errors_count && !is_final(&error) {
                        self.count(1);
                    }
                    return Err(error);
                }
            }
        }
    }
}

impl Stage for InterleaveStage {
    fn next(&mut self, max: usize) -> Result<Option<Chunk>> {
        if let Some(error) = self.deferred.take() {
            return Err(error);
        }
        self.take_up()?;
        let mark = self.due_mark();
        self.calls += 1;
        self.asked_quiet = self.plans.quiet();
        let mut picked = Picked::new(self.calls);
        // What is asked for is certainly needed; out of order, nothing waits for more.
        while picked.rows() < max {
            match self.step(max, &mut picked) {
                Ok(true) => {}
                Ok(false) => break,
                Err(error) => {
                    // What went by with it stands in no slot.
                    self.marks = None;
                    if picked.rows() == 0 || is_final(&error) {
                        return Err(error);
                    }
                    self.deferred = Some(error);
                    break;
                }
            }
        }
        match picked.rows() {
            0 => Ok(None),
            _ => picked.finish().map(|chunk| Some(chunk.marked(mark))),
        }
    }

    fn skip(&mut self, n: u64) -> Skipped {
        self.take_up()?;
        // Only running the datasets shows where errors are, and so where they stand.
        if self.run.has_failed() {
            return skip_by_running(n, |max| self.next(max));
        }
        let skipped = self.skip_turns(n);
        let mut met = None;
        self.slots.iter_mut().flatten().try_for_each(|slot| slot.settle(&mut met))?;
        told(skipped?, met)
    }

    fn quiet(&self) -> bool {
        self.plans.quiet()
    }
}

fn changed() -> Error {
    let text = "a dataset of an interleave has fewer elements than when the state was taken";
    Error::failed_precondition(text)
}
