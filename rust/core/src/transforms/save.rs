//! `Dataset.save`: all elements of a dataset into files, to be read by `Dataset.load`.
//!
//! ```text
//! <path>/snapshot.metadata                         what there is, in JSON; written last
//! <path>/dataset_spec.json                         what the elements look like
//! <path>/<run>/<number>.shard/00000000.snapshot    the elements, a chunk file for each shard
//! ```
//!
//! Each saving makes a run with a name of its own, so that a reader of the one before is left alone
//! until the metadata names the new one. A saving that makes checkpoints can be gone on with: one is
//! made once all that is written so far will stay in the files, and says where the run stood then.

use std::collections::BTreeMap;
use std::fs;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::data::{Chunk, Column, DType, ElementSpec, ForeignValue, Structure, Tensor};
use crate::engine::run::{Caller, RunContext};
use crate::engine::seeds::entropy;
use crate::engine::state::State;
use crate::engine::{Plan, Run, RunOptions};
use crate::error::{Error, Result};
use crate::formats::chunks::{ChunkReader, ChunkWriter, Written};
use crate::formats::saved::{Metadata, Shard};
use crate::io::compress::Compression;

/// Shards that may be open at a time.
const MAX_SHARDS: usize = 1000;

/// What was saved.
pub struct Saved {
    /// The folder of the run.
    pub run: String,
    /// The text of the metadata, which is still to be written.
    pub metadata: String,
    /// What the first elements look like; `None` if there are none.
    pub spec: Option<ElementSpec>,
}

/// Where a saving goes, and how.
pub struct Target<'a> {
    /// The folder.
    pub path: &'a str,
    /// How files are compressed.
    pub compression: Compression,
    /// Whether elements are pairs of a shard's number and what is to be written there.
    pub sharded: bool,
}

/// What makes a saving one that can be gone on with.
pub struct Checkpoints<'a> {
    /// Elements after which one is made, if a chunk has come to its end.
    pub interval: u64,
    /// The text of the one to go on from.
    pub from: Option<&'a str>,
    /// Keeps the text of a checkpoint, and hears how many elements came since the one before.
    pub keep: &'a mut dyn FnMut(&str, u64) -> Result<()>,
}

/// How far a saving has come.
#[derive(Serialize, Deserialize)]
struct Checkpoint {
    id: u64,
    compression: String,
    shards: BTreeMap<u64, Written>,
    state: State,
}

/// Writes the elements of a run of `plan` below a path; `opened` hears of the run, which may be
/// cancelled.
///
/// # Errors
/// The first of an element, or of the files. Nothing of the saving is left then, unless it makes
/// checkpoints.
pub fn save(
    plan: &Plan,
    options: RunOptions,
    surroundings: Option<ForeignValue>,
    target: &Target<'_>,
    checkpoints: Option<Checkpoints<'_>>,
    opened: &dyn Fn(&Arc<RunContext>),
) -> Result<Saved> {
    let caller = Caller { surroundings, lender: None };
    let from = checkpoints.as_ref().and_then(|checkpoints| checkpoints.from);
    let from = from.map(|text| target.checkpoint(text)).transpose()?;
    let mut run = Run::open_within(caller, plan, options, from.as_ref().map(|from| &from.state))?;
    opened(run.context());
    let mut writer = ShardWriter::new(target.path, target.compression);
    if let Some(from) = &from {
        writer.resume(from.id, &from.shards)?;
    }
    let (folder, lasts) = (writer.folder.clone(), checkpoints.is_some());
    let written = match checkpoints {
        Some(checkpoints) => writer.write_with(&mut run, target.sharded, checkpoints),
        None => writer.write(&mut run, target.sharded, |_, _, _| Ok(())),
    };
    written.and_then(|()| writer.finish()).inspect_err(|_| {
        if !lasts {
            let _ = fs::remove_dir_all(&folder);
        }
    })
}

impl Target<'_> {
    fn checkpoint(&self, text: &str) -> Result<Checkpoint> {
        let wrong = |e: serde_json::Error| Error::data_loss(format!("not a checkpoint: {e}"));
        let from: Checkpoint = serde_json::from_str(text).map_err(wrong)?;
        match self.compression.name() {
            name if name == from.compression => Ok(from),
            name => {
                let text = format!(
                    "the checkpoint is of files with compression {:?}, now it is {name:?}",
                    from.compression
                );
                Err(Error::failed_precondition(text).with_hint("delete it to start again"))
            }
        }
    }
}

/// Writes elements to shards in a folder of its own.
pub(super) struct ShardWriter {
    path: String,
    folder: String,
    compression: Compression,
    id: u64,
    shards: BTreeMap<u64, ChunkWriter>,
    spec: Option<ElementSpec>,
}

impl ShardWriter {
    /// A writer of a new run below `path`.
    pub(super) fn new(path: &str, compression: Compression) -> Self {
        let id = entropy();
        let (path, folder) = (path.into(), format!("{path}/{id:016x}"));
        ShardWriter { path, folder, compression, id, shards: BTreeMap::new(), spec: None }
    }

    /// True if there is no shard yet.
    pub(super) fn is_empty(&self) -> bool {
        self.shards.is_empty()
    }

    /// Removes what was written.
    pub(super) fn discard(self) {
        let folder = self.folder.clone();
        drop(self);
        let _ = fs::remove_dir_all(folder);
    }

    /// Goes on with the files of another writer.
    fn resume(&mut self, id: u64, shards: &BTreeMap<u64, Written>) -> Result<()> {
        self.folder = format!("{}/{id:016x}", self.path);
        self.id = id;
        for (number, written) in shards {
            let path = Shard::path(&self.folder, *number);
            let writer = ChunkWriter::resume(&path, self.compression, id, *written);
            let writer = writer.map_err(|error| {
                error.with_hint("delete the checkpoints of the saving to start again")
            })?;
            self.shards.insert(*number, writer);
        }
        Ok(())
    }

    /// Writes all elements of a run; `after` hears of each chunk that is written.
    fn write(
        &mut self,
        run: &mut Run,
        sharded: bool,
        mut after: impl FnMut(&mut Self, &Run, u64) -> Result<()>,
    ) -> Result<()> {
        if !sharded {
            // There is a file even for no elements.
            self.shard(0)?;
        }
        while let Some(chunk) = run.next_chunk()? {
            if sharded {
                let (numbers, chunk) = split(&chunk)?;
                self.divide(&numbers, &chunk)?;
            } else {
                self.push(0, &chunk)?;
            }
            after(self, run, chunk.rows() as u64)?;
        }
        Ok(())
    }

    fn write_with(
        &mut self,
        run: &mut Run,
        sharded: bool,
        checkpoints: Checkpoints<'_>,
    ) -> Result<()> {
        let Checkpoints { interval, keep, .. } = checkpoints;
        let mut since = 0;
        self.write(run, sharded, |writer, run, rows| {
            since += rows;
            if since < interval {
                return Ok(());
            }
            keep(&writer.checkpoint(run)?, std::mem::take(&mut since))
        })?;
        // Saving again finds nothing left to do.
        keep(&self.checkpoint(run)?, since)
    }

    fn checkpoint(&mut self, run: &Run) -> Result<String> {
        let shards = self.shards.iter_mut();
        let shards = shards.map(|(number, writer)| Ok((*number, writer.checkpoint()?)));
        let checkpoint = Checkpoint {
            id: self.id,
            compression: self.compression.name().into(),
            shards: shards.collect::<Result<_>>()?,
            state: run.state(0)?,
        };
        serde_json::to_string(&checkpoint).map_err(|error| Error::internal(error.to_string()))
    }

    /// What the first elements look like, which may have been written by an earlier writer.
    fn seen(&mut self) -> Result<()> {
        let files = self.shards.iter().filter(|(_, writer)| writer.rows() > 0);
        if self.spec.is_none()
            && let Some((number, _)) = files.into_iter().next()
        {
            let path = Shard::path(&self.folder, *number);
            let mut reader = ChunkReader::open(&path, self.compression, None, Some(self.id))?;
            self.spec = reader.next(1)?.map(|chunk| chunk.loose_spec());
        }
        Ok(())
    }

    /// Writes each row to the shard of its number.
    pub(super) fn divide(&mut self, numbers: &[u64], chunk: &Chunk) -> Result<()> {
        let mut rows: BTreeMap<u64, Vec<usize>> = BTreeMap::new();
        for (row, number) in numbers.iter().enumerate() {
            rows.entry(*number).or_default().push(row);
        }
        rows.iter().try_for_each(|(number, rows)| self.push(*number, &chunk.gather(rows)?))
    }

    pub(super) fn push(&mut self, number: u64, chunk: &Chunk) -> Result<()> {
        self.spec.get_or_insert_with(|| chunk.loose_spec());
        self.shard(number)?.push(chunk)
    }

    /// The writer of a shard, which is made if there is none.
    pub(super) fn shard(&mut self, number: u64) -> Result<&mut ChunkWriter> {
        if !self.shards.contains_key(&number) {
            if self.shards.len() == MAX_SHARDS {
                let text = format!("shard_func gives more than {MAX_SHARDS} shards");
                return Err(Error::resource_exhausted(text));
            }
            let path = Shard::path(&self.folder, number);
            let parent = path.rsplit_once('/').map_or("", |(parent, _)| parent);
            fs::create_dir_all(parent).map_err(|e| Error::io(&e, parent))?;
            let writer = ChunkWriter::create(&path, self.compression, self.id)?;
            self.shards.insert(number, writer);
        }
        self.shards.get_mut(&number).ok_or_else(|| Error::internal("a shard is missing"))
    }

    /// Ends all files.
    pub(super) fn finish(mut self) -> Result<Saved> {
        self.seen()?;
        let mut shards = Vec::new();
        for (number, writer) in self.shards {
            let rows = writer.rows();
            let chunks = writer.finish()?;
            // In a compressed file there is nothing to jump to.
            let chunks = if self.compression == Compression::None { chunks } else { Vec::new() };
            shards.push(Shard { number, rows, chunks });
        }
        let metadata = Metadata::new(self.id, self.compression, shards);
        let run = metadata.run();
        Ok(Saved { run, metadata: metadata.to_json()?, spec: self.spec })
    }
}

/// The numbers of the shards, and the elements without them.
pub(super) fn split(chunk: &Chunk) -> Result<(Vec<u64>, Chunk)> {
    let wrong = |got: String| {
        Error::invalid_argument(format!("shard_func must return a scalar int64 >= 0, got {got}"))
    };
    let (Structure::Tuple(items), Some((first, rest))) =
        (&**chunk.structure(), chunk.columns().split_first())
    else {
        return Err(Error::internal("elements without a shard"));
    };
    let [Structure::Leaf, element] = &items[..] else {
        return Err(wrong(format!("elements of structure {}", chunk.structure())));
    };
    let numbers: Vec<i64> = match first {
        Column::Stacked(tensor) if tensor.dims().len() == 1 => integers(tensor)?,
        _ => return Err(wrong(first.describe())),
    };
    let numbers = numbers.into_iter().map(|n| u64::try_from(n).map_err(|_| wrong(n.to_string())));
    let numbers = numbers.collect::<Result<_>>()?;
    let chunk = Chunk::new(chunk.rows(), Arc::new(element.clone()), rest.to_vec())?;
    Ok((numbers, chunk))
}

fn integers(tensor: &Tensor) -> Result<Vec<i64>> {
    match tensor.dtype() {
        DType::Int64 => Ok(tensor.values::<i64>()?.to_vec()),
        DType::Int32 => Ok(tensor.values::<i32>()?.iter().map(|n| i64::from(*n)).collect()),
        dtype => {
            let text = format!("shard_func must return a scalar int64 >= 0, got {dtype}");
            Err(Error::invalid_argument(text))
        }
    }
}
