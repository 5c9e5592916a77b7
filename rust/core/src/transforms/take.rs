//! `Dataset.take`: at most the first so many elements.

use std::sync::Arc;

use crate::data::{Chunk, ElementSpec, Mark};
use crate::engine::node::Arg;
use crate::engine::run::RunContext;
use crate::engine::skipping::skip_by_running;
use crate::engine::stage::Passage;
use crate::engine::{Cardinality, Input, Node, Opening, Plan, Skipped, Stage};
use crate::error::Result;
use crate::graph::call::Called;

/// The first `count` elements; all if it is negative.
#[derive(Clone)]
pub struct TakeNode {
    input: Plan,
    count: i64,
}

impl TakeNode {
    /// A plan of the first `count` elements of `input`.
    pub fn plan(input: Plan, count: i64) -> Plan {
        Arc::new(TakeNode { input, count })
    }

    fn limit(&self) -> Option<u64> {
        u64::try_from(self.count).ok()
    }
}

impl Node for TakeNode {
    fn name(&self) -> &'static str {
        "take"
    }

    fn args(&self) -> Vec<Arg> {
        vec![Arg::new("count", self.count)]
    }

    fn inputs(&self) -> Vec<Plan> {
        vec![Arc::clone(&self.input)]
    }

    fn spec(&self) -> &ElementSpec {
        self.input.spec()
    }

    fn cardinality(&self) -> Cardinality {
        match (self.limit(), self.input.cardinality()) {
            (None, all) => all,
            (Some(limit), Cardinality::Known(n)) => Cardinality::Known(n.min(limit)),
            (Some(limit), Cardinality::Infinite) => Cardinality::Known(limit),
            (Some(0), Cardinality::Unknown) => Cardinality::Known(0),
            (Some(_), Cardinality::Unknown) => Cardinality::Unknown,
        }
    }

    fn is_passage(&self) -> bool {
        self.count < 0
    }

    fn is_indexable(&self) -> bool {
        true
    }

    fn gather(&self, numbers: &[u64]) -> Option<Called> {
        self.input.gather(numbers)
    }

    fn has_elements_by_number(&self) -> bool {
        self.input.has_elements_by_number()
    }

    fn bytes_by_number(&self) -> Option<u64> {
        self.input.bytes_by_number()
    }

    fn with_inputs(&self, mut inputs: Vec<Plan>) -> Option<Plan> {
        let input = inputs.pop()?;
        Some(Arc::new(TakeNode { input, ..self.clone() }))
    }

    fn open(&self, opening: &Opening<'_>) -> Result<Box<dyn Stage>> {
        let Some(limit) = self.limit() else {
            return Ok(Box::new(Passage(opening.passage(0, &self.input)?)));
        };
        let left = if opening.mark.is_start() { limit } else { opening.mark.own(0) };
        // Nothing is opened for no elements, so no seed is drawn, as in tf.data.
        let input = if limit == 0 { None } else { Some(opening.input(0, &self.input)?) };
        Ok(Box::new(TakeStage { run: Arc::clone(opening.run), input, left }))
    }
}

struct TakeStage {
    run: Arc<RunContext>,
    input: Option<Input>,
    left: u64,
}

impl Stage for TakeStage {
    fn next(&mut self, max: usize) -> Result<Option<Chunk>> {
        let max = self.left.min(max as u64) as usize;
        let mark = self.input.as_mut().is_some_and(Input::passed_mark);
        let mark = mark.then(|| self.state()).flatten();
        let chunk = match &mut self.input {
            Some(input) if max > 0 => input.next(max)?,
            _ => None,
        };
        match chunk {
            Some(chunk) => {
                self.left -= chunk.rows() as u64;
                Ok(Some(chunk.marked(mark)))
            }
            None => {
                // What lies below may be closed now: nobody will ask for more.
                self.left = 0;
                self.input = None;
                Ok(None)
            }
        }
    }

    fn skip(&mut self, n: u64) -> Skipped {
        // Errors do not count as taken: once there were some, only a run tells them apart.
        if self.run.has_failed() {
            return skip_by_running(n, |max| self.next(max));
        }
        let Some(input) = &mut self.input else { return Ok(0) };
        let skipped = input.skip(n.min(self.left)).inspect_err(|met| self.left -= met.before())?;
        self.left -= skipped;
        Ok(skipped)
    }

    fn state(&self) -> Option<Mark> {
        let position = self.input.as_ref()?.position();
        Some(Mark::new([self.left], vec![position]))
    }

    fn quiet(&self) -> bool {
        self.input.as_ref().is_none_or(Input::quiet)
    }
}
