//! `string_format`: values put into a template, large arrays in short, as `tf.strings.format`.

use std::sync::Arc;

use half::{bf16, f16};

use crate::data::{BytesBuilder, Column, DType, Spec, Tensor, Wanted};
use crate::error::{Error, Result};
use crate::graph::attr::Attrs;
use crate::graph::kernel::{Arg, Kernel};
use crate::kernels::cast::{Source, dense};
use crate::kernels::dispatch::with_type;
use crate::kernels::strings::check_size;
use crate::kernels::strings::printf::general;

#[derive(Debug)]
struct Format {
    /// The texts before, between and after the values.
    parts: Vec<String>,
    /// How many values at each end of an axis are shown; all if none.
    ends: Option<usize>,
    dtype: DType,
}

pub(super) fn build(op: &str, attrs: &Attrs) -> Result<Option<Arc<dyn Kernel>>> {
    if op != "string_format" {
        return Ok(None);
    }
    attrs.only(&["template", "placeholder", "summarize", "dtype"])?;
    let placeholder = attrs.opt_str("placeholder")?.unwrap_or("{}");
    if placeholder.is_empty() {
        return Err(Error::invalid_argument("placeholder must not be empty"));
    }
    let parts = attrs.str("template")?.split(placeholder).map(str::to_owned).collect();
    let ends = usize::try_from(attrs.opt_int("summarize")?.unwrap_or(3)).ok();
    let dtype = attrs.opt_dtype("dtype")?.unwrap_or(DType::Bytes);
    Ok(Some(Arc::new(Format { parts, ends, dtype })))
}

/// The shortest `%g` that reads back as the same number, of two precisions.
fn float32(value: f32) -> String {
    let short = general(f64::from(value), 6);
    match short.parse::<f32>() {
        Ok(read) if read == value || value.is_nan() => short,
        _ => general(f64::from(value), 9),
    }
}

fn float64(value: f64) -> String {
    let short = general(value, 15);
    match short.parse::<f64>() {
        Ok(read) if read == value || value.is_nan() => short,
        _ => general(value, 17),
    }
}

/// A string in quotes, with escapes for what does not print; bytes beyond ASCII stay.
fn quoted(value: &[u8], out: &mut Vec<u8>) {
    out.push(b'"');
    for byte in value {
        match byte {
            b'\n' => out.extend_from_slice(b"\\n"),
            b'\r' => out.extend_from_slice(b"\\r"),
            b'\t' => out.extend_from_slice(b"\\t"),
            b'"' | b'\'' | b'\\' => out.extend_from_slice(&[b'\\', *byte]),
            0..=31 | 127 => out.extend_from_slice(format!("\\{byte:03o}").as_bytes()),
            _ => out.push(*byte),
        }
    }
    out.push(b'"');
}

/// Writes values of a tensor by number.
fn one(tensor: &Tensor, at: usize, out: &mut Vec<u8>) -> Result<()> {
    let text = match tensor.dtype() {
        DType::Bytes | DType::Str => {
            quoted(tensor.strings()?.get(at), out);
            return Ok(());
        }
        DType::Bool => tensor.values::<u8>()?[at].to_string(),
        DType::Float16 => float32(Source::to_f32(tensor.values::<f16>()?[at])),
        DType::BFloat16 => float32(Source::to_f32(tensor.values::<bf16>()?[at])),
        DType::Float32 => float32(tensor.values::<f32>()?[at]),
        DType::Float64 => float64(tensor.values::<f64>()?[at]),
        dtype => {
            with_type!(dtype, T: [int] => tensor.values::<T>()?[at].to_string(), else "?".into())
        }
    };
    out.extend_from_slice(text.as_bytes());
    Ok(())
}

impl Format {
    /// Appends a tensor: nested brackets, rows on lines of their own, the middle left out.
    fn tensor(&self, tensor: &Tensor, out: &mut Vec<u8>) -> Result<()> {
        let dims = tensor.dims();
        match dims {
            [] if self.ends == Some(0) => out.extend_from_slice(b"..."),
            [] => one(tensor, 0, out)?,
            [0, ..] => out.extend_from_slice(b"[]"),
            // An axis without values is told of as one that is left out.
            _ if tensor.is_empty() => {
                out.push(b'[');
                for _ in 1..dims.len() {
                    out.push(b'\n');
                }
                out.extend_from_slice(b" ...]");
            }
            // TensorFlow shows of a complex array only that there are values.
            _ if matches!(tensor.dtype(), DType::Complex64 | DType::Complex128) => {
                let shown = tensor.len().min(self.ends.unwrap_or(usize::MAX));
                out.push(b'[');
                for k in 0..shown {
                    out.extend_from_slice(if k == 0 { b"?" } else { b" ?" });
                    check_size(out.len())?;
                }
                out.extend_from_slice(if shown < tensor.len() { b"...]" } else { b"]" });
            }
            _ => self.axis(tensor, 0, 0, out)?,
        }
        check_size(out.len())
    }

    fn axis(&self, tensor: &Tensor, axis: usize, at: usize, out: &mut Vec<u8>) -> Result<()> {
        let dims = tensor.dims();
        let Some((size, inner)) = dims[axis..].split_first() else {
            return one(tensor, at, out);
        };
        let step: usize = inner.iter().product();
        let ends = self.ends.unwrap_or(*size);
        let shortened = *size > ends.saturating_mul(2);
        let gap = |out: &mut Vec<u8>| match inner.len() {
            0 => out.push(b' '),
            lines => {
                out.resize(out.len() + lines, b'\n');
                out.resize(out.len() + axis + 1, b' ');
            }
        };
        out.push(b'[');
        for k in 0..*size {
            if shortened && k >= ends && k < size - ends {
                if k == ends {
                    gap(out);
                    out.extend_from_slice(b"...");
                }
                continue;
            }
            if k > 0 {
                gap(out);
            }
            self.axis(tensor, axis + 1, at + k * step, out)?;
        }
        out.push(b']');
        check_size(out.len())
    }
}

impl Kernel for Format {
    fn infer(&self, specs: &[Spec]) -> Result<Vec<Spec>> {
        let (places, given) = (self.parts.len() - 1, specs.len());
        if places != given {
            return Err(Error::invalid_argument(format!(
                "The template expects {places} tensors, but the inputs only has {given}. Please \
                 ensure the number of placeholders in template matches inputs length."
            )));
        }
        specs.iter().try_for_each(|spec| dense(spec).map(|_| ()))?;
        Ok(vec![Spec::scalar(self.dtype)])
    }

    fn run(&self, args: &[Arg], rows: usize, _: &[Wanted]) -> Result<Vec<Column>> {
        let mut out = BytesBuilder::default();
        let mut text = Vec::new();
        for row in 0..rows {
            text.clear();
            for (k, part) in self.parts.iter().enumerate() {
                text.extend_from_slice(part.as_bytes());
                match args.get(k) {
                    Some(Arg::Const(tensor)) => self.tensor(tensor, &mut text)?,
                    Some(arg) => self.tensor(&arg.tensor()?.row(row)?, &mut text)?,
                    None => {}
                }
            }
            if self.dtype == DType::Str && std::str::from_utf8(&text).is_err() {
                text = String::from_utf8_lossy(&text).into_owned().into_bytes();
            }
            out.push(&text);
        }
        let dims = [rows][..].into();
        Ok(vec![Column::Stacked(Tensor::text(self.dtype, dims, out.finish()?)?)])
    }
}
