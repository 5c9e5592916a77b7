//! FixedLen: each value is written where it stays, in the column that is handed out.

use crate::data::{BufferMut, BytesArray, DType, Dims, Tensor, View};
use crate::error::{Error, Result};
use crate::formats::example::{Kind, Scalar, strings};
use crate::formats::parse::decode::{Block, Decoded, Reader, Stopped, list_of};
use crate::formats::parse::message::Fault;

fn stacked(rows: usize, dims: &Dims) -> Dims {
    std::iter::once(rows).chain(dims.iter().copied()).collect()
}

/// A column of numbers.
pub(super) struct FixedScalars<T> {
    dims: Dims,
    volume: usize,
    default: Option<Vec<T>>,
    out: BufferMut,
}

impl<T: Scalar> FixedScalars<T> {
    pub(super) fn new(
        rows: usize,
        dims: &Dims,
        volume: usize,
        default: Option<&Tensor>,
    ) -> Result<Self> {
        let bytes = rows.checked_mul(volume).and_then(|count| count.checked_mul(size_of::<T>()));
        let too_large = || {
            Error::resource_exhausted(format!("{rows} examples of shape {dims:?} are too large"))
        };
        let out = BufferMut::scratch(bytes.ok_or_else(too_large)?)?;
        let default = default.map(|value| value.values::<T>().map(<[T]>::to_vec)).transpose()?;
        Ok(FixedScalars { dims: stacked(rows, dims), volume, default, out })
    }
}

/// Reads a feature into its place.
#[inline]
fn read_scalars<T: Scalar>(
    feature: &[u8],
    out: &mut [T],
    default: Option<&[T]>,
) -> Result<(), Fault> {
    match (list_of(feature, T::KIND)?, default) {
        (Some(list), _) => match T::read(list, out)? {
            count if count == out.len() => Ok(()),
            count => Err(Fault::Count(count)),
        },
        (None, Some(default)) => {
            out.copy_from_slice(default);
            Ok(())
        }
        (None, None) => Err(Fault::Missing),
    }
}

impl<T: Scalar> Reader for FixedScalars<T> {
    fn read(&mut self, block: &Block<'_>, features: &[&[u8]]) -> Result<Result<(), Stopped>> {
        let default = self.default.as_deref();
        let out = &mut self.out.typed_mut::<T>()[block.start * self.volume..];
        for (row, feature) in features.iter().enumerate() {
            let out = &mut out[row * self.volume..][..self.volume];
            if let [out] = out
                && let Some(head) = block.head(row, feature)
                && let Some(value) = T::single(head, feature.len())
            {
                *out = value;
                continue;
            }
            if let Err(fault) = read_scalars(feature, out, default) {
                return Ok(Err(Stopped { row, fault }));
            }
        }
        Ok(Ok(()))
    }

    fn finish(self: Box<Self>, _: &BytesArray) -> Result<Decoded> {
        Ok(Decoded::Fixed(Tensor::fixed(T::DTYPE, self.dims, self.out.freeze())?))
    }
}

/// A column of byte strings, which stay in the records.
pub(super) struct FixedStrings {
    dims: Dims,
    volume: usize,
    default: Option<BytesArray>,
    views: Vec<View>,
}

/// Stands for the buffers of the default until all rows are read.
const OF_DEFAULT: u32 = 1 << 31;

impl FixedStrings {
    pub(super) fn new(
        rows: usize,
        dims: &Dims,
        volume: usize,
        default: Option<&Tensor>,
    ) -> Result<Self> {
        let default = default.map(|value| value.strings().cloned()).transpose()?;
        // The number of values is checked against what records hold, so it is not reserved here.
        let views = Vec::with_capacity(if volume == 1 { rows } else { 0 });
        Ok(FixedStrings { dims: stacked(rows, dims), volume, default, views })
    }

    fn read_row(&mut self, block: &Block<'_>, row: usize, feature: &[u8]) -> Result<(), Fault> {
        match (list_of(feature, Kind::Bytes)?, &self.default) {
            (Some(list), _) => {
                let views = &mut self.views;
                match strings(list, |value| views.push(block.view(row, value)))? {
                    count if count == self.volume => Ok(()),
                    count => Err(Fault::Count(count)),
                }
            }
            (None, Some(default)) => {
                let views = default.parts().1.iter();
                self.views.extend(views.map(|v| View { buffer: v.buffer | OF_DEFAULT, ..*v }));
                Ok(())
            }
            (None, None) => Err(Fault::Missing),
        }
    }
}

impl Reader for FixedStrings {
    fn read(&mut self, block: &Block<'_>, features: &[&[u8]]) -> Result<Result<(), Stopped>> {
        for (row, feature) in features.iter().enumerate() {
            if let Err(fault) = self.read_row(block, row, feature) {
                return Ok(Err(Stopped { row, fault }));
            }
        }
        Ok(Ok(()))
    }

    fn finish(mut self: Box<Self>, records: &BytesArray) -> Result<Decoded> {
        let mut buffers = records.parts().0.to_vec();
        if let Some(default) = &self.default {
            let base = buffers.len() as u32;
            for view in self.views.iter_mut().filter(|view| view.buffer >= OF_DEFAULT) {
                view.buffer = base + (view.buffer & !OF_DEFAULT);
            }
            buffers.extend(default.parts().0.iter().cloned());
        }
        let values = BytesArray::new(buffers, self.views)?;
        Ok(Decoded::Fixed(Tensor::text(DType::Bytes, self.dims, values)?))
    }
}
