//! TFRecord files: records one after another, each in a frame of two checksums.
//!
//! ```text
//! 8 bytes  length of the payload, little-endian
//! 4 bytes  masked CRC32C of these 8 bytes
//! payload
//! 4 bytes  masked CRC32C of the payload
//! ```
//!
//! There is no file header and no end mark: files may be concatenated, and a file that was cut at
//! a record's end is a shorter file. [`Reader`] hands records out as views of the blocks they were
//! read in; [`Writer`] puts whole records into the file at a time.
//!
//! ```
//! use headrace::formats::tfrecord::{ReadOptions, Reader, Writer, WriterOptions};
//! use headrace::io::compress::Compression;
//!
//! # let folder = tempfile::tempdir().unwrap();
//! # let path = folder.path().join("a.tfrecord");
//! # let path = path.to_str().unwrap();
//! let mut writer = Writer::create(path, WriterOptions::default())?;
//! writer.write(b"one")?;
//! writer.write(b"two")?;
//! writer.close()?;
//!
//! let mut reader = Reader::open(path, Compression::None, ReadOptions::default())?;
//! assert_eq!(reader.skip(1)?, 1);
//! let records = reader.next(1024)?.into_iter().next();
//! assert_eq!(records.as_ref().map(|some| some.get(0)), Some(&b"two"[..]));
//! assert!(reader.next(1024)?.is_none());
//! # Ok::<(), headrace::Error>(())
//! ```

mod diagnose;
mod salvage;

pub mod index;
pub mod reader;
pub mod writer;

#[cfg(test)]
mod tests;

pub use reader::{ReadOptions, Reader, payload_len, read_payload};
pub use salvage::Check;
pub use writer::{Writer, WriterOptions};

use crate::io::crc;

/// Bytes before the payload.
pub const HEADER_BYTES: usize = 12;
/// Bytes after the payload.
pub const FOOTER_BYTES: usize = 4;

/// What the first bytes of a frame say.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Header {
    /// Length of the payload.
    len: u64,
    /// True if the length is as it was written.
    intact: bool,
}

impl Header {
    /// Reads a header; `None` if the bytes are too few.
    #[inline]
    fn of(bytes: &[u8]) -> Option<Header> {
        let header: &[u8; HEADER_BYTES] = bytes.first_chunk()?;
        let [a, b, c, d, e, f, g, h, stored @ ..] = *header;
        let len = u64::from_le_bytes([a, b, c, d, e, f, g, h]);
        let intact = crc::mask(crc::crc32c_of_number(len)) == u32::from_le_bytes(stored);
        Some(Header { len, intact })
    }

    /// Length of the whole frame; of an absurd one, more bytes than there can be.
    #[inline]
    fn frame(self) -> u64 {
        self.len.saturating_add((HEADER_BYTES + FOOTER_BYTES) as u64)
    }
}

/// Whether a payload matches the checksum that follows it.
#[inline]
fn is_intact(payload: &[u8], rest: &[u8]) -> bool {
    let stored = rest.first_chunk().map(|footer| u32::from_le_bytes(*footer));
    stored == Some(crc::masked_crc32c(payload))
}
