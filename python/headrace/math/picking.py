"""Picking values: by places along an axis, by indices, by a mask."""

from __future__ import annotations

import builtins
from typing import Any

import numpy as np

from ..ops import apply_op, is_symbol, value
from .shaping import _sizes

__all__ = ["boolean_mask", "gather", "gather_nd", "one_hot", "slice"]


def gather(params: Any, indices: Any, axis: int | None = None, batch_dims: int = 0) -> Any:
    """Pick slices along an axis; mirrors ``tf.gather``.

    Parameters
    ----------
    params
        The values.
    indices
        Integers of any shape; negative ones count from the end.
    axis
        The axis, that after the batch axes by default.
    batch_dims
        How many axes in front `params` and `indices` have in common.

    Returns
    -------
    array
        Shape ``params.shape[:axis] + indices.shape[batch_dims:] + params.shape[axis + 1:]``.

    Raises
    ------
    InvalidArgumentError
        An index is out of bounds, or the shapes do not fit.

    Examples
    --------
    >>> hr.math.gather(np.array([5, 6, 7]), [2, 0])
    array([7, 5])
    >>> hr.math.gather(np.array([[5, 6], [7, 8]]), [[1], [0]], batch_dims=1)
    array([[6],
           [7]])
    """
    place = batch_dims if axis is None else int(axis)
    return apply_op(
        "take", {"axis": place, "batch_dims": int(batch_dims)}, value(params), _integers(indices)
    )[0]


def _integers(indices: Any) -> Any:
    found = value(indices)
    if not is_symbol(found) and found.size == 0 and found.dtype.kind == "f":
        found = found.astype(np.int64)
    return found


def gather_nd(params: Any, indices: Any, batch_dims: int = 0) -> Any:
    """Pick by index vectors, the last axis of `indices`; mirrors ``tf.gather_nd``.

    Parameters
    ----------
    params
        The values.
    indices
        Integers of shape ``[..., depth]``; each vector indexes the first `depth` axes.
    batch_dims
        How many axes in front both have in common.

    Raises
    ------
    InvalidArgumentError
        An index is out of bounds, or the shapes do not fit.

    Examples
    --------
    >>> hr.math.gather_nd(np.array([[1, 2], [3, 4]]), [[0, 1], [1, 0]])
    array([2, 3])
    """
    return apply_op(
        "gather_nd", {"batch_dims": int(batch_dims)}, value(params), _integers(indices)
    )[0]


def boolean_mask(tensor: Any, mask: Any, axis: int = 0) -> Any:
    """Keep what a mask is true for; mirrors ``tf.boolean_mask``.

    Parameters
    ----------
    tensor
        The values.
    mask
        Truth values; their axes are those of `tensor` from `axis` on.
    axis
        The first axis that the mask is about.

    Raises
    ------
    InvalidArgumentError, IndexError
        The shapes do not fit.

    Examples
    --------
    >>> hr.math.boolean_mask(np.array([1, 2, 3]), [True, False, True])
    array([1, 3])
    """
    x, keep = value(tensor), value(mask)
    return x[(*[builtins.slice(None)] * int(axis), keep)]


def one_hot(
    indices: Any,
    depth: int,
    on_value: Any = 1,
    off_value: Any = 0,
    axis: int = -1,
    dtype: Any = np.float32,
) -> Any:
    """Return one value at the place of each index, another elsewhere; mirrors ``tf.one_hot``.

    Parameters
    ----------
    indices
        Integers; those outside of ``[0, depth)`` give no place.
    depth
        The size of the new axis.
    on_value, off_value
        The two values.
    axis
        Where the new axis is, at the end by default.
    dtype
        The dtype of the result.

    Examples
    --------
    >>> hr.math.one_hot(np.array([1, -1]), 3)
    array([[0., 1., 0.],
           [0., 0., 0.]], dtype=float32)
    """
    at = value(indices)
    rank = np.ndim(at)
    place = int(axis) % (rank + 1)
    places = np.arange(int(depth)).reshape([-1 if k == place else 1 for k in range(rank + 1)])
    hit = np.expand_dims(at, place) == places
    kind = np.dtype(dtype)
    return np.where(hit, np.asarray(on_value, kind), np.asarray(off_value, kind))


def slice(input_: Any, begin: Any, size: Any) -> Any:
    """Return a block; mirrors ``tf.slice``.

    Parameters
    ----------
    input_
        The values.
    begin, size
        Where the block begins and how large it is along each axis, -1 for all that is left. Both
        may be computed.

    Raises
    ------
    InvalidArgumentError
        The block is not within the array.

    Examples
    --------
    >>> hr.math.slice(np.arange(5), [1], [3])
    array([1, 2, 3])
    """
    starts, sizes = _sizes(begin), _sizes(size)
    given = [np.asarray(x, np.int64) if not is_symbol(x) else x for x in (starts, sizes)]
    return apply_op("block", {}, value(input_), *given)[0]
