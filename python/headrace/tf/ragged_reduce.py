"""Reductions of ragged tensors."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np

from .dtypes import bool as bool_
from .dtypes import int32
from .kernels import static_shape, symbol_of
from .ragged_tensor import RaggedTensor
from .tensor import raw, wrap

__all__ = ["reduce"]


def reduce(x: RaggedTensor, name: str, axis: Any, keepdims: bool) -> Any:
    """Reduce along the rows, along the values of each row, or all."""
    from . import reductions

    dense = getattr(reductions, name)
    if axis is None:
        return dense(x.flat_values)
    axis = int(axis) if axis >= 0 else int(axis) + (x.shape.rank or 0)
    if axis > 1:
        return x.with_values(dense(x.values, axis - 1, keepdims))
    symbol = symbol_of((x.flat_values, *x.nested_row_splits))
    if axis == 0:
        if name != "reduce_sum" and (name != "reduce_any" or symbol is not None):
            raise NotImplementedError(f"{name} of a ragged tensor along axis 0")
        return dense(x.to_tensor(), 0, keepdims)
    made = _of_rows(x, name, keepdims)
    if made is not None:
        return made
    rows = static_shape(x.row_splits)
    if symbol is not None:
        out = (None if rows is None or rows[0] is None else rows[0] - 1,)
        return symbol._tracer.unrecorded(name + " of ragged rows", out, x.dtype)
    inner = x.values
    if isinstance(inner, RaggedTensor):
        raise NotImplementedError(f"{name} of rows of rows along axis 1")
    array, ends = raw(inner), raw(x.row_splits)
    found = [raw(dense(wrap(array[a:b]), 0, False)) for a, b in pairwise(ends)]
    whole = np.asarray(found, found[0].dtype if found else array.dtype)
    whole = whole.reshape(len(found), *array.shape[1:])
    return wrap(whole[:, None] if keepdims else whole)


# What a reduction is called where the row of each value is given.
_SEGMENTS = {
    "reduce_sum": "unsorted_segment_sum",
    "reduce_prod": "unsorted_segment_prod",
    "reduce_max": "unsorted_segment_max",
    "reduce_min": "unsorted_segment_min",
}
_OF_TRUTH = {"reduce_any": "reduce_max", "reduce_all": "reduce_min"}


def _of_rows(x: RaggedTensor, name: str, keepdims: bool) -> Any:
    """Reduce along the values of each row by the row of each; None if it cannot be done so."""
    from . import reductions
    from .array_ops import expand_dims
    from .casting import cast

    rows = x.row_splits.shape[0]
    if isinstance(x.values, RaggedTensor) or rows is None:
        return None
    if name in _OF_TRUTH:
        found = _of_rows(x.with_values(cast(x.values, int32)), _OF_TRUTH[name], keepdims)
        return cast(found > 0, bool_)
    if name == "reduce_mean" and x.dtype.is_floating and x.values.shape.rank == 1:
        found = _of_rows(x, "reduce_sum", False) / cast(x.row_lengths(), x.dtype)
    elif name in _SEGMENTS and (x.dtype.is_floating or x.dtype.is_integer):
        segments = getattr(reductions, _SEGMENTS[name])
        found = segments(x.values, x.value_rowids(), rows - 1)
    else:
        return None
    return expand_dims(found, 1) if keepdims else found
