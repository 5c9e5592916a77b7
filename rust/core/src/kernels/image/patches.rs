//! `extract_patches`: small parts of images at regular distances, each laid out along channels.

use std::sync::Arc;

use super::each::{Each, Known, each_row};
use super::resize::wrong_rank;
use crate::data::{Dims, PartialShape, Tensor};
use crate::error::{Error, Result};
use crate::graph::attr::Attrs;
use crate::graph::kernel::{Kernel, Tolerance};

/// One axis: the size of patches, how far apart they and their pixels are.
#[derive(Clone, Copy, Debug)]
struct Axis {
    size: usize,
    stride: usize,
    rate: usize,
}

#[derive(Debug)]
struct Patches {
    axes: [Axis; 2],
    /// Patches may reach over the edge, where there are zeros.
    same: bool,
}

pub(super) fn build(op: &str, attrs: &Attrs) -> Result<Option<Arc<dyn Kernel>>> {
    if op != "extract_patches" {
        return Ok(None);
    }
    attrs.only(&["sizes", "strides", "rates", "padding"])?;
    let lists = [attrs.ints("sizes")?, attrs.ints("strides")?, attrs.ints("rates")?];
    let axis = |k: usize| -> Result<Axis> {
        let mut found = [0; 3];
        for ((found, list), name) in found.iter_mut().zip(&lists).zip(["sizes", "strides", "rates"])
        {
            *found = match list[..] {
                [1, height, width, 1]
                    if (1..=1 << 31).contains(&height) && (1..=1 << 31).contains(&width) =>
                {
                    [height, width][k] as usize
                }
                _ => {
                    return Err(Error::invalid_argument(format!(
                        "extract_patches: {name} must be [1, height, width, 1] above zero, got {list:?}"
                    )));
                }
            };
        }
        let [size, stride, rate] = found;
        Ok(Axis { size, stride, rate })
    };
    let same = match attrs.str("padding")? {
        "SAME" => true,
        "VALID" => false,
        other => {
            let text =
                format!("extract_patches: padding must be \"SAME\" or \"VALID\", got {other:?}");
            return Err(Error::invalid_argument(text));
        }
    };
    Ok(each_row(Patches { axes: [axis(0)?, axis(1)?], same }))
}

impl Axis {
    fn reach(self) -> usize {
        (self.size - 1).saturating_mul(self.rate).saturating_add(1)
    }

    /// Number of patches along an axis of this size.
    fn count(self, size: usize, same: bool) -> usize {
        match same {
            true => size.div_ceil(self.stride),
            false => (size + 1).saturating_sub(self.reach()).div_ceil(self.stride),
        }
    }

    /// Zeros in front of the first value.
    fn before(self, size: usize, same: bool) -> usize {
        let count = self.count(size, same);
        if !same || count == 0 {
            return 0;
        }
        ((count - 1).saturating_mul(self.stride).saturating_add(self.reach())).saturating_sub(size)
            / 2
    }

    /// The place of value `k` of a patch, if it is within the image.
    fn place(self, patch: usize, k: usize, before: usize, size: usize) -> Option<usize> {
        let at = patch.checked_mul(self.stride)?.checked_add(k.checked_mul(self.rate)?)?;
        at.checked_sub(before).filter(|at| *at < size)
    }
}

impl Each for Patches {
    fn rule(&self, args: &[Known]) -> Result<Known> {
        let [(dtype, shape)] = args else {
            let text = format!("extract_patches: expected 1 input, got {}", args.len());
            return Err(Error::invalid_argument(text));
        };
        if dtype.size().is_none() {
            let text = format!("extract_patches: images are of numbers, got {dtype}");
            return Err(Error::invalid_argument(text));
        }
        let Some(dims) = shape.dims() else { return Ok((*dtype, PartialShape::new([None; 4]))) };
        let [batch, height, width, channels] = *dims else {
            return Err(wrong_rank("extract_patches (a batch of images)", dims.len()));
        };
        let [down, across] = self.axes;
        let values = down.size.checked_mul(across.size);
        let depth = match channels {
            Some(channels) => {
                Some(values.and_then(|v| v.checked_mul(channels)).ok_or_else(|| {
                    Error::resource_exhausted("extract_patches: patches are too large")
                })?)
            }
            None => None,
        };
        for (size, axis) in [(height, down), (width, across)] {
            // TensorFlow's count is below zero from here on; with less of a gap there are none.
            let too_small =
                |size: usize| size.saturating_add(axis.stride.saturating_mul(2)) <= axis.reach();
            if !self.same && size.is_some_and(too_small) {
                return Err(Error::invalid_argument(format!(
                    "extract_patches: patches of {} pixels are larger than the images, {shape}",
                    axis.reach()
                )));
            }
        }
        let height = height.map(|height| down.count(height, self.same));
        let width = width.map(|width| across.count(width, self.same));
        Ok((*dtype, PartialShape::new([batch, height, width, depth])))
    }

    fn write(&self, args: &[Tensor], dims: &[usize], out: &mut [u8]) -> Result<()> {
        let [_, height, width, channels] = *args[0].dims() else {
            return Err(wrong_rank("extract_patches", args[0].dims().len()));
        };
        if out.is_empty() {
            return Ok(());
        }
        out.fill(0);
        let pixel = channels * args[0].dtype().size().unwrap_or(1);
        let [down, across] = self.axes;
        let (top, left) = (down.before(height, self.same), across.before(width, self.same));
        let image = height * width * pixel;
        let bytes = args[0].bytes()?;
        let patches = out.chunks_exact_mut(down.size * across.size * pixel);
        for (i, patch) in patches.enumerate() {
            let (column, row) = (i % dims[2], i / dims[2] % dims[1]);
            let from = &bytes[i / (dims[1] * dims[2]) * image..][..image];
            for (k, out) in patch.chunks_exact_mut(pixel).enumerate() {
                let y = down.place(row, k / across.size, top, height);
                let x = across.place(column, k % across.size, left, width);
                if let (Some(y), Some(x)) = (y, x) {
                    out.copy_from_slice(&from[(y * width + x) * pixel..][..pixel]);
                }
            }
        }
        Ok(())
    }

    fn dims(&self, args: &[Tensor]) -> Result<Dims> {
        let known = [(args[0].dtype(), PartialShape::from(args[0].dims()))];
        let shape = self.rule(&known)?.1.known();
        shape.ok_or_else(|| Error::internal("a shape is known in part only"))
    }

    fn tolerance(&self) -> Tolerance {
        Tolerance::Moved
    }
}
