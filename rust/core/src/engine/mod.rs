//! From plan to run: nodes, stages, drivers, the work pool.

pub mod access;
pub mod apply;
pub mod autotune;
pub mod budget;
mod by_number;
pub mod driver;
pub(crate) mod ending;
pub mod explain;
pub mod fills;
pub mod fingerprint;
pub mod group;
pub mod limit;
pub(crate) mod lookahead;
pub mod losses;
#[cfg(all(test, feature = "shuttle"))]
mod models;
pub mod nested;
pub mod nested_log;
pub mod node;
pub mod notices;
pub mod opened_files;
pub mod opening;
pub mod optimise;
pub mod pace;
pub mod plan_keys;
pub mod pool;
pub mod ram;
pub mod reshard;
pub mod rewrites;
pub mod run;
pub mod seeds;
pub mod skipping;
pub mod stage;
pub mod state;
mod state_text;
pub mod stats;
pub(crate) mod sync;
pub mod wait;

pub use node::{Cardinality, Node, Plan, RunOptions};
pub use opening::Opening;
pub use run::Run;
pub use skipping::Skipped;
pub use stage::{Input, Stage};

pub(crate) use sync::lock;
