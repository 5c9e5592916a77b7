"""Reductions of ragged tensors."""

from __future__ import annotations

from typing import Any

from ..errors import InvalidArgumentError
from .casting import cast
from .dtypes import bool as bool_
from .dtypes import int32
from .ragged_segments import along, stand_in
from .ragged_tensor import RaggedTensor
from .tensor import raw

__all__ = ["reduce"]

# What a reduction is called where the number of each value is given.
_SEGMENTS = {
    "reduce_sum": "unsorted_segment_sum",
    "reduce_prod": "unsorted_segment_prod",
    "reduce_max": "unsorted_segment_max",
    "reduce_min": "unsorted_segment_min",
}
_OF_TRUTH = {"reduce_any": "reduce_max", "reduce_all": "reduce_min"}


def reduce(x: RaggedTensor, name: str, axis: Any, keepdims: bool) -> Any:
    """Reduce along axes, or all.

    Raises
    ------
    ValueError
        There is no such axis.
    """
    from . import reductions
    from .array_ops import reshape, size
    from .convert import convert

    dense = getattr(reductions, name)
    rank = x.shape.rank or x.ragged_rank + 1
    if axis is None:
        found = dense(x.flat_values)
        if name == "reduce_mean" and x.dtype.is_integer:
            found = reductions.reduce_sum(x.flat_values) / size(x.flat_values, x.dtype)
        return reshape(found, [1] * rank) if keepdims else found
    axes = raw(convert(axis, int32 if isinstance(axis, list | tuple) else None)).reshape(-1)
    for k in axes.tolist():
        if not -rank <= k < rank:
            raise InvalidArgumentError(f"axis={k} out of bounds: expected {-rank}<=axis<{rank}")
    places = sorted({k % rank for k in axes.tolist()}, reverse=True)
    if name in _OF_TRUTH:
        found = reduce(_with(x, cast(x.flat_values, int32)), _OF_TRUTH[name], places, keepdims)
        return _mapped(lambda values: cast(values > 0, bool_), found)
    if name == "reduce_mean":
        return _mean(x, places, keepdims)
    found = x
    for place in places:
        if isinstance(found, RaggedTensor):
            found = _along(found, name, place, keepdims)
        else:
            found = dense(found, place, keepdims)
    return found


def _with(x: RaggedTensor, values: Any) -> RaggedTensor:
    return x.with_flat_values(values)


def _mapped(function: Any, *values: Any) -> Any:
    if isinstance(values[0], RaggedTensor):
        return values[0].with_flat_values(function(*(x.flat_values for x in values)))
    return function(*values)


def _mean(x: RaggedTensor, places: list[int], keepdims: bool) -> Any:
    from .creation import ones_like

    total = reduce(x, "reduce_sum", places, keepdims)
    count = reduce(_with(x, ones_like(x.flat_values)), "reduce_sum", places, keepdims)
    return _mapped(lambda a, b: a / b, total, count)


def _along(x: RaggedTensor, name: str, axis: int, keepdims: bool) -> Any:
    from . import reductions
    from .array_ops import expand_dims

    if axis > 1:
        return x.with_values(getattr(reductions, name)(x.values, axis - 1, keepdims))
    found = _columns(x, name) if axis == 0 else _rows(x, name)
    if found is None:
        found = stand_in(x, name, axis, x.dtype)
    if found is None:
        found = along(x, axis, getattr(reductions, _SEGMENTS[name]))
    return expand_dims(found, axis) if keepdims else found


def _rows(x: RaggedTensor, name: str) -> Any:
    """Reduce along the values of each row by the row of each; None if it cannot be done so."""
    from . import reductions

    rows = x.shape[0]
    if isinstance(x.values, RaggedTensor) or rows is None:
        return None
    return getattr(reductions, _SEGMENTS[name])(x.values, x.value_rowids(), rows)


def _columns(x: RaggedTensor, name: str) -> Any:
    """Reduce along the rows of values; None if they have rows of their own."""
    from . import reductions

    if isinstance(x.values, RaggedTensor):
        return None
    least, most = (0, 0) if x.dtype.is_complex else (x.dtype.min, x.dtype.max)
    empty = {"reduce_sum": 0, "reduce_prod": 1, "reduce_max": least, "reduce_min": most}[name]
    return getattr(reductions, name)(x.to_tensor(x.dtype.as_numpy_dtype(empty)), 0, False)
