"""Shapes: asking for them, stating them, and arrays of a shape that may be computed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..errors import InvalidArgumentError
from ..ops import apply_op, is_symbol, value

__all__ = ["ensure_shape", "fill", "pad", "range", "rank", "reshape", "shape", "size"]


def shape(input: Any) -> Any:
    """Return the sizes as an int64 vector; mirrors ``tf.shape``.

    In a traced function this works for sizes that only a run knows, where ``x.shape`` refuses.

    Examples
    --------
    >>> hr.math.shape(np.zeros((2, 3)))
    array([2, 3])
    """
    return apply_op("shape", {}, value(input))[0]


def size(input: Any) -> Any:
    """Return the number of values, int64; mirrors ``tf.size``.

    Examples
    --------
    >>> hr.math.size(np.zeros((2, 3)))
    np.int64(6)
    """
    return np.prod(shape(input))


def rank(input: Any) -> int:
    """Return the number of axes; mirrors ``tf.rank``.

    Examples
    --------
    >>> hr.math.rank(np.zeros((2, 3)))
    2
    """
    return int(np.ndim(value(input)))


def _sizes(sizes: Any) -> Any:
    """Return sizes as ints, or as one symbol where some are computed."""
    if is_symbol(sizes):
        return sizes
    if isinstance(sizes, Sequence) and any(map(is_symbol, sizes)):
        return np.stack([np.int64(size) if not is_symbol(size) else size for size in sizes])
    return [int(size) for size in np.atleast_1d(np.asarray(sizes, np.int64))]


def reshape(tensor: Any, shape: Any) -> Any:
    """Return the same values in another shape; mirrors ``tf.reshape``.

    Parameters
    ----------
    tensor
        The values.
    shape
        The sizes, one of them perhaps -1; they may be computed.

    Raises
    ------
    InvalidArgumentError, ValueError
        The number of values is another.

    Examples
    --------
    >>> hr.math.reshape(np.arange(4), [2, -1])
    array([[0, 1],
           [2, 3]])
    """
    x, sizes = value(tensor), _sizes(shape)
    if is_symbol(sizes):
        return apply_op("reshape_by", {}, x, sizes)[0]
    return np.reshape(x, tuple(sizes))


def ensure_shape(x: Any, shape: Any) -> Any:
    """Check a shape, and state it in a traced function; mirrors ``tf.ensure_shape``.

    Parameters
    ----------
    x
        An array.
    shape
        Its sizes, None for any.

    Returns
    -------
    array
        `x` itself.

    Raises
    ------
    InvalidArgumentError
        The shape is another.

    Examples
    --------
    >>> hr.math.ensure_shape(np.zeros((2, 3)), [None, 3]).shape
    (2, 3)
    """
    x = value(x)
    sizes = [-1 if size is None else int(size) for size in shape]
    if is_symbol(x):
        return apply_op("ensure_shape", {"shape": sizes}, x)[0]
    fits = len(sizes) == x.ndim and all(a in (-1, b) for a, b in zip(sizes, x.shape, strict=True))
    if not fits:
        raise InvalidArgumentError(
            f"shape of tensor input {x.shape} is not compatible with expected shape {tuple(shape)}"
        )
    return x


def pad(tensor: Any, paddings: Any, mode: str = "constant", constant_values: Any = 0) -> Any:
    """Add values around; mirrors ``tf.pad``.

    Parameters
    ----------
    tensor
        The values.
    paddings
        For each axis how many before and how many after; they may be computed.
    mode
        ``"constant"``, ``"reflect"``, ``"symmetric"``, ``"edge"`` or ``"wrap"``.
    constant_values
        The value of the first mode.

    Raises
    ------
    ValueError
        There is no such mode, or a number is negative.

    Examples
    --------
    >>> hr.math.pad(np.array([1, 2]), [[1, 2]])
    array([0, 1, 2, 0, 0])
    """
    x, name = value(tensor), mode.lower()
    if name not in ("constant", "reflect", "symmetric", "edge", "wrap"):
        raise ValueError(f"`mode` must be constant, reflect, symmetric, edge or wrap, got {mode!r}")
    if name == "constant":
        return np.pad(x, paddings, constant_values=constant_values)
    return np.pad(x, paddings, name)  # type: ignore[call-overload]


def fill(dims: Any, value: Any) -> Any:
    """Return an array of one value; mirrors ``tf.fill``.

    Parameters
    ----------
    dims
        The shape, which may be computed.
    value
        A scalar.

    Raises
    ------
    InvalidArgumentError
        A size is negative, or the array would be out of all proportion.

    Examples
    --------
    >>> hr.math.fill([2], np.float32(7))
    array([7., 7.], dtype=float32)
    """
    sizes = _sizes(dims)
    if not is_symbol(sizes):
        sizes = np.asarray(sizes, np.int64)
    return apply_op("fill", {}, sizes, value)[0]


def range(start: Any, limit: Any = None, delta: Any = 1) -> Any:
    """Return evenly spaced numbers; mirrors ``tf.range``.

    Parameters
    ----------
    start, limit, delta
        First number, end and step, which may be computed; with one of them the start is 0.

    Raises
    ------
    InvalidArgumentError
        The step is 0.

    Examples
    --------
    >>> hr.math.range(3), hr.math.range(1, 2, 0.5)
    (array([0, 1, 2]), array([1. , 1.5]))
    """
    if limit is None:
        start, limit = 0, start
    ends = (start, limit, delta)
    dtypes = [end.dtype if is_symbol(end) else end for end in ends]
    dtype = np.result_type(*dtypes)
    numbers = [end.astype(dtype) if is_symbol(end) else np.asarray(end, dtype) for end in ends]
    return apply_op("range", {}, *numbers)[0]
