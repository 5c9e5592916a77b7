//! Records of a `TFRecordDataset` by number: read in the order in which they lie, handed out in the
//! order in which they are wanted.
//!
//! Records that lie near each other are read together, and all of a call land in one buffer. The
//! system is told of all places before the first is read, so that a disk works on many at a time.

use super::files::bytes_chunk;
use super::tfrecord_index::Indexes;
use crate::data::{Buffer, BufferMut, BytesArray, View};
use crate::engine::wait::poll_if_due;
use crate::error::{Error, Result};
use crate::formats::tfrecord::index::{Index, Lookup};
use crate::formats::tfrecord::{ReadOptions, Reader};
use crate::graph::call::Called;
use crate::io::compress::Compression;
use crate::io::local::BlockReader;

/// Bytes of records after which a call hands out what it has.
const CALL_BYTES: u64 = 4 << 20;
/// Reading over so many bytes takes less time than a read of its own.
const GAP_BYTES: u64 = 4096;
/// Longest read of several records.
const READ_BYTES: u64 = 1 << 20;

/// A record that is wanted.
#[derive(Clone, Copy, Debug)]
struct Wanted {
    /// Its place in the order of the call.
    turn: usize,
    file: usize,
    record: u64,
    start: u64,
    end: u64,
}

/// The records of some files, by their numbers.
pub(super) struct Gather<'a> {
    pub(super) paths: &'a [String],
    pub(super) compression: Compression,
    pub(super) options: ReadOptions,
    pub(super) indexes: &'a Indexes,
    /// For each file the number of records up to its end.
    pub(super) ends: &'a [u64],
}

/// What was read, and the first turn that failed.
struct Read {
    buffers: Vec<Buffer>,
    views: Vec<View>,
    failed: Option<(usize, Error)>,
}

impl Read {
    fn fail(&mut self, turn: usize, error: Error) {
        if self.failed.as_ref().is_none_or(|(first, _)| turn < *first) {
            self.failed = Some((turn, error));
        }
    }
}

impl Gather<'_> {
    /// The records of these numbers: at least one outcome, and no more than fit into memory.
    pub(super) fn gather(&self, numbers: &[u64]) -> Called {
        self.try_gather(numbers).unwrap_or_else(|error| Called { done: None, error: Some(error) })
    }

    fn try_gather(&self, numbers: &[u64]) -> Result<Called> {
        let mut wanted = self.locate(numbers)?;
        let count = within_budget(&mut wanted);
        wanted.retain(|one| one.turn < count);
        let views = vec![View::default(); count];
        let mut read = Read { buffers: Vec::new(), views, failed: None };
        for of_file in wanted.chunk_by(|a, b| a.file == b.file) {
            poll_if_due()?;
            if let Err(error) = self.read_file(of_file, &mut read) {
                let first = of_file.iter().map(|one| one.turn).min();
                read.fail(first.unwrap_or(0), error);
            }
        }
        let (made, error) = match read.failed {
            Some((turn, error)) => (turn, Some(error)),
            None => (count, None),
        };
        read.views.truncate(made);
        let records = (made > 0).then(|| BytesArray::new(read.buffers, read.views)).transpose()?;
        Ok(Called { done: records.map(bytes_chunk).transpose()?, error })
    }

    /// Where the records lie, in the order of the files.
    fn locate(&self, numbers: &[u64]) -> Result<Vec<Wanted>> {
        let mut wanted = Vec::with_capacity(numbers.len());
        for (turn, number) in numbers.iter().enumerate() {
            let file = self.ends.partition_point(|end| end <= number);
            let before = file.checked_sub(1).map_or(0, |file| self.ends[file]);
            if file == self.ends.len() {
                return Err(Error::internal(format!("record {number} is in no file")));
            }
            wanted.push(Wanted { turn, file, record: number - before, start: 0, end: 0 });
        }
        wanted.sort_unstable_by_key(|one| (one.file, one.record));
        for of_file in wanted.chunk_by_mut(|a, b| a.file == b.file) {
            let Some(file) = of_file.first().map(|one| one.file) else { continue };
            let index = self.indexes.need(file)?;
            self.check_count(file, &index)?;
            if let Err(error) = look_up(&index, of_file) {
                let index = self.indexes.mend(file, error)?;
                self.check_count(file, &index)?;
                look_up(&index, of_file)?;
            }
        }
        Ok(wanted)
    }

    /// A file that has changed since its records were counted would move those after it.
    fn check_count(&self, file: usize, index: &Index) -> Result<()> {
        let before = file.checked_sub(1).map_or(0, |file| self.ends[file]);
        let (was, is) = (self.ends[file] - before, index.records());
        if was == is {
            return Ok(());
        }
        let text = format!("the file had {was} records when they were counted, and has {is} now");
        let error = Error::failed_precondition(text).at_file(&self.paths[file]);
        Err(error.with_hint("begin a new run"))
    }

    fn read_file(&self, wanted: &[Wanted], read: &mut Read) -> Result<()> {
        let Some(file) = wanted.first().map(|one| one.file) else { return Ok(()) };
        let index = self.indexes.need(file)?;
        match self.compression {
            Compression::None => read_plain(&self.paths[file], &index, wanted, read),
            _ => self.read_compressed(file, &index, wanted, read),
        }
    }

    fn read_compressed(
        &self,
        file: usize,
        index: &Index,
        wanted: &[Wanted],
        read: &mut Read,
    ) -> Result<()> {
        let mut reader: Option<Reader> = None;
        for one in wanted {
            poll_if_due()?;
            let at = (one.record, one.start);
            let (from, behind) = match &reader {
                // What was asked for twice is read twice.
                Some(reader) if reader.record() <= one.record => (reader.offset(), false),
                _ => (0, true),
            };
            let point = match index.point_before(one.start, from) {
                Ok(point) => point,
                Err(error) => self.indexes.mend(file, error)?.point_before(one.start, from)?,
            };
            let mut here = match reader.take() {
                Some(mut here) if point.is_none() && !behind => {
                    here.skip(one.record - here.record())?;
                    here
                }
                _ => {
                    let path = &self.paths[file];
                    Reader::open_from(path, self.compression, self.options, at, point)?
                }
            };
            match here.next(1) {
                Ok(Some(_)) if here.offset() != one.end => {
                    let error = index.error("does not fit: a record ends elsewhere");
                    read.fail(one.turn, error.at_record(one.record, one.start));
                }
                Ok(Some(records)) => keep(&records, one.turn, read),
                Ok(None) => {
                    let text = "tells of more records than the file has";
                    return Err(index.error(text).at_file(&self.paths[file]));
                }
                Err(error) => read.fail(one.turn, error),
            }
            reader = Some(here);
        }
        Ok(())
    }
}

/// Copies a record: it must not pin the block it came in.
fn keep(records: &BytesArray, turn: usize, read: &mut Read) {
    let payload = records.get(0);
    match Buffer::copy_from(payload) {
        Ok(buffer) => {
            let number = read.buffers.len() as u32;
            read.buffers.push(buffer);
            read.views[turn] = View { buffer: number, start: 0, len: payload.len() };
        }
        Err(error) => read.fail(turn, error),
    }
}

fn look_up(index: &Index, wanted: &mut [Wanted]) -> Result<()> {
    let mut lookup = Lookup::default();
    for one in wanted {
        (one.start, one.end) = index.place_in(&mut lookup, one.record)?;
    }
    Ok(())
}

/// How many turns from the first on are read in one call.
fn within_budget(wanted: &mut [Wanted]) -> usize {
    let total: u64 = wanted.iter().map(|one| one.end - one.start).sum();
    if total <= CALL_BYTES {
        return wanted.len();
    }
    let mut bytes = vec![0; wanted.len()];
    for one in &*wanted {
        bytes[one.turn] = one.end - one.start;
    }
    let mut left = CALL_BYTES;
    let fits = |bytes: &&u64| {
        let fits = **bytes <= left;
        left = left.saturating_sub(**bytes);
        fits
    };
    bytes.iter().take_while(fits).count().max(1)
}

/// Reads records of an uncompressed file, which are in its order.
fn read_plain(path: &str, index: &Index, wanted: &[Wanted], read: &mut Read) -> Result<()> {
    let mut file = BlockReader::open_random(path)?;
    let near = |a: &Wanted, b: &Wanted| b.start <= a.end + GAP_BYTES;
    let mut ranges: Vec<&[Wanted]> = Vec::new();
    for run in wanted.chunk_by(near) {
        let mut rest = run;
        while let Some(first) = rest.first() {
            let fits = rest.iter().take_while(|one| one.end <= first.start + READ_BYTES).count();
            let (range, after) = rest.split_at(fits.max(1));
            ranges.push(range);
            rest = after;
        }
    }
    let bounds = |range: &[Wanted]| match range {
        [first, .., last] => (first.start, last.end),
        [only] => (only.start, only.end),
        [] => (0, 0),
    };
    if ranges.len() > 1 {
        ranges
            .iter()
            .map(|range| bounds(range))
            .for_each(|(start, end)| file.will_need(start, end - start));
    }
    let lengths = ranges.iter().map(|range| bounds(range)).map(|(start, end)| end - start);
    let mut arena = BufferMut::scratch(lengths.sum::<u64>() as usize)?;
    let buffer = read.buffers.len() as u32;
    let mut at = 0;
    for range in ranges {
        poll_if_due()?;
        let (start, end) = bounds(range);
        if let [only] = range
            && end - start > READ_BYTES
        {
            // Memory is taken for what the file bears witness to.
            index.check_header(path, only.record, start, end)?;
        }
        let bytes = &mut arena[at..at + (end - start) as usize];
        file.seek(start);
        let whole = file.read_exactly(bytes)?;
        for one in range {
            let within = (one.start - start) as usize..(one.end - start) as usize;
            let payload = match whole {
                true => index.payload(&bytes[within.clone()], one.record, one.start),
                false => Err(index.error("tells of more bytes than the file has")),
            };
            match payload {
                Ok(payload) => {
                    let first = at + within.start + payload.start;
                    read.views[one.turn] = View { buffer, start: first, len: payload.len() };
                }
                Err(error) => {
                    read.fail(one.turn, error.at_record(one.record, one.start).at_file(path));
                }
            }
        }
        at += (end - start) as usize;
    }
    read.buffers.push(arena.freeze());
    Ok(())
}
