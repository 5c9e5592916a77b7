//! `FixedLengthRecordDataset`: records of one length between a header and a footer.

use std::sync::Arc;

use super::files::{FileReader, FilesStage, bytes_chunk, filenames};
use crate::data::bytes::View;
use crate::data::{BytesArray, Chunk, DType, ElementSpec, Spec};
use crate::engine::node::Arg;
use crate::engine::skipping::{SkipError, Skipped};
use crate::engine::{Cardinality, Node, Opening, Plan, Stage};
use crate::error::{Error, Result};
use crate::io::compress::Compression;
use crate::io::window::{BLOCK_BYTES, Window};

/// Payload after which a call hands out what it has.
const CHUNK_BYTES: u64 = 1 << 20;

/// How files are divided, in bytes.
#[derive(Clone, Copy, Debug)]
pub struct Layout {
    /// Before the first record.
    pub header: u64,
    /// Each record.
    pub record: u64,
    /// After the last record.
    pub footer: u64,
}

/// The records of some files.
pub struct FixedLengthNode {
    files: Arc<[String]>,
    layout: Layout,
    compression: Compression,
    buffer_size: Option<usize>,
    spec: ElementSpec,
}

impl FixedLengthNode {
    /// A plan of the records of `files` as bytes. Files are opened when their turn comes.
    ///
    /// # Errors
    /// `InvalidArgument` for records without bytes.
    pub fn plan(
        files: Vec<String>,
        layout: Layout,
        compression: Compression,
        buffer_size: Option<usize>,
    ) -> Result<Plan> {
        if layout.record == 0 {
            return Err(Error::invalid_argument("record_bytes must be greater than 0"));
        }
        let spec = ElementSpec::leaf(Spec::scalar(DType::Bytes));
        let files = files.into();
        Ok(Arc::new(FixedLengthNode { files, layout, compression, buffer_size, spec }))
    }
}

impl Node for FixedLengthNode {
    fn name(&self) -> &'static str {
        "fixed_length_record"
    }

    fn args(&self) -> Vec<Arg> {
        vec![
            filenames(&self.files),
            Arg::new("record_bytes", self.layout.record),
            Arg::new("header_bytes", self.layout.header),
            Arg::new("footer_bytes", self.layout.footer),
            Arg::new("compression_type", self.compression.name()),
        ]
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
        let (layout, compression) = (self.layout, self.compression);
        let block_bytes = self.buffer_size.unwrap_or(BLOCK_BYTES).clamp(1, 64 << 20);
        let open = move |path: &str| -> Box<dyn FileReader> {
            let path = path.into();
            let (window, record, done) = (None, 0, false);
            Box::new(FixedReader { path, layout, compression, block_bytes, window, record, done })
        };
        Ok(Box::new(FilesStage::new(&self.files, Box::new(open), opening.run)))
    }
}

struct FixedReader {
    path: Arc<str>,
    layout: Layout,
    compression: Compression,
    block_bytes: usize,
    window: Option<Window>,
    record: u64,
    done: bool,
}

impl FixedReader {
    /// The window, past the header.
    fn open(&mut self) -> Result<Window> {
        if let Some(window) = self.window.take() {
            return Ok(window);
        }
        let mut window = Window::open(&self.path, self.compression, self.block_bytes)?;
        if self.compression == Compression::None {
            // Of a file whose length is known all is said before the first record.
            self.check_length(window.file().len())?;
        }
        if !window.hop(self.layout.header)? {
            window.take_error().map_or(Ok(()), Err)?;
            let all = window.available() as u64;
            self.check_length(all)?;
        }
        Ok(window)
    }

    fn check_length(&self, length: u64) -> Result<()> {
        let Layout { header, record, footer } = self.layout;
        let around = header.saturating_add(footer);
        if length >= around && (length - around).is_multiple_of(record) {
            return Ok(());
        }
        let path = &self.path;
        let body = match length.checked_sub(around) {
            Some(body) => format!("has body length {body} bytes"),
            None => format!("of {length} bytes has no body"),
        };
        Err(Error::invalid_argument(format!(
            "Excluding the header ({header} bytes) and footer ({footer} bytes), input file \
             \"{path}\" {body}, which is not an exact multiple of the record length ({record} bytes)"
        )))
    }

    /// Where the next record starts.
    fn offset(&self) -> u64 {
        self.layout.header + self.record * self.layout.record
    }

    /// Number of whole records in the window, after reading on if there is none; 0 at the end.
    fn whole(&self, window: &mut Window) -> Result<u64> {
        let Layout { header, record, footer } = self.layout;
        if !window.require(record.saturating_add(footer))? {
            window.take_error().map_or(Ok(()), Err)?;
            let left = window.available() as u64;
            if left != footer {
                self.check_length(header + self.record * record + left)?;
            }
            return Ok(0);
        }
        Ok((window.available() as u64 - footer) / record)
    }

    fn take(&mut self, max: usize) -> Result<Option<BytesArray>> {
        let mut window = self.open()?;
        let whole = self.whole(&mut window)?;
        if whole == 0 {
            self.done = true;
            return Ok(None);
        }
        let length = self.layout.record as usize;
        let count = whole.min(max.max(1) as u64).min((CHUNK_BYTES / self.layout.record).max(1));
        let view = |i| View { buffer: 0, start: window.start() + i * length, len: length };
        let views = (0..count as usize).map(view).collect();
        let records = BytesArray::new(vec![window.block().clone()], views)?;
        window.consume(count as usize * length);
        self.record += count;
        self.window = Some(window);
        Ok(Some(records))
    }

    fn pass_over(&mut self, n: u64) -> Result<u64> {
        let mut window = self.open()?;
        let mut passed = 0;
        if self.compression == Compression::None {
            let body = window.remaining() - self.layout.footer;
            passed = n.min(body / self.layout.record);
            window.hop(passed * self.layout.record)?;
            self.record += passed;
        }
        while passed < n {
            let whole = self.whole(&mut window)?.min(n - passed);
            if whole == 0 {
                break;
            }
            window.consume((whole * self.layout.record) as usize);
            self.record += whole;
            passed += whole;
        }
        self.window = Some(window);
        Ok(passed)
    }

    /// An error ends the file.
    fn ended(&mut self, error: Error) -> Error {
        self.done = true;
        let (record, offset) = (self.record, self.offset());
        let told = error.message().starts_with("Excluding");
        let error = if told { error } else { error.at_record(record, offset) };
        error.at_file(&self.path)
    }
}

impl FileReader for FixedReader {
    fn next(&mut self, max: usize) -> Result<Option<Chunk>> {
        if self.done {
            return Ok(None);
        }
        match self.take(max) {
            Ok(records) => records.map(bytes_chunk).transpose(),
            Err(error) => Err(self.ended(error)),
        }
    }

    fn skip(&mut self, n: u64) -> Skipped {
        if self.done {
            return Ok(0);
        }
        let before = self.record;
        self.pass_over(n).map_err(|error| {
            let passed = self.record - before;
            SkipError::behind(passed, self.ended(error))
        })
    }
}
