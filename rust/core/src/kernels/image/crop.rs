//! `random_crop`: a part of an array, of a given size, at a place that random integers say.
//!
//! Along each axis the place is the integer modulo the number of places there are, as in
//! TensorFlow.

use std::sync::Arc;

use smallvec::SmallVec;

use super::each::{Each, Known, each_row};
use super::resize::integers;
use crate::data::{Dims, PartialShape, Tensor};
use crate::error::{Error, Result};
use crate::graph::attr::Attrs;
use crate::graph::kernel::{Kernel, Tolerance};
use crate::kernels::strided::Walk;

#[derive(Debug)]
struct Crop {
    size: Option<Vec<i64>>,
}

pub(super) fn build(op: &str, attrs: &Attrs) -> Result<Option<Arc<dyn Kernel>>> {
    if op != "random_crop" {
        return Ok(None);
    }
    attrs.only(&["size"])?;
    Ok(each_row(Crop { size: attrs.opt_ints("size")? }))
}

/// The size of the part as sizes.
fn sizes(size: &[i64], rank: Option<usize>) -> Result<Dims> {
    if rank.is_some_and(|rank| rank != size.len()) {
        return Err(Error::invalid_argument(format!(
            "random_crop: size has {} numbers for an array of {} axes",
            size.len(),
            rank.unwrap_or(0)
        )));
    }
    let one = |size: &i64| {
        usize::try_from(*size).map_err(|_| {
            Error::invalid_argument(format!("random_crop: sizes are at least 0, got {size}"))
        })
    };
    size.iter().map(one).collect()
}

impl Crop {
    fn size(&self, args: &[Tensor]) -> Result<Dims> {
        let rank = Some(args[0].dims().len());
        match (&self.size, args.get(2)) {
            (Some(size), _) => sizes(size, rank),
            (None, Some(size)) => sizes(&integers("random_crop", size)?, rank),
            (None, None) => Err(Error::invalid_argument("random_crop: there is no size")),
        }
    }
}

impl Each for Crop {
    fn rule(&self, args: &[Known]) -> Result<Known> {
        let wanted = if self.size.is_some() { 2 } else { 3 };
        if args.len() != wanted {
            let text = format!("random_crop: expected {wanted} inputs, got {}", args.len());
            return Err(Error::invalid_argument(text));
        }
        let (dtype, shape) = &args[0];
        if dtype.size().is_none() {
            let text = format!("random_crop: arrays are of numbers, got {dtype}");
            return Err(Error::invalid_argument(text));
        }
        let shape = match &self.size {
            Some(size) => {
                let size = sizes(size, shape.rank())?;
                fits(shape, &size)?;
                PartialShape::from(&size[..])
            }
            None => match shape.rank() {
                Some(rank) => PartialShape::new(std::iter::repeat_n(None, rank)),
                None => PartialShape::UNKNOWN,
            },
        };
        Ok((*dtype, shape))
    }

    fn dims(&self, args: &[Tensor]) -> Result<Dims> {
        let size = self.size(args)?;
        fits(&PartialShape::from(args[0].dims()), &size)?;
        Ok(size)
    }

    fn write(&self, args: &[Tensor], size: &[usize], out: &mut [u8]) -> Result<()> {
        let dims = args[0].dims();
        let draws = integers("random_crop", &args[1])?;
        if draws.len() != dims.len() {
            let (found, rank) = (draws.len(), dims.len());
            let text = format!("random_crop: {found} random integers for {rank} axes");
            return Err(Error::invalid_argument(text));
        }
        let plain = Walk::plain(dims);
        let places = dims.iter().zip(size).zip(&draws).map(|((dim, size), draw)| {
            let places = (dim - size + 1) as i64;
            draw.rem_euclid(places) as usize
        });
        let strides: SmallVec<[isize; 6]> = plain.strides.clone();
        let start = places.zip(&strides).map(|(place, stride)| place * *stride as usize).sum();
        let part = Walk { dims: size.into(), strides, start }.collect(&args[0])?;
        out.copy_from_slice(part.bytes()?);
        Ok(())
    }

    fn tolerance(&self) -> Tolerance {
        Tolerance::Moved
    }
}

/// Refuses parts that are larger than the whole.
fn fits(shape: &PartialShape, size: &[usize]) -> Result<()> {
    let dims = shape.dims().unwrap_or_default();
    if dims.iter().zip(size).any(|(dim, size)| dim.is_some_and(|dim| dim < *size)) {
        let size = PartialShape::from(size);
        return Err(Error::invalid_argument(format!(
            "Need value.shape >= size, got {shape} and {size}"
        )));
    }
    Ok(())
}
