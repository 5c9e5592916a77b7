//! What a file is, without decoding it: `is_jpeg`, `extract_jpeg_shape`.

use std::sync::Arc;

use crate::data::{Column, DType, Spec, Tensor, Wanted};
use crate::error::{Error, Result};
use crate::graph::attr::Attrs;
use crate::graph::kernel::{Arg, Kernel};
use crate::kernels::cast::{Bool, cast_tensor, dense, inputs, map_flat};
use crate::kernels::image::decode::scalars;
use crate::kernels::image::jpeg::{Decoder, Options};
use crate::kernels::shape::stacked;

#[derive(Debug)]
struct IsJpeg;

#[derive(Debug)]
struct JpegShape {
    dtype: DType,
}

pub(super) fn build(op: &str, attrs: &Attrs) -> Result<Option<Arc<dyn Kernel>>> {
    match op {
        "is_jpeg" => {
            attrs.only(&[])?;
            Ok(Some(Arc::new(IsJpeg)))
        }
        "extract_jpeg_shape" => {
            attrs.only(&["output_type"])?;
            let dtype = attrs.opt_dtype("output_type")?.unwrap_or(DType::Int32);
            if !matches!(dtype, DType::Int32 | DType::Int64) {
                let text = format!("output_type must be int32 or int64, got {dtype}");
                return Err(Error::invalid_argument(text));
            }
            Ok(Some(Arc::new(JpegShape { dtype })))
        }
        _ => Ok(None),
    }
}

/// True for data that starts as each JPEG does.
fn is_jpeg(data: &[u8]) -> bool {
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

impl JpegShape {
    fn of(data: &[u8]) -> Result<[i64; 3]> {
        let whole = Options {
            channels: 0,
            ratio: 1,
            fancy_upscaling: true,
            try_recover_truncated: false,
            acceptable_fraction: 1.0,
            fast_dct: true,
        };
        let decoder = Decoder::open(data, &whole, None).map_err(|error| {
            let text = format!("Invalid JPEG data, size {}: {}", data.len(), error.message());
            Error::invalid_argument(text)
        })?;
        let size = decoder.size();
        Ok([size.height as i64, size.width as i64, i64::from(decoder.components())])
    }
}

impl Kernel for JpegShape {
    fn infer(&self, specs: &[Spec]) -> Result<Vec<Spec>> {
        let [spec] = inputs(specs)?;
        let (dtype, shape) = dense(spec)?;
        if !dtype.is_text() || shape.rank().is_some_and(|rank| rank > 0) {
            let text = format!("contents must be scalar bytes, got {spec}");
            return Err(Error::invalid_argument(text));
        }
        Ok(vec![Spec::tensor(self.dtype, [Some(3)])])
    }

    fn run(&self, args: &[Arg], rows: usize, _: &[Wanted]) -> Result<Vec<Column>> {
        let [arg] = inputs(args)?;
        let contents = stacked(arg, rows)?;
        scalars(&contents)?;
        let shapes = contents.strings()?.iter().map(Self::of).collect::<Result<Vec<_>>>()?;
        let shapes = Tensor::from_values(&[rows, 3], shapes.as_flattened())?;
        Ok(vec![Column::Stacked(cast_tensor(&shapes, self.dtype)?)])
    }
}
