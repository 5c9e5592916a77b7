//! Nodes with several inputs.

pub mod choose;
pub mod concatenate;
pub mod flat_map;
pub mod interleave;
mod joining;
mod plans;
pub mod selector;
pub mod zip;
