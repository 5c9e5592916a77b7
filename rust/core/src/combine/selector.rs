//! The draws of `Dataset.sample_from_datasets`: an endless dataset of source numbers.
//!
//! As in tf.data, two words of a Philox stream seed each draw, so draw k is a function of the seed
//! pair, k and the weights. Weights are the same for all draws, or come from a dataset: one vector
//! a draw, and the draws end with it.

use std::sync::Arc;

use crate::data::{Chunk, Column, DType, ElementSpec, Mark, Spec, Tensor, Value};
use crate::engine::node::Arg;
use crate::engine::seeds::{SeedGenerator, SeedPair};
use crate::engine::skipping::passed;
use crate::engine::stage::is_final;
use crate::engine::{Cardinality, Input, Node, Opening, Plan, Skipped, Stage};
use crate::error::{Error, Result};
use crate::random::Philox;
use crate::random::draw::Categorical;

/// What decides how often each source is drawn.
#[derive(Clone)]
pub enum Weights {
    /// The same for each draw: logarithms of the weights.
    Logits(Vec<f64>),
    /// A float vector for each draw.
    Each(Plan),
}

/// Numbers of sources, drawn by weight.
pub struct SelectorNode {
    weights: Weights,
    seeds: Arc<SeedGenerator>,
    spec: ElementSpec,
}

impl SelectorNode {
    /// A plan of draws, endless unless the weights end.
    ///
    /// # Errors
    /// `InvalidArgument` if the weights are known not to be one float vector.
    pub fn plan(weights: Weights, seeds: SeedGenerator) -> Result<Plan> {
        if let Weights::Each(plan) = &weights
            && let Some(specs) = plan.spec().specs()
        {
            let vector = |spec: &Spec| spec.shape().rank().is_none_or(|rank| rank == 1);
            match specs {
                [spec @ Spec::Tensor { dtype: DType::Float32 | DType::Float64, .. }]
                    if vector(spec) => {}
                _ => return Err(no_weights(&plan.spec().to_string())),
            }
        }
        let spec = ElementSpec::leaf(Spec::scalar(DType::Int64));
        Ok(Arc::new(SelectorNode { weights, seeds: Arc::new(seeds), spec }))
    }
}

fn no_weights(got: &str) -> Error {
    let text = format!("expected a vector of float32 or float64 as weights of a draw, got {got}");
    Error::invalid_argument(text).with_hint("yield one weight for each dataset")
}

impl Node for SelectorNode {
    fn name(&self) -> &'static str {
        "selector"
    }

    fn args(&self) -> Vec<Arg> {
        let weights = match &self.weights {
            Weights::Logits(logits) => format!("{logits:?}"),
            Weights::Each(_) => "a dataset".into(),
        };
        vec![
            Arg::new("logits", weights),
            Arg::new("seed", self.seeds.shown()),
            Arg::new("rerandomize_each_iteration", self.seeds.reshuffles()),
        ]
    }

    fn inputs(&self) -> Vec<Plan> {
        match &self.weights {
            Weights::Logits(_) => Vec::new(),
            Weights::Each(plan) => vec![Arc::clone(plan)],
        }
    }

    fn spec(&self) -> &ElementSpec {
        &self.spec
    }

    fn cardinality(&self) -> Cardinality {
        match &self.weights {
            Weights::Logits(_) => Cardinality::Infinite,
            Weights::Each(plan) => plan.cardinality(),
        }
    }

    fn seeds(&self) -> Option<&Arc<SeedGenerator>> {
        Some(&self.seeds)
    }

    fn open(&self, opening: &Opening<'_>) -> Result<Box<dyn Stage>> {
        let draws = Draws { pair: opening.draw()?, next: opening.mark.own(0) };
        Ok(match &self.weights {
            Weights::Logits(logits) => {
                Box::new(FixedStage { draws, classes: Categorical::from_logits(logits) })
            }
            Weights::Each(plan) => Box::new(EachStage { draws, weights: opening.input(0, plan)? }),
        })
    }
}

/// The seeds of one draw after another.
struct Draws {
    pair: SeedPair,
    /// Number of the next draw.
    next: u64,
}

impl Draws {
    /// Seeds of the next `count` draws.
    fn take(&mut self, count: usize) -> impl Iterator<Item = [u64; 2]> + use<> {
        let mut words = Philox::at(self.pair.0, self.pair.1, self.next.wrapping_mul(2));
        self.next += count as u64;
        (0..count).map(move |_| {
            let first = u64::from(words.next_u32());
            [first, u64::from(words.next_u32())]
        })
    }
}

fn chunk(choices: &[i64]) -> Result<Chunk> {
    Chunk::of_column(Column::Stacked(Tensor::from_values(&[choices.len()], choices)?))
}

struct FixedStage {
    draws: Draws,
    classes: Categorical,
}

impl Stage for FixedStage {
    fn next(&mut self, max: usize) -> Result<Option<Chunk>> {
        let choices = self.draws.take(max).map(|seeds| self.classes.draw(seeds) as i64);
        chunk(&choices.collect::<Vec<_>>()).map(Some)
    }

    fn skip(&mut self, n: u64) -> Skipped {
        self.draws.next += n;
        Ok(n)
    }

    fn quiet(&self) -> bool {
        true
    }
}

struct EachStage {
    draws: Draws,
    weights: Input,
}

impl Stage for EachStage {
    fn next(&mut self, max: usize) -> Result<Option<Chunk>> {
        let mark = self.weights.passed_mark().then(|| self.state()).flatten();
        match self.weights.next(max) {
            Ok(Some(weights)) => {
                let seeds = self.draws.take(weights.rows());
                let choices = seeds.enumerate().map(|(row, seeds)| {
                    Ok(Categorical::from_logits(&logits(&weights, row)?).draw(seeds) as i64)
                });
                Ok(Some(chunk(&choices.collect::<Result<Vec<_>>>()?)?.marked(mark)))
            }
            Ok(None) => Ok(None),
            Err(error) if is_final(&error) => Err(error),
            Err(error) => {
                // Weights that fail take the place of a draw.
                self.draws.next += 1;
                Err(error)
            }
        }
    }

    fn skip(&mut self, n: u64) -> Skipped {
        let skipped = self.weights.skip(n);
        self.draws.next += passed(&skipped);
        skipped
    }

    fn state(&self) -> Option<Mark> {
        Some(Mark::new([self.draws.next], vec![self.weights.position()]))
    }

    fn quiet(&self) -> bool {
        self.weights.quiet()
    }
}

/// Logarithms of the weights in one row, in the precision of the weights.
fn logits(weights: &Chunk, row: usize) -> Result<Vec<f64>> {
    let [column] = weights.columns() else {
        return Err(no_weights(&format!("{} components", weights.columns().len())));
    };
    match column.row(row)? {
        Value::Tensor(vector) if vector.dims().len() == 1 => match vector.dtype() {
            DType::Float32 => {
                Ok(vector.values::<f32>()?.iter().map(|weight| f64::from(weight.ln())).collect())
            }
            DType::Float64 => {
                Ok(vector.values::<f64>()?.iter().map(|weight| weight.ln()).collect())
            }
            other => Err(no_weights(&other.to_string())),
        },
        _ => Err(no_weights(&column.describe())),
    }
}
