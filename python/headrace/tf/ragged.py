"""Ragged tensors; mirrors ``tf.ragged``."""

from __future__ import annotations

import builtins
from collections.abc import Callable
from typing import Any

import numpy as np

from ..errors import InvalidArgumentError
from .array_ops import reshape, shape, size
from .casting import cast
from .convert import convert, is_symbol
from .creation import range as numbers
from .creation import zeros
from .dtypes import as_dtype, float32, float64, int32, int64
from .joining import concat, repeat
from .joining import stack as pack
from .names import lookup
from .ragged_tensor import RaggedTensor, _sums
from .reductions import bincount, cumsum
from .shapes import TensorShape
from .tensor import raw

__all__ = [
    "RaggedTensor",
    "boolean_mask",
    "constant",
    "cross",
    "cross_hashed",
    "map_flat_values",
    "range",
    "row_splits_to_segment_ids",
    "segment_ids_to_row_splits",
    "stack",
    "stack_dynamic_partitions",
]


def stack_dynamic_partitions(
    data: Any, partitions: Any, num_partitions: Any, name: str | None = None
) -> Any:
    """Make a row of the values of each partition; mirrors ``tf.ragged.stack_dynamic_partitions``.

    Parameters
    ----------
    data
        A tensor.
    partitions
        The number of the partition of each value: integers of the first axes of `data`.
    num_partitions
        How many there are.
    name
        Accepted for TensorFlow's sake.

    Examples
    --------
    >>> tf.ragged.stack_dynamic_partitions(["a", "b", "c"], [1, 0, 1], 3)
    <tf.RaggedTensor [[b'b'], [b'a', b'c'], []]>
    """
    from .gathering import gather
    from .kernels import static_shape
    from .sorting import argsort

    x, which = convert(data), convert(partitions)
    axes, dims = static_shape(which), static_shape(x)
    if axes is None or dims is None:
        raise ValueError("data and partitions must be of known rank")
    if not axes:
        x, which = x[None], which[None]
    elif len(axes) > 1:
        rest = shape(x)[len(axes) :]
        x, which = reshape(x, concat([[-1], rest], 0)), reshape(which, [-1])
    order = argsort(which, stable=True)
    rows = cast(num_partitions if is_symbol(num_partitions) else convert(num_partitions), int64)
    return RaggedTensor.from_value_rowids(gather(x, order), cast(gather(which, order), int64), rows)


def cross(inputs: Any, name: str | None = None) -> Any:
    """Join each value of a row of one feature with each of the others; mirrors ``tf.ragged.cross``.

    Parameters
    ----------
    inputs
        Ragged, sparse and dense tensors of two axes, of strings or integers.
    name
        Accepted for TensorFlow's sake.

    Examples
    --------
    >>> tf.ragged.cross([tf.ragged.constant([["a"], ["b", "c"]]), [["d"], ["e"]]])
    <tf.RaggedTensor [[b'a_X_d'], [b'b_X_e', b'c_X_e']]>
    """
    from .crossing import cross as crossed

    return RaggedTensor.from_sparse(crossed([_as_sparse(x) for x in inputs]))


def cross_hashed(
    inputs: Any, num_buckets: int = 0, hash_key: int | None = None, name: str | None = None
) -> Any:
    """Give a number for each cross; mirrors ``tf.ragged.cross_hashed``, else as `cross`.

    Parameters
    ----------
    inputs, name
        As of `cross`.
    num_buckets, hash_key
        As of ``tf.sparse.cross_hashed``.

    Examples
    --------
    >>> tf.ragged.cross_hashed([tf.ragged.constant([["a"], []]), [["d"], ["e"]]], 10).shape
    TensorShape([2, None])
    """
    from .crossing import cross_hashed as crossed

    return RaggedTensor.from_sparse(crossed([_as_sparse(x) for x in inputs], num_buckets, hash_key))


def _as_sparse(x: Any) -> Any:
    if isinstance(x, RaggedTensor):
        return x.to_sparse()
    return x if getattr(x, "_is_composite", False) else convert(x)


# The dtypes of ranges; the last of them that there is decides.
_ORDER = (int32, int64, float32, float64)


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
    inner = None if inner_shape is None else list(TensorShape(inner_shape))
    level, splits = flattened(pylist, ragged_rank, inner, as_dtype(row_splits_dtype).dtype)
    if not splits:
        return convert(level, dtype)
    values: Any = (
        convert(level, dtype) if level else convert(np.zeros(0, as_dtype(dtype or "float32").dtype))
    )
    if inner is not None:
        values = reshape(values, [-1, *inner])
    for found in reversed(splits):
        values = RaggedTensor.from_row_splits(values, found)
    return values


def flattened(
    pylist: Any, ragged_rank: int | None, inner: list[Any] | None, kind: Any
) -> tuple[Any, list[Any]]:
    """Return the innermost values of nested lists, and the splits of each ragged axis.

    Raises
    ------
    ValueError
        There are fewer levels of lists than ragged axes, or values at several levels.
    """
    pylist = pylist.tolist() if isinstance(pylist, np.ndarray) else pylist
    if ragged_rank is None:
        ragged_rank = max(0, _depth(pylist) - 1 - len(inner or ()))
    elif ragged_rank < 0:
        raise InvalidArgumentError(f"Invalid ragged_rank={ragged_rank}: must be nonnegative")
    splits = []
    level = pylist
    for _ in builtins.range(ragged_rank):
        if not isinstance(level, list | tuple):
            raise InvalidArgumentError(
                f"Invalid pylist={pylist!r}: incompatible with ragged_rank={ragged_rank}"
            )
        if not all(isinstance(item, list | tuple | np.ndarray) for item in level):
            mixed = any(isinstance(item, list | tuple | np.ndarray) for item in level)
            raise InvalidArgumentError(
                "all scalar values must have the same nesting depth"
                if mixed
                else f"Invalid pylist={pylist!r}, max depth smaller than ragged_rank={ragged_rank}"
            )
        splits.append(_sums(np.asarray([len(item) for item in level], kind)))
        level = [child for item in level for child in item]
    return level, splits


def _depth(value: Any) -> int:
    if isinstance(value, np.ndarray):
        return value.ndim
    if not isinstance(value, list | tuple):
        return 0
    return 1 + max((_depth(item) for item in value), default=0)


def stack(values: Any, axis: int = 0, name: str | None = None) -> Any:
    """Join tensors of differing lengths along a new axis; mirrors ``tf.ragged.stack``."""
    from .ragged_index import concat

    rows = [value if isinstance(value, RaggedTensor) else convert(value) for value in values]
    if axis != 0:
        from .array_ops import expand_dims

        rank = rows[0].shape.rank
        place = axis if axis >= 0 or rank is None else axis + rank + 1
        if rank is None or not 0 < place <= rank:
            raise InvalidArgumentError(f"axis={axis} out of bounds for tensors of rank {rank}")
        apart = [
            expand_dims(
                x if isinstance(x, RaggedTensor) or rank < 2 else RaggedTensor.from_tensor(x), place
            )
            for x in rows
        ]
        return concat(apart, place)
    if any(x.shape.rank == 0 for x in rows):
        return pack(rows)
    splits = next((x.row_splits.dtype for x in rows if isinstance(x, RaggedTensor)), int32)
    counts = [x.nrows() if isinstance(x, RaggedTensor) else shape(x, splits)[0] for x in rows]
    return RaggedTensor.from_row_lengths(concat(rows, 0), pack([cast(k, splits) for k in counts]))


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
    from .gathering import boolean_mask as kept
    from .gathering import gather as pick
    from .gathering import where
    from .reductions import reduce_sum

    if isinstance(mask, RaggedTensor):
        keep = mask.flat_values
        sums = concat([zeros([1], int64), cumsum(cast(keep, int64))], 0)
        splits = cast(pick(sums, mask.row_splits), mask.row_splits.dtype)
        return RaggedTensor(kept(data.flat_values, keep), splits)
    keep = convert(mask)
    if isinstance(data, RaggedTensor):
        from .ragged_index import gather

        return gather(data, reshape(where(keep), [-1]))
    found = kept(convert(data), keep)
    if keep.shape.rank == 1:
        return found
    return RaggedTensor.from_row_lengths(found, reshape(reduce_sum(cast(keep, int64), -1), [-1]))


def range(
    starts: Any, limits: Any = None, deltas: Any = 1, dtype: Any = None, name: str | None = None,
    row_splits_dtype: Any = int64,
) -> Any:  # fmt: skip
    """Return a row of evenly spaced numbers for each start; mirrors ``tf.ragged.range``."""
    if limits is None:
        limits = convert(starts)
        starts = limits.dtype.as_numpy_dtype(0)
    kind = None if dtype is None else as_dtype(dtype)
    ends = [convert(x, kind) for x in (starts, limits, deltas)]
    if any(x.dtype not in _ORDER for x in ends):
        names = ", ".join(x.dtype.name for x in ends)
        raise InvalidArgumentError(f"ranges are of int32, int64, float32 or float64; got {names}")
    widest = max((x.dtype for x in ends), key=_ORDER.index)
    ends = [cast(x, widest) for x in ends]
    if any(map(is_symbol, ends)):
        return _ranges(ends, as_dtype(row_splits_dtype))
    plain = [raw(x) for x in ends]
    rows = [np.arange(*each) for each in np.broadcast(*plain)]
    lengths = np.asarray([len(row) for row in rows], as_dtype(row_splits_dtype).dtype)
    values = np.concatenate([np.zeros(0, plain[0].dtype), *rows]).astype(plain[0].dtype)
    return RaggedTensor.from_row_lengths(values, lengths)


def _ranges(ends: list[Any], splits: Any) -> Any:
    """Record what `range` gives of vectors and numbers."""
    from .arithmetic import maximum
    from .creation import zeros_like
    from .elementwise import ceil
    from .ragged_index import spans

    first, last, step = ends
    like = zeros_like(first + last + step)
    first, last, step = (reshape(x + like, [-1]) for x in ends)
    wide = first.dtype if first.dtype.is_floating else float64
    counts = ceil(cast(last - first, wide) / cast(step, wide))
    lengths = maximum(cast(counts, splits), convert(0, splits))
    within = cast(spans(zeros_like(lengths), lengths), first.dtype)
    values = repeat(first, lengths) + within * repeat(step, lengths)
    return RaggedTensor.from_row_lengths(values, lengths)


def row_splits_to_segment_ids(splits: Any, name: str | None = None, out_type: Any = None) -> Any:
    """Return the row of each value; mirrors ``tf.ragged.row_splits_to_segment_ids``."""
    x = convert(splits)
    kind = as_dtype(out_type) if out_type is not None else x.dtype
    lengths = x[1:] - x[:-1]
    return cast(repeat(numbers(size(lengths)), lengths), kind)


def segment_ids_to_row_splits(
    segment_ids: Any, num_segments: Any = None, out_type: Any = None, name: str | None = None
) -> Any:
    """Return the row splits of sorted rows; mirrors ``tf.ragged.segment_ids_to_row_splits``."""
    x = convert(segment_ids)
    kind = x.dtype if out_type is None else as_dtype(out_type)
    count = 0 if num_segments is None else int(num_segments)
    lengths = cast(bincount(x, minlength=count), kind)
    return concat([zeros([1], kind), cumsum(lengths)], 0)


__getattr__ = lookup(__name__)
