//! Records of CSV (RFC 4180) as TensorFlow reads them.
//!
//! A record ends with a line feed, a carriage return, or both. A field in quotes may hold anything,
//! with quotes doubled. A record that is wrong somewhere is read to its end all the same, so that
//! the next one can follow: [`Fields`] goes over the fields of one record, one call each.

use std::borrow::Cow;
use std::ops::Range;

use crate::error::{Error, Result};

/// How fields are divided.
#[derive(Clone, Copy, Debug)]
pub struct Syntax {
    /// What stands between two fields.
    pub delimiter: u8,
    /// Whether quotes are more than characters.
    pub quotes: bool,
}

/// One field, as it stands in the record.
#[derive(Clone, Debug)]
pub struct Field {
    /// The bytes, without the quotes around them.
    pub range: Range<usize>,
    /// Quotes within are doubled.
    pub doubled: bool,
}

impl Field {
    /// The value.
    pub fn value<'a>(&self, bytes: &'a [u8]) -> Cow<'a, [u8]> {
        let text = &bytes[self.range.clone()];
        if !self.doubled {
            return Cow::Borrowed(text);
        }
        let mut value = Vec::with_capacity(text.len());
        let mut at = 0;
        while at < text.len() {
            value.push(text[at]);
            at += if text[at] == b'"' { 2 } else { 1 };
        }
        Cow::Owned(value)
    }
}

/// What came next in a record.
pub enum Step {
    /// A field.
    Field(Field),
    /// Something that is none, which has been passed over.
    Wrong(Error),
    /// The bytes end before it can be told.
    Short,
}

/// The fields of one record.
pub struct Fields<'a> {
    bytes: &'a [u8],
    /// Whether nothing comes after the bytes.
    last: bool,
    syntax: Syntax,
    at: usize,
    ended: bool,
}

impl<'a> Fields<'a> {
    /// The record at the front of `bytes`, which are the last of their file or not.
    pub fn new(bytes: &'a [u8], last: bool, syntax: Syntax) -> Self {
        Fields { bytes, last, syntax, at: 0, ended: false }
    }

    /// True once the record has ended.
    pub fn ended(&self) -> bool {
        self.ended
    }

    /// Number of bytes of the record up to here, its end included.
    pub fn consumed(&self) -> usize {
        self.at
    }

    /// The next field. Must not be called after the end.
    pub fn step(&mut self) -> Step {
        match self.bytes.get(self.at) {
            None if !self.last => Step::Short,
            Some(b'"') if self.syntax.quotes => self.quoted(),
            _ => self.unquoted(),
        }
    }

    /// Goes behind what ends the field at `at`; false if the bytes do not tell.
    fn end_at(&mut self, at: usize) -> bool {
        match self.bytes.get(at) {
            None => {
                self.ended = true;
                self.at = at;
                self.last
            }
            Some(byte) if *byte == self.syntax.delimiter => {
                self.at = at + 1;
                true
            }
            Some(b'\r') => match self.bytes.get(at + 1) {
                None if !self.last => false,
                next => {
                    self.ended = true;
                    self.at = at + 1 + usize::from(next == Some(&b'\n'));
                    true
                }
            },
            Some(_) => {
                self.ended = true;
                self.at = at + 1;
                true
            }
        }
    }

    fn is_end(&self, byte: u8) -> bool {
        byte == self.syntax.delimiter || byte == b'\n' || byte == b'\r'
    }

    /// Where the field that `from` lies in ends.
    fn find_end(&self, from: usize) -> usize {
        let rest = self.bytes.get(from..).unwrap_or_default();
        rest.iter().position(|byte| self.is_end(*byte)).map_or(self.bytes.len(), |at| from + at)
    }

    fn unquoted(&mut self) -> Step {
        let (start, end) = (self.at, self.find_end(self.at));
        let quote = self.syntax.quotes && self.bytes[start..end].contains(&b'"');
        if !self.end_at(end) {
            return Step::Short;
        }
        match quote {
            true => Step::Wrong(wrong("Unquoted fields cannot have quotes inside")),
            false => Step::Field(Field { range: start..end, doubled: false }),
        }
    }

    fn quoted(&mut self) -> Step {
        let start = self.at + 1;
        let (mut at, mut doubled, mut bare) = (start, false, false);
        loop {
            let rest = self.bytes.get(at..).unwrap_or_default();
            let Some(quote) = rest.iter().position(|byte| *byte == b'"').map(|found| at + found)
            else {
                if !self.last {
                    return Step::Short;
                }
                (self.ended, self.at) = (true, self.bytes.len());
                return Step::Wrong(wrong(if bare { BARE } else { OPEN }));
            };
            match self.bytes.get(quote + 1) {
                Some(b'"') => {
                    doubled = true;
                    at = quote + 2;
                }
                None if !self.last => return Step::Short,
                // As in TensorFlow, the field goes on after a quote that should not be there.
                Some(byte) if !self.is_end(*byte) => {
                    bare = true;
                    at = quote + 2;
                }
                _ => {
                    if !self.end_at(quote + 1) {
                        return Step::Short;
                    }
                    if bare {
                        return Step::Wrong(wrong(BARE));
                    }
                    return Step::Field(Field { range: start..quote, doubled });
                }
            }
        }
    }
}

const BARE: &str = "Quote inside a string has to be escaped by another quote";
const OPEN: &str = "Reached end of file without closing quoted field in record";

fn wrong(text: &str) -> Error {
    Error::invalid_argument(text)
}

/// A number as TensorFlow reads it: white space around it, and a plus sign, do not matter.
///
/// # Errors
/// The text as it stands, if it is none.
pub fn number<T: std::str::FromStr>(field: &[u8]) -> Result<T, String> {
    let shown = || String::from_utf8_lossy(field).into_owned();
    let text = std::str::from_utf8(field).map_err(|_| shown())?;
    text.trim_matches(|c: char| c.is_ascii_whitespace()).parse().map_err(|_| shown())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(bytes: &[u8]) -> Vec<String> {
        let syntax = Syntax { delimiter: b',', quotes: true };
        let (mut at, mut out) = (0, Vec::new());
        while at < bytes.len() {
            let mut fields = Fields::new(&bytes[at..], true, syntax);
            let mut record = Vec::new();
            while !fields.ended() {
                record.push(match fields.step() {
                    Step::Field(field) => {
                        String::from_utf8_lossy(&field.value(&bytes[at..])).into_owned()
                    }
                    Step::Wrong(error) => format!("!{}", error.message()),
                    Step::Short => "short".into(),
                });
            }
            at += fields.consumed();
            out.push(record.join("|"));
        }
        out
    }

    #[test]
    fn records_end_in_three_ways() {
        assert_eq!(read(b"a,b\nc,\rd\r\n,e"), ["a|b", "c|", "d", "|e"]);
        assert_eq!(read(b"\n\n"), ["", ""]);
    }

    #[test]
    fn quotes_hold_anything() {
        assert_eq!(read(b"\"a,\"\"b\"\"\n\",\"\"\r\nc"), ["a,\"b\"\n|", "c"]);
        assert_eq!(read(b"\"a\""), ["a"]);
    }

    #[test]
    fn what_is_wrong_is_passed_over() {
        let texts = read(b"a\"b,c\n\"x\"y\",z\n\"open,\n");
        assert!(texts[0].starts_with("!Unquoted") && texts[0].ends_with("|c"), "{texts:?}");
        assert!(texts[1].starts_with("!Quote inside") && texts[1].ends_with("|z"), "{texts:?}");
        assert!(texts[2].starts_with("!Reached end"), "{texts:?}");
    }

    #[test]
    fn a_prefix_is_short_or_the_same() {
        let text = b"a,\"b\"\"c\"\r\nnext";
        let syntax = Syntax { delimiter: b',', quotes: true };
        for cut in 0..text.len() {
            let mut fields = Fields::new(&text[..cut], false, syntax);
            let mut short = false;
            while !fields.ended() && !short {
                short = matches!(fields.step(), Step::Short);
            }
            assert!(short || fields.consumed() == 10, "{cut}");
        }
    }

    #[test]
    fn numbers_may_have_space_around_them() {
        assert_eq!(number::<i32>(b" +2 "), Ok(2));
        assert!(number::<i32>(b"0x10").is_err() && number::<i64>(b"").is_err());
        assert_eq!(number::<f32>(b"inf"), Ok(f32::INFINITY));
        assert_eq!(number::<f64>(b"1e400"), Ok(f64::INFINITY));
    }
}
