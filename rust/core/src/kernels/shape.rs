//! Operations on shapes: `reshape`, `expand_dims`, `squeeze`, `transpose`, `broadcast_to`,
//! `ensure_shape`, `shape`; `reshape_by` and `broadcast_by`, where a vector says the shape.
//!
//! Values stay where they are; only `transpose` and `broadcast_to` copy.

use std::sync::Arc;

use crate::data::shape::volume;
use crate::data::{Column, DType, Dims, PartialShape, Spec, Tensor, Wanted};
use crate::error::{Error, Result};
use crate::graph::attr::Attrs;
use crate::graph::kernel::{Arg, Kernel, Tolerance};
use crate::kernels::cast::{cast_tensor, inputs};
use crate::kernels::places::{bounded, by_row};
use crate::kernels::strided::Walk;

/// The argument as a tensor with a row axis.
pub(crate) fn stacked(arg: &Arg, rows: usize) -> Result<Tensor> {
    match arg.clone().into_column(rows)? {
        Column::Stacked(tensor) => Ok(tensor),
        other => Err(Error::internal(format!("a shape operation on {}", other.kind()))),
    }
}

/// An axis from 0, where negative ones count from the end.
///
/// # Errors
/// `InvalidArgument` with NumPy's text if it is not there.
pub(crate) fn normal_axis(axis: i64, rank: usize) -> Result<usize> {
    let from_start = if axis < 0 { axis + rank as i64 } else { axis };
    usize::try_from(from_start).ok().filter(|axis| *axis < rank).ok_or_else(|| {
        Error::invalid_argument(format!(
            "axis {axis} is out of bounds for array of dimension {rank}"
        ))
    })
}

/// Several axes, each once, ascending.
pub(crate) fn normal_axes(axes: &[i64], rank: usize) -> Result<Vec<usize>> {
    let mut axes: Vec<usize> =
        axes.iter().map(|axis| normal_axis(*axis, rank)).collect::<Result<_>>()?;
    axes.sort_unstable();
    if axes.windows(2).any(|pair| pair[0] == pair[1]) {
        return Err(Error::invalid_argument("duplicate value in 'axis'"));
    }
    Ok(axes)
}

type Partial = Vec<Option<usize>>;

#[derive(Debug)]
enum Shaping {
    Reshape(Vec<i64>),
    ExpandDims(Vec<i64>),
    Squeeze(Option<Vec<i64>>),
    Transpose(Option<Vec<i64>>),
    BroadcastTo(Dims),
    /// Hands values of this shape on, -1 for any size.
    Ensure(Vec<i64>),
}

pub(super) fn build(op: &str, attrs: &Attrs) -> Result<Option<Arc<dyn Kernel>>> {
    let shaping = match op {
        "reshape" => Shaping::Reshape(attrs.ints("shape")?),
        "expand_dims" => Shaping::ExpandDims(attrs.ints("axis")?),
        "squeeze" => Shaping::Squeeze(attrs.opt_ints("axis")?),
        "transpose" => Shaping::Transpose(attrs.opt_ints("axes")?),
        "broadcast_to" => {
            let size = |dim: &i64| {
                let negative =
                    || Error::invalid_argument("all sizes of a shape must be at least 0");
                usize::try_from(*dim).map_err(|_| negative())
            };
            Shaping::BroadcastTo(attrs.ints("shape")?.iter().map(size).collect::<Result<_>>()?)
        }
        "ensure_shape" => Shaping::Ensure(attrs.ints("shape")?),
        "shape" => {
            attrs.only(&[])?;
            return Ok(Some(Arc::new(ShapeOf)));
        }
        "reshape_by" | "broadcast_by" => {
            attrs.only(&[])?;
            return Ok(Some(Arc::new(ShapedBy { broadcast: op == "broadcast_by" })));
        }
        _ => return Ok(None),
    };
    attrs.only(&["shape", "axis", "axes"])?;
    if let Shaping::Reshape(sizes) = &shaping {
        check_sizes(sizes)?;
    }
    Ok(Some(Arc::new(shaping)))
}

fn check_sizes(sizes: &[i64]) -> Result<()> {
    match sizes.iter().any(|n| *n < -1) || sizes.iter().filter(|n| **n == -1).count() > 1 {
        true => Err(Error::invalid_argument("can only specify one unknown dimension")),
        false => Ok(()),
    }
}

/// The shape that a reshape gives.
fn reshaped(dims: Option<&[Option<usize>]>, sizes: &[i64]) -> Result<Partial> {
    let known = dims.and_then(|dims| dims.iter().copied().collect::<Option<Dims>>());
    let count = known.as_ref().map(|dims| volume(dims)).transpose()?;
    let fixed: Dims = sizes.iter().filter(|size| **size >= 0).map(|size| *size as usize).collect();
    let product = volume(&fixed)?;
    let open = fixed.len() < sizes.len();
    let fill = match count {
        None => None,
        Some(count) if open && product > 0 && count % product == 0 => Some(count / product),
        Some(count) if !open && product == count => None,
        Some(count) => {
            let sizes: Vec<_> = sizes.iter().map(i64::to_string).collect();
            let comma = if sizes.len() == 1 { "," } else { "" };
            return Err(Error::invalid_argument(format!(
                "cannot reshape array of size {count} into shape ({}{comma})",
                sizes.join(",")
            )));
        }
    };
    Ok(sizes.iter().map(|size| usize::try_from(*size).ok().or(fill)).collect())
}

fn permutation(axes: Option<&[i64]>, rank: usize) -> Result<Vec<usize>> {
    let Some(axes) = axes else {
        return Ok((0..rank).rev().collect());
    };
    if axes.len() != rank {
        return Err(Error::invalid_argument("axes don't match array"));
    }
    let axes: Vec<usize> =
        axes.iter().map(|axis| normal_axis(*axis, rank)).collect::<Result<_>>()?;
    if (0..rank).any(|axis| !axes.contains(&axis)) {
        return Err(Error::invalid_argument("repeated axis in transpose"));
    }
    Ok(axes)
}

impl Shaping {
    /// The shape of the result for one of this shape.
    fn rule(&self, dims: &[Option<usize>]) -> Result<Partial> {
        match self {
            Shaping::Reshape(sizes) => reshaped(Some(dims), sizes),
            Shaping::ExpandDims(axes) => {
                let mut dims = dims.to_vec();
                for axis in normal_axes(axes, dims.len() + axes.len())? {
                    dims.insert(axis, Some(1));
                }
                Ok(dims)
            }
            Shaping::Squeeze(axes) => squeezed(dims, axes.as_deref()),
            Shaping::Ensure(sizes) => ensured(dims, sizes),
            Shaping::Transpose(axes) => {
                let axes = permutation(axes.as_deref(), dims.len())?;
                Ok(axes.into_iter().map(|axis| dims[axis]).collect())
            }
            Shaping::BroadcastTo(target) => {
                let fits = dims.len() <= target.len()
                    && dims
                        .iter()
                        .rev()
                        .zip(target.iter().rev())
                        .all(|(dim, target)| dim.is_none_or(|dim| dim == 1 || dim == *target));
                if !fits {
                    let (from, to) =
                        (PartialShape::new(dims.iter().copied()), PartialShape::from(&target[..]));
                    return Err(Error::invalid_argument(format!(
                        "cannot broadcast an array of shape {from} to shape {to}"
                    )));
                }
                Ok(target.iter().map(|dim| Some(*dim)).collect())
            }
        }
    }

    fn walk(&self, row: &[usize]) -> Result<Walk> {
        let plain = Walk::plain(row);
        match self {
            Shaping::Transpose(axes) => {
                let axes = permutation(axes.as_deref(), row.len())?;
                let strides = axes.iter().map(|axis| plain.strides[*axis]).collect();
                Ok(Walk { dims: axes.iter().map(|axis| row[*axis]).collect(), strides, start: 0 })
            }
            Shaping::BroadcastTo(target) => {
                let added = target.len() - row.len();
                let stride = |axis: usize| match axis.checked_sub(added) {
                    Some(own) if row[own] != 1 => plain.strides[own],
                    _ => 0,
                };
                let strides = (0..target.len()).map(stride).collect();
                Ok(Walk { dims: target.clone(), strides, start: 0 })
            }
            _ => Ok(plain),
        }
    }
}

/// What a shape and a stated one say together.
fn ensured(dims: &[Option<usize>], sizes: &[i64]) -> Result<Partial> {
    let sizes: Partial = sizes.iter().map(|size| usize::try_from(*size).ok()).collect();
    let fits = dims.len() == sizes.len()
        && dims.iter().zip(&sizes).all(|(a, b)| a.is_none() || b.is_none() || a == b);
    if !fits {
        let (own, stated) = (PartialShape::new(dims.to_vec()), PartialShape::new(sizes));
        return Err(Error::invalid_argument(format!(
            "shape of tensor input {own} is not compatible with expected shape {stated}"
        )));
    }
    Ok(dims.iter().zip(sizes).map(|(dim, size)| dim.or(size)).collect())
}

fn squeezed(dims: &[Option<usize>], axes: Option<&[i64]>) -> Result<Partial> {
    let Some(axes) = axes else {
        if dims.contains(&None) {
            let text = "squeeze without an axis needs a shape that is fully known";
            return Err(Error::invalid_argument(text));
        }
        return Ok(dims.iter().filter(|dim| **dim != Some(1)).copied().collect());
    };
    let axes = normal_axes(axes, dims.len())?;
    if axes.iter().any(|axis| dims[*axis].is_some_and(|dim| dim != 1)) {
        return Err(Error::invalid_argument(
            "cannot select an axis to squeeze out which has size not equal to one",
        ));
    }
    let keep = |(axis, dim): (usize, &Option<usize>)| (!axes.contains(&axis)).then_some(*dim);
    Ok(dims.iter().enumerate().filter_map(keep).collect())
}

impl Kernel for Shaping {
    fn infer(&self, specs: &[Spec]) -> Result<Vec<Spec>> {
        let [spec] = inputs(specs)?;
        let (dtype, shape) = super::cast::dense(spec)?;
        let shape = match (shape.dims(), self) {
            (Some(dims), _) => PartialShape::new(self.rule(dims)?),
            (None, Shaping::Reshape(sizes)) => PartialShape::new(reshaped(None, sizes)?),
            (None, Shaping::BroadcastTo(target)) => PartialShape::from(&target[..]),
            (None, Shaping::Ensure(sizes)) => {
                PartialShape::new(sizes.iter().map(|size| usize::try_from(*size).ok()))
            }
            (None, _) => PartialShape::UNKNOWN,
        };
        Ok(vec![Spec::Tensor { dtype, shape }])
    }

    fn run(&self, args: &[Arg], rows: usize, _: &[Wanted]) -> Result<Vec<Column>> {
        let [arg] = inputs(args)?;
        let tensor = stacked(arg, rows)?;
        let row: Dims = tensor.dims().get(1..).unwrap_or_default().into();
        let partial: Partial = row.iter().map(|dim| Some(*dim)).collect();
        let dims = PartialShape::new(self.rule(&partial)?).prepend(Some(rows)).known();
        let dims = dims.ok_or_else(|| Error::internal("a shape is known in part only"))?;
        let result = match self {
            Shaping::Transpose(_) | Shaping::BroadcastTo(_) => {
                self.walk(&row)?.for_rows(rows, row.iter().product()).collect(&tensor)?
            }
            _ => tensor.reshape(dims)?,
        };
        Ok(vec![Column::Stacked(result)])
    }

    fn tolerance(&self) -> Tolerance {
        Tolerance::Moved
    }
}

/// The first input in the shape that the second one says.
#[derive(Debug)]
struct ShapedBy {
    broadcast: bool,
}

impl ShapedBy {
    fn one(&self, x: &Tensor, shape: &Tensor) -> Result<Tensor> {
        let sizes = cast_tensor(shape, DType::Int64)?.values::<i64>()?.to_vec();
        let own: Partial = x.dims().iter().map(|dim| Some(*dim)).collect();
        if !self.broadcast {
            check_sizes(&sizes)?;
            let dims: Option<Dims> = reshaped(Some(&own), &sizes)?.into_iter().collect();
            let dims = dims.ok_or_else(|| Error::internal("a shape is known in part only"))?;
            return x.clone().reshape(dims);
        }
        let size = |dim: &i64| {
            usize::try_from(*dim)
                .map_err(|_| Error::invalid_argument("all sizes of a shape must be at least 0"))
        };
        let target: Dims = sizes.iter().map(size).collect::<Result<_>>()?;
        bounded(&target, x.dtype().size())?;
        let shaping = Shaping::BroadcastTo(target);
        shaping.rule(&own)?;
        shaping.walk(x.dims())?.collect(x)
    }
}

impl Kernel for ShapedBy {
    fn infer(&self, specs: &[Spec]) -> Result<Vec<Spec>> {
        let [x, shape] = inputs(specs)?;
        let ((dtype, _), (kind, shape)) = (super::cast::dense(x)?, super::cast::dense(shape)?);
        let rank = match shape.dims() {
            Some([rank]) if kind.is_integer() => *rank,
            None if kind.is_integer() => None,
            _ => return Err(Error::invalid_argument("a shape must be a vector of integers")),
        };
        let shape = rank.map_or(PartialShape::UNKNOWN, |rank| {
            PartialShape::new(std::iter::repeat_n(None, rank))
        });
        Ok(vec![Spec::Tensor { dtype, shape }])
    }

    fn run(&self, args: &[Arg], rows: usize, _: &[Wanted]) -> Result<Vec<Column>> {
        by_row(args, rows, |row| Ok([self.one(&row[0], &row[1])?]))
    }

    fn tolerance(&self) -> Tolerance {
        Tolerance::Moved
    }
}

#[derive(Debug)]
struct ShapeOf;

impl Kernel for ShapeOf {
    fn infer(&self, specs: &[Spec]) -> Result<Vec<Spec>> {
        let [spec] = inputs(specs)?;
        let (_, shape) = super::cast::dense(spec)?;
        Ok(vec![Spec::tensor(DType::Int64, [shape.rank()])])
    }

    fn run(&self, args: &[Arg], rows: usize, _: &[Wanted]) -> Result<Vec<Column>> {
        let [arg] = inputs(args)?;
        let row: Vec<i64> = arg.row_dims()?.iter().map(|dim| *dim as i64).collect();
        Ok(vec![Arg::Const(Tensor::from_values(&[row.len()], &row)?).into_column(rows)?])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stated_shape_adds_what_is_not_known_and_refuses_another() {
        assert_eq!(ensured(&[None, Some(3)], &[2, -1]).unwrap(), [Some(2), Some(3)]);
        let error = ensured(&[Some(4)], &[2]).unwrap_err();
        assert!(error.message().contains("not compatible with expected shape (2,)"));
        assert!(ensured(&[Some(4)], &[4, 1]).is_err());
    }

    #[test]
    fn one_size_of_a_reshape_is_worked_out() {
        let dims = [Some(4), Some(6)];
        assert_eq!(reshaped(Some(&dims), &[3, -1]).unwrap(), [Some(3), Some(8)]);
        assert_eq!(reshaped(Some(&[None]), &[3, -1]).unwrap(), [Some(3), None]);
        let text = reshaped(Some(&dims), &[5, -1]).unwrap_err().to_string();
        assert_eq!(text, "cannot reshape array of size 24 into shape (5,-1)");
        assert!(reshaped(Some(&[Some(0)]), &[0, -1]).is_err());
    }

    #[test]
    fn axes_count_from_the_end_too() {
        let expand = Shaping::ExpandDims(vec![-1, 0]);
        assert_eq!(expand.rule(&[Some(3)]).unwrap(), [Some(1), Some(3), Some(1)]);
        let squeeze = Shaping::Squeeze(Some(vec![-1]));
        assert_eq!(squeeze.rule(&[None, Some(1)]).unwrap(), [None]);
        assert!(squeeze.rule(&[Some(2)]).is_err());
        assert!(normal_axes(&[1, -1], 2).is_err());
    }
}
