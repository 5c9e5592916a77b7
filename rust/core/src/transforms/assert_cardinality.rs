//! `experimental.assert_cardinality`: elements whose number is promised, and checked. The errors
//! have tf.data's words, which its users look for.

use std::sync::Arc;

use crate::data::{Chunk, ElementSpec, Mark};
use crate::engine::node::Arg;
use crate::engine::run::RunContext;
use crate::engine::skipping::{SkipError, skip_by_running};
use crate::engine::{Cardinality, Input, Node, Opening, Plan, Skipped, Stage};
use crate::error::{Error, Result};

/// The elements of the input, so many of them.
pub struct AssertCardinalityNode {
    input: Plan,
    expected: Cardinality,
}

impl AssertCardinalityNode {
    /// A plan of the elements of `input`, which fails if they are not `expected` many; -1 for
    /// infinite.
    ///
    /// # Errors
    /// `InvalidArgument` for other negative numbers.
    pub fn plan(input: Plan, expected: i64) -> Result<Plan> {
        let expected = match (u64::try_from(expected), expected) {
            (Ok(count), _) => Cardinality::Known(count),
            (_, -1) => Cardinality::Infinite,
            _ => {
                return Err(Error::invalid_argument(format!(
                    "expected_cardinality must be at least 0, or INFINITE_CARDINALITY (-1), got \
                     {expected}"
                )));
            }
        };
        Ok(Arc::new(AssertCardinalityNode { input, expected }))
    }
}

impl Node for AssertCardinalityNode {
    fn name(&self) -> &'static str {
        "assert_cardinality"
    }

    fn args(&self) -> Vec<Arg> {
        vec![Arg::new("expected_cardinality", self.expected.code())]
    }

    fn inputs(&self) -> Vec<Plan> {
        vec![Arc::clone(&self.input)]
    }

    fn spec(&self) -> &ElementSpec {
        self.input.spec()
    }

    fn cardinality(&self) -> Cardinality {
        self.expected
    }

    fn is_indexable(&self) -> bool {
        true
    }

    fn open(&self, opening: &Opening<'_>) -> Result<Box<dyn Stage>> {
        Ok(Box::new(AssertCardinalityStage {
            run: Arc::clone(opening.run),
            input: Some(opening.input(0, &self.input)?),
            expected: self.expected.known(),
            taken: opening.mark.own(0),
        }))
    }
}

struct AssertCardinalityStage {
    run: Arc<RunContext>,
    /// `None` once the number is known to be right or wrong.
    input: Option<Input>,
    /// `None`: without end.
    expected: Option<u64>,
    taken: u64,
}

impl AssertCardinalityStage {
    /// At the end of the input: whether that is right.
    fn check_end(&mut self) -> Result<()> {
        self.input = None;
        let taken = elements(self.taken);
        match self.expected {
            Some(expected) if expected == self.taken => Ok(()),
            Some(expected) => Err(Error::failed_precondition(format!(
                "Input dataset was expected to contain {} but contained only {taken}.",
                elements(expected)
            ))),
            None => Err(Error::failed_precondition(format!(
                "Input dataset was expected to contain an infinite number of elements but \
                 contained only {taken}."
            ))),
        }
    }

    fn too_many(&mut self, expected: u64) -> Error {
        self.input = None;
        Error::failed_precondition(format!(
            "Input dataset was expected to contain {} but contained at least {}.",
            elements(expected),
            elements(expected + 1)
        ))
    }
}

fn elements(count: u64) -> String {
    format!("{count} element{}", if count == 1 { "" } else { "s" })
}

impl Stage for AssertCardinalityStage {
    fn next(&mut self, max: usize) -> Result<Option<Chunk>> {
        let mark = self.input.as_mut().is_some_and(Input::passed_mark);
        let mark = mark.then(|| self.state()).flatten();
        let Some(input) = &mut self.input else { return Ok(None) };
        let left = self.expected.map_or(u64::MAX, |expected| expected.saturating_sub(self.taken));
        // The one after the last is asked for too.
        match input.next(left.clamp(1, max as u64) as usize)? {
            None => self.check_end().map(|()| None),
            Some(_) if left == 0 => Err(self.too_many(self.taken)),
            Some(chunk) => {
                self.taken += chunk.rows() as u64;
                Ok(Some(chunk.marked(mark)))
            }
        }
    }

    fn skip(&mut self, n: u64) -> Skipped {
        // Errors are no elements: once there were some, only a run tells them apart.
        if self.run.has_failed() {
            return skip_by_running(n, |max| self.next(max));
        }
        let Some(input) = &mut self.input else { return Ok(0) };
        let skipped = input.skip(n).inspect_err(|met| {
            self.taken = self.taken.saturating_add(met.before());
        })?;
        let before = self.taken;
        self.taken = self.taken.saturating_add(skipped);
        match self.expected {
            Some(expected) if self.taken > expected => {
                Err(SkipError::behind(expected.saturating_sub(before), self.too_many(expected)))
            }
            _ if skipped < n => match self.check_end() {
                Ok(()) => Ok(skipped),
                Err(error) => Err(SkipError::behind(skipped, error)),
            },
            _ => Ok(skipped),
        }
    }

    fn state(&self) -> Option<Mark> {
        Some(Mark::new([self.taken], vec![self.input.as_ref()?.position()]))
    }

    fn quiet(&self) -> bool {
        self.input.as_ref().is_none_or(Input::quiet)
    }
}
