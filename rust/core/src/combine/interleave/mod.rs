//! `Dataset.interleave`: several of the datasets that a function makes of the elements, in turn.
//!
//! A cycle of slots is gone round, `block_length` elements from each. A dataset that ends leaves
//! its slot empty, and the turn goes on; the slot's next dataset comes when its turn comes again.
//!
//! With `num_parallel_calls` so many datasets, from the one whose turn it is, are made, opened and
//! read ahead at a time, each by a driver of its own: in the order of the turns, or first come,
//! first served if `deterministic` is false. AUTOTUNE moves their number within the cycle, and how
//! far ahead each is read; which slot a dataset has, and which elements come, never depends on it.
//!
//! A run is resumed where the cycle stood: the open datasets are opened anew and skipped to their
//! places; those that have ended are not made again.
//!
//! An error is an outcome of its turn with `num_parallel_calls`, and none without, as in tf.data;
//! so is a dataset that cannot be made.

use std::sync::Arc;

use crate::combine::plans::Plans;
use crate::data::ElementSpec;
use crate::engine::apply::{Parallel, function_arg, function_notes};
use crate::engine::autotune::Knob;
use crate::engine::nested::inner_spec;
use crate::engine::node::{Arg, RunOptions, Unfixed};
use crate::engine::pool::parallelism;
use crate::engine::{Cardinality, Node, Opening, Plan, Stage};
use crate::error::{Error, Result};
use crate::graph::call::{Prepared, UserFunction};

use stage::{Ahead, InterleaveStage};

/// Chunks that a dataset is read ahead, and how many AUTOTUNE may make of them.
const WINDOW: usize = 2;
const MOST_WINDOW: usize = 16;

mod opening;
mod slot;
mod stage;
mod standing;

/// The elements of several datasets at a time, in turn.
pub struct InterleaveNode {
    input: Plan,
    function: Arc<dyn UserFunction>,
    cycle: usize,
    block: usize,
    parallel: Parallel,
    /// Whether order is kept; `None`: as the options say.
    deterministic: Option<bool>,
    prepared: Prepared,
    spec: ElementSpec,
}

impl InterleaveNode {
    /// A plan that calls `function` on each element of `input`. A `cycle_length` of `None` or -1 is
    /// the number of cores.
    ///
    /// # Errors
    /// `InvalidArgument` for lengths below 1, or if the function is known to give anything but a
    /// dataset.
    pub fn plan(
        input: Plan,
        function: Arc<dyn UserFunction>,
        cycle_length: Option<i64>,
        block_length: Option<i64>,
        parallel: Parallel,
        deterministic: Option<bool>,
    ) -> Result<Plan> {
        let cycle = match cycle_length {
            None | Some(-1) => parallelism(),
            Some(length) => at_least_one("cycle_length", length)?,
        };
        let block = at_least_one("block_length", block_length.unwrap_or(1))?;
        let prepared = function.prepare(input.spec())?;
        let spec = inner_spec("map_func", &prepared)?;
        let node = InterleaveNode {
            input,
            function,
            cycle,
            block,
            parallel,
            deterministic,
            prepared,
            spec,
        };
        Ok(Arc::new(node))
    }
}

fn at_least_one(name: &str, length: i64) -> Result<usize> {
    usize::try_from(length).ok().filter(|length| *length > 0).ok_or_else(|| {
        Error::invalid_argument(format!("{name} must be greater than zero, got {length}"))
    })
}

impl Node for InterleaveNode {
    fn name(&self) -> &'static str {
        "interleave"
    }

    fn args(&self) -> Vec<Arg> {
        vec![
            function_arg("map_func", &self.function, &self.prepared),
            Arg::new("cycle_length", self.cycle),
            Arg::new("block_length", self.block),
            Arg::tuning("num_parallel_calls", self.parallel.text()),
        ]
    }

    fn notes(&self) -> Vec<String> {
        function_notes(&self.prepared)
    }

    fn inputs(&self) -> Vec<Plan> {
        vec![Arc::clone(&self.input)]
    }

    fn spec(&self) -> &ElementSpec {
        &self.spec
    }

    fn cardinality(&self) -> Cardinality {
        // tf.data's answers, which are not the same for the two.
        match (&self.parallel, self.input.cardinality()) {
            (Parallel::Serial, _) => Cardinality::Unknown,
            (_, Cardinality::Infinite) => Cardinality::Infinite,
            _ => Cardinality::Unknown,
        }
    }

    fn observable(&self) -> bool {
        !self.function.gives_quiet()
    }

    fn unfixed(&self, options: &RunOptions) -> Option<Unfixed> {
        let parallel = self.parallel != Parallel::Serial;
        (parallel && !options.keeps_order(self.deterministic)).then_some(Unfixed::Order)
    }

    fn nests(&self) -> bool {
        true
    }

    fn function(&self) -> Option<&Arc<dyn UserFunction>> {
        Some(&self.function)
    }

    fn open(&self, opening: &Opening<'_>) -> Result<Box<dyn Stage>> {
        let input = opening.input(0, &self.input)?;
        let (name, spec) = ("interleave", self.input.spec());
        let driven = self.parallel != Parallel::Serial;
        let plans = Plans::open(opening, name, input, &self.function, spec, driven)?;
        let tuned = opening.run.options.autotune.enabled;
        let how = match self.parallel {
            _ if opening.run.options.on_demand => None,
            Parallel::Serial => None,
            Parallel::Calls(calls) => {
                Some((Knob::fixed(calls.min(self.cycle)), Knob::fixed(WINDOW)))
            }
            Parallel::Autotune => {
                let window =
                    Knob::between(WINDOW, WINDOW, if tuned { MOST_WINDOW } else { WINDOW });
                Some((opening.run.autotuned_readers(self.cycle), window))
            }
        };
        let ahead = how.map(|(slots, window)| Ahead::new(slots, window, opening));
        let ordered = opening.run.options.keeps_order(self.deterministic);
        let mut stage = InterleaveStage::new(plans, self.cycle, self.block, opening.run);
        stage.reads(ahead, ordered || !driven, driven);
        // Nobody goes on from marks within a nested dataset, and those of shards must be comparable.
        let marks = (ordered || !driven) && !opening.run.is_nested() && !opening.is_sharded();
        stage.stands(&opening.mark, marks.then(|| opening.slot()));
        Ok(Box::new(stage))
    }
}
