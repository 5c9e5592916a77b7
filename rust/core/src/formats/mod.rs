//! Bytes to records to values: TFRecord framing and Example parsing.

pub mod tfrecord;
