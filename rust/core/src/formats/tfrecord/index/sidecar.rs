//! Where the index of a file lies, and whether it still is that of the file.
//!
//! The name begins with a dot, so that a pattern for the files of a data set matches no index.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use super::{Identity, Index};
use crate::error::{Error, ErrorKind, Result};
use crate::io::compress::Compression;

/// The place of an index.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sidecar {
    path: PathBuf,
}

/// What came of looking for an index.
#[derive(Debug)]
pub enum Found {
    /// It is that of the file.
    Valid(Index),
    /// There is none.
    Missing,
    /// It is of another file, or of what the file was, or damaged.
    Unfit(Error),
}

impl Sidecar {
    /// In the folder of the file `data`.
    pub fn beside(data: &str) -> Self {
        Self::within(Path::new(data).parent().unwrap_or(Path::new("")), data)
    }

    /// In another folder, under the same name.
    pub fn within(folder: &Path, data: &str) -> Self {
        let mut name = OsString::from(".");
        name.push(Path::new(data).file_name().unwrap_or_default());
        name.push(".hridx");
        Sidecar { path: folder.join(name) }
    }

    /// At this very path.
    pub fn at(path: &Path) -> Self {
        Sidecar { path: path.into() }
    }

    /// The path.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Looks for the index of the file `data`.
    ///
    /// # Errors
    /// If the file cannot be looked at.
    pub fn find(&self, data: &str, compression: Compression) -> Result<Found> {
        let index = match Index::open(&self.path) {
            Ok(index) => index,
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Found::Missing),
            Err(error) => return Ok(Found::Unfit(error.with_hint(MAKE_ANEW))),
        };
        let now = Identity::of(data)?;
        if let Some(what) = misfit(&index, now, data, compression)? {
            let text = format!("the index {} {what}", self.path.display());
            return Ok(Found::Unfit(Error::failed_precondition(text).with_hint(MAKE_ANEW)));
        }
        Ok(Found::Valid(index))
    }

    /// The error of an index that should be there.
    pub fn missing(&self, data: &str) -> Error {
        let text = format!("{data} has no index at {}", self.path.display());
        let hint = "make it with `headrace index`, or pass index=\"auto\"";
        Error::new(ErrorKind::NotFound, text).with_hint(hint)
    }
}

const MAKE_ANEW: &str = "make it anew with `headrace index`, or pass index=\"auto\"";

/// Why an index is not that of the file.
fn misfit(index: &Index, now: Identity, data: &str, how: Compression) -> Result<Option<String>> {
    if index.compression() != how {
        let name = |how: Compression| match how {
            Compression::None => "None".to_string(),
            other => format!("{:?}", other.name()),
        };
        let (was, is) = (name(index.compression()), name(how));
        return Ok(Some(format!("was made with compression_type={was}, not {is}")));
    }
    let was = index.identity();
    if was.is_that_of(now, data)? {
        return Ok(None);
    }
    let how = match was.size == now.size {
        true => "its bytes are others".into(),
        false => format!("it had {} bytes then, and has {} now", was.size, now.size),
    };
    Ok(Some(format!("is stale: {data} has changed since it was made; {how}")))
}
