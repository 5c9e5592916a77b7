//! Elements in files: what `cache`, `save` and `snapshot` write.
//!
//! A file is a TFRecord file, so every part of it has checksums. Record 0 is a header in JSON; each
//! other record holds the columns of some elements:
//!
//! ```text
//! u32  number of elements
//! u32  number of columns, then each of them:
//! u8   kind: 0 stacked, 1 rows, 2 sparse, 3 ragged, 4 optional
//!
//! stacked, rows:  u8 dtype; shapes; values
//!   shapes of stacked:  one shape, whose first axis counts the elements
//!   shapes of rows:     one shape for each element
//!   shape:              u8 rank, then a varint for each axis
//!   values, fixed size: row-major, little-endian
//!   values, text:       a varint for each length, then all bytes
//! sparse:         the columns of indices, values, dense shapes
//! ragged:         u8 number of partitions; the column of values, then those of the splits
//! optional:       a varint and so many bytes of JSON, the spec of the values; a u8 for each element, 1
//!                 where there is a value; the columns of those values
//! ```
//!
//! Numbers are little-endian; a varint has 7 bits in a byte, the lowest first. Nothing is allocated
//! before the bytes that it is for are there. How elements nest is in the header, for people and
//! for readers that do not know it.

mod decode;
mod encode;
mod file;
mod nesting;
mod spec_json;
mod writer;

#[cfg(test)]
mod tests;

pub use decode::decode;
pub use encode::encode;
pub use file::{ChunkReader, Header, check_kinds};
pub use nesting::{from_json as structure_from_json, to_json as structure_to_json};
pub use writer::{ChunkWriter, Written};

const STACKED: u8 = 0;
const ROWS: u8 = 1;
const SPARSE: u8 = 2;
const RAGGED: u8 = 3;
const OPTIONAL: u8 = 4;
