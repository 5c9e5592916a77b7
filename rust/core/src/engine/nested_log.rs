//! What captured datasets draw inside a run, kept small.
//!
//! A dataset that is opened for each outer element draws alike each time: so many numbers, one after
//! another, of this and that generator, and the next opening goes on where they end. Such openings
//! are one entry here, however many they are. Openings of late stay apart, since interleaved ones
//! take turns. Where openings do not draw alike, the log would grow with them: the older half goes,
//! and with it the states of positions before it.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::engine::seeds::{Numbers, SeedGenerator, SeedPair};
use crate::error::{Error, Result};

/// What keeps states of nested datasets short.
pub(crate) const HINT: &str = "datasets with a random order that a function captures, and opens for \
    each element, take the most: make them inside the function, where each draws by its place";

/// Openings that stay apart.
const RECENT: usize = 64;
/// Entries that are kept at most, some tens of bytes each. A state of so many would be too long.
const MOST: usize = 1 << 16;

/// Consecutive draws of one generator in one opening.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Range {
    pair: SeedPair,
    first: u64,
    length: u64,
}

/// The draws of one opening in their order.
type Pattern = Vec<Range>;

fn length(pattern: &[Range]) -> u64 {
    pattern.iter().map(|range| range.length).sum()
}

/// Consecutive openings that drew alike.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Block {
    opening: u64,
    count: u64,
    pattern: Pattern,
    /// What is added to each range's first number from one opening to the next.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    steps: Vec<u64>,
}

impl Block {
    fn of(opening: u64, pattern: Pattern) -> Self {
        Block { opening, count: 1, pattern, steps: Vec::new() }
    }

    fn end(&self) -> u64 {
        self.opening.saturating_add(self.count)
    }

    /// The draws of opening `at`.
    fn pattern(&self, at: u64) -> Pattern {
        let mut pattern = self.pattern.clone();
        for (range, step) in pattern.iter_mut().zip(&self.steps) {
            range.first = range.first.wrapping_add(step.wrapping_mul(at - self.opening));
        }
        pattern
    }

    /// The part of the openings from `from` to `to`.
    fn part(&self, from: u64, to: u64) -> Option<Self> {
        let (from, to) = (from.max(self.opening), to.min(self.end()));
        let (pattern, steps) = (from < to).then(|| (self.pattern(from), self.steps.clone()))?;
        Some(Block { opening: from, count: to - from, pattern, steps })
    }

    /// Takes the next opening in, if it drew alike.
    fn join(&mut self, opening: u64, pattern: &[Range]) -> bool {
        let alike = |(a, b): (&Range, &Range)| a.pair == b.pair && a.length == b.length;
        let same = self.pattern.len() == pattern.len()
            && self.pattern.iter().zip(pattern).all(alike)
            && opening == self.end();
        if !same {
            return false;
        }
        let firsts = self.pattern.iter().zip(pattern);
        if self.count == 1 {
            self.steps = firsts.map(|(a, b)| b.first.wrapping_sub(a.first)).collect();
        } else if self.pattern(opening) != pattern {
            return false;
        }
        self.count += 1;
        true
    }
}

/// The draws of all openings of one kind.
#[derive(Clone, Debug, Default, PartialEq)]
struct Openings {
    /// In order.
    blocks: Vec<Block>,
    recent: BTreeMap<u64, Pattern>,
}

impl Openings {
    fn find(&self, opening: u64) -> Option<usize> {
        let at = self.blocks.partition_point(|block| block.end() <= opening);
        self.blocks.get(at).filter(|block| block.opening <= opening).map(|_| at)
    }

    fn get(&self, opening: u64) -> Option<Pattern> {
        match self.recent.get(&opening) {
            Some(pattern) => Some(pattern.clone()),
            None => self.find(opening).map(|at| self.blocks[at].pattern(opening)),
        }
    }

    /// How many draws the opening has made.
    fn drawn(&self, opening: u64) -> u64 {
        match self.recent.get(&opening) {
            Some(pattern) => length(pattern),
            None => self.find(opening).map_or(0, |at| length(&self.blocks[at].pattern)),
        }
    }

    fn remove(&mut self, opening: u64) -> Option<Pattern> {
        if let Some(pattern) = self.recent.remove(&opening) {
            return Some(pattern);
        }
        let at = self.find(opening)?;
        let block = self.blocks[at].clone();
        let parts = [block.part(0, opening), block.part(opening + 1, u64::MAX)];
        self.blocks.splice(at..=at, parts.into_iter().flatten());
        Some(block.pattern(opening))
    }

    /// Appends a draw of an opening.
    fn push(&mut self, opening: u64, pair: SeedPair, number: u64) {
        let mut pattern = self.remove(opening).unwrap_or_default();
        match pattern.last_mut() {
            Some(last) if last.pair == pair && last.first.wrapping_add(last.length) == number => {
                last.length += 1;
            }
            _ => pattern.push(Range { pair, first: number, length: 1 }),
        }
        self.recent.insert(opening, pattern);
    }

    /// Takes a draw of an opening back; false if there is none like it.
    fn take_back(&mut self, opening: u64, pair: SeedPair, number: u64) -> bool {
        let Some(mut pattern) = self.remove(opening) else { return false };
        let holds =
            |range: &Range| range.pair == pair && number.wrapping_sub(range.first) < range.length;
        let at = pattern.iter().rposition(holds);
        if let Some(at) = at {
            let Range { first, length, .. } = pattern.remove(at);
            let before = number.wrapping_sub(first);
            let rest = length - before - 1;
            let parts = [(first, before), (number.wrapping_add(1), rest)];
            for (first, length) in parts.into_iter().rev().filter(|(_, length)| *length > 0) {
                pattern.insert(at, Range { pair, first, length });
            }
        }
        if !pattern.is_empty() {
            self.recent.insert(opening, pattern);
        }
        at.is_some()
    }

    /// Lets old openings go into blocks, but those that are `held`.
    fn settle(&mut self, held: impl Fn(u64) -> bool) {
        if self.recent.len() <= RECENT {
            return;
        }
        let oldest = self.recent.keys().copied().find(|opening| !held(*opening));
        if let Some(opening) = oldest
            && let Some(pattern) = self.recent.remove(&opening)
        {
            self.insert(opening, pattern);
        }
    }

    /// Forgets the openings before `first` but those that are `held`.
    fn forget(&mut self, first: u64, held: impl Fn(u64) -> bool) {
        self.recent.retain(|opening, _| *opening >= first || held(*opening));
        self.blocks.retain(|block| block.end() > first || held(block.opening));
    }

    fn entries(&self) -> usize {
        self.blocks.len() + self.recent.len()
    }

    /// True if they can come from a log: in order, apart, and of numbers that can be added.
    fn are_sound(blocks: &[Block]) -> bool {
        let sums = |pattern: &[Range]| {
            let mut sum = Some(0_u64);
            for range in pattern {
                sum = sum.and_then(|sum| sum.checked_add(range.length.max(1)));
            }
            sum.is_some_and(|sum| sum < u64::MAX / 2)
        };
        let sound = |block: &Block| {
            block.count > 0
                && block.opening.checked_add(block.count).is_some()
                && sums(&block.pattern)
                && (block.count == 1 || block.steps.len() == block.pattern.len())
        };
        blocks.iter().all(sound) && blocks.is_sorted_by(|a, b| a.end() <= b.opening)
    }

    fn insert(&mut self, opening: u64, pattern: Pattern) {
        let at = self.blocks.partition_point(|block| block.opening < opening);
        let joins = at > 0 && self.blocks[at - 1].join(opening, &pattern);
        if !joins {
            self.blocks.insert(at, Block::of(opening, pattern));
        }
    }

    /// All openings from `count` on but those that are `held`, as blocks.
    fn since(&self, count: u64, held: impl Fn(u64) -> bool) -> Vec<Block> {
        let parts = self.blocks.iter().filter_map(|block| block.part(count, u64::MAX));
        let mut all = Openings { blocks: parts.collect(), recent: BTreeMap::new() };
        for (opening, pattern) in self.recent.range(count..).filter(|(at, _)| !held(**at)) {
            all.insert(*opening, pattern.clone());
        }
        all.blocks
    }
}

/// A draw that a log has handed out.
#[derive(Clone, Debug)]
pub(crate) struct Made {
    pair: SeedPair,
    number: u64,
    /// It was drawn before.
    replayed: bool,
    /// All that was drawn before in its opening, if it was the last of that.
    last_of: Option<Pattern>,
    /// The node has moved on with it.
    moved: bool,
}

/// What the nested plans of one stage drew.
#[derive(Clone, Debug, Default)]
pub(crate) struct NestedLog {
    /// Number of plans opened.
    pub(crate) openings: u64,
    /// By where in the opened plan: slot and number in each plan between.
    drawn: BTreeMap<Vec<u64>, Openings>,
    /// Draws of an earlier part of the run that are still to be handed out again.
    replay: BTreeMap<Vec<u64>, Openings>,
    /// The numbers that are free of each generator, by its pair.
    numbers: BTreeMap<SeedPair, Numbers>,
    /// True once the run was restored: its draws no longer come from the live nodes.
    restored: bool,
    /// Kinds of openings and blocks made since entries were last counted, and what they were then.
    entries: usize,
    /// Openings before this one are forgotten.
    forgotten: u64,
    /// Where seeds come from that nobody gave, if not from the run.
    pub(crate) entropy: Option<SeedPair>,
}

/// The log of one stage as part of a state.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct NestedState {
    openings: u64,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    drawn: Vec<(Vec<u64>, Vec<Block>)>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    ends: Vec<(SeedPair, u64)>,
}

impl NestedState {
    /// True if it can be of a run: no numbers that cannot be added.
    pub(crate) fn is_sound(&self) -> bool {
        self.openings < u64::MAX / 2
            && self.drawn.iter().all(|(_, blocks)| Openings::are_sound(blocks))
    }
}

impl NestedLog {
    /// The log of a state, to be replayed.
    pub(crate) fn restored(state: &NestedState) -> Self {
        let mut log =
            NestedLog { openings: state.openings, restored: true, ..NestedLog::default() };
        for (pair, end) in &state.ends {
            log.numbers.entry(*pair).or_default().advance(*end);
        }
        for (tail, blocks) in &state.drawn {
            let openings = Openings { blocks: blocks.clone(), recent: BTreeMap::new() };
            log.replay.insert(tail.clone(), openings);
        }
        log
    }

    /// The same, about to make an earlier pass again: its openings have their numbers once more.
    pub(crate) fn replaying(&self, pass: &NestedState, entropy: Option<SeedPair>) -> Self {
        let mut log = Self::restored(pass);
        for (pair, numbers) in &self.numbers {
            log.numbers.entry(*pair).or_default().advance(numbers.end());
        }
        log.entropy = entropy;
        log
    }

    /// The part of the log from opening `count` of the run on, as a pass of its own.
    ///
    /// # Errors
    /// As [`NestedLog::since`].
    pub(crate) fn pass_since(&self, count: u64) -> Result<NestedState> {
        Ok(NestedState { ends: Vec::new(), ..self.since(count)? })
    }

    /// True if draws are still to be handed out again.
    pub(crate) fn replays(&self) -> bool {
        self.replay.values().any(|openings| openings.entries() > 0)
    }

    /// The part of the log from opening `count` of the run on.
    ///
    /// # Errors
    /// `ResourceExhausted` if some of it is forgotten.
    pub(crate) fn since(&self, count: u64) -> Result<NestedState> {
        if count < self.forgotten {
            return Err(Error::resource_exhausted(format!(
                "the state would hold what more than {MOST} openings of datasets drew"
            ))
            .with_hint(HINT));
        }
        let mut all: BTreeMap<Vec<u64>, Vec<Block>> = BTreeMap::new();
        for (tail, replay) in &self.replay {
            all.insert(tail.clone(), replay.since(count, |_| false));
        }
        for (tail, drawn) in &self.drawn {
            // What is still replayed holds all that an opening drew before.
            let held = |opening| self.is_replayed(tail, opening);
            let blocks = all.entry(tail.clone()).or_default();
            blocks.extend(drawn.since(count, held));
            blocks.sort_by_key(|block| block.opening);
        }
        let drawn = all.into_iter().filter(|(_, blocks)| !blocks.is_empty()).collect();
        let ends = self.numbers.iter().map(|(pair, numbers)| (*pair, numbers.end())).collect();
        Ok(NestedState { openings: count, drawn, ends })
    }

    /// Keeps the log from growing without end.
    fn bound(&mut self, opening: u64) {
        if self.entries < MOST {
            return;
        }
        let blocks = |openings: &Openings| openings.entries().max(1);
        self.entries = self.drawn.values().map(blocks).sum();
        if self.entries < MOST {
            return;
        }
        let replay = &self.replay;
        let first_of = |openings: &Openings| {
            let block = openings.blocks.first().map(|block| block.opening);
            block.into_iter().chain(openings.recent.keys().next().copied()).min()
        };
        let oldest = self.drawn.values().filter_map(first_of).min().unwrap_or(opening);
        for first in [oldest.midpoint(opening), opening + 1] {
            for (tail, openings) in &mut self.drawn {
                let replay = replay.get(tail);
                openings.forget(first, |at| replay.is_some_and(|replay| replay.drawn(at) > 0));
            }
            self.drawn.retain(|_, openings| openings.entries() > 0);
            self.forgotten = first;
            self.entries = self.drawn.values().map(blocks).sum();
            if self.entries < MOST / 4 * 3 {
                break;
            }
        }
    }

    fn is_replayed(&self, tail: &[u64], opening: u64) -> bool {
        self.replay.get(tail).is_some_and(|replay| replay.drawn(opening) > 0)
    }

    /// The next draw of a generator at `path`: number of the opening, then slot and number in each
    /// plan between.
    pub(crate) fn draw(
        &mut self,
        path: &[u64],
        generator: &SeedGenerator,
    ) -> (SeedPair, Option<Made>) {
        let Some((&opening, tail)) = path.split_first() else { return (generator.pair(), None) };
        self.bound(opening);
        let kinds = self.drawn.len();
        let drawn = self.drawn.entry(tail.to_vec()).or_default();
        let mut index = drawn.drawn(opening);
        let replay = self.replay.get_mut(tail);
        let (mut pair, mut number, mut last_of) = (generator.pair(), None, None);
        if let Some(replay) = replay
            && let Some(pattern) = replay.get(opening)
        {
            if index + 1 == length(&pattern) {
                last_of = replay.remove(opening);
            }
            for range in pattern {
                if index < range.length {
                    (pair, number) = (range.pair, Some(range.first.wrapping_add(index)));
                    break;
                }
                index -= range.length;
            }
        }
        let own = self.numbers.get_mut(&pair).filter(|_| self.restored && generator.reshuffles());
        let blocks = drawn.blocks.len();
        let replayed = number.is_some();
        let (number, taken) = match (number, own) {
            (Some(number), _) => (number, false),
            (None, Some(numbers)) => (numbers.take(), false),
            _ => (generator.take(), true),
        };
        self.numbers.entry(pair).or_default().advance(number.saturating_add(1));
        let moved = pair == generator.pair() && generator.advance(number.saturating_add(1));
        drawn.push(opening, pair, number);
        let replay = self.replay.get(tail);
        drawn.settle(|opening| replay.is_some_and(|replay| replay.drawn(opening) > 0));
        let grown = drawn.blocks.len().saturating_sub(blocks);
        self.entries += grown + usize::from(self.drawn.len() > kinds);
        let made = Made { pair, number, replayed, last_of, moved: taken || moved };
        (generator.pair_for(pair, number), Some(made))
    }

    /// Takes a draw back, unless its generator has drawn since: the run will use it as it was made.
    pub(crate) fn take_back_last(&mut self, path: &[u64], made: &Made) {
        let end = self.numbers.get(&made.pair).map_or(0, Numbers::end);
        if end == made.number.saturating_add(1) {
            self.take_back(path, made);
        }
    }

    /// Takes a draw back. Returns its number if that is the node's again.
    pub(crate) fn take_back(&mut self, path: &[u64], made: &Made) -> Option<u64> {
        let (&opening, tail) = path.split_first()?;
        let Made { pair, number, replayed, last_of, moved } = made;
        // Old ones may be forgotten.
        if !self.drawn.get_mut(tail)?.take_back(opening, *pair, *number) {
            return None;
        }
        if let Some(pattern) = last_of {
            self.replay.entry(tail.to_vec()).or_default().insert(opening, pattern.clone());
        }
        if *replayed {
            return None;
        }
        self.numbers.entry(*pair).or_default().give_back(*number);
        moved.then_some(*number)
    }
}

#[cfg(test)]
mod tests;
