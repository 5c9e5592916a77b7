//! FLAC, MP3 and Ogg Vorbis, by symphonia.
//!
//! Silence that an encoder put at the ends is cut off where the file tells of it. A file that is
//! broken anywhere is an error: half a sound is no sound.

use std::io::Cursor;
use std::panic::{AssertUnwindSafe, catch_unwind};

use symphonia::core::codecs::audio::AudioDecoderOptions;
use symphonia::core::errors::Error as CodecError;
use symphonia::core::formats::TrackType;
use symphonia::core::formats::probe::Hint;
use symphonia::core::io::MediaSourceStream;

use crate::error::{Error, Result};
use crate::kernels::audio::{MOST_BYTES, Sound, too_long};

/// The samples of a file; decoding stops behind the first `wanted` frames.
pub(super) fn decode(file: &[u8], wanted: Option<usize>) -> Result<Sound> {
    // The decoders are others' code and see bytes of anybody: a bug of theirs is an error of the
    // file, not the end of the process.
    catch_unwind(AssertUnwindSafe(|| stream(file, wanted)))
        .unwrap_or_else(|_| Err(Error::invalid_argument("the audio file breaks its decoder")))
}

fn broken(error: &CodecError) -> Error {
    Error::invalid_argument(format!("cannot decode the audio file: {error}"))
        .with_hint("WAV, FLAC, MP3 and Ogg Vorbis are read")
}

fn stream(file: &[u8], wanted: Option<usize>) -> Result<Sound> {
    let source = MediaSourceStream::new(Box::new(Cursor::new(file)), Default::default());
    let probe = symphonia::default::get_probe();
    let mut format = probe
        .probe(&Hint::new(), source, Default::default(), Default::default())
        .map_err(|error| broken(&error))?;
    let none = || Error::invalid_argument("the audio file has no track of sound");
    let track = format.default_track(TrackType::Audio).ok_or_else(none)?;
    let id = track.id;
    let parameters = track.codec_params.as_ref().and_then(|found| found.audio());
    let mut decoder = symphonia::default::get_codecs()
        .make_audio_decoder(parameters.ok_or_else(none)?, &AudioDecoderOptions::default())
        .map_err(|error| broken(&error))?;
    let mut sound = Sound { samples: Vec::new(), channels: 0, rate: 0 };
    let mut packet_samples: Vec<f32> = Vec::new();
    while let Some(packet) = format.next_packet().map_err(|error| broken(&error))? {
        if packet.track_id != id {
            continue;
        }
        let decoded = decoder.decode(&packet).map_err(|error| broken(&error))?;
        let (channels, rate) = (decoded.spec().channels().count(), decoded.spec().rate());
        let rate = i32::try_from(rate)
            .map_err(|_| Error::invalid_argument(format!("a sample rate of {rate}")))?;
        if sound.channels == 0 {
            (sound.channels, sound.rate) = (channels, rate);
        }
        if (channels, rate) != (sound.channels, sound.rate) {
            let text = "the channels or the sample rate change within the audio file";
            return Err(Error::invalid_argument(text));
        }
        decoded.copy_to_vec_interleaved(&mut packet_samples);
        let bytes = (sound.samples.len() + packet_samples.len()).saturating_mul(4);
        if bytes > MOST_BYTES {
            return Err(too_long());
        }
        sound.samples.extend_from_slice(&packet_samples);
        if wanted.is_some_and(|wanted| sound.samples.len() >= wanted.saturating_mul(channels)) {
            break;
        }
    }
    match sound.channels {
        0 => Err(none()),
        _ => Ok(sound),
    }
}
