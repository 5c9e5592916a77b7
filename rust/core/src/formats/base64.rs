//! Base64 of the URL alphabet, as `tf.io.encode_base64` and `decode_base64` have it.

use crate::error::{Error, Result};

const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

/// Encodes bytes, filled up with `=` to a multiple of four if `pad`.
pub fn encode(bytes: &[u8], pad: bool) -> Vec<u8> {
    let mut out = Vec::with_capacity(bytes.len().div_ceil(3) * 4);
    for group in bytes.chunks(3) {
        let mut word = [0; 4];
        word[1..=group.len()].copy_from_slice(group);
        let word = u32::from_be_bytes(word);
        for place in 0..4 {
            if place <= group.len() {
                out.push(ALPHABET[(word >> (18 - 6 * place)) as usize & 63]);
            } else if pad {
                out.push(b'=');
            }
        }
    }
    out
}

/// Encodes bytes with the letters of MIME, `+` and `/`, filled up: what TensorFlow's messages show.
pub fn encode_mime(bytes: &[u8]) -> Vec<u8> {
    let mut text = encode(bytes, true);
    for letter in &mut text {
        *letter = match *letter {
            b'-' => b'+',
            b'_' => b'/',
            other => other,
        };
    }
    text
}

fn digit(byte: u8) -> Option<u32> {
    let value = match byte {
        b'A'..=b'Z' => byte - b'A',
        b'a'..=b'z' => byte - b'a' + 26,
        b'0'..=b'9' => byte - b'0' + 52,
        b'-' => 62,
        b'_' => 63,
        _ => return None,
    };
    Some(value.into())
}

/// Decodes text, filled up or not.
///
/// # Errors
/// `InvalidArgument` for another alphabet or a length that no bytes have.
pub fn decode(text: &[u8]) -> Result<Vec<u8>> {
    let filled = text.iter().rev().take(2).take_while(|byte| **byte == b'=').count();
    let digits = &text[..text.len() - if text.len().is_multiple_of(4) { filled } else { 0 }];
    if digits.len() % 4 == 1 {
        return Err(Error::invalid_argument("Base64 string length cannot be 1 modulo 4."));
    }
    let mut out = Vec::with_capacity(digits.len() / 4 * 3 + 2);
    for group in digits.chunks(4) {
        let mut word = 0;
        for place in 0..4 {
            let value = match group.get(place) {
                None => 0,
                Some(byte) => digit(*byte).ok_or_else(|| {
                    Error::invalid_argument("Invalid character found in base64.")
                        .with_hint("its letters are A-Z, a-z, 0-9, - and _")
                })?,
            };
            word |= value << (18 - 6 * place);
        }
        let bytes: [u8; 4] = word.to_be_bytes();
        out.extend_from_slice(&bytes[1..group.len()]);
    }
    Ok(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_lengths_come_back_with_and_without_padding() {
        let bytes: Vec<u8> = (0..=255).collect();
        for length in 0..bytes.len() {
            for pad in [false, true] {
                let text = encode(&bytes[..length], pad);
                assert_eq!(decode(&text).unwrap(), bytes[..length]);
                assert!(!pad || text.len().is_multiple_of(4));
            }
        }
        assert_eq!(encode(b"\xff\xef", false), b"_-8");
        assert_eq!(encode_mime(b"\xff\xef"), b"/+8=");
        assert!(decode(b"!!").is_err());
        assert!(decode(b"AAAAA").is_err());
        assert!(decode(b"A===").is_err());
    }
}
