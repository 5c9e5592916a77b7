//! Picking values by their places: what gathering, padding and fancy indexing come to.
//!
//! Sizes may come from values that a file holds, so room is asked for before it is used, and a
//! result that a row computes the size of is bounded.

use crate::data::shape::volume;
use crate::data::{BufferMut, BytesArray, Column, Data, Dims, Tensor};
use crate::error::{Error, Result};
use crate::graph::kernel::Arg;

/// The place of a value that is not there: the filler is taken.
pub(crate) const FILL: usize = usize::MAX;

/// What one result may hold where values, not shapes, say how large it is.
const MAX_BYTES: usize = 4 << 30;

/// Room for places, checked.
pub(crate) fn room<T>(count: usize) -> Result<Vec<T>> {
    let mut places = Vec::new();
    places
        .try_reserve_exact(count)
        .map_err(|_| Error::resource_exhausted(format!("no memory for {count} values")))?;
    Ok(places)
}

/// Refuses a result whose size values gave, if it is out of all proportion.
pub(crate) fn bounded(dims: &[usize], size: Option<usize>) -> Result<usize> {
    let count = volume(dims)?;
    if count.checked_mul(size.unwrap_or(16)).is_none_or(|bytes| bytes > MAX_BYTES) {
        return Err(Error::resource_exhausted(format!(
            "a result of shape {dims:?} is larger than the 4 GiB that one operation may give"
        )));
    }
    Ok(count)
}

/// The runs of `run` values at `places`, in the shape `dims`.
pub(crate) fn pick(x: &Tensor, places: &[usize], run: usize, dims: Dims) -> Result<Tensor> {
    if volume(&dims)? == 0 {
        return Tensor::zeros(x.dtype(), dims);
    }
    let run = run.max(1);
    x.clone().reshape([x.len() / run, run][..].into())?.gather(places)?.reshape(dims)
}

/// As [`pick`], with the one value of `filler` at [`FILL`].
pub(crate) fn pick_or(
    x: &Tensor,
    filler: &Tensor,
    places: &[usize],
    run: usize,
    dims: Dims,
) -> Result<Tensor> {
    let count = volume(&dims)?;
    if count == 0 {
        return Tensor::zeros(x.dtype(), dims);
    }
    let run = run.max(1);
    match (x.data(), filler.data(), x.dtype().size()) {
        (Data::Fixed(from), Data::Fixed(filler), Some(size)) => {
            let mut out = BufferMut::scratch(count * size)?;
            let bytes = run * size;
            for (out, place) in out.chunks_exact_mut(bytes).zip(places) {
                match *place {
                    FILL => out.chunks_exact_mut(size).for_each(|out| out.copy_from_slice(filler)),
                    place => out.copy_from_slice(&from[place * bytes..][..bytes]),
                }
            }
            Tensor::fixed(x.dtype(), dims, out.freeze())
        }
        (Data::Text(values), Data::Text(filler), _) => {
            let mut flat = room(count)?;
            for place in places {
                match *place {
                    FILL => flat.extend(std::iter::repeat_n(values.len(), run)),
                    place => flat.extend(place * run..(place + 1) * run),
                }
            }
            let both = BytesArray::concat(&[values, filler]);
            Tensor::text(x.dtype(), dims, both.gather(&flat))
        }
        _ => Err(Error::internal("a filler of another type")),
    }
}

/// Calls `body` with each index of a shape, in row-major order, and stops at its first error.
pub(crate) fn each_index(
    dims: &[usize],
    mut body: impl FnMut(&[usize]) -> Result<()>,
) -> Result<()> {
    if dims.contains(&0) {
        return Ok(());
    }
    let mut index = Dims::from_elem(0, dims.len());
    loop {
        body(&index)?;
        let mut axis = dims.len();
        loop {
            let Some(outer) = axis.checked_sub(1) else { return Ok(()) };
            axis = outer;
            index[axis] += 1;
            if index[axis] < dims[axis] {
                break;
            }
            index[axis] = 0;
        }
    }
}

/// Row by row results of kernels that cannot know their shape before: one column for each.
///
/// # Errors
/// That of the first row that fails.
pub(crate) fn by_row<const N: usize>(
    args: &[Arg],
    rows: usize,
    mut row: impl FnMut(&[Tensor]) -> Result<[Tensor; N]>,
) -> Result<Vec<Column>> {
    if args.iter().all(Arg::is_const) {
        let tensors: Vec<Tensor> =
            args.iter().map(|arg| arg.tensor().cloned()).collect::<Result<_>>()?;
        let results = row(&tensors)?.into_iter();
        return results.map(|tensor| Arg::Const(tensor).into_column(rows)).collect();
    }
    let mut results: [Vec<Tensor>; N] = std::array::from_fn(|_| Vec::new());
    for index in 0..rows {
        let of = |arg: &Arg| match arg {
            Arg::Const(tensor) => Ok(tensor.clone()),
            Arg::Column(_) => arg.tensor()?.row(index),
        };
        let tensors: Vec<Tensor> = args.iter().map(of).collect::<Result<_>>()?;
        for (results, tensor) in results.iter_mut().zip(row(&tensors)?) {
            results.push(tensor);
        }
    }
    results.iter().map(|tensors| Column::from_tensors(tensors)).collect()
}
