//! `Dataset.snapshot` with functions that choose shards and how they are read.
//!
//! The first pass hands its elements on as they come and writes each to the shard that was chosen.
//! Later passes are what the reader's function makes of the shards, in whatever order that gives. So
//! a run's state says which of the two a pass was, and a restored one goes on in the same way.
//!
//! The files lie in a folder below the path, named by a fingerprint of the pipeline, in the form of
//! `Dataset.save`.

use std::fs;
use std::path::Path;
use std::sync::{Arc, OnceLock};

use super::save::{ShardWriter, split};
use crate::data::mark::MarkBody;
use crate::data::{BytesArray, Chunk, Column, DType, ElementSpec, Mark, Position, Spec};
use crate::data::{Structure, Tensor};
use crate::engine::apply::{Apply, code_arg};
use crate::engine::fills::{CachePlace, Fill};
use crate::engine::fingerprint::fingerprint;
use crate::engine::nested::{Nested, plan_in};
use crate::engine::node::Arg;
use crate::engine::skipping::{passed, skip_by_running};
use crate::engine::{Cardinality, Input, Node, Opening, Plan, Skipped, Stage};
use crate::error::{Error, ErrorKind, Result};
use crate::formats::saved::Metadata;
use crate::graph::call::UserFunction;
use crate::io::compress::Compression;
use crate::io::lock::{Claim, LockFile};

/// A plan whose elements are kept in shards.
pub struct ShardedSnapshotNode {
    /// What is kept, for its spec and fingerprint.
    origin: Plan,
    /// The elements, with the number of its shard before each if `sharded`.
    input: Plan,
    path: String,
    compression: Compression,
    sharded: bool,
    reader: Arc<dyn UserFunction>,
    folder: OnceLock<String>,
}

impl ShardedSnapshotNode {
    /// A plan that keeps the elements of `input` below `path`. With `sharded`, `input` is a map that
    /// has put the number of its shard before each. `reader` makes of a folder and its number of
    /// shards the dataset of later passes.
    pub fn plan(
        input: Plan,
        path: String,
        compression: Compression,
        sharded: bool,
        reader: Arc<dyn UserFunction>,
    ) -> Plan {
        let (folder, below) = (OnceLock::new(), input.inputs());
        let origin = Arc::clone(below.first().filter(|_| sharded).unwrap_or(&input));
        Arc::new(ShardedSnapshotNode { origin, input, path, compression, sharded, reader, folder })
    }

    fn folder(&self) -> &str {
        // Made when it is needed: the fingerprint reads all data that was given.
        self.folder
            .get_or_init(|| format!("{}/{:016x}-shards", self.path, fingerprint(&self.origin)))
    }
}

/// What the reader's function gets: the folder and the number of shards.
fn place_spec() -> ElementSpec {
    let pair = Structure::Tuple(vec![Structure::Leaf, Structure::Leaf]);
    let specs = [Spec::scalar(DType::Str), Spec::scalar(DType::Int64)];
    ElementSpec::Known(Arc::new(pair), specs.into())
}

impl Node for ShardedSnapshotNode {
    fn name(&self) -> &'static str {
        "snapshot"
    }

    fn args(&self) -> Vec<Arg> {
        vec![
            Arg::tuning("path", &self.path),
            Arg::tuning("compression", self.compression.name()),
            Arg::new("sharded", self.sharded),
            code_arg("reader_func", &self.reader),
        ]
    }

    fn inputs(&self) -> Vec<Plan> {
        vec![Arc::clone(&self.input)]
    }

    fn spec(&self) -> &ElementSpec {
        self.origin.spec()
    }

    fn cardinality(&self) -> Cardinality {
        // That of the first pass, as in tf.data: a reader may give other elements.
        self.origin.cardinality()
    }

    fn observable(&self) -> bool {
        true
    }

    fn nests(&self) -> bool {
        true
    }

    fn function(&self) -> Option<&Arc<dyn UserFunction>> {
        Some(&self.reader)
    }

    fn open(&self, opening: &Opening<'_>) -> Result<Box<dyn Stage>> {
        let folder = self.folder().to_owned();
        let saved = match Metadata::read(&folder) {
            Ok(saved) => Some(saved),
            Err(error) if error.kind() == ErrorKind::NotFound => None,
            Err(error) => return Err(error.with_hint("delete the snapshot's files")),
        };
        let place = opening.cache_place(&self.input);
        let nested = opening.nested(0, &self.reader);
        let known = place.adopted().is_some();
        let reads = match opening.mark.own(0) {
            FIRST => false,
            LATER => true,
            // What a restored run does not know of was not there when its state was taken.
            _ => known || (saved.is_some() && !place.is_restored()),
        };
        let phase = match saved {
            Some(saved) if reads => {
                place.adopt(&Fill::default(), false)?;
                let function = opening.function(&self.reader, &place_spec())?;
                let (site, stage) = (opening.site(0, &self.reader), "snapshot");
                let work = Apply { function, site, stage, declared: None, counts: false };
                let before = nested.openings();
                Phase::Read { input: open_shards(&work, &nested, &folder, &saved)?, before }
            }
            None if reads => {
                let text = "the snapshot that the run read is gone";
                return Err(Error::failed_precondition(text).at_file(&folder));
            }
            saved => Phase::Write {
                input: opening.input(0, &self.input)?,
                sink: if saved.is_some() { Sink::None } else { Sink::Unclaimed },
            },
        };
        Ok(Box::new(SnapshotStage {
            folder,
            place,
            compression: self.compression,
            sharded: self.sharded,
            slot: opening.slot(),
            phase,
            begins: true,
        }))
    }
}

/// A pass that hands on the elements of its input.
const FIRST: u64 = 1;
/// A pass that reads what is kept.
const LATER: u64 = 2;

fn open_shards(work: &Apply, nested: &Nested, folder: &str, saved: &Metadata) -> Result<Input> {
    let count = Tensor::from_values(&[1], &[saved.shards.len() as i64])?;
    let name = Tensor::text(DType::Str, [1][..].into(), BytesArray::from_values([folder])?)?;
    let pair = Arc::new(Structure::Tuple(vec![Structure::Leaf, Structure::Leaf]));
    let chunk = Chunk::new(1, pair, vec![Column::Stacked(name), Column::Stacked(count)])?;
    let outcome = work.outcomes(&chunk, 0).into_iter().next();
    let (_, made) = outcome.ok_or_else(|| Error::internal("a function gave no result"))??;
    let [column] = made.columns() else {
        return Err(Error::invalid_argument("`reader_func` must return a `Dataset` object"));
    };
    nested.open(&plan_in(column)?)
}

enum Phase {
    Write {
        input: Input,
        sink: Sink,
    },
    Read {
        input: Input,
        /// Plans that the stage had opened before this one.
        before: u64,
    },
    Done,
}

/// Where the elements of a first pass go.
enum Sink {
    /// Nobody has been asked yet.
    Unclaimed,
    /// Into files.
    Files(Box<Writing>),
    /// Nowhere: somebody else writes them, or has.
    None,
}

struct Writing {
    writer: Option<ShardWriter>,
    _lock: LockFile,
    process: u32,
}

impl Drop for Writing {
    fn drop(&mut self) {
        let Some(writer) = self.writer.take() else { return };
        if self.process != std::process::id() {
            // A forked child: what it has in memory is its parent's to write.
            std::mem::forget(writer);
            return;
        }
        writer.discard();
    }
}

struct SnapshotStage {
    folder: String,
    place: CachePlace,
    compression: Compression,
    sharded: bool,
    slot: usize,
    phase: Phase,
    /// Nothing was handed out yet.
    begins: bool,
}

impl SnapshotStage {
    /// Claims the folder before the first element is asked for.
    fn claim(folder: &str, compression: Compression) -> Result<Sink> {
        fs::create_dir_all(folder).map_err(|e| Error::io(&e, folder))?;
        Ok(match LockFile::claim(&format!("{folder}/lockfile"))? {
            Claim::Taken(lock) if !Path::new(&format!("{folder}/snapshot.metadata")).exists() => {
                let writer = Some(ShardWriter::new(folder, compression));
                let process = std::process::id();
                Sink::Files(Box::new(Writing { writer, _lock: lock, process }))
            }
            _ => Sink::None,
        })
    }

    fn push(sink: &mut Sink, chunk: Chunk, sharded: bool) -> Result<Chunk> {
        let writer = match sink {
            Sink::Files(writing) => writing.writer.as_mut(),
            _ => None,
        };
        if !sharded {
            writer.map_or(Ok(()), |writer| writer.push(0, &chunk))?;
            return Ok(chunk);
        }
        let (numbers, elements) = split(&chunk)?;
        writer.map_or(Ok(()), |writer| writer.divide(&numbers, &elements))?;
        Ok(elements)
    }

    /// The end of a first pass.
    fn finish(&mut self) -> Result<()> {
        let Phase::Write { input, sink } = std::mem::replace(&mut self.phase, Phase::Done) else {
            return Ok(());
        };
        drop(input);
        self.place.adopt(&Fill::default(), true)?;
        let Sink::Files(mut writing) = sink else { return Ok(()) };
        let Some(mut writer) = writing.writer.take() else { return Ok(()) };
        if writer.is_empty() {
            writer.shard(0)?;
        }
        let saved = writer.finish()?;
        let path = format!("{}/snapshot.metadata", self.folder);
        let partial = format!("{path}.partial");
        fs::write(&partial, saved.metadata).map_err(|e| Error::io(&e, &partial))?;
        fs::rename(&partial, &path).map_err(|e| Error::io(&e, &path))
    }
}

impl Stage for SnapshotStage {
    fn next(&mut self, max: usize) -> Result<Option<Chunk>> {
        let mark = if self.begins { self.state() } else { None };
        let next = match &mut self.phase {
            Phase::Done => return Ok(None),
            Phase::Read { input, .. } => input.next(max),
            Phase::Write { input, sink } => {
                if matches!(sink, Sink::Unclaimed) {
                    *sink = Self::claim(&self.folder, self.compression)?;
                }
                match input.next(max) {
                    Ok(Some(chunk)) => Self::push(sink, chunk, self.sharded).map(Some),
                    other => other,
                }
            }
        };
        match next {
            Ok(Some(chunk)) => {
                self.begins = false;
                Ok(Some(chunk.marked(mark)))
            }
            Ok(None) => self.finish().map(|()| None),
            Err(error) => {
                self.begins = false;
                Err(error)
            }
        }
    }

    fn skip(&mut self, n: u64) -> Skipped {
        match &mut self.phase {
            Phase::Read { input, .. } => {
                let skipped = input.skip(n);
                self.begins &= passed(&skipped) == 0;
                skipped
            }
            _ => skip_by_running(n, |max| self.next(max)),
        }
    }

    fn state(&self) -> Option<Mark> {
        let (pass, draws) = match &self.phase {
            Phase::Write { .. } if self.begins => (FIRST, Vec::new()),
            Phase::Read { before, .. } if self.begins => (LATER, vec![(self.slot, *before)]),
            _ => return None,
        };
        let own = [pass].into_iter().collect();
        let inputs = vec![Position::default()];
        Some(Mark(Some(Arc::new(MarkBody { own, inputs, draws, ..MarkBody::default() }))))
    }

    fn quiet(&self) -> bool {
        false
    }
}
