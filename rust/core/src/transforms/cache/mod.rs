//! `Dataset.cache`: the first pass is kept, later ones read it.
//!
//! What counts is a pass that reaches the end; one that is left early keeps nothing. The rows kept
//! in memory belong to the node, so all runs share them; those in a file belong to whoever names
//! it. Elements that fail are not kept. Random order below is frozen: the state of a run says what
//! the first pass drew, and a run that is restored without the rows makes that pass again first.

pub(super) mod file;
pub(super) mod home;

use std::sync::Arc;

use crate::data::{Chunk, ElementSpec, Mark};
use crate::engine::fills::CachePlace;
use crate::engine::node::Arg;
use crate::engine::run::RunContext;
use crate::engine::skipping::skip_by_running;
use crate::engine::stage::{Passage, is_final};
use crate::engine::stats::StageStats;
use crate::engine::{Cardinality, Input, Node, Opening, Plan, Skipped, Stage};
use crate::error::Result;

use home::{Filled, Home, Sink, Source};

/// A plan whose elements are kept.
pub struct CacheNode {
    input: Plan,
    home: Home,
}

impl CacheNode {
    /// A plan that keeps the elements of `input` in memory, or in files whose names begin with
    /// `filename`.
    pub fn plan(input: Plan, filename: Option<String>) -> Plan {
        let home = match filename {
            None => Home::memory(),
            Some(name) => Home::file(&name),
        };
        Arc::new(CacheNode { input, home })
    }
}

impl Node for CacheNode {
    fn name(&self) -> &'static str {
        "cache"
    }

    fn args(&self) -> Vec<Arg> {
        // Where the rows are kept changes none of them.
        vec![Arg::tuning("filename", self.home.name())]
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

    fn observable(&self) -> bool {
        true
    }

    fn is_indexable(&self) -> bool {
        true
    }

    fn open(&self, opening: &Opening<'_>) -> Result<Box<dyn Stage>> {
        open_stage(&self.home, &self.input, opening)
    }
}

/// A stage that keeps the elements of `input` at `home`.
pub(super) fn open_stage(
    home: &Home,
    input: &Plan,
    opening: &Opening<'_>,
) -> Result<Box<dyn Stage>> {
    let place = opening.cache_place(input);
    if opening.run.options.on_demand && home.filled(&place)?.is_none() {
        // Elements asked for by number are no pass, but those of the first.
        return Ok(Box::new(Passage(place.open_first(input)?)));
    }
    let mut stage = CacheStage {
        run: Arc::clone(opening.run),
        stats: Arc::clone(&opening.stats),
        place,
        plan: Arc::clone(input),
        home: home.clone(),
        phase: Phase::Closed,
    };
    stage.begin(&opening.mark)?;
    Ok(Box::new(stage))
}

struct CacheStage {
    run: Arc<RunContext>,
    stats: Arc<StageStats>,
    place: CachePlace,
    plan: Plan,
    home: Home,
    phase: Phase,
}

enum Phase {
    /// The first pass.
    Fill(Box<Filling>),
    /// A later one.
    Read { source: Source, marked: bool },
    /// Something went wrong on the way from one to the other.
    Closed,
}

struct Filling {
    input: Input,
    sink: Sink,
    /// What had been drawn below before the pass.
    counts: Vec<(usize, u64)>,
    /// An element has failed.
    failed: bool,
    /// How many elements are still to come, where that is known and the pass need not see the end.
    left: Option<u64>,
    /// Made only for what comes after it: its elements have been handed out already.
    again: bool,
    /// Where to read on then.
    from: u64,
}

/// The mark of later passes, before element number `at`.
fn reading(at: u64) -> Mark {
    Mark::new([1, at], Vec::new())
}

impl CacheStage {
    fn begin(&mut self, mark: &Mark) -> Result<()> {
        let filled = self.home.filled(&self.place)?;
        let adopted = self.place.adopted();
        // A state names the pass that the cache held; at the start of a later pass it asks for no
        // draws, since those were made before.
        let later = !mark.is_start() || (adopted.is_some() && !self.place.replays());
        let usable = |filled: &Filled| match (&adopted, later) {
            _ if filled.is_file() => true,
            (Some(fill), true) => fill == filled.fill(),
            (None, true) => true,
            (adopted, false) => {
                // Failed elements were counted as outcomes of the pass, and are in no cache.
                let countable = !filled.failed() || !self.run.has_failed() || adopted.is_some();
                countable && self.place.would_draw(filled.fill())
            }
        };
        match filled.filter(usable) {
            Some(filled) => {
                let mut source = filled.source(&self.plan)?;
                source.skip(mark.own(1))?;
                self.place.adopt(filled.fill(), false)?;
                self.read(source);
            }
            None => {
                if let Some(fill) = adopted.filter(|_| later) {
                    self.place.replay(&fill);
                }
                let counts = self.place.counts();
                let input = self.place.open(&self.plan)?;
                let sink = self.home.sink();
                let (again, from) = (later, mark.own(1));
                let left = match (&self.home, self.plan.cardinality()) {
                    (Home::Memory(_), Cardinality::Known(count)) => Some(count),
                    _ => None,
                };
                self.phase = Phase::Fill(Box::new(Filling {
                    input,
                    sink,
                    counts,
                    failed: false,
                    left,
                    again,
                    from,
                }));
            }
        }
        Ok(())
    }

    fn read(&mut self, source: Source) {
        hold(&self.stats, source.kept_bytes());
        self.phase = Phase::Read { source, marked: false };
    }

    /// The end of the first pass: `at_end` tells whether reading starts there.
    fn complete(&mut self, at_end: bool) -> Result<()> {
        let phase = std::mem::replace(&mut self.phase, Phase::Closed);
        let Phase::Fill(filling) = phase else { return Ok(()) };
        drop(filling.input);
        let from = if at_end { u64::MAX } else { filling.from };
        let fill = self.place.pass_since(&filling.counts);
        let (own, failed) = (!filling.again, filling.failed);
        let filled = filling.sink.finish(&self.home, &self.place, fill, own, failed)?;
        let Some(filled) = filled else {
            // Another process writes the file: these elements were only passed on.
            return match at_end {
                true => Ok(()),
                false => Err(self.home.held()),
            };
        };
        let mut source = filled.source(&self.plan)?;
        source.skip(from)?;
        self.read(source);
        Ok(())
    }

    /// Makes the pass again whose elements were handed out before the run was restored.
    fn fill_again(&mut self) -> Result<()> {
        loop {
            self.run.check()?;
            let Phase::Fill(filling) = &mut self.phase else { return Ok(()) };
            if !filling.again {
                return Ok(());
            }
            filling.sink.prepare(&self.home)?;
            match filling.input.next_chunk(usize::MAX) {
                Ok(Some(chunk)) => hold(&self.stats, filling.sink.push(&chunk)?),
                Ok(None) => return self.complete(false),
                Err(error) if is_final(&error) => return Err(error),
                Err(_) => filling.failed = true,
            }
        }
    }
}

impl Stage for CacheStage {
    fn next(&mut self, max: usize) -> Result<Option<Chunk>> {
        self.fill_again()?;
        match &mut self.phase {
            Phase::Closed => Ok(None),
            Phase::Read { source, marked } => {
                let mark = (!std::mem::replace(marked, true)).then(|| reading(source.at()));
                Ok(source.next(max)?.map(|chunk| chunk.marked(mark)))
            }
            Phase::Fill(filling) => {
                filling.sink.prepare(&self.home)?;
                match filling.input.next(max) {
                    Ok(Some(chunk)) => {
                        hold(&self.stats, filling.sink.push(&chunk)?);
                        // As in tf.data, the last element of a known number ends the pass.
                        let left = filling.left.as_mut();
                        let last = left.is_some_and(|left| {
                            *left = left.saturating_sub(chunk.rows() as u64);
                            *left == 0
                        });
                        if last && !filling.failed {
                            self.complete(true)?;
                        }
                        Ok(Some(chunk.marked(None)))
                    }
                    Ok(None) => {
                        self.complete(true)?;
                        Ok(None)
                    }
                    Err(error) => {
                        filling.failed = true;
                        Err(error)
                    }
                }
            }
        }
    }

    fn skip(&mut self, n: u64) -> Skipped {
        if n == 0 {
            return Ok(0);
        }
        self.fill_again()?;
        match &mut self.phase {
            Phase::Closed => Ok(0),
            Phase::Read { source, .. } => Ok(source.skip(n)?),
            Phase::Fill(_) => {
                let rows = self.run.options.chunk_rows;
                skip_by_running(n, |max| self.next(max.min(rows)))
            }
        }
    }

    fn quiet(&self) -> bool {
        matches!(self.phase, Phase::Read { .. })
    }
}

/// Notes what the stage holds.
fn hold(stats: &StageStats, bytes: usize) {
    stats.hold(bytes);
}
