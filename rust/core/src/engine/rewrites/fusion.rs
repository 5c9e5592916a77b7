//! `map_fusion`, `map_and_filter_fusion` and `filter_fusion`: neighbouring steps that run as graphs
//! become one.
//!
//! States stay valid: functions keep their numbers and marks keep their form. Two filters would
//! wrap marks twice, so they are fused only where no marks come from below.

use std::any::Any;
use std::sync::Arc;

use crate::engine::apply::Parallel;
use crate::engine::node::{Node, Plan, Rewrites};
use crate::graph::call::Prepared;
use crate::transforms::filter::FilterNode;
use crate::transforms::fused::{FusedNode, Part};
use crate::transforms::map::MapNode;

/// The step fused with the one below it, and what was done.
pub fn fuse(plan: &Plan, switches: &Rewrites) -> Option<(Plan, String)> {
    let upper = as_fused(plan)?;
    let lower = as_fused(&upper.input)?;
    let maps = lower.is_map() && upper.is_map();
    let (enabled, name) = match (lower.is_map(), upper.is_map()) {
        (true, true) => (switches.map_fusion, "map_fusion"),
        (true, false) => (switches.map_and_filter_fusion, "map_and_filter_fusion"),
        (false, false) => (switches.filter_fusion && !marks(&lower.input), "filter_fusion"),
        // A filter stands last, so that skipping runs no map in vain.
        (false, true) => (false, ""),
    };
    let alike = if maps {
        upper.parallel == lower.parallel && upper.deterministic == lower.deterministic
    } else {
        lower.parallel == Parallel::Serial
    };
    if !enabled || !alike {
        return None;
    }
    let names = |parts: &[Part]| {
        let names = parts.iter().map(|part| part.function.name());
        names.collect::<Vec<_>>().join(", ")
    };
    let done =
        format!("{} and {} run as one step ({name})", names(&lower.parts), names(&upper.parts));
    let parts = lower.parts.iter().chain(&upper.parts).cloned().collect();
    Some((Arc::new(FusedNode { parts, ..lower }), done))
}

/// A map, filter or fused step as a fused one, if all its functions are graphs.
fn as_fused(plan: &Plan) -> Option<FusedNode> {
    let node: &dyn Any = &**plan;
    if let Some(fused) = node.downcast_ref::<FusedNode>() {
        return Some(fused.clone());
    }
    let (prepared, function, specs, keeps, input, parallel, deterministic);
    if let Some(map) = node.downcast_ref::<MapNode>() {
        // The identity opens as its input, and is one of the steps that seeds are drawn past.
        if map.is_passage() || map.reorder.is_some() {
            return None;
        }
        (prepared, function, input) = (&map.prepared, &map.function, &map.input);
        (keeps, parallel, deterministic) = (false, map.parallel, map.deterministic);
        specs = [input.spec().clone(), map.spec.clone()];
    } else {
        let filter = node.downcast_ref::<FilterNode>()?;
        (prepared, function, input) = (&filter.prepared, &filter.predicate, &filter.input);
        (keeps, parallel, deterministic) = (true, Parallel::Serial, None);
        specs = [input.spec().clone(), input.spec().clone()];
    }
    if matches!(prepared, Prepared::Foreign { .. }) {
        return None;
    }
    let (function, prepared) = (Arc::clone(function), prepared.clone());
    let parts = vec![Part { keeps, function, prepared, specs }];
    Some(FusedNode { input: Arc::clone(input), parts, parallel, deterministic })
}

/// True unless it is certain that chunks of the plan carry no marks.
fn marks(plan: &Plan) -> bool {
    const WITHOUT: [&str; 10] = [
        "range",
        "from_tensors",
        "from_tensor_slices",
        "map",
        "filter",
        "shuffle",
        "take",
        "skip",
        "batch",
        "enumerate",
    ];
    !WITHOUT.contains(&plan.name()) || plan.inputs().iter().any(marks)
}
