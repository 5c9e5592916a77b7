//! One component of some elements.
//!
//! A column is *stacked* where all rows have one shape (a tensor with a leading row axis), *rows*
//! where shapes differ, *foreign* where the core cannot look inside. Sparse and ragged components
//! are columns of their parts.

use std::ops::Range;
use std::sync::Arc;

use crate::data::buffer::Buffer;
use crate::data::dtype::DType;
use crate::data::foreign::{self, ForeignValue};
use crate::data::rows::Rows;
use crate::data::shape::{Dims, PartialShape, Tuple};
use crate::data::spec::Spec;
use crate::data::tensor::Tensor;
use crate::error::{Error, Result};

/// How much of a column is read later.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Wanted {
    /// Nothing: any column of as many rows will do.
    No,
    /// Of a sparse column the values, without indices and dense shape.
    Values,
    /// All of it.
    All,
}

/// One component of some elements. Clones and slices share memory.
#[derive(Clone)]
pub enum Column {
    /// All rows have one shape: the first axis counts rows.
    Stacked(Tensor),
    /// Rows of one dtype whose shapes differ.
    Rows(Rows),
    /// Sparse tensors.
    Sparse(Box<SparseColumn>),
    /// Ragged tensors.
    Ragged(Box<RaggedColumn>),
    /// Objects of the caller.
    Foreign(Arc<[ForeignValue]>),
}

/// Sparse tensors, one a row.
#[derive(Clone)]
pub struct SparseColumn {
    /// int64 `[values, rank]` in each row.
    pub indices: Column,
    /// `[values]` in each row.
    pub values: Column,
    /// int64 `[rank]` in each row.
    pub dense_shape: Column,
}

/// Ragged tensors, one a row.
#[derive(Clone)]
pub struct RaggedColumn {
    /// The flat values of each row.
    pub values: Column,
    /// Row splits of each row, outermost partition first.
    pub splits: Vec<Column>,
}

/// One component of one element.
#[derive(Clone)]
pub enum Value {
    /// A dense array.
    Tensor(Tensor),
    /// A sparse array.
    Sparse {
        /// int64 `[values, rank]`.
        indices: Tensor,
        /// `[values]`.
        values: Tensor,
        /// int64 `[rank]`.
        dense_shape: Tensor,
    },
    /// A ragged array.
    Ragged {
        /// The flat values.
        values: Tensor,
        /// Row splits, outermost partition first.
        splits: Vec<Tensor>,
    },
    /// An object of the caller.
    Foreign(ForeignValue),
}

impl Column {
    /// A column of rows that may differ in shape: stacked if they do not.
    ///
    /// # Errors
    /// `Internal` if dtypes differ or there are no tensors.
    pub fn from_tensors(tensors: &[Tensor]) -> Result<Self> {
        Rows::from_tensors(tensors)?.into_column()
    }

    /// Number of rows.
    pub fn len(&self) -> usize {
        match self {
            Column::Stacked(tensor) => tensor.dims().first().copied().unwrap_or(0),
            Column::Rows(rows) => rows.len(),
            Column::Sparse(sparse) => sparse.dense_shape.len(),
            Column::Ragged(ragged) => ragged.values.len(),
            Column::Foreign(values) => values.len(),
        }
    }

    /// True if there are no rows.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Type of the values; `None` for foreign objects.
    pub fn dtype(&self) -> Option<DType> {
        match self {
            Column::Stacked(tensor) => Some(tensor.dtype()),
            Column::Rows(rows) => Some(rows.dtype()),
            Column::Sparse(sparse) => sparse.values.dtype(),
            Column::Ragged(ragged) => ragged.values.dtype(),
            Column::Foreign(_) => None,
        }
    }

    /// Memory that the values take; foreign objects count as nothing.
    pub fn payload_bytes(&self) -> usize {
        match self {
            Column::Stacked(tensor) => tensor.payload_bytes(),
            Column::Rows(rows) => rows.flat().map_or(0, |(flat, _)| flat.payload_bytes()),
            Column::Foreign(_) => 0,
            _ => self.parts().map(Column::payload_bytes).sum(),
        }
    }

    /// Memory that lives because of the column, see [`Buffer::count`];
    /// foreign objects count as nothing.
    pub fn count(&self, counter: u64) -> usize {
        match self {
            Column::Stacked(tensor) => tensor.count(counter),
            Column::Rows(rows) => rows.flat.count(counter) + rows.len() * size_of::<Dims>(),
            Column::Foreign(_) => 0,
            _ => self.parts().map(|part| part.count(counter)).sum(),
        }
    }

    /// Memory that the values take, unless somebody keeps it anyway.
    pub fn own_bytes(&self) -> usize {
        match self {
            Column::Stacked(tensor) => tensor.own_bytes(),
            Column::Rows(rows) => rows.flat().map_or(0, |(flat, _)| flat.own_bytes()),
            Column::Foreign(_) => 0,
            _ => self.parts().map(Column::own_bytes).sum(),
        }
    }

    /// From now on somebody keeps the memory: it counts as nothing.
    pub fn keep(&self) {
        match self {
            Column::Stacked(tensor) => tensor.each_buffer(&mut Buffer::keep),
            Column::Rows(rows) => rows.flat.each_buffer(&mut Buffer::keep),
            Column::Foreign(_) => {}
            _ => self.parts().for_each(Column::keep),
        }
    }

    /// Calls `visit` on each tensor of values that the column is made of.
    pub fn each_tensor(&self, visit: &mut impl FnMut(&Tensor)) {
        match self {
            Column::Stacked(tensor) => visit(tensor),
            Column::Rows(rows) => {
                (0..rows.len()).filter_map(|i| rows.row(i).ok()).for_each(|t| visit(&t))
            }
            Column::Foreign(_) => {}
            _ => self.parts().for_each(|part| part.each_tensor(visit)),
        }
    }

    /// The columns of a sparse or ragged column.
    fn parts(&self) -> impl Iterator<Item = &Column> {
        let (own, splits): ([Option<&Column>; 3], &[Column]) = match self {
            Column::Sparse(s) => ([Some(&s.indices), Some(&s.values), Some(&s.dense_shape)], &[]),
            Column::Ragged(r) => ([Some(&r.values), None, None], &r.splits),
            _ => ([None; 3], &[]),
        };
        own.into_iter().flatten().chain(splits)
    }

    /// Rebuilds a sparse or ragged column with each part changed.
    fn map_parts(&self, mut change: impl FnMut(&Column) -> Result<Column>) -> Result<Column> {
        match self {
            Column::Sparse(sparse) => Ok(Column::Sparse(Box::new(SparseColumn {
                indices: change(&sparse.indices)?,
                values: change(&sparse.values)?,
                dense_shape: change(&sparse.dense_shape)?,
            }))),
            Column::Ragged(ragged) => Ok(Column::Ragged(Box::new(RaggedColumn {
                values: change(&ragged.values)?,
                splits: ragged.splits.iter().map(change).collect::<Result<_>>()?,
            }))),
            _ => Err(Error::internal("a dense column has no parts")),
        }
    }

    /// Rows `range`, sharing memory.
    ///
    /// # Errors
    /// `Internal` if the range is not within the column.
    pub fn slice(&self, range: Range<usize>) -> Result<Self> {
        if range.start > range.end || range.end > self.len() {
            return Err(Error::internal(format!("rows {range:?} of a column of {}", self.len())));
        }
        Ok(match self {
            Column::Stacked(tensor) => Column::Stacked(tensor.rows(range)?),
            Column::Rows(rows) => Column::Rows(rows.slice(range)),
            Column::Foreign(values) => Column::Foreign(values[range].into()),
            _ => self.map_parts(|part| part.slice(range.clone()))?,
        })
    }

    /// Rows at `indices`; fixed-size values are copied, strings share payload.
    ///
    /// # Errors
    /// `Internal` if an index is not within the column.
    pub fn gather(&self, indices: &[usize]) -> Result<Self> {
        match self {
            Column::Stacked(tensor) => Ok(Column::Stacked(tensor.gather(indices)?)),
            Column::Rows(rows) if !indices.is_empty() => {
                let tensors: Vec<Tensor> =
                    indices.iter().map(|index| rows.row(*index)).collect::<Result<_>>()?;
                Column::from_tensors(&tensors)
            }
            Column::Rows(rows) => Ok(Column::Rows(rows.slice(0..0))),
            Column::Foreign(values) => {
                let pick = |index: &usize| values.get(*index).cloned();
                let picked: Option<Arc<[_]>> = indices.iter().map(pick).collect();
                let picked = picked.ok_or_else(|| Error::internal("gather outside the column"))?;
                Ok(Column::Foreign(picked))
            }
            _ => self.map_parts(|part| part.gather(indices)),
        }
    }

    /// Columns of one kind and dtype, one after another. A single column is returned as it is.
    ///
    /// # Errors
    /// `InvalidArgument` if kinds or dtypes differ.
    pub fn concat(columns: &[&Self]) -> Result<Self> {
        let [first, rest @ ..] = columns else {
            return Err(Error::internal("concat of no columns"));
        };
        if rest.is_empty() {
            return Ok((*first).clone());
        }
        if let Some(other) = rest.iter().find(|column| column.dtype() != first.dtype()) {
            return Err(mixed(first, other));
        }
        match first {
            Column::Stacked(_) | Column::Rows(_) => Self::concat_dense(columns),
            Column::Foreign(_) => {
                let all = columns.iter().map(|column| match column {
                    Column::Foreign(values) => Ok(values.iter().cloned()),
                    other => Err(mixed(first, other)),
                });
                let all = all.collect::<Result<Vec<_>>>()?;
                Ok(Column::Foreign(all.into_iter().flatten().collect()))
            }
            Column::Sparse(_) | Column::Ragged(_) => {
                let shape = std::mem::discriminant(*first);
                let count = first.parts().count();
                for other in rest {
                    if std::mem::discriminant(*other) != shape || other.parts().count() != count {
                        return Err(mixed(first, other));
                    }
                }
                let mut part = 0;
                first.map_parts(|_| {
                    let parts: Vec<_> =
                        columns.iter().filter_map(|c| c.parts().nth(part)).collect();
                    part += 1;
                    Column::concat(&parts)
                })
            }
        }
    }

    fn concat_dense(columns: &[&Self]) -> Result<Self> {
        let stacked: Option<Vec<&Tensor>> = columns
            .iter()
            .map(|column| match column {
                Column::Stacked(tensor) => Some(tensor),
                _ => None,
            })
            .collect();
        if let Some(tensors) = stacked {
            let row = tensors[0].dims().get(1..);
            if tensors.iter().all(|tensor| tensor.dims().get(1..) == row) {
                return Ok(Column::Stacked(Tensor::concat(&tensors)?));
            }
        }
        let mut shapes = Vec::new();
        let mut flats = Vec::new();
        for column in columns {
            match column {
                Column::Stacked(tensor) => {
                    let row: Dims = tensor.dims().get(1..).unwrap_or_default().into();
                    shapes.extend(std::iter::repeat_n(row, column.len()));
                    flats.push(tensor.clone().reshape([tensor.len()][..].into())?);
                }
                Column::Rows(rows) => {
                    shapes.extend(rows.shapes().iter().cloned());
                    flats.push(rows.flat()?.0);
                }
                other => return Err(mixed(columns[0], other)),
            }
        }
        let flat = Tensor::concat(&flats.iter().collect::<Vec<_>>())?;
        Rows::new(flat, shapes)?.into_column()
    }

    /// The component of row `index`, sharing memory.
    ///
    /// # Errors
    /// `Internal` if there is none.
    pub fn row(&self, index: usize) -> Result<Value> {
        let dense = |column: &Column| match column.row(index)? {
            Value::Tensor(tensor) => Ok(tensor),
            _ => Err(Error::internal("a part of a component is not dense")),
        };
        Ok(match self {
            Column::Stacked(tensor) => Value::Tensor(tensor.row(index)?),
            Column::Rows(rows) => Value::Tensor(rows.row(index)?),
            Column::Sparse(sparse) => Value::Sparse {
                indices: dense(&sparse.indices)?,
                values: dense(&sparse.values)?,
                dense_shape: dense(&sparse.dense_shape)?,
            },
            Column::Ragged(ragged) => Value::Ragged {
                values: dense(&ragged.values)?,
                splits: ragged.splits.iter().map(dense).collect::<Result<_>>()?,
            },
            Column::Foreign(values) => {
                let value = values.get(index).cloned();
                Value::Foreign(value.ok_or_else(|| Error::internal("row outside the column"))?)
            }
        })
    }

    /// A column of these components.
    ///
    /// # Errors
    /// `InvalidArgument` if kinds or dtypes differ, `Internal` if there are none.
    pub fn from_values(values: &[Value]) -> Result<Self> {
        let single: Vec<Column> = values.iter().map(Value::to_column).collect::<Result<_>>()?;
        Self::concat(&single.iter().collect::<Vec<_>>())
    }

    /// The same column in memory that it alone holds, so that it can be given away.
    ///
    /// # Errors
    /// `ResourceExhausted` if there is no memory for a copy.
    pub fn into_owned(self) -> Result<Self> {
        Ok(match self {
            Column::Stacked(tensor) => Column::Stacked(tensor.into_owned()?),
            Column::Rows(rows) => {
                let shapes = rows.shapes().to_vec();
                Column::Rows(Rows::new(rows.flat()?.0.into_owned()?, shapes)?)
            }
            Column::Sparse(sparse) => Column::Sparse(Box::new(SparseColumn {
                indices: sparse.indices.into_owned()?,
                values: sparse.values.into_owned()?,
                dense_shape: sparse.dense_shape.into_owned()?,
            })),
            Column::Ragged(ragged) => Column::Ragged(Box::new(RaggedColumn {
                values: ragged.values.into_owned()?,
                splits: ragged.splits.into_iter().map(Column::into_owned).collect::<Result<_>>()?,
            })),
            Column::Foreign(values) => Column::Foreign(values),
        })
    }

    /// What rows of this kind, dtype and rank look like, of whatever sizes.
    pub fn loose_spec(&self) -> Spec {
        let sizes = |rank: usize| PartialShape::new(std::iter::repeat_n(None, rank));
        let shape = match self {
            Column::Stacked(tensor) => sizes(tensor.dims().len().saturating_sub(1)),
            Column::Rows(rows) => {
                let rank = rows.shapes().first().map(|dims| dims.len());
                let same = rows.shapes().iter().all(|dims| Some(dims.len()) == rank);
                rank.filter(|_| same).map_or(PartialShape::UNKNOWN, sizes)
            }
            _ => PartialShape::UNKNOWN,
        };
        if let Column::Foreign(values) = self {
            return foreign::spec_of(values);
        }
        let Some(dtype) = self.dtype() else { return Spec::Object };
        match self {
            Column::Sparse(_) => Spec::Sparse { dtype, shape },
            Column::Ragged(ragged) => Spec::Ragged {
                dtype,
                shape,
                ragged_rank: ragged.splits.len(),
                splits_dtype: ragged.splits.first().and_then(Column::dtype).unwrap_or(DType::Int64),
            },
            _ => Spec::Tensor { dtype, shape },
        }
    }

    /// Type and row shape, for messages.
    pub fn describe(&self) -> String {
        let kind = self.kind();
        let dims = match self {
            Column::Stacked(tensor) => tensor.dims().get(1..).unwrap_or_default().into(),
            Column::Rows(rows) => rows.shapes().first().cloned().unwrap_or_default(),
            _ => return kind,
        };
        format!("{kind}{}", Tuple(&dims))
    }

    /// What a message calls this kind of column.
    pub fn kind(&self) -> String {
        let name = self.dtype().map_or("object", DType::name);
        match self {
            Column::Foreign(values) => foreign::spec_of(values).kind(),
            Column::Sparse(_) => format!("sparse {name}"),
            Column::Ragged(_) => format!("ragged {name}"),
            _ => name.into(),
        }
    }
}

fn mixed(first: &Column, other: &Column) -> Error {
    let (first, other) = (first.kind(), other.kind());
    Error::invalid_argument(format!("expected a component of type {first}, got {other}"))
        .with_hint("all elements of a dataset must have the same types")
}

impl Value {
    /// A column of this one row.
    ///
    /// # Errors
    /// Never for a well-formed value.
    pub fn to_column(&self) -> Result<Column> {
        let stack = |tensor: &Tensor| {
            let dims = std::iter::once(1).chain(tensor.dims().iter().copied()).collect();
            Ok::<_, Error>(Column::Stacked(tensor.clone().reshape(dims)?))
        };
        Ok(match self {
            Value::Tensor(tensor) => stack(tensor)?,
            Value::Sparse { indices, values, dense_shape } => {
                Column::Sparse(Box::new(SparseColumn {
                    indices: stack(indices)?,
                    values: stack(values)?,
                    dense_shape: stack(dense_shape)?,
                }))
            }
            Value::Ragged { values, splits } => Column::Ragged(Box::new(RaggedColumn {
                values: stack(values)?,
                splits: splits.iter().map(stack).collect::<Result<_>>()?,
            })),
            Value::Foreign(value) => Column::Foreign([Arc::clone(value)].into()),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ints(dims: &[usize], values: &[i64]) -> Tensor {
        Tensor::from_values(dims, values).unwrap()
    }

    fn row(column: &Column, index: usize) -> Tensor {
        match column.row(index).unwrap() {
            Value::Tensor(tensor) => tensor,
            _ => panic!("not dense"),
        }
    }

    #[test]
    fn rows_of_one_shape_are_stacked() {
        let same = Column::from_tensors(&[ints(&[2], &[1, 2]), ints(&[2], &[3, 4])]).unwrap();
        assert!(matches!(&same, Column::Stacked(t) if t.dims() == [2, 2]));
        let other = Column::Stacked(ints(&[1, 3], &[5, 6, 7]));
        let mixed = Column::concat(&[&same, &other]).unwrap();
        assert!(matches!(mixed, Column::Rows(_)));
        assert_eq!(row(&mixed, 2), ints(&[3], &[5, 6, 7]));
        let picked = mixed.gather(&[1, 0]).unwrap();
        assert!(matches!(picked, Column::Stacked(_)));
        assert_eq!(row(&mixed.slice(1..3).unwrap(), 0), ints(&[2], &[3, 4]));
    }

    #[test]
    fn sparse_columns_go_part_by_part() {
        let one = |at: i64| {
            let value = Value::Sparse {
                indices: ints(&[1, 1], &[at]),
                values: ints(&[1], &[at * 10]),
                dense_shape: ints(&[1], &[4]),
            };
            value.to_column().unwrap()
        };
        let both = Column::concat(&[&one(1), &one(3)]).unwrap();
        assert_eq!(both.len(), 2);
        let Value::Sparse { values, .. } = both.gather(&[1]).unwrap().row(0).unwrap() else {
            panic!("not sparse");
        };
        assert_eq!(values.values::<i64>().unwrap(), [30]);
    }

    #[test]
    fn a_change_of_dtype_is_an_error_that_names_both() {
        let a = Column::Stacked(ints(&[1], &[1]));
        let b = Column::Stacked(Tensor::from_values(&[1], &[1.0_f32]).unwrap());
        let text = Column::concat(&[&a, &b]).err().unwrap().to_string();
        assert!(text.contains("int64") && text.contains("float32"), "{text}");
    }
}
