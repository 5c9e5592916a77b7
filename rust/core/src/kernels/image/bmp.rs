//! BMP without compression: 8 bits of grey, BGR or BGRA, read as TensorFlow does.
//!
//! The length of the data must be just what the header says. A palette is not looked at.

use crate::error::{Error, Result};
use crate::kernels::image::size::Size;

/// A BMP whose header is checked.
pub(super) struct Bmp<'a> {
    pixels: &'a [u8],
    pub(super) size: Size,
    channels: usize,
    row_bytes: usize,
    top_down: bool,
}

fn word(data: &[u8], at: usize) -> i32 {
    let bytes = data.get(at..at + 4).and_then(|bytes| bytes.try_into().ok());
    bytes.map_or(0, i32::from_le_bytes)
}

impl<'a> Bmp<'a> {
    /// Reads the header; `channels` is 0 for those of the file.
    pub(super) fn open(data: &'a [u8], channels: usize) -> Result<Self> {
        let wrong = |text: String| Err(Error::invalid_argument(text));
        if data.len() < 32 {
            return wrong(format!(
                "Incomplete bmp content, requires at least 32 bytes to find the header size, \
                 width, height, and bpp, got {} bytes",
                data.len()
            ));
        }
        let (start, width, height) = (word(data, 10), word(data, 18), word(data, 22));
        let bits = word(data, 26) >> 16;
        let own = match bits / 8 {
            own @ (1 | 3 | 4) => own as usize,
            own => {
                return wrong(format!(
                    "Number of channels inherent in the image must be 1, 3 or 4, was {own}"
                ));
            }
        };
        let (Ok(start), Ok(columns)) = (usize::try_from(start), usize::try_from(width)) else {
            return wrong(format!("the header says that pixels of width {width} start at {start}"));
        };
        if columns == 0 || height == 0 {
            return wrong(format!("width and height must be positive, got {width} and {height}"));
        }
        let rows = height.unsigned_abs() as usize;
        let size = Size {
            height: rows,
            width: columns,
            channels: if channels == 0 { own } else { channels },
        };
        size.check(1, 1)?;
        let row_bytes = (own * columns).next_multiple_of(4);
        let expected = start.saturating_add(row_bytes.saturating_mul(rows));
        if data.len() != expected {
            let differ = data.len() as i64 - expected as i64;
            return wrong(format!(
                "Input size should match (header_size + row_size * abs_height) but they differ by \
                 {differ}"
            ));
        }
        let pixels = &data[start..];
        Ok(Bmp { pixels, size, channels: own, row_bytes, top_down: height < 0 })
    }

    pub(super) fn read(&self, out: &mut [u8]) {
        let Size { height, width, channels } = self.size;
        for (row, out) in out.chunks_exact_mut(width * channels).enumerate() {
            let row = if self.top_down { row } else { height - 1 - row };
            let line = &self.pixels[row * self.row_bytes..][..width * self.channels];
            for (pixel, out) in line.chunks_exact(self.channels).zip(out.chunks_exact_mut(channels))
            {
                let rgba = match *pixel {
                    [blue, green, red] => [red, green, blue, 255],
                    [blue, green, red, alpha] => [red, green, blue, alpha],
                    _ => [pixel[0], pixel[0], pixel[0], 255],
                };
                out.copy_from_slice(&rgba[..channels]);
            }
        }
    }
}
