//! `TextLineDataset`: the lines of text files, one file after another.

use std::sync::Arc;

use super::files::{FileReader, FilesStage, bytes_chunk, filenames};
use crate::data::{Chunk, DType, ElementSpec, Spec};
use crate::engine::node::Arg;
use crate::engine::skipping::{Skipped, skip_by_running};
use crate::engine::{Cardinality, Node, Opening, Plan, Stage};
use crate::error::Result;
use crate::formats::lines::LineReader;
use crate::io::compress::Compression;

/// The lines of some files.
pub struct TextLineNode {
    files: Arc<[String]>,
    compression: Compression,
    buffer_size: Option<usize>,
    spec: ElementSpec,
}

impl TextLineNode {
    /// A plan of the lines of `files` as bytes. Files are opened when their turn comes.
    pub fn plan(files: Vec<String>, compression: Compression, buffer_size: Option<usize>) -> Plan {
        let spec = ElementSpec::leaf(Spec::scalar(DType::Bytes));
        Arc::new(TextLineNode { files: files.into(), compression, buffer_size, spec })
    }
}

impl Node for TextLineNode {
    fn name(&self) -> &'static str {
        "text_line"
    }

    fn args(&self) -> Vec<Arg> {
        vec![filenames(&self.files), Arg::new("compression_type", self.compression.name())]
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

    fn open(&self, opening: &Opening<'_>) -> Result<Box<dyn Stage>> {
        let (compression, buffer_size) = (self.compression, self.buffer_size);
        let open = move |path: &str| -> Box<dyn FileReader> {
            Box::new(LineReader::new(path, compression, buffer_size))
        };
        Ok(Box::new(FilesStage::new(&self.files, Box::new(open), opening.run)))
    }
}

impl FileReader for LineReader {
    fn next(&mut self, max: usize) -> Result<Option<Chunk>> {
        LineReader::next(self, max)?.map(bytes_chunk).transpose()
    }

    fn skip(&mut self, n: u64) -> Skipped {
        skip_by_running(n, |max| FileReader::next(self, max))
    }
}
