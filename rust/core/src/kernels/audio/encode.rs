//! `encode_wav`: samples as a WAV file of 16-bit PCM, as `tf.audio.encode_wav`.

use std::sync::Arc;

use crate::data::{BytesBuilder, Column, DType, Spec, Tensor, Wanted};
use crate::error::{Error, Result};
use crate::graph::attr::Attrs;
use crate::graph::kernel::{Arg, Kernel};
use crate::kernels::cast::{cast_tensor, dense, inputs};
use crate::kernels::shape::stacked;

/// The header up to the samples.
const HEADER_BYTES: usize = 44;

#[derive(Debug)]
struct EncodeWav;

pub(super) fn build(op: &str, attrs: &Attrs) -> Result<Option<Arc<dyn Kernel>>> {
    if op != "encode_wav" {
        return Ok(None);
    }
    attrs.only(&[])?;
    Ok(Some(Arc::new(EncodeWav)))
}

/// One file of the samples of `channels` channels.
fn encoded(samples: &[f32], channels: usize, rate: i64) -> Result<Vec<u8>> {
    let wrong = |text: String| Err(Error::invalid_argument(text));
    let rate = match u32::try_from(rate) {
        Ok(rate) if rate > 0 => rate,
        _ => return wrong(format!("sample_rate must be in (0, 2^32), got: {rate}")),
    };
    let channels = match u16::try_from(channels) {
        Ok(channels) if channels > 0 => channels,
        _ => return wrong(format!("num_channels must be in (0, 2^16), got: {channels}")),
    };
    let bytes = samples.len().checked_mul(2).and_then(|bytes| u32::try_from(bytes).ok());
    let per_frame = channels.checked_mul(2);
    let per_second = per_frame.and_then(|bytes| rate.checked_mul(u32::from(bytes)));
    let (Some(bytes), Some(per_frame), Some(per_second)) =
        (bytes.filter(|bytes| *bytes <= u32::MAX - 36), per_frame, per_second)
    else {
        let text = format!("{} samples at a rate of {rate} do not fit a WAV file", samples.len());
        return wrong(text);
    };
    let mut out = Vec::with_capacity(HEADER_BYTES + bytes as usize);
    out.extend_from_slice(b"RIFF");
    out.extend_from_slice(&(36 + bytes).to_le_bytes());
    out.extend_from_slice(b"WAVEfmt ");
    out.extend_from_slice(&16_u32.to_le_bytes());
    out.extend_from_slice(&1_u16.to_le_bytes());
    out.extend_from_slice(&channels.to_le_bytes());
    out.extend_from_slice(&rate.to_le_bytes());
    out.extend_from_slice(&per_second.to_le_bytes());
    out.extend_from_slice(&per_frame.to_le_bytes());
    out.extend_from_slice(&16_u16.to_le_bytes());
    out.extend_from_slice(b"data");
    out.extend_from_slice(&bytes.to_le_bytes());
    for sample in samples {
        // The conversion saturates, and gives 0 for NaN.
        let value = (sample * 32768.0).round() as i16;
        out.extend_from_slice(&value.to_le_bytes());
    }
    Ok(out)
}

impl Kernel for EncodeWav {
    fn infer(&self, specs: &[Spec]) -> Result<Vec<Spec>> {
        let [audio, rate] = inputs(specs)?;
        let ((dtype, shape), (rate, of_rate)) = (dense(audio)?, dense(rate)?);
        if dtype != DType::Float32 {
            return Err(Error::invalid_argument(format!("audio must be float32, got {dtype}")));
        }
        if shape.rank().is_some_and(|rank| rank != 2) {
            let text = format!("audio must be 2-dimensional, got shape {shape}");
            return Err(Error::invalid_argument(text));
        }
        if !rate.is_integer() || of_rate.rank().is_some_and(|rank| rank != 0) {
            let text = format!("sample_rate must be one integer, got {rate}{of_rate}");
            return Err(Error::invalid_argument(text));
        }
        Ok(vec![Spec::scalar(DType::Bytes)])
    }

    fn run(&self, args: &[Arg], rows: usize, _: &[Wanted]) -> Result<Vec<Column>> {
        let [audio, rate] = inputs(args)?;
        let (audio, rate) = (stacked(audio, rows)?, stacked(rate, rows)?);
        let &[_, frames, channels] = audio.dims() else {
            return Err(Error::invalid_argument("audio must be 2-dimensional"));
        };
        let rates = cast_tensor(&rate, DType::Int64)?;
        let mut out = BytesBuilder::default();
        let samples = audio.values::<f32>()?;
        for (row, rate) in rates.values::<i64>()?.iter().enumerate() {
            let each = frames * channels;
            out.push(&encoded(&samples[row * each..(row + 1) * each], channels, *rate)?);
        }
        let dims = [rows][..].into();
        Ok(vec![Column::Stacked(Tensor::text(DType::Bytes, dims, out.finish()?)?)])
    }
}
