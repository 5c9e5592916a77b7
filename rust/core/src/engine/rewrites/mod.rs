//! The rewrites, one file each: each looks at one step and those right below it.

pub mod fusion;
pub mod map_parallelization;
pub mod noop_elimination;
pub mod parallel_batch;
pub mod shuffle_and_repeat_fusion;
