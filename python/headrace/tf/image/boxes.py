"""Boxes in images; mirrors ``tf.image``."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...errors import InvalidArgumentError, OutOfRangeError, UnimplementedError
from ...image import boxes as own
from ..bridge import to_own
from ..convert import convert, is_symbol
from ..dtypes import float16, float32, int32
from ..kernels import static_shape
from ..tensor import Tensor, raw
from ..values import results
from .arguments import call

__all__ = [
    "crop_and_resize",
    "draw_bounding_boxes",
    "extract_patches",
    "stateless_sample_distorted_bounding_box",
]


def ranked(name: str, x: Any, rank: int) -> Any:
    shape = static_shape(x)
    if shape is not None and len(shape) != rank:
        raise InvalidArgumentError(f"{name} must be {rank}-D, got shape {list(shape)}")
    return x


def crop_and_resize(
    image: Any,
    boxes: Any,
    box_indices: Any,
    crop_size: Any,
    method: str = "bilinear",
    extrapolation_value: float = 0.0,
    name: str | None = None,
) -> Any:
    """Cut boxes out of images and resize them; mirrors ``tf.image.crop_and_resize``.

    Parameters
    ----------
    image
        A batch of images.
    boxes
        ``[n, 4]`` float32, in shares of height and width.
    box_indices
        ``[n]`` int32: the image that each box is cut out of.
    crop_size
        Height and width of the parts, int32.
    method
        ``"bilinear"`` or ``"nearest"``.
    extrapolation_value
        What is put where a box is outside the image.
    name
        Accepted for TensorFlow's sake.

    Raises
    ------
    InvalidArgumentError
        Shapes do not fit together.
    OutOfRangeError
        There is no such image.

    Examples
    --------
    >>> tf.image.crop_and_resize(tf.ones([1, 4, 4, 3]), [[0, 0, 1, 1]], [0], [2, 2]).shape
    TensorShape([1, 2, 2, 3])
    """
    x = ranked("input image", convert(image), 4)
    at = ranked("boxes", convert(boxes, float32), 2)
    indices = convert(box_indices, int32)
    shape = static_shape(indices)
    if shape is not None and len(shape) != 1:
        raise InvalidArgumentError(f"box_indices must be rank 1 but is shape {list(shape)}")
    size = convert(crop_size, int32)
    known = size if is_symbol(size) else raw(size)
    try:
        return call(
            own.crop_and_resize,
            *(x, at, indices, known),
            method=method,
            extrapolation_value=extrapolation_value,
        )
    except InvalidArgumentError as error:
        if "box_index has values outside" in error.message:
            raise OutOfRangeError(error.message) from None
        raise


def draw_bounding_boxes(images: Any, boxes: Any, colors: Any, name: str | None = None) -> Any:
    """Draw the edges of boxes; mirrors ``tf.image.draw_bounding_boxes``.

    Parameters
    ----------
    images
        A batch of images, float32 or float16.
    boxes
        ``[batch, n, 4]`` float32, in shares of height and width.
    colors
        ``[m, channels]``, taken in turn; None for TensorFlow's ten.
    name
        Accepted for TensorFlow's sake.

    Raises
    ------
    InvalidArgumentError
        Shapes do not fit together.

    Examples
    --------
    >>> tf.image.draw_bounding_boxes(tf.zeros([1, 3, 3, 1]), [[[0, 0, 1, 1]]], None).numpy().sum()
    np.float32(8.0)
    """
    if not is_symbol(images) and type(images) is not Tensor:
        images = np.asarray(images, np.float32)  # so does TensorFlow with what is no tensor yet
    x = ranked("images", convert(images), 4)
    if x.dtype not in (float16, float32):
        raise InvalidArgumentError(f"images must be of float32 or float16, got {x.dtype!r}")
    at = ranked("boxes", convert(boxes, float32), 3)
    if colors is None:
        return call(own.draw_bounding_boxes, x, at)
    return call(own.draw_bounding_boxes, x, at, ranked("colors", convert(colors, float32), 2))


def extract_patches(
    images: Any, sizes: Any, strides: Any, rates: Any, padding: str, name: str | None = None
) -> Any:
    """Lay small parts of images out along channels; mirrors ``tf.image.extract_patches``.

    Parameters
    ----------
    images
        A batch of images.
    sizes, strides, rates
        ``[1, height, width, 1]`` each.
    padding
        ``"VALID"`` or ``"SAME"``.
    name
        Accepted for TensorFlow's sake.

    Raises
    ------
    InvalidArgumentError
        `images` are no batch, or there are no such patches.
    OutOfRangeError, UnimplementedError
        A size is below 1, or not 1 for the batch or the channels.
    TypeError
        Sizes are no list.

    Examples
    --------
    >>> ones = [1, 1, 1, 1]
    >>> tf.image.extract_patches(tf.ones([1, 4, 4, 3]), [1, 2, 2, 1], ones, ones, "SAME").shape
    TensorShape([1, 4, 4, 12])
    """
    x = ranked("input", convert(images), 4)
    lists = []
    for name, sides in (("ksizes", sizes), ("strides", strides), ("rates", rates)):
        if not isinstance(sides, list | tuple):
            raise TypeError(
                f"Expected list for '{name}' argument to 'extract_image_patches' Op, not {sides!r}."
            )
        given = [int(side) for side in sides]
        lists.append(given)
        if len(given) == 4 and min(given) < 1:
            raise OutOfRangeError(f"{name} is out of range, got {given}; sizes are above 0")
        if len(given) == 4 and (given[0], given[3]) != (1, 1):
            raise UnimplementedError(f"{name} are [1, height, width, 1], got {given}")
    sizes, strides, rates = lists
    return call(own.extract_patches, x, sizes=sizes, strides=strides, rates=rates, padding=padding)


def stateless_sample_distorted_bounding_box(
    image_size: Any,
    bounding_boxes: Any,
    seed: Any,
    min_object_covered: Any = 0.1,
    aspect_ratio_range: Any = None,
    area_range: Any = None,
    max_attempts: int | None = None,
    use_image_if_no_bounding_boxes: bool | None = None,
    name: str | None = None,
) -> Any:
    """Choose a random part of an image that shows enough of an object.

    Mirrors ``tf.image.stateless_sample_distorted_bounding_box``.

    Parameters
    ----------
    image_size
        Height, width and channels.
    bounding_boxes
        ``[batch, n, 4]`` float32, in shares of height and width.
    seed
        Two integers, int32 or int64.
    min_object_covered, aspect_ratio_range, area_range, max_attempts, use_image_if_no_bounding_boxes
        As of `headrace.image.stateless_sample_distorted_bounding_box`.
    name
        Accepted for TensorFlow's sake.

    Raises
    ------
    InvalidArgumentError
        Boxes outside the image, no boxes, or ranges that are none.

    Examples
    --------
    >>> begin, size, box = tf.image.stateless_sample_distorted_bounding_box(
    ...     [40, 50, 3], [[[0.2, 0.2, 0.8, 0.8]]], seed=[1, 2])
    >>> size.dtype, box.shape
    (tf.int32, TensorShape([1, 1, 4]))
    """
    found = own.stateless_sample_distorted_bounding_box(
        to_own(convert(image_size)),
        to_own(convert(bounding_boxes, float32)),
        to_own(convert(seed)),
        to_own(convert(min_object_covered, float32)),
        aspect_ratio_range,
        area_range,
        max_attempts,
        use_image_if_no_bounding_boxes,
    )
    return results(found)
