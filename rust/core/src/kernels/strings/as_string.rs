//! `as_string`: values as text, by the rules of `tf.strings.as_string`, which are those of C's
//! `printf`. Bytes stay bytes; everything else becomes the text type asked for.

use std::sync::Arc;

use num_complex::Complex;

use crate::data::{BytesBuilder, DType, Tensor};
use crate::error::{Error, Result};
use crate::graph::attr::Attrs;
use crate::graph::kernel::Kernel;
use crate::kernels::cast::{Source, cast_tensor};
use crate::kernels::dispatch::with_type;
use crate::kernels::strings::printf::{Format, Notation};
use crate::kernels::strings::{Each, each_string, mapped};

/// Width and precision beyond this are refused: they only make strings long.
const MOST_DIGITS: i64 = u16::MAX as i64 - 1;

#[derive(Debug)]
struct AsString {
    format: Format,
    /// Precision or notation was asked for, which only floats have.
    for_floats: Option<&'static str>,
    /// The text type of numbers.
    dtype: DType,
}

pub(super) fn build(op: &str, attrs: &Attrs) -> Result<Option<Arc<dyn Kernel>>> {
    if op != "as_string" {
        return Ok(None);
    }
    attrs.only(&["precision", "scientific", "shortest", "width", "fill", "dtype"])?;
    let scientific = attrs.bool_or("scientific", false)?;
    let shortest = attrs.bool_or("shortest", false)?;
    let flag = match attrs.opt_str("fill")?.unwrap_or("").as_bytes() {
        [] => None,
        [flag @ (b' ' | b'+' | b'-' | b'0' | b'#')] => Some(*flag),
        [other] => {
            let text = format!("Fill argument not supported: \"{}\"", *other as char);
            let hint = "it is one of ' ', '+', '-', '0' and '#'";
            return Err(Error::invalid_argument(text).with_hint(hint));
        }
        _ => {
            let text = "Fill string must be one or fewer characters";
            return Err(Error::invalid_argument(text));
        }
    };
    let size = |name: &str| -> Result<Option<usize>> {
        match attrs.opt_int(name)? {
            Some(size) if size > MOST_DIGITS => {
                let text = format!("{name} must be at most {MOST_DIGITS}, got {size}");
                Err(Error::invalid_argument(text))
            }
            size => Ok(size.and_then(|size| usize::try_from(size).ok())),
        }
    };
    let precision = size("precision")?;
    let notation = match (scientific, shortest) {
        (true, _) => Notation::Scientific,
        (_, true) => Notation::Shortest,
        _ => Notation::Fixed,
    };
    let for_floats = match (scientific, shortest, precision) {
        (true, true, _) => Some("both"),
        (true, _, _) | (_, true, _) => Some("notation"),
        (_, _, Some(_)) => Some("precision"),
        _ => None,
    };
    let format = Format { flag, width: size("width")?, precision, notation };
    let dtype = attrs.opt_dtype("dtype")?.unwrap_or(DType::Bytes);
    if !dtype.is_text() {
        return Err(Error::invalid_argument(format!("dtype must be bytes or str, got {dtype}")));
    }
    Ok(Some(mapped(AsString { format, for_floats, dtype })))
}

impl AsString {
    fn written<T: Copy>(
        &self,
        tensor: &Tensor,
        values: &[T],
        mut write: impl FnMut(T, &mut Vec<u8>),
    ) -> Result<Tensor> {
        let mut out = BytesBuilder::default();
        let mut text = Vec::new();
        for value in values {
            text.clear();
            write(*value, &mut text);
            out.push(&text);
        }
        Tensor::text(self.dtype, tensor.dims().into(), out.finish()?)
    }

    fn complex(&self, value: Complex<f64>, out: &mut Vec<u8>) {
        out.push(b'(');
        self.format.float(value.re, out);
        out.push(b',');
        self.format.float(value.im, out);
        out.push(b')');
    }
}

impl Each for AsString {
    fn dtype(&self, input: DType) -> Result<DType> {
        let floating = input.is_float() || matches!(input, DType::Complex64 | DType::Complex128);
        let text = match self.for_floats {
            Some("both") if floating || input.is_text() => {
                "Cannot select both scientific and shortest notation".to_owned()
            }
            Some("both" | "notation") if !floating && !input.is_text() => {
                format!("scientific and shortest format not supported for datatype {input}")
            }
            Some("precision") if !floating && !input.is_text() => {
                format!("precision not supported for datatype {input}")
            }
            _ => return Ok(if input.is_text() { input } else { self.dtype }),
        };
        Err(Error::invalid_argument(text))
    }

    fn change(&self, tensor: &Tensor) -> Result<Tensor> {
        let format = &self.format;
        match tensor.dtype() {
            dtype @ (DType::Bytes | DType::Str) => each_string(tensor, dtype, |value, out| {
                format.text(value, dtype == DType::Str, out);
                Ok(())
            }),
            DType::Bool => self.written(tensor, tensor.values::<u8>()?, |value, out| {
                out.extend_from_slice(if value == 0 { b"false" } else { b"true" });
            }),
            DType::Complex64 | DType::Complex128 => {
                let wide = cast_tensor(tensor, DType::Complex128)?;
                let values = wide.values::<Complex<f64>>()?;
                self.written(tensor, values, |value, out| self.complex(value, out))
            }
            DType::UInt64 => self.written(tensor, tensor.values::<u64>()?, |value, out| {
                format.integer(i128::from(value), false, out);
            }),
            dtype if dtype.is_integer() => {
                let signed = !matches!(dtype, DType::UInt8 | DType::UInt16 | DType::UInt32);
                with_type!(dtype, T: [int] => {
                    self.written(tensor, tensor.values::<T>()?, |value, out| {
                        format.integer(i128::from(Source::to_i64(value)), signed, out);
                    })
                }, else Err(Error::internal("an integer of another type")))
            }
            dtype => with_type!(dtype, T: [float] => {
                self.written(tensor, tensor.values::<T>()?, |value, out| {
                    format.float(Source::to_f64(value), out);
                })
            }, else Err(Error::internal("a float of another type"))),
        }
    }
}
