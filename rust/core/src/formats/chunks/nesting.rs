//! Structures as JSON, for the headers of files.
//!
//! A component is `"*"`, `None` is `null`, a tuple is a list, a dict is a list of keys and items,
//! an instance of the caller's types has the type's name.

use std::sync::Arc;

use serde_json::{Value as Json, json};

use crate::data::Structure;
use crate::data::spec::Key;
use crate::error::{Error, Result};

/// Nesting beyond this is no element's.
const MAX_DEPTH: usize = 64;

/// The structure as JSON.
pub fn to_json(structure: &Structure) -> Json {
    match structure {
        Structure::Leaf => json!("*"),
        Structure::Nothing => Json::Null,
        Structure::Tuple(items) => items.iter().map(to_json).collect(),
        Structure::Dict(items) => {
            let pair = |(key, item): &(Key, Structure)| match key {
                Key::Int(key) => json!([key, to_json(item)]),
                Key::Str(key) => json!([&**key, to_json(item)]),
            };
            json!({ "dict": items.iter().map(pair).collect::<Json>() })
        }
        Structure::Record(kind, items) => {
            let fields = items.iter().map(|(name, item)| json!([&**name, to_json(item)]));
            json!({ "record": kind.name(), "fields": fields.collect::<Json>() })
        }
    }
}

/// The structure that [`to_json`] wrote.
///
/// # Errors
/// `DataLoss` if it is something else; `FailedPrecondition` for instances of the caller's types,
/// which a file cannot bring back.
pub fn from_json(json: &Json) -> Result<Structure> {
    read(json, 0)
}

fn read(json: &Json, depth: usize) -> Result<Structure> {
    let wrong = || Error::data_loss("a header that does not say how elements nest");
    if depth > MAX_DEPTH {
        return Err(wrong());
    }
    Ok(match json {
        Json::Null => Structure::Nothing,
        Json::String(text) if text == "*" => Structure::Leaf,
        Json::Array(items) => {
            Structure::Tuple(items.iter().map(|item| read(item, depth + 1)).collect::<Result<_>>()?)
        }
        Json::Object(map) => {
            if let Some(name) = map.get("record").and_then(Json::as_str) {
                let text = format!("elements are instances of {name}, which a file cannot make");
                let hint = "give the map before an output_signature";
                return Err(Error::failed_precondition(text).with_hint(hint));
            }
            let items = map.get("dict").and_then(Json::as_array).ok_or_else(wrong)?;
            let pair = |item: &Json| {
                let [key, item] = item.as_array().map(Vec::as_slice).unwrap_or_default() else {
                    return Err(wrong());
                };
                let key = match (key.as_i64(), key.as_str()) {
                    (Some(key), _) => Key::Int(key),
                    (_, Some(key)) => Key::Str(Arc::from(key)),
                    _ => return Err(wrong()),
                };
                Ok((key, read(item, depth + 1)?))
            };
            Structure::Dict(items.iter().map(pair).collect::<Result<_>>()?)
        }
        _ => return Err(wrong()),
    })
}
