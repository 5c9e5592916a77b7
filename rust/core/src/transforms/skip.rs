//! `Dataset.skip`: all but the first so many elements.
//!
//! Functions are not called for skipped elements, and record payloads are neither read nor
//! checked. tf.data runs them; nothing else differs: errors that show all the same come out, and
//! count for no element.

use std::sync::Arc;

use crate::data::{Chunk, ElementSpec, Mark};
use crate::engine::node::Arg;
use crate::engine::skipping::SkipError;
use crate::engine::stage::Passage;
use crate::engine::{Cardinality, Input, Node, Opening, Plan, Skipped, Stage};
use crate::error::Result;
use crate::graph::call::Called;

/// All elements but the first `count`; none if it is negative.
#[derive(Clone)]
pub struct SkipNode {
    input: Plan,
    count: i64,
}

impl SkipNode {
    /// A plan of all but the first `count` elements of `input`.
    pub fn plan(input: Plan, count: i64) -> Plan {
        Arc::new(SkipNode { input, count })
    }
}

impl Node for SkipNode {
    fn name(&self) -> &'static str {
        "skip"
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
        match u64::try_from(self.count) {
            Ok(count) => self.input.cardinality().map(|n| n.saturating_sub(count)),
            Err(_) => Cardinality::Known(0),
        }
    }

    fn is_passage(&self) -> bool {
        self.count == 0
    }

    fn is_indexable(&self) -> bool {
        true
    }

    fn gather(&self, numbers: &[u64]) -> Option<Called> {
        let count = u64::try_from(self.count).unwrap_or(u64::MAX);
        let below: Vec<u64> = numbers.iter().map(|number| number.saturating_add(count)).collect();
        self.input.gather(&below)
    }

    fn has_elements_by_number(&self) -> bool {
        self.input.has_elements_by_number()
    }

    fn bytes_by_number(&self) -> Option<u64> {
        self.input.bytes_by_number()
    }

    fn with_inputs(&self, mut inputs: Vec<Plan>) -> Option<Plan> {
        let input = inputs.pop()?;
        Some(Arc::new(SkipNode { input, ..self.clone() }))
    }

    fn open(&self, opening: &Opening<'_>) -> Result<Box<dyn Stage>> {
        if self.is_passage() {
            return Ok(Box::new(Passage(opening.passage(0, &self.input)?)));
        }
        let Ok(count) = u64::try_from(self.count) else {
            return Ok(Box::new(SkipStage { input: None, pending: 0 }));
        };
        let pending = if opening.mark.is_start() { count } else { opening.mark.own(0) };
        Ok(Box::new(SkipStage { input: Some(opening.input(0, &self.input)?), pending }))
    }
}

struct SkipStage {
    input: Option<Input>,
    pending: u64,
}

impl SkipStage {
    /// Drops what is to be dropped.
    ///
    /// # Errors
    /// One among it: asked again, it goes on.
    fn settle(&mut self) -> std::result::Result<(), SkipError> {
        if let (Some(input), pending @ 1..) = (&mut self.input, self.pending) {
            input.skip(pending).map_err(|met| {
                self.pending -= met.before();
                met.counted(0)
            })?;
            self.pending = 0;
        }
        Ok(())
    }
}

impl Stage for SkipStage {
    fn next(&mut self, max: usize) -> Result<Option<Chunk>> {
        self.settle().map_err(|met| met.error)?;
        let mark = self.input.as_mut().is_some_and(Input::passed_mark);
        let mark = mark.then(|| self.state()).flatten();
        let Some(input) = &mut self.input else { return Ok(None) };
        Ok(input.next(max)?.map(|chunk| chunk.marked(mark)))
    }

    fn skip(&mut self, n: u64) -> Skipped {
        self.settle()?;
        self.input.as_mut().map_or(Ok(0), |input| input.skip(n))
    }

    fn state(&self) -> Option<Mark> {
        let position = self.input.as_ref()?.position();
        Some(Mark::new([self.pending], vec![position]))
    }

    fn quiet(&self) -> bool {
        self.input.as_ref().is_none_or(Input::quiet)
    }
}
