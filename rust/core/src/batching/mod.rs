//! Elements become batches, and back.

pub mod batch;
pub mod group_by_window;
pub mod pack;
pub mod padded_batch;
pub(crate) mod parallel;
pub mod ragged_batch;
pub mod rebatch;
pub mod sparse_batch;
mod stacking;
pub mod unbatch;
pub mod window;
