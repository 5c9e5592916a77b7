//! WebP, lossy and lossless, animated or not.

use std::io::Cursor;

use image_webp::{DecodingError, WebPDecoder};

use crate::error::{Error, Result};
use crate::kernels::image::size::{MOST_BYTES, Size};

/// A WebP whose header is read.
pub(super) struct WebP<'a> {
    decoder: WebPDecoder<Cursor<&'a [u8]>>,
    pub(super) size: Size,
    pub(super) frames: usize,
}

fn failed(error: &DecodingError) -> Error {
    Error::invalid_argument(format!("Failed to decode WebP image: {error}"))
}

impl<'a> WebP<'a> {
    /// Reads the header; `channels` is 0 for those of the file, which no others may be asked of.
    pub(super) fn open(data: &'a [u8], channels: usize, first_only: bool) -> Result<Self> {
        let mut decoder = WebPDecoder::new(Cursor::new(data)).map_err(|error| failed(&error))?;
        decoder.set_memory_limit(MOST_BYTES);
        let (width, height) = decoder.dimensions();
        let own = if decoder.has_alpha() { 4 } else { 3 };
        if channels != 0 && channels != own {
            return Err(Error::invalid_argument(format!(
                "Number of channels requested does not match input: {channels} of an image that \
                 has {own}"
            )));
        }
        let animated = decoder.is_animated() && !first_only;
        let frames = if animated { decoder.num_frames() as usize } else { 1 };
        let size = Size { height: height as usize, width: width as usize, channels: own };
        // The decoder works on four channels.
        Size { channels: 4, ..size }.check(frames, 1)?;
        if frames == 0 {
            return Err(Error::invalid_argument("Failed to decode WebP image: it has no frames"));
        }
        Ok(WebP { decoder, size, frames })
    }

    pub(super) fn read(&mut self, out: &mut [u8]) -> Result<()> {
        if self.frames == 1 && !self.decoder.is_animated() {
            return self.decoder.read_image(out).map_err(|error| failed(&error));
        }
        for frame in out.chunks_exact_mut(self.size.len()) {
            self.decoder.read_frame(frame).map_err(|error| failed(&error))?;
        }
        Ok(())
    }
}
