//! Operations that take each axis apart: `pad`, `repeat`, `roll`, `tile`.
//!
//! Each is a list of places for every axis: where along it the values of the result come from. How
//! many there are is static, or an input that a run computes.

use std::borrow::Cow;
use std::sync::Arc;

use crate::data::shape::volume;
use crate::data::{Column, DType, Dims, PartialShape, Spec, Tensor, Wanted};
use crate::error::{Error, Result};
use crate::graph::attr::Attrs;
use crate::graph::kernel::{Arg, Kernel, Tolerance};
use crate::kernels::cast::{cast_tensor, dense};
use crate::kernels::places::{FILL, bounded, by_row, each_index, pick, pick_or, room};
use crate::kernels::shape::normal_axis;

/// Places along one axis; `None` if it stays as it is.
type Places<'a> = Option<Cow<'a, [usize]>>;

/// The values at the places of each axis of `dims`, which the values of `x` have.
fn remap(
    x: &Tensor,
    dims: &[usize],
    places: &[Places<'_>],
    filler: Option<&Tensor>,
) -> Result<Tensor> {
    let size = |(dim, places): (&usize, &Places<'_>)| places.as_ref().map_or(*dim, |p| p.len());
    let out: Dims = dims.iter().zip(places).map(size).collect();
    bounded(&out, x.dtype().size())?;
    let moved = places.iter().rposition(Option::is_some).map_or(0, |axis| axis + 1);
    let run: usize = dims[moved..].iter().product();
    let mut flat = room(volume(&out[..moved])?)?;
    if volume(&out)? > 0 {
        each_index(&out[..moved], |index| {
            let mut place = 0;
            for ((axis, at), dim) in index.iter().enumerate().zip(dims) {
                let at = places[axis].as_ref().map_or(*at, |places| places[*at]);
                if at == FILL {
                    flat.push(FILL);
                    return Ok(());
                }
                place = place * dim + at;
            }
            flat.push(place);
            Ok(())
        })?;
    }
    match filler {
        Some(filler) => pick_or(x, filler, &flat, run, out),
        None => pick(x, &flat, run, out),
    }
}

/// The same for each row of a column, or for a constant.
fn remap_rows(
    x: &Arg,
    rows: usize,
    places: Vec<Places<'_>>,
    filler: Option<&Tensor>,
) -> Result<Column> {
    match x {
        Arg::Const(tensor) => {
            let result = remap(tensor, tensor.dims(), &places, filler)?;
            Arg::Const(result).into_column(rows)
        }
        Arg::Column(_) => {
            let tensor = x.tensor()?;
            let places: Vec<_> = std::iter::once(None).chain(places).collect();
            Ok(Column::Stacked(remap(tensor, tensor.dims(), &places, filler)?))
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Mode {
    Constant,
    Edge,
    Reflect,
    Symmetric,
    Wrap,
}

#[derive(Debug)]
enum Axes {
    /// Inputs: values, the filler of mode constant, widths unless static.
    Pad {
        mode: Mode,
        widths: Option<Vec<i64>>,
        /// TensorFlow's: no more is reflected than there is.
        strict: bool,
    },
    /// Inputs: values, counts unless static.
    Tile(Option<Vec<i64>>),
    Repeat {
        axis: i64,
        counts: Option<Vec<i64>>,
    },
    /// Inputs: values, a shift for each axis.
    Roll(Vec<i64>),
}

pub(super) fn build(op: &str, attrs: &Attrs) -> Result<Option<Arc<dyn Kernel>>> {
    let axes = match op {
        "pad" => {
            attrs.only(&["mode", "widths", "strict"])?;
            let mode = match attrs.opt_str("mode")?.unwrap_or("constant") {
                "constant" => Mode::Constant,
                "edge" => Mode::Edge,
                "reflect" => Mode::Reflect,
                "symmetric" => Mode::Symmetric,
                "wrap" => Mode::Wrap,
                mode => {
                    return Err(Error::invalid_argument(format!("there is no mode {mode:?}")));
                }
            };
            let strict = attrs.bool_or("strict", false)?;
            Axes::Pad { mode, widths: attrs.opt_ints("widths")?, strict }
        }
        "tile" => {
            attrs.only(&["reps"])?;
            Axes::Tile(attrs.opt_ints("reps")?)
        }
        "repeat" => {
            attrs.only(&["axis", "repeats"])?;
            Axes::Repeat { axis: attrs.int("axis")?, counts: attrs.opt_ints("repeats")? }
        }
        "roll" => {
            attrs.only(&["axis"])?;
            Axes::Roll(attrs.ints("axis")?)
        }
        _ => return Ok(None),
    };
    Ok(Some(Arc::new(axes)))
}

fn counts(values: &[i64], what: &str) -> Result<Vec<usize>> {
    let count = |value: &i64| {
        usize::try_from(*value).map_err(|_| {
            Error::invalid_argument(format!("{what} must be non-negative, got {value}"))
        })
    };
    values.iter().map(count).collect()
}

/// Where the values of a padded axis come from.
fn padded(size: usize, before: usize, after: usize, mode: Mode, axis: usize) -> Result<Vec<usize>> {
    let total = before.checked_add(size).and_then(|sum| sum.checked_add(after));
    let total = total.ok_or_else(|| Error::resource_exhausted("the widths are too large"))?;
    bounded(&[total], Some(1))?;
    if size == 0 && mode != Mode::Constant && total > 0 {
        return Err(Error::invalid_argument(format!(
            "can't extend empty axis {axis} using modes other than 'constant'"
        )));
    }
    let mut places = room(total)?;
    // Places before the first one are counted down from a multiple of the period.
    let (count, start) = (size as i64, -(before as i64));
    places.extend((start..start + total as i64).map(|at| match mode {
        _ if (0..count).contains(&at) => at as usize,
        Mode::Constant => FILL,
        Mode::Edge => at.clamp(0, count - 1) as usize,
        Mode::Wrap => at.rem_euclid(count) as usize,
        Mode::Symmetric => {
            let at = at.rem_euclid(2 * count);
            at.min(2 * count - 1 - at) as usize
        }
        Mode::Reflect if count == 1 => 0,
        Mode::Reflect => {
            let at = at.rem_euclid(2 * count - 2);
            at.min(2 * count - 2 - at) as usize
        }
    }));
    Ok(places)
}

impl Axes {
    fn pad(&self, dims: &[usize], widths: &[i64]) -> Result<Vec<Places<'static>>> {
        let Axes::Pad { mode, strict, .. } = self else {
            return Err(Error::internal("no padding"));
        };
        if widths.len() != 2 * dims.len() {
            let (rank, got) = (dims.len(), widths.len() / 2);
            return Err(Error::invalid_argument(format!(
                "paddings must be the rank of the input: {got} pairs for {rank} axes"
            )));
        }
        let widths = counts(widths, "paddings")?;
        let mut places = Vec::with_capacity(dims.len());
        for ((axis, size), pair) in dims.iter().enumerate().zip(widths.chunks_exact(2)) {
            let most = match mode {
                Mode::Reflect => size.saturating_sub(1),
                Mode::Symmetric => *size,
                _ => usize::MAX,
            };
            if *strict && (pair[0] > most || pair[1] > most) {
                return Err(Error::invalid_argument(format!(
                    "paddings must be no greater than {most} for dimension {axis} of size {size}: \
                     {}, {}",
                    pair[0], pair[1]
                )));
            }
            places.push(match pair {
                [0, 0] => None,
                _ => Some(padded(*size, pair[0], pair[1], *mode, axis)?.into()),
            });
        }
        Ok(places)
    }

    /// The shape with axes of size 1 in front, and the places of each axis.
    fn tile(dims: &[usize], reps: &[i64]) -> Result<(Dims, Vec<Places<'static>>)> {
        let mut reps = counts(reps, "repetitions")?;
        let rank = dims.len().max(reps.len());
        let mut wide = Dims::from_elem(1, rank - dims.len());
        wide.extend_from_slice(dims);
        reps.splice(0..0, std::iter::repeat_n(1, rank - reps.len()));
        let out: Option<Dims> = wide.iter().zip(&reps).map(|(d, n)| d.checked_mul(*n)).collect();
        let out = out.ok_or_else(|| Error::resource_exhausted("the repetitions are too many"))?;
        bounded(&out, Some(1))?;
        let mut places = Vec::with_capacity(rank);
        for ((size, count), total) in wide.iter().zip(&reps).zip(&out) {
            places.push(match count {
                1 => None,
                _ => {
                    let mut axis = room(*total)?;
                    axis.extend((0..*total).map(|at| at % size));
                    Some(axis.into())
                }
            });
        }
        Ok((wide, places))
    }

    fn repeat(axis: i64, dims: &[usize], repeats: &[i64]) -> Result<Vec<Places<'static>>> {
        let axis = normal_axis(axis, dims.len())?;
        let counts = counts(repeats, "repeats")?;
        let size = dims[axis];
        if counts.len() != 1 && counts.len() != size {
            return Err(Error::invalid_argument(format!(
                "operands could not be broadcast together with shape ({size},) ({},)",
                counts.len()
            )));
        }
        let count = |at: usize| counts[if counts.len() == 1 { 0 } else { at }];
        let total = (0..size).try_fold(0_usize, |sum, at| sum.checked_add(count(at)));
        let total = total.ok_or_else(|| Error::resource_exhausted("the repeats are too many"))?;
        bounded(&[total], Some(1))?;
        let mut places = room(total)?;
        (0..size).for_each(|at| places.extend(std::iter::repeat_n(at, count(at))));
        let mut all: Vec<Places<'static>> = vec![None; dims.len()];
        all[axis] = Some(places.into());
        Ok(all)
    }

    fn roll(axes: &[i64], dims: &[usize], shifts: &[i64]) -> Result<Vec<Places<'static>>> {
        if shifts.len() != 1 && axes.len() != 1 && shifts.len() != axes.len() {
            return Err(Error::invalid_argument("'shift' and 'axis' must be of the same length"));
        }
        let mut moved: Vec<i64> = vec![0; dims.len()];
        for k in 0..axes.len().max(shifts.len()) {
            let axis = normal_axis(axes[if axes.len() == 1 { 0 } else { k }], dims.len())?;
            let size = (dims[axis] as i64).max(1);
            let shift = shifts[if shifts.len() == 1 { 0 } else { k }];
            moved[axis] = (moved[axis] + shift.rem_euclid(size)).rem_euclid(size);
        }
        let along = |(size, shift): (&usize, &i64)| match shift {
            0 => None,
            _ => {
                let places: Vec<usize> =
                    (0..*size).map(|at| (at + size - *shift as usize) % size).collect();
                Some(places.into())
            }
        };
        Ok(dims.iter().zip(&moved).map(along).collect())
    }

    /// The static sizes, and how many inputs come before those that a run computes.
    fn given(&self) -> (Option<&[i64]>, usize) {
        match self {
            Axes::Pad { widths, mode, .. } => {
                (widths.as_deref(), if *mode == Mode::Constant { 2 } else { 1 })
            }
            Axes::Tile(reps) => (reps.as_deref(), 1),
            Axes::Repeat { counts, .. } => (counts.as_deref(), 1),
            Axes::Roll(_) => (None, 1),
        }
    }

    /// The shape of the result, for static sizes or without them.
    fn rule(&self, dims: &[Option<usize>]) -> Result<Vec<Option<usize>>> {
        let dim = |(axis, dim): (usize, &Option<usize>)| match (self, self.given().0, dim) {
            (Axes::Roll(_), ..) => *dim,
            (Axes::Repeat { axis: along, .. }, ..)
                if normal_axis(*along, dims.len()).is_ok_and(|along| along != axis) =>
            {
                *dim
            }
            (Axes::Repeat { .. }, Some([count]), Some(dim)) => Some(dim * (*count).max(0) as usize),
            (Axes::Repeat { .. }, Some(counts), _) if counts.len() != 1 => {
                Some(counts.iter().map(|count| (*count).max(0) as usize).sum())
            }
            (Axes::Pad { .. }, Some(widths), Some(dim)) if widths.len() == 2 * dims.len() => {
                let pair = &widths[2 * axis..];
                Some(dim + pair[0].max(0) as usize + pair[1].max(0) as usize)
            }
            _ => None,
        };
        if let (Axes::Tile(_), Some(reps)) = (self, self.given().0) {
            let rank = dims.len().max(reps.len());
            let at = |axis: usize| {
                let own = (axis + dims.len()).checked_sub(rank).map_or(Some(1), |axis| dims[axis]);
                let count = (axis + reps.len()).checked_sub(rank).map_or(1, |axis| reps[axis]);
                own.and_then(|dim| dim.checked_mul(count.max(0) as usize))
            };
            return Ok((0..rank).map(at).collect());
        }
        if let Axes::Repeat { axis, .. } = self {
            normal_axis(*axis, dims.len())?;
        }
        Ok(dims.iter().enumerate().map(dim).collect())
    }

    /// All places for a row of this shape and these sizes, and the shape they are for.
    fn places(&self, dims: &[usize], sizes: &[i64]) -> Result<(Dims, Vec<Places<'static>>)> {
        Ok(match self {
            Axes::Pad { .. } => (dims.into(), self.pad(dims, sizes)?),
            Axes::Tile(_) => Self::tile(dims, sizes)?,
            Axes::Repeat { axis, .. } => (dims.into(), Self::repeat(*axis, dims, sizes)?),
            Axes::Roll(axes) => (dims.into(), Self::roll(axes, dims, sizes)?),
        })
    }
}

impl Kernel for Axes {
    fn infer(&self, specs: &[Spec]) -> Result<Vec<Spec>> {
        let (sizes, first) = self.given();
        if specs.len() != first + usize::from(sizes.is_none()) {
            return Err(Error::invalid_argument(format!("got {} inputs", specs.len())));
        }
        let (dtype, shape) = dense(&specs[0])?;
        if first == 2 && dense(&specs[1])? != (dtype, &PartialShape::scalar()) {
            let text =
                format!("the value to pad with must be a scalar of {dtype}, got {}", specs[1]);
            return Err(Error::invalid_argument(text));
        }
        if let Some(sizes) = specs.get(first)
            && !dense(sizes)?.0.is_integer()
        {
            return Err(Error::invalid_argument(format!("sizes must be integers, got {sizes}")));
        }
        // Without static repetitions their number is the rank, if that is known.
        if let (Axes::Tile(None), Some(dims)) = (self, shape.dims()) {
            let count = specs.get(1).and_then(|spec| spec.shape().known());
            let rank = count.map(|count| dims.len().max(count.iter().product()));
            let shape = rank.map_or(PartialShape::UNKNOWN, |rank| {
                PartialShape::new(std::iter::repeat_n(None, rank))
            });
            return Ok(vec![Spec::Tensor { dtype, shape }]);
        }
        let shape = match shape.dims() {
            Some(dims) => PartialShape::new(self.rule(dims)?),
            None => PartialShape::UNKNOWN,
        };
        Ok(vec![Spec::Tensor { dtype, shape }])
    }

    fn run(&self, args: &[Arg], rows: usize, _: &[Wanted]) -> Result<Vec<Column>> {
        let (sizes, first) = self.given();
        let ints = |arg: &Tensor| cast_tensor(arg, DType::Int64);
        let sizes: Option<Cow<'_, [i64]>> = match (sizes, args.get(first)) {
            (Some(sizes), _) => Some(sizes.into()),
            (None, Some(Arg::Const(sizes))) => Some(ints(sizes)?.values::<i64>()?.to_vec().into()),
            _ => None,
        };
        let varies = args.get(1).is_some_and(|filler| first == 2 && !filler.is_const());
        if let (Some(sizes), false) = (&sizes, varies) {
            let (dims, places) = self.places(args[0].row_dims()?, sizes)?;
            let filler = if first == 2 { Some(args[1].tensor()?) } else { None };
            // Repetitions may be of more axes than there are.
            let x = match &args[0] {
                Arg::Const(x) => Arg::Const(x.clone().reshape(dims)?),
                x => {
                    let dims = std::iter::once(rows).chain(dims).collect();
                    Arg::Column(Column::Stacked(x.tensor()?.clone().reshape(dims)?))
                }
            };
            return Ok(vec![remap_rows(&x, rows, places, filler)?]);
        }
        by_row(args, rows, |row| {
            let own = match row.get(first) {
                Some(tensor) => ints(tensor)?.values::<i64>()?.to_vec(),
                None => sizes.as_deref().unwrap_or_default().to_vec(),
            };
            let (dims, places) = self.places(row[0].dims(), &own)?;
            let filler = if first == 2 { row.get(1) } else { None };
            let x = row[0].clone().reshape(dims)?;
            Ok([remap(&x, x.dims(), &places, filler)?])
        })
    }

    fn tolerance(&self) -> Tolerance {
        Tolerance::Moved
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn padding_goes_on_past_what_there_is() {
        assert_eq!(padded(3, 4, 4, Mode::Reflect, 0).unwrap(), [0, 1, 2, 1, 0, 1, 2, 1, 0, 1, 2]);
        assert_eq!(padded(2, 3, 1, Mode::Symmetric, 0).unwrap(), [1, 1, 0, 0, 1, 1]);
        assert_eq!(padded(2, 1, 2, Mode::Wrap, 0).unwrap(), [1, 0, 1, 0, 1]);
        assert_eq!(padded(2, 1, 1, Mode::Edge, 0).unwrap(), [0, 0, 1, 1]);
        assert!(padded(0, 1, 0, Mode::Edge, 0).is_err());
        assert!(padded(1, usize::MAX, 1, Mode::Constant, 0).is_err());
    }

    #[test]
    fn sizes_without_proportion_are_refused_before_there_is_memory_for_them() {
        let x = Tensor::from_values(&[2], &[1_i32, 2]).unwrap();
        let huge = [1_i64 << 40];
        let refused = |axes: Axes, sizes: &[i64]| axes.places(x.dims(), sizes).is_err();
        assert!(refused(Axes::Tile(None), &huge));
        assert!(refused(Axes::Repeat { axis: 0, counts: None }, &huge));
        let pad = Axes::Pad { mode: Mode::Wrap, widths: None, strict: false };
        assert!(refused(pad, &[1 << 40, 0]));
        assert!(refused(Axes::Tile(None), &[-1]));
    }
}
