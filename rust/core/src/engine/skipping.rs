//! Skipping: taking outcomes without making them.
//!
//! Whoever resumes counts outcomes and wants none of them, whoever drops elements must hear of the
//! errors among them. So a skip stops behind an error it meets, and the caller may go on from there.

use std::collections::VecDeque;

use crate::data::Chunk;
use crate::engine::stage::is_final;
use crate::error::{Error, Result};

/// How many outcomes a skip has passed; fewer than asked for only at the end.
pub type Skipped = std::result::Result<u64, SkipError>;

/// An error that a skip has met.
#[derive(Debug)]
pub struct SkipError {
    /// Outcomes passed. The error is the last of them, unless several inputs have to go on together;
    /// it is none if nothing was passed.
    pub passed: u64,
    /// The error.
    pub error: Error,
}

impl SkipError {
    /// An error that is the outcome behind `before` others, unless it ends the run.
    pub fn behind(before: u64, error: Error) -> Self {
        let passed = if is_final(&error) { 0 } else { before + 1 };
        SkipError { passed, error }
    }

    /// Outcomes before the error.
    pub fn before(&self) -> u64 {
        self.passed.saturating_sub(1)
    }

    /// The same, for a skip that counts other outcomes than the one that met it: `before` of them.
    #[must_use]
    pub fn counted(mut self, before: u64) -> Self {
        if self.passed > 0 {
            self.passed = before + 1;
        }
        self
    }

    /// The same for a skip that had passed `before` outcomes when it came to this one.
    #[must_use]
    pub fn after(mut self, before: u64) -> Self {
        if self.passed > 0 {
            self.passed += before;
        }
        self
    }
}

/// How many outcomes were passed, whether or not an error was met.
pub fn passed(skipped: &Skipped) -> u64 {
    match skipped {
        Ok(passed) => *passed,
        Err(error) => error.passed,
    }
}

/// What a skip says that had passed `before` outcomes when `rest` skipped on.
///
/// # Errors
/// That of `rest`.
pub fn after(before: u64, rest: Skipped) -> Skipped {
    rest.map(|passed| before + passed).map_err(|met| met.after(before))
}

/// Skips outcomes that are ready, from the first; fewer than `n` if there are no more.
///
/// # Errors
/// The first among them.
pub fn skip_ready(ready: &mut VecDeque<Result<Chunk>>, n: u64) -> Skipped {
    let mut left = n;
    while left > 0 {
        match ready.pop_front() {
            Some(Ok(chunk)) if chunk.rows() as u64 > left => {
                ready.push_front(chunk.slice(left as usize..chunk.rows()));
                left = 0;
            }
            Some(Ok(chunk)) => left -= chunk.rows() as u64,
            Some(Err(error)) => return Err(SkipError::behind(n - left, error)),
            None => break,
        }
    }
    Ok(n - left)
}

/// Passes `n` outcomes with a `skip` that stops behind errors; the first error goes to `met`.
///
/// # Errors
/// What makes it impossible to find the next outcome.
pub fn skip_on(
    n: u64,
    met: &mut Option<Error>,
    mut skip: impl FnMut(u64) -> Skipped,
) -> Result<u64> {
    let mut left = n;
    while left > 0 {
        match skip(left) {
            Ok(passed) => return Ok(n - left + passed),
            Err(SkipError { passed: 0, error }) => return Err(error),
            Err(SkipError { passed, error }) => {
                left = left.saturating_sub(passed);
                met.get_or_insert(error);
            }
        }
    }
    Ok(n)
}

/// What a skip says that has passed so many outcomes, with the first error among them if it `met` one.
///
/// # Errors
/// That error.
pub fn told(passed: u64, met: Option<Error>) -> Skipped {
    match met {
        None => Ok(passed),
        Some(error) => Err(SkipError { passed, error }),
    }
}

/// An error that is no outcome: there is no going on.
impl From<Error> for SkipError {
    fn from(error: Error) -> Self {
        SkipError { passed: 0, error }
    }
}

/// Rows that are made at a time to be dropped: beyond a chunk's, more cost memory and save nothing.
const MOST_ROWS: usize = 1024;

/// Skips by making elements and dropping them: for stages that cannot know what comes without.
///
/// # Errors
/// The first that `next` gives.
pub fn skip_by_running(n: u64, mut next: impl FnMut(usize) -> Result<Option<Chunk>>) -> Skipped {
    let mut passed = 0;
    while passed < n {
        let left = usize::try_from(n - passed).unwrap_or(usize::MAX);
        match next(left.min(MOST_ROWS)) {
            Ok(Some(chunk)) => passed += chunk.rows() as u64,
            Ok(None) => break,
            Err(error) => return Err(SkipError::behind(passed, error)),
        }
    }
    Ok(passed)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::{Column, Tensor};

    #[test]
    fn what_is_made_to_be_dropped_is_asked_for_in_chunks() {
        let mut asked = Vec::new();
        let skipped = skip_by_running(1 << 60, |max| {
            asked.push(max);
            match asked.len() {
                3 => Err(Error::invalid_argument("third")),
                _ => Chunk::of_column(Column::Stacked(Tensor::from_values(
                    &[max],
                    &vec![0_i64; max],
                )?))
                .map(Some),
            }
        });
        assert_eq!((asked, passed(&skipped)), (vec![MOST_ROWS; 3], 2 * MOST_ROWS as u64 + 1));
    }
}
