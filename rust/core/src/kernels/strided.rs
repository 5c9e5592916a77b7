//! Copies of a tensor along other strides: what transposing, slicing and broadcasting come to.

use bytemuck::Pod;
use num_complex::Complex;
use smallvec::SmallVec;

use crate::data::shape::volume;
use crate::data::{BufferMut, Data, Dims, Tensor};
use crate::error::{Error, Result};

/// A way through the values of a tensor: the shape of the result, how far each of its axes moves,
/// and where it starts.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Walk {
    pub(crate) dims: Dims,
    pub(crate) strides: SmallVec<[isize; 6]>,
    pub(crate) start: usize,
}

impl Walk {
    /// Through a row-major tensor as it lies.
    pub(crate) fn plain(dims: &[usize]) -> Self {
        let mut strides: SmallVec<[isize; 6]> = SmallVec::from_elem(1, dims.len());
        for axis in (1..dims.len()).rev() {
            strides[axis - 1] = strides[axis] * dims[axis].max(1) as isize;
        }
        Walk { dims: dims.into(), strides, start: 0 }
    }

    /// The same walk for each of `rows` rows that lie `row_len` values apart.
    pub(crate) fn for_rows(mut self, rows: usize, row_len: usize) -> Self {
        self.dims.insert(0, rows);
        self.strides.insert(0, row_len as isize);
        self
    }

    /// Axes of size 1 left out, and neighbours that are walked without a jump made one.
    fn collapsed(&self) -> SmallVec<[(usize, isize); 6]> {
        let mut axes: SmallVec<[(usize, isize); 6]> = SmallVec::new();
        for (size, stride) in self.dims.iter().zip(&self.strides).filter(|(size, _)| **size != 1) {
            match axes.last_mut() {
                Some(last) if last.1 == stride * *size as isize => *last = (last.0 * size, *stride),
                _ => axes.push((*size, *stride)),
            }
        }
        axes
    }

    /// Calls `body` with the start of each run of the innermost axis; all runs are alike.
    fn runs(axes: &[(usize, isize)], start: usize, body: &mut dyn FnMut(usize)) {
        let mut counters: SmallVec<[usize; 6]> = SmallVec::from_elem(0, axes.len());
        let mut place = start as isize;
        loop {
            body(place as usize);
            let mut axis = axes.len();
            loop {
                let Some(outer) = axis.checked_sub(1) else { return };
                axis = outer;
                counters[axis] += 1;
                place += axes[axis].1;
                if counters[axis] < axes[axis].0 {
                    break;
                }
                counters[axis] = 0;
                place -= axes[axis].1 * axes[axis].0 as isize;
            }
        }
    }

    /// The values on the way; memory is shared where they lie end to end.
    ///
    /// # Errors
    /// `Internal` if the walk leaves the tensor.
    pub(crate) fn collect(&self, tensor: &Tensor) -> Result<Tensor> {
        let count = volume(&self.dims)?;
        if count == 0 {
            return Tensor::zeros(tensor.dtype(), self.dims.clone());
        }
        let axes = self.collapsed();
        let (outer, inner, stride) = match axes.split_last() {
            Some(((inner, stride), outer)) => (outer, *inner, *stride),
            None => (&axes[..], 1, 1),
        };
        if outer.is_empty() && stride == 1 {
            let flat = tensor.clone().reshape([tensor.len()][..].into())?;
            return flat.rows(self.start..self.start + count)?.reshape(self.dims.clone());
        }
        match (tensor.data(), tensor.dtype().size()) {
            (Data::Text(values), _) => {
                let mut places = Vec::with_capacity(count);
                Self::runs(outer, self.start, &mut |start| {
                    let place = |k: usize| (start as isize + k as isize * stride) as usize;
                    places.extend((0..inner).map(place));
                });
                Tensor::text(tensor.dtype(), self.dims.clone(), values.gather(&places))
            }
            (Data::Fixed(buffer), Some(size)) => {
                let mut out = BufferMut::scratch(count * size)?;
                let run = (outer, self.start, inner, stride);
                match size {
                    1 => copy::<u8>(buffer, &mut out, run)?,
                    2 => copy::<u16>(buffer, &mut out, run)?,
                    4 => copy::<u32>(buffer, &mut out, run)?,
                    8 => copy::<u64>(buffer, &mut out, run)?,
                    _ => copy::<Complex<f64>>(buffer, &mut out, run)?,
                }
                Tensor::fixed(tensor.dtype(), self.dims.clone(), out.freeze())
            }
            (Data::Fixed(_), None) => Err(Error::internal("text in a fixed tensor")),
        }
    }
}

fn copy<T: Pod>(
    from: &[u8],
    to: &mut [u8],
    (outer, start, inner, stride): (&[(usize, isize)], usize, usize, isize),
) -> Result<()> {
    let internal = |e: bytemuck::PodCastError| Error::internal(e.to_string());
    let from: &[T] = bytemuck::try_cast_slice(from).map_err(internal)?;
    let to: &mut [T] = bytemuck::try_cast_slice_mut(to).map_err(internal)?;
    let mut chunks = to.chunks_exact_mut(inner);
    Walk::runs(outer, start, &mut |start| {
        let Some(out) = chunks.next() else { return };
        match stride {
            1 => out.copy_from_slice(&from[start..start + inner]),
            0 => out.fill(from[start]),
            _ => {
                let mut place = start as isize;
                for out in out {
                    *out = from[place as usize];
                    place += stride;
                }
            }
        }
    });
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tensor(dims: &[usize]) -> Tensor {
        let count: usize = dims.iter().product();
        Tensor::from_values(dims, &(0..count as i32).collect::<Vec<_>>()).unwrap()
    }

    fn values(walk: &Walk, dims: &[usize]) -> Vec<i32> {
        walk.collect(&tensor(dims)).unwrap().values::<i32>().unwrap().to_vec()
    }

    #[test]
    fn a_plain_walk_shares_memory() {
        let from = tensor(&[3, 4]);
        let to = Walk::plain(&[3, 4]).collect(&from).unwrap();
        assert_eq!(from.bytes().unwrap().as_ptr(), to.bytes().unwrap().as_ptr());
    }

    #[test]
    fn axes_are_exchanged_reversed_and_repeated() {
        let walk = |strides: &[isize], dims: &[usize], start| Walk {
            dims: dims.into(),
            strides: strides.into(),
            start,
        };
        assert_eq!(values(&walk(&[1, 3], &[3, 2], 0), &[2, 3]), [0, 3, 1, 4, 2, 5]);
        assert_eq!(values(&walk(&[-1], &[3], 2), &[3]), [2, 1, 0]);
        assert_eq!(values(&walk(&[0, 1], &[2, 2], 0), &[2]), [0, 1, 0, 1]);
        assert_eq!(values(&walk(&[1, 0], &[2, 2], 0), &[2]), [0, 0, 1, 1]);
        assert!(values(&walk(&[1], &[0], 0), &[2]).is_empty());
    }
}
