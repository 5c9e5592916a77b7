//! A hash that is the same in every process and on every machine: FNV-1a over 64 bits.

/// Feeds bytes into an FNV-1a hash.
#[derive(Clone, Copy, Debug)]
pub struct Fnv {
    hash: u64,
    sampling: bool,
}

impl Default for Fnv {
    fn default() -> Self {
        Fnv { hash: 0xcbf2_9ce4_8422_2325, sampling: false }
    }
}

/// Of longer data a sample is taken: so many pieces of one page.
const WHOLE: usize = 64 << 10;
const PIECES: usize = 16;
const PIECE: usize = WHOLE / PIECES;

impl Fnv {
    /// A hash that takes samples of long data, so that it reads little however much there is.
    pub fn sampling() -> Self {
        Fnv { sampling: true, ..Fnv::default() }
    }

    /// How far the values of a list of `count` lie apart that are to be added.
    pub fn step(&self, count: usize) -> usize {
        if self.sampling { (count / WHOLE).max(1) } else { 1 }
    }

    /// Adds bytes of a length that is known from what came before.
    pub fn raw(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.hash = (self.hash ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3);
        }
    }

    /// Adds bytes with their length, so that neighbours cannot run into each other.
    pub fn bytes(&mut self, bytes: &[u8]) {
        self.number(bytes.len() as u64);
        if !self.sampling || bytes.len() <= WHOLE {
            return self.raw(bytes);
        }
        // The first piece, the last, and others evenly between.
        for piece in 0..PIECES {
            let start = (bytes.len() - PIECE) / (PIECES - 1) * piece;
            self.raw(&bytes[start..start + PIECE]);
        }
        self.raw(&bytes[bytes.len() - PIECE..]);
    }

    /// Adds a number.
    pub fn number(&mut self, number: u64) {
        self.raw(&number.to_le_bytes());
    }

    /// The hash of all that was added.
    pub fn finish(self) -> u64 {
        self.hash
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sample_has_the_ends_of_long_data() {
        let hash = |bytes: &[u8]| {
            let mut fnv = Fnv::sampling();
            fnv.bytes(bytes);
            fnv.finish()
        };
        let plain = vec![0; 1_000_003];
        for at in [0, 500, plain.len() - 1, plain.len() - PIECE] {
            let mut other = plain.clone();
            other[at] = 1;
            assert_ne!(hash(&plain), hash(&other), "{at}");
        }
        assert_ne!(hash(&plain), hash(&plain[1..]));
    }

    #[test]
    fn agrees_with_the_published_vectors() {
        let hash = |bytes: &[u8]| {
            let mut fnv = Fnv::default();
            fnv.raw(bytes);
            fnv.finish()
        };
        assert_eq!(hash(b""), 0xcbf2_9ce4_8422_2325);
        assert_eq!(hash(b"a"), 0xaf63_dc4c_8601_ec8c);
        assert_eq!(hash(b"foobar"), 0x8594_4171_f739_67e8);
    }
}
