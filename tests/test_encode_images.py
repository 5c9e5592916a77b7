"""Images are written to files, as TensorFlow writes them where the file says so."""

import base64
import hashlib

import numpy as np
import pytest
from conftest import assert_same, golden
from hypothesis import given
from hypothesis import strategies as st

import headrace as hr
from headrace import image

VECTORS = golden("decoded_images.json")
PIXELS = np.frombuffer(base64.b64decode(VECTORS["pixels"]), np.uint8).reshape(24, 31, 3)


@pytest.mark.parametrize("case", VECTORS["encoded"], ids=lambda case: str(case["kwargs"]))
def test_a_jpeg_is_that_of_tensorflow(case):
    pixels = PIXELS if case["image"] == "rgb" else PIXELS[..., :1]
    file = base64.b64decode(case["file"])
    assert image.encode_jpeg(pixels, **case["kwargs"]) == file


@pytest.mark.parametrize("case", VECTORS["adjusted"], ids=lambda case: str(case))
def test_adjusted_quality_is_that_of_tensorflow(case):
    given = image.convert_image_dtype(PIXELS, case["dtype"])
    seen = image.adjust_jpeg_quality(given, case["quality"])
    assert hashlib.sha256(seen.tobytes()).hexdigest() == case["sha256"]


@given(st.sampled_from([1, 2, 3, 4]), st.booleans(), st.integers(-1, 9), st.randoms())
def test_a_png_comes_back(channels, wide, compression, random):
    shape = (random.randint(1, 9), random.randint(1, 9), channels)
    dtype = np.uint16 if wide else np.uint8
    pixels = np.random.default_rng(random.getrandbits(32)).integers(
        0, 1 << 8 * dtype().nbytes, shape
    )
    pixels = pixels.astype(dtype)
    file = image.encode_png(pixels, compression)
    assert_same(image.decode_png(file, dtype=dtype), pixels)


def test_a_batch_of_pngs_is_an_array_of_files():
    files = image.encode_png(np.zeros((2, 3, 4, 5, 3), np.uint8))
    assert files.shape == (2, 3)
    assert image.decode_png(files[1, 2]).shape == (4, 5, 3)


def test_quality_may_differ_from_element_to_element():
    qualities = np.array([10, 95], np.int32)
    dataset = hr.Dataset.from_tensor_slices(qualities).map(
        lambda quality: image.encode_jpeg(PIXELS, quality=quality), executor="native"
    )
    assert list(dataset) == [image.encode_jpeg(PIXELS, quality=int(q)) for q in qualities]
    with pytest.raises(hr.errors.InvalidArgumentError, match=r"\[0,100\], got 101"):
        image.encode_jpeg(PIXELS, quality=101)


@pytest.mark.parametrize(
    ("shape", "kwargs", "words"),
    [
        ((4, 5), {}, "3-dimensional"),
        ((4, 5, 2), {}, "1 or 3 channels"),
        ((4, 5, 3), {"format": "grayscale"}, "expects 1 channels"),
        ((4, 5, 3), {"format": "x"}, "format must be"),
        ((4, 5, 3), {"density_unit": "x"}, "density_unit"),
        ((0, 5, 3), {}, "no pixels"),
        ((4, 5, 3), {"xmp_metadata": "a" * 70000}, "JPEG encoding failed"),
        ((1, 70000, 3), {}, "JPEG encoding failed"),
    ],
)
def test_what_no_jpeg_is_made_of(shape, kwargs, words):
    with pytest.raises(hr.errors.InvalidArgumentError, match=words):
        image.encode_jpeg(np.zeros(shape, np.uint8), **kwargs)


@pytest.mark.parametrize(
    ("shape", "dtype", "compression", "words"),
    [
        ((4, 5), np.uint8, -1, "at least rank 3"),
        ((4, 5, 5), np.uint8, -1, "1, 2, 3, or 4 channels"),
        ((4, 5, 3), np.float32, -1, "uint8 or uint16, got float32"),
        ((4, 5, 3), np.uint8, 10, "in \\[-1,9\\], got 10"),
        ((0, 5, 3), np.uint8, -1, "no pixels"),
    ],
)
def test_what_no_png_is_made_of(shape, dtype, compression, words):
    with pytest.raises(hr.errors.InvalidArgumentError, match=words):
        image.encode_png(np.zeros(shape, dtype), compression)
