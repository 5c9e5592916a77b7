//! Bytes to records to values: TFRecord framing and Example parsing.

pub mod base64;
pub mod chunks;
pub mod example;
pub mod message;
pub mod parse;
pub mod proto;
pub mod sequence;
pub mod tensor_proto;
pub mod tfrecord;
