//! One result for each row, whatever shapes the rows have.
//!
//! An operation says what shape a row's result has and writes it into bytes it is given. Results
//! of one shape lie side by side as a stacked column; others make rows.

use std::fmt::Debug;
use std::sync::Arc;

use crate::data::shape::volume;
use crate::data::{
    BufferMut, Column, DType, Dims, Element, PartialShape, Rows, Spec, Tensor, Wanted,
};
use crate::error::{Error, Result};
use crate::graph::kernel::{Arg, Kernel, Tolerance};
use crate::kernels::cast::dense;

/// The dtype and the shape, as far as it is known, of an argument.
pub(super) type Known = (DType, PartialShape);

/// An operation on one row at a time.
pub(super) trait Each: Debug + Send + Sync {
    /// Dtype and shape of the result.
    ///
    /// # Errors
    /// `InvalidArgument` if the arguments do not fit.
    fn rule(&self, args: &[Known]) -> Result<Known>;

    /// The shape of the result, which may depend on the values of arguments.
    ///
    /// # Errors
    /// `InvalidArgument` if the values do not fit.
    fn dims(&self, args: &[Tensor]) -> Result<Dims> {
        let shape = self.rule(&known(args))?.1.known();
        shape.ok_or_else(|| Error::internal("a shape is known in part only"))
    }

    /// Writes all of the result; `dims` is its shape.
    ///
    /// # Errors
    /// If it cannot be computed.
    fn write(&self, args: &[Tensor], dims: &[usize], out: &mut [u8]) -> Result<()>;

    /// How far results may be from what the arguments give in another order of operations.
    fn tolerance(&self) -> Tolerance {
        Tolerance::Exact
    }
}

fn known(args: &[Tensor]) -> Vec<Known> {
    args.iter().map(|arg| (arg.dtype(), PartialShape::from(arg.dims()))).collect()
}

/// The kernel of an operation on one row at a time.
#[derive(Debug)]
pub(super) struct EachRow<T>(T);

/// The kernel that does `op` for each row.
pub(super) fn each_row<T: Each + 'static>(op: T) -> Option<Arc<dyn Kernel>> {
    Some(Arc::new(EachRow(op)))
}

impl<T: Each> EachRow<T> {
    fn one(&self, args: &[Tensor]) -> Result<Tensor> {
        let (dtype, _) = self.0.rule(&known(args))?;
        let dims = self.0.dims(args)?;
        let mut out = BufferMut::scratch(bytes(dtype, &dims)?)?;
        self.0.write(args, &dims, &mut out)?;
        Tensor::fixed(dtype, dims, out.freeze())
    }
}

impl<T: Each + 'static> Kernel for EachRow<T> {
    fn infer(&self, specs: &[Spec]) -> Result<Vec<Spec>> {
        let args = specs.iter().map(|spec| dense(spec).map(|(dtype, s)| (dtype, s.clone())));
        let (dtype, shape) = self.0.rule(&args.collect::<Result<Vec<_>>>()?)?;
        Ok(vec![Spec::Tensor { dtype, shape }])
    }

    fn run(&self, args: &[Arg], rows: usize, _: &[Wanted]) -> Result<Vec<Column>> {
        if args.iter().all(Arg::is_const) {
            let args = args.iter().map(|arg| arg.tensor().cloned()).collect::<Result<Vec<_>>>()?;
            return Ok(vec![Arg::Const(self.one(&args)?).into_column(rows)?]);
        }
        let per_row = |row| args.iter().map(|arg| row_of(arg, row)).collect::<Result<Vec<_>>>();
        let per_row = (0..rows).map(per_row).collect::<Result<Vec<Vec<Tensor>>>>()?;
        let Some(first) = per_row.first() else {
            return Ok(vec![none(&self.0, args)?]);
        };
        let (dtype, _) = self.0.rule(&known(first))?;
        let shapes = per_row.iter().map(|args| self.0.dims(args)).collect::<Result<Vec<_>>>()?;
        let sizes = shapes.iter().map(|dims| bytes(dtype, dims)).collect::<Result<Vec<_>>>()?;
        let total = sizes.iter().try_fold(0_usize, |sum, size| sum.checked_add(*size));
        let mut out = BufferMut::scratch(total.ok_or_else(too_large)?)?;
        let mut rest: &mut [u8] = &mut out;
        for ((args, dims), size) in per_row.iter().zip(&shapes).zip(sizes) {
            let (own, next) = std::mem::take(&mut rest).split_at_mut(size);
            self.0.write(args, dims, own)?;
            rest = next;
        }
        let out = out.freeze();
        Ok(vec![if shapes.iter().all(|dims| *dims == shapes[0]) {
            let dims = std::iter::once(rows).chain(shapes[0].iter().copied()).collect();
            Column::Stacked(Tensor::fixed(dtype, dims, out)?)
        } else {
            let count = out.len() / dtype.size().unwrap_or(1);
            Column::Rows(Rows::new(Tensor::fixed(dtype, [count][..].into(), out)?, shapes)?)
        }])
    }

    fn tolerance(&self) -> Tolerance {
        self.0.tolerance()
    }

    fn accepts(&self, column: &Column) -> bool {
        matches!(column, Column::Stacked(_) | Column::Rows(_))
    }
}

/// The argument of one row.
pub(super) fn row_of(arg: &Arg, row: usize) -> Result<Tensor> {
    match arg {
        Arg::Const(tensor) => Ok(tensor.clone()),
        Arg::Column(Column::Stacked(tensor)) => tensor.row(row),
        Arg::Column(Column::Rows(rows)) => rows.row(row),
        Arg::Column(column) => {
            Err(Error::invalid_argument(format!("expected an array, got {}", column.kind())))
        }
    }
}

/// A column of no rows.
fn none(op: &impl Each, args: &[Arg]) -> Result<Column> {
    let known = |arg: &Arg| match arg {
        Arg::Column(Column::Rows(rows)) => Ok((rows.dtype(), PartialShape::UNKNOWN)),
        arg => Ok((arg.tensor()?.dtype(), PartialShape::from(arg.row_dims()?))),
    };
    let (dtype, shape) = op.rule(&args.iter().map(known).collect::<Result<Vec<_>>>()?)?;
    let dims = shape.dims().unwrap_or_default().iter().map(|dim| dim.unwrap_or(0));
    let dims = std::iter::once(0).chain(dims).collect();
    Ok(Column::Stacked(Tensor::zeros(dtype, dims)?))
}

fn too_large() -> Error {
    Error::resource_exhausted("the images are too large together")
}

fn bytes(dtype: DType, dims: &[usize]) -> Result<usize> {
    let size = dtype.size().ok_or_else(|| Error::internal("an operation that gives text"))?;
    volume(dims)?.checked_mul(size).ok_or_else(too_large)
}

/// Bytes to be written as values of `T`.
///
/// # Errors
/// `Internal` if they do not lie as such values do.
pub(super) fn typed_mut<T: Element>(out: &mut [u8]) -> Result<&mut [T]> {
    bytemuck::try_cast_slice_mut(out).map_err(|error| Error::internal(error.to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Result;

    /// The values of a row, as often as an argument says.
    #[derive(Debug)]
    struct Repeat;

    impl Each for Repeat {
        fn rule(&self, _: &[Known]) -> Result<Known> {
            Ok((DType::Int32, PartialShape::new([None])))
        }

        fn dims(&self, args: &[Tensor]) -> Result<Dims> {
            let times = args[1].values::<i64>()?[0] as usize;
            Ok([args[0].len() * times][..].into())
        }

        fn write(&self, args: &[Tensor], _: &[usize], out: &mut [u8]) -> Result<()> {
            let values = args[0].values::<i32>()?;
            for (out, value) in typed_mut::<i32>(out)?.iter_mut().zip(values.iter().cycle()) {
                *out = *value;
            }
            Ok(())
        }
    }

    fn rows(values: &[&[i32]]) -> Arg {
        let tensor = |row: &&[i32]| Tensor::from_values(&[row.len()], row).unwrap();
        Arg::Column(Column::from_tensors(&values.iter().map(tensor).collect::<Vec<_>>()).unwrap())
    }

    fn times(values: &[i64]) -> Arg {
        Arg::Column(Column::Stacked(Tensor::from_values(&[values.len()], values).unwrap()))
    }

    #[test]
    fn results_of_one_shape_are_stacked_whatever_came_in() {
        let kernel = EachRow(Repeat);
        let out = kernel.run(&[rows(&[&[1, 2], &[3]]), times(&[1, 2])], 2, &[]).unwrap();
        let Column::Stacked(tensor) = &out[0] else { panic!("not stacked") };
        assert_eq!(tensor.values::<i32>().unwrap(), [1, 2, 3, 3]);
        let out = kernel.run(&[rows(&[&[1, 2], &[3, 4]]), times(&[1, 2])], 2, &[]).unwrap();
        let Column::Rows(rows) = &out[0] else { panic!("not rows") };
        assert_eq!(rows.row(1).unwrap().values::<i32>().unwrap(), [3, 4, 3, 4]);
    }

    #[test]
    fn no_rows_and_constants_are_columns_too() {
        let kernel = EachRow(Repeat);
        let none = Arg::Column(Column::Stacked(Tensor::from_values::<i32>(&[0, 3], &[]).unwrap()));
        let one = Arg::Const(Tensor::scalar(1_i64).unwrap());
        assert_eq!(kernel.run(&[none, one.clone()], 0, &[]).unwrap()[0].len(), 0);
        let value = Arg::Const(Tensor::from_values(&[1], &[5]).unwrap());
        assert_eq!(kernel.run(&[value, one], 3, &[]).unwrap()[0].len(), 3);
    }
}
