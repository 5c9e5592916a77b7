//! `Dataset.sparse_batch`: elements of differing sizes as the rows of sparse tensors.

use std::sync::Arc;

use crate::batching::batch::{AtOnce, BatchStage, Collate, Pending, batches, checked_size};
use crate::data::shape::Tuple;
use crate::data::{Chunk, Column, ElementSpec, PartialShape, Spec, Tensor, Value};
use crate::engine::node::Arg;
use crate::engine::{Cardinality, Node, Opening, Plan, Stage};
use crate::error::{Error, Result};

/// Sparse batches.
pub struct SparseBatchNode {
    input: Plan,
    size: usize,
    row_shape: PartialShape,
    spec: ElementSpec,
}

impl SparseBatchNode {
    /// A plan of sparse batches of `size` rows of `row_shape`; where that is unknown, an axis is as
    /// long as the longest row of the batch.
    ///
    /// # Errors
    /// `InvalidArgument` for a size below 1, a row shape of unknown rank, or elements that are not
    /// one dense component.
    pub fn plan(input: Plan, size: i64, row_shape: PartialShape) -> Result<Plan> {
        let size = checked_size(size)?;
        if row_shape.rank().is_none() {
            return Err(Error::invalid_argument("row_shape must have a known rank"));
        }
        let spec = match input.spec().specs() {
            None => ElementSpec::Unknown,
            Some([Spec::Tensor { dtype, shape }]) => {
                if shape.rank().is_some_and(|rank| Some(rank) != row_shape.rank()) {
                    return Err(Error::invalid_argument(format!(
                        "elements of shape {shape} are incompatible with the row shape {row_shape}"
                    )));
                }
                let (dtype, shape) = (*dtype, row_shape.prepend(None));
                input
                    .spec()
                    .try_map(|_| Ok::<_, Error>(Spec::Sparse { dtype, shape: shape.clone() }))?
            }
            Some([other]) => return Err(not_dense(&other.to_string())),
            Some(specs) => return Err(not_dense(&format!("{} components", specs.len()))),
        };
        Ok(Arc::new(SparseBatchNode { input, size, row_shape, spec }))
    }
}

fn not_dense(what: &str) -> Error {
    Error::invalid_argument(format!(
        "sparse_batch requires elements of a single dense component, got {what}"
    ))
}

impl Node for SparseBatchNode {
    fn name(&self) -> &'static str {
        "sparse_batch"
    }

    fn args(&self) -> Vec<Arg> {
        vec![Arg::new("batch_size", self.size), Arg::new("row_shape", &self.row_shape)]
    }

    fn inputs(&self) -> Vec<Plan> {
        vec![Arc::clone(&self.input)]
    }

    fn spec(&self) -> &ElementSpec {
        &self.spec
    }

    fn cardinality(&self) -> Cardinality {
        batches(self.input.cardinality(), self.size, false)
    }

    fn is_indexable(&self) -> bool {
        true
    }

    fn open(&self, opening: &Opening<'_>) -> Result<Box<dyn Stage>> {
        Ok(Box::new(BatchStage {
            run: Arc::clone(opening.run),
            stats: Arc::clone(&opening.stats),
            input: opening.input(0, &self.input)?,
            collate: Arc::new(Sparse { row_shape: self.row_shape.clone() }),
            size: self.size,
            at_once: AtOnce::One,
            drop_remainder: false,
            error_ends_batch: true,
            gathers: false,
            pending: Pending::default(),
        }))
    }
}

struct Sparse {
    row_shape: PartialShape,
}

impl Collate for Sparse {
    fn collate(&self, chunk: Chunk, size: usize) -> Result<Chunk> {
        let [column] = chunk.columns() else {
            return Err(not_dense(&format!("{} components", chunk.columns().len())));
        };
        let batch = sparse(column, &self.row_shape)?;
        Chunk::new(chunk.rows() / size, Arc::clone(chunk.structure()), vec![batch.to_column()?])
    }
}

/// The rows of a dense column as one sparse tensor that holds all of their values, zeros too.
fn sparse(column: &Column, row_shape: &PartialShape) -> Result<Value> {
    let bounds = row_shape.dims().unwrap_or_default();
    let mut shape: Vec<i64> = vec![column.len() as i64];
    shape.extend(bounds.iter().map(|bound| bound.unwrap_or(0) as i64));
    let mut indices: Vec<i64> = Vec::new();
    let mut values = Vec::with_capacity(column.len());
    for row in 0..column.len() {
        let Value::Tensor(tensor) = column.row(row)? else {
            return Err(not_dense(&column.kind()));
        };
        let dims = tensor.dims();
        if dims.len() != bounds.len() {
            return Err(Error::invalid_argument(format!(
                "input element had shape {} that is incompatible with the row shape {row_shape}",
                Tuple(dims)
            )));
        }
        if dims.iter().zip(bounds).any(|(dim, bound)| bound.is_some_and(|bound| *dim > bound)) {
            return Err(Error::data_loss(format!(
                "input element had shape {} that is larger than the row shape {row_shape}",
                Tuple(dims)
            )));
        }
        for (size, dim) in shape[1..].iter_mut().zip(dims) {
            *size = (*size).max(*dim as i64);
        }
        let mut at = vec![0; dims.len()];
        for _ in 0..tensor.len() {
            indices.push(row as i64);
            indices.extend_from_slice(&at);
            for (index, dim) in at.iter_mut().zip(dims).rev() {
                *index += 1;
                if *index < *dim as i64 {
                    break;
                }
                *index = 0;
            }
        }
        values.push(tensor.clone().reshape([tensor.len()][..].into())?);
    }
    let rank = shape.len();
    let values = Tensor::concat(&values.iter().collect::<Vec<_>>())?;
    Ok(Value::Sparse {
        indices: Tensor::from_values(&[values.len(), rank], &indices)?,
        values,
        dense_shape: Tensor::from_values(&[rank], &shape)?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_value_has_its_coordinates() {
        let rows = [
            Tensor::from_values(&[2, 1], &[1_i64, 0]).unwrap(),
            Tensor::from_values(&[1, 2], &[3_i64, 4]).unwrap(),
        ];
        let column = Column::from_tensors(&rows).unwrap();
        let shape = PartialShape::new([None, Some(3)]);
        let Value::Sparse { indices, values, dense_shape } = sparse(&column, &shape).unwrap()
        else {
            panic!("not sparse");
        };
        assert_eq!(indices.values::<i64>().unwrap(), [0, 0, 0, 0, 1, 0, 1, 0, 0, 1, 0, 1]);
        assert_eq!(values.values::<i64>().unwrap(), [1, 0, 3, 4]);
        assert_eq!(dense_shape.values::<i64>().unwrap(), [2, 2, 3]);
        let small = PartialShape::new([Some(1), Some(1)]);
        assert!(sparse(&column, &small).is_err());
    }
}
