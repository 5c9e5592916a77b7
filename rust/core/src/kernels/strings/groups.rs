//! Operations that make something of each run of values along the innermost axis: `reduce_join`
//! over it, `unicode_encode`. Of rows of a ragged component they leave one ragged axis less.

use crate::data::{Column, DType, Dims, PartialShape, RaggedColumn, Rows, Spec, Tensor};
use crate::error::{Error, Result};
use crate::kernels::cast::cast_tensor;
use crate::kernels::strings::not_dense;
use crate::kernels::strings::pieces::flat_rows;

/// The spec of a component without its innermost axis, with another dtype.
///
/// # Errors
/// `InvalidArgument` if there is no such axis.
pub(super) fn without_innermost(spec: &Spec, dtype: DType) -> Result<Spec> {
    let scalar = || Error::invalid_argument(format!("it takes rows of values, got {spec}"));
    match spec {
        Spec::Tensor { shape, .. } => Ok(Spec::Tensor { dtype, shape: shorter(shape, scalar)? }),
        Spec::Ragged { shape, ragged_rank, splits_dtype, .. } => {
            if shape.rank().is_some_and(|rank| rank != ragged_rank + 1) {
                let text = format!("it takes ragged rows of single values, got {spec}");
                return Err(Error::invalid_argument(text));
            }
            let shape = shorter(shape, scalar)?;
            Ok(match ragged_rank {
                1 => Spec::Tensor { dtype, shape },
                rank => Spec::Ragged {
                    dtype,
                    shape,
                    ragged_rank: rank - 1,
                    splits_dtype: *splits_dtype,
                },
            })
        }
        other => Err(not_dense(other)),
    }
}

fn shorter(shape: &PartialShape, scalar: impl Fn() -> Error) -> Result<PartialShape> {
    match shape.dims() {
        None => Ok(PartialShape::UNKNOWN),
        Some([dims @ .., _]) => Ok(PartialShape::new(dims.iter().copied())),
        Some([]) => Err(scalar()),
    }
}

/// The runs of a column: all values end to end, and how many are in each run.
pub(super) struct Groups {
    pub(super) flat: Tensor,
    pub(super) lengths: Vec<usize>,
    outer: Outer,
}

enum Outer {
    /// The shapes of the rows without the last axis.
    Dense(Vec<Dims>),
    /// The splits that are left, and how many runs each row has.
    Ragged { splits: Vec<Column>, counts: Vec<usize> },
}

impl Groups {
    /// # Errors
    /// `InvalidArgument` for scalars and for splits that do not fit the values.
    pub(super) fn of(column: &Column) -> Result<Self> {
        let Column::Ragged(ragged) = column else {
            let (flat, shapes) = flat_rows(column)?;
            let mut lengths = Vec::new();
            let mut outer = Vec::with_capacity(shapes.len());
            for dims in &shapes {
                let Some((last, rest)) = dims.split_last() else {
                    return Err(Error::invalid_argument("it takes rows of values, got a scalar"));
                };
                lengths.extend(std::iter::repeat_n(*last, rest.iter().product()));
                outer.push(rest.into());
            }
            return Ok(Groups { flat, lengths, outer: Outer::Dense(outer) });
        };
        let (flat, shapes) = flat_rows(&ragged.values)?;
        let (last, splits) =
            ragged.splits.split_last().ok_or_else(|| Error::internal("no row splits"))?;
        let (ends, of_rows) = flat_rows(last)?;
        let ends = cast_tensor(&ends, DType::Int64)?;
        let mut ends = ends.values::<i64>()?;
        let mut lengths = Vec::new();
        let mut counts = Vec::with_capacity(of_rows.len());
        for (dims, values) in of_rows.iter().zip(&shapes) {
            let (own, rest) = ends.split_at(dims.iter().product());
            ends = rest;
            let before = lengths.len();
            for pair in own.windows(2) {
                lengths.push(usize::try_from(pair[1] - pair[0]).map_err(|_| wrong_splits())?);
            }
            let total: usize = lengths[before..].iter().sum();
            if values.iter().product::<usize>() != total {
                return Err(wrong_splits());
            }
            counts.push(lengths.len() - before);
        }
        let outer = Outer::Ragged { splits: splits.to_vec(), counts };
        Ok(Groups { flat, lengths, outer })
    }

    /// A column of one value for each run.
    ///
    /// # Errors
    /// `Internal` if their number is another.
    pub(super) fn finish(self, values: Tensor) -> Result<Column> {
        match self.outer {
            Outer::Dense(shapes) => dense(values, shapes),
            Outer::Ragged { splits, counts } => {
                let shapes = counts.iter().map(|count| [*count][..].into()).collect();
                let values = dense(values, shapes)?;
                Ok(match splits.is_empty() {
                    true => values,
                    false => Column::Ragged(Box::new(RaggedColumn { values, splits })),
                })
            }
        }
    }
}

fn wrong_splits() -> Error {
    Error::invalid_argument("the row splits of a ragged component do not fit its values")
}

/// Values end to end as rows of these shapes.
pub(super) fn dense(values: Tensor, shapes: Vec<Dims>) -> Result<Column> {
    match shapes.is_empty() {
        true => Ok(Column::Stacked(values.reshape([0][..].into())?)),
        false => Rows::new(values, shapes)?.into_column(),
    }
}
