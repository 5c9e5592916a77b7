//! The state of a run as text: small, readable, and refused by any other plan.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::data::Position;
use crate::engine::by_number;
use crate::engine::fills::Fill;
use crate::engine::nested_log::NestedState;
use crate::engine::node::{Arg, Plan};
use crate::engine::opened_files::OpenedFile;
use crate::engine::plan_keys::{Key, PlanKeys};
use crate::engine::reshard::Shard;
use crate::engine::seeds::{DrawLog, SeedPair};
use crate::engine::state_text;
use crate::error::{Error, Result};
use crate::graph::call::Verdict;
use crate::random::site::RunKey;

/// Where a run stands, and what it needs to be opened there.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct State {
    /// The stages of the plan, so that a state of another plan is noticed.
    plan: PlanKeys,
    /// The outermost stage's position.
    pub position: Position,
    /// Seed draws that are to be replayed, by slot.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty", with = "by_number")]
    pub draws: BTreeMap<usize, DrawLog>,
    /// The passes that filled the caches which the run reads, by cache.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty", with = "by_number")]
    pub fills: BTreeMap<usize, Fill>,
    /// Seed draws of nested plans, by the slot of the stage that opened them.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty", with = "by_number")]
    pub nested: BTreeMap<usize, NestedState>,
    /// Where unseeded ops that functions make get their seeds from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub entropy: Option<SeedPair>,
    /// What functions that may draw random numbers draw by, by function.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty", with = "by_number")]
    pub functions: BTreeMap<usize, RunKey>,
    /// Whether a `repeat` on a shuffle draws once more at its end, by the slot of its first seed and
    /// the number of `repeat`s above: prefetching in between decides that.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub in_vain: Vec<(usize, usize, bool)>,
    /// An element of the run has failed, so outcomes must be counted by making them.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub failed: bool,
    /// How the trials of traced functions ended, by stage.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty", with = "by_number")]
    pub verdicts: BTreeMap<usize, Verdict>,
    /// The files that were opened last, so that a changed one is noticed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub files: Vec<OpenedFile>,
}

impl State {
    /// A state of a run of the plan that stands at `position`.
    pub fn new(plan: PlanKeys, position: Position) -> Self {
        State {
            plan,
            position,
            draws: BTreeMap::new(),
            fills: BTreeMap::new(),
            nested: BTreeMap::new(),
            entropy: None,
            functions: BTreeMap::new(),
            in_vain: Vec::new(),
            failed: false,
            verdicts: BTreeMap::new(),
            files: Vec::new(),
        }
    }

    /// Reads a state.
    ///
    /// # Errors
    /// `InvalidArgument` if the text is not a state, or not what was written.
    pub fn from_json(text: &str) -> Result<Self> {
        state_text::read(text)
    }

    /// Writes the state.
    ///
    /// # Errors
    /// `ResourceExhausted` if it would be longer than 256 KiB.
    pub fn to_json(&self) -> Result<String> {
        state_text::write(self)
    }

    /// Fails if this is a state of another plan.
    ///
    /// # Errors
    /// `InvalidArgument` naming the first stage and argument that differ.
    pub fn check(&self, plan: &Plan) -> Result<()> {
        self.compare(&PlanKeys::of(plan), |_| true)
    }

    /// Fails if this is not the state of a run of one shard of a plan like this one.
    ///
    /// # Errors
    /// `InvalidArgument` naming what differs.
    pub(crate) fn check_sharded(&self, plan: &Plan, shard: Shard) -> Result<()> {
        // A single shard is no step of a run.
        let of_shard = |key: &Key<'_>| key.name() == "shard";
        self.compare(&PlanKeys::of(plan), |key| !of_shard(key))?;
        let wanted = [
            Arg::new("num_shards", shard.count),
            Arg::new("index", shard.index),
            Arg::new("equal", "No"),
        ];
        let fits = |key: &Key<'_>| wanted.iter().all(|arg| key.has(arg.name, arg.hash64()));
        match &self.plan.iter().filter(of_shard).collect::<Vec<_>>()[..] {
            [] if shard.count == 1 => Ok(()),
            [key] if fits(key) => Ok(()),
            _ => {
                let Shard { count, index } = shard;
                let text = format!("the state is not of shard {index} of {count}");
                let hint = "pass the states of all shards, in the order of their index";
                Err(Error::invalid_argument(text).with_hint(hint))
            }
        }
    }

    /// True if the seeded steps of both drew the same, as far as both tell.
    pub(crate) fn draws_alike(&self, other: &Self) -> bool {
        let both = self.draws.iter().filter_map(|(slot, log)| Some((log, other.draws.get(slot)?)));
        both.into_iter().all(|(ours, theirs)| ours.begins_as(theirs))
    }

    /// The same, of a run of `plan` at another position.
    pub(crate) fn moved(self, plan: &Plan, position: Position) -> Self {
        State { plan: PlanKeys::of(plan), position, ..self }
    }

    /// Fails unless the stages that count are those of another plan.
    fn compare(&self, own: &PlanKeys, counts: impl Fn(&Key<'_>) -> bool) -> Result<()> {
        let (mut theirs, mut ours) = (self.plan.iter().filter(&counts), own.iter().filter(&counts));
        for stage in 0.. {
            let (theirs, ours) = match (theirs.next(), ours.next()) {
                (Some(theirs), Some(ours)) => (theirs, ours),
                (None, None) => break,
                _ => {
                    let [a, b] = [&self.plan, own].map(|keys| keys.iter().filter(&counts).count());
                    return Err(refused(format!("it has {a} stages, here there are {b}")));
                }
            };
            let (name, other) = (ours.name(), theirs.name());
            if name != other {
                return Err(refused(format!("its stage {stage} is {other}, here it is {name}")));
            }
            if let Some(arg) = ours.difference(theirs) {
                return Err(refused(format!("argument {arg} of stage {stage} ({name}) differs")));
            }
        }
        if !self.plan.is_cut_from_same(own) {
            return Err(refused("some argument differs".into()));
        }
        self.check_numbers()
    }
}

impl State {
    /// Fails for numbers that no run comes to.
    fn check_numbers(&self) -> Result<()> {
        let sound = self.position.is_sound()
            && self.draws.values().all(DrawLog::is_sound)
            && self.fills.values().all(Fill::is_sound)
            && self.nested.values().all(NestedState::is_sound);
        let text = "the state holds numbers that no run comes to";
        if sound { Ok(()) } else { Err(Error::invalid_argument(text)) }
    }
}

fn refused(why: String) -> Error {
    Error::invalid_argument(format!("the state belongs to another dataset: {why}"))
        .with_hint("stages are counted from the last op, prefetch left out")
}
