"""Colours of images: values against NumPy, ranges of dtypes, and what is refused."""

import colorsys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

import headrace as hr
import headrace.tf as tf

UNIT = st.floats(0, 1, width=32)
IMAGES = arrays.arrays(np.float64, (3, 2, 3), elements=UNIT)
BYTES = arrays.arrays(np.uint8, st.tuples(*[st.integers(1, 6)] * 3))


@given(IMAGES)
def test_hsv_is_that_of_colorsys(image):
    found = hr.image.rgb_to_hsv(image).reshape(-1, 3)
    expected = [colorsys.rgb_to_hsv(*pixel) for pixel in image.reshape(-1, 3)]
    away = np.abs(found - expected)
    away[:, 0] = np.minimum(away[:, 0], 1 - away[:, 0])  # 0 and 1 are one hue
    assert away.max() < 1e-9
    np.testing.assert_allclose(hr.image.hsv_to_rgb(hr.image.rgb_to_hsv(image)), image, atol=1e-9)


@given(IMAGES)
def test_colour_spaces_lead_back(image):
    there = hr.image.rgb_to_yuv(image)
    np.testing.assert_allclose(hr.image.yuv_to_rgb(there), image, atol=1e-3)
    there = hr.image.rgb_to_yiq(image)
    np.testing.assert_allclose(hr.image.yiq_to_rgb(there), image, atol=1e-3)


@given(BYTES)
def test_standardized_images_have_mean_0_and_deviation_1(image):
    found = hr.image.per_image_standardization(image)
    wide = image.astype(np.float64)
    deviation = max(wide.std(), 1 / np.sqrt(image.size))
    np.testing.assert_allclose(found, (wide - wide.mean()) / deviation, rtol=1e-4, atol=1e-4)
    assert found.dtype == np.float32


@given(BYTES, UNIT)
def test_bytes_are_brightened_within_their_range(image, delta):
    found = hr.image.adjust_brightness(image, delta)
    wide = np.minimum(image / 255 + delta, 1) * 255
    assert found.dtype == np.uint8
    assert np.abs(found - wide).max() <= 1


@given(BYTES)
def test_going_to_a_wider_dtype_and_back_changes_nothing(image):
    for dtype in ("uint16", "int16", "int32", "int64", "uint64", "float32", "float64"):
        wide = hr.image.convert_image_dtype(image, dtype)
        assert wide.dtype == np.dtype(dtype)
        np.testing.assert_array_equal(hr.image.convert_image_dtype(wide, np.uint8), image)


def test_values_out_of_range_wrap_around_or_saturate():
    image = np.array([-0.5, 0.5, 1.5], np.float32)
    convert = hr.image.convert_image_dtype
    assert convert(image, np.uint8, saturate=True).tolist() == [0, 127, 255]
    assert convert(image, np.uint8).tolist() == [129, 127, 127]
    signed = np.array([-128, 5, 127], np.int8)
    assert convert(signed, np.uint8, saturate=True).tolist() == [0, 10, 254]
    assert convert(signed, np.uint8).tolist() == [0, 10, 254]
    assert convert(np.float32(np.nan), np.uint8, saturate=True).shape == ()


def test_hue_goes_around_and_saturation_ends_at_grey():
    image = np.array([[[200, 100, 50]]], np.uint8)
    assert hr.image.adjust_hue(image, 1 / 3).tolist() == [[[50, 200, 100]]]
    assert hr.image.adjust_hue(image, -1).tolist() == image.tolist()
    assert hr.image.adjust_saturation(image, 0).tolist() == [[[200, 200, 200]]]
    assert hr.image.adjust_saturation(image, 1e9).tolist() == [[[200, 66, 0]]]


@pytest.mark.parametrize("name", ["adjust_hue", "adjust_saturation"])
def test_values_that_are_no_numbers_end(name):
    for value in (np.nan, np.inf, -np.inf):
        image = np.array([[[value, 0.5, 0.25], [value] * 3]], np.float32)
        assert getattr(hr.image, name)(image, 0.5).shape == image.shape
        assert hr.image.rgb_to_hsv(image).shape == image.shape


@pytest.mark.parametrize("shape", [(0, 4, 3), (4, 0, 3), (0, 4, 4, 3)])
def test_empty_images_stay_empty(shape):
    image = np.zeros(shape, np.uint8)
    for name in ("hue", "saturation", "contrast", "brightness", "gamma"):
        assert getattr(hr.image, f"adjust_{name}")(image, 0.5).shape == shape
    assert hr.image.per_image_standardization(image).shape == shape
    assert hr.image.rgb_to_grayscale(image).shape == (*shape[:-1], 1)


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (lambda x: hr.image.adjust_hue(x[..., :2], 0.1), "must have 3 channels, got 2"),
        (lambda x: hr.image.adjust_hue(x, 1.5), r"interval \[-1, 1\], got 1.5"),
        (lambda x: hr.image.adjust_hue(x, np.nan), r"interval \[-1, 1\], got NaN"),
        (lambda x: hr.image.adjust_gamma(x, -1), "non-negative real number, got -1"),
        (lambda x: hr.image.adjust_contrast(x[0], 2), "at least 3-D, got 2"),
        (lambda x: hr.image.adjust_brightness(x, [0.1, 0.2]), r"one number .* shape \(2,\)"),
        (lambda x: hr.image.rgb_to_hsv(x), "of floats, got uint8; convert_image_dtype"),
        (lambda x: hr.image.rgb_to_grayscale(x[..., :1]), "must have 3 channels, got 1"),
        (lambda x: hr.image.grayscale_to_rgb(x), "must have 1 channels, got 3"),
        (lambda x: hr.image.convert_image_dtype(x, bool), "got bool"),
        (lambda x: hr.image.convert_image_dtype(x > 1, np.uint8), "got bool"),
        (lambda x: hr.image.per_image_standardization(x[0]), "at least 3-D"),
    ],
)
def test_what_has_no_such_colours_is_refused(call, text):
    with pytest.raises(hr.errors.InvalidArgumentError, match=text):
        call(np.zeros((4, 5, 3), np.uint8))


def test_the_twins_raise_as_tensorflow_does():
    image = tf.ones([4, 5, 3], tf.uint8)
    with pytest.raises(AttributeError, match="dtype must be either floating point or integer"):
        tf.image.convert_image_dtype(image, tf.bool)
    with pytest.raises(AttributeError, match="image dtype must be either floating"):
        tf.image.convert_image_dtype(tf.constant([True]), tf.uint8)
    with pytest.raises(ValueError, match=r"delta must be in the interval \[-1, 1\]"):
        tf.image.adjust_hue(image, -1.01)
    with pytest.raises(ValueError, match="Gamma should be a non-negative real number"):
        tf.image.adjust_gamma(image, -0.1)
    with pytest.raises(ValueError, match="must be at least two-dimensional"):
        tf.image.grayscale_to_rgb(tf.ones([1]))
    with pytest.raises(ValueError, match="Last dimension of a grayscale image should be size 1"):
        tf.image.grayscale_to_rgb(image)
    with pytest.raises(ValueError, match="at least three-dimensional"):
        tf.image.per_image_standardization(tf.ones([4, 5]))
    with pytest.raises(TypeError):
        tf.image.rgb_to_yuv(image)


def test_the_twins_are_traced():
    images = np.random.default_rng(0).integers(0, 256, (3, 4, 5, 3)).astype(np.uint8)

    def augment(image):
        x = tf.image.convert_image_dtype(image, tf.float32)
        x = tf.image.adjust_brightness(x, 0.1)
        x = tf.image.adjust_saturation(tf.image.adjust_hue(x, 0.1), 1.5)
        return tf.image.per_image_standardization(x)

    dataset = tf.data.Dataset.from_tensor_slices(images).map(augment)
    assert dataset.element_spec == tf.TensorSpec([4, 5, 3], tf.float32)
    for image, found in zip(images, dataset, strict=True):
        np.testing.assert_array_equal(found.numpy(), augment(image).numpy())
