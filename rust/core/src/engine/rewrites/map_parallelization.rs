//! `map_parallelization`: a map that runs as a graph gets several tasks, where reading ahead can
//! neither be noticed nor draw seeds for epochs that are never reached.

use std::any::Any;
use std::sync::Arc;

use crate::engine::apply::Parallel;
use crate::engine::node::{Plan, is_quiet, seed_slots};
use crate::transforms::fused::FusedNode;
use crate::transforms::map::MapNode;

/// The map with tasks of its own, and what was done.
pub fn parallelize(plan: &Plan) -> Option<(Plan, String)> {
    if !is_quiet(plan) || seed_slots(plan) > 0 || plan.is_passage() {
        return None;
    }
    let node: &dyn Any = &**plan;
    let (parallel, deterministic) = (Parallel::Autotune, Some(true));
    let (rewritten, name): (Plan, String) = if let Some(map) = node.downcast_ref::<MapNode>()
        && map.parallel == Parallel::Serial
    {
        (Arc::new(MapNode { parallel, deterministic, ..map.clone() }), map.function.name())
    } else {
        let fused = node.downcast_ref::<FusedNode>().filter(|fused| fused.is_map())?;
        if fused.parallel != Parallel::Serial {
            return None;
        }
        let names = fused.parts.iter().map(|part| part.function.name()).collect::<Vec<_>>();
        (Arc::new(FusedNode { parallel, deterministic, ..fused.clone() }), names.join(", "))
    };
    Some((rewritten, format!("{name} runs in several tasks (map_parallelization)")))
}
