//! Files that say "somebody is writing here".
//!
//! The claim is the system's lock on the file, which ends with its process however that ends; a
//! file that a killed process left behind is taken over. The file holds the process's number.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{Read, Write};
use std::path::Path;

use crate::error::{Error, Result};

/// A claim that is held until it is dropped.
#[derive(Debug)]
pub struct LockFile {
    path: String,
    /// Keeps the system's lock.
    _file: File,
    process: u32,
}

/// What came of trying to claim.
#[derive(Debug)]
pub enum Claim {
    /// It is ours now.
    Taken(LockFile),
    /// Another run of this process holds it.
    HeldHere,
    /// Another process holds it.
    HeldElsewhere,
}

impl LockFile {
    /// Tries to claim the file at `path`, which is made if it does not exist.
    ///
    /// # Errors
    /// If the file cannot be made, as the system says.
    pub fn claim(path: &str) -> Result<Claim> {
        let failed = |e: &std::io::Error| Error::io(e, path);
        loop {
            let mut options = OpenOptions::new();
            let options = options.read(true).write(true).create(true).truncate(false);
            let mut file = options.open(path).map_err(|e| failed(&e))?;
            match file.try_lock() {
                Ok(()) => {}
                Err(TryLockError::WouldBlock) => {
                    let mut text = String::new();
                    // A holder that has not written its number yet is not told from another.
                    let _ = file.read_to_string(&mut text);
                    let here = text.trim() == std::process::id().to_string();
                    return Ok(if here { Claim::HeldHere } else { Claim::HeldElsewhere });
                }
                Err(TryLockError::Error(error)) => return Err(failed(&error)),
            }
            if !is_same_file(&file, path.as_ref()) {
                // The holder before us removed it between our opening and locking it.
                continue;
            }
            file.set_len(0).map_err(|e| failed(&e))?;
            let process = std::process::id();
            write!(file, "{process}").map_err(|e| failed(&e))?;
            return Ok(Claim::Taken(LockFile { path: path.into(), _file: file, process }));
        }
    }
}

impl Drop for LockFile {
    fn drop(&mut self) {
        // A forked child has a copy that it never claimed.
        if self.process == std::process::id() {
            let _ = fs::remove_file(&self.path);
        }
    }
}

/// True if the open file is the one that has this name now.
#[cfg(unix)]
pub(super) fn is_same_file(file: &File, path: &Path) -> bool {
    use std::os::unix::fs::MetadataExt;
    match (file.metadata(), fs::metadata(path)) {
        (Ok(own), Ok(there)) => (own.dev(), own.ino()) == (there.dev(), there.ino()),
        _ => false,
    }
}

#[cfg(not(unix))]
pub(super) fn is_same_file(_file: &File, path: &Path) -> bool {
    fs::metadata(path).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_at_a_time_and_none_after_the_last() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("lock");
        let text = path.to_str().unwrap();
        let Claim::Taken(held) = LockFile::claim(text).unwrap() else { panic!("not taken") };
        assert!(matches!(LockFile::claim(text).unwrap(), Claim::HeldHere));
        drop(held);
        assert!(!path.exists());
        // What a killed process leaves behind.
        fs::write(&path, "4000000000").unwrap();
        assert!(matches!(LockFile::claim(text).unwrap(), Claim::Taken(_)));
        assert!(!path.exists());
    }
}
