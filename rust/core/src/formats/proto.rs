//! The messages of `tf.train` as structs, for inspecting; and a direct encoder, for writing.
//!
//! [`serialize_example`] gives the bytes that encoding an [`Example`] gives, without building one:
//! keys ascend, so equal features give equal bytes.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::slice;

use prost::encoding::encoded_len_varint;
use smallvec::SmallVec;

use crate::data::{DType, Element, Tensor};
use crate::error::{Error, Result};

/// `tf.train.Example`
#[derive(Clone, PartialEq, prost::Message)]
pub struct Example {
    /// The features of the example.
    #[prost(message, optional, tag = "1")]
    pub features: Option<Features>,
}

/// `tf.train.Features`
#[derive(Clone, PartialEq, prost::Message)]
pub struct Features {
    /// Feature by name.
    #[prost(btree_map = "string, message", tag = "1")]
    pub feature: BTreeMap<String, Feature>,
}

/// `tf.train.Feature`
#[derive(Clone, PartialEq, prost::Message)]
pub struct Feature {
    /// The list, if there is one.
    #[prost(oneof = "Kind", tags = "1, 2, 3")]
    pub kind: Option<Kind>,
}

/// The list that a [`Feature`] holds.
#[derive(Clone, PartialEq, prost::Oneof)]
pub enum Kind {
    /// Byte strings.
    #[prost(message, tag = "1")]
    BytesList(BytesList),
    /// 32-bit floats.
    #[prost(message, tag = "2")]
    FloatList(FloatList),
    /// 64-bit integers.
    #[prost(message, tag = "3")]
    Int64List(Int64List),
}

/// `tf.train.BytesList`
#[derive(Clone, PartialEq, prost::Message)]
pub struct BytesList {
    /// The values.
    #[prost(bytes = "vec", repeated, tag = "1")]
    pub value: Vec<Vec<u8>>,
}

/// `tf.train.FloatList`
#[derive(Clone, PartialEq, prost::Message)]
pub struct FloatList {
    /// The values.
    #[prost(float, repeated, tag = "1")]
    pub value: Vec<f32>,
}

/// `tf.train.Int64List`
#[derive(Clone, PartialEq, prost::Message)]
pub struct Int64List {
    /// The values.
    #[prost(int64, repeated, tag = "1")]
    pub value: Vec<i64>,
}

/// `tf.train.SequenceExample`
#[derive(Clone, PartialEq, prost::Message)]
pub struct SequenceExample {
    /// Features of the whole sequence.
    #[prost(message, optional, tag = "1")]
    pub context: Option<Features>,
    /// Features of each step.
    #[prost(message, optional, tag = "2")]
    pub feature_lists: Option<FeatureLists>,
}

/// `tf.train.FeatureLists`
#[derive(Clone, PartialEq, prost::Message)]
pub struct FeatureLists {
    /// Steps by name.
    #[prost(btree_map = "string, message", tag = "1")]
    pub feature_list: BTreeMap<String, FeatureList>,
}

/// `tf.train.FeatureList`
#[derive(Clone, PartialEq, prost::Message)]
pub struct FeatureList {
    /// One feature a step.
    #[prost(message, repeated, tag = "1")]
    pub feature: Vec<Feature>,
}

/// What [`serialize_example`] writes for one feature.
#[derive(Clone, Debug)]
pub enum FeatureValue<'a> {
    /// An `int64_list` of one value.
    Int(i64),
    /// A `float_list` of one value.
    Float(f32),
    /// A `bytes_list` of one value.
    Bytes(&'a [u8]),
    /// A `bytes_list`.
    BytesList(Vec<&'a [u8]>),
    /// The values in row-major order: integers and booleans in an `int64_list`, floats as float32
    /// in a `float_list`, strings in a `bytes_list`.
    Tensor(&'a Tensor),
    /// A feature without a list.
    Empty,
}

/// A list ready to be written.
enum List<'a> {
    Ints(Cow<'a, [i64]>),
    Floats(Cow<'a, [f32]>),
    Bytes(Cow<'a, [&'a [u8]]>),
    Empty,
}

impl<'a> List<'a> {
    fn new(value: &'a FeatureValue<'a>) -> Result<Self> {
        Ok(match value {
            FeatureValue::Int(value) => List::Ints(slice::from_ref(value).into()),
            FeatureValue::Float(value) => List::Floats(slice::from_ref(value).into()),
            FeatureValue::Bytes(value) => List::Bytes(slice::from_ref(value).into()),
            FeatureValue::BytesList(values) => List::Bytes(values.into()),
            FeatureValue::Tensor(tensor) => Self::of_tensor(tensor)?,
            FeatureValue::Empty => List::Empty,
        })
    }

    fn of_tensor(tensor: &'a Tensor) -> Result<Self> {
        fn ints<'a, T: Element + Into<i64>>(tensor: &Tensor) -> Result<List<'a>> {
            Ok(List::Ints(tensor.values::<T>()?.iter().map(|value| (*value).into()).collect()))
        }
        fn floats<'a, T: Element>(tensor: &Tensor, to: fn(T) -> f32) -> Result<List<'a>> {
            Ok(List::Floats(tensor.values::<T>()?.iter().map(|value| to(*value)).collect()))
        }
        match tensor.dtype() {
            DType::Bool | DType::UInt8 => ints::<u8>(tensor),
            DType::Int8 => ints::<i8>(tensor),
            DType::Int16 => ints::<i16>(tensor),
            DType::Int32 => ints::<i32>(tensor),
            DType::Int64 => Ok(List::Ints(tensor.values::<i64>()?.into())),
            DType::UInt16 => ints::<u16>(tensor),
            DType::UInt32 => ints::<u32>(tensor),
            DType::UInt64 => {
                let narrow = |value: &u64| {
                    i64::try_from(*value).map_err(|_| {
                        Error::invalid_argument(format!("{value} does not fit into an int64 list"))
                    })
                };
                Ok(List::Ints(tensor.values::<u64>()?.iter().map(narrow).collect::<Result<_>>()?))
            }
            DType::Float16 => floats(tensor, half::f16::to_f32),
            DType::BFloat16 => floats(tensor, half::bf16::to_f32),
            DType::Float32 => Ok(List::Floats(tensor.values::<f32>()?.into())),
            DType::Float64 => floats(tensor, |value: f64| value as f32),
            DType::Bytes | DType::Str => Ok(List::Bytes(tensor.strings()?.iter().collect())),
            DType::Complex64 | DType::Complex128 => {
                let message = format!("a feature cannot hold {}", tensor.dtype());
                Err(Error::invalid_argument(message)
                    .with_hint("features hold integers, floats, bytes or str"))
            }
        }
    }

    /// Bytes of the packed run, or of the strings with their tags.
    fn payload_bytes(&self) -> usize {
        match self {
            List::Ints(values) => {
                values.iter().map(|value| encoded_len_varint(value.cast_unsigned())).sum()
            }
            List::Floats(values) => size_of_val::<[f32]>(values),
            List::Bytes(values) => values.iter().map(|value| field_bytes(value.len())).sum(),
            List::Empty => 0,
        }
    }

    /// Writes strings with their tags, or the packed run without.
    fn write(&self, out: &mut Vec<u8>) {
        match self {
            List::Bytes(values) => {
                for value in values.iter() {
                    write_header(out, 1, value.len());
                    out.extend_from_slice(value);
                }
            }
            List::Floats(values) if cfg!(target_endian = "little") => {
                out.extend_from_slice(bytemuck::cast_slice(values));
            }
            List::Floats(values) => {
                out.extend(values.iter().flat_map(|value| value.to_le_bytes()));
            }
            List::Ints(values) => {
                values.iter().for_each(|value| write_varint(out, value.cast_unsigned()));
            }
            List::Empty => {}
        }
    }
}

/// Bytes of a field of this length: tag, length, content.
fn field_bytes(length: usize) -> usize {
    1 + encoded_len_varint(length as u64) + length
}

/// Writes a varint. The output has room for the whole message, so a push is a store; prost's
/// writer asks for room anew with each value and takes twice as long.
#[inline]
fn write_varint(out: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}

/// Writes tag and length of a field.
#[inline]
fn write_header(out: &mut Vec<u8>, number: u8, length: usize) {
    out.push(number << 3 | 2);
    write_varint(out, length as u64);
}

/// One entry of the map with the lengths that its headers need.
struct Entry<'a> {
    key: &'a str,
    list: List<'a>,
    payload_bytes: usize,
    /// Whether a packed run, with a header of its own, holds the payload.
    is_packed: bool,
    list_bytes: usize,
    feature_bytes: usize,
    entry_bytes: usize,
}

impl<'a> Entry<'a> {
    fn new(key: &'a str, value: &'a FeatureValue<'a>) -> Result<Self> {
        let list = List::new(value).map_err(|error| error.at_feature(key))?;
        let payload_bytes = list.payload_bytes();
        let is_packed = matches!(list, List::Ints(_) | List::Floats(_)) && payload_bytes > 0;
        let list_bytes = if is_packed { field_bytes(payload_bytes) } else { payload_bytes };
        let feature_bytes = if matches!(list, List::Empty) { 0 } else { field_bytes(list_bytes) };
        // prost leaves out a key or a feature of no bytes, but TensorFlow's parser wants both.
        let entry_bytes = field_bytes(key.len()) + field_bytes(feature_bytes);
        Ok(Entry { key, list, payload_bytes, is_packed, list_bytes, feature_bytes, entry_bytes })
    }

    fn write(&self, out: &mut Vec<u8>) {
        write_header(out, 1, self.entry_bytes);
        write_header(out, 1, self.key.len());
        out.extend_from_slice(self.key.as_bytes());
        write_header(out, 2, self.feature_bytes);
        match self.list {
            List::Bytes(_) => write_header(out, 1, self.list_bytes),
            List::Floats(_) => write_header(out, 2, self.list_bytes),
            List::Ints(_) => write_header(out, 3, self.list_bytes),
            List::Empty => {}
        }
        if self.is_packed {
            write_header(out, 1, self.payload_bytes);
        }
        self.list.write(out);
    }
}

/// The bytes of an Example with these features; keys are written in ascending order, lists packed.
///
/// # Errors
/// `InvalidArgument`, naming the feature, for a key that is there twice, an unsigned integer past
/// int64, complex numbers.
pub fn serialize_example<K: AsRef<str>>(features: &[(K, FeatureValue<'_>)]) -> Result<Vec<u8>> {
    let mut entries: SmallVec<[Entry<'_>; 4]> = SmallVec::with_capacity(features.len());
    let mut total = 0;
    for index in ascending(features)? {
        let (key, value) = &features[index];
        let entry = Entry::new(key.as_ref(), value)?;
        total += field_bytes(entry.entry_bytes);
        entries.push(entry);
    }
    let mut out = Vec::with_capacity(field_bytes(total));
    write_header(&mut out, 1, total);
    entries.iter().for_each(|entry| entry.write(&mut out));
    Ok(out)
}

/// The order in which keys ascend.
fn ascending<K: AsRef<str>>(features: &[(K, FeatureValue<'_>)]) -> Result<SmallVec<[usize; 64]>> {
    let key = |index: usize| features[index].0.as_ref();
    let mut order: SmallVec<[usize; 64]> = (0..features.len()).collect();
    if order.is_sorted_by(|a, b| key(*a) < key(*b)) {
        return Ok(order);
    }
    // The first eight bytes decide most comparisons, in one instruction.
    let first_bytes = |index: usize| {
        let mut bytes = [0; 8];
        bytes.iter_mut().zip(key(index).bytes()).for_each(|(place, byte)| *place = byte);
        (u64::from_be_bytes(bytes), index)
    };
    let mut keyed: SmallVec<[(u64, usize); 64]> = order.iter().map(|i| first_bytes(*i)).collect();
    keyed.sort_unstable_by(|a, b| a.0.cmp(&b.0).then_with(|| key(a.1).cmp(key(b.1))));
    order.iter_mut().zip(&keyed).for_each(|(place, (_, index))| *place = *index);
    match order.windows(2).find(|pair| key(pair[0]) == key(pair[1])) {
        Some(pair) => {
            Err(Error::invalid_argument("a feature is given twice").at_feature(key(pair[0])))
        }
        None => Ok(order),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_feature_cannot_hold_is_an_error_that_names_it() {
        let big = Tensor::scalar(u64::MAX).unwrap();
        let complex = Tensor::zeros(DType::Complex64, [1][..].into()).unwrap();
        for tensor in [&big, &complex] {
            let features = [("a", FeatureValue::Int(1)), ("b", FeatureValue::Tensor(tensor))];
            let error = serialize_example(&features).unwrap_err();
            assert_eq!(error.place().feature.as_deref(), Some("b"));
        }
        let twice = ["b", "a", "b"].map(|key| (key, FeatureValue::Int(1)));
        assert!(serialize_example(&twice).unwrap_err().to_string().contains("\"b\""));
    }

    #[test]
    fn small_types_are_widened() {
        let bools = Tensor::fixed(
            DType::Bool,
            [2][..].into(),
            crate::data::Buffer::copy_from(&[0, 1]).unwrap(),
        )
        .unwrap();
        let halves = Tensor::from_values(&[1], &[half::f16::from_f32(0.5)]).unwrap();
        let features = [("b", FeatureValue::Tensor(&bools)), ("h", FeatureValue::Tensor(&halves))];
        let bytes = serialize_example(&features).unwrap();
        let example = <Example as prost::Message>::decode(bytes.as_slice()).unwrap();
        let feature = example.features.unwrap().feature;
        let kind = |key: &str| feature[key].kind.clone().unwrap();
        assert_eq!(kind("b"), Kind::Int64List(Int64List { value: vec![0, 1] }));
        assert_eq!(kind("h"), Kind::FloatList(FloatList { value: vec![0.5] }));
    }
}
