//! What the stages of one run share.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;
use std::time::Instant;

use crate::data::{ElementSpec, ForeignValue, Lender, Position};
use crate::engine::autotune::{Controller, Knob};
use crate::engine::budget::Account;
use crate::engine::fills::Fills;
use crate::engine::limit::Limit;
use crate::engine::lock;
use crate::engine::lookahead::{self, Draw, Journal};
use crate::engine::losses::Losses;
use crate::engine::nested::{NestedLogs, Outer};
use crate::engine::node::{Plan, RunOptions, Unfixed, all_functions, draws};
use crate::engine::opened_files::OpenedFiles;
use crate::engine::pool::{self, Kind};
use crate::engine::seeds::{DrawLog, SeedGenerator, SeedPair};
use crate::engine::state::State;
use crate::engine::stats::{StageReport, StageStats, since_ns};
use crate::engine::sync::atomic::{AtomicBool, Ordering::SeqCst};
use crate::engine::sync::{Condvar, Mutex};
use crate::engine::wait::{POLL, poll, poll_if_due};
use crate::error::{Error, Result};
use crate::graph::call::{FunctionRun, UserFunction, Verdict};
use crate::random::Site;
use crate::random::site::RunKey;

/// What a run gets from the caller beside its plan.
#[derive(Clone, Default)]
pub struct Caller {
    /// What was around the caller's code when it opened the run, for the foreign code that runs
    /// on its behalf, now or in a later epoch.
    pub surroundings: Option<ForeignValue>,
    /// Where the caller would have long values read into.
    pub lender: Option<Arc<dyn Lender>>,
}

/// What the stages of one run share.
pub struct RunContext {
    /// How the run goes.
    pub options: RunOptions,
    /// What was around the caller's code when it opened the run, for the foreign code that runs
    /// on its behalf, now or in a later epoch.
    pub surroundings: Option<ForeignValue>,
    /// Where the caller would have long values read into.
    pub lender: Option<Arc<dyn Lender>>,
    life: Arc<Life>,
    /// Slots that draw from a generator from which others draw too, with its address.
    shared_slots: BTreeMap<usize, usize>,
    /// Set for a plan that runs inside another.
    outer: Option<Outer>,
    pub(crate) nested: NestedLogs,
    /// Draws that were made ahead; those of nested plans are in the journal of the run.
    pub(crate) journal: Journal,
    pub(crate) draws: Mutex<BTreeMap<usize, DrawLog>>,
    /// Logs of the state that the run was opened with, until their stage draws.
    pub(crate) restored: Mutex<BTreeMap<usize, DrawLog>>,
    pub(crate) fills: Fills,
    reports: Mutex<BTreeMap<usize, StageReport>>,
    /// How the trials of functions ended before the run was restored.
    verdicts: BTreeMap<usize, Verdict>,
    /// Functions by their number in the plan: prepared once, whatever epochs there are.
    functions: Mutex<BTreeMap<usize, Arc<FunctionRun>>>,
    /// Whether each `repeat` on a shuffle draws once more at its end, as states have it.
    in_vain: Mutex<Vec<(usize, usize, bool)>>,
    /// What functions draw by, by their number.
    pub(crate) keys: Mutex<BTreeMap<usize, RunKey>>,
}

/// What a run has in common with the plans nested in it.
struct Life {
    /// When the run was opened.
    opened: Instant,
    controller: Controller,
    cancelled: AtomicBool,
    /// An element has failed: counting outcomes is no longer counting elements.
    failed: AtomicBool,
    /// What keeps the run from having states, of plans that are nested in it.
    unfixed: Mutex<Option<(&'static str, Unfixed)>>,
    /// Forks behind the process that opened the run.
    generation: usize,
    limit: Option<Arc<Limit>>,
    files: Arc<OpenedFiles>,
    losses: Mutex<Losses>,
    account: Arc<Account>,
    tasks: Mutex<usize>,
    tasks_ended: Condvar,
}

impl RunContext {
    pub(crate) fn new(
        plan: &Plan,
        options: RunOptions,
        state: Option<&State>,
        caller: Caller,
    ) -> Self {
        let limit = options.private_threadpool_size.filter(|size| *size > 0);
        let life = Life {
            opened: Instant::now(),
            controller: Controller::default(),
            cancelled: AtomicBool::new(false),
            failed: AtomicBool::new(state.is_some_and(|state| state.failed)),
            unfixed: Mutex::default(),
            generation: pool::generation(),
            limit: limit.map(|size| Arc::new(Limit::new(size))),
            files: Arc::new(OpenedFiles::restored(state.map_or(&[], |state| &state.files))),
            losses: Mutex::default(),
            account: Arc::new(Account::new(&options, plan)),
            tasks: Mutex::default(),
            tasks_ended: Condvar::new(),
        };
        // All at once, so that it does not matter how far the run comes.
        let keys = keys(plan, state, options.on_demand);
        RunContext {
            options,
            surroundings: caller.surroundings,
            lender: caller.lender,
            life: Arc::new(life),
            shared_slots: shared_slots(plan),
            outer: None,
            nested: state.map(NestedLogs::restored).unwrap_or_default(),
            journal: Journal::default(),
            draws: Mutex::default(),
            restored: Mutex::new(state.map(|state| state.draws.clone()).unwrap_or_default()),
            fills: Fills::restored(state.map(|state| &state.fills)),
            reports: Mutex::default(),
            verdicts: state.map(|state| state.verdicts.clone()).unwrap_or_default(),
            functions: Mutex::default(),
            in_vain: Mutex::new(state.map(|state| state.in_vain.clone()).unwrap_or_default()),
            keys: Mutex::new(keys),
        }
    }

    /// The run's own context, of a plan that runs inside another.
    pub(crate) fn root(self: &Arc<Self>) -> &Arc<Self> {
        self.outer.as_ref().map_or(self, |outer| &outer.run)
    }

    /// The context of the next plan that the stage with this slot opens.
    ///
    /// # Errors
    /// `Cancelled` if nobody will take what it gives.
    pub(crate) fn child(self: &Arc<Self>, slot: usize, site: Site) -> Result<Arc<Self>> {
        let opening = lookahead::draw(|| {
            let number = self.nested.open(slot);
            let context = Arc::downgrade(self);
            (number, Some(Draw::Opening { context, slot, number }))
        })?;
        let outer = match &self.outer {
            None => Outer { run: Arc::clone(self), slot, path: vec![opening], site, opening },
            Some(outer) => {
                let path = outer.path.iter().copied().chain([slot as u64, opening]).collect();
                Outer { run: Arc::clone(&outer.run), slot: outer.slot, path, site, opening }
            }
        };
        Ok(Arc::new(RunContext {
            options: self.options.clone(),
            surroundings: self.surroundings.clone(),
            lender: self.lender.clone(),
            life: Arc::clone(&self.life),
            shared_slots: BTreeMap::new(),
            outer: Some(outer),
            nested: NestedLogs::default(),
            journal: Journal::default(),
            draws: Mutex::default(),
            restored: Mutex::default(),
            fills: Fills::restored(None),
            reports: Mutex::default(),
            verdicts: BTreeMap::new(),
            functions: Mutex::default(),
            in_vain: Mutex::default(),
            keys: Mutex::default(),
        }))
    }

    /// Whether a `repeat` on a shuffle draws once more at its end: as in the run whose state was
    /// restored, else `by_shape`.
    pub(crate) fn draws_in_vain(&self, slot: usize, repeats: usize, by_shape: bool) -> bool {
        let mut known = lock(&self.in_vain);
        if let Some((.., in_vain)) = known.iter().find(|at| (at.0, at.1) == (slot, repeats)) {
            return *in_vain;
        }
        known.push((slot, repeats, by_shape));
        by_shape
    }

    /// True for a plan that runs inside another.
    pub(crate) fn is_nested(&self) -> bool {
        self.outer.is_some()
    }

    /// How many plans the stage with this slot has opened.
    pub(crate) fn nested_openings(&self, slot: usize) -> u64 {
        self.nested.openings(slot)
    }

    /// Fails in another process than that which opened the run.
    ///
    /// # Errors
    /// `FailedPrecondition` in a forked child.
    pub fn check_process(&self) -> Result<()> {
        if self.is_here() {
            return Ok(());
        }
        let text = "the iterator was opened before this process was forked";
        Err(Error::failed_precondition(text).with_hint("call iter(ds) in the child"))
    }

    /// Fails if the run is over.
    ///
    /// # Errors
    /// `Cancelled`, or `FailedPrecondition` in a forked child.
    pub fn check(&self) -> Result<()> {
        self.check_process()?;
        if self.is_cancelled() { Err(Error::cancelled()) } else { Ok(()) }
    }

    /// True in the process that opened the run.
    pub fn is_here(&self) -> bool {
        pool::generation() == self.life.generation
    }

    /// True once the run is closed.
    pub fn is_cancelled(&self) -> bool {
        self.life.cancelled.load(SeqCst)
    }

    /// True if an element of the run has failed: counts of outcomes and elements may differ.
    pub fn has_failed(&self) -> bool {
        self.life.failed.load(SeqCst)
    }

    /// Notes that an element has failed.
    pub fn note_failure(&self) {
        self.life.failed.store(true, SeqCst);
    }

    /// Notes a step that is about to run, if it is part of a nested plan.
    pub(crate) fn note_unfixed(&self, plan: &Plan) {
        if self.is_nested()
            && let Some(why) = plan.unfixed(&self.options)
        {
            *lock(&self.life.unfixed) = Some((plan.name(), why));
        }
    }

    /// A step inside of a nested plan that keeps the run from having states.
    pub(super) fn unfixed_inside(&self) -> Option<(&'static str, Unfixed)> {
        lock(&self.life.unfixed).clone()
    }

    /// Notes that a damaged place was passed over.
    pub fn note_loss(&self, error: &Error) {
        lock(&self.life.losses).add(error);
    }

    /// The damaged places that were passed over so far.
    pub fn losses(&self) -> Losses {
        lock(&self.life.losses).clone()
    }

    /// The files that the run has opened last.
    pub fn opened_files(&self) -> &Arc<OpenedFiles> {
        &self.life.files
    }

    /// The permits of the run's tasks.
    pub fn limit(&self) -> Option<&Arc<Limit>> {
        self.life.limit.as_ref()
    }

    /// What the buffers of the run take, and may take.
    pub fn account(&self) -> &Arc<Account> {
        &self.life.account
    }

    /// How many tasks a parallel stage may have.
    pub fn workers(&self) -> usize {
        let cores = pool::parallelism();
        self.options.private_threadpool_size.filter(|size| *size > 0).unwrap_or(cores)
    }

    /// How many tasks of this kind a stage has that leaves their number to the engine.
    pub fn autotuned(&self, kind: Kind) -> Arc<Knob> {
        let limit = self.options.private_threadpool_size.filter(|size| *size > 0);
        self.options.autotune.workers(kind, limit)
    }

    /// How many of `cycle` datasets a stage reads side by side that leaves that to the engine.
    pub fn autotuned_readers(&self, cycle: usize) -> Arc<Knob> {
        let limit = self.options.private_threadpool_size.filter(|size| *size > 0);
        self.options.autotune.readers(cycle, limit)
    }

    /// What moves the knobs of the run's drivers.
    pub fn controller(&self) -> &Controller {
        &self.life.controller
    }

    /// Nanoseconds since the run was opened.
    pub fn now_ns(&self) -> u64 {
        since_ns(self.life.opened)
    }

    /// Counts a task of a driver in.
    pub fn task_started(&self) {
        *lock(&self.life.tasks) += 1;
    }

    /// Counts a task of a driver out.
    pub fn task_ended(&self) {
        *lock(&self.life.tasks) -= 1;
        self.life.tasks_ended.notify_all();
    }

    /// Waits until no task runs, up to `deadline` or until interrupted; false if one runs still.
    pub fn wait_for_tasks(&self, deadline: Instant) -> bool {
        loop {
            let tasks = lock(&self.life.tasks);
            let left = deadline.saturating_duration_since(Instant::now());
            if *tasks == 0 || left.is_zero() {
                return *tasks == 0;
            }
            // The hook may wait for the caller's locks: it is asked without this one.
            drop(self.life.tasks_ended.wait_timeout(tasks, left.min(POLL)));
            if poll().is_err() {
                return false;
            }
        }
    }

    /// The next seed pair for the seeded stage `slot`.
    ///
    /// # Errors
    /// `Cancelled` if nobody will take what it gives.
    pub fn draw(&self, slot: usize, generator: &Arc<SeedGenerator>) -> Result<SeedPair> {
        lookahead::draw(|| match &self.outer {
            Some(outer) => outer.run.nested.draw(outer, slot, generator),
            None => self.draw_own(slot, generator),
        })
    }

    fn draw_own(&self, slot: usize, generator: &Arc<SeedGenerator>) -> (SeedPair, Option<Draw>) {
        let mut draws = lock(&self.draws);
        let others = match self.shared_slots.get(&slot) {
            None => 0,
            Some(at) => {
                let restored = lock(&self.restored);
                let slots = self.shared_slots.iter().filter(|(_, other)| *other == at);
                let logs = slots.filter_map(|(slot, _)| draws.get(slot).or(restored.get(slot)));
                logs.map(DrawLog::end).max().unwrap_or(0)
            }
        };
        let log = draws.entry(slot).or_insert_with(|| match lock(&self.restored).remove(&slot) {
            Some(log) => log.restored(generator),
            None => DrawLog::new(generator),
        });
        let (pair, made) = log.make(generator, others);
        let generator = Arc::clone(generator);
        (pair, made.map(|made| Draw::Own { slot, generator, made }))
    }

    /// True if `plan` draws from a generator from which other places of the run's plan draw too:
    /// the order in which they open epochs then decides what comes.
    pub fn shares_seeds(&self, plan: &Plan) -> bool {
        let shared = |seeds| self.shared_slots.values().any(|known| *known == address(seeds));
        !self.shared_slots.is_empty()
            && (plan.seeds().is_some_and(shared)
                || plan.inputs().iter().any(|input| self.shares_seeds(input)))
    }

    /// How many pairs each of these slots has drawn.
    pub fn draw_counts(&self, slots: Range<usize>) -> Vec<(usize, u64)> {
        let draws = lock(&self.draws);
        let restored = lock(&self.restored);
        let both = restored.range(slots.clone()).chain(draws.range(slots.clone()));
        let nested = self.nested.counts().into_iter().filter(|(slot, _)| slots.contains(slot));
        both.map(|(slot, log)| (*slot, log.count())).chain(nested).collect()
    }

    /// The counters of stage `id`, a step of `plan`: the same each time it is opened.
    pub fn stats(&self, id: usize, depth: usize, plan: &Plan) -> Arc<StageStats> {
        let mut reports = lock(&self.reports);
        let report = reports.entry(id).or_insert_with(|| {
            let account = self.account();
            let stats = Arc::new(StageStats::on_account(account, plan.spec()));
            if self.outer.is_none() {
                account.add_step(plan.name(), &stats);
            }
            StageReport::new(plan.name(), depth, stats)
        });
        Arc::clone(&report.stats)
    }

    pub(super) fn reports(&self) -> Vec<StageReport> {
        lock(&self.reports).values().cloned().collect()
    }

    /// Function number `id` of the plan, prepared when the run first opens its stage.
    ///
    /// # Errors
    /// What the function cannot be prepared for.
    pub fn function(
        &self,
        id: usize,
        function: &Arc<dyn UserFunction>,
        input: &ElementSpec,
    ) -> Result<Arc<FunctionRun>> {
        if let Some(known) = lock(&self.functions).get(&id) {
            return Ok(Arc::clone(known));
        }
        // Preparing calls foreign code, which must not find a lock of ours held.
        let verdict = self.verdicts.get(&id).cloned();
        let life = Arc::clone(&self.life);
        let is_over = move || life.cancelled.load(SeqCst);
        let function = match function.for_run(Arc::new(is_over))? {
            Some(own) => own,
            None => Arc::clone(function),
        };
        let life = Arc::clone(&self.life);
        let check = move || match life.cancelled.load(SeqCst) {
            true => Err(Error::cancelled()),
            false => poll_if_due(),
        };
        let opened = FunctionRun::open(function, input, verdict, Arc::new(check))?;
        let opened = Arc::new(opened);
        Ok(Arc::clone(lock(&self.functions).entry(id).or_insert(opened)))
    }

    /// What random ops in function number `id` draw by in these epochs, at its first element.
    pub(crate) fn site(&self, id: usize, function: &dyn UserFunction, epochs: u64) -> Site {
        let Some(seeds) = function.seeds() else { return Site::default() };
        let key = match &self.outer {
            Some(outer) => outer.site.inner(seeds, id, outer.opening),
            None => *lock(&self.keys).entry(id).or_insert_with(|| seeds.take()),
        };
        Site::new(seeds, key, epochs)
    }

    /// What the functions in `numbers` draw by, but for those that are known to draw nothing.
    pub(crate) fn drawing_keys(&self, numbers: Range<usize>) -> BTreeMap<usize, RunKey> {
        let functions = lock(&self.functions);
        let draws = |id: &usize| functions.get(id).is_none_or(|function| function.may_draw());
        let keys = lock(&self.keys);
        let drawing = keys.range(numbers).filter(|(id, _)| draws(id));
        drawing.map(|(id, key)| (*id, *key)).collect()
    }

    pub(super) fn verdicts(&self) -> BTreeMap<usize, Verdict> {
        let mut verdicts = self.verdicts.clone();
        for (id, function) in lock(&self.functions).iter() {
            verdicts.extend(function.verdict().map(|verdict| (*id, shortened(verdict))));
        }
        verdicts
    }

    /// Puts the draws that are needed from `position` on into the state.
    pub(super) fn draws_since(&self, position: &Position, state: &mut State) -> Result<()> {
        state.in_vain = lock(&self.in_vain).clone();
        let marked = position.mark.draws();
        let count = |slot| marked.get(&slot).copied().unwrap_or(0);
        self.journal.with(|ahead| {
            let mut drawn = lock(&self.draws).clone();
            let mut nested = Vec::new();
            for draw in ahead {
                match draw {
                    // Where others draw from its node, it cannot be drawn again later.
                    Draw::Own { slot, made, .. } if !self.shared_slots.contains_key(slot) => {
                        drawn.get_mut(slot).map(|log| log.take_back(*made));
                    }
                    Draw::Captured { slot, path, made, .. } => {
                        nested.push((*slot, path.clone(), made.clone()));
                    }
                    Draw::Own { .. }
                    | Draw::InCall { .. }
                    | Draw::Opening { .. }
                    | Draw::Fill(_) => {}
                }
            }
            state.draws = lock(&self.restored).clone();
            state.draws.extend(drawn.iter().map(|(slot, log)| (*slot, log.since(count(*slot)))));
            state.nested = self.nested.since(count, &nested)?;
            Ok(())
        })
    }

    /// Tells the functions of the run that it has come to its end.
    pub fn release_functions(&self) {
        let functions: Vec<_> = lock(&self.functions).values().cloned().collect();
        functions.iter().for_each(|function| function.function().release());
    }

    /// Ends the run without waiting.
    pub fn cancel(&self) {
        self.life.cancelled.store(true, SeqCst);
        if let Some(limit) = &self.life.limit {
            limit.close();
        }
    }
}

/// A verdict as states hold it: a long reason is cut.
fn shortened(verdict: Verdict) -> Verdict {
    const LONGEST: usize = 80;
    match verdict {
        Verdict::Foreign { reason } if reason.chars().count() > LONGEST => {
            let cut: String = reason.chars().take(LONGEST - 1).collect();
            Verdict::Foreign { reason: cut + "…" }
        }
        verdict => verdict,
    }
}

/// What the functions of a plan draw by in a new run, or one that goes on from `state`. Elements
/// that are asked for by number are those of the next run.
fn keys(plan: &Plan, state: Option<&State>, by_number: bool) -> BTreeMap<usize, RunKey> {
    let functions = all_functions(plan).into_iter().enumerate();
    let key = |(id, function): (usize, Arc<dyn UserFunction>)| {
        let seeds = function.seeds()?;
        let key = match state.and_then(|state| state.functions.get(&id)) {
            Some(key) => {
                seeds.advance(key.number.saturating_add(1));
                *key
            }
            None if by_number => RunKey { pair: seeds.pair(), number: seeds.drawn() },
            None => seeds.take(),
        };
        Some((id, key))
    };
    functions.filter_map(key).collect()
}

fn address(seeds: &Arc<SeedGenerator>) -> usize {
    Arc::as_ptr(seeds) as usize
}

/// The slots whose generator stands at several places of the plan.
fn shared_slots(plan: &Plan) -> BTreeMap<usize, usize> {
    fn collect(plan: &Plan, found: &mut Vec<Option<usize>>) {
        // Slots are numbered in this order; seeds that stay the same may be shared freely.
        let moving = |seeds: &Arc<SeedGenerator>| seeds.reshuffles().then(|| address(seeds));
        if draws(&**plan) {
            found.push(plan.seeds().and_then(moving));
        }
        plan.inputs().iter().for_each(|input| collect(input, found));
    }
    let mut found = Vec::new();
    collect(plan, &mut found);
    let mut places: BTreeMap<usize, usize> = BTreeMap::new();
    found.iter().flatten().for_each(|at| *places.entry(*at).or_default() += 1);
    let slots = found.iter().enumerate().filter_map(|(slot, at)| at.map(|at| (slot, at)));
    slots.filter(|(_, at)| places.get(at).is_some_and(|count| *count > 1)).collect()
}
