//! The fingerprint of a plan: the same for plans that give the same elements, in every process.
//!
//! Ops, arguments that decide which elements come, functions by their graph or code, and the values of
//! arrays go into it; what only decides how fast they come does not. Unlike a state's keys it looks
//! into data.

use crate::engine::node::Plan;
use crate::graph::hash::Fnv;

/// 64 bits for the plan.
pub fn fingerprint(plan: &Plan) -> u64 {
    let mut hash = Fnv::default();
    feed(plan, &mut hash);
    hash.finish()
}

fn feed(plan: &Plan, hash: &mut Fnv) {
    let inputs = plan.inputs();
    // Steps that change nothing say nothing.
    if let ([input], true) = (&inputs[..], plan.is_passage()) {
        return feed(input, hash);
    }
    hash.bytes(plan.name().as_bytes());
    for arg in plan.args().iter().filter(|arg| arg.in_state) {
        hash.bytes(arg.name.as_bytes());
        hash.number(arg.hash64());
    }
    plan.feed(hash);
    hash.number(inputs.len() as u64);
    inputs.iter().for_each(|input| feed(input, hash));
}
