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


def cosines(x, kind, ortho):
    """Return a cosine transform by its definition."""
    n, k = np.arange(x.shape[-1])[:, None], np.arange(x.shape[-1])
    size = len(k)
    if kind == 1:
        weights = 2 * np.cos(np.pi * n * k / (size - 1))
        weights[0], weights[-1] = 1, (-1.0) ** k
    elif kind == 2:
        weights = 2 * np.cos(np.pi * (2 * n + 1) * k / (2 * size))
    elif kind == 3:
        weights = 2 * np.cos(np.pi * n * (2 * k + 1) / (2 * size))
        weights[0] = 1
    else:
        weights = 2 * np.cos(np.pi * (2 * n + 1) * (2 * k + 1) / (4 * size))
    if ortho:
        weights /= np.sqrt(2 * size)
        if kind == 2:
            weights[:, 0] /= np.sqrt(2)
        if kind == 3:
            weights[0] *= np.sqrt(2)
    return x.astype(np.float64) @ weights


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_cosine_transforms_are_those_of_their_definition(data):
    kind = data.draw(st.sampled_from([1, 2, 3, 4]))
    norm = data.draw(st.sampled_from([None, "ortho"])) if kind > 1 else None
    size, n = data.draw(st.integers(2, 9)), data.draw(st.sampled_from([None, 2, 3, 8, 12]))
    dtype = data.draw(st.sampled_from(["float32", "float64"]))
    rng = np.random.default_rng(data.draw(st.integers(0, 99)))
    x = rng.standard_normal((4, 2, size)).astype(dtype)
    filled = x if n is None else np.pad(x, [(0, 0), (0, 0), (0, n)])[..., :n]
    wanted = cosines(filled, kind, norm)

    def function(x):
        return hr.signal.dct(x, kind, n, norm=norm), hr.signal.idct(x, kind, n, norm=norm)

    found = np.stack([function(row)[0] for row in x])
    assert found.dtype == dtype
    np.testing.assert_allclose(found, wanted, atol=1e-4, rtol=1e-4)
    compare(function, x, rows=data.draw(st.sampled_from(CHUNKS)), magnitude=1e3)
    back = hr.signal.idct(found, kind, norm=norm)
    whole = filled.shape[-1]
    factor = 1 if norm else 2 * (whole - 1 if kind == 1 else whole)
    np.testing.assert_allclose(back, filled * factor, atol=1e-3, rtol=1e-3)


def test_cosine_transforms_of_differing_lengths():
    rows = [np.arange(n, dtype=np.float32) for n in (4, 8, 0, 5)]
    spec = hr.TensorSpec((None,), np.float32)
    dataset = hr.Dataset.from_generator(lambda: iter(rows), output_signature=spec)
    for kind in (1, 2, 3, 4):
        mapped = dataset.map(lambda x, kind=kind: hr.signal.dct(x, kind, 5), executor="native")
        for row, found in zip(rows, mapped, strict=True):
            wanted = cosines(np.pad(row, (0, 5))[:5], kind, None)
            np.testing.assert_allclose(found, wanted, rtol=1e-4, atol=1e-4)


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
        (lambda: hr.signal.dct(x, type=5), "type is 1, 2, 3 or 4"),
        (lambda: hr.signal.dct(x, axis=0), "axis must be -1"),
        (lambda: hr.signal.dct(x, type=1, norm="ortho"), "None for type 1"),
        (lambda: hr.signal.dct(x[:1], type=1), "more numbers than 1"),
        (lambda: hr.signal.idct(x, n=0), "more numbers than 0"),
        (lambda: hr.signal.idct(x, type=7), "type is 1, 2, 3 or 4"),
        (lambda: hr.signal.dct(np.arange(3)), "floats"),
        (lambda: hr.signal.dct(x, norm="other"), "ortho"),
        (lambda: hr.signal.inverse_stft_window_fn(0), "above zero"),
    ]:
        with pytest.raises(ValueError, match=text):
            wrong()
    with pytest.raises((MemoryError, hr.errors.ResourceExhaustedError)):
        hr.signal.frame(x, 1 << 60, 1, True)
