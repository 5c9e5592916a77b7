//! The engine of headrace: input pipelines for training loops.

pub mod batching;
pub mod combine;
pub mod data;
pub mod engine;
pub mod error;
pub mod formats;
pub mod graph;
pub mod io;
pub mod kernels;
pub mod random;
pub mod sources;
pub mod transforms;

pub use error::{Error, ErrorKind, Result};
