//! Where the rows of a cache are kept: in memory that all runs of the node share, or in files.

use std::sync::{Arc, Mutex};

use super::file::{CacheFile, FileFill, FileSink};
use crate::data::kept::{KeptRows, Regroup};
use crate::data::{Chunk, ElementSpec, ForeignValue};
use crate::engine::fills::{CachePlace, Fill};
use crate::engine::lookahead;
use crate::engine::{Plan, lock};
use crate::error::{Error, Result};
use crate::formats::chunks::{ChunkReader, check_kinds};

/// Where the rows are kept.
#[derive(Clone)]
pub enum Home {
    Memory(Arc<Mutex<Option<Arc<MemoryFill>>>>),
    File(Arc<CacheFile>),
}

/// The rows of a whole pass, in memory.
pub struct MemoryFill {
    rows: KeptRows,
    fill: Fill,
    failed: bool,
}

/// A whole pass.
pub enum Filled {
    Memory(Arc<MemoryFill>),
    File(Arc<FileFill>),
}

/// Where the rows of the first pass go.
pub enum Sink {
    Memory(Box<Regroup>, KeptRows),
    File(FileSink),
}

/// The rows of a later pass.
pub enum Source {
    Memory { filled: Arc<MemoryFill>, at: u64 },
    File { filled: Arc<FileFill>, reader: Box<ChunkReader>, at: u64, spec: ElementSpec },
}

impl Home {
    pub fn memory() -> Self {
        Home::Memory(Arc::default())
    }

    pub fn file(name: &str) -> Self {
        Home::File(Arc::new(CacheFile::new(name)))
    }

    /// The file name, as given.
    pub fn name(&self) -> &str {
        match self {
            Home::Memory(_) => "",
            Home::File(file) => file.name(),
        }
    }

    /// The pass that is kept here.
    pub fn filled(&self, place: &CachePlace) -> Result<Option<Filled>> {
        match self {
            Home::Memory(cell) => {
                let own = place.kept().and_then(|kept| kept.downcast::<MemoryFill>().ok());
                let ahead = || lookahead::filled(address(cell))?.downcast::<MemoryFill>().ok();
                let filled = own.or_else(ahead).or_else(|| lock(cell).clone());
                Ok(filled.map(Filled::Memory))
            }
            Home::File(file) => Ok(file.filled()?.map(|filled| Filled::File(Arc::new(filled)))),
        }
    }

    pub fn sink(&self) -> Sink {
        match self {
            Home::Memory(_) => Sink::Memory(Box::default(), KeptRows::default()),
            Home::File(_) => Sink::File(FileSink::default()),
        }
    }

    /// The error of a pass that another process keeps.
    pub fn held(&self) -> Error {
        match self {
            Home::Memory(_) => Error::internal("a cache in memory is held by another process"),
            Home::File(file) => file.held(),
        }
    }
}

/// What tells a cache from others.
fn address<T>(home: &Arc<T>) -> usize {
    Arc::as_ptr(home) as usize
}

impl Filled {
    /// What the pass drew.
    pub fn fill(&self) -> &Fill {
        match self {
            Filled::Memory(filled) => &filled.fill,
            Filled::File(filled) => filled.fill(),
        }
    }

    /// True if elements of it failed.
    pub fn failed(&self) -> bool {
        match self {
            Filled::Memory(filled) => filled.failed,
            Filled::File(filled) => filled.failed(),
        }
    }

    pub fn is_file(&self) -> bool {
        matches!(self, Filled::File(_))
    }

    /// The rows from the first on, as the elements of `plan`.
    pub fn source(&self, plan: &Plan) -> Result<Source> {
        Ok(match self {
            Filled::Memory(filled) => Source::Memory { filled: Arc::clone(filled), at: 0 },
            Filled::File(filled) => {
                let structure = match plan.spec() {
                    ElementSpec::Known(structure, _) => Some(Arc::clone(structure)),
                    ElementSpec::Unknown => None,
                };
                let reader = Box::new(filled.reader(structure)?);
                let (filled, spec) = (Arc::clone(filled), plan.spec().clone());
                Source::File { filled, reader, at: 0, spec }
            }
        })
    }
}

impl Sink {
    /// Makes sure that rows can be kept, before any is asked for.
    pub fn prepare(&mut self, home: &Home) -> Result<()> {
        match (self, home) {
            (Sink::File(sink), Home::File(file)) => sink.prepare(file),
            _ => Ok(()),
        }
    }

    /// Keeps rows; returns how much memory they take by now.
    pub fn push(&mut self, chunk: &Chunk) -> Result<usize> {
        match self {
            Sink::Memory(regroup, rows) => {
                regroup.push(chunk)?.into_iter().for_each(|chunk| rows.push(chunk));
                Ok(rows.payload_bytes() + regroup.payload_bytes())
            }
            Sink::File(sink) => sink.push(chunk).map(|()| 0),
        }
    }

    /// The end of the pass, which is the run's `own` or one that is made again; `None` if somebody
    /// else keeps it. It counts once its end is taken.
    pub fn finish(
        self,
        home: &Home,
        place: &CachePlace,
        fill: Fill,
        own: bool,
        failed: bool,
    ) -> Result<Option<Filled>> {
        match (self, home) {
            (Sink::Memory(mut regroup, mut rows), Home::Memory(cell)) => {
                regroup.finish()?.into_iter().for_each(|chunk| rows.push(chunk));
                // From now on they count here and nowhere else.
                rows.keep();
                let pass = Arc::new(MemoryFill { rows, fill, failed });
                if let Some(first) = home.filled(place)?
                    && (*first.fill() == pass.fill || !place.is_restored())
                {
                    // As in tf.data, the first pass to end is the one that later passes read.
                    place.adopt(first.fill(), own)?;
                    return Ok(Some(first));
                }
                let (kept, at, shared) = (Arc::clone(&pass), place.clone(), Arc::clone(cell));
                let settle = move |counts: bool| {
                    let mut shared = lock(&shared);
                    match &*shared {
                        _ if !counts => {}
                        None => *shared = Some(kept),
                        Some(first) if first.fill != kept.fill && at.is_restored() => at.keep(kept),
                        Some(_) => {}
                    }
                    Ok(())
                };
                let rows = (address(cell), Arc::clone(&pass) as ForeignValue);
                place.fill(&pass.fill, own, rows, settle)?;
                Ok(Some(Filled::Memory(pass)))
            }
            (Sink::File(sink), Home::File(file)) => {
                let writes = sink.is_writing();
                let Some(filled) = sink.finish(file, fill, failed)? else { return Ok(None) };
                let filled = Arc::new(filled);
                if !writes {
                    place.adopt(filled.fill(), own)?;
                    return Ok(Some(Filled::File(filled)));
                }
                let (kept, at) = (Arc::clone(&filled), Arc::clone(file));
                let settle = move |counts| if counts { Ok(()) } else { at.remove(&kept) };
                let rows = (address(file), Arc::clone(&filled) as ForeignValue);
                if let Err(error) = place.fill(filled.fill(), own, rows, settle) {
                    // It was left just now.
                    file.remove(&filled)?;
                    return Err(error);
                }
                Ok(Some(Filled::File(filled)))
            }
            _ => Err(Error::internal("a cache kept in two ways")),
        }
    }
}

impl Source {
    /// Memory of the rows, as far as they are in memory.
    pub fn kept_bytes(&self) -> usize {
        match self {
            Source::Memory { filled, .. } => filled.rows.payload_bytes(),
            Source::File { .. } => 0,
        }
    }

    /// Number of the next row.
    pub fn at(&self) -> u64 {
        match self {
            Source::Memory { at, .. } | Source::File { at, .. } => *at,
        }
    }

    pub fn next(&mut self, max: usize) -> Result<Option<Chunk>> {
        let (chunk, at) = match self {
            Source::Memory { filled, at } => (filled.rows.rows(*at, max)?, at),
            Source::File { filled, at, .. } if *at >= filled.rows() => (None, at),
            Source::File { filled, reader, at, spec } => {
                let left = usize::try_from(filled.rows() - *at).unwrap_or(usize::MAX);
                let chunk = reader.next(max.min(left))?.ok_or_else(|| filled.too_short())?;
                check_kinds(&chunk, spec).map_err(|e| filled.stale(e))?;
                (Some(chunk), at)
            }
        };
        *at += chunk.as_ref().map_or(0, |chunk| chunk.rows() as u64);
        Ok(chunk)
    }

    pub fn skip(&mut self, n: u64) -> Result<u64> {
        let (skipped, at) = match self {
            Source::Memory { filled, at } => (n.min(filled.rows.len() - *at), at),
            Source::File { filled, reader, at, .. } => {
                let n = n.min(filled.rows() - *at);
                // Nothing is opened to pass over nothing, or to stand at the end.
                if n > 0 && *at + n < filled.rows() {
                    reader.skip(n, *at, filled.chunks())?;
                }
                (n, at)
            }
        };
        *at += skipped;
        Ok(skipped)
    }
}
