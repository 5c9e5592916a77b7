//! The bytes of a file as large shared blocks, with the unread tail carried to the next one.
//!
//! A [`Window`] shows the unread bytes of one block. When what a format needs next is longer than
//! that, [`Window::require`] makes a new block whose front is a copy of the tail, so every item is
//! contiguous and can be handed out as a view. The tail lies right before a page boundary, and
//! reads start on it: a read into memory 16 bytes past a page runs at a quarter of the speed.

use crate::data::{Buffer, BufferMut};
use crate::error::{Error, Result};
use crate::io::compress::Compression;
use crate::io::inflate::Inflate;
use crate::io::local::BlockReader;
use crate::io::seek_point::SeekPoint;
use crate::io::snappy::Unsnap;

/// Default size of a block: below, system calls show; above, blocks fall out of the L2 cache
/// between the read and the checksum (benches/framing.rs).
pub const BLOCK_BYTES: usize = 256 << 10;

const PAGE: usize = 4096;
/// Most that is allocated at first for an item whose bytes may never come.
const UNPROVEN_BYTES: usize = 4 << 20;
/// Bytes read past a large item: the frame around it and the header of the next one.
const SLACK: u64 = 64;
/// From this distance on, a hop reads only a little at its end: another hop is likely to follow.
const FAR: u64 = 64 << 10;

#[derive(Debug)]
enum Stream {
    Plain(BlockReader),
    Inflate(Box<Inflate>),
    Unsnap(Box<Unsnap>),
}

impl Stream {
    fn read(&mut self, out: &mut [u8]) -> Result<usize> {
        match self {
            Stream::Plain(file) => file.read(out),
            Stream::Inflate(stream) => stream.read(out),
            Stream::Unsnap(stream) => stream.read(out),
        }
    }
}

/// A moving view of a file's (decompressed) bytes.
#[derive(Debug)]
pub struct Window {
    stream: Stream,
    block_bytes: usize,
    block: Buffer,
    start: usize,
    /// Bytes to pass over in the next block: a hop ended in mid-page.
    lead: usize,
    /// The next block is to be small.
    brief: bool,
    /// Decompressed bytes so far.
    filled: u64,
    ended: bool,
    failed: Option<Error>,
}

impl Window {
    /// Opens a file; nothing is read yet.
    ///
    /// # Errors
    /// As [`BlockReader::open`].
    pub fn open(path: &str, compression: Compression, block_bytes: usize) -> Result<Self> {
        let file = BlockReader::open(path)?;
        let stream = match compression {
            Compression::None => Stream::Plain(file),
            Compression::Snappy => Stream::Unsnap(Box::new(Unsnap::new(file))),
            _ => Stream::Inflate(Box::new(Inflate::new(file, compression)?)),
        };
        Self::over(stream, block_bytes)
    }

    /// Opens a compressed file in its middle.
    ///
    /// # Errors
    /// As [`Inflate::resume`].
    pub fn resume(
        path: &str,
        compression: Compression,
        block_bytes: usize,
        point: &SeekPoint,
    ) -> Result<Self> {
        let stream = Inflate::resume(BlockReader::open(path)?, compression, point)?;
        Self::over(Stream::Inflate(Box::new(stream)), block_bytes)
    }

    fn over(stream: Stream, block_bytes: usize) -> Result<Self> {
        Ok(Window {
            stream,
            block_bytes: block_bytes.max(1),
            block: Buffer::copy_from(&[])?,
            start: 0,
            lead: 0,
            brief: false,
            filled: 0,
            ended: false,
            failed: None,
        })
    }

    /// The block that holds the unread bytes.
    pub fn block(&self) -> &Buffer {
        &self.block
    }

    /// Where in the block the unread bytes start.
    pub fn start(&self) -> usize {
        self.start
    }

    /// The unread bytes.
    pub fn rest(&self) -> &[u8] {
        &self.block[self.start..]
    }

    /// Length of the unread bytes.
    pub fn available(&self) -> usize {
        self.block.len() - self.start
    }

    /// From the next block on, blocks have this size.
    pub fn read_by(&mut self, block_bytes: usize) {
        self.block_bytes = block_bytes.max(1);
    }

    /// Passes over bytes that are in the window.
    pub fn consume(&mut self, count: usize) {
        self.start = (self.start + count).min(self.block.len());
    }

    /// True if the file was found to have no bytes at all.
    pub fn was_empty(&self) -> bool {
        let file = self.file();
        self.ended && self.failed.is_none() && file.is_empty() && self.filled == 0
    }

    /// Why the stream ended before its time, if it did.
    pub fn take_error(&mut self) -> Option<Error> {
        self.failed.take()
    }

    /// The file.
    pub fn file(&self) -> &BlockReader {
        match &self.stream {
            Stream::Plain(file) => file,
            Stream::Inflate(stream) => stream.input(),
            Stream::Unsnap(stream) => stream.input(),
        }
    }

    /// Has points noted at which a compressed file can be taken up, as [`Inflate::note_points`].
    pub fn note_points(&mut self, distance: u64) {
        if let Stream::Inflate(stream) = &mut self.stream {
            stream.note_points(distance);
        }
    }

    /// The points that were found since the last call.
    pub fn take_points(&mut self) -> Vec<SeekPoint> {
        match &mut self.stream {
            Stream::Inflate(stream) => stream.take_points(),
            Stream::Plain(_) | Stream::Unsnap(_) => Vec::new(),
        }
    }

    /// Unread bytes in the window and, where that is known, behind it.
    pub fn remaining(&self) -> u64 {
        let behind = match &self.stream {
            Stream::Plain(file) => file.len().saturating_sub(file.position() + self.lead as u64),
            Stream::Inflate(_) | Stream::Unsnap(_) => 0,
        };
        self.available() as u64 + behind
    }

    /// Brings at least `need` unread bytes together; false if the stream ends before
    /// ([`Window::take_error`] may know why). What there is stays in the window. More than a file
    /// has is not even tried.
    ///
    /// # Errors
    /// `ResourceExhausted` if there is no memory for them; nothing has changed then.
    pub fn require(&mut self, need: u64) -> Result<bool> {
        if need > self.available() as u64 + UNPROVEN_BYTES as u64
            && need > self.remaining()
            && let Stream::Plain(file) = &mut self.stream
            && !file.is_empty()
        {
            file.refresh_len()?;
            if need > self.remaining() {
                return Ok(false);
            }
        }
        while (self.available() as u64) < need {
            if self.ended {
                return Ok(false);
            }
            self.refill(need)?;
        }
        Ok(true)
    }

    /// Passes over `count` bytes, by seeking where that is possible; false if the stream ends
    /// before.
    ///
    /// # Errors
    /// As the system says.
    pub fn hop(&mut self, count: u64) -> Result<bool> {
        let within = self.available() as u64;
        if count <= within {
            self.consume(count as usize);
            return Ok(true);
        }
        if self.ended {
            return Ok(false);
        }
        match &mut self.stream {
            Stream::Plain(file) if self.block_bytes >= PAGE => {
                let far = count - within;
                let target = file.position().saturating_add(self.lead as u64).saturating_add(far);
                if target > file.len() && target > file.refresh_len()? {
                    return Ok(false);
                }
                self.lead = (target % PAGE as u64) as usize;
                file.seek(target - self.lead as u64);
                self.brief = far > FAR;
                self.start = self.block.len();
                Ok(true)
            }
            _ => self.read_over(count),
        }
    }

    fn read_over(&mut self, mut count: u64) -> Result<bool> {
        loop {
            let step = count.min(self.available() as u64);
            self.consume(step as usize);
            count -= step;
            if count == 0 {
                return Ok(true);
            }
            if !self.require(1)? {
                return Ok(false);
            }
        }
    }

    fn refill(&mut self, need: u64) -> Result<()> {
        let tail = self.available();
        let room = self.room(need, tail);
        let mut buffer = BufferMut::scratch(tail + PAGE + room)?;
        let body = tail + (buffer.as_ptr().addr() + tail).wrapping_neg() % PAGE;
        buffer[body - tail..body].copy_from_slice(self.rest());
        let mut end = body;
        while end < body + room {
            match self.stream.read(&mut buffer[end..body + room]) {
                Ok(0) => self.ended = true,
                Ok(count) => {
                    end += count;
                    continue;
                }
                Err(error) => {
                    self.failed = Some(error);
                    self.ended = true;
                }
            }
            break;
        }
        self.filled += (end - body) as u64;
        buffer.truncate(end);
        self.start = (body - tail + self.lead).min(end);
        self.lead = 0;
        self.brief = false;
        self.block = buffer.freeze();
        Ok(())
    }

    /// How much to read into the next block, whose front the `tail` will be.
    fn room(&self, need: u64, tail: usize) -> usize {
        let missing = (need - tail as u64).saturating_add(self.lead as u64);
        // A large item gets a block that ends soon after it: the next tail is short then.
        let wanted = match need > self.block_bytes as u64 / 8 && self.block_bytes >= PAGE {
            true => missing.saturating_add(SLACK),
            false if self.brief => missing.max(PAGE as u64),
            false => missing.max(self.block_bytes as u64),
        };
        // An item's length is only a claim: no more than the file has, or than twice what came.
        let limit = match &self.stream {
            Stream::Plain(file) if file.len() > file.position() => file.len() - file.position(),
            Stream::Plain(_) => tail.max(PAGE) as u64,
            _ if self.filled == 0 => self.file().len().saturating_mul(4).min(UNPROVEN_BYTES as u64),
            Stream::Inflate(_) | Stream::Unsnap(_) => tail.max(UNPROVEN_BYTES) as u64,
        };
        let room = wanted.min(limit).max(1);
        if self.block_bytes < PAGE {
            return room as usize;
        }
        // Ends on a page of the file too, so that the next read starts on one.
        let offset = match &self.stream {
            Stream::Plain(file) => file.position() % PAGE as u64,
            Stream::Inflate(_) | Stream::Unsnap(_) => 0,
        };
        ((room + offset).next_multiple_of(PAGE as u64) - offset) as usize
    }
}
