//! The rewrites of a plan before it runs. They change how fast elements come, never which.
//!
//! Steps that change nothing need no rewrite: they open as their input.

use std::sync::Arc;

use crate::engine::node::{Plan, RunOptions, is_quiet, seed_slots};
use crate::error::Result;
use crate::transforms::prefetch::{AUTOTUNE, PrefetchNode};

/// The plan as it will be opened.
///
/// # Errors
/// Those of the nodes that are added.
pub fn optimise(plan: &Plan, options: &RunOptions) -> Result<Plan> {
    if options.inject_prefetch {
        return inject_prefetch(plan);
    }
    Ok(Arc::clone(plan))
}

/// A quiet plan reads ahead of its user, as with tf.data's `inject_prefetch`. Plans that draw
/// seeds are left alone: reading ahead would draw for epochs that the user never reaches.
fn inject_prefetch(plan: &Plan) -> Result<Plan> {
    if plan.name() == "prefetch" || !is_quiet(plan) || seed_slots(plan) > 0 {
        return Ok(Arc::clone(plan));
    }
    PrefetchNode::plan(Arc::clone(plan), AUTOTUNE)
}
