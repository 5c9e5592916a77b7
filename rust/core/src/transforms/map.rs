//! `Dataset.map`: a function of each element.
//!
//! A traced function is a graph, evaluated on whole chunks; any other is foreign code, called once
//! for each element and never ahead of demand. With `num_parallel_calls` a driver works on several
//! chunks (graphs) or elements (foreign code) at once.
//!
//! Elements are counted, for the random numbers that the function may draw: marks are wrapped in
//! that count.

use std::any::Any;
use std::sync::Arc;

use crate::data::{Chunk, ElementSpec, Position};
use crate::engine::apply::{Apply, Parallel, function_arg, function_notes};
use crate::engine::autotune::Window;
use crate::engine::driver::{self, Driver, Outcomes, Work};
use crate::engine::group::Group;
use crate::engine::node::{Arg, RunOptions, Unfixed};
use crate::engine::pool::Kind;
use crate::engine::run::RunContext;
use crate::engine::skipping::{after, passed, skip_ready};
use crate::engine::stage::EXACT_FROM;
use crate::engine::{Cardinality, Input, Node, Opening, Plan, Skipped, Stage};
use crate::error::{Error, Result};
use crate::graph::call::{FunctionRun, Prepared, UserFunction};
use crate::graph::rows::Alone;

/// The function of each element of the input.
#[derive(Clone)]
pub struct MapNode {
    pub(crate) input: Plan,
    pub(crate) function: Arc<dyn UserFunction>,
    pub(crate) parallel: Parallel,
    /// Whether order is kept; `None`: as the options say.
    pub(crate) deterministic: Option<bool>,
    /// How many later results may overtake one of a function that runs as foreign code.
    pub(crate) reorder: Option<usize>,
    pub(crate) prepared: Prepared,
    pub(crate) spec: ElementSpec,
}

impl MapNode {
    /// A plan that calls `function` on each element of `input`. `declared` is what its results
    /// look like, for functions that cannot be traced.
    ///
    /// # Errors
    /// What the function cannot be prepared for.
    pub fn plan(
        input: Plan,
        function: Arc<dyn UserFunction>,
        parallel: Parallel,
        deterministic: Option<bool>,
        declared: Option<ElementSpec>,
    ) -> Result<Plan> {
        let prepared = function.prepare(input.spec())?;
        let spec = match &prepared {
            Prepared::Graph(graph) => graph.element_spec(),
            Prepared::Foreign { gives, .. } => declared.unwrap_or_else(|| gives.clone()),
        };
        let reorder = None;
        Ok(Arc::new(MapNode { input, function, parallel, deterministic, reorder, prepared, spec }))
    }

    /// As [`MapNode::plan`], where a result may be overtaken by `window` later ones.
    ///
    /// # Errors
    /// As [`MapNode::plan`]; `InvalidArgument` without several calls.
    pub fn plan_reordering(
        input: Plan,
        function: Arc<dyn UserFunction>,
        parallel: Parallel,
        window: usize,
        declared: Option<ElementSpec>,
    ) -> Result<Plan> {
        if parallel == Parallel::Serial {
            let text =
                "reorder_window needs num_parallel_calls: one call after another keeps order";
            return Err(Error::invalid_argument(text));
        }
        let plan = Self::plan(input, function, parallel, Some(true), declared)?;
        let node: &dyn Any = &*plan;
        let map = node.downcast_ref::<MapNode>().ok_or_else(|| Error::internal("no map"))?;
        Ok(Arc::new(MapNode { reorder: Some(window), ..map.clone() }))
    }

    /// How many results may overtake one, in a run with these options.
    fn reorder(&self, options: &RunOptions) -> usize {
        // Graphs work on many elements at once, in order.
        let free = self.observable() && !options.checkpointable;
        self.reorder.filter(|_| free).unwrap_or(0)
    }
}

impl Node for MapNode {
    fn name(&self) -> &'static str {
        "map"
    }

    fn args(&self) -> Vec<Arg> {
        let function = function_arg("map_func", &self.function, &self.prepared);
        let calls = Arg::tuning("num_parallel_calls", self.parallel.text());
        let reorder = self.reorder.map(|window| Arg::tuning("reorder_window", window));
        [function, calls].into_iter().chain(reorder).collect()
    }

    fn inputs(&self) -> Vec<Plan> {
        vec![Arc::clone(&self.input)]
    }

    fn spec(&self) -> &ElementSpec {
        &self.spec
    }

    fn cardinality(&self) -> Cardinality {
        self.input.cardinality()
    }

    fn observable(&self) -> bool {
        matches!(self.prepared, Prepared::Foreign { .. })
    }

    fn is_passage(&self) -> bool {
        matches!(&self.prepared, Prepared::Graph(graph) if graph.is_identity())
    }

    fn notes(&self) -> Vec<String> {
        function_notes(&self.prepared)
    }

    fn function(&self) -> Option<&Arc<dyn UserFunction>> {
        Some(&self.function)
    }

    fn is_indexable(&self) -> bool {
        true
    }

    fn width(&self) -> Option<u64> {
        Some(1)
    }

    fn unfixed(&self, options: &RunOptions) -> Option<Unfixed> {
        let parallel = self.parallel != Parallel::Serial;
        let free = !options.keeps_order(self.deterministic) || self.reorder(options) > 0;
        (parallel && free).then_some(Unfixed::Order)
    }

    fn with_inputs(&self, mut inputs: Vec<Plan>) -> Option<Plan> {
        let input = inputs.pop()?;
        Some(Arc::new(MapNode { input, ..self.clone() }))
    }

    fn open(&self, opening: &Opening<'_>) -> Result<Box<dyn Stage>> {
        let function = opening.function(&self.function, self.input.spec())?;
        let declared = if function.is_native() { None } else { Some(self.spec.clone()) };
        let site = opening.site(0, &self.function);
        // Marks pass through a map that changes nothing.
        let counts = !self.is_passage();
        let (taken, position) = match counts {
            true => (opening.mark.own(0), opening.mark.input(0)),
            false => (0, Position { mark: opening.mark.clone(), since: 0 }),
        };
        let function_run = Arc::clone(&function);
        let work = Apply { function: function_run, site, stage: "map", declared, counts };
        let work = Arc::new(work);
        if self.parallel == Parallel::Serial || opening.run.options.on_demand {
            let input = opening.input_at(&self.input, position, false)?;
            return Ok(Box::new(MapStage { input, work, taken, ready: Outcomes::new() }));
        }
        let native = function.is_native();
        let mut plan = driver_plan(work, native, self.parallel, self.deterministic, opening.run);
        if !native {
            plan.reorder = self.reorder(&opening.run.options);
            // Its bell tells the consumer of any result.
            plan.group = (plan.reorder > 0).then(|| Group::new(Arc::clone(&plan.workers)));
        }
        let input = opening.input_at(&self.input, position, true)?;
        let driver = Driver::at(taken, input, plan, opening.run, &opening.stats);
        Ok(Box::new(ParallelMapStage { driver, function }))
    }
}

/// How a driver goes about functions of elements.
pub(crate) fn driver_plan(
    work: Arc<dyn Work>,
    native: bool,
    parallel: Parallel,
    deterministic: Option<bool>,
    run: &RunContext,
) -> driver::Plan {
    let kind = if native { Kind::Work } else { Kind::Blocking };
    // Of an element of foreign code it can be seen that it was made ahead: no more than asked for.
    let ahead = if native || parallel == Parallel::Autotune { 2 } else { 1 };
    let workers = match parallel {
        Parallel::Autotune if work.needs_cores() => run.autotuned(Kind::Work),
        _ => parallel.workers(run, kind),
    };
    driver::Plan {
        work: Some(work),
        single: !native,
        fill: true,
        ordered: run.options.keeps_order(deterministic),
        // Two chunks a worker: one in work, one for the consumer.
        ..driver::Plan::new(workers, Window::PerWorker(ahead), kind)
    }
}

struct MapStage {
    input: Input,
    work: Arc<Apply>,
    /// Elements taken from the input.
    taken: u64,
    ready: Outcomes,
}

impl MapStage {
    fn pull(&mut self, max: usize) -> Result<Option<Chunk>> {
        let native = !self.work.function.is_foreign_next();
        // The first element alone is tried both ways: the function must not run ahead.
        let max = if self.work.function.is_native() && !native { 1 } else { max };
        let chunk = match native && max >= EXACT_FROM && self.input.quiet() {
            true => self.input.fill(max),
            false => self.input.next(max),
        };
        self.taken += chunk.as_ref().map_or(1, |c| c.as_ref().map_or(0, |c| c.rows() as u64));
        chunk
    }
}

impl Stage for MapStage {
    fn next(&mut self, max: usize) -> Result<Option<Chunk>> {
        if self.ready.is_empty() {
            let first = self.taken;
            let Some(chunk) = self.pull(max)? else { return Ok(None) };
            self.ready = self.work.run(chunk, first, &Alone);
        }
        match self.ready.pop_front() {
            Some(outcome) => outcome.map(Some),
            None => Err(Error::internal("a function gave no results")),
        }
    }

    fn skip(&mut self, n: u64) -> Skipped {
        let ready = skip_ready(&mut self.ready, n)?;
        let skipped = if ready < n { self.input.skip(n - ready) } else { Ok(0) };
        self.taken += passed(&skipped);
        after(ready, skipped)
    }

    fn quiet(&self) -> bool {
        self.work.function.is_native() && self.input.quiet()
    }
}

struct ParallelMapStage {
    driver: Driver,
    function: Arc<FunctionRun>,
}

impl Stage for ParallelMapStage {
    fn next(&mut self, max: usize) -> Result<Option<Chunk>> {
        self.driver.next(max)
    }

    fn skip(&mut self, n: u64) -> Skipped {
        self.driver.skip(n)
    }

    fn quiet(&self) -> bool {
        self.function.is_native() && self.driver.quiet()
    }
}
