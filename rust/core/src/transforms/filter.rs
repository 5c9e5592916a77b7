//! `Dataset.filter`: the elements of which a function says true.

use std::sync::Arc;

use crate::data::{Chunk, Column, DType, ElementSpec, Mark, PartialShape, Spec};
use crate::engine::apply::{Apply, function_arg, function_notes};
use crate::engine::driver::Outcomes;
use crate::engine::node::Arg;
use crate::engine::skipping::skip_by_running;
use crate::engine::{Cardinality, Input, Node, Opening, Plan, Skipped, Stage};
use crate::error::{Error, Result};
use crate::graph::call::{Prepared, UserFunction};

/// The elements that satisfy a predicate.
#[derive(Clone)]
pub struct FilterNode {
    pub(crate) input: Plan,
    pub(crate) predicate: Arc<dyn UserFunction>,
    pub(crate) prepared: Prepared,
}

impl FilterNode {
    /// A plan of the elements of `input` of which `predicate` is true.
    ///
    /// # Errors
    /// `InvalidArgument` if the predicate is known to give anything but a bool scalar.
    pub fn plan(input: Plan, predicate: Arc<dyn UserFunction>) -> Result<Plan> {
        let prepared = predicate.prepare(input.spec())?;
        check_predicate(&prepared)?;
        Ok(Arc::new(FilterNode { input, predicate, prepared }))
    }
}

/// Fails if a predicate is known to give anything but a bool scalar.
pub(crate) fn check_predicate(prepared: &Prepared) -> Result<()> {
    let ElementSpec::Known(_, specs) = prepared.gives() else { return Ok(()) };
    if matches!(&specs[..], [spec] if is_predicate(spec)) {
        return Ok(());
    }
    let list = specs.iter().map(Spec::to_string).collect::<Vec<_>>().join(", ");
    Err(not_bool(&format!("it returns {list}")))
}

fn is_predicate(spec: &Spec) -> bool {
    let scalar = |shape: &PartialShape| shape.rank().is_none_or(|rank| rank == 0);
    matches!(spec, Spec::Tensor { dtype: DType::Bool, shape } if scalar(shape))
}

fn not_bool(what: &str) -> Error {
    Error::invalid_argument(format!("invalid `predicate`: it must return a bool scalar, {what}"))
        .with_hint("compare, or convert the result with .astype(bool)")
}

impl Node for FilterNode {
    fn name(&self) -> &'static str {
        "filter"
    }

    fn args(&self) -> Vec<Arg> {
        vec![function_arg("predicate", &self.predicate, &self.prepared)]
    }

    fn inputs(&self) -> Vec<Plan> {
        vec![Arc::clone(&self.input)]
    }

    fn spec(&self) -> &ElementSpec {
        self.input.spec()
    }

    fn cardinality(&self) -> Cardinality {
        Cardinality::Unknown
    }

    fn observable(&self) -> bool {
        matches!(self.prepared, Prepared::Foreign { .. })
    }

    fn notes(&self) -> Vec<String> {
        function_notes(&self.prepared)
    }

    fn function(&self) -> Option<&Arc<dyn UserFunction>> {
        Some(&self.predicate)
    }

    fn with_inputs(&self, mut inputs: Vec<Plan>) -> Option<Plan> {
        let input = inputs.pop()?;
        Some(Arc::new(FilterNode { input, ..self.clone() }))
    }

    fn open(&self, opening: &Opening<'_>) -> Result<Box<dyn Stage>> {
        let function = opening.function(&self.predicate, self.input.spec())?;
        let site = opening.site(0, &self.predicate);
        let predicate = Apply { function, site, stage: "filter", declared: None, counts: false };
        let (input, taken) = (opening.input(0, &self.input)?, opening.mark.own(0));
        Ok(Box::new(FilterStage { input, predicate, taken, ready: Outcomes::new() }))
    }
}

struct FilterStage {
    input: Input,
    predicate: Apply,
    taken: u64,
    ready: Outcomes,
}

/// The outcomes for a chunk: what passes, and the errors of the predicate.
pub(crate) fn sifted(predicate: &Apply, chunk: &Chunk, first: u64) -> Result<Outcomes> {
    let mut ready = Outcomes::new();
    for outcome in predicate.outcomes(chunk, first) {
        match outcome {
            Err(error) => ready.push_back(Err(error)),
            Ok((start, verdicts)) => {
                let kept: Vec<usize> = passing(&verdicts)?
                    .iter()
                    .enumerate()
                    .filter_map(|(row, passes)| (*passes != 0).then_some(start + row))
                    .collect();
                if kept.len() == chunk.rows() {
                    ready.push_back(Ok(chunk.clone().marked(None)));
                } else if !kept.is_empty() {
                    ready.push_back(chunk.gather(&kept));
                }
            }
        }
    }
    Ok(ready)
}

/// The verdict on each row.
pub(crate) fn passing(verdicts: &Chunk) -> Result<&[u8]> {
    match verdicts.columns() {
        [Column::Stacked(tensor)] if tensor.dtype() == DType::Bool && tensor.dims().len() == 1 => {
            tensor.values::<u8>()
        }
        [column] => Err(not_bool(&format!("it returned {}", column.kind()))),
        columns => Err(not_bool(&format!("it returned {} components", columns.len()))),
    }
}

impl Stage for FilterStage {
    fn next(&mut self, max: usize) -> Result<Option<Chunk>> {
        let mut mark = None;
        let asked_quiet = self.input.quiet();
        while self.ready.is_empty() {
            if self.input.passed_mark() {
                mark = Some(Mark::new([self.taken], vec![self.input.position()]));
            }
            let first = self.taken;
            let max = self.input.most(asked_quiet, max, 1);
            let Some(chunk) = self.input.next(max)? else { return Ok(None) };
            self.taken += chunk.rows() as u64;
            self.ready = sifted(&self.predicate, &chunk, first)?;
        }
        match self.ready.pop_front() {
            Some(Ok(chunk)) => Ok(Some(chunk.marked(mark))),
            Some(Err(error)) => Err(error),
            None => Ok(None),
        }
    }

    fn skip(&mut self, n: u64) -> Skipped {
        skip_by_running(n, |max| self.next(max))
    }

    fn quiet(&self) -> bool {
        self.predicate.function.is_native() && self.input.quiet()
    }
}
