//! `decode_raw`: the bytes of strings as numbers (`tf.io.decode_raw`).

use std::sync::Arc;

use crate::data::{
    BufferMut, BytesArray, Column, DType, Dims, PartialShape, Rows, Spec, Tensor, Wanted,
};
use crate::error::{Error, Result};
use crate::formats::tensor_proto::type_name;
use crate::graph::attr::Attrs;
use crate::graph::kernel::{Arg, Kernel, Tolerance};
use crate::kernels::cast::{dense, inputs};
use crate::kernels::shape::stacked;

#[derive(Debug)]
struct DecodeRaw {
    out_type: DType,
    size: usize,
    little_endian: bool,
    /// Bytes that each string is cut or filled up with zeros to.
    fixed_length: Option<usize>,
}

pub(super) fn build(op: &str, attrs: &Attrs) -> Result<Option<Arc<dyn Kernel>>> {
    if op != "decode_raw" {
        return Ok(None);
    }
    attrs.only(&["out_type", "little_endian", "fixed_length"])?;
    let out_type = attrs.dtype("out_type")?;
    let Some(size) = out_type.size() else {
        return Err(Error::invalid_argument(format!("decode_raw does not give {out_type}")));
    };
    let little_endian = attrs.bool_or("little_endian", true)?;
    let fixed_length = match attrs.opt_int("fixed_length")? {
        None => None,
        Some(length) => match usize::try_from(length) {
            Ok(length) if length > 0 && length.is_multiple_of(size) => Some(length),
            Ok(length) if length > 0 => {
                return Err(Error::invalid_argument(format!(
                    "fixed_length ({length}) must be a multiple of the size of out_type ({size})"
                )));
            }
            _ => {
                let text = format!("fixed_length must be greater than zero, got {length}");
                return Err(Error::invalid_argument(text));
            }
        },
    };
    Ok(Some(Arc::new(DecodeRaw { out_type, size, little_endian, fixed_length })))
}

impl DecodeRaw {
    /// The common length of the strings of one row.
    fn length(&self, strings: impl Iterator<Item = usize>) -> Result<usize> {
        let mut strings = strings.enumerate();
        let first = strings.next().map_or(0, |(_, length)| length);
        if let Some((i, length)) = strings.find(|(_, length)| *length != first) {
            return Err(Error::invalid_argument(format!(
                "DecodeRaw requires input strings to all be the same size, but element {i} has \
                 size {first} != {length}"
            )));
        }
        if !first.is_multiple_of(self.size) {
            let (size, name) = (self.size, type_name(self.out_type));
            return Err(Error::invalid_argument(format!(
                "Input to DecodeRaw has length {first} that is not a multiple of {size}, the size \
                 of {name}"
            )));
        }
        Ok(first)
    }

    /// Copies strings to places of `length` bytes each.
    fn fill<'a>(&self, strings: impl Iterator<Item = &'a [u8]>, length: usize, out: &mut [u8]) {
        if length == 0 {
            return;
        }
        for (out, value) in out.chunks_exact_mut(length).zip(strings) {
            let count = value.len().min(length);
            out[..count].copy_from_slice(&value[..count]);
            out[count..].fill(0);
        }
    }

    /// Bytes in the order of this machine, booleans as 0 and 1.
    fn finish(&self, out: &mut [u8]) {
        if self.out_type == DType::Bool {
            out.iter_mut().for_each(|byte| *byte = u8::from(*byte != 0));
        }
        if self.little_endian == cfg!(target_endian = "little") {
            return;
        }
        // Each part of a complex number has an order of its own.
        match (self.out_type, self.size) {
            (DType::Complex64, _) => swap::<4>(out),
            (DType::Complex128, _) => swap::<8>(out),
            (_, 2) => swap::<2>(out),
            (_, 4) => swap::<4>(out),
            (_, 8) => swap::<8>(out),
            _ => {}
        }
    }

    /// All strings are of one length: one tensor.
    fn stacked(&self, values: &BytesArray, dims: &[usize], length: usize) -> Result<Column> {
        let mut out = BufferMut::scratch(values.len() * length)?;
        self.fill(values.iter(), length, &mut out);
        self.finish(&mut out);
        let dims: Dims = dims.iter().copied().chain([length / self.size]).collect();
        Ok(Column::Stacked(Tensor::fixed(self.out_type, dims, out.freeze())?))
    }

    /// Each row has a length of its own.
    fn rows(&self, values: &BytesArray, dims: &[usize], rows: usize) -> Result<Column> {
        let per_row = values.len() / rows.max(1);
        let lengths = (0..rows).map(|row| {
            let strings = row * per_row..(row + 1) * per_row;
            self.length(strings.map(|i| values.get(i).len()))
        });
        let lengths: Vec<usize> = lengths.collect::<Result<_>>()?;
        if lengths.iter().all(|length| *length == lengths[0]) {
            return self.stacked(values, dims, lengths.first().copied().unwrap_or(0));
        }
        let mut out = BufferMut::scratch(lengths.iter().map(|length| length * per_row).sum())?;
        let mut at = 0;
        for (row, length) in lengths.iter().enumerate() {
            let strings = values.slice(row * per_row..(row + 1) * per_row);
            self.fill(strings.iter(), *length, &mut out[at..at + length * per_row]);
            at += length * per_row;
        }
        self.finish(&mut out);
        let shape = |length: &usize| -> Dims {
            let row = dims.get(1..).unwrap_or_default().iter().copied();
            row.chain([length / self.size]).collect()
        };
        let shapes = lengths.iter().map(shape).collect();
        let count = [at / self.size][..].into();
        let flat = Tensor::fixed(self.out_type, count, out.freeze())?;
        Ok(Column::Rows(Rows::new(flat, shapes)?))
    }
}

fn swap<const N: usize>(out: &mut [u8]) {
    out.as_chunks_mut::<N>().0.iter_mut().for_each(|item| item.reverse());
}

impl Kernel for DecodeRaw {
    fn infer(&self, specs: &[Spec]) -> Result<Vec<Spec>> {
        let [spec] = inputs(specs)?;
        let (dtype, shape) = dense(spec)?;
        if dtype != DType::Bytes {
            return Err(Error::invalid_argument(format!("decode_raw takes bytes, got {dtype}")));
        }
        let count = self.fixed_length.map(|length| length / self.size);
        let shape = match shape.dims() {
            Some(dims) => PartialShape::new(dims.iter().copied().chain([count])),
            None => PartialShape::UNKNOWN,
        };
        Ok(vec![Spec::Tensor { dtype: self.out_type, shape }])
    }

    fn run(&self, args: &[Arg], rows: usize, _: &[Wanted]) -> Result<Vec<Column>> {
        let [arg] = inputs(args)?;
        let tensor = stacked(arg, rows)?;
        let (values, dims) = (tensor.strings()?, tensor.dims());
        Ok(vec![match self.fixed_length {
            Some(length) => self.stacked(values, dims, length)?,
            None => self.rows(values, dims, rows)?,
        }])
    }

    fn tolerance(&self) -> Tolerance {
        Tolerance::Moved
    }
}
