//! Operations that give several values for each string: a vector for a string, a ragged component
//! for an array of them, one more ragged axis for a ragged component.

use std::fmt::Debug;
use std::sync::Arc;

use crate::data::{Column, DType, Dims, PartialShape, RaggedColumn, Rows, Spec, Tensor, Wanted};
use crate::error::{Error, Result};
use crate::graph::kernel::{Arg, Kernel};
use crate::kernels::cast::{cast_tensor, inputs};
use crate::kernels::strings::not_dense;

/// The values of all strings end to end, as one or more flat tensors, and how many each has.
pub(super) struct Pieces {
    pub(super) values: Vec<Tensor>,
    pub(super) lengths: Vec<usize>,
}

/// Cuts each string.
pub(super) trait Cut: Debug + Send + Sync {
    /// The dtypes of the outputs, which all have the same lengths.
    ///
    /// # Errors
    /// `InvalidArgument` for a dtype that the operation does not take.
    fn dtypes(&self, input: DType) -> Result<Vec<DType>>;

    /// The pieces of each of the strings of a flat tensor.
    ///
    /// # Errors
    /// If a string cannot be cut.
    fn cut(&self, strings: &Tensor) -> Result<Pieces>;
}

#[derive(Debug)]
struct Cutting<C>(C);

/// The kernel of a [`Cut`].
pub(super) fn cutting(cut: impl Cut + 'static) -> Arc<dyn Kernel> {
    Arc::new(Cutting(cut))
}

impl<C: Cut> Kernel for Cutting<C> {
    fn infer(&self, specs: &[Spec]) -> Result<Vec<Spec>> {
        let [spec] = inputs(specs)?;
        let (input, shape, rank, splits_dtype) = match spec {
            Spec::Tensor { dtype, shape } => {
                let rank = shape.rank().ok_or_else(|| {
                    Error::invalid_argument(
                        "it takes strings of known rank: their number is \
                                             unknown, and so would be the number of ragged axes",
                    )
                })?;
                (*dtype, shape, rank, DType::Int64)
            }
            Spec::Ragged { dtype, shape, ragged_rank, splits_dtype } => {
                if shape.rank().is_some_and(|rank| rank != ragged_rank + 1) {
                    let text = format!("it takes ragged rows of single strings, got {spec}");
                    return Err(Error::invalid_argument(text));
                }
                (*dtype, shape, ragged_rank + 1, *splits_dtype)
            }
            other => return Err(not_dense(other)),
        };
        let shape = match shape.dims() {
            Some(dims) => PartialShape::new(dims.iter().copied().chain([None])),
            None => PartialShape::UNKNOWN,
        };
        let spec = |dtype| match rank {
            0 => Spec::Tensor { dtype, shape: shape.clone() },
            ragged_rank => Spec::Ragged { dtype, shape: shape.clone(), ragged_rank, splits_dtype },
        };
        Ok(self.0.dtypes(input)?.into_iter().map(spec).collect())
    }

    fn run(&self, args: &[Arg], rows: usize, _: &[Wanted]) -> Result<Vec<Column>> {
        let [arg] = inputs(args)?;
        let shapes = Shapes::of(arg.clone().into_column(rows)?)?;
        let pieces = self.0.cut(&shapes.flat)?;
        if pieces.lengths.len() != shapes.flat.len() {
            return Err(Error::internal("the strings and their pieces differ in number"));
        }
        let column = |values: Tensor| shapes.assemble(values, &pieces.lengths);
        pieces.values.into_iter().map(column).collect()
    }

    fn accepts(&self, column: &Column) -> bool {
        matches!(column, Column::Stacked(_) | Column::Rows(_) | Column::Ragged(_))
    }
}

/// All strings of a column end to end, and what they were arranged in.
struct Shapes {
    flat: Tensor,
    rows: usize,
    kind: Kind,
}

enum Kind {
    /// The shape of each row; all of one rank.
    Dense(Vec<Dims>),
    /// The row splits, and the number of values of each row.
    Ragged { splits: Vec<Column>, counts: Vec<usize>, dtype: DType },
}

/// A tensor as a vector.
pub(super) fn flattened(tensor: &Tensor) -> Result<Tensor> {
    tensor.clone().reshape([tensor.len()][..].into())
}

/// The values of the rows of a dense column end to end, and the shape of each row.
pub(super) fn flat_rows(column: &Column) -> Result<(Tensor, Vec<Dims>)> {
    match column {
        Column::Stacked(tensor) => {
            let row: Dims = tensor.dims().get(1..).unwrap_or_default().into();
            Ok((flattened(tensor)?, vec![row; column.len()]))
        }
        Column::Rows(rows) => Ok((rows.flat()?.0, rows.shapes().to_vec())),
        other => Err(Error::internal(format!("expected dense rows, got {}", other.kind()))),
    }
}

impl Shapes {
    fn of(column: Column) -> Result<Self> {
        let rows = column.len();
        let ragged = match column {
            Column::Ragged(ragged) => ragged,
            column => {
                let (flat, shapes) = flat_rows(&column)?;
                return Ok(Shapes { flat, rows, kind: Kind::Dense(shapes) });
            }
        };
        let (flat, shapes) = flat_rows(&ragged.values)?;
        let counts = shapes.iter().map(|dims| dims.iter().product()).collect();
        let dtype = ragged.splits.first().and_then(Column::dtype).unwrap_or(DType::Int64);
        let kind = Kind::Ragged { splits: ragged.splits, counts, dtype };
        Ok(Shapes { flat, rows, kind })
    }

    /// A column of `values`, of which each string has as many as `lengths` says.
    fn assemble(&self, values: Tensor, lengths: &[usize]) -> Result<Column> {
        let dense = |shapes: &[Dims]| shapes.iter().map(|dims| dims.iter().product()).collect();
        let counts: Vec<usize> = match &self.kind {
            Kind::Dense(shapes) => dense(shapes),
            Kind::Ragged { counts, .. } => counts.clone(),
        };
        // How many values each row has, and where they end within it.
        let mut totals = Vec::with_capacity(self.rows);
        let mut ends = Vec::with_capacity(self.rows);
        let mut at = 0;
        for count in &counts {
            let mut splits = Vec::with_capacity(count + 1);
            splits.push(0);
            let mut total = 0;
            for length in lengths.iter().skip(at).take(*count) {
                total += length;
                splits.push(total);
            }
            at += count;
            totals.push(total);
            ends.push(splits);
        }
        let values = row_vectors(values, &totals)?;
        let (mut splits, dtype) = match &self.kind {
            Kind::Dense(shapes) => match shapes.first().map(|dims| dims.len()) {
                Some(0) => return Ok(values),
                _ => (outer_splits(shapes)?, DType::Int64),
            },
            Kind::Ragged { splits, dtype, .. } => (splits.clone(), *dtype),
        };
        splits.push(split_column(&ends, dtype)?);
        Ok(Column::Ragged(Box::new(RaggedColumn { values, splits })))
    }
}

/// The values end to end as a column of vectors of these lengths.
pub(super) fn row_vectors(values: Tensor, lengths: &[usize]) -> Result<Column> {
    if lengths.is_empty() {
        return Ok(Column::Stacked(Tensor::zeros(values.dtype(), [0, 0][..].into())?));
    }
    let shapes = lengths.iter().map(|length| [*length][..].into()).collect();
    Rows::new(values, shapes)?.into_column()
}

/// Row splits of each row, as a column.
pub(super) fn split_column(splits: &[Vec<usize>], dtype: DType) -> Result<Column> {
    let lengths: Vec<usize> = splits.iter().map(Vec::len).collect();
    let flat: Vec<i64> = splits.iter().flatten().map(|split| *split as i64).collect();
    let flat = cast_tensor(&Tensor::from_values(&[flat.len()], &flat)?, dtype)?;
    row_vectors(flat, &lengths)
}

/// The splits of all axes but the last of rows of these shapes: a row of two axes is a row of
/// rows of one length.
fn outer_splits(shapes: &[Dims]) -> Result<Vec<Column>> {
    let rank = shapes.first().map_or(0, |dims| dims.len());
    let axis = |axis: usize| {
        let uniform = |dims: &Dims| {
            let segments: usize = dims.iter().take(axis + 1).product();
            let length = dims.get(axis + 1).copied().unwrap_or(0);
            (0..=segments).map(|k| k * length).collect()
        };
        let splits: Vec<Vec<usize>> = shapes.iter().map(uniform).collect();
        split_column(&splits, DType::Int64)
    };
    (0..rank.saturating_sub(1)).map(axis).collect()
}
