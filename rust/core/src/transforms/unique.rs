//! `Dataset.unique`: elements that have not come before.
//!
//! All of them are remembered, as their bytes; the stage's counters tell how much that is.

use std::sync::Arc;

use hashbrown::HashSet;

use crate::data::{Chunk, Column, DType, Data, ElementSpec, Spec, Tensor, Value};
use crate::engine::skipping::skip_by_running;
use crate::engine::stats::StageStats;
use crate::engine::{Cardinality, Input, Node, Opening, Plan, Skipped, Stage};
use crate::error::{Error, Result};

/// What an entry of a hash set costs beside its key: the key's pointer and length, control bytes,
/// and the room that a table keeps free.
const ENTRY_BYTES: usize = 32;

/// First occurrences.
pub struct UniqueNode {
    input: Plan,
}

impl UniqueNode {
    /// A plan of the elements of `input` that differ from all before them.
    ///
    /// # Errors
    /// `InvalidArgument` if they are known to be anything but one int32, int64 or text component.
    pub fn plan(input: Plan) -> Result<Plan> {
        if let Some(specs) = input.spec().specs() {
            match specs {
                [Spec::Tensor { dtype, .. }] if is_supported(*dtype) => {}
                [spec] => return Err(unsupported(&spec.to_string())),
                specs => return Err(unsupported(&format!("{} components", specs.len()))),
            }
        }
        Ok(Arc::new(UniqueNode { input }))
    }
}

fn is_supported(dtype: DType) -> bool {
    matches!(dtype, DType::Int32 | DType::Int64) || dtype.is_text()
}

fn unsupported(what: &str) -> Error {
    Error::invalid_argument(format!(
        "unique supports elements of a single int32, int64 or text component, got {what}"
    ))
}

impl Node for UniqueNode {
    fn name(&self) -> &'static str {
        "unique"
    }

    fn inputs(&self) -> Vec<Plan> {
        vec![Arc::clone(&self.input)]
    }

    fn spec(&self) -> &ElementSpec {
        self.input.spec()
    }

    fn cardinality(&self) -> Cardinality {
        Cardinality::Unknown
    }

    fn open(&self, opening: &Opening<'_>) -> Result<Box<dyn Stage>> {
        let input = opening.input(0, &self.input)?;
        let stats = Arc::clone(&opening.stats);
        Ok(Box::new(UniqueStage { input, stats, seen: HashSet::new(), bytes: 0 }))
    }
}

struct UniqueStage {
    input: Input,
    stats: Arc<StageStats>,
    seen: HashSet<Box<[u8]>>,
    /// What `seen` takes.
    bytes: usize,
}

impl UniqueStage {
    /// The rows of a chunk that are new.
    fn new_rows(&mut self, chunk: &Chunk) -> Result<Vec<usize>> {
        let [column] = chunk.columns() else {
            return Err(unsupported(&format!("{} components", chunk.columns().len())));
        };
        if !column.dtype().is_some_and(is_supported)
            || !matches!(column, Column::Stacked(_) | Column::Rows(_))
        {
            return Err(unsupported(&column.kind()));
        }
        let mut fresh = Vec::new();
        let mut key = Vec::new();
        for row in 0..chunk.rows() {
            let Value::Tensor(tensor) = column.row(row)? else {
                return Err(unsupported(&column.kind()));
            };
            key.clear();
            write_key(&tensor, &mut key);
            if !self.seen.contains(&key[..]) {
                self.bytes += key.len() + ENTRY_BYTES;
                self.seen.insert(key.as_slice().into());
                fresh.push(row);
            }
        }
        self.stats.hold(self.bytes);
        Ok(fresh)
    }
}

/// Bytes that are equal for equal tensors only.
fn write_key(tensor: &Tensor, key: &mut Vec<u8>) {
    key.push(tensor.dims().len() as u8);
    for dim in tensor.dims() {
        key.extend((*dim as u64).to_le_bytes());
    }
    match tensor.data() {
        Data::Fixed(bytes) => key.extend_from_slice(bytes),
        Data::Text(values) if tensor.dims().is_empty() => key.extend_from_slice(values.get(0)),
        Data::Text(values) => {
            for value in values.iter() {
                key.extend((value.len() as u64).to_le_bytes());
                key.extend_from_slice(value);
            }
        }
    }
}

impl Stage for UniqueStage {
    fn next(&mut self, max: usize) -> Result<Option<Chunk>> {
        let asked_quiet = self.input.quiet();
        while let Some(chunk) = self.input.next(self.input.most(asked_quiet, max, 1))? {
            let fresh = self.new_rows(&chunk)?;
            if fresh.len() == chunk.rows() {
                return Ok(Some(chunk.marked(None)));
            }
            if !fresh.is_empty() {
                return chunk.gather(&fresh).map(Some);
            }
        }
        Ok(None)
    }

    fn skip(&mut self, n: u64) -> Skipped {
        skip_by_running(n, |max| self.next(max))
    }

    fn quiet(&self) -> bool {
        self.input.quiet()
    }
}

impl Drop for UniqueStage {
    fn drop(&mut self) {
        self.stats.hold(0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::BytesArray;

    fn key(values: &[&str], dims: &[usize]) -> Vec<u8> {
        let values = BytesArray::from_values(values).unwrap();
        let mut key = Vec::new();
        write_key(&Tensor::text(DType::Bytes, dims.into(), values).unwrap(), &mut key);
        key
    }

    #[test]
    fn keys_of_different_texts_differ() {
        assert_ne!(key(&["a", "bc"], &[2]), key(&["ab", "c"], &[2]));
        assert_ne!(key(&["a", "b"], &[2]), key(&["a", "b"], &[1, 2]));
        assert_eq!(key(&["ab"], &[]), b"\0ab");
    }
}
