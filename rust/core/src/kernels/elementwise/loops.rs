//! Broadcasting as a few nested loops.
//!
//! Row shapes are aligned at their last axes, as NumPy does, and the row axis of columns goes in
//! front of them: `[rows, 28, 28]` and a number per row `[rows]` meet as `[rows, 28, 28]` and
//! `[rows, 1, 1]`. Neighbouring axes that all inputs walk alike become one, so that inputs of one
//! shape, or with a single number, are one flat loop, which the compiler vectorises.

use smallvec::SmallVec;

use crate::data::shape::{broadcast, volume};
use crate::data::{DType, Dims, Element, PartialShape, Tensor};
use crate::error::{Error, Result};
use crate::graph::kernel::Arg;
use crate::kernels::cast::scratch;
use crate::kernels::elementwise::wide::{Body, widely};

/// One loop: how often, and how far each input moves.
#[derive(Clone, Copy)]
struct Axis<const N: usize> {
    size: usize,
    strides: [usize; N],
}

/// How to walk `N` inputs together.
pub(crate) struct Loops<const N: usize> {
    /// Shape of the result, with the row axis.
    pub(crate) dims: Dims,
    /// Number of values of the result.
    pub(crate) len: usize,
    outer: SmallVec<[Axis<N>; 4]>,
    inner: usize,
    /// How each input moves in the innermost loop: by 1, or by 0 where it stays.
    pub(crate) steps: [usize; N],
}

impl<const N: usize> Loops<N> {
    /// # Errors
    /// `InvalidArgument` with NumPy's text if the shapes do not fit.
    pub(crate) fn new(args: &[Arg; N], rows: usize) -> Result<Self> {
        let mut row: Dims = Dims::new();
        for arg in args {
            row = broadcast(&row, arg.row_dims()?)?;
        }
        let dims: Dims = std::iter::once(rows).chain(row).collect();
        let mut axes: SmallVec<[Axis<N>; 4]> = SmallVec::new();
        for (axis, size) in dims.iter().enumerate().filter(|(_, size)| **size != 1) {
            let mut strides = [0; N];
            for (stride, arg) in strides.iter_mut().zip(args) {
                *stride = stride_of(arg, axis, dims.len())?;
            }
            // An axis is one with the axis outside of it if all inputs walk on without a jump.
            match axes.last_mut() {
                Some(last) if (0..N).all(|i| last.strides[i] == strides[i] * size) => {
                    *last = Axis { size: last.size * size, strides };
                }
                _ => axes.push(Axis { size: *size, strides }),
            }
        }
        let innermost = axes.pop().unwrap_or(Axis { size: 1, strides: [1; N] });
        let len = volume(&dims)?;
        let (inner, steps) = (innermost.size, innermost.strides);
        Ok(Loops { dims, len, outer: axes, inner, steps })
    }

    /// Calls `body` for each run of the innermost loop: with the place in the result, the number
    /// of values, and the place in each input. (Not generic: it would be compiled some hundred
    /// times, for each operation and type.)
    pub(crate) fn run(&self, body: &mut dyn FnMut(usize, usize, [usize; N])) {
        if self.len == 0 {
            return;
        }
        let mut counters: SmallVec<[usize; 4]> = SmallVec::from_elem(0, self.outer.len());
        let mut places = [0; N];
        for start in (0..self.len).step_by(self.inner) {
            body(start, self.inner, places);
            for (counter, axis) in counters.iter_mut().zip(&self.outer).rev() {
                *counter += 1;
                (0..N).for_each(|i| places[i] += axis.strides[i]);
                if *counter < axis.size {
                    break;
                }
                *counter = 0;
                (0..N).for_each(|i| places[i] -= axis.strides[i] * axis.size);
            }
        }
    }
}

/// How far to the next value of `arg` along an axis of the result: 0 where it is broadcast.
fn stride_of(arg: &Arg, axis: usize, rank: usize) -> Result<usize> {
    let row = arg.row_dims()?;
    if axis == 0 {
        return Ok(if arg.is_const() { 0 } else { row.iter().product() });
    }
    Ok(match (axis + row.len()).checked_sub(rank) {
        Some(own) if row[own] != 1 => row[own + 1..].iter().product(),
        _ => 0,
    })
}

/// The broadcast of shapes known in part.
pub(crate) fn broadcast_partial(a: &PartialShape, b: &PartialShape) -> Result<PartialShape> {
    let (Some(x), Some(y)) = (a.dims(), b.dims()) else {
        return Ok(PartialShape::UNKNOWN);
    };
    let rank = x.len().max(y.len());
    let dim = |dims: &[Option<usize>], axis: usize| {
        (axis + dims.len()).checked_sub(rank).map_or(Some(1), |axis| dims[axis])
    };
    let dims = (0..rank).map(|axis| match (dim(x, axis), dim(y, axis)) {
        (Some(1), other) | (other, Some(1)) => Ok(other),
        (None, other) | (other, None) => Ok(other),
        (Some(x), Some(y)) if x == y => Ok(Some(x)),
        _ => Err(Error::invalid_argument(format!(
            "operands could not be broadcast together with shapes {a} {b}"
        ))),
    });
    Ok(PartialShape::new(dims.collect::<Result<Vec<_>>>()?))
}

/// The values of `f` over two broadcast inputs of type `A`.
#[inline(always)]
pub(crate) fn zip<A: Element, R: Element>(
    args: &[Arg; 2],
    rows: usize,
    dtype: DType,
    f: impl Fn(A, A) -> R,
) -> Result<Tensor> {
    zip_mixed(args, rows, dtype, f)
}

/// The values of `f` over two broadcast inputs of types `A` and `B`.
#[inline(always)]
pub(crate) fn zip_mixed<A: Element, B: Element, R: Element>(
    args: &[Arg; 2],
    rows: usize,
    dtype: DType,
    f: impl Fn(A, B) -> R,
) -> Result<Tensor> {
    zip_by::<A, B, R, _, false>(args, rows, dtype, f)
}

/// As `zip`, for operations of which processors with wide registers do many at once. (It compiles
/// them twice, which few are worth.)
#[inline(always)]
pub(crate) fn zip_wide<A: Element, R: Element>(
    args: &[Arg; 2],
    rows: usize,
    dtype: DType,
    f: impl Fn(A, A) -> R,
) -> Result<Tensor> {
    zip_by::<A, A, R, _, true>(args, rows, dtype, f)
}

#[inline(always)]
fn zip_by<A: Element, B: Element, R: Element, F: Fn(A, B) -> R, const WIDE: bool>(
    args: &[Arg; 2],
    rows: usize,
    dtype: DType,
    f: F,
) -> Result<Tensor> {
    let loops = Loops::new(args, rows)?;
    let (a, b) = (args[0].tensor()?.values::<A>()?, args[1].tensor()?.values::<B>()?);
    let mut out = scratch::<R>(loops.len)?;
    let result = out.typed_mut::<R>();
    let steps = loops.steps;
    loops.run(&mut |start, count, [i, j]| {
        let out = &mut result[start..start + count];
        let pass = Pass { out, a: &a[i..], b: &b[j..], steps, f: &f };
        if WIDE { widely(pass) } else { pass.run() }
    });
    Tensor::fixed(dtype, loops.dims, out.freeze())
}

/// One run of the innermost loop.
struct Pass<'a, A, B, R, F> {
    out: &'a mut [R],
    a: &'a [A],
    b: &'a [B],
    steps: [usize; 2],
    f: &'a F,
}

impl<A: Element, B: Element, R: Element, F: Fn(A, B) -> R> Body for Pass<'_, A, B, R, F> {
    #[inline(always)]
    fn run(self) {
        let Pass { out, a, b, steps, f } = self;
        let count = out.len();
        match steps {
            [0, 0] => out.fill(f(a[0], b[0])),
            [_, 0] => {
                let b = b[0];
                out.iter_mut().zip(&a[..count]).for_each(|(out, a)| *out = f(*a, b));
            }
            [0, _] => {
                let a = a[0];
                out.iter_mut().zip(&b[..count]).for_each(|(out, b)| *out = f(a, *b));
            }
            _ => {
                let inputs = a[..count].iter().zip(&b[..count]);
                out.iter_mut().zip(inputs).for_each(|(out, (a, b))| *out = f(*a, *b));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::Column;

    fn column(dims: &[usize]) -> Arg {
        let count: usize = dims.iter().product();
        let values: Vec<i64> = (0..count as i64).collect();
        Arg::Column(Column::Stacked(Tensor::from_values(dims, &values).unwrap()))
    }

    #[test]
    fn a_number_per_row_meets_whole_rows() {
        let args = [column(&[2, 2, 2]), column(&[2])];
        let sum = zip::<i64, i64>(&args, 2, DType::Int64, |a, b| a + 100 * b).unwrap();
        assert_eq!(sum.dims(), [2, 2, 2]);
        assert_eq!(sum.values::<i64>().unwrap(), [0, 1, 2, 3, 104, 105, 106, 107]);
    }

    #[test]
    fn wide_registers_give_the_same_to_the_bit() {
        let numbers: Vec<f64> = (0..200).map(|i| 1.0 / f64::from(i * 37 % 101 - 50)).collect();
        let of = |count: usize| {
            let tensor = Tensor::from_values(&[count], &numbers[..count]).unwrap();
            Arg::Column(Column::Stacked(tensor))
        };
        let one = || Arg::Const(Tensor::scalar(0.3_f64).unwrap());
        for count in (0..40).chain([199, 200]) {
            for args in [[of(count), of(count)], [of(count), one()], [one(), of(count)]] {
                let f = |a: f64, b: f64| a * b + a;
                let plain = zip::<f64, f64>(&args, count, DType::Float64, f).unwrap();
                let wide = zip_wide::<f64, f64>(&args, count, DType::Float64, f).unwrap();
                let bits = |tensor: &Tensor| -> Vec<u64> {
                    tensor.values::<f64>().unwrap().iter().map(|x| x.to_bits()).collect()
                };
                assert_eq!(bits(&plain), bits(&wide), "{count}");
            }
        }
    }

    #[test]
    fn inputs_of_one_shape_are_one_loop() {
        let one = Arg::Const(Tensor::scalar(1_i64).unwrap());
        let loops = Loops::new(&[column(&[4, 3, 2]), one], 4).unwrap();
        assert_eq!((loops.outer.len(), loops.inner, loops.steps), (0, 24, [1, 0]));
        let loops = Loops::new(&[column(&[4, 3, 2]), column(&[4, 3, 1])], 4).unwrap();
        assert_eq!((loops.outer.len(), loops.inner, loops.steps), (1, 2, [1, 0]));
    }

    #[test]
    fn axes_that_only_one_input_has_are_walked_right() {
        let args = [column(&[2, 1, 3]), column(&[2, 2, 1])];
        let out = zip::<i64, i64>(&args, 2, DType::Int64, |a, b| 10 * b + a).unwrap();
        let want = [0, 1, 2, 10, 11, 12, 23, 24, 25, 33, 34, 35];
        assert_eq!(out.values::<i64>().unwrap(), want);
    }
}
