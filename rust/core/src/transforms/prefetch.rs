//! `Dataset.prefetch`: elements are made ahead of the consumer, on another thread.

use std::sync::Arc;

use crate::data::{Chunk, ElementSpec};
use crate::engine::driver::{self, Driver, Outcomes, Work};
use crate::engine::node::{Arg, is_quiet};
use crate::engine::pool::Kind;
use crate::engine::stage::Passage;
use crate::engine::{Cardinality, Node, Opening, Plan, Stage};
use crate::error::{Error, Result};

/// tf.data's constant for a value that the engine chooses.
pub const AUTOTUNE: i64 = -1;
/// What AUTOTUNE starts from, in chunks: enough to even out the steps of source and consumer.
const DEFAULT_WINDOW: usize = 4;
/// Quiet inputs come in chunks; more of them than this only costs memory.
const MAX_WINDOW: usize = 64;

/// Up to `buffer_size` elements are made ahead.
#[derive(Clone)]
pub struct PrefetchNode {
    input: Plan,
    buffer_size: i64,
}

impl PrefetchNode {
    /// A plan that makes up to `buffer_size` elements of `input` ahead; 0 for none, -1 for a
    /// number that the engine chooses.
    ///
    /// # Errors
    /// `InvalidArgument` for other negative numbers.
    pub fn plan(input: Plan, buffer_size: i64) -> Result<Plan> {
        if buffer_size < AUTOTUNE {
            return Err(Error::invalid_argument(format!(
                "buffer_size must be at least 0, or AUTOTUNE (-1), got {buffer_size}"
            )));
        }
        Ok(Arc::new(PrefetchNode { input, buffer_size }))
    }
}

impl Node for PrefetchNode {
    fn name(&self) -> &'static str {
        "prefetch"
    }

    fn args(&self) -> Vec<Arg> {
        vec![Arg::tuning("buffer_size", self.buffer_size)]
    }

    fn inputs(&self) -> Vec<Plan> {
        vec![Arc::clone(&self.input)]
    }

    fn spec(&self) -> &ElementSpec {
        self.input.spec()
    }

    fn cardinality(&self) -> Cardinality {
        self.input.cardinality()
    }

    fn is_passage(&self) -> bool {
        true
    }

    fn is_indexable(&self) -> bool {
        true
    }

    fn with_inputs(&self, mut inputs: Vec<Plan>) -> Option<Plan> {
        let input = inputs.pop()?;
        Some(Arc::new(PrefetchNode { input, ..self.clone() }))
    }

    fn open(&self, opening: &Opening<'_>) -> Result<Box<dyn Stage>> {
        let quiet = is_quiet(&self.input);
        let window = match usize::try_from(self.buffer_size) {
            _ if opening.run.options.on_demand => {
                return Ok(Box::new(Passage(opening.passage(0, &self.input)?)));
            }
            Ok(0) => return Ok(Box::new(Passage(opening.passage(0, &self.input)?))),
            Ok(size) if quiet => size.min(MAX_WINDOW),
            Ok(size) => size,
            Err(_) => DEFAULT_WINDOW,
        };
        let input = opening.driven_passage(0, &self.input)?;
        let plan = driver::Plan {
            // What leaves the pipeline is made ready to be given away on this side.
            work: opening.is_root().then(|| Arc::new(Own) as Arc<dyn Work>),
            workers: 1,
            window,
            single: false,
            fill: false,
            ordered: true,
            kind: if quiet { Kind::Work } else { Kind::Blocking },
        };
        Ok(Box::new(PrefetchStage(Driver::new(input, plan, opening.run, &opening.stats))))
    }
}

/// Copies views of shared memory, so that the consumer need not.
struct Own;

impl Work for Own {
    fn run(&self, chunk: Chunk, _first: u64) -> Outcomes {
        Outcomes::from([if chunk.rows() == 1 { chunk.into_owned() } else { Ok(chunk) }])
    }
}

struct PrefetchStage(Driver);

impl Stage for PrefetchStage {
    fn next(&mut self, max: usize) -> Result<Option<Chunk>> {
        self.0.next(max)
    }

    fn skip(&mut self, n: u64) -> Result<u64> {
        self.0.skip(n)
    }

    fn quiet(&self) -> bool {
        self.0.quiet()
    }
}
