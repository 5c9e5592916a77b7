//! A dataset that has a slot of the cycle, and elements from several of them put in order.

use std::ops::Range;

use crate::data::Chunk;
use crate::engine::Input;
use crate::engine::driver::Driver;
use crate::error::{Error, Result};

/// A dataset that has a slot.
pub(super) struct Slot {
    from: From,
    /// A chunk of it, and how many of its rows are taken.
    held: Option<(Chunk, usize)>,
    /// Number of the chunk held among those picked in this call.
    source: Option<(u64, usize)>,
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
    pub(super) fn plain(input: Input) -> Self {
        Slot { from: From::Plain(input), held: None, source: None }
    }

    /// A dataset that is read ahead.
    pub(super) fn driven(driver: Driver) -> Self {
        Slot { from: From::Driven(driver), held: None, source: None }
    }

    /// A dataset that could not be had.
    pub(super) fn failed(error: Error) -> Self {
        Slot { from: From::Failed(Some(error)), held: None, source: None }
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
        let chunk = match &mut self.from {
            From::Plain(input) if input.quiet() => input.next_chunk(usize::MAX)?,
            From::Plain(input) => input.next(max)?,
            From::Driven(driver) => driver.next_chunk()?,
            From::Failed(error) => return error.take().map_or(Ok(false), Err),
        };
        // Marks of one dataset say nothing of the others.
        self.held = chunk.map(|chunk| (chunk.marked(None), 0));
        self.source = None;
        Ok(self.held.is_some())
    }

    /// Takes up to `n` outcomes without making them; fewer at the end.
    ///
    /// # Errors
    /// As [`crate::engine::Stage::skip`].
    pub(super) fn skip(&mut self, n: u64) -> Result<u64> {
        let here = self.held.as_ref().map_or(0, |(chunk, taken)| chunk.rows() - taken);
        let here = usize::try_from(n).unwrap_or(usize::MAX).min(here);
        self.advance(here);
        let left = n - here as u64;
        let skipped = match &mut self.from {
            _ if left == 0 => 0,
            From::Plain(input) => input.skip(left)?,
            From::Driven(driver) => driver.skip(left)?,
            From::Failed(error) => u64::from(error.take().is_some()),
        };
        Ok(here as u64 + skipped)
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
