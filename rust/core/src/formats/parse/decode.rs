//! Records to sources: the walk over a block of records, then each source over its features.

use crate::data::{BytesArray, DType};
use crate::data::{Tensor, View};
use crate::error::Result;
use crate::formats::example::{HEAD_BYTES, Kind, list};
use crate::formats::parse::dense::{FixedScalars, FixedStrings};
use crate::formats::parse::flat::{Flat, FlatScalars, FlatStrings};
use crate::formats::parse::message::{Batch, Fault};
use crate::formats::parse::plan::{Form, Source};
use crate::formats::walker::Walker;

/// Records walked before their features are read: the places of 40 features in 32 records fit the
/// first-level cache, and each source reads 32 rows without a change of code.
const BLOCK: usize = 32;

/// All rows of one source.
pub(super) enum Decoded {
    /// One tensor with a leading row axis.
    Fixed(Tensor),
    /// Lists end to end.
    Flat(Flat),
}

/// Some records that have been walked.
pub(super) struct Block<'a> {
    /// Number of the first.
    pub(super) start: usize,
    pub(super) records: &'a [&'a [u8]],
    /// Where the records lie in the buffers of their array.
    pub(super) views: &'a [View],
}

impl Block<'_> {
    /// The bytes of record `row` from the start of `part` on, if there are as many.
    #[inline]
    pub(super) fn head(&self, row: usize, part: &[u8]) -> Option<&[u8; HEAD_BYTES]> {
        let record = self.records.get(row)?;
        // A missing feature lies elsewhere: the difference is past the end of any record then.
        let offset = part.as_ptr().addr().wrapping_sub(record.as_ptr().addr());
        record.get(offset..)?.first_chunk()
    }

    /// Where `part` of record `row` lies.
    pub(super) fn view(&self, row: usize, part: &[u8]) -> View {
        let offset = part.as_ptr().addr() - self.records[row].as_ptr().addr();
        let record = self.views[row];
        View { buffer: record.buffer, start: record.start + offset, len: part.len() }
    }
}

/// What stopped a source, and at which row of the block.
pub(super) struct Stopped {
    pub(super) row: usize,
    pub(super) fault: Fault,
}

/// Collects the rows of one source.
pub(super) trait Reader {
    /// Reads one feature a row; features that are missing are empty.
    ///
    /// # Errors
    /// Only for want of memory; what a feature lacks is `Stopped`.
    fn read(&mut self, block: &Block<'_>, features: &[&[u8]]) -> Result<Result<(), Stopped>>;

    /// All rows.
    fn finish(self: Box<Self>, records: &BytesArray) -> Result<Decoded>;
}

/// The list of a feature, which must be of `kind`; `None` if it is missing.
#[inline]
pub(super) fn list_of(feature: &[u8], kind: Kind) -> Result<Option<&[u8]>, Fault> {
    match list(feature)? {
        None => Ok(None),
        Some((found, list)) if found == kind => Ok(Some(list)),
        Some((found, _)) => Err(Fault::Kind(found)),
    }
}

pub(super) fn reader(source: &Source, rows: usize) -> Result<Box<dyn Reader>> {
    Ok(match (&source.form, source.dtype) {
        (Form::Fixed { dims, volume, default }, DType::Int64) => {
            Box::new(FixedScalars::<i64>::new(rows, dims, *volume, default.as_ref())?)
        }
        (Form::Fixed { dims, volume, default }, DType::Float32) => {
            Box::new(FixedScalars::<f32>::new(rows, dims, *volume, default.as_ref())?)
        }
        (Form::Fixed { dims, volume, default }, _) => {
            Box::new(FixedStrings::new(rows, dims, *volume, default.as_ref())?)
        }
        (Form::Flat { stride, .. }, DType::Int64) => Box::new(FlatScalars::<i64>::new(*stride)?),
        (Form::Flat { stride, .. }, DType::Float32) => Box::new(FlatScalars::<f32>::new(*stride)?),
        (Form::Flat { stride, .. }, _) => Box::new(FlatStrings::new(*stride)),
    })
}

/// Reads the needed sources of all records.
///
/// # Errors
/// The first record that does not fit, the first source of it in the plan's order.
pub(super) fn decode(
    sources: &[Source],
    needed: &[bool],
    batch: &Batch<'_>,
) -> Result<Vec<Option<Decoded>>> {
    // Sources of one key share a slot.
    let mut keys: Vec<&[u8]> = Vec::new();
    let mut readers = Vec::with_capacity(sources.len());
    for (source, _) in sources.iter().zip(needed).filter(|(_, needed)| **needed) {
        let key = source.key.as_bytes();
        let slot = keys.iter().position(|known| *known == key).unwrap_or(keys.len());
        if slot == keys.len() {
            keys.push(key);
        }
        readers.push((slot, source, reader(source, batch.records.len())?));
    }
    let records: Vec<&[u8]> = batch.records.iter().collect();
    let (_, views) = batch.records.parts();
    let mut walker = Walker::new(keys.iter().copied());
    let mut places: Vec<&[u8]> = vec![&[]; keys.len() * BLOCK];
    let blocks = records.chunks(BLOCK).zip(views.chunks(BLOCK)).enumerate();
    for (number, (records, views)) in blocks {
        let block = Block { start: number * BLOCK, records, views };
        places.fill(&[]);
        let mut failed = None;
        let mut rows = records.len();
        for (row, record) in records.iter().enumerate() {
            let walked = walker.walk(record, |slot, feature| places[slot * BLOCK + row] = feature);
            if let Err(malformed) = walked {
                failed = Some(batch.malformed(block.start + row, malformed));
                rows = row;
                break;
            }
        }
        for (slot, source, reader) in &mut readers {
            let features = &places[*slot * BLOCK..][..rows];
            if let Err(Stopped { row, fault }) = reader.read(&block, features)? {
                failed = Some(batch.fault(block.start + row, source, fault));
                rows = row;
            }
        }
        if let Some(error) = failed {
            return Err(error);
        }
    }
    let mut readers = readers.into_iter();
    let finish = |needed: &bool| match needed {
        true => readers.next().map(|(_, _, reader)| reader.finish(batch.records)).transpose(),
        false => Ok(None),
    };
    needed.iter().map(finish).collect()
}
