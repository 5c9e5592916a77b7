//! Writes an index while its records are found: blocks first, then the directory, the header last.

use std::fs::File;
use std::io::{BufWriter, Seek, SeekFrom, Write};
use std::sync::Arc;

use flate2::{Compress, Compression as Level, FlushCompress, Status};

use super::block::Block;
use super::header::Header;
use super::read::{Index, Store};
use super::{BLOCK_RECORDS, HEADER_BYTES, Identity};
use crate::error::{Error, Result};
use crate::io::compress::Compression;
use crate::io::crc::crc32c;
use crate::io::seek_point::SeekPoint;

#[derive(Debug)]
enum Sink {
    File(BufWriter<File>),
    Memory(Vec<u8>),
}

/// Takes the offsets of a file's records, one after another.
#[derive(Debug)]
pub struct IndexWriter {
    sink: Sink,
    /// Bytes so far.
    length: u64,
    /// Starts of records that are in no block yet: so many of these.
    starts: Box<[u64]>,
    pending: usize,
    directory: Vec<u8>,
    /// Entries of seek points.
    points: Vec<u8>,
    /// What packs their windows, made at the first: its tables are larger than a window.
    packer: Option<Compress>,
    /// Records that are in blocks.
    blocked: u64,
}

impl IndexWriter {
    /// Writes to `file`, or to memory.
    ///
    /// # Errors
    /// As the system says.
    pub fn new(file: Option<File>) -> Result<Self> {
        let sink = match file {
            Some(file) => Sink::File(BufWriter::with_capacity(64 << 10, file)),
            None => Sink::Memory(Vec::new()),
        };
        let mut writer = IndexWriter {
            sink,
            length: 0,
            starts: vec![0; BLOCK_RECORDS as usize].into(),
            pending: 0,
            directory: Vec::new(),
            points: Vec::new(),
            packer: None,
            blocked: 0,
        };
        writer.put(&[0; HEADER_BYTES])?;
        Ok(writer)
    }

    /// The next record starts at `offset`.
    ///
    /// # Errors
    /// As the system says.
    #[inline]
    pub fn push(&mut self, offset: u64) -> Result<()> {
        let mut offset = Some(offset);
        self.push_all(|| offset.take())
    }

    /// The next records start at what `next` gives.
    ///
    /// # Errors
    /// As the system says.
    #[inline]
    pub fn push_all(&mut self, mut next: impl FnMut() -> Option<u64>) -> Result<()> {
        loop {
            // Kept in registers.
            let mut pending = self.pending;
            let full = loop {
                let Some(place) = self.starts.get_mut(pending) else { break true };
                let Some(start) = next() else { break false };
                *place = start;
                pending += 1;
            };
            self.pending = pending;
            if !full {
                return Ok(());
            }
            self.end_block()?;
        }
    }

    /// The compressed file can be taken up here.
    ///
    /// # Errors
    /// As the system says.
    pub fn push_point(&mut self, point: &SeekPoint) -> Result<()> {
        let window = self.pack(&point.window)?;
        self.points.extend_from_slice(&point.output.to_le_bytes());
        self.points.extend_from_slice(&point.input.to_le_bytes());
        self.points.extend_from_slice(&self.length.to_le_bytes());
        let (bytes, packed) = (point.window.len() as u32, window.len() as u32);
        for half in [point.bit, bytes, packed, crc32c(&window)] {
            self.points.extend_from_slice(&half.to_le_bytes());
        }
        self.put(&window)
    }

    /// A window of a seek point as raw DEFLATE.
    fn pack(&mut self, window: &[u8]) -> Result<Vec<u8>> {
        let packer = self.packer.get_or_insert_with(|| Compress::new(Level::fast(), false));
        packer.reset();
        let mut out = Vec::with_capacity(window.len() + window.len() / 8 + 64);
        loop {
            let rest = &window[packer.total_in() as usize..];
            match packer.compress_vec(rest, &mut out, FlushCompress::Finish) {
                Ok(Status::StreamEnd) => return Ok(out),
                Ok(_) => out.reserve(window.len() / 8 + 64),
                Err(error) => return Err(failed(&error.into())),
            }
        }
    }

    /// Number of records so far.
    pub fn records(&self) -> u64 {
        self.blocked + self.pending as u64
    }

    fn end_block(&mut self) -> Result<()> {
        let starts = &self.starts[..self.pending];
        let Some(first) = starts.first() else { return Ok(()) };
        let (payload, width) = Block::encode(starts)?;
        self.directory.extend_from_slice(&first.to_le_bytes());
        self.directory.extend_from_slice(&self.length.to_le_bytes());
        self.directory.extend_from_slice(&crc32c(&payload).to_le_bytes());
        self.directory.extend_from_slice(&width.to_le_bytes());
        self.blocked += self.pending as u64;
        self.pending = 0;
        self.put(&payload)
    }

    fn put(&mut self, bytes: &[u8]) -> Result<()> {
        self.length += bytes.len() as u64;
        match &mut self.sink {
            Sink::File(file) => file.write_all(bytes).map_err(|e| failed(&e)),
            Sink::Memory(all) => {
                all.try_reserve(bytes.len()).map_err(|_| no_memory())?;
                all.extend_from_slice(bytes);
                Ok(())
            }
        }
    }

    /// Ends the index: the last record ends at `end`, and the file is that of `identity`.
    ///
    /// # Errors
    /// As the system says.
    pub fn finish(mut self, end: u64, identity: Identity, how: Compression) -> Result<Index> {
        self.end_block()?;
        let mut directory = std::mem::take(&mut self.directory);
        directory.append(&mut self.points);
        let header = Header {
            identity,
            compression: how,
            records: self.records(),
            end,
            directory_at: self.length,
            directory_crc: crc32c(&directory),
            length: self.length + directory.len() as u64,
        };
        self.put(&directory)?;
        let store = match self.sink {
            Sink::File(file) => {
                let mut file = file.into_inner().map_err(|e| failed(e.error()))?;
                file.seek(SeekFrom::Start(0)).map_err(|e| failed(&e))?;
                file.write_all(&header.encode()).map_err(|e| failed(&e))?;
                Store::File(file)
            }
            Sink::Memory(mut all) => {
                all[..HEADER_BYTES].copy_from_slice(&header.encode());
                Store::Memory(Arc::from(all))
            }
        };
        Ok(Index::new(store, header, directory))
    }
}

fn failed(error: &std::io::Error) -> Error {
    Error::io(error, "the index")
}

fn no_memory() -> Error {
    Error::resource_exhausted("no memory for the index of a file")
}
