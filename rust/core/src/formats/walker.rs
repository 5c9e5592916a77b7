//! Finds the features of some keys in one Example after another.
//!
//! Writers put the keys of every record in the same order, as a rule. So what comes is first
//! compared with what stood at this place in the previous record, key and tags in one go; only if
//! it is something else is it read piece by piece and its key looked up.

use hashbrown::HashMap;

use super::example::{FIELD_1, FIELD_2, Wire, each_entry, entry};

/// An entry that is foreseen.
struct Expected<'a> {
    key: &'a [u8],
    slot: Option<usize>,
    /// The bytes before the length of the value; the length of the entry, which is one of them, is
    /// left out.
    front: u128,
    mask: u128,
    /// How many they are; 0 if they are too many to compare in one go.
    front_bytes: usize,
}

impl<'a> Expected<'a> {
    fn new(key: &'a [u8], slot: Option<usize>) -> Self {
        let (mut front, mut mask) = ([0; 16], [0; 16]);
        let front_bytes = if key.len() + 5 <= front.len() { key.len() + 5 } else { 0 };
        if front_bytes > 0 {
            front[..4].copy_from_slice(&[FIELD_1, 0, FIELD_1, key.len() as u8]);
            front[4..front_bytes - 1].copy_from_slice(key);
            front[front_bytes - 1] = FIELD_2;
            mask[..front_bytes].fill(0xff);
            mask[1] = 0;
        }
        let (front, mask) = (u128::from_le_bytes(front), u128::from_le_bytes(mask));
        Expected { key, slot, front, mask, front_bytes }
    }

    /// Takes the entry, if it is the foreseen one and its lengths take a byte each: its feature.
    #[inline]
    fn take<'b>(&self, features: &mut &'b [u8]) -> Option<&'b [u8]> {
        let front = features.first_chunk::<16>()?;
        let differs = (u128::from_le_bytes(*front) ^ self.front) & self.mask;
        if differs != 0 || self.front_bytes == 0 {
            return None;
        }
        let start = self.front_bytes + 1;
        let end = start + usize::from(*features.get(self.front_bytes)?);
        // The entry is the longest, so that if its length takes one byte, the others do.
        if front[1] >= 0x80 || usize::from(front[1]) + 2 != end {
            return None;
        }
        let feature = features.get(start..end)?;
        *features = features.get(end..)?;
        Some(feature)
    }
}

/// Finds the features of some keys in one record after another.
pub struct Walker<'a> {
    slots: HashMap<&'a [u8], usize>,
    expected: Vec<Expected<'a>>,
}

impl<'a> Walker<'a> {
    /// A walker that knows these keys; a key's slot is its number.
    pub fn new(keys: impl IntoIterator<Item = &'a [u8]>) -> Self {
        let slots = keys.into_iter().enumerate().map(|(slot, key)| (key, slot)).collect();
        Walker { slots, expected: Vec::new() }
    }

    /// Calls `found` with slot and feature of each entry whose key is known.
    ///
    /// # Errors
    /// As [`super::example::entries`].
    #[inline]
    pub fn walk(&mut self, record: &'a [u8], mut found: impl FnMut(usize, &'a [u8])) -> Wire<()> {
        let mut place = 0;
        each_entry(record, |features| {
            let expected = self.expected.get(place);
            let foreseen = expected.and_then(|e| e.take(features).map(|feature| (e.slot, feature)));
            let (slot, feature) = match foreseen {
                Some(foreseen) => foreseen,
                None => self.any(place, features)?,
            };
            place += 1;
            if let Some(slot) = slot {
                found(slot, feature);
            }
            Ok(())
        })
    }

    /// Takes an entry that is not certainly the foreseen one: slot and feature.
    fn any(&mut self, place: usize, features: &mut &'a [u8]) -> Wire<(Option<usize>, &'a [u8])> {
        let (key, feature) = entry(features)?;
        let slot = match self.expected.get(place) {
            Some(expected) if same(expected.key, key) => expected.slot,
            _ => self.look_up(place, key),
        };
        Ok((slot, feature))
    }

    #[cold]
    fn look_up(&mut self, place: usize, key: &'a [u8]) -> Option<usize> {
        let slot = self.slots.get(key).copied();
        match self.expected.get_mut(place) {
            Some(expected) => *expected = Expected::new(key, slot),
            // The first record with so many entries; a record of millions teaches nothing.
            None if place < 1 << 16 => self.expected.push(Expected::new(key, slot)),
            None => {}
        }
        slot
    }
}

/// Equality of keys; short ones are compared in two words, which is faster than a call.
#[inline]
fn same(a: &[u8], b: &[u8]) -> bool {
    if a.len() != b.len() {
        return false;
    }
    match (a.first_chunk::<8>(), a.last_chunk::<8>(), b.first_chunk::<8>(), b.last_chunk::<8>()) {
        (Some(a0), Some(a1), Some(b0), Some(b1)) if a.len() <= 16 => a0 == b0 && a1 == b1,
        (None, None, None, None) => a.iter().zip(b).all(|(a, b)| a == b),
        _ => a == b,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_of_all_lengths_are_told_apart() {
        for length in 1..40_usize {
            let a = vec![b'k'; length];
            assert!(same(&a, &a.clone()));
            for at in 0..length {
                let mut b = a.clone();
                b[at] = b'x';
                assert!(!same(&a, &b));
            }
            assert!(!same(&a, &a[1..]));
        }
    }

    #[test]
    fn a_foreseen_entry_is_taken_as_any_other() {
        let delimit = |tag: u8, content: &[u8]| [&[tag, content.len() as u8], content].concat();
        for length in 0..20 {
            let key = &b"abcdefghijklmnopqrst"[..length];
            let expected = Expected::new(key, Some(3));
            for value in [0, 1, 8, 100 - length, 123 - length, 124 - length] {
                let whole = delimit(FIELD_1, key);
                let whole = [whole, delimit(FIELD_2, &vec![7; value])].concat();
                let mut bytes = [delimit(FIELD_1, &whole), vec![9; 20]].concat();
                let mut rest = bytes.as_slice();
                let feature = expected.take(&mut rest);
                let short = length <= 11 && length + value + 4 < 0x80;
                assert_eq!(feature, short.then_some(&vec![7; value][..]), "{length} {value}");
                assert_eq!(rest.len(), if short { 20 } else { bytes.len() });
                // Any other byte before the value makes it another entry, or none.
                for at in 0..length + 6 {
                    bytes[at] ^= 1;
                    assert_eq!(expected.take(&mut bytes.as_slice()), None, "{length} {at}");
                    bytes[at] ^= 1;
                }
            }
        }
    }

    #[test]
    fn a_walker_learns_a_new_order() {
        let record = |keys: &[&str]| {
            let entries: Vec<u8> = keys
                .iter()
                .flat_map(|key| [&[FIELD_1, 5, FIELD_1, 1], key.as_bytes(), &[FIELD_2, 0]].concat())
                .collect();
            [vec![FIELD_1, entries.len() as u8], entries].concat()
        };
        let records = [record(&["a", "x", "b"]), record(&["b", "a"]), record(&["b", "a", "a"])];
        let mut walker = Walker::new([b"a".as_slice(), b"b"]);
        let mut seen = Vec::new();
        for record in &records {
            walker.walk(record, |slot, _| seen.push(slot)).unwrap();
        }
        assert_eq!(seen, [0, 1, 1, 0, 1, 0, 0]);
    }
}
