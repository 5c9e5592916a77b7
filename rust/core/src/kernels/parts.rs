//! The dense parts of sparse and ragged components: `sparse_part`, `ragged_part`.

use std::sync::Arc;

use crate::data::{Column, DType, PartialShape, Spec, Wanted};
use crate::error::{Error, Result};
use crate::graph::attr::Attrs;
use crate::graph::kernel::{Arg, Kernel, Tolerance};
use crate::kernels::cast::inputs;

#[derive(Clone, Copy, Debug)]
enum Part {
    SparseValues,
    SparseIndices,
    SparseShape,
    RaggedValues,
    RaggedSplits(usize),
}

pub(super) fn build(op: &str, attrs: &Attrs) -> Result<Option<Arc<dyn Kernel>>> {
    let sparse = match op {
        "sparse_part" => true,
        "ragged_part" => false,
        _ => return Ok(None),
    };
    attrs.only(&["part", "index"])?;
    let index = attrs.opt_int("index")?.unwrap_or(0);
    let part = match (sparse, attrs.str("part")?, usize::try_from(index)) {
        (true, "values", _) => Part::SparseValues,
        (true, "indices", _) => Part::SparseIndices,
        (true, "dense_shape", _) => Part::SparseShape,
        (false, "values", _) => Part::RaggedValues,
        (false, "splits", Ok(index)) => Part::RaggedSplits(index),
        (_, part, _) => {
            return Err(Error::invalid_argument(format!("{op} has no part {part:?} {index}")));
        }
    };
    Ok(Some(Arc::new(part)))
}

impl Kernel for Part {
    fn infer(&self, specs: &[Spec]) -> Result<Vec<Spec>> {
        let [spec] = inputs(specs)?;
        let spec = match (self, spec) {
            (Part::SparseValues, Spec::Sparse { dtype, .. }) => Spec::tensor(*dtype, [None]),
            (Part::SparseIndices, Spec::Sparse { shape, .. }) => {
                Spec::tensor(DType::Int64, [None, shape.rank()])
            }
            (Part::SparseShape, Spec::Sparse { shape, .. }) => {
                Spec::tensor(DType::Int64, [shape.rank()])
            }
            (Part::RaggedValues, Spec::Ragged { dtype, shape, ragged_rank, .. }) => {
                let inner = shape.dims().and_then(|dims| dims.get(ragged_rank + 1..));
                let shape = match inner {
                    Some(inner) => {
                        PartialShape::new(std::iter::once(None).chain(inner.iter().copied()))
                    }
                    None => PartialShape::UNKNOWN,
                };
                Spec::Tensor { dtype: *dtype, shape }
            }
            (Part::RaggedSplits(i), Spec::Ragged { shape, ragged_rank, splits_dtype, .. })
                if i < ragged_rank =>
            {
                let outer = shape.dims().and_then(|dims| dims.get(..=*i));
                let rows = outer.and_then(|dims| {
                    dims.iter().try_fold(1_usize, |rows, size| rows.checked_mul((*size)?))
                });
                Spec::tensor(*splits_dtype, [rows.and_then(|rows| rows.checked_add(1))])
            }
            (part, spec) => {
                return Err(Error::invalid_argument(format!("{spec} has no part {part:?}")));
            }
        };
        Ok(vec![spec])
    }

    fn run(&self, args: &[Arg], _: usize, _: &[Wanted]) -> Result<Vec<Column>> {
        let [arg] = inputs(args)?;
        let part = match (self, arg) {
            (Part::SparseValues, Arg::Column(Column::Sparse(sparse))) => Some(&sparse.values),
            (Part::SparseIndices, Arg::Column(Column::Sparse(sparse))) => Some(&sparse.indices),
            (Part::SparseShape, Arg::Column(Column::Sparse(sparse))) => Some(&sparse.dense_shape),
            (Part::RaggedValues, Arg::Column(Column::Ragged(ragged))) => Some(&ragged.values),
            (Part::RaggedSplits(i), Arg::Column(Column::Ragged(ragged))) => ragged.splits.get(*i),
            _ => None,
        };
        let part = part.ok_or_else(|| Error::internal(format!("no part {self:?}")))?;
        Ok(vec![part.clone()])
    }

    fn wants(&self, _: usize) -> Wanted {
        match self {
            Part::SparseValues => Wanted::Values,
            _ => Wanted::All,
        }
    }

    fn tolerance(&self) -> Tolerance {
        Tolerance::Moved
    }

    fn accepts(&self, column: &Column) -> bool {
        matches!(column, Column::Sparse(_) | Column::Ragged(_))
    }
}
