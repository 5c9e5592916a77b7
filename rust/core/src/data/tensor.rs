//! A dense array: dtype, shape, and values in row-major order.

use std::ops::Range;

use crate::data::buffer::{Buffer, BufferMut};
use crate::data::bytes::BytesArray;
use crate::data::dtype::{DType, Element};
use crate::data::shape::{Dims, volume};
use crate::error::{Error, Result};

/// The values of a tensor.
#[derive(Clone, Debug)]
pub enum Data {
    /// Fixed-size values in one contiguous buffer.
    Fixed(Buffer),
    /// `bytes` or `str` values.
    Text(BytesArray),
}

/// A dense array. Clones and row slices share memory.
#[derive(Clone, Debug)]
pub struct Tensor {
    dtype: DType,
    dims: Dims,
    data: Data,
}

impl Tensor {
    /// A tensor of fixed-size values.
    ///
    /// # Errors
    /// `Internal` if the buffer's length does not fit dtype and shape.
    pub fn fixed(dtype: DType, dims: Dims, buffer: Buffer) -> Result<Self> {
        let size = dtype.size().ok_or_else(|| Error::internal("text in a fixed tensor"))?;
        if volume(&dims)?.checked_mul(size) != Some(buffer.len()) {
            let bytes = buffer.len();
            return Err(Error::internal(format!("{bytes} bytes for {dtype} of shape {dims:?}")));
        }
        Ok(Tensor { dtype, dims, data: Data::Fixed(buffer) })
    }

    /// A tensor of `bytes` or `str`.
    ///
    /// # Errors
    /// `Internal` if the number of values does not fit the shape.
    pub fn text(dtype: DType, dims: Dims, values: BytesArray) -> Result<Self> {
        if !dtype.is_text() || volume(&dims)? != values.len() {
            let count = values.len();
            return Err(Error::internal(format!("{count} strings for {dtype} of shape {dims:?}")));
        }
        Ok(Tensor { dtype, dims, data: Data::Text(values) })
    }

    /// A tensor of typed values, copied.
    ///
    /// # Errors
    /// `Internal` if their number does not fit the shape.
    pub fn from_values<T: Element>(dims: &[usize], values: &[T]) -> Result<Self> {
        Self::fixed(T::DTYPE, dims.into(), Buffer::from_values(values)?)
    }

    /// A scalar.
    ///
    /// # Errors
    /// `ResourceExhausted` if there is no memory for it.
    pub fn scalar<T: Element>(value: T) -> Result<Self> {
        Self::from_values(&[], &[value])
    }

    /// Values of zero (or empty strings).
    ///
    /// # Errors
    /// `ResourceExhausted` if there is no memory for them.
    pub fn zeros(dtype: DType, dims: Dims) -> Result<Self> {
        let count = volume(&dims)?;
        match dtype.size() {
            Some(size) => {
                let bytes = count.saturating_mul(size);
                Self::fixed(dtype, dims, BufferMut::zeroed(bytes)?.freeze())
            }
            None => {
                let values = BytesArray::from_values(std::iter::repeat_n(b"", count))?;
                Self::text(dtype, dims, values)
            }
        }
    }

    /// The element type.
    pub fn dtype(&self) -> DType {
        self.dtype
    }

    /// The sizes of the axes.
    pub fn dims(&self) -> &[usize] {
        &self.dims
    }

    /// Number of values.
    pub fn len(&self) -> usize {
        match (&self.data, self.dtype.size()) {
            (Data::Fixed(buffer), Some(size)) => buffer.len() / size,
            (Data::Text(values), _) => values.len(),
            (Data::Fixed(_), None) => 0,
        }
    }

    /// True if there are no values.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The storage.
    pub fn data(&self) -> &Data {
        &self.data
    }

    /// The values of a fixed-size tensor.
    ///
    /// # Errors
    /// `Internal` if `T` is not its type. (`u8` reads booleans too.)
    pub fn values<T: Element>(&self) -> Result<&[T]> {
        let bool_as_u8 = self.dtype == DType::Bool && T::DTYPE == DType::UInt8;
        match &self.data {
            Data::Fixed(buffer) if self.dtype == T::DTYPE || bool_as_u8 => buffer.typed(),
            _ => Err(Error::internal(format!("{} tensor read as {}", self.dtype, T::DTYPE))),
        }
    }

    /// The raw bytes of a fixed-size tensor.
    ///
    /// # Errors
    /// `Internal` for text.
    pub fn bytes(&self) -> Result<&Buffer> {
        match &self.data {
            Data::Fixed(buffer) => Ok(buffer),
            Data::Text(_) => Err(Error::internal("text tensor read as fixed-size values")),
        }
    }

    /// The values of a `bytes` or `str` tensor.
    ///
    /// # Errors
    /// `Internal` for other types.
    pub fn strings(&self) -> Result<&BytesArray> {
        match &self.data {
            Data::Text(values) => Ok(values),
            Data::Fixed(_) => Err(Error::internal(format!("{} tensor read as text", self.dtype))),
        }
    }

    /// Memory that the values take.
    pub fn payload_bytes(&self) -> usize {
        match &self.data {
            Data::Fixed(buffer) => buffer.len(),
            Data::Text(values) => values.payload_bytes(),
        }
    }

    /// Memory that lives because of the tensor, see [`Buffer::count`].
    pub fn count(&self, counter: u64) -> usize {
        match &self.data {
            Data::Fixed(buffer) => buffer.count(counter),
            Data::Text(values) => values.count(counter),
        }
    }

    /// Memory that the values take, unless somebody keeps it anyway.
    pub fn own_bytes(&self) -> usize {
        match &self.data {
            Data::Fixed(buffer) if buffer.is_kept() => 0,
            Data::Text(values) if values.parts().0.iter().all(Buffer::is_kept) => 0,
            _ => self.payload_bytes(),
        }
    }

    /// Calls `visit` on each buffer.
    pub fn each_buffer(&self, visit: &mut impl FnMut(&Buffer)) {
        match &self.data {
            Data::Fixed(buffer) => visit(buffer),
            Data::Text(values) => values.parts().0.iter().for_each(visit),
        }
    }

    /// The same values in another shape.
    ///
    /// # Errors
    /// `InvalidArgument` if the shape holds another number of values.
    pub fn reshape(self, dims: Dims) -> Result<Self> {
        if volume(&dims)? != self.len() {
            let (from, count) = (self.dims, volume(&dims)?);
            return Err(Error::invalid_argument(format!(
                "cannot reshape a tensor of shape {from:?} into shape {dims:?}, which holds {count} values"
            )));
        }
        Ok(Tensor { dims, ..self })
    }

    /// Number of values in one row, and bytes if they are of fixed size.
    fn row_len(&self) -> usize {
        self.dims.get(1..).map_or(0, |rest| rest.iter().product())
    }

    /// Rows `range` along the first axis, sharing memory.
    ///
    /// # Errors
    /// `Internal` for a scalar or a range outside the tensor.
    pub fn rows(&self, range: Range<usize>) -> Result<Self> {
        let Some(count) = self.dims.first() else {
            return Err(Error::internal("rows of a scalar"));
        };
        if range.start > range.end || range.end > *count {
            return Err(Error::internal(format!("rows {range:?} of {count}")));
        }
        let mut dims = self.dims.clone();
        dims[0] = range.len();
        let row = self.row_len();
        let data = match (&self.data, self.dtype.size()) {
            (Data::Fixed(buffer), Some(size)) => {
                Data::Fixed(buffer.slice(range.start * row * size..range.end * row * size)?)
            }
            (Data::Text(values), _) => Data::Text(values.slice(range.start * row..range.end * row)),
            (Data::Fixed(_), None) => return Err(Error::internal("text in a fixed tensor")),
        };
        Ok(Tensor { dtype: self.dtype, dims, data })
    }

    /// Row `index` without the first axis, sharing memory.
    ///
    /// # Errors
    /// `Internal` for a scalar or an index outside the tensor.
    pub fn row(&self, index: usize) -> Result<Self> {
        let mut row = self.rows(index..index + 1)?;
        row.dims.remove(0);
        Ok(row)
    }

    /// Rows at `indices`, copied (strings share payload).
    ///
    /// # Errors
    /// `Internal` for a scalar or an index outside the tensor.
    pub fn gather(&self, indices: &[usize]) -> Result<Self> {
        let row = self.row_len();
        let mut dims = self.dims.clone();
        match dims.first_mut() {
            Some(first) if indices.iter().all(|index| index < first) => *first = indices.len(),
            _ => return Err(Error::internal("gather outside the tensor")),
        }
        let data = match (&self.data, self.dtype.size()) {
            (Data::Fixed(buffer), Some(size)) => {
                let row = row * size;
                let mut out = BufferMut::scratch(indices.len() * row)?;
                gather_bytes(buffer, row, indices, &mut out);
                Data::Fixed(out.freeze())
            }
            (Data::Text(values), _) if row == 1 => Data::Text(values.gather(indices)),
            (Data::Text(values), _) => {
                let flat: Vec<usize> =
                    indices.iter().flat_map(|index| index * row..(index + 1) * row).collect();
                Data::Text(values.gather(&flat))
            }
            (Data::Fixed(_), None) => return Err(Error::internal("text in a fixed tensor")),
        };
        Ok(Tensor { dtype: self.dtype, dims, data })
    }

    /// Tensors of one dtype and row shape, joined along the first axis. Fixed-size values are
    /// copied, strings share payload; a single tensor is returned as it is.
    ///
    /// # Errors
    /// `Internal` if they do not fit together.
    pub fn concat(tensors: &[&Self]) -> Result<Self> {
        let [first, rest @ ..] = tensors else {
            return Err(Error::internal("concat of no tensors"));
        };
        if rest.is_empty() {
            return Ok((*first).clone());
        }
        let fits = |t: &&Self| t.dtype == first.dtype && t.dims.get(1..) == first.dims.get(1..);
        if first.dims.is_empty() || !rest.iter().all(fits) {
            return Err(Error::internal("concat of tensors that differ in dtype or shape"));
        }
        let mut dims = first.dims.clone();
        dims[0] = tensors.iter().map(|tensor| tensor.dims[0]).sum();
        if first.dtype.is_text() {
            let arrays: Vec<_> = tensors.iter().map(|t| t.strings()).collect::<Result<_>>()?;
            return Self::text(first.dtype, dims, BytesArray::concat(&arrays));
        }
        let total = tensors.iter().map(|tensor| tensor.payload_bytes()).sum();
        let mut out = BufferMut::scratch(total)?;
        let mut at = 0;
        for tensor in tensors {
            let bytes = tensor.bytes()?;
            out[at..at + bytes.len()].copy_from_slice(bytes);
            at += bytes.len();
        }
        Self::fixed(first.dtype, dims, out.freeze())
    }

    /// The same tensor in memory that it alone holds, so that it can be given away.
    ///
    /// # Errors
    /// `ResourceExhausted` if there is no memory for a copy.
    pub fn into_owned(self) -> Result<Self> {
        match &self.data {
            Data::Fixed(buffer) if !buffer.is_owned() => {
                let data = Data::Fixed(Buffer::copy_from(buffer)?);
                Ok(Tensor { data, ..self })
            }
            _ => Ok(self),
        }
    }
}

fn gather_bytes(source: &[u8], row: usize, indices: &[usize], out: &mut [u8]) {
    // Small rows of a size the compiler knows copy several times faster.
    match row {
        0 => {}
        4 => gather_array::<4>(source, indices, out),
        8 => gather_array::<8>(source, indices, out),
        _ => {
            for (out, index) in out.chunks_exact_mut(row).zip(indices) {
                out.copy_from_slice(&source[index * row..][..row]);
            }
        }
    }
}

fn gather_array<const N: usize>(source: &[u8], indices: &[usize], out: &mut [u8]) {
    let (source, _) = source.as_chunks::<N>();
    let (out, _) = out.as_chunks_mut::<N>();
    for (out, index) in out.iter_mut().zip(indices) {
        *out = source[*index];
    }
}

impl PartialEq for Tensor {
    /// Bitwise equality: NaNs of the same bits are equal.
    fn eq(&self, other: &Self) -> bool {
        self.dtype == other.dtype
            && self.dims == other.dims
            && match (&self.data, &other.data) {
                (Data::Fixed(a), Data::Fixed(b)) => **a == **b,
                (Data::Text(a), Data::Text(b)) => a == b,
                _ => false,
            }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_share_and_gathers_copy() {
        let tensor = Tensor::from_values(&[3, 2], &[1_i32, 2, 3, 4, 5, 6]).unwrap();
        assert_eq!(tensor.row(1).unwrap().values::<i32>().unwrap(), [3, 4]);
        let picked = tensor.gather(&[2, 0]).unwrap();
        assert_eq!(picked.values::<i32>().unwrap(), [5, 6, 1, 2]);
        assert_eq!(Tensor::concat(&[&picked, &tensor]).unwrap().dims(), [5, 2]);
        assert!(tensor.rows(2..4).is_err());
    }

    #[test]
    fn strings_keep_their_rows() {
        let values = BytesArray::from_values(["a", "bb", "", "d"]).unwrap();
        let tensor = Tensor::text(DType::Bytes, [2, 2][..].into(), values).unwrap();
        let picked = tensor.gather(&[1, 1]).unwrap();
        assert_eq!(picked.strings().unwrap().get(3), b"d");
        assert_eq!(tensor.row(0).unwrap().strings().unwrap().get(1), b"bb");
    }

    #[test]
    fn a_wrong_buffer_length_is_refused() {
        let buffer = Buffer::copy_from(&[0; 7]).unwrap();
        assert!(Tensor::fixed(DType::Int32, [2][..].into(), buffer).is_err());
    }
}
