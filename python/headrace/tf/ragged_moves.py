"""Ops of dense tensors for ragged ones: moving, choosing and counting values, row by row."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..errors import InvalidArgumentError
from . import ragged_index
from .arithmetic import add, subtract
from .array_ops import reshape, shape
from .casting import cast
from .convert import convert, is_symbol
from .creation import range as numbers
from .creation import zeros
from .dtypes import as_dtype, int32
from .joining import concat, repeat
from .kernels import static_shape, symbol_of
from .ragged_tensor import RaggedTensor
from .tensor import raw, wrap

__all__ = [
    "bincount",
    "cumsum",
    "gather",
    "gather_nd",
    "one_hot",
    "reduce_variance",
    "reverse",
    "softmax",
    "split",
    "squeeze",
    "tile",
    "where",
]


def _rank(x: Any) -> int:
    found: int = x.shape.rank if x.shape.rank is not None else x.ragged_rank + 1
    return found


def _place(axis: Any, x: Any) -> int:
    rank = _rank(x)
    place = int(raw(convert(axis))) if not isinstance(axis, int) else axis
    if not -rank <= place < rank:
        raise InvalidArgumentError(f"axis={place} out of bounds: expected {-rank}<=axis<{rank}")
    return place % rank


def _ragged(x: Any) -> RaggedTensor:
    return x if isinstance(x, RaggedTensor) else RaggedTensor.from_tensor(x)


def reverse(tensor: Any, axis: Any, name: str | None = None) -> Any:
    """Reverse a ragged tensor along axes."""
    found = tensor
    for k in raw(convert(axis, int32 if isinstance(axis, list | tuple) else None)).reshape(-1):
        found = _reversed(found, _place(int(k), tensor))
    return found


def _reversed(x: Any, axis: int) -> Any:
    if not isinstance(x, RaggedTensor):
        from .array_ops import reverse as of_dense

        return of_dense(x, [axis])
    if axis == 0:
        count = x.nrows()
        one = count.dtype.as_numpy_dtype(1)
        return ragged_index.gather(x, subtract(count - one, numbers(count)))
    if axis > 1:
        return x.with_values(_reversed(x.values, axis - 1))
    ends, lengths = x.row_limits(), x.row_lengths()
    at = ragged_index.spans(ends - ends.dtype.as_numpy_dtype(1), lengths, -1)
    return x.with_values(ragged_index.values_at(x.values, at))


def tile(input: Any, multiples: Any, name: str | None = None) -> Any:
    """Repeat a ragged tensor along each axis."""
    counts = [int(k) for k in raw(convert(multiples)).reshape(-1)]
    if len(counts) != _rank(input):
        raise InvalidArgumentError(
            f"multiples must have one value for each of {_rank(input)} axes, got {counts}"
        )
    return _tiled(input, counts)


def _tiled(x: Any, counts: list[int]) -> Any:
    from .joining import tile as of_dense

    if not isinstance(x, RaggedTensor):
        return of_dense(x, counts)
    first, second, *rest = counts
    if any(k != 1 for k in rest):
        x = x.with_values(_tiled(x.values, [1, *rest]))
    if second != 1:
        lengths = x.row_lengths()
        at = ragged_index.spans(repeat(x.row_starts(), second), repeat(lengths, second))
        values = ragged_index.values_at(x.values, at)
        times = lengths.dtype.as_numpy_dtype(second)
        x = RaggedTensor.from_row_lengths(values, lengths * times, validate=False)
    if first == 1:
        return x
    return ragged_index.gather(x, of_dense(numbers(x.nrows()), [first]))


def gather(
    params: Any, indices: Any, validate_indices: Any = None, axis: Any = None, batch_dims: int = 0,
    name: str | None = None,
) -> Any:  # fmt: skip
    """Return rows of a ragged tensor, or slices at ragged indices."""
    if batch_dims < 0:
        batch_dims += _rank(indices)
    place = batch_dims if axis is None else _place(axis, params)
    if batch_dims > place:
        raise InvalidArgumentError(f"batch_dims={batch_dims} must not exceed axis={place}")
    if batch_dims:
        return _gathered_in_rows(params, indices, place, batch_dims)
    if isinstance(indices, RaggedTensor):
        return (
            indices.with_flat_values(gather(params, indices.flat_values, axis=place))
            if (place == 0)
            else _unknown(f"ragged indices along axis {place}")
        )
    if not isinstance(params, RaggedTensor):
        from .gathering import gather as of_dense

        return of_dense(params, indices, axis=place)
    at = convert(indices)
    if place > 1:
        return params.with_values(gather(params.values, at, axis=place - 1))
    if place == 1:
        if static_shape(at) is None or len(static_shape(at) or ()) != 1:
            return _unknown("indices of another rank than 1 along axis 1")
        count = params.nrows()
        width = cast(shape(at)[0], count.dtype)
        flat = reshape(
            reshape(zeros([1], at.dtype) + at, [1, -1]) + zeros_rows(count, at.dtype), [-1]
        )
        lengths = repeat(reshape(width, [1]), count)
        return _gathered_in_rows(params, RaggedTensor.from_row_lengths(flat, lengths), 1, 1)
    if static_shape(at) == ():
        return params[at if is_symbol(at) else int(raw(at))]
    return ragged_index.gather(params, at)


def zeros_rows(count: Any, dtype: Any) -> Any:
    """Return a column of zeros."""
    return reshape(cast(numbers(count) * count.dtype.as_numpy_dtype(0), dtype), [-1, 1])


def _unknown(text: str) -> Any:
    raise NotImplementedError(f"tf.gather of ragged tensors with {text}")


def _gathered_in_rows(params: Any, indices: Any, axis: int, batch_dims: int) -> Any:
    """Return values of each row at the places of the same row of `indices`."""
    x, at = _ragged(params), indices
    if not isinstance(at, RaggedTensor):
        at = convert(at)
        if at.shape.rank is not None and at.shape.rank < 2:
            return _unknown("indices that are one for each row")
        at = RaggedTensor.from_tensor(at)
    if batch_dims > 1 or axis > 1:
        if not isinstance(x.values, RaggedTensor) and not isinstance(at.values, RaggedTensor):
            return _unknown(f"batch_dims={batch_dims}, axis={axis}")
        inner = gather(x.values, at.values, axis=axis - 1, batch_dims=batch_dims - 1)
        return x.with_values(inner)
    lengths = x.row_lengths()
    rows = at.value_rowids()
    places = at.flat_values
    level = at.values
    while isinstance(level, RaggedTensor):
        rows, level = repeat(rows, level.row_lengths()), level.values
    places = cast(places, lengths.dtype)
    if symbol_of((places, rows, x.row_splits)) is None:
        sizes, found = raw(lengths)[raw(rows)], raw(places)
        if ((found < 0) | (found >= sizes)).any():
            k = int(np.argmax((found < 0) | (found >= sizes)))
            raise InvalidArgumentError(f"indices[{k}] = {found[k]} is not in [0, {sizes[k]})")
    from .gathering import gather as pick

    flat = pick(x.row_starts(), rows) + places
    return at.with_flat_values(ragged_index.values_at(x.values, flat))


def gather_nd(
    params: Any, indices: Any, batch_dims: int = 0, name: str | None = None,
    bad_indices_policy: str | None = "",
) -> Any:  # fmt: skip
    """Return slices of a ragged tensor at index vectors."""
    at = convert(indices) if not isinstance(indices, RaggedTensor) else indices
    if isinstance(at, RaggedTensor) or batch_dims or not isinstance(params, RaggedTensor):
        raise NotImplementedError("tf.gather_nd with ragged indices, or with batch_dims")
    dims = static_shape(at)
    if not dims or dims[-1] is None:
        raise InvalidArgumentError("indices must have a known last axis")
    outer, depth = list(dims[:-1]), dims[-1]
    flat = reshape(at, [-1, depth])
    x: Any = params
    while depth > 1 and isinstance(x, RaggedTensor):
        from .gathering import gather as pick

        splits = x.row_splits
        first = cast(flat[:, 0], splits.dtype) * splits.dtype.as_numpy_dtype(1)
        second = cast(flat[:, 1], splits.dtype)
        starts, lengths = pick(x.row_starts(), first), pick(x.row_lengths(), first)
        if (
            symbol_of((second, lengths)) is None
            and ((raw(second) < 0) | (raw(second) >= raw(lengths))).any()
        ):
            raise InvalidArgumentError("slice index is out of bounds of its row")
        joined = reshape(starts + second, [-1, 1])
        flat = concat([joined, cast(flat[:, 2:], splits.dtype)], 1)
        x, depth = x.values, depth - 1
    if not isinstance(x, RaggedTensor):
        from .gathering import gather_nd as of_dense

        found = of_dense(x, flat)
        return (
            found if len(outer) == 1 else reshape(found, [*_known(outer), *_known(found.shape[1:])])
        )
    found = ragged_index.gather(x, reshape(flat, [-1]))
    if not outer:
        return found[0]
    for size in reversed(outer[1:]):
        found = RaggedTensor.from_uniform_row_length(found, size)
    return found


def _known(sizes: Any) -> list[int]:
    return [-1 if size is None else int(size) for size in sizes]


def where(condition: Any, x: Any = None, y: Any = None, name: str | None = None) -> Any:
    """Choose value by value, or find what is true."""
    from .gathering import boolean_mask
    from .gathering import where as of_dense

    if (x is None) != (y is None):
        raise ValueError("Either both `x` and `y` must be given, or neither")
    if x is not None:
        return RaggedTensor._map_values(of_dense, condition, x, y)
    sparse = condition.to_sparse()
    return boolean_mask(sparse.indices, sparse.values)


def one_hot(
    indices: Any, depth: Any, on_value: Any = None, off_value: Any = None, axis: int | None = None,
    dtype: Any = None, name: str | None = None,
) -> Any:  # fmt: skip
    """Return vectors with one value on, for each value."""
    from .gathering import one_hot as of_dense

    if axis is not None and axis != -1 and axis != _rank(indices):
        if axis < indices.ragged_rank + 1:
            raise ValueError("axis must be greater than indices.ragged_rank, or -1")
        axis -= indices.ragged_rank
    elif axis is not None:
        axis = -1
    found = of_dense(indices.flat_values, depth, on_value, off_value, axis, dtype)
    return indices.with_flat_values(found)


def split(
    value: Any, num_or_size_splits: Any, axis: Any = 0, num: int | None = None, name: str = "split"
) -> list[Any]:
    """Cut a ragged tensor into pieces along its rows, or along an axis of one size."""
    place = _place(axis, value)
    if place > 1 or (place == 1 and value.shape[1] is None):
        raise ValueError("a ragged tensor is split along its rows, or an axis of one size")
    total = value.shape[place]
    if isinstance(num_or_size_splits, int):
        if total is None or total % num_or_size_splits:
            raise InvalidArgumentError(
                f"cannot exactly split axis {place} of size {total} in {num_or_size_splits} pieces"
            )
        sizes = [total // num_or_size_splits] * num_or_size_splits
    else:
        sizes = [int(k) for k in raw(convert(num_or_size_splits)).reshape(-1)]
        if sizes.count(-1) == 1 and total is not None:
            sizes[sizes.index(-1)] = total - sum(sizes) - 1
        if total is not None and (min(sizes, default=0) < 0 or sum(sizes) != total):
            raise InvalidArgumentError(f"sizes {sizes} do not sum up to {total}")
    ends = np.cumsum(sizes).tolist()
    pieces = [slice(end - size, end) for end, size in zip(ends, sizes, strict=True)]
    return [value[part] if place == 0 else value[:, part] for part in pieces]


def squeeze(input: Any, axis: Any = None, name: str | None = None) -> Any:
    """Remove axes of size 1."""
    given = [] if axis is None else np.atleast_1d(raw(convert(axis))).tolist()
    if not given:
        raise ValueError("Ragged.squeeze must have an axis argument.")
    found = input
    for place in sorted({_place(k, input) for k in given}, reverse=True):
        found = _squeezed(found, place)
    return found


def _squeezed(x: Any, axis: int) -> Any:
    if not isinstance(x, RaggedTensor):
        from .array_ops import squeeze as of_dense

        return of_dense(x, [axis])
    if axis == 0:
        if x.shape[0] not in (None, 1):
            raise InvalidArgumentError(f"Cannot squeeze axis 0 of size {x.shape[0]}")
        return x.values
    if axis > 1:
        return x.with_values(_squeezed(x.values, axis - 1))
    lengths = x.row_lengths()
    if symbol_of((lengths,)) is None and (raw(lengths) != 1).any():
        raise InvalidArgumentError("Cannot squeeze axis 1: there are rows of other lengths than 1")
    return x.values


def cumsum(
    x: Any, axis: int = 0, exclusive: bool = False, reverse: bool = False, name: str | None = None
) -> Any:
    """Add up along an axis."""
    from .gathering import gather as pick
    from .gathering import gather_nd as of_places
    from .reductions import cumsum as of_dense

    place = _place(axis, x)
    if place > x.ragged_rank:
        inner = of_dense(x.flat_values, place - x.ragged_rank, exclusive, reverse)
        return x.with_flat_values(inner)
    if place < x.ragged_rank:
        found = of_dense(x.to_tensor(), place, exclusive, reverse)
        return x.with_flat_values(of_places(found, x.to_sparse().indices))
    flat, last = x.flat_values, x
    while isinstance(last.values, RaggedTensor):
        last = last.values
    sums = of_dense(flat)
    before = concat([zeros([1], flat.dtype), sums], 0)
    starts, ends = (pick(before, at) for at in (last.row_starts(), last.row_limits()))
    lengths = last.row_lengths()
    if reverse:
        found = subtract(add(repeat(ends, lengths), flat), sums)
    else:
        found = subtract(sums, repeat(starts, lengths))
    return x.with_flat_values(subtract(found, flat) if exclusive else found)


def softmax(logits: Any, axis: int | None = None, name: str | None = None) -> Any:
    """Return exponentials that sum up to 1 in each row."""
    from .elementwise import exp
    from .gathering import gather as pick
    from .reductions import reduce_max, reduce_sum

    if axis is not None and _place(axis, logits) != logits.ragged_rank:
        raise NotImplementedError("tf.nn.softmax of a ragged tensor along another axis than -1")
    last = logits
    while isinstance(last.values, RaggedTensor):
        last = last.values
    rows = last.value_rowids()
    powers = exp(subtract(last.values, pick(reduce_max(last, 1), rows)))
    sums = reduce_sum(last.with_values(powers), 1)
    return logits.with_flat_values(powers / pick(sums, rows))


def reduce_variance(
    input_tensor: Any, axis: Any = None, keepdims: bool = False, name: str | None = None
) -> Any:
    """Return the variance along axes."""
    from .elementwise import square
    from .reductions import reduce_mean
    from .reductions import reduce_variance as of_dense

    if axis is None:
        found = of_dense(input_tensor.flat_values)
        return reshape(found, [1] * _rank(input_tensor)) if keepdims else found
    if input_tensor.dtype.is_integer:
        raise TypeError("Input must be either real or complex.")
    of_squares = reduce_mean(square(input_tensor), axis, keepdims)
    return subtract(of_squares, square(reduce_mean(input_tensor, axis, keepdims)))


def bincount(
    arr: Any, weights: Any = None, minlength: Any = None, maxlength: Any = None,
    dtype: Any = int32, name: str | None = None, axis: Any = None, binary_output: bool = False,
) -> Any:  # fmt: skip
    """Count how often each number occurs, in each row if `axis` is -1."""
    from .reductions import bincount as of_dense

    shares = weights.flat_values if isinstance(weights, RaggedTensor) else weights
    target = as_dtype(dtype) if shares is None else convert(shares).dtype
    if axis not in (-1, 1):
        return of_dense(
            arr.flat_values, shares, minlength, maxlength, target, binary_output=binary_output
        )
    if arr.ragged_rank != 1:
        raise InvalidArgumentError("bincount counts in the rows of two axes")
    symbol = symbol_of((arr.flat_values, arr.row_splits))
    if symbol is not None:
        dims = (arr.shape[0], None)
        return symbol._tracer.unrecorded("bincount of ragged rows", dims, target)
    found, rows = raw(arr.flat_values).astype(np.int64), raw(arr.value_rowids())
    if (found < 0).any():
        raise InvalidArgumentError("Input values must all be non-negative")
    width = int(found.max(initial=-1)) + 1
    width = max(width, 0 if minlength is None else int(minlength))
    width = width if maxlength is None else min(width, int(maxlength))
    counts = np.zeros((arr.shape[0], width), target.dtype)
    kept = found < width
    values = np.ones(found.shape, target.dtype) if shares is None else raw(convert(shares))
    if binary_output:
        counts[rows[kept], found[kept]] = 1
    else:
        np.add.at(counts, (rows[kept], found[kept]), values[kept])
    return wrap(counts)
