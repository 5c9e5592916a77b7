//! Encodings of Unicode: code points out of bytes, and bytes of code points.
//!
//! What is broken is told as ICU does, whose ways TensorFlow has: for UTF-8 each longest part of a
//! character, for UTF-16 and UTF-32 each unit. UTF-16 and UTF-32 without a byte order take that of
//! a mark at the start, which is no character then but belongs to the first one, and are big-endian
//! without one.

use crate::error::{Error, Result};

/// An encoding that strings are in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Encoding {
    Utf8,
    Utf16 { big: bool, marked: bool },
    Utf32 { big: bool, marked: bool },
    Ascii,
    Latin1,
}

/// A character, or what is none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Character {
    /// The code point; none for broken bytes.
    pub(super) code: Option<u32>,
    pub(super) start: usize,
    pub(super) len: usize,
}

impl Encoding {
    /// The encoding of this name; case, `-`, `_` and spaces do not count.
    ///
    /// # Errors
    /// `InvalidArgument` for an unknown name.
    pub(super) fn named(name: &str) -> Result<Self> {
        let plain: String = name.chars().filter(char::is_ascii_alphanumeric).collect();
        let utf16 = |big, marked| Encoding::Utf16 { big, marked };
        let utf32 = |big, marked| Encoding::Utf32 { big, marked };
        Ok(match plain.to_ascii_lowercase().as_str() {
            "utf8" => Encoding::Utf8,
            "utf16" => utf16(true, true),
            "utf16be" => utf16(true, false),
            "utf16le" => utf16(false, false),
            "utf32" => utf32(true, true),
            "utf32be" => utf32(true, false),
            "utf32le" => utf32(false, false),
            "usascii" | "ascii" => Encoding::Ascii,
            "iso88591" | "latin1" => Encoding::Latin1,
            _ => {
                let text = format!("Could not create converter for input encoding: {name}");
                let hint =
                    "UTF-8, UTF-16, UTF-32 (also -BE and -LE), US-ASCII and ISO-8859-1 are known";
                return Err(Error::invalid_argument(text).with_hint(hint));
            }
        })
    }

    /// Calls `each` with the characters of a string in order.
    pub(super) fn decode(
        self,
        value: &[u8],
        each: &mut impl FnMut(Character) -> Result<()>,
    ) -> Result<()> {
        match self {
            Encoding::Utf8 => utf8(value, each),
            Encoding::Ascii => bytes(value, 0x7f, each),
            Encoding::Latin1 => bytes(value, 0xff, each),
            Encoding::Utf16 { big, marked } => {
                let (start, big) = match value {
                    [0xfe, 0xff, ..] if marked => (2, true),
                    [0xff, 0xfe, ..] if marked => (2, false),
                    _ => (0, big),
                };
                utf16(value, start, big, each)
            }
            Encoding::Utf32 { big, marked } => {
                let (start, big) = match value {
                    [0, 0, 0xfe, 0xff, ..] if marked => (4, true),
                    [0xff, 0xfe, 0, 0, ..] if marked => (4, false),
                    _ => (0, big),
                };
                utf32(value, start, big, each)
            }
        }
    }

    /// Appends a code point. Half a pair has no bytes in UTF-8: U+FFFD stands for it.
    pub(super) fn encode(self, code: u32, out: &mut Vec<u8>) {
        let character = char::from_u32(code);
        match (self, character) {
            (Encoding::Utf16 { .. }, Some(character)) => {
                let mut units = [0; 2];
                for unit in character.encode_utf16(&mut units) {
                    out.extend_from_slice(&unit.to_be_bytes());
                }
            }
            (Encoding::Utf16 { .. }, None) => {
                out.extend_from_slice(&(code as u16).to_be_bytes());
            }
            (Encoding::Utf32 { .. }, _) => out.extend_from_slice(&code.to_be_bytes()),
            _ => {
                let character = character.unwrap_or(char::REPLACEMENT_CHARACTER);
                out.extend_from_slice(character.encode_utf8(&mut [0; 4]).as_bytes());
            }
        }
    }
}

/// The encoding of results: big-endian, without a mark.
///
/// # Errors
/// `InvalidArgument` for a name that TensorFlow does not write.
pub(super) fn output(name: &str) -> Result<Encoding> {
    match name {
        "UTF-8" => Ok(Encoding::Utf8),
        "UTF-16-BE" => Ok(Encoding::Utf16 { big: true, marked: false }),
        "UTF-32-BE" => Ok(Encoding::Utf32 { big: true, marked: false }),
        _ => Err(Error::invalid_argument(format!(
            "output_encoding must be \"UTF-8\", \"UTF-16-BE\" or \"UTF-32-BE\", got {name:?}"
        ))),
    }
}

type Each<'a> = &'a mut dyn FnMut(Character) -> Result<()>;

fn utf8(value: &[u8], each: Each<'_>) -> Result<()> {
    let mut start = 0;
    for chunk in value.utf8_chunks() {
        for c in chunk.valid().chars() {
            each(Character { code: Some(c.into()), start, len: c.len_utf8() })?;
            start += c.len_utf8();
        }
        let len = chunk.invalid().len();
        if len > 0 {
            each(Character { code: None, start, len })?;
            start += len;
        }
    }
    Ok(())
}

fn bytes(value: &[u8], most: u8, each: Each<'_>) -> Result<()> {
    for (start, byte) in value.iter().enumerate() {
        let code = (*byte <= most).then_some(u32::from(*byte));
        each(Character { code, start, len: 1 })?;
    }
    Ok(())
}

fn utf16(value: &[u8], mark: usize, big: bool, each: Each<'_>) -> Result<()> {
    let mut start = mark;
    let unit = |at: usize| {
        let pair: [u8; 2] = value.get(at..at + 2)?.try_into().ok()?;
        Some(if big { u16::from_be_bytes(pair) } else { u16::from_le_bytes(pair) })
    };
    while start < value.len() {
        let (code, len) = match (unit(start), unit(start + 2)) {
            (None, _) => (None, value.len() - start),
            (Some(high @ 0xd800..=0xdbff), Some(low @ 0xdc00..=0xdfff)) => {
                let code = 0x10000 + ((u32::from(high) & 0x3ff) << 10) + (u32::from(low) & 0x3ff);
                (Some(code), 4)
            }
            // A first half before a broken unit takes that with it.
            (Some(0xd800..=0xdbff), None) => (None, value.len() - start),
            (Some(0xd800..=0xdfff), _) => (None, 2),
            (Some(unit), _) => (Some(u32::from(unit)), 2),
        };
        each(from_mark(Character { code, start, len }, mark))?;
        start += len;
    }
    Ok(())
}

fn utf32(value: &[u8], mark: usize, big: bool, each: Each<'_>) -> Result<()> {
    let mut start = mark;
    while start < value.len() {
        let unit = value.get(start..start + 4).and_then(|unit| <[u8; 4]>::try_from(unit).ok());
        let code = unit.map(|u| if big { u32::from_be_bytes(u) } else { u32::from_le_bytes(u) });
        let code = code.filter(|code| char::from_u32(*code).is_some());
        let len = unit.map_or(value.len() - start, |_| 4);
        each(from_mark(Character { code, start, len }, mark))?;
        start += len;
    }
    Ok(())
}

/// The first character begins where the mark before it does.
fn from_mark(found: Character, mark: usize) -> Character {
    match found.start == mark {
        true => Character { start: 0, len: found.len + mark, ..found },
        false => found,
    }
}
