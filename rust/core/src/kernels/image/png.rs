//! PNG: any of its kinds as 1 to 4 channels of 8 or 16 bits, by the rules of TensorFlow's reader.
//!
//! 8 bits of 16 are the upper ones; 16 of 8 are the value twice over. Grey of colour weighs red,
//! green and blue by 0.299, 0.587 and 0.114, in 15 bits.

use std::io::Cursor;

use ::png::{BitDepth, ColorType, Decoder, DecodingError, Reader, Transformations};

use crate::error::{Error, Result};
use crate::kernels::image::size::Size;

/// A PNG whose header is read.
pub(super) struct Png<'a> {
    reader: Reader<Cursor<&'a [u8]>>,
    len: usize,
    pub(super) size: Size,
    /// 16 bits are asked for.
    wide: bool,
    /// Channels that the decoder gives.
    given: usize,
    /// The decoder gives 16 bits.
    given_wide: bool,
    /// Bits of the file.
    depth: u32,
}

impl<'a> Png<'a> {
    /// Reads the header; `channels` is 0 for those of the file.
    pub(super) fn open(data: &'a [u8], channels: usize, wide: bool) -> Result<Self> {
        let failed = |error: DecodingError| {
            let text = format!("Invalid PNG. Failed to initialize decoder: {error}");
            Error::invalid_argument(text)
        };
        let mut decoder = Decoder::new(Cursor::new(data));
        decoder.set_ignore_text_chunk(true);
        decoder.set_ignore_iccp_chunk(true);
        decoder.set_transformations(Transformations::EXPAND);
        let reader = decoder.read_info().map_err(failed)?;
        let info = reader.info();
        let (depth, kind) = (info.bit_depth as u32, info.color_type);
        let own = match kind {
            ColorType::Indexed if info.trns.is_some() => 4,
            ColorType::Indexed => 3,
            kind => kind.samples(),
        };
        let size = Size {
            height: info.height as usize,
            width: info.width as usize,
            channels: if channels == 0 { own } else { channels },
        };
        let (given, bits) = reader.output_color_type();
        let given_wide = bits == BitDepth::Sixteen;
        size.check(1, if wide { 2 } else { 1 })?;
        Size { channels: given.samples(), ..size }.check(1, if given_wide { 2 } else { 1 })?;
        let (given, len) = (given.samples(), data.len());
        Ok(Png { reader, len, size, wide, given, given_wide, depth })
    }

    /// Decodes; 16 bits are in the machine's byte order.
    pub(super) fn read(&mut self, out: &mut [u8]) -> Result<()> {
        let same = self.given == self.size.channels && self.given_wide == self.wide;
        if same && !self.wide {
            return self.decode(out);
        }
        let bytes = if self.given_wide { 2 } else { 1 };
        let mut given = vec![0; Size { channels: self.given, ..self.size }.len() * bytes];
        self.decode(&mut given)?;
        let to = self.size.channels;
        if self.given_wide {
            let pixels = given.chunks_exact(2 * self.given).map(|bytes| {
                let mut pixel = [0; 4];
                for (value, bytes) in pixel.iter_mut().zip(bytes.chunks_exact(2)) {
                    *value = u16::from_be_bytes([bytes[0], bytes[1]]);
                }
                self.convert(pixel)
            });
            if self.wide {
                put_wide(pixels, to, out);
            } else {
                let high = pixels.map(|pixel| pixel.map(|value| (value >> 8) as u8));
                put(high, to, out);
            }
        } else {
            let pixels = given.chunks_exact(self.given).map(|bytes| {
                let mut pixel = [0; 4];
                for (value, byte) in pixel.iter_mut().zip(bytes) {
                    *value = u16::from(*byte);
                }
                self.convert(pixel)
            });
            if self.wide {
                put_wide(pixels.map(|pixel| pixel.map(|value| value * 257)), to, out);
            } else {
                put(pixels.map(|pixel| pixel.map(|value| value as u8)), to, out);
            }
        }
        Ok(())
    }

    fn decode(&mut self, out: &mut [u8]) -> Result<()> {
        let read = self.reader.next_frame(out).and_then(|_| self.reader.finish());
        read.map_err(|error| {
            Error::invalid_argument(format!("Invalid PNG data, size {}: {error}", self.len))
        })
    }

    /// One pixel with the channels that are asked for.
    fn convert(&self, pixel: [u16; 4]) -> [u16; 4] {
        let opaque = ((1_u32 << self.depth) - 1) as u16;
        let (rgb, alpha) = match self.given {
            1 => ([pixel[0]; 3], opaque),
            2 => ([pixel[0]; 3], pixel[1]),
            3 => ([pixel[0], pixel[1], pixel[2]], opaque),
            _ => ([pixel[0], pixel[1], pixel[2]], pixel[3]),
        };
        match self.size.channels {
            1 | 2 => [self.grey(rgb), alpha, 0, 0],
            _ => [rgb[0], rgb[1], rgb[2], alpha],
        }
    }

    fn grey(&self, [red, green, blue]: [u16; 3]) -> u16 {
        if red == green && red == blue {
            return red;
        }
        let sum = 9797 * u32::from(red) + 19234 * u32::from(green) + 3737 * u32::from(blue);
        // 16 bits are rounded, 8 are cut.
        ((sum + if self.given_wide { 1 << 14 } else { 0 }) >> 15) as u16
    }
}

fn put(pixels: impl Iterator<Item = [u8; 4]>, channels: usize, out: &mut [u8]) {
    for (pixel, out) in pixels.zip(out.chunks_exact_mut(channels)) {
        out.copy_from_slice(&pixel[..channels]);
    }
}

fn put_wide(pixels: impl Iterator<Item = [u16; 4]>, channels: usize, out: &mut [u8]) {
    for (pixel, out) in pixels.zip(out.chunks_exact_mut(2 * channels)) {
        for (value, out) in pixel.iter().zip(out.chunks_exact_mut(2)) {
            out.copy_from_slice(&value.to_ne_bytes());
        }
    }
}
