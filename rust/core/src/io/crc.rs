//! CRC32C, and the mask that TFRecord puts on it.
//!
//! A checksum stored beside the data it covers would make a checksum over both predictable, so
//! TFRecord stores it rotated and offset.

use crc_fast::{CrcAlgorithm, Digest};

const MASK_DELTA: u32 = 0xa282_ead8;
/// The polynomial, lowest bit first.
const POLYNOMIAL: u32 = 0x82f6_3b78;

/// The CRC32C (Castagnoli) of `bytes`.
#[inline]
pub fn crc32c(bytes: &[u8]) -> u32 {
    // The library names it after iSCSI, and gives every width as 64 bits.
    crc_fast::checksum(CrcAlgorithm::Crc32Iscsi, bytes) as u32
}

/// What each byte of eight does to the checksum, by how many bytes follow it.
static EIGHT: [[u32; 256]; 8] = {
    let mut tables = [[0; 256]; 8];
    let mut byte = 0;
    while byte < 256 {
        let mut crc = byte as u32;
        let mut bit = 0;
        while bit < 8 {
            crc = if crc & 1 == 1 { (crc >> 1) ^ POLYNOMIAL } else { crc >> 1 };
            bit += 1;
        }
        tables[0][byte] = crc;
        byte += 1;
    }
    let mut after = 1;
    while after < 8 {
        let mut byte = 0;
        while byte < 256 {
            let crc = tables[after - 1][byte];
            tables[after][byte] = (crc >> 8) ^ tables[0][(crc & 0xff) as usize];
            byte += 1;
        }
        after += 1;
    }
    tables
};

/// What the upper six bytes of a number below 2^16 do.
const ABOVE_16_BITS: u32 = EIGHT[5][0xff] ^ EIGHT[4][0xff];

/// The CRC32C of a number's eight bytes, lowest first: for checking one number after another,
/// where the call of the general function is most of the cost.
#[inline]
pub fn crc32c_of_number(number: u64) -> u32 {
    let bytes = (number ^ 0xffff_ffff).to_le_bytes();
    if let [first, second, 0xff, 0xff, 0, 0, 0, 0] = bytes {
        return !(EIGHT[7][first as usize] ^ EIGHT[6][second as usize] ^ ABOVE_16_BITS);
    }
    let tables = EIGHT.iter().rev();
    !bytes.iter().zip(tables).fold(0, |crc, (byte, table)| crc ^ table[*byte as usize])
}

/// The one number below 2^32 whose eight bytes, lowest first, have this CRC32C.
pub fn number_of(crc: u32) -> u32 {
    !(0..64).fold(!crc, |crc, _| match crc >> 31 {
        1 => ((crc ^ POLYNOMIAL) << 1) | 1,
        _ => crc << 1,
    })
}

/// The CRC32C of bytes that come in pieces.
#[derive(Debug)]
pub struct Crc32c(Digest);

impl Default for Crc32c {
    fn default() -> Self {
        Crc32c(Digest::new(CrcAlgorithm::Crc32Iscsi))
    }
}

impl Crc32c {
    /// Adds the next bytes.
    pub fn update(&mut self, bytes: &[u8]) {
        self.0.update(bytes);
    }

    /// The checksum of all bytes so far.
    pub fn finish(&self) -> u32 {
        self.0.finalize() as u32
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
            }
        }
    }

    #[test]
    fn pieces_have_the_checksum_of_the_whole() {
        let bytes: Vec<u8> = (0..9000_u32).map(|i| ((i * i) >> 3) as u8).collect();
        for at in [0, 1, 17, 4096, 8999, 9000] {
            let mut crc = Crc32c::default();
            let (front, back) = bytes.split_at(at);
            [front, back, b""].iter().for_each(|piece| crc.update(piece));
            assert_eq!(crc.finish(), crc32c(&bytes));
        }
        assert_eq!(Crc32c::default().finish(), crc32c(b""));
    }

    #[test]
    fn numbers_have_the_checksum_of_their_bytes() {
        let numbers = (0..64).flat_map(|bit| [1 << bit, u64::MAX >> bit, 0x9e37_79b9 << (bit / 2)]);
        for number in numbers.chain([0]) {
            assert_eq!(crc32c_of_number(number), crc32c(&number.to_le_bytes()), "{number}");
        }
    }

    #[test]
    fn a_short_number_is_known_by_its_checksum() {
        for number in [0, 1, 7, 26, 255, 256, 65_535, 1 << 20, 0x9e37_79b9, u32::MAX] {
            assert_eq!(number_of(crc32c_of_number(u64::from(number))), number);
        }
        let long = u64::from(number_of(crc32c_of_number(1 << 40)));
        assert_eq!(crc32c_of_number(long), crc32c_of_number(1 << 40));
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
