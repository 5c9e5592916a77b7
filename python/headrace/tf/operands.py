"""The operands of ops on two tensors: brought to one dtype and shape as TensorFlow does."""

from __future__ import annotations

import builtins
from collections.abc import Callable
from typing import Any

from .convert import convert, is_dense
from .dtypes import DType
from .kernels import DTypeError, broadcast, static_shape

__all__ = ["check_dtype", "common_shape", "composite", "is_composite", "operands"]


def composite(function: Callable[..., Any], *args: Any) -> Any:
    """Apply `function` to the values of a ragged or sparse argument; None if there is none."""
    for arg in args:
        mapper = getattr(type(arg), "_map_values", None)
        if mapper is not None:
            return mapper(function, *args)
    return None


def is_composite(*args: Any) -> builtins.bool:
    """Tell whether there is a ragged or sparse value among arguments."""
    return any(getattr(arg, "_is_composite", False) for arg in args)


# A Python number takes the dtype of the tensor behind it: what TensorFlow's own functions do that
# are not written in Python.
_OF_THE_TENSOR = frozenset(
    {"Sub", "Mul", "FloorMod", "Xlogy", "Xdivy", "Atan2", "MulNoNan", "SquaredDifference"}
)


def operands(op: str, x: Any, y: Any, *, strict: builtins.bool = False) -> tuple[Any, Any]:
    """Return two operands as tensors of one dtype.

    Parameters
    ----------
    op
        TensorFlow's name, for messages.
    x, y
        The first that is a tensor decides the dtype; else `x` does.
    strict
        Whether a number of another kind is a TypeError.

    Raises
    ------
    DTypeError
        The dtypes differ.
    """
    if not is_dense(x) and is_dense(y):
        number = op in _OF_THE_TENSOR and isinstance(x, builtins.int | builtins.float)
        x = convert(x, y.dtype) if strict or number else x
    x = convert(x)
    y = y if is_dense(y) else _with_dtype(y, x.dtype, strict)
    if x.dtype is not y.dtype:
        raise DTypeError(
            f"cannot compute {op} as input #1(zero-based) was expected to be a {_short(x.dtype)} "
            f"tensor but is a {_short(y.dtype)} tensor; tf.cast brings one to the other's dtype"
        )
    return x, y


def _with_dtype(value: Any, dtype: DType, strict: builtins.bool) -> Any:
    return convert(value, dtype) if strict else convert(value, None, dtype)


def _short(dtype: DType) -> str:
    return {"float32": "float", "float64": "double", "float16": "half"}.get(dtype.name, dtype.name)


def check_dtype(op: str, x: Any, *, allowed: builtins.bool) -> None:
    """Raise TensorFlow's error for a dtype that an op does not take."""
    if not allowed:
        raise DTypeError(
            f"Value for attr 'T' of {x.dtype.name} is not in the list of allowed values of {op}"
        )


def common_shape(x: Any, y: Any) -> Any:
    """Return the shape to which two tensors are broadcast, as far as it is known."""
    return broadcast(static_shape(x), static_shape(y))
