//! `Dataset.choose_from_datasets` and `Dataset.sample_from_datasets`: the next element comes from
//! the source that another dataset names.
//!
//! Of quiet inputs as many choices are taken at a time as are asked for, and then from each source
//! as many elements as it was named; what is too much is given back. Where an input can be observed
//! elements are taken one by one, just as the choices say. A choice of a source that has ended is
//! spent without an element, or ends everything, as the user asks.

use std::sync::Arc;

use crate::data::{Chunk, Column, DType, ElementSpec, Mark, PartialShape, Spec, Structure};
use crate::engine::node::Arg;
use crate::engine::run::RunContext;
use crate::engine::skipping::{SkipError, skip_on, told};
use crate::engine::stage::is_final;
use crate::engine::stats::StageStats;
use crate::engine::{Cardinality, Input, Node, Opening, Plan, Skipped, Stage};
use crate::error::{Error, Result};

/// Elements of several sources, in the order of the choices.
pub struct ChooseNode {
    name: &'static str,
    /// The choices, then the sources.
    inputs: Vec<Plan>,
    stop_on_empty: bool,
    spec: ElementSpec,
}

impl ChooseNode {
    /// A plan of op `name` that takes each element from the source that `choices` names.
    ///
    /// # Errors
    /// `InvalidArgument` without sources, if structures or dtypes of sources differ (shapes are
    /// widened), or if the choices are known not to be int64 scalars.
    pub fn plan(
        name: &'static str,
        choices: Plan,
        sources: Vec<Plan>,
        stop_on_empty: bool,
    ) -> Result<Plan> {
        let Some((first, rest)) = sources.split_first() else {
            return Err(Error::invalid_argument("`datasets` should not be empty"));
        };
        if !may_choose(choices.spec()) {
            let text = format!("choices must be int64 scalars, got {}", choices.spec());
            return Err(Error::invalid_argument(text));
        }
        let mut spec = first.spec().clone();
        for (number, source) in rest.iter().enumerate() {
            spec = spec.widen(source.spec()).ok_or_else(|| {
                let (a, b) = (first.spec(), source.spec());
                Error::invalid_argument(format!(
                    "incompatible dataset elements: dataset 0 has {a}, dataset {} has {b}",
                    number + 1
                ))
                .with_hint("all datasets must have the same structure and dtypes")
            })?;
        }
        let inputs = std::iter::once(choices).chain(sources).collect();
        Ok(Arc::new(ChooseNode { name, inputs, stop_on_empty, spec }))
    }
}

/// True if elements are, or may turn out to be, numbers of sources.
fn may_choose(spec: &ElementSpec) -> bool {
    let scalar = |shape: &PartialShape| shape.rank().is_none_or(|rank| rank == 0);
    match spec {
        ElementSpec::Known(structure, specs) => match (&**structure, &**specs) {
            (Structure::Leaf, [Spec::Tensor { dtype: DType::Int64, shape }]) => scalar(shape),
            _ => false,
        },
        ElementSpec::Unknown => true,
    }
}

impl Node for ChooseNode {
    fn name(&self) -> &'static str {
        self.name
    }

    fn args(&self) -> Vec<Arg> {
        vec![Arg::new("stop_on_empty_dataset", self.stop_on_empty)]
    }

    fn inputs(&self) -> Vec<Plan> {
        self.inputs.clone()
    }

    fn spec(&self) -> &ElementSpec {
        &self.spec
    }

    fn cardinality(&self) -> Cardinality {
        let endless = |source: &Plan| source.cardinality() == Cardinality::Infinite;
        match self.inputs.iter().skip(1).any(endless) {
            true => Cardinality::Infinite,
            false => Cardinality::Unknown,
        }
    }

    fn with_inputs(&self, inputs: Vec<Plan>) -> Option<Plan> {
        Some(Arc::new(ChooseNode { inputs, spec: self.spec.clone(), ..*self }))
    }

    fn open(&self, opening: &Opening<'_>) -> Result<Box<dyn Stage>> {
        let Some(choices) = self.inputs.first() else {
            return Err(Error::internal("a mix without choices"));
        };
        let known = [&self.spec, choices.spec()].iter().all(|spec| **spec != ElementSpec::Unknown);
        // In tf.data's order: the choices draw their seeds first.
        let mut inputs = opening.all_inputs(&self.inputs)?;
        let choices = inputs.remove(0);
        let source = |input| Source { input, ended: false, failed: None };
        Ok(Box::new(ChooseStage {
            run: Arc::clone(opening.run),
            stats: Arc::clone(&opening.stats),
            choices,
            sources: inputs.into_iter().map(source).collect(),
            stop_on_empty: self.stop_on_empty,
            known,
            over: false,
        }))
    }
}

struct Source {
    input: Input,
    ended: bool,
    /// Its next outcome, if that is an error.
    failed: Option<Error>,
}

impl Source {
    /// Up to `max` elements; `None` if there is none now: it has ended, or failed.
    fn next(&mut self, max: usize) -> Result<Option<Chunk>> {
        if self.ended || self.failed.is_some() {
            return Ok(None);
        }
        match self.input.next(max) {
            Ok(Some(chunk)) => return Ok(Some(chunk)),
            Ok(None) => self.ended = true,
            Err(error) if is_final(&error) => return Err(error),
            Err(error) => self.failed = Some(error),
        }
        Ok(None)
    }

    fn skip(&mut self, n: u64) -> Skipped {
        if n == 0 || self.ended {
            return Ok(0);
        }
        if let Some(error) = self.failed.take() {
            return Err(SkipError::behind(0, error));
        }
        let skipped = self.input.skip(n)?;
        self.ended = skipped < n;
        Ok(skipped)
    }
}

struct ChooseStage {
    run: Arc<RunContext>,
    stats: Arc<StageStats>,
    choices: Input,
    sources: Vec<Source>,
    stop_on_empty: bool,
    /// Elements of all sources are known to be alike.
    known: bool,
    over: bool,
}

/// How many elements of each source some choices need.
struct Needs {
    counts: Vec<usize>,
    /// The sources that are needed, as they are chosen first: a source that is read first may draw.
    order: Vec<usize>,
}

impl Needs {
    fn of<'a>(choices: impl IntoIterator<Item = &'a i64>, sources: usize) -> Self {
        let mut needs = Needs { counts: vec![0; sources], order: Vec::new() };
        for choice in choices {
            let at = place(*choice);
            if let Some(count) = needs.counts.get_mut(at) {
                if *count == 0 {
                    needs.order.push(at);
                }
                *count += 1;
            }
        }
        needs
    }
}

/// The elements that some choices come to.
struct Window {
    /// The source of each element.
    order: Vec<usize>,
    /// Choices that are spent.
    spent: usize,
    /// The outcome after the elements, if they are none.
    error: Option<Error>,
}

impl ChooseStage {
    /// The next choices, up to `max`; `None` at the end.
    fn choose(&mut self, max: usize) -> Result<Option<(Chunk, Vec<i64>)>> {
        let Some(chunk) = self.choices.next(max)? else {
            self.over = true;
            return Ok(None);
        };
        let numbers = scalars(&chunk)?.to_vec();
        Ok(Some((chunk, numbers)))
    }

    /// Rows of each source for these choices, as many as come at once.
    fn pull(&mut self, choices: &[i64]) -> Result<Vec<Option<Chunk>>> {
        let within = |choice: &&i64| place(**choice) < self.sources.len();
        let needs = Needs::of(choices.iter().take_while(within), self.sources.len());
        let mut rows = vec![None; self.sources.len()];
        for at in needs.order {
            rows[at] = self.sources[at].next(needs.counts[at])?;
        }
        Ok(rows)
    }

    /// Goes through the choices as far as the rows reach.
    fn walk(&mut self, choices: &[i64], rows: &[Option<Chunk>]) -> Window {
        let mut left: Vec<usize> =
            rows.iter().map(|chunk| chunk.as_ref().map_or(0, Chunk::rows)).collect();
        let mut window = Window { order: Vec::new(), spent: 0, error: None };
        for &choice in choices {
            let at = place(choice);
            let sources = self.sources.len();
            let Some(source) = self.sources.get_mut(at) else {
                if window.order.is_empty() {
                    window.error = Some(out_of_range(choice, sources));
                    window.spent += 1;
                }
                break;
            };
            if left[at] > 0 {
                left[at] -= 1;
                window.order.push(at);
            } else if source.ended {
                if self.stop_on_empty {
                    self.over = true;
                    break;
                }
            } else {
                if window.order.is_empty() && source.failed.is_some() {
                    window.error = source.failed.take();
                    window.spent += 1;
                }
                break;
            }
            window.spent += 1;
        }
        window
    }

    /// The elements of a window, in its order.
    fn gather(&self, order: &[usize], rows: Vec<Option<Chunk>>, used: &[usize]) -> Result<Chunk> {
        let mut parts = Vec::new();
        let mut starts = vec![0; rows.len()];
        let mut start = 0;
        for (source, chunk) in rows.into_iter().enumerate() {
            if let Some(chunk) = chunk.filter(|_| used[source] > 0) {
                self.stats.count_share(source, used.len(), used[source] as u64);
                starts[source] = start;
                start += used[source];
                parts.push(chunk.slice(0..used[source])?.marked(None));
            }
        }
        if parts.len() == 1 {
            return parts.pop().ok_or_else(|| Error::internal("no chunk"));
        }
        let indices = order.iter().map(|source| {
            starts[*source] += 1;
            starts[*source] - 1
        });
        Chunk::concat(parts)?.gather(&indices.collect::<Vec<_>>())
    }

    fn is_over(&mut self) -> bool {
        self.over |= self.sources.iter().all(|source| source.ended);
        self.over
    }
}

/// The numbers in a chunk of choices.
fn scalars(chunk: &Chunk) -> Result<&[i64]> {
    match chunk.columns() {
        [Column::Stacked(tensor)] if tensor.dtype() == DType::Int64 && tensor.dims().len() == 1 => {
            tensor.values()
        }
        columns => {
            let got = columns.iter().map(Column::describe).collect::<Vec<_>>().join(", ");
            let text = format!("expected an int64 scalar as choice, got {got}");
            Err(Error::invalid_argument(text))
        }
    }
}

/// Place of choice `choice` among the sources, if it is one.
fn place(choice: i64) -> usize {
    usize::try_from(choice).unwrap_or(usize::MAX)
}

fn out_of_range(choice: i64, sources: usize) -> Error {
    Error::invalid_argument(format!("selector index out of range: {choice} >= {sources}"))
        .with_hint(format!("choices are numbers from 0 to {}", sources.saturating_sub(1)))
}

impl Stage for ChooseStage {
    fn next(&mut self, max: usize) -> Result<Option<Chunk>> {
        let mut mark = None;
        while !self.is_over() {
            let mut passed = self.choices.passed_mark();
            self.sources.iter_mut().for_each(|source| passed |= source.input.passed_mark());
            if passed {
                mark = self.state();
            }
            let many = if self.known && self.quiet() { max } else { 1 };
            let Some((chunk, choices)) = self.choose(many)? else { break };
            let rows = self.pull(&choices)?;
            let window = self.walk(&choices, &rows);
            let mut used = vec![0; rows.len()];
            window.order.iter().for_each(|source| used[*source] += 1);
            self.choices.give_back(&chunk, choices.len() - window.spent)?;
            for ((source, chunk), used) in self.sources.iter_mut().zip(&rows).zip(&used) {
                if let Some(chunk) = chunk {
                    source.input.give_back(chunk, chunk.rows() - used)?;
                }
            }
            if let Some(error) = window.error {
                return Err(error);
            }
            if !window.order.is_empty() {
                return Ok(Some(self.gather(&window.order, rows, &used)?.marked(mark)));
            }
        }
        Ok(None)
    }

    fn skip(&mut self, n: u64) -> Skipped {
        let mut left = n;
        while left > 0 && !self.is_over() {
            let many = match self.quiet() {
                true => left.min(self.run.options.chunk_rows as u64) as usize,
                false => 1,
            };
            let choices = match self.choose(many) {
                Ok(Some((_, choices))) => choices,
                Ok(None) => break,
                Err(error) => return Err(SkipError::behind(n - left, error)),
            };
            left -= self.skip_choices(&choices).map_err(|met| met.after(n - left))?;
        }
        Ok(n - left)
    }

    fn state(&self) -> Option<Mark> {
        let sources = self.sources.iter().map(|source| {
            let mut position = source.input.position();
            // An error that is still to come has been taken from the source already.
            position.since = position.since.saturating_sub(u64::from(source.failed.is_some()));
            position
        });
        let positions = std::iter::once(self.choices.position()).chain(sources);
        Some(Mark::new([], positions.collect()))
    }

    fn quiet(&self) -> bool {
        self.choices.quiet() && self.sources.iter().all(|source| source.input.quiet())
    }
}

impl ChooseStage {
    /// Skips the elements that some choices come to; returns how many outcomes there were.
    fn skip_choices(&mut self, choices: &[i64]) -> Skipped {
        let needs = Needs::of(choices, self.sources.len());
        let mut skipped = vec![0; self.sources.len()];
        let mut met = None;
        for at in needs.order {
            let (source, count) = (&mut self.sources[at], needs.counts[at] as u64);
            skipped[at] = skip_on(count, &mut met, |left| source.skip(left))?;
        }
        let all = needs.counts.iter().zip(&skipped).all(|(need, skipped)| *need as u64 == *skipped);
        if !self.stop_on_empty || all {
            // A choice out of range is an error, which is an outcome.
            let outcomes = choices.len() - needs.counts.iter().sum::<usize>();
            return told(outcomes as u64 + skipped.iter().sum::<u64>(), met);
        }
        // Everything ends at the first choice of a source that had no more.
        self.over = true;
        let mut left = skipped;
        let reached = choices.iter().take_while(|choice| match left.get_mut(place(**choice)) {
            Some(0) => false,
            Some(left) => {
                *left -= 1;
                true
            }
            None => true,
        });
        told(reached.count() as u64, met)
    }
}

#[cfg(test)]
mod tests;
