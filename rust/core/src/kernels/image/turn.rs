//! `image_turn`: images flipped, transposed, or turned by right angles.
//!
//! Each is a walk over the pixels with other steps. A flip may have an input that says whether it
//! is done, a turn one that says how often.

use std::sync::Arc;

use super::each::{Each, Known, each_row};
use super::resize::{Frame, integers, wrong_rank};
use crate::data::{DType, Dims, PartialShape, Tensor};
use crate::error::{Error, Result};
use crate::graph::attr::Attrs;
use crate::graph::kernel::{Kernel, Tolerance};

#[derive(Clone, Copy, Debug, PartialEq)]
enum Turn {
    LeftRight,
    UpDown,
    Transpose,
    /// Quarters, against the clock; `None` if an input says how many.
    Rotate(Option<i64>),
}

#[derive(Debug)]
struct Turned {
    turn: Turn,
    /// A flip that has an input.
    perhaps: bool,
}

pub(super) fn build(op: &str, attrs: &Attrs) -> Result<Option<Arc<dyn Kernel>>> {
    if op != "image_turn" {
        return Ok(None);
    }
    attrs.only(&["turn", "k", "perhaps"])?;
    let turn = match attrs.str("turn")? {
        "flip_left_right" => Turn::LeftRight,
        "flip_up_down" => Turn::UpDown,
        "transpose" => Turn::Transpose,
        "rot90" => Turn::Rotate(attrs.opt_int("k")?),
        other => return Err(Error::invalid_argument(format!("there is no turn {other:?}"))),
    };
    Ok(each_row(Turned { turn, perhaps: attrs.bool_or("perhaps", false)? }))
}

/// A walk over the pixels of an image: where it starts, and its steps down and across.
#[derive(Clone, Copy)]
struct Steps {
    start: isize,
    down: isize,
    across: isize,
}

impl Turned {
    fn name(&self) -> &'static str {
        match self.turn {
            Turn::LeftRight => "flip_left_right",
            Turn::UpDown => "flip_up_down",
            Turn::Transpose => "transpose",
            Turn::Rotate(_) => "rot90",
        }
    }

    fn inputs(&self) -> usize {
        1 + usize::from(self.perhaps || self.turn == Turn::Rotate(None))
    }

    fn quarters(&self, args: &[Tensor]) -> Result<i64> {
        let k = match (self.turn, args.get(1)) {
            (Turn::Rotate(Some(k)), _) => k,
            (Turn::Rotate(None), Some(k)) => match integers("rot90", k)?.as_slice() {
                [k] => *k,
                _ => {
                    let text = format!("rot90: k is one integer, got shape {:?}", k.dims());
                    return Err(Error::invalid_argument(text));
                }
            },
            _ => 0,
        };
        Ok(k.rem_euclid(4))
    }

    /// True if height and width change places.
    fn is_exchanged(&self, args: &[Tensor]) -> Result<bool> {
        Ok(self.turn == Turn::Transpose || self.quarters(args)? % 2 == 1)
    }

    /// Steps in pixels.
    fn steps(&self, frame: Frame, quarters: i64) -> Steps {
        let (height, width) = (frame.height as isize, frame.width as isize);
        let last_row = (height - 1) * width;
        let (start, down, across) = match (self.turn, quarters) {
            (Turn::LeftRight, _) => (width - 1, width, -1),
            (Turn::UpDown, _) => (last_row, -width, 1),
            (Turn::Transpose, _) => (0, 1, width),
            (Turn::Rotate(_), 1) => (width - 1, -1, width),
            (Turn::Rotate(_), 2) => (last_row + width - 1, -width, -1),
            (Turn::Rotate(_), 3) => (last_row, 1, -width),
            (Turn::Rotate(_), _) => (0, width, 1),
        };
        Steps { start, down, across }
    }

    /// For each image of a batch, whether it is turned; flags are numbers.
    fn flags(&self, args: &[Tensor], images: usize) -> Result<Vec<bool>> {
        let Some(flags) = args.get(1).filter(|_| self.perhaps) else {
            return Ok(vec![true; images]);
        };
        let flags = flags.values::<u8>()?;
        match flags {
            [one] => Ok(vec![*one != 0; images]),
            many if many.len() == images => Ok(many.iter().map(|flag| *flag != 0).collect()),
            many => Err(Error::invalid_argument(format!(
                "{}: {} flags for {images} images",
                self.name(),
                many.len()
            ))),
        }
    }
}

impl Each for Turned {
    fn rule(&self, args: &[Known]) -> Result<Known> {
        if args.len() != self.inputs() {
            let (name, wanted) = (self.name(), self.inputs());
            let text = format!("{name}: expected {wanted} inputs, got {}", args.len());
            return Err(Error::invalid_argument(text));
        }
        let (dtype, shape) = &args[0];
        if dtype.size().is_none() {
            let text = format!("{}: images are of numbers, got {dtype}", self.name());
            return Err(Error::invalid_argument(text));
        }
        if self.perhaps && args[1].0 != DType::Bool {
            let text = format!("{}: flags are bool, got {}", self.name(), args[1].0);
            return Err(Error::invalid_argument(text));
        }
        let Some(dims) = shape.dims() else { return Ok((*dtype, PartialShape::UNKNOWN)) };
        if dims.len() != 3 && dims.len() != 4 {
            return Err(wrong_rank(self.name(), dims.len()));
        }
        let mut dims = dims.to_vec();
        let at = dims.len() - 3;
        match self.turn {
            Turn::LeftRight | Turn::UpDown => {}
            Turn::Rotate(Some(k)) if k % 2 == 0 => {}
            Turn::Rotate(None) if dims[at] != dims[at + 1] => {
                (dims[at], dims[at + 1]) = (None, None);
            }
            _ => dims.swap(at, at + 1),
        }
        Ok((*dtype, PartialShape::new(dims)))
    }

    fn dims(&self, args: &[Tensor]) -> Result<Dims> {
        let mut dims: Dims = args[0].dims().into();
        Frame::of(&dims)?;
        if self.is_exchanged(args)? {
            let at = dims.len() - 3;
            dims.swap(at, at + 1);
        }
        Ok(dims)
    }

    fn write(&self, args: &[Tensor], dims: &[usize], out: &mut [u8]) -> Result<()> {
        let (frame, to) = (Frame::of(args[0].dims())?, Frame::of(dims)?);
        let pixel = frame.channels * args[0].dtype().size().unwrap_or(1);
        let image = frame.height * frame.width * pixel;
        if image == 0 {
            return Ok(());
        }
        let steps = self.steps(frame, self.quarters(args)?);
        let flags = self.flags(args, frame.batch)?;
        let images = args[0].bytes()?.chunks_exact(image);
        for ((from, out), flag) in images.zip(out.chunks_exact_mut(image)).zip(flags) {
            match (flag, self.turn) {
                (false, _) | (true, Turn::Rotate(Some(0))) => out.copy_from_slice(from),
                (true, Turn::UpDown) => {
                    let row = frame.width * pixel;
                    for (out, from) in out.chunks_exact_mut(row).zip(from.rchunks_exact(row)) {
                        out.copy_from_slice(from);
                    }
                }
                // Pixels of a size the compiler knows copy several times faster.
                (true, _) => match pixel {
                    1 => walk::<1>(from, steps, to.width, out),
                    3 => walk::<3>(from, steps, to.width, out),
                    4 => walk::<4>(from, steps, to.width, out),
                    12 => walk::<12>(from, steps, to.width, out),
                    _ => walk_any(from, steps, to.width, pixel, out),
                },
            }
        }
        Ok(())
    }

    fn tolerance(&self) -> Tolerance {
        Tolerance::Moved
    }
}

fn walk<const N: usize>(from: &[u8], steps: Steps, width: usize, out: &mut [u8]) {
    let (pixels, _) = from.as_chunks::<N>();
    let (out, _) = out.as_chunks_mut::<N>();
    let mut row = steps.start;
    for out in out.chunks_exact_mut(width) {
        let mut place = row;
        for out in out {
            *out = pixels[place as usize];
            place += steps.across;
        }
        row += steps.down;
    }
}

fn walk_any(from: &[u8], steps: Steps, width: usize, pixel: usize, out: &mut [u8]) {
    let mut row = steps.start;
    for out in out.chunks_exact_mut(width * pixel) {
        let mut place = row;
        for out in out.chunks_exact_mut(pixel) {
            out.copy_from_slice(&from[place as usize * pixel..][..pixel]);
            place += steps.across;
        }
        row += steps.down;
    }
}
