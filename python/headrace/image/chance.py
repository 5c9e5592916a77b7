"""Images changed at random, each element of a dataset in its own way.

The numbers are those of `headrace.random.uniform`: inside of a function given to a dataset they are
the element's own, elsewhere they are drawn at once.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..drawing import uniform
from .arguments import image as as_image
from .boxes import stateless_sample_distorted_bounding_box
from .colour import adjust_brightness, adjust_contrast, adjust_hue, adjust_saturation
from .encoding import adjust_jpeg_quality
from .random import LARGEST, batch_shape, check_delta, check_quality, check_range, cropped, flipped

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
        An array of integers or floats.
    max_delta
        The largest change, up or down; see `adjust_brightness`.
    seed
        Makes the numbers reproducible without a global seed.

    Raises
    ------
    InvalidArgumentError
        `max_delta` is below 0, or as `adjust_brightness`.

    Examples
    --------
    >>> images = hr.Dataset.from_tensors(np.full((4, 6, 3), 100, np.uint8))
    >>> images.map(lambda x: hr.image.random_brightness(x, 0.2)).element_spec
    TensorSpec(shape=(4, 6, 3), dtype=uint8)
    """
    check_delta(max_delta)
    return adjust_brightness(image, uniform([], -max_delta, max_delta, seed=seed))


def random_contrast(image: Any, lower: Any, upper: Any, seed: int | None = None) -> Any:
    """Change the contrast of images; mirrors ``tf.image.random_contrast``.

    Parameters
    ----------
    image
        An array whose last three axes are an image.
    lower, upper
        The range of the factor; see `adjust_contrast`.
    seed
        Makes the numbers reproducible without a global seed.

    Raises
    ------
    InvalidArgumentError
        The range is empty or below 0, or as `adjust_contrast`.

    Examples
    --------
    >>> images = hr.Dataset.from_tensors(np.full((4, 6, 3), 100, np.uint8))
    >>> images.map(lambda x: hr.image.random_contrast(x, 0.5, 2)).element_spec
    TensorSpec(shape=(4, 6, 3), dtype=uint8)
    """
    check_range(lower, upper)
    return adjust_contrast(image, uniform([], lower, upper, seed=seed))


def random_saturation(image: Any, lower: Any, upper: Any, seed: int | None = None) -> Any:
    """Change the saturation of images; mirrors ``tf.image.random_saturation``.

    Parameters
    ----------
    image
        An array whose last three axes are an image of three channels.
    lower, upper
        The range of the factor; see `adjust_saturation`.
    seed
        Makes the numbers reproducible without a global seed.

    Raises
    ------
    InvalidArgumentError
        The range is empty or below 0, or as `adjust_saturation`.

    Examples
    --------
    >>> images = hr.Dataset.from_tensors(np.full((4, 6, 3), 100, np.uint8))
    >>> images.map(lambda x: hr.image.random_saturation(x, 0.5, 2)).element_spec
    TensorSpec(shape=(4, 6, 3), dtype=uint8)
    """
    check_range(lower, upper)
    return adjust_saturation(image, uniform([], lower, upper, seed=seed))


def random_hue(image: Any, max_delta: Any, seed: int | None = None) -> Any:
    """Turn the hue of images; mirrors ``tf.image.random_hue``.

    Parameters
    ----------
    image
        An array whose last three axes are an image of three channels.
    max_delta
        The largest turn, 0 to 0.5; see `adjust_hue`.
    seed
        Makes the numbers reproducible without a global seed.

    Raises
    ------
    InvalidArgumentError
        `max_delta` is out of that range, or as `adjust_hue`.

    Examples
    --------
    >>> images = hr.Dataset.from_tensors(np.full((4, 6, 3), 100, np.uint8))
    >>> images.map(lambda x: hr.image.random_hue(x, 0.2)).element_spec
    TensorSpec(shape=(4, 6, 3), dtype=uint8)
    """
    check_delta(max_delta, 0.5)
    return adjust_hue(image, uniform([], -max_delta, max_delta, seed=seed))


def random_flip_left_right(image: Any, seed: int | None = None) -> Any:
    """Mirror half of all images; mirrors ``tf.image.random_flip_left_right``.

    Parameters
    ----------
    image
        One image, or a batch of images of which each has its own chance.
    seed
        Makes the numbers reproducible without a global seed.

    Raises
    ------
    InvalidArgumentError
        `image` has neither 3 nor 4 axes.

    Examples
    --------
    >>> images = hr.Dataset.from_tensors(np.full((4, 6, 3), 100, np.uint8))
    >>> images.map(lambda x: hr.image.random_flip_left_right(x)).element_spec
    TensorSpec(shape=(4, 6, 3), dtype=uint8)
    """
    return _flip("flip_left_right", image, seed)


def random_flip_up_down(image: Any, seed: int | None = None) -> Any:
    """Turn upside down half of all images; mirrors ``tf.image.random_flip_up_down``.

    Parameters
    ----------
    image
        One image, or a batch of images of which each has its own chance.
    seed
        Makes the numbers reproducible without a global seed.

    Raises
    ------
    InvalidArgumentError
        `image` has neither 3 nor 4 axes.

    Examples
    --------
    >>> images = hr.Dataset.from_tensors(np.full((4, 6, 3), 100, np.uint8))
    >>> images.map(lambda x: hr.image.random_flip_up_down(x)).element_spec
    TensorSpec(shape=(4, 6, 3), dtype=uint8)
    """
    return _flip("flip_up_down", image, seed)


def _flip(turn: str, image: Any, seed: int | None) -> Any:
    image = as_image(image)
    if image.ndim == 4:
        return flipped(turn, image, uniform(batch_shape(image), seed=seed) > 0.5)
    return flipped(turn, image, uniform([], seed=seed) < 0.5)


def random_crop(value: Any, size: Any, seed: int | None = None, name: str | None = None) -> Any:
    """Cut a part of a size out of an array; mirrors ``tf.image.random_crop``.

    Parameters
    ----------
    value
        An array of any rank.
    size
        The size of the part, along each axis.
    seed
        Makes the places reproducible without a global seed.
    name
        Accepted for TensorFlow's sake.

    Raises
    ------
    InvalidArgumentError
        The part is larger than `value`, or has another number of axes.

    Examples
    --------
    >>> hr.image.random_crop(np.arange(36).reshape(3, 4, 3), [2, 2, 3]).shape
    (2, 2, 3)
    """
    value = as_image(value)
    draws = uniform([value.ndim], 0, LARGEST, np.int32, seed)
    return cropped(value, draws, size)


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

    Mirrors ``tf.image.sample_distorted_bounding_box``.

    Parameters
    ----------
    image_size, bounding_boxes
        As of `stateless_sample_distorted_bounding_box`.
    seed
        Makes the parts reproducible; 0 and None do not.
    min_object_covered, aspect_ratio_range, area_range, max_attempts, use_image_if_no_bounding_boxes
        As of `stateless_sample_distorted_bounding_box`.
    name
        Accepted for TensorFlow's sake.

    Returns
    -------
    begin, size, bboxes
        As of `stateless_sample_distorted_bounding_box`.

    Raises
    ------
    InvalidArgumentError
        Boxes outside the image, no boxes, or ranges that are none.

    Examples
    --------
    >>> begin, size, box = hr.image.sample_distorted_bounding_box(
    ...     [40, 50, 3], [[[0.2, 0.2, 0.8, 0.8]]])
    >>> bool((begin + size <= [40, 50, 3]).all()), box.shape
    (True, (1, 1, 4))
    """
    return stateless_sample_distorted_bounding_box(
        image_size,
        bounding_boxes,
        uniform([2], 0, LARGEST, np.int64, seed or None),
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
        The range of the quality within 0 to 100, its end left out; see `adjust_jpeg_quality`.
    seed
        Makes the numbers reproducible without a global seed.

    Raises
    ------
    InvalidArgumentError
        The range is empty or out of bounds, or as `adjust_jpeg_quality`.

    Examples
    --------
    >>> hr.image.random_jpeg_quality(np.full((8, 8, 3), 100, np.uint8), 50, 90).shape
    (8, 8, 3)
    """
    check_quality(min_jpeg_quality, max_jpeg_quality)
    quality = uniform([], min_jpeg_quality, max_jpeg_quality, np.int32, seed)
    return adjust_jpeg_quality(image, quality)
