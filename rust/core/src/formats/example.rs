//! The wire bytes of `tf.train.Example`, read in place.
//!
//! TensorFlow does not read Examples with its generated protobuf classes but walks the bytes, and
//! so does this file, to the same results: [`entries`] gives each map entry as key and feature,
//! [`list`] says which kind of list a feature holds, and [`Scalar`] and [`strings`] read its
//! values. Nothing is allocated here, nothing recurses, every length is checked against the bytes
//! that are left, so that hostile input costs no more than a pass over it. A feature that nobody
//! asks for is skipped by its length.
//!
//! What is particular, all of it as in TensorFlow: a `features` field may claim to be longer than
//! the record; unknown fields are skipped beside `features` and an error within; a feature is its
//! first list, whatever follows; a list that begins unpacked must be unpacked to its end. One
//! thing differs: of a list in several packed runs TensorFlow reads the first, here all count, as
//! protobuf has it.

use std::fmt;

use crate::data::Element;

/// Why bytes are no Example.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Malformed(pub &'static str);

impl fmt::Display for Malformed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0)
    }
}

/// Result of reading wire bytes.
pub type Wire<T> = Result<T, Malformed>;

/// Tags of field 1 to 3 with a length (Example, Features, map entry, Feature and the lists).
pub(super) const FIELD_1: u8 = 1 << 3 | 2;
pub(super) const FIELD_2: u8 = 2 << 3 | 2;
const FIELD_3: u8 = 3 << 3 | 2;
/// Tags of one value outside a packed run.
const VARINT_1: u8 = 1 << 3;
const FIXED32_1: u8 = 1 << 3 | 5;

/// Reads a varint of at most ten bytes; bits above 64 are dropped, as protobuf does.
#[inline]
pub(super) fn varint(rest: &mut &[u8]) -> Wire<u64> {
    match *rest {
        [byte, tail @ ..] if *byte < 0x80 => {
            *rest = tail;
            Ok(u64::from(*byte))
        }
        _ => long_varint(rest),
    }
}

const CONTINUES: u64 = 0x8080_8080_8080_8080;
const CUT_VARINT: Malformed = Malformed("a varint is cut off");
const LONG_VARINT: Malformed = Malformed("a varint is longer than ten bytes");

/// Eight bytes at a time: random 63-bit values take a third of the time of a loop over bytes.
#[inline]
fn long_varint(rest: &mut &[u8]) -> Wire<u64> {
    let Some((head, tail)) = rest.split_first_chunk::<8>() else {
        return short_of_eight(rest);
    };
    let word = u64::from_le_bytes(*head);
    let stops = !word & CONTINUES;
    if stops != 0 {
        *rest = rest.get(stops.trailing_zeros() as usize / 8 + 1..).unwrap_or_default();
        return Ok(join_sevens(word & (stops ^ (stops - 1))));
    }
    let low = join_sevens(word);
    match *tail {
        [ninth, ref tail @ ..] if ninth < 0x80 => {
            *rest = tail;
            Ok(low | u64::from(ninth) << 56)
        }
        [ninth, tenth, ref tail @ ..] if tenth < 0x80 => {
            *rest = tail;
            Ok(low | u64::from(ninth & 0x7f) << 56 | u64::from(tenth) << 63)
        }
        [_, _, ..] => Err(LONG_VARINT),
        _ => Err(CUT_VARINT),
    }
}

/// Puts the low seven bits of each byte side by side.
#[inline]
fn join_sevens(x: u64) -> u64 {
    let x = (x & 0x007f_007f_007f_007f) | (x & 0x7f00_7f00_7f00_7f00) >> 1;
    let x = (x & 0x0000_3fff_0000_3fff) | (x & 0x3fff_0000_3fff_0000) >> 2;
    (x & 0x0000_0000_0fff_ffff) | (x & 0x0fff_ffff_0000_0000) >> 4
}

fn short_of_eight(rest: &mut &[u8]) -> Wire<u64> {
    let mut value = 0;
    for (i, byte) in rest.iter().enumerate() {
        value |= u64::from(byte & 0x7f) << (7 * i);
        if *byte < 0x80 {
            *rest = &rest[i + 1..];
            return Ok(value);
        }
    }
    Err(CUT_VARINT)
}

/// Reads a length and that many bytes.
#[inline]
pub(super) fn delimited<'a>(rest: &mut &'a [u8]) -> Wire<&'a [u8]> {
    let length = usize::try_from(varint(rest)?).unwrap_or(usize::MAX);
    let (head, tail) =
        rest.split_at_checked(length).ok_or(Malformed("a length is past the end"))?;
    *rest = tail;
    Ok(head)
}

/// Skips a field of a number that is not known here.
pub(super) fn skip_field(rest: &mut &[u8]) -> Wire<()> {
    let tag = varint(rest)?;
    if tag >> 3 == 0 || tag > u64::from(u32::MAX) {
        return Err(Malformed("there is no field of that number"));
    }
    let fixed = match tag & 7 {
        0 => return varint(rest).map(|_| ()),
        2 => return delimited(rest).map(|_| ()),
        1 => 8,
        5 => 4,
        _ => return Err(Malformed("a field has a wire type that Examples do not use")),
    };
    *rest = rest.get(fixed..).ok_or(Malformed("a field is cut off"))?;
    Ok(())
}

/// Reads a map entry whose lengths take a byte each, as those of scalars do: a third of the time
/// of the general way. `None` for any other.
#[inline]
fn small_entry<'a>(features: &mut &'a [u8]) -> Option<(&'a [u8], &'a [u8])> {
    let [FIELD_1, entry, FIELD_1, key, ref tail @ ..] = **features else {
        return None;
    };
    let (name, tail) = tail.split_at_checked(key.into())?;
    let [FIELD_2, value, ref tail @ ..] = *tail else {
        return None;
    };
    let (feature, tail) = tail.split_at_checked(value.into())?;
    let whole = usize::from(key) + usize::from(value) + 4;
    // The entry is the longest, so that if its length takes one byte, the others do.
    if entry >= 0x80 || usize::from(entry) != whole {
        return None;
    }
    *features = tail;
    Some((name, feature))
}

/// Reads a map entry: key and feature, in either order.
#[inline]
pub(super) fn entry<'a>(features: &mut &'a [u8]) -> Wire<(&'a [u8], &'a [u8])> {
    match small_entry(features) {
        Some(entry) => Ok(entry),
        None => any_entry(features),
    }
}

fn any_entry<'a>(features: &mut &'a [u8]) -> Wire<(&'a [u8], &'a [u8])> {
    let [FIELD_1, tail @ ..] = *features else {
        return Err(Malformed("features hold something that is no map entry"));
    };
    *features = tail;
    let mut rest = delimited(features)?;
    let (mut key, mut feature): (&[u8], &[u8]) = (&[], &[]);
    for _ in 0..2 {
        match *rest {
            [FIELD_1, ref tail @ ..] => {
                rest = tail;
                key = delimited(&mut rest)?;
            }
            [FIELD_2, ref tail @ ..] => {
                rest = tail;
                feature = delimited(&mut rest)?;
            }
            _ => return Err(Malformed("a map entry is not a key and a feature")),
        }
    }
    match rest {
        [] => Ok((key, feature)),
        _ => Err(Malformed("a map entry holds more than a key and a feature")),
    }
}

/// Calls `visit` with key and feature of each map entry, in the order of the record. A key may
/// come more than once; the last one counts.
///
/// # Errors
/// If the bytes are no Example; entries before the place have been visited.
#[inline]
pub fn entries<'a>(record: &'a [u8], mut visit: impl FnMut(&'a [u8], &'a [u8])) -> Wire<()> {
    each_entry(record, |features| entry(features).map(|(key, feature)| visit(key, feature)))
}

/// Calls `take` for each map entry, which it takes from the front of what it is given.
#[inline]
pub(super) fn each_entry<'a>(
    record: &'a [u8],
    mut take: impl FnMut(&mut &'a [u8]) -> Wire<()>,
) -> Wire<()> {
    let mut rest = record;
    while let [tag, tail @ ..] = rest {
        if *tag != FIELD_1 {
            skip_field(&mut rest)?;
            continue;
        }
        rest = tail;
        let length = usize::try_from(varint(&mut rest)?).unwrap_or(usize::MAX);
        let mut features;
        (features, rest) = rest.split_at(length.min(rest.len()));
        while !features.is_empty() {
            take(&mut features)?;
        }
    }
    Ok(())
}

/// The kinds of lists.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// `bytes_list`
    Bytes,
    /// `float_list`
    Float,
    /// `int64_list`
    Int64,
}

/// The kind and the bytes of a feature's list; `None` for a feature without one, which counts as
/// missing.
///
/// # Errors
/// If the feature begins with anything but a list.
#[inline]
pub fn list(feature: &[u8]) -> Wire<Option<(Kind, &[u8])>> {
    let [tag, rest @ ..] = feature else {
        return Ok(None);
    };
    let kind = match *tag {
        FIELD_1 => Kind::Bytes,
        FIELD_2 => Kind::Float,
        FIELD_3 => Kind::Int64,
        _ => return Err(Malformed("Unsupported datatype: it is no bytes, float or int64 list")),
    };
    let mut rest = rest;
    Ok(Some((kind, delimited(&mut rest)?)))
}

/// Most bytes of a feature that [`Scalar::single`] takes.
pub const HEAD_BYTES: usize = 12;

/// A type of which a list can hold values that are numbers.
pub trait Scalar: Element {
    /// The list that holds them.
    const KIND: Kind;

    /// Never less than the number of values in `list`, and never more than it has bytes.
    fn bound(list: &[u8]) -> usize;

    /// The value of a feature of `len` bytes that is one value, written as it usually is; `None`
    /// says nothing. `head` is the feature and, where it is shorter, what comes behind it.
    fn single(head: &[u8; HEAD_BYTES], len: usize) -> Option<Self>;

    /// Reads the values of `list` into the front of `out`, and gives their number: values that
    /// find no room there are counted only.
    ///
    /// # Errors
    /// If the bytes are no such list; `out` is unspecified then.
    fn read(list: &[u8], out: &mut [Self]) -> Wire<usize>;
}

const MIXED: Malformed = Malformed("a list is neither packed nor unpacked throughout");

impl Scalar for i64 {
    const KIND: Kind = Kind::Int64;

    fn bound(list: &[u8]) -> usize {
        list.len() - count_continuing(list)
    }

    /// No branch on the length of the varint: it is as good as random, and a wrong guess costs more
    /// than all of this.
    #[inline]
    fn single(head: &[u8; HEAD_BYTES], len: usize) -> Option<i64> {
        let [a, b, c, d, word @ ..] = *head;
        let bytes = len.wrapping_sub(4);
        if !(1..=8).contains(&bytes) {
            return None;
        }
        let run = bytes as u8;
        let behind = 64 - 8 * bytes as u32;
        let word = u64::from_le_bytes(word) << behind >> behind;
        // All bytes but the last go on.
        let is_one = word & CONTINUES == (CONTINUES >> 8) >> behind;
        let is_usual = [a, b, c, d] == [FIELD_3, run + 2, FIELD_1, run];
        (is_usual & is_one).then(|| join_sevens(word).cast_signed())
    }

    #[inline]
    fn read(list: &[u8], out: &mut [i64]) -> Wire<usize> {
        let mut rest = list;
        let mut count = 0;
        while let [tag, tail @ ..] = rest {
            rest = tail;
            match *tag {
                FIELD_1 if list[0] == FIELD_1 => {
                    count += packed_ints(delimited(&mut rest)?, out.get_mut(count..))?;
                }
                VARINT_1 => {
                    let value = varint(&mut rest)?;
                    if let Some(out) = out.get_mut(count) {
                        *out = value.cast_signed();
                    }
                    count += 1;
                }
                _ => return Err(MIXED),
            }
        }
        Ok(count)
    }
}

/// How many bytes are not the last of a varint, eight lanes at a time.
fn count_continuing(bytes: &[u8]) -> usize {
    let mut count = 0;
    // A lane holds no more than 255.
    for part in bytes.chunks(255 * 8) {
        let (words, rest) = part.as_chunks::<8>();
        let ones = |word: &[u8; 8]| u64::from_le_bytes(*word) >> 7 & 0x0101_0101_0101_0101;
        let lanes: u64 = words.iter().map(ones).sum();
        count += lanes.to_le_bytes().into_iter().map(usize::from).sum::<usize>();
        count += rest.iter().filter(|byte| **byte >= 0x80).count();
    }
    count
}

#[inline]
fn packed_ints(mut run: &[u8], out: Option<&mut [i64]>) -> Wire<usize> {
    let mut count = 0;
    for out in out.unwrap_or_default() {
        if run.is_empty() {
            return Ok(count);
        }
        *out = varint(&mut run)?.cast_signed();
        count += 1;
    }
    while !run.is_empty() {
        varint(&mut run)?;
        count += 1;
    }
    Ok(count)
}

impl Scalar for f32 {
    const KIND: Kind = Kind::Float;

    fn bound(list: &[u8]) -> usize {
        list.len() / size_of::<f32>()
    }

    #[inline]
    fn single(head: &[u8; HEAD_BYTES], len: usize) -> Option<f32> {
        match *head {
            [FIELD_2, 6, FIELD_1, 4, a, b, c, d, ..] if len == 8 => {
                Some(f32::from_le_bytes([a, b, c, d]))
            }
            _ => None,
        }
    }

    #[inline]
    fn read(list: &[u8], out: &mut [f32]) -> Wire<usize> {
        let mut rest = list;
        let mut count = 0;
        while let [tag, tail @ ..] = rest {
            rest = tail;
            match *tag {
                FIELD_1 if list[0] == FIELD_1 => {
                    // TensorFlow drops bytes at the end that make no float.
                    let (run, _) = delimited(&mut rest)?.as_chunks::<4>();
                    let room = out.get_mut(count..).unwrap_or_default();
                    room.iter_mut().zip(run).for_each(|(out, b)| *out = f32::from_le_bytes(*b));
                    count += run.len();
                }
                FIXED32_1 => {
                    let cut = Malformed("a float is cut off");
                    let (value, tail) = rest.split_first_chunk::<4>().ok_or(cut)?;
                    rest = tail;
                    if let Some(out) = out.get_mut(count) {
                        *out = f32::from_le_bytes(*value);
                    }
                    count += 1;
                }
                _ => return Err(MIXED),
            }
        }
        Ok(count)
    }
}

/// Calls `visit` with each value of a `bytes_list` and gives their number.
///
/// # Errors
/// If the bytes are no such list.
#[inline]
pub fn strings<'a>(list: &'a [u8], mut visit: impl FnMut(&'a [u8])) -> Wire<usize> {
    let mut rest = list;
    let mut count = 0;
    while let [tag, tail @ ..] = rest {
        if *tag != FIELD_1 {
            return Err(Malformed("a bytes list holds something else"));
        }
        rest = tail;
        visit(delimited(&mut rest)?);
        count += 1;
    }
    Ok(count)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn encode(mut value: u64) -> Vec<u8> {
        let mut bytes = Vec::new();
        while value >= 0x80 {
            bytes.push(value as u8 | 0x80);
            value >>= 7;
        }
        bytes.push(value as u8);
        bytes
    }

    #[test]
    fn varints_of_every_length_come_back_wherever_they_stand() {
        for shift in 0..64 {
            for value in [1_u64 << shift, (1 << shift) - 1, u64::MAX >> shift] {
                for padding in [0, 1, 8] {
                    let mut bytes = encode(value);
                    bytes.extend(vec![0xff; padding]);
                    let mut rest = bytes.as_slice();
                    assert_eq!(varint(&mut rest), Ok(value));
                    assert_eq!(rest.len(), padding);
                }
            }
        }
    }

    #[test]
    fn varints_end_within_ten_bytes() {
        assert_eq!(varint(&mut [0xff; 11].as_slice()), Err(LONG_VARINT));
        for length in 0..10 {
            assert_eq!(varint(&mut vec![0x80; length].as_slice()), Err(CUT_VARINT));
        }
        let mut tenth = [0xff; 10];
        tenth[9] = 0x7f;
        assert_eq!(varint(&mut tenth.as_slice()), Ok(u64::MAX));
    }

    #[test]
    fn the_short_ways_agree_with_the_long_ones() {
        let delimit = |tag: u8, content: &[u8]| [&[tag, content.len() as u8], content].concat();
        for shift in 0..64 {
            let value = (0x9e37_79b9_7f4a_7c15_u64 >> shift).cast_signed();
            let list = delimit(FIELD_1, &encode(value.cast_unsigned()));
            let feature = delimit(FIELD_3, &list);
            for behind in [0, 0x7f, 0x80, 0xff] {
                let mut head = [behind; HEAD_BYTES];
                let len = feature.len().min(HEAD_BYTES);
                head[..len].copy_from_slice(&feature[..len]);
                let single = i64::single(&head, feature.len());
                assert_eq!(single, (list.len() <= 10).then_some(value));
                for at in 0..len {
                    // One bit more or less, and it is another value or none.
                    let mut other = head;
                    other[at] ^= 0x80;
                    assert_ne!(i64::single(&other, feature.len()), Some(value));
                }
                for other in (0..20).filter(|other| *other != feature.len()) {
                    assert_eq!(i64::single(&head, other), None);
                }
            }
            let mut out = [0];
            assert_eq!((i64::read(&list, &mut out), out), (Ok(1), [value]));

            let whole =
                delimit(FIELD_1, &[delimit(FIELD_1, b"k"), delimit(FIELD_2, &feature)].concat());
            let (mut a, mut b) = (whole.as_slice(), whole.as_slice());
            assert_eq!(small_entry(&mut a), Some((&b"k"[..], &feature[..])));
            assert_eq!(any_entry(&mut b), Ok((&b"k"[..], &feature[..])));
            for cut in 0..whole.len() {
                assert_eq!(small_entry(&mut &whole[..cut]), None);
                assert!(any_entry(&mut &whole[..cut]).is_err());
            }
        }
    }

    #[test]
    fn continuing_bytes_are_counted_in_long_lists() {
        for length in [0, 7, 8, 255 * 8 - 1, 255 * 8, 5000] {
            assert_eq!(count_continuing(&vec![0x80; length]), length);
            assert_eq!(count_continuing(&vec![0x7f; length]), 0);
        }
    }

    #[test]
    fn split_packed_runs_are_one_list() {
        let list = [FIELD_1, 2, 1, 2, FIELD_1, 1, 3, VARINT_1, 4];
        let mut out = [0; 3];
        assert_eq!(i64::read(&list, &mut out), Ok(4));
        assert_eq!(out, [1, 2, 3]);
    }
}
