//! Short chunks of several datasets, joined up to what is asked for.

use crate::data::Chunk;
use crate::engine::skipping::{SkipError, Skipped};
use crate::engine::stage::is_final;
use crate::error::Result;

/// Joins chunks, and holds the outcome that cannot be joined to those before it.
#[derive(Default)]
pub(super) struct Joining(Option<Result<Chunk>>);

impl Joining {
    /// One chunk of what `step` gives: of up to `max` rows with `all`, else of the first step.
    ///
    /// # Errors
    /// Those of `step`, after the elements before them.
    pub(super) fn next(
        &mut self,
        max: usize,
        all: bool,
        mut step: impl FnMut(usize) -> Result<Option<Chunk>>,
    ) -> Result<Option<Chunk>> {
        let first = match self.0.take() {
            Some(held) => held.map(Some),
            None => step(max),
        };
        let Some(first) = first? else { return Ok(None) };
        let (mut rows, mut chunks) = (first.rows(), vec![first]);
        while all && rows < max {
            match step(max - rows) {
                Ok(Some(chunk)) if chunks[0].is_like(&chunk) => {
                    rows += chunk.rows();
                    chunks.push(chunk);
                }
                Ok(None) => break,
                Err(error) if is_final(&error) => return Err(error),
                Ok(Some(chunk)) => {
                    self.0 = Some(Ok(chunk));
                    break;
                }
                Err(error) => {
                    self.0 = Some(Err(error));
                    break;
                }
            }
        }
        Chunk::concat(chunks).map(Some)
    }

    /// Takes up to `n` of the outcomes held; returns how many.
    pub(super) fn skip(&mut self, n: u64) -> Skipped {
        match self.0.take() {
            Some(held) if n == 0 => {
                self.0 = Some(held);
                Ok(0)
            }
            Some(Err(error)) => Err(SkipError::behind(0, error)),
            Some(Ok(chunk)) => {
                let rows = (chunk.rows() as u64).min(n);
                if rows < chunk.rows() as u64 {
                    self.0 = Some(chunk.slice(rows as usize..chunk.rows()));
                }
                Ok(rows)
            }
            None => Ok(0),
        }
    }
}
