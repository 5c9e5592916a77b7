//! The files of a `TFRecordDataset`, one after another, with their indices where they have any.
//!
//! With an index a skip is a seek. Where an index may be made, a pass that reads a file from its
//! start to its end leaves one behind.

use std::sync::Arc;

use super::files::bytes_chunk;
use super::tfrecord_index::Indexes;
use crate::data::{BytesArray, Chunk};
use crate::engine::notices;
use crate::engine::opened_files::OpenedFiles;
use crate::engine::skipping::{SkipError, Skipped};
use crate::error::{Error, Result};
use crate::formats::tfrecord::index::{Index, POINT_DISTANCE, Recorder};
use crate::formats::tfrecord::{Check, FOOTER_BYTES, HEADER_BYTES, ReadOptions, Reader};
use crate::io::compress::Compression;

/// The records of some files.
pub(super) struct Files {
    pub(super) paths: Arc<[String]>,
    pub(super) compression: Compression,
    pub(super) options: ReadOptions,
    pub(super) indexes: Option<Arc<Indexes>>,
    /// The file after the present one.
    next: usize,
    current: Option<Current>,
    /// What is wrong with the index of the file before the next, found too early.
    owed: Option<Error>,
    check: Check,
    opened: Arc<OpenedFiles>,
}

/// The file that is read.
struct Current {
    reader: Reader,
    /// Collects its offsets, if it has no index.
    recorder: Option<Recorder>,
    /// Something was wrong with it: that it holds no records needs no word of its own.
    failed: bool,
}

impl Files {
    pub(super) fn new(
        paths: &Arc<[String]>,
        compression: Compression,
        options: ReadOptions,
        indexes: Option<&Arc<Indexes>>,
        opened: &Arc<OpenedFiles>,
    ) -> Self {
        let (paths, indexes) = (Arc::clone(paths), indexes.map(Arc::clone));
        Files {
            paths,
            compression,
            options,
            indexes,
            next: 0,
            current: None,
            owed: None,
            check: Check::default(),
            opened: Arc::clone(opened),
        }
    }

    /// Asks `check` in the course of long searches.
    pub(super) fn checked(mut self, check: Check) -> Self {
        self.check = check;
        self
    }

    /// The same place in the files; nothing is left here.
    pub(super) fn take(&mut self) -> Self {
        let rest = Files::new(&Arc::from([]), self.compression, self.options, None, &self.opened);
        std::mem::replace(self, rest)
    }

    /// Number of the present file.
    pub(super) fn number(&self) -> usize {
        self.next.saturating_sub(1)
    }

    /// The present file, or the next; `None` after the last.
    fn current(&mut self) -> Result<Option<&mut Current>> {
        if let Some(error) = self.owed.take() {
            return Err(error);
        }
        if self.current.is_none() {
            let Some(path) = self.paths.get(self.next) else { return Ok(None) };
            self.next += 1;
            self.opened.note(path);
            let reader = Reader::open(path, self.compression, self.options)?;
            let mut reader = reader.checked(self.check.clone());
            let recorder = match &self.indexes {
                Some(indexes) => indexes.recorder(self.next - 1)?,
                None => None,
            };
            if recorder.is_some() {
                reader = reader.noting_points(POINT_DISTANCE);
            }
            self.current = Some(Current { reader, recorder, failed: false });
        }
        Ok(self.current.as_mut())
    }

    /// The reader of the present file, or of the next; `None` after the last.
    pub(super) fn reader(&mut self) -> Result<Option<&mut Reader>> {
        Ok(self.current()?.map(|current| &mut current.reader))
    }

    pub(super) fn read(&mut self, max: usize) -> Result<Option<Chunk>> {
        while let Some(current) = self.current()? {
            if let Some(records) = current.next(max)? {
                return bytes_chunk(records).map(Some);
            }
            self.leave();
        }
        Ok(None)
    }

    /// Passes over the next record of the present file, or of the next file; gives its number and
    /// where it starts and ends.
    pub(super) fn locate(&mut self) -> Result<Option<(u64, u64, u64)>> {
        while let Some(current) = self.current()? {
            let (record, start) = (current.reader.record(), current.reader.offset());
            if current.skip_one()? {
                return Ok(Some((record, start, current.reader.offset())));
            }
            // The end of the file, or what is wrong with it.
            if let Some(records) = current.next(1)? {
                return Err(Error::internal(format!("{} records passed by", records.len())));
            }
            self.leave();
        }
        Ok(None)
    }

    /// Leaves a file that is at its end.
    fn leave(&mut self) {
        let Some(Current { reader, recorder, failed }) = self.current.take() else { return };
        if reader.record() == 0 && !failed {
            notices::give(format!("{} holds no records", reader.path()));
        }
        if let (Some(indexes), Some(recorder)) = (&self.indexes, recorder)
            && recorder.records() == reader.record()
        {
            indexes.finish(self.number(), recorder, reader.offset());
        }
    }

    pub(super) fn skip(&mut self, n: u64) -> Skipped {
        let mut left = n;
        while left > 0 {
            left -= self.seek(left)?;
            if left == 0 {
                break;
            }
            let behind = |error| SkipError::behind(n - left, error);
            let Some(current) = self.current().map_err(behind)? else { break };
            let passed = current.skip(left).map_err(behind)?;
            left -= passed;
            if left > 0 {
                // The file has ended, or cannot be passed over.
                match current.next(1) {
                    Ok(None) => self.leave(),
                    Ok(Some(_)) => left -= 1,
                    Err(error) => return Err(SkipError::behind(n - left, error)),
                }
            }
        }
        Ok(n - left)
    }

    /// Passes over up to `count` records with the help of indices: how many.
    fn seek(&mut self, count: u64) -> Result<u64> {
        let Some(indexes) = self.indexes.clone() else { return Ok(0) };
        let mut left = count;
        while left > 0 {
            let (file, at) = match &self.current {
                Some(current) => (self.number(), current.reader.record()),
                None => (self.next, 0),
            };
            let Some(path) = self.paths.get(file) else { break };
            // What is wrong with it comes when the file is opened.
            let Ok(Some(index)) = indexes.find(file) else { break };
            self.opened.note(path);
            let target = at.saturating_add(left);
            if target >= index.records() {
                left -= index.records().saturating_sub(at);
                self.next = file + 1;
                self.current = None;
                continue;
            }
            let from = self.current.as_ref().map_or(0, |current| current.reader.offset());
            let jump = |index: &Index| self.jump(path, index, target, from);
            let reader = match jump(&index) {
                Ok(reader) => reader,
                Err(error) => jump(&*indexes.mend(file, error)?)?,
            };
            // Decompressing on from here is as quick.
            let Some(reader) = reader else { break };
            self.next = file + 1;
            self.current = Some(Current { reader, recorder: None, failed: false });
            left = 0;
        }
        Ok(count - left)
    }

    /// A reader that stands at record `target`, which must be where the index says; `None` if it is
    /// compressed, and none of the points behind `from` is before it.
    fn jump(&self, path: &str, index: &Index, target: u64, from: u64) -> Result<Option<Reader>> {
        let (start, end) = index.place(target)?;
        let (how, options, at) = (self.compression, self.options, (target, start));
        if how == Compression::None {
            index.check_header(path, target, start, end)?;
            return Reader::open_from(path, how, options, at, None).map(Some);
        }
        let point = index.point_before(start, from)?;
        point.map(|point| Reader::open_from(path, how, options, at, Some(point))).transpose()
    }

    /// True if the next record is so long that reading it is work for a thread of its own.
    pub(super) fn is_long(&mut self, from: u64) -> bool {
        let options = self.options;
        let reader = match self.reader() {
            Ok(Some(reader)) => reader,
            Ok(None) => return false,
            Err(error) => {
                self.owed = Some(error);
                return false;
            }
        };
        let (record, offset) = (reader.record(), reader.offset());
        let probe = Reader::open_at(reader.path(), options, record, offset);
        let passed = probe.and_then(|mut probe| Ok((probe.skip(1)?, probe.offset())));
        passed.is_ok_and(|(passed, end)| passed == 1 && end - offset >= from)
    }
}

impl Current {
    fn next(&mut self, max: usize) -> Result<Option<BytesArray>> {
        let (record, mut start) = (self.reader.record(), self.reader.offset());
        let outcome = self.reader.next(max);
        self.failed |= outcome.is_err();
        let Some(recorder) = &mut self.recorder else { return outcome };
        let noted = match &outcome {
            // Some were passed over.
            _ if recorder.records() != record => false,
            Ok(Some(records)) => records.parts().1.iter().all(|view| {
                let pushed = recorder.push(start).is_ok();
                start += (HEADER_BYTES + view.len + FOOTER_BYTES) as u64;
                pushed
            }),
            Ok(None) => true,
            // A record with a damaged payload is one; without its length, none is found any more.
            Err(_) => self.reader.record() == record + 1 && recorder.push(start).is_ok(),
        };
        if !noted || !self.note_points() {
            self.recorder = None;
        }
        outcome
    }

    /// Tells the recorder where the file could be taken up; false if it cannot take that.
    fn note_points(&mut self) -> bool {
        let points = self.reader.take_points();
        self.recorder.as_mut().is_none_or(|recorder| recorder.push_points(points).is_ok())
    }

    fn skip_one(&mut self) -> Result<bool> {
        let (record, start) = (self.reader.record(), self.reader.offset());
        let passed = self.reader.skip(1)? == 1;
        if passed
            && let Some(recorder) = &mut self.recorder
            && (recorder.records() != record || recorder.push(start).is_err())
        {
            self.recorder = None;
        }
        if !self.note_points() {
            self.recorder = None;
        }
        Ok(passed)
    }

    fn skip(&mut self, n: u64) -> Result<u64> {
        let skipped = self.pass(n);
        self.failed |= skipped.is_err();
        skipped
    }

    fn pass(&mut self, n: u64) -> Result<u64> {
        if self.recorder.is_none() {
            return self.reader.skip(n);
        }
        let mut passed = 0;
        while passed < n && self.skip_one()? {
            passed += 1;
        }
        Ok(passed)
    }
}
