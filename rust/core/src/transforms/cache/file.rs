//! A cache in files: rows in `<name>.data-00000-of-00001`, and `<name>.index`, which says where they
//! lie and comes last, in one piece. While a pass is written there is `<name>_0.lockfile`; what is
//! not finished has another name and is never read.

use std::fs;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::data::{Chunk, Structure};
use crate::engine::fills::Fill;
use crate::engine::seeds::entropy;
use crate::error::{Error, ErrorKind, Result};
use crate::formats::chunks::{ChunkReader, ChunkWriter};
use crate::formats::tfrecord::{ReadOptions, Reader, Writer, WriterOptions};
use crate::io::compress::Compression;
use crate::io::lock::{Claim, LockFile};

const FORMAT: &str = "headrace cache";
const VERSION: u32 = 1;

/// The files of one cache.
pub struct CacheFile {
    name: String,
    data: String,
    index: String,
    lock: String,
    compression: Compression,
    /// Whether a second writer in this process is an error.
    exclusive: bool,
}

/// What the index says.
#[derive(Serialize, Deserialize)]
struct Index {
    format: String,
    version: u32,
    /// The number that the data's header has.
    id: u64,
    compression: String,
    rows: u64,
    bytes: u64,
    /// Number of the row after each chunk, and where that chunk starts; not if compressed.
    chunks: Vec<(u64, u64)>,
    /// What the pass drew below.
    fill: Fill,
    failed: bool,
}

/// A whole pass, in a file.
pub struct FileFill {
    data: String,
    index: Index,
}

/// Where the rows of a pass go.
#[derive(Default)]
pub enum FileSink {
    /// Nobody has been asked yet.
    #[default]
    Unclaimed,
    /// Into the file.
    Writing(Box<Writing>),
    /// Nowhere: another process is writing them.
    Passing,
}

/// A file that is being written.
pub struct Writing {
    path: String,
    id: u64,
    writer: Option<ChunkWriter>,
    _lock: LockFile,
    process: u32,
}

impl CacheFile {
    /// The files of `Dataset.cache`, whose names begin with `name`.
    pub fn new(name: &str) -> Self {
        CacheFile {
            name: name.into(),
            data: format!("{name}.data-00000-of-00001"),
            index: format!("{name}.index"),
            lock: format!("{name}_0.lockfile"),
            compression: Compression::None,
            exclusive: true,
        }
    }

    /// The files of `Dataset.snapshot`, in a folder of their own.
    pub fn in_folder(folder: &str, compression: Compression) -> Self {
        CacheFile {
            name: folder.into(),
            data: format!("{folder}/00000000.shard/00000000.snapshot"),
            index: format!("{folder}/snapshot.metadata"),
            lock: format!("{folder}/lockfile"),
            compression,
            exclusive: false,
        }
    }

    pub fn name(&self) -> &str {
        &self.name
    }

    /// The pass that the files hold, if there is a whole one.
    pub fn filled(&self) -> Result<Option<FileFill>> {
        let (path, data) = (&self.index, &self.data);
        let index = match read_index(path) {
            Ok(index) => index,
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(error.at_file(path).with_hint("delete the cache's files")),
        };
        let bytes = fs::metadata(data).map_err(|e| Error::io(&e, data))?.len();
        if bytes != index.bytes {
            let text =
                format!("the cache's file has {bytes} bytes, its index says {}", index.bytes);
            return Err(Error::data_loss(text).at_file(data).with_hint("delete both"));
        }
        Ok(Some(FileFill { data: data.clone(), index }))
    }

    /// Takes back a pass that nobody has read to its end, unless another has come in its place.
    pub fn remove(&self, filled: &FileFill) -> Result<()> {
        if self.filled()?.is_some_and(|now| now.index.id == filled.index.id) {
            for path in [&self.index, &self.data] {
                fs::remove_file(path).map_err(|e| Error::io(&e, path))?;
            }
        }
        Ok(())
    }

    /// The error of a second writer.
    pub fn held(&self) -> Error {
        let text = format!(
            "There appears to be a concurrent caching iterator running - cache lockfile already \
             exists ('{}'). If you are sure no other running computations are using this cache \
             prefix, delete the lockfile and re-initialize the iterator",
            self.lock
        );
        Error::new(ErrorKind::AlreadyExists, text)
    }
}

fn read_index(path: &str) -> Result<Index> {
    let mut reader = Reader::open(path, Compression::None, ReadOptions::default())?;
    let record = reader.next(1)?;
    let record = record.ok_or_else(|| Error::data_loss("the index of a cache is empty"))?;
    let index: Index = serde_json::from_slice(record.get(0))
        .map_err(|_| Error::data_loss("not the index of a headrace cache"))?;
    if index.format != FORMAT || index.version != VERSION {
        let text = format!("a cache of {:?}, version {}", index.format, index.version);
        return Err(Error::failed_precondition(text));
    }
    Ok(index)
}

impl FileFill {
    pub fn fill(&self) -> &Fill {
        &self.index.fill
    }

    pub fn failed(&self) -> bool {
        self.index.failed
    }

    pub fn rows(&self) -> u64 {
        self.index.rows
    }

    pub fn chunks(&self) -> &[(u64, u64)] {
        &self.index.chunks
    }

    pub fn reader(&self, structure: Option<Arc<Structure>>) -> Result<ChunkReader> {
        let compression = Compression::of_elements(Some(&self.index.compression))?;
        ChunkReader::open(&self.data, compression, structure, Some(self.index.id))
    }

    pub fn too_short(&self) -> Error {
        Error::data_loss("fewer elements than the index says").at_file(&self.data)
    }

    /// Adds what to do about a cache of other elements.
    pub fn stale(&self, error: Error) -> Error {
        error.at_file(&self.data).with_hint("the cache is of another pipeline: delete its files")
    }
}

impl FileSink {
    /// True if the rows go into files.
    pub fn is_writing(&self) -> bool {
        matches!(self, FileSink::Writing(_))
    }

    /// Claims the files before the first row is asked for.
    pub fn prepare(&mut self, file: &CacheFile) -> Result<()> {
        if let FileSink::Unclaimed = self {
            for path in [&file.lock, &file.data].into_iter().filter(|_| !file.exclusive) {
                let folder = path.rsplit_once('/').map_or("", |(folder, _)| folder);
                fs::create_dir_all(folder).map_err(|e| Error::io(&e, folder))?;
            }
            *self = match LockFile::claim(&file.lock)? {
                Claim::HeldHere if file.exclusive => return Err(file.held()),
                Claim::HeldHere | Claim::HeldElsewhere => FileSink::Passing,
                // Somebody finished since this pass began: that one stays.
                Claim::Taken(_) if file.filled()?.is_some() => FileSink::Passing,
                Claim::Taken(lock) => FileSink::Writing(Box::new(Writing::begin(file, lock)?)),
            };
        }
        Ok(())
    }

    pub fn push(&mut self, chunk: &Chunk) -> Result<()> {
        match self {
            FileSink::Writing(writing) => match &mut writing.writer {
                Some(writer) => writer.push(chunk),
                None => Err(Error::internal("a cache's file is closed")),
            },
            FileSink::Unclaimed | FileSink::Passing => Ok(()),
        }
    }

    /// Ends the files; `None` if another process writes them.
    pub fn finish(
        mut self,
        file: &CacheFile,
        fill: Fill,
        failed: bool,
    ) -> Result<Option<FileFill>> {
        self.prepare(file)?;
        match self {
            FileSink::Writing(writing) => writing.finish(file, fill, failed).map(Some),
            FileSink::Unclaimed | FileSink::Passing => file.filled(),
        }
    }
}

impl Writing {
    fn begin(file: &CacheFile, lock: LockFile) -> Result<Self> {
        let (path, id) = (format!("{}.partial", file.data), entropy());
        let writer = Some(ChunkWriter::create(&path, file.compression, id)?);
        Ok(Writing { path, id, writer, _lock: lock, process: std::process::id() })
    }

    fn finish(mut self, file: &CacheFile, fill: Fill, failed: bool) -> Result<FileFill> {
        let writer = self.writer.take();
        let writer = writer.ok_or_else(|| Error::internal("a cache's file is closed"))?;
        let rows = writer.rows();
        let chunks = writer.finish()?;
        // In a compressed file there is nothing to jump to.
        let chunks = if file.compression == Compression::None { chunks } else { Vec::new() };
        let compression = file.compression.name().into();
        let bytes = fs::metadata(&self.path).map_err(|e| Error::io(&e, &self.path))?.len();
        let (format, version, id) = (FORMAT.into(), VERSION, self.id);
        let index = Index { format, version, id, compression, rows, bytes, chunks, fill, failed };
        let text = serde_json::to_vec(&index).map_err(|e| Error::internal(e.to_string()))?;
        rename(&self.path, &file.data)?;
        let partial = format!("{}.partial", file.index);
        let mut writer = Writer::create(&partial, WriterOptions::default())?;
        writer.write(&text)?;
        writer.close()?;
        rename(&partial, &file.index)?;
        Ok(FileFill { data: file.data.clone(), index })
    }
}

fn rename(from: &str, to: &str) -> Result<()> {
    fs::rename(from, to).map_err(|e| Error::io(&e, to))
}

impl Drop for Writing {
    fn drop(&mut self) {
        let writer = self.writer.take();
        if self.process != std::process::id() {
            // A forked child: what it has in memory is its parent's to write.
            std::mem::forget(writer);
            return;
        }
        if writer.is_some() {
            drop(writer);
            let _ = fs::remove_file(&self.path);
        }
    }
}
