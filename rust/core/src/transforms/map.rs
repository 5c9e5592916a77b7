//! `Dataset.map`: a function of each element.
//!
//! A traced function is a graph, evaluated on whole chunks; any other is foreign code, called once
//! for each element and never ahead of demand. With `num_parallel_calls` a driver works on several
//! chunks (graphs) or elements (foreign code) at once.

use std::sync::Arc;

use crate::data::{Chunk, Column, ElementSpec, Spec};
use crate::engine::driver::{self, Driver, Outcomes, Work};
use crate::engine::node::Arg;
use crate::engine::pool::{Kind, parallelism};
use crate::engine::stage::{EXACT_FROM, is_final};
use crate::engine::{Cardinality, Input, Node, Opening, Plan, Stage};
use crate::error::{Error, Result};
use crate::graph::call::{Called, FunctionRun, Prepared, UserFunction};

/// How many calls a map makes at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Parallel {
    /// One after another, on demand.
    Serial,
    /// Up to so many, ahead of demand.
    Calls(usize),
    /// Ahead of demand, as many as the engine chooses.
    Autotune,
}

impl Parallel {
    /// tf.data's `num_parallel_calls`: `None`, a number, or -1 for AUTOTUNE.
    ///
    /// # Errors
    /// `InvalidArgument` for other numbers below 1.
    pub fn from_calls(calls: Option<i64>) -> Result<Self> {
        match calls {
            None => Ok(Parallel::Serial),
            Some(-1) => Ok(Parallel::Autotune),
            Some(n) => match usize::try_from(n) {
                Ok(calls) if calls > 0 => Ok(Parallel::Calls(calls)),
                _ => Err(Error::invalid_argument(format!(
                    "num_parallel_calls must be greater than zero, or AUTOTUNE (-1), got {n}"
                ))),
            },
        }
    }

    fn calls(self) -> usize {
        match self {
            Parallel::Serial => 1,
            Parallel::Calls(calls) => calls,
            Parallel::Autotune => parallelism(),
        }
    }
}

/// The function of each element of the input.
pub struct MapNode {
    input: Plan,
    function: Arc<dyn UserFunction>,
    parallel: Parallel,
    /// Whether order is kept; `None`: as the options say.
    deterministic: Option<bool>,
    prepared: Prepared,
    spec: ElementSpec,
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
            Prepared::Foreign { .. } => declared.unwrap_or(ElementSpec::Unknown),
        };
        Ok(Arc::new(MapNode { input, function, parallel, deterministic, prepared, spec }))
    }
}

impl Node for MapNode {
    fn name(&self) -> &'static str {
        "map"
    }

    fn args(&self) -> Vec<Arg> {
        let calls = match self.parallel {
            Parallel::Serial => "None".into(),
            Parallel::Calls(calls) => calls.to_string(),
            Parallel::Autotune => "AUTOTUNE".into(),
        };
        vec![function_arg("map_func", &self.function), Arg::tuning("num_parallel_calls", calls)]
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

    fn open(&self, opening: &Opening<'_>) -> Result<Box<dyn Stage>> {
        let function = opening.function(&self.function, self.input.spec())?;
        let declared = if function.is_native() { None } else { Some(self.spec.clone()) };
        let work = Arc::new(Apply { function: Arc::clone(&function), stage: "map", declared });
        if self.parallel == Parallel::Serial || opening.run.options.on_demand {
            let input = opening.passage(0, &self.input)?;
            return Ok(Box::new(MapStage { input, work, taken: 0, ready: Outcomes::new() }));
        }
        let native = function.is_native();
        let calls = self.parallel.calls();
        let plan = driver::Plan {
            work: Some(work),
            workers: if native { calls.min(opening.run.workers()) } else { calls },
            // Two chunks a worker: one in work, one for the consumer.
            window: if native { calls.min(opening.run.workers()) * 2 } else { calls },
            single: !native,
            fill: true,
            ordered: self.deterministic.unwrap_or(opening.run.options.deterministic),
            kind: if native { Kind::Work } else { Kind::Blocking },
        };
        let input = opening.driven_passage(0, &self.input)?;
        let driver = Driver::new(input, plan, opening.run, &opening.stats);
        Ok(Box::new(ParallelMapStage { driver, function }))
    }
}

/// How a function is shown, and identified in states.
pub(crate) fn function_arg(name: &'static str, function: &Arc<dyn UserFunction>) -> Arg {
    Arg::new(name, format_args!("{} [{:016x}]", function.name(), function.hash64()))
}

/// How a function runs, for explain.
pub(crate) fn function_notes(prepared: &Prepared) -> Vec<String> {
    match prepared {
        Prepared::Graph(graph) => {
            let graph = graph.to_string();
            let lines = graph.lines().map(|line| format!("  {line}"));
            std::iter::once("runs natively:".to_string()).chain(lines).collect()
        }
        Prepared::Foreign { reason } => vec![format!("runs as Python: {reason}")],
    }
}

/// Calls a function on chunks.
pub(crate) struct Apply {
    pub(crate) function: Arc<FunctionRun>,
    pub(crate) stage: &'static str,
    /// What the results of foreign code must look like.
    pub(crate) declared: Option<ElementSpec>,
}

impl Apply {
    /// The outcome of each element: results, with the rows of the chunk they are for, and errors.
    pub(crate) fn outcomes(&self, chunk: &Chunk, first: u64) -> Vec<Result<(usize, Chunk)>> {
        let mut outcomes = Vec::new();
        let mut at = 0;
        while at < chunk.rows() {
            let Called { done, error } = match chunk.slice(at..chunk.rows()) {
                Ok(rest) => self.function.call(&rest),
                Err(error) => Called::failed(error),
            };
            if let Some(done) = done {
                if let Err(error) = self.check(&done) {
                    outcomes.push(Err(self.at_element(error, first + at as u64)));
                    at += done.rows();
                    continue;
                }
                let rows = done.rows();
                let mark = if at == 0 { chunk.mark.clone() } else { None };
                outcomes.push(Ok((at, done.marked(mark))));
                at += rows;
            }
            match error {
                Some(error) if is_final(&error) => {
                    outcomes.push(Err(error));
                    break;
                }
                Some(error) => {
                    outcomes.push(Err(self.at_element(error, first + at as u64)));
                    at += 1;
                }
                None if at < chunk.rows() => {
                    let missing = "a function gave fewer results than elements";
                    outcomes.push(Err(Error::internal(missing)));
                    break;
                }
                None => {}
            }
        }
        outcomes
    }

    /// Fails if results do not look as declared.
    fn check(&self, done: &Chunk) -> Result<()> {
        let Some(ElementSpec::Known(structure, specs)) = &self.declared else {
            return if self.function.is_native() { Ok(()) } else { self.function.hold(done) };
        };
        if done.structure() != structure {
            let given = done.structure();
            return Err(Error::invalid_argument(format!(
                "expected results of structure {structure}, got {given}"
            )));
        }
        let unfit = specs.iter().zip(done.columns()).find(|(spec, column)| !fits(spec, column));
        unfit.map_or(Ok(()), |(spec, column)| {
            let given = column.describe();
            Err(Error::invalid_argument(format!("expected a result of {spec}, got {given}"))
                .with_hint("correct output_signature, or what the function returns"))
        })
    }

    fn at_element(&self, error: Error, element: u64) -> Error {
        let name =
            || format!("{} {}, element {element}", self.stage, self.function.function().name());
        error.at_node(name)
    }
}

/// True if all rows of the column are of this spec.
fn fits(spec: &Spec, column: &Column) -> bool {
    if spec.dtype() != column.dtype() {
        return false;
    }
    match (spec, column) {
        (Spec::Tensor { shape, .. }, Column::Stacked(tensor)) => {
            shape.accepts(tensor.dims().get(1..).unwrap_or_default())
        }
        (Spec::Tensor { shape, .. }, Column::Rows(rows)) => {
            rows.shapes().iter().all(|dims| shape.accepts(dims))
        }
        (Spec::Sparse { .. }, Column::Sparse(_))
        | (Spec::Ragged { .. }, Column::Ragged(_))
        | (Spec::Object, Column::Foreign(_)) => true,
        _ => false,
    }
}

impl Work for Apply {
    fn run(&self, chunk: Chunk, first: u64) -> Outcomes {
        let outcomes = self.outcomes(&chunk, first).into_iter();
        outcomes.map(|outcome| outcome.map(|(_, done)| done)).collect()
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
            self.ready = self.work.run(chunk, first);
        }
        match self.ready.pop_front() {
            Some(outcome) => outcome.map(Some),
            None => Err(Error::internal("a function gave no results")),
        }
    }

    fn skip(&mut self, n: u64) -> Result<u64> {
        let mut left = n;
        while left > 0 {
            match self.ready.pop_front() {
                Some(Ok(chunk)) if chunk.rows() as u64 > left => {
                    self.ready.push_front(chunk.slice(left as usize..chunk.rows()));
                    left = 0;
                }
                Some(Ok(chunk)) => left -= chunk.rows() as u64,
                Some(Err(_)) => left -= 1,
                None => break,
            }
        }
        let skipped = if left > 0 { self.input.skip(left)? } else { 0 };
        self.taken += skipped;
        Ok(n - left + skipped)
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

    fn skip(&mut self, n: u64) -> Result<u64> {
        self.driver.skip(n)
    }

    fn quiet(&self) -> bool {
        self.function.is_native() && self.driver.quiet()
    }
}
