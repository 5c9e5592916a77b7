"""Images changed at random, each element of a dataset in its own way; mirrors ``tf.image``."""

from __future__ import annotations

from typing import Any

from ...image import random as own
from ...seeds import are_required
from ..drawing import uniform
from ..dtypes import int32, int64
from .boxes import stateless_sample_distorted_bounding_box
from .codecs import adjust_jpeg_quality
from .colour import adjust_brightness, adjust_contrast, adjust_hue, adjust_saturation
from .random import crop, flip

__all__ = [
    "random_brightness",
    "random_contrast",
    "random_crop",
    "random_flip_left_right",
    "random_flip_up_down",
    "random_hue",
    "random_jpeg_quality",
    "random_saturation",
    "sample_distorted_bounding_box",
]


def random_brightness(image: Any, max_delta: Any, seed: int | None = None) -> Any:
    """Brighten or darken images; mirrors ``tf.image.random_brightness``.

    Parameters
    ----------
    image
        Integers or floats.
    max_delta
        The largest change, up or down.
    seed
        The op's seed.

    Raises
    ------
    ValueError
        `max_delta` is below 0.

    Examples
    --------
    >>> tf.image.random_brightness(tf.ones([4, 6, 3]), 0.2).shape
    TensorShape([4, 6, 3])
    """
    own.check_delta(max_delta)
    return adjust_brightness(image, uniform([], -max_delta, max_delta, seed=seed))


def random_contrast(image: Any, lower: Any, upper: Any, seed: int | None = None) -> Any:
    """Change the contrast of images; mirrors ``tf.image.random_contrast``.

    Parameters
    ----------
    image
        A tensor whose last three axes are an image.
    lower, upper
        The range of the factor.
    seed
        The op's seed.

    Raises
    ------
    ValueError
        The range is empty or below 0.

    Examples
    --------
    >>> tf.image.random_contrast(tf.ones([4, 6, 3]), 0.5, 2.0).shape
    TensorShape([4, 6, 3])
    """
    own.check_range(lower, upper)
    return adjust_contrast(image, uniform([], lower, upper, seed=seed))


def random_saturation(image: Any, lower: Any, upper: Any, seed: int | None = None) -> Any:
    """Change the saturation of images; mirrors ``tf.image.random_saturation``.

    Parameters
    ----------
    image
        A tensor whose last three axes are an image.
    lower, upper
        The range of the factor.
    seed
        The op's seed.

    Raises
    ------
    ValueError
        The range is empty or below 0.

    Examples
    --------
    >>> tf.image.random_saturation(tf.ones([4, 6, 3]), 0.5, 2.0).shape
    TensorShape([4, 6, 3])
    """
    own.check_range(lower, upper)
    return adjust_saturation(image, uniform([], lower, upper, seed=seed))


def random_hue(image: Any, max_delta: Any, seed: int | None = None) -> Any:
    """Turn the hue of images; mirrors ``tf.image.random_hue``.

    Parameters
    ----------
    image
        A tensor whose last three axes are an image of three channels.
    max_delta
        The largest turn, 0 to 0.5.
    seed
        The op's seed.

    Raises
    ------
    ValueError
        `max_delta` is out of that range.

    Examples
    --------
    >>> tf.image.random_hue(tf.ones([4, 6, 3]), 0.2).shape
    TensorShape([4, 6, 3])
    """
    own.check_delta(max_delta, 0.5)
    return adjust_hue(image, uniform([], -max_delta, max_delta, seed=seed))


def random_flip_left_right(image: Any, seed: int | None = None) -> Any:
    """Mirror half of all images; mirrors ``tf.image.random_flip_left_right``.

    Parameters
    ----------
    image
        One image, or a batch of images of which each has its own chance.
    seed
        The op's seed.

    Raises
    ------
    ValueError
        `image` has another rank or no pixels.

    Examples
    --------
    >>> tf.image.random_flip_left_right(tf.ones([4, 6, 3])).shape
    TensorShape([4, 6, 3])
    """
    return flip("flip_left_right", image, lambda shape: uniform(shape, seed=seed))


def random_flip_up_down(image: Any, seed: int | None = None) -> Any:
    """Turn upside down half of all images; mirrors ``tf.image.random_flip_up_down``.

    Parameters
    ----------
    image
        One image, or a batch of images of which each has its own chance.
    seed
        The op's seed.

    Raises
    ------
    ValueError
        `image` has another rank or no pixels.

    Examples
    --------
    >>> tf.image.random_flip_up_down(tf.ones([4, 6, 3])).shape
    TensorShape([4, 6, 3])
    """
    return flip("flip_up_down", image, lambda shape: uniform(shape, seed=seed))


def random_crop(value: Any, size: Any, seed: int | None = None, name: str | None = None) -> Any:
    """Cut a part of a size out of a tensor; mirrors ``tf.image.random_crop``.

    Parameters
    ----------
    value
        A tensor of any rank.
    size
        The size of the part, along each axis.
    seed
        The op's seed.
    name
        Accepted for TensorFlow's sake.

    Raises
    ------
    InvalidArgumentError
        The part is larger than `value`.

    Examples
    --------
    >>> tf.image.random_crop(tf.ones([3, 4, 3]), [2, 2, 3]).shape
    TensorShape([2, 2, 3])
    """
    return crop(value, size, lambda n: uniform([n], 0, int32.max, int32, seed))


def sample_distorted_bounding_box(
    image_size: Any,
    bounding_boxes: Any,
    seed: int | None = 0,
    min_object_covered: Any = 0.1,
    aspect_ratio_range: Any = None,
    area_range: Any = None,
    max_attempts: int | None = None,
    use_image_if_no_bounding_boxes: bool | None = None,
    name: str | None = None,
) -> Any:
    """Choose a random part of an image that shows enough of an object.

    Mirrors ``tf.image.sample_distorted_bounding_box``, with other draws.

    Parameters
    ----------
    image_size, bounding_boxes
        As of `stateless_sample_distorted_bounding_box`.
    seed
        The op's seed; 0 and None are none.
    min_object_covered, aspect_ratio_range, area_range, max_attempts, use_image_if_no_bounding_boxes
        As of `stateless_sample_distorted_bounding_box`.
    name
        Accepted for TensorFlow's sake.

    Raises
    ------
    InvalidArgumentError
        Boxes outside the image, no boxes, or ranges that are none.
    ValueError
        There is no seed, and ``tf.config.experimental.enable_op_determinism()`` asks for one.

    Examples
    --------
    >>> begin, size, box = tf.image.sample_distorted_bounding_box(
    ...     [40, 50, 3], [[[0.2, 0.2, 0.8, 0.8]]])
    >>> size.dtype, box.shape
    (tf.int32, TensorShape([1, 1, 4]))
    """
    if not seed and are_required():
        raise ValueError(
            "tf.image.sample_distorted_bounding_box requires a non-zero seed to be passed in when "
            f"determinism is enabled, but got seed={seed}."
        )
    return stateless_sample_distorted_bounding_box(
        image_size,
        bounding_boxes,
        uniform([2], 0, int32.max, int64, seed or None),
        min_object_covered,
        aspect_ratio_range,
        area_range,
        max_attempts,
        use_image_if_no_bounding_boxes,
    )


def random_jpeg_quality(
    image: Any, min_jpeg_quality: int, max_jpeg_quality: int, seed: int | None = None
) -> Any:
    """Give images faults of JPEG; mirrors ``tf.image.random_jpeg_quality``.

    Parameters
    ----------
    image
        An image of one or three channels.
    min_jpeg_quality, max_jpeg_quality
        The range of the quality within 0 to 100, its end left out.
    seed
        The op's seed.

    Raises
    ------
    ValueError
        The range is empty or out of bounds.

    Examples
    --------
    >>> tf.image.random_jpeg_quality(tf.ones([8, 8, 3]), 50, 90, seed=1).shape
    TensorShape([8, 8, 3])
    """
    own.check_quality(min_jpeg_quality, max_jpeg_quality)
    quality = uniform([], min_jpeg_quality, max_jpeg_quality, int32, seed)
    return adjust_jpeg_quality(image, quality)
