//! Whether an input is about to end, where what comes after it draws seeds.
//!
//! Nobody asks for more than is needed of what would then draw for elements that may never be taken:
//! a pass that is left early draws no more than it does in tf.data, whatever the size of chunks.

use crate::data::Position;
use crate::engine::Input;
use crate::engine::node::{Plan, draws_later, fixed_length};
use crate::engine::run::RunContext;

/// What is known of an input's end before it comes.
pub(crate) struct Ending {
    /// Number of outcomes, as long as none fails.
    length: Option<u64>,
    /// Asking for what comes next may draw.
    draws: bool,
}

impl Ending {
    /// Of `plan`, opened at `position`.
    pub(crate) fn of(plan: &Plan, position: &Position) -> Self {
        let length = fixed_length(plan).filter(|_| position.mark.is_start());
        Ending { length, draws: draws_later(plan) }
    }

    /// True if there may be nothing more in `input`, of which `taken` outcomes were taken, `max` at
    /// most in the last call: either that is known, or what comes next is looked at.
    pub(crate) fn is_here(
        &self,
        input: &mut Input,
        taken: u64,
        max: usize,
        run: &RunContext,
    ) -> bool {
        match self.length.filter(|_| !run.has_failed()) {
            Some(length) => taken >= length,
            None => self.draws || input.has_ended(max),
        }
    }
}
