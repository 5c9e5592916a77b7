//! Looks up where records lie. Only the directory is kept in memory; blocks are read when needed.

use std::fs::File;
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

use flate2::{Decompress, FlushDecompress};

use super::block::Block;
use super::header::Header;
use super::{BLOCK_RECORDS, ENTRY_BYTES, HEADER_BYTES, Identity, POINT_BYTES, SeekPoint};
use crate::error::{Error, Result};
use crate::formats::tfrecord::{self, diagnose, is_intact};
use crate::io::compress::Compression;
use crate::io::crc::crc32c;
use crate::io::local::{BlockReader, read_exact_at};
use crate::io::seek_point::WINDOW_BYTES;

/// Where the bytes of an index are.
#[derive(Debug)]
pub(super) enum Store {
    /// In the file at its path, which is not kept open: there may be thousands.
    Path,
    /// In a file that has no name.
    File(File),
    Memory(Arc<[u8]>),
}

/// Looks up many records: keeps the index open meanwhile, and the block that was used last.
#[derive(Debug, Default)]
pub struct Lookup {
    file: Option<File>,
    last: Option<(u64, Block)>,
}

/// The entry of a seek point: where its window lies in the index, and how long that is.
#[derive(Debug)]
struct Point {
    output: u64,
    input: u64,
    at: u64,
    bit: u32,
    window: usize,
    packed: usize,
    crc: u32,
}

/// The index of a file.
#[derive(Debug)]
pub struct Index {
    store: Store,
    header: Header,
    directory: Vec<u8>,
    /// Where it lies, for messages; none if in memory.
    path: Option<Arc<str>>,
    unwritten: Option<String>,
}

impl Index {
    pub(super) fn new(store: Store, header: Header, directory: Vec<u8>) -> Self {
        Index { store, header, directory, path: None, unwritten: None }
    }

    /// Opens an index.
    ///
    /// # Errors
    /// As the system says; `DataLoss` for one that is damaged, or none.
    pub fn open(path: &Path) -> Result<Self> {
        let name: Arc<str> = path.to_string_lossy().into();
        let failed = |error: std::io::Error| Error::io(&error, &name);
        let wrong = |what: String| Error::data_loss(format!("the index {what}")).at_file(&name);
        let file = File::open(path).map_err(failed)?;
        let length = file.metadata().map_err(failed)?.len();
        let mut head = [0; HEADER_BYTES];
        if length < HEADER_BYTES as u64 {
            return Err(wrong("is cut off".into()));
        }
        read_exact_at(&file, &mut head, 0).map_err(failed)?;
        let header = Header::decode(&head).map_err(wrong)?;
        // The file bears witness to the size before memory is taken for it.
        let blocks = header.blocks().checked_mul(ENTRY_BYTES as u64);
        let directory = length.checked_sub(header.directory_at);
        let points = directory.zip(blocks).and_then(|(all, blocks)| all.checked_sub(blocks));
        let size = header.identity.size;
        let beyond = header.compression == Compression::None && header.end > size;
        let whole = points.is_some_and(|points| points % POINT_BYTES as u64 == 0);
        if header.length != length || !whole || beyond {
            return Err(wrong("is damaged: its length is another".into()));
        }
        let mut directory = vec![0; (length - header.directory_at) as usize];
        read_exact_at(&file, &mut directory, header.directory_at).map_err(failed)?;
        if crc32c(&directory) != header.directory_crc {
            return Err(wrong("is damaged: its directory does not match its checksum".into()));
        }
        let path = Some(name);
        Ok(Index { store: Store::Path, header, directory, path, unwritten: None })
    }

    /// The same with the place where it lies.
    pub(super) fn at_path(mut self, path: &Path) -> Self {
        self.path = Some(path.to_string_lossy().into());
        self.store = Store::Path;
        self
    }

    /// The same with why it is in memory alone.
    pub(super) fn unwritten_as(self, unwritten: Option<String>) -> Self {
        Index { unwritten, ..self }
    }

    /// Why it is in memory alone, where it should not be.
    pub fn unwritten(&self) -> Option<&str> {
        self.unwritten.as_deref()
    }

    /// Number of records.
    pub fn records(&self) -> u64 {
        self.header.records
    }

    /// Where the last record ends: the length of the (decompressed) file.
    pub fn end(&self) -> u64 {
        self.header.end
    }

    /// Of which file it is.
    pub fn identity(&self) -> Identity {
        self.header.identity
    }

    /// How that file is compressed.
    pub fn compression(&self) -> Compression {
        self.header.compression
    }

    /// Bytes of the index.
    pub fn bytes(&self) -> u64 {
        self.header.length
    }

    /// Where it lies; none if in memory.
    pub fn path(&self) -> Option<&Arc<str>> {
        self.path.as_ref()
    }

    /// An error that names the index.
    pub fn error(&self, what: &str) -> Error {
        let name = self.path.as_deref().unwrap_or("in memory");
        Error::data_loss(format!("the index {name} {what}"))
            .with_hint("remove it, or write it anew with `headrace index --force`")
    }

    /// The payload within the bytes of record number `record`, which the index says is a frame.
    ///
    /// # Errors
    /// `DataLoss` if it is none, naming the index, or if the payload is damaged.
    pub fn payload(&self, frame: &[u8], record: u64, start: u64) -> Result<Range<usize>> {
        self.check_frame(frame, frame.len() as u64, record, start)?;
        let payload = tfrecord::HEADER_BYTES..frame.len() - tfrecord::FOOTER_BYTES;
        match is_intact(&frame[payload.clone()], &frame[payload.end..]) {
            true => Ok(payload),
            false => Err(diagnose::bad_payload(payload.len() as u64, start)),
        }
    }

    /// Looks whether record number `record` starts and ends where the index says.
    ///
    /// # Errors
    /// `DataLoss` if not, naming the index; or as the system says.
    pub fn check_header(&self, path: &str, record: u64, start: u64, end: u64) -> Result<()> {
        let mut file = BlockReader::open_random(path)?;
        let mut header = [0; tfrecord::HEADER_BYTES];
        file.seek(start);
        let count = if file.read_exactly(&mut header)? { header.len() } else { 0 };
        let checked = self.check_frame(&header[..count], end - start, record, start);
        checked.map_err(|e| e.at_record(record, start).at_file(path))
    }

    fn check_frame(&self, frame: &[u8], bytes: u64, record: u64, start: u64) -> Result<()> {
        match tfrecord::Header::of(frame) {
            Some(header) if header.intact && header.frame() == bytes => Ok(()),
            _ => {
                Err(self.error(&format!("does not fit: no record {record} starts at byte {start}")))
            }
        }
    }

    fn read(&self, lookup: &mut Lookup, at: u64, out: &mut [u8]) -> Result<()> {
        let failed = |e: std::io::Error| self.error(&format!("fails: {e}"));
        match &self.store {
            Store::File(file) => read_exact_at(file, out, at).map_err(failed),
            Store::Memory(all) => {
                let from = usize::try_from(at).ok().and_then(|at| all.get(at..at + out.len()));
                let from = from.ok_or_else(|| failed(std::io::ErrorKind::UnexpectedEof.into()))?;
                out.copy_from_slice(from);
                Ok(())
            }
            Store::Path => {
                let file = match &mut lookup.file {
                    Some(file) => file,
                    none => none.insert(self.reopened()?),
                };
                read_exact_at(file, out, at).map_err(failed)
            }
        }
    }

    /// The index as it was when it was opened first.
    fn reopened(&self) -> Result<File> {
        let path = self.path.as_deref().unwrap_or_default();
        let mut head = [0; HEADER_BYTES];
        let file = File::open(path).ok();
        let is_same =
            |file: &File| read_exact_at(file, &mut head, 0).is_ok() && head == self.header.encode();
        file.filter(is_same).ok_or_else(|| {
            let text = format!("the index {path} was replaced or removed while it was in use");
            Error::failed_precondition(text).with_hint("begin a new run")
        })
    }

    fn entry(&self, number: u64) -> Option<(u64, u64, u32, u32)> {
        let at = usize::try_from(number).ok()?.checked_mul(ENTRY_BYTES)?;
        let entry = self.directory.get(at..at.checked_add(ENTRY_BYTES)?)?;
        let word = |at: usize| entry[at..].first_chunk().map(|word| u64::from_le_bytes(*word));
        let half = |at: usize| entry[at..].first_chunk().map(|half| u32::from_le_bytes(*half));
        Some((word(0)?, word(8)?, half(16)?, half(20)?))
    }

    /// Block `number`, from record `number * BLOCK_RECORDS` on.
    fn block(&self, lookup: &mut Lookup, number: u64) -> Result<Block> {
        let entry = self.entry(number);
        let (first, at, crc, width) = entry.ok_or_else(|| self.error("has no such block"))?;
        let left = self.records() - (number * BLOCK_RECORDS).min(self.records());
        if width > u64::BITS {
            return Err(self.error("is damaged: a block is too wide"));
        }
        let mut payload = vec![0; Block::payload_bytes(left, width)];
        self.read(lookup, at, &mut payload)?;
        if crc32c(&payload) != crc {
            return Err(self.error("is damaged: a block does not match its checksum"));
        }
        Block::decode(first, width, payload).ok_or_else(|| self.error("is damaged"))
    }

    fn point(&self, number: usize) -> Option<Point> {
        let table =
            self.directory.get((self.header.blocks() as usize).checked_mul(ENTRY_BYTES)?..)?;
        let entry = table.get(number.checked_mul(POINT_BYTES)?..)?.get(..POINT_BYTES)?;
        let word = |at: usize| entry[at..].first_chunk().map(|word| u64::from_le_bytes(*word));
        let half = |at: usize| entry[at..].first_chunk().map(|half| u32::from_le_bytes(*half));
        Some(Point {
            output: word(0)?,
            input: word(8)?,
            at: word(16)?,
            bit: half(24)?,
            window: half(28)? as usize,
            packed: half(32)? as usize,
            crc: half(36)?,
        })
    }

    /// The last point at which decompression can start to reach `offset`, if that is behind `from`.
    ///
    /// # Errors
    /// `DataLoss` if the index is damaged, naming it.
    pub fn point_before(&self, offset: u64, from: u64) -> Result<Option<SeekPoint>> {
        let blocks = self.header.blocks() as usize * ENTRY_BYTES;
        let (mut low, mut high) = (0, self.directory.len().saturating_sub(blocks) / POINT_BYTES);
        while low < high {
            let middle = usize::midpoint(low, high);
            match self.point(middle) {
                Some(point) if point.output <= offset => low = middle + 1,
                _ => high = middle,
            }
        }
        let Some(point) = low.checked_sub(1).and_then(|last| self.point(last)) else {
            return Ok(None);
        };
        if point.output <= from {
            return Ok(None);
        }
        let damaged = || self.error("is damaged: a seek point does not match its checksum");
        if point.window > WINDOW_BYTES || point.packed > 2 * WINDOW_BYTES || point.bit > 7 {
            return Err(damaged());
        }
        let mut packed = vec![0; point.packed];
        self.read(&mut Lookup::default(), point.at, &mut packed)?;
        if crc32c(&packed) != point.crc {
            return Err(damaged());
        }
        let mut window = vec![0; point.window];
        let mut stream = Decompress::new(false);
        let done = stream.decompress(&packed, &mut window, FlushDecompress::Finish);
        if done.is_err() || stream.total_out() != point.window as u64 {
            return Err(damaged());
        }
        let Point { input, bit, output, .. } = point;
        Ok(Some(SeekPoint { input, bit, output, window }))
    }

    /// Where record number `record` starts and ends.
    ///
    /// # Errors
    /// `DataLoss` if the index is damaged, `FailedPrecondition` if it is gone; `Internal` if there is
    /// no such record.
    pub fn place(&self, record: u64) -> Result<(u64, u64)> {
        self.place_in(&mut Lookup::default(), record)
    }

    /// As [`Index::place`], for one of many.
    ///
    /// # Errors
    /// As [`Index::place`].
    pub fn place_in(&self, lookup: &mut Lookup, record: u64) -> Result<(u64, u64)> {
        if record >= self.records() {
            return Err(Error::internal(format!("record {record} of {}", self.records())));
        }
        let (number, at) = (record / BLOCK_RECORDS, record % BLOCK_RECORDS);
        if lookup.last.as_ref().is_none_or(|(known, _)| *known != number) {
            lookup.last = Some((number, self.block(lookup, number)?));
        }
        let Some((_, block)) = &lookup.last else {
            return Err(Error::internal("a block that was read is gone"));
        };
        let end = match (record + 1 == self.records(), at + 1 == BLOCK_RECORDS) {
            (true, _) => self.end(),
            (_, true) => self.entry(number + 1).map_or(0, |entry| entry.0),
            _ => block.start(at + 1),
        };
        let start = block.start(at);
        let frame = (tfrecord::HEADER_BYTES + tfrecord::FOOTER_BYTES) as u64;
        if end.checked_sub(start).is_none_or(|len| len < frame) || end > self.end() {
            return Err(self.error("is damaged: its offsets do not rise"));
        }
        Ok((start, end))
    }
}
