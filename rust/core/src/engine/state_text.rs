//! States as text: JSON, with a checksum, and packed where they are long.
//!
//! A state of up to 4 KiB is readable. A longer one, of a mix of hundreds of sources say, repeats
//! itself, so it is deflated and put into the JSON in base 64. Beyond 256 KiB there is none.

use std::io::{Read, Write};

use flate2::Compression;
use flate2::read::DeflateDecoder;
use flate2::write::DeflateEncoder;
use serde::Deserialize;

use crate::engine::nested_log::HINT;
use crate::engine::state::State;
use crate::error::{Error, Result};
use crate::graph::hash::Fnv;

const VERSION: u32 = 3;
/// The longest text that is left readable.
const READABLE: usize = 4 << 10;
/// The longest text that is written.
const LONGEST: usize = 256 << 10;
/// The longest text that is read: somebody's JSON writer may have put spaces and line ends in.
const LONGEST_READ: usize = 4 * LONGEST;
/// The most that a packed state unpacks to.
const LONGEST_UNPACKED: usize = 8 << 20;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Envelope {
    version: u32,
    /// Of the state's JSON as it is written here, so that it holds whatever spaces are put in.
    sum: String,
    #[serde(default)]
    state: Option<State>,
    #[serde(default)]
    packed: Option<String>,
}

/// Writes a state.
///
/// # Errors
/// `ResourceExhausted` if it would be longer than 256 KiB.
pub(super) fn write(state: &State) -> Result<String> {
    if !state.position.is_storable() {
        let text =
            "the pipeline has too many steps, one on the other, for its position to be stored";
        return Err(Error::resource_exhausted(text));
    }
    let inner = serde_json::to_string(state).map_err(|error| Error::internal(error.to_string()))?;
    let head = format!(r#"{{"version":{VERSION},"sum":"{}","#, sum(&inner));
    let plain = head.len() + r#""state":}"#.len() + inner.len();
    if plain <= READABLE {
        return Ok(format!(r#"{head}"state":{inner}}}"#));
    }
    if inner.len() > LONGEST_UNPACKED {
        return Err(too_long(inner.len()));
    }
    let packed = base64(&deflated(inner.as_bytes())?);
    let text = format!(r#"{head}"packed":"{packed}"}}"#);
    if text.len() > LONGEST { Err(too_long(text.len())) } else { Ok(text) }
}

/// Reads a state.
///
/// # Errors
/// `InvalidArgument` if the text is none, or damaged.
pub(super) fn read(text: &str) -> Result<State> {
    if text.len() > LONGEST_READ {
        return Err(no_state(&format!("it has {} bytes", text.len())));
    }
    let parsed = serde_json::from_str::<Envelope>(text);
    let envelope = parsed.map_err(|error| no_state(&error.to_string()))?;
    if envelope.version != VERSION {
        let version = envelope.version;
        return Err(no_state(&format!("its version is {version}, this one reads {VERSION}")));
    }
    let state = match (envelope.state, envelope.packed) {
        (Some(state), None) => state,
        (None, Some(packed)) => unpacked(&packed)?,
        _ => return Err(no_state("it must have one of `state` and `packed`")),
    };
    let inner =
        serde_json::to_string(&state).map_err(|error| Error::internal(error.to_string()))?;
    if sum(&inner) != envelope.sum {
        return Err(no_state("it was changed: its checksum does not hold"));
    }
    Ok(state)
}

fn unpacked(packed: &str) -> Result<State> {
    let bytes = from_base64(packed).ok_or_else(|| no_state("its packed part is no base 64"))?;
    let mut inner = String::new();
    let mut bounded = DeflateDecoder::new(&bytes[..]).take(LONGEST_UNPACKED as u64 + 1);
    match bounded.read_to_string(&mut inner) {
        Ok(_) if inner.len() <= LONGEST_UNPACKED => {}
        Ok(_) => return Err(no_state("its packed part is too long")),
        Err(error) => return Err(no_state(&format!("its packed part is damaged ({error})"))),
    }
    serde_json::from_str(&inner).map_err(|error| no_state(&error.to_string()))
}

fn sum(text: &str) -> String {
    let mut hash = Fnv::default();
    hash.bytes(text.as_bytes());
    format!("{:016x}", hash.finish())
}

fn deflated(bytes: &[u8]) -> Result<Vec<u8>> {
    let mut encoder = DeflateEncoder::new(Vec::new(), Compression::default());
    let written = encoder.write_all(bytes).and_then(|()| encoder.finish());
    written.map_err(|error| Error::internal(error.to_string()))
}

fn no_state(why: &str) -> Error {
    Error::invalid_argument(format!("not the state of an iterator: {why}"))
        .with_hint("pass what iterator.state() returned, as it was")
}

fn too_long(bytes: usize) -> Error {
    Error::resource_exhausted(format!(
        "the state would take {bytes} bytes, and at most {LONGEST} are allowed"
    ))
    .with_hint(HINT)
}

const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

fn base64(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for group in bytes.chunks(3) {
        let byte = |at: usize| u32::from(group.get(at).copied().unwrap_or(0));
        let word = byte(0) << 16 | byte(1) << 8 | byte(2);
        let digits = (0..=group.len()).map(|at| DIGITS[(word >> (18 - 6 * at) & 63) as usize]);
        text.extend(digits.map(char::from));
    }
    text
}

fn from_base64(text: &str) -> Option<Vec<u8>> {
    let value = |digit: &u8| DIGITS.iter().position(|known| known == digit);
    let mut bytes = Vec::with_capacity(text.len() / 4 * 3 + 3);
    for group in text.as_bytes().chunks(4) {
        let mut word = 0;
        for at in 0..4 {
            let digit = group.get(at).map_or(Some(0), value)?;
            word |= (digit as u32) << (18 - 6 * at);
        }
        let count = group.len().checked_sub(1).filter(|count| *count > 0)?;
        bytes.extend(&word.to_be_bytes()[1..=count]);
    }
    Some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn base_64_goes_there_and_back() {
        assert_eq!(base64(b"Mankind"), "TWFua2luZA");
        for length in 0..50 {
            let bytes: Vec<u8> = (0..length).map(|i| (i * 37) as u8).collect();
            assert_eq!(from_base64(&base64(&bytes)), Some(bytes));
        }
        for wrong in ["A", "TWFua2luZ", "TW=u", "é"] {
            assert_eq!(from_base64(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn a_bomb_is_refused() {
        let bomb = deflated(&vec![b' '; 4 * LONGEST_UNPACKED]).unwrap();
        let error = unpacked(&base64(&bomb)).unwrap_err().to_string();
        assert!(error.contains("too long"), "{error}");
    }
}
