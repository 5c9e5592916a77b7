//! `TFRecordDataset`: the records of TFRecord files, one file after another.

use std::sync::Arc;

use crate::data::{Chunk, Column, DType, ElementSpec, Spec, Tensor};
use crate::engine::node::Arg;
use crate::engine::{Cardinality, Node, Opening, Plan, Stage};
use crate::error::Result;
use crate::formats::tfrecord::{ReadOptions, Reader};
use crate::graph::hash::Fnv;
use crate::io::compress::Compression;

/// The records of some files.
pub struct TfRecordNode {
    files: Arc<[String]>,
    compression: Compression,
    options: ReadOptions,
    spec: ElementSpec,
}

impl TfRecordNode {
    /// A plan of the records of `files` as bytes. Files are opened when their turn comes.
    pub fn plan(files: Vec<String>, compression: Compression, options: ReadOptions) -> Plan {
        let spec = ElementSpec::leaf(Spec::scalar(DType::Bytes));
        Arc::new(TfRecordNode { files: files.into(), compression, options, spec })
    }
}

impl Node for TfRecordNode {
    fn name(&self) -> &'static str {
        "tfrecord"
    }

    fn args(&self) -> Vec<Arg> {
        let files = match &self.files[..] {
            [] => "none".into(),
            [only] => only.clone(),
            [first, .., last] => {
                let mut hash = Fnv::default();
                self.files.iter().for_each(|file| hash.bytes(file.as_bytes()));
                let (count, hash) = (self.files.len(), hash.finish());
                format!("{first} … {last} ({count} files) [{hash:016x}]")
            }
        };
        vec![Arg::new("filenames", files), Arg::new("compression_type", self.compression.name())]
    }

    fn inputs(&self) -> Vec<Plan> {
        Vec::new()
    }

    fn spec(&self) -> &ElementSpec {
        &self.spec
    }

    fn cardinality(&self) -> Cardinality {
        if self.files.is_empty() { Cardinality::Known(0) } else { Cardinality::Unknown }
    }

    fn open(&self, _opening: &Opening<'_>) -> Result<Box<dyn Stage>> {
        let (files, compression, options) =
            (Arc::clone(&self.files), self.compression, self.options);
        Ok(Box::new(TfRecordStage { files, compression, options, next: 0, reader: None }))
    }
}

struct TfRecordStage {
    files: Arc<[String]>,
    compression: Compression,
    options: ReadOptions,
    /// The file after the present one.
    next: usize,
    reader: Option<Reader>,
}

impl TfRecordStage {
    /// The present file's reader, or the next file's; `None` after the last.
    fn reader(&mut self) -> Result<Option<&mut Reader>> {
        if self.reader.is_none() {
            let Some(file) = self.files.get(self.next) else { return Ok(None) };
            self.next += 1;
            self.reader = Some(Reader::open(file, self.compression, self.options)?);
        }
        Ok(self.reader.as_mut())
    }
}

impl Stage for TfRecordStage {
    fn next(&mut self, max: usize) -> Result<Option<Chunk>> {
        while let Some(reader) = self.reader()? {
            if let Some(records) = reader.next(max)? {
                let dims = [records.len()][..].into();
                let tensor = Tensor::text(DType::Bytes, dims, records)?;
                return Chunk::of_column(Column::Stacked(tensor)).map(Some);
            }
            self.reader = None;
        }
        Ok(None)
    }

    fn skip(&mut self, n: u64) -> Result<u64> {
        let mut left = n;
        while left > 0 {
            let Some(reader) = self.reader()? else { break };
            left -= reader.skip(left)?;
            if left > 0 {
                // The file has ended, or cannot be passed over: its error counts as an outcome.
                match reader.next(1) {
                    Ok(None) => self.reader = None,
                    Ok(Some(_)) | Err(_) => left -= 1,
                }
            }
        }
        Ok(n - left)
    }

    fn quiet(&self) -> bool {
        true
    }
}
