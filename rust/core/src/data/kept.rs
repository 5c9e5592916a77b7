//! Rows that are kept for long: copied into chunks of about one size, in memory of their own.
//!
//! What brought the rows may come one by one, or as views of large blocks; a [`Regroup`] makes of
//! them chunks that pin nothing else. [`KeptRows`] are such chunks, found by row number.

use crate::data::chunk::Chunk;
use crate::data::store::ChunkStore;
use crate::error::Result;

/// Rows after which a chunk is full.
const FULL_ROWS: usize = 1024;
/// Bytes after which a chunk is full.
const FULL_BYTES: usize = 1 << 20;

/// Copies rows together into chunks.
#[derive(Default)]
pub struct Regroup {
    store: ChunkStore,
    rows: usize,
    bytes: usize,
}

impl Regroup {
    /// Copies the rows in; returns a chunk once enough have come together.
    ///
    /// # Errors
    /// `InvalidArgument` if the structure differs from that of earlier rows.
    pub fn push(&mut self, chunk: &Chunk) -> Result<Option<Chunk>> {
        let slots: Vec<usize> = (self.rows..self.rows + chunk.rows()).collect();
        self.store.put(&slots, chunk)?;
        self.rows += chunk.rows();
        self.bytes += chunk.payload_bytes();
        if self.rows < FULL_ROWS && self.bytes < FULL_BYTES {
            return Ok(None);
        }
        self.finish()
    }

    /// Memory that the rows take which have not been returned yet.
    pub fn payload_bytes(&self) -> usize {
        self.bytes
    }

    /// The rows that are left, if any.
    ///
    /// # Errors
    /// `ResourceExhausted` if there is no memory for them.
    pub fn finish(&mut self) -> Result<Option<Chunk>> {
        if self.rows == 0 {
            return Ok(None);
        }
        let slots: Vec<usize> = (0..std::mem::take(&mut self.rows)).collect();
        self.bytes = 0;
        self.store.take(&slots)?.into_owned().map(Some)
    }
}

/// Chunks one after another, whose rows are counted through.
#[derive(Default)]
pub struct KeptRows {
    chunks: Vec<Chunk>,
    /// Number of the row after each chunk.
    ends: Vec<u64>,
    bytes: usize,
}

impl KeptRows {
    /// Appends a chunk.
    pub fn push(&mut self, chunk: Chunk) {
        self.bytes += chunk.payload_bytes();
        self.ends.push(self.len() + chunk.rows() as u64);
        self.chunks.push(chunk);
    }

    /// What sees the rows from now on does not count their memory.
    pub fn keep(&self) {
        self.chunks.iter().for_each(Chunk::keep);
    }

    /// Number of rows.
    pub fn len(&self) -> u64 {
        self.ends.last().copied().unwrap_or(0)
    }

    /// True if there are no rows.
    pub fn is_empty(&self) -> bool {
        self.chunks.is_empty()
    }

    /// Memory that the values take.
    pub fn payload_bytes(&self) -> usize {
        self.bytes
    }

    /// Up to `max` rows from number `from` on, as far as they lie together; they share memory.
    ///
    /// # Errors
    /// Never for well-formed chunks.
    pub fn rows(&self, from: u64, max: usize) -> Result<Option<Chunk>> {
        let at = self.ends.partition_point(|end| *end <= from);
        let Some(chunk) = self.chunks.get(at) else { return Ok(None) };
        let first = chunk.rows() - (self.ends[at] - from) as usize;
        chunk.slice(first..first.saturating_add(max).min(chunk.rows())).map(Some)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::{BytesArray, Column, DType, Tensor};

    fn text(values: &[&str]) -> Chunk {
        let array = BytesArray::from_values(values).unwrap();
        let tensor = Tensor::text(DType::Bytes, [values.len()][..].into(), array).unwrap();
        Chunk::of_column(Column::Stacked(tensor)).unwrap()
    }

    #[test]
    fn rows_are_found_by_number() {
        let (mut regroup, mut kept) = (Regroup::default(), KeptRows::default());
        for i in 0..3000 {
            let pushed = regroup.push(&text(&[&i.to_string()])).unwrap();
            pushed.into_iter().for_each(|chunk| kept.push(chunk));
        }
        regroup.finish().unwrap().into_iter().for_each(|chunk| kept.push(chunk));
        assert_eq!(kept.len(), 3000);
        for at in [0, 1023, 1024, 2500, 2999] {
            let chunk = kept.rows(at, 1).unwrap().unwrap();
            let Column::Stacked(tensor) = &chunk.columns()[0] else { panic!("not stacked") };
            assert_eq!(tensor.strings().unwrap().get(0), at.to_string().as_bytes());
        }
        assert!(kept.rows(3000, 1).unwrap().is_none());
        assert_eq!(kept.rows(1000, 100).unwrap().unwrap().rows(), 24);
    }
}
