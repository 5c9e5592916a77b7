//! SparseFeature: values and their indices, from lists of their own.

use crate::data::{Column, DType, Dims, PartialShape, SparseColumn, Spec, Tensor, Value};
use crate::error::{Error, Result};
use crate::formats::parse::decode::Decoded;
use crate::formats::parse::flat::Flat;
use crate::formats::parse::message::{Batch, check_rows};
use crate::formats::parse::plan::flat;
use crate::formats::parse::varlen::rows_of;

/// Which sources hold what.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Sparse {
    indices: Vec<usize>,
    values: usize,
    size: Vec<i64>,
    already_sorted: bool,
}

/// All rows, in order of their indices.
struct Ordered<'a> {
    /// One a row, `rank` numbers each.
    indices: Vec<i64>,
    values: Tensor,
    flat: &'a Flat,
}

impl Sparse {
    pub(super) fn new(
        indices: Vec<usize>,
        values: usize,
        size: Vec<i64>,
        already_sorted: bool,
    ) -> Result<Self> {
        if indices.is_empty() || indices.len() != size.len() {
            let (keys, sizes) = (indices.len(), size.len());
            return Err(Error::invalid_argument(format!(
                "a SparseFeature needs as many sizes as index keys, got {sizes} and {keys}"
            )));
        }
        Ok(Sparse { indices, values, size, already_sorted })
    }

    pub(super) fn sources(&self) -> impl Iterator<Item = usize> {
        self.indices.iter().copied().chain([self.values])
    }

    /// Spec of one Example.
    pub(super) fn spec(&self, dtype: DType) -> Spec {
        let size = self.size.iter().map(|size| usize::try_from(*size).ok());
        Spec::Sparse { dtype, shape: PartialShape::new(size) }
    }

    fn order<'a>(
        &self,
        key: &str,
        decoded: &'a [Option<Decoded>],
        batch: &Batch<'_>,
    ) -> Result<Ordered<'a>> {
        let values = flat(decoded, self.values)?;
        let axes: Vec<&Flat> =
            self.indices.iter().map(|axis| flat(decoded, *axis)).collect::<Result<_>>()?;
        check_rows(batch, key, |row| {
            let count = values.range(row).len();
            let other = axes.iter().map(|axis| axis.range(row).len()).find(|n| *n != count)?;
            Some(format!(
                "Dimensions {other} and {count} are not compatible: as many indices as values are needed"
            ))
        })?;
        let columns: Vec<&[i64]> =
            axes.iter().map(|axis| axis.values.values::<i64>()).collect::<Result<_>>()?;
        let index = |at: usize| columns.iter().map(move |column| column[at]);
        let mut order: Vec<usize> = (0..values.values.len()).collect();
        let mut moved = false;
        if !self.already_sorted {
            for row in 0..values.rows() {
                let order = &mut order[values.range(row)];
                if !order.is_sorted_by(|a, b| index(*a).le(index(*b))) {
                    order.sort_by(|a, b| index(*a).cmp(index(*b)));
                    moved = true;
                }
            }
        }
        let indices = order.iter().flat_map(|at| index(*at)).collect();
        let sorted = if moved { values.values.gather(&order)? } else { values.values.clone() };
        Ok(Ordered { indices, values: sorted, flat: values })
    }

    /// Sparse tensors, one a row.
    pub(super) fn rows(
        &self,
        key: &str,
        decoded: &[Option<Decoded>],
        batch: &Batch<'_>,
    ) -> Result<Column> {
        let Ordered { indices, values, flat } = self.order(key, decoded, batch)?;
        let rank = self.size.len();
        let indices = Tensor::from_values(&[indices.len()], &indices)?;
        let indices = rows_of(indices, flat.lengths(), |n| Dims::from_slice(&[n, rank]))?;
        let values = rows_of(values, flat.lengths(), |n| Dims::from_slice(&[n]))?;
        let dense_shape =
            Tensor::from_values(&[flat.rows(), rank], &self.size.repeat(flat.rows()))?;
        let dense_shape = Column::Stacked(dense_shape);
        Ok(Column::Sparse(Box::new(SparseColumn { indices, values, dense_shape })))
    }

    /// One sparse tensor of all rows.
    pub(super) fn batch(
        &self,
        key: &str,
        decoded: &[Option<Decoded>],
        batch: &Batch<'_>,
    ) -> Result<Value> {
        let Ordered { indices, values, flat } = self.order(key, decoded, batch)?;
        let rank = self.size.len();
        let row_of = flat.lengths().enumerate().flat_map(|(row, n)| std::iter::repeat_n(row, n));
        let indices: Vec<i64> = row_of
            .zip(indices.chunks_exact(rank))
            .flat_map(|(row, index)| std::iter::once(row as i64).chain(index.iter().copied()))
            .collect();
        let shape: Vec<i64> =
            std::iter::once(flat.rows() as i64).chain(self.size.iter().copied()).collect();
        Ok(Value::Sparse {
            indices: Tensor::from_values(&[values.len(), rank + 1], &indices)?,
            values,
            dense_shape: Tensor::from_values(&[rank + 1], &shape)?,
        })
    }
}
