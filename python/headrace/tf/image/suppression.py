"""Choosing the best of boxes that overlap; mirrors ``tf.image``."""

from __future__ import annotations

from typing import Any, NamedTuple

from ... import image as own
from ...errors import InvalidArgumentError
from ..array_ops import ensure_shape
from ..convert import convert, is_symbol
from ..dtypes import float32, int32
from ..kernels import DTypeError, Out, static_shape
from ..tensor import raw
from .arguments import call
from .boxes import ranked

__all__ = [
    "combined_non_max_suppression",
    "non_max_suppression",
    "non_max_suppression_overlaps",
    "non_max_suppression_padded",
    "non_max_suppression_with_scores",
]


class CombinedNonMaxSuppression(NamedTuple):
    """What `combined_non_max_suppression` gives."""

    nmsed_boxes: Any
    nmsed_scores: Any
    nmsed_classes: Any
    valid_detections: Any


def _limits(*values: Any) -> list[Any]:
    return [_one(convert(value, None, float32), "a threshold") for value in values]


def _one(x: Any, name: str) -> Any:
    """Return a tensor that has to be one number."""
    if static_shape(x) not in ((), None):
        raise InvalidArgumentError(f"{name} must be 0-D, got shape {list(static_shape(x) or ())}")
    return x


def _paired(boxes: Any, scores: Any, axes: int = 1) -> None:
    """Refuse numbers of boxes and of scores that are known to differ."""
    one, other = static_shape(boxes), static_shape(scores)
    if one is None or other is None:
        return
    for count, points in zip(one[:axes], other[:axes], strict=True):
        if None not in (count, points) and count != points:
            raise InvalidArgumentError(f"scores has incompatible shape: {other} for boxes {one}")


def _most(value: Any) -> Any:
    return _one(convert(value, int32), "max_output_size")


def _known(name: str, value: Any) -> int:
    """Return a size that is no symbol."""
    x = convert(value)
    if x.dtype is not int32:
        kind = x.dtype.name
        raise DTypeError(
            f"{name} has type {kind} that does not match type int32. "
            f"Tensor conversion requested dtype int32 for Tensor with dtype {kind}: {x!r}"
        )
    return int(raw(_one(x, name)))


def _unrecorded(name: str, sizes: list[Any], outs: list[Out]) -> list[Any]:
    """Return what stands for the results of sizes that only a run knows."""
    tracer = sizes[0]._tracer
    return [tracer.unrecorded(f"{name} of sizes that are computed", *out) for out in outs]


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
    at, points = ranked("boxes", convert(boxes), 2), ranked("scores", convert(scores), 1)
    _paired(at, points)
    limits = _limits(iou_threshold, score_threshold)
    return call(own.non_max_suppression, at, points, _most(max_output_size), *limits)


def non_max_suppression_with_scores(
    boxes: Any,
    scores: Any,
    max_output_size: Any,
    iou_threshold: Any = 0.5,
    score_threshold: Any = float("-inf"),
    soft_nms_sigma: Any = 0.0,
    name: str | None = None,
) -> tuple[Any, Any]:
    """Choose the best of boxes that overlap, and give their scores.

    Mirrors ``tf.image.non_max_suppression_with_scores``.

    Parameters
    ----------
    boxes, scores, max_output_size, iou_threshold, score_threshold
        As of `non_max_suppression`.
    soft_nms_sigma
        Above 0, scores are lowered by what is shared with better boxes.
    name
        Accepted for TensorFlow's sake.

    Raises
    ------
    InvalidArgumentError
        Shapes do not fit together, or a threshold is out of its range.

    Examples
    --------
    >>> boxes = [[0.0, 0.0, 1.0, 1.0], [0.0, 0.1, 1.0, 1.1]]
    >>> tf.image.non_max_suppression_with_scores(boxes, [0.5, 0.9], 2)[1].numpy()
    array([0.9], dtype=float32)
    """
    at, points = ranked("boxes", convert(boxes), 2), ranked("scores", convert(scores), 1)
    _paired(at, points)
    most = _most(max_output_size)
    limits = _limits(iou_threshold, score_threshold, soft_nms_sigma)
    chosen, found = call(own.non_max_suppression_with_scores, at, points, most, *limits)
    return chosen, found


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
    table, points = ranked("overlaps", convert(overlaps), 2), ranked("scores", convert(scores), 1)
    most, limits = _most(max_output_size), _limits(overlap_threshold, score_threshold)
    return call(own.non_max_suppression_overlaps, table, points, most, *limits)


def non_max_suppression_padded(
    boxes: Any,
    scores: Any,
    max_output_size: Any,
    iou_threshold: Any = 0.5,
    score_threshold: Any = float("-inf"),
    pad_to_max_output_size: bool = False,
    name: str | None = None,
    sorted_input: bool = False,
    canonicalized_coordinates: bool = False,
    tile_size: int = 512,
) -> tuple[Any, Any]:
    """Choose the best of boxes of many images; mirrors ``tf.image.non_max_suppression_padded``.

    Parameters
    ----------
    boxes, scores, max_output_size, iou_threshold, score_threshold, sorted_input
        As of `headrace.image.non_max_suppression_padded`.
    pad_to_max_output_size
        Give `max_output_size` numbers; else only those that are chosen, of one image.
    name, canonicalized_coordinates, tile_size
        Accepted for TensorFlow's sake.

    Raises
    ------
    ValueError
        There are boxes of many images, and no padding.
    InvalidArgumentError
        Shapes do not fit together, or a threshold is out of its range.

    Examples
    --------
    >>> boxes = [[0.0, 0.0, 1.0, 1.0], [0.0, 0.1, 1.0, 1.1]]
    >>> tf.image.non_max_suppression_padded(boxes, [0.5, 0.9], 2)[0].numpy()
    array([1], dtype=int32)
    """
    at, points = convert(boxes), convert(scores)
    dims = static_shape(at)
    if dims is not None and len(dims) == 2:
        _paired(at, ranked("scores", points, 1))
    if not pad_to_max_output_size and dims is not None and len(dims) > 2:
        raise ValueError("'pad_to_max_output_size' (value False) must be True for batched input")
    if is_symbol(max_output_size):
        images = None if dims is None else dims[:-2]
        lists = None if images is None else (*images, None)
        outs: list[Out] = [(lists, int32), (images, int32)]
        chosen, valid = _unrecorded("non_max_suppression_padded", [max_output_size], outs)
        return chosen, valid
    size = _known("max_output_size", max_output_size)
    limits = _limits(iou_threshold, score_threshold)
    chosen, valid = call(own.non_max_suppression_padded, at, points, size, *limits, sorted_input)
    return (chosen if pad_to_max_output_size else chosen[:valid]), valid


def combined_non_max_suppression(
    boxes: Any,
    scores: Any,
    max_output_size_per_class: Any,
    max_total_size: Any,
    iou_threshold: Any = 0.5,
    score_threshold: Any = float("-inf"),
    pad_per_class: bool = False,
    clip_boxes: bool = True,
    name: str | None = None,
) -> Any:
    """Choose the best boxes of each class, and of these the best of each image.

    Mirrors ``tf.image.combined_non_max_suppression``.

    Parameters
    ----------
    boxes, scores, max_output_size_per_class, max_total_size, iou_threshold, score_threshold
        As of `headrace.image.combined_non_max_suppression`.
    pad_per_class, clip_boxes
        As of that too.
    name
        Accepted for TensorFlow's sake.

    Raises
    ------
    InvalidArgumentError
        Shapes do not fit together, or a threshold or size is out of its range.

    Examples
    --------
    >>> boxes = tf.constant([[[[0.0, 0.0, 1.0, 1.0]]]])
    >>> tf.image.combined_non_max_suppression(boxes, [[[0.9, 0.1]]], 1, 3).valid_detections.numpy()
    array([2], dtype=int32)
    """
    at, points = ranked("boxes", convert(boxes), 4), ranked("scores", convert(scores), 3)
    _paired(at, points, 2)
    sizes = [x for x in (max_output_size_per_class, max_total_size) if is_symbol(x)]
    if sizes:
        images = (static_shape(at) or (None,))[0]
        most = None if pad_per_class or is_symbol(max_total_size) else max_total_size
        lists = (images, None if most is None else _known("max_total_size", most))
        shapes = ((*lists, 4), float32), (lists, float32), (lists, float32), ((images,), int32)
        outs: list[Out] = [*shapes]
        return CombinedNonMaxSuppression(*_unrecorded("combined_non_max_suppression", sizes, outs))
    each = _known("max_output_size_per_class", max_output_size_per_class)
    total = _known("max_total_size", max_total_size)
    if each <= 0:
        raise InvalidArgumentError(f"max_size_per_class must be positive, got {each}")
    if total <= 0:
        raise InvalidArgumentError(f"max_total_size must be > 0, got {total}")
    limits = _limits(iou_threshold, score_threshold)
    found = call(
        own.combined_non_max_suppression,
        *(at, points, each, total, *limits),
        pad_per_class=pad_per_class,
        clip_boxes=clip_boxes,
    )
    made = CombinedNonMaxSuppression(*found)
    if pad_per_class or not is_symbol(made.nmsed_boxes):
        return made
    return CombinedNonMaxSuppression(
        ensure_shape(made.nmsed_boxes, [None, total, 4]),
        ensure_shape(made.nmsed_scores, [None, total]),
        ensure_shape(made.nmsed_classes, [None, total]),
        made.valid_detections,
    )
