"""Images changed at random, by numbers that are a function of a seed."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..errors import InvalidArgumentError
from ..ops import apply_op
from ..stateless import stateless_uniform
from .arguments import image as as_image
from .arguments import is_symbol, static_ints, vector
from .colour import adjust_brightness, adjust_contrast, adjust_hue, adjust_saturation
from .encoding import adjust_jpeg_quality

__all__ = [
    "stateless_random_brightness",
    "stateless_random_contrast",
    "stateless_random_crop",
    "stateless_random_flip_left_right",
    "stateless_random_flip_up_down",
    "stateless_random_hue",
    "stateless_random_jpeg_quality",
    "stateless_random_saturation",
]

# What the places of crops are drawn below.
LARGEST = np.iinfo(np.int32).max


def check_delta(max_delta: Any, most: float | None = None) -> None:
    """Refuse a largest change that is below 0 or above `most`."""
    if most is not None and max_delta > most:
        raise InvalidArgumentError(f"max_delta must be <= {most}, got {max_delta}")
    if max_delta < 0:
        raise InvalidArgumentError(f"max_delta must be non-negative, got {max_delta}")


def check_range(lower: Any, upper: Any) -> None:
    """Refuse a range of factors that is empty or below 0."""
    if upper <= lower:
        raise InvalidArgumentError(f"upper must be > lower, got {upper} and {lower}")
    if lower < 0:
        raise InvalidArgumentError(f"lower must be non-negative, got {lower}")


def check_quality(least: Any, most: Any) -> None:
    """Refuse a range of qualities that is empty or not within 0 to 100."""
    if least < 0 or most < 0 or least > 100 or most > 100:
        raise InvalidArgumentError(
            f"jpeg encoding range must be between 0 and 100, got {least} and {most}"
        )
    if least >= most:
        raise InvalidArgumentError(
            f"`min_jpeg_quality` must be less than `max_jpeg_quality`, got {least} and {most}"
        )


def flipped(turn: str, image: Any, flags: Any) -> Any:
    """Flip images where the flag of each is true."""
    return apply_op("image_turn", {"turn": turn, "perhaps": True}, image, flags)[0]


def cropped(value: Any, draws: Any, size: Any) -> Any:
    """Cut a part out at the place that integers say."""
    known = static_ints(size)
    if known is not None:
        return apply_op("random_crop", {"size": known}, value, draws)[0]
    return apply_op("random_crop", {}, value, draws, vector(size))[0]


def batch_shape(images: Any) -> Any:
    """Return the number of images in a batch, as a shape."""
    if not is_symbol(images):
        return [images.shape[0]]
    size = images._dims()[0]
    return [size] if size is not None else apply_op("shape", {}, images)[0][:1]


def stateless_random_brightness(image: Any, max_delta: Any, seed: Any) -> Any:
    """Brighten or darken images; mirrors ``tf.image.stateless_random_brightness``.

    Parameters
    ----------
    image
        An array of integers or floats.
    max_delta
        The largest change, up or down; see `adjust_brightness`.
    seed
        Two integers; equal seeds give equal images.

    Raises
    ------
    InvalidArgumentError
        `max_delta` is below 0, or as `adjust_brightness`.

    Examples
    --------
    >>> image = np.full((1, 1, 3), 100, np.uint8)
    >>> hr.image.stateless_random_brightness(image, 0.2, seed=[1, 2])[0, 0]
    array([135, 135, 135], dtype=uint8)
    """
    check_delta(max_delta)
    return adjust_brightness(image, stateless_uniform([], seed, -max_delta, max_delta))


def stateless_random_contrast(image: Any, lower: Any, upper: Any, seed: Any) -> Any:
    """Change the contrast of images; mirrors ``tf.image.stateless_random_contrast``.

    Parameters
    ----------
    image
        An array whose last three axes are an image.
    lower, upper
        The range of the factor; see `adjust_contrast`.
    seed
        Two integers; equal seeds give equal images.

    Raises
    ------
    InvalidArgumentError
        The range is empty or below 0, or as `adjust_contrast`.

    Examples
    --------
    >>> image = np.array([[[1.0], [3.0]]], np.float32)
    >>> found = hr.image.stateless_random_contrast(image, 0.5, 1.5, seed=[1, 2])
    >>> found.shape
    (1, 2, 1)
    """
    check_range(lower, upper)
    return adjust_contrast(image, stateless_uniform([], seed, lower, upper))


def stateless_random_saturation(image: Any, lower: Any, upper: Any, seed: Any) -> Any:
    """Change the saturation of images; mirrors ``tf.image.stateless_random_saturation``.

    Parameters
    ----------
    image
        An array whose last three axes are an image of three channels.
    lower, upper
        The range of the factor; see `adjust_saturation`.
    seed
        Two integers; equal seeds give equal images.

    Raises
    ------
    InvalidArgumentError
        The range is empty or below 0, or as `adjust_saturation`.

    Examples
    --------
    >>> image = np.array([[[200, 100, 100]]], np.uint8)
    >>> found = hr.image.stateless_random_saturation(image, 0.5, 1.5, seed=[1, 2])
    >>> found.shape
    (1, 1, 3)
    """
    check_range(lower, upper)
    return adjust_saturation(image, stateless_uniform([], seed, lower, upper))


def stateless_random_hue(image: Any, max_delta: Any, seed: Any) -> Any:
    """Turn the hue of images; mirrors ``tf.image.stateless_random_hue``.

    Parameters
    ----------
    image
        An array whose last three axes are an image of three channels.
    max_delta
        The largest turn, 0 to 0.5; see `adjust_hue`.
    seed
        Two integers; equal seeds give equal images.

    Raises
    ------
    InvalidArgumentError
        `max_delta` is out of that range, or as `adjust_hue`.

    Examples
    --------
    >>> image = np.array([[[200, 100, 100]]], np.uint8)
    >>> hr.image.stateless_random_hue(image, 0.5, seed=[1, 2]).shape
    (1, 1, 3)
    """
    check_delta(max_delta, 0.5)
    return adjust_hue(image, stateless_uniform([], seed, -max_delta, max_delta))


def stateless_random_flip_left_right(image: Any, seed: Any) -> Any:
    """Mirror half of all images; mirrors ``tf.image.stateless_random_flip_left_right``.

    Parameters
    ----------
    image
        One image, or a batch of images of which each has its own chance.
    seed
        Two integers; equal seeds give equal images.

    Raises
    ------
    InvalidArgumentError
        `image` has neither 3 nor 4 axes, or `seed` is no seed.

    Examples
    --------
    >>> image = np.array([[[1], [2]]])
    >>> hr.image.stateless_random_flip_left_right(image, seed=[1, 3]).reshape(-1)
    array([1, 2])
    """
    return _flip("flip_left_right", image, seed)


def stateless_random_flip_up_down(image: Any, seed: Any) -> Any:
    """Turn upside down half of all images; mirrors ``tf.image.stateless_random_flip_up_down``.

    Parameters
    ----------
    image
        One image, or a batch of images of which each has its own chance.
    seed
        Two integers; equal seeds give equal images.

    Raises
    ------
    InvalidArgumentError
        `image` has neither 3 nor 4 axes, or `seed` is no seed.

    Examples
    --------
    >>> image = np.array([[[1]], [[2]]])
    >>> hr.image.stateless_random_flip_up_down(image, seed=[1, 3]).reshape(-1)
    array([1, 2])
    """
    return _flip("flip_up_down", image, seed)


def _flip(turn: str, image: Any, seed: Any) -> Any:
    image = as_image(image)
    if image.ndim == 4:
        return flipped(turn, image, stateless_uniform(batch_shape(image), seed) > 0.5)
    return flipped(turn, image, stateless_uniform([], seed) < 0.5)


def stateless_random_crop(value: Any, size: Any, seed: Any, name: str | None = None) -> Any:
    """Cut a part of a size out of an array; mirrors ``tf.image.stateless_random_crop``.

    Parameters
    ----------
    value
        An array of any rank.
    size
        The size of the part, along each axis.
    seed
        Two integers; equal seeds give equal places.
    name
        Accepted for TensorFlow's sake.

    Raises
    ------
    InvalidArgumentError
        The part is larger than `value`, or has another number of axes.

    Examples
    --------
    >>> image = np.arange(36).reshape(3, 4, 3)
    >>> hr.image.stateless_random_crop(image, [2, 2, 3], seed=[1, 2]).shape
    (2, 2, 3)
    """
    value = as_image(value)
    draws = stateless_uniform([value.ndim], seed, 0, LARGEST, np.int32)
    return cropped(value, draws, size)


def stateless_random_jpeg_quality(
    image: Any, min_jpeg_quality: int, max_jpeg_quality: int, seed: Any
) -> Any:
    """Give images faults of JPEG; mirrors ``tf.image.stateless_random_jpeg_quality``.

    Parameters
    ----------
    image
        An image of one or three channels.
    min_jpeg_quality, max_jpeg_quality
        The range of the quality within 0 to 100, its end left out; see `adjust_jpeg_quality`.
    seed
        Two integers; equal seeds give equal images.

    Raises
    ------
    InvalidArgumentError
        The range is empty or out of bounds, or as `adjust_jpeg_quality`.

    Examples
    --------
    >>> image = np.full((8, 8, 3), 100, np.uint8)
    >>> hr.image.stateless_random_jpeg_quality(image, 50, 90, seed=[1, 2]).shape
    (8, 8, 3)
    """
    check_quality(min_jpeg_quality, max_jpeg_quality)
    quality = stateless_uniform([], seed, min_jpeg_quality, max_jpeg_quality, np.int32)
    return adjust_jpeg_quality(image, quality)
