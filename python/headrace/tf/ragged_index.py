"""Indexing, joining and lining up of ragged tensors."""

from __future__ import annotations

import math
from itertools import pairwise
from typing import Any

import numpy as np

from ..errors import InvalidArgumentError
from .arithmetic import add_n, maximum, minimum
from .array_ops import reshape, size
from .casting import cast
from .convert import convert, is_symbol
from .creation import range as numbers
from .creation import zeros_like
from .gathering import gather as pick
from .gathering import where
from .joining import concat as join
from .joining import repeat, stack
from .kernels import static_shape, symbol_of
from .operators import _part
from .ragged_tensor import RaggedTensor
from .reductions import cumsum, reduce_sum
from .tensor import raw, wrap

__all__ = ["aligned", "concat", "gather", "getitem", "spans", "values_at"]


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
        if isinstance(first, int):
            first -= first < 0  # there is one end more than there are rows
        else:
            row = cast(first, ends.dtype)
            first = where(row < convert(0, ends.dtype), row + x.nrows(), row)
        found = x.values[ends[first] : ends[first + 1]]
        return found[tuple(rest)] if rest else found
    if not isinstance(first, slice) or (rest and not isinstance(rest[0], slice)):
        tracer = x.row_splits._tracer if is_symbol(x.row_splits) else first._tracer
        return tracer.refuse("slices a ragged tensor by other things than numbers and slices")
    if first != slice(None):
        x = gather(x, numbers(x.nrows())[first])
    return _inside(x, rest[0], rest[1:]) if rest else x


def _inside(x: RaggedTensor, part: slice, rest: list[Any]) -> Any:
    """Slice each row."""
    ends = x.row_splits
    lengths = ends[1:] - ends[:-1]
    step = 1 if part.step is None else part.step
    if not isinstance(step, int) or step < 1:
        if is_symbol(ends) or not isinstance(step, int):
            ends._tracer.refuse("slices ragged rows backwards")
        return _backwards(x, part, rest)
    first, last = (_bound(end, lengths, k) for k, end in enumerate((part.start, part.stop)))
    count = maximum((last - first + (step - 1)) // step, convert(0, ends.dtype))
    found = values_at(x.values, spans(ends[:-1] + first, count, step))
    if rest:
        found = found[(slice(None), *rest)]
    return RaggedTensor.from_row_lengths(found, count)


def _bound(end: Any, lengths: Any, is_last: int) -> Any:
    """Return where a slice of each row begins, or ends."""
    if end is None:
        return lengths if is_last else zeros_like(lengths)
    place = cast(end, lengths.dtype)
    moved = where(place < convert(0, lengths.dtype), lengths + place, zeros_like(lengths) + place)
    return minimum(maximum(moved, convert(0, lengths.dtype)), lengths)


def _backwards(x: RaggedTensor, part: slice, rest: list[Any]) -> Any:
    ends = raw(x.row_splits)
    chosen = [np.arange(a, b)[part] for a, b in pairwise(ends)]
    at = np.concatenate([np.zeros(0, np.int64), *chosen]).astype(np.int64)
    values = values_at(x.values, wrap(at))
    if rest:
        values = values[(slice(None), *rest)]
    lengths = np.asarray([len(k) for k in chosen], ends.dtype)
    return RaggedTensor.from_row_lengths(values, lengths)


def spans(starts: Any, lengths: Any, step: int = 1) -> Any:
    """Return, one row behind the other, so many places from each start on."""
    before = cumsum(lengths) - lengths
    count = numbers(reduce_sum(lengths))
    within = count - repeat(before, lengths)
    return repeat(starts, lengths) + (within * step if step != 1 else within)


def values_at(values: Any, at: Any) -> Any:
    """Return rows of values, which may be ragged."""
    return gather(values, at) if isinstance(values, RaggedTensor) else pick(values, at)


def gather(x: RaggedTensor, indices: Any) -> Any:
    """Return some rows."""
    rows = convert(indices)
    dims = static_shape(rows)
    if dims is None or None in dims[1:]:
        return rows._tracer.refuse("gathers rows of a ragged tensor by indices of unknown rank")
    ends = x.row_splits
    flat = reshape(rows, [-1])
    lengths = pick(ends[1:] - ends[:-1], flat)
    found = values_at(x.values, spans(pick(ends[:-1], flat), lengths))
    made = RaggedTensor.from_row_lengths(found, lengths)
    for length in reversed(dims[1:]):
        made = RaggedTensor.from_uniform_row_length(made, length)
    return made


def concat(values: Any, axis: int) -> Any:
    """Join along the rows, or row by row."""
    tensors = [x if isinstance(x, RaggedTensor) else convert(x) for x in values]
    if not any(isinstance(x, RaggedTensor) for x in tensors):
        shapes = [static_shape(x) for x in tensors]
        alike = all(shape is not None and None not in shape[1:] for shape in shapes)
        if axis == 0 and alike and len({shape[1:] for shape in shapes}) == 1:  # type: ignore[index]
            return join(tensors, 0)
        if axis > 0:
            return join(tensors, axis)
        tensors = [x if (x.shape.rank or 2) < 2 else RaggedTensor.from_tensor(x) for x in tensors]
        if any(not isinstance(x, RaggedTensor) for x in tensors):
            return join(tensors, axis)
    ragged = [x if isinstance(x, RaggedTensor) else RaggedTensor.from_tensor(x) for x in tensors]
    axis = axis if axis >= 0 else axis + (ragged[0].shape.rank or 0)
    if axis > 1:
        joined = concat([x.values for x in ragged], axis - 1)
        return ragged[0].with_values(joined)
    lengths = [x.row_lengths() for x in ragged]
    whole = RaggedTensor.from_row_lengths(
        concat([x.values for x in ragged], 0), join(lengths, 0), validate=False
    )
    if axis == 0:
        return whole
    count = lengths[0].shape[0]
    order = numbers(size(lengths[0]) if count is None else count)
    starts = [order + order.dtype.as_numpy_dtype(k) * size(order) for k in range(len(ragged))]
    rows = gather(whole, reshape(stack(starts, 1), [-1]))
    return RaggedTensor.from_row_lengths(rows.values, add_n(lengths))


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
            if not is_symbol(first.row_splits) and not is_symbol(arg.row_splits):
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
    """Return what stands beside each innermost value of `first` in a dense tensor.

    Raises
    ------
    InvalidArgumentError
        A size is neither 1 nor that of the rows.
    """
    rank = first.shape.rank or first.ragged_rank + 1
    dims = static_shape(dense)
    if dims is None or len(dims) > rank:
        raise InvalidArgumentError(
            f"Unable to broadcast: shape {dense.shape} beside ragged rows of rank {rank}"
        )
    depth = first.ragged_rank + 1
    sizes = [1] * (rank - len(dims)) + list(dims)
    outer, inner = sizes[:depth], sizes[depth:]
    flat: Any = None
    for level, count in enumerate(outer):
        if count == 1:
            continue
        place = _places(first, level, count)
        step = math.prod(1 if k is None else k for k in outer[level + 1 :])
        place = place * place.dtype.as_numpy_dtype(step)
        flat = place if flat is None else flat + place
    table = reshape(dense, [-1, *(-1 if count is None else count for count in inner)])
    if flat is None:
        return table[0] if inner else reshape(table, [])
    return pick(table, flat)


def _places(x: RaggedTensor, level: int, count: int | None) -> Any:
    """Return where each innermost value is along an axis."""
    if level == 0:
        rows = x.row_splits.shape[0]
        if rows is not None and count is not None and count != rows - 1:
            raise InvalidArgumentError(f"Unable to broadcast: dimension size mismatch: {count}")
        place, inner = x.value_rowids(), x.values
    else:
        inner = x
        for _ in range(level - 1):
            inner = inner.values
        lengths = inner.row_lengths()
        if symbol_of((lengths,)) is not None:
            lengths._tracer.refuse("spreads a tensor over the values of ragged rows")
        if count is not None and (raw(lengths) != count).any():
            raise InvalidArgumentError(f"Unable to broadcast: dimension size mismatch: {count}")
        place, inner = spans(zeros_like(lengths), lengths), inner.values
    while isinstance(inner, RaggedTensor):
        place, inner = repeat(place, inner.row_lengths()), inner.values
    return place
