"""`tf.strings.reduce_join` of ragged tensors: along any axis, several of them, or all.

Along the innermost axis the engine joins. Along another one rows are joined place by place: row
numbers say which strings stand in the same place, and the rows of a result are as long as the
longest of those that it is made of.
"""

from __future__ import annotations

from typing import Any

from .array_ops import expand_dims, reshape
from .casting import cast
from .dtypes import int32, string
from .ragged_segments import along, stand_in
from .ragged_tensor import RaggedTensor
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
        x = _without_front(x) if mark else x
        return innermost("reduce_join", x, string, axis=[-1], keepdims=False, separator=mark)
    found = stand_in(x, "reduce_join", axis, string)
    if found is not None:
        return found
    from .strings import reduce_join, unsorted_segment_join

    if axis > 1:
        inner = x.values
        if isinstance(inner, RaggedTensor):
            return x.with_values(_along(inner, axis - 1, mark))
        return x.with_values(reduce_join(inner, axis=axis - 1, separator=mark))
    return along(x, axis, lambda *parts: unsorted_segment_join(parts[0], parts[1], parts[2], mark))


def _without_front(x: RaggedTensor) -> RaggedTensor:
    """Leave out empty strings at the front of rows: TensorFlow puts no separator behind them."""
    from .ragged import boolean_mask
    from .reductions import cumsum
    from .strings import length

    if isinstance(x.values, RaggedTensor):
        return x.with_values(_without_front(x.values))
    filled = x.with_values(cast(length(x.values) > 0, int32))
    found: RaggedTensor = boolean_mask(x, cumsum(filled, 1) > 0)
    return found
