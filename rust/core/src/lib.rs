//! The engine of headrace: input pipelines for training loops.
//!
//! Follow one record through the house. [`io`] reads a block of a file, [`formats`] finds the
//! records in it and the features in a record; both hand on views of the block. A
//! [`data::Chunk`] holds some elements in columns. [`sources`] make chunks, [`transforms`],
//! [`combine`] and [`batching`] change them, each op in one file: a node of the plan, and the
//! stage it opens. A traced function is a [`graph`] of [`kernels`], evaluated on whole columns.
//! [`engine`] opens a plan as a run, drives what runs ahead, and knows where the run stands.

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
