//! `Dataset.unbatch`: the rows of batches become elements.

use std::ops::Range;
use std::sync::Arc;

use crate::batching::stacking::{splits_tensor, splits_values};
use crate::data::column::RaggedColumn;
use crate::data::foreign::{ForeignArray, OptionalValue};
use crate::data::{Chunk, Column, Dims, ElementSpec, Mark, Rows, Spec, Tensor, Value};
use crate::engine::skipping::{after, skip_by_running};
use crate::engine::stats::StageStats;
use crate::engine::{Cardinality, Input, Node, Opening, Plan, Skipped, Stage};
use crate::error::{Error, Result};

/// Elements of a dataset of batches.
#[derive(Clone)]
pub struct UnbatchNode {
    input: Plan,
    spec: ElementSpec,
}

impl UnbatchNode {
    /// A plan of the rows of the elements of `input`.
    ///
    /// # Errors
    /// `InvalidArgument` if a component is a scalar, or the sizes along axis 0 are known to
    /// differ.
    pub fn plan(input: Plan) -> Result<Plan> {
        let mut sizes: Vec<usize> = Vec::new();
        let spec = input.spec().try_map(|spec| {
            if matches!(spec, Spec::Optional(_)) {
                let text = format!("cannot unbatch {spec}");
                return Err(Error::invalid_argument(text).with_hint("take the value out in a map"));
            }
            let Some((size, rest)) = spec.shape().split_first() else {
                return Err(Error::invalid_argument(
                    "cannot unbatch an input with scalar components",
                ));
            };
            sizes.extend(size);
            Ok(unbatched(spec, rest))
        })?;
        if let Some(pair) = sizes.windows(2).find(|pair| pair[0] != pair[1]) {
            return Err(Error::invalid_argument(format!(
                "unbatch() is only supported for elements whose components have a matching \
                 leading dimension; encountered both {} and {}",
                pair[0], pair[1]
            )));
        }
        Ok(Arc::new(UnbatchNode { input, spec }))
    }
}

fn unbatched(spec: &Spec, rest: crate::data::PartialShape) -> Spec {
    match spec {
        Spec::Ragged { dtype, ragged_rank: 1, .. } => Spec::Tensor { dtype: *dtype, shape: rest },
        Spec::Ragged { dtype, ragged_rank, splits_dtype, .. } => Spec::Ragged {
            dtype: *dtype,
            shape: rest,
            ragged_rank: ragged_rank - 1,
            splits_dtype: *splits_dtype,
        },
        other => other.map_shape(|_| rest),
    }
}

impl UnbatchNode {
    /// How many elements each batch has, where that is known.
    fn size(&self) -> Option<usize> {
        let specs = self.input.spec().specs().unwrap_or_default();
        specs.iter().filter_map(|spec| spec.shape().split_first()?.0).max()
    }
}

impl Node for UnbatchNode {
    fn name(&self) -> &'static str {
        "unbatch"
    }

    fn inputs(&self) -> Vec<Plan> {
        vec![Arc::clone(&self.input)]
    }

    fn spec(&self) -> &ElementSpec {
        &self.spec
    }

    fn cardinality(&self) -> Cardinality {
        match (self.size(), self.input.cardinality()) {
            (Some(size), Cardinality::Known(n)) => {
                Cardinality::Known(n.saturating_mul(size as u64))
            }
            (Some(1..), Cardinality::Infinite) => Cardinality::Infinite,
            _ => Cardinality::Unknown,
        }
    }

    fn is_indexable(&self) -> bool {
        true
    }

    fn with_inputs(&self, mut inputs: Vec<Plan>) -> Option<Plan> {
        let input = inputs.pop()?;
        Some(Arc::new(UnbatchNode { input, ..self.clone() }))
    }

    fn open(&self, opening: &Opening<'_>) -> Result<Box<dyn Stage>> {
        let input = opening.input(0, &self.input)?;
        let (stats, size) = (Arc::clone(&opening.stats), self.size().unwrap_or(0));
        Ok(Box::new(UnbatchStage { stats, input, ready: None, size }))
    }
}

struct UnbatchStage {
    stats: Arc<StageStats>,
    input: Input,
    /// Elements, and how many of them are taken.
    ready: Option<(Chunk, usize)>,
    /// How many elements each batch has; 0 if that is not known.
    size: usize,
}

impl Stage for UnbatchStage {
    fn next(&mut self, max: usize) -> Result<Option<Chunk>> {
        let mut mark = None;
        while self.ready.is_none() {
            if self.input.passed_mark() || mark.is_some() {
                mark = self.state();
            }
            let Some(batches) = self.input.next(1)? else { return Ok(None) };
            let elements = split(&batches)?;
            self.ready = (elements.rows() > 0).then_some((elements, 0));
        }
        let Some((chunk, taken)) = self.ready.take() else { return Ok(None) };
        let end = taken.saturating_add(max).min(chunk.rows());
        let out = chunk.slice(taken..end)?;
        self.ready = (end < chunk.rows()).then_some((chunk, end));
        self.stats.hold(self.ready.as_ref().map_or(0, |(chunk, _)| chunk.own_bytes()));
        Ok(Some(out.marked(mark)))
    }

    fn skip(&mut self, n: u64) -> Skipped {
        let mut done = 0;
        if let Some((chunk, taken)) = self.ready.take() {
            let end =
                chunk.rows().min(taken.saturating_add(usize::try_from(n).unwrap_or(usize::MAX)));
            done = (end - taken) as u64;
            self.ready = (end < chunk.rows()).then_some((chunk, end));
        }
        let size = self.size as u64;
        if let Some(whole) = (n - done).checked_div(size).filter(|whole| *whole > 0) {
            let skipped = self.input.skip(whole).map_err(|met| {
                let rows = done + met.before() * size;
                met.counted(rows)
            })?;
            done += skipped * size;
            if skipped < whole {
                return Ok(done);
            }
        }
        after(done, skip_by_running(n - done, |max| self.next(max)))
    }

    fn state(&self) -> Option<Mark> {
        self.ready.is_none().then(|| Mark::new([], vec![self.input.position()]))
    }

    fn quiet(&self) -> bool {
        self.input.quiet()
    }
}

/// The rows of a chunk of one batch.
pub(crate) fn split(batches: &Chunk) -> Result<Chunk> {
    let columns = batches.columns().iter().map(split_column).collect::<Result<Vec<_>>>()?;
    let rows = columns.first().map_or(0, Column::len);
    if let Some((i, column)) = columns.iter().enumerate().find(|(_, c)| c.len() != rows) {
        let size = column.len();
        return Err(Error::invalid_argument(format!(
            "input element must have the same batch size in each component: component 0 has size \
             {rows}, but component {i} has size {size}"
        )));
    }
    Chunk::new(rows, Arc::clone(batches.structure()), columns)
}

/// The rows of a sparse or ragged value.
///
/// Rows of a value with one partition stay ragged, with none: batching makes a ragged value of
/// them again.
///
/// # Errors
/// `InvalidArgument` for a dense value or an object, and for indices or splits out of bounds.
pub fn slices(value: &Value) -> Result<Column> {
    match value {
        Value::Sparse { indices, values, dense_shape } => {
            split_sparse(indices, values, dense_shape)
        }
        Value::Ragged { values, splits } => {
            let rows = split_ragged(values, splits)?;
            Ok(match rows {
                Column::Stacked(_) | Column::Rows(_) => {
                    Column::Ragged(Box::new(RaggedColumn { values: rows, splits: Vec::new() }))
                }
                rows => rows,
            })
        }
        _ => Err(Error::invalid_argument("expected a sparse or ragged value")),
    }
}

fn split_column(column: &Column) -> Result<Column> {
    match column.row(0)? {
        Value::Tensor(tensor) if tensor.dims().is_empty() => {
            Err(Error::invalid_argument("cannot unbatch an input with scalar components"))
        }
        Value::Tensor(tensor) => Ok(Column::Stacked(tensor)),
        Value::Sparse { indices, values, dense_shape } => {
            split_sparse(&indices, &values, &dense_shape)
        }
        Value::Ragged { values, splits } => split_ragged(&values, &splits),
        Value::Foreign(value) => match value.downcast_ref::<ForeignArray>() {
            Some(array) => Ok(Column::Foreign(array.rows().unwrap_or_default().into())),
            None if value.is::<OptionalValue>() => {
                Err(Error::invalid_argument("cannot unbatch an optional"))
            }
            None => Err(Error::invalid_argument("cannot unbatch an object")),
        },
    }
}

fn split_sparse(indices: &Tensor, values: &Tensor, dense_shape: &Tensor) -> Result<Column> {
    let shape = dense_shape.values::<i64>()?;
    let Some((&rows, inner)) = shape.split_first() else {
        return Err(Error::invalid_argument("cannot unbatch an input with scalar components"));
    };
    let indices = indices.values::<i64>()?;
    let mut parts: Vec<(Vec<i64>, Vec<usize>)> = vec![Default::default(); rows.max(0) as usize];
    for (at, index) in indices.chunks_exact(shape.len()).enumerate() {
        let part = usize::try_from(index[0]).ok().and_then(|row| parts.get_mut(row));
        let part =
            part.ok_or_else(|| Error::invalid_argument("a sparse index is out of bounds"))?;
        part.0.extend_from_slice(&index[1..]);
        part.1.push(at);
    }
    let parts = parts.iter().map(|(index, at)| {
        Ok(Value::Sparse {
            indices: Tensor::from_values(&[at.len(), inner.len()], index)?,
            values: values.gather(at)?,
            dense_shape: Tensor::from_values(&[inner.len()], inner)?,
        })
    });
    let parts: Vec<Value> = parts.collect::<Result<_>>()?;
    if parts.is_empty() { Ok(Column::Foreign([].into())) } else { Column::from_values(&parts) }
}

fn split_ragged(values: &Tensor, splits: &[Tensor]) -> Result<Column> {
    let Some((outer, inner)) = splits.split_first() else {
        return Err(Error::internal("a ragged value without partitions"));
    };
    let offsets: Vec<usize> = splits_values(outer)?.iter().map(|split| *split as usize).collect();
    if !inner.is_empty() {
        let rows = offsets.windows(2).map(|pair| ragged_row(values, inner, pair[0]..pair[1]));
        let rows = rows.collect::<Result<Vec<_>>>()?;
        return if rows.is_empty() {
            Ok(Column::Foreign([].into()))
        } else {
            Column::from_values(&rows)
        };
    }
    let inner: Dims = values.dims().get(1..).unwrap_or_default().into();
    let shapes = offsets.windows(2).map(|pair| {
        std::iter::once(pair[1] - pair[0]).chain(inner.iter().copied()).collect::<Dims>()
    });
    let shapes = shapes.collect();
    Rows::new(values.clone().reshape([values.len()][..].into())?, shapes)?.into_column()
}

/// The ragged value of rows `range` of the outermost of the remaining partitions.
fn ragged_row(values: &Tensor, splits: &[Tensor], mut range: Range<usize>) -> Result<Value> {
    let mut own = Vec::with_capacity(splits.len());
    for level in splits {
        let all = splits_values(level)?;
        let part = all.get(range.start..=range.end);
        let part = part.ok_or_else(|| Error::invalid_argument("row splits are out of bounds"))?;
        let rebased: Vec<i64> = part.iter().map(|split| split - part[0]).collect();
        own.push(splits_tensor(&rebased, level.dtype())?);
        range = part[0] as usize..part[part.len() - 1] as usize;
    }
    Ok(Value::Ragged { values: values.rows(range)?, splits: own })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slices_of_a_ragged_matrix_are_ragged_without_partitions() {
        let values = Tensor::from_values(&[3], &[1_i32, 2, 3]).unwrap();
        let splits = vec![Tensor::from_values(&[3], &[0_i64, 1, 3]).unwrap()];
        let rows = slices(&Value::Ragged { values, splits }).unwrap();
        assert_eq!(rows.len(), 2);
        let Value::Ragged { values, splits } = rows.row(1).unwrap() else { panic!("dense") };
        assert_eq!(values.values::<i32>().unwrap(), [2, 3]);
        assert!(splits.is_empty());
    }
}
