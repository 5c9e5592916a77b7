//! Feature specs to columns: what `parse_single_example` and `parse_example` do.
//!
//! A [`ParsePlan`] is made once from the features and then parses many records. The features
//! become *sources* (a key and how its list is read, `plan.rs`) and outputs made of sources.
//! Records are taken a block at a time: a walk over each notes where the wanted features lie,
//! then each source reads its part of the block (`decode.rs`), fixed lengths straight into the
//! column that is handed out (`dense.rs`), others end to end (`flat.rs`). What is made of flat
//! lists is in `varlen.rs`, `sparse.rs` and `ragged.rs`, once for rows ([`ParsePlan::parse_rows`])
//! and once for a batch ([`ParsePlan::parse_batch`]).
//!
//! SequenceExamples (`sequence.rs`, `steps.rs`) have two such sets of sources, one for the context and one for
//! the steps, which are read as if each were a record.
//!
//! Results and errors are those of TensorFlow 2.21; where a message of TensorFlow names the case
//! well its words are kept, so that they can be searched for.

mod decode;
mod dense;
mod flat;
mod message;
mod plan;
mod ragged;
mod sequence;
mod sparse;
mod steps;
mod varlen;

pub use plan::{Feature, ParsePlan, Partition};
pub use sequence::SequencePlan;
