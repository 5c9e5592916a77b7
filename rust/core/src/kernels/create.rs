//! Arrays whose size a run computes: `fill`, `full_like`, `range`, `sequence_mask`; and those of a
//! diagonal: `band_part`, `diag`, `diagonal`.

use std::sync::Arc;

use crate::data::shape::volume;
use crate::data::{BufferMut, Column, DType, Dims, PartialShape, Spec, Tensor, Wanted};
use crate::error::{Error, Result};
use crate::graph::attr::Attrs;
use crate::graph::kernel::{Arg, Kernel, Tolerance};
use crate::kernels::cast::{Target, cast_tensor, dense, inputs, scratch};
use crate::kernels::dispatch::with_type;
use crate::kernels::elementwise::number::Number;
use crate::kernels::places::{bounded, by_row};
use crate::kernels::shape::{normal_axis, stacked};
use crate::kernels::strided::Walk;

#[derive(Debug)]
enum Create {
    /// A shape, int `[rank]`, and a scalar.
    Fill,
    /// An array and a scalar.
    FullLike,
    /// Scalars start, end, step of one dtype. NumPy's steps are by the difference of the first
    /// two, which is rounded.
    Range { rounded: bool },
    /// Lengths; the greatest one unless static.
    SequenceMask(Option<usize>),
}

pub(super) fn build(op: &str, attrs: &Attrs) -> Result<Option<Arc<dyn Kernel>>> {
    let create = match op {
        "fill" => Create::Fill,
        "full_like" => Create::FullLike,
        "range" => {
            attrs.only(&["rounded"])?;
            let rounded = attrs.bool_or("rounded", true)?;
            return Ok(Some(Arc::new(Create::Range { rounded })));
        }
        "sequence_mask" => {
            attrs.only(&["maxlen"])?;
            let maxlen = attrs.opt_int("maxlen")?;
            // Nothing is shorter than a negative length.
            let maxlen = maxlen.map(|length| usize::try_from(length).unwrap_or(0));
            return Ok(Some(Arc::new(Create::SequenceMask(maxlen))));
        }
        "band_part" => {
            attrs.only(&["lower", "upper"])?;
            let (lower, upper) = (attrs.opt_int("lower")?, attrs.opt_int("upper")?);
            return Ok(Some(Arc::new(Band { lower, upper })));
        }
        "diag" => {
            attrs.only(&["offset"])?;
            return Ok(Some(Arc::new(Diag { offset: attrs.opt_int("offset")?.unwrap_or(0) })));
        }
        "diagonal" => {
            attrs.only(&["offset", "axis1", "axis2"])?;
            let offset = attrs.opt_int("offset")?.unwrap_or(0);
            let axes = (attrs.opt_int("axis1")?, attrs.opt_int("axis2")?);
            let axes = (axes.0.unwrap_or(0), axes.1.unwrap_or(1));
            return Ok(Some(Arc::new(Diagonal { offset, axes })));
        }
        _ => return Ok(None),
    };
    attrs.only(&[])?;
    Ok(Some(Arc::new(create)))
}

/// A tensor of one value.
fn filled(value: &Tensor, dims: Dims) -> Result<Tensor> {
    bounded(&dims, value.dtype().size())?;
    let walk = Walk { strides: std::iter::repeat_n(0, dims.len()).collect(), dims, start: 0 };
    walk.collect(value)
}

fn number<T: Number + Target>(start: T, end: T, step: T, rounded: bool) -> Result<Tensor> {
    let (first, last, width) = (start.to_f64(), end.to_f64(), step.to_f64());
    if width == 0.0 || width.is_nan() {
        return Err(Error::invalid_argument("the step of a range must not be zero"));
    }
    let exact = (i128::from(start.to_i64()), i128::from(end.to_i64()), i128::from(step.to_i64()));
    let count = if T::DTYPE.is_integer() && T::DTYPE != DType::UInt64 {
        let (start, end, step) = exact;
        let span = if step > 0 { end - start } else { start - end };
        let step = step.abs();
        ((span + step - 1) / step).max(0) as f64
    } else {
        ((last - first) / width).ceil().max(0.0)
    };
    if !count.is_finite() || count > (1_u64 << 40) as f64 {
        return Err(Error::resource_exhausted(format!("a range of {count} numbers")));
    }
    let count = count as usize;
    bounded(&[count], T::DTYPE.size())?;
    let mut out = scratch::<T>(count)?;
    let step = if rounded { start.add(step).subtract(start) } else { step };
    for (k, out) in out.typed_mut::<T>().iter_mut().enumerate() {
        *out = start.add(T::cast_from(k as i64).multiply(step));
    }
    Tensor::fixed(T::DTYPE, [count][..].into(), out.freeze())
}

impl Create {
    fn one(&self, row: &[Tensor]) -> Result<Tensor> {
        match (self, row) {
            (Create::Fill, [shape, value]) => {
                let shape = cast_tensor(shape, DType::Int64)?;
                let dim = |dim: &i64| {
                    usize::try_from(*dim).map_err(|_| {
                        Error::invalid_argument(format!("dimension {dim} must be >= 0"))
                    })
                };
                filled(value, shape.values::<i64>()?.iter().map(dim).collect::<Result<_>>()?)
            }
            (Create::FullLike, [x, value]) => filled(value, x.dims().into()),
            (Create::Range { rounded }, [start, end, step]) => {
                let unknown = || Error::internal(format!("range does not take {}", start.dtype()));
                with_type!(start.dtype(), T: [int, float] => {
                    match (start.values::<T>()?, end.values::<T>()?, step.values::<T>()?) {
                        ([start], [end], [step]) => number(*start, *end, *step, *rounded),
                        _ => Err(unknown()),
                    }
                }, else Err(unknown()))
            }
            (Create::SequenceMask(maxlen), [lengths]) => {
                let own = cast_tensor(lengths, DType::Int64)?;
                let own = own.values::<i64>()?;
                let longest = own.iter().max().map_or(0, |n| usize::try_from(*n).unwrap_or(0));
                let size = maxlen.unwrap_or(longest);
                let dims: Dims = lengths.dims().iter().copied().chain([size]).collect();
                let mut out = BufferMut::zeroed(bounded(&dims, Some(1))?)?;
                for (out, length) in out.chunks_exact_mut(size.max(1)).zip(own) {
                    let count = usize::try_from(*length).unwrap_or(0).min(size);
                    out[..count].fill(1);
                }
                Tensor::fixed(DType::Bool, dims, out.freeze())
            }
            _ => Err(Error::internal("another number of inputs")),
        }
    }
}

impl Kernel for Create {
    fn infer(&self, specs: &[Spec]) -> Result<Vec<Spec>> {
        let scalar = |spec: &Spec| match dense(spec)? {
            (dtype, shape) if shape.accepts(&[]) => Ok(dtype),
            _ => Err(Error::invalid_argument(format!("expected a scalar, got {spec}"))),
        };
        let integer = |spec: &Spec| match dense(spec)? {
            (dtype, shape) if dtype.is_integer() => Ok(shape.clone()),
            _ => Err(Error::invalid_argument(format!("expected integers, got {spec}"))),
        };
        let (dtype, shape) = match (self, specs) {
            (Create::Fill, [shape, value]) => {
                let rank = match integer(shape)?.dims() {
                    Some([rank]) => *rank,
                    None => None,
                    _ => return Err(Error::invalid_argument("a shape must be one-dimensional")),
                };
                let shape = rank.map_or(PartialShape::UNKNOWN, |rank| {
                    PartialShape::new(std::iter::repeat_n(None, rank))
                });
                (scalar(value)?, shape)
            }
            (Create::FullLike, [x, value]) => (scalar(value)?, dense(x)?.1.clone()),
            (Create::Range { .. }, [start, end, step]) => {
                let dtype = scalar(start)?;
                let one = scalar(end)? == dtype && scalar(step)? == dtype;
                if !one || !(dtype.is_integer() || dtype.is_float()) {
                    let text = "the ends and the step of a range must be of one real dtype";
                    return Err(Error::invalid_argument(text));
                }
                (dtype, PartialShape::new([None]))
            }
            (Create::SequenceMask(maxlen), [lengths]) => {
                let shape = integer(lengths)?;
                let shape = shape.dims().map_or(PartialShape::UNKNOWN, |dims| {
                    PartialShape::new(dims.iter().copied().chain([*maxlen]))
                });
                (DType::Bool, shape)
            }
            _ => {
                let count = specs.len();
                return Err(Error::invalid_argument(format!("got {count} inputs")));
            }
        };
        Ok(vec![Spec::Tensor { dtype, shape }])
    }

    fn run(&self, args: &[Arg], rows: usize, _: &[Wanted]) -> Result<Vec<Column>> {
        by_row(args, rows, |row| Ok([self.one(row)?]))
    }
}

/// Matrices in the last two axes with zeros outside of a band: where column minus row is below
/// `lower` or above `upper`.
#[derive(Debug)]
struct Band {
    lower: Option<i64>,
    upper: Option<i64>,
}

fn at_least_matrices(spec: &Spec) -> Result<DType> {
    let (dtype, shape) = dense(spec)?;
    if dtype.is_text() || shape.rank().is_some_and(|rank| rank < 2) {
        return Err(Error::invalid_argument(format!("expected matrices of numbers, got {spec}")));
    }
    Ok(dtype)
}

impl Kernel for Band {
    fn infer(&self, specs: &[Spec]) -> Result<Vec<Spec>> {
        let [spec] = inputs(specs)?;
        at_least_matrices(spec)?;
        Ok(vec![spec.clone()])
    }

    fn run(&self, args: &[Arg], rows: usize, _: &[Wanted]) -> Result<Vec<Column>> {
        let [arg] = inputs(args)?;
        let x = stacked(arg, rows)?;
        let [.., lines, columns] = *x.dims() else {
            return Err(Error::internal("a band of a vector"));
        };
        let size = x.dtype().size().ok_or_else(|| Error::internal("a band of text"))?;
        let from = x.bytes()?;
        let mut out = BufferMut::zeroed(from.len())?;
        if lines * columns > 0 {
            let line = columns * size;
            let pairs = out.chunks_exact_mut(line).zip(from.chunks_exact(line));
            for (k, (out, from)) in pairs.enumerate() {
                let row = (k % lines) as i64;
                let bound = |at: i64| at.clamp(0, columns as i64) as usize;
                let first = self.lower.map_or(0, |lower| bound(row.saturating_add(lower)));
                let last = self
                    .upper
                    .map_or(columns, |upper| bound(row.saturating_add(upper).saturating_add(1)));
                if first < last {
                    out[first * size..last * size]
                        .copy_from_slice(&from[first * size..last * size]);
                }
            }
        }
        Ok(vec![Column::Stacked(Tensor::fixed(x.dtype(), x.dims().into(), out.freeze())?)])
    }

    fn tolerance(&self) -> Tolerance {
        Tolerance::Moved
    }
}

/// Matrices with the last axis on a diagonal, zeros elsewhere.
#[derive(Debug)]
struct Diag {
    offset: i64,
}

impl Kernel for Diag {
    fn infer(&self, specs: &[Spec]) -> Result<Vec<Spec>> {
        let [spec] = inputs(specs)?;
        let (dtype, shape) = dense(spec)?;
        if dtype.is_text() || shape.rank() == Some(0) {
            return Err(Error::invalid_argument(format!(
                "expected vectors of numbers, got {spec}"
            )));
        }
        let off = self.offset.unsigned_abs() as usize;
        let shape = shape.dims().map_or(PartialShape::UNKNOWN, |dims| {
            let size = dims[dims.len() - 1].and_then(|size| size.checked_add(off));
            PartialShape::new(dims[..dims.len() - 1].iter().copied().chain([size, size]))
        });
        Ok(vec![Spec::Tensor { dtype, shape }])
    }

    fn run(&self, args: &[Arg], rows: usize, _: &[Wanted]) -> Result<Vec<Column>> {
        let [arg] = inputs(args)?;
        let x = stacked(arg, rows)?;
        let Some((count, front)) = x.dims().split_last() else {
            return Err(Error::internal("a diagonal of a scalar"));
        };
        let off = self.offset.unsigned_abs() as usize;
        let size = count.checked_add(off).unwrap_or(usize::MAX);
        let dims: Dims = front.iter().copied().chain([size, size]).collect();
        bounded(&dims, x.dtype().size())?;
        let bytes = x.dtype().size().ok_or_else(|| Error::internal("a diagonal of text"))?;
        let mut out = BufferMut::zeroed(volume(&dims)? * bytes)?;
        let start = if self.offset > 0 { off } else { off * size };
        let from = x.bytes()?;
        if *count > 0 {
            let vectors = from.chunks_exact(count * bytes);
            for (out, vector) in out.chunks_exact_mut(size * size * bytes).zip(vectors) {
                for (k, value) in vector.chunks_exact(bytes).enumerate() {
                    let at = (start + k * (size + 1)) * bytes;
                    out[at..at + bytes].copy_from_slice(value);
                }
            }
        }
        Ok(vec![Column::Stacked(Tensor::fixed(x.dtype(), dims, out.freeze())?)])
    }

    fn tolerance(&self) -> Tolerance {
        Tolerance::Moved
    }
}

/// The diagonals of two axes, as a last axis.
#[derive(Debug)]
struct Diagonal {
    offset: i64,
    axes: (i64, i64),
}

impl Diagonal {
    fn axes(&self, rank: usize) -> Result<(usize, usize)> {
        let axes = (normal_axis(self.axes.0, rank)?, normal_axis(self.axes.1, rank)?);
        if axes.0 == axes.1 {
            return Err(Error::invalid_argument("axis1 and axis2 cannot be the same"));
        }
        Ok(axes)
    }

    /// First row and column, and how many values follow.
    fn span(&self, lines: usize, columns: usize) -> (usize, usize, usize) {
        let off = self.offset.unsigned_abs() as usize;
        let (row, column) = if self.offset >= 0 { (0, off) } else { (off, 0) };
        let count = lines.saturating_sub(row).min(columns.saturating_sub(column));
        (row, column, count)
    }
}

impl Kernel for Diagonal {
    fn infer(&self, specs: &[Spec]) -> Result<Vec<Spec>> {
        let [spec] = inputs(specs)?;
        let (dtype, shape) = dense(spec)?;
        let Some(dims) = shape.dims() else {
            return Ok(vec![Spec::Tensor { dtype, shape: PartialShape::UNKNOWN }]);
        };
        if dims.len() < 2 {
            let text = "diag requires an array of at least two dimensions";
            return Err(Error::invalid_argument(text));
        }
        let (a, b) = self.axes(dims.len())?;
        let size = dims[a].zip(dims[b]).map(|(lines, columns)| self.span(lines, columns).2);
        let rest = dims.iter().enumerate().filter(|(k, _)| *k != a && *k != b);
        let shape = PartialShape::new(rest.map(|(_, dim)| *dim).chain([size]));
        Ok(vec![Spec::Tensor { dtype, shape }])
    }

    fn run(&self, args: &[Arg], rows: usize, _: &[Wanted]) -> Result<Vec<Column>> {
        let [arg] = inputs(args)?;
        let x = stacked(arg, rows)?;
        let row: Dims = x.dims().get(1..).unwrap_or_default().into();
        let (a, b) = self.axes(row.len())?;
        let (line, column, count) = self.span(row[a], row[b]);
        let plain = Walk::plain(&row);
        let rest: Vec<usize> = (0..row.len()).filter(|k| *k != a && *k != b).collect();
        let start = match count {
            0 => 0,
            _ => line * plain.strides[a] as usize + column * plain.strides[b] as usize,
        };
        let walk = Walk {
            dims: rest.iter().map(|k| row[*k]).chain([count]).collect(),
            strides: rest
                .iter()
                .map(|k| plain.strides[*k])
                .chain([plain.strides[a] + plain.strides[b]])
                .collect(),
            start,
        };
        let walk = walk.for_rows(rows, row.iter().product());
        Ok(vec![Column::Stacked(walk.collect(&x)?)])
    }

    fn tolerance(&self) -> Tolerance {
        Tolerance::Moved
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_count_as_numpy_counts() {
        let ints = |start: i32, end, step| number(start, end, step, true).unwrap();
        assert_eq!(ints(1, 8, 3).values::<i32>().unwrap(), [1, 4, 7]);
        assert_eq!(ints(3, 0, -1).values::<i32>().unwrap(), [3, 2, 1]);
        assert!(ints(3, 0, 1).is_empty());
        assert_eq!(number(0.0_f64, 0.3, 0.1, true).unwrap().len(), 3);
        assert!(number(0, 1, 0, true).is_err());
        assert!(number(0.0_f64, f64::INFINITY, 1.0, true).is_err());
        assert!(number(i64::MIN, i64::MAX, 1, true).is_err());
    }

    #[test]
    fn diagonals_are_as_long_as_they_fit() {
        let at = |offset| Diagonal { offset, axes: (0, 1) };
        assert_eq!(at(1).span(3, 4), (0, 1, 3));
        assert_eq!(at(-2).span(3, 4), (2, 0, 1));
        assert_eq!(at(9).span(3, 4).2, 0);
    }

    #[test]
    fn shapes_that_a_run_computes_are_bounded() {
        let one = Tensor::from_values(&[], &[1_u8]).unwrap();
        assert!(filled(&one, [1 << 20, 1 << 20][..].into()).is_err());
        assert_eq!(filled(&one, [2, 3][..].into()).unwrap().values::<u8>().unwrap(), [1; 6]);
    }
}
