//! GIF, composed as TensorFlow does: the canvas is as large as the largest frame, each frame is
//! drawn over the one before, whatever the file says about disposal.

use ::gif::{ColorOutput, DecodeOptions, MemoryLimit};
use std::num::NonZeroU64;

use crate::error::{Error, Result};
use crate::kernels::image::size::{MOST_BYTES, Size};

/// The frames of a file, not yet composed.
pub(super) struct Gif {
    frames: Vec<Frame>,
    palette: Option<Vec<u8>>,
    pub(super) size: Size,
}

struct Frame {
    left: usize,
    top: usize,
    width: usize,
    indices: Vec<u8>,
    palette: Option<Vec<u8>>,
    transparent: Option<u8>,
}

impl Gif {
    /// Decodes the frames; those after damage are left out, as long as there is one before. All
    /// are counted, but only the first is kept if `first_only`.
    pub(super) fn open(data: &[u8], first_only: bool) -> Result<Self> {
        let wrong = |text: String| {
            Error::invalid_argument(format!("Invalid GIF data (size {}), {text}", data.len()))
        };
        let mut options = DecodeOptions::new();
        options.set_color_output(ColorOutput::Indexed);
        options.set_memory_limit(MemoryLimit::Bytes(
            NonZeroU64::MIN.saturating_add(MOST_BYTES as u64),
        ));
        let mut decoder = match options.read_info(data) {
            Ok(decoder) => decoder,
            Err(error) => return Err(wrong(format!("failed to open gif file: {error}"))),
        };
        let palette = decoder.global_palette().map(<[u8]>::to_vec);
        let mut frames = Vec::new();
        let mut size = Size { height: 0, width: 0, channels: 3 };
        let (mut count, mut indices) = (0, 0_usize);
        loop {
            let (width, height) = match decoder.next_frame_info() {
                Ok(Some(frame)) => (usize::from(frame.width), usize::from(frame.height)),
                Ok(None) => break,
                Err(error) if count == 0 => {
                    return Err(wrong(format!("failed to slurp gif file: {error}")));
                }
                Err(_) => break,
            };
            // What all frames decode to is bounded, kept or not: a small file can hold very many.
            indices = indices.saturating_add(width * height);
            let whole =
                Size { height: size.height.max(height), width: size.width.max(width), channels: 3 };
            whole.check(if first_only { 1 } else { count + 1 }, 1)?;
            Size { height: 1, width: indices, channels: 1 }.check(1, 1)?;
            let mut pixels = vec![0; width * height];
            match decoder.read_into_buffer(&mut pixels) {
                Ok(()) => {}
                Err(error) if count == 0 => {
                    return Err(wrong(format!("failed to slurp gif file: {error}")));
                }
                Err(_) => break,
            }
            (size, count) = (whole, count + 1);
            if (count == 1 || !first_only)
                && let Some(frame) = decoder.current_frame_info()
            {
                frames.push(Frame {
                    left: usize::from(frame.left),
                    top: usize::from(frame.top),
                    width,
                    indices: pixels,
                    palette: frame.palette.clone(),
                    transparent: frame.transparent,
                });
            }
        }
        if frames.is_empty() || size.len() == 0 {
            return Err(wrong("gif file does not contain any image".into()));
        }
        Ok(Gif { frames, palette, size })
    }

    /// Number of frames.
    pub(super) fn frames(&self) -> usize {
        self.frames.len()
    }

    /// Draws all frames.
    pub(super) fn read(&self, out: &mut [u8]) -> Result<()> {
        let len = self.size.len();
        out[..len].fill(0);
        for (number, frame) in self.frames.iter().enumerate() {
            if number > 0 {
                out.copy_within((number - 1) * len..number * len, number * len);
            }
            self.draw(number, frame, &mut out[number * len..(number + 1) * len])?;
        }
        Ok(())
    }

    fn draw(&self, number: usize, frame: &Frame, canvas: &mut [u8]) -> Result<()> {
        let Some(palette) = frame.palette.as_ref().or(self.palette.as_ref()) else {
            let text = format!("missing color map for frame {number}");
            return Err(Error::invalid_argument(text));
        };
        let columns = frame.width.min(self.size.width.saturating_sub(frame.left));
        let rows = canvas.chunks_exact_mut(self.size.width * 3).skip(frame.top);
        for (line, row) in frame.indices.chunks_exact(frame.width).zip(rows) {
            let pixels = row.chunks_exact_mut(3).skip(frame.left);
            for (index, pixel) in line[..columns].iter().zip(pixels) {
                if Some(*index) == frame.transparent {
                    continue;
                }
                match palette.get(usize::from(*index) * 3..usize::from(*index) * 3 + 3) {
                    Some(colour) => pixel.copy_from_slice(colour),
                    None => {
                        return Err(Error::invalid_argument(format!(
                            "found color index {index} outside of color map range {}",
                            palette.len() / 3
                        )));
                    }
                }
            }
        }
        Ok(())
    }
}
