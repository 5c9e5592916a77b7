//! `Dataset.ignore_errors`: the elements that did not fail.
//!
//! Only a run tells which they are, so skipping runs the input. Errors that end the run pass.

use std::sync::Arc;

use crate::data::{Chunk, ElementSpec, Mark};
use crate::engine::node::Arg;
use crate::engine::run::RunContext;
use crate::engine::skipping::skip_by_running;
use crate::engine::stage::is_final;
use crate::engine::{Cardinality, Input, Node, Opening, Plan, Skipped, Stage};
use crate::error::{Error, Result};

/// Who is told of the errors that are dropped.
pub trait ErrorReport: Send + Sync {
    /// Takes an error.
    ///
    /// # Errors
    /// Those of foreign code; they take the place of an element.
    fn report(&self, error: Error) -> Result<()>;
}

/// The elements without the errors among them.
pub struct IgnoreErrorsNode {
    input: Plan,
    limit: Option<u64>,
    report: Option<Arc<dyn ErrorReport>>,
}

impl IgnoreErrorsNode {
    /// A plan of the elements of `input` that do not fail. After `limit` dropped errors the next
    /// are raised.
    pub fn plan(input: Plan, limit: Option<u64>, report: Option<Arc<dyn ErrorReport>>) -> Plan {
        Arc::new(IgnoreErrorsNode { input, limit, report })
    }
}

impl Node for IgnoreErrorsNode {
    fn name(&self) -> &'static str {
        "ignore_errors"
    }

    fn args(&self) -> Vec<Arg> {
        let limit = self.limit.map_or("None".into(), |limit| limit.to_string());
        vec![Arg::new("limit", limit)]
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
        self.report.is_some()
    }

    fn open(&self, opening: &Opening<'_>) -> Result<Box<dyn Stage>> {
        Ok(Box::new(IgnoreErrorsStage {
            run: Arc::clone(opening.run),
            input: opening.input(0, &self.input)?,
            limit: self.limit,
            report: self.report.clone(),
            dropped: opening.mark.own(0),
        }))
    }
}

struct IgnoreErrorsStage {
    run: Arc<RunContext>,
    input: Input,
    limit: Option<u64>,
    report: Option<Arc<dyn ErrorReport>>,
    dropped: u64,
}

impl Stage for IgnoreErrorsStage {
    fn next(&mut self, max: usize) -> Result<Option<Chunk>> {
        let mut mark = None;
        let asked_quiet = self.input.quiet();
        loop {
            if self.input.passed_mark() {
                mark = self.state();
            }
            let error = match self.input.next(self.input.most(asked_quiet, max, 1)) {
                Ok(chunk) => return Ok(chunk.map(|chunk| chunk.marked(mark))),
                Err(error) => error,
            };
            let over = self.limit.is_some_and(|limit| self.dropped >= limit);
            if over || is_final(&error) {
                return Err(error);
            }
            // A resumed run must count the outcomes below by making them.
            self.run.note_failure();
            self.dropped += 1;
            if let Some(report) = &self.report {
                report.report(error)?;
            }
        }
    }

    fn skip(&mut self, n: u64) -> Skipped {
        skip_by_running(n, |max| self.next(max))
    }

    fn state(&self) -> Option<Mark> {
        Some(Mark::new([self.dropped], vec![self.input.position()]))
    }

    fn quiet(&self) -> bool {
        self.report.is_none() && self.input.quiet()
    }
}
