//! How each type adds up and multiplies: floats pairwise in eight lanes, as NumPy does.

use half::{bf16, f16};
use num_complex::Complex;

use crate::kernels::cast::Source;

/// How a type adds up and multiplies.
pub(crate) trait Accumulate: Source {
    /// What sums are kept in.
    type Sum: Copy;
    fn sum(run: &[Self]) -> Self::Sum;
    fn narrow(sum: Self::Sum) -> Self;
    fn mean(run: &[Self]) -> Self;
    fn product(run: &[Self]) -> Self;
}

macro_rules! integers {
    ($($type:ty),*) => {$(
        impl Accumulate for $type {
            type Sum = $type;
            fn sum(run: &[Self]) -> Self {
                run.iter().fold(0, |sum: Self, value| sum.wrapping_add(*value))
            }
            fn narrow(sum: Self) -> Self {
                sum
            }
            fn mean(run: &[Self]) -> Self {
                // Towards zero, of a sum that does not wrap, as TensorFlow does.
                let sum: i128 = run.iter().map(|value| i128::from(*value)).sum();
                sum.checked_div(run.len() as i128).unwrap_or(0) as Self
            }
            fn product(run: &[Self]) -> Self {
                run.iter().fold(1, |product: Self, value| product.wrapping_mul(*value))
            }
        }
    )*};
}

integers!(i8, i16, i32, i64, u8, u16, u32, u64);

/// `$get` leads to the type of the sum, `$put` back.
macro_rules! floats {
    ($($type:ty, $sum:ty, $name:ident, $get:expr, $put:expr);*) => {$(
        /// NumPy's pairwise summation: blocks of up to 128 values in eight lanes.
        fn $name(run: &[$type]) -> $sum {
            let get = $get;
            if run.len() < 8 {
                // Minus zero is the sum that changes nothing, not even the sign of a zero.
                return run.iter().fold(-0.0, |sum: $sum, value| sum + get(*value));
            }
            if run.len() > 128 {
                let half = run.len() / 2;
                let (a, b) = run.split_at(half - half % 8);
                return $name(a) + $name(b);
            }
            let (chunks, rest) = run.as_chunks::<8>();
            let mut r = chunks[0].map(get);
            for chunk in &chunks[1..] {
                (0..8).for_each(|i| r[i] += get(chunk[i]));
            }
            let sum = ((r[0] + r[1]) + (r[2] + r[3])) + ((r[4] + r[5]) + (r[6] + r[7]));
            rest.iter().fold(sum, |sum, value| sum + get(*value))
        }

        impl Accumulate for $type {
            type Sum = $sum;
            fn sum(run: &[Self]) -> $sum {
                $name(run)
            }
            fn narrow(sum: $sum) -> Self {
                $put(sum)
            }
            fn mean(run: &[Self]) -> Self {
                $put($name(run) / run.len() as $sum)
            }
            fn product(run: &[Self]) -> Self {
                $put(run.iter().fold(1.0, |product: $sum, value| product * $get(*value)))
            }
        }
    )*};
}

floats!(
    f32, f32, sum_f32, |value: f32| value, |value: f32| value;
    f64, f64, sum_f64, |value: f64| value, |value: f64| value;
    f16, f32, sum_f16, f16::to_f32, f16::from_f32;
    bf16, f32, sum_bf16, bf16::to_f32, bf16::from_f32
);

macro_rules! complex {
    ($($part:ty),*) => {$(
        impl Accumulate for Complex<$part> {
            type Sum = Self;
            fn sum(run: &[Self]) -> Self {
                run.iter().fold(Complex::new(0.0, 0.0), |sum, value| sum + value)
            }
            fn narrow(sum: Self) -> Self {
                sum
            }
            fn mean(run: &[Self]) -> Self {
                let (sum, count) = (Self::sum(run), run.len() as $part);
                Complex::new(sum.re / count, sum.im / count)
            }
            fn product(run: &[Self]) -> Self {
                run.iter().fold(Complex::new(1.0, 0.0), |product, value| product * value)
            }
        }
    )*};
}

complex!(f32, f64);
