//! Rows of different shapes: one piece of memory, a shape for each.

use std::ops::Range;
use std::sync::Arc;

use crate::data::column::Column;
use crate::data::dtype::DType;
use crate::data::shape::{Dims, volume};
use crate::data::tensor::Tensor;
use crate::error::{Error, Result};

/// Rows of one dtype whose shapes differ, laid end to end.
#[derive(Clone)]
pub struct Rows {
    pub(super) flat: Tensor,
    shapes: Arc<[Dims]>,
    offsets: Arc<[usize]>,
    range: Range<usize>,
}

impl Rows {
    /// Rows of `shapes` over the one-dimensional `flat`.
    ///
    /// # Errors
    /// `Internal` if the shapes do not cover the values exactly.
    pub fn new(flat: Tensor, shapes: Vec<Dims>) -> Result<Self> {
        let mut offsets = Vec::with_capacity(shapes.len() + 1);
        offsets.push(0);
        let mut end = 0;
        for shape in &shapes {
            end += volume(shape)?;
            offsets.push(end);
        }
        if flat.dims() != [end] {
            let dims = flat.dims();
            return Err(Error::internal(format!("rows of {end} values over a tensor {dims:?}")));
        }
        let range = 0..shapes.len();
        Ok(Rows { flat, shapes: shapes.into(), offsets: offsets.into(), range })
    }

    /// Rows copied from tensors of one dtype.
    ///
    /// # Errors
    /// `Internal` if dtypes differ or there are no tensors.
    pub fn from_tensors(tensors: &[Tensor]) -> Result<Self> {
        let shapes = tensors.iter().map(|tensor| tensor.dims().into()).collect();
        let flat: Vec<Tensor> = tensors
            .iter()
            .map(|tensor| tensor.clone().reshape([tensor.len()][..].into()))
            .collect::<Result<_>>()?;
        Self::new(Tensor::concat(&flat.iter().collect::<Vec<_>>())?, shapes)
    }

    /// Number of rows.
    pub fn len(&self) -> usize {
        self.range.len()
    }

    /// True if there are no rows.
    pub fn is_empty(&self) -> bool {
        self.range.is_empty()
    }

    /// The element type.
    pub fn dtype(&self) -> DType {
        self.flat.dtype()
    }

    /// The shape of each row.
    pub fn shapes(&self) -> &[Dims] {
        &self.shapes[self.range.clone()]
    }

    /// Row `index`, sharing memory.
    ///
    /// # Errors
    /// `Internal` if there is none.
    pub fn row(&self, index: usize) -> Result<Tensor> {
        let at = self.range.start + index;
        if at >= self.range.end {
            return Err(Error::internal(format!("row {index} of {}", self.len())));
        }
        self.flat.rows(self.offsets[at]..self.offsets[at + 1])?.reshape(self.shapes[at].clone())
    }

    /// The values of all rows end to end, and where each row ends (starting with 0).
    ///
    /// # Errors
    /// Never in well-formed rows.
    pub fn flat(&self) -> Result<(Tensor, Vec<usize>)> {
        let offsets = &self.offsets[self.range.start..=self.range.end];
        let base = offsets[0];
        let values = self.flat.rows(base..offsets[offsets.len() - 1])?;
        Ok((values, offsets.iter().map(|offset| offset - base).collect()))
    }

    /// Some of the rows, sharing memory.
    pub(super) fn slice(&self, range: Range<usize>) -> Self {
        let start = self.range.start + range.start;
        Rows { range: start..start + range.len(), ..self.clone() }
    }

    /// The rows as a stacked column if they all have one shape.
    ///
    /// # Errors
    /// Never in well-formed rows.
    pub fn into_column(self) -> Result<Column> {
        let shapes = self.shapes();
        match shapes.first() {
            Some(first) if shapes.iter().all(|shape| shape == first) => {
                let dims = std::iter::once(shapes.len()).chain(first.iter().copied()).collect();
                Ok(Column::Stacked(self.flat()?.0.reshape(dims)?))
            }
            _ => Ok(Column::Rows(self)),
        }
    }
}
