//! What an operation is: a rule for shapes and dtypes, and a run over columns.

use std::fmt::Debug;

use crate::data::{Column, DType, Spec, Tensor, Wanted};
use crate::error::{Error, Result};
use crate::random::Site;

/// How far the results of a kernel may be from NumPy's own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tolerance {
    /// Values are those of the inputs, moved: a difference is handed on as it is.
    Moved,
    /// Rounded as NumPy does: equal for equal inputs.
    Exact,
    /// Within this many units in the last place, for equal inputs.
    Ulp(u32),
    /// Within n·eps of the absolute sum, n the number of values that went into one result.
    Sum,
    /// Within n·eps of the sum of the magnitudes of products, n the number of products.
    Product,
    /// Within n·eps of the sum of the magnitudes of all n inputs: each goes into every result.
    Mixed,
}

/// An argument of a kernel.
#[derive(Clone)]
pub enum Arg {
    /// The same for each row; without a row axis.
    Const(Tensor),
    /// One value a row.
    Column(Column),
}

impl Arg {
    /// The element type; `None` for foreign objects.
    pub fn dtype(&self) -> Option<DType> {
        match self {
            Arg::Const(tensor) => Some(tensor.dtype()),
            Arg::Column(column) => column.dtype(),
        }
    }

    /// The values: with a leading row axis unless [`Arg::is_const`].
    ///
    /// # Errors
    /// `Internal` if it is not a stacked column.
    pub fn tensor(&self) -> Result<&Tensor> {
        match self {
            Arg::Const(tensor) | Arg::Column(Column::Stacked(tensor)) => Ok(tensor),
            Arg::Column(_) => {
                Err(Error::internal("a kernel was given rows that it did not ask for"))
            }
        }
    }

    /// True if it is the same for each row.
    pub fn is_const(&self) -> bool {
        matches!(self, Arg::Const(_))
    }

    /// The shape of a row.
    ///
    /// # Errors
    /// `Internal` if it is not a stacked column.
    pub fn row_dims(&self) -> Result<&[usize]> {
        let dims = self.tensor()?.dims();
        Ok(if self.is_const() { dims } else { dims.get(1..).unwrap_or_default() })
    }

    /// A column of `rows` rows: constants are repeated.
    ///
    /// # Errors
    /// `ResourceExhausted` if there is no memory for it.
    pub fn into_column(self, rows: usize) -> Result<Column> {
        match self {
            Arg::Column(column) => Ok(column),
            Arg::Const(tensor) => {
                let dims = std::iter::once(1).chain(tensor.dims().iter().copied()).collect();
                let one = tensor.reshape(dims)?;
                Ok(Column::Stacked(if rows == 1 { one } else { one.gather(&vec![0; rows])? }))
            }
        }
    }

    /// Row `index` alone, as a column of one row (constants stay).
    ///
    /// # Errors
    /// `Internal` if there is none.
    pub fn row(&self, index: usize) -> Result<Arg> {
        match self {
            Arg::Const(tensor) => Ok(Arg::Const(tensor.clone())),
            Arg::Column(Column::Rows(rows)) => {
                let row = rows.row(index)?;
                let dims = std::iter::once(1).chain(row.dims().iter().copied()).collect();
                Ok(Arg::Column(Column::Stacked(row.reshape(dims)?)))
            }
            Arg::Column(column) => Ok(Arg::Column(column.slice(index..index + 1)?)),
        }
    }
}

/// The Rust code of one operation with its static arguments.
pub trait Kernel: Debug + Send + Sync {
    /// Specs of the outputs for inputs of these specs. The row axis is part of neither.
    ///
    /// # Errors
    /// `InvalidArgument` if the inputs do not fit.
    fn infer(&self, inputs: &[Spec]) -> Result<Vec<Spec>>;

    /// One column of `rows` rows for each output; constants do not count as rows. What is not
    /// `wanted` of an output is never read.
    ///
    /// Arguments have the dtypes that `infer` accepted, but their shapes are only known here.
    ///
    /// # Errors
    /// If a row cannot be computed. The message names no row: rows of a chunk mean nothing to
    /// the user.
    fn run(&self, args: &[Arg], rows: usize, wanted: &[Wanted]) -> Result<Vec<Column>>;

    /// As [`Kernel::run`] for rows whose first stands at `site`: for kernels that draw random
    /// numbers.
    ///
    /// # Errors
    /// As [`Kernel::run`].
    fn run_at(
        &self,
        args: &[Arg],
        rows: usize,
        wanted: &[Wanted],
        site: &Site,
    ) -> Result<Vec<Column>> {
        let _ = site;
        self.run(args, rows, wanted)
    }

    /// How much of input number `input` is read.
    fn wants(&self, _input: usize) -> Wanted {
        Wanted::All
    }

    /// How far results may be from NumPy's.
    fn tolerance(&self) -> Tolerance {
        Tolerance::Exact
    }

    /// Where NumPy's own result is open: what a difference from it may come from.
    fn caveat(&self) -> Option<&'static str> {
        None
    }

    /// True if `run` takes a column of this kind. Where rows differ in shape and the kernel does
    /// not take that, it is run row by row.
    fn accepts(&self, column: &Column) -> bool {
        matches!(column, Column::Stacked(_))
    }

    /// True if it runs although nobody reads what it gives.
    fn is_kept(&self) -> bool {
        false
    }

    /// True if one row is much work, or much memory: rows are then evaluated one by one, and few
    /// are asked for at once.
    fn is_heavy(&self) -> bool {
        false
    }

    /// True if equal arguments give equal results, so that a run over constants may be done once.
    fn is_pure(&self) -> bool {
        true
    }

    /// True if a run over constants may be done when the graph is made.
    fn may_fold(&self) -> bool {
        self.is_pure()
    }
}
