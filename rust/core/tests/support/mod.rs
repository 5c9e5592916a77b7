//! What the integration tests share: functions, plans of every op, and ways to read them.

// Each test binary uses a part of it.
#![allow(dead_code)]
// Clippy's leave for tests ends at functions without #[test].
#![allow(clippy::unwrap_used, clippy::panic)]

pub mod drawing;
pub mod reference;
pub mod steps;

mod cases;
mod functions;
mod plans;

use std::sync::atomic::{AtomicU64, Ordering::SeqCst};
use std::sync::{Arc, Mutex, OnceLock};

use headrace::batching::group_by_window::{GroupByWindowNode, GroupOrder, WindowSize};
use headrace::batching::window::WindowNode;
use headrace::batching::{batch::BatchNode, padded_batch::PaddedBatchNode, unbatch::UnbatchNode};
use headrace::batching::{
    ragged_batch::RaggedBatchNode, rebatch::RebatchNode, sparse_batch::SparseBatchNode,
};
use headrace::combine::choose::ChooseNode;
use headrace::combine::selector::{SelectorNode, Weights};
use headrace::combine::{concatenate::ConcatenateNode, flat_map::FlatMapNode};
use headrace::combine::{interleave::InterleaveNode, zip::ZipNode};
use headrace::data::{
    Chunk, Column, DType, Data, ElementSpec, PartialShape, Structure, Tensor, Value,
};
use headrace::engine::apply::Parallel;
use headrace::engine::nested::{dataset_value, plan_of};
use headrace::engine::seeds::SeedGenerator;
use headrace::engine::state::State;
use headrace::engine::{Plan, Run, RunOptions};
use headrace::error::{Error, Result};
use headrace::formats::csv::Syntax;
use headrace::graph::attr::Attrs;
use headrace::graph::call::{Called, Prepared, UserFunction};
use headrace::graph::graph::{Graph, GraphBuilder};
use headrace::io::compress::Compression;
use headrace::random::Site;
use headrace::sources::counter::{CounterNode, Steps};
use headrace::sources::csv::{CsvColumn, CsvNode, CsvOptions};
use headrace::sources::fixed_length::{FixedLengthNode, Layout};
use headrace::sources::from_source::{FromSourceNode, IndexedSource};
use headrace::sources::load::LoadNode;
use headrace::sources::random::RandomNode;
use headrace::sources::text_line::TextLineNode;
use headrace::sources::{range::RangeNode, tensors::TensorsNode};
use headrace::transforms::assert_cardinality::AssertCardinalityNode;
use headrace::transforms::cache::CacheNode;
use headrace::transforms::enumerate::EnumerateNode;
use headrace::transforms::filter::FilterNode;
use headrace::transforms::global_shuffle::GlobalShuffleNode;
use headrace::transforms::ignore_errors::IgnoreErrorsNode;
use headrace::transforms::map::MapNode;
use headrace::transforms::prefetch::PrefetchNode;
use headrace::transforms::reduce::ReduceNode;
use headrace::transforms::repeat::RepeatNode;
use headrace::transforms::resample::{
    Acceptance, Classified, Estimate, EstimateNode, Keep, RejectNode,
};
use headrace::transforms::save::{Target, save};
use headrace::transforms::scan::{Carry, ScanNode};
use headrace::transforms::shard::{Equal, ShardNode};
use headrace::transforms::shuffle::ShuffleNode;
use headrace::transforms::skip::SkipNode;
use headrace::transforms::snapshot::SnapshotNode;
use headrace::transforms::take::TakeNode;
use headrace::transforms::take_while::TakeWhileNode;
use headrace::transforms::unique::UniqueNode;

pub use cases::*;
pub use functions::*;
pub use plans::*;

pub fn options(chunk_rows: usize) -> RunOptions {
    RunOptions { chunk_rows, ..RunOptions::default() }
}

/// An element or an error, as text.
pub type Outcome = String;

fn tensor_text(tensor: &Tensor) -> String {
    match tensor.data() {
        Data::Fixed(bytes) => format!("{}{:?}{:?}", tensor.dtype(), tensor.dims(), &bytes[..]),
        Data::Text(values) => format!("{:?}{:?}", tensor.dims(), values.iter().collect::<Vec<_>>()),
    }
}

pub fn row_text(chunk: &Chunk, row: usize) -> Outcome {
    let columns = chunk.columns().iter().map(|column| match column.row(row).unwrap() {
        Value::Tensor(tensor) => tensor_text(&tensor),
        Value::Sparse { indices, values, dense_shape } => {
            [indices, values, dense_shape].iter().map(tensor_text).collect()
        }
        Value::Ragged { values, splits } => {
            tensor_text(&values) + &splits.iter().map(tensor_text).collect::<String>()
        }
        Value::Foreign(_) => "foreign".into(),
    });
    format!("{} {}", chunk.structure(), columns.collect::<Vec<_>>().join(" | "))
}

/// Reads outcomes one at a time, with the state between any two.
pub struct Reader {
    pub run: Run,
    chunk: Option<(Chunk, usize)>,
}

impl Reader {
    pub fn open(plan: &Plan, options: RunOptions, state: Option<&State>) -> Self {
        Reader { run: Run::open(plan, options, state).unwrap(), chunk: None }
    }

    pub fn next(&mut self) -> Option<Outcome> {
        if self.chunk.is_none() {
            match self.run.next_chunk() {
                Ok(Some(chunk)) => self.chunk = Some((chunk, 0)),
                Ok(None) => return None,
                Err(error) => return Some(format!("error: {}", error.message())),
            }
        }
        let (chunk, row) = self.chunk.take()?;
        let text = row_text(&chunk, row);
        self.chunk = (row + 1 < chunk.rows()).then_some((chunk, row + 1));
        Some(text)
    }

    pub fn state(&self) -> State {
        let unread = self.chunk.as_ref().map_or(0, |(chunk, row)| chunk.rows() - row);
        let state = self.run.state(unread).unwrap();
        State::from_json(&state.to_json().unwrap()).unwrap()
    }
}

impl Iterator for Reader {
    type Item = Outcome;

    fn next(&mut self) -> Option<Outcome> {
        Reader::next(self)
    }
}

pub fn read(plan: &Plan, options: RunOptions) -> Vec<Outcome> {
    Reader::open(plan, options, None).collect()
}
