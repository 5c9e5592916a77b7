"""Rows of values as sets; mirrors ``tf.sets``.

The last axis of a tensor holds the members of sets, in any order and perhaps more than once. A
function that uses them runs as Python.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..errors import InvalidArgumentError
from .convert import convert
from .dtypes import int8, int16, int32, int64, string, uint8, uint16
from .kernels import python, static_shape
from .names import lookup
from .sparse import SparseTensor, SparseTensorValue

__all__ = ["difference", "intersection", "size", "union"]

_TYPES = (int8, int16, int32, int64, uint8, uint16, string)


def size(a: Any, validate_indices: bool = True) -> Any:
    """Return how many members each set has; mirrors ``tf.sets.size``.

    Raises
    ------
    TypeError
        `a` is not sparse, or of a dtype of which there are no sets.

    Examples
    --------
    >>> sets = tf.SparseTensor([[0, 0], [0, 1], [1, 0]], [7, 7, 8], [3, 2])
    >>> tf.sets.size(sets).numpy()
    array([1, 1, 0], dtype=int32)
    """
    if isinstance(a, SparseTensorValue):
        a = a.to_tensor()
    if not isinstance(a, SparseTensor):
        raise TypeError(f"Expected `SparseTensor`, got {a}.")
    _checked(a)
    rank = a.shape.rank
    outer = None if rank is None else tuple(a.shape)[:-1]

    def count(*parts: Any) -> Any:
        members = _members(parts, validate_indices)
        counts = np.zeros(tuple(parts[2][:-1]), np.int32)
        for place, found in members.items():
            counts[place] = len(found)
        return counts

    return python("sets.size", count, (outer, int32), a.indices, a.values, a.dense_shape)


def intersection(a: Any, b: Any, validate_indices: bool = True) -> Any:
    """Return what two sets have in common; mirrors ``tf.sets.intersection``.

    Parameters
    ----------
    a, b
        Tensors or sparse tensors of integers or strings, alike but for the last axis.
    validate_indices
        Check that the indices of sparse tensors are in order.

    Returns
    -------
    SparseTensor
        The members of each set in order.

    Raises
    ------
    TypeError
        The dtypes differ, or there are no sets of them.
    InvalidArgumentError
        The outer shapes differ.

    Examples
    --------
    >>> tf.sparse.to_dense(tf.sets.intersection([[1, 2, 3]], [[3, 4, 2]])).numpy()
    array([[2, 3]], dtype=int32)
    """
    return _combined("intersection", set.intersection, a, b, validate_indices)


def union(a: Any, b: Any, validate_indices: bool = True) -> Any:
    """Return what is in one of two sets; mirrors ``tf.sets.union``, else as `intersection`.

    Examples
    --------
    >>> tf.sparse.to_dense(tf.sets.union([[1, 2]], [[3, 2]])).numpy()
    array([[1, 2, 3]], dtype=int32)
    """
    return _combined("union", set.union, a, b, validate_indices)


def difference(a: Any, b: Any, aminusb: bool = True, validate_indices: bool = True) -> Any:
    """Return what only the first set has; mirrors ``tf.sets.difference``, else as `intersection`.

    Parameters
    ----------
    a, b, validate_indices
        As of `intersection`.
    aminusb
        False for what only the second has.

    Examples
    --------
    >>> tf.sparse.to_dense(tf.sets.difference([[1, 2]], [[3, 2]])).numpy()
    array([[1]], dtype=int32)
    """
    first, second = (a, b) if aminusb else (b, a)
    return _combined("difference", set.difference, first, second, validate_indices)


def _checked(x: Any) -> Any:
    if isinstance(x, SparseTensorValue):
        x = x.to_tensor()
    if not isinstance(x, SparseTensor):
        x = convert(x)
    if x.dtype not in _TYPES:
        names = ", ".join(kind.name for kind in _TYPES)
        raise TypeError(f"sets are of {names}; got {x.dtype.name}")
    return x


def _combined(name: str, rule: Callable[..., Any], a: Any, b: Any, validate: bool) -> Any:
    sides = [_checked(a), _checked(b)]
    first, second = sides
    if first.dtype is not second.dtype:
        raise TypeError(f"Types don't match, {first.dtype} vs {second.dtype}.")
    args: list[Any] = []
    ranks = []
    for x in sides:
        sparse = isinstance(x, SparseTensor)
        args += [x.indices, x.values, x.dense_shape] if sparse else [x]
        dims = x.shape.as_list() if sparse and x.shape.rank is not None else None
        ranks.append(len(dims) if dims is not None else len(static_shape(x) or ()) or None)
    split = 3 if isinstance(first, SparseTensor) else 1

    def combine(*parts: Any) -> list[Any]:
        return _pairs(rule, parts[:split], parts[split:], validate)

    rank = ranks[0] or ranks[1]
    outs = [((None, rank), int64), ((None,), first.dtype), ((rank,), int64)]
    return SparseTensor(*python(f"sets.{name}", combine, outs, *args))  # type: ignore[arg-type]


def _pairs(rule: Callable[..., Any], a: Any, b: Any, validate: bool) -> list[Any]:
    """Combine each pair of sets; returns indices, values and dense shape."""
    shapes = [tuple(int(d) for d in (x[2] if len(x) == 3 else x[0].shape)) for x in (a, b)]
    if min(map(len, shapes)) < 2 or shapes[0][:-1] != shapes[1][:-1]:
        raise InvalidArgumentError(
            "sets are compared along the last of two axes or more, and the other axes are alike; "
            f"got shapes {list(shapes[0])} and {list(shapes[1])}"
        )
    first, second = _members(a, validate), _members(b, validate)
    values = a[1] if len(a) == 3 else a[0]
    at: list[tuple[int, ...]] = []
    found: list[Any] = []
    widest = 0
    for place in sorted(first.keys() | second.keys()):
        members = sorted(rule(first.get(place, set()), second.get(place, set())))
        at += [(*place, k) for k in range(len(members))]
        found += members
        widest = max(widest, len(members))
    rank = len(shapes[0])
    made = np.empty(len(found), values.dtype)
    made[:] = found
    return [np.array(at, np.int64).reshape(-1, rank), made, np.array([*shapes[0][:-1], widest])]


def _members(parts: Any, validate: bool) -> dict[tuple[int, ...], set[Any]]:
    """Return the set at each place of the outer axes."""
    if len(parts) == 1:
        (array,) = parts
        if array.ndim < 1:
            return {}
        return {place: set(array[place].tolist()) for place in np.ndindex(array.shape[:-1])}
    indices, values, dims = parts
    if validate and len(indices):
        if ((indices < 0) | (indices >= dims)).any():
            raise InvalidArgumentError(f"indices of a sparse tensor of {list(dims)} are outside")
        flat = np.ravel_multi_index(tuple(indices.T), tuple(dims))
        if (np.diff(flat) <= 0).any():
            raise InvalidArgumentError(
                "indices of a sparse tensor are out of order; use tf.sparse.reorder"
            )
    made: dict[tuple[int, ...], set[Any]] = {}
    for index, value in zip(indices.tolist(), values.tolist(), strict=True):
        made.setdefault(tuple(index[:-1]), set()).add(value)
    return made


__getattr__ = lookup(__name__)
