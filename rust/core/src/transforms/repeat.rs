//! `Dataset.repeat`: the input again and again, opened anew for each epoch.
//!
//! The start of an epoch is where runs are resumed from, so this stage makes the marks: the number
//! of the epoch, and how many seeds the stages below had drawn before it. How an epoch is opened,
//! `Epochs` says.

use std::sync::Arc;

use crate::data::mark::MarkBody;
use crate::data::{Chunk, ElementSpec, Mark, Position};
use crate::engine::ending::Ending;
use crate::engine::node::{
    Arg, caches, draws_anew, draws_later, fixed_length, reads_late, seed_slots,
};
use crate::engine::opening::OwnedPlace;
use crate::engine::run::RunContext;
use crate::engine::skipping::passed;
use crate::engine::stage::Passage;
use crate::engine::wait::poll_if_due;
use crate::engine::{Cardinality, Input, Node, Opening, Plan, Skipped, Stage};
use crate::error::Result;

/// The input `count` times; without end if it is negative.
#[derive(Clone)]
pub struct RepeatNode {
    pub(crate) input: Plan,
    pub(crate) count: i64,
}

impl RepeatNode {
    /// A plan of `count` epochs of `input`.
    pub fn plan(input: Plan, count: i64) -> Plan {
        Arc::new(RepeatNode { input, count })
    }
}

impl Node for RepeatNode {
    fn name(&self) -> &'static str {
        "repeat"
    }

    fn args(&self) -> Vec<Arg> {
        vec![Arg::new("count", self.count.max(-1))]
    }

    fn inputs(&self) -> Vec<Plan> {
        vec![Arc::clone(&self.input)]
    }

    fn spec(&self) -> &ElementSpec {
        self.input.spec()
    }

    fn cardinality(&self) -> Cardinality {
        match (u64::try_from(self.count), self.input.cardinality()) {
            (Ok(0), _) | (_, Cardinality::Known(0)) => Cardinality::Known(0),
            (Ok(count), Cardinality::Known(n)) => Cardinality::Known(n.saturating_mul(count)),
            (Ok(_), other) => other,
            (Err(_), _) => Cardinality::Infinite,
        }
    }

    fn is_passage(&self) -> bool {
        self.count == 1
    }

    fn is_indexable(&self) -> bool {
        true
    }

    fn with_inputs(&self, mut inputs: Vec<Plan>) -> Option<Plan> {
        let input = inputs.pop()?;
        Some(Arc::new(RepeatNode { input, ..self.clone() }))
    }

    fn open(&self, opening: &Opening<'_>) -> Result<Box<dyn Stage>> {
        if self.is_passage() {
            return Ok(Box::new(Passage(opening.passage(0, &self.input)?)));
        }
        let place = opening.place(0).to_owned();
        let epochs = Apart { plan: Arc::clone(&self.input), place: place.clone() };
        RepeatStage::open(opening, &self.input, place, self.count, Box::new(epochs))
    }
}

/// Opens the epochs of a `repeat`.
pub(super) trait Epochs: Send {
    /// Epoch `number` at `position`; the one before is closed.
    fn open(&mut self, number: u64, position: Position) -> Result<Input>;
}

/// Epochs that have nothing in common.
struct Apart {
    plan: Plan,
    place: OwnedPlace,
}

impl Epochs for Apart {
    fn open(&mut self, number: u64, position: Position) -> Result<Input> {
        self.place.in_epoch(number).open(&self.plan, position)
    }
}

pub(super) struct RepeatStage {
    run: Arc<RunContext>,
    /// What is repeated, and where it stands.
    plan: Plan,
    place: OwnedPlace,
    epochs: Box<dyn Epochs>,
    /// Number of epochs; `None`: no end.
    count: Option<u64>,
    draws_in_vain: bool,
    /// Other places of the run draw from the same seeds, so epochs must be opened on demand only.
    shared: bool,
    input: Option<Input>,
    epoch: u64,
    /// Outcomes taken in this epoch.
    outcomes: u64,
    /// The next chunk is the first of an epoch.
    begins: bool,
    /// Where this epoch ends, if the next one draws seeds.
    ending: Option<Ending>,
    /// The next element may be in the next epoch, whose seeds are not drawn yet.
    ends: bool,
    /// Draws of the stages below before this epoch.
    draws: Vec<(usize, u64)>,
    /// Caches below that were filled before this epoch.
    filled: Vec<usize>,
}

impl RepeatStage {
    /// A stage of `count` epochs of `plan`, which stands at `place`; without end if negative.
    pub(super) fn open(
        opening: &Opening<'_>,
        plan: &Plan,
        place: OwnedPlace,
        count: i64,
        epochs: Box<dyn Epochs>,
    ) -> Result<Box<dyn Stage>> {
        let mut stage = RepeatStage {
            run: Arc::clone(opening.run),
            plan: Arc::clone(plan),
            place,
            epochs,
            count: u64::try_from(count).ok(),
            shared: opening.run.shares_seeds(plan),
            draws_in_vain: opening.draws_in_vain(plan),
            input: None,
            epoch: opening.mark.own(0),
            outcomes: 0,
            begins: false,
            ending: None,
            ends: false,
            draws: Vec::new(),
            filled: Vec::new(),
        };
        if !stage.is_over() {
            stage.open_epoch(opening.mark.input(0))?;
            stage.begins = false;
        }
        Ok(Box::new(stage))
    }

    fn is_over(&self) -> bool {
        self.count.is_some_and(|count| self.epoch >= count)
    }

    fn open_epoch(&mut self, position: Position) -> Result<()> {
        // The old epoch's stages go before the new ones come, so that they share no file or thread.
        self.input = None;
        self.draws = self.place.draws(&self.plan);
        self.filled = self.place.filled(&self.plan);
        self.outcomes = position.since;
        self.ending = draws_anew(&self.plan).then(|| Ending::of(&self.plan, &position));
        self.ends = false;
        self.input = Some(self.epochs.open(self.epoch, position)?);
        self.begins = true;
        Ok(())
    }

    /// Moves on to the next epoch; false at the end of all.
    fn next_epoch(&mut self) -> Result<bool> {
        self.epoch += 1;
        // An endless repeat of nothing ends.
        let stops = self.count.is_none() && self.outcomes == 0;
        if stops {
            self.count = Some(self.epoch);
        }
        if self.is_over() {
            self.input = None;
            if self.draws_in_vain && !stops && seed_slots(&self.plan) > 0 {
                // tf.data opens an iterator after the last epoch too; only its seeds matter.
                self.place.in_vain().open(&self.plan, Position::default())?;
            }
            return Ok(false);
        }
        self.open_epoch(Position::default())?;
        Ok(true)
    }

    /// Length of every epoch, where it is known without running one.
    fn epoch_length(&self) -> Option<u64> {
        // A cache is filled by a pass that is made, not by one that is passed over.
        let countable = fixed_length(&self.plan).is_some()
            && !draws_later(&self.plan)
            && !reads_late(&self.plan)
            && caches(&self.plan) == 0;
        self.plan.cardinality().known().filter(|length| *length > 0 && countable)
    }

    /// Passes over epochs that are to be skipped whole; their seeds are drawn all the same.
    fn skip_epochs(&mut self, n: u64) -> Result<u64> {
        // An error is an outcome that `take` does not count, so it makes epochs longer.
        let countable = self.outcomes == 0 && !self.shared && !self.run.has_failed();
        let Some(length) = self.epoch_length().filter(|_| countable) else { return Ok(0) };
        // The epoch after the last outcome is opened when it is asked for: opening draws seeds.
        let mut epochs = n.saturating_sub(1) / length;
        if let Some(count) = self.count {
            epochs = epochs.min(count.saturating_sub(self.epoch));
        }
        if seed_slots(&self.plan) > 0 {
            for _ in 0..epochs {
                poll_if_due()?;
                self.outcomes = length;
                self.next_epoch()?;
            }
        } else if epochs > 0 {
            self.epoch += epochs;
            if self.is_over() {
                self.input = None;
            } else {
                self.open_epoch(Position::default())?;
            }
        }
        Ok(epochs * length)
    }
}

impl Stage for RepeatStage {
    fn next(&mut self, max: usize) -> Result<Option<Chunk>> {
        loop {
            let passed = self.input.as_mut().is_some_and(Input::passed_mark);
            let mark = if passed || self.begins { self.state() } else { None };
            let Some(input) = &mut self.input else { return Ok(None) };
            match input.next(max) {
                Ok(Some(chunk)) => {
                    self.begins = false;
                    self.outcomes += chunk.rows() as u64;
                    self.ends = match &self.ending {
                        Some(ending) if input.quiet() => {
                            ending.is_here(input, self.outcomes, max, &self.run)
                        }
                        _ => false,
                    };
                    return Ok(Some(chunk.marked(mark)));
                }
                Err(error) => {
                    self.outcomes += 1;
                    return Err(error);
                }
                Ok(None) => {
                    if !self.next_epoch()? {
                        return Ok(None);
                    }
                }
            }
        }
    }

    fn skip(&mut self, n: u64) -> Skipped {
        let mut left = n;
        while left > 0 {
            left -= self.skip_epochs(left)?;
            let Some(input) = &mut self.input else { break };
            let skipped = input.skip(left);
            self.outcomes += passed(&skipped);
            self.ends = self.ending.is_some();
            left -= skipped.map_err(|met| met.after(n - left))?;
            if left > 0 && !self.next_epoch()? {
                break;
            }
        }
        Ok(n - left)
    }

    fn state(&self) -> Option<Mark> {
        let position = self.input.as_ref()?.position();
        let body = MarkBody {
            own: [self.epoch].into_iter().collect(),
            inputs: vec![position],
            draws: self.draws.clone(),
            filled: self.filled.clone(),
        };
        Some(Mark(Some(Arc::new(body))))
    }

    fn quiet(&self) -> bool {
        !self.shared && !self.ends && self.input.as_ref().is_none_or(Input::quiet)
    }
}
