"""Changes of dtype; `cast`, `saturate_cast`, `bitcast`."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..errors import UnimplementedError
from .convert import convert
from .dtypes import as_dtype, string
from .kernels import run, static_shape

__all__ = ["bitcast", "cast", "saturate_cast"]


def cast(x: Any, dtype: Any, name: str | None = None) -> Any:
    """Convert to another dtype; mirrors ``tf.cast``.

    Floats are cut towards zero. Sparse and ragged values keep their form.

    Raises
    ------
    UnimplementedError
        From or to strings.

    Examples
    --------
    >>> tf.cast([1.9, -1.9], tf.int32).numpy()
    array([ 1, -1], dtype=int32)
    """
    target = as_dtype(dtype)
    mapper = getattr(type(x), "_map_values", None)
    if mapper is not None:
        return mapper(lambda values: cast(values, target), x)
    x = convert(x)
    if x.dtype is target:
        return x
    if string in (x.dtype, target):
        raise UnimplementedError(f"Cast {x.dtype.name} to {target.name} is not supported")
    if x.dtype.is_complex and not target.is_complex:
        x = run("real", (x,), (static_shape(x), x.dtype.real_dtype))
        if x.dtype is target:
            return x
    return run("cast", (x,), (static_shape(x), target), dtype=target.dtype)


def saturate_cast(value: Any, dtype: Any, name: str | None = None) -> Any:
    """Convert, values out of range to the nearest end of it; mirrors ``tf.saturate_cast``.

    Examples
    --------
    >>> tf.saturate_cast([-1, 300], tf.uint8).numpy()
    array([  0, 255], dtype=uint8)
    """
    from .elementwise import clip_by_value

    value, target = convert(value), as_dtype(dtype)
    if not target.is_integer and not target.is_floating:
        return cast(value, target)
    low = max(_number(value.dtype.min), _number(target.min))
    high = min(_number(value.dtype.max), _number(target.max))
    if value.dtype.is_floating and target.is_integer:
        # The largest float that is still inside of the integers' range.
        kind = value.dtype.dtype.type
        top = kind(high)
        high = float(top if int(top) <= int(high) else np.nextafter(top, kind(0)))
    return cast(clip_by_value(value, _of(value, low), _of(value, high)), target)


def _number(value: Any) -> Any:
    return value.item() if isinstance(value, np.generic) else value


def _of(like: Any, number: Any) -> Any:
    return like.dtype.dtype.type(number)


def bitcast(input: Any, type: Any, name: str | None = None) -> Any:
    """Read the same bytes as another dtype; mirrors ``tf.bitcast``."""
    x, target = convert(input), as_dtype(type)
    shape = static_shape(x)
    from_size, to_size = x.dtype.size, target.size
    out: Any = shape
    if shape is not None and from_size > to_size:
        out = (*shape, from_size // to_size)
    elif shape is not None and from_size < to_size:
        out = shape[:-1]

    return run("bitcast", (x,), (out, target), dtype=target.dtype)
