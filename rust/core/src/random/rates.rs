//! Numbers whose distribution has parameters of its own for each: gamma, Poisson, binomial.
//!
//! Each number is made by trying, from a stretch of the stream that it has for itself, as
//! TensorFlow's kernels do.

use crate::random::draw::uniform_f64;
use crate::random::philox::Philox;

/// Blocks of the stream set aside for each number.
const BLOCKS_EACH: u64 = 256;

/// A number of tries that no valid parameter comes near.
const MOST_TRIES: usize = 100_000;

/// Uniform and normal numbers of one stretch of the stream, two to a block, the last first.
struct Tries {
    stream: Philox,
    uniforms: [f64; 2],
    normals: [f64; 2],
    /// How many of each are left.
    left: [usize; 2],
}

impl Tries {
    /// For number `index` of those that are made of `stream`.
    fn new(stream: &Philox, index: u64) -> Self {
        let stream = stream.ahead(index.wrapping_mul(BLOCKS_EACH));
        Tries { stream, uniforms: [0.0; 2], normals: [0.0; 2], left: [0; 2] }
    }

    fn block(&mut self) -> [u32; 4] {
        let words = self.stream.block(0);
        self.stream = self.stream.ahead(1);
        words
    }

    fn uniform(&mut self) -> f64 {
        if self.left[0] == 0 {
            let [a, b, c, d] = self.block();
            self.uniforms = [uniform_f64(a, b), uniform_f64(c, d)];
            self.left[0] = 2;
        }
        self.left[0] -= 1;
        self.uniforms[self.left[0]]
    }

    fn normal(&mut self) -> f64 {
        if self.left[1] == 0 {
            self.normals = crate::random::distributions::normals_f64(self.block());
            self.left[1] = 2;
        }
        self.left[1] -= 1;
        self.normals[self.left[1]]
    }
}

/// Number `index` of the gamma distributions of `stream`: of shape `alpha` and rate 1.
pub fn gamma(stream: &Philox, index: u64, alpha: f64) -> f64 {
    let mut tries = Tries::new(stream, index);
    if alpha == 1.0 {
        return -(-tries.uniform()).ln_1p();
    }
    // The method of Marsaglia and Tsang; below 1 from the distribution of one more.
    let below_one = alpha < 1.0;
    let d = alpha + if below_one { 2.0 / 3.0 } else { -1.0 / 3.0 };
    let c = 1.0 / 3.0 / d.sqrt();
    for _ in 0..MOST_TRIES {
        let x = tries.normal();
        let root = 1.0 + c * x;
        if root <= 0.0 {
            continue;
        }
        let v = root * root * root;
        let u = tries.uniform();
        let squeezed = u < 1.0 - 0.0331 * (x * x) * (x * x);
        if squeezed || u.ln() < 0.5 * x * x + d * (1.0 - v + v.ln()) {
            let result = d * v;
            return if below_one { result * tries.uniform().powf(1.0 / alpha) } else { result };
        }
    }
    f64::NAN
}

/// Number `index` of the Poisson distributions of `stream`: of mean `rate`, at most `highest`.
/// Not a number where there is none.
pub fn poisson(stream: &Philox, index: u64, rate: f64, highest: f64) -> f64 {
    let mut tries = Tries::new(stream, index);
    if rate.is_nan() || rate < 0.0 {
        return f64::NAN;
    }
    if rate == f64::INFINITY {
        return f64::INFINITY;
    }
    if rate < 10.0 {
        // Knuth's: as many uniform numbers as it takes for their product to be small.
        let least = (-rate).exp();
        let (mut product, mut count) = (1.0, 0.0);
        loop {
            product *= tries.uniform();
            if product <= least {
                return count;
            }
            count += 1.0;
        }
    }
    // Hoermann's rejection of transformed numbers.
    let b = 0.931 + 2.53 * rate.sqrt();
    let a = -0.059 + 0.02483 * b;
    let inverse_alpha = 1.1239 + 1.1328 / (b - 3.4);
    for _ in 0..MOST_TRIES {
        let u = tries.uniform() - 0.5;
        let v = tries.uniform();
        let us = 0.5 - u.abs();
        let k = ((2.0 * a / us + b) * u + rate + 0.43).floor();
        if k > highest {
            continue;
        }
        if us >= 0.07 && v <= 0.9277 - 3.6224 / (b - 2.0) {
            return k;
        }
        if k < 0.0 || (us < 0.013 && v > us) {
            continue;
        }
        let s = (v * inverse_alpha / (a / (us * us) + b)).ln();
        if s <= -rate + k * rate.ln() - ln_factorial(k) {
            return k;
        }
    }
    f64::NAN
}

/// Blocks set aside for each binomial number that few events make.
const BLOCKS_OF_FEW: u64 = 42;

/// Number `index` of the binomial distributions of `stream`: how many of `count` come true that each
/// do with probability `share`. Not a number where there is none. `narrow` rounds as the type of the
/// parameters does.
pub fn binomial(
    stream: &Philox,
    index: u64,
    count: f64,
    share: f64,
    narrow: fn(f64) -> f64,
) -> f64 {
    if count <= 0.0 || share <= 0.0 {
        return 0.0;
    }
    if share >= 1.0 {
        return count;
    }
    if !count.is_finite() || share.is_nan() {
        return f64::NAN;
    }
    // The rarer of the two outcomes is counted.
    let rare = if share <= 0.5 { share } else { narrow(1.0 - share) };
    let found = if narrow(count * rare) >= 10.0 {
        many_events(&mut Tries::new(stream, index), count, rare)
    } else {
        let own = stream.ahead(index.wrapping_mul(BLOCKS_OF_FEW));
        few_events(&mut Tries::new(&own, 0), count, rare)
    };
    if share <= 0.5 { found } else { count - found }
}

/// Adds up the distances from event to event.
fn few_events(tries: &mut Tries, count: f64, share: f64) -> f64 {
    let (mut at, mut events) = (0.0, 0.0);
    for _ in 0..MOST_TRIES {
        at += (tries.uniform().ln() / (-share).ln_1p()).ceil();
        if at > count {
            return events;
        }
        events += 1.0;
    }
    f64::NAN
}

/// Hoermann's rejection of transformed numbers, for the binomial distribution.
fn many_events(tries: &mut Tries, count: f64, share: f64) -> f64 {
    let deviation = (count * share * (1.0 - share)).sqrt();
    let b = 1.15 + 2.53 * deviation;
    let a = -0.0873 + 0.0248 * b + 0.01 * share;
    let center = count * share + 0.5;
    let within = 0.92 - 4.2 / b;
    let odds = share / (1.0 - share);
    let alpha = (2.83 + 5.1 / b) * deviation;
    let mode = ((count + 1.0) * share).floor();
    for _ in 0..MOST_TRIES {
        let u = tries.uniform();
        let v = tries.uniform();
        let u = u - 0.5;
        let us = 0.5 - u.abs();
        let k = ((2.0 * a / us + b) * u + center).floor();
        if us >= 0.07 && v <= within {
            return k;
        }
        if k < 0.0 || k > count {
            continue;
        }
        let v = (v * alpha / (a / (us * us) + b)).ln();
        let bound = (mode + 0.5) * ((mode + 1.0) / (odds * (count - mode + 1.0))).ln()
            + (count + 1.0) * ((count - mode + 1.0) / (count - k + 1.0)).ln()
            + (k + 0.5) * (odds * (count - k + 1.0) / (k + 1.0)).ln()
            + stirling_rest(mode)
            + stirling_rest(count - mode)
            - stirling_rest(k)
            - stirling_rest(count - k);
        if v <= bound {
            return k;
        }
    }
    f64::NAN
}

/// What Stirling's formula lacks of the logarithm of the factorial of a whole number, to the digits
/// that TensorFlow has it.
fn stirling_rest(k: f64) -> f64 {
    const FIRST: [f64; 10] = [
        0.0810614667953272,
        0.0413406959554092,
        0.0276779256849983,
        0.02079067210376509,
        0.0166446911898211,
        0.0138761288230707,
        0.0118967099458917,
        0.0104112652619720,
        0.00925546218271273,
        0.00833056343336287,
    ];
    if k <= 9.0 {
        return FIRST.get(k as usize).copied().unwrap_or(f64::NAN);
    }
    let square = (k + 1.0) * (k + 1.0);
    (1.0 / 12.0 - (1.0 / 360.0 - 1.0 / 1260.0 / square) / square) / (k + 1.0)
}

/// The logarithm of the factorial of a whole number.
fn ln_factorial(k: f64) -> f64 {
    if k < 16.0 {
        return (2..=k as u32).map(|i| f64::from(i).ln()).sum();
    }
    // Stirling's series.
    let n = k + 1.0;
    let (r, r2) = (1.0 / n, 1.0 / (n * n));
    let series = r * (1.0 / 12.0 - r2 * (1.0 / 360.0 - r2 * (1.0 / 1260.0 - r2 / 1680.0)));
    (n - 0.5) * n.ln() - n + 0.5 * (2.0 * std::f64::consts::PI).ln() + series
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn means_are_those_of_the_distributions() {
        let stream = Philox::new(3, 4);
        let mean = |draw: &dyn Fn(u64) -> f64| (0..4000).map(draw).sum::<f64>() / 4000.0;
        for alpha in [0.3, 1.0, 7.5_f64] {
            let bound = 5.0 * (alpha / 4000.0).sqrt();
            assert!((mean(&|i| gamma(&stream, i, alpha)) - alpha).abs() < bound, "{alpha}");
        }
        for rate in [0.5, 9.0, 40.0, 2e5_f64] {
            let bound = 5.0 * (rate / 4000.0).sqrt();
            let drawn = mean(&|i| poisson(&stream, i, rate, f64::MAX));
            assert!((drawn - rate).abs() < bound, "{rate}: {drawn}");
        }
    }

    #[test]
    fn binomial_numbers_have_their_means_and_limits() {
        let (stream, same) = (Philox::new(3, 4), |x| x);
        for (count, share) in [(10.0, 0.3), (400.0, 0.2), (400.0, 0.9), (30.0, 0.99), (1e9, 0.5)] {
            let draw = |i| binomial(&stream, i, count, share, same);
            let drawn: Vec<f64> = (0..4000).map(draw).collect();
            assert!(drawn.iter().all(|k| (0.0..=count).contains(k)));
            let mean = drawn.iter().sum::<f64>() / 4000.0;
            let bound = 5.0 * (count * share * (1.0 - share) / 4000.0_f64).sqrt();
            assert!((mean - count * share).abs() < bound, "{count} {share}: {mean}");
        }
        assert_eq!(binomial(&stream, 0, 5.0, 1.5, same), 5.0);
        assert_eq!(binomial(&stream, 0, -5.0, 0.5, same), 0.0);
        assert!(binomial(&stream, 0, 5.0, f64::NAN, same).is_nan());
        assert!(binomial(&stream, 0, f64::INFINITY, 0.5, same).is_nan());
    }

    #[test]
    fn what_has_no_distribution_ends() {
        let stream = Philox::new(3, 4);
        assert!(gamma(&stream, 0, f64::NAN).is_nan() && gamma(&stream, 0, -2.0).is_nan());
        assert_eq!(gamma(&stream, 0, f64::INFINITY), f64::INFINITY);
        assert!(poisson(&stream, 0, -1.0, 9.0).is_nan());
        assert!(poisson(&stream, 0, 1e300, 9.0).is_nan());
        assert_eq!(poisson(&stream, 0, 0.0, 9.0), 0.0);
    }

    #[test]
    fn factorials_are_precise() {
        for k in [0.0, 1.0, 15.0, 16.0, 40.0, 150.0_f64] {
            let exact: f64 = (2..=k as u32).map(|i| f64::from(i).ln()).sum();
            assert!((ln_factorial(k) - exact).abs() <= 1e-13 * exact.max(1.0), "{k}");
        }
    }
}
