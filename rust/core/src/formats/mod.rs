//! Bytes to records to values: TFRecord framing and Example parsing.

pub mod chunks;
pub mod example;
pub mod message;
pub mod parse;
pub mod proto;
pub mod sequence;
pub mod tfrecord;
