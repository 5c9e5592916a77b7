//! `Dataset.ragged_batch`: batches of elements whose shapes differ, without padding.
//!
//! Components of a known shape become dense batches, as in `batch`; others become ragged, down to
//! their last axis of unknown size. Where not even the rank is known before the run, every axis is
//! ragged.

use std::any::Any;
use std::sync::Arc;

use crate::batching::batch::{
    AtOnce, BatchStage, Collate, Pending, batched, batches, checked_size, follows_map,
};
use crate::batching::parallel::{self, Tasks};
use crate::batching::stacking::{splits_tensor, stack};
use crate::data::{Chunk, Column, DType, Dims, ElementSpec, Spec, Tensor, Value};
use crate::engine::apply::Parallel;
use crate::engine::node::{Arg, RunOptions, Unfixed};
use crate::engine::{Cardinality, Node, Opening, Plan, Stage};
use crate::error::{Error, Result};

/// How a component is joined.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Join {
    /// To a dense batch.
    Stack,
    /// To a ragged batch with so many partitions.
    Ragged(usize),
    /// By what it turns out to be.
    Seen,
}

/// Batches with ragged components.
#[derive(Clone)]
pub struct RaggedBatchNode {
    input: Plan,
    size: usize,
    drop_remainder: bool,
    splits: DType,
    /// `None` where nothing is known of the components.
    joins: Option<Vec<Join>>,
    tasks: Tasks,
    spec: ElementSpec,
}

impl RaggedBatchNode {
    /// A plan of batches of `size`; row splits are of the dtype `splits`.
    ///
    /// # Errors
    /// `InvalidArgument` for a size below 1, or splits that are neither int32 nor int64.
    pub fn plan(input: Plan, size: i64, drop_remainder: bool, splits: DType) -> Result<Plan> {
        let size = checked_size(size)?;
        if !matches!(splits, DType::Int32 | DType::Int64) {
            return Err(Error::invalid_argument(format!(
                "row_splits_dtype must be int32 or int64, got {splits}"
            )));
        }
        let joins = input.spec().specs().map(|specs| specs.iter().map(join).collect::<Vec<_>>());
        let first = drop_remainder.then_some(size);
        let known = joins.as_ref().is_some_and(|joins| !joins.contains(&Join::Seen));
        let spec = match input.spec() {
            ElementSpec::Known(..) if known => input.spec().try_map(|spec| {
                Ok::<_, Error>(match join(spec) {
                    Join::Ragged(ragged_rank) => Spec::Ragged {
                        dtype: spec.dtype().unwrap_or(DType::Int64),
                        shape: spec.shape().prepend(first),
                        ragged_rank,
                        splits_dtype: splits,
                    },
                    _ => batched(spec, first)?,
                })
            })?,
            _ => ElementSpec::Unknown,
        };
        let tasks = Tasks::NONE;
        Ok(Arc::new(RaggedBatchNode { input, size, drop_remainder, splits, joins, tasks, spec }))
    }

    /// The plan with batches put together by several tasks.
    ///
    /// # Errors
    /// `Internal` for another plan.
    pub fn in_parallel(
        plan: &Plan,
        parallel: Parallel,
        deterministic: Option<bool>,
    ) -> Result<Plan> {
        let node: &dyn Any = &**plan;
        let batch = node.downcast_ref::<RaggedBatchNode>();
        let batch = batch.ok_or_else(|| Error::internal("another plan than ragged_batch"))?;
        let tasks = Tasks { parallel, deterministic };
        Ok(Arc::new(RaggedBatchNode { tasks, ..batch.clone() }))
    }

    /// The same with tasks, unless it has some.
    pub(crate) fn with_tasks(&self, tasks: Tasks) -> Option<Self> {
        (!self.tasks.are_some()).then(|| RaggedBatchNode { tasks, ..self.clone() })
    }
}

fn join(spec: &Spec) -> Join {
    let Spec::Tensor { shape, .. } = spec else { return Join::Stack };
    let Some(dims) = shape.dims() else { return Join::Seen };
    dims.iter().rposition(Option::is_none).map_or(Join::Stack, |axis| Join::Ragged(axis + 1))
}

impl Node for RaggedBatchNode {
    fn name(&self) -> &'static str {
        "ragged_batch"
    }

    fn args(&self) -> Vec<Arg> {
        vec![
            Arg::new("batch_size", self.size),
            Arg::new("drop_remainder", self.drop_remainder),
            Arg::new("row_splits_dtype", self.splits),
            Arg::tuning("num_parallel_calls", self.tasks.parallel.text()),
        ]
    }

    fn unfixed(&self, options: &RunOptions) -> Option<Unfixed> {
        self.tasks.are_free(options).then_some(Unfixed::Order)
    }

    fn with_inputs(&self, mut inputs: Vec<Plan>) -> Option<Plan> {
        let input = inputs.pop()?;
        Some(Arc::new(RaggedBatchNode { input, ..self.clone() }))
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

    fn is_indexable(&self) -> bool {
        true
    }

    fn open(&self, opening: &Opening<'_>) -> Result<Box<dyn Stage>> {
        let ragged = |joins: &Vec<Join>| joins.iter().any(|join| matches!(join, Join::Ragged(_)));
        let ragged = self.joins.as_ref().is_some_and(ragged);
        let collate = Ragged { joins: self.joins.clone(), splits: self.splits };
        parallel::open(opening, &self.input, &self.tasks, |input| BatchStage {
            run: Arc::clone(opening.run),
            stats: Arc::clone(&opening.stats),
            input,
            collate: Arc::new(collate),
            size: self.size,
            at_once: AtOnce::One,
            drop_remainder: self.drop_remainder,
            // Making rows ragged is a map in tf.data, which it fuses too.
            error_ends_batch: !(ragged || follows_map(&self.input)),
            gathers: false,
            pending: Pending::default(),
        })
    }
}

struct Ragged {
    joins: Option<Vec<Join>>,
    splits: DType,
}

impl Collate for Ragged {
    fn collate(&self, chunk: Chunk, size: usize) -> Result<Chunk> {
        let columns = chunk.columns().iter().enumerate().map(|(i, column)| {
            let join = self.joins.as_ref().and_then(|joins| joins.get(i)).copied();
            let partitions = match (join.unwrap_or(Join::Seen), rank(column)) {
                (Join::Stack, _) | (_, None | Some(0)) => return stack(column, size, i),
                (Join::Ragged(partitions), _) => partitions,
                (Join::Seen, Some(rank)) => rank,
            };
            let batch = ragged(column, partitions, self.splits);
            batch
                .and_then(|batch| batch.to_column())
                .map_err(|error| error.at_node(|| format!("ragged_batch, component {i}")))
        });
        let columns = columns.collect::<Result<_>>()?;
        Chunk::new(chunk.rows() / size, Arc::clone(chunk.structure()), columns)
    }
}

/// Rank of the rows of a dense column.
fn rank(column: &Column) -> Option<usize> {
    match column {
        Column::Stacked(tensor) => tensor.dims().len().checked_sub(1),
        Column::Rows(rows) => rows.shapes().first().map(|dims| dims.len()),
        _ => None,
    }
}

/// The rows of a dense column as one ragged value: their first `partitions` axes are ragged.
///
/// The values are shared, not copied.
///
/// # Errors
/// `InvalidArgument` if the rows have fewer axes, or differ in their inner ones.
pub(crate) fn ragged(column: &Column, partitions: usize, splits: DType) -> Result<Value> {
    let (flat, shapes): (Tensor, Vec<Dims>) = match column {
        Column::Stacked(tensor) => {
            let row: Dims = tensor.dims().get(1..).unwrap_or_default().into();
            let shapes = vec![row; column.len()];
            (tensor.clone().reshape([tensor.len()][..].into())?, shapes)
        }
        Column::Rows(rows) => (rows.flat()?.0, rows.shapes().to_vec()),
        other => return Err(Error::internal(format!("ragged rows of {}", other.kind()))),
    };
    let inner: Dims =
        shapes.first().and_then(|dims| dims.get(partitions..)).unwrap_or_default().into();
    if let Some(i) = shapes.iter().position(|dims| dims.get(partitions..) != Some(&inner[..])) {
        let (a, b) = (&shapes[0], &shapes[i]);
        return Err(Error::invalid_argument(format!(
            "cannot batch tensors of shapes {a:?} and {b:?} (element {i}): they may differ along \
             their first {partitions} axes only"
        )));
    }
    let mut levels: Vec<Vec<i64>> = vec![vec![0]; partitions];
    for dims in &shapes {
        let mut entries = 1;
        for (level, size) in levels.iter_mut().zip(dims) {
            for _ in 0..entries {
                let last = level.last().copied().unwrap_or(0);
                level.push(last + *size as i64);
            }
            entries *= size;
        }
    }
    let rows = levels.last().and_then(|level| level.last()).copied().unwrap_or(0);
    let dims: Dims = std::iter::once(rows as usize).chain(inner).collect();
    let splits = levels.iter().map(|level| splits_tensor(level, splits));
    Ok(Value::Ragged { values: flat.reshape(dims)?, splits: splits.collect::<Result<_>>()? })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::Rows;

    fn split_values(value: &Value) -> Vec<Vec<i64>> {
        let Value::Ragged { splits, .. } = value else { panic!("not ragged") };
        splits.iter().map(|split| split.values::<i64>().unwrap().to_vec()).collect()
    }

    #[test]
    fn rows_become_partitions() {
        let flat = Tensor::from_values(&[4], &[1_i64, 2, 1, 3]).unwrap();
        let shapes = vec![[1, 2][..].into(), [2, 1][..].into()];
        let column = Rows::new(flat, shapes).unwrap().into_column().unwrap();
        let value = ragged(&column, 2, DType::Int64).unwrap();
        assert_eq!(split_values(&value), [vec![0, 1, 3], vec![0, 2, 3, 4]]);
        assert!(ragged(&column, 1, DType::Int64).is_err());
    }

    #[test]
    fn empty_rows_keep_their_place() {
        let flat = Tensor::from_values(&[3], &[1_i64, 2, 3]).unwrap();
        let shapes = vec![[0][..].into(), [3][..].into(), [0][..].into()];
        let column = Rows::new(flat, shapes).unwrap().into_column().unwrap();
        let value = ragged(&column, 1, DType::Int64).unwrap();
        assert_eq!(split_values(&value), [vec![0, 0, 3, 3]]);
    }
}
