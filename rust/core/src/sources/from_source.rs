//! `Dataset.from_source`: the elements of a foreign object that has them by number.
//!
//! Elements are asked for as many at a time as are wanted, so that an object which holds arrays
//! hands over whole slices.

use std::sync::Arc;

use crate::data::{Chunk, ElementSpec};
use crate::engine::node::{Arg, RunOptions, Unfixed};
use crate::engine::{Cardinality, Node, Opening, Plan, Skipped, Stage};
use crate::error::{Error, Result};
use crate::graph::call::Called;

/// A foreign object with numbered elements.
pub trait IndexedSource: Send + Sync {
    /// What messages call it.
    fn name(&self) -> String;
    /// What its elements look like.
    fn spec(&self) -> &ElementSpec;
    /// True if an element may be another when it is asked for again.
    fn is_live(&self) -> bool {
        false
    }
    /// How many elements it has.
    fn len(&self) -> u64;
    /// True if it has none.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }
    /// The elements of these numbers; stops at the first that fails.
    fn fetch(&self, indices: &[u64]) -> Called;
}

/// The elements of a foreign object.
pub struct FromSourceNode {
    source: Arc<dyn IndexedSource>,
}

impl FromSourceNode {
    /// A plan over `source`.
    pub fn plan(source: Arc<dyn IndexedSource>) -> Plan {
        Arc::new(FromSourceNode { source })
    }
}

impl Node for FromSourceNode {
    fn name(&self) -> &'static str {
        "from_source"
    }

    fn args(&self) -> Vec<Arg> {
        let spec = Arg::new("output_signature", self.source.spec());
        vec![Arg::new("source", self.source.name()), Arg::new("len", self.source.len()), spec]
    }

    fn inputs(&self) -> Vec<Plan> {
        Vec::new()
    }

    fn spec(&self) -> &ElementSpec {
        self.source.spec()
    }

    fn cardinality(&self) -> Cardinality {
        Cardinality::Known(self.source.len())
    }

    fn observable(&self) -> bool {
        true
    }

    fn unfixed(&self, _options: &RunOptions) -> Option<Unfixed> {
        self.source.is_live().then(|| Unfixed::Live(self.source.name()))
    }

    fn is_indexable(&self) -> bool {
        true
    }

    fn gather(&self, indices: &[u64]) -> Option<Called> {
        Some(self.source.fetch(indices))
    }

    fn open(&self, opening: &Opening<'_>) -> Result<Box<dyn Stage>> {
        let rows = opening.run.options.chunk_rows;
        let source = Arc::clone(&self.source);
        Ok(Box::new(FromSourceStage { source, rows, at: 0, failed: None }))
    }
}

struct FromSourceStage {
    source: Arc<dyn IndexedSource>,
    /// Most elements that are asked for at once.
    rows: usize,
    at: u64,
    /// The error of the next element, which came with those before it.
    failed: Option<Error>,
}

impl Stage for FromSourceStage {
    fn next(&mut self, max: usize) -> Result<Option<Chunk>> {
        if let Some(error) = self.failed.take() {
            self.at += 1;
            return Err(error);
        }
        let count = (self.source.len() - self.at).min(max.min(self.rows) as u64);
        if count == 0 {
            return Ok(None);
        }
        let indices: Vec<u64> = (self.at..self.at + count).collect();
        let Called { done, error } = self.source.fetch(&indices);
        self.failed = error;
        match done {
            Some(chunk) => {
                self.at += chunk.rows() as u64;
                Ok(Some(chunk))
            }
            None => {
                self.at += 1;
                let fewer = || Error::internal("a source gave fewer elements than it has");
                Err(self.failed.take().unwrap_or_else(fewer))
            }
        }
    }

    fn skip(&mut self, n: u64) -> Skipped {
        let skipped = n.min(self.source.len() - self.at);
        if skipped > 0 {
            self.failed = None;
            self.at += skipped;
        }
        Ok(skipped)
    }

    fn quiet(&self) -> bool {
        false
    }
}
