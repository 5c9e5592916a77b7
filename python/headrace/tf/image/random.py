"""Images changed at random, by numbers that are a function of a seed; mirrors ``tf.image``."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ...image import random as own
from ..array_ops import rank as count_axes
from ..array_ops import shape as shape_of
from ..convert import convert, is_symbol
from ..dtypes import int32
from ..gathering import where
from ..kernels import static_shape
from ..stateless import stateless_uniform
from ..tensor import raw
from .arguments import at_least_3d, call, image_or_batch
from .codecs import adjust_jpeg_quality
from .colour import adjust_brightness, adjust_contrast, adjust_hue, adjust_saturation

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


def stateless_random_brightness(image: Any, max_delta: Any, seed: Any) -> Any:
    """Brighten or darken images; mirrors ``tf.image.stateless_random_brightness``.

    Parameters
    ----------
    image
        Integers or floats.
    max_delta
        The largest change, up or down.
    seed
        Two integers, int32 or int64.

    Raises
    ------
    ValueError
        `max_delta` is below 0.

    Examples
    --------
    >>> image = tf.fill([1, 1, 3], tf.constant(100, tf.uint8))
    >>> tf.image.stateless_random_brightness(image, 0.2, seed=[1, 2]).numpy()[0, 0]
    array([135, 135, 135], dtype=uint8)
    """
    own.check_delta(max_delta)
    return adjust_brightness(image, stateless_uniform([], seed, -max_delta, max_delta))


def stateless_random_contrast(image: Any, lower: Any, upper: Any, seed: Any) -> Any:
    """Change the contrast of images; mirrors ``tf.image.stateless_random_contrast``.

    Parameters
    ----------
    image
        A tensor whose last three axes are an image.
    lower, upper
        The range of the factor.
    seed
        Two integers, int32 or int64.

    Raises
    ------
    ValueError
        The range is empty or below 0.

    Examples
    --------
    >>> tf.image.stateless_random_contrast([[[1.0], [3.0]]], 0.5, 1.5, seed=[1, 2]).shape
    TensorShape([1, 2, 1])
    """
    own.check_range(lower, upper)
    return adjust_contrast(image, stateless_uniform([], seed, lower, upper))


def stateless_random_saturation(image: Any, lower: Any, upper: Any, seed: Any = None) -> Any:
    """Change the saturation of images; mirrors ``tf.image.stateless_random_saturation``.

    Parameters
    ----------
    image
        A tensor whose last three axes are an image of three channels.
    lower, upper
        The range of the factor.
    seed
        Two integers, int32 or int64.

    Raises
    ------
    ValueError
        The range is empty or below 0.

    Examples
    --------
    >>> image = [[[0.5, 0.2, 0.2]]]
    >>> tf.image.stateless_random_saturation(image, 0.5, 1.5, seed=[1, 2]).shape
    TensorShape([1, 1, 3])
    """
    own.check_range(lower, upper)
    return adjust_saturation(image, stateless_uniform([], seed, lower, upper))


def stateless_random_hue(image: Any, max_delta: Any, seed: Any) -> Any:
    """Turn the hue of images; mirrors ``tf.image.stateless_random_hue``.

    Parameters
    ----------
    image
        A tensor whose last three axes are an image of three channels.
    max_delta
        The largest turn, 0 to 0.5.
    seed
        Two integers, int32 or int64.

    Raises
    ------
    ValueError
        `max_delta` is out of that range.

    Examples
    --------
    >>> tf.image.stateless_random_hue([[[0.5, 0.2, 0.2]]], 0.5, seed=[1, 2]).shape
    TensorShape([1, 1, 3])
    """
    own.check_delta(max_delta, 0.5)
    return adjust_hue(image, stateless_uniform([], seed, -max_delta, max_delta))


def stateless_random_flip_left_right(image: Any, seed: Any) -> Any:
    """Mirror half of all images; mirrors ``tf.image.stateless_random_flip_left_right``.

    Parameters
    ----------
    image
        One image, or a batch of images of which each has its own chance.
    seed
        Two integers, int32 or int64.

    Raises
    ------
    ValueError
        `image` has another rank or no pixels.

    Examples
    --------
    >>> image = [[[1], [2]]]
    >>> tf.image.stateless_random_flip_left_right(image, seed=[1, 3]).numpy().reshape(-1)
    array([1, 2], dtype=int32)
    """
    return flip("flip_left_right", image, lambda shape: stateless_uniform(shape, seed))


def stateless_random_flip_up_down(image: Any, seed: Any) -> Any:
    """Turn upside down half of all images; mirrors ``tf.image.stateless_random_flip_up_down``.

    Parameters
    ----------
    image
        One image, or a batch of images of which each has its own chance.
    seed
        Two integers, int32 or int64.

    Raises
    ------
    ValueError
        `image` has another rank or no pixels.

    Examples
    --------
    >>> image = [[[1]], [[2]]]
    >>> tf.image.stateless_random_flip_up_down(image, seed=[1, 3]).numpy().reshape(-1)
    array([1, 2], dtype=int32)
    """
    return flip("flip_up_down", image, lambda shape: stateless_uniform(shape, seed))


def flip(turn: str, image: Any, draw: Callable[[Any], Any]) -> Any:
    """Flip one image, or each of a batch, by chance; `draw` gives numbers of a shape."""
    x = image_or_batch(at_least_3d(image))
    dims = static_shape(x)
    if dims is None:  # one number for an image, one for each image of a batch
        drawn = draw(shape_of(x)[:-3])
        flags = where(count_axes(x) == 3, drawn < 0.5, drawn > 0.5)
    elif len(dims) == 4:
        size = shape_of(x)[:1] if dims[0] is None else [dims[0]]
        flags = draw(size) > 0.5
    else:
        flags = draw([]) < 0.5
    return call(lambda x, flags: own.flipped(turn, x, flags), x, flags)


def stateless_random_crop(value: Any, size: Any, seed: Any, name: str | None = None) -> Any:
    """Cut a part of a size out of a tensor; mirrors ``tf.image.stateless_random_crop``.

    Parameters
    ----------
    value
        A tensor of any rank.
    size
        The size of the part, along each axis.
    seed
        Two integers, int32 or int64.
    name
        Accepted for TensorFlow's sake.

    Raises
    ------
    InvalidArgumentError
        The part is larger than `value`.

    Examples
    --------
    >>> tf.image.stateless_random_crop(tf.ones([3, 4, 3]), [2, 2, 3], seed=[1, 2]).shape
    TensorShape([2, 2, 3])
    """
    return crop(value, size, lambda n: stateless_uniform([n], seed, 0, int32.max, int32))


def crop(value: Any, size: Any, draw: Callable[[Any], Any]) -> Any:
    """Cut out a part at the place that integers say; `draw` gives as many."""
    x, sizes = convert(value), convert(size, int32)
    dims = static_shape(x)
    rank = len(dims) if dims is not None else shape_of(shape_of(x))[0]
    known = sizes if is_symbol(sizes) else raw(sizes)
    return call(own.cropped, x, draw(rank), known)


def stateless_random_jpeg_quality(
    image: Any, min_jpeg_quality: int, max_jpeg_quality: int, seed: Any
) -> Any:
    """Give images faults of JPEG; mirrors ``tf.image.stateless_random_jpeg_quality``.

    Parameters
    ----------
    image
        An image of one or three channels.
    min_jpeg_quality, max_jpeg_quality
        The range of the quality within 0 to 100, its end left out.
    seed
        Two integers, int32 or int64.

    Raises
    ------
    ValueError
        The range is empty or out of bounds.

    Examples
    --------
    >>> tf.image.stateless_random_jpeg_quality(tf.ones([8, 8, 3]), 50, 90, seed=[1, 2]).shape
    TensorShape([8, 8, 3])
    """
    own.check_quality(min_jpeg_quality, max_jpeg_quality)
    quality = stateless_uniform([], seed, min_jpeg_quality, max_jpeg_quality, int32)
    return adjust_jpeg_quality(image, quality)
