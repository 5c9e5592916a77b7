"""Ragged tensors of dense and sparse ones, and back.

All are compositions of ops on the parts, on tensors and in graphs alike.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..errors import UnimplementedError
from .array_ops import expand_dims, reshape, shape
from .casting import cast
from .convert import convert, is_symbol
from .creation import fill, sequence_mask, zeros_like
from .creation import range as numbers
from .dtypes import DType, int64, string
from .dtypes import bool as bool_
from .gathering import boolean_mask, gather, where
from .joining import concat, pad, repeat, tile
from .kernels import Dims, run, sized, static_shape
from .ragged_index import spans
from .ragged_tensor import RaggedTensor
from .reductions import reduce_any, reduce_max, reduce_prod
from .shapes import TensorShape
from .sorting import searchsorted
from .sparse_tensor import SparseTensor

__all__ = ["bounds", "merge_dims", "of_sparse", "of_tensor", "to_sparse", "to_tensor"]


def of_tensor(x: Any, lengths: Any, padding: Any, ragged_rank: int, kind: DType) -> RaggedTensor:
    """Return the rows of a dense tensor, without padding at their ends."""
    sizes, dims = shape(x, kind), static_shape(x)
    if ragged_rank > 1:
        rows = reshape(x, concat([[-1], shape(x)[2:]], 0))
        inner = RaggedTensor.from_tensor(
            rows, None, padding, ragged_rank - 1, row_splits_dtype=kind
        )
        return RaggedTensor.from_row_lengths(inner, fill(sizes[:1], sizes[1]))
    if lengths is not None:
        counts = cast(lengths, kind)
    elif padding is not None:
        differs = x != convert(padding, x.dtype)
        rank = len(dims or (0, 0))
        differs = reduce_any(differs, list(range(2, rank))) if rank > 2 else differs
        ends = expand_dims(numbers(sizes[1]) + 1, 0)
        ends = where(differs, ends, ends * 0)
        counts = cast(reduce_max(concat([ends, ends[:, :1] * 0], 1), 1), kind)
    else:
        counts = fill(sizes[:1], sizes[1])
    made = RaggedTensor.from_row_lengths(boolean_mask(x, sequence_mask(counts, sizes[1])), counts)
    if lengths is None and padding is None and dims is not None and not is_symbol(x):
        made._uniform = dims[1]  # no part of what a function is said to give
    return made


def of_sparse(x: SparseTensor, kind: DType) -> RaggedTensor:
    """Return the rows of a sparse matrix."""
    ends = numbers(x.dense_shape[0] + 1)
    return RaggedTensor.from_row_splits(x.values, cast(searchsorted(x.indices[:, 0], ends), kind))


def bounds(x: RaggedTensor, kind: DType) -> Any:
    """Return the sizes of the dense tensor that holds all rows."""
    sizes = [cast(x.nrows(), kind)]
    for splits in x.nested_row_splits:
        longest = reduce_max(concat([splits[1:] - splits[:-1], splits[:1] * 0], 0))
        sizes.append(cast(longest, kind))
    return concat([sizes, shape(x.flat_values, kind)[1:]], 0)


def to_tensor(x: RaggedTensor, default_value: Any, wanted: Any) -> Any:
    """Return a dense tensor, short rows padded, cut or padded to the sizes that are wanted."""
    empty: Any = {string: b"", bool_: False}.get(x.dtype, 0)
    filler = convert(empty if default_value is None else default_value, x.dtype)
    known = x.shape if wanted is None else TensorShape(wanted)
    dims: Dims = None if wanted is not None or known.rank is None else tuple(known)
    dense = x.flat_values
    *inner, first = reversed(x.nested_row_splits)
    for splits in inner:
        dense = run("ragged_to_dense", (dense, splits, filler), (None, x.dtype))
    dense = sized("ragged_to_dense", (dense, first, filler), dims, x.dtype)
    if wanted is None:
        return dense
    for axis, size in enumerate(known):
        if size is not None:
            dense = dense[(*[slice(None)] * axis, slice(size))]
            more = size - shape(dense)[axis]
            around = [[0, more if k == axis else 0] for k in range(len(known))]
            dense = pad(dense, around, constant_values=filler)
    dense.set_shape(tuple(known))
    return dense


def to_sparse(x: RaggedTensor) -> SparseTensor:
    """Return the values in coordinate form."""
    at = cast(expand_dims(numbers(x.nrows()), 1), int64)
    for splits in x.nested_row_splits:
        lengths = splits[1:] - splits[:-1]
        within = cast(spans(zeros_like(lengths), lengths), int64)
        at = concat([repeat(at, lengths, 0), expand_dims(within, 1)], 1)
    values = x.flat_values
    inner = [size for size in (static_shape(values) or ())[1:] if size is not None]
    if len(inner) + 1 != values.shape.rank:
        raise UnimplementedError(f"to_sparse needs values of known size, got {values.shape}")
    if inner:
        grid = np.indices(inner).reshape(len(inner), -1).T
        count = shape(values)[0]
        at = concat([repeat(at, len(grid), 0), tile(grid, [count, 1])], 1)
        values = reshape(values, [-1])
    return SparseTensor(at, values, bounds(x, int64))


def merge_dims(x: RaggedTensor, outer_axis: int, inner_axis: int) -> Any:
    """Return the values of `x` with the axes from one to another as one.

    Raises
    ------
    ValueError
        There are no such axes.
    """
    outer, inner = _axis("outer_axis", outer_axis, x), _axis("inner_axis", inner_axis, x)
    if outer > inner:
        raise ValueError(
            f"Expected outer_axis ({outer_axis}) to be less than or equal to inner_axis "
            f"({inner_axis})."
        )
    return _merged(x, outer, inner)


def _axis(name: str, axis: int, x: RaggedTensor) -> int:
    rank = x.rank
    if rank is None or -rank <= axis < rank:
        return axis if axis >= 0 else axis + (rank or 0)
    raise ValueError(f"{name}={axis} out of bounds: expected {-rank}<={name}<{rank}")


def _merged(x: Any, outer: int, inner: int) -> Any:
    if outer == inner:
        return x
    if not isinstance(x, RaggedTensor):
        sizes = shape(x)
        return reshape(x, concat([sizes[:outer], [-1], sizes[inner + 1 :]], 0))
    if outer == 0:
        return _merged(x.values, 0, inner - 1)
    if outer > 1:
        return x.with_values(_merged(x.values, outer - 1, inner - 1))
    values, splits = x.values, x.row_splits
    if isinstance(values, RaggedTensor):
        flat = RaggedTensor.from_row_splits(
            values.values, gather(values.row_splits, splits), validate=False
        )
        return _merged(flat, 1, inner - 1)
    each = reduce_prod(shape(values, splits.dtype)[1:inner])
    return RaggedTensor.from_row_splits(
        _merged(values, 0, inner - 1), splits * each, validate=False
    )
