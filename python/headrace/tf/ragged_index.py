"""Indexing, joining and lining up of ragged tensors."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np

from ..errors import InvalidArgumentError
from ..spec import RaggedTensorSpec
from .convert import convert, is_symbol
from .kernels import symbol_of
from .nest import flatten
from .operators import _part
from .ragged_tensor import RaggedTensor
from .tensor import raw, wrap

__all__ = ["aligned", "concat", "gather", "getitem"]


def getitem(x: RaggedTensor, key: Any) -> Any:
    """Return rows, or parts of each row.

    Raises
    ------
    ValueError
        One position of rows of differing lengths.
    """
    parts = [_part(part) for part in (key if isinstance(key, tuple) else (key,))]
    if not parts:
        return x
    first, rest = parts[0], parts[1:]
    splits = x.row_splits
    if is_symbol(splits) or is_symbol(first):
        return _symbolic(x, first, rest)
    if first is Ellipsis:
        return (
            x
            if not rest
            else getitem(x, (*[slice(None)] * ((x.shape.rank or 0) - len(rest)), *rest))
        )
    if first is None:
        return x._expand_dims(0) if not rest else getitem(x._expand_dims(0), (slice(None), *rest))
    ends = raw(splits)
    count = len(ends) - 1
    if isinstance(first, int):
        if not -count <= first < count:
            raise InvalidArgumentError(f"slice index {first} of dimension 0 out of bounds.")
        row = first % count
        found = x.values[int(ends[row]) : int(ends[row + 1])]
        return found[tuple(rest)] if rest else found
    rows = gather(x, np.arange(count)[first])
    if not rest:
        return rows
    if isinstance(rest[0], int):
        raise ValueError("Cannot index into an inner ragged dimension.")
    if rest[0] is Ellipsis and len(rest) == 1:
        return rows
    if not isinstance(rest[0], slice):
        raise ValueError(f"{rest[0]!r} does not index the rows of a ragged tensor")
    return _inside(rows, rest[0], rest[1:])


def _symbolic(x: RaggedTensor, first: Any, rest: list[Any]) -> Any:
    if isinstance(first, int) or is_symbol(first):
        ends = x.row_splits
        found = x.values[ends[first] : ends[first + 1]]
        return found[tuple(rest)] if rest else found
    if isinstance(first, slice) and first == slice(None) and not rest:
        return x
    tracer = x.row_splits._tracer if is_symbol(x.row_splits) else first._tracer
    return tracer.refuse("slices the rows of a ragged tensor")


def _inside(x: RaggedTensor, part: slice, rest: list[Any]) -> Any:
    """Slice each row."""
    ends = raw(x.row_splits)
    chosen = [np.arange(a, b)[part] for a, b in pairwise(ends)]
    at = np.concatenate([np.zeros(0, np.int64), *chosen]).astype(np.int64)
    inner = x.values
    values = gather(inner, at) if isinstance(inner, RaggedTensor) else wrap(raw(inner)[at])
    if rest:
        values = values[(slice(None), *rest)]
    lengths = np.asarray([len(k) for k in chosen], ends.dtype)
    return RaggedTensor.from_row_lengths(values, lengths)


def gather(x: RaggedTensor, indices: Any) -> Any:
    """Return some rows."""
    if is_symbol(x.row_splits) or is_symbol(indices):
        tracer = x.row_splits._tracer if is_symbol(x.row_splits) else indices._tracer
        return tracer.refuse("gathers rows of a ragged tensor")
    rows = raw(convert(indices))
    ends = raw(x.row_splits)
    lengths = np.diff(ends)[rows]
    starts = ends[:-1][rows]
    pieces = [
        np.arange(a, a + n) for a, n in zip(starts.reshape(-1), lengths.reshape(-1), strict=True)
    ]
    at = np.concatenate([np.zeros(0, np.int64), *pieces]).astype(np.int64)
    inner = x.values
    values = gather(inner, at) if isinstance(inner, RaggedTensor) else wrap(raw(inner)[at])
    made = RaggedTensor.from_row_lengths(values, lengths.reshape(-1).astype(ends.dtype))
    for size in reversed(rows.shape[1:]):
        made = RaggedTensor.from_uniform_row_length(made, size)
    return made


def concat(values: Any, axis: int) -> Any:
    """Join along the rows, or row by row."""
    tensors = [x if isinstance(x, RaggedTensor) else convert(x) for x in values]
    found = symbol_of(tuple(flatten(tensors, expand_composites=True)))
    if found is not None:
        first = next((x for x in tensors if isinstance(x, RaggedTensor)), None)
        if first is None:
            return found._tracer.refuse("joins rows of a ragged tensor")
        own = first._own_spec()
        dims = None if own.shape is None else (None,) * (own.ragged_rank + 1)
        rest = (own.shape or ())[own.ragged_rank + 1 :]
        shape: Any = None if dims is None else dims + rest
        spec = RaggedTensorSpec(shape, own.dtype, own.ragged_rank, own.row_splits_dtype)
        return found._tracer.stand_in("concat of ragged tensors", spec)
    if not any(isinstance(x, RaggedTensor) for x in tensors):
        dense = [raw(x) for x in tensors]
        if axis == 0 and len({a.shape[1:] for a in dense}) == 1:
            return wrap(np.concatenate(dense))
        tensors = [
            x if isinstance(x, RaggedTensor) or raw(x).ndim < 2 else RaggedTensor.from_tensor(x)
            for x in tensors
        ]
    ragged = [x if isinstance(x, RaggedTensor) else RaggedTensor.from_tensor(x) for x in tensors]
    axis = axis if axis >= 0 else axis + (ragged[0].shape.rank or 0)
    if axis > 1:
        joined = concat([x.values for x in ragged], axis - 1)
        return ragged[0].with_values(joined)
    if axis == 0:
        offsets = np.cumsum([0, *(int(raw(x.row_splits)[-1]) for x in ragged[:-1])])
        ends = [raw(x.row_splits)[1:] + k for x, k in zip(ragged, offsets, strict=True)]
        splits = np.concatenate([raw(ragged[0].row_splits)[:1], *ends])
        return RaggedTensor(concat([x.values for x in ragged], 0), wrap(splits))
    order = np.arange(len(raw(ragged[0].row_splits)) - 1)
    whole = concat(ragged, 0)
    count = len(order)
    interleaved = np.stack([order + k * count for k in range(len(ragged))], 1).reshape(-1)
    rows = gather(whole, interleaved)
    lengths = sum(np.diff(raw(x.row_splits)) for x in ragged)
    return RaggedTensor.from_row_lengths(rows.values, np.asarray(lengths))


def aligned(first: RaggedTensor, args: list[Any]) -> list[Any]:
    """Return the innermost values of ragged arguments, other tensors spread over the rows.

    Raises
    ------
    InvalidArgumentError
        The rows differ.
    """
    result = []
    for arg in args:
        if isinstance(arg, RaggedTensor):
            if not is_symbol(first.row_splits):
                for a, b in zip(first.nested_row_splits, arg.nested_row_splits, strict=True):
                    if not np.array_equal(raw(a), raw(b)):
                        raise InvalidArgumentError("arguments have rows of other lengths")
            result.append(arg.flat_values)
        elif callable(arg) or arg is None or isinstance(arg, str | bytes | bool | int | float):
            result.append(arg)
        else:
            dense = convert(arg)
            result.append(dense if dense.shape.rank in (0, None) else _spread(first, dense))
    return result


def _spread(first: RaggedTensor, dense: Any) -> Any:
    """Repeat the rows of a dense tensor for the values of each row."""
    array = raw(dense)
    if array.ndim == 1 and array.shape[0] == 1:
        return dense
    if array.ndim >= 2 and array.shape[1] == 1 and array.shape[0] == len(raw(first.row_splits)) - 1:
        return wrap(np.repeat(array[:, 0], np.diff(raw(first.row_splits)), 0))
    return dense
