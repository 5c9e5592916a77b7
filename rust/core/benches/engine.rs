//! Shuffling and batching through the engine, one thread.

// A benchmark that cannot be set up is to stop.
#![allow(clippy::expect_used, missing_docs)]

use std::hint::black_box;
use std::sync::Arc;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use headrace::batching::batch::BatchNode;
use headrace::batching::padded_batch::PaddedBatchNode;
use headrace::data::{BytesArray, Column, DType, Dims, Rows, Structure, Tensor};
use headrace::engine::apply::Parallel;
use headrace::engine::seeds::SeedGenerator;
use headrace::engine::{Plan, Run, RunOptions};
use headrace::sources::range::RangeNode;
use headrace::sources::tensors::TensorsNode;
use headrace::transforms::shuffle::ShuffleNode;

const ROWS: usize = 100_000;

fn drain(plan: &Plan) {
    let options = RunOptions { inject_prefetch: false, ..RunOptions::default() };
    let mut run = Run::open(plan, options, None).expect("opens");
    while let Some(chunk) = run.next_chunk().expect("no errors") {
        black_box(chunk.rows());
    }
}

fn range() -> Plan {
    RangeNode::plan(0, ROWS as i64, 1, DType::Int64).expect("a range")
}

fn records() -> Plan {
    let values = (0..ROWS).map(|i| vec![i as u8; 590 + i % 40]);
    let array = BytesArray::from_values(values).expect("memory");
    let tensor = Tensor::text(DType::Bytes, [ROWS][..].into(), array).expect("fits");
    TensorsNode::slices(Structure::Leaf, vec![Column::Stacked(tensor)]).expect("one column")
}

fn tokens() -> Plan {
    let shapes: Vec<Dims> = (0..ROWS).map(|i| [10 + i % 190][..].into()).collect();
    let count = shapes.iter().map(|shape| shape[0]).sum();
    let flat = Tensor::zeros(DType::Int64, [count][..].into()).expect("memory");
    let rows = Rows::new(flat, shapes).expect("fits");
    TensorsNode::slices(Structure::Leaf, vec![Column::Rows(rows)]).expect("one column")
}

fn shuffle(input: Plan, size: i64) -> Plan {
    ShuffleNode::plan(input, size, SeedGenerator::new(Some((1, 2)), true)).expect("a size")
}

fn engine(criterion: &mut Criterion) {
    let batch = |input: Plan, size| {
        BatchNode::plan(input, size, false, Parallel::Serial, None).expect("a size")
    };
    let padded = PaddedBatchNode::plan(tokens(), 64, None, None, false).expect("known rank");
    let cases: [(&str, Plan); 6] = [
        ("range, shuffle(10k)", shuffle(range(), 10_000)),
        ("records of 610 B, shuffle(10k)", shuffle(records(), 10_000)),
        ("range, batch(2)", batch(range(), 2)),
        ("range, batch(1024)", batch(range(), 1024)),
        ("records of 610 B, batch(1024)", batch(records(), 1024)),
        ("tokens, padded_batch(64)", padded),
    ];
    let mut group = criterion.benchmark_group("engine");
    group.throughput(Throughput::Elements(ROWS as u64)).sample_size(20);
    for (name, plan) in cases {
        let plan = Arc::clone(&plan);
        group.bench_function(name, |b| b.iter(|| drain(&plan)));
    }
    group.finish();
}

criterion_group!(benches, engine);
criterion_main!(benches);
