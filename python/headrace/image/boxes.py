"""Boxes in images: rows of ``[top, left, bottom, right]`` in shares of height and width."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..errors import InvalidArgumentError
from ..ops import apply_op
from .arguments import image as as_image
from .arguments import is_symbol, static_ints, vector

__all__ = [
    "crop_and_resize",
    "draw_bounding_boxes",
    "extract_patches",
    "stateless_sample_distorted_bounding_box",
]


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
        A batch of images ``[batch, height, width, channels]``, of integers or floats.
    boxes
        ``[n, 4]``, in shares of height and width. They may reach outside, and top may be below
        bottom, which turns the part upside down.
    box_indices
        ``[n]``: the image that each box is cut out of.
    crop_size
        Height and width of the parts: two integers, or an array of two.
    method
        ``"bilinear"`` or ``"nearest"``.
    extrapolation_value
        What is put where a box is outside the image.
    name
        Accepted for TensorFlow's sake.

    Returns
    -------
    array
        float32 ``[n, crop_height, crop_width, channels]``.

    Raises
    ------
    InvalidArgumentError
        Shapes do not fit together, there is no such image or method, or `crop_size` is not above
        zero.

    Examples
    --------
    >>> images = np.arange(16, dtype=np.float32).reshape(1, 4, 4, 1)
    >>> hr.image.crop_and_resize(images, [[0, 0, 1, 1]], [0], [2, 2])[0, :, :, 0]
    array([[ 0.,  3.],
           [12., 15.]], dtype=float32)
    """
    attrs: dict[str, Any] = {"method": method, "extrapolation_value": float(extrapolation_value)}
    args = [as_image(image), as_image(boxes), as_image(box_indices)]
    known = static_ints(crop_size)
    if known is not None:
        return apply_op("crop_and_resize", {**attrs, "size": known}, *args)[0]
    return apply_op("crop_and_resize", attrs, *args, vector(crop_size))[0]


def draw_bounding_boxes(
    images: Any, boxes: Any, colors: Any = None, name: str | None = None
) -> Any:
    """Draw the edges of boxes; mirrors ``tf.image.draw_bounding_boxes``.

    Parameters
    ----------
    images
        A batch of images ``[batch, height, width, channels]``, of floats.
    boxes
        ``[batch, n, 4]``, in shares of height and width.
    colors
        ``[m, channels]``: the boxes of an image take them in turn. There are ten by default.
    name
        Accepted for TensorFlow's sake.

    Raises
    ------
    InvalidArgumentError
        Shapes do not fit together, or `images` are not of floats.

    Examples
    --------
    >>> image = np.zeros((1, 3, 3, 1), np.float32)
    >>> hr.image.draw_bounding_boxes(image, [[[0, 0, 1, 1]]])[0, :, :, 0]
    array([[1., 1., 1.],
           [1., 0., 1.],
           [1., 1., 1.]], dtype=float32)
    """
    args = [as_image(images), as_image(boxes)]
    if colors is not None:
        args.append(as_image(colors))
    return apply_op("draw_bounding_boxes", {}, *args)[0]


def extract_patches(
    images: Any, sizes: Any, strides: Any, rates: Any, padding: str, name: str | None = None
) -> Any:
    """Lay small parts of images out along channels; mirrors ``tf.image.extract_patches``.

    Parameters
    ----------
    images
        A batch of images ``[batch, height, width, channels]``.
    sizes, strides, rates
        ``[1, height, width, 1]`` each: of a patch, from patch to patch, from pixel to pixel in a
        patch.
    padding
        ``"VALID"``: patches are within the image; ``"SAME"``: there are zeros around it.
    name
        Accepted for TensorFlow's sake.

    Returns
    -------
    array
        ``[batch, rows, columns, height * width * channels]``, of the dtype of `images`.

    Raises
    ------
    InvalidArgumentError
        `images` are no batch, or there are no such patches.

    Examples
    --------
    >>> images = np.arange(9).reshape(1, 3, 3, 1)
    >>> found = hr.image.extract_patches(images, [1, 2, 2, 1], [1, 1, 1, 1], [1, 1, 1, 1], "VALID")
    >>> found[0, 0]
    array([[0, 1, 3, 4],
           [1, 2, 4, 5]])
    """
    attrs = {
        "sizes": _four("sizes", sizes),
        "strides": _four("strides", strides),
        "rates": _four("rates", rates),
        "padding": padding,
    }
    return apply_op("extract_patches", attrs, as_image(images))[0]


def _four(name: str, values: Any) -> list[int]:
    known = static_ints(values)
    if known is None:
        raise InvalidArgumentError(f"{name} must be four integers, got {values!r}")
    return known


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
        Height, width and channels: three integers.
    bounding_boxes
        ``[batch, n, 4]``: the objects, in shares of height and width.
    seed
        Two integers; equal seeds give equal parts.
    min_object_covered
        How much of one of the objects the part must show, at least.
    aspect_ratio_range
        The range of width / height; 0.75 to 1.33 by default.
    area_range
        The range of the part's share of the image; 0.05 to 1 by default.
    max_attempts
        So many parts are tried, then it is the whole image; 100 by default.
    use_image_if_no_bounding_boxes
        If there are no boxes, the image is the object.
    name
        Accepted for TensorFlow's sake.

    Returns
    -------
    begin, size
        ``[top, left, 0]`` and ``[height, width, -1]``, of the dtype of `image_size`.
    bboxes
        The part in shares of height and width: float32 ``[1, 1, 4]``.

    Raises
    ------
    InvalidArgumentError
        Boxes outside the image, no boxes, or ranges that are none.

    Examples
    --------
    >>> begin, size, box = hr.image.stateless_sample_distorted_bounding_box(
    ...     [40, 50, 3], [[[0.2, 0.2, 0.8, 0.8]]], seed=[1, 2])
    >>> bool((begin + size <= [40, 50, 3]).all()), box.shape
    (True, (1, 1, 4))
    """
    attrs = {
        "aspect_ratio_range": _range(aspect_ratio_range, (0.75, 1.33)),
        "area_range": _range(area_range, (0.05, 1.0)),
        "max_attempts": 100 if max_attempts is None else int(max_attempts),
        "use_image_if_no_bounding_boxes": bool(use_image_if_no_bounding_boxes),
    }
    boxes = bounding_boxes if is_symbol(bounding_boxes) else np.asarray(bounding_boxes, np.float32)
    covered = 0.1 if min_object_covered is None else min_object_covered
    args = [vector(image_size), boxes, vector(seed), as_image(covered)]
    return tuple(apply_op("stateless_sample_distorted_bounding_box", attrs, *args))


def _range(ends: Any, default: tuple[float, float]) -> list[float]:
    return [float(end) for end in (default if ends is None else ends)]
