//! Sound: `decode_wav`, `encode_wav`, `decode_audio`.
//!
//! Samples are float32 from -1 to 1, `[samples, channels]`. Sizes are checked before anything is
//! allocated: a header may say anything.

#[cfg(feature = "audio-codecs")]
mod codecs;
mod encode;
mod wav;

use std::sync::Arc;

use crate::data::{BufferMut, Column, DType, PartialShape, Spec, Tensor, Value, Wanted};
use crate::error::{Error, Result};
use crate::graph::attr::Attrs;
use crate::graph::kernel::{Arg, Kernel};
use crate::kernels::cast::{dense, inputs};
use crate::kernels::shape::stacked;

/// What the samples of one file may take.
const MOST_BYTES: usize = 1 << 31;

pub(super) fn build(op: &str, attrs: &Attrs) -> Result<Option<Arc<dyn Kernel>>> {
    let format = match op {
        "decode_wav" => {
            attrs.only(&["desired_channels", "desired_samples", "strict"])?;
            Format::Wav { strict: attrs.bool_or("strict", false)? }
        }
        "decode_audio" => {
            attrs.only(&["desired_channels", "desired_samples"])?;
            Format::Any
        }
        _ => return encode::build(op, attrs),
    };
    let desired = |name: &str| match attrs.opt_int(name)?.unwrap_or(-1) {
        -1 => Ok(None),
        wanted => usize::try_from(wanted)
            .map(Some)
            .map_err(|_| Error::invalid_argument(format!("{name} must be >= -1, got {wanted}"))),
    };
    let (channels, samples) = (desired("desired_channels")?, desired("desired_samples")?);
    Ok(Some(Arc::new(DecodeAudio { format, channels, samples })))
}

#[derive(Clone, Copy, Debug)]
enum Format {
    /// WAV; strictly what TensorFlow takes, or all kinds of samples.
    Wav { strict: bool },
    /// Whatever the first bytes say.
    Any,
}

/// Samples of a file, frame by frame.
struct Sound {
    samples: Vec<f32>,
    channels: usize,
    rate: i32,
}

#[derive(Debug)]
struct DecodeAudio {
    format: Format,
    /// Channels and frames to give, of whatever there is.
    channels: Option<usize>,
    samples: Option<usize>,
}

impl DecodeAudio {
    fn decode(&self, file: &[u8]) -> Result<Sound> {
        match self.format {
            Format::Wav { strict } => wav::decode(file, strict, self.samples),
            Format::Any if file.starts_with(b"RIFF") => wav::decode(file, false, self.samples),
            Format::Any => codec(file, self.samples),
        }
    }

    /// The frames asked for: later ones are silence, further channels are the last one again.
    fn fitted(&self, sound: &Sound) -> Result<Tensor> {
        let frames = sound.samples.len() / sound.channels.max(1);
        let wanted = self.samples.unwrap_or(frames);
        let channels = self.channels.unwrap_or(sound.channels);
        let bytes = wanted.checked_mul(channels).and_then(|count| count.checked_mul(4));
        let bytes = bytes.filter(|bytes| *bytes <= MOST_BYTES).ok_or_else(too_long)?;
        let mut out = BufferMut::zeroed(bytes)?;
        if channels > 0 {
            let out = out.typed_mut::<f32>().chunks_exact_mut(channels);
            for (out, frame) in out.zip(sound.samples.chunks_exact(sound.channels.max(1))) {
                for (k, sample) in out.iter_mut().enumerate() {
                    *sample = frame[k.min(frame.len() - 1)];
                }
            }
        }
        Tensor::fixed(DType::Float32, [wanted, channels][..].into(), out.freeze())
    }
}

fn too_long() -> Error {
    Error::resource_exhausted("the samples of an audio file take more than 2 GiB")
        .with_hint("set desired_samples")
}

#[cfg(feature = "audio-codecs")]
use codecs::decode as codec;

#[cfg(not(feature = "audio-codecs"))]
fn codec(_: &[u8], _: Option<usize>) -> Result<Sound> {
    Err(Error::invalid_argument("not a WAV file, and this build reads no other audio"))
}

impl Kernel for DecodeAudio {
    fn infer(&self, specs: &[Spec]) -> Result<Vec<Spec>> {
        let [spec] = inputs(specs)?;
        let (dtype, shape) = dense(spec)?;
        if dtype != DType::Bytes {
            return Err(Error::invalid_argument(format!("an audio file is bytes, got {dtype}")));
        }
        if shape.rank().is_some_and(|rank| rank > 0) {
            let text = format!("contents must be scalar, got shape {shape}");
            return Err(Error::invalid_argument(text));
        }
        let samples = PartialShape::new([self.samples, self.channels]);
        let samples = Spec::Tensor { dtype: DType::Float32, shape: samples };
        Ok(vec![samples, Spec::scalar(DType::Int32)])
    }

    fn run(&self, args: &[Arg], rows: usize, _: &[Wanted]) -> Result<Vec<Column>> {
        let [arg] = inputs(args)?;
        let files = stacked(arg, rows)?;
        if files.dims().len() > 1 {
            return Err(Error::invalid_argument("contents must be scalar"));
        }
        let (mut sounds, mut rates) = (Vec::with_capacity(rows), Vec::with_capacity(rows));
        for file in files.strings()?.iter() {
            let sound = self.decode(file)?;
            sounds.push(Value::Tensor(self.fitted(&sound)?));
            rates.push(sound.rate);
        }
        let rates = Tensor::from_values(&[rates.len()], &rates)?;
        Ok(vec![Column::from_values(&sounds)?, Column::Stacked(rates)])
    }
}
