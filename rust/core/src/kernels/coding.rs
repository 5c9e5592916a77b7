//! Operations that turn strings into others or into tensors, and back: `encode_base64`,
//! `decode_base64`, `decode_compressed`, `decode_json_example`, `serialize_tensor`, `parse_tensor`,
//! `read_file`.

use std::fs::File;
use std::io::Read;
use std::sync::Arc;

use flate2::read::{MultiGzDecoder, ZlibDecoder};

use crate::data::shape::Brackets;
use crate::data::{
    BytesArray, BytesBuilder, Column, DType, PartialShape, Spec, Tensor, Value, Wanted,
};
use crate::error::{Error, ErrorKind, Result};
use crate::formats::{base64, json_example, tensor_proto};
use crate::graph::attr::Attrs;
use crate::graph::kernel::{Arg, Kernel};
use crate::io::compress::Compression;
use crate::kernels::cast::{dense, inputs, map_flat};
use crate::kernels::shape::stacked;

/// What a string may grow to: a few kilobytes can hold terabytes of zeros.
const MOST_BYTES: u64 = 1 << 31;

/// A string made of each string.
#[derive(Debug)]
enum Each {
    EncodeBase64 { pad: bool },
    DecodeBase64,
    Decompress(Compression),
    JsonExample,
    ReadFile,
}

#[derive(Debug)]
struct SerializeTensor;

#[derive(Debug)]
struct ParseTensor(DType);

pub(super) fn build(op: &str, attrs: &Attrs) -> Result<Option<Arc<dyn Kernel>>> {
    let each = match op {
        "encode_base64" => {
            attrs.only(&["pad"])?;
            Each::EncodeBase64 { pad: attrs.bool_or("pad", false)? }
        }
        "decode_base64" => Each::DecodeBase64,
        "decode_compressed" => {
            attrs.only(&["compression_type"])?;
            Each::Decompress(Compression::from_name(attrs.opt_str("compression_type")?)?)
        }
        "decode_json_example" => Each::JsonExample,
        "read_file" => Each::ReadFile,
        "serialize_tensor" => return Ok(Some(Arc::new(SerializeTensor))),
        "parse_tensor" => {
            attrs.only(&["out_type"])?;
            return Ok(Some(Arc::new(ParseTensor(attrs.dtype("out_type")?))));
        }
        _ => return Ok(None),
    };
    Ok(Some(Arc::new(each)))
}

impl Each {
    fn change(&self, value: &[u8], out: &mut BytesBuilder) -> Result<()> {
        match self {
            Each::EncodeBase64 { pad } => out.push(&base64::encode(value, *pad)),
            Each::DecodeBase64 => out.push(&base64::decode(value)?),
            // An empty string is no stream of either kind, but TensorFlow takes it for the end of one.
            Each::Decompress(_) if value.is_empty() => out.push(value),
            Each::Decompress(Compression::None) => out.push(value),
            Each::Decompress(Compression::Gzip) => inflate(MultiGzDecoder::new(value), out)?,
            Each::Decompress(Compression::Snappy) => {
                return Err(Error::internal("a compression that has no name here"));
            }
            Each::Decompress(Compression::Zlib) => inflate(ZlibDecoder::new(value), out)?,
            Each::JsonExample => out.push(&json_example::decode(value)?),
            Each::ReadFile => out.push(&read_file(value)?),
        }
        Ok(())
    }
}

fn inflate(reader: impl Read, out: &mut BytesBuilder) -> Result<()> {
    let mut bytes = Vec::new();
    let read = reader.take(MOST_BYTES + 1).read_to_end(&mut bytes);
    read.map_err(|error| {
        Error::data_loss(format!("inflate() failed: {error}"))
            .with_hint("is it compressed, and as compression_type says?")
    })?;
    if bytes.len() as u64 > MOST_BYTES {
        return Err(Error::resource_exhausted("the decompressed string is larger than 2 GiB"));
    }
    out.push(&bytes);
    Ok(())
}

fn read_file(path: &[u8]) -> Result<Vec<u8>> {
    let shown = String::from_utf8_lossy(path);
    let mut bytes = Vec::new();
    // Devices have no end, and files may grow while they are read.
    let read = File::open(file_path(path)?)
        .and_then(|file| file.take(MOST_BYTES + 1).read_to_end(&mut bytes));
    read.map_err(|error| {
        let made = Error::io(&error, &shown);
        Error::new(made.kind(), format!("{shown}; {}", made.message())).at_file(&shown)
    })?;
    match bytes.len() as u64 > MOST_BYTES {
        true => {
            Err(Error::resource_exhausted(format!("{shown} is larger than 2 GiB")).at_file(&shown))
        }
        false => Ok(bytes),
    }
}

#[cfg(unix)]
fn file_path(path: &[u8]) -> Result<&std::path::Path> {
    use std::os::unix::ffi::OsStrExt;
    Ok(std::path::Path::new(std::ffi::OsStr::from_bytes(path)))
}

#[cfg(not(unix))]
fn file_path(path: &[u8]) -> Result<&std::path::Path> {
    let text = std::str::from_utf8(path);
    text.map(std::path::Path::new).map_err(|_| Error::invalid_argument("a path that is no UTF-8"))
}

fn check_text(op: &str, spec: &Spec) -> Result<PartialShape> {
    let (dtype, shape) = dense(spec)?;
    match dtype.is_text() {
        true => Ok(shape.clone()),
        false => Err(Error::invalid_argument(format!("{op} takes bytes, got {dtype}"))),
    }
}

impl Kernel for Each {
    fn infer(&self, specs: &[Spec]) -> Result<Vec<Spec>> {
        let [spec] = inputs(specs)?;
        let op = match self {
            Each::EncodeBase64 { .. } => "encode_base64",
            Each::DecodeBase64 => "decode_base64",
            Each::Decompress(_) => "decode_compressed",
            Each::JsonExample => "decode_json_example",
            Each::ReadFile => "read_file",
        };
        let shape = check_text(op, spec)?;
        if matches!(self, Each::ReadFile) && shape.rank().is_some_and(|rank| rank > 0) {
            let text = format!("read_file takes one path, got shape {shape}");
            return Err(Error::invalid_argument(text));
        }
        Ok(vec![Spec::Tensor { dtype: DType::Bytes, shape }])
    }

    fn run(&self, args: &[Arg], rows: usize, _: &[Wanted]) -> Result<Vec<Column>> {
        let [arg] = inputs(args)?;
        let changed = |tensor: &Tensor| {
            let mut out = BytesBuilder::default();
            tensor.strings()?.iter().try_for_each(|value| self.change(value, &mut out))?;
            Tensor::text(DType::Bytes, tensor.dims().into(), out.finish()?)
        };
        Ok(vec![map_flat(arg, rows, changed)?])
    }

    fn accepts(&self, column: &Column) -> bool {
        matches!(column, Column::Stacked(_) | Column::Rows(_))
    }

    fn is_pure(&self) -> bool {
        !matches!(self, Each::ReadFile)
    }
}

impl Kernel for SerializeTensor {
    fn infer(&self, specs: &[Spec]) -> Result<Vec<Spec>> {
        let [spec] = inputs(specs)?;
        dense(spec)?;
        Ok(vec![Spec::scalar(DType::Bytes)])
    }

    fn run(&self, args: &[Arg], rows: usize, _: &[Wanted]) -> Result<Vec<Column>> {
        let [arg] = inputs(args)?;
        let tensor = stacked(arg, rows)?;
        let written = (0..rows).map(|row| tensor_proto::serialize(&tensor.row(row)?));
        let written = written.collect::<Result<Vec<_>>>()?;
        let values = BytesArray::from_values(written)?;
        Ok(vec![Column::Stacked(Tensor::text(DType::Bytes, [rows][..].into(), values)?)])
    }
}

impl Kernel for ParseTensor {
    fn infer(&self, specs: &[Spec]) -> Result<Vec<Spec>> {
        let [spec] = inputs(specs)?;
        let shape = check_text("parse_tensor", spec)?;
        if shape.rank().is_some_and(|rank| rank > 0) {
            let shape = match shape.known() {
                Some(dims) => Brackets(&dims).to_string(),
                None => shape.to_string(),
            };
            let text = format!("Expected `serialized` to be a scalar, got shape: {shape}");
            return Err(Error::invalid_argument(text));
        }
        Ok(vec![Spec::Tensor { dtype: self.0, shape: PartialShape::UNKNOWN }])
    }

    fn run(&self, args: &[Arg], rows: usize, _: &[Wanted]) -> Result<Vec<Column>> {
        let [arg] = inputs(args)?;
        let tensor = stacked(arg, rows)?;
        if tensor.dims().len() > 1 {
            let kind = ErrorKind::InvalidArgument;
            return Err(Error::new(kind, "Expected `serialized` to be a scalar"));
        }
        let parse = |value: &[u8]| Ok(Value::Tensor(tensor_proto::parse(value, self.0)?));
        let values = tensor.strings()?.iter().map(parse).collect::<Result<Vec<_>>>()?;
        Ok(vec![Column::from_values(&values)?])
    }
}
