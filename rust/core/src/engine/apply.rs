//! How stages call a user's function: on chunks, with an outcome for each element.

use std::sync::Arc;

use crate::data::{Chunk, Column, ElementSpec, Mark, Position, Spec};
use crate::engine::autotune::Knob;
use crate::engine::driver::{Outcomes, Work};
use crate::engine::node::Arg;
use crate::engine::pool::Kind;
use crate::engine::run::RunContext;
use crate::engine::stage::is_final;
use crate::error::{Error, Result};
use crate::graph::call::{Called, FunctionRun, Prepared, UserFunction};
use crate::graph::rows::{Alone, Hands};
use crate::random::Site;

/// How many calls of its function a stage makes at once.
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

    /// As `explain` shows it.
    pub fn text(self) -> String {
        match self {
            Parallel::Serial => "None".into(),
            Parallel::Calls(calls) => calls.to_string(),
            Parallel::Autotune => "AUTOTUNE".into(),
        }
    }

    /// The number of tasks in a run, of which those that compute need a core each.
    pub fn workers(self, run: &RunContext, kind: Kind) -> Arc<Knob> {
        match (self, kind) {
            (Parallel::Serial, _) => Knob::fixed(1),
            (Parallel::Calls(calls), Kind::Blocking) => Knob::fixed(calls),
            (Parallel::Calls(calls), Kind::Work) => Knob::fixed(calls.min(run.workers())),
            (Parallel::Autotune, kind) => run.autotuned(kind),
        }
    }
}

/// How a function is shown, and identified in states: by its graph, or else by its code. Neither
/// tells where it stands in its file, which is in its name.
pub(crate) fn function_arg(
    name: &'static str,
    function: &Arc<dyn UserFunction>,
    prepared: &Prepared,
) -> Arg {
    let identity = match prepared {
        Prepared::Graph(graph) => graph.hash64(),
        Prepared::Foreign { .. } => function.hash64(),
    };
    Arg::new(name, format_args!("{} [{identity:016x}]", function.name())).identified(identity)
}

/// As [`function_arg`], for a function that is never a graph.
pub(crate) fn code_arg(name: &'static str, function: &Arc<dyn UserFunction>) -> Arg {
    let identity = function.hash64();
    Arg::new(name, format_args!("{} [{identity:016x}]", function.name())).identified(identity)
}

/// How a function runs, for explain.
pub(crate) fn function_notes(prepared: &Prepared) -> Vec<String> {
    match prepared {
        Prepared::Graph(graph) => {
            let graph = graph.to_string();
            let lines = graph.lines().map(|line| format!("  {line}"));
            std::iter::once("runs natively:".to_string()).chain(lines).collect()
        }
        Prepared::Foreign { reason, .. } => vec![format!("runs as Python: {reason}")],
    }
}

/// Calls a function on chunks.
pub(crate) struct Apply {
    pub(crate) function: Arc<FunctionRun>,
    /// Where the first element of the stage stands.
    pub(crate) site: Site,
    pub(crate) stage: &'static str,
    /// What the results of foreign code must look like.
    pub(crate) declared: Option<ElementSpec>,
    /// Marks are wrapped in the number of the element.
    pub(crate) counts: bool,
}

impl Apply {
    /// The outcome of each element: results, with the rows of the chunk they are for, and errors.
    /// `first` is the number of the first element among those of the stage.
    pub(crate) fn outcomes(&self, chunk: &Chunk, first: u64) -> Vec<Result<(usize, Chunk)>> {
        self.outcomes_with(chunk, first, &Alone)
    }

    fn outcomes_with(
        &self,
        chunk: &Chunk,
        first: u64,
        hands: &dyn Hands,
    ) -> Vec<Result<(usize, Chunk)>> {
        let mut outcomes = Vec::new();
        let mut at = 0;
        while at < chunk.rows() {
            let Called { done, error } = match chunk.slice(at..chunk.rows()) {
                Ok(rest) => self.function.call_with(&rest, &self.site.at(first + at as u64), hands),
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

    pub(crate) fn at_element(&self, error: Error, element: u64) -> Error {
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
        (Spec::Dataset { .. } | Spec::Optional(_), Column::Foreign(_)) => {
            spec.widen(&column.loose_spec()).is_some()
        }
        _ => false,
    }
}

/// The mark of a stage that counts its elements: their number, and where its input stands.
pub(crate) fn counted(first: u64, mark: Mark) -> Mark {
    Mark::new([first], vec![Position { mark, since: 0 }])
}

impl Work for Apply {
    fn run(&self, chunk: Chunk, first: u64, hands: &dyn Hands) -> Outcomes {
        let wrap = |mark| if self.counts { counted(first, mark) } else { mark };
        let mark = chunk.mark.clone().map(wrap);
        let chunk = chunk.marked(mark);
        let outcomes = self.outcomes_with(&chunk, first, hands).into_iter();
        outcomes.map(|outcome| outcome.map(|(_, done)| done)).collect()
    }

    fn rows(&self) -> usize {
        self.function.function().rows_per_call()
    }

    fn needs_cores(&self) -> bool {
        self.function.function().needs_cores()
    }

    fn is_heavy(&self) -> bool {
        self.function.graph().is_some_and(|graph| graph.is_heavy())
    }
}
