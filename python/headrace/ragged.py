"""Ragged values, of their parts and as dense arrays; mirrors ``tf.ragged``.

Functions take arrays and a `RaggedTensor`, and, inside a traced function, what stands for them.
"""

from __future__ import annotations

from typing import Any

from .dtypes import filler
from .ops import apply_op, is_symbol, value
from .tensors import RaggedTensor

__all__ = [
    "from_row_lengths",
    "from_row_splits",
    "from_tensor",
    "row_lengths",
    "to_tensor",
    "value_rowids",
]


def _parts(rt: Any) -> tuple[Any, list[Any]]:
    """Return the innermost values and all row splits, outermost first."""
    if is_symbol(rt):
        return rt.flat_values, [rt._part("splits", k) for k in range(rt.ragged_rank)]
    splits = []
    while isinstance(rt, RaggedTensor):
        splits.append(rt.row_splits)
        rt = rt.values
    return rt, splits


def from_row_splits(values: Any, row_splits: Any) -> Any:
    """Return rows cut out of values; mirrors ``tf.RaggedTensor.from_row_splits``.

    Parameters
    ----------
    values
        An array, or a ragged value.
    row_splits
        Where rows begin, and the end of the last one: a vector of int32 or int64.

    Raises
    ------
    InvalidArgumentError
        The splits do not rise from 0 to the number of values.

    Examples
    --------
    >>> hr.ragged.from_row_splits(np.array([1, 2, 3]), [0, 1, 3])
    RaggedTensor(values=[1, 2, 3], row_splits=[0, 1, 3])
    """
    inner = values if isinstance(values, RaggedTensor) else None
    splits = value(row_splits)
    if is_symbol(splits) or is_symbol(values):
        flat, more = _parts(values) if hasattr(type(values), "ragged_rank") else (value(values), [])
        return apply_op("ragged_pack", {}, flat, splits, *more)[0]
    if inner is None:
        return apply_op("ragged_pack", {}, value(values), splits)[0]
    flat, more = _parts(inner)
    return apply_op("ragged_pack", {}, flat, splits, *more)[0]


def from_row_lengths(values: Any, row_lengths: Any) -> Any:
    """Return rows of these lengths; mirrors ``tf.RaggedTensor.from_row_lengths``.

    Parameters
    ----------
    values
        An array, or a ragged value.
    row_lengths
        A vector of int32 or int64.

    Raises
    ------
    InvalidArgumentError
        A length is negative, or their sum is not the number of values.

    Examples
    --------
    >>> hr.ragged.from_row_lengths(np.array([1, 2, 3]), [1, 2])
    RaggedTensor(values=[1, 2, 3], row_splits=[0, 1, 3])
    """
    return from_row_splits(values, apply_op("row_splits", {}, value(row_lengths))[0])


def from_tensor(tensor: Any, lengths: Any) -> Any:
    """Return the front of each row; mirrors ``tf.RaggedTensor.from_tensor``.

    Parameters
    ----------
    tensor
        An array of at least 2 axes.
    lengths
        How much of each row is kept.

    Examples
    --------
    >>> hr.ragged.from_tensor(np.array([[1, 2], [3, 4]]), [1, 2])
    RaggedTensor(values=[1, 3, 4], row_splits=[0, 1, 3])
    """
    x, counts = value(tensor), value(lengths)
    width = apply_op("shape", {}, x)[0][1]
    places = apply_op("range", {}, 0 * width, width, 0 * width + 1)[0]
    return from_row_lengths(x[places < counts[:, None]], counts)


def row_lengths(rt: Any) -> Any:
    """Return the length of each row; mirrors ``tf.RaggedTensor.row_lengths``.

    Examples
    --------
    >>> hr.ragged.row_lengths(hr.RaggedTensor([1, 2, 3], [0, 1, 3]))
    array([1, 2])
    """
    return rt.row_lengths()


def value_rowids(rt: Any) -> Any:
    """Return for each value the number of its row; mirrors ``tf.RaggedTensor.value_rowids``.

    Examples
    --------
    >>> hr.ragged.value_rowids(hr.RaggedTensor([1, 2, 3], [0, 1, 3]))
    array([0, 1, 1])
    """
    lengths = rt.row_lengths()
    count = apply_op("shape", {}, lengths)[0][0]
    rows = apply_op("range", {}, 0 * count, count, 0 * count + 1)[0]
    return apply_op("repeat", {"axis": 0}, rows.astype(lengths.dtype), lengths)[0]


def to_tensor(rt: Any, default_value: Any = None) -> Any:
    """Return a dense array, rows filled up at the end; mirrors ``tf.RaggedTensor.to_tensor``.

    Parameters
    ----------
    rt
        The ragged value.
    default_value
        What is filled up with: zero, or empty text, by default.

    Examples
    --------
    >>> hr.ragged.to_tensor(hr.RaggedTensor([1, 2, 3], [0, 1, 3]))
    array([[1, 0],
           [2, 3]])
    """
    dense, splits = _parts(rt)
    fill = filler(rt.dtype, default_value)
    for ends in reversed(splits):
        dense = apply_op("ragged_to_dense", {}, dense, ends, fill)[0]
    return dense
