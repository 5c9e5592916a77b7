//! Nodes with several inputs.

pub mod concatenate;
pub mod zip;
