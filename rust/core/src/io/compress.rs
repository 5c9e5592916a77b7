//! GZIP and ZLIB as streams (Snappy in `snappy`): nothing here holds more than a block, however large the output.
//!
//! Both formats may have several members one after another (files that were concatenated),
//! empty ones among them; they read as one stream.

use std::fmt;
use std::fs::File;
use std::io::{self, Write};

use flate2::write::{GzEncoder, ZlibEncoder};
use flate2::{Decompress, FlushDecompress, Status};
use snap::write::FrameEncoder;

use crate::data::BufferMut;
use crate::error::{Error, Result};
use crate::io::local::BlockReader;
use crate::io::seek_point::SeekPoint;

/// How a file is compressed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Compression {
    /// Not at all.
    #[default]
    None,
    /// As by gzip.
    Gzip,
    /// In the zlib format.
    Zlib,
    /// In Snappy's framing format: elements in files of our own, never records.
    Snappy,
}

impl Compression {
    /// The compression of this name: none or `""`, `"GZIP"`, `"ZLIB"`.
    ///
    /// # Errors
    /// `InvalidArgument`, listing the names.
    pub fn from_name(name: Option<&str>) -> Result<Self> {
        match name {
            None | Some("") => Ok(Compression::None),
            Some("GZIP") => Ok(Compression::Gzip),
            Some("ZLIB") => Ok(Compression::Zlib),
            Some(other) => Err(Error::invalid_argument(format!(
                "unknown compression_type {other:?}; valid are \"GZIP\", \"ZLIB\", \"\" and None"
            ))),
        }
    }

    /// The compression of this name for elements in files of our own: `"SNAPPY"`, too.
    ///
    /// # Errors
    /// `InvalidArgument` for another name.
    pub fn of_elements(name: Option<&str>) -> Result<Self> {
        match name {
            Some("SNAPPY") => Ok(Compression::Snappy),
            other => Self::from_name(other),
        }
    }

    /// The name, as [`Compression::from_name`] takes it.
    pub fn name(self) -> &'static str {
        match self {
            Compression::None => "",
            Compression::Gzip => "GZIP",
            Compression::Zlib => "ZLIB",
            Compression::Snappy => "SNAPPY",
        }
    }

    /// What the first bytes of a file look like.
    pub fn of_head(head: &[u8]) -> Self {
        match *head {
            [0x1f, 0x8b, ..] => Compression::Gzip,
            // Deflate with a window of at most 32 KiB, and a check on both bytes.
            [cmf, flags, ..]
                if cmf & 0x0f == 8
                    && cmf >> 4 <= 7
                    && (u32::from(cmf) << 8 | u32::from(flags)).is_multiple_of(31) =>
            {
                Compression::Zlib
            }
            _ => Compression::None,
        }
    }
}

/// Size of the compressed block that is read at a time.
const INPUT_BYTES: usize = 64 << 10;

/// A file, decompressed as it is read.
pub struct Inflate {
    input: BlockReader,
    block: BufferMut,
    start: usize,
    end: usize,
    input_ended: bool,
    state: Decompress,
    /// True before a member's first byte: the stream may end here.
    between_members: bool,
    compression: Compression,
    /// The present member was taken up in its middle: its trailer is still to be passed over.
    midway: bool,
}

impl Inflate {
    /// Decompresses what `input` reads.
    ///
    /// # Errors
    /// `ResourceExhausted` if there is no memory.
    pub fn new(input: BlockReader, compression: Compression) -> Result<Self> {
        let size = INPUT_BYTES.min(usize::try_from(input.len()).unwrap_or(INPUT_BYTES)).max(512);
        let state = Self::decompressor(compression);
        Ok(Inflate {
            input,
            block: BufferMut::scratch(size)?,
            start: 0,
            end: 0,
            input_ended: false,
            state,
            between_members: true,
            compression,
            midway: false,
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
        let mut stream = Self::new(input, compression)?;
        stream.state = Decompress::new(false);
        (stream.between_members, stream.midway) = (false, true);
        let (lead, mut before) = (point.lead(first[0]), vec![0; point.window.len() + 1]);
        loop {
            let taken = stream.state.total_in() as usize;
            let given = (stream.state.total_out() as usize).min(point.window.len());
            if taken == lead.len() {
                return Ok(stream);
            }
            let (from, to) = (&lead[taken..], &mut before[given..]);
            let done = stream.state.decompress(from, to, FlushDecompress::None);
            done.map_err(|e| stream.error("damaged", e.message().unwrap_or("invalid data")))?;
            if stream.state.total_in() as usize == taken {
                return Err(stream.error("damaged", "an index of the file does not fit"));
            }
        }
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
            let (taken, given) = self.step(out)?;
            if given > 0 {
                return Ok(given);
            }
            if taken == 0 && self.input_ended && !self.between_members {
                return Err(self.error("truncated", "it ends before its last block"));
            }
        }
        Ok(0)
    }

    /// One call of the decompressor: the bytes it took and gave.
    fn step(&mut self, out: &mut [u8]) -> Result<(usize, usize)> {
        let before = (self.state.total_in(), self.state.total_out());
        let input = &self.block[self.start..self.end];
        let status = self
            .state
            .decompress(input, out, FlushDecompress::None)
            .map_err(|e| self.error("damaged", e.message().unwrap_or("invalid data")))?;
        let taken = (self.state.total_in() - before.0) as usize;
        let given = (self.state.total_out() - before.1) as usize;
        self.start += taken;
        self.between_members = status == Status::StreamEnd;
        if self.between_members && std::mem::take(&mut self.midway) {
            self.pass_trailer()?;
            self.state = Self::decompressor(self.compression);
        } else if self.between_members {
            self.state.reset(true);
        }
        Ok((taken, given))
    }

    fn decompressor(compression: Compression) -> Decompress {
        match compression {
            Compression::Gzip => Decompress::new_gzip(15),
            _ => Decompress::new(true),
        }
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

/// A file that is written, compressed or not.
#[derive(Debug)]
pub enum Sink {
    /// As it is.
    Plain(File),
    /// Through gzip.
    Gzip(GzEncoder<File>),
    /// Through zlib.
    Zlib(ZlibEncoder<File>),
    /// Through Snappy; it has no levels.
    Snappy(Box<FrameEncoder<File>>),
}

impl Sink {
    /// Writes to `file`; `level` is from 0 (store) to 9 (smallest), 6 if not given.
    ///
    /// # Errors
    /// `InvalidArgument` for another level.
    pub fn new(file: File, compression: Compression, level: Option<u32>) -> Result<Self> {
        Self::check_level(level)?;
        let level = flate2::Compression::new(level.unwrap_or(6));
        Ok(match compression {
            Compression::None => Sink::Plain(file),
            Compression::Gzip => Sink::Gzip(GzEncoder::new(file, level)),
            Compression::Zlib => Sink::Zlib(ZlibEncoder::new(file, level)),
            Compression::Snappy => Sink::Snappy(Box::new(FrameEncoder::new(file))),
        })
    }

    /// Whether `level` is a level.
    ///
    /// # Errors
    /// `InvalidArgument` if not.
    pub fn check_level(level: Option<u32>) -> Result<()> {
        match level {
            Some(level) if level > 9 => {
                let text = format!("compression level {level} is not one of 0 to 9");
                Err(Error::invalid_argument(text).with_hint("6 is the default"))
            }
            _ => Ok(()),
        }
    }

    /// Writes all parts, one after another, in as few system calls as possible.
    ///
    /// # Errors
    /// As the system says.
    pub fn write_parts(&mut self, parts: &[&[u8]]) -> io::Result<()> {
        match self {
            Sink::Plain(file) => write_all_vectored(file, parts),
            Sink::Gzip(encoder) => parts.iter().try_for_each(|part| encoder.write_all(part)),
            Sink::Zlib(encoder) => parts.iter().try_for_each(|part| encoder.write_all(part)),
            Sink::Snappy(encoder) => parts.iter().try_for_each(|part| encoder.write_all(part)),
        }
    }

    /// Makes all bytes so far readable for others (a sync point in a compressed stream).
    ///
    /// # Errors
    /// As the system says.
    pub fn flush(&mut self) -> io::Result<()> {
        match self {
            Sink::Plain(file) => file.flush(),
            Sink::Gzip(encoder) => encoder.flush(),
            Sink::Zlib(encoder) => encoder.flush(),
            Sink::Snappy(encoder) => encoder.flush(),
        }
    }

    /// Ends the stream.
    ///
    /// # Errors
    /// As the system says.
    pub fn finish(self) -> io::Result<()> {
        match self {
            Sink::Plain(mut file) => file.flush(),
            Sink::Gzip(encoder) => encoder.finish()?.flush(),
            Sink::Zlib(encoder) => encoder.finish()?.flush(),
            Sink::Snappy(encoder) => {
                encoder.into_inner().map_err(|e| io::Error::other(e.to_string()))?.flush()
            }
        }
    }
}

fn write_all_vectored(file: &mut File, parts: &[&[u8]]) -> io::Result<()> {
    let mut slices: Vec<_> = parts.iter().map(|part| io::IoSlice::new(part)).collect();
    let mut left = slices.as_mut_slice();
    io::IoSlice::advance_slices(&mut left, 0); // drops empty parts at the front
    while !left.is_empty() {
        match file.write_vectored(left) {
            Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
            Ok(count) => io::IoSlice::advance_slices(&mut left, count),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn compressed(bytes: &[u8], compression: Compression) -> Vec<u8> {
        let mut file = tempfile::tempfile().unwrap();
        let mut sink = Sink::new(file.try_clone().unwrap(), compression, None).unwrap();
        sink.write_parts(&[b"", bytes]).unwrap();
        sink.finish().unwrap();
        let mut out = Vec::new();
        io::Seek::rewind(&mut file).unwrap();
        io::Read::read_to_end(&mut file, &mut out).unwrap();
        out
    }

    /// Decompresses a file of these bytes, asking for `step` bytes at a time.
    fn inflated(bytes: &[u8], compression: Compression, step: usize) -> Result<Vec<u8>> {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), bytes).unwrap();
        let input = BlockReader::open(file.path().to_str().unwrap())?;
        let mut stream = Inflate::new(input, compression)?;
        let (mut out, mut block) = (Vec::new(), vec![0; step]);
        loop {
            match stream.read(&mut block)? {
                0 => return Ok(out),
                count => out.extend_from_slice(&block[..count]),
            }
        }
    }

    #[test]
    fn names_are_taken_by_all_and_others_refused() {
        for (name, want) in [
            (None, Compression::None),
            (Some(""), Compression::None),
            (Some("GZIP"), Compression::Gzip),
            (Some("ZLIB"), Compression::Zlib),
        ] {
            assert_eq!(Compression::from_name(name).unwrap(), want);
        }
        let text = Compression::from_name(Some("gzip")).unwrap_err().to_string();
        for part in ["\"gzip\"", "GZIP", "ZLIB", "None"] {
            assert!(text.contains(part), "{text}");
        }
    }

    #[test]
    fn members_one_after_another_read_as_one_stream() {
        for compression in [Compression::Gzip, Compression::Zlib] {
            let empty = compressed(b"", compression);
            let body: Vec<u8> = (0..200_000_u32).flat_map(|i| (i / 7).to_le_bytes()).collect();
            let a = compressed(&body, compression);
            let b = compressed(b"tail", compression);
            let file = [&empty[..], &a, &empty, &empty, &b, &empty].concat();
            assert_eq!(Compression::of_head(&file), compression);
            for step in [1, 7, 4096, 300_000, 10_000_000] {
                if step == 1 {
                    assert_eq!(inflated(&b, compression, 1).unwrap(), b"tail");
                    continue;
                }
                let want = [&body[..], b"tail"].concat();
                assert!(inflated(&file, compression, step).unwrap() == want, "{step}");
            }
            assert_eq!(inflated(&empty, compression, 10).unwrap(), b"");
            assert_eq!(inflated(b"", compression, 10).unwrap(), b"");
        }
    }

    #[test]
    fn a_cut_off_stream_is_an_error_at_every_byte() {
        for compression in [Compression::Gzip, Compression::Zlib] {
            let file = compressed(b"some text that is some text", compression);
            for cut in 1..file.len() {
                let error = inflated(&file[..cut], compression, 9).unwrap_err();
                assert_eq!(error.kind(), crate::ErrorKind::DataLoss);
                assert!(error.message().starts_with("truncated"), "{cut}: {error}");
            }
        }
    }

    #[test]
    fn what_is_not_compressed_is_an_error() {
        let error = inflated(b"plain text, plainly", Compression::Gzip, 100).unwrap_err();
        assert!(error.message().contains("GZIP"), "{error}");
        assert!(inflated(b"plain text, plainly", Compression::Zlib, 100).is_err());
        let mut trailing = compressed(b"x", Compression::Gzip);
        trailing.extend_from_slice(b"trailing rubbish");
        assert!(inflated(&trailing, Compression::Gzip, 100).is_err());
    }
}
