//! Maps from numbers as lists in JSON: each value with the distance from the number before its own.
//!
//! Of a thousand values most distances are the same, so they pack well; numbers would not.

use std::collections::BTreeMap;

use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// Writes a map.
pub(super) fn serialize<T: Serialize, S: Serializer>(
    map: &BTreeMap<usize, T>,
    to: S,
) -> Result<S::Ok, S::Error> {
    let mut next = 0;
    to.collect_seq(map.iter().map(|(number, value)| {
        let distance = number - next;
        next = number + 1;
        (distance, value)
    }))
}

/// Reads a map.
pub(super) fn deserialize<'de, T: Deserialize<'de>, D: Deserializer<'de>>(
    from: D,
) -> Result<BTreeMap<usize, T>, D::Error> {
    let mut next = 0_usize;
    let list = Vec::<(usize, T)>::deserialize(from)?.into_iter().map(|(distance, value)| {
        let number = next.checked_add(distance)?;
        next = number.checked_add(1)?;
        Some((number, value))
    });
    list.collect::<Option<_>>().ok_or_else(|| D::Error::custom("numbers that are too large"))
}
