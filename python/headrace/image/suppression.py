"""Choosing the best of boxes that overlap; rows of ``[top, left, bottom, right]``."""

from __future__ import annotations

from typing import Any, SupportsIndex

import numpy as np

from .. import checks
from ..ops import apply_op
from .arguments import image as as_image

__all__ = [
    "combined_non_max_suppression",
    "non_max_suppression",
    "non_max_suppression_overlaps",
    "non_max_suppression_padded",
    "non_max_suppression_with_scores",
]


def non_max_suppression(
    boxes: Any,
    scores: Any,
    max_output_size: Any,
    iou_threshold: Any = 0.5,
    score_threshold: Any = -np.inf,
    name: str | None = None,
) -> Any:
    """Choose the best of boxes that overlap; mirrors ``tf.image.non_max_suppression``.

    Parameters
    ----------
    boxes
        ``[n, 4]``: two opposite corners each.
    scores
        ``[n]``.
    max_output_size
        At most so many are chosen.
    iou_threshold
        Boxes that have a larger share than this in common with a better one are left out.
    score_threshold
        Boxes of scores at or below it are left out.
    name
        Accepted for TensorFlow's sake.

    Returns
    -------
    array
        int32: the numbers of the chosen boxes, best first.

    Raises
    ------
    InvalidArgumentError
        Shapes do not fit together, or a threshold is out of its range.

    Examples
    --------
    >>> boxes = [[0, 0, 1, 1], [0, 0.1, 1, 1.1], [0, 2, 1, 3]]
    >>> hr.image.non_max_suppression(boxes, [0.5, 0.9, 0.7], 3)
    array([1, 2], dtype=int32)
    """
    args = [boxes, scores, max_output_size, iou_threshold, score_threshold]
    return apply_op("non_max_suppression", {}, *map(as_image, args))[0]


def non_max_suppression_with_scores(
    boxes: Any,
    scores: Any,
    max_output_size: Any,
    iou_threshold: Any = 0.5,
    score_threshold: Any = -np.inf,
    soft_nms_sigma: Any = 0.0,
    name: str | None = None,
) -> Any:
    """Choose the best of boxes that overlap, and give their scores.

    Mirrors ``tf.image.non_max_suppression_with_scores``.

    Parameters
    ----------
    boxes, scores, max_output_size, iou_threshold, score_threshold
        As of `non_max_suppression`.
    soft_nms_sigma
        Above 0 no box is left out for what it shares with a better one: its score is lowered, the
        more the smaller this is.
    name
        Accepted for TensorFlow's sake.

    Returns
    -------
    tuple
        int32: the numbers of the chosen boxes, best first; their scores, of the dtype of `scores`.

    Raises
    ------
    InvalidArgumentError
        Shapes do not fit together, or a threshold is out of its range.

    Examples
    --------
    >>> boxes = [[0, 0, 1, 1], [0, 0.1, 1, 1.1], [0, 2, 1, 3]]
    >>> chosen, scores = hr.image.non_max_suppression_with_scores(
    ...     boxes, [0.5, 0.9, 0.7], 3, soft_nms_sigma=0.5)
    >>> chosen, scores.round(3)
    (array([1, 2, 0], dtype=int32), array([0.9  , 0.7  , 0.256]))
    """
    args = [boxes, scores, max_output_size, iou_threshold, score_threshold, soft_nms_sigma]
    return tuple(apply_op("non_max_suppression_with_scores", {}, *map(as_image, args)))


def non_max_suppression_overlaps(
    overlaps: Any,
    scores: Any,
    max_output_size: Any,
    overlap_threshold: Any = 0.5,
    score_threshold: Any = -np.inf,
    name: str | None = None,
) -> Any:
    """Choose the best of what overlaps by a table; mirrors ``tf.image``'s function of this name.

    Parameters
    ----------
    overlaps
        ``[n, n]``: how much each shares with each other.
    scores
        ``[n]``.
    max_output_size
        At most so many are chosen.
    overlap_threshold
        What shares more than this with a better one is left out.
    score_threshold
        What has a score at or below it is left out.
    name
        Accepted for TensorFlow's sake.

    Returns
    -------
    array
        int32: the numbers of the chosen ones, best first.

    Raises
    ------
    InvalidArgumentError
        Shapes do not fit together.

    Examples
    --------
    >>> hr.image.non_max_suppression_overlaps([[1.0, 0.8], [0.8, 1.0]], [0.5, 0.9], 2)
    array([1], dtype=int32)
    """
    args = [overlaps, scores, max_output_size, overlap_threshold, score_threshold]
    return apply_op("non_max_suppression_overlaps", {}, *map(as_image, args))[0]


def non_max_suppression_padded(
    boxes: Any,
    scores: Any,
    max_output_size: SupportsIndex,
    iou_threshold: Any = 0.5,
    score_threshold: Any = -np.inf,
    sorted_input: bool = False,
    name: str | None = None,
) -> Any:
    """Choose the best of boxes of many images; mirrors ``tf.image.non_max_suppression_padded``.

    As in TensorFlow, a box is left out too if it shares the threshold itself with a better one, and
    a box without a part above zero is none.

    Parameters
    ----------
    boxes
        ``[..., n, 4]``.
    scores
        ``[..., n]``.
    max_output_size
        So many numbers are given for each image: an integer.
    iou_threshold, score_threshold
        As of `non_max_suppression`.
    sorted_input
        Scores fall already.
    name
        Accepted for TensorFlow's sake.

    Returns
    -------
    tuple
        int32 ``[..., max_output_size]``: the numbers of the chosen boxes, zeros behind them; int32
        ``[...]``: how many are chosen.

    Raises
    ------
    InvalidArgumentError
        Shapes do not fit together, or a threshold is out of its range.

    Examples
    --------
    >>> boxes = [[[0, 0, 1, 1], [0, 0.1, 1, 1.1], [0, 2, 1, 3]]]
    >>> chosen, valid = hr.image.non_max_suppression_padded(boxes, [[0.5, 0.9, 0.7]], 3)
    >>> chosen.tolist(), valid.tolist()
    ([[1, 2, 0]], [2])
    """
    attrs = {
        "max_output_size": checks.integer("max_output_size", max_output_size),
        "sorted_input": bool(sorted_input),
    }
    args = [boxes, scores, iou_threshold, score_threshold]
    return tuple(apply_op("non_max_suppression_padded", attrs, *map(as_image, args)))


def combined_non_max_suppression(
    boxes: Any,
    scores: Any,
    max_output_size_per_class: SupportsIndex,
    max_total_size: SupportsIndex,
    iou_threshold: Any = 0.5,
    score_threshold: Any = -np.inf,
    pad_per_class: bool = False,
    clip_boxes: bool = True,
    name: str | None = None,
) -> Any:
    """Choose the best boxes of each class, and of these the best of each image.

    Mirrors ``tf.image.combined_non_max_suppression``.

    Parameters
    ----------
    boxes
        ``[batch, n, q, 4]``: `q` is 1, or the number of classes.
    scores
        ``[batch, n, classes]``.
    max_output_size_per_class, max_total_size
        At most so many are chosen of a class, and of an image: integers.
    iou_threshold, score_threshold
        As of `non_max_suppression`.
    pad_per_class
        No more rows are given than all classes may have together.
    clip_boxes
        Boxes are cut off at 0 and 1.
    name
        Accepted for TensorFlow's sake.

    Returns
    -------
    tuple
        float32 ``[batch, rows, 4]`` boxes, ``[batch, rows]`` scores and classes, zeros behind them;
        int32 ``[batch]``: how many there are.

    Raises
    ------
    InvalidArgumentError
        Shapes do not fit together, or a threshold or size is out of its range.

    Examples
    --------
    >>> boxes = np.float32([[[[0, 0, 1, 1]], [[0, 0, 0.5, 0.5]]]])
    >>> found = hr.image.combined_non_max_suppression(boxes, [[[0.9, 0.1], [0.2, 0.8]]], 1, 3)
    >>> found[1].tolist(), found[2].tolist(), found[3].tolist()
    ([[0.8999999761581421, 0.800000011920929, 0.0]], [[0.0, 1.0, 0.0]], [2])
    """
    attrs = {
        "max_output_size_per_class": checks.integer(
            "max_output_size_per_class", max_output_size_per_class
        ),
        "max_total_size": checks.integer("max_total_size", max_total_size),
        "pad_per_class": bool(pad_per_class),
        "clip_boxes": bool(clip_boxes),
    }
    args = [boxes, scores, iou_threshold, score_threshold]
    return tuple(apply_op("combined_non_max_suppression", attrs, *map(as_image, args)))
