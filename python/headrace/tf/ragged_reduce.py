"""Reductions of ragged tensors."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np

from .convert import is_symbol
from .ragged_tensor import RaggedTensor
from .tensor import raw, wrap

__all__ = ["reduce"]


def reduce(x: RaggedTensor, name: str, axis: Any, keepdims: bool) -> Any:
    """Reduce along the rows, along the values of each row, or all."""
    from . import reductions

    dense = getattr(reductions, name)
    if axis is None:
        return dense(x.flat_values)
    if is_symbol(x.row_splits):
        rows = x.row_splits._spec.shape
        out = (None if rows is None or rows[0] is None else rows[0] - 1,) if axis == 1 else (None,)
        return x.row_splits._tracer.unrecorded(name + " of ragged rows", out, x.dtype)
    axis = int(axis) if axis >= 0 else int(axis) + (x.shape.rank or 0)
    if axis > 1:
        return x.with_values(dense(x.values, axis - 1, keepdims))
    if axis == 0:
        padded = x.to_tensor()
        if name not in ("reduce_sum", "reduce_any"):
            raise NotImplementedError(f"{name} of a ragged tensor along axis 0")
        return dense(padded, 0, keepdims)
    inner = x.values
    if isinstance(inner, RaggedTensor):
        raise NotImplementedError(f"{name} of rows of rows along axis 1")
    array, ends = raw(inner), raw(x.row_splits)
    rows = [raw(dense(wrap(array[a:b]), 0, False)) for a, b in pairwise(ends)]
    made = np.asarray(rows, rows[0].dtype if rows else array.dtype)
    made = made.reshape(len(rows), *array.shape[1:])
    return wrap(made[:, None] if keepdims else made)
