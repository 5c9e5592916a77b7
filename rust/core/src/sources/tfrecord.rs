//! `TFRecordDataset`: the records of TFRecord files, one file after another.
//!
//! Where there are threads to do so, long records are found by their lengths first, and then read
//! and checked beside each other: copying out of the page cache is bound by one core's memory
//! traffic. They are read into memory of the caller's, if it lends some.

use std::sync::Arc;

use crate::data::{BytesArray, Chunk, Column, DType, ElementSpec, Lender, Spec, Tensor, View};
use crate::engine::autotune::{Knob, Window};
use crate::engine::driver::{self, Driver, Outcomes, Work};
use crate::engine::node::Arg;
use crate::engine::notices;
use crate::engine::pool::Kind;
use crate::engine::run::RunContext;
use crate::engine::stage::skip_by_running;
use crate::engine::stats::StageStats;
use crate::engine::sync::Mutex;
use crate::engine::{Cardinality, Input, Node, Opening, Plan, Stage, lock};
use crate::error::{Error, Result};
use crate::formats::tfrecord::{ReadOptions, Reader, payload_len, read_payload};
use crate::io::compress::Compression;
use crate::io::local::BlockReader;
use crate::sources::files::{bytes_chunk, filenames};

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
        let files = Files {
            paths: Arc::clone(&self.files),
            compression: self.compression,
            options: self.options,
            next: 0,
            reader: None,
        };
        // Below a driver there are threads to read long records beside each other.
        let undecided = opening.driven && self.compression == Compression::None;
        let (run, stats) = (Arc::clone(opening.run), Arc::clone(&opening.stats));
        Ok(Box::new(TfRecordStage { run, stats, files, undecided, driver: None }))
    }
}

/// The files, one after another.
struct Files {
    paths: Arc<[String]>,
    compression: Compression,
    options: ReadOptions,
    /// The file after the present one.
    next: usize,
    reader: Option<Reader>,
}

impl Files {
    /// The present file's reader, or the next file's; `None` after the last.
    fn reader(&mut self) -> Result<Option<&mut Reader>> {
        if self.reader.is_none() {
            let Some(path) = self.paths.get(self.next) else { return Ok(None) };
            self.next += 1;
            self.reader = Some(Reader::open(path, self.compression, self.options)?);
        }
        Ok(self.reader.as_mut())
    }

    fn read(&mut self, max: usize) -> Result<Option<Chunk>> {
        while let Some(reader) = self.reader()? {
            if let Some(records) = reader.next(max)? {
                return bytes_chunk(records).map(Some);
            }
            self.leave();
        }
        Ok(None)
    }

    /// Leaves a file that is at its end.
    fn leave(&mut self) {
        let Some(reader) = self.reader.take() else { return };
        if reader.record() == 0 {
            notices::give(format!("{} holds no records", reader.path()));
        }
    }

    fn skip(&mut self, n: u64) -> Result<u64> {
        let mut left = n;
        while left > 0 {
            let Some(reader) = self.reader()? else { break };
            left -= reader.skip(left)?;
            if left > 0 {
                // The file has ended, or cannot be passed over: its error counts as an outcome.
                match reader.next(1) {
                    Ok(None) => self.leave(),
                    Ok(Some(_)) | Err(_) => left -= 1,
                }
            }
        }
        Ok(n - left)
    }

    /// True if the next record is so long that reading it is work for a thread of its own.
    fn is_long(&mut self) -> bool {
        let options = self.options;
        let Ok(Some(reader)) = self.reader() else { return false };
        let (record, offset) = (reader.record(), reader.offset());
        let probe = Reader::open_at(reader.path(), options, record, offset);
        let passed = probe.and_then(|mut probe| Ok((probe.skip(1)?, probe.offset())));
        passed.is_ok_and(|(passed, end)| passed == 1 && end - offset >= LONG_RECORD)
    }
}

/// From this length on a record is read by a task of its own: below, the hand-over between threads
/// costs more than it saves.
const LONG_RECORD: u64 = 256 << 10;
/// Long records in work or waiting for the consumer.
const WINDOW: usize = 4;

struct TfRecordStage {
    run: Arc<RunContext>,
    stats: Arc<StageStats>,
    files: Files,
    /// Whether records are long is still to be found out.
    undecided: bool,
    /// Reads long records beside each other.
    driver: Option<Driver>,
}

impl TfRecordStage {
    fn decide(&mut self) {
        self.undecided = false;
        if !self.files.is_long() {
            return;
        }
        let paths = Arc::clone(&self.files.paths);
        let lender = self.run.lender.clone();
        let work = ReadRecord {
            paths: Arc::clone(&paths),
            options: self.files.options,
            lender,
            open: Mutex::default(),
        };
        let files = Files { paths, reader: self.files.reader.take(), ..self.files };
        let plan = driver::Plan {
            work: Some(Arc::new(work)),
            workers: Knob::fixed(self.run.workers()),
            window: Window::fixed(WINDOW),
            single: false,
            fill: false,
            ordered: true,
            kind: Kind::Work,
        };
        let input = Input::new(Box::new(LocateStage(files)), &self.run);
        self.driver = Some(Driver::new(input, plan, &self.run, &self.stats));
    }
}

impl Stage for TfRecordStage {
    fn next(&mut self, max: usize) -> Result<Option<Chunk>> {
        if self.undecided {
            self.decide();
        }
        match &mut self.driver {
            Some(driver) => driver.next(max),
            None => self.files.read(max),
        }
    }

    fn skip(&mut self, n: u64) -> Result<u64> {
        match &mut self.driver {
            Some(driver) => skip_by_running(n, |max| driver.next(max)),
            None => self.files.skip(n),
        }
    }

    fn quiet(&self) -> bool {
        true
    }
}

/// Finds where records lie, by their lengths alone: file, record number, offset and the offset of
/// the next, one at a time.
struct LocateStage(Files);

impl Stage for LocateStage {
    fn next(&mut self, _max: usize) -> Result<Option<Chunk>> {
        while let Some(reader) = self.0.reader()? {
            let place = [reader.record() as i64, reader.offset() as i64];
            if reader.skip(1)? == 1 {
                let end = reader.offset() as i64;
                let place = [self.0.next as i64 - 1, place[0], place[1], end];
                let column = Column::Stacked(Tensor::from_values(&[1, 4], &place)?);
                return Chunk::of_column(column).map(Some);
            }
            // The end of the file, or what is wrong with it.
            if let Some(records) = reader.next(1)? {
                return Err(Error::internal(format!("{} records passed by", records.len())));
            }
            self.0.leave();
        }
        Ok(None)
    }

    fn skip(&mut self, n: u64) -> Result<u64> {
        skip_by_running(n, |max| self.next(max))
    }

    fn quiet(&self) -> bool {
        true
    }
}

/// Reads and checks the record at each place.
struct ReadRecord {
    paths: Arc<[String]>,
    options: ReadOptions,
    lender: Option<Arc<dyn Lender>>,
    /// Open files, with their numbers, that nobody reads at the moment.
    open: Mutex<Vec<(usize, BlockReader)>>,
}

impl ReadRecord {
    fn read(&self, place: &[i64]) -> Result<Chunk> {
        let [file, record, offset, end] = *place else {
            return Err(Error::internal("a place is a file, a record and two offsets"));
        };
        let number = file as usize;
        let path = self.paths.get(number);
        let path = path.ok_or_else(|| Error::internal("a place in no file"))?;
        if let Some(records) = self.read_into_lent(number, path, offset as u64, end as u64) {
            return bytes_chunk(records);
        }
        let mut reader = Reader::open_at(path, self.options, record as u64, offset as u64)?;
        match reader.next(1)? {
            Some(records) => bytes_chunk(records),
            None => Err(Error::data_loss("the file was cut while it was read").at_file(path)),
        }
    }

    /// The record in memory of the caller's. `None` if it lends none, or if something is wrong: the
    /// reader says what.
    fn read_into_lent(
        &self,
        number: usize,
        path: &str,
        offset: u64,
        end: u64,
    ) -> Option<BytesArray> {
        let len = payload_len(end - offset);
        let mut payload = self.lender.as_ref()?.lend(len)?;
        let open = lock(&self.open).pop().filter(|(of, _)| *of == number);
        let mut file = match open {
            Some((_, file)) => file,
            None => BlockReader::open(path).ok()?,
        };
        if !read_payload(&mut file, offset, &mut payload).ok()? {
            return None;
        }
        lock(&self.open).push((number, file));
        BytesArray::new(vec![payload.freeze()], vec![View { buffer: 0, start: 0, len }]).ok()
    }
}

impl Work for ReadRecord {
    fn run(&self, chunk: Chunk, _first: u64) -> Outcomes {
        let places = match chunk.columns() {
            [Column::Stacked(places)] => places.values::<i64>(),
            _ => Err(Error::internal("places are one column")),
        };
        match places {
            Ok(places) => places.chunks(4).map(|place| self.read(place)).collect(),
            Err(error) => Outcomes::from([Err(error)]),
        }
    }
}
