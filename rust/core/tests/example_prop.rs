//! Random Examples in every encoding that protobuf allows, read by prost and by a plain
//! interpretation of the features; and damaged ones, which must never do more than fail.

#![allow(clippy::unwrap_used, clippy::panic)]

use std::collections::BTreeMap;

use headrace::ErrorKind;
use headrace::data::{BytesArray, Column, DType, Dims, PartialShape, Tensor, Value, Wanted};
use headrace::formats::parse::{Feature, ParsePlan, Partition};
use headrace::formats::proto::{
    BytesList, Example, Feature as ProtoFeature, FeatureValue, Features, FloatList, Int64List,
    Kind, serialize_example,
};
use proptest::collection::vec;
use proptest::prelude::*;
use prost::Message;
use prost::encoding::encode_varint;

const KEYS: [&str; 5] = ["a", "b", "key", "a longer key", "a key of more than sixteen bytes"];

/// How the values of a list are written.
#[derive(Clone, Copy, Debug)]
enum Encoding {
    Packed,
    Unpacked,
    /// Packed in runs of this length.
    Runs(usize),
}

#[derive(Clone, Debug)]
enum List {
    Ints(Vec<i64>, Encoding),
    Floats(Vec<u32>, Encoding),
    Strings(Vec<Vec<u8>>),
    Kindless,
}

/// One map entry.
#[derive(Clone, Debug)]
struct Entry {
    key: usize,
    is_value_first: bool,
    list: List,
}

/// Entries in one or several `features` fields, among unknown fields.
#[derive(Clone, Debug)]
struct Record {
    parts: Vec<(Vec<Entry>, Option<u8>)>,
}

fn field(number: u8, content: &[u8]) -> Vec<u8> {
    let mut out = vec![number << 3 | 2];
    encode_varint(content.len() as u64, &mut out);
    out.extend_from_slice(content);
    out
}

fn numbers<T>(
    values: &[T],
    encoding: Encoding,
    tag: u8,
    one: impl Fn(&T, &mut Vec<u8>),
) -> Vec<u8> {
    let packed = |values: &[T]| {
        let mut run = Vec::new();
        values.iter().for_each(|value| one(value, &mut run));
        field(1, &run)
    };
    match encoding {
        Encoding::Packed => packed(values),
        Encoding::Runs(length) => values.chunks(length).flat_map(packed).collect(),
        Encoding::Unpacked => {
            let mut out = Vec::new();
            for value in values {
                out.push(tag);
                one(value, &mut out);
            }
            out
        }
    }
}

impl Entry {
    fn encode(&self) -> Vec<u8> {
        let feature = match &self.list {
            List::Ints(values, encoding) => {
                let one = |v: &i64, out: &mut Vec<u8>| encode_varint(*v as u64, out);
                field(3, &numbers(values, *encoding, 1 << 3, one))
            }
            List::Floats(values, encoding) => {
                let one = |v: &u32, out: &mut Vec<u8>| out.extend(v.to_le_bytes());
                field(2, &numbers(values, *encoding, 1 << 3 | 5, one))
            }
            List::Strings(values) => {
                field(1, &values.iter().flat_map(|value| field(1, value)).collect::<Vec<_>>())
            }
            List::Kindless => Vec::new(),
        };
        let key = field(1, KEYS[self.key].as_bytes());
        let value = field(2, &feature);
        let entry = if self.is_value_first { [value, key] } else { [key, value] };
        field(1, &entry.concat())
    }
}

impl Record {
    fn encode(&self) -> Vec<u8> {
        let part = |(entries, unknown): &(Vec<Entry>, Option<u8>)| {
            let mut out = field(1, &entries.iter().flat_map(Entry::encode).collect::<Vec<_>>());
            if let Some(wire) = unknown {
                out.push(9 << 3 | wire);
                let content: &[u8] = match wire {
                    0 => &[0x96, 1],
                    1 => &[7; 8],
                    2 => &[3, 1, 2, 3],
                    _ => &[7; 4],
                };
                out.extend_from_slice(content);
            }
            out
        };
        self.parts.iter().flat_map(part).collect()
    }
}

fn encoding() -> impl Strategy<Value = Encoding> {
    prop_oneof![
        4 => Just(Encoding::Packed),
        1 => Just(Encoding::Unpacked),
        1 => (1..4_usize).prop_map(Encoding::Runs),
    ]
}

fn int() -> impl Strategy<Value = i64> {
    (any::<i64>(), 0..64_u32).prop_map(|(value, shift)| value >> shift)
}

fn list() -> impl Strategy<Value = List> {
    prop_oneof![
        4 => (vec(int(), 0..6), encoding()).prop_map(|(v, e)| List::Ints(v, e)),
        2 => (vec(any::<u32>(), 0..6), encoding()).prop_map(|(v, e)| List::Floats(v, e)),
        2 => vec(vec(any::<u8>(), 0..20), 0..4).prop_map(List::Strings),
        1 => Just(List::Kindless),
    ]
}

fn entry() -> impl Strategy<Value = Entry> {
    (0..KEYS.len(), prop::bool::weighted(0.1), list())
        .prop_map(|(key, is_value_first, list)| Entry { key, is_value_first, list })
}

fn record() -> impl Strategy<Value = Record> {
    let unknown = prop::option::weighted(0.2, prop::sample::select(vec![0_u8, 1, 2, 5]));
    vec((vec(entry(), 0..8), unknown), 0..3).prop_map(|parts| Record { parts })
}

/// Records whose lists are all of one type a key, so that most plans fit.
fn typed_records(count: usize) -> impl Strategy<Value = Vec<Record>> {
    vec(record(), 0..count).prop_map(|mut records| {
        let entries = |record: &mut Record| {
            record.parts.iter_mut().flat_map(|(entries, _)| entries).for_each(|entry| {
                let wanted = TYPES[entry.key];
                let fits = match entry.list {
                    List::Ints(..) => wanted == DType::Int64,
                    List::Floats(..) => wanted == DType::Float32,
                    List::Strings(..) => wanted == DType::Bytes,
                    List::Kindless => true,
                };
                // One key in fourteen or so keeps a list of a type that no plan asks for.
                if !fits && !matches!(&entry.list, List::Strings(values) if values.len() == 3) {
                    entry.list = List::Kindless;
                }
            });
        };
        records.iter_mut().for_each(entries);
        records
    })
}

const TYPES: [DType; 5] = [DType::Int64, DType::Int64, DType::Float32, DType::Int64, DType::Bytes];

fn array(records: &[Record]) -> BytesArray {
    BytesArray::from_values(records.iter().map(Record::encode)).unwrap()
}

/// A list as comparable values.
#[derive(Clone, Debug, PartialEq)]
enum Values {
    Ints(Vec<i64>),
    Floats(Vec<u32>),
    Strings(Vec<Vec<u8>>),
}

fn values_of(tensor: &Tensor) -> Values {
    match tensor.dtype() {
        DType::Int64 => Values::Ints(tensor.values::<i64>().unwrap().to_vec()),
        DType::Float32 => {
            Values::Floats(tensor.values::<f32>().unwrap().iter().map(|v| v.to_bits()).collect())
        }
        _ => Values::Strings(tensor.strings().unwrap().iter().map(<[u8]>::to_vec).collect()),
    }
}

fn oracle(record: &[u8]) -> BTreeMap<String, Values> {
    let values = |kind| match kind {
        Kind::Int64List(list) => Values::Ints(list.value),
        Kind::FloatList(list) => Values::Floats(list.value.iter().map(|v| v.to_bits()).collect()),
        Kind::BytesList(list) => Values::Strings(list.value),
    };
    let features = Example::decode(record).unwrap().features.unwrap_or_default().feature;
    features.into_iter().filter_map(|(k, feature)| Some((k, values(feature.kind?)))).collect()
}

/// What each feature is in the plain reading of its documentation; `None` is an error.
fn interpret(found: Option<&Values>, key: usize, form: Form) -> Option<Values> {
    let empty = match TYPES[key] {
        DType::Int64 => Values::Ints(vec![]),
        DType::Float32 => Values::Floats(vec![]),
        _ => Values::Strings(vec![]),
    };
    let Some(found) = found else {
        return match form {
            Form::Fixed(_) => None,
            Form::Default(_) => Some(default_values(key)),
            Form::VarLen | Form::Steps(_) => Some(empty),
        };
    };
    if std::mem::discriminant(found) != std::mem::discriminant(&empty) {
        return None;
    }
    let count = match found {
        Values::Ints(values) => values.len(),
        Values::Floats(values) => values.len(),
        Values::Strings(values) => values.len(),
    };
    let fits = match form {
        Form::Fixed(size) => count == size,
        Form::Default(size) => count == size,
        Form::VarLen => true,
        Form::Steps(size) => count % size == 0,
    };
    fits.then(|| found.clone())
}

#[derive(Clone, Copy, Debug)]
enum Form {
    Fixed(usize),
    Default(usize),
    VarLen,
    Steps(usize),
}

fn form() -> impl Strategy<Value = Form> {
    prop_oneof![
        1 => (0..3_usize).prop_map(Form::Fixed),
        2 => Just(Form::Default(2)),
        6 => Just(Form::VarLen),
        2 => (1..3_usize).prop_map(Form::Steps),
    ]
}

fn default_values(key: usize) -> Values {
    match TYPES[key] {
        DType::Int64 => Values::Ints(vec![-5, 5]),
        DType::Float32 => Values::Floats(vec![1.5_f32.to_bits(), 2.5_f32.to_bits()]),
        _ => Values::Strings(vec![b"one".to_vec(), b"two".to_vec()]),
    }
}

fn default_tensor(key: usize) -> Tensor {
    match TYPES[key] {
        DType::Int64 => Tensor::from_values(&[2], &[-5_i64, 5]).unwrap(),
        DType::Float32 => Tensor::from_values(&[2], &[1.5_f32, 2.5]).unwrap(),
        _ => {
            let values = BytesArray::from_values(["one", "two"]).unwrap();
            Tensor::text(DType::Bytes, Dims::from_slice(&[2]), values).unwrap()
        }
    }
}

fn plan(forms: &[(usize, Form)]) -> ParsePlan {
    let feature = |(key, form): &(usize, Form)| {
        let dtype = TYPES[*key];
        let feature = match form {
            Form::Fixed(size) | Form::Default(size) => {
                let default = matches!(form, Form::Default(_)).then(|| default_tensor(*key));
                Feature::FixedLen { dtype, shape: PartialShape::from(&[*size][..]), default }
            }
            Form::VarLen => Feature::VarLen { dtype },
            Form::Steps(size) => Feature::FixedLenSequence {
                dtype,
                shape: PartialShape::from(&[*size][..]),
                allow_missing: true,
                default: None,
            },
        };
        (KEYS[*key].to_string(), feature)
    };
    ParsePlan::new(forms.iter().map(feature).collect()).unwrap()
}

fn forms() -> impl Strategy<Value = Vec<(usize, Form)>> {
    let keys = prop::sample::subsequence((0..KEYS.len()).collect::<Vec<_>>(), 1..=KEYS.len());
    (keys.prop_shuffle(), vec(form(), KEYS.len()))
        .prop_map(|(keys, forms)| keys.into_iter().zip(forms).collect())
}

fn dense(value: &Value) -> &Tensor {
    match value {
        Value::Tensor(tensor) => tensor,
        Value::Sparse { values, .. } | Value::Ragged { values, .. } => values,
        Value::Foreign(_) => panic!("foreign"),
    }
}

fn same_value(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::Tensor(a), Value::Tensor(b)) => a == b,
        (
            Value::Sparse { indices: ai, values: av, dense_shape: ad },
            Value::Sparse { indices: bi, values: bv, dense_shape: bd },
        ) => ai == bi && av == bv && ad == bd,
        (Value::Ragged { values: av, splits: a }, Value::Ragged { values: bv, splits: b }) => {
            av == bv && a == b
        }
        _ => false,
    }
}

fn same_column(a: &Column, b: &Column) -> bool {
    a.len() == b.len()
        && (0..a.len()).all(|row| same_value(&a.row(row).unwrap(), &b.row(row).unwrap()))
}

/// A plan with every kind of feature, for damaged records.
fn full_plan() -> ParsePlan {
    let mut features: Vec<(String, Feature)> = Vec::new();
    for (key, dtype) in KEYS.iter().zip(TYPES) {
        features.push(((*key).into(), Feature::VarLen { dtype }));
    }
    let ragged = |rule: fn(String) -> Partition| Feature::Ragged {
        dtype: DType::Int64,
        value_key: Some("b".into()),
        partitions: vec![
            rule("a".into()),
            rule("a longer key".into()),
            Partition::UniformRowLength(1),
        ],
        row_splits_dtype: DType::Int32,
        validate: false,
    };
    let rules: [fn(String) -> Partition; 5] = [
        Partition::RowSplits,
        Partition::RowLengths,
        Partition::RowStarts,
        Partition::RowLimits,
        Partition::ValueRowIds,
    ];
    for (i, rule) in rules.into_iter().enumerate() {
        features.push((format!("ragged {i}"), ragged(rule)));
    }
    features.push((
        "sparse".into(),
        Feature::Sparse {
            index_keys: vec!["a".into(), "a longer key".into()],
            value_key: "b".into(),
            dtype: DType::Int64,
            size: vec![10, 10],
            already_sorted: false,
        },
    ));
    ParsePlan::new(features).unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn rows_are_what_prost_reads(records in typed_records(80), forms in forms()) {
        let (array, plan) = (array(&records), plan(&forms));
        let expected: Vec<Vec<Option<Values>>> = array
            .iter()
            .map(|record| {
                let found = oracle(record);
                forms.iter().map(|(key, form)| interpret(found.get(KEYS[*key]), *key, *form)).collect()
            })
            .collect();
        let got = plan.parse_rows(&array, &vec![Wanted::All; forms.len()]);
        let bad = expected.iter().position(|row| row.contains(&None));
        match (got, bad) {
            (Ok(columns), None) => {
                for (i, column) in columns.iter().enumerate() {
                    prop_assert_eq!(column.len(), records.len());
                    for (row, expected) in expected.iter().enumerate() {
                        let value = column.row(row).unwrap();
                        prop_assert_eq!(Some(values_of(dense(&value))), expected[i].clone());
                    }
                }
            }
            (Err(error), Some(bad)) => {
                prop_assert_eq!(error.kind(), ErrorKind::InvalidArgument);
                prop_assert_eq!(error.place().record, Some(bad as u64));
                let first = expected[bad].iter().position(Option::is_none).unwrap();
                prop_assert_eq!(error.place().feature.as_deref(), Some(KEYS[forms[first].0]));
            }
            (Ok(_), Some(bad)) => prop_assert!(false, "row {bad} is no error"),
            (Err(error), None) => prop_assert!(false, "{error}"),
        }
    }

    #[test]
    fn many_rows_are_each_row_by_itself(records in typed_records(50)) {
        let (array, plan) = (array(&records), full_plan());
        let all = vec![Wanted::All; plan.names().len()];
        let single: Vec<_> = (0..array.len()).map(|i| plan.parse_rows(&array.slice(i..i + 1), &all)).collect();
        match plan.parse_rows(&array, &all) {
            Ok(columns) => {
                for (row, single) in single.iter().enumerate() {
                    for (one, column) in single.as_ref().unwrap().iter().zip(&columns) {
                        prop_assert!(same_value(&one.row(0).unwrap(), &column.row(row).unwrap()));
                    }
                }
            }
            Err(error) => {
                let row = error.place().record.unwrap() as usize;
                prop_assert!(single[row].is_err());
            }
        }
    }

    #[test]
    fn a_batch_holds_the_values_of_its_rows(records in typed_records(50)) {
        let (array, plan) = (array(&records), full_plan());
        let all = vec![Wanted::All; plan.names().len()];
        let rows = plan.parse_rows(&array, &all);
        let batch = plan.parse_batch(&array, None, &all);
        prop_assert_eq!(rows.is_ok(), batch.is_ok());
        let (Ok(rows), Ok(batch)) = (rows, batch) else { return Ok(()) };
        for (column, value) in rows.iter().zip(&batch) {
            let parts: Vec<_> = (0..column.len()).map(|row| column.row(row).unwrap()).collect();
            let flat: Vec<Tensor> = parts
                .iter()
                .map(|part| dense(part).clone())
                .map(|part| { let n = part.len(); part.reshape(Dims::from_slice(&[n])).unwrap() })
                .collect();
            if !flat.is_empty() {
                let joined = Tensor::concat(&flat.iter().collect::<Vec<_>>()).unwrap();
                prop_assert_eq!(values_of(&joined), values_of(dense(value)));
            }
        }
    }

    #[test]
    fn what_is_wanted_does_not_change_what_comes(
        records in typed_records(20),
        wanted in vec(prop_oneof![Just(Wanted::No), Just(Wanted::Values), Just(Wanted::All)], 11),
    ) {
        let (array, plan) = (array(&records), full_plan());
        let Ok(all) = plan.parse_rows(&array, &[Wanted::All; 11]) else { return Ok(()) };
        let some = plan.parse_rows(&array, &wanted).unwrap();
        let batch = plan.parse_batch(&array, None, &[Wanted::All; 11]).unwrap();
        let part = plan.parse_batch(&array, None, &wanted).unwrap();
        for (i, wanted) in wanted.iter().enumerate() {
            prop_assert_eq!(some[i].len(), array.len());
            match wanted {
                Wanted::All => {
                    prop_assert!(same_column(&all[i], &some[i]));
                    prop_assert!(same_value(&batch[i], &part[i]));
                }
                Wanted::Values => {
                    for row in 0..array.len() {
                        let (a, b) = (all[i].row(row).unwrap(), some[i].row(row).unwrap());
                        prop_assert_eq!(dense(&a), dense(&b));
                    }
                    prop_assert_eq!(dense(&batch[i]), dense(&part[i]));
                }
                Wanted::No => {}
            }
        }
    }

    #[test]
    fn damaged_records_do_no_more_than_fail(
        record in record(),
        cut in any::<prop::sample::Index>(),
        flips in vec((any::<prop::sample::Index>(), 0..8_u32), 0..4),
    ) {
        let mut bytes = record.encode();
        bytes.truncate(cut.index(bytes.len() + 1));
        for (at, bit) in flips {
            if !bytes.is_empty() {
                let at = at.index(bytes.len());
                bytes[at] ^= 1 << bit;
            }
        }
        let (array, plan) = (BytesArray::from_values([&bytes]).unwrap(), full_plan());
        let all = vec![Wanted::All; plan.names().len()];
        let single = plan.parse_rows(&array, &all);
        let batch = plan.parse_batch(&array, None, &all);
        prop_assert_eq!(single.is_ok(), batch.is_ok());
        if let Err(error) = single {
            prop_assert_eq!(error.kind(), ErrorKind::InvalidArgument, "{}", error);
        }
    }

    #[test]
    fn random_bytes_do_no_more_than_fail(bytes in vec(any::<u8>(), 0..60)) {
        let array = BytesArray::from_values([&bytes]).unwrap();
        let plan = full_plan();
        let _ = plan.parse_rows(&array, &vec![Wanted::All; plan.names().len()]);
    }

    #[test]
    fn writing_gives_the_bytes_of_prost(
        features in prop::collection::btree_map("[a-z]{1,20}", list(), 0..8),
        rotate in 0..8_usize,
    ) {
        let kind = |list: &List| match list {
            List::Ints(value, _) => Some(Kind::Int64List(Int64List { value: value.clone() })),
            List::Floats(bits, _) => {
                let value = bits.iter().map(|bits| f32::from_bits(*bits)).collect();
                Some(Kind::FloatList(FloatList { value }))
            }
            List::Strings(value) => Some(Kind::BytesList(BytesList { value: value.clone() })),
            List::Kindless => None,
        };
        let map = features.iter().map(|(k, list)| (k.clone(), ProtoFeature { kind: kind(list) }));
        let message = Example { features: Some(Features { feature: map.collect() }) };
        let tensors: Vec<(String, Option<Tensor>)> = features
            .iter()
            .map(|(key, list)| (key.clone(), match list {
                List::Ints(values, _) => Some(Tensor::from_values(&[values.len()], values).unwrap()),
                List::Floats(bits, _) => {
                    let values: Vec<f32> = bits.iter().map(|bits| f32::from_bits(*bits)).collect();
                    Some(Tensor::from_values(&[values.len()], &values).unwrap())
                }
                List::Strings(values) => {
                    let count = Dims::from_slice(&[values.len()]);
                    let values = BytesArray::from_values(values).unwrap();
                    Some(Tensor::text(DType::Bytes, count, values).unwrap())
                }
                List::Kindless => None,
            }))
            .collect();
        let mut values: Vec<(&str, FeatureValue<'_>)> = tensors
            .iter()
            .map(|(key, tensor)| {
                (key.as_str(), tensor.as_ref().map_or(FeatureValue::Empty, FeatureValue::Tensor))
            })
            .collect();
        let middle = rotate.min(values.len());
        values.rotate_left(middle);
        let written = serialize_example(&values).unwrap();
        // prost writes an entry without a value where there is no list; protobuf's own code
        // writes an empty one, which is what TensorFlow's parser takes.
        if !features.values().any(|list| matches!(list, List::Kindless)) {
            prop_assert_eq!(&written, &message.encode_to_vec());
        }
        let read = Example::decode(written.as_slice()).unwrap();
        prop_assert_eq!(read.encode_to_vec(), message.encode_to_vec());
    }
}

#[test]
fn hostile_lengths_are_errors_in_bounded_memory() {
    let huge = [0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f];
    let mut nested = Vec::new();
    for _ in 0..10_000 {
        nested = field(1, &nested);
    }
    // A row id of 2^62 must not make 2^62 rows.
    let mut id = Vec::new();
    encode_varint(1 << 62, &mut id);
    let ids = field(1, &[field(1, b"a"), field(2, &field(3, &field(1, &id)))].concat());
    let records = [
        [&[0x0a], &huge[..], &[0x0a], &huge[..]].concat(),
        [&[0x0a, 20, 0x0a], &huge[..]].concat(),
        [&[0x12], &huge[..]].concat(),
        nested,
        field(1, &ids),
        vec![0xff; 100],
        vec![0x0b; 100],
        vec![0; 100],
    ];
    let plan = full_plan();
    let all = vec![Wanted::All; plan.names().len()];
    for (i, record) in records.iter().enumerate() {
        let array = BytesArray::from_values([record]).unwrap();
        let Err(error) = plan.parse_rows(&array, &all) else { panic!("record {i} is no error") };
        assert_eq!(error.kind(), ErrorKind::InvalidArgument, "{error}");
        assert!(error.to_string().len() < 500, "{error}");
    }
}
