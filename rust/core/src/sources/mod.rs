//! Nodes without an input.

pub mod counter;
pub mod csv;
mod files;
pub mod fixed_length;
pub mod from_source;
pub mod generator;
pub mod load;
pub mod placeholder;
pub mod random;
pub mod range;
pub mod tensors;
pub mod text_line;
pub mod tfrecord;
mod tfrecord_files;
mod tfrecord_gather;
pub mod tfrecord_in_turn;
pub mod tfrecord_index;
mod turns;
