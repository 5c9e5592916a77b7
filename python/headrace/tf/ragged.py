"""Ragged tensors; mirrors ``tf.ragged``."""

from __future__ import annotations

import builtins
from collections.abc import Callable
from typing import Any

import numpy as np

from .convert import convert
from .dtypes import as_dtype, int64
from .kernels import python
from .names import lookup
from .ragged_tensor import RaggedTensor, _sums
from .shapes import TensorShape
from .tensor import raw, wrap

__all__ = [
    "RaggedTensor",
    "boolean_mask",
    "constant",
    "map_flat_values",
    "range",
    "row_splits_to_segment_ids",
    "segment_ids_to_row_splits",
    "stack",
]


def constant(
    pylist: Any, dtype: Any = None, ragged_rank: int | None = None, inner_shape: Any = None,
    name: str | None = None, row_splits_dtype: Any = int64,
) -> Any:  # fmt: skip
    """Return a ragged tensor of nested lists; mirrors ``tf.ragged.constant``.

    Examples
    --------
    >>> tf.ragged.constant([["a"], []])
    <tf.RaggedTensor [[b'a'], []]>
    """
    kind = as_dtype(row_splits_dtype).dtype
    pylist = pylist.tolist() if isinstance(pylist, np.ndarray) else pylist
    depth = _depth(pylist)
    if ragged_rank is None:
        ragged_rank = max(
            0, depth - 1 - (len(TensorShape(inner_shape)) if inner_shape is not None else 0)
        )
    if ragged_rank == 0:
        return convert(pylist, dtype)
    splits = []
    level = list(pylist)
    for _ in builtins.range(ragged_rank):
        lengths = [len(item) for item in level]
        splits.append(_sums(np.asarray(lengths, kind)))
        level = [child for item in level for child in item]
    values: Any = (
        convert(level, dtype) if level else convert(np.zeros(0, as_dtype(dtype or "float32").dtype))
    )
    if inner_shape is not None:
        from .array_ops import reshape

        values = reshape(values, [-1, *TensorShape(inner_shape)])
    for found in reversed(splits):
        values = RaggedTensor.from_row_splits(values, found)
    return values


def _depth(value: Any) -> int:
    if isinstance(value, np.ndarray):
        return value.ndim
    if not isinstance(value, list | tuple):
        return 0
    return 1 + max((_depth(item) for item in value), default=0)


def stack(values: Any, axis: int = 0, name: str | None = None) -> Any:
    """Join tensors of differing lengths along a new axis; mirrors ``tf.ragged.stack``."""
    rows = [value if isinstance(value, RaggedTensor) else convert(value) for value in values]
    if axis != 0:
        raise NotImplementedError("tf.ragged.stack along another axis than 0")
    if any(x.shape.rank == 0 for x in rows):
        from .joining import stack as dense

        return dense(rows)
    from .ragged_index import concat

    counts = [int(raw(x.nrows())) if isinstance(x, RaggedTensor) else raw(x).shape[0] for x in rows]
    return RaggedTensor.from_row_lengths(concat(rows, 0), np.asarray(counts, np.int64))


def map_flat_values(op: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """Apply a function to the innermost values; mirrors ``tf.ragged.map_flat_values``."""
    from .ragged_index import aligned

    given = [*args, *kwargs.values()]
    first = next((arg for arg in given if isinstance(arg, RaggedTensor)), None)
    if first is None:
        return op(*args, **kwargs)
    plain = aligned(first, given)
    count = len(args)
    found = op(*plain[:count], **dict(zip(kwargs, plain[count:], strict=True)))
    return first.with_flat_values(found)


def boolean_mask(data: Any, mask: Any, name: str | None = None) -> Any:
    """Keep what a mask says, row by row; mirrors ``tf.ragged.boolean_mask``."""
    if isinstance(mask, RaggedTensor):
        keep = raw(mask.flat_values)
        sums = np.concatenate([[0], np.cumsum(keep)])
        splits = sums[raw(mask.row_splits)].astype(raw(mask.row_splits).dtype)
        return RaggedTensor(wrap(raw(data.flat_values)[keep]), wrap(splits))
    keep = raw(convert(mask))
    if isinstance(data, RaggedTensor):
        from .ragged_index import gather

        return gather(data, np.flatnonzero(keep))
    array = raw(convert(data))
    if keep.ndim == 1:
        return wrap(array[keep])
    return RaggedTensor.from_row_lengths(array[keep], keep.sum(-1).astype(np.int64).reshape(-1))


def range(
    starts: Any, limits: Any = None, deltas: Any = 1, dtype: Any = None, name: str | None = None,
    row_splits_dtype: Any = int64,
) -> Any:  # fmt: skip
    """Return a row of evenly spaced numbers for each start; mirrors ``tf.ragged.range``."""
    if limits is None:
        starts, limits = 0, starts
    kind = None if dtype is None else as_dtype(dtype)
    ends = [raw(convert(x, kind)) for x in (starts, limits, deltas)]
    rows = [np.arange(*each) for each in np.broadcast(*ends)]
    target = ends[0].dtype if limits is None else np.result_type(*(e.dtype for e in ends))
    lengths = np.asarray([len(row) for row in rows], as_dtype(row_splits_dtype).dtype)
    values = np.concatenate([np.zeros(0, target), *rows]).astype(target)
    return RaggedTensor.from_row_lengths(values, lengths)


def row_splits_to_segment_ids(splits: Any, name: str | None = None, out_type: Any = None) -> Any:
    """Return the row of each value; mirrors ``tf.ragged.row_splits_to_segment_ids``."""
    x = convert(splits)
    kind = as_dtype(out_type) if out_type is not None else x.dtype
    compute = lambda a: np.repeat(np.arange(len(a) - 1), np.diff(a)).astype(kind.dtype)  # noqa: E731
    return python("row_splits_to_segment_ids", compute, ((None,), kind), x)


def segment_ids_to_row_splits(
    segment_ids: Any, num_segments: Any = None, out_type: Any = None, name: str | None = None
) -> Any:
    """Return the row splits of sorted rows; mirrors ``tf.ragged.segment_ids_to_row_splits``."""
    x = convert(segment_ids)
    kind = as_dtype(out_type or int64)
    count = 0 if num_segments is None else int(num_segments)
    compute = lambda a: _sums(np.bincount(a, minlength=count).astype(kind.dtype))  # noqa: E731
    return python("segment_ids_to_row_splits", compute, ((None,), kind), x)


__getattr__ = lookup(__name__)
