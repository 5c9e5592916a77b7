//! Plans inside a run: datasets that are elements, or that a function returned.
//!
//! Each runs in a context of its own, a child of the run's: it is cancelled, limited and counted
//! with the run, but its stages are numbered anew. What captured nodes draw in it is logged by the
//! run, under the stage that opened it and the number of the opening, so that a restored run draws
//! the same. Nodes made inside the function need no log: each call starts their generator anew, and
//! those without a seed get one from the entropy of the run and the place of the plan in it.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::{Arc, OnceLock};

use crate::data::foreign::DatasetValue;
use crate::data::{Column, ElementSpec, ForeignValue, Position, Spec, Structure};
use crate::engine::lock;
use crate::engine::lookahead::{Draw, Lookahead};
use crate::engine::nested_log::{Made, NestedLog, NestedState};
use crate::engine::node::Plan;
use crate::engine::opening::Place;
use crate::engine::run::RunContext;
use crate::engine::seeds::{SeedGenerator, SeedPair};
use crate::engine::stage::Input;
use crate::engine::state::State;
use crate::engine::sync::Mutex;
use crate::error::{Error, Result};
use crate::graph::call::Prepared;
use crate::graph::hash::Fnv;
use crate::random::Site;

/// A plan as a component.
pub fn dataset_value(plan: Plan) -> ForeignValue {
    let element_spec = plan.spec().clone();
    Arc::new(DatasetValue { element_spec, plan: Arc::new(plan) })
}

/// The plan that a component is, if it is one.
pub fn plan_of(value: &ForeignValue) -> Option<Plan> {
    let dataset = value.downcast_ref::<DatasetValue>()?;
    dataset.plan.downcast_ref::<Plan>().cloned()
}

/// The plan in the only row of a column.
///
/// # Errors
/// `InvalidArgument` if it holds something else.
pub fn plan_in(column: &Column) -> Result<Plan> {
    let plan = match column {
        Column::Foreign(values) => values.first().and_then(plan_of),
        _ => None,
    };
    plan.ok_or_else(|| {
        Error::invalid_argument(format!("expected a Dataset, got {}", column.describe()))
    })
}

/// What the elements of the datasets that a function gives look like.
///
/// # Errors
/// `InvalidArgument` if it is known to give anything but a dataset.
pub fn inner_spec(function: &str, prepared: &Prepared) -> Result<ElementSpec> {
    let given = prepared.gives();
    let ElementSpec::Known(structure, specs) = &given else { return Ok(ElementSpec::Unknown) };
    match (&**structure, &specs[..]) {
        (Structure::Leaf, [Spec::Dataset { element, shape }]) if shape.dims() == Some(&[]) => {
            Ok((**element).clone())
        }
        _ => Err(Error::invalid_argument(format!(
            "`{function}` must return a `Dataset` object, it returns {given}"
        ))),
    }
}

/// Opens the nested plans of one stage.
#[derive(Clone)]
pub struct Nested {
    run: Arc<RunContext>,
    slot: usize,
    /// What reads ahead above.
    lookahead: Option<Arc<Lookahead>>,
    /// Each plan is read ahead on its own.
    driven: bool,
    site: Site,
}

impl Nested {
    /// For the stage with this slot among the seeds of the run, whose function's first call is at
    /// `site`.
    pub(crate) fn new(
        run: &Arc<RunContext>,
        slot: usize,
        lookahead: Option<Arc<Lookahead>>,
        site: Site,
    ) -> Self {
        Nested { run: Arc::clone(run), slot, lookahead, driven: false, site }
    }

    /// The same for plans that drivers pull from.
    pub(crate) fn driven(mut self) -> Self {
        self.driven = true;
        self
    }

    /// How many plans the stage has opened in the run.
    pub fn openings(&self) -> u64 {
        self.run.nested_openings(self.slot)
    }

    /// Opens `plan` at its start, as the next of the stage.
    ///
    /// # Errors
    /// Those of the nodes.
    pub fn open(&self, plan: &Plan) -> Result<Input> {
        self.next()?.open(plan)
    }

    /// The place of the stage's next plan: numbered now, for a plan that is known later.
    ///
    /// # Errors
    /// `Cancelled` if nobody will take what it gives.
    pub(crate) fn next(&self) -> Result<NestedPlace> {
        let run = self.run.child(self.slot, self.site)?;
        let own = || Lookahead::new(&run, self.lookahead.as_ref());
        let lookahead = if self.driven { Some(own()) } else { self.lookahead.clone() };
        Ok(NestedPlace { run, lookahead })
    }
}

/// Where one nested plan is opened.
pub(crate) struct NestedPlace {
    run: Arc<RunContext>,
    lookahead: Option<Arc<Lookahead>>,
}

impl NestedPlace {
    /// What reads the plan ahead, if anything does.
    pub(crate) fn lookahead(&self) -> Option<&Arc<Lookahead>> {
        self.lookahead.as_ref()
    }

    /// Opens `plan` at its start.
    ///
    /// # Errors
    /// Those of the nodes.
    pub(crate) fn open(&self, plan: &Plan) -> Result<Input> {
        Place::root(&self.run, self.lookahead.clone()).open(plan, Position::default())
    }
}

/// Which nested plan of a run a context is: the log it draws from.
pub(crate) struct Outer {
    /// The run itself.
    pub(crate) run: Arc<RunContext>,
    /// The run's stage that opened it, or opened the plan it is nested in.
    pub(crate) slot: usize,
    /// Number of the opening; then slot and number in each plan between.
    pub(crate) path: Vec<u64>,
    /// What the function that made the plan draws by, and the number of the opening.
    pub(crate) site: Site,
    pub(crate) opening: u64,
}

/// The logs of a run, by slot, and where seeds come from that nobody gave.
#[derive(Default)]
pub(crate) struct NestedLogs {
    logs: Mutex<BTreeMap<usize, NestedLog>>,
    entropy: OnceLock<SeedPair>,
}

impl NestedLogs {
    /// The logs of a state.
    pub(crate) fn restored(state: &State) -> Self {
        let logs = state.nested.iter();
        let logs = logs.map(|(slot, state)| (*slot, NestedLog::restored(state))).collect();
        let entropy = state.entropy.map(OnceLock::from).unwrap_or_default();
        NestedLogs { logs: Mutex::new(logs), entropy }
    }

    /// Counts one more opening and returns its number.
    pub(crate) fn open(&self, slot: usize) -> u64 {
        let mut logs = lock(&self.logs);
        let log = logs.entry(slot).or_default();
        log.openings += 1;
        log.openings - 1
    }

    /// Number of openings of the stage.
    pub(crate) fn openings(&self, slot: usize) -> u64 {
        lock(&self.logs).get(&slot).map_or(0, |log| log.openings)
    }

    /// Takes back the number of an opening, and those after it.
    pub(crate) fn close(&self, slot: usize, number: u64) {
        if let Some(log) = lock(&self.logs).get_mut(&slot) {
            log.openings = log.openings.min(number);
        }
    }

    /// The next seed pair of a generator in a nested plan, whose stage has this slot there.
    pub(crate) fn draw(
        &self,
        outer: &Outer,
        slot: usize,
        generator: &Arc<SeedGenerator>,
    ) -> (SeedPair, Option<Draw>) {
        let own = Arc::clone(generator);
        if !generator.is_made_in_call() {
            let mut logs = lock(&self.logs);
            let (pair, made) = logs.entry(outer.slot).or_default().draw(&outer.path, generator);
            let (slot, path) = (outer.slot, outer.path.clone());
            let draw = made.map(|made| Draw::Captured { slot, path, generator: own, made });
            return (pair, draw);
        }
        let pair = if generator.is_seeded() { generator.pair() } else { self.seed(outer, slot) };
        let number = generator.take();
        let draw = Draw::InCall { generator: own, number };
        (generator.pair_for(pair, number), generator.reshuffles().then_some(draw))
    }

    /// Takes a draw back. Returns its number if that is the node's again.
    pub(crate) fn take_back(&self, slot: usize, path: &[u64], made: &Made) -> Option<u64> {
        lock(&self.logs).get_mut(&slot).and_then(|log| log.take_back(path, made))
    }

    /// The seed of a node without one.
    fn seed(&self, outer: &Outer, slot: usize) -> SeedPair {
        let own = lock(&self.logs).get(&outer.slot).and_then(|log| log.entropy);
        let entropy = own.unwrap_or_else(|| self.settle_entropy());
        let mut hash = Fnv::default();
        hash.number(outer.slot as u64);
        outer.path.iter().for_each(|number| hash.number(*number));
        hash.number(slot as u64);
        (entropy.0 ^ hash.finish(), entropy.1)
    }

    /// The entropy of the run: from now on it has one.
    pub(crate) fn settle_entropy(&self) -> SeedPair {
        *self.entropy.get_or_init(|| SeedGenerator::new(None, false).pair())
    }

    /// The entropy of the run, if it is settled.
    pub(crate) fn entropy(&self) -> Option<SeedPair> {
        self.entropy.get().copied()
    }

    /// Slots and numbers of openings.
    pub(crate) fn counts(&self) -> Vec<(usize, u64)> {
        lock(&self.logs).iter().map(|(slot, log)| (*slot, log.openings)).collect()
    }

    /// What the stages with these slots have opened and drawn since so many openings, by their
    /// slots counted from the first.
    ///
    /// # Errors
    /// `ResourceExhausted` if that is too much.
    pub(crate) fn pass_since(
        &self,
        slots: Range<usize>,
        count: impl Fn(usize) -> u64,
    ) -> Result<BTreeMap<usize, NestedState>> {
        let logs = lock(&self.logs);
        let parts = logs.range(slots.clone());
        parts.map(|(slot, log)| Ok((slot - slots.start, log.pass_since(count(*slot))?))).collect()
    }

    /// The next draws and openings of the stage are those of an earlier pass.
    pub(crate) fn replay(&self, slot: usize, pass: &NestedState, entropy: Option<SeedPair>) {
        let mut logs = lock(&self.logs);
        let log = logs.entry(slot).or_default();
        *log = log.replaying(pass, entropy);
    }

    /// True if stages with these slots are still to draw again what they drew.
    pub(crate) fn replays(&self, slots: Range<usize>) -> bool {
        lock(&self.logs).range(slots).any(|(_, log)| log.replays())
    }

    /// What a state needs of the logs, given the number of openings before it, without the draws
    /// made `ahead`, of which the last comes first.
    ///
    /// # Errors
    /// `ResourceExhausted` if that is too much.
    pub(crate) fn since(
        &self,
        count: impl Fn(usize) -> u64,
        ahead: &[(usize, Vec<u64>, Made)],
    ) -> Result<BTreeMap<usize, NestedState>> {
        let since = |(slot, log): (&usize, &NestedLog)| {
            let mut ahead = ahead.iter().filter(|(of, ..)| of == slot).peekable();
            if ahead.peek().is_none() {
                return Ok((*slot, log.since(count(*slot))?));
            }
            let mut log = log.clone();
            ahead.for_each(|(_, path, made)| log.take_back_last(path, made));
            Ok((*slot, log.since(count(*slot))?))
        };
        lock(&self.logs).iter().map(since).collect()
    }
}
