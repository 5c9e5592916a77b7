//! Indices of TFRecord files, made ahead.

use std::path::Path;
use std::time::{Duration, Instant};

use headrace::formats::tfrecord::index::{Sidecar, detect, ensure, verify};
use headrace::io::compress::Compression;
use pyo3::prelude::*;

use crate::call::attached;
use crate::enter::enter;
use crate::errors::Result;
use headrace::engine::wait::poll_if_due;

/// Time between two reports of progress.
const REPORT: Duration = Duration::from_millis(100);

/// Makes the index of a file, or verifies it: where it is, the number of records, whether it was
/// made now. The compression `"auto"` is told by the first bytes.
#[pyfunction]
#[pyo3(signature = (path, compression_type, into, force, check, progress))]
pub(crate) fn index_tfrecord(
    py: Python<'_>,
    path: &str,
    compression_type: Option<&str>,
    into: Option<&str>,
    force: bool,
    check: bool,
    progress: Option<Py<PyAny>>,
) -> Result<(String, u64, bool)> {
    let named = match compression_type {
        Some("auto") => None,
        name => Some(Compression::from_name(name)?),
    };
    let place = match into {
        Some(folder) => Sidecar::within(Path::new(folder), path),
        None => Sidecar::beside(path),
    };
    enter(py, || {
        let compression = named.map_or_else(|| detect(path), Ok)?;
        let mut told = Instant::now();
        let mut poll = |bytes: u64| {
            poll_if_due()?;
            match &progress {
                Some(progress) if told.elapsed() >= REPORT => {
                    told = Instant::now();
                    attached(|py| Ok(progress.call1(py, (bytes,)).map(drop)?))
                }
                _ => Ok(()),
            }
        };
        let (index, made) = match check {
            true => (verify(path, compression, &place, &mut poll)?, false),
            false => {
                let ensured = ensure(path, compression, &place, force, &mut poll)?;
                (ensured.index, ensured.made)
            }
        };
        Ok((place.path().to_string_lossy().into_owned(), index.records(), made))
    })
}
