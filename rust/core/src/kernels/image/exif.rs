//! The orientation that a camera wrote into a JPEG, and turning pixels by it.

use crate::kernels::image::size::Size;

/// The orientation, 1 to 8; 1 where there is none.
pub(super) fn orientation(jpeg: &[u8]) -> u8 {
    find(jpeg).unwrap_or(1)
}

/// The size of an image turned by an orientation.
pub(super) fn turned(size: Size, orientation: u8) -> Size {
    match orientation {
        5..=8 => Size { height: size.width, width: size.height, ..size },
        _ => size,
    }
}

/// Turns the pixels of an image of `size` upright.
pub(super) fn turn(pixels: &[u8], size: Size, orientation: u8, out: &mut [u8]) {
    let Size { height, width, channels } = size;
    let result = turned(size, orientation);
    for (at, out) in out.chunks_exact_mut(channels).enumerate() {
        let (y, x) = (at / result.width, at % result.width);
        let (from_y, from_x) = match orientation {
            2 => (y, width - 1 - x),
            3 => (height - 1 - y, width - 1 - x),
            4 => (height - 1 - y, x),
            5 => (x, y),
            6 => (height - 1 - x, y),
            7 => (height - 1 - x, width - 1 - y),
            8 => (x, width - 1 - y),
            _ => (y, x),
        };
        out.copy_from_slice(&pixels[(from_y * width + from_x) * channels..][..channels]);
    }
}

fn find(jpeg: &[u8]) -> Option<u8> {
    let mut at = 2;
    loop {
        // Segments up to the first that holds no metadata.
        let [0xff, marker, high, low] = *jpeg.get(at..at + 4)? else { return None };
        if !matches!(marker, 0xe0..=0xef | 0xfe) {
            return None;
        }
        let len = usize::from(u16::from_be_bytes([high, low]));
        let body = jpeg.get(at + 4..at + 2 + len)?;
        if marker == 0xe1
            && let Some(tiff) = body.strip_prefix(b"Exif\0\0")
        {
            return of_tiff(tiff);
        }
        at += 2 + len;
    }
}

fn of_tiff(tiff: &[u8]) -> Option<u8> {
    let little = match tiff.get(..4)? {
        b"II*\0" => true,
        b"MM\0*" => false,
        _ => return None,
    };
    let short = |at: usize| {
        let bytes: [u8; 2] = tiff.get(at..at.checked_add(2)?)?.try_into().ok()?;
        Some(if little { u16::from_le_bytes(bytes) } else { u16::from_be_bytes(bytes) })
    };
    let (a, b) = (short(4)?, short(6)?);
    let (low, high) = if little { (a, b) } else { (b, a) };
    let start = usize::from(high) << 16 | usize::from(low);
    // Entries of twelve bytes: tag, type (3: short), count, value.
    for entry in 0..usize::from(short(start)?) {
        let at = start.checked_add(2 + 12 * entry)?;
        if short(at)? == 0x112 && short(at + 2)? == 3 {
            let value = short(at + 8)?;
            return u8::try_from(value).ok().filter(|value| (1..=8).contains(value));
        }
    }
    None
}
