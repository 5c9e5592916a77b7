//! The files that a run has opened last, so that going on from its state notices one that changed.
//!
//! A state counts records. Where a file is another one now, its records are not those that were
//! counted, and what would come next is neither the rest nor an error. A file is known by its length
//! and its ends, which a copy on another machine has, too: what was written anew or written on has
//! others, and the ends of a compressed file tell of all of it.
//!
//! The ends are read when a state is taken, and not whenever a file is opened: where files are on
//! another machine, each look costs as much as reading many records. A file that has changed until
//! then is known by its length and its time.

use std::collections::VecDeque;
use std::fs::{self, File};
use std::io::{Read, Seek, SeekFrom};
use std::sync::Arc;
use std::time::SystemTime;

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

/// The hash of the ends of a file that changed before they were read: no file has it.
const CHANGED: u64 = 0;

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
        Some(OpenedFile(path.into(), len, hash.finish().max(CHANGED + 1)))
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

/// A file that was opened.
#[derive(Clone, Debug)]
struct Noted {
    path: Arc<str>,
    len: u64,
    modified: Option<SystemTime>,
    /// With its ends, once a state has asked for them.
    file: Option<OpenedFile>,
}

impl Noted {
    /// `None` if it is no file, or not there: whoever reads it says why.
    fn of(path: &str) -> Option<Self> {
        let found = fs::metadata(path).ok().filter(|found| found.is_file())?;
        let (len, modified) = (found.len(), found.modified().ok());
        Some(Noted { path: path.into(), len, modified, file: None })
    }

    fn restored(file: &OpenedFile) -> Self {
        let (path, file) = (Arc::clone(&file.0), Some(file.clone()));
        Noted { path, len: file.as_ref().map_or(0, |file| file.1), modified: None, file }
    }

    /// True if both were the same when they were opened.
    fn is_same(&self, other: &Self) -> bool {
        self.path == other.path && self.len == other.len && self.modified == other.modified
    }

    /// The file as it was when it was opened, with its ends.
    fn file(&self) -> OpenedFile {
        if let Some(file) = &self.file {
            return file.clone();
        }
        let unchanged = || Self::of(&self.path).is_some_and(|now| now.is_same(self));
        let file = unchanged().then(|| OpenedFile::of(&self.path)).flatten();
        file.filter(|_| unchanged())
            .unwrap_or_else(|| OpenedFile(Arc::clone(&self.path), self.len, CHANGED))
    }
}

/// The files that a run has opened last.
#[derive(Debug, Default)]
pub struct OpenedFiles(Mutex<VecDeque<Noted>>);

impl OpenedFiles {
    /// Of a run that goes on after these.
    pub(crate) fn restored(files: &[OpenedFile]) -> Self {
        OpenedFiles(Mutex::new(files.iter().map(Noted::restored).collect()))
    }

    /// Notes that a file is opened.
    pub fn note(&self, path: &str) {
        let Some(mut noted) = Noted::of(path) else { return };
        let mut files = lock(&self.0);
        files.retain(|other| {
            if other.is_same(&noted) {
                noted.file.clone_from(&other.file);
            }
            other.path != noted.path
        });
        files.push_back(noted);
        let bytes =
            |files: &VecDeque<Noted>| files.iter().map(|file| file.path.len()).sum::<usize>();
        while files.len() > MOST || (bytes(&files) > MOST_BYTES && files.len() > 1) {
            files.pop_front();
        }
    }

    /// The files, the last one last.
    pub(crate) fn log(&self) -> Vec<OpenedFile> {
        let noted: Vec<Noted> = lock(&self.0).iter().cloned().collect();
        // The lock is free meanwhile, for others open files.
        let files: Vec<OpenedFile> = noted.iter().map(Noted::file).collect();
        let mut present = lock(&self.0);
        for (noted, file) in noted.iter().zip(&files) {
            if let Some(known) = present.iter_mut().find(|known| known.is_same(noted)) {
                known.file = Some(file.clone());
            }
        }
        files
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    fn opened(path: &str, text: &str) -> OpenedFiles {
        fs::write(path, text).unwrap();
        let files = OpenedFiles::default();
        files.note(path);
        files
    }

    fn is_unchanged(files: &[OpenedFile]) -> bool {
        files.len() == 1 && files.iter().all(|file| file.check().is_ok())
    }

    /// Writes the file anew, at another time.
    fn rewrite(path: &str, text: &str, seconds: u64) {
        fs::write(path, text).unwrap();
        let file = File::options().write(true).open(path).unwrap();
        file.set_modified(SystemTime::now() + Duration::from_secs(seconds)).unwrap();
    }

    #[test]
    fn a_file_is_the_one_that_was_opened_whenever_its_ends_are_read() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a");
        let path = path.to_str().unwrap();
        let files = opened(path, "one");
        let log = files.log();
        assert!(is_unchanged(&log) && files.log() == log);
        // A copy has another time, and is as good.
        rewrite(path, "one", 1);
        assert!(is_unchanged(&files.log()));
        rewrite(path, "two", 2);
        assert!(!is_unchanged(&log));
        // Opened again, it is another one.
        files.note(path);
        assert!(is_unchanged(&files.log()));
        // It changes before a state is taken.
        for text in ["six", "seven"] {
            let files = opened(path, "one");
            rewrite(path, text, 3);
            assert!(!is_unchanged(&files.log()), "{text}");
            fs::write(path, "one").unwrap();
            assert!(!is_unchanged(&files.log()), "{text}");
        }
        let files = opened(path, "one");
        fs::remove_file(path).unwrap();
        assert!(!is_unchanged(&files.log()));
    }

    #[test]
    fn a_run_that_goes_on_knows_the_files_of_its_state() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a");
        let path = path.to_str().unwrap();
        let log = opened(path, "one").log();
        let files = OpenedFiles::restored(&log);
        assert_eq!(files.log(), log);
        files.note(path);
        assert_eq!(files.log(), log);
        assert_eq!(files.log().len(), 1);
    }
}
