//! Operations on strings (`tf.strings`), bytes and UTF-8 text alike: what comes in comes out.
//!
//! An operation on each string by itself is an [`Each`]; one that cuts a string into pieces is a
//! [`pieces::Cut`]; one that makes one string of the innermost axis reads [`groups::Groups`]. These
//! three know the shapes: dense columns of one shape or several, and ragged ones. Pieces are views
//! of what was cut, never copies.

mod as_string;
mod case;
mod encoding;
mod format;
mod groups;
mod hash;
pub(super) mod join;
mod length;
mod ngrams;
pub(super) mod number;
mod pieces;
mod printf;
mod re2;
mod regex;
mod script;
mod split;
mod substr;
mod unicode;

use std::fmt::Debug;
use std::sync::Arc;

use crate::data::{BytesBuilder, Column, DType, RaggedColumn, Spec, Tensor, Wanted};
use crate::error::{Error, Result};
use crate::graph::attr::Attrs;
use crate::graph::kernel::{Arg, Kernel};
use crate::kernels::cast::{inputs, map_flat};

/// What one string may grow to: a short pattern can make terabytes of a few kilobytes.
pub(super) const MOST_BYTES: usize = 1 << 31;

pub(super) fn build(op: &str, attrs: &Attrs) -> Result<Option<Arc<dyn Kernel>>> {
    for family in [
        length::build,
        case::build,
        substr::build,
        regex::build,
        number::build,
        as_string::build,
        hash::build,
        split::build,
        unicode::build,
        script::build,
        join::build,
        ngrams::build,
        format::build,
    ] {
        if let Some(kernel) = family(op, attrs)? {
            return Ok(Some(kernel));
        }
    }
    Ok(None)
}

/// An operation on each value by itself.
pub(super) trait Each: Debug + Send + Sync {
    /// The dtype of the result.
    ///
    /// # Errors
    /// `InvalidArgument` for a dtype that the operation does not take.
    fn dtype(&self, input: DType) -> Result<DType>;

    /// The result for each value, in the same shape.
    ///
    /// # Errors
    /// If a value cannot be changed.
    fn change(&self, tensor: &Tensor) -> Result<Tensor>;
}

/// The kernel of an [`Each`].
#[derive(Debug)]
struct Mapped<E>(E);

/// The kernel that does `each` to every value of a dense or ragged component.
pub(super) fn mapped(each: impl Each + 'static) -> Arc<dyn Kernel> {
    Arc::new(Mapped(each))
}

impl<E: Each> Kernel for Mapped<E> {
    fn infer(&self, specs: &[Spec]) -> Result<Vec<Spec>> {
        let [spec] = inputs(specs)?;
        let mut made = spec.clone();
        match &mut made {
            Spec::Tensor { dtype, .. } | Spec::Ragged { dtype, .. } => {
                *dtype = self.0.dtype(*dtype)?;
            }
            other => return Err(not_dense(other)),
        }
        Ok(vec![made])
    }

    fn run(&self, args: &[Arg], rows: usize, _: &[Wanted]) -> Result<Vec<Column>> {
        let [arg] = inputs(args)?;
        let change = |tensor: &Tensor| self.0.change(tensor);
        Ok(vec![match arg {
            Arg::Column(Column::Ragged(ragged)) => {
                let values = map_flat(&Arg::Column(ragged.values.clone()), rows, change)?;
                Column::Ragged(Box::new(RaggedColumn { values, splits: ragged.splits.clone() }))
            }
            arg => map_flat(arg, rows, change)?,
        }])
    }

    fn accepts(&self, column: &Column) -> bool {
        matches!(column, Column::Stacked(_) | Column::Rows(_) | Column::Ragged(_))
    }
}

fn not_dense(spec: &Spec) -> Error {
    Error::invalid_argument(format!("expected a dense or ragged component, got {spec}"))
}

/// Refuses what is not text.
pub(super) fn check_text(dtype: DType) -> Result<DType> {
    match dtype.is_text() {
        true => Ok(dtype),
        false => Err(Error::invalid_argument(format!("expected bytes or str, got {dtype}"))),
    }
}

/// A tensor of `dtype` of strings made of each string.
pub(super) fn each_string(
    tensor: &Tensor,
    dtype: DType,
    mut change: impl FnMut(&[u8], &mut Vec<u8>) -> Result<()>,
) -> Result<Tensor> {
    let mut out = BytesBuilder::default();
    let mut value = Vec::new();
    for string in tensor.strings()?.iter() {
        value.clear();
        change(string, &mut value)?;
        out.push(&value);
    }
    Tensor::text(dtype, tensor.dims().into(), out.finish()?)
}

/// Refuses a string that would grow without bounds.
pub(super) fn check_size(bytes: usize) -> Result<()> {
    match bytes > MOST_BYTES {
        true => {
            Err(Error::resource_exhausted(format!("a string of {bytes} bytes: the most is 2 GiB")))
        }
        false => Ok(()),
    }
}
