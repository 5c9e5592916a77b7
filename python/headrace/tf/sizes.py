"""Shapes given as arguments: numbers, tensors and symbols mixed."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np

from ..errors import InvalidArgumentError
from .convert import is_symbol
from .kernels import Dims, DTypeError, static_shape
from .shapes import Dimension, TensorShape
from .tensor import Tensor, raw

__all__ = ["axis_number", "known_sizes", "number", "sizes_of", "vector"]


def sizes_of(shape: Any) -> list[Any] | None:
    """Return a shape argument as a list of ints and symbols.

    None where even the number of sizes is known in a run only.

    Raises
    ------
    ValueError
        A size is not known at all.
    """
    if is_symbol(shape):
        if shape._static is not None:
            parts = shape._static
            return [shape[k] if part is None else part for k, part in enumerate(parts)]
        dims = shape._spec.shape
        if dims == ():
            return [shape]
        if dims is None or dims[0] is None:
            return None
        return [shape[k] for k in range(dims[0])]
    if type(shape) is Tensor or isinstance(shape, np.ndarray | np.generic):
        return [number(size) for size in raw(shape).reshape(-1)]
    if isinstance(shape, TensorShape):
        if not shape.is_fully_defined():
            raise ValueError(f"Cannot convert a partially known TensorShape {shape} to a Tensor.")
        return list(shape)
    if not isinstance(shape, list | tuple | range):
        return [number(shape)]
    return [number(_packed(size)) for size in shape]


def _packed(size: Any) -> Any:
    """Return a tensor of a list as TensorFlow packs it: of floats, an int32."""
    if (is_symbol(size) or type(size) is Tensor) and size.dtype.is_floating:
        from .casting import cast

        return cast(size, "int32")
    return size


def number(size: Any) -> Any:
    """Return one size as an int, or the symbol it is."""
    if is_symbol(size):
        return size
    if isinstance(size, Dimension):
        size = size.value
    if type(size) is Tensor:
        size = raw(size)
    if isinstance(size, np.ndarray) and size.size == 1 and size.ndim:
        size = size.reshape(())[()]
    if size is None:
        raise ValueError("a size is needed here, got None; tf.shape(x) gives it in a run")
    try:
        return operator.index(size)
    except TypeError:
        raise DTypeError(f"Cannot convert {size!r} to EagerTensor of dtype int32") from None


def axis_number(axis: Any) -> Any:
    """Return an axis as an int, or the symbol it is; a list of one will do, as in TensorFlow."""
    if isinstance(axis, list | tuple):
        if len(axis) != 1:
            raise InvalidArgumentError(f"axis must be a tensor with a single value, got {axis}")
        (axis,) = axis
    return number(axis)


def known_sizes(sizes: list[Any] | None) -> Dims:
    """Return sizes as far as they are known: None for symbols and -1."""
    if sizes is None:
        return None
    return tuple(None if is_symbol(size) or size == -1 else size for size in sizes)


def vector(sizes: list[Any]) -> Any:
    """Return sizes as plain ints; None if one of them is a symbol."""
    return None if any(map(is_symbol, sizes)) else sizes


def rank_of(x: Any) -> int | None:
    """Return the number of axes of a tensor or symbol, if known."""
    dims = static_shape(x)
    return None if dims is None else len(dims)
