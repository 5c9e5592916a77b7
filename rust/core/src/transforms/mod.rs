//! Nodes with one input, whose elements stay elements.

pub mod cache;
pub mod enumerate;
pub mod filter;
pub mod map;
pub mod prefetch;
pub mod repeat;
pub mod shuffle;
pub mod skip;
pub mod take;
