//! A `shuffle` and the `repeat` right above it as one step, whose buffer stays full between epochs: what
//! rewrites make of both.
//!
//! As in tf.data's fused op, once an epoch has no more elements to come in, those of the next one take
//! the places that get free. Draws, order, errors, marks and states are those of the steps apart: an
//! epoch begins with the elements that have come already, and is drawn from alone.

use std::sync::Arc;

use super::repeat::{Epochs, RepeatNode, RepeatStage};
use super::shuffle::{Rows, ShuffleNode, ShuffleStage, Supply};
use crate::data::{Chunk, ElementSpec, Position};
use crate::engine::node::Arg;
use crate::engine::opening::OwnedPlace;
use crate::engine::run::RunContext;
use crate::engine::seeds::SeedGenerator;
use crate::engine::stats::StageStats;
use crate::engine::sync::Mutex;
use crate::engine::{Cardinality, Input, Node, Opening, Plan, Skipped, Stage, lock};
use crate::error::Result;

/// So many epochs of a shuffle.
pub(crate) struct ShuffleAndRepeatNode {
    shuffle: Arc<ShuffleNode>,
    repeat: RepeatNode,
}

impl ShuffleAndRepeatNode {
    /// `repeat`, which stands on `shuffle`, as one step with it.
    pub(crate) fn new(repeat: &RepeatNode, shuffle: &ShuffleNode) -> Self {
        let shuffle = Arc::new(shuffle.clone());
        let repeat = RepeatNode { input: Arc::clone(&shuffle) as Plan, count: repeat.count };
        ShuffleAndRepeatNode { shuffle, repeat }
    }
}

impl Node for ShuffleAndRepeatNode {
    fn name(&self) -> &'static str {
        "shuffle_and_repeat"
    }

    fn args(&self) -> Vec<Arg> {
        self.shuffle.args().into_iter().chain(self.repeat.args()).collect()
    }

    fn inputs(&self) -> Vec<Plan> {
        self.shuffle.inputs()
    }

    fn spec(&self) -> &ElementSpec {
        self.shuffle.spec()
    }

    fn cardinality(&self) -> Cardinality {
        self.repeat.cardinality()
    }

    fn seeds(&self) -> Option<&Arc<SeedGenerator>> {
        self.shuffle.seeds()
    }

    fn with_inputs(&self, mut inputs: Vec<Plan>) -> Option<Plan> {
        let shuffle = self.shuffle.on(inputs.pop()?);
        Some(Arc::new(ShuffleAndRepeatNode::new(&self.repeat, &shuffle)))
    }

    fn open(&self, opening: &Opening<'_>) -> Result<Box<dyn Stage>> {
        let epochs = Joined {
            run: Arc::clone(opening.run),
            stats: Arc::clone(&opening.stats),
            shuffle: Arc::clone(&self.shuffle),
            slot: opening.slot(),
            below: opening.place(0).to_owned(),
            count: u64::try_from(self.repeat.count).ok(),
            kept: Arc::default(),
        };
        let plan = &self.repeat.input;
        RepeatStage::open(opening, plan, opening.here(), self.repeat.count, Box::new(epochs))
    }
}

/// What an epoch leaves to the next: the places of rows, and what has come already.
type Kept = Arc<Mutex<Option<(Rows, Option<Supply>)>>>;

/// Epochs with one buffer.
#[derive(Clone)]
struct Joined {
    run: Arc<RunContext>,
    stats: Arc<StageStats>,
    shuffle: Arc<ShuffleNode>,
    slot: usize,
    below: OwnedPlace,
    count: Option<u64>,
    kept: Kept,
}

impl Joined {
    fn supply(&self, epoch: u64) -> Result<Supply> {
        let place = self.below.in_epoch(epoch);
        Ok(Supply::new(place.open(&self.shuffle.input, Position::default())?))
    }
}

impl Epochs for Joined {
    fn open(&mut self, number: u64, position: Position) -> Result<Input> {
        let pair = match self.shuffle.seeds() {
            Some(seeds) => self.run.draw(self.slot, seeds)?,
            None => (0, 0),
        };
        let (rows, supply) = lock(&self.kept).take().unwrap_or_default();
        let supply = supply.map_or_else(|| self.supply(number), Ok)?;
        let shuffle = self.shuffle.stage(&self.run, &self.stats, pair, supply, rows);
        let follows = self.count.is_none_or(|count| number + 1 < count);
        let runs_ahead = follows && !self.run.options.on_demand;
        let stage = EpochStage { shuffle, number, runs_ahead, next: None, epochs: self.clone() };
        Ok(Input::at(position, Box::new(stage), &self.run, &self.stats))
    }
}

struct EpochStage {
    shuffle: ShuffleStage,
    number: u64,
    /// The next epoch may be read from before this one is over.
    runs_ahead: bool,
    /// The next epoch, once it is read from.
    next: Option<Supply>,
    epochs: Joined,
}

impl EpochStage {
    fn read_ahead(&mut self) -> Result<()> {
        if !self.runs_ahead || !self.shuffle.is_draining() {
            return Ok(());
        }
        if self.next.is_none() {
            // What keeps it from being opened is told when its turn comes.
            self.next = self.epochs.supply(self.number + 1).ok();
            self.runs_ahead = self.next.is_some();
        }
        self.next.as_mut().map_or(Ok(()), |next| self.shuffle.read_ahead(next))
    }
}

impl Stage for EpochStage {
    fn next(&mut self, max: usize) -> Result<Option<Chunk>> {
        self.read_ahead()?;
        let chunk = self.shuffle.next(max)?;
        if chunk.is_none() {
            *lock(&self.epochs.kept) = Some((self.shuffle.take_rows(), self.next.take()));
            self.runs_ahead = false;
        }
        Ok(chunk)
    }

    fn skip(&mut self, n: u64) -> Skipped {
        self.shuffle.skip(n)
    }

    fn quiet(&self) -> bool {
        self.shuffle.quiet()
    }
}
