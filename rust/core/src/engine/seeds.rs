//! The seeds of ops that draw: the one thing in a plan that moves.
//!
//! As in tf.data, the node owns a generator of seed pairs, and every new run takes the next pair.
//! A run logs the numbers of its draws, so that it can be restored in any process: a restored run
//! replays them and goes on from the number after its last, never from the live node.

use std::cell::Cell;
use std::collections::BTreeSet;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

use serde::{Deserialize, Serialize};

use crate::engine::lock;
use crate::random::Philox;

/// Two words that seed a Philox stream.
pub type SeedPair = (u64, u64);

/// The numbers of draws, handed out one after another.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Numbers {
    /// The number after the last.
    next: u64,
    /// Lower ones that were given back.
    returned: BTreeSet<u64>,
}

impl Numbers {
    /// The lowest that is free.
    pub(crate) fn take(&mut self) -> u64 {
        self.returned.pop_first().unwrap_or_else(|| {
            let number = self.next;
            self.next = number.saturating_add(1);
            number
        })
    }

    /// Takes back the number of a draw of which nothing was used.
    pub(crate) fn give_back(&mut self, number: u64) {
        if number < self.next {
            self.returned.insert(number);
        }
        while self.next > 0 && self.returned.remove(&(self.next - 1)) {
            self.next -= 1;
        }
    }

    /// Moves on to at least `next`; false if it has come so far already.
    pub(crate) fn advance(&mut self, next: u64) -> bool {
        let moved = self.next < next;
        self.next = self.next.max(next);
        moved
    }

    /// The number after the last.
    pub(crate) fn end(&self) -> u64 {
        self.next
    }
}

/// Source of the seed pairs of one node.
#[derive(Debug)]
pub struct SeedGenerator {
    pair: SeedPair,
    seeded: bool,
    reshuffle: bool,
    /// Made by a function that is called for each outer element.
    inner: bool,
    numbers: Mutex<Numbers>,
}

impl SeedGenerator {
    /// A generator for `seed` pair; without one, from the system's entropy ([`fresh_pair`]). With
    /// `reshuffle` each draw gives the next pair, else always the same.
    pub fn new(pair: Option<SeedPair>, reshuffle: bool) -> Self {
        let seeded = pair.is_some();
        let pair = pair.unwrap_or_else(fresh_pair);
        SeedGenerator { pair, seeded, reshuffle, inner: false, numbers: Mutex::default() }
    }

    /// The same, made inside a function that is called anew for each outer element.
    #[must_use]
    pub fn made_in_call(mut self, inner: bool) -> Self {
        self.inner = inner;
        self
    }

    /// True if it was made inside a function that is called anew for each outer element.
    pub fn is_made_in_call(&self) -> bool {
        self.inner
    }

    /// A generator of its own from the same pair.
    #[must_use]
    pub fn alike(&self) -> Self {
        let SeedGenerator { pair, seeded, reshuffle, inner, .. } = *self;
        SeedGenerator { pair, seeded, reshuffle, inner, numbers: Mutex::default() }
    }

    /// The pair everything is derived from.
    pub fn pair(&self) -> SeedPair {
        self.pair
    }

    /// The seed as an argument shows it: that of an unseeded generator is nobody's choice.
    pub fn shown(&self) -> String {
        let (a, b) = self.pair;
        if self.seeded { format!("({a}, {b})") } else { "None".into() }
    }

    /// False if the pair came from the system's entropy.
    pub fn is_seeded(&self) -> bool {
        self.seeded
    }

    /// Whether each run draws anew.
    pub fn reshuffles(&self) -> bool {
        self.reshuffle
    }

    /// How many pairs were drawn.
    pub fn drawn(&self) -> u64 {
        lock(&self.numbers).end()
    }

    /// Moves on to at least draw `count`; false if it has come so far already.
    pub fn advance(&self, count: u64) -> bool {
        lock(&self.numbers).advance(count)
    }

    /// The number of the next draw, which is taken.
    pub(crate) fn take(&self) -> u64 {
        if self.reshuffle { lock(&self.numbers).take() } else { 0 }
    }

    /// Takes back the number of a draw of which nothing was used.
    pub(crate) fn give_back(&self, number: u64) {
        if self.reshuffle {
            lock(&self.numbers).give_back(number);
        }
    }

    /// Draw `number` of a generator like this one that starts from `pair`.
    pub(crate) fn pair_for(&self, pair: SeedPair, number: u64) -> SeedPair {
        if self.reshuffle { nth_pair(pair, number) } else { pair }
    }
}

/// Pair number `number` of a generator that starts from `pair`.
fn nth_pair(pair: SeedPair, number: u64) -> SeedPair {
    let mut stream = Philox::at(pair.0, pair.1, number.wrapping_mul(2));
    let first = u64::from(stream.next_u32());
    (first, u64::from(stream.next_u32()))
}

/// A draw that a log has handed out.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Made {
    /// Its number, if it was not drawn before.
    number: Option<u64>,
    /// The node has moved on with it.
    moved: bool,
}

/// The draws of one seeded stage in one run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct DrawLog {
    /// The node's pair, or the entropy it came to.
    pair: SeedPair,
    /// Draws of this run that lie before those logged here.
    #[serde(default, skip_serializing_if = "is_zero")]
    before: u64,
    /// Numbers of the draws as ranges: first number and length.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    ranges: Vec<(u64, u64)>,
    /// The number after the last draw, where the ranges do not tell.
    #[serde(default, skip_serializing_if = "is_zero")]
    after: u64,
    /// How many of them are handed out again in this run.
    #[serde(skip)]
    replayed: u64,
    /// True once the run was restored: its draws no longer come from the node.
    #[serde(skip)]
    restored: bool,
}

impl DrawLog {
    /// An empty log for a node.
    pub fn new(generator: &SeedGenerator) -> Self {
        let pair = generator.pair;
        DrawLog { pair, before: 0, ranges: Vec::new(), after: 0, replayed: 0, restored: false }
    }

    /// The log of a state, to be replayed; the live node moves past what it names.
    #[must_use]
    pub fn restored(mut self, generator: &SeedGenerator) -> Self {
        self.restored = true;
        generator.advance(self.end());
        self
    }

    /// The next seed pair of the run. Its number is at least `others` in a restored run: where
    /// other stages of the run draw from the same generator, the number after their last.
    pub fn draw(&mut self, generator: &SeedGenerator, others: u64) -> SeedPair {
        self.make(generator, others).0
    }

    /// As [`DrawLog::draw`], with what it takes to take it back, if there is anything.
    pub(crate) fn make(
        &mut self,
        generator: &SeedGenerator,
        others: u64,
    ) -> (SeedPair, Option<Made>) {
        if !generator.reshuffle {
            return (self.pair, None);
        }
        self.replayed += 1;
        if self.replayed <= self.logged() {
            let pair = nth_pair(self.pair, self.number(self.replayed - 1));
            return (pair, Some(Made { number: None, moved: false }));
        }
        let (number, moved) = if self.restored {
            let number = self.end().max(others);
            (number, generator.advance(number + 1))
        } else {
            (generator.take(), true)
        };
        self.log(number);
        (nth_pair(self.pair, number), Some(Made { number: Some(number), moved }))
    }

    /// Takes a draw back, all after which were. Returns its number if that is the node's again.
    pub(crate) fn take_back(&mut self, made: Made) -> Option<u64> {
        if let Some(number) = made.number {
            // A cache may have put another log in the place of the one that made it.
            let (first, length) = self.ranges.last_mut()?;
            if *first + *length != number + 1 {
                return None;
            }
            *length -= 1;
            if *length == 0 {
                self.ranges.pop();
            }
        }
        self.replayed = self.replayed.saturating_sub(1);
        made.number.filter(|_| made.moved)
    }

    /// Draws handed out in this run, those before the log included.
    pub fn count(&self) -> u64 {
        self.before + self.replayed
    }

    /// The part of the log from draw `count` of the run on.
    #[must_use]
    pub fn since(&self, count: u64) -> Self {
        let before = count.max(self.before);
        let mut log = DrawLog {
            pair: self.pair,
            before,
            ranges: Vec::new(),
            after: 0,
            replayed: 0,
            restored: false,
        };
        log.ranges = self.ranges_from(count.saturating_sub(self.before));
        if log.end() != self.end() {
            log.after = self.end();
        }
        log
    }

    /// The draws from `count` of the run on, as those of a run that began there.
    #[must_use]
    pub fn pass_from(&self, count: u64) -> Self {
        DrawLog { before: 0, ..self.since(count) }
    }

    /// True if draws are still to be handed out again.
    pub fn replays(&self) -> bool {
        self.replayed < self.logged()
    }

    /// True if the draws that are handed out again next are the first of `pass`.
    pub fn begins_as(&self, pass: &Self) -> bool {
        let (ours, theirs) = (self.ranges_from(self.replayed), pass.ranges_from(0));
        // Ranges are as long as can be, so equal draws are in equal ranges up to where one log ends.
        let common = ours.len().min(theirs.len());
        let same = |at: usize| {
            let ((first, length), (other, others)) = (ours[at], theirs[at]);
            first == other && (length == others || at + 1 == common)
        };
        self.pair == pass.pair
            && (0..common).all(same)
            && match (ours.get(..common), theirs.get(..common)) {
                // The shorter of two last ranges must be the end of its log.
                (Some([.., (_, length)]), Some([.., (_, others)])) => {
                    (length >= others || ours.len() == common)
                        && (length <= others || theirs.len() == common)
                }
                _ => true,
            }
    }

    /// The ranges from draw `index` of the log on.
    fn ranges_from(&self, mut index: u64) -> Vec<(u64, u64)> {
        let mut ranges = Vec::new();
        for &(first, length) in &self.ranges {
            let passed = index.min(length);
            index -= passed;
            if passed < length {
                ranges.push((first + passed, length - passed));
            }
        }
        ranges
    }

    /// True if it can be of a run: no numbers that cannot be added.
    pub(crate) fn is_sound(&self) -> bool {
        let mut count = Some(self.before);
        let mut end = Some(self.after);
        for (first, length) in &self.ranges {
            count = count.and_then(|count| count.checked_add(*length));
            end = end.and(first.checked_add(*length));
        }
        let small = |number: Option<u64>| number.is_some_and(|number| number < u64::MAX / 2);
        small(count) && small(end)
    }

    fn logged(&self) -> u64 {
        self.ranges.iter().map(|(_, length)| length).sum()
    }

    fn number(&self, mut index: u64) -> u64 {
        for &(first, length) in &self.ranges {
            if index < length {
                return first + index;
            }
            index -= length;
        }
        index
    }

    /// The number after the last.
    pub fn end(&self) -> u64 {
        let last = self.ranges.last().map_or(self.before, |(first, length)| first + length);
        last.max(self.after)
    }

    fn log(&mut self, number: u64) {
        match self.ranges.last_mut() {
            Some((first, length)) if *first + *length == number => *length += 1,
            _ => self.ranges.push((number, 1)),
        }
    }
}

fn is_zero(number: &u64) -> bool {
    *number == 0
}

/// A pair that nobody else has, of the system's entropy: a number, and a word that the thread has in
/// common, so that states of many stages are not long. A forked process takes a word of its own.
pub fn fresh_pair() -> SeedPair {
    static NUMBER: AtomicU64 = AtomicU64::new(1);
    thread_local! {
        static WORD: Cell<Option<(u32, u64)>> = const { Cell::new(None) };
    }
    let process = std::process::id();
    let known = WORD.get().filter(|(of, _)| *of == process);
    let (_, word) = known.unwrap_or_else(|| (process, entropy()));
    WORD.set(Some((process, word)));
    (NUMBER.fetch_add(1, Ordering::Relaxed), word)
}

/// A word of the system's entropy, through the keys that the standard library draws for its maps.
pub(crate) fn entropy() -> u64 {
    use std::hash::{BuildHasher, RandomState};
    RandomState::new().hash_one((std::time::SystemTime::now(), std::process::id()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_restored_run_draws_what_the_first_run_would_have() {
        let node = SeedGenerator::new(Some((1, 2)), true);
        let mut first = DrawLog::new(&node);
        let mut other = DrawLog::new(&node);
        let drawn = [first.draw(&node, 0), first.draw(&node, 0)];
        other.draw(&node, 0);
        first.draw(&node, 0);
        let copy = SeedGenerator::new(Some((1, 2)), true);
        let mut again = first.since(1).restored(&copy);
        assert_eq!(again.draw(&copy, 0), drawn[1]);
        again.draw(&copy, 0);
        assert_eq!(again.count(), 3);
        // Draw 3 was the last of the first run; its own next one is taken from its log's end.
        assert_eq!(again.draw(&copy, 0), nth_pair((1, 2), 4));
        assert_eq!(copy.drawn(), 5);
    }

    #[test]
    fn a_log_begins_as_another_where_all_that_both_have_is_the_same() {
        let log = |ranges: &[(u64, u64)]| DrawLog {
            ranges: ranges.to_vec(),
            ..DrawLog::new(&SeedGenerator::new(Some((1, 2)), true))
        };
        let all = log(&[(0, 3), (7, 2), (20, 1)]);
        let same: [&[(u64, u64)]; 5] =
            [&[], &[(0, 2)], &[(0, 3), (7, 1)], &[(0, 3), (7, 2), (20, 5)], &[(0, 3)]];
        for other in same {
            assert!(all.begins_as(&log(other)) && log(other).begins_as(&all), "{other:?}");
        }
        let unlike: [&[(u64, u64)]; 4] =
            [&[(1, 2)], &[(0, 4)], &[(0, 2), (7, 1)], &[(0, 3), (8, 1)]];
        for other in unlike {
            assert!(!all.begins_as(&log(other)) && !log(other).begins_as(&all), "{other:?}");
        }
        assert_eq!(all.since(4).ranges, [(8, 1), (20, 1)]);
        assert_eq!((all.since(9).ranges, all.since(9).after), (Vec::new(), 21));
    }

    #[test]
    fn numbers_that_are_given_back_come_again_the_lowest_first() {
        let mut numbers = Numbers::default();
        (0..5).for_each(|n| assert_eq!(numbers.take(), n));
        [1, 3, 4].into_iter().for_each(|n| numbers.give_back(n));
        assert_eq!(numbers.end(), 3);
        assert_eq!([numbers.take(), numbers.take(), numbers.take()], [1, 3, 4]);
        assert!(!numbers.advance(5) && numbers.advance(6));
    }

    #[test]
    fn draws_that_are_taken_back_are_made_again() {
        let node = SeedGenerator::new(Some((1, 2)), true);
        let mut log = DrawLog::new(&node);
        let made: Vec<_> = (0..4).map(|_| log.make(&node, 0)).collect();
        for (_, draw) in made[2..].iter().rev() {
            let number = log.take_back(draw.unwrap());
            node.give_back(number.unwrap());
        }
        assert_eq!((log.count(), node.drawn()), (2, 2));
        // A restored run hands its own out again.
        let copy = SeedGenerator::new(Some((1, 2)), true);
        let mut again = log.since(1).restored(&copy);
        let first = again.make(&copy, 0);
        assert_eq!(first.0, made[1].0);
        let fresh = again.make(&copy, 0).1.unwrap();
        assert_eq!(again.take_back(fresh), Some(2));
        assert_eq!(again.take_back(first.1.unwrap()), None);
        assert_eq!([again.draw(&copy, 0), again.draw(&copy, 0)], [made[1].0, made[2].0]);
    }

    #[test]
    fn without_reshuffling_the_pair_stays() {
        let node = SeedGenerator::new(Some((1, 2)), false);
        let mut log = DrawLog::new(&node);
        assert_eq!(log.draw(&node, 0), (1, 2));
        assert_eq!(log.draw(&node, 0), (1, 2));
        assert_eq!(node.drawn(), 0);
    }

    #[test]
    fn unseeded_generators_differ() {
        let pairs = [SeedGenerator::new(None, true).pair(), SeedGenerator::new(None, true).pair()];
        assert_ne!(pairs[0], pairs[1]);
        let other = std::thread::spawn(|| SeedGenerator::new(None, true).pair()).join().unwrap();
        assert_ne!(other.1, pairs[0].1);
    }
}
