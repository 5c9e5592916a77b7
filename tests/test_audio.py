"""`headrace.audio` and ``tf.audio``: WAV as TensorFlow has it and beyond, FLAC, MP3 and Vorbis."""

import contextlib
import io
import json
import random
import struct
import wave
from pathlib import Path

import numpy as np
import pytest
from laws import check_chunk_sizes

import headrace as hr
import headrace.tf as tf

HERE = Path(__file__).parent
GOLDEN = HERE / "golden"
SOUNDS = HERE / "data" / "audio"
CASES = json.loads((GOLDEN / "audio.json").read_text())["cases"]


def wav(samples, bits=16, tag=1, channels=1, rate=8000, before=b"", between=b""):
    """Return a WAV file of raw samples."""
    frame = channels * bits // 8
    head = struct.pack("<HHIIHH", tag, channels, rate, rate * frame, frame, bits)
    chunks = before + b"fmt " + struct.pack("<I", len(head)) + head + between
    chunks += b"data" + struct.pack("<I", len(samples)) + samples
    return b"RIFF" + struct.pack("<I", 4 + len(chunks)) + b"WAVE" + chunks


def numbers(values, dtype):
    return np.asarray(values, dtype).tobytes()


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case['file']} {case['kwargs']}")
def test_decoding_is_tensorflows(case):
    file = (GOLDEN / case["file"]).read_bytes()
    if "error" in case:
        with pytest.raises(tf.errors.InvalidArgumentError) as caught:
            tf.audio.decode_wav(file, **case["kwargs"])
        assert case["error"]["message"] in str(caught.value)
        return
    expected = np.load(GOLDEN / case["npz"])[case["key"]]
    for decode in (tf.audio.decode_wav, hr.audio.decode_wav, hr.audio.decode_audio):
        samples, rate = decode(file, **case["kwargs"])
        np.testing.assert_array_equal(np.asarray(samples), expected)
        assert int(rate) == case["sample_rate"]
        assert np.asarray(samples).dtype == np.float32


@pytest.mark.parametrize(
    ("file", "expected"),
    [
        (wav(bytes([0, 1, 128, 255]), 8), [-1, -127 / 128, 0, 127 / 128]),
        (wav(numbers([-(2**15), 0, 2**15 - 1], "<i2")), [-1, 0, 1 - 2**-15]),
        (wav(b"\x00\x00\x80\x00\x00\x40\xff\xff\xff", 24), [-1, 0.5, -(2**-23)]),
        (wav(numbers([-(2**31), 2**30, 0], "<i4"), 32), [-1, 0.5, 0]),
        (wav(numbers([0.25, -2], "<f4"), 32, 3), [0.25, -2]),
        (wav(numbers([0.25, -2], "<f8"), 64, 3), [0.25, -2]),
    ],
)
def test_samples_of_each_kind_are_read(file, expected):
    samples, rate = hr.audio.decode_wav(file)
    assert samples.tolist() == [[value] for value in np.float32(expected)]
    assert rate == 8000


def test_chunks_may_come_in_any_order_and_are_padded():
    data = numbers([1, 2], "<i2")
    note = b"LIST" + struct.pack("<I", 3) + b"abc\0"
    for file in (wav(data, before=note), wav(data, between=note), wav(data) + b"\0"):
        assert hr.audio.decode_wav(file)[0].shape == (2, 1)
    with pytest.raises(tf.errors.InvalidArgumentError, match="Unexpected field LIST"):
        tf.audio.decode_wav(wav(data, before=note))


def test_what_is_encoded_is_tensorflows_and_reads_back():
    samples = [[0.0, 1.0], [0.5, -1.0], [2.0, -2.0], [np.nan, np.inf], [1 / 65536, -1 / 65536]]
    file = hr.audio.encode_wav(np.asarray(samples, np.float32), 44100)
    assert file == tf.audio.encode_wav(samples, 44100).numpy()
    assert file[:22] == b"RIFF8\0\0\0WAVEfmt \x10\0\0\0\x01\0"
    assert file[22:44] == b"\x02\0D\xac\0\0\x10\xb1\x02\0\x04\0\x10\0data\x14\0\0\0"
    values = struct.unpack("<10h", file[44:])
    assert values == (0, 32767, 16384, -32768, 32767, -32768, 0, 32767, 1, -1)
    with wave.open(io.BytesIO(file)) as reader:
        assert (reader.getnchannels(), reader.getframerate(), reader.getnframes()) == (2, 44100, 5)


@pytest.mark.parametrize(
    ("audio", "rate", "text"),
    [
        (np.zeros(3, np.float32), 8000, "2-dimensional"),
        (np.zeros((3, 1), np.float64), 8000, "float32"),
        (np.zeros((3, 1), np.float32), 0, "sample_rate"),
        (np.zeros((3, 0), np.float32), 8000, "num_channels"),
        (np.zeros((1, 70_000), np.float32), 8000, "num_channels"),
        (np.zeros((1, 60_000), np.float32), 2**31, "fit"),
    ],
)
def test_what_no_file_holds_is_refused(audio, rate, text):
    with pytest.raises(hr.errors.InvalidArgumentError, match=text):
        hr.audio.encode_wav(audio, rate)


@pytest.mark.parametrize(("name", "reference"), [("tone.flac", "tone"), ("tone24.flac", "tone24")])
def test_flac_is_lossless(name, reference):
    samples, rate = hr.audio.decode_audio((SOUNDS / name).read_bytes())
    expected, expected_rate = hr.audio.decode_wav((SOUNDS / f"{reference}.wav").read_bytes())
    np.testing.assert_array_equal(samples, expected)
    assert rate == expected_rate


@pytest.mark.parametrize(
    ("name", "reference"), [("tone.mp3", "tone_mp3"), ("tone.ogg", "tone_ogg")]
)
def test_lossy_files_decode_as_their_own_decoders_do(name, reference):
    samples, rate = hr.audio.decode_audio((SOUNDS / name).read_bytes())
    expected, expected_rate = hr.audio.decode_wav((SOUNDS / f"{reference}.wav").read_bytes())
    assert rate == expected_rate
    assert samples.shape == expected.shape
    # The others round to 16 bits.
    assert np.abs(samples - expected).max() < 2**-14


def test_a_traced_map_decodes_at_every_chunk_size():
    files = [(SOUNDS / f"tone.{kind}").read_bytes() for kind in ("wav", "flac", "mp3", "ogg")]
    files.append((SOUNDS / "tone24.flac").read_bytes())

    def decode(file):
        samples, rate = hr.audio.decode_audio(file, desired_channels=1)
        return samples * np.float32(2), rate

    array = np.array([*files, None], object)[:-1]

    def build():
        return hr.Dataset.from_tensor_slices(array).map(decode, executor="native")

    check_chunk_sizes(build, [decode(file) for file in files])
    cut = hr.Dataset.from_tensor_slices(array).map(
        lambda x: hr.audio.decode_audio(x, 2, 100)[0], executor="native"
    )
    assert cut.element_spec == hr.TensorSpec((100, 2), np.float32)
    assert next(iter(cut.batch(5))).shape == (5, 100, 2)


def test_encoding_is_traced():
    sounds = np.linspace(-1, 1, 24, dtype=np.float32).reshape(3, 4, 2)

    def build():
        encode = hr.audio.encode_wav
        dataset = hr.Dataset.from_tensor_slices(sounds)
        return dataset.map(lambda x: encode(x, np.int32(8000)), executor="native")

    check_chunk_sizes(build, [hr.audio.encode_wav(sound, 8000) for sound in sounds])


def test_tensorflows_decoder_is_traced_in_its_datasets():
    dataset = tf.data.Dataset.from_tensors((SOUNDS / "tone.wav").read_bytes())
    decoded = dataset.map(lambda x: tf.audio.decode_wav(x, desired_samples=10))
    assert decoded.element_spec[0].shape.as_list() == [10, None]
    samples, rate = next(iter(decoded))
    assert samples.shape == (10, 2)
    assert int(rate) == 16000


@pytest.mark.parametrize(
    "file",
    [
        wav(b"", channels=65535, bits=8),
        b"RIFF\xff\xff\xff\xffWAVEfmt \xff\xff\xff\x7f",
        wav(b"")[:-4] + b"\xff\xff\xff\xff",
        b"",
        b"fLaC" + bytes(100),
        b"OggS" + bytes(100),
        b"\xff\xfb" + bytes(100),
    ],
)
def test_files_that_lie_are_an_error_or_no_sound(file):
    for decode in (hr.audio.decode_wav, hr.audio.decode_audio):
        with contextlib.suppress(hr.errors.HeadraceError):
            assert decode(file)[0].size == 0


def test_more_samples_than_memory_are_refused():
    file = wav(numbers([1], "<i2"))
    for kwargs in (
        {"desired_samples": 2**62},
        {"desired_channels": 2**40, "desired_samples": 2**20},
    ):
        with pytest.raises(hr.errors.ResourceExhaustedError):
            hr.audio.decode_wav(file, **kwargs)
    with pytest.raises(hr.errors.InvalidArgumentError, match="desired_samples"):
        hr.audio.decode_wav(file, desired_samples=-2)


@pytest.mark.parametrize("name", ["tone.wav", "tone.flac", "tone.mp3", "tone.ogg"])
def test_broken_files_never_crash(name):
    whole = (SOUNDS / name).read_bytes()
    draw = random.Random(name)
    broken = [whole[:length] for length in range(0, len(whole), max(1, len(whole) // 40))]
    for _ in range(200):
        changed = bytearray(whole)
        for _ in range(draw.randrange(1, 6)):
            changed[draw.randrange(len(changed))] = draw.randrange(256)
        broken.append(bytes(changed))
    for file in broken:
        try:
            samples, _ = hr.audio.decode_audio(file)
        except (hr.errors.InvalidArgumentError, hr.errors.ResourceExhaustedError):
            continue
        assert samples.size < 10_000_000
