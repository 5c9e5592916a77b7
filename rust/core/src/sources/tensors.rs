//! `Dataset.from_tensors` and `from_tensor_slices`: elements that lie in memory.
//!
//! Memory of the caller is borrowed, not copied: elements are views until something needs them
//! for itself.

use std::sync::Arc;

use crate::data::{Chunk, Column, ElementSpec, PartialShape, Rows, Spec, Structure, Value};
use crate::engine::node::Arg;
use crate::engine::{Cardinality, Node, Opening, Plan, Skipped, Stage};
use crate::error::{Error, Result};
use crate::graph::attr::feed_tensor;
use crate::graph::call::Called;
use crate::graph::hash::Fnv;

/// A dataset of the rows of some columns.
pub struct TensorsNode {
    name: &'static str,
    rows: usize,
    structure: Arc<Structure>,
    columns: Vec<Column>,
    spec: ElementSpec,
}

impl TensorsNode {
    /// One element: each column has one row.
    ///
    /// # Errors
    /// `Internal` if a column has not exactly one row.
    pub fn one(structure: Structure, columns: Vec<Column>) -> Result<Plan> {
        Self::plan("from_tensors", 1, structure, columns)
    }

    /// An element for each row of the columns.
    ///
    /// # Errors
    /// `InvalidArgument` if the columns differ in rows or there are none.
    pub fn slices(structure: Structure, columns: Vec<Column>) -> Result<Plan> {
        let Some(first) = columns.first() else {
            return Err(Error::invalid_argument("there is nothing to slice: no components"));
        };
        let rows = first.len();
        if let Some(other) = columns.iter().find(|column| column.len() != rows) {
            let other = other.len();
            return Err(Error::invalid_argument(format!(
                "dimensions {rows} and {other} are not compatible"
            ))
            .with_hint("all components must have the same size along axis 0"));
        }
        Self::plan("from_tensor_slices", rows, structure, columns)
    }

    fn plan(
        name: &'static str,
        rows: usize,
        structure: Structure,
        columns: Vec<Column>,
    ) -> Result<Plan> {
        if structure.leaves() != columns.len() || columns.iter().any(|c| c.len() != rows) {
            return Err(Error::internal("columns that do not fit their structure"));
        }
        let structure = Arc::new(structure);
        // It is the plan's memory, whoever sees rows of it.
        columns.iter().for_each(Column::keep);
        let specs = columns.iter().map(spec_of).collect::<Result<_>>()?;
        let spec = ElementSpec::Known(Arc::clone(&structure), specs);
        Ok(Arc::new(TensorsNode { name, rows, structure, columns, spec }))
    }
}

/// What the rows of a column look like.
fn spec_of(column: &Column) -> Result<Spec> {
    let dtype = || column.dtype().ok_or_else(|| Error::internal("a column without a dtype"));
    let rows_shape = |rows: &Rows| {
        let shapes = rows.shapes().iter().map(|dims| PartialShape::from(&dims[..]));
        shapes.reduce(|a, b| a.widen(&b)).unwrap_or(PartialShape::UNKNOWN)
    };
    Ok(match column {
        Column::Stacked(tensor) => Spec::Tensor {
            dtype: tensor.dtype(),
            shape: PartialShape::from(tensor.dims().get(1..).unwrap_or_default()),
        },
        Column::Rows(rows) => Spec::Tensor { dtype: rows.dtype(), shape: rows_shape(rows) },
        Column::Sparse(sparse) => {
            let mut shape = None;
            for row in 0..sparse.dense_shape.len() {
                let Value::Tensor(dims) = sparse.dense_shape.row(row)? else { continue };
                let dims = dims.values::<i64>()?.iter().map(|size| usize::try_from(*size).ok());
                let own = PartialShape::new(dims);
                shape = Some(shape.map_or_else(|| own.clone(), |s: PartialShape| s.widen(&own)));
            }
            Spec::Sparse { dtype: dtype()?, shape: shape.unwrap_or(PartialShape::UNKNOWN) }
        }
        Column::Ragged(ragged) => {
            let ragged_rank = ragged.splits.len();
            let inner = spec_of(&ragged.values)?.shape();
            let inner: Vec<_> = inner.dims().unwrap_or_default().iter().skip(1).copied().collect();
            let rows = match ragged.splits.first().map(spec_of).transpose()? {
                Some(spec) => match spec.shape().dims() {
                    Some([Some(ends)]) => ends.checked_sub(1),
                    _ => None,
                },
                None => None,
            };
            let outer = std::iter::once(rows).chain(std::iter::repeat_n(None, ragged_rank));
            let splits_dtype = ragged.splits.first().and_then(Column::dtype);
            Spec::Ragged {
                dtype: dtype()?,
                shape: PartialShape::new(outer.chain(inner)),
                ragged_rank,
                splits_dtype: splits_dtype.unwrap_or(crate::data::DType::Int64),
            }
        }
        Column::Foreign(_) => column.loose_spec(),
    })
}

impl Node for TensorsNode {
    fn name(&self) -> &'static str {
        self.name
    }

    fn args(&self) -> Vec<Arg> {
        let specs = self.spec.specs().unwrap_or_default();
        let specs = specs.iter().map(Spec::to_string).collect::<Vec<_>>().join(", ");
        // The text leaves out how they are nested.
        let mut identity = Fnv::default();
        identity.number(self.rows as u64);
        identity.bytes(self.spec.to_string().as_bytes());
        let arg = Arg::new("tensors", format_args!("{} x ({specs})", self.rows));
        vec![arg.identified(identity.finish())]
    }

    fn inputs(&self) -> Vec<Plan> {
        Vec::new()
    }

    fn spec(&self) -> &ElementSpec {
        &self.spec
    }

    fn cardinality(&self) -> Cardinality {
        Cardinality::Known(self.rows as u64)
    }

    fn feed(&self, hash: &mut Fnv) {
        self.columns.iter().for_each(|column| column.each_tensor(&mut |t| feed_tensor(t, hash)));
    }

    fn is_indexable(&self) -> bool {
        true
    }

    fn gather(&self, indices: &[u64]) -> Option<Called> {
        let rows: Vec<usize> = indices.iter().map(|index| *index as usize).collect();
        let all = Chunk::new(self.rows, Arc::clone(&self.structure), self.columns.clone());
        Some(match all.and_then(|all| all.gather(&rows)) {
            Ok(chunk) => Called::all(chunk),
            Err(error) => Called { done: None, error: Some(error) },
        })
    }

    fn open(&self, _opening: &Opening<'_>) -> Result<Box<dyn Stage>> {
        let all = Chunk::new(self.rows, Arc::clone(&self.structure), self.columns.clone())?;
        Ok(Box::new(TensorsStage { all, at: 0 }))
    }
}

struct TensorsStage {
    all: Chunk,
    at: usize,
}

impl Stage for TensorsStage {
    fn next(&mut self, max: usize) -> Result<Option<Chunk>> {
        let end = self.at.saturating_add(max).min(self.all.rows());
        if self.at == end {
            return Ok(None);
        }
        let chunk = self.all.slice(self.at..end)?;
        self.at = end;
        Ok(Some(chunk))
    }

    fn skip(&mut self, n: u64) -> Skipped {
        let skipped = n.min((self.all.rows() - self.at) as u64);
        self.at += skipped as usize;
        Ok(skipped)
    }

    fn quiet(&self) -> bool {
        true
    }
}
