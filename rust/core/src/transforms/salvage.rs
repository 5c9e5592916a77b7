//! `TFRecordDataset(on_corruption="skip")`: leaves the damaged places out that its readers have
//! passed over.
//!
//! Readers that salvage go on after damage, and say with its error what they have passed over.
//! Here, above all files of the dataset, these errors are taken out, counted and noted, in the order
//! of the elements: so the limit does not depend on how many files are read at once. Only reading
//! tells which records are damaged, so skipping reads.

use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;

use crate::data::{Chunk, ElementSpec, Mark};
use crate::engine::node::Arg;
use crate::engine::notices;
use crate::engine::run::RunContext;
use crate::engine::skipping::skip_by_running;
use crate::engine::stats::StageStats;
use crate::engine::{Cardinality, Input, Node, Opening, Plan, Skipped, Stage};
use crate::error::{Error, Result};

/// The elements without the damaged places among them.
pub struct SalvageNode {
    input: Plan,
    limit: Option<u64>,
}

impl SalvageNode {
    /// A plan of the elements of `input`. After `limit` damaged places the next are raised.
    pub fn plan(input: Plan, limit: Option<u64>) -> Plan {
        Arc::new(SalvageNode { input, limit })
    }
}

impl Node for SalvageNode {
    fn name(&self) -> &'static str {
        "salvage"
    }

    fn args(&self) -> Vec<Arg> {
        let limit = self.limit.map_or("None".into(), |limit| limit.to_string());
        vec![Arg::new("corruption_limit", limit)]
    }

    fn inputs(&self) -> Vec<Plan> {
        vec![Arc::clone(&self.input)]
    }

    fn spec(&self) -> &ElementSpec {
        self.input.spec()
    }

    fn cardinality(&self) -> Cardinality {
        match self.input.cardinality() {
            Cardinality::Known(0) => Cardinality::Known(0),
            _ => Cardinality::Unknown,
        }
    }

    fn open(&self, opening: &Opening<'_>) -> Result<Box<dyn Stage>> {
        Ok(Box::new(SalvageStage {
            run: Arc::clone(opening.run),
            stats: Arc::clone(&opening.stats),
            input: opening.input(0, &self.input)?,
            limit: self.limit,
            passed: opening.mark.own(0),
        }))
    }
}

struct SalvageStage {
    run: Arc<RunContext>,
    stats: Arc<StageStats>,
    input: Input,
    limit: Option<u64>,
    /// Damaged places so far.
    passed: u64,
}

impl SalvageStage {
    fn note(&self, error: &Error) {
        // A resumed run must count the outcomes below by making them.
        self.run.note_failure();
        self.run.note_loss(error);
        self.stats.lost.fetch_add(1, Relaxed);
        let bytes = error.lost().and_then(|lost| lost.bytes);
        self.stats.lost_bytes.fetch_add(bytes.unwrap_or(0), Relaxed);
        if let Some(file) = &error.place().file {
            notices::give(format!("{file} is damaged: what cannot be read of it is left out"));
        }
    }
}

impl Stage for SalvageStage {
    fn next(&mut self, max: usize) -> Result<Option<Chunk>> {
        let mut mark = None;
        let asked_quiet = self.input.quiet();
        loop {
            if self.input.passed_mark() {
                mark = self.state();
            }
            let error = match self.input.next(self.input.most(asked_quiet, max, 1)) {
                Ok(chunk) => return Ok(chunk.map(|chunk| chunk.marked(mark))),
                Err(error) if error.lost().is_none() => return Err(error),
                Err(error) => error,
            };
            self.passed += 1;
            if let Some(limit) = self.limit.filter(|limit| self.passed > *limit) {
                return Err(over(limit, &error));
            }
            self.note(&error);
        }
    }

    fn skip(&mut self, n: u64) -> Skipped {
        skip_by_running(n, |max| self.next(max))
    }

    fn state(&self) -> Option<Mark> {
        Some(Mark::new([self.passed], vec![self.input.position()]))
    }

    fn quiet(&self) -> bool {
        self.input.quiet()
    }
}

fn over(limit: u64, error: &Error) -> Error {
    let text = match limit {
        0 => format!("no damage is accepted (corruption_limit=0): {}", error.message()),
        _ => format!(
            "more than {limit} damaged places (corruption_limit={limit}); the last: {}",
            error.message()
        ),
    };
    let mut over = Error::data_loss(text);
    let place = error.place();
    if let (Some(record), Some(offset)) = (place.record, place.offset) {
        over = over.at_record(record, offset);
    }
    if let Some(file) = &place.file {
        over = over.at_file(file);
    }
    over.with_hint("restore the file from its source, or raise corruption_limit")
}
