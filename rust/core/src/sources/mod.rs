//! Nodes without an input.

pub mod counter;
pub mod generator;
pub mod placeholder;
pub mod range;
pub mod tensors;
pub mod tfrecord;
