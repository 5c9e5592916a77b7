//! `Dataset.rebatch`: batches cut and joined to other sizes.
//!
//! Errors of the input pass between the batches and lose none of the rows around them.

use std::sync::Arc;

use crate::batching::ragged_batch::ragged;
use crate::batching::stacking::{optionals_in_batch, stack};
use crate::batching::unbatch::split;
use crate::data::{Chunk, Column, DType, Dims, ElementSpec, Mark, Spec, Value};
use crate::engine::node::Arg;
use crate::engine::skipping::skip_by_running;
use crate::engine::stats::StageStats;
use crate::engine::{Cardinality, Input, Node, Opening, Plan, Skipped, Stage};
use crate::error::{Error, Result};

/// Batches of other sizes.
pub struct RebatchNode {
    input: Plan,
    sizes: Vec<usize>,
    drop_remainder: bool,
    spec: ElementSpec,
}

impl RebatchNode {
    /// A plan of the rows of the batches of `input`, in batches of `sizes` in turn. A size of 0
    /// gives an empty batch, as in tf.data.
    ///
    /// # Errors
    /// `InvalidArgument` if no size is above 0 or one below, a component is a scalar, or the sizes
    /// along axis 0 are known to differ.
    pub fn plan(input: Plan, sizes: &[i64], drop_remainder: bool) -> Result<Plan> {
        let list = sizes;
        let sizes: Option<Vec<usize>> = list.iter().map(|n| usize::try_from(*n).ok()).collect();
        let Some(sizes) = sizes.filter(|sizes| sizes.iter().any(|size| *size > 0)) else {
            return Err(Error::invalid_argument(format!(
                "batch size must be greater than zero, got {list:?}"
            )));
        };
        let mut firsts: Vec<usize> = Vec::new();
        for spec in input.spec().specs().unwrap_or_default() {
            let Some((first, _)) = spec.shape().split_first() else { return Err(scalar()) };
            firsts.extend(first);
        }
        if let Some(pair) = firsts.windows(2).find(|pair| pair[0] != pair[1]) {
            return Err(Error::invalid_argument(format!(
                "rebatch needs components of one batch size, got both {} and {}",
                pair[0], pair[1]
            )));
        }
        let size = Some(sizes[0]).filter(|size| {
            let whole = firsts.first().is_some_and(|first| *size > 0 && first % size == 0);
            sizes.iter().all(|other| other == size) && (drop_remainder || whole)
        });
        let spec = input.spec().try_map(|spec| {
            let (_, rest) = spec.shape().split_first().ok_or_else(scalar)?;
            if matches!(spec, Spec::Optional(_)) {
                return Err(optionals_in_batch(spec));
            }
            Ok::<_, Error>(spec.map_shape(|_| rest.prepend(size)))
        })?;
        Ok(Arc::new(RebatchNode { input, sizes, drop_remainder, spec }))
    }
}

fn scalar() -> Error {
    Error::invalid_argument("expected a dataset of batches, found one with scalar elements")
        .with_hint("add a `batch` before `rebatch`")
}

impl Node for RebatchNode {
    fn name(&self) -> &'static str {
        "rebatch"
    }

    fn args(&self) -> Vec<Arg> {
        vec![
            Arg::new("batch_size", format_args!("{:?}", self.sizes)),
            Arg::new("drop_remainder", self.drop_remainder),
        ]
    }

    fn inputs(&self) -> Vec<Plan> {
        vec![Arc::clone(&self.input)]
    }

    fn spec(&self) -> &ElementSpec {
        &self.spec
    }

    fn cardinality(&self) -> Cardinality {
        Cardinality::Unknown
    }

    fn open(&self, opening: &Opening<'_>) -> Result<Box<dyn Stage>> {
        Ok(Box::new(RebatchStage {
            stats: Arc::clone(&opening.stats),
            input: opening.input(0, &self.input)?,
            at: opening.mark.own(0) as usize % self.sizes.len(),
            sizes: self.sizes.clone(),
            drop_remainder: self.drop_remainder,
            pending: Vec::new(),
            rows: 0,
            joins: None,
            ended: false,
        }))
    }
}

struct RebatchStage {
    stats: Arc<StageStats>,
    input: Input,
    sizes: Vec<usize>,
    /// Which size comes next.
    at: usize,
    drop_remainder: bool,
    /// Rows that are in no batch yet.
    pending: Vec<Chunk>,
    rows: usize,
    /// Set by the first batch.
    joins: Option<Joins>,
    ended: bool,
}

/// How rows are joined.
struct Joins {
    /// The partitions of each ragged component, and their dtype.
    ragged: Vec<Option<(usize, DType)>>,
    /// No rows: what empty batches are made of.
    none: Chunk,
}

impl RebatchStage {
    fn pull(&mut self) -> Result<()> {
        let Some(batches) = self.input.next(1)? else {
            self.ended = true;
            return Ok(());
        };
        let rows = split(&batches)?;
        if self.joins.is_none() {
            let joins = batches.columns().iter().map(|column| match column.row(0)? {
                Value::Ragged { splits, .. } if splits.len() == 1 => {
                    Ok(Some((1, splits[0].dtype())))
                }
                _ => Ok(None),
            });
            let ragged = joins.collect::<Result<_>>()?;
            self.joins = Some(Joins { ragged, none: rows.slice(0..0)? });
        }
        self.rows += rows.rows();
        if rows.rows() > 0 {
            self.pending.push(rows.marked(None));
        }
        self.account();
        Ok(())
    }

    fn account(&self) {
        self.stats.hold(self.pending.iter().map(Chunk::own_bytes).sum());
    }

    /// The first `size` rows as a batch.
    fn take(&mut self, size: usize) -> Result<Chunk> {
        let Some(Joins { ragged: partitions, none }) = &self.joins else {
            return Err(Error::internal("a batch of nothing"));
        };
        let chunk = if size == 0 {
            none.clone()
        } else {
            Chunk::concat(std::mem::take(&mut self.pending))?
        };
        if size > 0 {
            self.rows -= size;
            if self.rows > 0 {
                self.pending.push(chunk.slice(size..size + self.rows)?);
            }
            self.account();
        }
        let chunk = chunk.slice(0..size)?;
        let columns = chunk.columns().iter().zip(partitions).enumerate();
        let columns = columns.map(|(i, (column, ragged_as))| match (column, ragged_as) {
            (Column::Stacked(_) | Column::Rows(_), Some((partitions, splits))) => {
                ragged(column, *partitions, *splits)?.to_column()
            }
            (column, _) if size > 0 => stack(column, size, i),
            (Column::Stacked(tensor), _) => {
                let dims: Dims = std::iter::once(1).chain(tensor.dims().iter().copied()).collect();
                Ok(Column::Stacked(tensor.clone().reshape(dims)?))
            }
            (column, _) => {
                let kind = column.kind();
                Err(Error::unimplemented(format!("an empty batch of a {kind} component")))
            }
        });
        Chunk::new(1, Arc::clone(chunk.structure()), columns.collect::<Result<_>>()?)
    }
}

impl Stage for RebatchStage {
    fn next(&mut self, _max: usize) -> Result<Option<Chunk>> {
        let size = self.sizes[self.at];
        let mut mark = None;
        while !self.ended && (self.rows < size || self.joins.is_none()) {
            if self.input.passed_mark() {
                mark = self.state();
            }
            self.pull()?;
        }
        let short = self.rows < size;
        if (self.ended && size == 0) || (short && (self.rows == 0 || self.drop_remainder)) {
            self.pending.clear();
            self.rows = 0;
            return Ok(None);
        }
        self.at = (self.at + 1) % self.sizes.len();
        Ok(Some(self.take(size.min(self.rows))?.marked(mark)))
    }

    fn skip(&mut self, n: u64) -> Skipped {
        skip_by_running(n, |max| self.next(max))
    }

    fn state(&self) -> Option<Mark> {
        // An empty batch needs to have seen others: not a place to start from.
        let clear = self.rows == 0 && self.sizes[self.at] > 0;
        clear.then(|| Mark::new([self.at as u64], vec![self.input.position()]))
    }

    fn quiet(&self) -> bool {
        self.input.quiet()
    }
}
