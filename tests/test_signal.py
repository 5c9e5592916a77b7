"""Pieces and spectra of signals: on arrays, and as graphs."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from test_numpy_ops import CHUNKS, compare, values

import headrace as hr


@settings(max_examples=60)
@given(st.data())
def test_frames_start_step_by_step_along_any_axis(data):
    shape = data.draw(st.sampled_from([(9,), (4, 5), (3, 4, 2), (0,)]))
    axis = data.draw(st.integers(-len(shape), len(shape) - 1))
    length, step = data.draw(st.integers(0, 6)), data.draw(st.integers(1, 4))
    pad = data.draw(st.booleans())
    kind = data.draw(st.sampled_from(["bool", "uint8", "int64", "float16", "float32", "complex64"]))
    x = values(np.dtype(kind), (4, *shape), data.draw(st.integers(0, 99)), special=False)

    def expected(row):
        row = np.moveaxis(row, axis, -1)
        count = -(-row.shape[-1] // step) if pad else max(0, 1 + (row.shape[-1] - length) // step)
        filled = np.pad(row, [(0, 0)] * (row.ndim - 1) + [(0, length)], constant_values=1)
        made = [filled[..., k * step : k * step + length] for k in range(count)]
        empty = np.zeros((*row.shape[:-1], 0, length), row.dtype)
        made = np.stack(made, -2) if made else empty
        return np.moveaxis(made, (-2, -1), (axis % len(shape), axis % len(shape) + 1))

    def function(x):
        return hr.signal.frame(x, length, step, pad, 1, axis)

    rows = data.draw(st.sampled_from(CHUNKS))
    for row in x:
        np.testing.assert_array_equal(function(row), expected(row))
    compare(function, x, rows=rows)


@settings(max_examples=40)
@given(st.data())
def test_pieces_add_up_where_they_overlap(data):
    count, length = data.draw(st.integers(0, 5)), data.draw(st.integers(0, 4))
    step = data.draw(st.integers(1, 5))
    kind = data.draw(st.sampled_from(["int32", "float32", "float64"]))
    x = np.random.default_rng(data.draw(st.integers(0, 9))).integers(-9, 9, (4, 2, count, length))
    x = x.astype(kind)
    total = (count - 1) * step + length if count else 0
    wanted = np.zeros((4, 2, total), kind)
    for k in range(count):
        wanted[..., k * step : k * step + length] += x[:, :, k]
    for row, want in zip(x, wanted, strict=True):
        np.testing.assert_array_equal(hr.signal.overlap_and_add(row, step), want)
    rows = data.draw(st.sampled_from(CHUNKS))
    compare(lambda x: hr.signal.overlap_and_add(x, step), x, rows=rows)


@pytest.mark.parametrize("rows", CHUNKS)
@pytest.mark.parametrize("kind", ["float32", "float64"])
def test_spectra_and_cepstra_are_those_of_arrays(rows, kind):
    x = np.random.default_rng(0).standard_normal((4, 2, 50)).astype(kind)

    def function(x):
        spectra = hr.signal.stft(x, 16, 5, window_fn=hr.signal.hamming_window, pad_end=True)
        mel = np.abs(spectra) @ hr.signal.linear_to_mel_weight_matrix(6, 9, dtype=kind)
        window = hr.signal.inverse_stft_window_fn(5, hr.signal.hamming_window)
        back = hr.signal.inverse_stft(spectra, 16, 5, window_fn=window)
        return spectra, hr.signal.mfccs_from_log_mel_spectrograms(np.log(mel + 0.5)), back

    compare(function, x, rows=rows, magnitude=1e3)
    back = function(x[0])[2]
    np.testing.assert_allclose(back[:, 16:50], x[0][:, 16:], atol=1e-5)


def test_signals_of_differing_lengths():
    rows = [np.arange(n, dtype=np.float32) for n in (40, 8, 0, 41)]
    spec = hr.TensorSpec((None,), np.float32)
    dataset = hr.Dataset.from_generator(lambda: iter(rows), output_signature=spec)
    mapped = dataset.map(lambda x: hr.signal.stft(x, 16, 8), executor="native")
    assert [found.shape for found in mapped] == [(4, 9), (0, 9), (0, 9), (4, 9)]


def test_what_makes_no_signal_is_an_error():
    x = np.zeros(4, np.float32)
    for wrong, text in [
        (lambda: hr.signal.frame(x, -1, 1), "frame_length"),
        (lambda: hr.signal.frame(x, 1, 0), "frame_step"),
        (lambda: hr.signal.frame(np.float32(1), 1, 1), "axis"),
        (lambda: hr.signal.frame(x, 1, 1, axis=3), "axis 3"),
        (lambda: hr.signal.frame("text", 1, 1), "does not take"),
        (lambda: hr.signal.overlap_and_add(x, 1), "frames of samples"),
        (lambda: hr.signal.stft(np.arange(4), 2, 1), "floats"),
        (lambda: hr.signal.hann_window(-1), "negative"),
        (lambda: hr.signal.hann_window(4, dtype=np.int32), "floats"),
        (lambda: hr.signal.linear_to_mel_weight_matrix(0), "positive"),
        (lambda: hr.signal.linear_to_mel_weight_matrix(upper_edge_hertz=5000.0), "sample_rate"),
        (lambda: hr.signal.linear_to_mel_weight_matrix(lower_edge_hertz=3900.0), "lower_edge"),
        (lambda: hr.signal.dct(x, type=3), "type 2"),
        (lambda: hr.signal.dct(x, norm="other"), "ortho"),
        (lambda: hr.signal.inverse_stft_window_fn(0), "above zero"),
    ]:
        with pytest.raises(ValueError, match=text):
            wrong()
    with pytest.raises((MemoryError, hr.errors.ResourceExhaustedError)):
        hr.signal.frame(x, 1 << 60, 1, True)
