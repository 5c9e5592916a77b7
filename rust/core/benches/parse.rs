//! Examples to columns, and values to Examples; prost for comparison.

// criterion makes undocumented functions, and a bench may stop at what it did not expect.
#![allow(missing_docs, clippy::unwrap_used)]

use std::hint::black_box;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use headrace::data::{BytesArray, DType, Dims, PartialShape, Tensor, Wanted};
use headrace::formats::parse::{Feature, ParsePlan};
use headrace::formats::proto::{
    BytesList, Example, Feature as ProtoFeature, FeatureValue, Features, FloatList, Int64List,
    Kind, serialize_example,
};
use prost::Message;

/// A generator of numbers that need not be good.
struct Numbers(u64);

impl Numbers {
    fn next(&mut self) -> u64 {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        self.0 >> 1
    }
}

fn records(count: usize, mut features: impl FnMut() -> Vec<(String, Kind)>) -> BytesArray {
    let record = || {
        let feature = features()
            .into_iter()
            .map(|(key, kind)| (key, ProtoFeature { kind: Some(kind) }))
            .collect();
        Example { features: Some(Features { feature }) }.encode_to_vec()
    };
    let all: Vec<Vec<u8>> = std::iter::repeat_with(record).take(count).collect();
    BytesArray::from_values(all).unwrap()
}

fn ints(value: Vec<i64>) -> Kind {
    Kind::Int64List(Int64List { value })
}

fn fixed(dtype: DType, dims: &[usize]) -> Feature {
    Feature::FixedLen { dtype, shape: PartialShape::from(dims), default: None }
}

fn decode_all(records: &BytesArray) -> usize {
    records.iter().map(|record| Example::decode(record).unwrap().encoded_len()).sum()
}

fn parse(c: &mut Criterion, name: &str, records: &BytesArray, unit: u64, plan: &ParsePlan) {
    let mut group = c.benchmark_group(name);
    group.sample_size(20);
    group.throughput(Throughput::Elements(records.len() as u64 * unit));
    let outputs = plan.names().len();
    for (name, wanted) in [("rows", Wanted::All), ("values only", Wanted::Values)] {
        let wanted = vec![wanted; outputs];
        group.bench_function(name, |b| b.iter(|| plan.parse_rows(black_box(records), &wanted)));
    }
    let wanted = vec![Wanted::All; outputs];
    group.bench_function("batch", |b| b.iter(|| plan.parse_batch(records, None, &wanted)));
    group.bench_function("prost, decode only", |b| b.iter(|| decode_all(black_box(records))));
    group.finish();
}

fn tabular_kinds(numbers: &mut Numbers) -> Vec<(String, Kind)> {
    let mut features = vec![("label".into(), ints(vec![(numbers.next() & 1) as i64]))];
    for i in 0..13 {
        let value = vec![numbers.next() as f32];
        features.push((format!("I{i}"), Kind::FloatList(FloatList { value })));
    }
    for i in 0..26 {
        features.push((format!("C{i}"), ints(vec![(numbers.next() >> 43) as i64])));
    }
    features
}

fn tabular(c: &mut Criterion) {
    let mut numbers = Numbers(1);
    let rows = records(1024, || tabular_kinds(&mut numbers));
    let mut features = vec![("label".to_string(), fixed(DType::Int64, &[]))];
    features.extend((0..13).map(|i| (format!("I{i}"), fixed(DType::Float32, &[]))));
    features.extend((0..26).map(|i| (format!("C{i}"), fixed(DType::Int64, &[]))));
    let few = features[..2].to_vec();
    parse(c, "40 scalars", &rows, 1, &ParsePlan::new(features).unwrap());
    parse(c, "2 of 40 scalars", &rows, 1, &ParsePlan::new(few).unwrap());
}

fn lists(c: &mut Criterion) {
    let mut numbers = Numbers(2);
    let rows = records(128, || {
        vec![("x".into(), ints((0..1000).map(|_| numbers.next() as i64).collect()))]
    });
    let plan = ParsePlan::new(vec![("x".into(), fixed(DType::Int64, &[1000]))]).unwrap();
    parse(c, "1000 int64 of 63 bits", &rows, 1000, &plan);

    let rows = records(64, || {
        let value = (0..7500).map(|i| i as f32).collect();
        vec![("x".into(), Kind::FloatList(FloatList { value }))]
    });
    let plan = ParsePlan::new(vec![("x".into(), fixed(DType::Float32, &[3, 50, 50]))]).unwrap();
    parse(c, "7500 floats", &rows, 30_000, &plan);

    let rows = records(1024, || {
        let count = 10 + numbers.next() % 191;
        vec![("tokens".into(), ints((0..count).map(|_| (numbers.next() >> 48) as i64).collect()))]
    });
    let varlen = Feature::VarLen { dtype: DType::Int64 };
    let plan = ParsePlan::new(vec![("tokens".into(), varlen)]).unwrap();
    parse(c, "10 to 200 tokens", &rows, 1, &plan);

    let rows = records(1024, || {
        let image = vec![7; 2000];
        vec![("image".into(), Kind::BytesList(BytesList { value: vec![image] }))]
    });
    let plan = ParsePlan::new(vec![("image".into(), fixed(DType::Bytes, &[]))]).unwrap();
    parse(c, "bytes", &rows, 1, &plan);
}

fn memcpy(c: &mut Criterion) {
    let source = vec![1_u8; 64 * 30_000];
    let mut group = c.benchmark_group("7500 floats");
    group.throughput(Throughput::Elements(source.len() as u64));
    group.bench_function("memcpy", |b| {
        b.iter(|| headrace::data::Buffer::copy_from(black_box(&source)));
    });
    group.finish();
}

fn write(c: &mut Criterion) {
    let kinds = tabular_kinds(&mut Numbers(3));
    let features: Vec<(&str, FeatureValue<'_>)> = kinds
        .iter()
        .map(|(key, kind)| match kind {
            Kind::Int64List(list) => (key.as_str(), FeatureValue::Int(list.value[0])),
            Kind::FloatList(list) => (key.as_str(), FeatureValue::Float(list.value[0])),
            Kind::BytesList(list) => (key.as_str(), FeatureValue::Bytes(&list.value[0])),
        })
        .collect();
    let mut group = c.benchmark_group("write");
    group.throughput(Throughput::Elements(1));
    group.bench_function("40 scalars", |b| b.iter(|| serialize_example(black_box(&features))));
    group.bench_function("40 scalars, prost", |b| {
        b.iter(|| {
            let feature = black_box(&kinds)
                .iter()
                .map(|(key, kind)| (key.clone(), ProtoFeature { kind: Some(kind.clone()) }))
                .collect();
            Example { features: Some(Features { feature }) }.encode_to_vec()
        });
    });
    let floats = Tensor::zeros(DType::Float32, Dims::from_slice(&[7500])).unwrap();
    group.bench_function("7500 floats", |b| {
        b.iter(|| serialize_example(&[("x", FeatureValue::Tensor(black_box(&floats)))]));
    });
    group.finish();
}

criterion_group!(benches, tabular, lists, memcpy, write);
criterion_main!(benches);
