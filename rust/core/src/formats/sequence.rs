//! The wire bytes of `tf.train.SequenceExample`, read in place as those of Examples are
//! (`example.rs`).

use crate::formats::example::{
    FIELD_1, FIELD_2, Malformed, Wire, delimited, entry, skip_field, varint,
};

/// Where a map entry of a SequenceExample stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// In `context`: the value is a feature.
    Context,
    /// In `feature_lists`: the value is a list of features.
    Lists,
}

/// Calls `visit` with part, key and value of each map entry, in the order of the record. A key may
/// come more than once; the last one counts.
///
/// # Errors
/// If the bytes are no SequenceExample; entries before the place have been visited.
pub fn parts<'a>(record: &'a [u8], mut visit: impl FnMut(Part, &'a [u8], &'a [u8])) -> Wire<()> {
    let mut rest = record;
    while let [tag, tail @ ..] = rest {
        let part = match *tag {
            FIELD_1 => Part::Context,
            FIELD_2 => Part::Lists,
            _ => {
                skip_field(&mut rest)?;
                continue;
            }
        };
        rest = tail;
        let length = usize::try_from(varint(&mut rest)?).unwrap_or(usize::MAX);
        let mut entries;
        (entries, rest) = rest.split_at(length.min(rest.len()));
        while !entries.is_empty() {
            let (key, value) = entry(&mut entries)?;
            visit(part, key, value);
        }
    }
    Ok(())
}

/// Calls `visit` with each feature of a list.
///
/// # Errors
/// If the bytes are no list of features.
pub fn steps<'a>(list: &'a [u8], mut visit: impl FnMut(&'a [u8])) -> Wire<()> {
    let mut rest = list;
    while let [tag, tail @ ..] = rest {
        if *tag != FIELD_1 {
            return Err(Malformed("a feature list holds something that is no feature"));
        }
        rest = tail;
        visit(delimited(&mut rest)?);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::formats::proto::{FeatureList, FeatureLists, Features, SequenceExample};
    use prost::Message;

    #[test]
    fn entries_of_both_parts_are_visited() {
        let features = Features { feature: [("c".into(), Default::default())].into() };
        let steps_of_two = FeatureList { feature: vec![Default::default(); 2] };
        let record = SequenceExample {
            context: Some(features),
            feature_lists: Some(FeatureLists { feature_list: [("s".into(), steps_of_two)].into() }),
        }
        .encode_to_vec();
        let mut seen = Vec::new();
        parts(&record, |part, key, value| {
            let mut count = 0;
            if part == Part::Lists {
                steps(value, |_| count += 1).unwrap();
            }
            seen.push((part, key.to_vec(), count));
        })
        .unwrap_err();
        // prost leaves out the empty feature of an entry, which TensorFlow's parser wants.
        assert!(seen.is_empty());
        let record =
            b"\x0a\x07\x0a\x05\x0a\x01c\x12\x00\x12\x0b\x0a\x09\x0a\x01s\x12\x04\x0a\x00\x0a\x00";
        parts(record, |part, key, value| {
            let mut count = 0;
            if part == Part::Lists {
                steps(value, |_| count += 1).unwrap();
            }
            seen.push((part, key.to_vec(), count));
        })
        .unwrap();
        assert_eq!(seen, [(Part::Context, b"c".to_vec(), 0), (Part::Lists, b"s".to_vec(), 2)]);
        assert!(steps(b"\x12\x00", |_| ()).is_err());
        assert!(parts(b"\xff", |_, _, _| ()).is_err());
    }
}
