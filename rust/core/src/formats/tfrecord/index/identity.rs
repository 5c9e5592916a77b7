//! Of which file an index is: its length, its time, and a digest of samples.
//!
//! A file of the same length and time is taken to be the same. Where the time differs, as that of a
//! copy, the samples decide. A time so near to the indexing that a later change could have the same
//! is left out, so that samples decide then, too.

use std::fs::{self, Metadata};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use crate::error::{Error, Result};
use crate::io::crc::crc32c;
use crate::io::local::BlockReader;

const SAMPLES: u64 = 16;
const SAMPLE_BYTES: u64 = 4096;
/// The clocks of file systems tick coarsely.
const TICK: Duration = Duration::from_millis(50);

/// What tells a file from another, and from what it was before it changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Identity {
    /// Length in bytes.
    pub size: u64,
    /// When it was changed last, in nanoseconds since 1970; 0 if unknown.
    pub mtime_ns: u64,
    /// Digest of samples of its bytes; 0 until it is taken.
    pub digest: u64,
}

impl Identity {
    /// The identity of a file, without the digest.
    ///
    /// # Errors
    /// As the system says.
    pub fn of(path: &str) -> Result<Self> {
        Ok(Self::from_metadata(&fs::metadata(path).map_err(|e| Error::io(&e, path))?))
    }

    /// What the system says of a file.
    pub fn from_metadata(metadata: &Metadata) -> Self {
        let since = metadata.modified().ok().and_then(|time| time.duration_since(UNIX_EPOCH).ok());
        let mtime_ns = since.and_then(|since| u64::try_from(since.as_nanos()).ok()).unwrap_or(0);
        Identity { size: metadata.len(), mtime_ns, digest: 0 }
    }

    /// The same with the digest.
    ///
    /// # Errors
    /// As the system says.
    pub fn sampled(self, path: &str) -> Result<Self> {
        Ok(Identity { digest: digest(path, self.size)?, ..self })
    }

    /// The same without a time that a later change could have as well.
    pub fn settled(self) -> Self {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let time = Duration::from_nanos(self.mtime_ns);
        let recent = now.checked_sub(time).is_none_or(|age| age < TICK);
        Identity { mtime_ns: if recent { 0 } else { self.mtime_ns }, ..self }
    }

    /// True if `now`, what the system says of the file at `path`, is the file of this identity.
    ///
    /// # Errors
    /// As the system says.
    pub fn is_that_of(&self, now: Identity, path: &str) -> Result<bool> {
        if now.size != self.size {
            return Ok(false);
        }
        let same_time = self.mtime_ns != 0 && now.mtime_ns == self.mtime_ns;
        Ok(same_time || digest(path, self.size)? == self.digest)
    }
}

/// The digest of a file's first page, its last, and some between them.
fn digest(path: &str, size: u64) -> Result<u64> {
    let mut file = BlockReader::open_random(path)?;
    let sample = size.min(SAMPLE_BYTES);
    let mut bytes = vec![0; sample as usize];
    let mut digest = size;
    for number in 0..SAMPLES {
        let far = u128::from(size - sample) * u128::from(number) / u128::from(SAMPLES - 1);
        file.seek(far as u64);
        if !file.read_exactly(&mut bytes)? {
            return Ok(0);
        }
        let mixed = (digest ^ u64::from(crc32c(&bytes))).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        digest = mixed.rotate_left(29);
        if size <= sample {
            break;
        }
    }
    Ok(digest)
}
