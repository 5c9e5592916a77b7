//! `noop_elimination`: steps that change nothing are taken out, so that their neighbours meet.
//!
//! Without it they open as their input, which costs nothing by itself. A `prefetch` stays, and so does
//! the identity map, whose function has a number in states.

use std::sync::Arc;

use crate::engine::node::Plan;

/// The plan below a step that changes nothing, and what was done.
pub fn eliminate(plan: &Plan) -> Option<(Plan, String)> {
    let stays = plan.name() == "prefetch" || plan.function().is_some();
    let inputs = plan.inputs();
    let [input] = &inputs[..] else { return None };
    (plan.is_passage() && !stays).then(|| {
        let args = plan.args().into_iter().map(|arg| format!("{}={}", arg.name, arg.value));
        let args = args.collect::<Vec<_>>().join(", ");
        let done = format!("{}({args}) is left out (noop_elimination)", plan.name());
        (Arc::clone(input), done)
    })
}
