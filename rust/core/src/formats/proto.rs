//! The messages of `tf.train` as structs, for inspecting; and a direct encoder, for writing.
//!
//! [`serialize_example`] gives the bytes that encoding an [`Example`] gives, without building one:
//! keys ascend, so equal features give equal bytes.

use std::collections::BTreeMap;

use prost::encoding::{encode_varint, encoded_len_varint};
use smallvec::SmallVec;

use crate::data::{DType, Tensor};
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

/// A list ready to be written: its tag within the feature, and its values.
enum List<'a> {
    Ints(SmallVec<[i64; 1]>),
    Floats(SmallVec<[f32; 1]>),
    Bytes(SmallVec<[&'a [u8]; 1]>),
    Empty,
}

impl<'a> List<'a> {
    fn new(value: &FeatureValue<'a>) -> Result<Self> {
        Ok(match value {
            FeatureValue::Int(value) => List::Ints(SmallVec::from_buf([*value])),
            FeatureValue::Float(value) => List::Floats(SmallVec::from_buf([*value])),
            FeatureValue::Bytes(value) => List::Bytes(SmallVec::from_buf([*value])),
            FeatureValue::BytesList(values) => List::Bytes(values.as_slice().into()),
            FeatureValue::Tensor(tensor) => Self::of_tensor(tensor)?,
            FeatureValue::Empty => List::Empty,
        })
    }

    fn of_tensor(tensor: &'a Tensor) -> Result<Self> {
        fn ints<'a, T: crate::data::Element + Into<i64>>(tensor: &Tensor) -> Result<List<'a>> {
            Ok(List::Ints(tensor.values::<T>()?.iter().map(|value| (*value).into()).collect()))
        }
        Ok(match tensor.dtype() {
            DType::Bool | DType::UInt8 => ints::<u8>(tensor)?,
            DType::Int8 => ints::<i8>(tensor)?,
            DType::Int16 => ints::<i16>(tensor)?,
            DType::Int32 => ints::<i32>(tensor)?,
            DType::Int64 => ints::<i64>(tensor)?,
            DType::UInt16 => ints::<u16>(tensor)?,
            DType::UInt32 => ints::<u32>(tensor)?,
            DType::UInt64 => {
                let narrow = |value: &u64| {
                    i64::try_from(*value).map_err(|_| {
                        Error::invalid_argument(format!("{value} does not fit into an int64 list"))
                    })
                };
                List::Ints(tensor.values::<u64>()?.iter().map(narrow).collect::<Result<_>>()?)
            }
            DType::Float16 => {
                let values = tensor.values::<half::f16>()?;
                List::Floats(values.iter().map(|value| value.to_f32()).collect())
            }
            DType::BFloat16 => {
                let values = tensor.values::<half::bf16>()?;
                List::Floats(values.iter().map(|value| value.to_f32()).collect())
            }
            DType::Float32 => List::Floats(tensor.values::<f32>()?.into()),
            DType::Float64 => {
                List::Floats(tensor.values::<f64>()?.iter().map(|value| *value as f32).collect())
            }
            DType::Bytes | DType::Str => List::Bytes(tensor.strings()?.iter().collect()),
            DType::Complex64 | DType::Complex128 => {
                let message = format!("a feature cannot hold {}", tensor.dtype());
                return Err(Error::invalid_argument(message)
                    .with_hint("features hold integers, floats, bytes or str"));
            }
        })
    }

    /// Bytes of the packed run, or of the strings with their tags.
    fn payload_bytes(&self) -> usize {
        match self {
            List::Ints(values) => {
                values.iter().map(|value| encoded_len_varint(value.cast_unsigned())).sum()
            }
            List::Floats(values) => size_of_val(values.as_slice()),
            List::Bytes(values) => values.iter().map(|value| field_bytes(value.len())).sum(),
            List::Empty => 0,
        }
    }
}

/// Bytes of a field of this length: tag, length, content.
fn field_bytes(length: usize) -> usize {
    1 + encoded_len_varint(length as u64) + length
}

fn write_header(out: &mut Vec<u8>, field: u8, length: usize) {
    out.push(field << 3 | 2);
    encode_varint(length as u64, out);
}

/// One entry of the map with the lengths that its headers need.
struct Entry<'a> {
    key: &'a str,
    list: List<'a>,
    payload_bytes: usize,
    /// Bytes of the list message: the packed run has a header of its own, strings have not.
    list_bytes: usize,
    feature_bytes: usize,
    entry_bytes: usize,
}

impl<'a> Entry<'a> {
    fn new(key: &'a str, value: &FeatureValue<'a>) -> Result<Self> {
        let list = List::new(value).map_err(|error| error.at_feature(key))?;
        let payload_bytes = list.payload_bytes();
        let list_bytes = match list {
            List::Ints(_) | List::Floats(_) if payload_bytes > 0 => field_bytes(payload_bytes),
            _ => payload_bytes,
        };
        let feature_bytes = if matches!(list, List::Empty) { 0 } else { field_bytes(list_bytes) };
        // prost leaves out a key or a feature of no bytes; TensorFlow's parser wants both.
        let entry_bytes = field_bytes(key.len()) + field_bytes(feature_bytes);
        Ok(Entry { key, list, payload_bytes, list_bytes, feature_bytes, entry_bytes })
    }

    fn write(&self, out: &mut Vec<u8>) {
        write_header(out, 1, self.entry_bytes);
        write_header(out, 1, self.key.len());
        out.extend_from_slice(self.key.as_bytes());
        write_header(out, 2, self.feature_bytes);
        let field = match self.list {
            List::Bytes(_) => 1,
            List::Floats(_) => 2,
            List::Ints(_) => 3,
            List::Empty => return,
        };
        write_header(out, field, self.list_bytes);
        match &self.list {
            List::Bytes(values) => {
                for value in values {
                    write_header(out, 1, value.len());
                    out.extend_from_slice(value);
                }
            }
            _ if self.payload_bytes == 0 => {}
            List::Floats(values) => {
                write_header(out, 1, self.payload_bytes);
                values.iter().for_each(|value| out.extend_from_slice(&value.to_le_bytes()));
            }
            List::Ints(values) => {
                write_header(out, 1, self.payload_bytes);
                values.iter().for_each(|value| encode_varint(value.cast_unsigned(), out));
            }
            List::Empty => {}
        }
    }
}

/// The bytes of an Example with these features; keys are written in ascending order, lists packed.
///
/// # Errors
/// `InvalidArgument`, naming the feature, for a key that is there twice, an unsigned integer past
/// int64, complex numbers.
pub fn serialize_example<K: AsRef<str>>(features: &[(K, FeatureValue<'_>)]) -> Result<Vec<u8>> {
    let mut entries: SmallVec<[Entry<'_>; 8]> = SmallVec::with_capacity(features.len());
    for (key, value) in features {
        entries.push(Entry::new(key.as_ref(), value)?);
    }
    if !entries.is_sorted_by(|a, b| a.key < b.key) {
        entries.sort_by(|a, b| a.key.cmp(b.key));
        if let Some(pair) = entries.windows(2).find(|pair| pair[0].key == pair[1].key) {
            let error = Error::invalid_argument("a feature is given twice");
            return Err(error.at_feature(pair[0].key));
        }
    }
    let total: usize = entries.iter().map(|entry| field_bytes(entry.entry_bytes)).sum();
    let mut out = Vec::with_capacity(field_bytes(total));
    write_header(&mut out, 1, total);
    entries.iter().for_each(|entry| entry.write(&mut out));
    Ok(out)
}
