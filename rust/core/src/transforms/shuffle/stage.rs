//! A shuffle at work: what comes in, and the rows that wait in the buffer.
//!
//! `skip` replays the draws on handles and reads only what stays in the buffer, where the number of
//! elements is known.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

use super::Ring;
use crate::data::store::ChunkStore;
use crate::data::{Chunk, Position};
use crate::engine::opening::OwnedPlace;
use crate::engine::run::RunContext;
use crate::engine::skipping::skip_by_running;
use crate::engine::stage::is_final;
use crate::engine::stats::StageStats;
use crate::engine::{Input, Plan, Skipped, Stage};
use crate::error::{Error, Result};

/// Rows under the numbers of their places.
#[derive(Default)]
pub(in crate::transforms) struct Rows {
    store: ChunkStore,
    /// Places that are empty.
    free: Vec<usize>,
    places: usize,
}

impl Rows {
    /// Puts a chunk into the store: the places of its rows.
    fn put(&mut self, chunk: &Chunk) -> Result<Vec<usize>> {
        let place = |_| {
            self.free.pop().unwrap_or_else(|| {
                self.places += 1;
                self.places - 1
            })
        };
        let places: Vec<usize> = (0..chunk.rows()).map(place).collect();
        self.store.put(&places, chunk)?;
        Ok(places)
    }

    fn take(&mut self, places: Vec<usize>) -> Result<Chunk> {
        let chunk = self.store.take(&places)?;
        self.free.extend(places);
        Ok(chunk)
    }
}

/// What comes in.
pub(in crate::transforms) struct Supply {
    from: From,
    /// Places of rows that have come but are not in the ring yet.
    incoming: VecDeque<u64>,
    /// What comes after them, if that is an error.
    failed: Option<Error>,
    /// Outcomes taken from the input.
    taken: u64,
}

enum From {
    /// An input that is opened when it is first read.
    Unopened(Box<Unopened>),
    Open(Input),
    /// Nothing more: it has come to its end.
    Ended,
}

struct Unopened {
    plan: Plan,
    place: OwnedPlace,
    position: Position,
}

impl Supply {
    /// What comes from `input`, from its start.
    pub(in crate::transforms) fn new(input: Input) -> Self {
        Self::from(From::Open(input))
    }

    /// What comes from `plan`, which is opened here at `position` when it is first read.
    pub(super) fn later(plan: &Plan, place: OwnedPlace, position: Position) -> Self {
        let plan = Arc::clone(plan);
        Self::from(From::Unopened(Box::new(Unopened { plan, place, position })))
    }

    fn from(from: From) -> Self {
        Supply { from, incoming: VecDeque::new(), failed: None, taken: 0 }
    }

    fn has_ended(&self) -> bool {
        matches!(self.from, From::Ended)
    }

    /// The input, opened; `None` after its end. One that cannot be opened has none.
    fn input(&mut self) -> Result<Option<&mut Input>> {
        if let From::Unopened(_) = self.from
            && let From::Unopened(unopened) = std::mem::replace(&mut self.from, From::Ended)
        {
            let Unopened { plan, place, position } = *unopened;
            self.from = From::Open(place.open(&plan, position)?);
        }
        Ok(match &mut self.from {
            From::Open(input) => Some(input),
            From::Unopened(_) | From::Ended => None,
        })
    }

    /// True if more may be asked of it than is needed now.
    fn quiet(&self) -> bool {
        match &self.from {
            From::Unopened(_) => false,
            From::Open(input) => input.quiet(),
            From::Ended => true,
        }
    }

    /// Puts up to `max` rows of the next outcomes into the store; false at the end.
    fn pull(&mut self, max: usize, rows: &mut Rows) -> Result<bool> {
        let Some(input) = self.input()? else { return Ok(false) };
        match input.next(max.max(1)) {
            Ok(Some(chunk)) => {
                self.taken += chunk.rows() as u64;
                self.incoming.extend(rows.put(&chunk)?.into_iter().map(|place| place as u64));
                Ok(true)
            }
            Ok(None) => {
                // What lies below may be closed now: nobody will ask for more.
                self.from = From::Ended;
                Ok(false)
            }
            Err(error) => {
                self.taken += 1;
                Err(error)
            }
        }
    }

    /// Passes over the elements before number `next`.
    fn skip_to(&mut self, next: u64) -> Result<()> {
        let left = next.saturating_sub(self.taken);
        if left > 0
            && let Some(input) = self.input()?
        {
            self.taken += input.skip(left).map_err(|met| met.error)?;
        }
        Ok(())
    }

    /// True if more may be asked for than is needed now, and will come.
    fn may_run_ahead(&self) -> bool {
        self.failed.is_none() && !self.has_ended() && self.quiet()
    }
}

pub(in crate::transforms) struct ShuffleStage {
    run: Arc<RunContext>,
    stats: Arc<StageStats>,
    supply: Supply,
    /// Number of outcomes of the input, where known.
    length: Option<u64>,
    ring: Ring,
    rows: Rows,
    /// Handles that the ring held at most.
    most: usize,
    /// The next outcome, if it is an error that came while others were drawn.
    deferred: Option<Error>,
}

impl ShuffleStage {
    /// A stage that takes its elements from `supply`, whose rows are in `rows`.
    pub(super) fn new(
        run: Arc<RunContext>,
        stats: Arc<StageStats>,
        ring: Ring,
        supply: Supply,
        rows: Rows,
        length: Option<u64>,
    ) -> Self {
        ShuffleStage { run, stats, supply, length, ring, rows, most: 0, deferred: None }
    }

    /// True once all elements have come in and some have not gone out.
    pub(in crate::transforms) fn is_draining(&self) -> bool {
        self.supply.has_ended() && self.ring.len() > 0
    }

    /// Lets `next` take the places of elements that have gone out since the input ended.
    pub(in crate::transforms) fn read_ahead(&mut self, next: &mut Supply) -> Result<()> {
        loop {
            let room = self.most.saturating_sub(self.ring.len() + next.incoming.len());
            if room == 0 || !next.may_run_ahead() {
                return Ok(());
            }
            match next.pull(room.min(self.run.options.chunk_rows), &mut self.rows) {
                Err(error) if is_final(&error) => return Err(error),
                // It is the next epoch's, at its place.
                Err(error) => next.failed = Some(error),
                Ok(_) => self.hold(),
            }
        }
    }

    /// The places, for the next epoch.
    pub(in crate::transforms) fn take_rows(&mut self) -> Rows {
        std::mem::take(&mut self.rows)
    }

    fn hold(&self) {
        self.stats.hold(self.rows.store.bytes() + self.ring.bytes());
    }

    /// Moves one row into the ring, pulling up to `ahead` rows for it; false at the end.
    fn refill(&mut self, ahead: usize) -> Result<bool> {
        let supply = &mut self.supply;
        if supply.incoming.is_empty() {
            if let Some(error) = supply.failed.take() {
                return Err(error);
            }
            if supply.pull(ahead, &mut self.rows)? {
                self.hold();
            }
        }
        match self.supply.incoming.pop_front() {
            Some(place) => {
                self.ring.push(place);
                self.most = self.most.max(self.ring.len());
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

    fn has_more(&self) -> bool {
        !self.supply.has_ended() || !self.supply.incoming.is_empty()
    }

    /// True while elements come as the input counts them, and no error waits.
    fn is_plain(&self) -> bool {
        !self.supply.has_ended() && self.supply.failed.is_none() && self.deferred.is_none()
    }

    /// Draws up to `max` elements.
    fn emit(&mut self, max: usize) -> Result<Vec<usize>> {
        if let Some(error) = self.deferred.take() {
            return Err(error);
        }
        let asked_quiet = self.quiet();
        self.fill()?;
        let mut out = Vec::new();
        while out.len() < max {
            if self.ring.room() > 0 && self.has_more() {
                // More was asked for than is needed, and what comes next must not be.
                let too_much = asked_quiet && self.supply.incoming.is_empty() && !self.quiet();
                if too_much && !out.is_empty() {
                    break;
                }
                let ahead = if too_much { 1 } else { max - out.len() };
                match self.refill(ahead) {
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
        let mut next = self.supply.taken;
        let mut waiting: VecDeque<u64> = std::mem::take(&mut self.supply.incoming);
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
                self.rows.free.push(handle as usize);
            }
            skipped += 1;
        }
        self.supply.incoming = waiting;
        self.load(next, AHEAD)?;
        Ok(skipped)
    }

    /// Reads the elements up to number `next` that the ring holds and passes over the others.
    fn load(&mut self, next: u64, ahead: u64) -> Result<()> {
        let ahead_handles = self.ring.held().map(|handle| *handle).filter(|h| h & ahead != 0);
        let mut wanted: Vec<u64> = ahead_handles.map(|handle| handle & !ahead).collect();
        wanted.sort_unstable();
        let waiting = std::mem::take(&mut self.supply.incoming);
        let mut slots: BTreeMap<u64, u64> = BTreeMap::new();
        for run in wanted.chunk_by(|a, b| a + 1 == *b) {
            self.supply.skip_to(run[0])?;
            let mut at = run[0];
            while at < run[0] + run.len() as u64 {
                let left = (run[0] + run.len() as u64 - at) as usize;
                if !self.supply.pull(left, &mut self.rows)? {
                    return Err(Error::internal("fewer elements than known"));
                }
                self.hold();
                for slot in self.supply.incoming.drain(..) {
                    slots.insert(at, slot);
                    at += 1;
                }
            }
        }
        self.supply.skip_to(next)?;
        self.supply.incoming = waiting;
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
        if slots.is_empty() { Ok(None) } else { self.rows.take(slots).map(Some) }
    }

    fn skip(&mut self, n: u64) -> Skipped {
        if n == 0 {
            return Ok(0);
        }
        match self.length {
            Some(length) if !self.run.has_failed() && self.is_plain() => {
                Ok(self.skip_on_handles(n, length)?)
            }
            _ => skip_by_running(n, |max| self.next(max.min(self.run.options.chunk_rows))),
        }
    }

    fn quiet(&self) -> bool {
        self.supply.quiet()
    }
}
