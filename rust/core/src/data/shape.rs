//! Shapes, known in full or in part.

use std::fmt;

use serde::{Deserialize, Serialize};
use smallvec::SmallVec;

use crate::error::{Error, Result};

/// The sizes of a tensor's axes.
pub type Dims = SmallVec<[usize; 4]>;

/// Number of values in a tensor of these sizes.
///
/// # Errors
/// `InvalidArgument` if there are more than 2^63 - 1: no machine has such a tensor.
pub fn volume(dims: &[usize]) -> Result<usize> {
    // An axis of size 0 makes the tensor empty however large the others are.
    if dims.contains(&0) {
        return Ok(0);
    }
    let product = dims.iter().try_fold(1_usize, |product, &dim| product.checked_mul(dim));
    product.filter(|&product| product <= i64::MAX as usize).ok_or_else(|| {
        let text = format!("shape {dims:?} would have more than 2**63 - 1 elements");
        Error::invalid_argument(text)
    })
}

/// The broadcast of two shapes by NumPy's rules.
///
/// # Errors
/// `InvalidArgument` if they do not fit.
pub fn broadcast(a: &[usize], b: &[usize]) -> Result<Dims> {
    let rank = a.len().max(b.len());
    let dim = |dims: &[usize], axis: usize| {
        (axis + dims.len()).checked_sub(rank).map_or(1, |axis| dims[axis])
    };
    (0..rank)
        .map(|axis| match (dim(a, axis), dim(b, axis)) {
            (x, y) if x == y => Ok(x),
            (1, y) => Ok(y),
            (x, 1) => Ok(x),
            _ => Err(Error::invalid_argument(format!(
                "operands could not be broadcast together with shapes {} {}",
                Tuple(a),
                Tuple(b)
            ))),
        })
        .collect()
}

/// Shows sizes as a Python tuple.
pub struct Tuple<'a>(pub &'a [usize]);

impl fmt::Display for Tuple<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_tuple(f, self.0.iter())
    }
}

/// Shows sizes as TensorFlow does: `[2,3]`.
pub struct Brackets<'a>(pub &'a [usize]);

impl fmt::Display for Brackets<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("[")?;
        for (i, size) in self.0.iter().enumerate() {
            write!(f, "{}{size}", if i > 0 { "," } else { "" })?;
        }
        f.write_str("]")
    }
}

fn write_tuple<T: fmt::Display>(
    f: &mut fmt::Formatter<'_>,
    items: impl ExactSizeIterator<Item = T>,
) -> fmt::Result {
    let single = items.len() == 1;
    f.write_str("(")?;
    for (i, item) in items.enumerate() {
        write!(f, "{}{item}", if i > 0 { ", " } else { "" })?;
    }
    f.write_str(if single { ",)" } else { ")" })
}

/// A shape of which rank or sizes may be unknown.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct PartialShape(Option<SmallVec<[Option<usize>; 4]>>);

impl PartialShape {
    /// Not even the rank is known.
    pub const UNKNOWN: PartialShape = PartialShape(None);

    /// The shape of a scalar.
    pub fn scalar() -> Self {
        PartialShape(Some(SmallVec::new()))
    }

    /// A shape of known rank.
    pub fn new(dims: impl IntoIterator<Item = Option<usize>>) -> Self {
        PartialShape(Some(dims.into_iter().collect()))
    }

    /// The sizes, if the rank is known.
    pub fn dims(&self) -> Option<&[Option<usize>]> {
        self.0.as_deref()
    }

    /// The rank, if known.
    pub fn rank(&self) -> Option<usize> {
        self.0.as_ref().map(|dims| dims.len())
    }

    /// All sizes, if all are known.
    pub fn known(&self) -> Option<Dims> {
        self.0.as_ref()?.iter().copied().collect()
    }

    /// True if a tensor of `dims` has this shape.
    pub fn accepts(&self, dims: &[usize]) -> bool {
        self.0.as_ref().is_none_or(|own| {
            own.len() == dims.len()
                && own.iter().zip(dims).all(|(own, dim)| own.is_none_or(|own| own == *dim))
        })
    }

    /// This shape with one more axis in front.
    pub fn prepend(&self, dim: Option<usize>) -> Self {
        let dims = self.0.as_ref();
        PartialShape(dims.map(|dims| std::iter::once(dim).chain(dims.iter().copied()).collect()))
    }

    /// First size and the shape without it: `None` for a scalar.
    pub fn split_first(&self) -> Option<(Option<usize>, PartialShape)> {
        match &self.0 {
            None => Some((None, Self::UNKNOWN)),
            Some(dims) => {
                let (first, rest) = dims.split_first()?;
                Some((*first, Self::new(rest.iter().copied())))
            }
        }
    }

    /// The shape that describes tensors of either shape.
    pub fn widen(&self, other: &Self) -> Self {
        match (&self.0, &other.0) {
            (Some(a), Some(b)) if a.len() == b.len() => {
                Self::new(a.iter().zip(b).map(|(a, b)| if a == b { *a } else { None }))
            }
            _ => Self::UNKNOWN,
        }
    }
}

impl From<&[usize]> for PartialShape {
    fn from(dims: &[usize]) -> Self {
        Self::new(dims.iter().map(|dim| Some(*dim)))
    }
}

impl fmt::Display for PartialShape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            None => f.write_str("<unknown>"),
            Some(dims) => {
                let text = |dim: &Option<usize>| dim.map_or("None".into(), |dim| dim.to_string());
                write_tuple(f, dims.iter().map(text))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn broadcast_follows_numpy() {
        assert_eq!(broadcast(&[3, 1], &[4]).unwrap().as_slice(), [3, 4]);
        assert_eq!(broadcast(&[], &[2, 0]).unwrap().as_slice(), [2, 0]);
        let error = broadcast(&[3], &[4]).unwrap_err();
        assert!(error.message().ends_with("(3,) (4,)"), "{error}");
    }

    #[test]
    fn volume_does_not_overflow() {
        assert_eq!(volume(&[usize::MAX, 2, 0]).unwrap(), 0);
        assert!(volume(&[usize::MAX, 2]).is_err());
    }

    #[test]
    fn widening_keeps_what_both_know() {
        let a = PartialShape::new([Some(2), Some(3)]);
        let b = PartialShape::new([Some(2), Some(4)]);
        assert_eq!(a.widen(&b), PartialShape::new([Some(2), None]));
        assert_eq!(a.widen(&PartialShape::scalar()), PartialShape::UNKNOWN);
        assert_eq!(a.widen(&b).to_string(), "(2, None)");
    }
}
