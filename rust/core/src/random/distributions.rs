//! What TensorFlow's random ops make of a Philox stream: arrays of numbers, bit for bit.
//!
//! Most values come from a fixed place in the stream, so many to a block. Truncated normals may
//! need several tries, so each group of them has a stretch of the stream for itself.

use half::{bf16, f16};

use crate::random::draw::{uniform_f32, uniform_f64};
use crate::random::philox::Philox;

/// Words below this are taken for it, as a logarithm follows.
const LEAST: f64 = 1.0e-7;

/// Truncated normals lie closer to 0 than this.
const TRUNCATED_AT: f64 = 2.0;

/// Words of the stream set aside for each truncated normal.
const WORDS_EACH: u64 = 256;

/// Fills `out` with `N` values made of each block.
fn fill<T: Copy, const N: usize>(
    stream: &Philox,
    out: &mut [T],
    make: impl Fn([u32; 4]) -> [T; N],
) {
    for (index, group) in out.chunks_mut(N).enumerate() {
        group.copy_from_slice(&make(stream.block(index as u64))[..group.len()]);
    }
}

/// Two words as one of 64 bits, the lower first.
fn wide(low: u32, high: u32) -> u64 {
    u64::from(low) | (u64::from(high) << 32)
}

/// Two normal numbers of two words.
fn normals_f32(first: u32, second: u32) -> [f32; 2] {
    let radius = uniform_f32(first).max(LEAST as f32);
    let angle = (2.0 * std::f64::consts::PI * f64::from(uniform_f32(second))) as f32;
    let radius = (-2.0 * radius.ln()).sqrt();
    let (sin, cos) = angle.sin_cos();
    [sin * radius, cos * radius]
}

/// Two normal numbers of four words.
pub(crate) fn normals_f64(words: [u32; 4]) -> [f64; 2] {
    let radius = uniform_f64(words[0], words[1]).max(LEAST);
    let angle = 2.0 * std::f64::consts::PI * uniform_f64(words[2], words[3]);
    let radius = (-2.0 * radius.ln()).sqrt();
    let (sin, cos) = angle.sin_cos();
    [sin * radius, cos * radius]
}

/// A float that the distributions give.
pub trait Real: Copy {
    /// Uniform in [0, 1).
    fn uniform(stream: &Philox, out: &mut [Self]);
    /// Of mean 0 and deviation 1.
    fn normal(stream: &Philox, out: &mut [Self]);
    /// The same without values that are two deviations or more from the mean.
    fn truncated_normal(stream: &Philox, out: &mut [Self]);
}

/// Groups of `N` truncated normals, made from `draw`s of the group's part of the stream.
fn truncated<T: Copy, const N: usize>(
    stream: &Philox,
    out: &mut [T],
    mut draw: impl FnMut(&mut Philox) -> [T; 2],
    inside: impl Fn(T) -> bool,
) {
    let blocks = N as u64 * WORDS_EACH / 4;
    for (index, group) in out.chunks_mut(N).enumerate() {
        let mut own = stream.ahead((index as u64).wrapping_mul(blocks));
        let mut filled = 0;
        while filled < group.len() {
            for value in draw(&mut own) {
                if inside(value) && filled < group.len() {
                    group[filled] = value;
                    filled += 1;
                }
            }
        }
    }
}

fn truncated_f32<T: Copy>(stream: &Philox, out: &mut [T], make: impl Fn(f32) -> T) {
    let mut buffer = vec![0.0_f32; out.len()];
    let draw = |own: &mut Philox| normals_f32(own.next_u32(), own.next_u32());
    truncated::<f32, 4>(stream, &mut buffer, draw, |x| x.abs() < TRUNCATED_AT as f32);
    out.iter_mut().zip(buffer).for_each(|(out, value)| *out = make(value));
}

impl Real for f32 {
    fn uniform(stream: &Philox, out: &mut [Self]) {
        fill(stream, out, |words| words.map(uniform_f32));
    }

    fn normal(stream: &Philox, out: &mut [Self]) {
        fill(stream, out, |[a, b, c, d]| {
            let ([w, x], [y, z]) = (normals_f32(a, b), normals_f32(c, d));
            [w, x, y, z]
        });
    }

    fn truncated_normal(stream: &Philox, out: &mut [Self]) {
        truncated_f32(stream, out, |value| value);
    }
}

impl Real for f64 {
    fn uniform(stream: &Philox, out: &mut [Self]) {
        fill(stream, out, |[a, b, c, d]| [uniform_f64(a, b), uniform_f64(c, d)]);
    }

    fn normal(stream: &Philox, out: &mut [Self]) {
        fill(stream, out, normals_f64);
    }

    fn truncated_normal(stream: &Philox, out: &mut [Self]) {
        let draw = |own: &mut Philox| normals_f64(std::array::from_fn(|_| own.next_u32()));
        truncated::<f64, 2>(stream, out, draw, |x| x.abs() < TRUNCATED_AT);
    }
}

macro_rules! narrow {
    ($type:ty, $bits:expr) => {
        impl Real for $type {
            fn uniform(stream: &Philox, out: &mut [Self]) {
                // The mantissa over the exponent of 1, less 1.
                let make = |word: u32| {
                    let mantissa = word as u16 & ((1 << $bits) - 1);
                    let from_one = <$type>::from_bits(<$type>::ONE.to_bits() | mantissa);
                    <$type>::from_f32(from_one.to_f32() - 1.0)
                };
                fill(stream, out, |words| words.map(make));
            }

            fn normal(stream: &Philox, out: &mut [Self]) {
                fill(stream, out, |[a, b, c, d]| {
                    let ([w, x], [y, z]) = (normals_f32(a, b), normals_f32(c, d));
                    [w, x, y, z].map(<$type>::from_f32)
                });
            }

            fn truncated_normal(stream: &Philox, out: &mut [Self]) {
                truncated_f32(stream, out, <$type>::from_f32);
            }
        }
    };
}

narrow!(f16, 10);
narrow!(bf16, 7);

/// An integer that the distributions give.
pub trait Integer: Copy {
    /// Any value of the type, all equally likely.
    fn any(stream: &Philox, out: &mut [Self]);
}

/// An integer that is drawn from a range.
pub trait Ranged: Integer {
    /// From `low` to `high`, which is above `low` and left out.
    fn between(stream: &Philox, low: Self, high: Self, out: &mut [Self]);
}

macro_rules! integer {
    (32: $($type:ty)*) => {$(
        impl Integer for $type {
            fn any(stream: &Philox, out: &mut [Self]) {
                fill(stream, out, |words| words.map(|word| word as $type));
            }
        }
    )*};
    (64: $($type:ty)*) => {$(
        impl Integer for $type {
            fn any(stream: &Philox, out: &mut [Self]) {
                fill(stream, out, |[a, b, c, d]| [wide(a, b) as $type, wide(c, d) as $type]);
            }
        }
    )*};
}

integer!(32: i32 u32);
integer!(64: i64 u64);

impl Ranged for i32 {
    fn between(stream: &Philox, low: Self, high: Self, out: &mut [Self]) {
        let range = high.wrapping_sub(low) as u32;
        fill(stream, out, |words| words.map(|word| low.wrapping_add((word % range) as i32)));
    }
}

impl Ranged for i64 {
    fn between(stream: &Philox, low: Self, high: Self, out: &mut [Self]) {
        let range = high.wrapping_sub(low) as u64;
        let make = |word: u64| low.wrapping_add((word % range) as i64);
        fill(stream, out, |[a, b, c, d]| [make(wide(a, b)), make(wide(c, d))]);
    }
}

/// An order of the numbers below `count`: each place in turn gets one of those that are left.
pub fn permutation(stream: &mut Philox, count: usize) -> Vec<usize> {
    let mut order: Vec<usize> = (0..count).collect();
    for place in 0..count.saturating_sub(1) {
        let left = (count - place) as u64;
        // A word has 32 bits, and so has the number it is divided by.
        let step = stream.next_u32() % (left as u32).max(1);
        order.swap(place, place + step as usize);
    }
    order
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Largest distance between the distribution of `values` and `cdf`.
    fn distance(mut values: Vec<f64>, cdf: impl Fn(f64) -> f64) -> f64 {
        values.sort_by(f64::total_cmp);
        let count = values.len() as f64;
        let gap = |(i, x): (usize, &f64)| {
            let at = cdf(*x);
            (at - i as f64 / count).abs().max((at - (i + 1) as f64 / count).abs())
        };
        values.iter().enumerate().map(gap).fold(0.0, f64::max)
    }

    #[test]
    fn uniform_numbers_are_uniform() {
        let mut values = vec![0.0_f64; 10_000];
        f64::uniform(&Philox::new(1, 2), &mut values);
        // The bound of Kolmogorov and Smirnov at one in a thousand.
        assert!(distance(values, |x| x) < 1.95 / 100.0);
    }

    #[test]
    fn normal_numbers_have_their_moments() {
        let mut values = vec![0.0_f32; 10_000];
        f32::normal(&Philox::new(1, 2), &mut values);
        let mean = values.iter().sum::<f32>() / 10_000.0;
        let variance = values.iter().map(|x| (x - mean).powi(2)).sum::<f32>() / 10_000.0;
        assert!(mean.abs() < 0.033 && (variance - 1.0).abs() < 0.047, "{mean} {variance}");
        f32::truncated_normal(&Philox::new(1, 2), &mut values);
        assert!(values.iter().all(|x| x.abs() < 2.0));
    }

    #[test]
    fn ranges_that_span_zero_do_not_overflow() {
        let mut values = [0_i32; 1000];
        i32::between(&Philox::new(5, 6), i32::MIN, i32::MAX, &mut values);
        assert!(values.iter().any(|x| *x < -(1 << 30)) && values.iter().any(|x| *x > 1 << 30));
        let mut one = [0_i64; 9];
        i64::between(&Philox::new(5, 6), -3, -2, &mut one);
        assert_eq!(one, [-3; 9]);
    }

    #[test]
    fn a_permutation_has_each_number_once() {
        let mut order = permutation(&mut Philox::new(1, 1), 100);
        assert_ne!(order[..3], [0, 1, 2]);
        order.sort_unstable();
        assert!(order.into_iter().eq(0..100));
        assert!(permutation(&mut Philox::new(1, 1), 0).is_empty());
    }
}
