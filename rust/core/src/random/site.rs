//! What random ops inside a function draw by: the op, the run, and the place of the element.
//!
//! A number depends on nothing else, so it is the same however many elements are computed at once,
//! ahead, again, or not at all. A function owns [`CallSeeds`]: each run of its dataset takes the
//! next number, which makes with them the [`RunKey`]. Epochs, and the calls of an outer function,
//! are folded in where they begin; the position is counted in what the function was called with.

use std::sync::atomic::{AtomicU64, Ordering};

use serde::{Deserialize, Serialize};

use crate::random::philox::block;

/// Seeds of ops are below this prime, as TensorFlow's are.
const SEEDS: u64 = (1 << 31) - 1;

/// The seeds of a function: the one thing of it that moves.
#[derive(Debug)]
pub struct CallSeeds {
    /// Goes with the seeds that ops were given: the global seed, or what stands for none.
    global: u64,
    pair: (u64, u64),
    seeded: bool,
    next: AtomicU64,
}

impl CallSeeds {
    /// Seeds that follow from `pair`, or from `entropy` where nobody gave one.
    pub fn new(global: u64, pair: Option<(u64, u64)>, entropy: (u64, u64)) -> Self {
        let (seeded, pair) = (pair.is_some(), pair.unwrap_or(entropy));
        CallSeeds { global, pair, seeded, next: AtomicU64::new(0) }
    }

    /// What goes with the seeds that ops were given.
    pub fn global(&self) -> u64 {
        self.global
    }

    /// What seeds of ops without one follow from.
    pub fn pair(&self) -> (u64, u64) {
        self.pair
    }

    /// False if the pair came from the system's entropy.
    pub fn is_seeded(&self) -> bool {
        self.seeded
    }

    /// Number of runs so far.
    pub fn drawn(&self) -> u64 {
        self.next.load(Ordering::SeqCst)
    }

    /// Moves on to at least run `number`.
    pub fn advance(&self, number: u64) {
        self.next.fetch_max(number, Ordering::SeqCst);
    }

    /// What a new run draws by.
    pub fn take(&self) -> RunKey {
        RunKey { pair: self.pair, number: self.next.fetch_add(1, Ordering::SeqCst) }
    }
}

/// What the calls of a function in one run draw by.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunKey {
    /// The function's seeds, or the entropy they came to.
    pub pair: (u64, u64),
    /// Which of its runs it is.
    pub number: u64,
}

/// The seed of one op.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OpSeed {
    /// Given to the op.
    Given(i64),
    /// None: the number of the op in its function.
    Numbered(u32),
    /// Of the generator that a function gets as an argument.
    Argument,
}

/// Where the first of some elements stands.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Site {
    global: u64,
    key: RunKey,
    /// The epochs of the run that it belongs to.
    epochs: u64,
    /// Its number among those that the function was called with.
    first: u64,
}

impl Site {
    /// The first element of a function in a run.
    pub fn new(seeds: &CallSeeds, key: RunKey, epochs: u64) -> Self {
        Site { global: seeds.global, key, epochs, first: 0 }
    }

    /// The place as numbers, to be sent to another process.
    pub fn to_words(&self) -> [u64; 6] {
        let RunKey { pair, number } = self.key;
        [self.global, pair.0, pair.1, number, self.epochs, self.first]
    }

    /// Undoes [`Site::to_words`].
    pub fn from_words([global, a, b, number, epochs, first]: [u64; 6]) -> Self {
        Site { global, key: RunKey { pair: (a, b), number }, epochs, first }
    }

    /// The element `rows` further on.
    #[must_use]
    pub fn at(self, rows: u64) -> Self {
        Site { first: self.first.wrapping_add(rows), ..self }
    }

    /// What function `number` of a dataset draws by that the call at this place has made, in run
    /// `opening` of the stage that called it.
    pub fn inner(&self, seeds: &CallSeeds, number: usize, opening: u64) -> RunKey {
        let of = |pair| mix(pair, [self.key.number, self.epochs, opening, number as u64]);
        let pair = if seeds.seeded { seeds.pair } else { of(self.key.pair) };
        RunKey { pair, number: of((0, 0)).0 }
    }

    /// The seeds of an op for `rows` elements from here on.
    pub fn seeds(&self, op: OpSeed, rows: usize) -> impl Iterator<Item = [u64; 2]> {
        let (pair, number) = match op {
            OpSeed::Given(seed) => ((self.global, seed.rem_euclid(SEEDS as i64) as u64), 0),
            OpSeed::Numbered(number) => (self.key.pair, number),
            OpSeed::Argument => (self.key.pair, u32::MAX),
        };
        let (key, base) = mix(pair, [self.key.number, self.epochs]);
        let first = self.first;
        (0..rows as u64).map(move |row| {
            let at = first.wrapping_add(row);
            let counter = [base as u32 ^ number, (base >> 32) as u32, at as u32, (at >> 32) as u32];
            let words = block([key as u32, (key >> 32) as u32], counter);
            [join(words[0], words[1]), join(words[2], words[3])]
        })
    }
}

/// The epochs within epoch `number` of the `repeat`s at this depth.
pub fn epochs_within(epochs: u64, depth: usize, number: u64) -> u64 {
    mix((epochs, depth as u64), [number]).0
}

fn join(low: u32, high: u32) -> u64 {
    u64::from(low) | (u64::from(high) << 32)
}

/// Two words in which each number has its part.
fn mix<const N: usize>(pair: (u64, u64), numbers: [u64; N]) -> (u64, u64) {
    numbers.into_iter().fold(pair, |(a, b), number| {
        let counter = [b as u32, (b >> 32) as u32, number as u32, (number >> 32) as u32];
        let words = block([a as u32, (a >> 32) as u32], counter);
        (join(words[0], words[1]), join(words[2], words[3]))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn site(seeds: &CallSeeds) -> Site {
        Site::new(seeds, seeds.take(), 0)
    }

    fn drawn(site: &Site, op: OpSeed, rows: usize) -> Vec<[u64; 2]> {
        site.seeds(op, rows).collect()
    }

    #[test]
    fn seeds_follow_from_op_run_epoch_and_position_alone() {
        let seeds = CallSeeds::new(7, Some((7, 8)), (0, 0));
        let first = site(&seeds);
        let all = drawn(&first, OpSeed::Numbered(0), 10);
        assert_eq!(drawn(&first.at(4), OpSeed::Numbered(0), 6), all[4..]);
        let mut kinds = vec![all];
        kinds.push(drawn(&first, OpSeed::Numbered(1), 10));
        kinds.push(drawn(&first, OpSeed::Given(3), 10));
        kinds.push(drawn(&first, OpSeed::Argument, 10));
        kinds.push(drawn(&site(&seeds), OpSeed::Numbered(0), 10));
        kinds.push(drawn(&Site { epochs: 1, ..first }, OpSeed::Numbered(0), 10));
        let mut flat = kinds.concat();
        flat.sort_unstable();
        flat.dedup();
        assert_eq!(flat.len(), 60);
    }

    #[test]
    fn given_seeds_need_no_seed_of_the_function() {
        let a = site(&CallSeeds::new(7, None, (1, 2)));
        let b = site(&CallSeeds::new(7, None, (3, 4)));
        assert_eq!(drawn(&a, OpSeed::Given(3), 5), drawn(&b, OpSeed::Given(3), 5));
        assert_ne!(drawn(&a, OpSeed::Numbered(0), 5), drawn(&b, OpSeed::Numbered(0), 5));
        let inner = CallSeeds::new(7, None, (9, 9));
        let (a, b) = (a.inner(&inner, 0, 5), b.inner(&inner, 0, 5));
        assert_eq!(a.number, b.number);
        assert_ne!(a.pair, b.pair);
        assert_ne!(site(&inner).inner(&inner, 1, 5).number, a.number);
    }

    #[test]
    fn epochs_of_nested_repeats_differ() {
        let mut all: Vec<u64> = (0..3)
            .flat_map(|outer| {
                let outer = epochs_within(0, 0, outer);
                (0..3).map(move |inner| epochs_within(outer, 1, inner))
            })
            .chain((0..3).map(|only| epochs_within(0, 0, only)))
            .collect();
        all.sort_unstable();
        all.dedup();
        assert_eq!(all.len(), 12);
    }
}
