//! Where the records of a file lie: a small file beside it that makes random access quick.
//!
//! Offsets stand in blocks of [`BLOCK_RECORDS`], each as its distance from a straight line in as few
//! bits as do: none where all records have one length. A directory in front of nothing else holds
//! the first offset of each block, so that any record is found by two reads. The index of a
//! compressed file has points in it at which decompression can start, about one for each MiB that
//! comes out, each with the bytes that the stream may refer to ([`SeekPoint`]). Every part has a
//! checksum, and the header says of which file the index is ([`Identity`]). The format is told in
//! docs/formats.md.
//!
//! ```
//! use headrace::formats::tfrecord::index::{Index, build};
//! use headrace::formats::tfrecord::{Writer, WriterOptions};
//! use headrace::io::compress::Compression;
//!
//! # let folder = tempfile::tempdir().unwrap();
//! # let path = folder.path().join("a.tfrecord");
//! # let path = path.to_str().unwrap();
//! let mut writer = Writer::create(path, WriterOptions::default())?;
//! writer.write(b"one")?;
//! writer.write(b"three")?;
//! writer.close()?;
//!
//! let index = build(path, Compression::None, None, &mut |_| Ok(()))?;
//! assert_eq!(index.records(), 2);
//! assert_eq!(index.place(1)?, (19, 40));
//! # Ok::<(), headrace::Error>(())
//! ```

mod block;
mod build;
mod header;
mod identity;
mod read;
mod sidecar;
mod write;

#[cfg(test)]
mod tests;

pub use crate::io::seek_point::SeekPoint;
pub use build::{Ensured, POINT_DISTANCE, Recorder, build, detect, ensure, verify};
pub use identity::Identity;
pub use read::{Index, Lookup};
pub use sidecar::{Found, Sidecar};
pub use write::IndexWriter;

/// Records of a block.
pub const BLOCK_RECORDS: u64 = 1024;

const MAGIC: &[u8; 8] = b"HRINDEX\n";
const VERSION: u32 = 1;
const HEADER_BYTES: usize = 96;
/// Bytes of a block's entry in the directory.
const ENTRY_BYTES: usize = 24;
/// Bytes of a seek point's entry in the directory.
const POINT_BYTES: usize = 40;
