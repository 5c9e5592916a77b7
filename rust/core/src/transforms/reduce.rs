//! `Dataset.reduce`: the state that a function leaves after the last element.
//!
//! A plan of one element, so that it is run, stopped and explained as any other.

use std::sync::Arc;

use crate::data::{Chunk, ElementSpec};
use crate::engine::node::Arg;
use crate::engine::run::RunContext;
use crate::engine::skipping::skip_by_running;
use crate::engine::{Cardinality, Input, Node, Opening, Plan, Skipped, Stage};
use crate::error::Result;
use crate::graph::call::UserFunction;
use crate::transforms::scan::{Carry, CarryFunction, CarryRun, Returns};

/// The final state of a function of state and element.
pub struct ReduceNode {
    input: Plan,
    function: CarryFunction,
    spec: ElementSpec,
}

impl ReduceNode {
    /// A plan that calls `function` on a state, at first `initial`, and each element of `input`;
    /// it returns the next state, the last of which is the only element.
    ///
    /// # Errors
    /// `InvalidArgument` if it is known to change the state's structure or dtypes.
    pub fn plan(input: Plan, initial: Carry, function: Arc<dyn UserFunction>) -> Result<Plan> {
        let function = CarryFunction::new(function, initial, input.spec(), Returns::State)?;
        let spec = function.spec()?;
        Ok(Arc::new(ReduceNode { input, function, spec }))
    }
}

impl Node for ReduceNode {
    fn name(&self) -> &'static str {
        "reduce"
    }

    fn args(&self) -> Vec<Arg> {
        self.function.args()
    }

    fn inputs(&self) -> Vec<Plan> {
        vec![Arc::clone(&self.input)]
    }

    fn spec(&self) -> &ElementSpec {
        &self.spec
    }

    fn cardinality(&self) -> Cardinality {
        Cardinality::Known(1)
    }

    fn observable(&self) -> bool {
        self.function.is_foreign()
    }

    fn notes(&self) -> Vec<String> {
        self.function.notes()
    }

    fn function(&self) -> Option<&Arc<dyn UserFunction>> {
        Some(&self.function.function)
    }

    fn open(&self, opening: &Opening<'_>) -> Result<Box<dyn Stage>> {
        let function = self.function.open(opening, self.function.initial.clone(), 0)?;
        let input = Some(opening.input(0, &self.input)?);
        Ok(Box::new(ReduceStage { run: Arc::clone(opening.run), input, function }))
    }
}

struct ReduceStage {
    run: Arc<RunContext>,
    /// `None` once the state or an error is handed on.
    input: Option<Input>,
    function: CarryRun,
}

impl Stage for ReduceStage {
    fn next(&mut self, _max: usize) -> Result<Option<Chunk>> {
        let Some(mut input) = self.input.take() else { return Ok(None) };
        while let Some(chunk) = input.next(self.run.options.chunk_rows)? {
            for row in 0..chunk.rows() {
                self.function.step(&chunk.slice(row..row + 1)?)?;
            }
        }
        self.function.carry.to_chunk().map(Some)
    }

    fn skip(&mut self, n: u64) -> Skipped {
        skip_by_running(n, |max| self.next(max))
    }

    fn quiet(&self) -> bool {
        self.function.function.is_native() && self.input.as_ref().is_none_or(Input::quiet)
    }
}
