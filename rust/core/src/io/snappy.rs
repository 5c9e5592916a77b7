//! Snappy's framing format as a stream: quick, and never more than a block of 64 KiB at a time.
//!
//! Only files of our own are written so (see `formats::chunks`); their readers know how much there
//! is to come, which a stream cut off between two blocks does not tell.

use std::fmt;
use std::io::{self, Read};

use snap::read::FrameDecoder;

use crate::error::{Error, Result};
use crate::io::local::BlockReader;

/// A file, decompressed as it is read.
pub struct Unsnap(FrameDecoder<Blocks>);

/// A file as the decoder reads it.
struct Blocks {
    input: BlockReader,
    /// What the system said, which the decoder would only repeat.
    failed: Option<Error>,
}

impl Read for Blocks {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        self.input.read(out).map_err(|error| {
            self.failed = Some(error);
            io::Error::other("the file cannot be read")
        })
    }
}

impl Unsnap {
    /// Decompresses what `input` reads.
    pub fn new(input: BlockReader) -> Self {
        Unsnap(FrameDecoder::new(Blocks { input, failed: None }))
    }

    /// The file.
    pub fn input(&self) -> &BlockReader {
        &self.0.get_ref().input
    }

    /// The next decompressed bytes: some, or none at the end.
    ///
    /// # Errors
    /// `DataLoss` for a stream that is damaged or cut off, or is none; or as the system says.
    pub fn read(&mut self, out: &mut [u8]) -> Result<usize> {
        self.0.read(out).map_err(|why| {
            self.0.get_mut().failed.take().unwrap_or_else(|| {
                let at = self.input().position();
                let text = format!("damaged SNAPPY stream before compressed byte {at}: {why}");
                Error::data_loss(text).at_file(self.input().path())
            })
        })
    }
}

impl fmt::Debug for Unsnap {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Unsnap({:?})", self.input())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::io::compress::{Compression, Sink};

    fn read(bytes: &[u8]) -> Result<Vec<u8>> {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), bytes).unwrap();
        let mut stream = Unsnap::new(BlockReader::open(file.path().to_str().unwrap())?);
        let (mut out, mut block) = (Vec::new(), [0; 1000]);
        loop {
            match stream.read(&mut block)? {
                0 => return Ok(out),
                count => out.extend_from_slice(&block[..count]),
            }
        }
    }

    #[test]
    fn what_is_written_comes_back_and_damage_is_noticed() {
        let body: Vec<u8> = (0..50_000_u32).flat_map(|i| (i / 7).to_le_bytes()).collect();
        let mut file = tempfile::tempfile().unwrap();
        let mut sink = Sink::new(file.try_clone().unwrap(), Compression::Snappy, None).unwrap();
        sink.write_parts(&[b"", &body]).unwrap();
        sink.finish().unwrap();
        let mut bytes = Vec::new();
        io::Seek::rewind(&mut file).unwrap();
        file.read_to_end(&mut bytes).unwrap();
        assert!(bytes.len() < body.len() / 2);
        assert!(read(&bytes).unwrap() == body);
        for at in [0, 12, bytes.len() / 2, bytes.len() - 1] {
            let mut damaged = bytes.clone();
            damaged[at] ^= 0x55;
            assert_eq!(read(&damaged).unwrap_err().kind(), crate::ErrorKind::DataLoss, "{at}");
        }
        assert!(read(&bytes[..bytes.len() - 1]).is_err());
        assert!(read(b"plain text, plainly").is_err());
    }
}
