//! How large an image may be: what a file claims is checked before there is room for it.

use crate::error::{Error, Result};

/// What an image, or all frames of an animation, may take when decoded.
pub(super) const MOST_BYTES: usize = 1 << 29;

/// The size of an image.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Size {
    pub(super) height: usize,
    pub(super) width: usize,
    pub(super) channels: usize,
}

impl Size {
    /// Number of values.
    pub(super) fn len(self) -> usize {
        self.height.saturating_mul(self.width).saturating_mul(self.channels)
    }

    /// Fails for what is too large as `frames` frames of values of `bytes` bytes.
    pub(super) fn check(self, frames: usize, bytes: usize) -> Result<()> {
        if self.len().saturating_mul(frames).saturating_mul(bytes) < MOST_BYTES {
            return Ok(());
        }
        let Size { height, width, channels } = self;
        let frames = if frames > 1 { format!("{frames} x ") } else { String::new() };
        Err(Error::invalid_argument(format!(
            "the image claims to be {frames}{height} x {width} x {channels}, which takes more \
             than the {MOST_BYTES} bytes that an image may have"
        )))
    }
}
