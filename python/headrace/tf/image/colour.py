"""Colours, dtypes and their ranges; mirrors ``tf.image``."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ...errors import InvalidArgumentError
from ...image import colour as own
from ..casting import cast
from ..convert import convert, is_symbol
from ..debugging import assert_non_negative
from ..dtypes import as_dtype, float16, float32
from ..dtypes import to_own as dtype_to_own
from ..kernels import static_shape
from ..tensor import raw, wrap
from .arguments import at_least_3d, call, shown

__all__ = [
    "adjust_brightness",
    "adjust_contrast",
    "adjust_gamma",
    "adjust_hue",
    "adjust_saturation",
    "convert_image_dtype",
    "grayscale_to_rgb",
    "hsv_to_rgb",
    "per_image_standardization",
    "rgb_to_grayscale",
    "rgb_to_hsv",
    "rgb_to_yiq",
    "rgb_to_yuv",
    "yiq_to_rgb",
    "yuv_to_rgb",
]


def convert_image_dtype(
    image: Any, dtype: Any, saturate: bool = False, name: str | None = None
) -> Any:
    """Bring images to another dtype and its range; mirrors ``tf.image.convert_image_dtype``.

    Parameters
    ----------
    image
        Integers from 0 to the largest of their dtype, or floats from 0 to 1.
    dtype
        Integers or floats.
    saturate
        Cut off what is out of range, instead of wrapping around.
    name
        Accepted for TensorFlow's sake.

    Raises
    ------
    AttributeError
        A dtype is neither of integers nor of floats.

    Examples
    --------
    >>> tf.image.convert_image_dtype(tf.constant([0, 255], tf.uint8), tf.float32).numpy()
    array([0., 1.], dtype=float32)
    """
    x, target = convert(image), as_dtype(dtype)
    if not target.is_floating and not target.is_integer:
        raise AttributeError("dtype must be either floating point or integer")
    if not x.dtype.is_floating and not x.dtype.is_integer:
        raise AttributeError("image dtype must be either floating point or integer")
    return call(own.convert_image_dtype, x, dtype=dtype_to_own(target), saturate=saturate)


def per_image_standardization(image: Any) -> Any:
    """Bring images to mean 0 and deviation 1; mirrors ``tf.image.per_image_standardization``.

    Parameters
    ----------
    image
        A tensor whose last three axes are an image.

    Raises
    ------
    ValueError
        `image` has fewer than three axes, or no pixels.

    Examples
    --------
    >>> tf.image.per_image_standardization([[[1], [3]]]).numpy().reshape(-1)
    array([-1.,  1.], dtype=float32)
    """
    return call(own.per_image_standardization, at_least_3d(image))


def adjust_brightness(image: Any, delta: Any) -> Any:
    """Add to the values of images; mirrors ``tf.image.adjust_brightness``.

    Parameters
    ----------
    image
        Integers or floats.
    delta
        What is added where the range of values is 0 to 1: a number, or a tensor to broadcast.

    Examples
    --------
    >>> tf.image.adjust_brightness(tf.constant([[[0, 100, 200]]], tf.uint8), 0.4).numpy()
    array([[[102, 202, 255]]], dtype=uint8)
    """
    x, added = _of_numbers(image), _amount(delta)
    if static_shape(added) != ():
        return _as_floats(x, lambda floats: floats + cast(added, floats.dtype))
    return call(own.adjust_brightness, x, added)


def adjust_contrast(images: Any, contrast_factor: Any) -> Any:
    """Scale the distance to the mean of each channel; mirrors ``tf.image.adjust_contrast``.

    Parameters
    ----------
    images
        A tensor whose last three axes are an image.
    contrast_factor
        Above 1 for more contrast, below for less.

    Raises
    ------
    InvalidArgumentError
        `images` have fewer than three axes, or `contrast_factor` is no scalar.

    Examples
    --------
    >>> tf.image.adjust_contrast([[[1.0], [3.0]]], 2.0).numpy().reshape(-1)
    array([0., 4.], dtype=float32)
    """
    x = _ranked(_of_numbers(images))
    return call(own.adjust_contrast, x, _scalar("contrast_factor", contrast_factor))


def adjust_gamma(image: Any, gamma: Any = 1, gain: Any = 1) -> Any:
    """Give ``gain * image ** gamma``; mirrors ``tf.image.adjust_gamma``.

    Parameters
    ----------
    image
        Integers or floats. Integers are brought to the range 0 to 1 and back.
    gamma
        Above 1 for darker images, between 0 and 1 for brighter ones.
    gain
        A factor. Both are numbers, or tensors to broadcast.

    Raises
    ------
    ValueError
        `gamma` is below 0.

    Examples
    --------
    >>> tf.image.adjust_gamma([[[0.25]]], 0.5).numpy()
    array([[[0.5]]], dtype=float32)
    """
    power = _amount(gamma)
    if not is_symbol(power) and (raw(power) < 0).any():
        raise InvalidArgumentError("Gamma should be a non-negative real number.")
    x, factor = _of_numbers(image), _amount(gain)
    if static_shape(power) != () or static_shape(factor) != ():
        if is_symbol(power):
            assert_non_negative(power, message="Gamma should be a non-negative real number.")
        return _as_floats(
            x, lambda floats: cast(factor, floats.dtype) * floats ** cast(power, floats.dtype)
        )
    return call(own.adjust_gamma, x, power, factor)


def adjust_hue(image: Any, delta: Any, name: str | None = None) -> Any:
    """Turn the hue of images; mirrors ``tf.image.adjust_hue``.

    Parameters
    ----------
    image
        A tensor whose last three axes are an image of three channels.
    delta
        Turns around the circle of colours: -1 to 1.
    name
        Accepted for TensorFlow's sake.

    Raises
    ------
    ValueError
        `image` has not three channels, `delta` is no scalar, or it is outside the interval and
        `image` a tensor.

    Examples
    --------
    >>> tf.image.adjust_hue(tf.constant([[[255, 0, 0]]], tf.uint8), 0.5).numpy()
    array([[[  0, 255, 255]]], dtype=uint8)
    """
    x = _of_channels(_ranked(_of_numbers(image)), 3)
    turns = _scalar("delta", delta)
    if not is_symbol(turns) and (abs(raw(turns)) > 1).any():
        if not is_symbol(x):
            raise ValueError("delta must be in the interval [-1, 1]")
        # TensorFlow checks tensors only; whole turns change nothing.
        turns = wrap(np.fmod(raw(turns), 1))
    return call(own.adjust_hue, x, turns)


def adjust_saturation(image: Any, saturation_factor: Any, name: str | None = None) -> Any:
    """Scale the saturation of images; mirrors ``tf.image.adjust_saturation``.

    Parameters
    ----------
    image
        A tensor whose last three axes are an image of three channels.
    saturation_factor
        Above 1 for stronger colours; 0 for greys.
    name
        Accepted for TensorFlow's sake.

    Raises
    ------
    InvalidArgumentError
        `image` has not three channels, or `saturation_factor` is no scalar.

    Examples
    --------
    >>> tf.image.adjust_saturation([[[1.0, 0.5, 0.5]]], 2.0).numpy()
    array([[[1., 0., 0.]]], dtype=float32)
    """
    x = _of_channels(_ranked(_of_numbers(image)), 3)
    return call(own.adjust_saturation, x, _scalar("scale", saturation_factor))


def rgb_to_grayscale(images: Any, name: str | None = None) -> Any:
    """Give images of one channel; mirrors ``tf.image.rgb_to_grayscale``.

    Parameters
    ----------
    images
        A tensor whose last axis is red, green, blue.
    name
        Accepted for TensorFlow's sake.

    Raises
    ------
    InvalidArgumentError
        The last axis is not of size 3.

    Examples
    --------
    >>> tf.image.rgb_to_grayscale(tf.constant([[[255, 0, 0]]], tf.uint8)).numpy()
    array([[[76]]], dtype=uint8)
    """
    return call(own.rgb_to_grayscale, _of_channels(_of_numbers(images), 3))


def grayscale_to_rgb(images: Any, name: str | None = None) -> Any:
    """Repeat the one channel of images three times; mirrors ``tf.image.grayscale_to_rgb``.

    Parameters
    ----------
    images
        A tensor whose last axis is of size 1.
    name
        Accepted for TensorFlow's sake.

    Raises
    ------
    ValueError
        The last axis is not of size 1, or there are fewer than two.

    Examples
    --------
    >>> tf.image.grayscale_to_rgb([[[7]]]).numpy()
    array([[[7, 7, 7]]], dtype=int32)
    """
    x = convert(images)
    shape = static_shape(x)
    if shape is not None and len(shape) < 2:
        raise ValueError(
            f"A grayscale image (shape {shown(shape)}) must be at least two-dimensional."
        )
    if shape is not None and shape[-1] not in (1, None):
        raise ValueError("Last dimension of a grayscale image should be size 1.")
    return call(own.grayscale_to_rgb, x)


def rgb_to_hsv(images: Any, name: str | None = None) -> Any:
    """Give hue, saturation and value, from 0 to 1; mirrors ``tf.image.rgb_to_hsv``.

    Parameters
    ----------
    images
        Floats from 0 to 1; the last axis is red, green, blue.
    name
        Accepted for TensorFlow's sake.

    Raises
    ------
    InvalidArgumentError
        `images` are not of floats, or the last axis is not of size 3.

    Examples
    --------
    >>> tf.image.rgb_to_hsv([0.0, 0.5, 0.5]).numpy()
    array([0.5, 1. , 0.5], dtype=float32)
    """
    return call(own.rgb_to_hsv, _of_channels(convert(images), 3))


def hsv_to_rgb(images: Any, name: str | None = None) -> Any:
    """Give red, green and blue, from 0 to 1; mirrors ``tf.image.hsv_to_rgb``.

    Parameters
    ----------
    images
        Floats from 0 to 1; the last axis is hue, saturation, value.
    name
        Accepted for TensorFlow's sake.

    Raises
    ------
    InvalidArgumentError
        `images` are not of floats, or the last axis is not of size 3.

    Examples
    --------
    >>> tf.image.hsv_to_rgb([0.5, 1.0, 0.5]).numpy()
    array([0. , 0.5, 0.5], dtype=float32)
    """
    return call(own.hsv_to_rgb, _of_channels(convert(images), 3))


def rgb_to_yiq(images: Any) -> Any:
    """Give the YIQ values of RGB images; mirrors ``tf.image.rgb_to_yiq``.

    Parameters
    ----------
    images
        Floats from 0 to 1; the last axis is red, green, blue.

    Raises
    ------
    TypeError
        `images` are not of floats.
    InvalidArgumentError
        The last axis is not of size 3.

    Examples
    --------
    >>> tf.image.rgb_to_yiq([1.0, 0.0, 0.0]).numpy().round(4)
    array([0.299 , 0.5959, 0.2115], dtype=float32)
    """
    return call(own.rgb_to_yiq, _of_channels(_of_floats(images), 3))


def yiq_to_rgb(images: Any) -> Any:
    """Give the RGB values of YIQ images; mirrors ``tf.image.yiq_to_rgb``.

    Parameters
    ----------
    images
        Floats; the last axis is Y, I, Q.

    Raises
    ------
    TypeError
        `images` are not of floats.
    InvalidArgumentError
        The last axis is not of size 3.

    Examples
    --------
    >>> tf.image.yiq_to_rgb([0.5, 0.0, 0.0]).numpy()
    array([0.5, 0.5, 0.5], dtype=float32)
    """
    return call(own.yiq_to_rgb, _of_channels(_of_floats(images), 3))


def rgb_to_yuv(images: Any) -> Any:
    """Give the YUV values of RGB images; mirrors ``tf.image.rgb_to_yuv``.

    Parameters
    ----------
    images
        Floats from 0 to 1; the last axis is red, green, blue.

    Raises
    ------
    TypeError
        `images` are not of floats.
    InvalidArgumentError
        The last axis is not of size 3.

    Examples
    --------
    >>> tf.image.rgb_to_yuv([1.0, 0.0, 0.0]).numpy().round(4)
    array([ 0.299 , -0.1471,  0.615 ], dtype=float32)
    """
    return call(own.rgb_to_yuv, _of_channels(_of_floats(images), 3))


def yuv_to_rgb(images: Any) -> Any:
    """Give the RGB values of YUV images; mirrors ``tf.image.yuv_to_rgb``.

    Parameters
    ----------
    images
        Floats; the last axis is Y, U, V.

    Raises
    ------
    TypeError
        `images` are not of floats.
    InvalidArgumentError
        The last axis is not of size 3.

    Examples
    --------
    >>> tf.image.yuv_to_rgb([0.5, 0.0, 0.0]).numpy()
    array([0.5, 0.5, 0.5], dtype=float32)
    """
    return call(own.yuv_to_rgb, _of_channels(_of_floats(images), 3))


def _of_numbers(image: Any) -> Any:
    """Return an image as a tensor that `convert_image_dtype` takes."""
    x = convert(image)
    if not x.dtype.is_floating and not x.dtype.is_integer:
        raise AttributeError("image dtype must be either floating point or integer")
    return x


def _of_floats(images: Any) -> Any:
    """Return an image as a tensor that a matrix of floats can be multiplied with."""
    x = convert(images)
    if not x.dtype.is_floating:
        raise TypeError(f"Cannot convert the weights of colours to EagerTensor of {x.dtype!r}")
    return x


def _amount(value: Any) -> Any:
    """Return how much an image is adjusted: a number."""
    return value if is_symbol(value) else convert(value, None, float32)


def _scalar(name: str, value: Any) -> Any:
    """Return how much an image is adjusted, where each image has one such number."""
    found = _amount(value)
    shape = static_shape(found)
    if shape:
        raise InvalidArgumentError(f"{name} must be scalar: {list(shape)}")
    return found


def _as_floats(x: Any, adjust: Callable[[Any], Any]) -> Any:
    """Adjust images by numbers that are broadcast, in the range 0 to 1 if they are integers."""
    floats = x if x.dtype in (float16, float32) else convert_image_dtype(x, float32)
    return convert_image_dtype(adjust(floats), x.dtype, saturate=True)


def _ranked(x: Any) -> Any:
    shape = static_shape(x)
    if shape is not None and len(shape) < 3:
        raise InvalidArgumentError(f"input must be at least 3-D, got shape{list(shape)}")
    return x


def _of_channels(x: Any, count: int) -> Any:
    shape = static_shape(x)
    if shape is not None and not shape:
        raise InvalidArgumentError("input must be at least 1D")
    if shape is not None and shape[-1] not in (count, None):
        raise InvalidArgumentError(
            f"input must have {count} channels but instead has {shape[-1]} channels."
        )
    return x
