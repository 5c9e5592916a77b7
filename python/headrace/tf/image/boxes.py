"""Boxes in images; mirrors ``tf.image``."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...errors import InvalidArgumentError
from ...image import boxes as own
from ..bridge import to_own
from ..convert import convert, is_symbol
from ..dtypes import float16, float32, int32
from ..kernels import python, static_shape
from ..tensor import raw
from ..values import results
from .arguments import call

__all__ = [
    "crop_and_resize",
    "draw_bounding_boxes",
    "extract_patches",
    "non_max_suppression",
    "non_max_suppression_overlaps",
    "non_max_suppression_with_scores",
    "stateless_sample_distorted_bounding_box",
]


def _ranked(name: str, x: Any, rank: int) -> Any:
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
        Shapes do not fit together, or there is no such image.

    Examples
    --------
    >>> tf.image.crop_and_resize(tf.ones([1, 4, 4, 3]), [[0, 0, 1, 1]], [0], [2, 2]).shape
    TensorShape([1, 2, 2, 3])
    """
    x = _ranked("input image", convert(image), 4)
    at = _ranked("boxes", convert(boxes, float32), 2)
    indices = _ranked("box_index", convert(box_indices, int32), 1)
    size = convert(crop_size, int32)
    known = size if is_symbol(size) else raw(size)
    return call(
        own.crop_and_resize,
        x,
        at,
        indices,
        known,
        method=method,
        extrapolation_value=extrapolation_value,
    )


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
    x = _ranked("images", convert(images), 4)
    if x.dtype not in (float16, float32):
        raise InvalidArgumentError(f"images must be of float32 or float16, got {x.dtype!r}")
    at = _ranked("boxes", convert(boxes, float32), 3)
    if colors is None:
        return call(own.draw_bounding_boxes, x, at)
    return call(own.draw_bounding_boxes, x, at, _ranked("colors", convert(colors, float32), 2))


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

    Examples
    --------
    >>> ones = [1, 1, 1, 1]
    >>> tf.image.extract_patches(tf.ones([1, 4, 4, 3]), [1, 2, 2, 1], ones, ones, "SAME").shape
    TensorShape([1, 4, 4, 12])
    """
    x = _ranked("input", convert(images), 4)
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


def non_max_suppression(
    boxes: Any,
    scores: Any,
    max_output_size: Any,
    iou_threshold: Any = 0.5,
    score_threshold: Any = float("-inf"),
    name: str | None = None,
) -> Any:
    """Choose the best of boxes that overlap; mirrors ``tf.image.non_max_suppression``.

    Parameters
    ----------
    boxes, scores
        ``[n, 4]`` and ``[n]`` floats.
    max_output_size
        At most so many are chosen.
    iou_threshold, score_threshold
        As of `headrace.image.non_max_suppression`.
    name
        Accepted for TensorFlow's sake.

    Raises
    ------
    InvalidArgumentError
        Shapes do not fit together, or a threshold is out of its range.

    Examples
    --------
    >>> boxes = [[0.0, 0.0, 1.0, 1.0], [0.0, 0.1, 1.0, 1.1]]
    >>> tf.image.non_max_suppression(boxes, [0.5, 0.9], 2).numpy()
    array([1], dtype=int32)
    """
    at, points = _ranked("boxes", convert(boxes), 2), _ranked("scores", convert(scores), 1)
    limits = [convert(iou_threshold, None, float32), convert(score_threshold, None, float32)]
    return call(own.non_max_suppression, at, points, convert(max_output_size, int32), *limits)


def non_max_suppression_with_scores(
    boxes: Any,
    scores: Any,
    max_output_size: Any,
    iou_threshold: Any = 0.5,
    score_threshold: Any = float("-inf"),
    soft_nms_sigma: float = 0.0,
    name: str | None = None,
) -> tuple[Any, Any]:
    """Choose the best of boxes that overlap, and give their scores.

    Mirrors ``tf.image.non_max_suppression_with_scores``.

    Parameters
    ----------
    boxes, scores, max_output_size, iou_threshold, score_threshold
        As of `non_max_suppression`.
    soft_nms_sigma
        Only 0: boxes are left out, their scores are not lowered.
    name
        Accepted for TensorFlow's sake.

    Raises
    ------
    NotImplementedError
        `soft_nms_sigma` is not 0.

    Examples
    --------
    >>> boxes = [[0.0, 0.0, 1.0, 1.0], [0.0, 0.1, 1.0, 1.1]]
    >>> tf.image.non_max_suppression_with_scores(boxes, [0.5, 0.9], 2)[1].numpy()
    array([0.9], dtype=float32)
    """
    from ..gathering import gather

    if soft_nms_sigma != 0.0:
        raise NotImplementedError("soft_nms_sigma: scores are not lowered, boxes are left out")
    points = convert(scores)
    chosen = non_max_suppression(boxes, points, max_output_size, iou_threshold, score_threshold)
    return chosen, gather(points, chosen)


def non_max_suppression_overlaps(
    overlaps: Any,
    scores: Any,
    max_output_size: Any,
    overlap_threshold: Any = 0.5,
    score_threshold: Any = float("-inf"),
    name: str | None = None,
) -> Any:
    """Choose the best of what overlaps by a table; mirrors ``tf.image``'s function.

    Parameters
    ----------
    overlaps
        ``[n, n]`` floats: how much each shares with each other.
    scores
        ``[n]`` floats.
    max_output_size
        At most so many are chosen.
    overlap_threshold
        What shares more than this with a better one is left out.
    score_threshold
        What has a score at or below it is left out.
    name
        Accepted for TensorFlow's sake.

    Raises
    ------
    InvalidArgumentError
        Shapes do not fit together.

    Examples
    --------
    >>> tf.image.non_max_suppression_overlaps([[1.0, 0.8], [0.8, 1.0]], [0.5, 0.9], 2).numpy()
    array([1], dtype=int32)
    """
    table, points = convert(overlaps), convert(scores)
    most = convert(max_output_size, int32)
    limits = [convert(overlap_threshold, None, float32), convert(score_threshold, None, float32)]

    def compute(table: Any, points: Any, most: Any, limit: Any, least: Any) -> Any:
        if table.ndim != 2 or table.shape[0] != table.shape[1] or points.shape != table.shape[:1]:
            raise InvalidArgumentError(
                f"overlaps must be square, with a score each, got shapes {table.shape} and "
                f"{points.shape}"
            )
        chosen: list[int] = []
        for k in np.argsort(-points, kind="stable"):
            if len(chosen) >= int(most) or not points[k] > least:
                break
            if all(table[k, other] <= limit for other in chosen):
                chosen.append(int(k))
        return np.array(chosen, np.int32)

    out = ((None,), int32)
    return python("non_max_suppression_overlaps", compute, out, table, points, most, *limits)
