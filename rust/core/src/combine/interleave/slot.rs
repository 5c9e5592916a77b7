//! A dataset that has a slot of the cycle, and elements from several of them put in order.

use std::ops::Range;
use std::sync::{Arc, OnceLock};

use crate::combine::plans::Before;
use crate::data::Chunk;
use crate::engine::Input;
use crate::engine::driver::Driver;
use crate::engine::lookahead::Lookahead;
use crate::engine::skipping::{SkipError, Skipped, after, passed, skip_on};
use crate::error::{Error, Result};

/// How many outcomes a dataset has, where that is known once it is made.
pub(super) type Length = OnceLock<Option<u64>>;

/// A dataset that has a slot.
pub(super) struct Slot {
    from: From,
    /// Where the plans stood before it was made.
    before: Before,
    length: Arc<Length>,
    /// Outcomes that were taken.
    passed: u64,
    /// Outcomes after those that are to be skipped: of a dataset of known length it need not be done
    /// at once.
    owed: u64,
    /// A chunk of it, and how many of its rows are taken.
    held: Option<(Chunk, usize)>,
    /// Number of the chunk held among those picked in this call.
    source: Option<(u64, usize)>,
    /// Who took its element before its turn, and the draws of that, until its turn comes.
    early: Option<(Arc<Lookahead>, Range<u64>)>,
}

enum From {
    /// Read when its turn comes.
    Plain(Input),
    /// Read ahead.
    Driven(Driver),
    /// No dataset: the error is its only outcome.
    Failed(Option<Error>),
}

impl Slot {
    /// A dataset that is read when its turn comes.
    pub(super) fn plain((input, length): (Input, Option<u64>), before: Before) -> Self {
        Self::new(From::Plain(input), before, Arc::new(Length::from(length)))
    }

    /// A dataset that is read ahead, of the length that will be known.
    pub(super) fn driven(driver: Driver, before: Before, length: Arc<Length>) -> Self {
        Self::new(From::Driven(driver), before, length)
    }

    /// A dataset that could not be had.
    pub(super) fn failed(error: Error, before: Before) -> Self {
        Self::new(From::Failed(Some(error)), before, Arc::default())
    }

    fn new(from: From, before: Before, length: Arc<Length>) -> Self {
        Slot { from, before, length, passed: 0, owed: 0, held: None, source: None, early: None }
    }

    /// Where the plans stood before it was made.
    pub(super) fn before(&self) -> &Before {
        &self.before
    }

    /// Outcomes of it that were taken.
    pub(super) fn taken(&self) -> u64 {
        self.passed + self.owed
    }

    /// The same dataset, whose element was taken before its turn with these draws.
    pub(super) fn early(mut self, by: &Arc<Lookahead>, draws: Range<u64>) -> Self {
        self.early = (!draws.is_empty()).then(|| (Arc::clone(by), draws));
        self
    }

    /// Its turn has come.
    fn due(&mut self) -> Result<()> {
        self.early.take().map_or(Ok(()), |(by, draws)| by.taken(draws))
    }

    /// How many outcomes are still to come, if that is known.
    pub(super) fn remaining(&self) -> Option<u64> {
        let length = self.length.get().copied().flatten()?;
        Some(length.saturating_sub(self.taken()))
    }

    /// Makes sure that there is a chunk to take from, by waiting for it; false at the end. Of what
    /// can be observed no more than `max` rows are asked for.
    ///
    /// # Errors
    /// One outcome of the dataset.
    pub(super) fn load(&mut self, max: usize) -> Result<bool> {
        if self.held.is_some() {
            return Ok(true);
        }
        self.due()?;
        self.settle(&mut None)?;
        let chunk = match &mut self.from {
            From::Plain(input) if input.quiet() => input.next_chunk(usize::MAX),
            From::Plain(input) => input.next(max),
            From::Driven(driver) => driver.next_chunk(),
            From::Failed(error) => return error.take().map_or(Ok(false), Err),
        };
        let chunk = chunk.inspect_err(|_| self.length = Arc::default())?;
        // Marks of one dataset say nothing of the others.
        self.held = chunk.map(|chunk| (chunk.marked(None), 0));
        self.source = None;
        Ok(self.held.is_some())
    }

    /// Takes up to `n` outcomes without making them; fewer at the end.
    ///
    /// # Errors
    /// As [`crate::engine::Stage::skip`].
    pub(super) fn skip(&mut self, n: u64) -> Skipped {
        self.due()?;
        let here = self.held.as_ref().map_or(0, |(chunk, taken)| chunk.rows() - taken);
        let here = usize::try_from(n).unwrap_or(usize::MAX).min(here);
        self.advance(here);
        let left = n - here as u64;
        if let Some(remaining) = self.remaining() {
            let skipped = left.min(remaining);
            self.owed += skipped;
            return Ok(here as u64 + skipped);
        }
        after(here as u64, self.pass(left))
    }

    /// Skips what is to be skipped; an error among it goes to `met`.
    ///
    /// # Errors
    /// `FailedPrecondition` if there are fewer elements than the dataset said; as [`Slot::skip`].
    pub(super) fn settle(&mut self, met: &mut Option<Error>) -> Result<()> {
        let owed = std::mem::take(&mut self.owed);
        if skip_on(owed, met, |left| self.pass(left))? < owed {
            let text = "a dataset of an interleave has fewer elements than it said before";
            return Err(Error::failed_precondition(text));
        }
        Ok(())
    }

    fn pass(&mut self, count: u64) -> Skipped {
        let skipped = match &mut self.from {
            _ if count == 0 => Ok(0),
            From::Plain(input) => input.skip(count),
            From::Driven(driver) => driver.skip(count),
            From::Failed(error) => match error.take() {
                Some(error) => Err(SkipError::behind(0, error)),
                None => Ok(0),
            },
        };
        self.passed += passed(&skipped);
        skipped
    }

    /// True if elements of it are at hand.
    pub(super) fn is_loaded(&self) -> bool {
        self.held.is_some()
    }

    /// True if the next outcome, or the end, is there without waiting.
    pub(super) fn is_ready(&self) -> bool {
        match &self.from {
            _ if self.held.is_some() => true,
            From::Plain(_) | From::Failed(_) => true,
            From::Driven(driver) => driver.is_ready(),
        }
    }

    /// What reads it ahead.
    pub(super) fn driver(&mut self) -> Option<&mut Driver> {
        match &mut self.from {
            From::Driven(driver) => Some(driver),
            _ => None,
        }
    }

    fn advance(&mut self, rows: usize) {
        self.passed += rows as u64;
        if let Some((chunk, taken)) = self.held.take()
            && taken + rows < chunk.rows()
        {
            self.held = Some((chunk, taken + rows));
        }
    }
}

/// Elements of several chunks in the order in which they are taken.
pub(super) struct Picked {
    /// Number of the call that they are for.
    call: u64,
    /// The chunks, and which of their rows are taken.
    sources: Vec<(Chunk, Range<usize>)>,
    /// Numbers of chunks, and how many rows of each come next.
    runs: Vec<(usize, usize)>,
    rows: usize,
}

impl Picked {
    pub(super) fn new(call: u64) -> Self {
        Picked { call, sources: Vec::new(), runs: Vec::new(), rows: 0 }
    }

    pub(super) fn rows(&self) -> usize {
        self.rows
    }

    /// Takes up to `max` rows of the chunk that the slot holds; 0 if they cannot be joined to those
    /// before them.
    pub(super) fn take(&mut self, slot: &mut Slot, max: usize) -> usize {
        let Some((chunk, taken)) = &slot.held else { return 0 };
        let rows = (chunk.rows() - taken).min(max);
        let source = match slot.source {
            Some((call, source)) if call == self.call => source,
            _ => {
                let like = |(first, _): &(Chunk, _)| first.is_like(chunk);
                if !self.sources.first().is_none_or(like) {
                    return 0;
                }
                self.sources.push((chunk.clone(), *taken..*taken));
                self.sources.len() - 1
            }
        };
        slot.source = Some((self.call, source));
        self.sources[source].1.end += rows;
        match self.runs.last_mut() {
            Some((last, count)) if *last == source => *count += rows,
            _ => self.runs.push((source, rows)),
        }
        self.rows += rows;
        slot.advance(rows);
        rows
    }

    /// The rows taken, as one chunk: of one dataset a slice, of several copied together.
    ///
    /// # Errors
    /// `Internal` without rows.
    pub(super) fn finish(self) -> Result<Chunk> {
        let mut starts = Vec::with_capacity(self.sources.len());
        let mut end = 0;
        for (_, range) in &self.sources {
            starts.push(end);
            end += range.len();
        }
        let parts = self.sources.into_iter().map(|(chunk, range)| chunk.slice(range));
        let all = Chunk::concat(parts.collect::<Result<_>>()?)?;
        // One run of each chunk: they stand in order already.
        if self.runs.len() == starts.len() {
            return Ok(all);
        }
        let mut indices = Vec::with_capacity(self.rows);
        for (source, count) in self.runs {
            let start = starts[source];
            indices.extend(start..start + count);
            starts[source] += count;
        }
        all.gather(&indices)
    }
}
