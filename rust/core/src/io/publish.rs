//! Files that appear under their name whole, or not at all, and leave nothing behind.
//!
//! On Linux the file has no name until it is done, so a process that is killed leaves none. Where
//! that is not possible, or another file has the name already, a name beside it is used and moved:
//! one of a few, each held by the system's lock, so that a later writer takes over, or removes,
//! what a killed one left.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io;
use std::path::{Path, PathBuf};

use crate::io::lock::is_same_file;

/// Names beside the target that writers use at the same time.
const SLOTS: usize = 64;

/// A file that is not there yet.
#[derive(Debug)]
pub struct NewFile {
    file: File,
    target: PathBuf,
    /// The name it has meanwhile.
    name: Option<PathBuf>,
}

impl NewFile {
    /// A file that will be at `target`, whatever is there now.
    ///
    /// # Errors
    /// As the system says: the folder is missing, or not to be written to.
    pub fn create(target: &Path) -> io::Result<Self> {
        if let Some(file) = unnamed(target)? {
            return Ok(NewFile { file, target: target.into(), name: None });
        }
        let (file, name) = named(target)?;
        Ok(NewFile { file, target: target.into(), name: Some(name) })
    }

    /// The file, to be written and read.
    pub fn file(&self) -> &File {
        &self.file
    }

    /// Gives the file its name; one that has it is replaced.
    ///
    /// # Errors
    /// As the system says.
    pub fn publish(mut self) -> io::Result<File> {
        if self.name.is_none() {
            match link(&self.file, &self.target) {
                Ok(()) => {}
                Err(error) => self.name = Some(self.take_name(&error)?),
            }
        }
        if let Some(name) = &self.name {
            fs::rename(name, &self.target)?;
            self.name = None;
            // One that was killed as it took a name could not replace the target either.
            sweep(&self.target);
        }
        self.file.try_clone()
    }

    /// A name to move from, as the target exists, or the file cannot be linked.
    fn take_name(&mut self, error: &io::Error) -> io::Result<PathBuf> {
        if error.kind() == io::ErrorKind::AlreadyExists && self.file.try_lock().is_ok() {
            for name in names(&self.target) {
                match link(&self.file, &name) {
                    Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                    linked => return linked.map(|()| name),
                }
            }
        }
        let (file, name) = named(&self.target)?;
        copy(&self.file, &file)?;
        self.file = file;
        Ok(name)
    }
}

impl Drop for NewFile {
    fn drop(&mut self) {
        if let Some(name) = &self.name {
            let _ = fs::remove_file(name);
        }
    }
}

fn names(target: &Path) -> impl Iterator<Item = PathBuf> {
    let target = target.as_os_str().to_os_string();
    (0..SLOTS).map(move |slot| {
        let mut name = target.clone();
        name.push(format!(".tmp{slot}"));
        name.into()
    })
}

/// A file with one of the names, which nobody else holds.
fn named(target: &Path) -> io::Result<(File, PathBuf)> {
    for name in names(target) {
        let mut options = OpenOptions::new();
        let file = options.read(true).write(true).create(true).truncate(false).open(&name)?;
        match file.try_lock() {
            Ok(()) if is_same_file(&file, &name) => {
                file.set_len(0)?;
                return Ok((file, name));
            }
            Ok(()) | Err(TryLockError::WouldBlock) => {}
            Err(TryLockError::Error(error)) => return Err(error),
        }
    }
    Err(io::Error::other("too many writers at the same time"))
}

/// Removes what killed writers left.
fn sweep(target: &Path) {
    for name in names(target) {
        // They take the first name that is free, but may end in another order.
        if let Ok(file) = OpenOptions::new().write(true).open(&name)
            && file.try_lock().is_ok()
            && is_same_file(&file, &name)
        {
            let _ = fs::remove_file(&name);
        }
    }
}

fn copy(mut from: &File, mut to: &File) -> io::Result<()> {
    io::Seek::rewind(&mut from)?;
    io::copy(&mut from, &mut to).map(|_| ())
}

/// A file without a name in the folder of `target`; `None` where there are none.
#[cfg(target_os = "linux")]
fn unnamed(target: &Path) -> io::Result<Option<File>> {
    use std::os::unix::fs::OpenOptionsExt;
    let folder = target.parent().filter(|folder| !folder.as_os_str().is_empty());
    let mut options = OpenOptions::new();
    options.read(true).write(true).custom_flags(libc::O_TMPFILE);
    match options.open(folder.unwrap_or(Path::new("."))) {
        Ok(file) => Ok(Some(file)),
        Err(error) => match error.raw_os_error() {
            Some(libc::EOPNOTSUPP | libc::EISDIR | libc::EINVAL | libc::ENOENT) => Ok(None),
            _ => Err(error),
        },
    }
}

#[cfg(not(target_os = "linux"))]
fn unnamed(_target: &Path) -> io::Result<Option<File>> {
    Ok(None)
}

/// Gives a file without a name this one.
#[cfg(target_os = "linux")]
#[allow(unsafe_code)]
fn link(file: &File, name: &Path) -> io::Result<()> {
    use std::ffi::CString;
    use std::os::fd::AsRawFd;
    use std::os::unix::ffi::OsStrExt;
    let from = CString::new(format!("/proc/self/fd/{}", file.as_raw_fd()))?;
    let to = CString::new(name.as_os_str().as_bytes())?;
    let (here, follow) = (libc::AT_FDCWD, libc::AT_SYMLINK_FOLLOW);
    // SAFETY: both are strings with an end, alive for the call, which keeps neither.
    match unsafe { libc::linkat(here, from.as_ptr(), here, to.as_ptr(), follow) } {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}

#[cfg(not(target_os = "linux"))]
fn link(_file: &File, _name: &Path) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    fn entries(folder: &Path) -> Vec<String> {
        let names = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name());
        let mut names: Vec<_> = names.map(|name| name.into_string().unwrap()).collect();
        names.sort();
        names
    }

    fn write(target: &Path, text: &[u8]) {
        let new = NewFile::create(target).unwrap();
        new.file().write_all(text).unwrap();
        new.publish().unwrap();
    }

    #[test]
    fn a_file_appears_whole_and_replaces_another() {
        let folder = tempfile::tempdir().unwrap();
        let target = folder.path().join("a");
        let new = NewFile::create(&target).unwrap();
        new.file().write_all(b"first").unwrap();
        assert!(!target.exists());
        new.publish().unwrap();
        write(&target, b"second");
        assert_eq!(fs::read(&target).unwrap(), b"second");
        drop(NewFile::create(&target).unwrap());
        assert_eq!(entries(folder.path()), ["a"]);
    }

    #[test]
    fn files_with_a_name_meanwhile_do_as_well() {
        let folder = tempfile::tempdir().unwrap();
        let target = folder.path().join("a");
        let (file, name) = named(&target).unwrap();
        let (other, other_name) = named(&target).unwrap();
        assert_ne!(name, other_name);
        (&file).write_all(b"one").unwrap();
        (&other).write_all(b"two").unwrap();
        // A killed process leaves its file, but not its lock.
        drop(other);
        NewFile { file, target: target.clone(), name: Some(name) }.publish().unwrap();
        assert_eq!(fs::read(&target).unwrap(), b"one");
        assert_eq!(entries(folder.path()), ["a"]);
    }

    #[test]
    fn what_a_killed_writer_left_is_taken_over() {
        let folder = tempfile::tempdir().unwrap();
        let target = folder.path().join("a");
        fs::write(folder.path().join("a.tmp0"), b"left behind").unwrap();
        let (file, name) = named(&target).unwrap();
        assert_eq!(
            (name.file_name().unwrap(), file.metadata().unwrap().len()),
            ("a.tmp0".as_ref(), 0)
        );
        drop(file);
        fs::write(&target, b"stale").unwrap();
        write(&target, b"new");
        assert_eq!(entries(folder.path()), ["a"]);
    }

    #[test]
    fn a_folder_that_is_missing_is_an_error() {
        let folder = tempfile::tempdir().unwrap();
        assert!(NewFile::create(&folder.path().join("no/a")).is_err());
    }
}
