//! Parsing gives what TensorFlow 2.21 gives, bit for bit, on the vectors in `tests/golden`, and
//! what prost reads, on files that other projects published.

#![allow(clippy::unwrap_used, clippy::panic)]

use std::collections::BTreeMap;
use std::io::Read;
use std::path::PathBuf;

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use headrace::data::{BytesArray, Column, DType, PartialShape, Tensor, Value, Wanted};
use headrace::formats::parse::{Feature, ParsePlan, Partition};
use headrace::formats::proto::{Example, Kind};
use headrace::{Error, ErrorKind};
use prost::Message;
use serde_json::Value as Json;

fn repository(path: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../tests").join(path)
}

fn json(path: &str) -> Json {
    serde_json::from_slice(&std::fs::read(repository(path)).unwrap()).unwrap()
}

/// The records of a TFRecord file, without a look at checksums.
fn records(path: &str) -> BytesArray {
    let mut bytes = std::fs::read(repository(path)).unwrap();
    if path.ends_with(".gz") {
        let mut plain = Vec::new();
        flate2::read::MultiGzDecoder::new(bytes.as_slice()).read_to_end(&mut plain).unwrap();
        bytes = plain;
    }
    let mut records = Vec::new();
    let mut rest = bytes.as_slice();
    while !rest.is_empty() {
        let length = u64::from_le_bytes(rest[..8].try_into().unwrap()) as usize;
        records.push(&rest[12..12 + length]);
        rest = &rest[12 + length + 4..];
    }
    BytesArray::from_values(records).unwrap()
}

fn dtype(name: &Json) -> DType {
    match name.as_str().unwrap() {
        "string" | "bytes" => DType::Bytes,
        name => DType::from_name(name).unwrap(),
    }
}

fn number(value: &Json) -> f64 {
    match value.as_str() {
        Some("NaN") => f64::NAN,
        Some("Infinity") => f64::INFINITY,
        Some("-Infinity") => f64::NEG_INFINITY,
        Some(other) => panic!("no number: {other}"),
        None => value.as_f64().unwrap(),
    }
}

/// An array of the vectors; a float64 (Python's float) becomes what the feature wants.
fn tensor(json: &Json, wanted: Option<DType>) -> Tensor {
    let dims: Vec<usize> =
        json["shape"].as_array().unwrap().iter().map(|d| d.as_u64().unwrap() as usize).collect();
    let data = json["data"].as_array().unwrap();
    match wanted.unwrap_or_else(|| dtype(&json["dtype"])) {
        DType::Int64 => {
            let values: Vec<i64> = data.iter().map(|v| v.as_i64().unwrap()).collect();
            Tensor::from_values(&dims, &values).unwrap()
        }
        DType::Int32 => {
            let values: Vec<i32> = data.iter().map(|v| v.as_i64().unwrap() as i32).collect();
            Tensor::from_values(&dims, &values).unwrap()
        }
        DType::Float32 => {
            let values: Vec<f32> = data.iter().map(|v| number(v) as f32).collect();
            Tensor::from_values(&dims, &values).unwrap()
        }
        DType::Bytes => {
            let values = data.iter().map(|v| BASE64_STANDARD.decode(v.as_str().unwrap()).unwrap());
            let values = BytesArray::from_values(values).unwrap();
            Tensor::text(DType::Bytes, dims.as_slice().into(), values).unwrap()
        }
        other => panic!("no {other} in the vectors"),
    }
}

fn shape(json: &Json) -> PartialShape {
    PartialShape::new(json.as_array().unwrap().iter().map(|d| d.as_u64().map(|d| d as usize)))
}

fn text(json: &Json) -> String {
    json.as_str().unwrap().into()
}

fn partition(json: &Json) -> Partition {
    let key = || text(&json[1]);
    match json[0].as_str().unwrap() {
        "RowSplits" => Partition::RowSplits(key()),
        "RowLengths" => Partition::RowLengths(key()),
        "RowStarts" => Partition::RowStarts(key()),
        "RowLimits" => Partition::RowLimits(key()),
        "ValueRowIds" => Partition::ValueRowIds(key()),
        "UniformRowLength" => Partition::UniformRowLength(json[1].as_u64().unwrap() as usize),
        other => panic!("{other}"),
    }
}

/// One or several, as a list.
fn many<T>(json: &Json, read: impl Fn(&Json) -> T) -> Vec<T> {
    json.as_array().map_or_else(|| vec![read(json)], |list| list.iter().map(&read).collect())
}

fn feature(json: &Json) -> Feature {
    let dtype = dtype(&json["dtype"]);
    let default = || {
        let value = &json["default_value"];
        (!value.is_null()).then(|| tensor(value, Some(dtype)))
    };
    match json["kind"].as_str().unwrap() {
        "FixedLenFeature" => {
            Feature::FixedLen { dtype, shape: shape(&json["shape"]), default: default() }
        }
        "VarLenFeature" => Feature::VarLen { dtype },
        "FixedLenSequenceFeature" => Feature::FixedLenSequence {
            dtype,
            shape: shape(&json["shape"]),
            allow_missing: json["allow_missing"].as_bool().unwrap(),
            default: default(),
        },
        "RaggedFeature" => Feature::Ragged {
            dtype,
            value_key: json["value_key"].as_str().map(Into::into),
            partitions: json["partitions"].as_array().unwrap().iter().map(partition).collect(),
            row_splits_dtype: self::dtype(&json["row_splits_dtype"]),
            validate: json["validate"].as_bool().unwrap(),
        },
        "SparseFeature" => Feature::Sparse {
            index_keys: many(&json["index_key"], text),
            value_key: text(&json["value_key"]),
            dtype,
            size: many(&json["size"], |size| size.as_i64().unwrap()),
            already_sorted: json["already_sorted"].as_bool().unwrap(),
        },
        other => panic!("{other}"),
    }
}

fn bytes_array(json: &Json) -> BytesArray {
    let decode = |text: &Json| BASE64_STANDARD.decode(text.as_str().unwrap()).unwrap();
    BytesArray::from_values(many(json, decode)).unwrap()
}

fn plan(features: &Json) -> Result<ParsePlan, Error> {
    let features = features.as_object().unwrap();
    ParsePlan::new(features.iter().map(|(key, json)| (key.clone(), feature(json))).collect())
}

/// Runs a case: names and values, or the error.
fn run(case: &Json) -> Result<Vec<(String, Value)>, Error> {
    let plan = plan(&case["features"])?;
    let records = bytes_array(&case["serialized"]);
    let all = vec![Wanted::All; plan.names().len()];
    let (values, specs) = if case["op"] == "parse_single_example" {
        let columns = plan.parse_rows(&records, &all)?;
        (columns.iter().map(|c| c.row(0).unwrap()).collect(), plan.outputs_single())
    } else {
        let names = case["example_names"].as_array().map(|names| {
            BytesArray::from_values(names.iter().map(|name| name.as_str().unwrap())).unwrap()
        });
        (plan.parse_batch(&records, names.as_ref(), &all)?, plan.outputs_batch())
    };
    for (value, (name, spec)) in values.iter().zip(&specs) {
        check_spec(value, spec, name);
    }
    let names = plan.names().map(String::from);
    Ok(names.zip(values).collect())
}

/// The plan says before what a value looks like.
fn check_spec(value: &Value, spec: &headrace::data::Spec, name: &str) {
    use headrace::data::Spec;
    match (value, spec) {
        (Value::Tensor(tensor), Spec::Tensor { dtype, shape }) => {
            assert_eq!(tensor.dtype(), *dtype, "{name}");
            assert!(shape.accepts(tensor.dims()), "{name}: {shape} {:?}", tensor.dims());
        }
        (Value::Sparse { values, dense_shape, .. }, Spec::Sparse { dtype, shape }) => {
            assert_eq!(values.dtype(), *dtype, "{name}");
            let dims = dense_shape.values::<i64>().unwrap().iter().map(|dim| *dim as usize);
            assert!(shape.accepts(&dims.collect::<Vec<_>>()), "{name}: {shape}");
        }
        (Value::Ragged { values, splits }, Spec::Ragged { dtype, ragged_rank, .. }) => {
            assert_eq!((values.dtype(), splits.len()), (*dtype, *ragged_rank), "{name}");
            assert_eq!(spec.shape().rank(), Some(ragged_rank + values.dims().len()), "{name}");
        }
        _ => panic!("{name}: expected {spec}"),
    }
}

fn same_tensor(json: &Json, got: &Tensor, name: &str) {
    let expected = tensor(json, None);
    assert_eq!(got.dtype(), expected.dtype(), "{name}");
    assert_eq!(got.dims(), expected.dims(), "{name}");
    assert_eq!(*got, expected, "{name}");
}

fn same(json: &Json, got: &Value, name: &str) {
    match got {
        Value::Tensor(got) => same_tensor(json, got, name),
        Value::Sparse { indices, values, dense_shape } => {
            let json = &json["sparse"];
            same_tensor(&json["indices"], indices, name);
            same_tensor(&json["values"], values, name);
            same_tensor(&json["dense_shape"], dense_shape, name);
        }
        Value::Ragged { values, splits } => {
            let mut json = json;
            for splits in splits {
                same_tensor(&json["ragged"]["row_splits"], splits, name);
                json = &json["ragged"]["values"];
            }
            same_tensor(json, values, name);
        }
        Value::Foreign(_) => panic!("{name}"),
    }
}

/// The part of TensorFlow's message that says what is wrong, where ours keeps its words.
fn kept_words(message: &str) -> Option<&str> {
    let kept = [
        "required but could not be found",
        "Data types don't match",
        "Values size:",
        "number of elements should be divisible",
        "features cannot be empty",
        "requires allow_missing",
        "Unsupported datatype",
        "are not compatible",
    ];
    kept.into_iter().find(|words| message.contains(words))
}

#[test]
fn every_case_gives_what_tensorflow_gives() {
    let golden = json("golden/example.json");
    let cases = golden["cases"].as_array().unwrap();
    let mut failures = Vec::new();
    for case in cases {
        let name = format!("{} ({})", case["name"].as_str().unwrap(), case["op"]);
        let checked = std::panic::catch_unwind(|| check(case, &name));
        if checked.is_err() {
            failures.push(name);
        }
    }
    assert_eq!(cases.len(), 262);
    assert!(failures.is_empty(), "{} cases differ: {failures:#?}", failures.len());
}

fn check(case: &Json, name: &str) {
    let expect = &case["expect"];
    let got = run(case);
    let Some(expected) =
        expect["error"].as_object().filter(|_| expect["error"]["class"].is_string())
    else {
        let got = got.unwrap_or_else(|error| panic!("{name}: {error}"));
        assert_eq!(got.len(), expect.as_object().unwrap().len(), "{name}");
        got.iter().for_each(|(key, value)| same(&expect[key], value, &format!("{name} {key}")));
        return;
    };
    let Err(error) = got else { panic!("{name}: no error") };
    assert_eq!(error.kind(), ErrorKind::InvalidArgument, "{name}: {error}");
    let theirs = expected["message"].as_str().unwrap();
    if let Some(words) = kept_words(theirs) {
        assert!(error.to_string().contains(words), "{name}: {error}\ninstead of {theirs}");
    }
    // In a batch TensorFlow's message begins with the name of the Example; ours does too.
    let start = theirs.split("  ").next().unwrap().trim_end_matches('.');
    if theirs.starts_with("Name: ") {
        assert!(error.message().starts_with(start), "{name}: {error}\ninstead of {theirs}");
    }
    // A feature that is named in their message is named in ours.
    for key in case["features"].as_object().unwrap().keys() {
        if theirs.contains(&format!("ey: {key}.")) || theirs.contains(&format!("feature {key} ")) {
            assert!(error.to_string().contains(key), "{name}: {error}");
            assert_eq!(error.place().feature.as_deref(), Some(key.as_str()), "{name}");
        }
    }
}

#[test]
fn examples_written_by_tensorflow_give_their_rows() {
    let records = records("golden/tfrecord/examples.tfrecord");
    let rows = json("golden/examples_rows.json");
    let rows = rows.as_array().unwrap();
    let fixed = |dtype, dims: &[usize]| Feature::FixedLen {
        dtype,
        shape: PartialShape::from(dims),
        default: None,
    };
    let plan = ParsePlan::new(vec![
        ("name".into(), fixed(DType::Bytes, &[])),
        ("x".into(), fixed(DType::Float32, &[4])),
        ("ids".into(), Feature::VarLen { dtype: DType::Int64 }),
        ("label".into(), fixed(DType::Int64, &[])),
    ])
    .unwrap();
    let columns = plan.parse_rows(&records, &[Wanted::All; 4]).unwrap();
    assert_eq!((records.len(), rows.len()), (20, 20));
    for (i, row) in rows.iter().enumerate() {
        let values: Vec<Value> = columns.iter().map(|c| c.row(i).unwrap()).collect();
        let [
            Value::Tensor(name),
            Value::Tensor(x),
            Value::Sparse { values: ids, .. },
            Value::Tensor(label),
        ] = values.as_slice()
        else {
            panic!("row {i}");
        };
        assert_eq!(name.strings().unwrap().get(0), row["name"].as_str().unwrap().as_bytes());
        let floats: Vec<f32> =
            row["x"].as_array().unwrap().iter().map(|v| number(v) as f32).collect();
        assert_eq!(x.values::<f32>().unwrap(), floats);
        let numbers: Vec<i64> =
            row["ids"].as_array().unwrap().iter().map(|v| v.as_i64().unwrap()).collect();
        assert_eq!(ids.values::<i64>().unwrap(), numbers);
        assert_eq!(label.values::<i64>().unwrap(), [row["label"].as_i64().unwrap()]);
    }
}

/// All values of every feature, record by record, as prost reads them.
fn read_by_prost(records: &BytesArray) -> Vec<BTreeMap<String, Kind>> {
    let read = |record: &[u8]| {
        let features = Example::decode(record).unwrap().features.unwrap_or_default().feature;
        features.into_iter().filter_map(|(key, feature)| Some((key, feature.kind?))).collect()
    };
    records.iter().map(read).collect()
}

fn same_values(column: &Column, row: usize, expected: Option<&Kind>) {
    let got = match column.row(row).unwrap() {
        Value::Sparse { values, dense_shape, indices } => {
            assert_eq!(dense_shape.values::<i64>().unwrap(), [values.len() as i64]);
            assert_eq!(indices.dims(), [values.len(), 1]);
            values
        }
        Value::Tensor(values) => values,
        _ => panic!("neither sparse nor dense"),
    };
    match expected {
        None => assert!(got.is_empty()),
        Some(Kind::Int64List(list)) => assert_eq!(got.values::<i64>().unwrap(), list.value),
        Some(Kind::FloatList(list)) => {
            let bits = |values: &[f32]| values.iter().map(|v| v.to_bits()).collect::<Vec<_>>();
            assert_eq!(bits(got.values::<f32>().unwrap()), bits(&list.value));
        }
        Some(Kind::BytesList(list)) => {
            assert!(got.strings().unwrap().iter().eq(list.value.iter().map(Vec::as_slice)));
        }
    }
}

#[test]
fn mnist_is_read_as_prost_reads_it() {
    let records = records("data/mnist.tfrecord");
    let fixed = |dtype, dims: &[usize]| Feature::FixedLen {
        dtype,
        shape: PartialShape::from(dims),
        default: None,
    };
    let plan = ParsePlan::new(vec![
        ("image_floats".into(), fixed(DType::Float32, &[784])),
        ("image_class".into(), fixed(DType::Int64, &[])),
    ])
    .unwrap();
    let columns = plan.parse_rows(&records, &[Wanted::All; 2]).unwrap();
    let expected = read_by_prost(&records);
    assert_eq!(expected.len(), 1000);
    for (row, features) in expected.iter().enumerate() {
        same_values(&columns[0], row, features.get("image_floats"));
        same_values(&columns[1], row, features.get("image_class"));
    }
}

#[test]
fn taxi_trips_with_missing_features_are_read_as_prost_reads_them() {
    let records = records("data/taxi-00001-of-00002.tfrecord.gz");
    let expected = read_by_prost(&records);
    let mut types = BTreeMap::new();
    for (key, kind) in expected.iter().flatten() {
        let dtype = match kind {
            Kind::BytesList(_) => DType::Bytes,
            Kind::FloatList(_) => DType::Float32,
            Kind::Int64List(_) => DType::Int64,
        };
        types.insert(key.clone(), dtype);
    }
    assert_eq!((expected.len(), types.len()), (5012, 17));
    let features =
        types.iter().map(|(key, dtype)| (key.clone(), Feature::VarLen { dtype: *dtype }));
    let plan = ParsePlan::new(features.collect()).unwrap();
    let columns = plan.parse_rows(&records, &[Wanted::All; 17]).unwrap();
    for (column, key) in columns.iter().zip(types.keys()) {
        for (row, features) in expected.iter().enumerate() {
            same_values(column, row, features.get(key));
        }
    }
}

#[test]
fn a_missing_feature_is_an_error_that_names_what_is_there() {
    let features = [("a", 1), ("bb", 2)]
        .map(|(key, value)| (key, headrace::formats::proto::FeatureValue::Int(value)));
    let good = [("b", headrace::formats::proto::FeatureValue::Float(0.5))];
    let good = headrace::formats::proto::serialize_example(&good).unwrap();
    let bad = headrace::formats::proto::serialize_example(&features).unwrap();
    let mut records = vec![good; 7];
    records.push(bad);
    let records = BytesArray::from_values(records).unwrap();
    let b =
        Feature::FixedLen { dtype: DType::Float32, shape: PartialShape::scalar(), default: None };
    let plan = ParsePlan::new(vec![("b".into(), b)]).unwrap();
    let Err(error) = plan.parse_rows(&records, &[Wanted::All]) else { panic!("no error") };
    let text = error.to_string();
    for part in ["feature \"b\"", "float32", "record 7", "\"bb\"", "\"a\""] {
        assert!(text.contains(part), "{part}: {text}");
    }
}
