"""Which values there are, how often, and where they belong."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..ops import apply_op, value

__all__ = [
    "bincount",
    "bucketize",
    "searchsorted",
    "sequence_mask",
    "unique",
    "unique_with_counts",
]


def unique(x: Any) -> tuple[Any, Any]:
    """Return the values in the order in which they first come; mirrors ``tf.unique``.

    Parameters
    ----------
    x
        A vector; each NaN is a value of its own.

    Returns
    -------
    tuple
        ``y``, and int64 ``idx`` such that ``y[idx]`` is `x`.

    Examples
    --------
    >>> hr.math.unique(np.array([7, 5, 7]))
    (array([7, 5]), array([0, 1, 0]))
    """
    values, _, inverse, _ = _groups(x)
    return values, inverse


def unique_with_counts(x: Any) -> tuple[Any, Any, Any]:
    """Return the values, and how often each is there; mirrors ``tf.unique_with_counts``.

    Parameters
    ----------
    x
        A vector; each NaN is a value of its own.

    Returns
    -------
    tuple
        ``y`` and ``idx`` as of `unique`, and int64 counts.

    Examples
    --------
    >>> hr.math.unique_with_counts(np.array([7, 5, 7]))
    (array([7, 5]), array([0, 1, 0]), array([2, 1]))
    """
    values, _, inverse, counts = _groups(x)
    return values, inverse, counts


def _groups(x: Any) -> list[Any]:
    return apply_op("unique", {"sorted": False, "equal_nan": False}, value(x))


def bincount(
    arr: Any,
    weights: Any = None,
    minlength: int | None = None,
    maxlength: int | None = None,
    dtype: Any = np.int64,
) -> Any:
    """Count how often each number from 0 on is there; mirrors ``tf.math.bincount``.

    Parameters
    ----------
    arr
        Integers that are not negative.
    weights
        What each counts for, float64; 1 by default.
    minlength, maxlength
        Bounds of the length of the result; numbers from `maxlength` on are not counted.
    dtype
        The dtype of counts; with weights it is float64.

    Raises
    ------
    InvalidArgumentError
        A number is negative, or so large that the result would be out of all proportion.

    Examples
    --------
    >>> hr.math.bincount(np.array([1, 1, 3]))
    array([0, 2, 0, 1])
    """
    attrs = {"minlength": minlength, "maxlength": maxlength, "dtype": np.dtype(dtype)}
    if weights is None:
        return apply_op("bincount", attrs, value(arr))[0]
    attrs["dtype"] = np.dtype(np.float64)
    return apply_op("bincount", attrs, value(arr), value(weights))[0]


def searchsorted(sorted_sequence: Any, values: Any, side: str = "left") -> Any:
    """Return where values belong in sorted ones, int64; mirrors ``tf.searchsorted``.

    Parameters
    ----------
    sorted_sequence
        Ascending along the last axis.
    values
        Of the same axes in front.
    side
        ``"left"`` or ``"right"`` of equal values.

    Examples
    --------
    >>> hr.math.searchsorted(np.array([1, 3, 5]), np.array([3, 4]))
    array([1, 2])
    """
    if side not in ("left", "right"):
        raise ValueError(f"`side` must be 'left' or 'right', got {side!r}")
    ordered, wanted = value(sorted_sequence), value(values)
    if all(getattr(x.dtype, "kind", "O") != "O" for x in (ordered, wanted)):
        kind = np.result_type(ordered.dtype, wanted.dtype)
        ordered, wanted = ordered.astype(kind), wanted.astype(kind)
    attrs = {"right": side == "right", "rows": np.ndim(ordered) > 1}
    return apply_op("searchsorted", attrs, ordered, wanted)[0]


def bucketize(input: Any, boundaries: Any) -> Any:
    """Return for each value the number of its bucket, int64; mirrors ``tf.raw_ops.Bucketize``.

    Parameters
    ----------
    input
        Numbers of any shape.
    boundaries
        Where buckets begin, ascending; values below the first are in bucket 0.

    Raises
    ------
    ValueError
        The boundaries are not ascending.

    Examples
    --------
    >>> hr.math.bucketize(np.array([-5, 0, 150]), [0, 100])
    array([0, 1, 2])
    """
    edges = np.asarray(boundaries)
    if edges.ndim != 1 or (np.diff(edges) < 0).any():
        raise ValueError(f"`boundaries` must be a sorted list, got {boundaries!r}")
    return np.digitize(value(input), edges)


def sequence_mask(lengths: Any, maxlen: Any = None, dtype: Any = bool) -> Any:
    """Return which places are within each length; mirrors ``tf.sequence_mask``.

    Parameters
    ----------
    lengths
        Integers of any shape.
    maxlen
        The size of the last axis of the result; the greatest length by default.
    dtype
        The dtype of the result.

    Examples
    --------
    >>> hr.math.sequence_mask(np.array([1, 2]), 3)
    array([[ True, False, False],
           [ True,  True, False]])
    """
    size = None if maxlen is None else int(maxlen)
    found = apply_op("sequence_mask", {"maxlen": size}, value(lengths))[0]
    kind = np.dtype(dtype)
    return found if kind == np.bool_ else found.astype(kind)
