//! `Dataset.concatenate`: one dataset after the other.

use std::sync::Arc;

use crate::data::{Chunk, ElementSpec, Mark, Position};
use crate::engine::ending::Ending;
use crate::engine::node::{draws_anew, is_quiet};
use crate::engine::opening::OwnedPlace;
use crate::engine::run::RunContext;
use crate::engine::skipping::{after, passed};
use crate::engine::{Cardinality, Input, Node, Opening, Plan, Skipped, Stage};
use crate::error::{Error, Result};

/// The elements of the first dataset, then those of the second.
pub struct ConcatenateNode {
    inputs: [Plan; 2],
    spec: ElementSpec,
}

impl ConcatenateNode {
    /// A plan of `first`, then `second`.
    ///
    /// # Errors
    /// `InvalidArgument` if structures or dtypes differ; shapes are widened.
    pub fn plan(first: Plan, second: Plan) -> Result<Plan> {
        let spec = first.spec().widen(second.spec()).ok_or_else(|| {
            let (a, b) = (first.spec(), second.spec());
            Error::invalid_argument(format!("incompatible dataset elements: {a} and {b}"))
                .with_hint("both datasets must have the same structure and dtypes")
        })?;
        Ok(Arc::new(ConcatenateNode { inputs: [first, second], spec }))
    }
}

impl Node for ConcatenateNode {
    fn name(&self) -> &'static str {
        "concatenate"
    }

    fn inputs(&self) -> Vec<Plan> {
        self.inputs.to_vec()
    }

    fn spec(&self) -> &ElementSpec {
        &self.spec
    }

    fn cardinality(&self) -> Cardinality {
        match (self.inputs[0].cardinality(), self.inputs[1].cardinality()) {
            (Cardinality::Known(a), Cardinality::Known(b)) => {
                Cardinality::Known(a.saturating_add(b))
            }
            (Cardinality::Infinite, _) | (_, Cardinality::Infinite) => Cardinality::Infinite,
            _ => Cardinality::Unknown,
        }
    }

    fn is_indexable(&self) -> bool {
        true
    }

    fn with_inputs(&self, inputs: Vec<Plan>) -> Option<Plan> {
        let inputs = inputs.try_into().ok()?;
        Some(Arc::new(ConcatenateNode { inputs, spec: self.spec.clone() }))
    }

    fn open(&self, opening: &Opening<'_>) -> Result<Box<dyn Stage>> {
        let at = (opening.mark.own(0) as usize).min(1);
        let places = [0, 1].map(|index| opening.place(index).to_owned());
        // The second input is opened when its turn comes, as in tf.data.
        let position = opening.mark.input(0);
        let draws = at == 0 && draws_anew(&self.inputs[1]);
        let ending = draws.then(|| Ending::of(&self.inputs[0], &position));
        let taken = position.since;
        let input = places[at].open(&self.inputs[at], position)?;
        let (run, plans) = (Arc::clone(opening.run), self.inputs.clone());
        Ok(Box::new(ConcatenateStage {
            run,
            second_is_quiet: is_quiet(&plans[1]),
            plans,
            places,
            at,
            input,
            taken,
            ending,
            ends: false,
        }))
    }
}

struct ConcatenateStage {
    run: Arc<RunContext>,
    plans: [Plan; 2],
    /// Known from the start, since it is asked for with each element, at each step of a deep plan.
    second_is_quiet: bool,
    places: [OwnedPlace; 2],
    at: usize,
    input: Input,
    /// Outcomes taken from the first input.
    taken: u64,
    /// Where that ends, if opening the second draws seeds.
    ending: Option<Ending>,
    /// The next element may be in the second input, whose seeds are not drawn yet.
    ends: bool,
}

impl ConcatenateStage {
    /// Moves on to the second input; false if it has ended.
    fn advance(&mut self) -> Result<bool> {
        if self.at == 1 {
            return Ok(false);
        }
        (self.at, self.ends, self.ending) = (1, false, None);
        self.input = self.places[1].open(&self.plans[1], Position::default())?;
        Ok(true)
    }
}

impl Stage for ConcatenateStage {
    fn next(&mut self, max: usize) -> Result<Option<Chunk>> {
        loop {
            let mark = self.input.passed_mark().then(|| self.state()).flatten();
            let outcome = self.input.next(max).inspect_err(|_| self.taken += 1)?;
            if let Some(chunk) = outcome {
                self.taken += chunk.rows() as u64;
                self.ends = match &self.ending {
                    Some(ending) if self.input.quiet() => {
                        ending.is_here(&mut self.input, self.taken, max, &self.run)
                    }
                    _ => false,
                };
                return Ok(Some(chunk.marked(mark)));
            }
            if !self.advance()? {
                return Ok(None);
            }
        }
    }

    fn skip(&mut self, n: u64) -> Skipped {
        let skipped = self.input.skip(n);
        self.taken += passed(&skipped);
        self.ends = self.ending.is_some();
        let skipped = skipped?;
        if skipped < n && self.advance()? {
            return after(skipped, self.input.skip(n - skipped));
        }
        Ok(skipped)
    }

    fn state(&self) -> Option<Mark> {
        Some(Mark::new([self.at as u64], vec![self.input.position()]))
    }

    fn quiet(&self) -> bool {
        // The second may follow within what is asked of the first.
        !self.ends && (self.at == 1 || self.second_is_quiet) && self.input.quiet()
    }
}
