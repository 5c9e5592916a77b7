//! Products of matrices and sums of runs for each type: what `einsum` comes down to.

use half::{bf16, f16};
use num_complex::Complex;

use crate::data::shape::volume;
use crate::data::{Dims, Element, Tensor};
use crate::error::{Error, Result};
use crate::kernels::cast::{Bool, scratch};
use crate::kernels::dispatch::with_type;
use crate::kernels::elementwise::binary::multiply_complex;
use crate::kernels::elementwise::complex::Part;

/// A type with products and sums of them, kept in a type that may be wider.
trait Product: Element {
    type Sum: Copy;
    const ZERO: Self::Sum;
    fn widen(self) -> Self::Sum;
    fn narrow(sum: Self::Sum) -> Self;
    fn add(a: Self::Sum, b: Self::Sum) -> Self::Sum;
    fn add_product(sum: Self::Sum, a: Self::Sum, b: Self::Sum) -> Self::Sum;
}

macro_rules! product {
    ($($type:ty, $sum:ty, $zero:expr, $widen:expr, $narrow:expr, $add:expr, $times:expr;)*) => {$(
        impl Product for $type {
            type Sum = $sum;
            const ZERO: $sum = $zero;
            #[inline(always)]
            fn widen(self) -> $sum {
                $widen(self)
            }
            #[inline(always)]
            fn narrow(sum: $sum) -> Self {
                $narrow(sum)
            }
            #[inline(always)]
            fn add(a: $sum, b: $sum) -> $sum {
                $add(a, b)
            }
            #[inline(always)]
            fn add_product(sum: $sum, a: $sum, b: $sum) -> $sum {
                $add(sum, $times(a, b))
            }
        }
    )*};
    (integers $($type:ident),*) => {
        product!($($type, $type, 0, |x| x, |x| x, $type::wrapping_add, $type::wrapping_mul;)*);
    };
}

product!(integers i8, i16, i32, i64, u8, u16, u32, u64);
product!(
    f32, f32, 0.0, |x| x, |x| x, |a: f32, b: f32| a + b, |a: f32, b: f32| a * b;
    f64, f64, 0.0, |x| x, |x| x, |a: f64, b: f64| a + b, |a: f64, b: f64| a * b;
    f16, f32, 0.0, f16::to_f32, f16::from_f32, |a: f32, b: f32| a + b, |a: f32, b: f32| a * b;
    bf16, f32, 0.0, bf16::to_f32, bf16::from_f32, |a: f32, b: f32| a + b, |a: f32, b: f32| a * b;
    Bool, u8, 0, |x: Bool| x.0, Bool, |a: u8, b: u8| a | b, |a: u8, b: u8| a & b;
);

impl<P: Part> Product for Complex<P>
where
    Complex<P>: Element,
{
    type Sum = Self;
    const ZERO: Self = Complex { re: P::ZERO, im: P::ZERO };
    fn widen(self) -> Self {
        self
    }
    fn narrow(sum: Self) -> Self {
        sum
    }
    fn add(a: Self, b: Self) -> Self {
        Complex { re: a.re.add(b.re), im: a.im.add(b.im) }
    }
    fn add_product(sum: Self, a: Self, b: Self) -> Self {
        <Self as Product>::add(sum, multiply_complex(a, b))
    }
}

/// `batch` products of matrices `[m, k]` and `[k, n]`.
pub(super) fn products(a: &Tensor, b: &Tensor, sizes: [usize; 4], dims: Dims) -> Result<Tensor> {
    let dtype = a.dtype();
    with_type!(dtype, T: [bool, int, float, complex] => {
        let mut out = scratch::<T>(volume(&dims)?)?;
        multiply::<T>(a.values()?, b.values()?, out.typed_mut(), sizes)?;
        Tensor::fixed(dtype, dims, out.freeze())
    }, else Err(Error::internal("products of text")))
}

fn multiply<T: Product>(a: &[T], b: &[T], out: &mut [T], sizes: [usize; 4]) -> Result<()> {
    let [batch, m, k, n] = sizes;
    if out.is_empty() {
        return Ok(());
    }
    let mut sums = Vec::new();
    sums.try_reserve_exact(n).map_err(|_| Error::resource_exhausted("no memory for a product"))?;
    sums.resize(n, T::ZERO);
    for i in 0..batch {
        let (a, b) = (&a[i * m * k..(i + 1) * m * k], &b[i * k * n..(i + 1) * k * n]);
        for (row, out) in out[i * m * n..(i + 1) * m * n].chunks_exact_mut(n).enumerate() {
            let a = &a[row * k..(row + 1) * k];
            if n == 1 {
                out[0] = T::narrow(dot(a, b));
                continue;
            }
            sums.fill(T::ZERO);
            for (j, factor) in a.iter().enumerate() {
                let factor = factor.widen();
                for (sum, value) in sums.iter_mut().zip(&b[j * n..(j + 1) * n]) {
                    *sum = T::add_product(*sum, factor, value.widen());
                }
            }
            out.iter_mut().zip(&sums).for_each(|(out, sum)| *out = T::narrow(*sum));
        }
    }
    Ok(())
}

/// The sum of products, in eight lanes.
fn dot<T: Product>(a: &[T], b: &[T]) -> T::Sum {
    let ((a, a_rest), (b, b_rest)) = (a.as_chunks::<8>(), b.as_chunks::<8>());
    let mut lanes = [T::ZERO; 8];
    for (a, b) in a.iter().zip(b) {
        (0..8).for_each(|i| lanes[i] = T::add_product(lanes[i], a[i].widen(), b[i].widen()));
    }
    let sum = lanes.into_iter().reduce(T::add).unwrap_or(T::ZERO);
    a_rest.iter().zip(b_rest).fold(sum, |sum, (a, b)| T::add_product(sum, a.widen(), b.widen()))
}

/// The sum of each run of `count` values.
pub(super) fn sums(x: &Tensor, count: usize, dims: Dims) -> Result<Tensor> {
    let dtype = x.dtype();
    with_type!(dtype, T: [bool, int, float, complex] => {
        let mut out = scratch::<T>(volume(&dims)?)?;
        add_up::<T>(x.values()?, count, out.typed_mut());
        Tensor::fixed(dtype, dims, out.freeze())
    }, else Err(Error::internal("sums of text")))
}

fn add_up<T: Product>(values: &[T], count: usize, out: &mut [T]) {
    for (i, out) in out.iter_mut().enumerate() {
        let run = &values[i * count..(i + 1) * count];
        *out = T::narrow(run.iter().fold(T::ZERO, |sum, value| T::add(sum, value.widen())));
    }
}
