//! Operations on strings: `string_length`.

use std::sync::Arc;

use crate::data::{Column, DType, Spec, Tensor, Wanted};
use crate::error::{Error, Result};
use crate::graph::attr::Attrs;
use crate::graph::kernel::{Arg, Kernel};
use crate::kernels::cast::{cast_tensor, dense, inputs, map_flat};

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
    let characters = match attrs.opt_str("unit")?.unwrap_or("BYTE") {
        "BYTE" => false,
        "UTF8_CHAR" => true,
        other => {
            let text = format!("unit must be \"BYTE\" or \"UTF8_CHAR\", got {other:?}");
            return Err(Error::invalid_argument(text));
        }
    };
    let dtype = attrs.opt_dtype("dtype")?.unwrap_or(DType::Int32);
    if !matches!(dtype, DType::Int32 | DType::Int64) {
        return Err(Error::invalid_argument(format!("dtype must be int32 or int64, got {dtype}")));
    }
    Ok(Some(Arc::new(StringLength { characters, dtype })))
}

impl Kernel for StringLength {
    fn infer(&self, specs: &[Spec]) -> Result<Vec<Spec>> {
        let [spec] = inputs(specs)?;
        let (dtype, shape) = dense(spec)?;
        if !dtype.is_text() {
            return Err(Error::invalid_argument(format!("string_length does not take {dtype}")));
        }
        Ok(vec![Spec::Tensor { dtype: self.dtype, shape: shape.clone() }])
    }

    fn run(&self, args: &[Arg], rows: usize, _: &[Wanted]) -> Result<Vec<Column>> {
        let [arg] = inputs(args)?;
        let lengths = |tensor: &Tensor| {
            // A character of UTF-8 is a byte that does not continue another one.
            let length = |value: &[u8]| match self.characters {
                true => value.iter().filter(|byte| **byte & 0xc0 != 0x80).count(),
                false => value.len(),
            };
            let lengths: Vec<i64> = tensor.strings()?.iter().map(|v| length(v) as i64).collect();
            cast_tensor(&Tensor::from_values(tensor.dims(), &lengths)?, self.dtype)
        };
        Ok(vec![map_flat(arg, rows, lengths)?])
    }

    fn accepts(&self, column: &Column) -> bool {
        matches!(column, Column::Stacked(_) | Column::Rows(_))
    }
}
