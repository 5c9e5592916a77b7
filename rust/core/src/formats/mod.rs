//! Bytes to records to values: TFRecord framing, Example parsing, text, CSV, files of elements.

pub mod base64;
pub mod chunks;
pub mod csv;
pub mod example;
pub mod json_example;
pub mod lines;
pub mod message;
pub mod parse;
pub mod proto;
pub mod saved;
pub mod sequence;
pub mod tensor_proto;
pub mod tfrecord;
mod walker;
