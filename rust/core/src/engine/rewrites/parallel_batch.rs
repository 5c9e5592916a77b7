//! `parallel_batch`: batches whose rows are copied together are put together by several tasks, where
//! reading ahead can neither be noticed nor draw seeds for epochs that are never reached.

use std::any::Any;
use std::sync::Arc;

use crate::batching::batch::BatchNode;
use crate::batching::padded_batch::PaddedBatchNode;
use crate::batching::parallel::{Tasks, copies};
use crate::batching::ragged_batch::RaggedBatchNode;
use crate::engine::apply::Parallel;
use crate::engine::node::{Plan, is_quiet, seed_slots};

/// The batch with tasks of its own, and what was done.
pub fn parallelize(plan: &Plan) -> Option<(Plan, String)> {
    let node: &dyn Any = &**plan;
    let tasks = Tasks { parallel: Parallel::Autotune, deterministic: Some(true) };
    let name = plan.name();
    if node.downcast_ref::<BatchNode>().is_some()
        && plan.inputs().iter().all(|input| !copies(input.spec()))
    {
        let text = format!("{name} cuts slices, which need no tasks (parallel_batch)");
        return Some((Arc::clone(plan), text));
    }
    if !is_quiet(plan) || seed_slots(plan) > 0 {
        return None;
    }
    let rewritten: Plan = if let Some(batch) = node.downcast_ref::<BatchNode>() {
        Arc::new(batch.with_tasks(tasks)?)
    } else if let Some(batch) = node.downcast_ref::<PaddedBatchNode>() {
        Arc::new(batch.with_tasks(tasks)?)
    } else {
        Arc::new(node.downcast_ref::<RaggedBatchNode>()?.with_tasks(tasks)?)
    };
    Some((rewritten, format!("{name} puts several batches together at once (parallel_batch)")))
}
