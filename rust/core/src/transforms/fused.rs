//! Neighbouring maps, and filters on them, as one step: what rewrites make of steps that run as
//! graphs.
//!
//! Functions are called on whole chunks one after the other, each with its own trial, verdict and
//! number, so that states and errors are those of the steps apart. Maps wrap marks in what they
//! have counted; filters stand after all maps and wrap them once, as a filter alone does.

use std::sync::Arc;

use crate::data::{Chunk, ElementSpec, Mark, Position};
use crate::engine::apply::{Apply, Parallel, counted, function_arg, function_notes};
use crate::engine::driver::{Driver, Outcomes, Work};
use crate::engine::node::Arg;
use crate::engine::skipping::{after, passed, skip_by_running, skip_ready};
use crate::engine::stage::EXACT_FROM;
use crate::engine::{Cardinality, Input, Node, Opening, Plan, Skipped, Stage};
use crate::error::{Error, Result};
use crate::graph::call::{Prepared, UserFunction};
use crate::graph::rows::{Alone, Hands};
use crate::transforms::filter::sifted;
use crate::transforms::map::driver_plan;

/// One of the functions of a fused step.
#[derive(Clone)]
pub(crate) struct Part {
    /// It decides which elements stay, rather than what they become.
    pub(crate) keeps: bool,
    pub(crate) function: Arc<dyn UserFunction>,
    pub(crate) prepared: Prepared,
    /// What its elements look like, before and after.
    pub(crate) specs: [ElementSpec; 2],
}

/// Several functions, one after the other.
#[derive(Clone)]
pub(crate) struct FusedNode {
    pub(crate) input: Plan,
    /// The innermost first; those that keep are the last.
    pub(crate) parts: Vec<Part>,
    pub(crate) parallel: Parallel,
    pub(crate) deterministic: Option<bool>,
}

impl FusedNode {
    /// True if it has maps only.
    pub(crate) fn is_map(&self) -> bool {
        !self.parts.iter().any(|part| part.keeps)
    }
}

impl Node for FusedNode {
    fn name(&self) -> &'static str {
        match (self.is_map(), self.parts.iter().all(|part| part.keeps)) {
            (true, _) => "maps",
            (_, true) => "filters",
            _ => "maps and filters",
        }
    }

    fn args(&self) -> Vec<Arg> {
        self.parts
            .iter()
            .map(|part| function_arg(kind(part), &part.function, &part.prepared))
            .collect()
    }

    fn notes(&self) -> Vec<String> {
        self.parts.iter().flat_map(|part| function_notes(&part.prepared)).collect()
    }

    fn inputs(&self) -> Vec<Plan> {
        vec![Arc::clone(&self.input)]
    }

    fn spec(&self) -> &ElementSpec {
        self.parts.last().map_or(self.input.spec(), |part| &part.specs[1])
    }

    fn cardinality(&self) -> Cardinality {
        if self.is_map() { self.input.cardinality() } else { Cardinality::Unknown }
    }

    fn observable(&self) -> bool {
        self.parts.iter().any(|part| matches!(part.prepared, Prepared::Foreign { .. }))
    }

    fn function(&self) -> Option<&Arc<dyn UserFunction>> {
        self.parts.last().map(|part| &part.function)
    }

    fn functions(&self) -> Vec<&Arc<dyn UserFunction>> {
        // Numbered from the outermost step.
        self.parts.iter().rev().map(|part| &part.function).collect()
    }

    fn with_inputs(&self, mut inputs: Vec<Plan>) -> Option<Plan> {
        let input = inputs.pop()?;
        Some(Arc::new(FusedNode { input, ..self.clone() }))
    }

    fn open(&self, opening: &Opening<'_>) -> Result<Box<dyn Stage>> {
        let mut steps = Vec::new();
        // Functions are numbered from the outermost step, and prepared in that order.
        for (number, part) in self.parts.iter().rev().enumerate() {
            let function = opening.function_at(number, &part.function, &part.specs[0])?;
            let checked = !function.is_native() && !part.keeps;
            let declared = checked.then(|| part.specs[1].clone());
            let (site, counts) = (opening.site(number, &part.function), !part.keeps);
            let apply = Apply { function, site, stage: kind(part), declared, counts };
            steps.push(Step { keeps: part.keeps, apply });
        }
        steps.reverse();
        let chain = Chain { steps };
        let (taken, position) = chain.place(&opening.mark);
        if self.parallel != Parallel::Serial && self.is_map() && !opening.run.options.on_demand {
            let (native, chain) = (chain.is_native(), Arc::new(chain));
            let plan = driver_plan(
                Arc::clone(&chain) as Arc<dyn Work>,
                native,
                self.parallel,
                self.deterministic,
                opening.run,
            );
            let input = opening.input_at(&self.input, position, true)?;
            let first = taken.first().copied().unwrap_or(0);
            let driver = Driver::at(first, input, plan, opening.run, &opening.stats);
            return Ok(Box::new(ParallelStage { driver, chain }));
        }
        let input = opening.input_at(&self.input, position, false)?;
        let keeps = !self.is_map();
        Ok(Box::new(FusedStage { input, chain, keeps, taken, ready: Outcomes::new() }))
    }
}

fn kind(part: &Part) -> &'static str {
    if part.keeps { "filter" } else { "map" }
}

struct Step {
    keeps: bool,
    apply: Apply,
}

struct Chain {
    steps: Vec<Step>,
}

impl Chain {
    fn is_native(&self) -> bool {
        self.steps.iter().all(|step| step.apply.function.is_native())
    }

    /// True if the next element goes through one of the functions as foreign code.
    fn is_on_trial(&self) -> bool {
        self.is_native() && self.steps.iter().any(|step| step.apply.function.is_foreign_next())
    }

    /// What each step has had at a mark of the steps apart, and where the input stands.
    fn place(&self, mark: &Mark) -> (Vec<u64>, Position) {
        let mut position = Position { mark: mark.clone(), since: 0 };
        let mut taken = Vec::new();
        for _ in &self.steps {
            taken.push(position.mark.own(0) + position.since);
            let inner = position.mark.input(0);
            position = Position { since: inner.since + position.since, ..inner };
        }
        taken.reverse();
        (taken, position)
    }

    /// Where the maps stand when the input stands at `position`.
    fn position(&self, mut position: Position, taken: &[u64]) -> Position {
        for (step, taken) in self.steps.iter().zip(taken) {
            if !step.keeps && !position.mark.is_start() {
                position.mark = counted(taken.saturating_sub(position.since), position.mark);
            }
        }
        position
    }

    /// What becomes of a chunk; `taken` counts the elements that each step has had.
    fn run(&self, chunk: Chunk, taken: &mut [u64], hands: &dyn Hands) -> Result<Outcomes> {
        let mut outcomes = Outcomes::from([Ok(chunk)]);
        for (step, taken) in self.steps.iter().zip(taken) {
            let mut results = Outcomes::new();
            for outcome in outcomes {
                match outcome {
                    Ok(chunk) if step.keeps => {
                        results.extend(sifted(&step.apply, &chunk, *taken)?);
                        *taken += chunk.rows() as u64;
                    }
                    Ok(chunk) => {
                        let rows = chunk.rows() as u64;
                        results.extend(step.apply.run(chunk, *taken, hands));
                        *taken += rows;
                    }
                    Err(error) => {
                        // As in the steps apart: maps number outcomes, filters elements.
                        *taken += u64::from(!step.keeps);
                        results.push_back(Err(error));
                    }
                }
            }
            outcomes = results;
        }
        Ok(outcomes)
    }
}

impl Work for Chain {
    fn run(&self, chunk: Chunk, first: u64, hands: &dyn Hands) -> Outcomes {
        let mut taken = vec![first; self.steps.len()];
        Chain::run(self, chunk, &mut taken, hands)
            .unwrap_or_else(|error| Outcomes::from([Err(error)]))
    }

    fn is_heavy(&self) -> bool {
        self.steps.iter().any(|step| step.apply.is_heavy())
    }
}

struct FusedStage {
    input: Input,
    chain: Chain,
    keeps: bool,
    taken: Vec<u64>,
    ready: Outcomes,
}

impl FusedStage {
    /// As the filter alone would mark the next element.
    fn mark(&self) -> Option<Mark> {
        let filter = self.chain.steps.iter().position(|step| step.keeps)?;
        let position = self.chain.position(self.input.position(), &self.taken);
        Some(Mark::new([*self.taken.get(filter)?], vec![position]))
    }

    fn pull(&mut self, max: usize) -> Result<Option<Chunk>> {
        // The first element alone is tried both ways: no function may run ahead.
        let max = if self.chain.is_on_trial() { 1 } else { max };
        let fills = !self.keeps && max >= EXACT_FROM && self.quiet();
        let chunk = if fills { self.input.fill(max) } else { self.input.next(max) };
        if chunk.is_err() && !self.keeps {
            self.taken.iter_mut().for_each(|taken| *taken += 1);
        }
        chunk
    }
}

impl Stage for FusedStage {
    fn next(&mut self, max: usize) -> Result<Option<Chunk>> {
        let mut mark = None;
        let asked_quiet = self.input.quiet();
        while self.ready.is_empty() {
            if self.keeps && self.input.passed_mark() {
                mark = self.mark();
            }
            let max = self.input.most(asked_quiet, max, 1);
            let Some(chunk) = self.pull(max)? else { return Ok(None) };
            let chunk = if self.keeps { chunk.marked(None) } else { chunk };
            self.ready = self.chain.run(chunk, &mut self.taken, &Alone)?;
        }
        match self.ready.pop_front() {
            Some(Ok(chunk)) if self.keeps => Ok(Some(chunk.marked(mark))),
            Some(outcome) => outcome.map(Some),
            None => Err(Error::internal("functions gave no results")),
        }
    }

    fn skip(&mut self, n: u64) -> Skipped {
        if self.keeps {
            return skip_by_running(n, |max| self.next(max));
        }
        let ready = skip_ready(&mut self.ready, n)?;
        let skipped = if ready < n { self.input.skip(n - ready) } else { Ok(0) };
        self.taken.iter_mut().for_each(|taken| *taken += passed(&skipped));
        after(ready, skipped)
    }

    fn quiet(&self) -> bool {
        self.chain.is_native() && self.input.quiet()
    }
}

struct ParallelStage {
    driver: Driver,
    chain: Arc<Chain>,
}

impl Stage for ParallelStage {
    fn next(&mut self, max: usize) -> Result<Option<Chunk>> {
        self.driver.next(max)
    }

    fn skip(&mut self, n: u64) -> Skipped {
        self.driver.skip(n)
    }

    fn quiet(&self) -> bool {
        self.chain.is_native() && self.driver.quiet()
    }
}
