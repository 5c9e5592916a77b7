//! What the first bytes of an index say: of which file it is, how many records that has, where the
//! directory is.

use super::{BLOCK_RECORDS, HEADER_BYTES, Identity, MAGIC, VERSION};
use crate::error::Result;
use crate::io::compress::Compression;
use crate::io::crc::crc32c;

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
    pub(super) fn decode(bytes: &[u8; HEADER_BYTES]) -> Result<Header, String> {
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
