//! `index_shuffle`: the place of a number in a random order of the numbers up to a limit, without
//! making that order.
//!
//! The order is that of TensorFlow: Simon, a cipher, of as few bits as hold the limit, applied until
//! the result is not above it. Nothing here is a secret.

use std::sync::Arc;

use crate::data::{Column, DType, Spec, Tensor, Wanted};
use crate::error::{Error, Result};
use crate::graph::attr::Attrs;
use crate::graph::kernel::{Arg, Kernel};
use crate::kernels::cast::{cast_tensor, dense, inputs};
use crate::kernels::shape::stacked;

/// TensorFlow's wrapper puts this before the seed.
const FIRST_KEY: u64 = 498_247_692;
const ROUNDS: usize = 4;

#[derive(Debug)]
struct IndexShuffle;

pub(super) fn build(op: &str, attrs: &Attrs) -> Result<Option<Arc<dyn Kernel>>> {
    if op != "index_shuffle" {
        return Ok(None);
    }
    attrs.only(&[])?;
    Ok(Some(Arc::new(IndexShuffle)))
}

/// Words of `bits` bits, in a number.
#[derive(Clone, Copy)]
struct Words {
    bits: u32,
}

impl Words {
    fn keep(self, x: u64) -> u64 {
        x & ((1 << self.bits) - 1)
    }

    fn left(self, x: u64, by: u32) -> u64 {
        self.keep(x << by) | (x >> (self.bits - by))
    }

    fn right(self, x: u64, by: u32) -> u64 {
        (x >> by) | self.keep(x << (self.bits - by))
    }

    fn mix(self, x: u64) -> u64 {
        (self.left(x, 1) & self.left(x, 8)) ^ self.left(x, 2)
    }

    fn keys(self, seed: [u64; 2]) -> [u64; ROUNDS] {
        let [a, b, c] = [FIRST_KEY, seed[0], seed[1]].map(|key| self.keep(key & 0xffff_ffff));
        let last = self.keep(0xffff_fffc) ^ 1 ^ a ^ self.right(c, 3) ^ self.right(c, 4);
        [a, b, c, last]
    }

    fn encrypt(self, value: u64, keys: [u64; ROUNDS]) -> u64 {
        let (mut left, mut right) = (self.keep(value >> self.bits), self.keep(value));
        for pair in keys.as_chunks::<2>().0 {
            left ^= self.mix(right) ^ pair[0];
            right ^= self.mix(left) ^ pair[1];
        }
        (left << self.bits) | right
    }
}

/// The place of `index` among the numbers to `most`.
fn place(index: u64, seed: [u64; 2], most: u64) -> u64 {
    if most == 0 {
        return 0;
    }
    // As many bits as TensorFlow takes, which works this out in float64.
    let bits = (most as f64).log2().ceil() as u32;
    let bits = (bits + bits % 2).clamp(16, 64);
    let words = Words { bits: bits / 2 };
    let keys = words.keys(seed);
    let mut at = index;
    loop {
        // A permutation: this comes back to `index` at last, which is not above the limit.
        at = words.encrypt(at, keys);
        if at <= most {
            return at;
        }
    }
}

impl Kernel for IndexShuffle {
    fn infer(&self, specs: &[Spec]) -> Result<Vec<Spec>> {
        let [index, seed, most] = inputs(specs)?;
        let ((dtype, shape), (key, pair), (other, _)) = (dense(index)?, dense(seed)?, dense(most)?);
        let valid = [DType::Int32, DType::Int64, DType::UInt32, DType::UInt64];
        if !valid.contains(&dtype) || dtype != other || !valid.contains(&key) {
            return Err(Error::invalid_argument(format!(
                "index_shuffle: index and max_index are integers of one type of 32 or 64 bits, and \
                 so is the seed; got {dtype}, {other} and {key}"
            )));
        }
        if pair.dims().is_some_and(|dims| dims.last().is_none_or(|d| d.is_some_and(|d| d != 2))) {
            let text = format!("index_shuffle: a seed ends in two integers, got shape {pair}");
            return Err(Error::invalid_argument(text));
        }
        Ok(vec![Spec::Tensor { dtype, shape: shape.clone() }])
    }

    fn run(&self, args: &[Arg], rows: usize, _: &[Wanted]) -> Result<Vec<Column>> {
        let [index, seed, most] = inputs(args)?;
        let dims = index.row_dims()?;
        let seeds = [dims, &[2]].concat();
        if most.row_dims()? != dims || seed.row_dims()? != seeds {
            let text = "index_shuffle: index, max_index and seed must have as many values each";
            return Err(Error::invalid_argument(text));
        }
        let dtype = args[0].dtype().ok_or_else(|| Error::internal("no dtype of an index"))?;
        let [at, keys, ends] = [index, seed, most].map(|arg| -> Result<Tensor> {
            cast_tensor(&cast_tensor(&stacked(arg, rows)?, DType::Int64)?, DType::UInt64)
        });
        let (at, keys, ends) = (at?, keys?, ends?);
        let keys = keys.values::<u64>()?.as_chunks::<2>().0;
        let mut found = Vec::with_capacity(at.len());
        for ((at, seed), most) in at.values::<u64>()?.iter().zip(keys).zip(ends.values::<u64>()?) {
            if at > most || i64::try_from(*most).is_err() {
                return Err(Error::invalid_argument(format!(
                    "index_shuffle: index {} is not from 0 to max_index, {}",
                    *at as i64, *most as i64
                )));
            }
            found.push(place(*at, *seed, *most));
        }
        let found = Tensor::from_values(at.dims(), &found)?;
        Ok(vec![Column::Stacked(cast_tensor(&found, dtype)?)])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_number_has_a_place_of_its_own() {
        for most in [0, 1, 9, 255, 256, 70_000] {
            let mut places: Vec<u64> = (0..=most).map(|k| place(k, [5, 9], most)).collect();
            places.sort_unstable();
            assert!(places.into_iter().eq(0..=most), "{most}");
        }
        let far = u64::MAX >> 1;
        assert!(place(far, [1, 2], far) <= far);
    }
}
