//! `string_length`: the bytes or characters of each string.

use std::sync::Arc;

use crate::data::{DType, Tensor};
use crate::error::{Error, Result};
use crate::graph::attr::Attrs;
use crate::graph::kernel::Kernel;
use crate::kernels::cast::cast_tensor;
use crate::kernels::strings::{Each, check_text, mapped};

#[derive(Debug)]
struct StringLength {
    /// Characters of UTF-8 rather than bytes.
    characters: bool,
    dtype: DType,
}

pub(super) fn build(op: &str, attrs: &Attrs) -> Result<Option<Arc<dyn Kernel>>> {
    if op != "string_length" {
        return Ok(None);
    }
    attrs.only(&["unit", "dtype"])?;
    let characters = unit(attrs)?;
    let dtype = attrs.opt_dtype("dtype")?.unwrap_or(DType::Int32);
    if !matches!(dtype, DType::Int32 | DType::Int64) {
        return Err(Error::invalid_argument(format!("dtype must be int32 or int64, got {dtype}")));
    }
    Ok(Some(mapped(StringLength { characters, dtype })))
}

/// True if the unit is a character of UTF-8, false if a byte.
pub(super) fn unit(attrs: &Attrs) -> Result<bool> {
    match attrs.opt_str("unit")?.unwrap_or("BYTE") {
        "BYTE" => Ok(false),
        "UTF8_CHAR" => Ok(true),
        other => {
            let text = format!("unit must be \"BYTE\" or \"UTF8_CHAR\", got {other:?}");
            Err(Error::invalid_argument(text))
        }
    }
}

/// True for a byte that begins a character: one that does not continue another.
pub(super) fn begins(byte: u8) -> bool {
    byte & 0xc0 != 0x80
}

impl Each for StringLength {
    fn dtype(&self, input: DType) -> Result<DType> {
        check_text(input).and(Ok(self.dtype))
    }

    fn change(&self, tensor: &Tensor) -> Result<Tensor> {
        let length = |value: &[u8]| match self.characters {
            true => value.iter().filter(|byte| begins(**byte)).count(),
            false => value.len(),
        };
        let lengths: Vec<i64> = tensor.strings()?.iter().map(|v| length(v) as i64).collect();
        cast_tensor(&Tensor::from_values(tensor.dims(), &lengths)?, self.dtype)
    }
}
