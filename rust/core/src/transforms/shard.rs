//! `Dataset.shard`: every so many-th element.
//!
//! As in tf.data elements are counted, not errors, and the input runs for those left out too: put
//! it before what costs. Shards of equal length come of whole rounds: the last round is left out if
//! it is short, or filled up with elements from the start, which are held for that.

use std::sync::Arc;

use crate::data::{Chunk, ElementSpec, Mark};
use crate::engine::node::{Arg, find_elements, is_quiet};
use crate::engine::reshard::Shard;
use crate::engine::run::RunContext;
use crate::engine::skipping::skip_by_running;
use crate::engine::stats::StageStats;
use crate::engine::{Cardinality, Input, Node, Opening, Plan, Skipped, Stage};
use crate::error::{Error, Result};
use crate::graph::call::Called;

/// What happens to a last round that has no element for some shards.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Equal {
    /// The shards differ in length by one, as in tf.data.
    No,
    /// It is left out.
    Drop,
    /// It is filled up with elements from the start.
    Wrap,
}

/// Every `shards`-th element, from number `index` on.
pub struct ShardNode {
    input: Plan,
    shards: u64,
    index: u64,
    equal: Equal,
}

impl ShardNode {
    /// A plan of the elements `index`, `index + shards`, … of `input`.
    ///
    /// # Errors
    /// `InvalidArgument` for no shards, or an index that is none of theirs.
    pub fn plan(input: Plan, shards: i64, index: i64, equal: Equal) -> Result<Plan> {
        let Some(count) = u64::try_from(shards).ok().filter(|count| *count > 0) else {
            return Err(Error::invalid_argument(format!(
                "number of shards must be greater than zero (currently num_shards = {shards})"
            )));
        };
        let Some(index) = u64::try_from(index).ok().filter(|index| *index < count) else {
            let last = count - 1;
            return Err(Error::invalid_argument(format!(
                "index must be between 0 and {last} (currently index = {index})"
            )));
        };
        Ok(Arc::new(ShardNode { input, shards: count, index, equal }))
    }
}

impl ShardNode {
    /// Number among the `count` elements of the input of element `number` of the shard.
    fn below(&self, number: u64, count: u64) -> u64 {
        let at = number.saturating_mul(self.shards).saturating_add(self.index);
        if at < count || count == 0 {
            return at;
        }
        // The last round is filled up from the start.
        self.index.saturating_sub(count % self.shards) % count.min(self.shards)
    }
}

impl Node for ShardNode {
    fn name(&self) -> &'static str {
        "shard"
    }

    fn args(&self) -> Vec<Arg> {
        vec![
            Arg::new("num_shards", self.shards),
            Arg::new("index", self.index),
            Arg::new("equal", format_args!("{:?}", self.equal)),
        ]
    }

    fn inputs(&self) -> Vec<Plan> {
        vec![Arc::clone(&self.input)]
    }

    fn spec(&self) -> &ElementSpec {
        self.input.spec()
    }

    fn cardinality(&self) -> Cardinality {
        self.input.cardinality().map(|n| match self.equal {
            Equal::No => n / self.shards + u64::from(n % self.shards > self.index),
            Equal::Drop => n / self.shards,
            Equal::Wrap => n.div_ceil(self.shards),
        })
    }

    fn is_passage(&self) -> bool {
        self.shards == 1
    }

    fn shard(&self) -> Option<Shard> {
        let whole = self.equal == Equal::No;
        whole.then_some(Shard { count: self.shards, index: self.index })
    }

    fn is_indexable(&self) -> bool {
        true
    }

    fn gather(&self, numbers: &[u64]) -> Option<Called> {
        let count = self.input.cardinality().known()?;
        let below: Vec<u64> = numbers.iter().map(|number| self.below(*number, count)).collect();
        self.input.gather(&below)
    }

    fn has_elements_by_number(&self) -> bool {
        self.input.has_elements_by_number()
    }

    fn bytes_by_number(&self) -> Option<u64> {
        self.input.bytes_by_number()
    }

    fn open(&self, opening: &Opening<'_>) -> Result<Box<dyn Stage>> {
        if self.is_passage() {
            return Ok(Box::new(crate::engine::stage::Passage(opening.passage(0, &self.input)?)));
        }
        if self.has_elements_by_number()
            && self.input.cardinality().known().is_some()
            && find_elements(&self.input).is_ok()
            && let Some(count) = self.cardinality().known()
        {
            let passed = (opening.mark.own(0) + self.shards - 1 - self.index) / self.shards;
            let (run, plan) = (Arc::clone(opening.run), Arc::clone(&self.input));
            let node = ShardNode { input: plan, ..*self };
            return Ok(Box::new(NumberedStage { run, node, next: passed, count, failed: None }));
        }
        Ok(Box::new(ShardStage {
            run: Arc::clone(opening.run),
            stats: Arc::clone(&opening.stats),
            input: opening.input(0, &self.input)?,
            shards: self.shards,
            index: self.index,
            equal: self.equal,
            taken: opening.mark.own(0),
            held: None,
            first: Vec::new(),
            ended: false,
        }))
    }
}

/// A shard of an input whose elements can be had by number: the others are not read.
struct NumberedStage {
    run: Arc<RunContext>,
    node: ShardNode,
    /// Number of the next element of the shard.
    next: u64,
    count: u64,
    /// The error of the next element, which came with those before it.
    failed: Option<Error>,
}

impl Stage for NumberedStage {
    fn next(&mut self, max: usize) -> Result<Option<Chunk>> {
        if let Some(error) = self.failed.take() {
            self.next += 1;
            return Err(error);
        }
        let max = max.clamp(1, self.run.options.chunk_rows) as u64;
        let numbers: Vec<u64> =
            (self.next..self.count.min(self.next.saturating_add(max))).collect();
        if numbers.is_empty() {
            return Ok(None);
        }
        let gathered = self.node.gather(&numbers);
        let Called { done, error } =
            gathered.ok_or_else(|| Error::internal("elements that have no number any more"))?;
        match (done, error) {
            (Some(chunk), error) => {
                self.failed = error;
                self.next += chunk.rows() as u64;
                Ok(Some(chunk))
            }
            (None, error) => {
                self.next += 1;
                Err(error.unwrap_or_else(|| Error::internal("elements by number gave none")))
            }
        }
    }

    fn skip(&mut self, n: u64) -> Skipped {
        let skipped = n.min(self.count.saturating_sub(self.next));
        if skipped > 0 {
            self.failed = None;
            self.next += skipped;
        }
        Ok(skipped)
    }

    fn quiet(&self) -> bool {
        is_quiet(&self.node.input)
    }
}

struct ShardStage {
    run: Arc<RunContext>,
    stats: Arc<StageStats>,
    input: Input,
    shards: u64,
    index: u64,
    equal: Equal,
    /// Elements taken from the input.
    taken: u64,
    /// The element of a round that is not known to be whole yet.
    held: Option<Chunk>,
    /// The first round, to fill up the last.
    first: Vec<Chunk>,
    ended: bool,
}

impl ShardStage {
    /// Elements of the input that `count` elements of the shard certainly need.
    fn need(&self, count: u64) -> u64 {
        let (at, last) = match self.equal {
            Equal::Drop => (self.taken % self.shards, self.shards - 1),
            _ => (self.taken % self.shards, self.index),
        };
        let before = if at <= last { last - at } else { self.shards - at + last };
        (count - 1).saturating_mul(self.shards).saturating_add(before + 1)
    }

    /// Takes a chunk of the input; gives the elements of the shard that are due by it.
    fn sift(&mut self, chunk: &Chunk) -> Result<Option<Chunk>> {
        let start = self.taken % self.shards;
        let rows = chunk.rows();
        if self.equal == Equal::Wrap && self.taken < self.shards {
            let early = rows.min((self.shards - self.taken) as usize);
            // Held for long: not with the whole chunk.
            self.first.push(chunk.slice(0..early)?.into_owned()?);
            self.stats.hold(self.first.iter().map(Chunk::own_bytes).sum());
        }
        self.taken += rows as u64;
        let phase = (self.index + self.shards - start) % self.shards;
        let mut picked: Vec<usize> = (phase as usize..rows).step_by(self.shards as usize).collect();
        if self.equal != Equal::Drop {
            return if picked.is_empty() { Ok(None) } else { chunk.gather(&picked).map(Some) };
        }
        // The last round may be short as yet.
        let open = (start + rows as u64) % self.shards;
        let late = match picked.last() {
            Some(last) if rows - last <= open as usize => picked.pop(),
            _ => None,
        };
        let mut due = Vec::new();
        if start + rows as u64 >= self.shards {
            due.extend(self.held.take());
        }
        if !picked.is_empty() {
            due.push(chunk.gather(&picked)?);
        }
        if let Some(row) = late {
            self.held = Some(chunk.slice(row..row + 1)?.marked(None));
        }
        if due.is_empty() { Ok(None) } else { Chunk::concat(due).map(Some) }
    }

    /// An error before the next element of the shard makes tf.data count anew from the last one.
    fn note_error(&mut self) {
        let at = self.taken % self.shards;
        if self.equal == Equal::No && at != self.index {
            let since = (at + self.shards - self.index - 1) % self.shards;
            self.taken = self.taken.saturating_sub(since);
            // None has come yet: it counts from the start.
            if self.taken <= self.index {
                self.taken = 0;
            }
        }
    }

    /// The element that fills up the last round, if it has none for this shard.
    fn wrapped(&mut self) -> Result<Option<Chunk>> {
        let short = self.taken % self.shards;
        if self.equal != Equal::Wrap || short == 0 || self.index < short {
            return Ok(None);
        }
        let mut row = ((self.index - short) % self.taken.min(self.shards)) as usize;
        for chunk in &self.first {
            if row < chunk.rows() {
                return chunk.slice(row..row + 1).map(Some);
            }
            row -= chunk.rows();
        }
        Err(Error::internal("the first round of a shard is not held"))
    }
}

impl Stage for ShardStage {
    fn next(&mut self, max: usize) -> Result<Option<Chunk>> {
        let mut mark = None;
        let asked_quiet = self.input.quiet();
        while !self.ended {
            if self.input.passed_mark() {
                mark = self.state();
            }
            let max = self.input.most(asked_quiet, max, 1);
            let need = self.need(max as u64);
            // Not all at once, if that is many rows for few.
            let most = (self.run.options.chunk_rows as u64).max(self.need(1));
            let outcome = self.input.next(need.min(most) as usize);
            match outcome.inspect_err(|_| self.note_error())? {
                Some(chunk) => {
                    if let Some(due) = self.sift(&chunk)? {
                        return Ok(Some(due.marked(mark)));
                    }
                }
                None => {
                    self.ended = true;
                    return self.wrapped();
                }
            }
        }
        Ok(None)
    }

    fn skip(&mut self, n: u64) -> Skipped {
        // Errors are not counted, and the first round and one that may be short are looked at.
        if self.run.has_failed() || self.equal != Equal::No {
            return skip_by_running(n, |max| self.next(max));
        }
        if n == 0 || self.ended {
            return Ok(0);
        }
        let before = self.taken;
        let wanted = self.need(n);
        let skipped = self.input.skip(wanted);
        // Rounds whose element for this shard was passed.
        let (shards, index) = (self.shards, self.index);
        let passed = |taken: u64| (taken + shards - 1 - index) / shards;
        match skipped {
            Ok(taken) => {
                self.taken += taken;
                self.ended = taken < wanted;
                Ok(passed(self.taken) - passed(before))
            }
            Err(met) => {
                self.taken += met.before();
                Err(met.counted(passed(self.taken) - passed(before)))
            }
        }
    }

    fn state(&self) -> Option<Mark> {
        let held = self.held.is_some() || self.equal == Equal::Wrap;
        (!held).then(|| Mark::new([self.taken], vec![self.input.position()]))
    }

    fn quiet(&self) -> bool {
        self.input.quiet()
    }
}
