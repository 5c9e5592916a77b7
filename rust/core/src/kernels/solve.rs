//! Square matrices, the last two axes of their operands: `matrix_inverse`, `matrix_solve`, `det`,
//! `slogdet`, `cholesky`.
//!
//! By elimination with the largest pivot of each column, in the type of the values, as LAPACK does;
//! it may add up in another order. Meant for small matrices: nothing is done in blocks.

use std::sync::Arc;

use num_complex::{Complex, ComplexFloat};
use rustfft::num_traits::Zero;

use crate::data::shape::volume;
use crate::data::{Column, DType, Dims, Element, PartialShape, Spec, Tensor, Wanted};
use crate::error::{Error, Result};
use crate::graph::attr::Attrs;
use crate::graph::kernel::{Arg, Kernel, Tolerance};
use crate::kernels::cast::{dense, scratch};
use crate::kernels::shape::stacked;

#[derive(Clone, Copy, Debug, PartialEq)]
enum What {
    Inverse,
    /// Of the second operand, columns of right sides.
    Solve,
    Det,
    /// Sign, and logarithm of the magnitude, of the determinant.
    LogDet,
    Cholesky,
}

#[derive(Debug)]
struct Square {
    what: What,
    /// A matrix without a result has NaN for it, and is no error.
    or_nan: bool,
}

pub(super) fn build(op: &str, attrs: &Attrs) -> Result<Option<Arc<dyn Kernel>>> {
    let what = match op {
        "matrix_inverse" => What::Inverse,
        "matrix_solve" => What::Solve,
        "det" => What::Det,
        "slogdet" => What::LogDet,
        "cholesky" => What::Cholesky,
        _ => return Ok(None),
    };
    attrs.only(if what == What::Cholesky { &["or_nan"] } else { &[] })?;
    Ok(Some(Arc::new(Square { what, or_nan: attrs.bool_or("or_nan", false)? })))
}

/// A number that matrices are eliminated with.
trait Field: Element + ComplexFloat<Real: Element> {
    /// The size that pivots are compared by.
    fn size(self) -> Self::Real {
        self.re().abs() + self.im().abs()
    }
}

impl Field for f32 {}
impl Field for f64 {}
impl Field for Complex<f32> {}
impl Field for Complex<f64> {}

/// The elimination of a matrix of `n` rows in place: above the diagonal what is left, below it the
/// factors. Gives which row went where, and whether a column has no pivot.
fn eliminate<T: Field>(a: &mut [T], n: usize) -> (Vec<usize>, bool) {
    let mut order: Vec<usize> = (0..n).collect();
    let mut singular = false;
    for k in 0..n {
        let mut pivot = k;
        for row in k + 1..n {
            if a[row * n + k].size() > a[pivot * n + k].size() {
                pivot = row;
            }
        }
        if a[pivot * n + k].is_zero() {
            singular = true;
            continue;
        }
        if pivot != k {
            order.swap(k, pivot);
            for column in 0..n {
                a.swap(k * n + column, pivot * n + column);
            }
        }
        let (above, below) = a.split_at_mut((k + 1) * n);
        let own = &above[k * n..];
        for row in below.chunks_exact_mut(n) {
            let factor = row[k] / own[k];
            row[k] = factor;
            if !factor.is_zero() {
                row[k + 1..].iter_mut().zip(&own[k + 1..]).for_each(|(x, y)| *x = *x - factor * *y);
            }
        }
    }
    (order, singular)
}

/// True if an odd number of swaps makes this order.
fn is_odd(order: &[usize]) -> bool {
    let (mut seen, mut odd) = (vec![false; order.len()], false);
    for start in 0..order.len() {
        let (mut at, mut length) = (start, 0_usize);
        while !seen[at] {
            seen[at] = true;
            at = order[at];
            length += 1;
        }
        odd ^= length > 0 && length % 2 == 0;
    }
    odd
}

/// Solves for `k` right sides with an eliminated matrix; `b` has its rows in the order of `a`.
fn substitute<T: Field>(a: &[T], b: &mut [T], n: usize, k: usize) {
    let subtract = |b: &mut [T], from: usize, row: usize| {
        for column in 0..k {
            let value = b[from * k + column];
            b[row * k + column] = b[row * k + column] - a[row * n + from] * value;
        }
    };
    for row in 0..n {
        (0..row).for_each(|from| subtract(b, from, row));
    }
    for row in (0..n).rev() {
        (row + 1..n).for_each(|from| subtract(b, from, row));
        b[row * k..(row + 1) * k].iter_mut().for_each(|value| *value = *value / a[row * n + row]);
    }
}

fn solve<T: Field>(a: &[T], b: Option<&[T]>, out: &mut [T], n: usize, k: usize) -> Result<()> {
    let mut own = a.to_vec();
    let (order, singular) = eliminate(&mut own, n);
    if singular {
        return Err(Error::invalid_argument("singular matrix: the input is not invertible"));
    }
    for (row, from) in order.into_iter().enumerate() {
        let out = &mut out[row * k..(row + 1) * k];
        match b {
            Some(b) => out.copy_from_slice(&b[from * k..(from + 1) * k]),
            None => {
                out.fill(T::zero());
                out[from] = T::one();
            }
        }
    }
    substitute(&own, out, n, k);
    Ok(())
}

fn cholesky<T: Field>(a: &[T], out: &mut [T], n: usize) -> Result<()> {
    out.fill(T::zero());
    for column in 0..n {
        for row in column..n {
            let mut sum = a[row * n + column];
            for k in 0..column {
                sum = sum - out[row * n + k] * out[column * n + k].conj();
            }
            out[row * n + column] = if row > column {
                sum / out[column * n + column]
            } else if sum.re() > T::Real::zero() {
                T::from(sum.re().sqrt()).ok_or_else(|| Error::internal("a root of no number"))?
            } else {
                return Err(Error::invalid_argument("the matrix is not positive definite"));
            };
        }
    }
    Ok(())
}

/// The sign of the determinant and the logarithm of its magnitude.
fn logdet<T: Field>(a: &[T], n: usize) -> (T, T::Real) {
    let mut own = a.to_vec();
    let (order, singular) = eliminate(&mut own, n);
    if singular {
        return (T::zero(), T::Real::zero().ln());
    }
    let mut sign = if is_odd(&order) { T::zero() - T::one() } else { T::one() };
    let mut total = T::Real::zero();
    for k in 0..n {
        let value = own[k * n + k];
        let size = value.abs();
        sign = sign * unit(value, size);
        total = total + size.ln();
    }
    (sign, total)
}

/// A number of magnitude 1 in the direction of another one.
fn unit<T: Field>(value: T, size: T::Real) -> T {
    T::from(size).map_or(value, |size| value / size)
}

fn det<T: Field>(a: &[T], n: usize) -> T {
    let mut own = a.to_vec();
    let (order, singular) = eliminate(&mut own, n);
    if singular {
        return T::zero();
    }
    let sign = if is_odd(&order) { T::zero() - T::one() } else { T::one() };
    (0..n).fold(sign, |product, k| product * own[k * n + k])
}

impl Square {
    /// The shape before the matrices, and the shape of the first result.
    fn shape(&self, shapes: &[&PartialShape]) -> Result<PartialShape> {
        let Some(dims) = shapes[0].dims() else { return Ok(PartialShape::UNKNOWN) };
        let [batch @ .., rows, columns] = dims else {
            let text = format!("expected matrices, got shape {}", shapes[0]);
            return Err(Error::invalid_argument(text));
        };
        if rows.zip(*columns).is_some_and(|(rows, columns)| rows != columns) {
            let text = format!("expected square matrices, got shape {}", shapes[0]);
            return Err(Error::invalid_argument(text));
        }
        match self.what {
            What::Det | What::LogDet => return Ok(PartialShape::new(batch.iter().copied())),
            What::Inverse | What::Cholesky => return Ok(shapes[0].clone()),
            What::Solve => {}
        }
        let Some(other) = shapes[1].dims() else { return Ok(PartialShape::UNKNOWN) };
        let agree = |a: &Option<usize>, b: &Option<usize>| a.zip(*b).is_none_or(|(a, b)| a == b);
        let fits = other.len() == dims.len()
            && dims[..=batch.len()].iter().zip(other).all(|(a, b)| agree(a, b));
        if !fits {
            let (a, b) = (shapes[0], shapes[1]);
            let text = format!("right sides of shape {b} do not fit matrices of shape {a}");
            return Err(Error::invalid_argument(text));
        }
        Ok(shapes[1].clone())
    }

    fn compute<T: Field>(&self, a: &Tensor, b: Option<&Tensor>) -> Result<Vec<Tensor>> {
        let [batch @ .., n, _] = a.dims() else {
            return Err(Error::internal("a matrix without axes"));
        };
        let (n, count) = (*n, volume(batch)?);
        let values = a.values::<T>()?;
        let matrix = |i: usize| &values[i * n * n..(i + 1) * n * n];
        let batch: Dims = batch.into();
        match self.what {
            What::Det => {
                let mut out = scratch::<T>(count)?;
                let each = out.typed_mut::<T>().iter_mut().enumerate();
                each.for_each(|(i, out)| *out = det(matrix(i), n));
                Ok(vec![Tensor::fixed(T::DTYPE, batch, out.freeze())?])
            }
            What::LogDet => {
                let (mut signs, mut logs) = (scratch::<T>(count)?, scratch::<T::Real>(count)?);
                let logs_out = logs.typed_mut::<T::Real>();
                for (i, sign) in signs.typed_mut::<T>().iter_mut().enumerate() {
                    (*sign, logs_out[i]) = logdet(matrix(i), n);
                }
                Ok(vec![
                    Tensor::fixed(T::DTYPE, batch.clone(), signs.freeze())?,
                    Tensor::fixed(<T::Real as Element>::DTYPE, batch, logs.freeze())?,
                ])
            }
            What::Inverse | What::Solve | What::Cholesky => {
                let dims: Dims = b.unwrap_or(a).dims().into();
                let k = dims.last().copied().unwrap_or(0);
                let mut out = scratch::<T>(volume(&dims)?)?;
                let sides = b.map(|b| b.values::<T>()).transpose()?;
                for (i, out) in out.typed_mut::<T>().chunks_exact_mut((n * k).max(1)).enumerate() {
                    match self.what {
                        What::Cholesky => match cholesky(matrix(i), out, n) {
                            Err(_) if self.or_nan => out.fill(T::zero() / T::zero()),
                            done => done?,
                        },
                        _ => {
                            let side = sides.map(|sides| &sides[i * n * k..(i + 1) * n * k]);
                            solve(matrix(i), side, out, n, k)?;
                        }
                    }
                }
                Ok(vec![Tensor::fixed(T::DTYPE, dims, out.freeze())?])
            }
        }
    }
}

fn checked(args: usize, what: What) -> Result<()> {
    let wanted = if what == What::Solve { 2 } else { 1 };
    if args == wanted {
        return Ok(());
    }
    Err(Error::invalid_argument(format!("expected {wanted} operands, got {args}")))
}

impl Kernel for Square {
    fn infer(&self, specs: &[Spec]) -> Result<Vec<Spec>> {
        checked(specs.len(), self.what)?;
        let operands = specs.iter().map(dense).collect::<Result<Vec<_>>>()?;
        let dtype = operands[0].0;
        let real = match dtype {
            DType::Float32 | DType::Complex64 => DType::Float32,
            DType::Float64 | DType::Complex128 => DType::Float64,
            _ => {
                let text =
                    format!("matrices of {dtype} cannot be eliminated: cast them to float64");
                return Err(Error::invalid_argument(text));
            }
        };
        if let Some((other, _)) = operands.iter().find(|(other, _)| *other != dtype) {
            let text = format!("matrices of {dtype} and {other}: cast one of them");
            return Err(Error::invalid_argument(text));
        }
        let shapes: Vec<&PartialShape> = operands.iter().map(|(_, shape)| *shape).collect();
        let shape = self.shape(&shapes)?;
        let mut outs = vec![Spec::Tensor { dtype, shape: shape.clone() }];
        if self.what == What::LogDet {
            outs.push(Spec::Tensor { dtype: real, shape });
        }
        Ok(outs)
    }

    fn run(&self, args: &[Arg], rows: usize, _: &[Wanted]) -> Result<Vec<Column>> {
        checked(args.len(), self.what)?;
        let tensors = args.iter().map(|arg| stacked(arg, rows)).collect::<Result<Vec<_>>>()?;
        let shapes: Vec<PartialShape> = args
            .iter()
            .map(|arg| Ok(PartialShape::from(arg.row_dims()?)))
            .collect::<Result<_>>()?;
        self.shape(&shapes.iter().collect::<Vec<_>>())?;
        let (a, b) = (&tensors[0], tensors.get(1));
        let found = match a.dtype() {
            DType::Float32 => self.compute::<f32>(a, b)?,
            DType::Float64 => self.compute::<f64>(a, b)?,
            DType::Complex64 => self.compute::<Complex<f32>>(a, b)?,
            _ => self.compute::<Complex<f64>>(a, b)?,
        };
        Ok(found.into_iter().map(Column::Stacked).collect())
    }

    fn tolerance(&self) -> Tolerance {
        Tolerance::Mixed
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_swapped_where_a_pivot_is_zero() {
        let mut out = [0.0; 4];
        solve(&[0.0, 2.0, 4.0, 0.0], None, &mut out, 2, 2).unwrap();
        assert_eq!(out, [0.0, 0.25, 0.5, 0.0]);
        assert_eq!(det(&[0.0, 2.0, 4.0, 0.0], 2), -8.0);
        assert!(solve(&[1.0, 2.0, 2.0, 4.0], None, &mut out, 2, 2).is_err());
        assert_eq!(det(&[1.0, 2.0, 2.0, 4.0], 2), 0.0);
    }

    #[test]
    fn orders_have_a_sign() {
        assert!(!is_odd(&[0, 1, 2]) && is_odd(&[1, 0, 2]) && !is_odd(&[1, 2, 0]) && !is_odd(&[]));
        assert!(is_odd(&[3, 1, 2, 0]) && !is_odd(&[1, 0, 3, 2]));
    }

    #[test]
    fn no_root_of_what_is_not_positive() {
        let mut out = [0.0; 4];
        cholesky(&[4.0, 2.0, 2.0, 5.0], &mut out, 2).unwrap();
        assert_eq!(out, [2.0, 0.0, 1.0, 2.0]);
        assert!(cholesky(&[0.0, 2.0, 2.0, 5.0], &mut out, 2).is_err());
        assert!(cholesky(&[f64::NAN; 4], &mut out, 2).is_err());
    }
}
