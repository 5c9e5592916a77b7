//! A file of chunks, read from front to back, or from any element on.

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::Value as Json;

use super::nesting;
use crate::data::{BytesArray, Chunk, ElementSpec, Structure};
use crate::error::{Error, Result};
use crate::formats::tfrecord::{ReadOptions, Reader};
use crate::io::compress::Compression;

const FORMAT: &str = "headrace chunks";
const VERSION: u32 = 1;
/// Longest record that is read from a compressed file, where few bytes can stand for many.
const MAX_RECORD_BYTES: u64 = 1 << 30;

/// The first record of a file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Header {
    format: String,
    version: u32,
    /// A number that the files of one pass have in common.
    pub id: u64,
    /// How elements nest; `null` in a file without elements.
    structure: Json,
}

impl Header {
    /// Of the files of pass `id`, whose elements nest so; `None` in a file without elements.
    pub(super) fn new(id: u64, structure: Option<&Structure>) -> Self {
        let structure = structure.map_or(Json::Null, nesting::to_json);
        Header { format: FORMAT.into(), version: VERSION, id, structure }
    }

    fn check(self) -> Result<Self> {
        if self.format != FORMAT {
            return Err(Error::data_loss("not a file of elements"));
        }
        if self.version != VERSION {
            let text = format!("a file of version {}, known is {VERSION}", self.version);
            return Err(Error::failed_precondition(text));
        }
        Ok(self)
    }
}

/// Reads elements from a file.
pub struct ChunkReader {
    reader: Reader,
    structure: Option<Arc<Structure>>,
    /// The number that the header must have.
    id: Option<u64>,
    begun: bool,
    chunk: Option<(Chunk, usize)>,
}

impl ChunkReader {
    /// A reader of the file at `path`, which is opened when the first element is asked for. Without
    /// a structure, elements nest as the header says.
    ///
    /// # Errors
    /// None now.
    pub fn open(
        path: &str,
        compression: Compression,
        structure: Option<Arc<Structure>>,
        id: Option<u64>,
    ) -> Result<Self> {
        let reader = Reader::open(path, compression, read_options(compression))?;
        Ok(ChunkReader { reader, structure, id, begun: false, chunk: None })
    }

    /// Up to `max` elements; `None` at the end.
    ///
    /// # Errors
    /// `DataLoss` for a damaged file.
    pub fn next(&mut self, max: usize) -> Result<Option<Chunk>> {
        self.begin()?;
        if self.chunk.is_none() {
            self.chunk = self.read()?.map(|chunk| (chunk, 0));
        }
        let Some((chunk, taken)) = self.chunk.take() else { return Ok(None) };
        let end = taken.saturating_add(max.max(1)).min(chunk.rows());
        let out = chunk.slice(taken..end)?;
        self.chunk = (end < chunk.rows()).then_some((chunk, end));
        Ok(Some(out))
    }

    /// Passes over up to `n` elements; returns how many. Whole chunks are passed over by their
    /// place, where `chunks` says it: element number `from` is where the reader stands.
    ///
    /// # Errors
    /// As [`ChunkReader::next`].
    pub fn skip(&mut self, n: u64, from: u64, chunks: &[(u64, u64)]) -> Result<u64> {
        self.begin()?;
        let target = from.saturating_add(n);
        let held = self.chunk.as_ref().map_or(0, |(chunk, taken)| (chunk.rows() - taken) as u64);
        let mut at = from;
        let index = chunks.partition_point(|(end, _)| *end <= target);
        let first = index.checked_sub(1).map_or(0, |before| chunks[before].0);
        if n > held && first > from + held {
            self.chunk = None;
            at = first;
            match chunks.get(index) {
                Some((_, offset)) => self.reopen(index as u64 + 1, *offset)?,
                None => {
                    // All there is, and perhaps more than that, was asked for.
                    self.reader.skip(u64::MAX)?;
                    return Ok(at - from);
                }
            }
        }
        while at < target {
            let max = usize::try_from(target - at).unwrap_or(usize::MAX);
            let Some(chunk) = self.next(max)? else { break };
            at += chunk.rows() as u64;
        }
        Ok(at - from)
    }

    fn reopen(&mut self, record: u64, offset: u64) -> Result<()> {
        let path = Arc::clone(self.reader.path());
        self.reader = Reader::open_at(&path, read_options(Compression::None), record, offset)?;
        Ok(())
    }

    fn begin(&mut self) -> Result<()> {
        if self.begun {
            return Ok(());
        }
        let path = Arc::clone(self.reader.path());
        let header = self.header().map_err(|e| e.at_file(&path))?;
        if self.id.is_some_and(|id| id != header.id) {
            let text = "the file is of another pass than its index";
            return Err(Error::data_loss(text).with_hint("delete both").at_file(&path));
        }
        if self.structure.is_none() {
            let structure = nesting::from_json(&header.structure).map_err(|e| e.at_file(&path))?;
            self.structure = Some(Arc::new(structure));
        }
        self.begun = true;
        Ok(())
    }

    fn header(&mut self) -> Result<Header> {
        let record = self.reader.next(1)?;
        let record = record.ok_or_else(|| Error::data_loss("a file without a header"))?;
        let header: Header = serde_json::from_slice(record.get(0))
            .map_err(|_| Error::data_loss("not a file of elements"))?;
        header.check()
    }

    fn read(&mut self) -> Result<Option<Chunk>> {
        let (record, offset) = (self.reader.record(), self.reader.offset());
        let Some(bytes) = self.reader.next(1)? else { return Ok(None) };
        let path = self.reader.path();
        self.decode(&bytes).map(Some).map_err(|e| e.at_record(record, offset).at_file(path))
    }

    fn decode(&self, bytes: &BytesArray) -> Result<Chunk> {
        let structure = self.structure.as_ref();
        let structure = structure.ok_or_else(|| Error::internal("a reader without structure"))?;
        let chunk = super::decode(&bytes.buffer(0)?, structure)?;
        match chunk.rows() {
            0 => Err(Error::data_loss("a chunk without elements")),
            _ => Ok(chunk),
        }
    }
}

/// Fails if the elements are of other kinds or dtypes than `spec` says.
///
/// # Errors
/// `FailedPrecondition`, naming both.
pub fn check_kinds(chunk: &Chunk, spec: &ElementSpec) -> Result<()> {
    let Some(specs) = spec.specs() else { return Ok(()) };
    for (i, (column, spec)) in chunk.columns().iter().zip(specs).enumerate() {
        if column.kind() != spec.kind() {
            let (theirs, ours) = (column.kind(), spec.kind());
            let text = format!("component {i} is {theirs} in the file, and {ours} in this dataset");
            return Err(Error::failed_precondition(text));
        }
    }
    Ok(())
}

fn read_options(compression: Compression) -> ReadOptions {
    let limited = compression != Compression::None;
    let max_record_bytes = limited.then_some(MAX_RECORD_BYTES);
    ReadOptions { max_record_bytes, ..ReadOptions::default() }
}
