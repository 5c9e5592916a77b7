//! Images: decoding and encoding files, other sizes and colours.
//!
//! An image is height x width x channels, a batch of images has an axis in front; so has an
//! animation, of its frames. Images seldom have one size, so most operations here take rows of any
//! shape and write each result into its place: images of many sizes that become one size make a
//! stacked column without a copy.

mod bilinear;
mod bmp;
mod boxes;
mod check;
mod colour;
mod crop;
mod decode;
mod distort;
mod dtype;
mod each;
mod encode;
mod exif;
mod gif;
mod grid;
mod jpeg;
mod patches;
mod pixels;
mod png;
mod resize;
mod size;
mod spans;
mod suppress;
mod turn;
mod webp;
mod window;

use std::sync::Arc;

use crate::error::Result;
use crate::graph::attr::Attrs;
use crate::graph::kernel::Kernel;

/// Makes the kernel of an operation; `None` if the operation is not of this family.
type Family = fn(&str, &Attrs) -> Result<Option<Arc<dyn Kernel>>>;

const FAMILIES: &[Family] = &[
    boxes::build,
    check::build,
    colour::build,
    crop::build,
    decode::build,
    distort::build,
    dtype::build,
    encode::build,
    patches::build,
    resize::build,
    suppress::build,
    turn::build,
    window::build,
];

pub(super) fn build(op: &str, attrs: &Attrs) -> Result<Option<Arc<dyn Kernel>>> {
    for family in FAMILIES {
        if let Some(kernel) = family(op, attrs)? {
            return Ok(Some(kernel));
        }
    }
    Ok(None)
}
