//! The files that a run has opened last, so that going on from its state notices one that changed.
//!
//! A state counts records. Where a file is another one now, its records are not those that were
//! counted, and what would come next is neither the rest nor an error. A file is known by its length
//! and its ends, which a copy on another machine has, too: what was written anew or written on has
//! others, and the ends of a compressed file tell of all of it.

use std::collections::VecDeque;
use std::fs::{self, File};
use std::io::{Read, Seek, SeekFrom};
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::engine::lock;
use crate::engine::sync::Mutex;
use crate::error::{Error, Result};
use crate::graph::hash::Fnv;

/// How many files a state tells of. More would tell more, and make states long.
const MOST: usize = 8;
/// The longest that their paths may be together, in bytes.
const MOST_BYTES: usize = 1024;
/// How much of each end is looked at: a page, which is read soon or was just read.
const END_BYTES: u64 = 4096;

/// A file as it was when it was opened: path, length, hash of its ends.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct OpenedFile(Arc<str>, u64, u64);

impl OpenedFile {
    /// `None` if it cannot be read: whoever reads the file says why.
    fn of(path: &str) -> Option<Self> {
        let len = fs::metadata(path).ok().filter(|found| found.is_file())?.len();
        let mut file = File::open(path).ok()?;
        let mut ends = vec![0; len.min(2 * END_BYTES) as usize];
        let half = ends.len().min(END_BYTES as usize);
        let (head, tail) = ends.split_at_mut(half);
        file.read_exact(head).ok()?;
        file.seek(SeekFrom::Start(len - tail.len() as u64)).ok()?;
        file.read_exact(tail).ok()?;
        let mut hash = Fnv::default();
        hash.bytes(&ends);
        Some(OpenedFile(path.into(), len, hash.finish()))
    }

    /// Fails if the file is another one now.
    ///
    /// # Errors
    /// `FailedPrecondition` naming it.
    pub fn check(&self) -> Result<()> {
        if Self::of(&self.0).as_ref() == Some(self) {
            return Ok(());
        }
        let text = "the file has changed since the state was taken, so the records in it are not \
                    those that the state counts";
        let hint = "start a new run, or put the file back as it was";
        Err(Error::failed_precondition(text).with_hint(hint).at_file(&self.0))
    }
}

/// The files that a run has opened last.
#[derive(Debug, Default)]
pub struct OpenedFiles(Mutex<VecDeque<OpenedFile>>);

impl OpenedFiles {
    /// Of a run that goes on after these.
    pub(crate) fn restored(files: &[OpenedFile]) -> Self {
        OpenedFiles(Mutex::new(files.iter().cloned().collect()))
    }

    /// Notes that a file is opened.
    pub fn note(&self, path: &str) {
        let Some(file) = OpenedFile::of(path) else { return };
        let mut files = lock(&self.0);
        files.retain(|other| other.0 != file.0);
        files.push_back(file);
        let bytes =
            |files: &VecDeque<OpenedFile>| files.iter().map(|file| file.0.len()).sum::<usize>();
        while files.len() > MOST || (bytes(&files) > MOST_BYTES && files.len() > 1) {
            files.pop_front();
        }
    }

    /// The files, the last one last.
    pub(crate) fn log(&self) -> Vec<OpenedFile> {
        lock(&self.0).iter().cloned().collect()
    }
}
