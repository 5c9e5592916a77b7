"""Sparse tensors cut, joined and brought to other shapes: the part of ``tf.sparse`` that moves.

All are compositions of ops on the parts, on tensors and in graphs alike.
"""

from __future__ import annotations

import builtins
from typing import Any

import numpy as np

from ..errors import InvalidArgumentError
from .arithmetic import maximum, minimum
from .casting import cast
from .control import Assert
from .convert import convert
from .creation import ones_like, zeros, zeros_like
from .dtypes import int64
from .gathering import boolean_mask, gather, scatter_nd, where
from .joining import concat as join
from .joining import stack
from .kernels import axis_of, static_shape
from .reductions import cumprod, reduce_all, reduce_max, reduce_prod, reduce_sum
from .sorting import argsort
from .sparse_tensor import SparseTensor

__all__ = [
    "concat",
    "expand_dims",
    "fill_empty_rows",
    "reorder",
    "reset_shape",
    "reshape",
    "retain",
    "slice",
    "split",
    "to_indicator",
    "transpose",
]


def _rank(st: SparseTensor) -> int:
    """Return the number of axes."""
    found = st.shape.rank
    if found is None:
        found = (static_shape(st.indices) or (None, None))[1]
    if found is None:
        raise InvalidArgumentError("sparse tensors must be of known rank here")
    return found


def _ordered(indices: Any, values: Any, dims: Any, rank: int) -> SparseTensor:
    """Return values in row-major order; those in one place stay as they are."""
    order: Any = None
    for axis in reversed(range(rank)):
        along = indices[:, axis]
        if order is None:
            order = argsort(along, stable=True)
        else:
            order = gather(order, argsort(gather(along, order), stable=True))
    if order is not None:
        indices, values = gather(indices, order), gather(values, order)
    return SparseTensor(indices, values, dims)


def reorder(sp_input: Any, name: str | None = None) -> Any:
    """Return the values in row-major order; mirrors ``tf.sparse.reorder``."""
    st = sp_input
    found = _ordered(st.indices, st.values, st.dense_shape, _rank(st))
    found.set_shape(st.shape)
    return found


def slice(sp_input: Any, start: Any, size: Any, name: str | None = None) -> Any:
    """Return a block; mirrors ``tf.sparse.slice``."""
    st, first = sp_input, cast(start, int64)
    last = minimum(first + cast(size, int64), st.dense_shape)
    at = st.indices
    keep = reduce_all((at >= first) & (at < last), 1)
    sizes = maximum(last - first, convert(0, int64))
    return SparseTensor(boolean_mask(at, keep) - first, boolean_mask(st.values, keep), sizes)


def reshape(sp_input: Any, shape: Any, name: str | None = None) -> Any:
    """Return the same values in another shape; mirrors ``tf.sparse.reshape``.

    Raises
    ------
    InvalidArgumentError
        The shape has another number of places.
    """
    dims, wanted = sp_input.dense_shape, cast(shape, int64)
    count, one = reduce_prod(dims), convert(1, int64)
    others = reduce_prod(where(wanted < 0, one, wanted))
    sizes = where(wanted < 0, count // maximum(others, one), wanted)
    Assert(
        reduce_prod(sizes) == count,
        ["Input to reshape is of another size than the requested shape:", dims, wanted],
    )
    flat = reduce_sum(sp_input.indices * _strides(dims), 1)
    at = flat[:, None] // maximum(_strides(sizes), one) % maximum(sizes, one)
    return SparseTensor(at, sp_input.values, sizes)


def _strides(dims: Any) -> Any:
    """Return how many places one step along each axis passes."""
    return cumprod(dims, exclusive=True, reverse=True)


def expand_dims(sp_input: Any, axis: int | None = None, name: str | None = None) -> Any:
    """Insert an axis of size 1; mirrors ``tf.sparse.expand_dims``."""
    st = sp_input
    place = axis_of(-1 if axis is None else int(axis), _rank(st) + 1)
    at, dims = st.indices, st.dense_shape
    at = join([at[:, :place], zeros_like(at[:, :1]), at[:, place:]], 1)
    found = SparseTensor(at, st.values, join([dims[:place], [1], dims[place:]], 0))
    if st.shape.rank is not None:
        found.set_shape((*list(st.shape)[:place], 1, *list(st.shape)[place:]))
    return found


def concat(
    axis: int, sp_inputs: Any, expand_nonconcat_dims: bool = False, name: str | None = None
) -> Any:
    """Join along an axis; mirrors ``tf.sparse.concat``.

    Raises
    ------
    InvalidArgumentError
        The sizes of the other axes differ, and `expand_nonconcat_dims` is not set.
    """
    items = list(sp_inputs)
    rank = _rank(items[0])
    along = axis_of(int(axis), rank)
    is_along = np.arange(rank) == along
    whole, at, before = items[0].dense_shape, [], convert(0, int64)
    for st in items:
        if not expand_nonconcat_dims:
            same = reduce_all((st.dense_shape == whole) | is_along)
            Assert(same, ["Concat: the sizes of the other axes must match:", st.dense_shape])
        at.append(st.indices + where(is_along, before, convert(0, int64)))
        before = before + st.dense_shape[along]
        whole = maximum(whole, st.dense_shape)
    values = join([st.values for st in items], 0)
    return _ordered(join(at, 0), values, where(is_along, before, whole), rank)


def split(
    sp_input: Any = None, num_split: int | None = None, axis: int | None = None,
    name: str | None = None,
) -> list[Any]:  # fmt: skip
    """Cut into pieces along an axis; mirrors ``tf.sparse.split``."""
    assert num_split is not None
    assert axis is not None
    dims, rank = sp_input.dense_shape, _rank(sp_input)
    is_along = np.arange(rank) == axis_of(int(axis), rank)
    count = dims[int(axis)]
    size, more = count // num_split, count % num_split
    pieces, start = [], convert(0, int64)
    for k in range(num_split):
        length = size + cast(convert(k, int64) < more, int64)
        first = where(is_along, start, convert(0, int64))
        pieces.append(slice(sp_input, first, where(is_along, length, dims)))
        start = start + length
    return pieces


def transpose(sp_input: Any, perm: Any = None, name: str | None = None) -> Any:
    """Permute the axes; mirrors ``tf.sparse.transpose``."""
    st, rank = sp_input, _rank(sp_input)
    order = [*range(rank)][::-1] if perm is None else [int(k) for k in convert(perm)]
    at, dims = gather(st.indices, order, axis=1), gather(st.dense_shape, order)
    found = _ordered(at, st.values, dims, rank)
    if st.shape.rank is not None:
        found.set_shape([st.shape[k] for k in order])
    return found


def retain(sp_input: Any, to_retain: Any) -> Any:
    """Keep some of the values; mirrors ``tf.sparse.retain``."""
    st, keep = sp_input, convert(to_retain)
    found = SparseTensor(
        boolean_mask(st.indices, keep), boolean_mask(st.values, keep), st.dense_shape
    )
    found.set_shape(st.shape)
    return found


def reset_shape(sp_input: Any, new_shape: Any = None) -> Any:
    """Change the dense shape; mirrors ``tf.sparse.reset_shape``.

    Raises
    ------
    InvalidArgumentError
        The new shape is smaller than the old one.
    """
    st = sp_input
    if new_shape is None:
        none = zeros([1, _rank(st)], int64) - 1
        return SparseTensor(st.indices, st.values, reduce_max(join([st.indices, none], 0), 0) + 1)
    dims = cast(new_shape, int64)
    Assert(reduce_all(dims >= st.dense_shape), ["the new shape is smaller than the old one:", dims])
    return SparseTensor(st.indices, st.values, dims)


def fill_empty_rows(sp_input: Any, default_value: Any, name: str | None = None) -> Any:
    """Give each row without values one; mirrors ``tf.sparse.fill_empty_rows``."""
    st, rank = sp_input, _rank(sp_input)
    at, dims = st.indices, st.dense_shape
    rows = scatter_nd(at[:, :1], ones_like(at[:, 0]), dims[:1])
    empty = rows == convert(0, int64)
    more = where(empty)
    filler = zeros_like(more[:, 0]) + convert(0, int64)
    fill = gather(stack([convert(default_value, st.dtype)]), filler)
    places = join([more, *[zeros_like(more)] * (rank - 1)], 1)
    found = _ordered(join([at, places], 0), join([st.values, fill], 0), dims, rank)
    found.set_shape(st.shape)
    return found, empty


def to_indicator(sp_input: Any, vocab_size: int, name: str | None = None) -> Any:
    """Return which values occur in each row; mirrors ``tf.sparse.to_indicator``."""
    st = sp_input
    at = join([st.indices[:, :-1], cast(st.values, int64)[:, None]], 1)
    dims = join([st.dense_shape[:-1], [builtins.int(vocab_size)]], 0)
    return scatter_nd(at, st.values == st.values, dims)
