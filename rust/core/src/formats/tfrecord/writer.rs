//! Writes records: small ones are gathered, large ones go to the file without a copy.
//!
//! Only whole records are passed on, so a process that dies leaves a file that reads cleanly up to
//! the last ones (a compressed stream: up to its last flush).

use std::fs::{File, OpenOptions};
use std::sync::Arc;

use super::{FOOTER_BYTES, HEADER_BYTES};
use crate::error::{Error, Result};
use crate::io::compress::{Compression, Sink};
use crate::io::crc;

/// Bytes that are gathered before they are written.
const BUFFER_BYTES: usize = 256 << 10;
/// From this length on a payload is written from where it lies: copying it would cost more than
/// a system call.
const LARGE_BYTES: usize = 32 << 10;

/// How to write.
#[derive(Clone, Copy, Debug, Default)]
pub struct WriterOptions {
    /// How the file is compressed.
    pub compression: Compression,
    /// From 0 (stored) to 9 (smallest); 6 if not given.
    pub level: Option<u32>,
}

/// Writes one file of records.
#[derive(Debug)]
pub struct Writer {
    path: Arc<str>,
    sink: Option<Sink>,
    buffer: Vec<u8>,
    records: u64,
    /// A write failed: what is in the file is unknown, so nothing may follow it.
    failed: bool,
}

impl Writer {
    /// Makes a file, or empties the one there is.
    ///
    /// # Errors
    /// `InvalidArgument` for a level that is none; or as the system says.
    pub fn create(path: &str, options: WriterOptions) -> Result<Self> {
        Sink::check_level(options.level)?;
        let file = File::create(path).map_err(|e| Error::io(&e, path))?;
        Self::of_file(path, file, options)
    }

    /// Goes on with a file after its first `len` bytes, which are whole records; what follows them
    /// is cut off. A compressed file gets a further stream: [`Writer::close`] ended the one before.
    ///
    /// # Errors
    /// `DataLoss` if the file is shorter; or as [`Writer::create`].
    pub fn append(path: &str, options: WriterOptions, len: u64) -> Result<Self> {
        Sink::check_level(options.level)?;
        let failed = |e: std::io::Error| Error::io(&e, path);
        let file = OpenOptions::new().append(true).open(path).map_err(failed)?;
        let found = file.metadata().map_err(failed)?.len();
        if found < len {
            let text = format!("the file has {found} bytes, {len} were written");
            return Err(Error::data_loss(text).at_file(path));
        }
        file.set_len(len).map_err(failed)?;
        Self::of_file(path, file, options)
    }

    fn of_file(path: &str, file: File, options: WriterOptions) -> Result<Self> {
        Ok(Writer {
            path: path.into(),
            sink: Some(Sink::new(file, options.compression, options.level)?),
            buffer: Vec::with_capacity(BUFFER_BYTES),
            records: 0,
            failed: false,
        })
    }

    /// The path, as given.
    pub fn path(&self) -> &Arc<str> {
        &self.path
    }

    /// Number of records written so far.
    pub fn records(&self) -> u64 {
        self.records
    }

    /// Appends a record.
    ///
    /// # Errors
    /// `FailedPrecondition` after [`Writer::close`] or a failed write; or as the system says.
    pub fn write(&mut self, payload: &[u8]) -> Result<()> {
        self.check_open()?;
        let length = (payload.len() as u64).to_le_bytes();
        let mut header = [0; HEADER_BYTES];
        header[..8].copy_from_slice(&length);
        header[8..].copy_from_slice(&crc::masked_crc32c(&length).to_le_bytes());
        let footer = crc::masked_crc32c(payload).to_le_bytes();
        if payload.len() >= LARGE_BYTES {
            self.pass_on(&[&header[..], payload, &footer[..]])?;
        } else {
            let frame = HEADER_BYTES + payload.len() + FOOTER_BYTES;
            if self.buffer.len() + frame > BUFFER_BYTES {
                self.pass_on(&[])?;
            }
            self.buffer.extend_from_slice(&header);
            self.buffer.extend_from_slice(payload);
            self.buffer.extend_from_slice(&footer);
        }
        self.records += 1;
        Ok(())
    }

    /// Makes all records so far readable for other processes.
    ///
    /// # Errors
    /// As [`Writer::write`].
    pub fn flush(&mut self) -> Result<()> {
        self.check_open()?;
        self.pass_on(&[])?;
        let flushed = self.sink.as_mut().map_or(Ok(()), Sink::flush);
        flushed.map_err(|e| self.fail(&e))
    }

    /// Writes what is left and ends the file. Closing again does nothing.
    ///
    /// # Errors
    /// `FailedPrecondition` after a failed write; or as the system says.
    pub fn close(&mut self) -> Result<()> {
        if self.sink.is_none() {
            return Ok(());
        }
        let passed = self.check_open().and_then(|()| self.pass_on(&[]));
        let finished = self.sink.take().map_or(Ok(()), Sink::finish);
        passed?;
        finished.map_err(|e| self.fail(&e))
    }

    /// Writes the gathered records and then `parts`.
    fn pass_on(&mut self, parts: &[&[u8]]) -> Result<()> {
        let Some(sink) = &mut self.sink else {
            return Ok(());
        };
        let written = match parts {
            [] if self.buffer.is_empty() => return Ok(()),
            [] => sink.write_parts(&[&self.buffer]),
            [header, payload, footer] => sink.write_parts(&[&self.buffer, header, payload, footer]),
            _ => return Err(Error::internal("a frame has three parts")),
        };
        self.buffer.clear();
        written.map_err(|e| self.fail(&e))
    }

    fn fail(&mut self, error: &std::io::Error) -> Error {
        self.failed = true;
        Error::io(error, &self.path)
    }

    fn check_open(&self) -> Result<()> {
        let why = match (&self.sink, self.failed) {
            (None, _) => "the writer is closed",
            (_, true) => "an earlier write to this file failed",
            _ => return Ok(()),
        };
        Err(Error::failed_precondition(why).at_file(&self.path))
    }
}

impl Drop for Writer {
    fn drop(&mut self) {
        // Nobody is left to hear of an error; who wants to know calls `close`.
        let _ = self.close();
    }
}
