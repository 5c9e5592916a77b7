//! Batches that are put together by several tasks at once.
//!
//! One task after another takes the rows of a batch from the input; joining them, which is where
//! batches of differing shapes cost, is done beside each other. It pays only where rows are copied:
//! of rows of one shape a batch is a slice.

use std::sync::Arc;

use crate::batching::batch::{BatchStage, Collate};
use crate::data::{Chunk, ElementSpec, Spec};
use crate::engine::apply::Parallel;
use crate::engine::autotune::Window;
use crate::engine::driver::{self, Driver, Outcomes, Work};
use crate::engine::node::{RunOptions, is_quiet};
use crate::engine::pool::Kind;
use crate::engine::{Input, Opening, Plan, Skipped, Stage};
use crate::error::Result;
use crate::graph::rows::Hands;

/// Who puts batches together.
#[derive(Clone, Copy)]
pub(crate) struct Tasks {
    pub(crate) parallel: Parallel,
    /// Whether order is kept; `None`: as the options say.
    pub(crate) deterministic: Option<bool>,
}

impl Tasks {
    /// The stage itself.
    pub(crate) const NONE: Tasks = Tasks { parallel: Parallel::Serial, deterministic: None };

    pub(crate) fn are_some(&self) -> bool {
        self.parallel != Parallel::Serial
    }

    /// True if batches come in the order in which they get ready.
    pub(crate) fn are_free(&self, options: &RunOptions) -> bool {
        self.are_some() && !options.keeps_order(self.deterministic)
    }
}

/// True if joining rows of such components copies them.
pub(crate) fn copies(spec: &ElementSpec) -> bool {
    let copied = |spec: &Spec| match spec {
        Spec::Tensor { shape, .. } => shape.known().is_none(),
        _ => true,
    };
    spec.specs().is_none_or(|specs| specs.iter().any(copied))
}

/// The rows of a batch as they come.
pub(crate) struct Rows(pub(crate) Arc<dyn Collate>);

impl Collate for Rows {
    fn collate(&self, chunk: Chunk, _size: usize) -> Result<Chunk> {
        self.0.see(&chunk);
        Ok(chunk)
    }
}

/// Joins all rows of a chunk.
struct Join(Arc<dyn Collate>);

impl Work for Join {
    fn run(&self, chunk: Chunk, _first: u64, _hands: &dyn Hands) -> Outcomes {
        let (rows, mark) = (chunk.rows(), chunk.mark.clone());
        Outcomes::from([self.0.collate(chunk, rows).map(|batch| batch.marked(mark))])
    }
}

/// Opens a stage of batches over `plan`: with tasks if there are some, else as it is. `make` makes
/// it of its input.
///
/// # Errors
/// Those of the input.
pub(crate) fn open(
    opening: &Opening<'_>,
    plan: &Plan,
    tasks: &Tasks,
    make: impl FnOnce(Input) -> BatchStage,
) -> Result<Box<dyn Stage>> {
    let options = &opening.run.options;
    if !tasks.are_some() || options.on_demand {
        return Ok(Box::new(make(opening.input(0, plan)?)));
    }
    let input = opening.input_at(plan, opening.mark.input(0), true)?;
    let lookahead = input.lookahead().cloned();
    let (rows, collate) = make(input).into_rows();
    let quiet = rows.quiet() || is_quiet(plan);
    let kind = if quiet { Kind::Work } else { Kind::Blocking };
    // What can be observed is taken ahead for so many batches as the user said.
    let window = Window::PerWorker(if quiet { 2 } else { 1 });
    let how = driver::Plan {
        work: Some(Arc::new(Join(collate))),
        whole: true,
        ordered: !tasks.are_free(options),
        ..driver::Plan::new(tasks.parallel.workers(opening.run, kind), window, kind)
    };
    let mut rows = Input::new(Box::new(rows), opening.run);
    if let Some(lookahead) = lookahead {
        rows = rows.read_ahead_by(lookahead);
    }
    let driver = Driver::new(rows, how, opening.run, &opening.stats);
    Ok(Box::new(ParallelBatchStage { driver }))
}

struct ParallelBatchStage {
    driver: Driver,
}

impl Stage for ParallelBatchStage {
    fn next(&mut self, _max: usize) -> Result<Option<Chunk>> {
        // Whatever is asked for, the driver takes the rows of one batch at a time.
        self.driver.next_chunk()
    }

    fn skip(&mut self, n: u64) -> Skipped {
        self.driver.skip(n)
    }

    fn quiet(&self) -> bool {
        self.driver.quiet()
    }
}
