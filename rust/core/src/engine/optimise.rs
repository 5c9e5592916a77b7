//! The rewrites of a plan before it runs. They change how fast elements come, never which.
//!
//! `skip` and `take` need no rewrite: stages hand skips down to the source, and ask for no more than
//! is taken. No rewrite adds, drops or reorders steps that draw seeds or keep elements, and states are
//! those of the plan as it was.

use std::sync::Arc;

use crate::engine::node::{Plan, RunOptions, is_quiet, seed_slots};
use crate::engine::rewrites::{
    fusion, map_parallelization, noop_elimination, parallel_batch, shuffle_and_repeat_fusion,
};
use crate::error::Result;
use crate::transforms::prefetch::PrefetchNode;

/// A plan as it will be opened, and what was done to it.
pub struct Optimised {
    /// The plan.
    pub plan: Plan,
    /// One line for each rewrite, with the name of its switch.
    pub made: Vec<String>,
}

/// A rewrite of one step: the step as it becomes, and what was done.
type Change<'a> = &'a dyn Fn(&Plan) -> Option<(Plan, String)>;

/// The plan as it will be opened.
///
/// # Errors
/// Those of the nodes that are added.
pub fn optimise(plan: &Plan, options: &RunOptions) -> Result<Optimised> {
    let mut made = Vec::new();
    let mut plan = Arc::clone(plan);
    let switches = &options.rewrites;
    if switches.noop_elimination {
        plan = rewrite(&plan, &noop_elimination::eliminate, &mut made);
    }
    if switches.map_fusion || switches.map_and_filter_fusion || switches.filter_fusion {
        plan = rewrite(&plan, &|plan| fusion::fuse(plan, switches), &mut made);
    }
    if switches.shuffle_and_repeat_fusion {
        plan = rewrite(&plan, &shuffle_and_repeat_fusion::fuse, &mut made);
    }
    if switches.map_parallelization {
        plan = rewrite(&plan, &map_parallelization::parallelize, &mut made);
    }
    if switches.parallel_batch {
        plan = rewrite(&plan, &parallel_batch::parallelize, &mut made);
    }
    // Told first, since it stands above all others.
    if options.inject_prefetch && may_read_ahead(&plan) {
        plan = PrefetchNode::injected(plan);
        made.insert(0, "read ahead of the user by an injected prefetch (inject_prefetch)".into());
    }
    Ok(Optimised { plan, made })
}

/// A quiet plan reads ahead of its user, as with tf.data's `inject_prefetch`. Plans that draw
/// seeds are left alone: reading ahead would draw for epochs that the user never reaches.
fn may_read_ahead(plan: &Plan) -> bool {
    plan.name() != "prefetch" && is_quiet(plan) && seed_slots(plan) == 0
}

/// The plan with `change` made to its steps, from the sources up.
fn rewrite(plan: &Plan, change: Change<'_>, made: &mut Vec<String>) -> Plan {
    let mut plan = Arc::clone(plan);
    let inputs = plan.inputs();
    // What cannot be put on other inputs keeps them as they are.
    if !inputs.is_empty() && plan.with_inputs(inputs.clone()).is_some() {
        let mut done = Vec::new();
        let changed = inputs.iter().map(|input| rewrite(input, change, &mut done)).collect();
        if !done.is_empty()
            && let Some(changed) = plan.with_inputs(changed)
        {
            plan = changed;
            made.append(&mut done);
        }
    }
    if let Some((changed, done)) = change(&plan) {
        plan = changed;
        made.push(done);
    }
    plan
}
