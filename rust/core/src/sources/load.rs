//! `Dataset.load`: the elements of a saved dataset.
//!
//! Of several shards, one element of each is taken in turn, as tf.data interleaves them.

use std::sync::Arc;

use crate::data::{Chunk, ElementSpec};
use crate::engine::node::Arg;
use crate::engine::skipping::skip_by_running;
use crate::engine::{Cardinality, Node, Opening, Plan, Skipped, Stage};
use crate::error::{Error, Result};
use crate::formats::chunks::{ChunkReader, check_kinds};
use crate::formats::saved::{Metadata, Shard};

/// Most elements that are taken from several shards at once.
const CHUNK_ROWS: usize = 1024;

/// A saved dataset.
pub struct LoadNode {
    folder: String,
    spec: ElementSpec,
    /// The place of the one shard that is read; `None`: all of them.
    shard: Option<usize>,
    rows: u64,
}

impl LoadNode {
    /// A plan of the elements that were saved in `folder` and look like `spec`: all, or those of
    /// one shard by its place. The metadata is read now, the elements when they are asked for.
    ///
    /// # Errors
    /// `NotFound` if nothing was saved there.
    pub fn plan(folder: &str, spec: ElementSpec, shard: Option<usize>) -> Result<Plan> {
        let metadata = Metadata::read(folder)?;
        let rows = match shard {
            None => metadata.rows(),
            Some(place) => metadata.shards.get(place).map_or(0, |shard| shard.rows),
        };
        Ok(Arc::new(LoadNode { folder: folder.into(), spec, shard, rows }))
    }
}

impl Node for LoadNode {
    fn name(&self) -> &'static str {
        "load"
    }

    fn args(&self) -> Vec<Arg> {
        let mut args = vec![Arg::new("path", &self.folder)];
        args.extend(self.shard.map(|shard| Arg::new("shard", shard)));
        args
    }

    fn inputs(&self) -> Vec<Plan> {
        Vec::new()
    }

    fn spec(&self) -> &ElementSpec {
        &self.spec
    }

    fn cardinality(&self) -> Cardinality {
        Cardinality::Known(self.rows)
    }

    fn is_indexable(&self) -> bool {
        true
    }

    fn open(&self, _opening: &Opening<'_>) -> Result<Box<dyn Stage>> {
        let (folder, spec) = (self.folder.clone(), self.spec.clone());
        let shard = self.shard;
        Ok(Box::new(LoadStage { folder, spec, shard, open: None, done: false }))
    }
}

struct LoadStage {
    folder: String,
    spec: ElementSpec,
    shard: Option<usize>,
    /// The shards that have elements left, and whose turn it is.
    open: Option<(Vec<Reading>, usize)>,
    done: bool,
}

struct Reading {
    shard: Shard,
    reader: ChunkReader,
    at: u64,
}

impl LoadStage {
    fn open(&mut self) -> Result<&mut (Vec<Reading>, usize)> {
        if self.open.is_none() {
            let metadata = Metadata::read(&self.folder)?;
            let compression = metadata.compression()?;
            let structure = match &self.spec {
                ElementSpec::Known(structure, _) => Some(Arc::clone(structure)),
                ElementSpec::Unknown => None,
            };
            let run = format!("{}/{}", self.folder, metadata.run());
            let mut shards = Vec::new();
            for (place, shard) in metadata.shards.into_iter().enumerate() {
                if shard.rows == 0 || self.shard.is_some_and(|wanted| wanted != place) {
                    continue;
                }
                let path = Shard::path(&run, shard.number);
                let (id, own) = (Some(metadata.id), structure.clone());
                let reader = ChunkReader::open(&path, compression, own, id)?;
                shards.push(Reading { shard, reader, at: 0 });
            }
            self.open = Some((shards, 0));
        }
        self.open.as_mut().ok_or_else(|| Error::internal("shards that are not open"))
    }

    fn take(&mut self, max: usize) -> Result<Option<Chunk>> {
        let (shards, turn) = self.open()?;
        match &mut shards[..] {
            [] => Ok(None),
            [only] => {
                let chunk = only.next(max)?;
                if only.at == only.shard.rows {
                    shards.clear();
                }
                Ok(Some(chunk))
            }
            _ => {
                let mut rows = Vec::new();
                while rows.len() < max.clamp(1, CHUNK_ROWS) && !shards.is_empty() {
                    let reading = &mut shards[*turn];
                    rows.push(reading.next(1)?);
                    match reading.at == reading.shard.rows {
                        true => drop(shards.remove(*turn)),
                        false => *turn += 1,
                    }
                    *turn = if *turn >= shards.len() { 0 } else { *turn };
                }
                Chunk::concat(rows).map(Some)
            }
        }
    }
}

impl Reading {
    fn next(&mut self, max: usize) -> Result<Chunk> {
        let left = usize::try_from(self.shard.rows - self.at).unwrap_or(usize::MAX);
        let chunk = self.reader.next(max.min(left))?;
        let chunk = chunk.ok_or_else(|| Error::data_loss("fewer elements than were saved"))?;
        self.at += chunk.rows() as u64;
        Ok(chunk)
    }
}

impl Stage for LoadStage {
    fn next(&mut self, max: usize) -> Result<Option<Chunk>> {
        if self.done {
            return Ok(None);
        }
        let taken = self.take(max).and_then(|chunk| match chunk {
            Some(chunk) => {
                let hint = "pass the element_spec of what was saved";
                check_kinds(&chunk, &self.spec).map_err(|e| e.with_hint(hint))?;
                Ok(Some(chunk))
            }
            None => Ok(None),
        });
        // What follows an error cannot be found.
        self.done = taken.is_err();
        taken.map_err(|e| e.at_file(&self.folder))
    }

    fn skip(&mut self, n: u64) -> Skipped {
        if self.done {
            return Ok(0);
        }
        let (shards, _) = self.open()?;
        if let [only] = &mut shards[..] {
            let skipped = n.min(only.shard.rows - only.at);
            if skipped > 0 && only.at + skipped < only.shard.rows {
                only.reader.skip(skipped, only.at, &only.shard.chunks)?;
            }
            only.at += skipped;
            if only.at == only.shard.rows {
                shards.clear();
            }
            return Ok(skipped);
        }
        skip_by_running(n, |max| self.next(max))
    }

    fn quiet(&self) -> bool {
        true
    }
}
