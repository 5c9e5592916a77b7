//! A plan: an immutable tree of nodes, each one step of a pipeline.

use std::any::Any;
use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::data::ElementSpec;
use crate::engine::autotune::AutotuneOptions;
use crate::engine::opening::Opening;
use crate::engine::reshard::Shard;
use crate::engine::seeds::SeedGenerator;
use crate::engine::stage::Stage;
use crate::error::Result;
use crate::graph::call::{Called, UserFunction};
use crate::graph::hash::Fnv;

/// A pipeline, shared by everything built on it.
pub type Plan = Arc<dyn Node>;

/// How many elements a dataset has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cardinality {
    /// This many.
    Known(u64),
    /// No end.
    Infinite,
    /// Only a run can tell.
    Unknown,
}

impl Cardinality {
    /// tf.data's number: -1 for infinite, -2 for unknown.
    pub fn code(self) -> i64 {
        match self {
            Cardinality::Known(n) => i64::try_from(n).unwrap_or(i64::MAX),
            Cardinality::Infinite => -1,
            Cardinality::Unknown => -2,
        }
    }

    /// The number, if known and finite.
    pub fn known(self) -> Option<u64> {
        match self {
            Cardinality::Known(n) => Some(n),
            _ => None,
        }
    }

    /// The same with a known number changed.
    #[must_use]
    pub fn map(self, change: impl FnOnce(u64) -> u64) -> Self {
        match self {
            Cardinality::Known(n) => Cardinality::Known(change(n)),
            other => other,
        }
    }
}

/// An argument of an op as explain and the plan's fingerprint show it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Arg {
    /// tf.data's keyword.
    pub name: &'static str,
    /// The value as text.
    pub value: String,
    /// False for arguments that do not change which elements come (parallelism, buffer sizes):
    /// a state stays valid when they change.
    pub in_state: bool,
    /// What stands for the value in states and fingerprints, where that is not its text.
    identity: Option<u64>,
}

impl Arg {
    /// An argument that decides which elements come.
    pub fn new(name: &'static str, value: impl fmt::Display) -> Self {
        Arg { name, value: value.to_string(), in_state: true, identity: None }
    }

    /// An argument that only decides how fast they come.
    pub fn tuning(name: &'static str, value: impl fmt::Display) -> Self {
        Arg { in_state: false, ..Arg::new(name, value) }
    }

    /// The same, told from others by `identity` whatever its text says.
    #[must_use]
    pub fn identified(self, identity: u64) -> Self {
        Arg { identity: Some(identity), ..self }
    }

    /// 64 bits that stand for the value, the same in every process.
    pub fn hash64(&self) -> u64 {
        self.identity.unwrap_or_else(|| {
            let mut hash = Fnv::default();
            hash.bytes(self.value.as_bytes());
            hash.finish()
        })
    }
}

/// What keeps a state from telling where a run stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Unfixed {
    /// Elements come in the order in which they get ready.
    Order,
    /// Elements come from something that cannot be read again: its name.
    Live(String),
}

/// One step of a plan.
pub trait Node: Any + Send + Sync {
    /// tf.data's name of the op.
    fn name(&self) -> &'static str;

    /// Its arguments.
    fn args(&self) -> Vec<Arg> {
        Vec::new()
    }

    /// What else `explain` says of it: how its function runs.
    fn notes(&self) -> Vec<String> {
        Vec::new()
    }

    /// The plans it takes elements from, in order of position.
    fn inputs(&self) -> Vec<Plan>;

    /// What its elements look like.
    fn spec(&self) -> &ElementSpec;

    /// How many elements it has.
    fn cardinality(&self) -> Cardinality;

    /// True if running this very step can be observed from outside: it calls foreign code.
    fn observable(&self) -> bool {
        false
    }

    /// True if the step changes neither elements nor order: prefetch, `take(-1)`, the identity.
    /// Marks pass through it, and it is left out of states, so that adding or removing it keeps a
    /// state valid.
    fn is_passage(&self) -> bool {
        false
    }

    /// True if the step skips to any element without making those before it, so that elements can
    /// be asked for by number.
    fn is_indexable(&self) -> bool {
        false
    }

    /// True if it is that whatever its inputs are.
    fn is_indexable_alone(&self) -> bool {
        false
    }

    /// Finds out how many elements there are, and where, if that takes reading: called before
    /// elements are asked for by number.
    ///
    /// # Errors
    /// What keeps them from being found.
    fn find_elements(&self) -> Result<()> {
        Ok(())
    }

    /// The elements of these numbers, where they can be had together without a run: at least one
    /// outcome, from the first on. An element that fails ends them.
    fn gather(&self, indices: &[u64]) -> Option<Called> {
        let _ = indices;
        None
    }

    /// True if [`Node::gather`] gives all elements, and reads no others for it.
    fn has_elements_by_number(&self) -> bool {
        false
    }

    /// How many bytes an element has about that [`Node::gather`] reads from files: several tasks read
    /// more in a time than one. `None` where it reads none.
    fn bytes_by_number(&self) -> Option<u64> {
        None
    }

    /// Adds to a fingerprint what the arguments do not tell: data that is part of the plan.
    fn feed(&self, hash: &mut Fnv) {
        let _ = hash;
    }

    /// What, in a run with these options, keeps this very step from giving the same outcomes in the
    /// same order again; `None` where nothing does. A run with it has no states.
    fn unfixed(&self, _options: &RunOptions) -> Option<Unfixed> {
        None
    }

    /// How many outcomes of its only input each of its own takes (the last may take fewer), where
    /// that is fixed; its marks hold the number of its own, or none.
    fn width(&self) -> Option<u64> {
        None
    }

    /// Which shard it gives, for the step that divides its input so.
    fn shard(&self) -> Option<Shard> {
        None
    }

    /// The generator of its seeds, for ops that draw random numbers.
    fn seeds(&self) -> Option<&Arc<SeedGenerator>> {
        None
    }

    /// True if it opens datasets that are elements or results of its function.
    fn nests(&self) -> bool {
        false
    }

    /// The function it calls, for ops that call one.
    fn function(&self) -> Option<&Arc<dyn UserFunction>> {
        None
    }

    /// All functions it calls, in the order in which they are numbered.
    fn functions(&self) -> Vec<&Arc<dyn UserFunction>> {
        self.function().into_iter().collect()
    }

    /// How many functions it calls.
    fn function_count(&self) -> usize {
        self.functions().len()
    }

    /// The same step over other inputs, which have the elements of its own; `None` where rewrites
    /// must leave what is below it alone.
    fn with_inputs(&self, _inputs: Vec<Plan>) -> Option<Plan> {
        None
    }

    /// A stage that stands where `opening` says. Opening is lazy: files are opened and functions
    /// called when the first element is asked for; seeds are drawn at once.
    ///
    /// # Errors
    /// What the step cannot do, known before any element.
    fn open(&self, opening: &Opening<'_>) -> Result<Box<dyn Stage>>;
}

/// Finds out how many elements each step has, where that takes reading.
///
/// # Errors
/// As [`Node::find_elements`].
pub fn find_elements(plan: &Plan) -> Result<()> {
    plan.find_elements()?;
    plan.inputs().iter().try_for_each(find_elements)
}

/// True if nothing in the plan can be observed from outside, so that it may run ahead of demand.
pub fn is_quiet(plan: &Plan) -> bool {
    !plan.observable() && plan.inputs().iter().all(is_quiet)
}

/// Number of nodes with seeds in the plan, own ones or those of nested plans, counted once per
/// place in the tree.
pub fn seed_slots(plan: &Plan) -> usize {
    count(plan, |node| usize::from(draws(node)))
}

/// True if opening the plan again draws seeds that differ from those before, or counts what it opens.
pub fn draws_anew(plan: &Plan) -> bool {
    plan.nests()
        || plan.seeds().is_some_and(|seeds| seeds.reshuffles())
        || plan.inputs().iter().any(draws_anew)
}

/// True if a step of the plan opens datasets that are elements or results of its function.
pub fn opens_datasets(plan: &Plan) -> bool {
    plan.nests() || plan.inputs().iter().any(opens_datasets)
}

/// True if the node has a slot among the seeds of a run.
pub fn draws(node: &dyn Node) -> bool {
    node.seeds().is_some() || node.nests()
}

/// Number of functions in the plan, counted once per place in the tree.
pub fn functions(plan: &Plan) -> usize {
    count(plan, |node| node.function_count())
}

/// The functions in the plan in the order of their numbers.
pub fn all_functions(plan: &Plan) -> Vec<Arc<dyn UserFunction>> {
    let own = plan.functions().into_iter().cloned().collect();
    plan.inputs().iter().map(all_functions).fold(own, |all: Vec<_>, below| [all, below].concat())
}

/// Number of caches in the plan, counted once per place in the tree.
pub fn caches(plan: &Plan) -> usize {
    count(plan, |node| usize::from(is_cache(node)))
}

/// True for a step whose later passes read what its first pass has kept.
pub fn is_cache(node: &dyn Node) -> bool {
    matches!(node.name(), "cache" | "snapshot")
}

/// Number of nodes in the plan, counted once per place in the tree.
pub fn size(plan: &Plan) -> usize {
    count(plan, |_| 1)
}

fn count(plan: &Plan, counts: fn(&dyn Node) -> usize) -> usize {
    let below = plan.inputs().iter().map(|input| count(input, counts)).sum::<usize>();
    counts(&**plan) + below
}

/// How a run goes; nothing here changes which elements come.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct RunOptions {
    /// Rows of a full chunk.
    pub chunk_rows: usize,
    /// Payload above which a chunk is full whatever its rows.
    pub chunk_bytes: usize,
    /// At most so many of the iterator's tasks run at once; `None`: as many as there are cores.
    pub private_threadpool_size: Option<usize>,
    /// Whether parallel stages keep the order, where the op does not say.
    pub deterministic: bool,
    /// The order is kept whatever options and ops say, so that the run has states.
    pub checkpointable: bool,
    /// How numbers are chosen that are left to the engine.
    pub autotune: AutotuneOptions,
    /// Which rewrites of the plan are made.
    pub rewrites: Rewrites,
    /// Whether quiet plans that draw no seeds read ahead of the user by a `prefetch` added at
    /// their end.
    pub inject_prefetch: bool,
    /// Nothing runs ahead of demand, whatever the plan says: for single elements.
    pub on_demand: bool,
}

/// Switches of the rewrites that change how a plan runs, never what it yields.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Rewrites {
    /// Neighbouring maps that run as graphs become one step.
    pub map_fusion: bool,
    /// Maps, and a filter on them, that run as graphs become one step.
    pub map_and_filter_fusion: bool,
    /// Neighbouring filters that run as graphs become one step.
    pub filter_fusion: bool,
    /// Maps that run as graphs have several tasks where nobody can notice.
    pub map_parallelization: bool,
    /// Steps that change nothing are taken out.
    pub noop_elimination: bool,
    /// Batches whose rows are copied are put together by several tasks where nobody can notice.
    pub parallel_batch: bool,
    /// A shuffle and a repeat on it become one step, where nobody can notice that it reads ahead.
    pub shuffle_and_repeat_fusion: bool,
}

impl Rewrites {
    /// No rewrite at all.
    pub const NONE: Rewrites = Rewrites {
        map_fusion: false,
        map_and_filter_fusion: false,
        filter_fusion: false,
        map_parallelization: false,
        noop_elimination: false,
        parallel_batch: false,
        shuffle_and_repeat_fusion: false,
    };
    /// Every rewrite there is.
    pub const ALL: Rewrites = Rewrites {
        map_fusion: true,
        map_and_filter_fusion: true,
        filter_fusion: true,
        map_parallelization: true,
        noop_elimination: true,
        parallel_batch: true,
        shuffle_and_repeat_fusion: true,
    };
}

impl Default for Rewrites {
    fn default() -> Self {
        Rewrites {
            map_fusion: true,
            map_and_filter_fusion: true,
            noop_elimination: true,
            shuffle_and_repeat_fusion: true,
            ..Rewrites::NONE
        }
    }
}

impl RunOptions {
    /// Whether a parallel stage keeps the order, given what its op says of it.
    pub fn keeps_order(&self, deterministic: Option<bool>) -> bool {
        self.checkpointable || deterministic.unwrap_or(self.deterministic)
    }
}

impl Default for RunOptions {
    fn default() -> Self {
        RunOptions {
            chunk_rows: 1024,
            chunk_bytes: 1 << 20,
            private_threadpool_size: None,
            deterministic: true,
            checkpointable: false,
            autotune: AutotuneOptions::default(),
            rewrites: Rewrites::default(),
            inject_prefetch: true,
            on_demand: false,
        }
    }
}

/// How many outcomes the plan has, if each opening of it has as many.
pub fn fixed_length(plan: &Plan) -> Option<u64> {
    let fixed = |input: &Plan| fixed_length(input).is_some();
    plan.cardinality().known().filter(|_| plan.inputs().iter().all(fixed))
}

/// True if a shuffle of the plan's elements opens it only when it is first read: it matters whether and
/// when.
pub fn opens_late(plan: &Plan) -> bool {
    seed_slots(plan) > 0 || caches(plan) > 0
}

/// True if a shuffle in the plan opens its input when it is first read.
pub fn reads_late(plan: &Plan) -> bool {
    let inputs = plan.inputs();
    (plan.name() == "shuffle" && inputs.iter().any(opens_late)) || inputs.iter().any(reads_late)
}

/// True if asking for more than one element may draw seeds that opening the plan did not: a `repeat`
/// opens its later epochs when their turn comes, so does `concatenate` its second input, and a mix may
/// come late to a source that opens its own input when it is first read.
pub fn draws_later(plan: &Plan) -> bool {
    let later = ["repeat", "shuffle_and_repeat", "concatenate"];
    let mixes = ["choose_from_datasets", "sample_from_datasets"];
    later.contains(&plan.name())
        || (mixes.contains(&plan.name()) && reads_late(plan))
        || plan.inputs().iter().any(draws_later)
}

/// True if reading the plan draws seeds, or counts what it opens, after it was opened.
pub fn draws_on_the_way(plan: &Plan) -> bool {
    plan.nests()
        || plan.inputs().iter().any(draws_on_the_way)
        || ((draws_later(plan) || reads_late(plan)) && draws_anew(plan))
}

/// The plan below steps that change nothing but how far is read ahead.
pub fn past_prefetches(plan: &Plan) -> Plan {
    past(plan, |step| step.is_passage())
}

/// The plan below steps that change nothing, which tf.data removes before it fuses.
pub fn past_noops(plan: &Plan) -> Plan {
    past(plan, |step| step.is_passage() && step.name() != "prefetch")
}

fn past(plan: &Plan, passes: impl Fn(&Plan) -> bool) -> Plan {
    let mut plan = Arc::clone(plan);
    while passes(&plan)
        && let Some(input) = plan.inputs().first()
    {
        plan = Arc::clone(input);
    }
    plan
}
