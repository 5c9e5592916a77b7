//! GZIP and ZLIB decompressed by our own hands, to know where blocks of DEFLATE start.
//!
//! A stream can be taken up again at the start of a block, given the bit it starts at and the 32 KiB
//! before it. Libraries in Rust do not tell that bit. This decoder is for making indices; reading is
//! left to the library, which is faster and verifies the checksums of members.

use crate::error::{Error, Result};
use crate::io::compress::Compression;
use crate::io::local::BlockReader;

/// How far back a stream refers.
pub const WINDOW_BYTES: usize = 32 << 10;

const INPUT_BYTES: usize = 256 << 10;
/// New bytes after which they are handed on.
const OUTPUT_BYTES: usize = 128 << 10;
/// Longest code that is looked up at once.
const FAST_BITS: u32 = 10;
const LONGEST: usize = 15;

/// Where a block starts.
#[derive(Clone, Copy, Debug)]
pub struct BlockStart<'a> {
    /// The compressed byte that holds its first bit.
    pub input: u64,
    /// Number of that bit in it.
    pub bit: u32,
    /// Decompressed bytes before it.
    pub output: u64,
    /// The last of these that it may refer to.
    pub window: &'a [u8],
}

/// Takes what comes out.
pub trait Output {
    /// The next decompressed bytes.
    ///
    /// # Errors
    /// What ends decompression.
    fn bytes(&mut self, bytes: &[u8]) -> Result<()>;

    /// A block starts.
    ///
    /// # Errors
    /// What ends decompression.
    fn block(&mut self, start: BlockStart<'_>) -> Result<()>;
}

/// Decompresses a whole file.
///
/// # Errors
/// `DataLoss` for a stream that is damaged or cut off; what `output` gives; or as the system says.
pub fn inflate(input: BlockReader, how: Compression, output: &mut impl Output) -> Result<()> {
    let mut stream = Stream {
        bits: Bits { input, block: vec![0; INPUT_BYTES], at: 0, end: 0, hold: 0, held: 0 },
        out: Vec::with_capacity(WINDOW_BYTES + OUTPUT_BYTES + 258),
        passed: 0,
        given: 0,
        member: 0,
    };
    while !stream.bits.is_at_end()? {
        stream.member(how, output)?;
    }
    stream.hand_on(output)
}

fn damaged(why: &str) -> Error {
    Error::data_loss(format!("damaged stream: {why}"))
}

/// The bits of a file, the lowest of each byte first.
struct Bits {
    input: BlockReader,
    block: Vec<u8>,
    at: usize,
    end: usize,
    /// The next bits. Above the lowest `held` there may be more of the file's, never others.
    hold: u64,
    held: u32,
}

impl Bits {
    /// Brings at least 56 bits together, or all there are.
    #[inline]
    fn refill(&mut self) -> Result<()> {
        if let Some(word) = self.block[self.at..self.end].first_chunk() {
            self.hold |= u64::from_le_bytes(*word) << self.held;
            self.at += ((63 - self.held) / 8) as usize;
            self.held |= 56;
            return Ok(());
        }
        self.refill_slowly()
    }

    #[cold]
    fn refill_slowly(&mut self) -> Result<()> {
        while self.held < 56 {
            if self.at == self.end {
                (self.at, self.end) = (0, 0);
                self.end = self.input.read(&mut self.block)?;
                if self.end == 0 {
                    break;
                }
            }
            self.hold |= u64::from(self.block[self.at]) << self.held;
            self.at += 1;
            self.held += 8;
        }
        Ok(())
    }

    #[inline]
    fn drop(&mut self, count: u32) -> Result<()> {
        if count > self.held {
            return Err(damaged("it is cut off"));
        }
        self.hold >>= count;
        self.held -= count;
        Ok(())
    }

    /// The next `count` bits, at most 32.
    #[inline]
    fn take(&mut self, count: u32) -> Result<u32> {
        if self.held < count {
            self.refill()?;
        }
        let value = (self.hold & ((1 << count) - 1)) as u32;
        self.drop(count).map(|()| value)
    }

    fn drop_to_byte(&mut self) -> Result<()> {
        self.drop(self.held % 8)
    }

    fn is_at_end(&mut self) -> Result<bool> {
        self.refill()?;
        Ok(self.held == 0)
    }

    /// Where the next bit is: byte, and bit in it.
    fn place(&self) -> (u64, u32) {
        let read = self.input.position() - (self.end - self.at) as u64;
        let bit = read * 8 - u64::from(self.held);
        (bit / 8, (bit % 8) as u32)
    }
}

struct Stream {
    bits: Bits,
    /// What came out: bytes that may be referred to, then those that are not handed on yet.
    out: Vec<u8>,
    /// Bytes that came out before `out`.
    passed: u64,
    /// Bytes of `out` that were handed on.
    given: usize,
    /// Where the member starts, in decompressed bytes.
    member: u64,
}

impl Stream {
    fn total(&self) -> u64 {
        self.passed + self.out.len() as u64
    }

    fn member(&mut self, how: Compression, output: &mut impl Output) -> Result<()> {
        let trailer = match how {
            Compression::Zlib => self.zlib_header().map(|()| 4)?,
            _ => self.gzip_header().map(|()| 8)?,
        };
        self.member = self.total();
        loop {
            self.hand_on(output)?;
            let (input, bit) = self.bits.place();
            let reach = ((self.total() - self.member) as usize).min(WINDOW_BYTES);
            let window = &self.out[self.out.len().saturating_sub(reach)..];
            output.block(BlockStart { input, bit, output: self.total(), window })?;
            let last = self.bits.take(1)? == 1;
            match self.bits.take(2)? {
                0 => self.stored(output)?,
                1 => self.coded(&Code::fixed_literals(), &Code::fixed_distances(), output)?,
                2 => {
                    let (literals, distances) = self.codes()?;
                    self.coded(&literals, &distances, output)?;
                }
                _ => return Err(damaged("a block of no kind")),
            }
            if last {
                break;
            }
        }
        self.bits.drop_to_byte()?;
        (0..trailer).try_for_each(|_| self.bits.take(8).map(|_| ()))
    }

    fn gzip_header(&mut self) -> Result<()> {
        let magic = (self.bits.take(8)?, self.bits.take(8)?, self.bits.take(8)?);
        if magic != (0x1f, 0x8b, 8) {
            return Err(damaged("no member starts here"));
        }
        let flags = self.bits.take(8)?;
        for _ in 0..6 {
            self.bits.take(8)?;
        }
        if flags & 4 != 0 {
            let extra = self.bits.take(16)?;
            (0..extra).try_for_each(|_| self.bits.take(8).map(|_| ()))?;
        }
        for text in [8, 16] {
            while flags & text != 0 && self.bits.take(8)? != 0 {}
        }
        if flags & 2 != 0 {
            self.bits.take(16)?;
        }
        Ok(())
    }

    fn zlib_header(&mut self) -> Result<()> {
        let (method, flags) = (self.bits.take(8)?, self.bits.take(8)?);
        let good = method & 15 == 8 && (method << 8 | flags) % 31 == 0 && flags & 32 == 0;
        if good { Ok(()) } else { Err(damaged("no stream starts here")) }
    }

    /// Hands new bytes on, and lets go of those that cannot be referred to any more.
    fn hand_on(&mut self, output: &mut impl Output) -> Result<()> {
        output.bytes(&self.out[self.given..])?;
        let gone = self.out.len().saturating_sub(WINDOW_BYTES);
        self.out.copy_within(gone.., 0);
        self.out.truncate(self.out.len() - gone);
        self.passed += gone as u64;
        self.given = self.out.len();
        Ok(())
    }

    fn stored(&mut self, output: &mut impl Output) -> Result<()> {
        self.bits.drop_to_byte()?;
        let (len, not) = (self.bits.take(16)?, self.bits.take(16)?);
        if len != !not & 0xffff {
            return Err(damaged("a stored block of no length"));
        }
        for _ in 0..len {
            let byte = self.bits.take(8)?;
            self.out.push(byte as u8);
        }
        self.hand_on(output)
    }

    /// The codes of a block that brings its own.
    fn codes(&mut self) -> Result<(Code, Code)> {
        const ORDER: [usize; 19] =
            [16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15];
        let literals = self.bits.take(5)? as usize + 257;
        let distances = self.bits.take(5)? as usize + 1;
        let count = self.bits.take(4)? as usize + 4;
        let mut lens = [0; 19];
        for place in &ORDER[..count] {
            lens[*place] = self.bits.take(3)? as u8;
        }
        let code = Code::new(&lens)?;
        let mut lens = Vec::with_capacity(320);
        while lens.len() < literals + distances {
            self.bits.refill()?;
            let (value, times) = match code.next(&mut self.bits)? {
                16 => match lens.last() {
                    Some(last) => (*last, 3 + self.bits.take(2)?),
                    None => return Err(damaged("a repetition of nothing")),
                },
                17 => (0, 3 + self.bits.take(3)?),
                18 => (0, 11 + self.bits.take(7)?),
                len => (len as u8, 1),
            };
            lens.resize(lens.len() + times as usize, value);
        }
        if lens.len() > literals + distances {
            return Err(damaged("too many lengths of codes"));
        }
        let (of_literals, of_distances) = lens.split_at(literals);
        Ok((Code::new(of_literals)?, Code::new(of_distances)?))
    }

    fn coded(&mut self, literals: &Code, distances: &Code, to: &mut impl Output) -> Result<()> {
        loop {
            if self.out.len() - self.given >= OUTPUT_BYTES {
                self.hand_on(to)?;
            }
            // Enough for a length and a distance.
            self.bits.refill()?;
            let symbol = literals.next(&mut self.bits)?;
            if symbol < 256 {
                self.out.push(symbol as u8);
                continue;
            }
            if symbol == 256 {
                return Ok(());
            }
            let len = extended(&LENGTHS, symbol - 257, &mut self.bits)?;
            let symbol = distances.next(&mut self.bits)?;
            let distance = extended(&DISTANCES, symbol, &mut self.bits)?;
            let reach = self.total() - self.member;
            if distance as u64 > reach {
                return Err(damaged("it refers to bytes before its start"));
            }
            let Some(start) = self.out.len().checked_sub(distance) else {
                return Err(damaged("it refers too far back"));
            };
            if distance >= len {
                self.out.extend_from_within(start..start + len);
            } else {
                for at in start..start + len {
                    self.out.push(self.out[at]);
                }
            }
        }
    }
}

/// The least value of each symbol, and its further bits.
#[rustfmt::skip]
const LENGTHS: [(u16, u8); 29] = [
    (3, 0), (4, 0), (5, 0), (6, 0), (7, 0), (8, 0), (9, 0), (10, 0), (11, 1), (13, 1), (15, 1),
    (17, 1), (19, 2), (23, 2), (27, 2), (31, 2), (35, 3), (43, 3), (51, 3), (59, 3), (67, 4),
    (83, 4), (99, 4), (115, 4), (131, 5), (163, 5), (195, 5), (227, 5), (258, 0),
];
#[rustfmt::skip]
const DISTANCES: [(u16, u8); 30] = [
    (1, 0), (2, 0), (3, 0), (4, 0), (5, 1), (7, 1), (9, 2), (13, 2), (17, 3), (25, 3), (33, 4),
    (49, 4), (65, 5), (97, 5), (129, 6), (193, 6), (257, 7), (385, 7), (513, 8), (769, 8),
    (1025, 9), (1537, 9), (2049, 10), (3073, 10), (4097, 11), (6145, 11), (8193, 12), (12289, 12),
    (16385, 13), (24577, 13),
];

#[inline]
fn extended(table: &[(u16, u8)], symbol: u16, bits: &mut Bits) -> Result<usize> {
    match table.get(usize::from(symbol)) {
        Some((least, more)) => Ok(usize::from(*least) + bits.take(u32::from(*more))? as usize),
        None => Err(damaged("a length or distance of no meaning")),
    }
}

/// A Huffman code.
struct Code {
    /// By the next [`FAST_BITS`] bits: symbol and length of a code; 0 if it is longer.
    fast: Vec<u16>,
    /// Number of codes of each length.
    counts: [u16; LONGEST + 1],
    /// Symbols in the order of their codes.
    symbols: Vec<u16>,
}

impl Code {
    fn new(lens: &[u8]) -> Result<Code> {
        let mut counts = [0_u16; LONGEST + 1];
        for len in lens {
            counts[usize::from(*len)] += 1;
        }
        counts[0] = 0;
        let (mut starts, mut firsts) = ([0_u16; LONGEST + 2], [0_u32; LONGEST + 2]);
        let mut left = 1_i32;
        for len in 1..=LONGEST {
            left = left * 2 - i32::from(counts[len]);
            if left < 0 {
                return Err(damaged("a code with too many words"));
            }
            starts[len + 1] = starts[len] + counts[len];
            firsts[len + 1] = (firsts[len] + u32::from(counts[len])) << 1;
        }
        let mut symbols = vec![0; lens.len()];
        let mut fast = vec![0; 1 << FAST_BITS];
        for (symbol, len) in lens.iter().enumerate().filter(|(_, len)| **len > 0) {
            let (symbol, bits) = (symbol as u16, u32::from(*len));
            let len = usize::from(*len);
            symbols[usize::from(starts[len])] = symbol;
            starts[len] += 1;
            let word = firsts[len];
            firsts[len] += 1;
            if bits <= FAST_BITS {
                let reversed = (word.reverse_bits() >> (32 - bits)) as usize;
                for at in (reversed..1 << FAST_BITS).step_by(1 << bits) {
                    fast[at] = symbol << 4 | bits as u16;
                }
            }
        }
        Ok(Code { fast, counts, symbols })
    }

    fn fixed_literals() -> Code {
        let len = |symbol| match symbol {
            0..=143 => 8,
            144..=255 => 9,
            256..=279 => 7,
            _ => 8,
        };
        let lens: Vec<u8> = (0..288).map(len).collect();
        Self::new(&lens).unwrap_or_else(|_| Self::empty())
    }

    fn fixed_distances() -> Code {
        Self::new(&[5; 30]).unwrap_or_else(|_| Self::empty())
    }

    fn empty() -> Code {
        let (fast, counts) = (vec![0; 1 << FAST_BITS], [0; LONGEST + 1]);
        Code { fast, counts, symbols: Vec::new() }
    }

    /// The next symbol; the caller has brought enough bits together.
    #[inline]
    fn next(&self, bits: &mut Bits) -> Result<u16> {
        let entry = self.fast[(bits.hold & ((1 << FAST_BITS) - 1)) as usize];
        if entry != 0 {
            return bits.drop(u32::from(entry & 15)).map(|()| entry >> 4);
        }
        self.next_slowly(bits)
    }

    #[cold]
    fn next_slowly(&self, bits: &mut Bits) -> Result<u16> {
        let (mut word, mut first, mut index) = (0_u32, 0_u32, 0_u32);
        for len in 1..=LONGEST {
            word |= (bits.hold >> (len - 1)) as u32 & 1;
            let count = u32::from(self.counts[len]);
            if word < first + count {
                bits.drop(len as u32)?;
                let symbol = self.symbols.get((index + word - first) as usize);
                return symbol.copied().ok_or_else(|| damaged("a word of no code"));
            }
            index += count;
            first = (first + count) << 1;
            word <<= 1;
        }
        Err(damaged("a word of no code"))
    }
}

#[cfg(test)]
mod tests;
