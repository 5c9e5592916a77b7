//! Random access: any element of a plan by its number, without those before it.
//!
//! Where each stage skips without making elements, skipping to a number and taking one element is
//! as good as knowing where it lies, and gives what iterating gives. A node says so with
//! [`Node::is_indexable`](crate::engine::Node::is_indexable).

use std::sync::Arc;

use crate::data::{Chunk, ForeignValue, Mark, Position};
use crate::engine::node::{Cardinality, Plan, RunOptions, find_elements};
use crate::engine::opening::Opening;
use crate::engine::run::{Caller, RunContext};
use crate::error::{Error, ErrorKind, Result};
use crate::graph::call::Called;

/// A plan whose elements are asked for by number. Functions are prepared once.
pub struct Access {
    run: Arc<RunContext>,
    plan: Plan,
    count: u64,
}

impl Access {
    /// Random access to the elements of `plan`.
    ///
    /// # Errors
    /// `Unimplemented` naming the step that allows no random access, `FailedPrecondition` if the
    /// number of elements is not known.
    pub fn open(plan: &Plan, options: RunOptions) -> Result<Self> {
        Self::within(plan, options, None)
    }

    /// As [`Access::open`]; foreign sources are given the surroundings of the caller's code.
    ///
    /// # Errors
    /// As [`Access::open`].
    pub fn within(
        plan: &Plan,
        options: RunOptions,
        surroundings: Option<ForeignValue>,
    ) -> Result<Self> {
        check(plan)?;
        find_elements(plan)?;
        let name = plan.name();
        let lacking = |what: &str| {
            Error::failed_precondition(format!(
                "a dataset of {what} cardinality, here {name}, does not support random access"
            ))
        };
        let count = match plan.cardinality() {
            Cardinality::Known(count) => count,
            Cardinality::Infinite => return Err(lacking("infinite")),
            Cardinality::Unknown => return Err(lacking("unknown")),
        };
        // Demand is not rounded up to chunks: one element is all that is wanted.
        let options = RunOptions { on_demand: true, chunk_rows: 1, ..options };
        let caller = Caller { surroundings, lender: None };
        let run = Arc::new(RunContext::new(plan, options, None, caller));
        Ok(Access { run, plan: Arc::clone(plan), count })
    }

    /// Number of elements.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// Element `index`, in memory that it alone holds.
    ///
    /// # Errors
    /// `OutOfRange` if there is none; that of the element.
    pub fn at(&self, index: i64) -> Result<Chunk> {
        let out_of_range = || {
            let count = self.count;
            let text = format!("Index out of range [0, {count}):{index}");
            Error::new(ErrorKind::OutOfRange, text)
        };
        let since = u64::try_from(index).ok().filter(|index| *index < self.count);
        let since = since.ok_or_else(out_of_range)?;
        if let Some(called) = self.plan.gather(&[since]) {
            return match called {
                Called { error: Some(error), .. } => Err(error),
                Called { done, .. } => done.ok_or_else(out_of_range)?.marked(None).into_owned(),
            };
        }
        let position = Position { mark: Mark::default(), since };
        let mut input = Opening::root(&self.run, &self.plan, position)?;
        input.next(1)?.ok_or_else(out_of_range)?.into_owned()
    }
}

fn check(plan: &Plan) -> Result<()> {
    if !plan.is_indexable() {
        let name = plan.name();
        return Err(Error::unimplemented(format!("random access is not possible through {name}"))
            .with_hint("iterate, or put the step after what is indexed"));
    }
    if plan.is_indexable_alone() {
        return Ok(());
    }
    plan.inputs().iter().try_for_each(check)
}
