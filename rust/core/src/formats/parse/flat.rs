//! Lists of any length, end to end.

use std::marker::PhantomData;
use std::ops::Range;

use crate::data::{BufferMut, BytesArray, DType, Dims, Tensor, View};
use crate::error::Result;
use crate::formats::example::{Kind, Scalar, strings};
use crate::formats::parse::decode::{Block, Decoded, Reader, Stopped, list_of};
use crate::formats::parse::message::Fault;

/// The lists of all rows.
pub(super) struct Flat {
    /// All values, in one axis.
    pub(super) values: Tensor,
    /// Where each list ends, starting with 0.
    pub(super) offsets: Vec<usize>,
}

impl Flat {
    pub(super) fn rows(&self) -> usize {
        self.offsets.len() - 1
    }

    pub(super) fn range(&self, row: usize) -> Range<usize> {
        self.offsets[row]..self.offsets[row + 1]
    }

    /// Lengths of the lists.
    pub(super) fn lengths(&self) -> impl ExactSizeIterator<Item = usize> {
        self.offsets.windows(2).map(|pair| pair[1] - pair[0])
    }
}

/// True if a list of `count` values is a whole number of rows.
fn divides(stride: usize, count: usize) -> bool {
    if stride == 0 { count == 0 } else { count.is_multiple_of(stride) }
}

/// Lists of numbers.
pub(super) struct FlatScalars<T> {
    stride: usize,
    /// Longer than what is written; grows by doubling.
    out: BufferMut,
    offsets: Vec<usize>,
    values: PhantomData<T>,
}

impl<T: Scalar> FlatScalars<T> {
    pub(super) fn new(stride: usize) -> Result<Self> {
        let out = BufferMut::scratch(0)?;
        Ok(FlatScalars { stride, out, offsets: vec![0], values: PhantomData })
    }

    /// Room for `count` values after the first `end`.
    fn room(&mut self, end: usize, count: usize) -> Result<&mut [T]> {
        let needed = (end + count) * size_of::<T>();
        if needed > self.out.len() {
            let mut larger = BufferMut::scratch(needed.max(self.out.len() * 2))?;
            let written = end * size_of::<T>();
            larger[..written].copy_from_slice(&self.out[..written]);
            self.out = larger;
        }
        Ok(&mut self.out.typed_mut::<T>()[end..end + count])
    }
}

impl<T: Scalar> Reader for FlatScalars<T> {
    fn read(&mut self, _: &Block<'_>, features: &[&[u8]]) -> Result<Result<(), Stopped>> {
        let mut end = self.offsets.last().copied().unwrap_or(0);
        for (row, feature) in features.iter().enumerate() {
            let list = match list_of(feature, T::KIND) {
                Ok(list) => list.unwrap_or_default(),
                Err(fault) => return Ok(Err(Stopped { row, fault })),
            };
            let count = match T::read(list, self.room(end, T::bound(list))?) {
                Ok(count) if divides(self.stride, count) => count,
                Ok(count) => return Ok(Err(Stopped { row, fault: Fault::Stride(count) })),
                Err(malformed) => return Ok(Err(Stopped { row, fault: malformed.into() })),
            };
            end += count;
            self.offsets.push(end);
        }
        Ok(Ok(()))
    }

    fn finish(mut self: Box<Self>, _: &BytesArray) -> Result<Decoded> {
        let end = self.offsets.last().copied().unwrap_or(0);
        self.out.truncate(end * size_of::<T>());
        let values = Tensor::fixed(T::DTYPE, Dims::from_slice(&[end]), self.out.freeze())?;
        Ok(Decoded::Flat(Flat { values, offsets: self.offsets }))
    }
}

/// Lists of byte strings, which stay in the records.
pub(super) struct FlatStrings {
    stride: usize,
    views: Vec<View>,
    offsets: Vec<usize>,
}

impl FlatStrings {
    pub(super) fn new(stride: usize) -> Self {
        FlatStrings { stride, views: Vec::new(), offsets: vec![0] }
    }

    fn read_row(&mut self, block: &Block<'_>, row: usize, feature: &[u8]) -> Result<(), Fault> {
        let list = list_of(feature, Kind::Bytes)?.unwrap_or_default();
        let views = &mut self.views;
        let count = strings(list, |value| views.push(block.view(row, value)))?;
        if !divides(self.stride, count) {
            return Err(Fault::Stride(count));
        }
        self.offsets.push(self.views.len());
        Ok(())
    }
}

impl Reader for FlatStrings {
    fn read(&mut self, block: &Block<'_>, features: &[&[u8]]) -> Result<Result<(), Stopped>> {
        for (row, feature) in features.iter().enumerate() {
            if let Err(fault) = self.read_row(block, row, feature) {
                return Ok(Err(Stopped { row, fault }));
            }
        }
        Ok(Ok(()))
    }

    fn finish(self: Box<Self>, records: &BytesArray) -> Result<Decoded> {
        let dims = Dims::from_slice(&[self.views.len()]);
        let values = BytesArray::new(records.parts().0.to_vec(), self.views)?;
        let values = Tensor::text(DType::Bytes, dims, values)?;
        Ok(Decoded::Flat(Flat { values, offsets: self.offsets }))
    }
}
