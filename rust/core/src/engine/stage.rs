//! A stage: one step of a run. And what stands between two of them.

use std::sync::Arc;

use crate::data::{Chunk, Mark, Position};
use crate::engine::budget::{Charge, Queue};
use crate::engine::lookahead::Lookahead;
use crate::engine::run::RunContext;
use crate::engine::skipping::{SkipError, Skipped, passed, skip_on};
use crate::engine::stats::StageStats;
use crate::engine::wait::poll_if_due;
use crate::error::{Error, Result};

/// One step of a run. Each outcome is an element or an error.
pub trait Stage: Send {
    /// From 1 to `max` elements, or `None` at the end.
    ///
    /// # Errors
    /// An error is one outcome: asked again, the stage goes on with the next.
    fn next(&mut self, max: usize) -> Result<Option<Chunk>>;

    /// Takes up to `n` outcomes without making them; returns how many, fewer only at the end.
    ///
    /// # Errors
    /// The first among them, if it can be seen without making elements: asked again, the stage goes
    /// on behind it. Or what makes it impossible to find the next outcome.
    fn skip(&mut self, n: u64) -> Skipped;

    /// Where the stage can be opened to go on just from here; `None` if it holds elements and so
    /// can only be reached by skipping, or if a mark of its input passes through it unchanged.
    fn state(&self) -> Option<Mark> {
        None
    }

    /// True if it may be asked for more than is needed now: nothing in it or below it can be
    /// observed from outside.
    fn quiet(&self) -> bool;
}

/// An input as it is: what a step that changes nothing opens as.
pub struct Passage(pub Input);

impl Stage for Passage {
    fn next(&mut self, max: usize) -> Result<Option<Chunk>> {
        self.0.next(max)
    }

    fn skip(&mut self, n: u64) -> Skipped {
        self.0.skip(n)
    }

    fn quiet(&self) -> bool {
        self.0.quiet()
    }
}

/// A stage that nobody asks.
pub(crate) struct Nothing;

impl Stage for Nothing {
    fn next(&mut self, _max: usize) -> Result<Option<Chunk>> {
        Ok(None)
    }

    fn skip(&mut self, _n: u64) -> Skipped {
        Ok(0)
    }

    fn quiet(&self) -> bool {
        true
    }
}

/// True for errors that end the run rather than stand for one element.
pub fn is_final(error: &Error) -> bool {
    error.kind() == crate::error::ErrorKind::Cancelled
}

/// First demand on a quiet input; it grows with each chunk.
const FIRST_DEMAND: usize = 16;
/// Demand that is passed on as it is: enough rows for a chunk's costs to vanish in them, and the
/// consumer (a batch) gets just the rows it can hand on without a copy.
pub const EXACT_FROM: usize = 32;

/// A stage as its consumer sees it: rounds demand up where it may, and knows its position.
pub struct Input {
    run: Arc<RunContext>,
    stage: Box<dyn Stage>,
    /// A chunk and the number of its rows that are taken.
    surplus: Option<(Chunk, usize)>,
    /// The surplus on the account, unless it is a trifle.
    charge: Option<Charge>,
    queue: Option<Arc<Queue>>,
    /// What reads it ahead, if a driver is to.
    lookahead: Option<Arc<Lookahead>>,
    position: Position,
    /// A mark was passed since the last call of [`Input::passed_mark`].
    passed: bool,
    /// Outcomes to skip before the first is taken.
    pending_skip: u64,
    /// An error that came while chunks were joined: the next outcome.
    deferred: Option<Error>,
    demand: usize,
    chunk_rows: usize,
    chunk_bytes: usize,
}

impl Input {
    /// An input over a stage that stands at the start.
    pub fn new(stage: Box<dyn Stage>, run: &Arc<RunContext>) -> Self {
        let chunk_rows = run.options.chunk_rows.max(1);
        Input {
            run: Arc::clone(run),
            stage,
            surplus: None,
            charge: None,
            queue: None,
            lookahead: None,
            position: Position::default(),
            passed: false,
            pending_skip: 0,
            deferred: None,
            demand: FIRST_DEMAND.min(chunk_rows),
            chunk_rows,
            chunk_bytes: run.account().full_chunk(),
        }
    }

    /// An input over a stage that was opened at the mark of `position` and counts with `stats`.
    pub(crate) fn at(
        position: Position,
        stage: Box<dyn Stage>,
        run: &Arc<RunContext>,
        stats: &Arc<StageStats>,
    ) -> Self {
        let queue = Queue::new(stats);
        let mut input = Input::new(stage, run);
        input.demand = input.demand.min(queue.full_rows());
        input.queue = Some(queue);
        input.pending_skip = position.since;
        input.position.mark = position.mark;
        input
    }

    /// The same input, for a driver that draws as `lookahead`.
    pub(crate) fn read_ahead_by(mut self, lookahead: Arc<Lookahead>) -> Self {
        self.lookahead = Some(lookahead);
        self
    }

    /// What reads it ahead, if a driver is to.
    pub(crate) fn lookahead(&self) -> Option<&Arc<Lookahead>> {
        self.lookahead.as_ref()
    }

    /// From 1 to `max` elements, or `None` at the end.
    ///
    /// # Errors
    /// As [`Stage::next`].
    pub fn next(&mut self, max: usize) -> Result<Option<Chunk>> {
        if self.surplus.is_none() && !self.pull(self.demand_for(max))? {
            return Ok(None);
        }
        self.take(max)
    }

    /// As many elements as come at no extra cost, up to `max`: a full chunk of a quiet input, else
    /// one.
    ///
    /// # Errors
    /// As [`Stage::next`].
    pub fn next_chunk(&mut self, max: usize) -> Result<Option<Chunk>> {
        let demand = if self.stage.quiet() { self.demand.min(max) } else { 1 };
        if self.surplus.is_none() && !self.pull(demand)? {
            return Ok(None);
        }
        self.take(max)
    }

    /// What the stage hands on at a time, whatever it takes.
    ///
    /// # Errors
    /// As [`Stage::next`].
    pub fn next_whole(&mut self) -> Result<Option<Chunk>> {
        if self.surplus.is_none() && !self.pull(1)? {
            return Ok(None);
        }
        self.take(usize::MAX)
    }

    /// Elements until there are `max`, or fewer at the end or before an error.
    ///
    /// Only for quiet inputs, and worth it where joining chunks is cheap.
    ///
    /// # Errors
    /// As [`Stage::next`], if there is no element before the error.
    pub fn fill(&mut self, max: usize) -> Result<Option<Chunk>> {
        let Some(first) = self.next(max)? else { return Ok(None) };
        let mut rows = first.rows();
        let mut chunks = vec![first];
        // It may turn out on the way that the input can be observed.
        while rows < max && (self.surplus.is_some() || self.stage.quiet()) {
            if self.surplus.is_none() {
                match self.ask(max - rows) {
                    Ok(Some(chunk)) => self.hold(chunk),
                    Ok(None) => break,
                    Err(error) if is_final(&error) => return Err(error),
                    // One outcome at a time: the error comes when asked again.
                    Err(error) => {
                        self.deferred = Some(error);
                        break;
                    }
                }
            }
            let Some(chunk) = self.take(max - rows)? else { break };
            rows += chunk.rows();
            chunks.push(chunk);
        }
        Chunk::concat(chunks).map(Some)
    }

    /// Takes up to `n` outcomes without making them.
    ///
    /// # Errors
    /// As [`Stage::skip`].
    pub fn skip(&mut self, n: u64) -> Skipped {
        self.settle()?;
        let mut left = n;
        if left > 0
            && let Some((chunk, taken)) = self.surplus.take()
        {
            self.pass_mark(&chunk, taken);
            let here = ((chunk.rows() - taken) as u64).min(left);
            left -= here;
            self.position.since += here;
            let taken = taken + here as usize;
            self.surplus = (taken < chunk.rows()).then_some((chunk, taken));
            self.charge = self.charge.take().filter(|_| self.surplus.is_some());
        }
        if left > 0
            && let Some(error) = self.deferred.take()
        {
            self.position.since += 1;
            return Err(SkipError::behind(n - left, error));
        }
        if left > 0 {
            left -= self.pass(left).map_err(|error| error.after(n - left))?;
        }
        Ok(n - left)
    }

    /// True if there is nothing more, which is found out by asking for what comes next as
    /// [`Input::next`] does: only for quiet inputs.
    pub(crate) fn has_ended(&mut self, max: usize) -> bool {
        if self.surplus.is_some() || self.deferred.is_some() || self.pending_skip > 0 {
            return false;
        }
        match self.ask(self.demand_for(max)) {
            Ok(Some(chunk)) => {
                self.charge = self.queue.as_ref().and_then(|queue| queue.surplus(&chunk));
                self.hold(chunk);
            }
            Ok(None) => return true,
            // One outcome at a time: the error comes when asked again.
            Err(error) => self.deferred = Some(error),
        }
        false
    }

    /// What is asked of the stage when `max` elements are asked for.
    fn demand_for(&self, max: usize) -> usize {
        match self.stage.quiet() {
            true if max < EXACT_FROM => self.demand.max(max),
            _ => max,
        }
    }

    /// Where the input stands: before the next outcome that is taken.
    pub fn position(&self) -> Position {
        let mut position = self.position.clone();
        position.since += self.pending_skip;
        position
    }

    /// True once after each new mark: time for the consumer to mark its next chunk.
    pub fn passed_mark(&mut self) -> bool {
        std::mem::take(&mut self.passed)
    }

    /// Puts the last `rows` of the chunk taken last back.
    ///
    /// # Errors
    /// `Internal` if the chunk has fewer.
    pub fn give_back(&mut self, chunk: &Chunk, rows: usize) -> Result<()> {
        if rows == 0 {
            return Ok(());
        }
        if rows > chunk.rows() {
            return Err(Error::internal("more elements given back than taken"));
        }
        self.surplus = Some(match self.surplus.take() {
            Some((held, taken)) => (held, taken - rows),
            None => (chunk.clone(), chunk.rows() - rows),
        });
        self.position.since -= rows as u64;
        Ok(())
    }

    /// True if it may be asked for more than is needed.
    pub fn quiet(&self) -> bool {
        self.stage.quiet()
    }

    /// How much is asked for of `max` elements, or of `needed` where these were asked for as more than
    /// is needed, of an input that was `asked_quiet`, and no more may be asked for by now.
    pub fn most(&self, asked_quiet: bool, max: usize, needed: usize) -> usize {
        if asked_quiet && !self.quiet() { max.min(needed) } else { max }
    }

    /// Skips what the position it was opened at asks for: outcomes that somebody had, errors too.
    fn settle(&mut self) -> Result<()> {
        let n = std::mem::take(&mut self.pending_skip);
        skip_on(n, &mut None, |left| self.pass(left))?;
        Ok(())
    }

    /// Skips `n` outcomes of the stage.
    fn pass(&mut self, n: u64) -> Skipped {
        let skipped = self.stage.skip(n);
        self.position.since += passed(&skipped);
        skipped
    }

    fn pull(&mut self, demand: usize) -> Result<bool> {
        self.settle()?;
        let outcome = match self.deferred.take() {
            Some(error) => Err(error),
            None => self.ask(demand),
        };
        match outcome {
            Ok(Some(chunk)) => {
                self.hold(chunk);
                Ok(true)
            }
            Ok(None) => Ok(false),
            Err(error) => {
                self.position.since += 1;
                Err(error)
            }
        }
    }

    /// Asks the stage, unless the run is over: a stage may ask for long before it has an element,
    /// as a filter that lets nothing pass.
    fn ask(&mut self, max: usize) -> Result<Option<Chunk>> {
        self.run.check()?;
        poll_if_due()?;
        self.stage.next(max)
    }

    fn hold(&mut self, chunk: Chunk) {
        // Chunks grow to their full size, in rows or bytes, whichever comes first.
        let row_bytes = chunk.payload_bytes() / chunk.rows().max(1);
        let fit = self.chunk_bytes.checked_div(row_bytes).unwrap_or(self.chunk_rows);
        self.demand = (self.demand * 4).min(fit).clamp(1, self.chunk_rows);
        self.surplus = Some((chunk, 0));
    }

    /// Notes the mark of a chunk of which `taken` rows are taken already.
    fn pass_mark(&mut self, chunk: &Chunk, taken: usize) {
        if taken == 0
            && let Some(mark) = &chunk.mark
        {
            self.position = Position { mark: mark.clone(), since: 0 };
            self.passed = true;
        }
    }

    fn take(&mut self, max: usize) -> Result<Option<Chunk>> {
        let Some((chunk, taken)) = self.surplus.take() else { return Ok(None) };
        self.pass_mark(&chunk, taken);
        let rows = (chunk.rows() - taken).min(max);
        let out = chunk.slice(taken..taken + rows)?;
        self.position.since += rows as u64;
        if taken + rows == chunk.rows() {
            self.charge = None;
            return Ok(Some(out));
        }
        if taken == 0 {
            self.charge = self.queue.as_ref().and_then(|queue| queue.surplus(&chunk));
        }
        self.surplus = Some((chunk, taken + rows));
        Ok(Some(out))
    }
}
