//! `Dataset.prefetch`: elements are made ahead of the consumer, on another thread.
//!
//! The prefetch that the engine adds to a plan begins only where that pays: handing a chunk from
//! thread to thread costs more than making a cheap one.

use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::data::{Chunk, ElementSpec};
use crate::engine::autotune::{Knob, Window};
use crate::engine::driver::{self, Driver, Outcomes, Work};
use crate::engine::node::{Arg, is_quiet};
use crate::engine::pool::Kind;
use crate::engine::run::RunContext;
use crate::engine::stage::Passage;
use crate::engine::stats::StageStats;
use crate::engine::{Cardinality, Input, Node, Opening, Plan, Skipped, Stage};
use crate::error::{Error, Result};
use crate::graph::rows::Hands;

/// tf.data's constant for a value that the engine chooses.
pub const AUTOTUNE: i64 = -1;
/// What AUTOTUNE starts from, in chunks: enough to even out the steps of source and consumer.
const DEFAULT_WINDOW: usize = 4;
/// Quiet inputs come in chunks; more of them than this only costs memory.
const MAX_WINDOW: usize = 64;
/// A chunk that takes longer is worth making on another thread: waking that thread and being woken
/// by it takes some 5 us where both have a core.
const WORTH_A_THREAD: Duration = Duration::from_micros(20);
/// By so much together chunks have to take longer first: starting threads and their queues takes
/// about as long.
const WORTH_STARTING: Duration = Duration::from_micros(200);

/// Up to `buffer_size` elements are made ahead.
#[derive(Clone)]
pub struct PrefetchNode {
    input: Plan,
    buffer_size: i64,
    /// Added by the engine, not by the user.
    injected: bool,
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
        Ok(Arc::new(PrefetchNode { input, buffer_size, injected: false }))
    }

    /// A plan that makes elements of `input`, which is quiet, ahead once that pays.
    pub fn injected(input: Plan) -> Plan {
        Arc::new(PrefetchNode { input, buffer_size: AUTOTUNE, injected: true })
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
            Ok(size) if quiet => Knob::fixed(size.min(MAX_WINDOW)),
            Ok(size) => Knob::fixed(size),
            Err(_) if !opening.run.options.autotune.enabled => Knob::fixed(DEFAULT_WINDOW),
            Err(_) => Knob::between(DEFAULT_WINDOW, DEFAULT_WINDOW, MAX_WINDOW),
        };
        let input = opening.driven_passage(0, &self.input)?;
        let kind = if quiet { Kind::Work } else { Kind::Blocking };
        let plan = driver::Plan {
            // What leaves the pipeline is made ready to be given away on this side.
            work: opening.is_root().then(|| Arc::new(Own) as Arc<dyn Work>),
            ..driver::Plan::new(Knob::fixed(1), Window::Chunks(window), kind)
        };
        let (run, stats) = (Arc::clone(opening.run), Arc::clone(&opening.stats));
        let start = Start { input, plan, run, stats };
        Ok(Box::new(match self.injected {
            true => PrefetchStage { driver: None, start: Some(start), pace: Pace::default() },
            false => {
                PrefetchStage { driver: Some(start.driver()), start: None, pace: Pace::default() }
            }
        }))
    }
}

/// Copies views of shared memory, so that the consumer need not.
struct Own;

impl Work for Own {
    fn run(&self, chunk: Chunk, _first: u64, _hands: &dyn Hands) -> Outcomes {
        Outcomes::from([if chunk.rows() == 1 { chunk.into_owned() } else { Ok(chunk) }])
    }
}

/// What a driver is made of.
struct Start {
    input: Input,
    plan: driver::Plan,
    run: Arc<RunContext>,
    stats: Arc<StageStats>,
}

impl Start {
    fn driver(self) -> Driver {
        Driver::new(self.input, self.plan, &self.run, &self.stats)
    }
}

/// What a thread would have saved so far.
#[derive(Default)]
struct Pace {
    begun: bool,
    lost: Duration,
}

impl Pace {
    /// Notes how long a chunk took. The first of a run tells nothing: it opens files and tries
    /// functions.
    fn note(&mut self, taken: Duration) {
        let first = !std::mem::replace(&mut self.begun, true);
        match taken.checked_sub(WORTH_A_THREAD) {
            // No more than half of what it takes: a single chunk may have met with a pause.
            Some(more) if !first => self.lost += more.min(WORTH_STARTING / 2),
            _ => self.lost = Duration::ZERO,
        }
    }

    fn is_slow(&self) -> bool {
        self.lost >= WORTH_STARTING
    }
}

/// Either has a driver, or pulls in the consumer's thread and may make one.
struct PrefetchStage {
    driver: Option<Driver>,
    start: Option<Start>,
    pace: Pace,
}

impl PrefetchStage {
    fn driver(&mut self) -> Option<&mut Driver> {
        if self.pace.is_slow()
            && let Some(start) = self.start.take()
        {
            self.driver = Some(start.driver());
        }
        self.driver.as_mut()
    }
}

impl Stage for PrefetchStage {
    fn next(&mut self, max: usize) -> Result<Option<Chunk>> {
        if let Some(driver) = self.driver() {
            return driver.next(max);
        }
        let Some(start) = &mut self.start else {
            return Err(Error::internal("a prefetch has neither driver nor input"));
        };
        let began = Instant::now();
        let outcome = start.input.next(max);
        self.pace.note(began.elapsed());
        outcome
    }

    fn skip(&mut self, n: u64) -> Skipped {
        match (&mut self.driver, &mut self.start) {
            (Some(driver), _) => driver.skip(n),
            (None, Some(start)) => start.input.skip(n),
            (None, None) => Err(Error::internal("a prefetch has neither driver nor input").into()),
        }
    }

    fn quiet(&self) -> bool {
        match (&self.driver, &self.start) {
            (Some(driver), _) => driver.quiet(),
            (None, start) => start.as_ref().is_some_and(|start| start.input.quiet()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_slow(micros: &[u64]) -> bool {
        let mut pace = Pace::default();
        micros.iter().for_each(|taken| pace.note(Duration::from_micros(*taken)));
        pace.is_slow()
    }

    #[test]
    fn a_thread_is_started_once_it_would_have_saved_its_start() {
        assert!(is_slow(&[900, 900, 900]));
        assert!(!is_slow(&[900, 900]), "a single pause");
        assert!(!is_slow(&[900]), "the first chunk tells nothing");
        assert!(!is_slow(&[900, 120, 40]), "a run that only warms up");
        assert!(is_slow(&[30; 25]));
        assert!(!is_slow(&[30; 15]));
        assert!(!is_slow(&[900, 100, 100, 5, 100, 100]), "a cheap one among them");
    }
}
