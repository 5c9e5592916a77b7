"""`tf.strings.reduce_join` of ragged tensors: along any axis, several of them, or all.

Along the innermost axis the engine joins. Along another one rows are joined place by place: row
numbers say which strings stand in the same place, and the rows of a result are as long as the
longest of those that it is made of.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..spec import RaggedTensorSpec
from .array_ops import expand_dims, reshape
from .convert import is_symbol
from .dtypes import string, to_own
from .ragged_tensor import RaggedTensor
from .tensor import raw
from .text_ops import innermost

__all__ = ["ragged_join"]


def ragged_join(inputs: RaggedTensor, axes: list[int] | None, keepdims: bool, mark: Any) -> Any:
    """Join strings along axes, the last one first.

    Raises
    ------
    ValueError
        There is no such axis.
    """
    from .strings import reduce_join

    rank = inputs.shape.rank or inputs.ragged_rank + 1
    if axes is None:
        whole = reduce_join(inputs.flat_values, separator=mark)
        return reshape(whole, [1] * rank) if keepdims else whole
    for axis in axes:
        if not -rank <= axis < rank:
            raise ValueError(f"axis={axis} out of bounds: expected {-rank}<=axis<{rank}")
    joined: Any = inputs
    for axis in sorted({axis % rank for axis in axes}, reverse=True):
        if isinstance(joined, RaggedTensor):
            joined = _along(joined, axis, mark)
        else:
            joined = reduce_join(joined, axis=axis, separator=mark)
        joined = expand_dims(joined, axis) if keepdims else joined
    return joined


def _along(x: RaggedTensor, axis: int, mark: Any) -> Any:
    rank = x.shape.rank or x.ragged_rank + 1
    if axis == rank - 1 and rank == x.ragged_rank + 1:
        return innermost("reduce_join", x, string, axis=[-1], keepdims=False, separator=mark)
    symbols = x._symbol is not None or is_symbol(x.row_splits) or is_symbol(x.flat_values)
    if symbols:
        return _stand_in(x, rank, axis)
    if axis > 1:
        inner = x.values
        if isinstance(inner, RaggedTensor):
            return x.with_values(_along(inner, axis - 1, mark))
        from .strings import reduce_join

        return x.with_values(reduce_join(inner, axis=axis - 1, separator=mark))
    lengths = raw(x.row_lengths()).astype(np.int64)
    if axis == 1:
        return _segments(x.values, np.repeat(np.arange(lengths.size), lengths), lengths.size, mark)
    return _segments(x.values, _places(lengths), int(lengths.max(initial=0)), mark)


def _places(lengths: Any) -> Any:
    """Return the place of each value in its row."""
    begins = np.cumsum(lengths) - lengths
    return np.arange(int(lengths.sum())) - np.repeat(begins, lengths)


def _segments(values: Any, ids: Any, count: int, mark: Any) -> Any:
    """Join those of `values` that have the same number; rows of them place by place."""
    from .strings import unsorted_segment_join

    if not isinstance(values, RaggedTensor):
        return unsorted_segment_join(values, ids, count, mark)
    lengths = raw(values.row_lengths()).astype(np.int64)
    most = np.zeros(count, np.int64)
    np.maximum.at(most, ids, lengths)
    splits = np.concatenate(([0], np.cumsum(most)))
    places = splits[np.repeat(ids, lengths)] + _places(lengths)
    return RaggedTensor.from_row_splits(
        _segments(values.values, places, int(splits[-1]), mark), splits
    )


def _stand_in(x: RaggedTensor, rank: int, axis: int) -> Any:
    """Return a symbol for what only a run can join."""
    symbol = x._symbol if x._symbol is not None else x.row_splits
    symbol = symbol if x._symbol is not None or is_symbol(symbol) else x.flat_values
    name = f"reduce_join along axis {axis} of a ragged tensor"
    ragged = x.ragged_rank - 1 if axis <= x.ragged_rank else x.ragged_rank
    dims = tuple(size for k, size in enumerate(x.shape) if k != axis)
    if axis == 0:
        dims = (None, *dims[1:])
    if ragged == 0:
        return symbol._tracer.unrecorded(name, dims, string)
    spec = RaggedTensorSpec(dims, to_own(string), ragged, np.int64)
    return symbol._tracer.stand_in(name, spec)
