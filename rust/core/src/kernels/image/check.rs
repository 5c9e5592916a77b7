//! What a file is, without decoding it: `is_jpeg`, `extract_jpeg_shape`.

use std::sync::Arc;

use crate::data::{Column, DType, Spec, Tensor, Wanted};
use crate::error::{Error, Result};
use crate::graph::attr::Attrs;
use crate::graph::kernel::{Arg, Kernel};
use crate::kernels::cast::{Bool, dense, inputs, map_flat};

#[derive(Debug)]
struct IsJpeg;

pub(super) fn build(op: &str, attrs: &Attrs) -> Result<Option<Arc<dyn Kernel>>> {
    match op {
        "is_jpeg" => {
            attrs.only(&[])?;
            Ok(Some(Arc::new(IsJpeg)))
        }
        _ => Ok(None),
    }
}

/// True for data that starts as each JPEG does.
pub(super) fn is_jpeg(data: &[u8]) -> bool {
    data.starts_with(b"\xff\xd8\xff")
}

impl Kernel for IsJpeg {
    fn infer(&self, specs: &[Spec]) -> Result<Vec<Spec>> {
        let [spec] = inputs(specs)?;
        let (dtype, shape) = dense(spec)?;
        if !dtype.is_text() {
            return Err(Error::invalid_argument(format!("is_jpeg takes bytes, got {dtype}")));
        }
        Ok(vec![Spec::Tensor { dtype: DType::Bool, shape: shape.clone() }])
    }

    fn run(&self, args: &[Arg], rows: usize, _: &[Wanted]) -> Result<Vec<Column>> {
        let [arg] = inputs(args)?;
        let check = |tensor: &Tensor| {
            let found = tensor.strings()?.iter().map(|value| Bool(u8::from(is_jpeg(value))));
            Tensor::from_values(tensor.dims(), &found.collect::<Vec<_>>())
        };
        Ok(vec![map_flat(arg, rows, check)?])
    }

    fn accepts(&self, column: &Column) -> bool {
        matches!(column, Column::Stacked(_) | Column::Rows(_))
    }
}
