"""Fourier transforms of NumPy on symbols, as graphs."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from test_numpy_ops import CHUNKS, compare, values

import headrace as hr

ONE = ["fft", "ifft", "rfft", "irfft", "hfft", "ihfft"]
SEVERAL = ["fft2", "ifft2", "rfft2", "irfft2", "fftn", "ifftn", "rfftn", "irfftn"]
KINDS = ["bool", "int8", "uint64", "float16", "float32", "float64", "complex64", "complex128"]


def kind_of(data, name):
    kinds = KINDS[:6] if name.startswith(("rfft", "ihfft")) else KINDS
    if name.startswith(("irfft", "hfft")):
        kinds = [kind for kind in kinds if kind != "float16"]
    return np.dtype(data.draw(st.sampled_from(kinds)))


@settings(max_examples=60)
@given(st.data())
def test_transforms_along_an_axis_are_numpys(data):
    name = data.draw(st.sampled_from(ONE))
    shape = data.draw(st.sampled_from([(8,), (2,), (5, 3), (2, 4, 7)]))
    axis = data.draw(st.integers(-len(shape), len(shape) - 1))
    n = data.draw(st.sampled_from([None, 1, 2, 3, 6, 8, 17]))
    norm = data.draw(st.sampled_from([None, "backward", "ortho", "forward"]))
    x = values(kind_of(data, name), (4, *shape), data.draw(st.integers(0, 99)), special=False)
    function = getattr(np.fft, name)
    compare(
        lambda x: function(x, n, axis, norm),
        x,
        rows=data.draw(st.sampled_from(CHUNKS)),
        magnitude=64 * (1 + float(np.abs(x.astype(complex)).max())),
    )


@settings(max_examples=60)
@given(st.data())
def test_transforms_along_several_axes_are_numpys(data):
    name = data.draw(st.sampled_from(SEVERAL))
    shape = data.draw(st.sampled_from([(4, 3), (2, 4, 5)]))
    axes = data.draw(st.sampled_from([(-2, -1), (0, 1), (-1, 0), (1,)]))
    s = data.draw(st.sampled_from([None, 2, 5]))
    norm = data.draw(st.sampled_from([None, "ortho", "forward"]))
    x = values(kind_of(data, name), (4, *shape), data.draw(st.integers(0, 99)), special=False)
    function, sizes = getattr(np.fft, name), None if s is None else (s,) * len(axes)
    compare(
        lambda x: function(x, sizes, axes, norm),
        x,
        rows=data.draw(st.sampled_from(CHUNKS)),
        magnitude=400 * (1 + float(np.abs(x.astype(complex)).max())),
    )


@pytest.mark.parametrize("norm", ["ortho", "forward"])
@pytest.mark.parametrize("n", [1, 3, 7, 48, 1000])
def test_what_scales_a_transform_of_float16_is_a_float16_itself(n, norm):
    x = np.arange(1, 5 * n + 1, dtype=np.float16).reshape(5, n)
    compare(lambda x: np.fft.fft(x, norm=norm), x, magnitude=64 * n * float(x.max()))
    ones = np.zeros((3, n), np.float16)
    ones[:, 0] = 1
    compare(lambda x: np.fft.fft(x, norm=norm), ones, magnitude=1.0)


@pytest.mark.parametrize("rows", CHUNKS)
def test_shifts_and_all_axes(rows):
    x = np.arange(4 * 3 * 4.0).reshape(4, 3, 4)
    compare(lambda x: (np.fft.fftshift(x), np.fft.ifftshift(x, 0)), x, rows=rows)
    compare(lambda x: np.fft.fftn(x), x, rows=rows, magnitude=400.0)
    compare(lambda x: np.abs(np.fft.rfft(x, axis=0)), x, rows=rows, magnitude=400.0)
    assert hr.trace(lambda x: np.fft.fftfreq(3) + x, hr.TensorSpec((3,), np.float64))


def test_rows_of_differing_lengths():
    rows = [np.arange(n, dtype=np.float32) for n in (4, 7, 1, 7)]
    spec = hr.TensorSpec((None,), np.float32)
    dataset = hr.Dataset.from_generator(lambda: iter(rows), output_signature=spec)
    mapped = dataset.map(lambda x: np.fft.rfft(x), executor="native")
    for found, row in zip(mapped, rows, strict=True):
        np.testing.assert_allclose(found, np.fft.rfft(row), atol=1e-5)
        assert found.dtype == np.complex64


def test_what_has_no_transform_is_an_error():
    vector = hr.TensorSpec((4,), np.float64)
    with pytest.raises(ValueError, match="use fft"):
        hr.trace(lambda x: np.fft.rfft(x.astype(complex)), vector)
    with pytest.raises(ValueError, match="number of data points"):
        hr.trace(lambda x: np.fft.fft(x, 0), vector)
    with pytest.raises(ValueError, match="norm"):
        hr.trace(lambda x: np.fft.fft(x, norm="other"), vector)
    empty = hr.Dataset.from_tensors(np.zeros((3, 0)))
    with pytest.raises(ValueError, match="data points"):
        list(empty.map(lambda x: np.fft.fft(x), executor="native"))
    large = hr.Dataset.from_tensors(np.zeros(4))
    with pytest.raises((MemoryError, hr.errors.ResourceExhaustedError)):
        list(large.map(lambda x: np.fft.fft(x, 1 << 45), executor="native"))
