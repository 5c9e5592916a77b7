//! CRC32C, and the mask that TFRecord puts on it.
//!
//! A checksum stored beside the data it covers would make a checksum over both predictable, so
//! TFRecord stores it rotated and offset.
//!
//! The processor's instruction takes 8 bytes per cycle, but gives its result three cycles later.
//! So three parts of the bytes are summed side by side and put together by carry-less products.
//! The `crc32c` crate does this from 768 bytes on and goes byte by byte to the next multiple of 8;
//! records of 20 or 600 bytes, and the lengths before them, are checked three times as fast here
//! (benches/framing.rs). It serves the other processors.

const MASK_DELTA: u32 = 0xa282_ead8;

/// The CRC32C (Castagnoli) of `bytes`, by the processor's own instruction where it has one.
#[inline]
pub fn crc32c(bytes: &[u8]) -> u32 {
    #[cfg(target_arch = "x86_64")]
    if is_x86_feature_detected!("sse4.2") && is_x86_feature_detected!("pclmulqdq") {
        #[allow(unsafe_code)]
        // SAFETY: the processor has the instructions, as just asked.
        return unsafe { x86::crc32c(bytes) };
    }
    crc32c::crc32c(bytes)
}

#[cfg(target_arch = "x86_64")]
mod x86 {
    use std::arch::x86_64::{
        _mm_clmulepi64_si128, _mm_crc32_u8, _mm_crc32_u16, _mm_crc32_u32, _mm_crc32_u64,
        _mm_cvtsi64_si128, _mm_cvtsi128_si64,
    };

    /// Most words of 8 bytes in each of the three parts.
    const PART_WORDS: usize = 128;
    /// From this many words on, three parts pay for putting them together.
    const PARTS_FROM: usize = 15;

    /// At `n`: x^(64n - 33) modulo the polynomial, for shifting a sum past n words. (Product and
    /// reduction shift by 33 bits themselves.)
    static SHIFTS: [u32; 2 * PART_WORDS + 1] = shifts();

    const fn shifts() -> [u32; 2 * PART_WORDS + 1] {
        let mut table = [0; 2 * PART_WORDS + 1];
        // Bits are reflected: the lowest stands for x^31.
        let (mut power, mut n) = (1_u32, 1);
        while n < table.len() {
            table[n] = power;
            let mut bit = 0;
            while bit < 64 {
                power = (power >> 1) ^ (if power & 1 == 1 { 0x82f6_3b78 } else { 0 });
                bit += 1;
            }
            n += 1;
        }
        table
    }

    /// What `crc` becomes after `words` zero words.
    #[inline]
    #[target_feature(enable = "sse4.2,pclmulqdq")]
    fn shift(crc: u64, words: usize) -> u64 {
        let (a, b) = (_mm_cvtsi64_si128(crc as i64), i64::from(SHIFTS[words]));
        let product = _mm_clmulepi64_si128::<0>(a, _mm_cvtsi64_si128(b));
        _mm_crc32_u64(0, _mm_cvtsi128_si64(product) as u64)
    }

    #[target_feature(enable = "sse4.2,pclmulqdq")]
    pub(super) fn crc32c(bytes: &[u8]) -> u32 {
        let (mut words, mut tail) = bytes.as_chunks::<8>();
        let mut crc = u64::from(u32::MAX);
        while words.len() >= PARTS_FROM {
            let part = (words.len() / 3).min(PART_WORDS);
            let (a, rest) = words.split_at(part);
            let (b, rest) = rest.split_at(part);
            let (c, rest) = rest.split_at(part);
            let (mut low, mut mid, mut high) = (crc, 0, 0);
            for ((a, b), c) in a.iter().zip(b).zip(c) {
                low = _mm_crc32_u64(low, u64::from_le_bytes(*a));
                mid = _mm_crc32_u64(mid, u64::from_le_bytes(*b));
                high = _mm_crc32_u64(high, u64::from_le_bytes(*c));
            }
            crc = shift(low, 2 * part) ^ shift(mid, part) ^ high;
            words = rest;
        }
        for word in words {
            crc = _mm_crc32_u64(crc, u64::from_le_bytes(*word));
        }
        let mut crc = crc as u32;
        if let Some((four, rest)) = tail.split_first_chunk() {
            crc = _mm_crc32_u32(crc, u32::from_le_bytes(*four));
            tail = rest;
        }
        if let Some((two, rest)) = tail.split_first_chunk() {
            crc = _mm_crc32_u16(crc, u16::from_le_bytes(*two));
            tail = rest;
        }
        if let [byte] = tail {
            crc = _mm_crc32_u8(crc, *byte);
        }
        !crc
    }
}

/// The form in which TFRecord stores a checksum.
#[inline]
pub const fn mask(crc: u32) -> u32 {
    crc.rotate_right(15).wrapping_add(MASK_DELTA)
}

/// The checksum that was stored as `masked`.
#[inline]
pub const fn unmask(masked: u32) -> u32 {
    masked.wrapping_sub(MASK_DELTA).rotate_left(15)
}

/// The checksum of `bytes` as TFRecord stores it.
#[inline]
pub fn masked_crc32c(bytes: &[u8]) -> u32 {
    mask(crc32c(bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Bit by bit, straight from the polynomial.
    fn slow_crc32c(bytes: &[u8]) -> u32 {
        !bytes.iter().fold(!0_u32, |crc, byte| {
            (0..8).fold(crc ^ u32::from(*byte), |crc, _| {
                if crc & 1 == 1 { (crc >> 1) ^ 0x82f6_3b78 } else { crc >> 1 }
            })
        })
    }

    #[test]
    fn check_value_of_the_catalogue() {
        assert_eq!(crc32c(b"123456789"), 0xe306_9283);
        assert_eq!(crc32c(b""), 0);
    }

    #[test]
    fn every_length_and_alignment_agrees_with_the_polynomial() {
        let bytes: Vec<u8> =
            (0..7000_u32).map(|i| (i.wrapping_mul(2_654_435_761) >> 24) as u8).collect();
        for start in 0..9 {
            for len in (0..400).chain([600, 767, 768, 769, 1024, 3072, 3080, 3191, 3192, 6500]) {
                let part = &bytes[start..start + len];
                assert_eq!(crc32c(part), slow_crc32c(part), "{start} {len}");
                assert_eq!(crc32c(part), crc32c::crc32c(part), "{start} {len}");
            }
        }
    }

    #[test]
    fn unmask_undoes_mask() {
        for crc in [0, 1, 0xffff_ffff, 0xe306_9283, 0x8000_0001] {
            assert_eq!(unmask(mask(crc)), crc);
            assert_ne!(mask(crc), crc);
        }
    }

    #[test]
    fn an_empty_payload_is_stored_as_tensorflow_stores_it() {
        assert_eq!(masked_crc32c(b""), 0xa282_ead8);
    }
}
