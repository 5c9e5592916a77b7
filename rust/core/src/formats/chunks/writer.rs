//! A file of chunks, written from front to back, in one go or in several.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::file::Header;
use crate::data::kept::Regroup;
use crate::data::{Chunk, Structure};
use crate::error::{Error, Result};
use crate::formats::tfrecord::{ReadOptions, Reader, Writer, WriterOptions};
use crate::io::compress::Compression;

/// How far the writing of a file has come.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Written {
    /// Elements in the file.
    pub rows: u64,
    /// Bytes of the file as it is stored.
    pub bytes: u64,
}

/// Writes elements to a file.
pub struct ChunkWriter {
    path: String,
    options: WriterOptions,
    /// `None` after a checkpoint, until there is more to write.
    writer: Option<Writer>,
    id: u64,
    /// The header is written, so that more elements must be like those before.
    begun: bool,
    /// How the elements nest, once one has come.
    structure: Option<Arc<Structure>>,
    pending: Regroup,
    /// Number of the element after each record of the file, and where that record starts.
    chunks: Vec<(u64, u64)>,
    written: Written,
    offset: u64,
}

impl ChunkWriter {
    /// Makes a file, or empties the one there is.
    ///
    /// # Errors
    /// As the system says.
    pub fn create(path: &str, compression: Compression, id: u64) -> Result<Self> {
        let options = options(compression);
        Ok(ChunkWriter {
            path: path.into(),
            options,
            writer: Some(Writer::create(path, options)?),
            id,
            begun: false,
            structure: None,
            pending: Regroup::default(),
            chunks: Vec::new(),
            written: Written::default(),
            offset: 0,
        })
    }

    /// Goes on with a file where [`ChunkWriter::checkpoint`] left it. What is there is read, so
    /// that damage is found now; what was written later is cut off.
    ///
    /// # Errors
    /// `DataLoss` if the file does not hold what was written.
    pub fn resume(path: &str, compression: Compression, id: u64, written: Written) -> Result<Self> {
        let options = options(compression);
        drop(Writer::append(path, options, written.bytes)?);
        let mut resumed = ChunkWriter {
            path: path.into(),
            options,
            writer: None,
            id,
            begun: written.bytes > 0,
            structure: None,
            pending: Regroup::default(),
            chunks: Vec::new(),
            written,
            offset: 0,
        };
        resumed.find_chunks(compression)?;
        Ok(resumed)
    }

    /// Number of elements so far.
    pub fn rows(&self) -> u64 {
        self.written.rows
    }

    /// Appends elements.
    ///
    /// # Errors
    /// `InvalidArgument` for elements of another structure, or that have no bytes; or as the system
    /// says.
    pub fn push(&mut self, chunk: &Chunk) -> Result<()> {
        if self.structure.is_none() {
            self.begin(Some(chunk.structure()))?;
        }
        self.written.rows += chunk.rows() as u64;
        if let Some(full) = self.pending.push(chunk)? {
            self.put(&full)?;
        }
        Ok(())
    }

    /// Puts all elements so far into the file, to stay there whatever happens to the process.
    ///
    /// # Errors
    /// As [`ChunkWriter::push`].
    pub fn checkpoint(&mut self) -> Result<Written> {
        if let Some(rest) = self.pending.finish()? {
            self.put(&rest)?;
        }
        if let Some(mut writer) = self.writer.take() {
            writer.close()?;
            let failed = |e: std::io::Error| Error::io(&e, &self.path);
            let file = std::fs::File::open(&self.path).map_err(failed)?;
            file.sync_data().map_err(failed)?;
            self.written.bytes = file.metadata().map_err(failed)?.len();
        }
        Ok(self.written)
    }

    /// Writes what is left and ends the file; returns where its records end and start.
    ///
    /// # Errors
    /// As [`ChunkWriter::push`].
    pub fn finish(mut self) -> Result<Vec<(u64, u64)>> {
        if !self.begun {
            self.begin(None)?;
        }
        if let Some(rest) = self.pending.finish()? {
            self.put(&rest)?;
        }
        if let Some(mut writer) = self.writer {
            writer.close()?;
        }
        Ok(self.chunks)
    }

    fn begin(&mut self, structure: Option<&Arc<Structure>>) -> Result<()> {
        self.structure = structure.cloned();
        if self.begun {
            return Ok(());
        }
        self.begun = true;
        let header = Header::new(self.id, structure.map(|structure| &**structure));
        let text = serde_json::to_vec(&header).map_err(|e| Error::internal(e.to_string()))?;
        self.write(&text)
    }

    fn put(&mut self, chunk: &Chunk) -> Result<()> {
        let end = self.chunks.last().map_or(0, |(end, _)| *end) + chunk.rows() as u64;
        self.chunks.push((end, self.offset));
        self.write(&super::encode(chunk)?)
    }

    fn write(&mut self, record: &[u8]) -> Result<()> {
        let writer = match &mut self.writer {
            Some(writer) => writer,
            none => none.insert(Writer::append(&self.path, self.options, self.written.bytes)?),
        };
        writer.write(record)?;
        self.offset += (record.len() + 16) as u64;
        Ok(())
    }

    /// Reads the file to tell where its records are.
    fn find_chunks(&mut self, compression: Compression) -> Result<()> {
        let mut reader = Reader::open(&self.path, compression, ReadOptions::default())?;
        let mut end = 0;
        while let Some(record) = reader.next(1)? {
            // The header comes first; chunks begin with their number of rows.
            if reader.record() > 1 {
                let rows = record.get(0).first_chunk().map_or(0, |rows| u32::from_le_bytes(*rows));
                end += u64::from(rows);
                self.chunks.push((end, self.offset));
            }
            self.offset = reader.offset();
        }
        if end == self.written.rows {
            return Ok(());
        }
        let text = format!("the file has {end} elements, {} were written", self.written.rows);
        Err(Error::data_loss(text).at_file(&self.path))
    }
}

fn options(compression: Compression) -> WriterOptions {
    WriterOptions { compression, level: Some(1) }
}
