//! How files are compressed, and writing them so. Reading is in `inflate` and `snappy`.

use std::fs::File;
use std::io::{self, Write};

use flate2::write::{GzEncoder, ZlibEncoder};
use snap::write::FrameEncoder;

use crate::error::{Error, Result};

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
}
