"""Colours: dtypes and their ranges, brightness and the like, colour spaces."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..dtypes import as_dtype
from ..ops import apply_op
from .arguments import image as as_image
from .arguments import is_symbol

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
        An array of integers or floats. Integers are in the range 0 to the largest of their dtype,
        floats in the range 0 to 1.
    dtype
        Integers or floats.
    saturate
        Cut off what is out of the range of `dtype`, instead of wrapping around.
    name
        Accepted for TensorFlow's sake.

    Returns
    -------
    array
        Of dtype `dtype`.

    Raises
    ------
    InvalidArgumentError
        A dtype is neither of integers nor of floats.

    Examples
    --------
    >>> hr.image.convert_image_dtype(np.array([0, 255], np.uint8), np.float32)
    array([0., 1.], dtype=float32)
    >>> hr.image.convert_image_dtype(np.array([0.5, 1.5]), np.uint8, saturate=True)
    array([127, 255], dtype=uint8)
    """
    attrs = {"dtype": as_dtype(dtype), "saturate": bool(saturate)}
    return apply_op("convert_image_dtype", attrs, as_image(image))[0]


def per_image_standardization(image: Any) -> Any:
    """Bring images to mean 0 and deviation 1; mirrors ``tf.image.per_image_standardization``.

    Parameters
    ----------
    image
        An array whose last three axes are an image. The deviation counts as at least
        ``1 / sqrt(n)``, n the number of its values, so images of one colour become zeros.

    Returns
    -------
    array
        float32.

    Raises
    ------
    InvalidArgumentError
        `image` has fewer than three axes.

    Examples
    --------
    >>> hr.image.per_image_standardization(np.array([[[1], [3]]])).reshape(-1)
    array([-1.,  1.], dtype=float32)
    """
    return apply_op("per_image_standardization", {}, as_image(image))[0]


def _number(value: Any) -> Any:
    return value if is_symbol(value) else np.asarray(value)


def _adjusted(what: str, image: Any, *numbers: Any) -> Any:
    return apply_op("image_adjust", {"what": what}, as_image(image), *map(_number, numbers))[0]


def adjust_brightness(image: Any, delta: Any) -> Any:
    """Add to the values of images; mirrors ``tf.image.adjust_brightness``.

    Parameters
    ----------
    image
        An array of integers or floats.
    delta
        What is added where the range of values is 0 to 1. Integers are brought to that range
        and back, within which they stay.

    Raises
    ------
    InvalidArgumentError
        `image` is neither of integers nor of floats, or `delta` is not one number.

    Examples
    --------
    >>> hr.image.adjust_brightness(np.array([[[0, 100, 200]]], np.uint8), 0.4)
    array([[[102, 202, 255]]], dtype=uint8)
    """
    return _adjusted("brightness", image, delta)


def adjust_contrast(images: Any, contrast_factor: Any) -> Any:
    """Scale the distance to the mean of each channel; mirrors ``tf.image.adjust_contrast``.

    Parameters
    ----------
    images
        An array whose last three axes are an image.
    contrast_factor
        Above 1 for more contrast, below for less.

    Raises
    ------
    InvalidArgumentError
        `images` have fewer than three axes, or `contrast_factor` is not one number.

    Examples
    --------
    >>> hr.image.adjust_contrast(np.array([[[1.0], [3.0]]], np.float32), 2.0).reshape(-1)
    array([0., 4.], dtype=float32)
    """
    return _adjusted("contrast", images, contrast_factor)


def adjust_gamma(image: Any, gamma: Any = 1, gain: Any = 1) -> Any:
    """Give ``gain * image ** gamma``; mirrors ``tf.image.adjust_gamma``.

    Parameters
    ----------
    image
        An array of integers or floats. Integers are brought to the range 0 to 1 and back.
    gamma
        Above 1 for darker images, between 0 and 1 for brighter ones.
    gain
        A factor.

    Raises
    ------
    InvalidArgumentError
        `gamma` is below 0 or not one number.

    Examples
    --------
    >>> hr.image.adjust_gamma(np.array([[[0.25]]], np.float32), 0.5)
    array([[[0.5]]], dtype=float32)
    """
    return _adjusted("gamma", image, gamma, gain)


def adjust_hue(image: Any, delta: Any, name: str | None = None) -> Any:
    """Turn the hue of images; mirrors ``tf.image.adjust_hue``.

    Parameters
    ----------
    image
        An array whose last three axes are an image of three channels.
    delta
        Turns around the circle of colours: -1 to 1.
    name
        Accepted for TensorFlow's sake.

    Raises
    ------
    InvalidArgumentError
        `image` has not three channels, or `delta` is outside the interval.

    Examples
    --------
    >>> hr.image.adjust_hue(np.array([[[255, 0, 0]]], np.uint8), 0.5)
    array([[[  0, 255, 255]]], dtype=uint8)
    """
    return _adjusted("hue", image, delta)


def adjust_saturation(image: Any, saturation_factor: Any, name: str | None = None) -> Any:
    """Scale the saturation of images; mirrors ``tf.image.adjust_saturation``.

    Parameters
    ----------
    image
        An array whose last three axes are an image of three channels.
    saturation_factor
        Above 1 for stronger colours; 0 for greys.
    name
        Accepted for TensorFlow's sake.

    Raises
    ------
    InvalidArgumentError
        `image` has not three channels, or `saturation_factor` is not one number.

    Examples
    --------
    >>> hr.image.adjust_saturation(np.array([[[1.0, 0.5, 0.5]]], np.float32), 2.0)
    array([[[1., 0., 0.]]], dtype=float32)
    """
    return _adjusted("saturation", image, saturation_factor)


def _colour(space: str, images: Any) -> Any:
    return apply_op("image_colour", {"space": space}, as_image(images))[0]


def rgb_to_grayscale(images: Any, name: str | None = None) -> Any:
    """Give images of one channel; mirrors ``tf.image.rgb_to_grayscale``.

    Parameters
    ----------
    images
        An array whose last axis is red, green, blue.
    name
        Accepted for TensorFlow's sake.

    Raises
    ------
    InvalidArgumentError
        The last axis is not of size 3.

    Examples
    --------
    >>> hr.image.rgb_to_grayscale(np.array([[[255, 0, 0]]], np.uint8))
    array([[[76]]], dtype=uint8)
    """
    return _colour("rgb_to_grayscale", images)


def grayscale_to_rgb(images: Any, name: str | None = None) -> Any:
    """Repeat the one channel of images three times; mirrors ``tf.image.grayscale_to_rgb``.

    Parameters
    ----------
    images
        An array whose last axis is of size 1.
    name
        Accepted for TensorFlow's sake.

    Raises
    ------
    InvalidArgumentError
        The last axis is not of size 1.

    Examples
    --------
    >>> hr.image.grayscale_to_rgb(np.array([[[7]]]))
    array([[[7, 7, 7]]])
    """
    return _colour("grayscale_to_rgb", images)


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
    >>> hr.image.rgb_to_hsv(np.array([0.0, 0.5, 0.5]))
    array([0.5, 1. , 0.5])
    """
    return _colour("rgb_to_hsv", images)


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
    >>> hr.image.hsv_to_rgb(np.array([0.5, 1.0, 0.5]))
    array([0. , 0.5, 0.5])
    """
    return _colour("hsv_to_rgb", images)


def rgb_to_yiq(images: Any) -> Any:
    """Give the YIQ values of RGB images; mirrors ``tf.image.rgb_to_yiq``.

    Parameters
    ----------
    images
        Floats from 0 to 1; the last axis is red, green, blue.

    Raises
    ------
    InvalidArgumentError
        `images` are not of floats, or the last axis is not of size 3.

    Examples
    --------
    >>> hr.image.rgb_to_yiq(np.array([1.0, 0.0, 0.0])).round(4)
    array([0.299 , 0.5959, 0.2115])
    """
    return _colour("rgb_to_yiq", images)


def yiq_to_rgb(images: Any) -> Any:
    """Give the RGB values of YIQ images; mirrors ``tf.image.yiq_to_rgb``.

    Parameters
    ----------
    images
        Floats; the last axis is Y, I, Q.

    Raises
    ------
    InvalidArgumentError
        `images` are not of floats, or the last axis is not of size 3.

    Examples
    --------
    >>> hr.image.yiq_to_rgb(np.array([0.5, 0.0, 0.0]))
    array([0.5, 0.5, 0.5])
    """
    return _colour("yiq_to_rgb", images)


def rgb_to_yuv(images: Any) -> Any:
    """Give the YUV values of RGB images; mirrors ``tf.image.rgb_to_yuv``.

    Parameters
    ----------
    images
        Floats from 0 to 1; the last axis is red, green, blue.

    Raises
    ------
    InvalidArgumentError
        `images` are not of floats, or the last axis is not of size 3.

    Examples
    --------
    >>> hr.image.rgb_to_yuv(np.array([1.0, 0.0, 0.0])).round(4)
    array([ 0.299 , -0.1471,  0.615 ])
    """
    return _colour("rgb_to_yuv", images)


def yuv_to_rgb(images: Any) -> Any:
    """Give the RGB values of YUV images; mirrors ``tf.image.yuv_to_rgb``.

    Parameters
    ----------
    images
        Floats; the last axis is Y, U, V.

    Raises
    ------
    InvalidArgumentError
        `images` are not of floats, or the last axis is not of size 3.

    Examples
    --------
    >>> hr.image.yuv_to_rgb(np.array([0.5, 0.0, 0.0]))
    array([0.5, 0.5, 0.5])
    """
    return _colour("yuv_to_rgb", images)
