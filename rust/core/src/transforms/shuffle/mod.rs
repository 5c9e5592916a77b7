//! `Dataset.shuffle`, in tf.data's order bit for bit.
//!
//! The draws move handles in a ring; rows lie in a store under their handles, so whole chunks go in
//! and out column by column. Of a `repeat` on it rewrites make one step, `shuffle_and_repeat`.

mod ring;
mod stage;

use std::sync::Arc;

use crate::data::ElementSpec;
use crate::engine::node::{Arg, caches, fixed_length, functions, opens_late};
use crate::engine::run::RunContext;
use crate::engine::seeds::{SeedGenerator, SeedPair};
use crate::engine::stage::Nothing;
use crate::engine::stats::StageStats;
use crate::engine::{Cardinality, Node, Opening, Plan, Stage};
use crate::error::{Error, Result};

pub(super) use ring::Ring;
pub(super) use stage::{Rows, ShuffleStage, Supply};

/// tf.data's constant for a buffer that holds the whole input.
pub const WHOLE_INPUT: i64 = -2;

/// Elements in random order.
#[derive(Clone)]
pub struct ShuffleNode {
    pub(crate) input: Plan,
    buffer_size: i64,
    seeds: Arc<SeedGenerator>,
}

impl ShuffleNode {
    /// A plan that draws each element from the next `buffer_size` of `input`; -2 for all of them.
    ///
    /// # Errors
    /// `InvalidArgument` for other sizes below 1.
    pub fn plan(input: Plan, buffer_size: i64, seeds: SeedGenerator) -> Result<Plan> {
        if buffer_size < 1 && buffer_size != WHOLE_INPUT {
            return Err(Error::invalid_argument(format!(
                "buffer_size must be greater than zero or UNKNOWN_CARDINALITY, got {buffer_size}"
            )));
        }
        Ok(Arc::new(ShuffleNode { input, buffer_size, seeds: Arc::new(seeds) }))
    }
}

impl Node for ShuffleNode {
    fn name(&self) -> &'static str {
        "shuffle"
    }

    fn args(&self) -> Vec<Arg> {
        vec![
            Arg::new("buffer_size", self.buffer_size),
            Arg::new("seed", self.seeds.shown()),
            Arg::new("reshuffle_each_iteration", self.seeds.reshuffles()),
        ]
    }

    fn inputs(&self) -> Vec<Plan> {
        vec![Arc::clone(&self.input)]
    }

    fn spec(&self) -> &ElementSpec {
        self.input.spec()
    }

    fn cardinality(&self) -> Cardinality {
        self.input.cardinality()
    }

    fn seeds(&self) -> Option<&Arc<SeedGenerator>> {
        Some(&self.seeds)
    }

    fn with_inputs(&self, mut inputs: Vec<Plan>) -> Option<Plan> {
        Some(Arc::new(self.on(inputs.pop()?)))
    }

    fn open(&self, opening: &Opening<'_>) -> Result<Box<dyn Stage>> {
        let pair = opening.draw()?;
        if opening.is_in_vain() {
            return Ok(Box::new(Nothing));
        }
        // As in tf.data, the input is opened when it is first asked for an element.
        let supply = match opens_late(&self.input) {
            true => Supply::later(&self.input, opening.place(0).to_owned(), opening.mark.input(0)),
            false => Supply::new(opening.input(0, &self.input)?),
        };
        let rows = Rows::default();
        Ok(Box::new(self.stage(opening.run, &opening.stats, pair, supply, rows)))
    }
}

impl ShuffleNode {
    /// The same step over another input.
    pub(super) fn on(&self, input: Plan) -> Self {
        ShuffleNode { input, ..self.clone() }
    }

    /// A stage that takes its elements from `supply`, whose rows are in `rows`.
    pub(super) fn stage(
        &self,
        run: &Arc<RunContext>,
        stats: &Arc<StageStats>,
        pair: SeedPair,
        supply: Supply,
        rows: Rows,
    ) -> ShuffleStage {
        // A function may fail, and an error is no element of the buffer. A cache is filled only by
        // asking for the end, which counting does not.
        let countable = fixed_length(&self.input).is_some()
            && functions(&self.input) == 0
            && caches(&self.input) == 0;
        let length = self.input.cardinality().known().filter(|_| countable);
        let capacity = usize::try_from(self.buffer_size).unwrap_or(usize::MAX);
        let ring = Ring::new(pair, capacity);
        ShuffleStage::new(Arc::clone(run), Arc::clone(stats), ring, supply, rows, length)
    }
}
