//! The parts of `Dataset.rejection_resample`: classes, their estimated distribution, rejection.
//!
//! With ratio r of target to initial distribution and m the least of r, an element is drawn from
//! the dataset as it is with probability m, else from one that keeps elements of class c with
//! probability (r_c - m) / (max r - m). Without an initial distribution it is estimated as tf.data
//! does: from all classes seen up to the present batch of 32, each counted 10 times in advance.
//! Numbers are float32 and drawn from the same stream as tf.data's.

use std::collections::VecDeque;
use std::sync::Arc;

use crate::data::{Chunk, Column, DType, Element, ElementSpec, Mark, Spec, Structure, Tensor};
use crate::engine::node::Arg;
use crate::engine::seeds::{SeedGenerator, SeedPair};
use crate::engine::skipping::skip_by_running;
use crate::engine::stage::is_final;
use crate::engine::{Cardinality, Input, Node, Opening, Plan, Skipped, Stage};
use crate::error::{Error, Result};
use crate::graph::call::{Called, IsOver, Prepared, UserFunction};
use crate::random::draw::uniform_f32;
use crate::random::site::CallSeeds;
use crate::random::{Philox, Site};

/// Classes whose distribution is taken from one batch.
const BATCH: usize = 32;
/// How often each class counts before any was seen.
const SMOOTHING: u64 = 10;
/// Words of the stream from one uniform number to the next: TensorFlow sets 256 blocks apart.
const STRIDE: u64 = 256 * 4;

/// How a class must be accepted to turn one distribution into another.
#[derive(Clone, Debug, PartialEq)]
pub struct Acceptance {
    /// Probability to keep an element, by class.
    pub keep: Vec<f32>,
    /// Probability to take an element from the dataset as it is.
    pub original: f32,
}

impl Acceptance {
    /// What turns `initial` into `target`.
    pub fn of(initial: &[f32], target: &[f32]) -> Self {
        let pairs = target.iter().zip(initial);
        let ratios: Vec<f32> = pairs.map(|(t, i)| t / (i + f32::MIN_POSITIVE)).collect();
        let original = ratios.iter().copied().fold(f32::INFINITY, f32::min);
        let max = ratios.iter().copied().fold(f32::NEG_INFINITY, f32::max);
        let keep = ratios.iter().map(|ratio| (ratio - original) / (max - original)).collect();
        Acceptance { keep, original }
    }

    /// Logarithms of the weights of the dataset as it is, and of the one that rejects.
    pub fn logits(&self) -> Vec<f64> {
        self.weights().iter().map(|weight| f64::from(weight.ln())).collect()
    }

    fn weights(&self) -> [f32; 2] {
        [self.original, 1.0 - self.original]
    }
}

/// A function that gives the class of an element, made to give `(class, element)`.
pub struct Classified(pub Arc<dyn UserFunction>);

fn pair(element: &Structure) -> Structure {
    Structure::Tuple(vec![Structure::Leaf, element.clone()])
}

/// What classes beside their elements look like.
fn paired(class: ElementSpec, input: &ElementSpec) -> ElementSpec {
    let (ElementSpec::Known(_, class), ElementSpec::Known(element, specs)) = (class, input) else {
        return ElementSpec::Unknown;
    };
    ElementSpec::Known(Arc::new(pair(element)), class.iter().chain(&**specs).cloned().collect())
}

impl UserFunction for Classified {
    fn name(&self) -> String {
        self.0.name()
    }

    fn hash64(&self) -> u64 {
        self.0.hash64()
    }

    fn prepare(&self, input: &ElementSpec) -> Result<Prepared> {
        let prepared = self.0.prepare(input)?;
        let class = prepared.gives();
        check_class(&class)?;
        match (prepared, input) {
            (Prepared::Graph(graph), ElementSpec::Known(element, _)) => {
                Ok(Prepared::Graph(Arc::new(graph.with_inputs(pair(element))?)))
            }
            (Prepared::Foreign { reason, .. }, _) => {
                Ok(Prepared::Foreign { reason, gives: paired(class, input) })
            }
            (prepared, _) => Ok(prepared),
        }
    }

    fn call(&self, chunk: &Chunk, site: &Site) -> Called {
        let Called { done, error } = self.0.call(chunk, site);
        let Some(classes) = done else { return Called { done, error } };
        match join(&classes, chunk) {
            Ok(both) => Called { done: Some(both), error },
            Err(error) => Called::failed(error),
        }
    }

    fn for_run(&self, is_over: IsOver) -> Result<Option<Arc<dyn UserFunction>>> {
        let own = self.0.for_run(is_over)?;
        Ok(own.map(|own| Arc::new(Classified(own)) as _))
    }

    fn release(&self) {
        self.0.release();
    }

    fn is_exempt_from_trial(&self) -> bool {
        self.0.is_exempt_from_trial()
    }

    fn seeds(&self) -> Option<&CallSeeds> {
        self.0.seeds()
    }
}

/// Classes beside the elements they are of.
fn join(classes: &Chunk, elements: &Chunk) -> Result<Chunk> {
    check_class(&classes.loose_spec())?;
    let elements = elements.slice(0..classes.rows())?;
    let structure = Arc::new(pair(elements.structure()));
    let columns = classes.columns().iter().cloned().chain(elements.columns().iter().cloned());
    Chunk::new(classes.rows(), structure, columns.collect())
}

fn check_class(spec: &ElementSpec) -> Result<()> {
    let ElementSpec::Known(structure, specs) = spec else { return Ok(()) };
    match (&**structure, &**specs) {
        (Structure::Leaf, [Spec::Tensor { dtype, shape }])
            if dtype.is_integer() && shape.rank().is_none_or(|rank| rank == 0) =>
        {
            Ok(())
        }
        _ => Err(Error::invalid_argument(format!(
            "expected an integer scalar as class of an element, got {spec}"
        ))
        .with_hint("class_func returns a number from 0 to the number of classes")),
    }
}

/// The class of each row: the first column.
fn classes(chunk: &Chunk) -> Result<Vec<i64>> {
    fn cast<T: Element + Copy>(tensor: &Tensor, to: impl Fn(T) -> i64) -> Result<Vec<i64>> {
        Ok(tensor.values::<T>()?.iter().map(|class| to(*class)).collect())
    }
    match chunk.columns().first() {
        Some(Column::Stacked(tensor)) if tensor.dims().len() == 1 => match tensor.dtype() {
            DType::Int64 => cast(tensor, |class: i64| class),
            DType::Int32 => cast(tensor, |class: i32| class.into()),
            DType::Int16 => cast(tensor, |class: i16| class.into()),
            DType::Int8 => cast(tensor, |class: i8| class.into()),
            DType::UInt8 => cast(tensor, |class: u8| class.into()),
            DType::UInt16 => cast(tensor, |class: u16| class.into()),
            DType::UInt32 => cast(tensor, |class: u32| class.into()),
            DType::UInt64 => cast(tensor, |class: u64| class as i64),
            other => Err(Error::internal(format!("a class of type {other}"))),
        },
        _ => Err(Error::internal("an element without a class")),
    }
}

/// What an [`EstimateNode`] yields for each element.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Estimate {
    /// The probability to keep an element, by class.
    Keep,
    /// The weights of the dataset as it is, and of the one that rejects.
    Weights,
}

/// Probabilities that follow from the classes seen so far, one vector an element.
pub struct EstimateNode {
    input: Plan,
    target: Arc<[f32]>,
    yields: Estimate,
    spec: ElementSpec,
}

impl EstimateNode {
    /// A plan of vectors for the classified elements of `input`, a multiple of 32.
    pub fn plan(input: Plan, target: Arc<[f32]>, yields: Estimate) -> Plan {
        let size = if yields == Estimate::Keep { target.len() } else { 2 };
        let spec = ElementSpec::leaf(Spec::tensor(DType::Float32, [Some(size)]));
        Arc::new(EstimateNode { input, target, yields, spec })
    }
}

impl Node for EstimateNode {
    fn name(&self) -> &'static str {
        "estimate"
    }

    fn args(&self) -> Vec<Arg> {
        vec![Arg::new("target_dist", format!("{:?}", self.target))]
    }

    fn inputs(&self) -> Vec<Plan> {
        vec![Arc::clone(&self.input)]
    }

    fn spec(&self) -> &ElementSpec {
        &self.spec
    }

    fn cardinality(&self) -> Cardinality {
        let batch = BATCH as u64;
        self.input.cardinality().map(|n| n.div_ceil(batch).saturating_mul(batch))
    }

    fn open(&self, opening: &Opening<'_>) -> Result<Box<dyn Stage>> {
        let mark = &opening.mark;
        let count = |class| if mark.is_start() { SMOOTHING } else { mark.own(class + 1) };
        Ok(Box::new(EstimateStage {
            input: opening.input(0, &self.input)?,
            left: mark.own(0) as usize,
            counts: (0..self.target.len()).map(count).collect(),
            target: Arc::clone(&self.target),
            yields: self.yields,
        }))
    }
}

struct EstimateStage {
    input: Input,
    /// Vectors of the present batch that are still to come.
    left: usize,
    /// How often each class was seen.
    counts: Vec<u64>,
    target: Arc<[f32]>,
    yields: Estimate,
}

impl EstimateStage {
    /// Counts the classes of the next batch; false at the end. Elements that fail have none.
    fn count(&mut self) -> Result<bool> {
        let mut seen = 0;
        while seen < BATCH {
            match self.input.next(BATCH - seen) {
                Ok(None) => break,
                Err(error) if is_final(&error) => return Err(error),
                Err(_) => seen += 1,
                Ok(Some(chunk)) => {
                    seen += chunk.rows();
                    for class in classes(&chunk)? {
                        let class = usize::try_from(class).unwrap_or(usize::MAX);
                        self.counts.get_mut(class).into_iter().for_each(|count| *count += 1);
                    }
                }
            }
        }
        self.left = if seen > 0 { BATCH } else { 0 };
        Ok(seen > 0)
    }

    fn vector(&self) -> Vec<f32> {
        let total = self.counts.iter().sum::<u64>() as f64;
        let initial: Vec<f32> =
            self.counts.iter().map(|count| (*count as f64 / total) as f32).collect();
        let acceptance = Acceptance::of(&initial, &self.target);
        match self.yields {
            Estimate::Keep => acceptance.keep,
            Estimate::Weights => acceptance.weights().to_vec(),
        }
    }
}

impl Stage for EstimateStage {
    fn next(&mut self, max: usize) -> Result<Option<Chunk>> {
        let mark = self.input.passed_mark().then(|| self.state()).flatten();
        if self.left == 0 && !self.count()? {
            return Ok(None);
        }
        let rows = self.left.min(max);
        self.left -= rows;
        let vector = self.vector();
        let tensor = Tensor::from_values(&[rows, vector.len()], &vector.repeat(rows))?;
        Ok(Some(Chunk::of_column(Column::Stacked(tensor))?.marked(mark)))
    }

    fn skip(&mut self, n: u64) -> Skipped {
        skip_by_running(n, |max| self.next(max))
    }

    fn state(&self) -> Option<Mark> {
        let own = std::iter::once(self.left as u64).chain(self.counts.iter().copied());
        Some(Mark::new(own, vec![self.input.position()]))
    }

    fn quiet(&self) -> bool {
        self.input.quiet()
    }
}

/// Where a [`RejectNode`] has its probabilities from.
#[derive(Clone)]
pub enum Keep {
    /// The same for all elements, by class.
    Always(Arc<[f32]>),
    /// A vector for each element.
    Each(Plan),
}

/// Classified elements, each kept with the probability of its class.
pub struct RejectNode {
    /// The elements, after the probabilities where those are a plan.
    inputs: Vec<Plan>,
    always: Option<Arc<[f32]>>,
    seeds: Arc<SeedGenerator>,
}

impl RejectNode {
    /// A plan of those of the classified elements `input` that are kept.
    pub fn plan(input: Plan, keep: Keep, seeds: SeedGenerator) -> Plan {
        let seeds = Arc::new(seeds);
        match keep {
            Keep::Always(keep) => {
                Arc::new(RejectNode { inputs: vec![input], always: Some(keep), seeds })
            }
            Keep::Each(keep) => {
                Arc::new(RejectNode { inputs: vec![keep, input], always: None, seeds })
            }
        }
    }
}

impl Node for RejectNode {
    fn name(&self) -> &'static str {
        "reject"
    }

    fn args(&self) -> Vec<Arg> {
        vec![Arg::new("keep", format!("{:?}", self.always)), Arg::new("seed", self.seeds.shown())]
    }

    fn inputs(&self) -> Vec<Plan> {
        self.inputs.clone()
    }

    fn spec(&self) -> &ElementSpec {
        self.inputs.last().map_or(&ElementSpec::Unknown, |input| input.spec())
    }

    fn cardinality(&self) -> Cardinality {
        Cardinality::Unknown
    }

    fn seeds(&self) -> Option<&Arc<SeedGenerator>> {
        Some(&self.seeds)
    }

    fn open(&self, opening: &Opening<'_>) -> Result<Box<dyn Stage>> {
        let mut inputs = self.inputs.iter().enumerate().map(|(i, plan)| opening.input(i, plan));
        let mut input = || inputs.next().unwrap_or_else(|| Err(Error::internal("no input")));
        let keep = if self.always.is_none() { Some(input()?) } else { None };
        Ok(Box::new(RejectStage {
            keep,
            always: self.always.clone(),
            input: input()?,
            pair: opening.draw()?,
            drawn: opening.mark.own(0),
            ready: VecDeque::new(),
        }))
    }
}

struct RejectStage {
    keep: Option<Input>,
    always: Option<Arc<[f32]>>,
    input: Input,
    pair: SeedPair,
    /// Uniform numbers drawn so far: one for each element.
    drawn: u64,
    ready: VecDeque<Result<Chunk>>,
}

impl RejectStage {
    /// Some elements with the probabilities that are theirs, by class and row.
    fn pull(&mut self, max: usize) -> Result<Option<(Chunk, Vec<f32>)>> {
        let Some(keep) = &mut self.keep else {
            let always = self.always.as_deref().unwrap_or_default().to_vec();
            return Ok(self.input.next(max)?.map(|chunk| (chunk, always)));
        };
        let Some(vectors) = keep.next(max)? else { return Ok(None) };
        let [Column::Stacked(tensor)] = vectors.columns() else {
            return Err(Error::internal("probabilities of differing lengths"));
        };
        let chunk = match self.input.next(vectors.rows()) {
            Ok(Some(chunk)) => chunk,
            Ok(None) => return Ok(None),
            Err(error) if is_final(&error) => return Err(error),
            Err(error) => {
                keep.give_back(&vectors, vectors.rows() - 1)?;
                return Err(error);
            }
        };
        keep.give_back(&vectors, vectors.rows() - chunk.rows())?;
        let rows = tensor.rows(0..chunk.rows())?;
        Ok(Some((chunk, rows.values::<f32>()?.to_vec())))
    }

    /// The outcomes for a chunk: what is kept, and errors of classes that there are not.
    fn sift(&mut self, chunk: &Chunk, keep: &[f32]) -> Result<()> {
        let width = self.always.as_ref().map_or(keep.len() / chunk.rows().max(1), |a| a.len());
        let stride = if self.always.is_some() { 0 } else { width };
        let mut kept = Vec::new();
        for (row, class) in classes(chunk)?.into_iter().enumerate() {
            let at = usize::try_from(class).ok().filter(|class| *class < width);
            let Some(probability) = at.and_then(|class| keep.get(row * stride + class)) else {
                self.release(chunk, &mut kept)?;
                let text = format!("expected a class from 0 to {}, got {class}", width.max(1) - 1);
                let error = Error::invalid_argument(text);
                self.ready.push_back(Err(error.with_hint("target_dist has one number a class")));
                continue;
            };
            let word = self.drawn.wrapping_mul(STRIDE);
            let uniform = uniform_f32(Philox::at(self.pair.0, self.pair.1, word).next_u32());
            self.drawn += 1;
            if uniform < *probability {
                kept.push(row);
            }
        }
        self.release(chunk, &mut kept)
    }

    fn release(&mut self, chunk: &Chunk, kept: &mut Vec<usize>) -> Result<()> {
        if !kept.is_empty() {
            self.ready.push_back(Ok(chunk.gather(kept)?));
            kept.clear();
        }
        Ok(())
    }

    fn mark(&mut self) -> Option<Mark> {
        let mut passed = self.input.passed_mark();
        passed |= self.keep.as_mut().is_some_and(Input::passed_mark);
        let inputs = self.keep.iter().chain([&self.input]).map(Input::position).collect();
        passed.then(|| Mark::new([self.drawn], inputs))
    }
}

impl Stage for RejectStage {
    fn next(&mut self, max: usize) -> Result<Option<Chunk>> {
        let mut mark = None;
        let asked_quiet = self.quiet();
        while self.ready.is_empty() {
            mark = self.mark().or(mark);
            let max = if asked_quiet && !self.quiet() { 1 } else { max };
            let Some((chunk, keep)) = self.pull(max)? else { return Ok(None) };
            self.sift(&chunk, &keep)?;
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
        self.input.quiet() && self.keep.as_ref().is_none_or(Input::quiet)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_rarest_class_decides_what_is_taken_as_it_is() {
        let acceptance = Acceptance::of(&[0.5, 0.5], &[0.25, 0.75]);
        assert_eq!(acceptance, Acceptance { keep: vec![0.0, 1.0], original: 0.5 });
        let logits = acceptance.logits();
        assert_eq!(logits[0], logits[1]);
    }

    #[test]
    fn a_class_that_is_not_wanted_is_never_kept() {
        let acceptance = Acceptance::of(&[0.5, 0.25, 0.25], &[0.0, 0.5, 0.5]);
        assert_eq!(acceptance, Acceptance { keep: vec![0.0, 1.0, 1.0], original: 0.0 });
    }
}
