//! Reads records as views of large blocks, with both checksums verified.
//!
//! A record that straddles blocks is carried to the front of the next one (one copy of its part);
//! a larger one gets a block of its own, but only once the checksum of its length holds, and no
//! faster than its bytes arrive. All records before a damaged one are handed out before its error.
//! A reader that salvages finds out only then where it goes on.

use std::sync::Arc;

use super::salvage::{Check, Salvage};
use super::{FOOTER_BYTES, HEADER_BYTES, Header, diagnose, is_intact};
use crate::data::bytes::View;
use crate::data::{Buffer, BytesArray};
use crate::error::{Error, ErrorKind, Place, Result};
use crate::io::compress::Compression;
use crate::io::crc::{Crc32c, mask};
use crate::io::local::BlockReader;
use crate::io::seek_point::SeekPoint;
use crate::io::window::{BLOCK_BYTES, Window};

/// Payload after which a call hands out what it has, so that chunks stay small.
const CHUNK_BYTES: usize = 1 << 20;
/// Largest block a caller can ask for.
const MAX_BLOCK_BYTES: usize = 64 << 20;

/// Default limit of a record that is decompressed.
const MAX_INFLATED_RECORD: u64 = 1 << 30;

/// How to read.
#[derive(Clone, Copy, Debug, Default)]
pub struct ReadOptions {
    /// Bytes per read of the file; 256 KiB if not given.
    pub buffer_size: Option<usize>,
    /// Longest record that is acceptable. If not given, 1 GiB in a compressed file, where few
    /// bytes can stand for many; what the file has otherwise.
    pub max_record_bytes: Option<u64>,
    /// After damage the reader goes on where it finds the next record.
    pub salvage: bool,
}

/// Reads the records of one file in order.
#[derive(Debug)]
pub struct Reader {
    path: Arc<str>,
    compression: Compression,
    block_bytes: usize,
    max_frame: u64,
    window: Option<Window>,
    record: u64,
    offset: u64,
    /// An error that is owed, after the records before it.
    pending: Option<Error>,
    done: bool,
    was_empty: bool,
    salvages: bool,
    /// The error that is owed is one of damage, and where the records go on is not known yet.
    damaged: bool,
    /// Finds where the records go on.
    salvage: Option<Box<Salvage>>,
    check: Check,
    /// Length of the longest frame so far.
    longest: u64,
    /// Where the compressed file is taken up.
    point: Option<SeekPoint>,
    /// How far apart points are noted at which it could be, and those that were found.
    distance: Option<u64>,
    points: Vec<SeekPoint>,
}

/// Length of the payload of a frame of `frame` bytes.
pub fn payload_len(frame: u64) -> usize {
    frame.saturating_sub((HEADER_BYTES + FOOTER_BYTES) as u64) as usize
}

/// Reads the payload of the frame at byte `offset` of an uncompressed file into `out`, which is as
/// long as the header said; false if it does not match its checksum, or the file ends before.
///
/// # Errors
/// If the file cannot be read.
pub fn read_payload(file: &mut BlockReader, offset: u64, out: &mut [u8]) -> Result<bool> {
    file.seek(offset + HEADER_BYTES as u64);
    let mut crc = Crc32c::default();
    // Piece by piece, so that the checksum finds the bytes in the L2 cache.
    for piece in out.chunks_mut(BLOCK_BYTES) {
        if !file.read_exactly(piece)? {
            return Ok(false);
        }
        crc.update(piece);
    }
    let mut footer = [0; FOOTER_BYTES];
    Ok(file.read_exactly(&mut footer)? && u32::from_le_bytes(footer) == mask(crc.finish()))
}

/// Records found so far in one call.
#[derive(Default)]
struct Found {
    buffers: Vec<Buffer>,
    views: Vec<View>,
    payload: usize,
}

/// Why a scan stopped.
enum Stop {
    /// Enough records.
    Full,
    /// The window does not hold the next record, which needs this many bytes.
    Short(u64),
    /// The length of the next record is damaged.
    BadLength,
    /// The file ends within the next record, of this length.
    Cut(u64),
    /// Reading failed.
    Failed(Error),
    /// The payload of the next record, of this length, is damaged.
    BadPayload(u64),
}

impl Reader {
    /// A reader of the file at `path`, which is opened when the first record is asked for.
    ///
    /// # Errors
    /// None now; a file that cannot be opened is an error of the first call.
    pub fn open(path: &str, compression: Compression, options: ReadOptions) -> Result<Self> {
        let block_bytes = options.buffer_size.unwrap_or(BLOCK_BYTES).clamp(1, MAX_BLOCK_BYTES);
        let limit = options.max_record_bytes.unwrap_or(match compression {
            Compression::None => u64::MAX,
            _ => MAX_INFLATED_RECORD,
        });
        Ok(Reader {
            path: path.into(),
            compression,
            block_bytes,
            max_frame: limit.saturating_add((HEADER_BYTES + FOOTER_BYTES) as u64),
            window: None,
            record: 0,
            offset: 0,
            pending: None,
            done: false,
            was_empty: false,
            salvages: options.salvage,
            damaged: false,
            salvage: None,
            check: Check::default(),
            longest: 0,
            point: None,
            distance: None,
            points: Vec::new(),
        })
    }

    /// Asks `check` in the course of a long search.
    #[must_use]
    pub fn checked(mut self, check: Check) -> Self {
        self.check = check;
        self
    }

    /// Notes points so many decompressed bytes apart at which a compressed file can be taken up.
    #[must_use]
    pub fn noting_points(mut self, distance: u64) -> Self {
        self.distance = Some(distance);
        self
    }

    /// The points that were found since the last call.
    pub fn take_points(&mut self) -> Vec<SeekPoint> {
        std::mem::take(&mut self.points)
    }

    /// As [`Reader::open_at`] for compressed files, too, which are decompressed from `point` on, or
    /// from their start.
    ///
    /// # Errors
    /// As [`Reader::open`].
    pub fn open_from(
        path: &str,
        compression: Compression,
        options: ReadOptions,
        (record, offset): (u64, u64),
        point: Option<SeekPoint>,
    ) -> Result<Self> {
        let mut reader = Self::open(path, compression, options)?;
        (reader.record, reader.offset, reader.point) = (record, offset, point);
        Ok(reader)
    }

    /// A reader that starts at record number `record`, which lies at byte `offset`: where another
    /// reader of the same uncompressed file stood.
    ///
    /// # Errors
    /// As [`Reader::open`].
    pub fn open_at(path: &str, options: ReadOptions, record: u64, offset: u64) -> Result<Self> {
        let mut reader = Self::open(path, Compression::None, options)?;
        (reader.record, reader.offset) = (record, offset);
        Ok(reader)
    }

    /// The path, as given.
    pub fn path(&self) -> &Arc<str> {
        &self.path
    }

    /// Number of the next record, from 0; that of a damaged one while its error is owed.
    pub fn record(&self) -> u64 {
        self.owed().and_then(|place| place.record).unwrap_or(self.record)
    }

    /// Where the next record starts, in bytes of the decompressed file.
    pub fn offset(&self) -> u64 {
        self.owed().and_then(|place| place.offset).unwrap_or(self.offset)
    }

    fn owed(&self) -> Option<&Place> {
        self.pending.as_ref().map(Error::place)
    }

    /// True once the file has been found to have no bytes at all.
    pub fn was_empty(&self) -> bool {
        self.was_empty
    }

    /// The next records: at least one, at most `max`, about 1 MiB of payload; `None` at the end.
    ///
    /// # Errors
    /// `DataLoss` for a damaged record. If its payload is damaged the next call goes on after it;
    /// if its length is, or the file is cut off or cannot be read, the next call gives `None`. A
    /// reader that salvages goes on where the records do, and the error says what was
    /// [lost](Error::lost).
    pub fn next(&mut self, max: usize) -> Result<Option<BytesArray>> {
        let mut found = Found::default();
        while self.pending.is_none() && !self.done {
            let mut window = self.take_window()?;
            let stop = self.take(&mut found, &mut window, max.max(1));
            if self.settle(stop, window) {
                break;
            }
        }
        if !found.views.is_empty() {
            return BytesArray::new(found.buffers, found.views).map(Some);
        }
        let Some(error) = self.pending.take() else { return Ok(None) };
        if !self.damaged {
            return Err(error);
        }
        match self.resume(error.place().offset.unwrap_or(self.offset)) {
            // With nothing to salvage in it, it is a file of another kind.
            Ok(_) if self.is_misfit() => Err(error),
            Ok(lost) => Err(error.losing(Some(lost))),
            Err(failed) => {
                self.pending = Some(error);
                Err(failed)
            }
        }
    }

    /// Goes on after the damaged record at `at`; returns how many bytes that leaves out.
    fn resume(&mut self, at: u64) -> Result<u64> {
        let mut salvage = match self.salvage.take() {
            Some(salvage) => salvage,
            None => Box::new(Salvage::open(&self.path, self.check.clone())?),
        };
        let found = salvage.resume(at, self.longest);
        self.salvage = Some(salvage);
        let lost = found? - at;
        self.damaged = false;
        self.record += 1;
        self.offset = at + lost;
        let on = self.window.as_mut().map_or(Ok(true), |window| window.hop(lost));
        self.done = !matches!(on, Ok(true));
        if self.done {
            self.window = None;
        }
        on.map(|_| lost)
    }

    /// Passes over `count` records by their lengths alone, seeking over long payloads. Returns how
    /// many: fewer at the end of the file, or before a record that cannot be passed over (the next
    /// call of [`Reader::next`] tells why). A damaged payload is not noticed: it counts as one.
    ///
    /// # Errors
    /// If the file cannot be opened.
    pub fn skip(&mut self, count: u64) -> Result<u64> {
        if count == 0 {
            return Ok(0);
        }
        if self.salvages {
            return self.skip_by_reading(count);
        }
        let from = self.record();
        if !self.done {
            self.pending = None;
        }
        while self.record - from < count && self.pending.is_none() && !self.done {
            let mut window = self.take_window()?;
            let stop = self.pass_over(&mut window, count - (self.record - from));
            self.settle(stop, window);
        }
        Ok(self.record - from)
    }

    /// Only reading tells which records are damaged. An error counts as a record does.
    fn skip_by_reading(&mut self, count: u64) -> Result<u64> {
        let mut left = count;
        while left > 0 {
            match self.next(usize::try_from(left).unwrap_or(usize::MAX)) {
                Ok(Some(records)) => left -= records.len() as u64,
                Ok(None) => break,
                Err(error) if error.kind() == ErrorKind::Cancelled => return Err(error),
                Err(_) => left -= 1,
            }
        }
        Ok(count - left)
    }

    fn take_window(&mut self) -> Result<Window> {
        if let Some(window) = self.window.take() {
            return Ok(window);
        }
        let (path, how, bytes) = (&self.path, self.compression, self.block_bytes);
        let (window, from) = match &self.point {
            Some(point) => (Window::resume(path, how, bytes, point), point.output),
            None => (Window::open(path, how, bytes), 0),
        };
        let ahead = self.offset.saturating_sub(from);
        let window = window.and_then(|mut window| {
            if let Some(distance) = self.distance {
                window.note_points(distance);
            }
            window.hop(ahead).map(|_| window)
        });
        window.inspect_err(|_| self.done = true)
    }

    /// Takes the whole records that are in the window.
    fn take(&mut self, found: &mut Found, window: &mut Window, max: usize) -> Stop {
        let before = found.views.len();
        let (stop, bytes) = found.scan(window, max, self.max_frame);
        window.consume(bytes);
        if self.salvages {
            let longest = found.views[before..].iter().map(|view| view.len).max();
            let frame = |len| (HEADER_BYTES + len + FOOTER_BYTES) as u64;
            self.longest = self.longest.max(longest.map_or(0, frame));
        }
        self.record += (found.views.len() - before) as u64;
        self.offset += bytes as u64;
        stop
    }

    /// Passes over up to `count` records, as far as no more must be read for their headers.
    fn pass_over(&mut self, window: &mut Window, count: u64) -> Stop {
        for _ in 0..count {
            let Some(header) = Header::of(window.rest()) else {
                return Stop::Short(HEADER_BYTES as u64);
            };
            if !header.intact {
                return Stop::BadLength;
            }
            match window.hop(header.frame()) {
                Ok(true) => {}
                Ok(false) => return Stop::Cut(header.len),
                Err(error) => return Stop::Failed(error),
            }
            self.record += 1;
            self.offset += header.frame();
        }
        Stop::Full
    }

    /// Reads on, or notes the error that is owed. True if this call is at its end. The window is
    /// kept only if there may be more: the file is closed at its end.
    fn settle(&mut self, stop: Stop, mut window: Window) -> bool {
        let enough = self.settle_in(stop, &mut window);
        if self.distance.is_some() {
            self.points.append(&mut window.take_points());
        }
        self.window = (!self.done).then_some(window);
        enough
    }

    fn settle_in(&mut self, stop: Stop, window: &mut Window) -> bool {
        let at = (self.record, self.offset);
        let (error, fatal) = match stop {
            Stop::Full => return true,
            Stop::Short(need) => match self.bring(window, need) {
                Ok(true) => return false,
                Ok(false) => (self.ending(window), true),
                Err(error) => (Some(error), true),
            },
            Stop::BadLength => (Some(self.bad_length()), true),
            Stop::BadPayload(len) if self.salvages && self.compression == Compression::None => {
                (Some(diagnose::bad_payload(len, at.1)), true)
            }
            Stop::BadPayload(len) => {
                let frame = len + (HEADER_BYTES + FOOTER_BYTES) as u64;
                window.consume(frame as usize);
                self.record += 1;
                self.offset += frame;
                (Some(diagnose::bad_payload(len, at.1)), false)
            }
            Stop::Cut(len) => {
                let cut_off = || diagnose::cut_off(at.1, len);
                (Some(self.stream_error(window).unwrap_or_else(cut_off)), true)
            }
            Stop::Failed(error) => (Some(error), true),
        };
        self.done = fatal;
        self.pending = error.map(|e| e.at_record(at.0, at.1).at_file(&self.path));
        if self.salvages {
            self.mind_damage(at);
        }
        true
    }

    /// Notes what becomes of damage at `at`, if that is what the error is about.
    fn mind_damage(&mut self, at: (u64, u64)) {
        let damage = |error: &Error| error.kind() == ErrorKind::DataLoss;
        if !self.pending.as_ref().is_some_and(damage) {
            return;
        }
        if self.compression == Compression::None {
            (self.damaged, self.done) = (true, false);
        } else if at.1 > 0 || !diagnose::is_misfit(&self.head(), self.compression) {
            // A stream has no other place to go on from.
            let lost = (!self.done).then(|| self.offset - at.1);
            self.pending = self.pending.take().map(|error| error.losing(lost));
        }
    }

    /// True if all of the file was passed over, and its first bytes are those of something else.
    fn is_misfit(&self) -> bool {
        let whole = self.longest == 0 && self.record == 1;
        let end = self.salvage.as_ref().map_or(0, |salvage| salvage.end());
        whole && self.offset == end && diagnose::is_misfit(&self.head(), self.compression)
    }

    /// Brings `need` bytes of the next record together.
    fn bring(&self, window: &mut Window, need: u64) -> Result<bool> {
        if need > self.max_frame {
            let around = (HEADER_BYTES + FOOTER_BYTES) as u64;
            let (len, limit) = (need - around, self.max_frame - around);
            let text = format!("a record of {len} bytes is longer than the limit of {limit}");
            return Err(Error::resource_exhausted(text).with_hint("raise max_record_bytes"));
        }
        window.require(need)
    }

    /// The stream has ended: the error that is owed for it, if it ended too early.
    fn ending(&mut self, window: &mut Window) -> Option<Error> {
        self.was_empty = window.was_empty();
        let error = self.stream_error(window);
        if error.is_some() || window.available() == 0 {
            return error;
        }
        let (at, header) = ((self.record, self.offset), Header::of(window.rest()));
        let have = window.remaining();
        Some(diagnose::truncated(&self.head(), self.compression, at, header, have))
    }

    /// Why the stream failed, if it did.
    fn stream_error(&self, window: &mut Window) -> Option<Error> {
        let cause = window.take_error()?;
        if cause.kind() != ErrorKind::DataLoss {
            return Some(cause);
        }
        let at = (self.record, self.offset);
        Some(diagnose::bad_stream(&cause, &self.head(), self.compression, at))
    }

    fn bad_length(&self) -> Error {
        diagnose::bad_length(&self.head(), self.compression, self.record, self.offset)
    }

    /// The first bytes of the file as it is stored, read again: only errors need them.
    fn head(&self) -> Vec<u8> {
        let mut head = vec![0; 64];
        let count = BlockReader::open(&self.path).and_then(|mut file| file.read(&mut head));
        head.truncate(count.unwrap_or(0));
        head
    }
}

impl Found {
    /// Takes whole records from the front of the window: why it stopped, and their bytes.
    fn scan(&mut self, window: &Window, max: usize, max_frame: u64) -> (Stop, usize) {
        let (bytes, base) = (window.rest(), window.start());
        let (buffer, before) = (self.buffers.len() as u32, self.views.len());
        let likely = window.available() / (HEADER_BYTES + FOOTER_BYTES);
        self.views.reserve((max - before).min(likely).min(1024));
        let mut at = 0;
        let stop = loop {
            if self.views.len() >= max || self.payload >= CHUNK_BYTES {
                break Stop::Full;
            }
            let rest = &bytes[at..];
            let Some(header) = Header::of(rest) else {
                break Stop::Short(HEADER_BYTES as u64);
            };
            if !header.intact {
                break Stop::BadLength;
            }
            if header.frame() > max_frame.min(rest.len() as u64) {
                break Stop::Short(header.frame());
            }
            let len = header.len as usize;
            let (payload, footer) = rest[HEADER_BYTES..].split_at(len);
            if !is_intact(payload, footer) {
                break Stop::BadPayload(header.len);
            }
            self.views.push(View { buffer, start: base + at + HEADER_BYTES, len });
            self.payload += len;
            at += HEADER_BYTES + len + FOOTER_BYTES;
        };
        if self.views.len() > before {
            self.buffers.push(window.block().clone());
        }
        (stop, at)
    }
}
