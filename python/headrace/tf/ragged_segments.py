"""Values of ragged rows combined by number: what reductions and joins along ragged axes share."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..spec import RaggedTensorSpec
from .dtypes import DType, to_own
from .kernels import symbol_of
from .ragged_tensor import RaggedTensor
from .tensor import raw

__all__ = ["along", "stand_in"]

Fold = Callable[[Any, Any, int], Any]


def along(x: RaggedTensor, axis: int, fold: Fold) -> Any:
    """Combine values along one of the first two axes of `x`, which is known.

    `fold` combines the rows of a dense tensor that have the same number: it gets the tensor, the
    numbers and how many there are.
    """
    lengths = raw(x.row_lengths()).astype(np.int64)
    if axis == 1:
        return _combined(x.values, np.repeat(np.arange(lengths.size), lengths), lengths.size, fold)
    return _combined(x.values, _places(lengths), int(lengths.max(initial=0)), fold)


def _places(lengths: Any) -> Any:
    """Return the place of each value in its row."""
    begins = np.cumsum(lengths) - lengths
    return np.arange(int(lengths.sum())) - np.repeat(begins, lengths)


def _combined(values: Any, ids: Any, count: int, fold: Fold) -> Any:
    """Combine those of `values` that have the same number; rows of them place by place."""
    if not isinstance(values, RaggedTensor):
        return fold(values, ids, count)
    lengths = raw(values.row_lengths()).astype(np.int64)
    most = np.zeros(count, np.int64)
    np.maximum.at(most, ids, lengths)
    splits = np.concatenate(([0], np.cumsum(most)))
    places = splits[np.repeat(ids, lengths)] + _places(lengths)
    return RaggedTensor.from_row_splits(
        _combined(values.values, places, int(splits[-1]), fold), splits
    )


def stand_in(x: RaggedTensor, name: str, axis: int, dtype: DType) -> Any:
    """Return a symbol for what only a run can combine along an axis; None if `x` is known."""
    symbol = (
        x._symbol if x._symbol is not None else symbol_of((x.flat_values, *x.nested_row_splits))
    )
    if symbol is None:
        return None
    what = f"{name} along axis {axis} of a ragged tensor"
    ragged = x.ragged_rank - 1 if axis <= x.ragged_rank else x.ragged_rank
    dims: Any = list(x.shape)
    if axis == 0 and len(dims) > 1:
        dims[1] = None
    del dims[axis]
    if ragged == 0:
        return symbol._tracer.unrecorded(what, tuple(dims), dtype)
    spec = RaggedTensorSpec(tuple(dims), to_own(dtype), ragged, np.int64)
    return symbol._tracer.stand_in(what, spec)
