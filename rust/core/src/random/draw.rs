//! What TensorFlow makes of a Philox stream: uniform numbers and weighted choices.

use crate::random::philox::{Philox, block};

/// Key under which TensorFlow scrambles the two seeds of a stateless op.
const STATELESS_KEY: [u32; 2] = [0x3EC8_F720, 0x0246_1E29];

/// Uniform in [0, 1) from the low 23 bits of a word.
pub fn uniform_f32(word: u32) -> f32 {
    f32::from_bits((127 << 23) | (word & 0x7F_FFFF)) - 1.0
}

/// Uniform in [0, 1) from 20 bits of a word and all of the next.
pub fn uniform_f64(high: u32, low: u32) -> f64 {
    let mantissa = (u64::from(high & 0xF_FFFF) << 32) | u64::from(low);
    f64::from_bits((1023 << 52) | mantissa) - 1.0
}

/// The stream of a stateless op for its two seeds.
pub fn stateless(seeds: [u64; 2]) -> Philox {
    let [a, b] = seeds;
    let words = block(STATELESS_KEY, [a as u32, (a >> 32) as u32, b as u32, (b >> 32) as u32]);
    let join = |low: u32, high: u32| u64::from(low) | (u64::from(high) << 32);
    Philox::new(join(words[0], words[1]), join(words[2], words[3]))
}

/// A choice among weighted classes, as `stateless_multinomial` makes it.
#[derive(Clone, Debug)]
pub struct Categorical {
    /// Running total of the probabilities, not normalised.
    cumulative: Vec<f64>,
}

impl Categorical {
    /// Classes with these logarithms of weights; those that are not finite are never drawn.
    pub fn from_logits(logits: &[f64]) -> Self {
        let finite = logits.iter().filter(|logit| logit.is_finite());
        let max = finite.fold(f64::MIN, |max, logit| max.max(*logit));
        let mut total = 0.0;
        let cumulative = logits.iter().map(|logit| {
            if logit.is_finite() {
                total += (logit - max).exp();
            }
            total
        });
        Categorical { cumulative: cumulative.collect() }
    }

    /// The class for two seeds; the number of classes if none can be drawn.
    pub fn draw(&self, seeds: [u64; 2]) -> usize {
        self.next(&mut stateless(seeds))
    }

    /// The class for the next two words of a stream; the number of classes if none can be drawn.
    pub fn next(&self, stream: &mut Philox) -> usize {
        let high = stream.next_u32();
        let total = self.cumulative.last().copied().unwrap_or_default();
        let at = uniform_f64(high, stream.next_u32()) * total;
        self.cumulative.partition_point(|upper| *upper <= at)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn uniform_numbers_fill_the_unit_interval() {
        assert_eq!(uniform_f32(0), 0.0);
        assert!(uniform_f32(u32::MAX) < 1.0);
        assert_eq!(uniform_f64(0, 0), 0.0);
        assert_eq!(uniform_f64(1 << 19, 0), 0.5);
        assert!(uniform_f64(u32::MAX, u32::MAX) < 1.0);
    }

    #[test]
    fn classes_come_as_often_as_they_weigh() {
        let weights = [0.0_f64, 1.0, 3.0, -1.0];
        let classes = Categorical::from_logits(&weights.map(f64::ln));
        let mut counts = [0; 4];
        (0..4000).for_each(|i| counts[classes.draw([i, 7])] += 1);
        assert_eq!((counts[0], counts[3]), (0, 0));
        assert!((900..1100).contains(&counts[1]), "{counts:?}");
    }

    #[test]
    fn without_weight_no_class_is_drawn() {
        let classes = Categorical::from_logits(&[f64::NEG_INFINITY; 2]);
        assert_eq!(classes.draw([1, 2]), 2);
    }
}
