//! `Dataset.batch`: consecutive elements joined along a new first axis.
//!
//! Of a stacked column a batch is a view with another shape. The stage asks its input for just the
//! rows of its batches, so that where the input makes them on demand each value is written once,
//! where it stays.

use std::sync::Arc;

use crate::batching::parallel::{self, Rows, Tasks, copies};
use crate::batching::stacking::{optionals_in_batch, stack};
use crate::data::{Chunk, ElementSpec, Mark, Spec};
use crate::engine::apply::Parallel;
use crate::engine::driver::Outcomes;
use crate::engine::node::{Arg, RunOptions, Unfixed, past_noops};
use crate::engine::run::RunContext;
use crate::engine::skipping::{skip_by_running, skip_on};
use crate::engine::stage::{EXACT_FROM, is_final};
use crate::engine::stats::StageStats;
use crate::engine::{Cardinality, Input, Node, Opening, Plan, Skipped, Stage};
use crate::error::{Error, Result};

/// Batches up to this size are made several at a time: copying one to the user costs less than
/// going down to the source for it.
const SMALL_BATCH: usize = 8 << 10;
/// What several small batches take together: well within a core's cache.
const SMALL_BATCHES: usize = 64 << 10;

/// How the elements of batches are joined.
pub(crate) trait Collate: Send + Sync {
    /// Each `size` rows of the chunk joined into one.
    fn collate(&self, chunk: Chunk, size: usize) -> Result<Chunk>;

    /// Looks at the rows of each batch in order, before they are joined in whatever order.
    fn see(&self, _chunk: &Chunk) {}
}

/// Batches of equal shapes.
#[derive(Clone)]
pub struct BatchNode {
    input: Plan,
    size: usize,
    drop_remainder: bool,
    /// As the user said, which decides what becomes of errors.
    parallel: bool,
    tasks: Tasks,
    spec: ElementSpec,
}

impl BatchNode {
    /// A plan of batches of `size` elements; the last may be shorter unless dropped. An error ends
    /// its batch; right above a map and without `parallel` it takes the place of a whole batch, as
    /// in tf.data. Several tasks put batches together where that copies rows.
    ///
    /// # Errors
    /// `InvalidArgument` for a size below 1.
    pub fn plan(
        input: Plan,
        size: i64,
        drop_remainder: bool,
        parallel: Parallel,
        deterministic: Option<bool>,
    ) -> Result<Plan> {
        let size = checked_size(size)?;
        let spec = input.spec().try_map(|spec| batched(spec, drop_remainder.then_some(size)))?;
        let tasks = match copies(input.spec()) {
            true => Tasks { parallel, deterministic },
            false => Tasks::NONE,
        };
        let parallel = parallel != Parallel::Serial;
        Ok(Arc::new(BatchNode { input, size, drop_remainder, parallel, tasks, spec }))
    }

    /// The same with tasks, unless it has some.
    pub(crate) fn with_tasks(&self, tasks: Tasks) -> Option<Self> {
        (!self.tasks.are_some()).then(|| BatchNode { tasks, ..self.clone() })
    }
}

/// The batch size as a number of rows.
pub(crate) fn checked_size(size: i64) -> Result<usize> {
    usize::try_from(size).ok().filter(|size| *size > 0).ok_or_else(|| {
        Error::invalid_argument(format!("batch size must be greater than zero, got {size}"))
    })
}

/// Number of batches of `size` in so many elements.
pub(crate) fn batches(elements: Cardinality, size: usize, drop_remainder: bool) -> Cardinality {
    let size = size as u64;
    elements.map(|n| if drop_remainder { n / size } else { n.div_ceil(size) })
}

/// What batches of such components look like.
///
/// # Errors
/// `InvalidArgument` for optionals, of which there are no batches.
pub(crate) fn batched(spec: &Spec, size: Option<usize>) -> Result<Spec> {
    Ok(match spec.map_shape(|shape| shape.prepend(size)) {
        Spec::Ragged { dtype, shape, ragged_rank, splits_dtype } => {
            Spec::Ragged { dtype, shape, ragged_rank: ragged_rank + 1, splits_dtype }
        }
        Spec::Optional(_) => return Err(optionals_in_batch(spec)),
        other => other,
    })
}

/// True if tf.data fuses the map below with a batch, which then takes so many elements of the map's
/// input, whatever becomes of them. Any other batch is left at its first error.
pub(crate) fn follows_map(input: &Plan) -> bool {
    // Rewrites make one step of several maps.
    let is_map = |plan: &Plan| matches!(plan.name(), "map" | "maps");
    is_map(input) || is_map(&past_noops(input))
}

impl Node for BatchNode {
    fn name(&self) -> &'static str {
        "batch"
    }

    fn args(&self) -> Vec<Arg> {
        vec![
            Arg::new("batch_size", self.size),
            Arg::new("drop_remainder", self.drop_remainder),
            Arg::tuning("parallel", self.parallel),
        ]
    }

    fn notes(&self) -> Vec<String> {
        let idle = self.parallel && !self.tasks.are_some();
        let text = "batches are slices of what comes in, which need no tasks";
        idle.then(|| text.to_string()).into_iter().collect()
    }

    fn unfixed(&self, options: &RunOptions) -> Option<Unfixed> {
        self.tasks.are_free(options).then_some(Unfixed::Order)
    }

    fn inputs(&self) -> Vec<Plan> {
        vec![Arc::clone(&self.input)]
    }

    fn spec(&self) -> &ElementSpec {
        &self.spec
    }

    fn cardinality(&self) -> Cardinality {
        batches(self.input.cardinality(), self.size, self.drop_remainder)
    }

    fn width(&self) -> Option<u64> {
        Some(self.size as u64)
    }

    fn is_indexable(&self) -> bool {
        true
    }

    fn with_inputs(&self, mut inputs: Vec<Plan>) -> Option<Plan> {
        let input = inputs.pop()?;
        Some(Arc::new(BatchNode { input, ..self.clone() }))
    }

    fn open(&self, opening: &Opening<'_>) -> Result<Box<dyn Stage>> {
        parallel::open(opening, &self.input, &self.tasks, |input| BatchStage {
            run: Arc::clone(opening.run),
            stats: Arc::clone(&opening.stats),
            input,
            collate: Arc::new(Stack),
            size: self.size,
            at_once: if self.size < EXACT_FROM { AtOnce::Many } else { AtOnce::Small(None) },
            drop_remainder: self.drop_remainder,
            error_ends_batch: self.parallel || !follows_map(&self.input),
            gathers: false,
            pending: Pending::default(),
        })
    }
}

struct Stack;

impl Collate for Stack {
    fn collate(&self, chunk: Chunk, size: usize) -> Result<Chunk> {
        let columns = chunk.columns().iter().enumerate();
        let columns = columns.map(|(i, column)| stack(column, size, i)).collect::<Result<_>>()?;
        Chunk::new(chunk.rows() / size, Arc::clone(chunk.structure()), columns)
    }
}

/// How many batches are made at a time.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum AtOnce {
    /// One.
    One,
    /// As many as a chunk holds: batches of few rows, which together are one reshape.
    Many,
    /// As many as are cheap to copy to the user, once it is known what a batch takes.
    Small(Option<usize>),
}

/// Gathers elements for batches and joins them.
pub(crate) struct BatchStage {
    pub(crate) run: Arc<RunContext>,
    pub(crate) stats: Arc<StageStats>,
    pub(crate) input: Input,
    pub(crate) collate: Arc<dyn Collate>,
    pub(crate) size: usize,
    pub(crate) at_once: AtOnce,
    pub(crate) drop_remainder: bool,
    pub(crate) error_ends_batch: bool,
    /// It hands on the rows of a batch, which somebody else joins.
    pub(crate) gathers: bool,
    pub(crate) pending: Pending,
}

/// What has come in for the next batches.
#[derive(Default)]
pub(crate) struct Pending {
    chunks: Vec<Chunk>,
    rows: usize,
    /// What the chunks take.
    bytes: usize,
    /// The first error, and how many outcomes its batch has taken.
    failed: Option<(Error, usize)>,
    /// Batches that were made together, one of which could not be.
    made: Outcomes,
}

impl Pending {
    fn holds(&self) -> bool {
        self.rows > 0 || self.failed.is_some() || !self.made.is_empty()
    }
}

impl BatchStage {
    /// A stage of the rows of one batch at a time, and how they are joined later.
    pub(crate) fn into_rows(self) -> (Self, Arc<dyn Collate>) {
        let collate = Arc::clone(&self.collate);
        let rows = Arc::new(Rows(Arc::clone(&collate)));
        (BatchStage { at_once: AtOnce::One, collate: rows, gathers: true, ..self }, collate)
    }

    /// What was made, as long as the outcomes that it stands for.
    fn counted(&self, made: Chunk) -> Result<Chunk> {
        if self.gathers { made.slice(0..1) } else { Ok(made) }
    }

    /// How many batches to make when `max` are asked for.
    fn at_once(&self, max: usize) -> usize {
        let chunk_rows = self.run.options.chunk_rows;
        match self.at_once {
            AtOnce::One => 1,
            AtOnce::Many if !self.input.quiet() => max,
            AtOnce::Many => (chunk_rows / self.size).max(1).min(max),
            AtOnce::Small(Some(bytes)) if bytes <= SMALL_BATCH && self.input.quiet() => {
                let rows = chunk_rows.saturating_mul(8);
                (SMALL_BATCHES / bytes.max(1)).min(rows / self.size).min(max).max(1)
            }
            AtOnce::Small(_) => 1,
        }
    }

    /// Collects up to `wanted` rows; fewer at the end or at an error, or where there is a batch and
    /// more must not be asked for.
    fn collect(&mut self, wanted: usize) -> Result<()> {
        let asked_quiet = self.input.quiet();
        while self.pending.rows < wanted && self.pending.failed.is_none() {
            if self.pending.rows >= self.size && asked_quiet && !self.input.quiet() {
                self.give_back()?;
                break;
            }
            // Of the next batch at least all rows are needed.
            let needed = self.size.saturating_sub(self.pending.rows);
            let max = self.input.most(asked_quiet, wanted - self.pending.rows, needed);
            match self.input.next(max) {
                Ok(Some(chunk)) => {
                    self.pending.rows += chunk.rows();
                    self.pending.bytes += chunk.own_bytes();
                    self.pending.chunks.push(chunk);
                }
                Ok(None) => break,
                Err(error) if is_final(&error) => return Err(error),
                Err(error) => {
                    self.run.note_failure();
                    self.pending.failed = Some((error, self.pending.rows % self.size + 1));
                }
            }
        }
        self.stats.hold(self.pending.bytes);
        Ok(())
    }

    /// Gives back what is in no whole batch, so that the position of the input is that of a batch.
    fn give_back(&mut self) -> Result<()> {
        let rest = self.pending.rows % self.size;
        if rest == 0 {
            return Ok(());
        }
        let Some(last) = self.pending.chunks.pop_if(|last| last.rows() >= rest) else {
            return Ok(());
        };
        self.input.give_back(&last, rest)?;
        self.pending.rows -= rest;
        if last.rows() > rest {
            self.pending.chunks.push(last.slice(0..last.rows() - rest)?);
        }
        self.pending.bytes = self.pending.chunks.iter().map(Chunk::own_bytes).sum();
        Ok(())
    }

    /// Takes the first `rows` of what is pending.
    fn take(&mut self, rows: usize) -> Result<Chunk> {
        let chunk = Chunk::concat(std::mem::take(&mut self.pending.chunks))?;
        let left = self.pending.rows - rows;
        self.pending.rows = left;
        self.pending.bytes = 0;
        if left > 0 {
            let rest = chunk.slice(rows..rows + left)?;
            self.pending.bytes = rest.own_bytes();
            self.pending.chunks.push(rest);
        }
        self.stats.hold(self.pending.bytes);
        chunk.slice(0..rows)
    }

    /// Joins the rows of one or more whole batches. Where that fails each is an outcome of its own.
    fn join(&mut self, chunk: Chunk) -> Result<Chunk> {
        let (rows, mark) = (chunk.rows(), chunk.mark.clone());
        match self.collate.collate(chunk.clone(), self.size) {
            Err(error) if rows > self.size && !is_final(&error) => {
                for start in (0..rows).step_by(self.size) {
                    let batch = chunk.slice(start..start + self.size)?;
                    let mark = batch.mark.clone();
                    let batch = self.collate.collate(batch, self.size);
                    self.pending.made.push_back(batch.map(|batch| batch.marked(mark)));
                }
                let first = self.pending.made.pop_front();
                first.unwrap_or_else(|| Err(Error::internal("no batch")))
            }
            joined => Ok(joined?.marked(mark)),
        }
    }

    /// The rest of a failed batch is taken and dropped; the batch is its first error.
    fn fail(&mut self) -> Result<Option<Chunk>> {
        self.pending.chunks.clear();
        self.pending.rows = 0;
        self.pending.bytes = 0;
        let Some((error, taken)) = self.pending.failed.take() else { return Ok(None) };
        if !self.error_ends_batch {
            let rest = (self.size - taken) as u64;
            let drop = |left| skip_by_running(left, |max| self.input.next(max));
            skip_on(rest, &mut None, drop)?;
        }
        Err(error)
    }
}

impl Stage for BatchStage {
    fn next(&mut self, max: usize) -> Result<Option<Chunk>> {
        if let Some(made) = self.pending.made.pop_front() {
            return made.map(Some);
        }
        let mark = self.input.passed_mark().then(|| self.state()).flatten();
        let at_once = self.at_once(max);
        self.collect(self.size.saturating_mul(at_once))?;
        let whole = self.pending.rows / self.size * self.size;
        if whole > 0 {
            let chunk = self.take(whole)?.marked(mark);
            if let AtOnce::Small(bytes) = &mut self.at_once {
                *bytes = Some(chunk.payload_bytes() / (whole / self.size));
            }
            return self.join(chunk).map(Some);
        }
        if self.pending.failed.is_some() {
            return self.fail();
        }
        match self.pending.rows {
            0 => Ok(None),
            _ if self.drop_remainder => {
                self.pending = Pending::default();
                Ok(None)
            }
            rows => {
                let chunk = self.take(rows)?;
                Ok(Some(self.collate.collate(chunk, rows)?.marked(mark)))
            }
        }
    }

    fn skip(&mut self, n: u64) -> Skipped {
        if self.run.has_failed() || self.pending.holds() {
            return skip_by_running(n, |max| self.next(max)?.map(|c| self.counted(c)).transpose());
        }
        let size = self.size as u64;
        let skipped = self.input.skip(n.saturating_mul(size)).map_err(|met| {
            let batches = met.before() / size;
            met.counted(batches)
        })?;
        let partial = skipped % size != 0 && !self.drop_remainder;
        Ok(skipped / size + u64::from(partial))
    }

    fn state(&self) -> Option<Mark> {
        (!self.pending.holds()).then(|| Mark::new([], vec![self.input.position()]))
    }

    fn quiet(&self) -> bool {
        self.input.quiet()
    }
}
