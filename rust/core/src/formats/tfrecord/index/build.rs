//! Finds where the records of a file lie: by their lengths, with the checksum of each length
//! verified. Long payloads are hopped over, short ones pass by in the blocks that are read.

use super::{Found, Identity, Index, IndexWriter, Lookup, Sidecar};
use crate::error::{Error, ErrorKind, Result};
use crate::formats::tfrecord::{self, Header, ReadOptions, Reader};
use crate::io::compress::Compression;
use crate::io::local::BlockReader;
use crate::io::publish::NewFile;
use crate::io::seek_point::SeekPoint;
use crate::io::window::{BLOCK_BYTES, Window};

/// Decompressed bytes between two points at which a file can be taken up: to reach a record, half of
/// them are decompressed.
pub const POINT_DISTANCE: u64 = 1 << 20;

/// Bytes of a block of short records, of which little but headers is looked at: it may fall out of
/// the L2 cache, and large steps are read a half faster than those of [`BLOCK_BYTES`].
const SCAN_BYTES: usize = 1 << 20;
/// Records of a block from which on they are short. Of long ones most is hopped over.
const MANY: u64 = 16;

/// Collects the offsets of a file that is read from front to back.
#[derive(Debug)]
pub struct Recorder {
    path: String,
    compression: Compression,
    before: Identity,
    writer: IndexWriter,
    /// The index as a file that is not there yet.
    new: Option<(Sidecar, NewFile)>,
    /// Why it is no file.
    unwritten: Option<String>,
}

impl Recorder {
    /// Starts at the first record of the file at `path`. Without a place for it, or where that is
    /// not to be written to, the index is kept in memory.
    ///
    /// # Errors
    /// If the file cannot be looked at.
    pub fn start(path: &str, compression: Compression, place: Option<&Sidecar>) -> Result<Self> {
        let before = Identity::of(path)?;
        let (mut new, mut unwritten) = (None, None);
        if let Some(place) = place {
            match NewFile::create(place.path()) {
                Ok(file) => new = Some((place.clone(), file)),
                Err(error) => unwritten = Some(error.to_string()),
            }
        }
        let file = new.as_ref().map(|(_, new)| new.file().try_clone()).transpose();
        let file = file.map_err(|e| Error::io(&e, path))?;
        let writer = IndexWriter::new(file)?;
        Ok(Recorder { path: path.into(), compression, before, writer, new, unwritten })
    }

    /// The next record starts at `offset`.
    ///
    /// # Errors
    /// If the index cannot be written.
    #[inline]
    pub fn push(&mut self, offset: u64) -> Result<()> {
        self.writer.push(offset)
    }

    /// A compressed file can be taken up at these points, which come in their order.
    ///
    /// # Errors
    /// If the index cannot be written.
    pub fn push_points(&mut self, points: Vec<SeekPoint>) -> Result<()> {
        points.iter().try_for_each(|point| self.writer.push_point(point))
    }

    /// Number of records so far.
    pub fn records(&self) -> u64 {
        self.writer.records()
    }

    /// The file has ended, at `end` (of its decompressed bytes): the index appears in its place.
    ///
    /// # Errors
    /// `FailedPrecondition` if the file has changed meanwhile; or as the system says.
    pub fn finish(self, end: u64) -> Result<Index> {
        let after = Identity::of(&self.path)?;
        if after != self.before {
            let text = "the file was written to while its index was made";
            return Err(Error::failed_precondition(text).at_file(&self.path));
        }
        let identity = after.sampled(&self.path)?.settled();
        let index = self.writer.finish(end, identity, self.compression)?;
        let Some((place, new)) = self.new else { return Ok(index.unwritten_as(self.unwritten)) };
        match new.publish() {
            Ok(_) => Ok(index.at_path(place.path())),
            Err(error) => Ok(index.unwritten_as(Some(error.to_string()))),
        }
    }
}

/// What came of [`ensure`].
#[derive(Debug)]
pub struct Ensured {
    /// The index.
    pub index: Index,
    /// True if it was made now.
    pub made: bool,
}

/// Sees to it that the file at `path` has an index in `place`: made if there is none that fits, or
/// in any case by `force`.
///
/// # Errors
/// As [`build`]; if the index cannot be written.
pub fn ensure(
    path: &str,
    compression: Compression,
    place: &Sidecar,
    force: bool,
    poll: &mut dyn FnMut(u64) -> Result<()>,
) -> Result<Ensured> {
    if !force && let Found::Valid(index) = place.find(path, compression)? {
        return Ok(Ensured { index, made: false });
    }
    let index = build(path, compression, Some(place), poll)?;
    match index.unwritten() {
        None => Ok(Ensured { index, made: true }),
        Some(why) => {
            let text = format!("the index {} cannot be written: {why}", place.path().display());
            let hint = "give a folder that can be written to";
            Err(Error::new(ErrorKind::PermissionDenied, text).with_hint(hint))
        }
    }
}

/// Compares the index in `place` with the file at `path`, record by record.
///
/// # Errors
/// `NotFound`, `FailedPrecondition` or `DataLoss`, naming the index, if it is missing, stale,
/// damaged or wrong; as [`build`].
pub fn verify(
    path: &str,
    compression: Compression,
    place: &Sidecar,
    poll: &mut dyn FnMut(u64) -> Result<()>,
) -> Result<Index> {
    let index = match place.find(path, compression)? {
        Found::Valid(index) => index,
        Found::Missing => return Err(place.missing(path)),
        Found::Unfit(error) => return Err(error),
    };
    let truth = build(path, compression, None, poll)?;
    let (mut at, mut at_truth) = (Lookup::default(), Lookup::default());
    let same = truth.records() == index.records() && truth.end() == index.end();
    for record in 0..if same { truth.records() } else { 0 } {
        if index.place_in(&mut at, record)? != truth.place_in(&mut at_truth, record)? {
            return Err(index.error(&format!("is wrong about record {record} of {path}")));
        }
    }
    match same {
        true => Ok(index),
        false => Err(index.error(&format!("is wrong about the number of records of {path}"))),
    }
}

/// How a file of records is compressed, by its first bytes.
///
/// # Errors
/// If it cannot be read.
pub fn detect(path: &str) -> Result<Compression> {
    let mut head = [0; tfrecord::HEADER_BYTES];
    let whole = BlockReader::open(path)?.read_exactly(&mut head)?;
    match Header::of(&head) {
        Some(header) if whole && !header.intact => Ok(Compression::of_head(&head)),
        _ => Ok(Compression::None),
    }
}

/// Makes the index of the file at `path`, in `place` if that can be written to and in memory
/// otherwise. `poll` is told now and then how far it is, in bytes, and may end it.
///
/// # Errors
/// `DataLoss` where the file is damaged so that records cannot be found; what `poll` gives; or as
/// the system says.
pub fn build(
    path: &str,
    compression: Compression,
    place: Option<&Sidecar>,
    poll: &mut dyn FnMut(u64) -> Result<()>,
) -> Result<Index> {
    let mut recorder = Recorder::start(path, compression, place)?;
    let mut window = Window::open(path, compression, BLOCK_BYTES)?;
    window.note_points(POINT_DISTANCE);
    let mut offset = 0;
    loop {
        let before = recorder.records();
        offset += pass_block(&mut window, &mut recorder, offset)?;
        if compression == Compression::None {
            let many = recorder.records() - before >= MANY;
            window.read_by(if many { SCAN_BYTES } else { BLOCK_BYTES });
        }
        recorder.push_points(window.take_points())?;
        poll(window.file().position())?;
        // The next record goes on behind the window.
        let header = match window.require(tfrecord::HEADER_BYTES as u64)? {
            true => Header::of(window.rest()).filter(|header| header.intact),
            false if window.available() == 0 && window.take_error().is_none() => break,
            false => None,
        };
        let Some(header) = header else { return Err(trouble(&recorder, offset)) };
        if header.frame() <= window.available() as u64 {
            continue;
        }
        if !hop(&mut window, header.frame(), &mut recorder, poll)? {
            return Err(trouble(&recorder, offset));
        }
        recorder.push(offset)?;
        offset += header.frame();
    }
    recorder.push_points(window.take_points())?;
    recorder.finish(offset)
}

/// Passes over a record that goes on behind the window; false if the file ends before.
fn hop(
    window: &mut Window,
    count: u64,
    recorder: &mut Recorder,
    poll: &mut dyn FnMut(u64) -> Result<()>,
) -> Result<bool> {
    if recorder.compression == Compression::None {
        return window.hop(count);
    }
    let mut left = count;
    while left > 0 {
        let step = left.min(POINT_DISTANCE);
        if !window.hop(step)? {
            return Ok(false);
        }
        left -= step;
        recorder.push_points(window.take_points())?;
        poll(window.file().position())?;
    }
    Ok(true)
}

/// Notes the records that lie whole in the window, and passes over them; gives their bytes.
fn pass_block(window: &mut Window, recorder: &mut Recorder, offset: u64) -> Result<u64> {
    let bytes = window.rest();
    let mut at = 0;
    // A length that was just found to match its checksum does so again. Besides, the processor goes on
    // with the next record while it compares, where it would have to wait for a length.
    let mut known = [0; tfrecord::HEADER_BYTES];
    let mut frame = u64::MAX;
    recorder.writer.push_all(|| {
        let rest = bytes.get(at..)?;
        let header = rest.first_chunk()?;
        if *header != known {
            frame = Header::of(header).filter(|header| header.intact)?.frame();
            known = *header;
        }
        if frame > rest.len() as u64 {
            return None;
        }
        let start = at;
        at += frame as usize;
        Some(offset + start as u64)
    })?;
    window.consume(at);
    Ok(at as u64)
}

/// What is wrong with the record at `offset`, as a reader says it.
fn trouble(recorder: &Recorder, offset: u64) -> Error {
    let (path, how, record) = (&recorder.path, recorder.compression, recorder.records());
    let reader = match how {
        Compression::None => Reader::open_at(path, ReadOptions::default(), record, offset),
        _ => Reader::open(path, how, ReadOptions::default()),
    };
    let found = reader.and_then(|mut reader| {
        let behind = record.saturating_sub(reader.record());
        reader.skip(behind)?;
        // Passing over it fails where reading would not: a payload that is cut off.
        reader.skip(1)?;
        reader.next(1)
    });
    let changed = || {
        let text = "the file was written to while its index was made";
        Error::failed_precondition(text).at_file(path)
    };
    found.err().unwrap_or_else(changed)
}
