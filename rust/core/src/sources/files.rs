//! What the sources that read files have in common: one file after another.

use std::sync::Arc;

use crate::data::{BytesArray, Chunk, Column, DType, Tensor};
use crate::engine::Stage;
use crate::engine::node::Arg;
use crate::engine::opened_files::OpenedFiles;
use crate::engine::run::RunContext;
use crate::engine::skipping::Skipped;
use crate::error::Result;
use crate::graph::hash::Fnv;

/// Reads one file.
pub(super) trait FileReader: Send {
    /// From 1 to `max` elements, or `None` at the end.
    fn next(&mut self, max: usize) -> Result<Option<Chunk>>;

    /// Passes over up to `n` elements, up to an error.
    fn skip(&mut self, n: u64) -> Skipped;
}

/// Opens a file; what is wrong with it comes with its first element.
pub(super) type OpenFile = Box<dyn Fn(&str) -> Box<dyn FileReader> + Send + Sync>;

/// The elements of some files.
pub(super) struct FilesStage {
    paths: Arc<[String]>,
    /// The file after the present one.
    next: usize,
    reader: Option<Box<dyn FileReader>>,
    open: OpenFile,
    opened: Arc<OpenedFiles>,
}

impl FilesStage {
    pub(super) fn new(paths: &Arc<[String]>, open: OpenFile, run: &RunContext) -> Self {
        let (paths, opened) = (Arc::clone(paths), Arc::clone(run.opened_files()));
        FilesStage { paths, next: 0, reader: None, open, opened }
    }

    /// The present file, or the next.
    fn reader(&mut self) -> Option<&mut Box<dyn FileReader>> {
        if self.reader.is_none() {
            let path = self.paths.get(self.next)?;
            self.next += 1;
            self.opened.note(path);
            self.reader = Some((self.open)(path));
        }
        self.reader.as_mut()
    }
}

impl Stage for FilesStage {
    fn next(&mut self, max: usize) -> Result<Option<Chunk>> {
        while let Some(reader) = self.reader() {
            if let Some(chunk) = reader.next(max)? {
                return Ok(Some(chunk));
            }
            self.reader = None;
        }
        Ok(None)
    }

    fn skip(&mut self, n: u64) -> Skipped {
        let mut left = n;
        while left > 0 {
            let Some(reader) = self.reader() else { break };
            match reader.skip(left).map_err(|met| met.after(n - left))? {
                0 => self.reader = None,
                skipped => left -= skipped,
            }
        }
        Ok(n - left)
    }

    fn quiet(&self) -> bool {
        true
    }
}

/// Names of files as an argument: a few words, and different for different files.
pub(super) fn filenames(paths: &[String]) -> Arg {
    let text = match paths {
        [] => "none".into(),
        [only] => only.clone(),
        [first, .., last] => {
            let mut hash = Fnv::default();
            paths.iter().for_each(|path| hash.bytes(path.as_bytes()));
            let (count, hash) = (paths.len(), hash.finish());
            format!("{first} … {last} ({count} files) [{hash:016x}]")
        }
    };
    Arg::new("filenames", text)
}

/// Byte strings as elements.
pub(super) fn bytes_chunk(values: BytesArray) -> Result<Chunk> {
    let dims = [values.len()][..].into();
    Chunk::of_column(Column::Stacked(Tensor::text(DType::Bytes, dims, values)?))
}
