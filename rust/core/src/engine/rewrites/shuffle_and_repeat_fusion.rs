//! `shuffle_and_repeat_fusion`: a `shuffle` and the `repeat` right above it get one buffer, which the
//! next epoch fills while this one is drawn from.
//!
//! Only where that cannot be noticed: of an input that draws seeds, or calls foreign code, the next
//! epoch begins when it is asked for.

use std::any::Any;
use std::sync::Arc;

use crate::engine::node::{Plan, is_quiet, seed_slots};
use crate::transforms::repeat::RepeatNode;
use crate::transforms::shuffle::ShuffleNode;
use crate::transforms::shuffle_and_repeat::ShuffleAndRepeatNode;

/// The repeat as one step with the shuffle below it, and what was done.
pub fn fuse(plan: &Plan) -> Option<(Plan, String)> {
    let node: &dyn Any = &**plan;
    let repeat = node.downcast_ref::<RepeatNode>().filter(|_| !plan.is_passage())?;
    let below: &dyn Any = &*repeat.input;
    let shuffle = below.downcast_ref::<ShuffleNode>()?;
    if !is_quiet(&shuffle.input) || seed_slots(&shuffle.input) > 0 {
        return None;
    }
    let done = "shuffle and repeat have one buffer, which the next epoch fills while this one is \
                drawn from (shuffle_and_repeat_fusion)";
    Some((Arc::new(ShuffleAndRepeatNode::new(repeat, shuffle)), done.into()))
}
