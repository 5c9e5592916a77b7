//! Up to [`BLOCK_RECORDS`] offsets as distances from a straight line, packed into as few bits as do.

use super::BLOCK_RECORDS;
use crate::error::{Error, Result};

/// Widest distance: with the bits before it in its first byte it fits into 64.
const MAX_WIDTH: u32 = 56;
/// Slope and bias, before the distances.
const FRONT_BYTES: usize = 16;
/// Bytes after the distances, so that each can be read as a word.
const PAD_BYTES: usize = 8;

/// Where some records in a row start.
#[derive(Clone, Debug)]
pub struct Block {
    /// Where the first one starts.
    first: u64,
    slope: u64,
    bias: u64,
    width: u32,
    /// The distances, with [`PAD_BYTES`] after them.
    bits: Vec<u8>,
}

impl Block {
    /// The packed form of ascending `starts`, and the width of its distances.
    ///
    /// # Errors
    /// `ResourceExhausted` for a file of more than 2^55 bytes.
    pub(super) fn encode(starts: &[u64]) -> Result<(Vec<u8>, u32)> {
        let (Some(first), Some(last)) = (starts.first(), starts.last()) else {
            return Ok((Vec::new(), 0));
        };
        if *last >> (MAX_WIDTH - 1) != 0 {
            return Err(Error::resource_exhausted("a file of more than 2^55 bytes has no index"));
        }
        let slope = (last - first) / (starts.len() as u64 - 1).max(1);
        let (least, most) = match is_straight(starts, slope) {
            true => (0, 0),
            false => distances(starts, slope)
                .fold((0, 0), |(least, most), distance| (distance.min(least), distance.max(most))),
        };
        let bias = least.unsigned_abs();
        let width = u64::BITS - (bias + most.unsigned_abs()).leading_zeros();
        let length = Self::payload_bytes(starts.len() as u64, width);
        let mut out = Vec::with_capacity(length + PAD_BYTES);
        out.extend_from_slice(&slope.to_le_bytes());
        out.extend_from_slice(&bias.to_le_bytes());
        if width > 0 {
            let upwards = distances(starts, slope).map(|d| d.wrapping_sub(least) as u64);
            pack(upwards, width, &mut out);
        }
        out.truncate(length);
        Ok((out, width))
    }

    /// Length of the packed form.
    pub(super) fn payload_bytes(records: u64, width: u32) -> usize {
        FRONT_BYTES + (records.min(BLOCK_RECORDS) * u64::from(width)).div_ceil(8) as usize
    }

    /// Takes a packed form, which is as long as it must be.
    pub(super) fn decode(first: u64, width: u32, mut payload: Vec<u8>) -> Option<Block> {
        if width > MAX_WIDTH {
            return None;
        }
        let slope = u64::from_le_bytes(*payload.first_chunk()?);
        let bias = u64::from_le_bytes(*payload.get(8..)?.first_chunk()?);
        payload.drain(..FRONT_BYTES);
        payload.resize(payload.len() + PAD_BYTES, 0);
        Some(Block { first, slope, bias, width, bits: payload })
    }

    /// Where record `at` of the block starts.
    pub fn start(&self, at: u64) -> u64 {
        let bit = at * u64::from(self.width);
        let word = self.bits.get((bit / 8) as usize..).and_then(|rest| rest.first_chunk());
        let word = word.map_or(0, |word| u64::from_le_bytes(*word)) >> (bit % 8);
        let distance = word & ((1 << self.width) - 1);
        // A hostile index may hold anything; what comes of it is checked against the file.
        let line = self.first.wrapping_add(self.slope.wrapping_mul(at));
        line.wrapping_add(distance).wrapping_sub(self.bias)
    }
}

/// True if all `starts` are `slope` apart. Records of one length are common, and known as such by
/// steps without a branch.
fn is_straight(starts: &[u64], slope: u64) -> bool {
    let ahead = starts.get(1..).unwrap_or_default();
    let steps = starts.iter().zip(ahead).map(|(start, next)| next.wrapping_sub(*start));
    steps.fold(0, |others, step| others | (step ^ slope)) == 0
}

/// How far each start lies from the line.
fn distances(starts: &[u64], slope: u64) -> impl Iterator<Item = i64> {
    let mut line = starts.first().copied().unwrap_or(0);
    starts.iter().map(move |start| {
        let distance = start.wrapping_sub(line) as i64;
        line += slope;
        distance
    })
}

/// Appends numbers of up to `width` bits one behind another, in whole words.
fn pack(numbers: impl Iterator<Item = u64>, width: u32, out: &mut Vec<u8>) {
    let (mut word, mut filled) = (0, 0);
    for number in numbers {
        word |= number << filled;
        filled += width;
        if filled >= u64::BITS {
            out.extend_from_slice(&word.to_le_bytes());
            filled -= u64::BITS;
            word = number >> (width - filled);
        }
    }
    out.extend_from_slice(&word.to_le_bytes());
}
