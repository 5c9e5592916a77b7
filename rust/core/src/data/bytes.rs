//! Many byte strings over few shared buffers: the storage of `bytes` and `str` tensors.
//!
//! Each value is a [`View`] into one of the buffers, so records stay where the file block that
//! brought them lies, and concatenating, slicing and gathering copy views, never payload.

use std::ops::Range;
use std::sync::Arc;

use crate::data::buffer::{Buffer, BufferMut};
use crate::error::{Error, Result};

/// Place of one value: which buffer, and which bytes of it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct View {
    /// Index of the buffer.
    pub buffer: u32,
    /// First byte.
    pub start: usize,
    /// Number of bytes.
    pub len: usize,
}

/// An array of byte strings. Clones and slices are cheap.
#[derive(Clone, Debug)]
pub struct BytesArray {
    buffers: Arc<[Buffer]>,
    views: Arc<[View]>,
    range: Range<usize>,
}

impl BytesArray {
    /// An array over `buffers`.
    ///
    /// # Errors
    /// `Internal` if a view does not lie within its buffer.
    pub fn new(buffers: Vec<Buffer>, views: Vec<View>) -> Result<Self> {
        let inside = |view: &View| {
            buffers.get(view.buffer as usize).is_some_and(|buffer| {
                view.start <= buffer.len() && view.len <= buffer.len() - view.start
            })
        };
        if !views.iter().all(inside) {
            return Err(Error::internal("a view lies outside its buffer"));
        }
        let range = 0..views.len();
        Ok(BytesArray { buffers: buffers.into(), views: views.into(), range })
    }

    /// Copies values into one buffer.
    ///
    /// # Errors
    /// `ResourceExhausted` if there is no memory for them.
    pub fn from_values<V: AsRef<[u8]>>(values: impl IntoIterator<Item = V>) -> Result<Self> {
        let mut builder = BytesBuilder::default();
        values.into_iter().for_each(|value| builder.push(value.as_ref()));
        builder.finish()
    }

    /// Number of values.
    pub fn len(&self) -> usize {
        self.range.len()
    }

    /// True if there are no values.
    pub fn is_empty(&self) -> bool {
        self.range.is_empty()
    }

    fn views(&self) -> &[View] {
        &self.views[self.range.clone()]
    }

    /// The buffers, and where in them each value lies: for readers that give out parts of values.
    pub fn parts(&self) -> (&[Buffer], &[View]) {
        (&self.buffers, self.views())
    }

    /// Value number `index`.
    ///
    /// # Panics
    /// If there is none, as slices do.
    pub fn get(&self, index: usize) -> &[u8] {
        let view = self.views()[index];
        &self.buffers[view.buffer as usize][view.start..view.start + view.len]
    }

    /// All values in order.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &[u8]> + Clone {
        let buffers = &self.buffers;
        let value = |view: &View| &buffers[view.buffer as usize][view.start..view.start + view.len];
        self.views().iter().map(value)
    }

    /// Sum of the lengths of the values.
    pub fn payload_bytes(&self) -> usize {
        self.views().iter().map(|view| view.len).sum()
    }

    /// Memory that lives because of the array, see [`Buffer::count`].
    pub fn count(&self, counter: u64) -> usize {
        let views = self.range.len() * size_of::<View>();
        self.buffers.iter().map(|buffer| buffer.count(counter)).sum::<usize>() + views
    }

    /// Value number `index` as a buffer that shares its memory.
    ///
    /// # Errors
    /// Never in a well-formed array.
    pub fn buffer(&self, index: usize) -> Result<Buffer> {
        let view = self.views()[index];
        self.buffers[view.buffer as usize].slice(view.start..view.start + view.len)
    }

    /// The values of `range`, sharing memory.
    pub fn slice(&self, range: Range<usize>) -> Self {
        let start = self.range.start + range.start;
        let range = start..(start + range.len()).min(self.range.end);
        BytesArray { range, ..self.clone() }
    }

    /// The values at `indices`, sharing memory.
    pub fn gather(&self, indices: &[usize]) -> Self {
        let views = self.views();
        let views: Arc<[View]> = indices.iter().map(|index| views[*index]).collect();
        let range = 0..views.len();
        BytesArray { buffers: Arc::clone(&self.buffers), views, range }
    }

    /// All values of several arrays, sharing memory.
    pub fn concat(arrays: &[&Self]) -> Self {
        if let [only] = arrays {
            return (*only).clone();
        }
        let mut buffers: Vec<Buffer> = Vec::new();
        let mut views = Vec::with_capacity(arrays.iter().map(|array| array.len()).sum());
        for array in arrays {
            let base = buffers.len() as u32;
            buffers.extend(array.buffers.iter().cloned());
            views.extend(array.views().iter().map(|v| View { buffer: v.buffer + base, ..*v }));
        }
        let range = 0..views.len();
        BytesArray { buffers: buffers.into(), views: views.into(), range }
    }
}

impl PartialEq for BytesArray {
    fn eq(&self, other: &Self) -> bool {
        self.len() == other.len() && self.iter().eq(other.iter())
    }
}

/// Collects values by copying them into one buffer.
#[derive(Default, Debug)]
pub struct BytesBuilder {
    payload: Vec<u8>,
    views: Vec<View>,
}

impl BytesBuilder {
    /// Appends a value.
    pub fn push(&mut self, value: &[u8]) {
        self.views.push(View { buffer: 0, start: self.payload.len(), len: value.len() });
        self.payload.extend_from_slice(value);
    }

    /// Number of values so far.
    pub fn len(&self) -> usize {
        self.views.len()
    }

    /// True if there are no values yet.
    pub fn is_empty(&self) -> bool {
        self.views.is_empty()
    }

    /// The array.
    ///
    /// # Errors
    /// `ResourceExhausted` if there is no memory for it.
    pub fn finish(self) -> Result<BytesArray> {
        let mut buffer = BufferMut::scratch(self.payload.len())?;
        buffer.copy_from_slice(&self.payload);
        BytesArray::new(vec![buffer.freeze()], self.views)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slices_gathers_and_concats_share_payload() {
        let a = BytesArray::from_values(["ab", "", "cde"]).unwrap();
        let b = BytesArray::from_values(["x"]).unwrap();
        let all = BytesArray::concat(&[&a, &b]);
        let values: Vec<_> = all.iter().collect();
        assert_eq!(values, [b"ab".as_slice(), b"", b"cde", b"x"]);
        assert_eq!(all.slice(1..4).gather(&[2, 0]).get(0), b"x");
        assert_eq!(all.slice(1..4).slice(1..2).get(0), b"cde");
        assert_eq!(all.payload_bytes(), 6);
    }

    #[test]
    fn views_outside_their_buffer_are_refused() {
        let buffer = Buffer::copy_from(b"abc").unwrap();
        let view = View { buffer: 0, start: 2, len: 2 };
        assert!(BytesArray::new(vec![buffer], vec![view]).is_err());
    }
}
