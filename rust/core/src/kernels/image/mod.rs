//! Images: decoding and encoding files.
//!
//! An image is height x width x channels, of uint8, uint16 or float32; an animation has the frames
//! in front.

mod check;

use std::sync::Arc;

use crate::error::Result;
use crate::graph::attr::Attrs;
use crate::graph::kernel::Kernel;

pub(super) fn build(op: &str, attrs: &Attrs) -> Result<Option<Arc<dyn Kernel>>> {
    check::build(op, attrs)
}
