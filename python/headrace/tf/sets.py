"""Rows of values as sets; mirrors ``tf.sets``.

The last axis of a tensor holds the members of sets, in any order and perhaps more than once.
"""

from __future__ import annotations

from typing import Any

from .convert import convert
from .dtypes import int8, int16, int32, int64, string, uint8, uint16
from .kernels import run, static_shape
from .names import lookup
from .sparse_tensor import SparseTensor, SparseTensorValue, made, parts

__all__ = ["difference", "intersection", "size", "union"]

_TYPES = (int8, int16, int32, int64, uint8, uint16, string)


def size(a: Any, validate_indices: bool = True) -> Any:
    """Return how many members each set has; mirrors ``tf.sets.size``.

    Raises
    ------
    TypeError
        `a` is not sparse, or of a dtype of which there are no sets.
    InvalidArgumentError
        `a` has one axis, or indices that are not in order.

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
    return run("set_size", parts(a), (outer, int32), validate=bool(validate_indices))


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
    return _combined("intersection", a, b, validate_indices)


def union(a: Any, b: Any, validate_indices: bool = True) -> Any:
    """Return what is in one of two sets; mirrors ``tf.sets.union``, else as `intersection`.

    Examples
    --------
    >>> tf.sparse.to_dense(tf.sets.union([[1, 2]], [[3, 2]])).numpy()
    array([[1, 2, 3]], dtype=int32)
    """
    return _combined("union", a, b, validate_indices)


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
    return _combined("difference", first, second, validate_indices)


def _checked(x: Any) -> Any:
    if isinstance(x, SparseTensorValue):
        x = x.to_tensor()
    if not isinstance(x, SparseTensor):
        x = convert(x)
    if x.dtype not in _TYPES:
        names = ", ".join(kind.name for kind in _TYPES)
        raise TypeError(f"sets are of {names}; got {x.dtype.name}")
    return x


def _combined(operation: str, a: Any, b: Any, validate: bool) -> Any:
    first, second = _checked(a), _checked(b)
    if first.dtype is not second.dtype:
        raise TypeError(f"Types don't match, {first.dtype} vs {second.dtype}.")
    sides = (first, second)
    return made(
        "set_operation",
        (*parts(first), *parts(second)),
        first.dtype,
        _rank(first) or _rank(second),
        operation=operation,
        sparse=[isinstance(x, SparseTensor) for x in sides],
        validate=bool(validate),
    )


def _rank(x: Any) -> int | None:
    if isinstance(x, SparseTensor):
        return x.shape.rank
    dims = static_shape(x)
    return None if dims is None else len(dims)


__getattr__ = lookup(__name__)
