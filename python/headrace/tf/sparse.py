"""Sparse tensors; mirrors ``tf.sparse``."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..errors import InvalidArgumentError
from . import dtypes
from .convert import convert, is_symbol
from .crossing import cross, cross_hashed
from .dtypes import int64
from .kernels import symbol_of
from .names import lookup
from .sparse_math import (
    bincount,
    maximum,
    merged,
    minimum,
    segment_mean,
    segment_sqrt_n,
    segment_sum,
    softmax,
    sparse_dense_matmul,
)
from .sparse_moves import (
    concat,
    expand_dims,
    fill_empty_rows,
    reorder,
    reset_shape,
    reshape,
    retain,
    slice,
    split,
    to_indicator,
    transpose,
)
from .sparse_tensor import SparseTensor, SparseTensorValue, parts
from .tensor import raw, wrap

__all__ = [
    "SparseTensor",
    "SparseTensorValue",
    "add",
    "bincount",
    "concat",
    "cross",
    "cross_hashed",
    "expand_dims",
    "eye",
    "fill_empty_rows",
    "from_dense",
    "map_values",
    "mask",
    "maximum",
    "minimum",
    "reduce_max",
    "reduce_sum",
    "reorder",
    "reset_shape",
    "reshape",
    "retain",
    "segment_mean",
    "segment_sqrt_n",
    "segment_sum",
    "slice",
    "softmax",
    "sparse_dense_matmul",
    "split",
    "to_dense",
    "to_indicator",
    "transpose",
]


def from_dense(tensor: Any, name: str | None = None) -> Any:
    """Return what is not zero, or not empty; mirrors ``tf.sparse.from_dense``."""
    x = convert(tensor)
    if is_symbol(x):
        from .array_ops import shape
        from .gathering import gather_nd, where

        indices = where(x)
        return SparseTensor(indices, gather_nd(x, indices), shape(x, int64))
    array = raw(x)
    at = np.argwhere(array != (b"" if array.dtype == object else 0))
    return SparseTensor(
        at, array[tuple(at.T)] if array.ndim else array.reshape(-1)[: len(at)], array.shape
    )


def to_dense(
    sp_input: Any, default_value: Any = None, validate_indices: bool = True, name: str | None = None
) -> Any:
    """Return the dense tensor; mirrors ``tf.sparse.to_dense``.

    Raises
    ------
    InvalidArgumentError
        Indices out of order, or outside of the shape.
    """
    st = sp_input
    found = symbol_of(parts(st))
    if found is not None:
        from .kernels import sized

        dims = None if st.shape.rank is None else tuple(st.shape)
        empty: Any = b"" if st.dtype is dtypes.string else 0
        filler = convert(empty if default_value is None else default_value, st.dtype)
        return sized("sparse_to_dense", (*parts(st), filler), dims, st.dtype)
    fill = None if default_value is None else raw(convert(default_value, st.dtype)).item()
    at, dims = raw(st._indices), raw(st._dense_shape)
    if at.size:
        outside = (at < 0).any(1) | (at >= dims).any(1)
        if outside.any():
            k = int(np.argmax(outside))
            raise InvalidArgumentError(
                f"indices[{k}] = {at[k].tolist()} is out of bounds: need 0 <= index < "
                f"{dims.tolist()}"
            )
        if validate_indices and len(at) > 1:
            flat = np.ravel_multi_index(tuple(at.T), tuple(dims))
            steps = np.diff(flat)
            if (steps <= 0).any():
                k = int(np.argmax(steps <= 0)) + 1
                what = "repeated" if steps[k - 1] == 0 else "out of order"
                raise InvalidArgumentError(f"indices[{k}] = {at[k].tolist()} is {what}")
    return wrap(st._to_own().to_dense(fill))


def map_values(op: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """Apply a function to the values; mirrors ``tf.sparse.map_values``."""
    first = next(arg for arg in (*args, *kwargs.values()) if isinstance(arg, SparseTensor))
    plain = [arg.values if isinstance(arg, SparseTensor) else arg for arg in args]
    named = {k: v.values if isinstance(v, SparseTensor) else v for k, v in kwargs.items()}
    return first.with_values(op(*plain, **named))


def mask(a: Any, mask_indices: Any, name: str | None = None) -> Any:
    """Not supported: slices with gradients belong to training."""
    raise NotImplementedError("tf.sparse.mask works on IndexedSlices, which headrace.tf has not")


def eye(
    num_rows: Any, num_columns: Any = None, dtype: Any = dtypes.float32, name: str | None = None
) -> Any:
    """Return an identity matrix; mirrors ``tf.sparse.eye``."""
    from .creation import eye as dense

    return from_dense(dense(num_rows, num_columns, dtype=dtype))


def add(a: Any, b: Any, threshold: Any = 0) -> Any:
    """Return the sum; mirrors ``tf.sparse.add``.

    Parameters
    ----------
    a, b
        Two sparse tensors of one shape, or one and a dense tensor, which gives a dense one.
    threshold
        Sums of a smaller magnitude are left out of a sparse result.

    Raises
    ------
    InvalidArgumentError
        The shapes differ.

    Examples
    --------
    >>> a = tf.sparse.from_dense([1, 0, 2])
    >>> tf.sparse.add(a, tf.sparse.from_dense([0, 0, 3])).values.numpy()
    array([1, 5], dtype=int32)
    """
    if not (isinstance(a, SparseTensor) and isinstance(b, SparseTensor)):
        first, second = (to_dense(x) if isinstance(x, SparseTensor) else convert(x) for x in (a, b))
        return first + second
    return merged(a, b, threshold)


def reduce_sum(
    sp_input: Any, axis: Any = None, keepdims: bool = False, output_is_sparse: bool = False,
    name: str | None = None,
) -> Any:  # fmt: skip
    """Return sums along axes; mirrors ``tf.sparse.reduce_sum``."""
    from .reductions import reduce_sum as dense

    found = dense(to_dense(sp_input, validate_indices=False), axis, keepdims)
    return from_dense(found) if output_is_sparse else found


def reduce_max(
    sp_input: Any, axis: Any = None, keepdims: bool = False, output_is_sparse: bool = False,
    name: str | None = None,
) -> Any:  # fmt: skip
    """Return the largest values along axes; mirrors ``tf.sparse.reduce_max``."""
    from .creation import ones_like, zeros_like
    from .gathering import where
    from .reductions import reduce_any
    from .reductions import reduce_max as dense

    st = sp_input
    low = st.dtype.min
    stored = to_dense(st.with_values(ones_like(st.values, dtypes.bool)))
    filled = to_dense(st, low)
    best = dense(filled, axis, keepdims)
    some = reduce_any(stored, axis, keepdims)
    found = where(some, best, zeros_like(best))
    return from_dense(found) if output_is_sparse else found


__getattr__ = lookup(__name__)
