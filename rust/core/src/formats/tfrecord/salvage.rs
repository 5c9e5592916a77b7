//! Where the records go on after a damaged one, in a file that is not compressed.
//!
//! A length below 4 GiB can be worked out from its checksum, so a record of which the length *or*
//! the checksum is damaged has a known end, which the payload's checksum confirms. Only where both
//! are gone, or bytes are missing or were put in between, the next frame is searched for, byte by
//! byte. A record may itself hold frames (a file within a file), and those of a record that is lost
//! must not come out as records. So a place that looks like a frame counts as one only if
//!
//! - the bytes before it are a payload that matches its checksum: only the header was damaged; or
//! - the frames from there on lead to the file's end, over damage with a known end; or
//! - they are [`FRAMES`] times as long as the longest record so far, so that no record is likely to
//!   hold them, and lead to the next place of damage: a damaged payload or a block of zeros, with room
//!   for a record before the next frame, or the end of a file that is cut off; or
//! - they are that long, and 16 MiB.
//!
//! What fails that is lost with the record before it. Memory is two blocks. The time is linear: what
//! candidates may read ahead is paid from an allowance that grows with the file alone.

use std::fmt;
use std::sync::Arc;

use super::{FOOTER_BYTES, HEADER_BYTES, Header};
use crate::error::Result;
use crate::io::crc::{self, Crc32c};
use crate::io::local::BlockReader;

/// So many times the longest record is more than lies within one.
const FRAMES: u64 = 16;
/// So many are no header.
const ZEROS: usize = 64;
/// Frames are followed this far, at least, before they are taken for so many.
const LONG_BYTES: u64 = 16 << 20;
/// A payload up to this length is checked whatever follows it; a longer one where a frame does.
const SHORT_BYTES: u64 = 16 << 20;
/// What candidates may read in any file, beside four times its length.
const ALLOWANCE: u64 = 64 << 20;
const SCAN_BYTES: usize = 256 << 10;
const WALK_BYTES: usize = 64 << 10;
const HOP_BYTES: usize = 4 << 10;
const AROUND: u64 = (HEADER_BYTES + FOOTER_BYTES) as u64;

#[cfg(test)]
mod tests;

/// Asked now and then in the course of a search: an error ends it.
#[derive(Clone)]
pub struct Check(pub Arc<dyn Fn() -> Result<()> + Send + Sync>);

impl fmt::Debug for Check {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Check")
    }
}

impl Default for Check {
    fn default() -> Self {
        Check(Arc::new(|| Ok(())))
    }
}

/// Some bytes of a file from any place in it.
#[derive(Debug, Default)]
struct Block {
    bytes: Vec<u8>,
    base: u64,
    /// Bytes read so far.
    read: u64,
}

impl Block {
    /// The bytes from `at` on: at least `need`, unless the file ends before.
    fn at(
        &mut self,
        file: &mut BlockReader,
        at: u64,
        need: usize,
        size: usize,
        check: &Check,
    ) -> Result<&[u8]> {
        let end = self.base + self.bytes.len() as u64;
        if at < self.base || at + need as u64 > end {
            (check.0)()?;
            // Few bytes after a long hop: another one is likely to follow.
            let near = at >= self.base && at <= end + HOP_BYTES as u64;
            let size = if near { size } else { size.min(HOP_BYTES) }.max(need);
            self.bytes.resize(size, 0);
            self.base = at;
            file.seek(at);
            let mut have = 0;
            while have < size {
                match file.read(&mut self.bytes[have..]) {
                    Ok(0) => break,
                    Ok(count) => have += count,
                    Err(error) => {
                        self.bytes.clear();
                        return Err(error);
                    }
                }
            }
            self.bytes.truncate(have);
            self.read += have as u64;
        }
        Ok(&self.bytes[(at - self.base) as usize..])
    }
}

/// Frames one after another, from a place that looks like one.
struct Run {
    start: u64,
    /// Where the last frame starts.
    last: u64,
    /// Where the next should.
    end: u64,
    /// Length of the longest frame, of them and of those before the damage.
    most: u64,
    tail: Tail,
}

impl Run {
    /// Whether it is one of records, if what looks like a frame next is at `next`, before frames of
    /// up to `most` bytes: it is longer than records are, followed by a damaged one, and not by the
    /// rest of a record that it lies in.
    fn is_likely(&self, next: u64, most: u64) -> bool {
        let long = self.end - self.start > self.most.max(most).saturating_mul(FRAMES);
        match self.tail {
            Tail::Sure => true,
            Tail::Damaged | Tail::Zeros => long && self.end + AROUND <= next,
            Tail::Cut => long,
            Tail::Whole => false,
        }
    }
}

/// How a run of frames ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Tail {
    /// It is no part of one record.
    Sure,
    /// After an intact frame.
    Whole,
    /// As that, and a block of zeros begins where the next header should be.
    Zeros,
    /// With a frame whose payload is damaged.
    Damaged,
    /// With a frame that the file's end cuts off.
    Cut,
}

/// Finds where the records of one file go on.
#[derive(Debug)]
pub(super) struct Salvage {
    file: BlockReader,
    check: Check,
    end: u64,
    scan: Block,
    walk: Block,
}

impl Salvage {
    pub(super) fn open(path: &str, check: Check) -> Result<Self> {
        let file = BlockReader::open(path)?;
        let end = file.len();
        Ok(Salvage { file, check, end, scan: Block::default(), walk: Block::default() })
    }

    /// Length of the file when it was last looked at.
    pub(super) fn end(&self) -> u64 {
        self.end
    }

    /// Where the records go on after the damaged one at `at`: the file's end if nowhere. `longest`
    /// is the length of the longest frame before it, 0 if there is none.
    pub(super) fn resume(&mut self, at: u64, longest: u64) -> Result<u64> {
        self.end = self.file.refresh_len()?;
        let Some(header) = self.header(at)? else { return Ok(self.end) };
        if !header.intact {
            return match self.known_end(at)? {
                Some(next) => Ok(next),
                None => self.search(at, longest, None),
            };
        }
        let next = at.saturating_add(header.frame());
        if next > self.end {
            // The rest of the file is a part of this record, whatever it looks like.
            return Ok(self.end);
        }
        if self.begins(next)? || self.known_end(next)?.is_some() {
            return Ok(next);
        }
        let longest = longest.max(header.frame());
        self.search(at, longest, Some(next))
    }

    fn ahead(&mut self, at: u64, need: usize) -> Result<&[u8]> {
        self.walk.at(&mut self.file, at, need, WALK_BYTES, &self.check)
    }

    /// The header at `at`; `None` if the file ends before.
    fn header(&mut self, at: u64) -> Result<Option<Header>> {
        Ok(Header::of(self.ahead(at, HEADER_BYTES)?))
    }

    /// True if a frame begins at `at`, or the file ends there.
    fn begins(&mut self, at: u64) -> Result<bool> {
        Ok(at == self.end || self.header(at)?.is_some_and(|header| header.intact))
    }

    /// What candidates may still read.
    fn is_affordable(&self, bytes: u64) -> bool {
        let allowance = self.end.saturating_mul(4).saturating_add(ALLOWANCE);
        self.walk.read.saturating_add(bytes) <= allowance
    }

    /// The end of the record at `at`, whose length or its checksum is damaged but not both.
    fn known_end(&mut self, at: u64) -> Result<Option<u64>> {
        let Some([a, b, c, d, e, f, g, h, masked @ ..]) =
            self.ahead(at, HEADER_BYTES)?.first_chunk::<HEADER_BYTES>().copied()
        else {
            return Ok(None);
        };
        let length = u64::from_le_bytes([a, b, c, d, e, f, g, h]);
        let told = u64::from(crc::number_of(crc::unmask(u32::from_le_bytes(masked))));
        for len in [length.min(told), length.max(told)] {
            let next = at.saturating_add(AROUND).saturating_add(len);
            if next <= self.end
                && (len <= SHORT_BYTES || self.begins(next)?)
                && self.holds(at, len)?
            {
                return Ok(Some(next));
            }
        }
        Ok(None)
    }

    /// True if the payload of the frame at `at`, which lies in the file, matches its checksum.
    fn holds(&mut self, at: u64, len: u64) -> Result<bool> {
        if !self.is_affordable(len) {
            return Ok(false);
        }
        let start = at + HEADER_BYTES as u64;
        let mut crc = Crc32c::default();
        self.sum(&mut crc, start, start + len)?;
        Ok(self.number(start + len)? == Some(crc::mask(crc.finish())))
    }

    fn sum(&mut self, crc: &mut Crc32c, mut from: u64, to: u64) -> Result<()> {
        while from < to {
            let bytes = self.ahead(from, 1)?;
            let count = bytes.len().min(usize::try_from(to - from).unwrap_or(usize::MAX));
            if count == 0 {
                return Ok(()); // cut off while it is read: what follows does not match
            }
            crc.update(&bytes[..count]);
            from += count as u64;
        }
        Ok(())
    }

    fn number(&mut self, at: u64) -> Result<Option<u32>> {
        let bytes = self.ahead(at, FOOTER_BYTES)?.first_chunk();
        Ok(bytes.map(|bytes| u32::from_le_bytes(*bytes)))
    }

    /// Where records go on after the one at `at`. Its end is known, if it lacks no bytes; or its
    /// payload may be intact.
    fn search(&mut self, at: u64, longest: u64, end: Option<u64>) -> Result<u64> {
        let (mut payload, mut summed) = (Crc32c::default(), at + HEADER_BYTES as u64);
        let mut doubtful: Option<Run> = None;
        let mut from = at + 1;
        loop {
            let found = self.find(from)?;
            let start = found.unwrap_or(self.end);
            let footer = start.saturating_sub(FOOTER_BYTES as u64);
            if end.is_none() && footer >= summed {
                self.sum(&mut payload, summed, footer)?;
                summed = footer;
                if self.number(footer)? == Some(crc::mask(payload.finish())) {
                    return Ok(start);
                }
            }
            if found.is_none() {
                // While no record was seen, nobody knows how long one is.
                let run = doubtful.filter(|run| longest > 0 && run.is_likely(start, 0));
                return Ok(run.map_or(self.end, |run| run.start));
            }
            let Some(run) = self.follow(start, longest)? else {
                from = start + 1;
                continue;
            };
            let cut = |before: &Run| before.tail == Tail::Cut;
            let likely = |before: &Run| !cut(before) && before.is_likely(start, run.most);
            if let Some(before) = doubtful.filter(likely) {
                return Ok(before.start);
            }
            from = match run.tail {
                Tail::Sure => return Ok(start),
                Tail::Whole | Tail::Zeros => run.end + 1,
                Tail::Damaged | Tail::Cut => run.last + HEADER_BYTES as u64,
            };
            // What lies within the record at `at` is a part of it.
            doubtful = Some(run).filter(|run| end.is_none_or(|end| end < run.end));
        }
    }

    /// The first place from `from` on that looks like a frame: the length matches its checksum, and
    /// the file is long enough.
    fn find(&mut self, mut from: u64) -> Result<Option<u64>> {
        loop {
            let scan = &mut self.scan;
            let bytes = scan.at(&mut self.file, from, HEADER_BYTES, SCAN_BYTES, &self.check)?;
            if bytes.len() < HEADER_BYTES {
                return Ok(None);
            }
            let room = self.end.saturating_sub(from);
            for (skipped, place) in bytes.windows(HEADER_BYTES).enumerate() {
                let Some([a, b, c, d, e, f, g, h, w, x, y, z]) = place.first_chunk() else { break };
                let len = u64::from_le_bytes([*a, *b, *c, *d, *e, *f, *g, *h]);
                // Few places pass this, so that few checksums are computed.
                if len.saturating_add(AROUND) <= room.saturating_sub(skipped as u64)
                    && crc::mask(crc::crc32c_of_number(len)) == u32::from_le_bytes([*w, *x, *y, *z])
                {
                    return Ok(Some(from + skipped as u64));
                }
            }
            from += (bytes.len() - HEADER_BYTES + 1) as u64;
        }
    }

    /// Follows the frames from `start` on as far as it takes to be sure of them; `None` if there is
    /// no intact one.
    fn follow(&mut self, start: u64, longest: u64) -> Result<Option<Run>> {
        let (mut last, mut at, mut most) = (start, start, longest);
        let tail = loop {
            let long = most.saturating_mul(FRAMES).max(LONG_BYTES);
            if at == self.end || at - start > long {
                break Tail::Sure;
            }
            if !self.is_affordable(HOP_BYTES as u64) {
                return Ok(None);
            }
            let next = match self.header(at)? {
                Some(header) if header.intact => Some(at.saturating_add(header.frame())),
                Some(_) => self.known_end(at)?,
                None => None,
            };
            match next {
                Some(next) if next > self.end => {
                    last = at;
                    break Tail::Cut;
                }
                Some(next) => {
                    most = most.max(next - at);
                    (last, at) = (at, next);
                }
                None if self.holds(last, (at - last).saturating_sub(AROUND))? => {
                    break if self.is_blank(at)? { Tail::Zeros } else { Tail::Whole };
                }
                None if last == start => return Ok(None),
                None => break Tail::Damaged,
            }
        };
        Ok(Some(Run { start, last, end: at, most, tail }))
    }

    /// True if many zeros begin within the header at `at`, as where a block of the disk is lost.
    fn is_blank(&mut self, at: u64) -> Result<bool> {
        let bytes = self.ahead(at, HEADER_BYTES + ZEROS)?;
        let blank = |from: &[u8]| from.iter().all(|byte| *byte == 0);
        Ok(bytes.windows(ZEROS).take(HEADER_BYTES).any(blank))
    }
}
