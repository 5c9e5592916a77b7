//! Nodes with several inputs.

pub mod choose;
pub mod concatenate;
pub mod selector;
pub mod zip;
