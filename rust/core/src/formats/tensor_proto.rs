//! `TensorProto`, the message of one tensor: what `tf.io.serialize_tensor` writes and
//! `parse_tensor` reads.
//!
//! Numbers are written as raw bytes and strings one by one, as TensorFlow does. Read are those and
//! the lists of numbers that other writers use, in which the last number stands for all that
//! follow.

use crate::data::shape::volume;
use crate::data::{BufferMut, BytesArray, DType, Dims, Tensor};
use crate::error::{Error, Result};
use crate::formats::example::{Malformed, Wire, delimited, skip_field, varint};

/// TensorFlow's number of a type.
fn code(dtype: DType) -> u64 {
    match dtype {
        DType::Float32 => 1,
        DType::Float64 => 2,
        DType::Int32 => 3,
        DType::UInt8 => 4,
        DType::Int16 => 5,
        DType::Int8 => 6,
        DType::Bytes | DType::Str => 7,
        DType::Complex64 => 8,
        DType::Int64 => 9,
        DType::Bool => 10,
        DType::BFloat16 => 14,
        DType::UInt16 => 17,
        DType::Complex128 => 18,
        DType::Float16 => 19,
        DType::UInt32 => 22,
        DType::UInt64 => 23,
    }
}

/// TensorFlow's name of a type.
pub fn type_name(dtype: DType) -> &'static str {
    match dtype {
        DType::Float16 => "half",
        DType::Float32 => "float",
        DType::Float64 => "double",
        DType::Bytes | DType::Str => "string",
        other => other.name(),
    }
}

fn put_varint(out: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}

fn put_field(out: &mut Vec<u8>, number: u8, bytes: &[u8]) {
    out.push(number << 3 | 2);
    put_varint(out, bytes.len() as u64);
    out.extend_from_slice(bytes);
}

/// Writes a tensor.
///
/// # Errors
/// `Internal` if it is none.
pub fn serialize(tensor: &Tensor) -> Result<Vec<u8>> {
    let mut shape = Vec::new();
    for dim in tensor.dims() {
        let mut size = Vec::new();
        if *dim > 0 {
            size.push(1 << 3);
            put_varint(&mut size, *dim as u64);
        }
        put_field(&mut shape, 2, &size);
    }
    let mut out = vec![1 << 3];
    put_varint(&mut out, code(tensor.dtype()));
    put_field(&mut out, 2, &shape);
    if tensor.dtype().is_text() {
        tensor.strings()?.iter().for_each(|value| put_field(&mut out, 8, value));
    } else if !tensor.is_empty() {
        put_field(&mut out, 4, tensor.bytes()?);
    }
    Ok(out)
}

/// What a message says.
#[derive(Default)]
struct Parts<'a> {
    dtype: u64,
    dims: Vec<u64>,
    content: Option<&'a [u8]>,
    strings: Vec<&'a [u8]>,
    /// Numbers of the lists as integers, or as the bits of floats.
    numbers: Vec<u64>,
    /// Whether these are bits of float32, or of float64.
    singles: bool,
    doubles: bool,
}

fn size(mut dim: &[u8]) -> Wire<u64> {
    let mut size = 0;
    while let [tag, tail @ ..] = dim {
        if *tag == 1 << 3 {
            dim = tail;
            size = varint(&mut dim)?;
        } else {
            skip_field(&mut dim)?;
        }
    }
    Ok(size)
}

fn dims(mut shape: &[u8]) -> Wire<Vec<u64>> {
    let mut dims = Vec::new();
    while let [tag, tail @ ..] = shape {
        match *tag {
            0x12 => {
                shape = tail;
                dims.push(size(delimited(&mut shape)?)?);
            }
            0x18 => return Err(Malformed("the rank is not known")),
            _ => skip_field(&mut shape)?,
        }
    }
    Ok(dims)
}

fn words<const N: usize>(bytes: &[u8], out: &mut Vec<u64>) -> Wire<()> {
    let (words, []) = bytes.as_chunks::<N>() else {
        return Err(Malformed("a list of numbers is cut off"));
    };
    out.extend(words.iter().map(|word| {
        let mut bytes = [0; 8];
        bytes[..N].copy_from_slice(word);
        u64::from_le_bytes(bytes)
    }));
    Ok(())
}

fn read(bytes: &[u8]) -> Wire<Parts<'_>> {
    let mut rest = bytes;
    let mut parts = Parts::default();
    while !rest.is_empty() {
        let start = rest;
        let tag = varint(&mut rest)?;
        match (tag >> 3, tag & 7) {
            (1, 0) => parts.dtype = varint(&mut rest)?,
            (2, 2) => parts.dims = dims(delimited(&mut rest)?)?,
            (4, 2) => parts.content = Some(delimited(&mut rest)?),
            (8, 2) => parts.strings.push(delimited(&mut rest)?),
            (5 | 9, 2) => {
                parts.singles = true;
                words::<4>(delimited(&mut rest)?, &mut parts.numbers)?;
            }
            (6 | 12, 2) => {
                parts.doubles = true;
                words::<8>(delimited(&mut rest)?, &mut parts.numbers)?;
            }
            (5 | 9, 5) | (6 | 12, 1) => {
                let count = if tag & 7 == 5 { 4 } else { 8 };
                let (word, tail) =
                    rest.split_at_checked(count).ok_or(Malformed("a number is cut off"))?;
                rest = tail;
                match count {
                    4 => words::<4>(word, &mut parts.numbers)?,
                    _ => words::<8>(word, &mut parts.numbers)?,
                }
                parts.singles |= count == 4;
                parts.doubles |= count == 8;
            }
            (7 | 10 | 11 | 13 | 16 | 17, 2) => {
                let mut run = delimited(&mut rest)?;
                while !run.is_empty() {
                    parts.numbers.push(varint(&mut run)?);
                }
            }
            (7 | 10 | 11 | 13 | 16 | 17, 0) => parts.numbers.push(varint(&mut rest)?),
            _ => {
                rest = start;
                skip_field(&mut rest)?;
            }
        }
    }
    Ok(parts)
}

/// Numbers of a list must not ask for more than this: a few bytes could.
const MOST_BYTES: usize = 1 << 30;

/// Reads a tensor of a type.
///
/// # Errors
/// `InvalidArgument` if the bytes are no tensor, or one of another type.
pub fn parse(bytes: &[u8], dtype: DType) -> Result<Tensor> {
    let broken = |why: &str| {
        let text = crate::formats::base64::encode_mime(&bytes[..bytes.len().min(60)]);
        let text = String::from_utf8_lossy(&text);
        Error::invalid_argument(format!(
            "Could not parse `serialized` as TensorProto, base64: {text}: {why}"
        ))
    };
    let parts = read(bytes).map_err(|malformed| broken(malformed.0))?;
    if parts.dtype != code(dtype) {
        let found = DType::ALL.iter().find(|known| code(**known) == parts.dtype);
        let Some(found) = found else {
            return Err(broken("it has no type that is known"));
        };
        return Err(Error::invalid_argument(format!(
            "Type mismatch between parsed tensor ({}) and dtype ({})",
            type_name(*found),
            type_name(dtype)
        )));
    }
    let dims: Option<Dims> =
        parts.dims.iter().map(|dim| usize::try_from(*dim).ok().filter(|d| *d < 1 << 48)).collect();
    let dims = dims.ok_or_else(|| broken("a size is negative or too large"))?;
    let count = volume(&dims)?;
    let Some(size) = dtype.size() else {
        return match (parts.strings.len(), parts.strings.last()) {
            (found, _) if found == count => {
                Tensor::text(dtype, dims, BytesArray::from_values(&parts.strings)?)
            }
            (found, Some(last)) if found < count && count <= MOST_BYTES / 16 => {
                let values = parts.strings.iter().chain(std::iter::repeat(last)).take(count);
                Tensor::text(dtype, dims, BytesArray::from_values(values)?)
            }
            (0, _) if count <= MOST_BYTES / 16 => Tensor::zeros(dtype, dims),
            _ => Err(broken("it does not have as many values as its shape says")),
        };
    };
    let wanted = count.checked_mul(size).ok_or_else(|| broken("its shape is too large"))?;
    if let Some(content) = parts.content {
        return match content.len() {
            found if found == wanted => {
                let mut out = BufferMut::scratch(wanted)?;
                out.copy_from_slice(content);
                Tensor::fixed(dtype, dims, out.freeze())
            }
            // One value may stand for all.
            found if found == size && count > 1 && wanted <= MOST_BYTES => {
                let mut out = BufferMut::scratch(wanted)?;
                out.chunks_exact_mut(size).for_each(|place| place.copy_from_slice(content));
                Tensor::fixed(dtype, dims, out.freeze())
            }
            _ => Err(broken("it does not have as many bytes as its shape says")),
        };
    }
    // Of a complex number both parts are in the list.
    let places = match dtype {
        DType::Complex64 | DType::Complex128 => count * 2,
        _ => count,
    };
    let width = wanted.checked_div(places).unwrap_or(size);
    if parts.numbers.len() > places || wanted > MOST_BYTES {
        return Err(broken("it does not have as many values as its shape says"));
    }
    let is_float = matches!(dtype, DType::Float32 | DType::Complex64);
    let is_double = matches!(dtype, DType::Float64 | DType::Complex128);
    if parts.singles != is_float && !parts.numbers.is_empty()
        || parts.doubles != is_double && !parts.numbers.is_empty()
    {
        return Err(broken("its values are in a list of another type"));
    }
    let group = places.checked_div(count).unwrap_or(1).max(1);
    let last = parts.numbers.len().saturating_sub(group);
    let mut out = BufferMut::scratch(wanted)?;
    for (index, place) in out.chunks_exact_mut(width.max(1)).enumerate() {
        let repeated = parts.numbers.get(last + index % group);
        let number = parts.numbers.get(index).or(repeated).copied().unwrap_or(0);
        place.copy_from_slice(&number.to_le_bytes()[..width]);
    }
    Tensor::fixed(dtype, dims, out.freeze())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tensors_of_every_type_come_back() {
        for dtype in DType::ALL {
            for dims in [&[][..], &[3], &[2, 0], &[2, 3]] {
                let tensor = Tensor::zeros(dtype, dims.into()).unwrap();
                let bytes = serialize(&tensor).unwrap();
                assert_eq!(parse(&bytes, dtype).unwrap(), tensor);
            }
        }
    }

    #[test]
    fn the_last_number_of_a_list_stands_for_those_that_follow() {
        let bytes = b"\x08\x03\x12\x04\x12\x02\x08\x04\x3a\x02\x01\x07";
        let tensor = parse(bytes, DType::Int32).unwrap();
        assert_eq!(tensor.values::<i32>().unwrap(), [1, 7, 7, 7]);
        let bytes = b"\x08\x01\x12\x00\x2d\x00\x00\xc0\x3f";
        assert_eq!(parse(bytes, DType::Float32).unwrap().values::<f32>().unwrap(), [1.5]);
    }

    #[test]
    fn hostile_messages_are_errors() {
        for bytes in [
            &b"junk"[..],
            b"\x08\x03\x12\x04\x12\x02\x08\x04\x22\x01\x00",
            b"\x08\x03\x12\x0b\x12\x09\x08\xff\xff\xff\xff\xff\xff\xff\x7f",
            b"\x08\x03\x12\x08\x12\x06\x08\xff\xff\xff\xff\x0f",
            b"\x08\x03\x12\x02\x18\x01",
            b"\x08\x63\x12\x00",
        ] {
            assert!(parse(bytes, DType::Int32).is_err(), "{bytes:x?}");
        }
        let error = parse(b"\x08\x03\x12\x00\x22\x04\x03\x00\x00\x00", DType::Float32).unwrap_err();
        assert!(error.to_string().contains("parsed tensor (int32) and dtype (float)"), "{error}");
    }
}
