//! A run: a plan opened for one iterator.

mod context;

use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use crate::data::Chunk;
use crate::engine::fills::Fill;
use crate::engine::limit::limited;
use crate::engine::node::{Plan, RunOptions, Unfixed, opens_datasets};
use crate::engine::opened_files::OpenedFile;
use crate::engine::opening::Opening;
use crate::engine::optimise::optimise;
use crate::engine::pace::Pace;
use crate::engine::plan_keys::PlanKeys;
use crate::engine::stage::Input;
use crate::engine::state::State;
use crate::engine::stats::StageReport;
use crate::error::{Error, Result};

pub use context::{Caller, RunContext};

/// A plan opened for one iterator. Dropping it cancels its work promptly and waits for nothing.
pub struct Run {
    context: Arc<RunContext>,
    /// As the user built it: states hold whatever rewrites a run makes.
    plan: Plan,
    /// The plan as states name it, once the first is asked for.
    keys: OnceLock<PlanKeys>,
    /// `None` once closed.
    input: Option<Input>,
    pace: Pace,
}

impl Run {
    /// Opens a plan at its start, or where `state` says. Seeds are drawn now, elements when asked
    /// for.
    ///
    /// # Errors
    /// `InvalidArgument` for a state of another plan, and what the nodes cannot do.
    pub fn open(plan: &Plan, options: RunOptions, state: Option<&State>) -> Result<Self> {
        Self::open_within(Caller::default(), plan, options, state)
    }

    /// As [`Run::open`], with what the caller has to give.
    ///
    /// # Errors
    /// As [`Run::open`].
    pub fn open_within(
        caller: Caller,
        plan: &Plan,
        options: RunOptions,
        state: Option<&State>,
    ) -> Result<Self> {
        if let Some(state) = state {
            state.check(plan)?;
            state.files.iter().try_for_each(OpenedFile::check)?;
        }
        let rewritten = &optimise(plan, &options)?.plan;
        let context = Arc::new(RunContext::new(rewritten, options, state, caller));
        let position = state.map(|state| state.position.clone()).unwrap_or_default();
        let input = Opening::root(&context, rewritten, position)?;
        let (plan, keys, pace) = (Arc::clone(plan), OnceLock::new(), Pace::default());
        Ok(Run { context, plan, keys, input: Some(input), pace })
    }

    /// Some elements, as many as come at no extra cost, or `None` at the end. A single element is
    /// in memory that it alone holds.
    ///
    /// # Errors
    /// That of an element (the next call goes on after it), or that the run is over.
    pub fn next_chunk(&mut self) -> Result<Option<Chunk>> {
        self.context.check()?;
        let input = self.input.as_mut().ok_or_else(Error::cancelled)?;
        let from = self.context.now_ns();
        let outcome = limited(self.context.limit(), || {
            let chunk = input.next_chunk(usize::MAX)?;
            match chunk {
                Some(chunk) if chunk.rows() == 1 => chunk.into_owned().map(Some),
                chunk => Ok(chunk),
            }
        })?;
        if outcome.is_err() {
            self.context.note_failure();
        }
        let to = self.context.now_ns();
        self.context.controller().pass(to);
        if self.pace.passed(from, to) {
            self.pace.snapshot(&self.context.reports());
        }
        outcome
    }

    /// Where the run stands when the last `unread` elements of the last chunk are still to come.
    ///
    /// # Errors
    /// `Internal` if there are fewer.
    pub fn state(&self, unread: usize) -> Result<State> {
        let input = self.input.as_ref().ok_or_else(Error::cancelled)?;
        self.check_fixed()?;
        let mut position = input.position();
        let since = position.since.checked_sub(unread as u64);
        position.since = since.ok_or_else(|| Error::internal("more unread elements than taken"))?;
        let keys = self.keys.get_or_init(|| PlanKeys::of(&self.plan));
        let mut state = State::new(keys.clone(), position.clone());
        self.context.draws_since(&position, &mut state)?;
        if opens_datasets(&self.plan) {
            // The rest may be the first to ask for it.
            self.context.nested.settle_entropy();
        }
        state.entropy = self.context.nested.entropy();
        state.fills = self.context.fills.adopted_at(&position);
        state.fills.values().try_for_each(Fill::check)?;
        state.failed = self.context.has_failed();
        state.verdicts = self.context.verdicts();
        state.functions = self.context.drawing_keys(0..usize::MAX);
        state.files = self.context.opened_files().log();
        Ok(state)
    }

    /// Fails if the order of outcomes is not fixed.
    fn check_fixed(&self) -> Result<()> {
        let nested = || self.context.unfixed_inside();
        let Some((name, why)) = unfixed(&self.plan, &self.context.options).or_else(nested) else {
            return Ok(());
        };
        Err(match why {
            Unfixed::Order => Error::failed_precondition(format!(
                "the iterator has no state: `{name}` hands over elements as they get ready \
                 (deterministic=False), so their order tells nothing"
            ))
            .with_hint("open it with dataset.iterator(checkpointable=True), which keeps the order"),
            Unfixed::Live(source) => Error::failed_precondition(format!(
                "the iterator has no state: `{name}` reads {source}, which is live, so what was \
                 read does not come again"
            )),
        })
    }

    /// The counters of all stages, outermost first.
    pub fn reports(&self) -> Vec<StageReport> {
        let mut reports = self.context.reports();
        self.pace.fill(&mut reports);
        reports
    }

    /// Ends the run: cancels its work and waits for what is running, up to `limit` or until
    /// interrupted. False if something still runs then.
    pub fn close(&mut self, limit: Duration) -> bool {
        self.context.cancel();
        self.input = None;
        self.context.wait_for_tasks(Instant::now() + limit)
    }

    /// The shared part of the run, which outlives it while tasks run.
    pub fn context(&self) -> &Arc<RunContext> {
        &self.context
    }
}

impl Drop for Run {
    fn drop(&mut self) {
        self.context.cancel();
    }
}

/// The first step, from the outermost, that keeps runs of the plan from having states.
fn unfixed(plan: &Plan, options: &RunOptions) -> Option<(&'static str, Unfixed)> {
    let own = plan.unfixed(options).map(|why| (plan.name(), why));
    own.or_else(|| plan.inputs().iter().find_map(|input| unfixed(input, options)))
}
