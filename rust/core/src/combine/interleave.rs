//! `Dataset.interleave`: several of the datasets that a function makes of the elements, in turn.
//!
//! A cycle of slots is gone round, `block_length` elements from each. A dataset that ends leaves
//! its slot empty, and the turn goes on; the next dataset is opened when the slot's turn comes
//! again. With `num_parallel_calls` datasets are opened, and read ahead, before their turn; the
//! order stays the same unless `deterministic` is false.

use std::sync::Arc;

use crate::combine::flat_map::Plans;
use crate::combine::joining::Joining;
use crate::data::{Chunk, ElementSpec};
use crate::engine::apply::{Parallel, function_arg, function_notes};
use crate::engine::autotune::{Knob, Window};
use crate::engine::driver::{self, Driver};
use crate::engine::nested::inner_spec;
use crate::engine::node::{Arg, RunOptions, Unfixed};
use crate::engine::pool::{Kind, parallelism};
use crate::engine::run::RunContext;
use crate::engine::stage::{is_final, skip_by_running};
use crate::engine::stats::StageStats;
use crate::engine::{Cardinality, Input, Node, Opening, Plan, Stage};
use crate::error::{Error, Result};
use crate::graph::call::{Prepared, UserFunction};

/// Chunks that a dataset is read ahead.
const AHEAD: usize = 2;

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
        true
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
        let spec = self.input.spec();
        let plans = match self.parallel {
            Parallel::Serial => Plans::open(opening, "interleave", input, &self.function, spec)?,
            _ => Plans::open_driven(opening, "interleave", input, &self.function, spec)?,
        };
        let ahead = match self.parallel {
            Parallel::Serial => 0,
            Parallel::Calls(calls) => calls.min(self.cycle),
            Parallel::Autotune => self.cycle,
        };
        Ok(Box::new(InterleaveStage {
            plans,
            cycle: self.cycle,
            slots: vec![None],
            reached: 0,
            open: 0,
            input_ended: false,
            turn: 0,
            taken: 0,
            block: self.block,
            ahead,
            ordered: opening.run.options.keeps_order(self.deterministic),
            run: Arc::clone(opening.run),
            stats: Arc::clone(&opening.stats),
            joining: Joining::default(),
        }))
    }
}

/// A dataset that has a slot.
enum Slot {
    /// Read when its turn comes.
    Plain(Input),
    /// Read ahead.
    Driven(Driver),
    /// No dataset: the error is an outcome when its turn comes.
    Failed(Option<Error>),
}

impl Slot {
    fn next(&mut self, max: usize) -> Result<Option<Chunk>> {
        match self {
            Slot::Plain(input) => input.next(max),
            Slot::Driven(driver) => driver.next(max),
            Slot::Failed(_) => Ok(None),
        }
    }

    fn skip(&mut self, n: u64) -> Result<u64> {
        match self {
            Slot::Plain(input) => input.skip(n),
            Slot::Driven(driver) => driver.skip(n),
            Slot::Failed(_) => Ok(0),
        }
    }

    fn is_ready(&self) -> bool {
        match self {
            Slot::Plain(_) | Slot::Failed(_) => true,
            Slot::Driven(driver) => driver.is_ready(),
        }
    }
}

struct InterleaveStage {
    plans: Plans,
    /// Number of slots there may be.
    cycle: usize,
    /// Those that there are: one more is made when the turn first comes to it, so that a cycle much
    /// longer than the input costs nothing.
    slots: Vec<Option<Slot>>,
    /// Number of slots that were filled once.
    reached: usize,
    /// Number of slots with a dataset.
    open: usize,
    input_ended: bool,
    /// The slot whose turn it is.
    turn: usize,
    /// Outcomes taken in this turn.
    taken: usize,
    block: usize,
    /// How many slots, from the one whose turn it is, are opened and read ahead.
    ahead: usize,
    ordered: bool,
    run: Arc<RunContext>,
    stats: Arc<StageStats>,
    joining: Joining,
}

impl InterleaveStage {
    /// The slot whose turn it is, with a dataset in it; false at the end of all.
    fn settle(&mut self) -> Result<bool> {
        while self.slots[self.turn].is_none() {
            if self.input_ended {
                if self.open == 0 {
                    return Ok(false);
                }
                self.pass();
            } else {
                let opened = self.open_next()?;
                self.put(self.turn, opened);
            }
        }
        if let Some(Slot::Failed(error)) = &mut self.slots[self.turn] {
            let error = error.take().unwrap_or_else(Error::cancelled);
            self.leave();
            return Err(error);
        }
        // Slots that were never filled are filled before their turn; a slot that was left empty
        // waits for its turn, so that datasets keep their slots whatever is read ahead.
        let last = self.cycle.min(self.turn.saturating_add(self.ahead));
        while self.reached < last && !self.input_ended {
            let opened = self.open_next().unwrap_or_else(|error| Some(Slot::Failed(Some(error))));
            self.put(self.reached, opened);
        }
        if !self.ordered && !self.slots[self.turn].as_ref().is_some_and(Slot::is_ready) {
            let ready = |slot: &Option<Slot>| slot.as_ref().is_some_and(Slot::is_ready);
            if let Some(at) = self.slots.iter().position(ready) {
                (self.turn, self.taken) = (at, 0);
            }
        }
        Ok(true)
    }

    /// Opens the next dataset; `None` if there is none.
    fn open_next(&mut self) -> Result<Option<Slot>> {
        let Some(input) = self.plans.next()? else { return Ok(None) };
        if self.ahead == 0 {
            return Ok(Some(Slot::Plain(input)));
        }
        let plan = driver::Plan {
            work: None,
            workers: Knob::fixed(1),
            window: Window::fixed(AHEAD),
            single: false,
            fill: true,
            ordered: true,
            kind: Kind::Blocking,
        };
        let driver = Driver::new(input, plan, &self.run, &self.stats);
        driver.start();
        Ok(Some(Slot::Driven(driver)))
    }

    fn put(&mut self, at: usize, slot: Option<Slot>) {
        self.input_ended |= slot.is_none();
        self.open += usize::from(slot.is_some());
        match self.slots.get_mut(at) {
            Some(place) => *place = slot,
            None => self.slots.push(slot),
        }
        self.reached = self.reached.max(at + 1);
    }

    fn pass(&mut self) {
        self.turn += 1;
        if self.turn == self.slots.len() {
            if self.input_ended || self.turn == self.cycle {
                self.turn = 0;
            } else {
                self.slots.push(None);
            }
        }
        self.taken = 0;
    }

    fn leave(&mut self) {
        self.slots[self.turn] = None;
        self.open -= 1;
        self.pass();
    }

    /// Counts outcomes of the slot whose turn it is.
    fn count(&mut self, outcomes: usize) {
        self.taken += outcomes;
        if self.taken >= self.block {
            self.pass();
        }
    }

    /// Some elements of one dataset.
    fn step(&mut self, max: usize) -> Result<Option<Chunk>> {
        while self.settle()? {
            let max = max.min(self.block - self.taken);
            let Some(slot) = &mut self.slots[self.turn] else { continue };
            match slot.next(max)? {
                Some(chunk) => {
                    self.count(chunk.rows());
                    // Marks of one dataset say nothing of the others.
                    return Ok(Some(chunk.marked(None)));
                }
                None => self.leave(),
            }
        }
        Ok(None)
    }
}

impl Stage for InterleaveStage {
    fn next(&mut self, max: usize) -> Result<Option<Chunk>> {
        // What is asked for is certainly needed; out of order, nothing waits for more.
        let mut joining = std::mem::take(&mut self.joining);
        let chunk = joining.next(max, self.ordered, |max| self.step(max));
        self.joining = joining;
        chunk
    }

    fn skip(&mut self, n: u64) -> Result<u64> {
        // An error ends no turn, and only running the datasets shows where they are.
        if self.run.has_failed() {
            return skip_by_running(n, |max| self.next(max));
        }
        let mut left = n - self.joining.skip(n);
        while left > 0 {
            match self.settle() {
                Ok(true) => {}
                Ok(false) => break,
                Err(error) if is_final(&error) => return Err(error),
                Err(_) => {
                    left -= 1;
                    continue;
                }
            }
            let turn = left.min((self.block - self.taken) as u64);
            let Some(slot) = &mut self.slots[self.turn] else { continue };
            let skipped = slot.skip(turn)?;
            left -= skipped;
            self.count(skipped as usize);
            if skipped < turn {
                self.leave();
            }
        }
        Ok(n - left)
    }

    fn quiet(&self) -> bool {
        false
    }
}
