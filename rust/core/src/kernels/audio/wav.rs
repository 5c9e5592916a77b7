//! WAV: RIFF chunks of samples in PCM or floats.
//!
//! Strictly read, a file is what `tf.audio.decode_wav` takes: `fmt ` comes first and tells of 16-bit
//! PCM, odd chunks have no padding. Else samples of 8, 16, 24 and 32 bits and floats of 32 and 64
//! are read, chunks may come in any order and are padded as RIFF says.

use crate::error::{Error, Result};
use crate::kernels::audio::{MOST_BYTES, Sound, too_long};

const PCM: u16 = 1;
const FLOAT: u16 = 3;
/// The true tag stands further on.
const EXTENSIBLE: u16 = 0xfffe;

/// What `fmt ` says.
struct Layout {
    tag: u16,
    channels: usize,
    rate: u32,
    bits: u16,
}

fn too_short() -> Error {
    Error::invalid_argument("Data too short when trying to read string")
        .with_hint("the file is cut off, or its header is wrong")
}

struct Reader<'a> {
    file: &'a [u8],
    at: usize,
}

impl<'a> Reader<'a> {
    fn take(&mut self, count: usize) -> Result<&'a [u8]> {
        let end = self.at.checked_add(count).ok_or_else(too_short)?;
        let found = self.file.get(self.at..end).ok_or_else(too_short)?;
        self.at = end;
        Ok(found)
    }

    fn expect(&mut self, text: &str) -> Result<()> {
        let found = self.take(4)?;
        match found == text.as_bytes() {
            true => Ok(()),
            false => {
                let found = String::from_utf8_lossy(found);
                let text = format!("Header mismatch: Expected {text} but found {found}");
                Err(Error::invalid_argument(text))
            }
        }
    }

    fn u16(&mut self) -> Result<u16> {
        let bytes = self.take(2)?;
        Ok(u16::from_le_bytes([bytes[0], bytes[1]]))
    }

    fn u32(&mut self) -> Result<u32> {
        let bytes = self.take(4)?;
        Ok(u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]))
    }

    fn layout(&mut self, size: u32, strict: bool) -> Result<Layout> {
        let wrong = |text: String| Err(Error::invalid_argument(text));
        if size < 16 || (strict && size != 16 && size != 18) {
            return wrong(format!(
                "Bad format chunk size for WAV: Expected 16 or 18, but got{size}"
            ));
        }
        let end = self.at.saturating_add(size as usize);
        let mut tag = self.u16()?;
        if tag == EXTENSIBLE && size >= 40 && !strict {
            let guid = self.file.get(self.at + 22..self.at + 24).ok_or_else(too_short)?;
            tag = u16::from_le_bytes([guid[0], guid[1]]);
        }
        if tag != PCM && (strict || tag != FLOAT) {
            return wrong(format!("Bad audio format for WAV: Expected 1 (PCM), but got{tag}"));
        }
        let channels = usize::from(self.u16()?);
        if channels < 1 {
            return wrong("Bad number of channels for WAV: Expected at least 1, but got 0".into());
        }
        let rate = self.u32()?;
        let (per_second, per_frame, bits) = (self.u32()?, self.u16()?, self.u16()?);
        let known = match (strict, tag) {
            (true, _) => bits == 16,
            (false, PCM) => matches!(bits, 8 | 16 | 24 | 32),
            (false, _) => matches!(bits, 32 | 64),
        };
        if !known {
            return wrong(match strict {
                true => format!("Can only read 16-bit WAV files, but received {bits}"),
                false => format!("cannot read WAV files of {bits}-bit samples of format {tag}"),
            });
        }
        let expected = u64::from(bits) / 8 * channels as u64;
        if u64::from(per_frame) != expected {
            return wrong(format!(
                "Bad bytes per sample in WAV header: Expected {expected} but got {per_frame}"
            ));
        }
        let expected = expected * u64::from(rate);
        if u64::from(per_second) != expected {
            return wrong(format!(
                "Bad bytes per second in WAV header: Expected {expected} but got {per_second} \
                 (sample_rate={rate}, bytes_per_sample={per_frame})"
            ));
        }
        if end > self.file.len() {
            return Err(too_short());
        }
        self.at = end;
        Ok(Layout { tag, channels, rate, bits })
    }

    /// The name and size of the next chunk; none at the end of the file.
    fn chunk(&mut self, strict: bool) -> Result<Option<(&'a [u8], u32)>> {
        let left = self.file.len() - self.at;
        if left == 0 || (!strict && left < 8) {
            return Ok(None);
        }
        Ok(Some((self.take(4)?, self.u32()?)))
    }
}

/// The samples of a file; of those in front at most `wanted` frames are converted.
pub(super) fn decode(file: &[u8], strict: bool, wanted: Option<usize>) -> Result<Sound> {
    let mut reader = Reader { file, at: 0 };
    reader.expect("RIFF")?;
    reader.u32()?;
    reader.expect("WAVE")?;
    let (mut layout, mut data) = (None, None);
    if strict {
        let (name, size) = reader.chunk(true)?.ok_or_else(too_short)?;
        if name != b"fmt " {
            let name = String::from_utf8_lossy(name);
            return Err(Error::invalid_argument(format!("Unexpected field {name}")));
        }
        layout = Some(reader.layout(size, true)?);
    }
    while let Some((name, size)) = reader.chunk(strict)? {
        if size > i32::MAX as u32 {
            return Err(Error::invalid_argument(format!(
                "WAV data chunk '{}' is too large: {size} bytes, but the limit is {}",
                String::from_utf8_lossy(name),
                i32::MAX
            )));
        }
        match name {
            b"fmt " if !strict && layout.is_none() => layout = Some(reader.layout(size, false)?),
            b"data" if data.is_some() => {
                return Err(Error::invalid_argument("More than one data chunk found in WAV"));
            }
            b"data" => data = Some(reader.take(size as usize)?),
            _ => drop(reader.take(size as usize)?),
        }
        if !strict && size % 2 == 1 && reader.at < file.len() {
            reader.at += 1;
        }
    }
    let layout = layout.ok_or_else(|| Error::invalid_argument("No format chunk found in WAV"))?;
    let data = data.ok_or_else(|| Error::invalid_argument("No data chunk found in WAV"))?;
    let rate = i32::try_from(layout.rate).map_err(|_| {
        Error::invalid_argument(format!("a sample rate of {} does not fit int32", layout.rate))
    })?;
    let per_frame = usize::from(layout.bits) / 8 * layout.channels;
    let frames = (data.len() / per_frame).min(wanted.unwrap_or(usize::MAX));
    if frames.saturating_mul(layout.channels).saturating_mul(4) > MOST_BYTES {
        return Err(too_long());
    }
    let samples = samples(&layout, &data[..frames * per_frame]);
    Ok(Sound { samples, channels: layout.channels, rate })
}

fn samples(layout: &Layout, data: &[u8]) -> Vec<f32> {
    match (layout.tag, layout.bits) {
        (PCM, 8) => data.iter().map(|byte| (f32::from(*byte) - 128.0) / 128.0).collect(),
        (PCM, 16) => {
            let pairs = data.as_chunks::<2>().0.iter();
            pairs.map(|pair| f32::from(i16::from_le_bytes(*pair)) / 32768.0).collect()
        }
        (PCM, 24) => {
            let triples = data.as_chunks::<3>().0.iter();
            let wide = triples.map(|[a, b, c]| i32::from_le_bytes([0, *a, *b, *c]));
            wide.map(|value| (value >> 8) as f32 / 8_388_608.0).collect()
        }
        (PCM, _) => {
            let words = data.as_chunks::<4>().0.iter();
            words
                .map(|word| (f64::from(i32::from_le_bytes(*word)) / 2_147_483_648.0) as f32)
                .collect()
        }
        (_, 32) => data.as_chunks::<4>().0.iter().map(|word| f32::from_le_bytes(*word)).collect(),
        _ => {
            let words = data.as_chunks::<8>().0.iter();
            words.map(|word| f64::from_le_bytes(*word) as f32).collect()
        }
    }
}
