//! The engine of headrace: input pipelines for training loops.

pub mod data;
pub mod error;

pub use error::{Error, ErrorKind, Result};
