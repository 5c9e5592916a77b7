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
use crate::engine::pool::Kind;
use crate::engine::run::RunContext;
use crate::engine::skipping::skip_by_running;
use crate::engine::stats::StageStats;
use crate::engine::sync::Mutex;
use crate::engine::wait::poll_if_due;
use crate::engine::{Cardinality, Input, Node, Opening, Plan, Skipped, Stage, lock};
use crate::error::{Error, Result};
use crate::formats::tfrecord::{Check, ReadOptions, Reader, payload_len, read_payload};
use crate::graph::call::Called;
use crate::graph::rows::Hands;
use crate::io::compress::Compression;
use crate::io::local::BlockReader;
use crate::sources::files::{bytes_chunk, filenames};
use crate::sources::tfrecord_files::Files;
use crate::sources::tfrecord_gather::Gather;
use crate::sources::tfrecord_index::{IndexPlace, Indexes};

/// The records of some files.
pub struct TfRecordNode {
    files: Arc<[String]>,
    compression: Compression,
    options: ReadOptions,
    spec: ElementSpec,
    indexes: Option<Arc<Indexes>>,
    /// For each file the number of records up to its end, once they were counted.
    ends: Mutex<Option<Arc<[u64]>>>,
}

impl TfRecordNode {
    /// A plan of the records of `files` as bytes. Files are opened when their turn comes.
    pub fn plan(files: Vec<String>, compression: Compression, options: ReadOptions) -> Plan {
        Arc::new(Self::new(files.into(), compression, options, None))
    }

    /// The same with random access by indices.
    ///
    /// # Errors
    /// As [`Indexes::new`].
    pub fn indexed(
        files: Vec<String>,
        compression: Compression,
        options: ReadOptions,
        place: IndexPlace,
    ) -> Result<Plan> {
        let files = files.into();
        let indexes = Indexes::new(&files, compression, place)?;
        Ok(Arc::new(Self::new(files, compression, options, Some(indexes))))
    }

    fn new(
        files: Arc<[String]>,
        compression: Compression,
        options: ReadOptions,
        indexes: Option<Arc<Indexes>>,
    ) -> Self {
        let spec = ElementSpec::leaf(Spec::scalar(DType::Bytes));
        TfRecordNode { files, compression, options, spec, indexes, ends: Mutex::default() }
    }

    /// For each file the number of records up to its end, if indices tell.
    pub(super) fn ends(&self) -> Option<Result<Arc<[u64]>>> {
        Some(self.counted(self.indexes.as_ref()?))
    }

    /// Counts the records, unless that was done.
    fn counted(&self, indexes: &Indexes) -> Result<Arc<[u64]>> {
        if let Some(ends) = &*lock(&self.ends) {
            return Ok(Arc::clone(ends));
        }
        let ends: Arc<[u64]> = indexes.ends()?.into();
        *lock(&self.ends) = Some(Arc::clone(&ends));
        Ok(ends)
    }
}

impl Node for TfRecordNode {
    fn name(&self) -> &'static str {
        "tfrecord"
    }

    fn args(&self) -> Vec<Arg> {
        let mut args =
            vec![filenames(&self.files), Arg::new("compression_type", self.compression.name())];
        args.extend(self.indexes.as_ref().map(|indexes| Arg::tuning("index", indexes.describe())));
        args
    }

    fn inputs(&self) -> Vec<Plan> {
        Vec::new()
    }

    fn spec(&self) -> &ElementSpec {
        &self.spec
    }

    fn cardinality(&self) -> Cardinality {
        let total = self.indexes.as_ref().and_then(|indexes| indexes.total());
        match total.or(self.files.is_empty().then_some(0)) {
            Some(total) => Cardinality::Known(total),
            None => Cardinality::Unknown,
        }
    }

    fn is_indexable(&self) -> bool {
        self.indexes.is_some()
    }

    fn find_elements(&self) -> Result<()> {
        if let Some(indexes) = &self.indexes {
            let ends = indexes.ends()?.into();
            *lock(&self.ends) = Some(ends);
        }
        Ok(())
    }

    fn has_elements_by_number(&self) -> bool {
        self.indexes.is_some() && self.compression == Compression::None
    }

    fn bytes_by_number(&self) -> Option<u64> {
        self.indexes.as_ref()?.mean_bytes()
    }

    fn gather(&self, numbers: &[u64]) -> Option<Called> {
        let indexes = self.indexes.as_ref()?;
        let ends = match self.counted(indexes) {
            Ok(ends) => ends,
            Err(error) => return Some(Called { done: None, error: Some(error) }),
        };
        let gather = Gather {
            paths: &self.files,
            compression: self.compression,
            options: self.options,
            indexes,
            ends: &ends,
        };
        Some(gather.gather(numbers))
    }

    fn open(&self, opening: &Opening<'_>) -> Result<Box<dyn Stage>> {
        let run = Arc::clone(opening.run);
        let check = Check(Arc::new(move || run.check().and_then(|()| poll_if_due())));
        let indexes = self.indexes.as_ref();
        let files = Files::new(
            &self.files,
            self.compression,
            self.options,
            indexes,
            opening.run.opened_files(),
        )
        .checked(check);
        // Below a driver there are threads to read long records beside each other. Where records
        // are salvaged, the payload of one decides where the next is.
        let plain = self.compression == Compression::None && !self.options.salvage;
        let undecided = opening.is_driven() && plain;
        let (run, stats) = (Arc::clone(opening.run), Arc::clone(&opening.stats));
        Ok(Box::new(TfRecordStage { run, stats, files, undecided, driver: None }))
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
        if !self.files.is_long(LONG_RECORD) {
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
        let files = self.files.take();
        let workers = Knob::fixed(self.run.workers());
        let plan = driver::Plan {
            work: Some(Arc::new(work)),
            ..driver::Plan::new(workers, Window::fixed(WINDOW), Kind::Work)
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

    fn skip(&mut self, n: u64) -> Skipped {
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
        let Some((record, start, end)) = self.0.locate()? else { return Ok(None) };
        let place = [self.0.number() as i64, record as i64, start as i64, end as i64];
        let column = Column::Stacked(Tensor::from_values(&[1, 4], &place)?);
        Chunk::of_column(column).map(Some)
    }

    fn skip(&mut self, n: u64) -> Skipped {
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
    fn run(&self, chunk: Chunk, _first: u64, _hands: &dyn Hands) -> Outcomes {
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
