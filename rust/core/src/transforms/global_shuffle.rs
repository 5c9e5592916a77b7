//! `Dataset.shuffle(None)`: the order of a shuffle whose buffer holds everything, with nothing in
//! memory but numbers.
//!
//! The input has random access, so an element is made when its number is drawn. One that fails is
//! an error in its place of the order.

use std::sync::Arc;

use super::shuffle::Ring;
use crate::data::{Chunk, ElementSpec};
use crate::engine::access::Access;
use crate::engine::node::Arg;
use crate::engine::run::RunContext;
use crate::engine::seeds::SeedGenerator;
use crate::engine::stage::is_final;
use crate::engine::wait::poll_if_due;
use crate::engine::{Cardinality, Node, Opening, Plan, RunOptions, Stage};
use crate::error::{Error, Result};
use crate::graph::call::Called;

/// All elements in random order.
pub struct GlobalShuffleNode {
    input: Plan,
    seeds: Arc<SeedGenerator>,
}

impl GlobalShuffleNode {
    /// A plan that draws the numbers of `input`'s elements.
    ///
    /// # Errors
    /// `Unimplemented` naming the step that allows no random access, `FailedPrecondition` if the
    /// number of elements is not known.
    pub fn plan(input: Plan, seeds: SeedGenerator) -> Result<Plan> {
        if let Err(error) = Access::open(&input, RunOptions::default()) {
            let text = format!("shuffle(None) takes random access: {}", error.message());
            let hint = "shuffle(UNKNOWN_CARDINALITY) holds all elements instead";
            return Err(Error::new(error.kind(), text).with_hint(hint));
        }
        Ok(Arc::new(GlobalShuffleNode { input, seeds: Arc::new(seeds) }))
    }
}

impl Node for GlobalShuffleNode {
    fn name(&self) -> &'static str {
        "shuffle"
    }

    fn args(&self) -> Vec<Arg> {
        vec![
            Arg::new("buffer_size", "None"),
            Arg::new("seed", self.seeds.shown()),
            Arg::new("reshuffle_each_iteration", self.seeds.reshuffles()),
        ]
    }

    fn inputs(&self) -> Vec<Plan> {
        vec![Arc::clone(&self.input)]
    }

    fn spec(&self) -> &ElementSpec {
        self.input.spec()
    }

    fn cardinality(&self) -> Cardinality {
        self.input.cardinality()
    }

    fn seeds(&self) -> Option<&Arc<SeedGenerator>> {
        Some(&self.seeds)
    }

    fn open(&self, opening: &Opening<'_>) -> Result<Box<dyn Stage>> {
        let seeds = opening.draw();
        let run = Arc::clone(opening.run);
        let access = Access::within(&self.input, run.options.clone(), run.surroundings.clone())?;
        let count = access.count();
        let ring = Ring::of_all(seeds, count);
        opening.stats.hold(ring.bytes());
        Ok(Box::new(GlobalShuffleStage {
            run,
            input: Arc::clone(&self.input),
            access,
            ring,
            drawn: Vec::new(),
            deferred: None,
        }))
    }
}

struct GlobalShuffleStage {
    run: Arc<RunContext>,
    input: Plan,
    access: Access,
    ring: Ring,
    /// Numbers that were drawn, but whose elements were not made.
    drawn: Vec<u64>,
    /// The next outcome, if it is an error that came with elements before it.
    deferred: Option<Error>,
}

impl GlobalShuffleStage {
    /// Numbers mean others once the input has changed its length.
    fn check_count(&self) -> Result<()> {
        match self.input.cardinality().known() {
            Some(count) if count != self.access.count() => {
                let was = self.access.count();
                let text = format!("the input had {was} elements when the run began, now {count}");
                Err(Error::failed_precondition(text).with_hint("begin a new run"))
            }
            _ => Ok(()),
        }
    }

    /// Elements of these numbers, one by one; stops at the first that fails.
    fn fetch(&self, indices: &[u64]) -> Called {
        let mut chunks = Vec::with_capacity(indices.len());
        let mut error = None;
        for index in indices {
            let made = self.run.check().and_then(|()| poll_if_due());
            match made.and_then(|()| self.access.at(*index as i64)) {
                Ok(chunk) => chunks.push(chunk),
                Err(failed) => {
                    error = Some(failed);
                    break;
                }
            }
        }
        let joined = (!chunks.is_empty()).then(|| Chunk::concat(chunks)).transpose();
        match joined {
            Ok(done) => Called { done, error },
            Err(error) => Called { done: None, error: Some(error) },
        }
    }
}

impl Stage for GlobalShuffleStage {
    fn next(&mut self, max: usize) -> Result<Option<Chunk>> {
        if let Some(error) = self.deferred.take() {
            return Err(error);
        }
        let max = max.clamp(1, self.run.options.chunk_rows);
        let mut indices = std::mem::take(&mut self.drawn);
        while indices.len() < max
            && let Some(index) = self.ring.draw()
        {
            indices.push(index);
        }
        self.drawn = indices.split_off(max.min(indices.len()));
        if indices.is_empty() {
            return Ok(None);
        }
        self.check_count()?;
        let gathered = self.input.gather(&indices);
        let Called { done, error } = gathered.unwrap_or_else(|| self.fetch(&indices));
        let done = done.map(|chunk| chunk.marked(None));
        if let Some(error) = error {
            // The numbers after the one that failed come next.
            let made = done.as_ref().map_or(0, Chunk::rows);
            indices.drain(..(made + 1).min(indices.len()));
            indices.append(&mut self.drawn);
            self.drawn = indices;
            if done.is_none() || is_final(&error) {
                return Err(error);
            }
            self.deferred = Some(error);
        } else {
            // Large elements come fewer at a time.
            let made = done.as_ref().map_or(0, Chunk::rows).min(indices.len());
            indices.drain(..made);
            indices.append(&mut self.drawn);
            self.drawn = indices;
        }
        Ok(done)
    }

    fn skip(&mut self, n: u64) -> Result<u64> {
        let mut skipped = 0;
        if n > 0 && self.deferred.take().is_some() {
            skipped = 1;
        }
        let queued = self.drawn.len().min((n - skipped) as usize);
        self.drawn.drain(..queued);
        skipped += queued as u64;
        while skipped < n && self.ring.draw().is_some() {
            skipped += 1;
        }
        Ok(skipped)
    }

    fn quiet(&self) -> bool {
        crate::engine::node::is_quiet(&self.input)
    }
}
