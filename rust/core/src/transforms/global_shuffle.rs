//! `Dataset.shuffle(None)`: the order of a shuffle whose buffer holds everything, with nothing in
//! memory but numbers.
//!
//! The input has random access, so an element is made when its number is drawn. One that fails is
//! an error in its place of the order. Where elements are read from files, tasks of a driver read
//! some of them each: those that lie near each other together, and none twice.

use std::sync::Arc;

use super::shuffle::Ring;
use crate::data::{Chunk, Column, ElementSpec, Tensor};
use crate::engine::access::Access;
use crate::engine::autotune::Window;
use crate::engine::driver::{self, Driver, Outcomes, Work};
use crate::engine::node::{Arg, is_quiet};
use crate::engine::pool::Kind;
use crate::engine::run::RunContext;
use crate::engine::seeds::SeedGenerator;
use crate::engine::stage::is_final;
use crate::engine::wait::poll_if_due;
use crate::engine::{Cardinality, Input, Node, Opening, Plan, RunOptions, Skipped, Stage};
use crate::error::{Error, Result};
use crate::graph::call::Called;
use crate::graph::rows::Hands;

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
        let seeds = opening.draw()?;
        let run = Arc::clone(opening.run);
        let access = Access::within(&self.input, run.options.clone(), run.surroundings.clone())?;
        let count = access.count();
        let ring = Ring::of_all(seeds, count);
        opening.stats.hold(ring.bytes());
        let made = Made { run: Arc::clone(&run), input: Arc::clone(&self.input), access };
        let bytes = self.input.bytes_by_number().filter(|_| is_quiet(&self.input));
        if let Some(bytes) = bytes.filter(|_| !run.options.on_demand) {
            let rows = (PIECE_BYTES / bytes.max(1)).max(1) as usize;
            let numbers = Input::new(Box::new(NumbersStage { ring, rows }), &run);
            // Each tells the system of all it reads before it reads: more would wait for no less.
            let workers = run.autotuned(Kind::Work);
            let window = Window::PerWorker(AHEAD);
            let plan = driver::Plan {
                work: Some(Arc::new(made)),
                ..driver::Plan::new(workers, window, Kind::Blocking)
            };
            let driver = Driver::new(numbers, plan, &run, &opening.stats);
            return Ok(Box::new(ReadStage(driver)));
        }
        Ok(Box::new(GlobalShuffleStage { made, ring, drawn: Vec::new(), deferred: None }))
    }
}

/// What elements that are read together take, about: of more they lie nearer to each other, but
/// more of them wait.
const PIECE_BYTES: u64 = 1 << 20;
/// Such pieces for each task, in work or waiting for the consumer.
const AHEAD: usize = 2;

/// The numbers in the order drawn.
struct NumbersStage {
    ring: Ring,
    rows: usize,
}

impl Stage for NumbersStage {
    fn next(&mut self, max: usize) -> Result<Option<Chunk>> {
        let max = max.clamp(1, self.rows);
        let numbers: Vec<u64> = std::iter::from_fn(|| self.ring.draw()).take(max).collect();
        if numbers.is_empty() {
            return Ok(None);
        }
        let column = Column::Stacked(Tensor::from_values(&[numbers.len()], &numbers)?);
        Chunk::of_column(column).map(Some)
    }

    fn skip(&mut self, n: u64) -> Skipped {
        Ok(self.ring.pass(n))
    }

    fn quiet(&self) -> bool {
        true
    }
}

/// Elements that tasks read.
struct ReadStage(Driver);

impl Stage for ReadStage {
    fn next(&mut self, max: usize) -> Result<Option<Chunk>> {
        self.0.next(max)
    }

    fn skip(&mut self, n: u64) -> Skipped {
        self.0.skip(n)
    }

    fn quiet(&self) -> bool {
        true
    }
}

/// Elements by their numbers.
struct Made {
    run: Arc<RunContext>,
    input: Plan,
    access: Access,
}

impl Made {
    /// The first of the elements of these numbers, or what is wrong with them.
    fn some(&self, numbers: &[u64]) -> Called {
        if let Err(error) = self.check_count() {
            return Called::failed(error);
        }
        let called = self.input.gather(numbers).unwrap_or_else(|| self.fetch(numbers));
        Called { done: called.done.map(|chunk| chunk.marked(None)), ..called }
    }

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
    fn fetch(&self, numbers: &[u64]) -> Called {
        let mut chunks = Vec::with_capacity(numbers.len());
        let mut error = None;
        for number in numbers {
            let made = self.run.check().and_then(|()| poll_if_due());
            match made.and_then(|()| self.access.at(*number as i64)) {
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
            Err(error) => Called::failed(error),
        }
    }

    fn outcomes(&self, mut numbers: &[u64]) -> Outcomes {
        let mut outcomes = Outcomes::new();
        while !numbers.is_empty() {
            let Called { done, error } = match self.run.check() {
                Ok(()) => self.some(numbers),
                Err(error) => Called::failed(error),
            };
            let rows = done.as_ref().map_or(0, Chunk::rows) + usize::from(error.is_some());
            let ends = error.as_ref().is_some_and(is_final) || rows == 0;
            numbers = numbers.get(rows..).filter(|_| !ends).unwrap_or_default();
            outcomes.extend(done.map(Ok).into_iter().chain(error.map(Err)));
        }
        outcomes
    }
}

impl Work for Made {
    fn run(&self, chunk: Chunk, _first: u64, _hands: &dyn Hands) -> Outcomes {
        let numbers = match chunk.columns() {
            [Column::Stacked(numbers)] => numbers.values::<u64>(),
            _ => Err(Error::internal("numbers are one column")),
        };
        match numbers {
            Ok(numbers) => self.outcomes(numbers),
            Err(error) => Outcomes::from([Err(error)]),
        }
    }
}

/// Elements that are made when they are asked for.
struct GlobalShuffleStage {
    made: Made,
    ring: Ring,
    /// Numbers that were drawn, but whose elements were not made.
    drawn: Vec<u64>,
    /// The next outcome, if it is an error that came with elements before it.
    deferred: Option<Error>,
}

impl Stage for GlobalShuffleStage {
    fn next(&mut self, max: usize) -> Result<Option<Chunk>> {
        if let Some(error) = self.deferred.take() {
            return Err(error);
        }
        let max = max.clamp(1, self.made.run.options.chunk_rows);
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
        let Called { done, error } = self.made.some(&indices);
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

    fn skip(&mut self, n: u64) -> Skipped {
        let mut skipped = 0;
        if n > 0 && self.deferred.take().is_some() {
            skipped = 1;
        }
        let queued = self.drawn.len().min((n - skipped) as usize);
        self.drawn.drain(..queued);
        skipped += queued as u64;
        Ok(skipped + self.ring.pass(n - skipped))
    }

    fn quiet(&self) -> bool {
        is_quiet(&self.made.input)
    }
}
