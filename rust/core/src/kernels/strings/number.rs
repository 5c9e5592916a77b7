//! `string_to_number`: the number that a text is, by the rules of `tf.strings.to_number`.
//!
//! White space of ASCII around it is skipped. Integers are decimal, with a sign, and must fit.
//! Floats may be hexadecimal, `inf`, `infinity` or `nan` in any case, and too large ones are
//! infinite. Text that is no number is an error.

use std::sync::Arc;

use crate::data::{DType, Tensor};
use crate::error::{Error, Result};
use crate::graph::attr::Attrs;
use crate::graph::kernel::Kernel;
use crate::kernels::strings::case::is_space;
use crate::kernels::strings::{Each, check_text, mapped};

#[derive(Debug)]
struct ToNumber(DType);

pub(super) fn build(op: &str, attrs: &Attrs) -> Result<Option<Arc<dyn Kernel>>> {
    if op != "string_to_number" {
        return Ok(None);
    }
    attrs.only(&["out_type"])?;
    let dtype = attrs.dtype("out_type")?;
    match dtype {
        DType::Float32
        | DType::Float64
        | DType::Int32
        | DType::Int64
        | DType::UInt32
        | DType::UInt64 => Ok(Some(mapped(ToNumber(dtype)))),
        other => Err(Error::invalid_argument(format!(
            "out_type must be float32, float64, int32, int64, uint32 or uint64, got {other}"
        ))),
    }
}

fn trimmed(value: &[u8]) -> &[u8] {
    let Some(first) = value.iter().position(|byte| !is_space(*byte)) else { return &[] };
    let last = value.iter().rposition(|byte| !is_space(*byte)).unwrap_or(first);
    &value[first..=last]
}

/// A decimal integer.
pub(in crate::kernels) fn integer<T: std::str::FromStr>(value: &[u8]) -> Option<T> {
    std::str::from_utf8(value).ok()?.parse().ok()
}

/// A number, or infinity or NaN by name; Rust reads decimals as TensorFlow does.
pub(in crate::kernels) fn float(value: &[u8]) -> Option<f64> {
    let value = match value {
        [b'-' | b'+', rest @ ..] if is_hex(rest) => return signed(value[0], hex(rest)?),
        rest if is_hex(rest) => return hex(rest),
        _ => value,
    };
    let body = value.strip_prefix(b"-").or_else(|| value.strip_prefix(b"+")).unwrap_or(value);
    // A NaN may have a payload in parentheses.
    if body.len() > 4 && body[..4].eq_ignore_ascii_case(b"nan(") && body.ends_with(b")") {
        let inner = &body[4..body.len() - 1];
        let fits = inner.iter().all(|byte| byte.is_ascii_alphanumeric() || *byte == b'_');
        return fits.then_some(f64::NAN);
    }
    std::str::from_utf8(value).ok()?.parse().ok()
}

fn signed(sign: u8, value: f64) -> Option<f64> {
    Some(if sign == b'-' { -value } else { value })
}

fn is_hex(value: &[u8]) -> bool {
    value.len() > 2 && value[0] == b'0' && value[1] | 0x20 == b'x'
}

/// `0x` and hexadecimal digits with a point and a binary exponent, as in C.
fn hex(value: &[u8]) -> Option<f64> {
    let digits = &value[2..];
    let split = digits.iter().position(|byte| *byte | 0x20 == b'p');
    let (mantissa, exponent) = match split {
        Some(at) => (&digits[..at], Some(&digits[at + 1..])),
        None => (digits, None),
    };
    let mut exponent: i64 = match exponent {
        Some(text) => integer::<i64>(text)?.clamp(-100_000, 100_000),
        None => 0,
    };
    let (mut bits, mut sticky, mut seen, mut point) = (0_u64, false, false, false);
    for byte in mantissa {
        if *byte == b'.' && !point {
            point = true;
            continue;
        }
        let digit = u64::from((*byte as char).to_digit(16)?);
        seen = true;
        match bits >> 59 {
            0 => {
                bits = (bits << 4) | digit;
                exponent -= if point { 4 } else { 0 };
            }
            // More than 53 bits are held: what follows only decides ties.
            _ => {
                sticky |= digit != 0;
                exponent += if point { 0 } else { 4 };
            }
        }
    }
    seen.then(|| scaled(bits | u64::from(sticky), exponent))
}

/// `bits * 2^exponent`, rounded once.
fn scaled(bits: u64, exponent: i64) -> f64 {
    let mut value = bits as f64;
    let mut left = exponent.clamp(-4_000, 4_000);
    while left != 0 && value != 0.0 && value.is_finite() {
        let step = left.clamp(-1000, 1000);
        value *= 2_f64.powi(step as i32);
        left -= step;
    }
    value
}

/// The same as a float32: decimal digits are rounded to it once, not by way of a float64.
pub(in crate::kernels) fn float32(value: &[u8]) -> Option<f32> {
    let wide = float(value)?;
    let text = std::str::from_utf8(value).ok();
    Some(text.and_then(|text| text.parse().ok()).unwrap_or(wide as f32))
}

impl ToNumber {
    fn read<T>(&self, tensor: &Tensor, read: impl Fn(&[u8]) -> Option<T>) -> Result<Vec<T>> {
        let number = |value: &[u8]| {
            read(trimmed(value)).ok_or_else(|| {
                let shown = String::from_utf8_lossy(&value[..value.len().min(64)]);
                let text = format!("StringToNumberOp could not correctly convert string: {shown}");
                Error::invalid_argument(text).with_hint(format!("it is no {}", self.0))
            })
        };
        tensor.strings()?.iter().map(number).collect()
    }
}

impl Each for ToNumber {
    fn dtype(&self, input: DType) -> Result<DType> {
        check_text(input).and(Ok(self.0))
    }

    fn change(&self, tensor: &Tensor) -> Result<Tensor> {
        let dims = tensor.dims();
        match self.0 {
            DType::Float32 => Tensor::from_values(dims, &self.read(tensor, float32)?),
            DType::Float64 => Tensor::from_values(dims, &self.read(tensor, float)?),
            DType::Int32 => Tensor::from_values(dims, &self.read(tensor, integer::<i32>)?),
            DType::Int64 => Tensor::from_values(dims, &self.read(tensor, integer::<i64>)?),
            DType::UInt32 => Tensor::from_values(dims, &self.read(tensor, integer::<u32>)?),
            _ => Tensor::from_values(dims, &self.read(tensor, integer::<u64>)?),
        }
    }
}
