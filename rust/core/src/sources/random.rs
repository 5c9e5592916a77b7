//! `Dataset.random`: pseudorandom numbers without end, those of tf.data.

use std::sync::Arc;

use crate::data::{Chunk, Column, DType, ElementSpec, Mark, Spec, Tensor};
use crate::engine::node::Arg;
use crate::engine::seeds::SeedGenerator;
use crate::engine::{Cardinality, Node, Opening, Plan, Skipped, Stage};
use crate::error::Result;
use crate::random::Philox;

/// Numbers of 32 bits as int64.
pub struct RandomNode {
    seeds: Arc<SeedGenerator>,
    spec: ElementSpec,
}

impl RandomNode {
    /// A plan of the numbers that follow from the seeds.
    pub fn plan(seeds: SeedGenerator) -> Plan {
        let spec = ElementSpec::leaf(Spec::scalar(DType::Int64));
        Arc::new(RandomNode { seeds: Arc::new(seeds), spec })
    }
}

impl Node for RandomNode {
    fn name(&self) -> &'static str {
        "random"
    }

    fn args(&self) -> Vec<Arg> {
        let anew = self.seeds.reshuffles();
        vec![Arg::new("seed", self.seeds.shown()), Arg::new("rerandomize_each_iteration", anew)]
    }

    fn inputs(&self) -> Vec<Plan> {
        Vec::new()
    }

    fn spec(&self) -> &ElementSpec {
        &self.spec
    }

    fn cardinality(&self) -> Cardinality {
        Cardinality::Infinite
    }

    fn seeds(&self) -> Option<&Arc<SeedGenerator>> {
        Some(&self.seeds)
    }

    fn open(&self, opening: &Opening<'_>) -> Result<Box<dyn Stage>> {
        let (seed, seed2) = opening.draw()?;
        let at = opening.mark.own(0);
        Ok(Box::new(RandomStage { seed, seed2, at, draws: Philox::at(seed, seed2, at) }))
    }
}

struct RandomStage {
    seed: u64,
    seed2: u64,
    at: u64,
    draws: Philox,
}

impl Stage for RandomStage {
    fn next(&mut self, max: usize) -> Result<Option<Chunk>> {
        let numbers: Vec<i64> = (0..max).map(|_| i64::from(self.draws.next_u32())).collect();
        let mark = self.state();
        self.at += max as u64;
        let chunk = Chunk::of_column(Column::Stacked(Tensor::from_values(&[max], &numbers)?))?;
        Ok(Some(chunk.marked(mark)))
    }

    fn skip(&mut self, n: u64) -> Skipped {
        self.at += n;
        self.draws = Philox::at(self.seed, self.seed2, self.at);
        Ok(n)
    }

    fn state(&self) -> Option<Mark> {
        Some(Mark::new([self.at], Vec::new()))
    }

    fn quiet(&self) -> bool {
        true
    }
}
