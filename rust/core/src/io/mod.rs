//! Bytes in and out: files, compression, checksums.

pub mod compress;
pub mod crc;
pub mod glob;
pub mod inflate;
pub mod local;
pub mod lock;
pub mod publish;
pub mod seek_point;
pub mod snappy;
pub mod window;
mod zlib;
