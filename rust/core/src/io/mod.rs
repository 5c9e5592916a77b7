//! Bytes in and out: files, compression, checksums.
