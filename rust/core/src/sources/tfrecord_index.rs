//! The indices of the files of a `TFRecordDataset`: found beside them, left behind by a pass that
//! reads a file whole, or made when somebody asks for an element by number.
//!
//! An index is used as long as its file has the length and time that it had when it was looked at.
//! Locks are never held while files are read.

use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use crate::engine::lock;
use crate::engine::notices;
use crate::engine::wait::poll_if_due;
use crate::error::{Error, ErrorKind, Result};
use crate::formats::tfrecord::index::{Found, Identity, Index, Recorder, Sidecar, build};
use crate::io::compress::Compression;

/// Where indices are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum IndexPlace {
    /// Beside the files; made where they are missing or do not fit.
    Auto,
    /// At a path: a folder with an index for each file, or the index of the only file. They must be
    /// there, and fit.
    At(PathBuf),
}

/// What is known of the index of a file.
#[derive(Clone, Debug)]
enum Known {
    /// Nobody has looked.
    Unseen,
    /// There was none that fits.
    Missing,
    /// It fits the file as it was then.
    Have(Arc<Index>, Identity),
}

/// The indices of some files.
#[derive(Debug)]
pub struct Indexes {
    files: Arc<[String]>,
    compression: Compression,
    place: IndexPlace,
    known: Mutex<Vec<Known>>,
}

impl Indexes {
    /// The indices of `files`; those that must be there are looked at.
    ///
    /// # Errors
    /// `InvalidArgument` for one path for many files, `NotFound` and `FailedPrecondition` for an
    /// index that is missing or does not fit, naming it.
    pub fn new(
        files: &Arc<[String]>,
        compression: Compression,
        place: IndexPlace,
    ) -> Result<Arc<Self>> {
        let known = Mutex::new(vec![Known::Unseen; files.len()]);
        let indexes = Indexes { files: Arc::clone(files), compression, place, known };
        if let IndexPlace::At(path) = &indexes.place {
            check_place(path, files)?;
            for file in 0..files.len() {
                indexes.find(file)?;
            }
        }
        Ok(Arc::new(indexes))
    }

    /// What users gave for it.
    pub fn describe(&self) -> String {
        match &self.place {
            IndexPlace::Auto => "auto".into(),
            IndexPlace::At(path) => path.display().to_string(),
        }
    }

    /// True if missing ones are made.
    pub fn are_made(&self) -> bool {
        self.place == IndexPlace::Auto
    }

    fn path(&self, file: usize) -> Result<&str> {
        let path = self.files.get(file).map(String::as_str);
        path.ok_or_else(|| Error::internal("an index of no file"))
    }

    fn sidecar(&self, file: usize) -> Result<Sidecar> {
        let data = self.path(file)?;
        Ok(match &self.place {
            IndexPlace::Auto => Sidecar::beside(data),
            IndexPlace::At(path) if is_folder(path) => Sidecar::within(path, data),
            IndexPlace::At(path) => Sidecar::at(path),
        })
    }

    fn set(&self, file: usize, known: Known) {
        if let Some(place) = lock(&self.known).get_mut(file) {
            *place = known;
        }
    }

    fn known(&self, file: usize) -> Known {
        lock(&self.known).get(file).cloned().unwrap_or(Known::Missing)
    }

    /// The index of a file, if there is one that fits the file as it is now.
    ///
    /// # Errors
    /// If the file cannot be looked at; if an index that must be there is not, or does not fit.
    pub fn find(&self, file: usize) -> Result<Option<Arc<Index>>> {
        let path = self.path(file)?;
        let now = Identity::of(path)?;
        if let Known::Have(index, seen) = self.known(file)
            && (seen == now || index.identity().is_that_of(now, path)?)
        {
            self.set(file, Known::Have(Arc::clone(&index), now));
            return Ok(Some(index));
        }
        let sidecar = self.sidecar(file)?;
        let must = !self.are_made();
        match sidecar.find(path, self.compression)? {
            Found::Valid(index) => {
                let index = Arc::new(index);
                self.set(file, Known::Have(Arc::clone(&index), now));
                return Ok(Some(index));
            }
            Found::Missing if must => return Err(sidecar.missing(path)),
            Found::Unfit(error) if must => return Err(error),
            _ => self.set(file, Known::Missing),
        }
        Ok(None)
    }

    /// The index of a file, made if there is none and that is allowed.
    ///
    /// # Errors
    /// As [`Indexes::find`], or what keeps records from being found.
    pub fn need(&self, file: usize) -> Result<Arc<Index>> {
        if let Some(index) = self.find(file)? {
            return Ok(index);
        }
        let sidecar = self.sidecar(file)?;
        let poll = &mut |_| poll_if_due();
        let index = build(self.path(file)?, self.compression, Some(&sidecar), poll)?;
        self.adopt(file, index)
    }

    /// An index that proved to be damaged is made anew, where that is allowed; one that was replaced
    /// is looked at again.
    ///
    /// # Errors
    /// `error` otherwise; as [`Indexes::need`].
    pub fn mend(&self, file: usize, error: Error) -> Result<Arc<Index>> {
        match error.kind() {
            ErrorKind::FailedPrecondition => {
                self.set(file, Known::Unseen);
                self.need(file)
            }
            ErrorKind::DataLoss if self.are_made() => {
                self.set(file, Known::Missing);
                let (path, sidecar) = (self.path(file)?, self.sidecar(file)?);
                let poll = &mut |_| poll_if_due();
                let index = build(path, self.compression, Some(&sidecar), poll)?;
                self.adopt(file, index)
            }
            _ => Err(error),
        }
    }

    /// Keeps an index that was made.
    fn adopt(&self, file: usize, index: Index) -> Result<Arc<Index>> {
        let path = self.path(file)?;
        if let Some(why) = index.unwritten() {
            let folder = Path::new(path).parent().unwrap_or(Path::new("")).display();
            notices::give(format!(
                "indices of files in \"{folder}\" are kept in memory and made anew by each process, \
                 since none can be written there ({why}); `headrace index --into FOLDER` writes \
                 them elsewhere, for index=FOLDER"
            ));
        }
        let index = Arc::new(index);
        self.set(file, Known::Have(Arc::clone(&index), Identity::of(path)?));
        Ok(index)
    }

    /// Collects the index of a file that is read from its start, if it has none.
    ///
    /// # Errors
    /// As [`Indexes::find`].
    pub fn recorder(&self, file: usize) -> Result<Option<Recorder>> {
        if !self.are_made() {
            return self.find(file).map(|_| None);
        }
        // A file that is not there is the reader's error.
        let Ok(None) = self.find(file) else { return Ok(None) };
        let sidecar = self.sidecar(file)?;
        Ok(Recorder::start(self.path(file)?, self.compression, Some(&sidecar)).ok())
    }

    /// The file was read to its end.
    pub fn finish(&self, file: usize, recorder: Recorder, end: u64) {
        let done = recorder.finish(end).and_then(|index| self.adopt(file, index));
        if let Err(error) = done
            && error.kind() != ErrorKind::FailedPrecondition
        {
            notices::give(format!("an index could not be written: {error}"));
        }
    }

    /// Number of records in all files, as far as known without reading them.
    pub fn total(&self) -> Option<u64> {
        (0..self.files.len()).try_fold(0_u64, |sum, file| {
            let records = match self.known(file) {
                Known::Have(index, _) => index.records(),
                Known::Missing => return None,
                Known::Unseen => self.find(file).ok()??.records(),
            };
            sum.checked_add(records)
        })
    }

    /// How many bytes a record has on average, in the files whose indices were looked at.
    pub fn mean_bytes(&self) -> Option<u64> {
        let (mut records, mut bytes) = (0_u64, 0_u64);
        for known in &*lock(&self.known) {
            if let Known::Have(index, _) = known {
                records = records.saturating_add(index.records());
                bytes = bytes.saturating_add(index.end());
            }
        }
        bytes.checked_div(records)
    }

    /// For each file the number of records up to its end; what is missing is made.
    ///
    /// # Errors
    /// As [`Indexes::need`].
    pub fn ends(&self) -> Result<Vec<u64>> {
        let mut sum = 0_u64;
        let files = 0..self.files.len();
        let end = |file| {
            sum = sum.saturating_add(self.need(file)?.records());
            Ok(sum)
        };
        files.map(end).collect()
    }
}

fn is_folder(path: &Path) -> bool {
    let text = path.as_os_str().as_encoded_bytes();
    path.is_dir()
        || text.ends_with(b"/")
        || text.ends_with(std::path::MAIN_SEPARATOR_STR.as_bytes())
}

/// One path is the index of one file; a folder has one for each name.
fn check_place(path: &Path, files: &[String]) -> Result<()> {
    if !is_folder(path) {
        if files.len() == 1 || files.is_empty() {
            return Ok(());
        }
        let text = format!(
            "index={:?} is one file, but there are {} files of records",
            path.display().to_string(),
            files.len()
        );
        let hint = "give a folder, with a separator at its end if it is not there yet";
        return Err(Error::invalid_argument(text).with_hint(hint));
    }
    let mut names = HashSet::new();
    let same = files.iter().find(|file| {
        let path = Path::new(file.as_str());
        path.file_name().is_some_and(|name| !names.insert(name))
    });
    match same {
        None => Ok(()),
        Some(file) => {
            let text = format!("two files have the name of {file}, so their indices would be one");
            Err(Error::invalid_argument(text).with_hint("put indices beside the files"))
        }
    }
}
