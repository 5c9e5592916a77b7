//! The messages of `tf.train` as trees: any bytes that protobuf reads are read, and written again
//! without loss.
//!
//! [`decode`] follows protobuf where the parser of features (`example.rs`) follows TensorFlow:
//! parts of a message that come twice are merged, of a oneof the last counts, lists may be packed
//! or not, and fields that are not known are kept. [`encode`] writes from the end of the buffer to
//! its front, so that each length is known when its header is due and no part is measured first.
//! Nothing recurses deeper than the schemas nest.

use std::cmp::Ordering;

use hashbrown::HashMap;

use crate::formats::example::{Malformed, Wire, delimited, varint};

/// What a field holds.
#[derive(Clone, Copy, Debug)]
pub enum Kind {
    /// Any number of int64.
    Ints,
    /// Any number of float.
    Floats,
    /// Any number of byte strings.
    Strings,
    /// One message, perhaps.
    Message(&'static Schema),
    /// Messages by name.
    Map(&'static Schema),
    /// Any number of messages.
    Messages(&'static Schema),
}

/// One field of a message.
#[derive(Debug)]
pub struct Field {
    /// Its name.
    pub name: &'static str,
    /// Its number on the wire.
    pub number: u8,
    /// What it holds.
    pub kind: Kind,
}

/// The type of a message.
#[derive(Debug)]
pub struct Schema {
    /// Its name, without the package.
    pub name: &'static str,
    /// The fields by ascending number.
    pub fields: &'static [Field],
    /// Whether only one field can be there.
    pub is_oneof: bool,
}

macro_rules! schemas {
    ($($schema:ident $name:literal $oneof:literal { $($number:literal $field:literal $kind:expr;)* })*) => {
        $(static $schema: Schema = Schema {
            name: $name,
            fields: &[$(Field { name: $field, number: $number, kind: $kind },)*],
            is_oneof: $oneof,
        };)*
        const SCHEMAS: &[&Schema] = &[$(&$schema),*];
    };
}

schemas! {
    BYTES_LIST "BytesList" false { 1 "value" Kind::Strings; }
    FLOAT_LIST "FloatList" false { 1 "value" Kind::Floats; }
    INT64_LIST "Int64List" false { 1 "value" Kind::Ints; }
    FEATURE "Feature" true {
        1 "bytes_list" Kind::Message(&BYTES_LIST);
        2 "float_list" Kind::Message(&FLOAT_LIST);
        3 "int64_list" Kind::Message(&INT64_LIST);
    }
    FEATURES "Features" false { 1 "feature" Kind::Map(&FEATURE); }
    FEATURE_LIST "FeatureList" false { 1 "feature" Kind::Messages(&FEATURE); }
    FEATURE_LISTS "FeatureLists" false { 1 "feature_list" Kind::Map(&FEATURE_LIST); }
    EXAMPLE "Example" false { 1 "features" Kind::Message(&FEATURES); }
    SEQUENCE_EXAMPLE "SequenceExample" false {
        1 "context" Kind::Message(&FEATURES);
        2 "feature_lists" Kind::Message(&FEATURE_LISTS);
    }
}

/// The schema of a message of `tf.train` by its name.
pub fn schema(name: &str) -> Option<&'static Schema> {
    SCHEMAS.iter().find(|schema| schema.name == name).copied()
}

/// A message; `B` holds its byte strings.
#[derive(Clone, Debug, PartialEq)]
pub struct Message<B> {
    /// Index of the field in the schema, and what it holds; ascending.
    pub fields: Vec<(usize, Content<B>)>,
    /// Fields that are not known, as they were read.
    pub unknown: Vec<u8>,
}

/// What a field of a message holds.
#[derive(Clone, Debug, PartialEq)]
pub enum Content<B> {
    /// [`Kind::Ints`]
    Ints(Vec<i64>),
    /// [`Kind::Floats`]
    Floats(Vec<f32>),
    /// [`Kind::Strings`]
    Strings(Vec<B>),
    /// [`Kind::Message`]
    Message(Message<B>),
    /// [`Kind::Map`]; no name is there twice.
    Map(Vec<(B, Message<B>)>),
    /// [`Kind::Messages`]
    Messages(Vec<Message<B>>),
}

const VARINT: u64 = 0;
const FIXED64: u64 = 1;
const DELIMITED: u64 = 2;
const START_GROUP: u64 = 3;
const END_GROUP: u64 = 4;
const FIXED32: u64 = 5;
/// Groups in groups, as deep as protobuf allows.
const DEPTH: usize = 100;
const CUT: Malformed = Malformed("a field is cut off");

/// Reads a tag: number and wire type.
fn tag(rest: &mut &[u8]) -> Wire<(u64, u64)> {
    let tag = varint(rest)?;
    match tag >> 3 {
        0 => Err(Malformed("there is no field of number 0")),
        _ if tag > u64::from(u32::MAX) => Err(Malformed("a field number is too large")),
        number => Ok((number, tag & 7)),
    }
}

fn fixed<const N: usize>(rest: &mut &[u8]) -> Wire<[u8; N]> {
    let (head, tail) = rest.split_first_chunk::<N>().ok_or(CUT)?;
    *rest = tail;
    Ok(*head)
}

/// Skips what follows a tag.
fn skip(rest: &mut &[u8], number: u64, wire: u64) -> Wire<()> {
    let mut open = vec![];
    let mut next = (number, wire);
    loop {
        match next {
            (_, VARINT) => drop(varint(rest)?),
            (_, FIXED64) => drop(fixed::<8>(rest)?),
            (_, DELIMITED) => drop(delimited(rest)?),
            (_, FIXED32) => drop(fixed::<4>(rest)?),
            (_, START_GROUP) if open.len() >= DEPTH => {
                return Err(Malformed("groups nest too deep"));
            }
            (number, START_GROUP) => open.push(number),
            (number, END_GROUP) if open.pop() == Some(number) => {}
            (_, END_GROUP) => return Err(Malformed("a group ends that did not begin")),
            _ => return Err(Malformed("there is no such wire type")),
        }
        if open.is_empty() {
            return Ok(());
        }
        next = tag(rest)?;
    }
}

/// Reads a message of this type.
///
/// # Errors
/// If the bytes are no message, or a name is no UTF-8.
pub fn decode<'a>(schema: &'static Schema, bytes: &'a [u8]) -> Wire<Message<&'a [u8]>> {
    decode_parts(schema, &[bytes])
}

/// What a field of this kind holds before anything is read.
fn empty<'a>(kind: Kind) -> Content<&'a [u8]> {
    match kind {
        Kind::Ints => Content::Ints(Vec::new()),
        Kind::Floats => Content::Floats(Vec::new()),
        Kind::Strings => Content::Strings(Vec::new()),
        Kind::Map(_) => Content::Map(Vec::new()),
        Kind::Message(_) | Kind::Messages(_) => Content::Messages(Vec::new()),
    }
}

/// Reads a message that may be in several parts, which are one message end to end.
fn decode_parts<'a>(schema: &'static Schema, parts: &[&'a [u8]]) -> Wire<Message<&'a [u8]>> {
    let mut message = Message { fields: Vec::new(), unknown: Vec::new() };
    // The parts of the messages in it: they are read when all are there.
    let mut inner: Vec<(usize, Vec<&'a [u8]>)> = Vec::new();
    for part in parts {
        let mut rest = *part;
        while !rest.is_empty() {
            let start = rest;
            let (number, wire) = tag(&mut rest)?;
            let field = schema.fields.iter().position(|field| u64::from(field.number) == number);
            let mut known = false;
            if let Some(index) = field {
                let kind = schema.fields[index].kind;
                known = match (kind, wire) {
                    (Kind::Message(_), DELIMITED) => {
                        let part = delimited(&mut rest)?;
                        if schema.is_oneof {
                            inner.retain(|(known, _)| *known == index);
                        }
                        match inner.iter_mut().find(|(known, _)| *known == index) {
                            Some((_, parts)) => parts.push(part),
                            None => inner.push((index, vec![part])),
                        }
                        true
                    }
                    (Kind::Message(_), _) => false,
                    _ => {
                        let at = message.fields.iter().position(|(known, _)| *known == index);
                        let at = at.unwrap_or_else(|| {
                            message.fields.push((index, empty(kind)));
                            message.fields.len() - 1
                        });
                        element(&mut message.fields[at].1, kind, wire, &mut rest)?
                    }
                };
            }
            if !known {
                // A map entry with more than a name and a value has been read; others not.
                if rest.len() == start.len() - tag_bytes(start) {
                    skip(&mut rest, number, wire)?;
                }
                message.unknown.extend_from_slice(&start[..start.len() - rest.len()]);
            }
        }
    }
    for (index, parts) in inner {
        if let Kind::Message(schema) = schema.fields[index].kind {
            message.fields.push((index, Content::Message(decode_parts(schema, &parts)?)));
        }
    }
    for (_, content) in &mut message.fields {
        if let Content::Map(values) = content {
            keep_last(values);
        }
    }
    message.fields.sort_by_key(|(index, _)| *index);
    Ok(message)
}

/// Drops entries whose name comes again.
fn keep_last<V>(values: &mut Vec<(&[u8], V)>) {
    let numbered = values.iter().enumerate();
    let last: HashMap<&[u8], usize> = numbered.map(|(i, (key, _))| (*key, i)).collect();
    if last.len() < values.len() {
        let mut number = 0..;
        values.retain(|(key, _)| last.get(key).copied() == number.next());
    }
}

/// Bytes of the varint at the front.
fn tag_bytes(bytes: &[u8]) -> usize {
    bytes.iter().position(|byte| *byte < 0x80).map_or(bytes.len(), |last| last + 1)
}

/// Reads elements of a field that has several; false if they are to be kept as unknown.
fn element<'a>(
    content: &mut Content<&'a [u8]>,
    kind: Kind,
    wire: u64,
    rest: &mut &'a [u8],
) -> Wire<bool> {
    match (content, wire) {
        (Content::Ints(values), VARINT) => values.push(varint(rest)?.cast_signed()),
        (Content::Ints(values), DELIMITED) => {
            let mut run = delimited(rest)?;
            while !run.is_empty() {
                values.push(varint(&mut run)?.cast_signed());
            }
        }
        (Content::Floats(values), FIXED32) => values.push(f32::from_le_bytes(fixed(rest)?)),
        (Content::Floats(values), DELIMITED) => {
            let (run, []) = delimited(rest)?.as_chunks::<4>() else {
                return Err(CUT);
            };
            values.extend(run.iter().map(|bytes| f32::from_le_bytes(*bytes)));
        }
        (Content::Strings(values), DELIMITED) => values.push(delimited(rest)?),
        (Content::Messages(values), DELIMITED) => {
            if let Kind::Messages(schema) = kind {
                values.push(decode(schema, delimited(rest)?)?);
            }
        }
        (Content::Map(values), DELIMITED) => {
            if let Kind::Map(schema) = kind {
                let entry = delimited(rest)?;
                return match map_entry(schema, entry)? {
                    Some(entry) => {
                        values.push(entry);
                        Ok(true)
                    }
                    None => Ok(false),
                };
            }
        }
        _ => return Ok(false),
    }
    Ok(true)
}

/// Name and value of a map's entry.
type Entry<'a> = (&'a [u8], Message<&'a [u8]>);

/// Reads name and value of an entry; `None` if it holds more than these.
fn map_entry<'a>(schema: &'static Schema, mut rest: &'a [u8]) -> Wire<Option<Entry<'a>>> {
    let mut key: &[u8] = &[];
    let mut parts = Vec::new();
    let mut is_known = true;
    while !rest.is_empty() {
        match tag(&mut rest)? {
            (1, DELIMITED) => key = delimited(&mut rest)?,
            (2, DELIMITED) => parts.push(delimited(&mut rest)?),
            (number, wire) => {
                skip(&mut rest, number, wire)?;
                is_known = false;
            }
        }
        if std::str::from_utf8(key).is_err() {
            return Err(Malformed("String field had bad UTF-8"));
        }
    }
    let value = decode_parts(schema, &parts)?;
    Ok(is_known.then_some((key, value)))
}

/// Fills a buffer from its end.
struct Backward {
    bytes: Vec<u8>,
    start: usize,
}

impl Backward {
    fn len(&self) -> usize {
        self.bytes.len() - self.start
    }

    /// The next `count` bytes towards the front.
    fn room(&mut self, count: usize) -> &mut [u8] {
        if self.start < count {
            let more = (count - self.start).max(self.bytes.len());
            let mut larger = vec![0; more + self.bytes.len()];
            larger[more + self.start..].copy_from_slice(&self.bytes[self.start..]);
            self.start += more;
            self.bytes = larger;
        }
        self.start -= count;
        &mut self.bytes[self.start..][..count]
    }

    fn put(&mut self, bytes: &[u8]) {
        self.room(bytes.len()).copy_from_slice(bytes);
    }

    fn varint(&mut self, mut value: u64) {
        if value < 0x80 {
            self.room(1)[0] = value as u8;
            return;
        }
        let mut bytes = [0; 10];
        let mut count = 0;
        while value >= 0x80 {
            bytes[count] = value as u8 | 0x80;
            value >>= 7;
            count += 1;
        }
        bytes[count] = value as u8;
        self.put(&bytes[..=count]);
    }

    /// Writes the header of a field that begins here and ends where `end` bytes were written.
    fn header(&mut self, number: u8, end: usize) {
        self.varint((self.len() - end) as u64);
        self.room(1)[0] = number << 3 | DELIMITED as u8;
    }

    fn message<B: AsRef<[u8]>>(&mut self, schema: &Schema, message: &Message<B>) {
        self.put(&message.unknown);
        for (index, content) in message.fields.iter().rev() {
            if let Some(field) = schema.fields.get(*index) {
                self.content(field, content);
            }
        }
    }

    fn content<B: AsRef<[u8]>>(&mut self, field: &Field, content: &Content<B>) {
        let end = self.len();
        match (content, field.kind) {
            (Content::Ints(values), _) => {
                values.iter().rev().for_each(|value| self.varint(value.cast_unsigned()));
                if !values.is_empty() {
                    self.header(field.number, end);
                }
            }
            (Content::Floats(values), _) => {
                let places = self.room(size_of_val(values.as_slice())).as_chunks_mut::<4>().0;
                places.iter_mut().zip(values).for_each(|(place, v)| *place = v.to_le_bytes());
                if !values.is_empty() {
                    self.header(field.number, end);
                }
            }
            (Content::Strings(values), _) => {
                for value in values.iter().rev() {
                    let end = self.len();
                    self.put(value.as_ref());
                    self.header(field.number, end);
                }
            }
            (Content::Message(value), Kind::Message(schema)) => {
                self.message(schema, value);
                self.header(field.number, end);
            }
            (Content::Messages(values), Kind::Messages(schema)) => {
                for value in values.iter().rev() {
                    let end = self.len();
                    self.message(schema, value);
                    self.header(field.number, end);
                }
            }
            (Content::Map(values), Kind::Map(schema)) => {
                let mut order: Vec<&(B, Message<B>)> = values.iter().collect();
                order.sort_by(|a, b| backward_order(a.0.as_ref(), b.0.as_ref()));
                for (key, value) in order {
                    let entry = self.len();
                    self.message(schema, value);
                    self.header(2, entry);
                    let end = self.len();
                    self.put(key.as_ref());
                    self.header(1, end);
                    self.header(field.number, entry);
                }
            }
            _ => {}
        }
    }
}

/// Protobuf's order of names, from the back: descending, but a name before those it begins.
fn backward_order(a: &[u8], b: &[u8]) -> Ordering {
    let common = a.len().min(b.len());
    b[..common].cmp(&a[..common]).then(a.len().cmp(&b.len()))
}

/// Writes a message; equal messages give equal bytes, which are those that protobuf's
/// deterministic serialization gives.
pub fn encode<B: AsRef<[u8]>>(schema: &Schema, message: &Message<B>) -> Vec<u8> {
    let mut out = Backward { bytes: vec![0; 256], start: 256 };
    out.message(schema, message);
    out.bytes.drain(..out.start);
    out.bytes
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::formats::proto::{Example, FeatureValue, serialize_example};
    use prost::Message as _;

    fn example() -> &'static Schema {
        schema("Example").unwrap()
    }

    fn again(name: &str, bytes: &[u8]) -> Wire<Vec<u8>> {
        let schema = schema(name).unwrap();
        decode(schema, bytes).map(|message| encode(schema, &message))
    }

    #[test]
    fn what_the_other_writer_writes_comes_back() {
        let features = [
            ("a", FeatureValue::Int(-3)),
            ("b", FeatureValue::Bytes(&[0; 500])),
            ("c", FeatureValue::Float(1.5)),
            ("d", FeatureValue::Empty),
        ];
        let bytes = serialize_example(&features).unwrap();
        let message = decode(example(), &bytes).unwrap();
        let written = encode(example(), &message);
        assert_eq!(written, bytes);
        assert_eq!(Example::decode(&*written), Example::decode(&*bytes));
    }

    #[test]
    fn parts_of_a_message_are_merged_and_the_last_of_a_oneof_counts() {
        let twice = b"\x1a\x03\x0a\x01\x01\x1a\x03\x0a\x01\x02";
        assert_eq!(again("Feature", twice).unwrap(), b"\x1a\x04\x0a\x02\x01\x02");
        let other = b"\x1a\x03\x0a\x01\x01\x12\x00\x1a\x03\x0a\x01\x02";
        assert_eq!(again("Feature", other).unwrap(), b"\x1a\x03\x0a\x01\x02");
        let runs = b"\x0a\x02\x01\x02\x08\x05\x0a\x01\x07";
        assert_eq!(again("Int64List", runs).unwrap(), b"\x0a\x04\x01\x02\x05\x07");
    }

    #[test]
    fn fields_that_are_not_known_are_kept() {
        for bytes in [
            &b"\x12\x03abc"[..],
            b"\x13\x14",
            b"\x0b\x0c",
            b"\x0d\x01\x02\x03\x04",
            b"\x1b\x08\x01\x1c",
        ] {
            assert_eq!(again("Example", bytes).unwrap(), bytes);
        }
        let entry = b"\x0a\x05\x0a\x01a\x18\x01";
        assert_eq!(again("Features", entry).unwrap(), entry);
        assert!(
            decode(schema("Features").unwrap(), entry).unwrap().fields[0].1 == Content::Map(vec![])
        );
    }

    #[test]
    fn hostile_bytes_are_errors() {
        for bytes in [
            &b"\x0a\xff"[..],
            b"\x00\x00",
            b"\x13\x0c",
            b"\x14",
            b"\x0a\xff\xff\xff\xff\xff\xff\xff\xff\x7f",
            b"\x0a\x05\x0a\x03\x0a\x01\xff",
        ] {
            assert!(again("Example", bytes).is_err(), "{bytes:x?}");
        }
        let deep = |n: usize| [vec![0x13; n], vec![0x14; n]].concat();
        assert!(again("Example", &deep(100)).is_ok());
        assert!(again("Example", &deep(100_000)).is_err());
        assert!(again("FloatList", b"\x0a\x03\x01\x02\x03").is_err());
    }

    #[test]
    fn names_are_in_the_order_of_protobuf() {
        let mut names = [&b"aa"[..], b"a", b"b", b"ba", b"abc", b"B"];
        names.sort_by(|a, b| backward_order(b, a));
        assert_eq!(names, [&b"B"[..], b"aa", b"abc", b"a", b"ba", b"b"]);
    }

    proptest::proptest! {
        #[test]
        fn no_bytes_panic(bytes in proptest::collection::vec(0_u8..32, 0..64)) {
            for schema in SCHEMAS {
                if let Ok(message) = decode(schema, &bytes) {
                    let written = encode(schema, &message);
                    proptest::prop_assert_eq!(decode(schema, &written).unwrap().sorted(), message.sorted());
                }
            }
        }
    }

    impl Message<&[u8]> {
        /// As it is read again: names in order, nothing empty.
        fn sorted(mut self) -> Self {
            self.fields.retain_mut(|(_, content)| match content {
                Content::Ints(values) => !values.is_empty(),
                Content::Floats(values) => !values.is_empty(),
                Content::Strings(values) => !values.is_empty(),
                Content::Message(value) => {
                    *value = value.clone().sorted();
                    true
                }
                Content::Messages(values) => {
                    values.iter_mut().for_each(|value| *value = value.clone().sorted());
                    !values.is_empty()
                }
                Content::Map(values) => {
                    values.sort_by(|a, b| backward_order(b.0, a.0));
                    values.iter_mut().for_each(|(_, value)| *value = value.clone().sorted());
                    !values.is_empty()
                }
            });
            self
        }
    }
}
