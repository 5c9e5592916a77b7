//! `tf.train.Example` in the JSON of protobuf, as `tf.io.decode_json_example` reads it.
//!
//! Names may be in camel or snake case; integers may be floats without a fraction, numbers may be
//! strings, bytes are base64 of either alphabet; `null` is a default. Depth and size are bounded by
//! those of the text.

use std::collections::BTreeMap;

use prost::Message;
use prost::encoding::{WireType, encode_key, encode_varint};
use serde_json::{Map, Value};

use crate::error::{Error, Result};
use crate::formats::base64;
use crate::formats::proto::{BytesList, Feature, FloatList, Int64List, Kind};

const TWO_63: f64 = 9_223_372_036_854_775_808.0;

fn wrong(text: impl std::fmt::Display) -> Error {
    Error::invalid_argument(format!("Error while parsing JSON: {text}"))
}

/// The message of a text.
///
/// # Errors
/// `InvalidArgument` if it is no such JSON.
pub fn decode(text: &[u8]) -> Result<Vec<u8>> {
    let value: Value = serde_json::from_slice(text).map_err(wrong)?;
    let Value::Object(fields) = value else {
        return Err(wrong("an Example is an object: {\"features\": {\"feature\": {...}}}"));
    };
    let mut message = Vec::new();
    for (name, value) in &fields {
        match name.as_str() {
            "features" => {
                if let Some(fields) = object(name, value)? {
                    push(&mut message, 1, &encoded(&features(fields)?));
                }
            }
            other => return Err(unknown(other)),
        }
    }
    Ok(message)
}

/// Appends a field of bytes.
fn push(out: &mut Vec<u8>, tag: u32, bytes: &[u8]) {
    encode_key(tag, WireType::LengthDelimited, out);
    encode_varint(bytes.len() as u64, out);
    out.extend_from_slice(bytes);
}

/// `Features` by ascending key; a feature that is `null` is a key alone.
fn encoded(features: &BTreeMap<&str, Option<Feature>>) -> Vec<u8> {
    let mut out = Vec::new();
    for (key, feature) in features {
        let mut entry = Vec::new();
        push(&mut entry, 1, key.as_bytes());
        if let Some(feature) = feature {
            push(&mut entry, 2, &feature.encode_to_vec());
        }
        push(&mut out, 1, &entry);
    }
    out
}

fn unknown(name: &str) -> Error {
    wrong(format!("no such field: '{name}'"))
}

/// The fields of an object; none for `null`.
fn object<'a>(name: &str, value: &'a Value) -> Result<Option<&'a Map<String, Value>>> {
    match value {
        Value::Object(fields) => Ok(Some(fields)),
        Value::Null => Ok(None),
        other => Err(wrong(format!("'{name}' is an object, got {other}"))),
    }
}

fn features(fields: &Map<String, Value>) -> Result<BTreeMap<&str, Option<Feature>>> {
    let mut features = BTreeMap::new();
    for (name, value) in fields {
        if name != "feature" {
            return Err(unknown(name));
        }
        for (key, value) in object(name, value)?.into_iter().flatten() {
            let made = object(key, value)?.map(|fields| feature(key, fields)).transpose()?;
            features.insert(key.as_str(), made);
        }
    }
    Ok(features)
}

fn feature(key: &str, fields: &Map<String, Value>) -> Result<Feature> {
    let mut kind = None;
    for (name, value) in fields {
        let Some(list) = object(name, value)? else { continue };
        if kind.is_some() {
            return Err(wrong(format!("feature '{key}' has more than one list")));
        }
        let values = values(list)?;
        let each = |error: Error| error.at_feature(key);
        kind = Some(match name.as_str() {
            "bytesList" | "bytes_list" => {
                let value = values.iter().map(|v| bytes(v)).collect::<Result<_>>().map_err(each)?;
                Kind::BytesList(BytesList { value })
            }
            "floatList" | "float_list" => {
                let value = values.iter().map(|v| float(v)).collect::<Result<_>>().map_err(each)?;
                Kind::FloatList(FloatList { value })
            }
            "int64List" | "int64_list" => {
                let value = values.iter().map(|v| int(v)).collect::<Result<_>>().map_err(each)?;
                Kind::Int64List(Int64List { value })
            }
            other => return Err(unknown(other)),
        });
    }
    Ok(Feature { kind })
}

/// The values of a list; a value alone is a list of one.
fn values(list: &Map<String, Value>) -> Result<Vec<&Value>> {
    let mut found = Vec::new();
    for (name, value) in list {
        match (name.as_str(), value) {
            ("value", Value::Array(items)) => found.extend(items),
            ("value", Value::Null) => {}
            ("value", item) => found.push(item),
            (other, _) => return Err(unknown(other)),
        }
    }
    Ok(found)
}

fn int(value: &Value) -> Result<i64> {
    let whole = |number: f64| {
        let fits = number.fract() == 0.0 && (-TWO_63..TWO_63).contains(&number);
        fits.then_some(number as i64)
    };
    let found = match value {
        Value::Null => Some(0),
        Value::Number(number) => number.as_i64().or_else(|| number.as_f64().and_then(whole)),
        Value::String(text) => text.parse().ok().or_else(|| text.parse().ok().and_then(whole)),
        _ => None,
    };
    found.ok_or_else(|| wrong(format!("{value} is no int64")))
}

fn float(value: &Value) -> Result<f32> {
    let found = match value {
        Value::Null => Some(0.0),
        // A number that is too large for a float32 is none, infinity by name is one.
        Value::Number(number) => {
            number.as_f64().map(|number| number as f32).filter(|number| number.is_finite())
        }
        Value::String(text) => text.parse().ok(),
        _ => None,
    };
    found.ok_or_else(|| wrong(format!("{value} is no float")))
}

fn bytes(value: &Value) -> Result<Vec<u8>> {
    match value {
        Value::Null => Ok(Vec::new()),
        Value::String(text) => {
            let url = text.replace('+', "-").replace('/', "_");
            base64::decode(url.as_bytes()).map_err(|_| wrong(format!("{value} is no base64")))
        }
        other => Err(wrong(format!("{other} is no base64"))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::formats::proto::Example;

    fn read(feature: &str) -> Result<Feature> {
        let text = format!("{{\"features\":{{\"feature\":{{\"x\":{feature}}}}}}}");
        let message = Example::decode(decode(text.as_bytes())?.as_slice()).unwrap();
        Ok(message.features.unwrap().feature.remove("x").unwrap())
    }

    #[test]
    fn lists_of_each_kind_are_read() {
        let ints = read(r#"{"int64List":{"value":["1",2.0,"1e2",null]}}"#).unwrap();
        assert_eq!(ints.kind, Some(Kind::Int64List(Int64List { value: vec![1, 2, 100, 0] })));
        let floats = read(r#"{"float_list":{"value":[1,"1.5","-Infinity"]}}"#).unwrap();
        let value = vec![1.0, 1.5, f32::NEG_INFINITY];
        assert_eq!(floats.kind, Some(Kind::FloatList(FloatList { value })));
        let bytes = read(r#"{"bytesList":{"value":["_-8","/+8="]}}"#).unwrap();
        let value = vec![vec![0xff, 0xef]; 2];
        assert_eq!(bytes.kind, Some(Kind::BytesList(BytesList { value })));
    }

    #[test]
    fn what_is_no_example_is_refused() {
        for feature in [
            r#"{"int64List":{"value":[1.5]}}"#,
            r#"{"int64List":{"value":[9223372036854775808]}}"#,
            r#"{"floatList":{"value":[1e50]}}"#,
            r#"{"bytesList":{"value":["!"]}}"#,
            r#"{"foo":{}}"#,
            r#"{"int64List":{"value":[1]},"floatList":{"value":[2]}}"#,
        ] {
            assert!(read(feature).is_err(), "{feature}");
        }
        assert!(decode(b"[]").is_err());
        assert!(decode("[".repeat(100_000).as_bytes()).is_err());
    }
}
