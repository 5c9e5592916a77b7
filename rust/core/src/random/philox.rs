//! Philox 4x32-10, as TensorFlow seeds and reads it.
//!
//! A counter-based generator: block `k` of the stream is a pure function of the key and the
//! counter, so any place in the stream is reached at once.

const MULTIPLIERS: [u32; 2] = [0xD251_1F53, 0xCD9E_8D57];
const KEY_STEPS: [u32; 2] = [0x9E37_79B9, 0xBB67_AE85];
const ROUNDS: usize = 10;

/// A stream of uniform 32-bit words.
#[derive(Clone, Debug)]
pub struct Philox {
    key: [u32; 2],
    /// Upper half of the counter, from the second seed.
    high: u64,
    /// Lower half of the counter: number of the next block.
    next_block: u64,
    words: [u32; 4],
    /// Words of the present block that are already handed out; 4 means none are left.
    used: usize,
}

impl Philox {
    /// The stream of a seed pair, as TensorFlow's `PhiloxRandom(seed, seed2)`.
    pub fn new(seed: u64, seed2: u64) -> Self {
        Self::at(seed, seed2, 0)
    }

    /// The same stream from word `word` on.
    pub fn at(seed: u64, seed2: u64, word: u64) -> Self {
        let key = [seed as u32, (seed >> 32) as u32];
        let mut stream = Philox { key, high: seed2, next_block: word / 4, words: [0; 4], used: 4 };
        let within = (word % 4) as usize;
        if within > 0 {
            stream.refill();
            stream.used = within;
        }
        stream
    }

    /// The stream of a key whose first block has this 128-bit counter, lower half first.
    pub fn from_counter(key: u64, counter: [u64; 2]) -> Self {
        let mut stream = Self::new(key, counter[1]);
        stream.next_block = counter[0];
        stream
    }

    /// The stream that begins `blocks` blocks after the next one.
    #[must_use]
    pub fn ahead(&self, blocks: u64) -> Self {
        let (next_block, over) = self.next_block.overflowing_add(blocks);
        let high = self.high.wrapping_add(u64::from(over));
        Philox { high, next_block, used: 4, ..*self }
    }

    /// Block number `index` from the next one on.
    #[inline]
    pub fn block(&self, index: u64) -> [u32; 4] {
        let (low, over) = self.next_block.overflowing_add(index);
        let high = self.high.wrapping_add(u64::from(over));
        block(self.key, [low as u32, (low >> 32) as u32, high as u32, (high >> 32) as u32])
    }

    /// The next word.
    #[inline]
    pub fn next_u32(&mut self) -> u32 {
        if self.used == 4 {
            self.refill();
        }
        let word = self.words[self.used];
        self.used += 1;
        word
    }

    fn refill(&mut self) {
        let (low, high) = (self.next_block, self.high);
        let counter = [low as u32, (low >> 32) as u32, high as u32, (high >> 32) as u32];
        self.words = block(self.key, counter);
        self.used = 0;
        self.next_block = self.next_block.wrapping_add(1);
        if self.next_block == 0 {
            self.high = self.high.wrapping_add(1);
        }
    }
}

/// Block of four words for this key and counter.
pub fn block(mut key: [u32; 2], mut counter: [u32; 4]) -> [u32; 4] {
    for _ in 0..ROUNDS {
        let first = u64::from(MULTIPLIERS[0]) * u64::from(counter[0]);
        let second = u64::from(MULTIPLIERS[1]) * u64::from(counter[2]);
        counter = [
            (second >> 32) as u32 ^ counter[1] ^ key[0],
            second as u32,
            (first >> 32) as u32 ^ counter[3] ^ key[1],
            first as u32,
        ];
        key = [key[0].wrapping_add(KEY_STEPS[0]), key[1].wrapping_add(KEY_STEPS[1])];
    }
    counter
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_match_the_published_vectors() {
        // Known answers of Random123 for philox4x32-10.
        let zero = block([0; 2], [0; 4]);
        assert_eq!(zero, [0x6627_e8d5, 0xe169_c58d, 0xbc57_ac4c, 0x9b00_dbd8]);
        let ones = block([u32::MAX; 2], [u32::MAX; 4]);
        assert_eq!(ones, [0x408f_276d, 0x41c8_3b0e, 0xa20b_c7c6, 0x6d54_51fd]);
    }

    #[test]
    fn any_word_is_reached_at_once() {
        let mut stream = Philox::new(7, 1 << 40);
        let words: Vec<u32> = (0..11).map(|_| stream.next_u32()).collect();
        for (at, word) in words.iter().enumerate() {
            assert_eq!(Philox::at(7, 1 << 40, at as u64).next_u32(), *word);
        }
        assert_eq!(stream.ahead(0).next_u32(), stream.block(0)[0]);
        assert_eq!(Philox::new(7, 1 << 40).block(2)[..3], words[8..]);
    }

    #[test]
    fn the_counter_has_128_bits() {
        let stream = Philox::from_counter(3, [u64::MAX, 5]);
        assert_eq!(stream.block(1), Philox::from_counter(3, [0, 6]).block(0));
        assert_eq!(stream.ahead(2).block(0), Philox::from_counter(3, [1, 6]).block(0));
    }
}
