//! Elements become batches, and back.

pub mod batch;
pub mod padded_batch;
mod stacking;
pub mod unbatch;
