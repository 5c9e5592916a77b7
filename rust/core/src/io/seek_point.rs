//! Where a compressed stream can be taken up again in its middle.
//!
//! The library that decompresses starts at a byte and with nothing before it. So it is given a
//! stream that begins with what is missing: the bytes before as a stored block, and blocks of
//! nothing that end at the bit where the true one starts.

/// How far back a stream refers.
pub const WINDOW_BYTES: usize = 32 << 10;

/// The start of a block of DEFLATE.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SeekPoint {
    /// The compressed byte that holds its first bit.
    pub input: u64,
    /// Number of that bit in it.
    pub bit: u32,
    /// Decompressed bytes before it.
    pub output: u64,
    /// The last of these, at most 32 KiB, to which it may refer.
    pub window: Vec<u8>,
}

impl SeekPoint {
    /// A stream that gives the window and ends right before the block, whose first byte is `first`
    /// (if it starts within a byte); the rest of the stream follows.
    pub(super) fn lead(&self, first: u8) -> Vec<u8> {
        let mut out = BitWriter::default();
        if !self.window.is_empty() {
            let len = self.window.len().min(0x7fff_usize + 1) as u64;
            out.put(0, 8); // not the last, stored
            out.put(len | (!len & 0xffff) << 16, 32);
            out.bytes.extend_from_slice(&self.window[self.window.len() - len as usize..]);
        }
        // A block of fixed codes that holds nothing has 10 bits, one of dynamic codes can have 93.
        let mut missing = (8 - out.filled + self.bit) % 8;
        if missing % 2 == 1 {
            empty_dynamic_block(&mut out);
            missing = (missing + 3) % 8;
        }
        while missing != 0 {
            out.put(0b010, 10);
            missing = (missing + 6) % 8;
        }
        if self.bit > 0 {
            out.put(u64::from(first >> self.bit), 8 - self.bit);
        }
        out.bytes
    }
}

/// 93 bits that stand for nothing: the code of the end, and one distance.
fn empty_dynamic_block(out: &mut BitWriter) {
    out.put(0b100, 3); // not the last, dynamic
    out.put(0, 5); // 257 literals
    out.put(0, 5); // one distance
    out.put(15, 4); // lengths of all 19 codes of lengths
    for place in 0..19 {
        // Of two codes, one bit each: 18, many zeros, and 1.
        out.put(u64::from(place == 2 || place == 17), 3);
    }
    let (one, zeros) = (0, 1);
    for count in [138_u64, 118] {
        out.put(zeros, 1);
        out.put(count - 11, 7);
    }
    out.put(one, 1); // the end
    out.put(one, 1); // the distance
    out.put(0, 1); // the end comes
}

#[derive(Default)]
struct BitWriter {
    bytes: Vec<u8>,
    /// Bits of the last byte that are in use, from 0 to 7.
    filled: u32,
}

impl BitWriter {
    fn put(&mut self, value: u64, count: u32) {
        for at in 0..count {
            let bit = (value >> at & 1) as u8;
            match self.bytes.last_mut().filter(|_| self.filled > 0) {
                Some(last) => *last |= bit << self.filled,
                None => self.bytes.push(bit),
            }
            self.filled = (self.filled + 1) % 8;
        }
    }
}
