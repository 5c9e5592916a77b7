//! `Dataset.take_while`: the elements before the first of which a function says false.
//!
//! Neither the function nor anything that can be observed below it runs past that element.

use std::collections::VecDeque;
use std::sync::Arc;

use crate::data::{Chunk, ElementSpec, Mark};
use crate::engine::apply::{Apply, function_arg, function_notes};
use crate::engine::node::Arg;
use crate::engine::skipping::skip_by_running;
use crate::engine::{Cardinality, Input, Node, Opening, Plan, Skipped, Stage};
use crate::error::Result;
use crate::graph::call::{Prepared, UserFunction};
use crate::transforms::filter::{check_predicate, passing};

/// The elements up to the first that does not satisfy a predicate.
pub struct TakeWhileNode {
    input: Plan,
    predicate: Arc<dyn UserFunction>,
    prepared: Prepared,
}

impl TakeWhileNode {
    /// A plan of the elements of `input` before the first of which `predicate` is false.
    ///
    /// # Errors
    /// `InvalidArgument` if the predicate is known to give anything but a bool scalar.
    pub fn plan(input: Plan, predicate: Arc<dyn UserFunction>) -> Result<Plan> {
        let prepared = predicate.prepare(input.spec())?;
        check_predicate(&prepared)?;
        Ok(Arc::new(TakeWhileNode { input, predicate, prepared }))
    }
}

impl Node for TakeWhileNode {
    fn name(&self) -> &'static str {
        "take_while"
    }

    fn args(&self) -> Vec<Arg> {
        vec![function_arg("predicate", &self.predicate, &self.prepared)]
    }

    fn inputs(&self) -> Vec<Plan> {
        vec![Arc::clone(&self.input)]
    }

    fn spec(&self) -> &ElementSpec {
        self.input.spec()
    }

    fn cardinality(&self) -> Cardinality {
        Cardinality::Unknown
    }

    fn observable(&self) -> bool {
        matches!(self.prepared, Prepared::Foreign { .. })
    }

    fn notes(&self) -> Vec<String> {
        function_notes(&self.prepared)
    }

    fn function(&self) -> Option<&Arc<dyn UserFunction>> {
        Some(&self.predicate)
    }

    fn open(&self, opening: &Opening<'_>) -> Result<Box<dyn Stage>> {
        let function = opening.function(&self.predicate, self.input.spec())?;
        let site = opening.site(0, &self.predicate);
        let stage = "take_while";
        let predicate = Apply { function, site, stage, declared: None, counts: false };
        let (input, taken) = (Some(opening.input(0, &self.input)?), opening.mark.own(0));
        Ok(Box::new(TakeWhileStage { input, predicate, taken, ready: VecDeque::new() }))
    }
}

struct TakeWhileStage {
    /// `None` once an element did not pass: what lies below is closed then.
    input: Option<Input>,
    predicate: Apply,
    taken: u64,
    ready: VecDeque<Result<Chunk>>,
}

impl TakeWhileStage {
    /// The outcomes for a chunk, up to the first row that does not pass.
    fn sift(&mut self, chunk: &Chunk, first: u64) -> Result<()> {
        for outcome in self.predicate.outcomes(chunk, first) {
            let (start, verdicts) = match outcome {
                Ok(part) => part,
                Err(error) => {
                    self.ready.push_back(Err(error));
                    continue;
                }
            };
            let verdicts = passing(&verdicts)?;
            let passes = verdicts.iter().take_while(|passes| **passes != 0).count();
            if passes > 0 {
                self.ready.push_back(Ok(chunk.slice(start..start + passes)?.marked(None)));
            }
            if passes < verdicts.len() {
                self.input = None;
                break;
            }
        }
        Ok(())
    }
}

impl Stage for TakeWhileStage {
    fn next(&mut self, max: usize) -> Result<Option<Chunk>> {
        let mut mark = None;
        while self.ready.is_empty() {
            let Some(input) = &mut self.input else { return Ok(None) };
            if input.passed_mark() {
                mark = Some(Mark::new([self.taken], vec![input.position()]));
            }
            let ahead = !self.predicate.function.is_foreign_next() && input.quiet();
            let first = self.taken;
            let Some(chunk) = input.next(if ahead { max } else { 1 })? else { return Ok(None) };
            self.taken += chunk.rows() as u64;
            self.sift(&chunk, first)?;
        }
        match self.ready.pop_front() {
            Some(Ok(chunk)) => Ok(Some(chunk.marked(mark))),
            Some(Err(error)) => Err(error),
            None => Ok(None),
        }
    }

    fn skip(&mut self, n: u64) -> Skipped {
        skip_by_running(n, |max| self.next(max))
    }

    fn quiet(&self) -> bool {
        self.predicate.function.is_native() && self.input.as_ref().is_none_or(Input::quiet)
    }
}
