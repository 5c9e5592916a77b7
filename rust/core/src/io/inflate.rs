//! GZIP and ZLIB as streams: nothing here holds more than a block, however large the output.
//!
//! Both formats may have several members one after another (files that were concatenated),
//! empty ones among them; they read as one stream. On the way it finds points at which a stream can
//! be taken up again, if somebody wants them: about as many as are wanted cost nothing.

use std::fmt;

use crate::data::BufferMut;
use crate::error::{Error, Result};
use crate::io::compress::Compression;
use crate::io::local::BlockReader;
use crate::io::seek_point::SeekPoint;
use crate::io::zlib::{Format, Step, Stop, Stream};

/// Size of the compressed block that is read at a time.
const INPUT_BYTES: usize = 64 << 10;

/// A file, decompressed as it is read.
pub struct Inflate {
    input: BlockReader,
    block: BufferMut,
    start: usize,
    end: usize,
    input_ended: bool,
    stream: Stream,
    /// True before a member's first byte: the stream may end here.
    between_members: bool,
    compression: Compression,
    /// The present member was taken up in its middle: its trailer is still to be passed over.
    midway: bool,
    /// Decompressed bytes so far.
    given: u64,
    points: Option<Points>,
}

/// Points at which the stream can be taken up.
struct Points {
    /// Decompressed bytes between two of them, at least.
    distance: u64,
    /// The next is behind so many.
    next: u64,
    found: Vec<SeekPoint>,
}

impl Inflate {
    /// Decompresses what `input` reads.
    ///
    /// # Errors
    /// `ResourceExhausted` if there is no memory.
    pub fn new(input: BlockReader, compression: Compression) -> Result<Self> {
        let size = INPUT_BYTES.min(usize::try_from(input.len()).unwrap_or(INPUT_BYTES)).max(512);
        Ok(Inflate {
            input,
            block: BufferMut::scratch(size)?,
            start: 0,
            end: 0,
            input_ended: false,
            stream: Stream::new(Format::of(compression))?,
            between_members: true,
            compression,
            midway: false,
            given: 0,
            points: None,
        })
    }

    /// Decompresses what `input` reads from `point` on. The checksum of that member is not verified.
    ///
    /// # Errors
    /// `DataLoss` for a point that is none; as [`Inflate::new`].
    pub fn resume(
        mut input: BlockReader,
        compression: Compression,
        point: &SeekPoint,
    ) -> Result<Self> {
        input.seek(point.input);
        let mut first = [0];
        if point.bit > 0 && !input.read_exactly(&mut first)? {
            let text = "an index of the file starts behind its end";
            return Err(Error::data_loss(text).at_file(input.path()));
        }
        let mut inflate = Self::new(input, compression)?;
        inflate.stream = Stream::new(Format::Raw)?;
        (inflate.between_members, inflate.midway) = (false, true);
        let (lead, mut before) = (point.lead(first[0]), vec![0; point.window.len() + 1]);
        let (mut taken, mut given) = (0, 0);
        while taken < lead.len() {
            let room = &mut before[given.min(point.window.len())..];
            let Ok(step) = inflate.stream.step(&lead[taken..], room, false) else {
                return Err(inflate.error("damaged", inflate.stream.message()));
            };
            if step.taken == 0 {
                return Err(inflate.error("damaged", "an index of the file does not fit"));
            }
            (taken, given) = (taken + step.taken, given + step.given);
        }
        Ok(inflate)
    }

    /// Collects points at which the stream can be taken up again, so many decompressed bytes apart or
    /// a little more. Of a stream that was taken up itself there are none.
    pub fn note_points(&mut self, distance: u64) {
        if !self.midway {
            self.points = Some(Points { distance, next: distance, found: Vec::new() });
        }
    }

    /// The points that were found since the last call.
    pub fn take_points(&mut self) -> Vec<SeekPoint> {
        self.points.as_mut().map_or_else(Vec::new, |points| std::mem::take(&mut points.found))
    }

    /// The file.
    pub fn input(&self) -> &BlockReader {
        &self.input
    }

    /// The next decompressed bytes: some, or none at the end.
    ///
    /// # Errors
    /// `DataLoss` for a stream that is damaged or cut off, or is none; or as the system says.
    pub fn read(&mut self, out: &mut [u8]) -> Result<usize> {
        while !out.is_empty() {
            if self.start == self.end && !self.input_ended {
                self.start = 0;
                self.end = 0; // in case the read fails
                self.end = self.input.read(&mut self.block)?;
                self.input_ended = self.end == 0;
            }
            if self.input_ended && self.between_members {
                return Ok(0);
            }
            let step = self.step(out)?;
            if step.given > 0 {
                return Ok(step.given);
            }
            let stands = step.taken == 0 && matches!(step.stop, Stop::None);
            if stands && self.input_ended && !self.between_members {
                return Err(self.error("truncated", "it ends before its last block"));
            }
        }
        Ok(0)
    }

    /// One call of the decompressor.
    fn step(&mut self, out: &mut [u8]) -> Result<Step> {
        // Up to where a point is wanted, and from there on up to the start of a block.
        let ahead = self.points.as_ref().map(|points| points.next.saturating_sub(self.given));
        let room = ahead.filter(|ahead| *ahead > 0).map_or(out.len(), |ahead| {
            usize::try_from(ahead).map_or(out.len(), |ahead| ahead.min(out.len()))
        });
        let input = &self.block[self.start..self.end];
        let Ok(step) = self.stream.step(input, &mut out[..room], ahead == Some(0)) else {
            return Err(self.error("damaged", self.stream.message()));
        };
        self.start += step.taken;
        self.given += step.given as u64;
        self.between_members = matches!(step.stop, Stop::End);
        match step.stop {
            Stop::Block { unused } => self.note_point(unused)?,
            Stop::End if std::mem::take(&mut self.midway) => {
                self.pass_trailer()?;
                self.stream = Stream::new(Format::of(self.compression))?;
            }
            Stop::End => self.stream.reset()?,
            Stop::None => {}
        }
        Ok(step)
    }

    /// A block starts, so many bits before what was taken of the input.
    fn note_point(&mut self, unused: u32) -> Result<()> {
        let Some(points) = self.points.as_mut().filter(|points| self.given >= points.next) else {
            return Ok(());
        };
        let taken = self.input.position() - (self.end - self.start) as u64;
        let bit = taken * 8 - u64::from(unused);
        points.next = self.given + points.distance;
        points.found.push(SeekPoint {
            input: bit / 8,
            bit: (bit % 8) as u32,
            output: self.given,
            window: self.stream.window()?,
        });
        Ok(())
    }

    /// Passes over the checksum (and length) of a member, which the decompressor does not know of.
    fn pass_trailer(&mut self) -> Result<()> {
        let count = if self.compression == Compression::Gzip { 8 } else { 4 };
        let within = count.min(self.end - self.start);
        self.start += within;
        let mut rest = vec![0; count - within];
        if !self.input.read_exactly(&mut rest)? {
            return Err(self.error("truncated", "it ends before its last block"));
        }
        Ok(())
    }

    fn error(&self, what: &str, why: &str) -> Error {
        let name = self.compression.name();
        let at = self.input.position() - (self.end - self.start) as u64;
        let text = format!("{what} {name} stream near compressed byte {at}: {why}");
        Error::data_loss(text).at_file(self.input.path())
    }
}

impl fmt::Debug for Inflate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Inflate({:?}, {:?})", self.compression, self.input)
    }
}

#[cfg(test)]
mod tests;
