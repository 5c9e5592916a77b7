//! `string_lower`, `string_upper`, `string_strip`.
//!
//! Without an encoding, case is that of ASCII and all other bytes stay; with UTF-8 it is that of
//! Unicode, one character perhaps becoming several, and broken bytes become U+FFFD. White space is
//! that of ASCII.

use std::sync::Arc;

use crate::data::{BytesArray, DType, Tensor, View};
use crate::error::{Error, Result};
use crate::graph::attr::Attrs;
use crate::graph::kernel::Kernel;
use crate::kernels::strings::{Each, check_text, each_string, mapped};

#[derive(Debug)]
struct Case {
    upper: bool,
    unicode: bool,
}

#[derive(Debug)]
struct Strip;

pub(super) fn build(op: &str, attrs: &Attrs) -> Result<Option<Arc<dyn Kernel>>> {
    let upper = match op {
        "string_lower" => false,
        "string_upper" => true,
        "string_strip" => {
            attrs.only(&[])?;
            return Ok(Some(mapped(Strip)));
        }
        _ => return Ok(None),
    };
    attrs.only(&["encoding"])?;
    let unicode = match attrs.opt_str("encoding")?.unwrap_or("") {
        "" => false,
        "utf-8" => true,
        other => {
            let text = format!("encoding must be \"\" or \"utf-8\", got {other:?}");
            return Err(Error::invalid_argument(text));
        }
    };
    Ok(Some(mapped(Case { upper, unicode })))
}

impl Each for Case {
    fn dtype(&self, input: DType) -> Result<DType> {
        check_text(input)
    }

    fn change(&self, tensor: &Tensor) -> Result<Tensor> {
        each_string(tensor, tensor.dtype(), |value, out| {
            if !self.unicode || value.is_ascii() {
                out.extend_from_slice(value);
                match self.upper {
                    true => out.make_ascii_uppercase(),
                    false => out.make_ascii_lowercase(),
                }
                return Ok(());
            }
            let text = String::from_utf8_lossy(value);
            let changed = if self.upper { text.to_uppercase() } else { text.to_lowercase() };
            out.extend_from_slice(changed.as_bytes());
            Ok(())
        })
    }
}

/// True for the white space of C: NumPy's and Python's for bytes too.
pub(super) fn is_space(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t'..=b'\r')
}

impl Each for Strip {
    fn dtype(&self, input: DType) -> Result<DType> {
        check_text(input)
    }

    fn change(&self, tensor: &Tensor) -> Result<Tensor> {
        let (buffers, views) = tensor.strings()?.parts();
        let strip = |view: &View| {
            let value = &buffers[view.buffer as usize][view.start..view.start + view.len];
            let first = value.iter().position(|byte| !is_space(*byte)).unwrap_or(value.len());
            let kept = value.iter().rposition(|byte| !is_space(*byte)).map_or(first, |k| k + 1);
            View { start: view.start + first, len: kept - first, ..*view }
        };
        let stripped = views.iter().map(strip).collect();
        let stripped = BytesArray::new(buffers.to_vec(), stripped)?;
        Tensor::text(tensor.dtype(), tensor.dims().into(), stripped)
    }
}
