//! `cast`: each numeric type to each other, as NumPy's `astype` on x86-64.
//!
//! Integers wrap, bool is `!= 0` (NaN is true), complex to real drops the imaginary part. A float
//! outside the range of an integer type has no defined result in C, and so in NumPy; this gives
//! what its loops give on x86-64: the least int32 or int64, for narrower types the low bits of
//! that int32, for unsigned ones the same with the range moved.

use std::sync::Arc;

use bytemuck::{Pod, Zeroable};
use half::{bf16, f16};
use num_complex::Complex;

use crate::data::{BufferMut, Column, DType, Element, PartialShape, Rows, Spec, Tensor, Wanted};
use crate::error::{Error, Result};
use crate::graph::attr::Attrs;
use crate::graph::kernel::{Arg, Kernel, Tolerance};
use crate::kernels::dispatch::with_type;

/// A boolean as it is stored: 0 or 1.
#[repr(transparent)]
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd, Pod, Zeroable)]
pub(crate) struct Bool(pub(crate) u8);

impl Element for Bool {
    const DTYPE: DType = DType::Bool;
}

/// A number that turns into each other type.
pub(crate) trait Source: Element {
    fn to_i32(self) -> i32;
    fn to_i64(self) -> i64;
    fn to_u32(self) -> u32;
    fn to_u64(self) -> u64;
    fn to_f32(self) -> f32;
    fn to_f64(self) -> f64;
    fn truth(self) -> bool;
    fn to_f16(self) -> f16 {
        f16::from_f32(self.to_f32())
    }
    fn imaginary(self) -> f64 {
        0.0
    }
}

/// A type that each number turns into.
pub(crate) trait Target: Element {
    fn cast_from<S: Source>(value: S) -> Self;
}

macro_rules! int_source {
    ($($type:ty),*) => {$(
        impl Source for $type {
            fn to_i32(self) -> i32 { self as i32 }
            fn to_i64(self) -> i64 { self as i64 }
            fn to_u32(self) -> u32 { self as u32 }
            fn to_u64(self) -> u64 { self as u64 }
            fn to_f32(self) -> f32 { self as f32 }
            fn to_f64(self) -> f64 { self as f64 }
            fn truth(self) -> bool { self != 0 }
        }
    )*};
}

int_source!(i8, i16, i32, i64, u8, u16, u32, u64);

const TWO_31: f64 = 2_147_483_648.0;
const TWO_63: f64 = 9_223_372_036_854_775_808.0;

macro_rules! float_source {
    ($type:ty) => {
        fn to_i32(self) -> i32 {
            let value = <$type as Source>::to_f64(self);
            if value > -TWO_31 - 1.0 && value < TWO_31 { value as i32 } else { i32::MIN }
        }
        fn to_i64(self) -> i64 {
            let value = <$type as Source>::to_f64(self);
            if (-TWO_63..TWO_63).contains(&value) { value as i64 } else { i64::MIN }
        }
        fn to_u32(self) -> u32 {
            // As compilers do it: the upper half of the range is moved down and back.
            let value = <$type as Source>::to_f64(self);
            match value >= TWO_31 {
                true => Source::to_i32(value - TWO_31) as u32 ^ (1 << 31),
                false => <$type as Source>::to_i32(self) as u32,
            }
        }
        fn to_u64(self) -> u64 {
            let value = <$type as Source>::to_f64(self);
            match value >= TWO_63 {
                true => Source::to_i64(value - TWO_63) as u64 ^ (1 << 63),
                false => <$type as Source>::to_i64(self) as u64,
            }
        }
        fn truth(self) -> bool {
            <$type as Source>::to_f64(self) != 0.0
        }
    };
}

impl Source for f32 {
    float_source!(f32);
    fn to_f32(self) -> f32 {
        self
    }
    fn to_f64(self) -> f64 {
        f64::from(self)
    }
}

impl Source for f64 {
    float_source!(f64);
    fn to_f32(self) -> f32 {
        self as f32
    }
    fn to_f64(self) -> f64 {
        self
    }
    fn to_f16(self) -> f16 {
        f16::from_f64(self)
    }
}

impl Source for f16 {
    float_source!(f16);
    fn to_f32(self) -> f32 {
        f16::to_f32(self)
    }
    fn to_f64(self) -> f64 {
        f16::to_f64(self)
    }
    fn to_f16(self) -> f16 {
        self
    }
}

impl Source for bf16 {
    float_source!(bf16);
    fn to_f32(self) -> f32 {
        bf16::to_f32(self)
    }
    fn to_f64(self) -> f64 {
        bf16::to_f64(self)
    }
}

impl Source for Bool {
    fn to_i32(self) -> i32 {
        i32::from(self.0)
    }
    fn to_i64(self) -> i64 {
        i64::from(self.0)
    }
    fn to_u32(self) -> u32 {
        u32::from(self.0)
    }
    fn to_u64(self) -> u64 {
        u64::from(self.0)
    }
    fn to_f32(self) -> f32 {
        f32::from(self.0)
    }
    fn to_f64(self) -> f64 {
        f64::from(self.0)
    }
    fn truth(self) -> bool {
        self.0 != 0
    }
}

macro_rules! complex_source {
    ($part:ty) => {
        impl Source for Complex<$part> {
            fn to_i32(self) -> i32 {
                self.re.to_i32()
            }
            fn to_i64(self) -> i64 {
                self.re.to_i64()
            }
            fn to_u32(self) -> u32 {
                self.re.to_u32()
            }
            fn to_u64(self) -> u64 {
                self.re.to_u64()
            }
            fn to_f32(self) -> f32 {
                Source::to_f32(self.re)
            }
            fn to_f64(self) -> f64 {
                Source::to_f64(self.re)
            }
            fn to_f16(self) -> f16 {
                Source::to_f16(self.re)
            }
            fn truth(self) -> bool {
                self.re.truth() || self.im.truth()
            }
            fn imaginary(self) -> f64 {
                Source::to_f64(self.im)
            }
        }
    };
}

complex_source!(f32);
complex_source!(f64);

macro_rules! target {
    ($($type:ty: $value:ident => $from:expr),* $(,)?) => {$(
        impl Target for $type {
            #[inline(always)]
            fn cast_from<S: Source>($value: S) -> Self {
                $from
            }
        }
    )*};
}

target! {
    i8: v => v.to_i32() as i8,
    i16: v => v.to_i32() as i16,
    i32: v => v.to_i32(),
    i64: v => v.to_i64(),
    u8: v => v.to_i32() as u8,
    u16: v => v.to_i32() as u16,
    u32: v => v.to_u32(),
    u64: v => v.to_u64(),
    f16: v => v.to_f16(),
    bf16: v => bf16::from_f32(v.to_f32()),
    f32: v => v.to_f32(),
    f64: v => v.to_f64(),
    Bool: v => Bool(u8::from(v.truth())),
    Complex<f32>: v => Complex::new(v.to_f32(), v.imaginary() as f32),
    Complex<f64>: v => Complex::new(v.to_f64(), v.imaginary()),
}

/// Room for `count` values.
pub(crate) fn scratch<T>(count: usize) -> Result<BufferMut> {
    BufferMut::scratch(count.saturating_mul(size_of::<T>()))
}

/// The same values in another type; shares memory if it is the same.
///
/// # Errors
/// `InvalidArgument` for text.
pub(crate) fn cast_tensor(tensor: &Tensor, to: DType) -> Result<Tensor> {
    if tensor.dtype() == to {
        return Ok(tensor.clone());
    }
    with_type!(tensor.dtype(), S: [bool, int, float, complex] => {
        let values = tensor.values::<S>()?;
        with_type!(to, T: [bool, int, float, complex] => {
            let mut out = scratch::<T>(values.len())?;
            for (out, value) in out.typed_mut::<T>().iter_mut().zip(values) {
                *out = T::cast_from(*value);
            }
            Tensor::fixed(to, tensor.dims().into(), out.freeze())
        }, else Err(not_numeric(tensor.dtype(), to)))
    }, else Err(not_numeric(tensor.dtype(), to)))
}

fn not_numeric(from: DType, to: DType) -> Error {
    Error::invalid_argument(format!("cannot cast {from} to {to}"))
}

/// All numbers of a tensor; complex ones as real and imaginary part.
///
/// # Errors
/// `InvalidArgument` for text.
pub(crate) fn to_f64(tensor: &Tensor) -> Result<Vec<f64>> {
    match tensor.dtype() {
        DType::Complex64 => {
            let values = tensor.values::<Complex<f32>>()?;
            Ok(values.iter().flat_map(|c| [f64::from(c.re), f64::from(c.im)]).collect())
        }
        DType::Complex128 => {
            let values = tensor.values::<Complex<f64>>()?;
            Ok(values.iter().flat_map(|c| [c.re, c.im]).collect())
        }
        _ => Ok(cast_tensor(tensor, DType::Float64)?.values::<f64>()?.to_vec()),
    }
}

/// Changes the values of a dense column, whatever the shapes of its rows.
pub(crate) fn map_flat(
    arg: &Arg,
    rows: usize,
    change: impl FnOnce(&Tensor) -> Result<Tensor>,
) -> Result<Column> {
    match arg {
        Arg::Const(tensor) => Arg::Const(change(tensor)?).into_column(rows),
        Arg::Column(Column::Stacked(tensor)) => Ok(Column::Stacked(change(tensor)?)),
        Arg::Column(Column::Rows(rows)) => {
            Ok(Column::Rows(Rows::new(change(&rows.flat()?.0)?, rows.shapes().to_vec())?))
        }
        Arg::Column(column) => {
            let text = format!("expected a dense component, got {}", column.kind());
            Err(Error::invalid_argument(text))
        }
    }
}

/// The dtype and shape of a dense input.
pub(crate) fn dense(spec: &Spec) -> Result<(DType, &PartialShape)> {
    match spec {
        Spec::Tensor { dtype, shape } => Ok((*dtype, shape)),
        other => Err(Error::invalid_argument(format!("expected a dense component, got {other}"))),
    }
}

/// The inputs if they are `N`.
pub(crate) fn inputs<const N: usize, T>(inputs: &[T]) -> Result<&[T; N]> {
    inputs
        .try_into()
        .map_err(|_| Error::invalid_argument(format!("expected {N} inputs, got {}", inputs.len())))
}

#[derive(Debug)]
struct Cast {
    to: DType,
}

pub(super) fn build(op: &str, attrs: &Attrs) -> Result<Option<Arc<dyn Kernel>>> {
    if op != "cast" {
        return Ok(None);
    }
    attrs.only(&["dtype"])?;
    Ok(Some(Arc::new(Cast { to: attrs.dtype("dtype")? })))
}

impl Kernel for Cast {
    fn infer(&self, specs: &[Spec]) -> Result<Vec<Spec>> {
        let [spec] = inputs(specs)?;
        let (from, shape) = dense(spec)?;
        if from != self.to && (from.is_text() || self.to.is_text()) {
            return Err(not_numeric(from, self.to));
        }
        Ok(vec![Spec::Tensor { dtype: self.to, shape: shape.clone() }])
    }

    fn run(&self, args: &[Arg], rows: usize, _: &[Wanted]) -> Result<Vec<Column>> {
        let [arg] = inputs(args)?;
        Ok(vec![map_flat(arg, rows, |tensor| cast_tensor(tensor, self.to))?])
    }

    fn tolerance(&self) -> Tolerance {
        Tolerance::Exact
    }

    fn accepts(&self, column: &Column) -> bool {
        matches!(column, Column::Stacked(_) | Column::Rows(_))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn floats_out_of_range_give_what_x86_gives() {
        let floats = [3e9, -3e9, f64::NAN, 300.0, -1.0, 1e19];
        let tensor = Tensor::from_values(&[6], &floats).unwrap();
        let cast = |to| cast_tensor(&tensor, to).unwrap();
        let i32s = cast(DType::Int32);
        assert_eq!(
            i32s.values::<i32>().unwrap(),
            [i32::MIN, i32::MIN, i32::MIN, 300, -1, i32::MIN]
        );
        assert_eq!(cast(DType::Int8).values::<i8>().unwrap()[3], 44);
        assert_eq!(
            cast(DType::UInt64).values::<u64>().unwrap()[4..],
            [u64::MAX, 10_000_000_000_000_000_000]
        );
        assert_eq!(cast(DType::Bool).values::<u8>().unwrap(), [1; 6]);
    }

    #[test]
    fn text_is_refused() {
        let spec = Spec::scalar(DType::Bytes);
        assert!(Cast { to: DType::Int32 }.infer(&[spec]).is_err());
    }
}
