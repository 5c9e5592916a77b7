//! `convert_image_dtype`: values from the range of one dtype to that of another.
//!
//! The range of an integer dtype is 0 to its largest value, that of floats 0 to 1. The steps are
//! TensorFlow's, rounding included: integers are scaled by powers of two, floats are scaled in
//! their own precision and cut off.

use std::sync::Arc;

use half::{bf16, f16};

use super::each::typed_mut;
use super::resize::not_numeric;
use crate::data::{Column, DType, Spec, Tensor, Wanted};
use crate::error::Result;
use crate::graph::attr::Attrs;
use crate::graph::kernel::{Arg, Kernel};
use crate::kernels::cast::{Source, Target, cast_tensor, dense, inputs, map_flat, scratch};
use crate::kernels::dispatch::with_type;

#[derive(Debug)]
struct Convert {
    to: DType,
    saturate: bool,
}

pub(super) fn build(op: &str, attrs: &Attrs) -> Result<Option<Arc<dyn Kernel>>> {
    if op != "convert_image_dtype" {
        return Ok(None);
    }
    attrs.only(&["dtype", "saturate"])?;
    let (to, saturate) = (attrs.dtype("dtype")?, attrs.bool_or("saturate", false)?);
    if !to.is_integer() && !to.is_float() {
        return Err(not_numeric("convert_image_dtype", to));
    }
    Ok(Some(Arc::new(Convert { to, saturate })))
}

/// A number that an image may be made of.
pub(super) trait Pixel: Source + Target + PartialOrd {
    /// Bits of the largest value; 0 for floats.
    const BITS: u32;
    const LEAST: f64;
    const LARGEST: f64;

    fn wide(self) -> i128;
    fn of_wide(value: i128) -> Self;
    fn of_f64(value: f64) -> Self;
    /// The product, rounded to the type once.
    fn times(self, factor: Self) -> Self;
    /// The neighbour that is nearer to 0.
    fn towards_zero(self) -> Self;
}

macro_rules! int_pixel {
    ($($type:ty),*) => {$(
        impl Pixel for $type {
            const BITS: u32 = <$type>::MAX.count_ones();
            const LEAST: f64 = <$type>::MIN as f64;
            const LARGEST: f64 = <$type>::MAX as f64;

            fn wide(self) -> i128 { self as i128 }
            fn of_wide(value: i128) -> Self { value as $type }
            fn of_f64(value: f64) -> Self { value as $type }
            fn times(self, factor: Self) -> Self { self.wrapping_mul(factor) }
            fn towards_zero(self) -> Self { self }
        }
    )*};
}

int_pixel!(i8, i16, i32, i64, u8, u16, u32, u64);

macro_rules! float_pixel {
    ($type:ty, $largest:expr, $of_f64:expr, $times:expr) => {
        impl Pixel for $type {
            const BITS: u32 = 0;
            const LEAST: f64 = -$largest;
            const LARGEST: f64 = $largest;

            fn wide(self) -> i128 {
                Source::to_f64(self) as i128
            }
            fn of_wide(value: i128) -> Self {
                Self::of_f64(value as f64)
            }
            fn of_f64(value: f64) -> Self {
                $of_f64(value)
            }
            #[inline(always)]
            fn times(self, factor: Self) -> Self {
                $times(self, factor)
            }
            fn towards_zero(self) -> Self {
                // The bits of a float grow with its size.
                Self::from_bits(self.to_bits().saturating_sub(1))
            }
        }
    };
}

float_pixel!(f32, f32::MAX as f64, |v| v as f32, |a: f32, b: f32| a * b);
float_pixel!(f64, f64::MAX, |v| v, |a: f64, b: f64| a * b);
float_pixel!(f16, 65504.0, f16::from_f64, |a: f16, b: f16| f16::from_f32(a.to_f32() * b.to_f32()));
float_pixel!(bf16, 3.389_531_389_251_535_5e38, bf16::from_f64, |a: bf16, b: bf16| bf16::from_f32(
    a.to_f32() * b.to_f32()
));

/// The ends that values are cut off at: the largest that both types hold, as near as the type of
/// the values comes.
fn ends<S: Pixel, T: Pixel>() -> (S, S) {
    let nudged = |end: S, is_outside: bool| if is_outside { end.towards_zero() } else { end };
    let least = S::of_f64(S::LEAST.max(T::LEAST));
    let largest = S::of_f64(S::LARGEST.min(T::LARGEST));
    (
        nudged(least, Source::to_f64(least) < T::LEAST),
        nudged(largest, Source::to_f64(largest) > T::LARGEST),
    )
}

/// Converts the values of one image dtype to those of another.
pub(super) fn convert<S: Pixel, T: Pixel>(from: &[S], saturate: bool, to: &mut [T]) {
    let values = to.iter_mut().zip(from);
    match (S::BITS, T::BITS) {
        (0, 0) => values.for_each(|(out, value)| *out = T::cast_from(*value)),
        (_, 0) => {
            let scale = T::of_f64(1.0 / S::LARGEST);
            values.for_each(|(out, value)| *out = T::cast_from(*value).times(scale));
        }
        (0, _) => {
            let scale = S::of_f64(T::LARGEST + 0.5);
            if !saturate {
                values.for_each(|(out, value)| *out = T::cast_from(value.times(scale)));
                return;
            }
            let (least, largest) = ends::<S, T>();
            values.for_each(|(out, value)| {
                let value = value.times(scale);
                // Comparisons with NaN are false: it stays.
                let value = if value < least { least } else { value };
                *out = T::cast_from(if value > largest { largest } else { value });
            });
        }
        (own, other) => {
            let limit = |value: i128| match saturate {
                true => {
                    let (least, largest) = if T::LEAST == 0.0 {
                        (0, (1_i128 << other) - 1)
                    } else {
                        (-(1_i128 << other), (1_i128 << other) - 1)
                    };
                    value.clamp(least, largest)
                }
                false => value,
            };
            let (down, up) = (own.saturating_sub(other), other.saturating_sub(own));
            values.for_each(|(out, value)| {
                let value = T::of_wide(limit(value.wide() >> down));
                *out = T::of_wide(value.wide() << up);
            });
        }
    }
}

/// The values of an image as float32.
///
/// # Errors
/// `InvalidArgument` if it is not of numbers.
pub(super) fn to_unit(op: &str, image: &Tensor) -> Result<Vec<f32>> {
    with_type!(image.dtype(), S: [int, float] => {
        let values = image.values::<S>()?;
        let mut out = vec![0.0_f32; values.len()];
        convert(values, false, &mut out);
        Ok(out)
    }, else Err(not_numeric(op, image.dtype())))
}

/// Writes float32 values of an image in its dtype.
pub(super) fn from_unit(
    values: &[f32],
    dtype: DType,
    saturate: bool,
    out: &mut [u8],
) -> Result<()> {
    with_type!(dtype, T: [int, float] => {
        convert(values, saturate, typed_mut::<T>(out)?);
        Ok(())
    }, else Err(not_numeric("an image", dtype)))
}

impl Kernel for Convert {
    fn infer(&self, specs: &[Spec]) -> Result<Vec<Spec>> {
        let [spec] = inputs(specs)?;
        let (from, shape) = dense(spec)?;
        if !from.is_integer() && !from.is_float() {
            return Err(not_numeric("convert_image_dtype", from));
        }
        Ok(vec![Spec::Tensor { dtype: self.to, shape: shape.clone() }])
    }

    fn run(&self, args: &[Arg], rows: usize, _: &[Wanted]) -> Result<Vec<Column>> {
        let [arg] = inputs(args)?;
        let change = |tensor: &Tensor| {
            if tensor.dtype() == self.to {
                return cast_tensor(tensor, self.to);
            }
            with_type!(tensor.dtype(), S: [int, float] => {
                let values = tensor.values::<S>()?;
                with_type!(self.to, T: [int, float] => {
                    let mut out = scratch::<T>(values.len())?;
                    convert(values, self.saturate, out.typed_mut::<T>());
                    Tensor::fixed(self.to, tensor.dims().into(), out.freeze())
                }, else Err(not_numeric("convert_image_dtype", self.to)))
            }, else Err(not_numeric("convert_image_dtype", tensor.dtype())))
        };
        Ok(vec![map_flat(arg, rows, change)?])
    }

    fn accepts(&self, column: &Column) -> bool {
        matches!(column, Column::Stacked(_) | Column::Rows(_))
    }
}
