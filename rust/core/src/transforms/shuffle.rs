//! `Dataset.shuffle`, in tf.data's order bit for bit.
//!
//! The buffer is a ring of handles. To emit, one of the handles between start and end is drawn, the
//! handle at the start takes its place, and the element that comes in goes to the end. Rows lie in
//! a store under their handles, so whole chunks go in and out column by column while the draws
//! only move handles. `skip` replays the draws on handles and reads only what stays in the buffer,
//! where the number of elements is known.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

use crate::data::store::ChunkStore;
use crate::data::{Chunk, ElementSpec};
use crate::engine::node::{Arg, caches, fixed_length, functions};
use crate::engine::run::RunContext;
use crate::engine::seeds::{SeedGenerator, SeedPair};
use crate::engine::stage::{is_final, skip_by_running};
use crate::engine::stats::StageStats;
use crate::engine::{Cardinality, Input, Node, Opening, Plan, Stage};
use crate::error::{Error, Result};
use crate::random::Philox;

/// tf.data's constant for a buffer that holds the whole input.
pub const WHOLE_INPUT: i64 = -2;

/// Elements in random order.
#[derive(Clone)]
pub struct ShuffleNode {
    input: Plan,
    buffer_size: i64,
    seeds: Arc<SeedGenerator>,
}

impl ShuffleNode {
    /// A plan that draws each element from the next `buffer_size` of `input`; -2 for all of them.
    ///
    /// # Errors
    /// `InvalidArgument` for other sizes below 1.
    pub fn plan(input: Plan, buffer_size: i64, seeds: SeedGenerator) -> Result<Plan> {
        if buffer_size < 1 && buffer_size != WHOLE_INPUT {
            return Err(Error::invalid_argument(format!(
                "buffer_size must be greater than zero or UNKNOWN_CARDINALITY, got {buffer_size}"
            )));
        }
        Ok(Arc::new(ShuffleNode { input, buffer_size, seeds: Arc::new(seeds) }))
    }
}

impl Node for ShuffleNode {
    fn name(&self) -> &'static str {
        "shuffle"
    }

    fn args(&self) -> Vec<Arg> {
        let (a, b) = self.seeds.pair();
        let seed = if self.seeds.is_seeded() { format!("({a}, {b})") } else { "None".into() };
        vec![
            Arg::new("buffer_size", self.buffer_size),
            Arg::new("seed", seed),
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

    fn with_inputs(&self, mut inputs: Vec<Plan>) -> Option<Plan> {
        let input = inputs.pop()?;
        Some(Arc::new(ShuffleNode { input, ..self.clone() }))
    }

    fn open(&self, opening: &Opening<'_>) -> Result<Box<dyn Stage>> {
        let (seed, seed2) = opening.draw();
        // A function may fail, and an error is no element of the buffer. A cache is filled only by
        // asking for the end, which counting does not.
        let countable =
            fixed_length(&self.input) && functions(&self.input) == 0 && caches(&self.input) == 0;
        let length = self.input.cardinality().known().filter(|_| countable);
        Ok(Box::new(ShuffleStage {
            run: Arc::clone(opening.run),
            stats: Arc::clone(&opening.stats),
            input: opening.input(0, &self.input)?,
            length,
            ring: Ring {
                draws: Philox::new(seed, seed2),
                capacity: usize::try_from(self.buffer_size).unwrap_or(usize::MAX),
                handles: Vec::new(),
                first: 0,
                held: 0,
            },
            store: ChunkStore::default(),
            incoming: VecDeque::new(),
            free: Vec::new(),
            places: 0,
            taken: 0,
            ended: false,
            deferred: None,
        }))
    }
}

/// The buffer of handles, and the draws from it.
pub(super) struct Ring {
    draws: Philox,
    capacity: usize,
    /// Grows while the buffer first fills.
    handles: Vec<u64>,
    /// Where the first handle is.
    first: usize,
    held: usize,
}

impl Ring {
    /// A buffer that holds the numbers below `count`, all there are.
    pub(super) fn of_all((seed, seed2): SeedPair, count: u64) -> Self {
        let held = count as usize;
        let (draws, handles) = (Philox::new(seed, seed2), (0..count).collect());
        Ring { draws, capacity: held.max(1), handles, first: 0, held }
    }

    /// Memory of the handles.
    pub(super) fn bytes(&self) -> usize {
        self.handles.capacity() * size_of::<u64>()
    }

    fn room(&self) -> usize {
        self.capacity - self.held
    }

    /// Where the handle `offset` places behind the first is; both are at most the capacity.
    fn at(&self, offset: usize) -> usize {
        let at = self.first + offset;
        if at < self.capacity { at } else { at - self.capacity }
    }

    fn push(&mut self, handle: u64) {
        let at = self.at(self.held);
        if at == self.handles.len() {
            self.handles.push(handle);
        } else {
            self.handles[at] = handle;
        }
        self.held += 1;
    }

    pub(super) fn draw(&mut self) -> Option<u64> {
        if self.held == 0 {
            return None;
        }
        let draw = self.draws.next_u32();
        // As in 64 bits, but in fewer steps.
        let drawn = u32::try_from(self.held).map_or(draw, |held| draw % held);
        let at = self.at(drawn as usize);
        let handle = self.handles[at];
        self.handles[at] = self.handles[self.first];
        self.first = self.at(1);
        self.held -= 1;
        Some(handle)
    }

    fn held(&mut self) -> impl Iterator<Item = &mut u64> {
        let (first, held, capacity) = (self.first, self.held, self.capacity);
        self.handles.iter_mut().enumerate().filter_map(move |(at, handle)| {
            // Distance of this place from the first, round the ring.
            let offset = if at >= first { at - first } else { at + (capacity - first) };
            (offset < held).then_some(handle)
        })
    }
}

struct ShuffleStage {
    run: Arc<RunContext>,
    stats: Arc<StageStats>,
    input: Input,
    /// Number of outcomes of the input, where known.
    length: Option<u64>,
    ring: Ring,
    store: ChunkStore,
    /// Places of rows that have come in but are not in the ring yet.
    incoming: VecDeque<u64>,
    /// Places of the store that are empty.
    free: Vec<usize>,
    places: usize,
    /// Outcomes taken from the input.
    taken: u64,
    ended: bool,
    /// The next outcome, if it is an error that came while others were drawn.
    deferred: Option<Error>,
}

impl ShuffleStage {
    /// Puts a chunk into the store.
    fn admit(&mut self, chunk: &Chunk) -> Result<()> {
        let mut slots = Vec::with_capacity(chunk.rows());
        for _ in 0..chunk.rows() {
            slots.push(self.free.pop().unwrap_or_else(|| {
                self.places += 1;
                self.places - 1
            }));
        }
        self.store.put(&slots, chunk)?;
        self.stats.hold(self.store.bytes() + self.ring.bytes());
        self.taken += chunk.rows() as u64;
        self.incoming.extend(slots.iter().map(|slot| *slot as u64));
        Ok(())
    }

    /// Moves one row into the ring, pulling up to `ahead` rows for it; false at the end.
    fn refill(&mut self, ahead: usize) -> Result<bool> {
        if self.incoming.is_empty() && !self.ended {
            match self.input.next(ahead.max(1)) {
                Ok(Some(chunk)) => self.admit(&chunk)?,
                Ok(None) => self.ended = true,
                Err(error) => {
                    self.taken += 1;
                    return Err(error);
                }
            }
        }
        match self.incoming.pop_front() {
            Some(slot) => {
                self.ring.push(slot);
                Ok(true)
            }
            None => Ok(false),
        }
    }

    /// Fills the buffer as far as the input goes.
    fn fill(&mut self) -> Result<()> {
        while self.ring.room() > 0 {
            let ahead = self.ring.room().min(self.run.options.chunk_rows);
            if !self.refill(ahead)? {
                break;
            }
        }
        Ok(())
    }

    /// Draws up to `max` elements.
    fn emit(&mut self, max: usize) -> Result<Vec<usize>> {
        if let Some(error) = self.deferred.take() {
            return Err(error);
        }
        self.fill()?;
        let mut out = Vec::new();
        while out.len() < max {
            if self.ring.room() > 0 && !self.ended {
                match self.refill(max - out.len()) {
                    // What is drawn already comes first.
                    Err(error) if !out.is_empty() && !is_final(&error) => {
                        self.deferred = Some(error);
                        break;
                    }
                    outcome => outcome?,
                };
            }
            match self.ring.draw() {
                Some(slot) => out.push(slot as usize),
                None => break,
            }
        }
        Ok(out)
    }

    /// Skips by moving handles: numbers of elements that have not come in stand for themselves.
    fn skip_on_handles(&mut self, n: u64, length: u64) -> Result<u64> {
        // Handles of rows in the store are marked by the top bit being clear, others have it set.
        const AHEAD: u64 = 1 << 63;
        let mut next = self.taken;
        let mut waiting: VecDeque<u64> = std::mem::take(&mut self.incoming);
        let mut skipped = 0;
        loop {
            while self.ring.room() > 0 {
                let handle = match waiting.pop_front() {
                    Some(slot) => slot,
                    None if next < length => {
                        next += 1;
                        AHEAD | (next - 1)
                    }
                    None => break,
                };
                self.ring.push(handle);
            }
            if skipped == n {
                break;
            }
            let Some(handle) = self.ring.draw() else { break };
            if handle & AHEAD == 0 {
                self.free.push(handle as usize);
            }
            skipped += 1;
        }
        self.incoming = waiting;
        self.load(next, AHEAD)?;
        Ok(skipped)
    }

    /// Reads the elements up to number `next` that the ring holds and passes over the others.
    fn load(&mut self, next: u64, ahead: u64) -> Result<()> {
        let ahead_handles = self.ring.held().map(|handle| *handle).filter(|h| h & ahead != 0);
        let mut wanted: Vec<u64> = ahead_handles.map(|handle| handle & !ahead).collect();
        wanted.sort_unstable();
        let waiting = std::mem::take(&mut self.incoming);
        let mut slots: BTreeMap<u64, u64> = BTreeMap::new();
        for run in wanted.chunk_by(|a, b| a + 1 == *b) {
            let gap = run[0] - self.taken;
            self.taken += self.input.skip(gap)?;
            let mut at = run[0];
            while at < run[0] + run.len() as u64 {
                let left = (run[0] + run.len() as u64 - at) as usize;
                let chunk = self.input.next(left)?;
                let chunk = chunk.ok_or_else(|| Error::internal("fewer elements than known"))?;
                self.admit(&chunk)?;
                for slot in self.incoming.drain(..) {
                    slots.insert(at, slot);
                    at += 1;
                }
            }
        }
        if next > self.taken {
            self.taken += self.input.skip(next - self.taken)?;
        }
        self.incoming = waiting;
        for handle in self.ring.held() {
            if *handle & ahead != 0 {
                let slot = slots.get(&(*handle & !ahead));
                *handle = *slot.ok_or_else(|| Error::internal("a skipped element is missing"))?;
            }
        }
        Ok(())
    }
}

impl Stage for ShuffleStage {
    fn next(&mut self, max: usize) -> Result<Option<Chunk>> {
        let slots = self.emit(max)?;
        if slots.is_empty() {
            return Ok(None);
        }
        let chunk = self.store.take(&slots)?;
        self.free.extend(slots);
        Ok(Some(chunk))
    }

    fn skip(&mut self, n: u64) -> Result<u64> {
        match self.length {
            Some(length) if !self.run.has_failed() && !self.ended && self.deferred.is_none() => {
                self.skip_on_handles(n, length)
            }
            _ => skip_by_running(n, |max| self.next(max.min(self.run.options.chunk_rows))),
        }
    }

    fn quiet(&self) -> bool {
        self.input.quiet()
    }
}
