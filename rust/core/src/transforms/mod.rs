//! Nodes with one input, whose elements stay elements.

pub mod assert_cardinality;
pub mod cache;
pub mod enumerate;
pub mod filter;
pub(crate) mod fused;
pub mod global_shuffle;
pub mod ignore_errors;
pub mod map;
pub mod prefetch;
pub mod reduce;
pub mod repeat;
pub mod resample;
pub mod salvage;
pub mod save;
pub mod scan;
pub mod shard;
pub mod sharded_snapshot;
pub mod shuffle;
pub(crate) mod shuffle_and_repeat;
pub mod skip;
pub mod snapshot;
pub mod take;
pub mod take_while;
pub mod unique;
