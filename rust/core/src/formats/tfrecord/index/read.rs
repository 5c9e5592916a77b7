//! Looks up where records lie. Only the directory is kept in memory; blocks are read when needed.

use std::fs::File;
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

use super::block::Block;
use super::{BLOCK_RECORDS, ENTRY_BYTES, HEADER_BYTES, Identity, MAGIC, VERSION};
use crate::error::{Error, Result};
use crate::formats::tfrecord::{self, diagnose, is_intact};
use crate::io::compress::Compression;
use crate::io::crc::crc32c;
use crate::io::local::{BlockReader, read_exact_at};

/// What the first bytes of an index say.
#[derive(Clone, Copy, Debug)]
pub(super) struct Header {
    pub(super) identity: Identity,
    pub(super) compression: Compression,
    pub(super) records: u64,
    /// Where the last record ends.
    pub(super) end: u64,
    pub(super) directory_at: u64,
    pub(super) directory_crc: u32,
    /// Length of the index.
    pub(super) length: u64,
}

impl Header {
    pub(super) fn blocks(&self) -> u64 {
        self.records.div_ceil(BLOCK_RECORDS)
    }

    pub(super) fn encode(&self) -> [u8; HEADER_BYTES] {
        let mut out = [0; HEADER_BYTES];
        let mut at = 0;
        let mut put = |bytes: &[u8]| {
            out[at..at + bytes.len()].copy_from_slice(bytes);
            at += bytes.len();
        };
        put(MAGIC);
        put(&VERSION.to_le_bytes());
        put(&(BLOCK_RECORDS as u32).to_le_bytes());
        let Identity { size, mtime_ns, digest } = self.identity;
        for word in [size, mtime_ns, digest, self.records, self.end, self.directory_at, self.length]
        {
            put(&word.to_le_bytes());
        }
        put(&self.directory_crc.to_le_bytes());
        let compression = match self.compression {
            Compression::None => 0,
            Compression::Gzip => 1,
            Compression::Zlib => 2,
            Compression::Snappy => 3,
        };
        put(&u32::to_le_bytes(compression));
        let crc = crc32c(&out[..HEADER_BYTES - 4]);
        out[HEADER_BYTES - 4..].copy_from_slice(&crc.to_le_bytes());
        out
    }

    /// Takes a header; the error says what is wrong with it.
    fn decode(bytes: &[u8; HEADER_BYTES]) -> Result<Header, String> {
        let word =
            |at: usize| bytes[at..].first_chunk().map_or(0, |word| u64::from_le_bytes(*word));
        let half =
            |at: usize| bytes[at..].first_chunk().map_or(0, |half| u32::from_le_bytes(*half));
        if !bytes.starts_with(MAGIC) {
            return Err("is no index of records".into());
        }
        if crc32c(&bytes[..HEADER_BYTES - 4]) != half(HEADER_BYTES - 4) {
            return Err("is damaged: its header does not match its checksum".into());
        }
        if (half(8), u64::from(half(12))) != (VERSION, BLOCK_RECORDS) {
            return Err(format!("is of version {}, which this headrace does not read", half(8)));
        }
        let compression = match half(76) {
            0 => Compression::None,
            1 => Compression::Gzip,
            2 => Compression::Zlib,
            _ => return Err("is of a file with an unknown compression".into()),
        };
        Ok(Header {
            identity: Identity { size: word(16), mtime_ns: word(24), digest: word(32) },
            compression,
            records: word(40),
            end: word(48),
            directory_at: word(56),
            directory_crc: half(72),
            length: word(64),
        })
    }
}

/// Where the bytes of an index are.
#[derive(Debug)]
pub(super) enum Store {
    File(File),
    Memory(Arc<[u8]>),
}

impl Store {
    fn read(&self, at: u64, out: &mut [u8]) -> std::io::Result<()> {
        match self {
            Store::File(file) => read_exact_at(file, out, at),
            Store::Memory(all) => {
                let from = usize::try_from(at).ok().and_then(|at| all.get(at..at + out.len()));
                let from = from.ok_or(std::io::ErrorKind::UnexpectedEof)?;
                out.copy_from_slice(from);
                Ok(())
            }
        }
    }
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
        let directory_bytes = header.blocks().checked_mul(ENTRY_BYTES as u64);
        let end = directory_bytes.and_then(|bytes| header.directory_at.checked_add(bytes));
        let size = header.identity.size;
        let beyond = header.compression == Compression::None && header.end > size;
        if header.length != length || end != Some(length) || beyond {
            return Err(wrong("is damaged: its length is another".into()));
        }
        let mut directory = vec![0; (length - header.directory_at) as usize];
        read_exact_at(&file, &mut directory, header.directory_at).map_err(failed)?;
        if crc32c(&directory) != header.directory_crc {
            return Err(wrong("is damaged: its directory does not match its checksum".into()));
        }
        let path = Some(name);
        Ok(Index { store: Store::File(file), header, directory, path, unwritten: None })
    }

    /// The same with the place where it lies.
    pub(super) fn at_path(mut self, path: &Path) -> Self {
        self.path = Some(path.to_string_lossy().into());
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

    fn entry(&self, number: u64) -> Option<(u64, u64, u32, u32)> {
        let at = usize::try_from(number).ok()?.checked_mul(ENTRY_BYTES)?;
        let entry = self.directory.get(at..at.checked_add(ENTRY_BYTES)?)?;
        let word = |at: usize| entry[at..].first_chunk().map(|word| u64::from_le_bytes(*word));
        let half = |at: usize| entry[at..].first_chunk().map(|half| u32::from_le_bytes(*half));
        Some((word(0)?, word(8)?, half(16)?, half(20)?))
    }

    /// Block `number`, from record `number * BLOCK_RECORDS` on.
    ///
    /// # Errors
    /// `DataLoss` if it is damaged, naming the index.
    pub fn block(&self, number: u64) -> Result<Block> {
        let entry = self.entry(number);
        let (first, at, crc, width) = entry.ok_or_else(|| self.error("has no such block"))?;
        let left = self.records() - (number * BLOCK_RECORDS).min(self.records());
        if width > u64::BITS {
            return Err(self.error("is damaged: a block is too wide"));
        }
        let mut payload = vec![0; Block::payload_bytes(left, width)];
        self.store.read(at, &mut payload).map_err(|e| self.error(&format!("fails: {e}")))?;
        if crc32c(&payload) != crc {
            return Err(self.error("is damaged: a block does not match its checksum"));
        }
        Block::decode(first, width, payload).ok_or_else(|| self.error("is damaged"))
    }

    /// Where record number `record` starts and ends.
    ///
    /// # Errors
    /// `DataLoss` if the index is damaged; `Internal` if there is no such record.
    pub fn place(&self, record: u64) -> Result<(u64, u64)> {
        self.place_in(&mut None, record)
    }

    /// As [`Index::place`]; `last` is the block that was used last.
    ///
    /// # Errors
    /// As [`Index::place`].
    pub fn place_in(&self, last: &mut Option<(u64, Block)>, record: u64) -> Result<(u64, u64)> {
        if record >= self.records() {
            return Err(Error::internal(format!("record {record} of {}", self.records())));
        }
        let (number, at) = (record / BLOCK_RECORDS, record % BLOCK_RECORDS);
        let block = match last {
            Some((known, block)) if *known == number => block,
            _ => &mut last.insert((number, self.block(number)?)).1,
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
