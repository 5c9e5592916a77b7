//! The state of a run as text: small, readable, and refused by any other plan.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::data::Position;
use crate::engine::fills::Fill;
use crate::engine::nested_log::NestedState;
use crate::engine::node::{Arg, Plan};
use crate::engine::opened_files::OpenedFile;
use crate::engine::reshard::Shard;
use crate::engine::seeds::{DrawLog, SeedPair};
use crate::engine::state_text;
use crate::error::{Error, Result};
use crate::graph::call::Verdict;
use crate::graph::hash::Fnv;
use crate::random::site::RunKey;

/// Where a run stands, and what it needs to be opened there.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct State {
    /// The stages of the plan, so that a state of another plan is noticed.
    plan: PlanKeys,
    /// The outermost stage's position.
    pub position: Position,
    /// Seed draws that are to be replayed, by slot.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub draws: BTreeMap<usize, DrawLog>,
    /// The passes that filled the caches which the run reads, by cache.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub fills: BTreeMap<usize, Fill>,
    /// Seed draws of nested plans, by the slot of the stage that opened them.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub nested: BTreeMap<usize, NestedState>,
    /// Where unseeded ops that functions make get their seeds from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub entropy: Option<SeedPair>,
    /// What functions that may draw random numbers draw by, by function.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub functions: BTreeMap<usize, RunKey>,
    /// An element of the run has failed, so outcomes must be counted by making them.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub failed: bool,
    /// How the trials of traced functions ended, by stage.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub verdicts: BTreeMap<usize, Verdict>,
    /// The files that were opened last, so that a changed one is noticed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub files: Vec<OpenedFile>,
}

/// A stage's name, and a hash of each of its arguments.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct StageKey(String, BTreeMap<String, String>);

/// The stages of a plan as states name them.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct PlanKeys(Arc<[StageKey]>);

impl PlanKeys {
    /// The stages in order from the outermost, without those that change nothing.
    pub fn of(plan: &Plan) -> Self {
        let mut keys = Vec::new();
        collect(plan, &mut keys);
        PlanKeys(keys.into())
    }
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
        self.compare(&self.plan, &PlanKeys::of(plan))
    }

    /// Fails if this is not the state of a run of one shard of a plan like this one.
    ///
    /// # Errors
    /// `InvalidArgument` naming what differs.
    pub(crate) fn check_sharded(&self, plan: &Plan, shard: Shard) -> Result<()> {
        // A single shard is no step of a run.
        let of_shard = |StageKey(name, _): &&StageKey| name == "shard";
        let others = |keys: &PlanKeys| {
            let others = keys.0.iter().filter(|key| !of_shard(key)).cloned().collect::<Vec<_>>();
            PlanKeys(others.into())
        };
        self.compare(&others(&self.plan), &others(&PlanKeys::of(plan)))?;
        let wanted = [
            Arg::new("num_shards", shard.count),
            Arg::new("index", shard.index),
            Arg::new("equal", "No"),
        ];
        let fits = |StageKey(_, args): &StageKey| {
            wanted.iter().all(|arg| args.get(arg.name) == Some(&hex(arg.hash64())))
        };
        match self.plan.0.iter().filter(of_shard).collect::<Vec<_>>()[..] {
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

    fn compare(&self, theirs: &PlanKeys, own: &PlanKeys) -> Result<()> {
        let (theirs, own) = (&theirs.0, &own.0);
        for (stage, (StageKey(their_name, their_args), StageKey(name, args))) in
            theirs.iter().zip(&own[..]).enumerate()
        {
            if their_name != name {
                return Err(refused(format!(
                    "its stage {stage} is {their_name}, here it is {name}"
                )));
            }
            let mut known = args.keys().chain(their_args.keys());
            if let Some(arg) = known.find(|key| args.get(*key) != their_args.get(*key)) {
                return Err(refused(format!("argument {arg} of stage {stage} ({name}) differs")));
            }
        }
        match (theirs.len(), own.len()) {
            (a, b) if a == b => self.check_numbers(),
            (a, b) => Err(refused(format!("it has {a} stages, here there are {b}"))),
        }
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

fn collect(plan: &Plan, keys: &mut Vec<StageKey>) {
    if !plan.is_passage() {
        let args = plan.args().into_iter().filter(|arg| arg.in_state);
        let mut args: BTreeMap<_, _> =
            args.map(|arg| (arg.name.into(), hex(arg.hash64()))).collect();
        // Data that is part of the plan. There may be much of it: a sample must do.
        let mut data = Fnv::sampling();
        plan.feed(&mut data);
        if data.finish() != Fnv::default().finish() {
            args.insert("data".into(), hex(data.finish()));
        }
        keys.push(StageKey(plan.name().into(), args));
    }
    plan.inputs().iter().for_each(|input| collect(input, keys));
}

fn hex(hash: u64) -> String {
    format!("{hash:016x}")
}
