"""Arithmetic of sparse tensors; part of ``tf.sparse``."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..errors import InvalidArgumentError
from .arithmetic import abs as magnitude
from .arithmetic import maximum as larger
from .arithmetic import minimum as smaller
from .array_ops import expand_dims, reshape, shape
from .casting import cast
from .comparison import not_equal
from .control import Assert
from .convert import convert, is_symbol
from .creation import fill, ones_like, zeros_like
from .dtypes import bool as bool_
from .dtypes import int64
from .elementwise import conj, exp, sqrt
from .gathering import boolean_mask, gather, where
from .joining import concat, stack
from .kernels import DTypeError, static_shape
from .ragged_tensor import RaggedTensor
from .reductions import (
    cumsum,
    reduce_all,
    reduce_max,
    reduce_sum,
    segment_max,
    segment_min,
    unsorted_segment_sum,
)
from .reductions import segment_mean as dense_mean
from .reductions import segment_sum as dense_sum
from .sorting import argsort
from .sparse_moves import _strides
from .sparse_tensor import SparseTensor

__all__ = [
    "bincount",
    "maximum",
    "merged",
    "minimum",
    "segment_mean",
    "segment_sqrt_n",
    "segment_sum",
    "softmax",
    "sparse_dense_matmul",
]


def _groups(keys: Any) -> tuple[Any, Any]:
    """Return where runs of equal numbers begin, and the number of the run of each."""
    new = concat([ones_like(keys[:1], bool_), not_equal(keys[1:], keys[:-1])], 0)
    return new, cumsum(cast(new, int64)) - 1


def _together(a: SparseTensor, b: SparseTensor) -> tuple[Any, Any, Any, Any]:
    """Return the places of two tensors, and for each value, in row-major order, which one is its.

    Raises
    ------
    InvalidArgumentError
        The shapes or dtypes differ.
    """
    if a.values.dtype is not b.values.dtype:
        raise DTypeError(f"sparse tensors of {a.values.dtype.name} and {b.values.dtype.name}")
    if not a.shape.is_compatible_with(b.shape):
        raise InvalidArgumentError(f"Operands' shapes do not match: {a.shape} and {b.shape}")
    same = reduce_all(a.dense_shape == b.dense_shape)
    Assert(same, ["Operands' shapes do not match:", a.dense_shape])
    at, values = concat([a.indices, b.indices], 0), concat([a.values, b.values], 0)
    flat = reduce_sum(at * _strides(a.dense_shape), 1)
    order = argsort(flat, stable=True)
    at, values = gather(at, order), gather(values, order)
    new, group = _groups(gather(flat, order))
    return boolean_mask(at, new), values, group, new


def _made(at: Any, values: Any, a: SparseTensor, b: SparseTensor) -> SparseTensor:
    made = SparseTensor(at, values, a.dense_shape)
    if a.shape.rank is not None:
        made.set_shape(a.shape.merge_with(b.shape))
    return made


def merged(a: SparseTensor, b: SparseTensor, threshold: Any) -> SparseTensor:
    """Add the values of each place, in row-major order, but for sums that are too small."""
    at, values, group, _ = _together(a, b)
    values = dense_sum(values, group)
    if is_symbol(threshold) or threshold:
        kept = magnitude(values) >= threshold
        at, values = boolean_mask(at, kept), boolean_mask(values, kept)
    return _made(at, values, a, b)


def _extreme(name: str, combine: Any, choose: Any) -> Callable[..., Any]:
    def extreme(sp_a: Any, sp_b: Any, name: str | None = None) -> Any:
        at, values, group, _ = _together(sp_a, sp_b)
        best, count = combine(values, group), dense_sum(ones_like(group), group)
        # Where one of the two has no value it has a zero.
        best = where(count > 1, best, choose(best, zeros_like(best)))
        return _made(at, best, sp_a, sp_b)

    extreme.__name__ = extreme.__qualname__ = name
    extreme.__doc__ = f"""Compare the values of each place; mirrors ``tf.sparse.{name}``.

    Parameters
    ----------
    sp_a, sp_b
        Sparse tensors of one shape and dtype. What one of them lacks is a zero.
    name
        Accepted for TensorFlow's sake.

    Examples
    --------
    >>> a, b = tf.sparse.from_dense([0, -3]), tf.sparse.from_dense([4, -2])
    >>> tf.sparse.{name}(a, b).values.numpy()
    array({"[ 4, -2]" if name == "maximum" else "[ 0, -3]"}, dtype=int32)
    """
    return extreme


maximum = _extreme("maximum", segment_max, larger)
minimum = _extreme("minimum", segment_min, smaller)


def _segments(data: Any, indices: Any, segment_ids: Any, num_segments: Any, combine: Any) -> Any:
    x, ids = gather(convert(data), convert(indices)), convert(segment_ids)
    found = combine(x, ids)
    if num_segments is None:
        return found
    # What is left has no rows, and so zeros.
    dims = static_shape(found)
    if dims is None:
        raise InvalidArgumentError("rows of an unknown rank cannot be counted up to num_segments")
    total = cast(convert(num_segments), int64)
    more = total - shape(found, int64)[0]
    Assert(more >= 0, ["segment ids must be < num_segments", total])
    rest = fill(concat([reshape(more, [1]), shape(found, int64)[1:]], 0), convert(0, found.dtype))
    return concat([found, rest], 0)


def segment_sum(
    data: Any, indices: Any, segment_ids: Any, num_segments: Any = None, name: str | None = None,
    sparse_gradient: bool = False,
) -> Any:  # fmt: skip
    """Add up chosen rows of each segment; mirrors ``tf.sparse.segment_sum``.

    Parameters
    ----------
    data
        A tensor of rows.
    indices
        Which rows.
    segment_ids
        The segment of each, ascending.
    num_segments
        How many segments there are; by default up to the last one with rows.
    name, sparse_gradient
        Accepted for TensorFlow's sake.

    Examples
    --------
    >>> tf.sparse.segment_sum([1, 2, 3], [0, 2, 1], [0, 0, 1]).numpy()
    array([4, 2], dtype=int32)
    """
    return _segments(data, indices, segment_ids, num_segments, dense_sum)


def segment_mean(
    data: Any, indices: Any, segment_ids: Any, num_segments: Any = None, name: str | None = None,
    sparse_gradient: bool = False,
) -> Any:  # fmt: skip
    """Give the mean of chosen rows of each segment; mirrors ``tf.sparse.segment_mean``.

    Parameters are those of `segment_sum`.
    """
    return _segments(data, indices, segment_ids, num_segments, dense_mean)


def segment_sqrt_n(
    data: Any, indices: Any, segment_ids: Any, num_segments: Any = None, name: str | None = None,
    sparse_gradient: bool = False,
) -> Any:  # fmt: skip
    """Divide sums by the root of their number of rows; mirrors ``tf.sparse.segment_sqrt_n``.

    Parameters are those of `segment_sum`.
    """

    def combine(x: Any, ids: Any) -> Any:
        one = convert(1, x.dtype)
        return dense_sum(x, ids) / sqrt(larger(dense_sum(ones_like(x), ids), one))

    return _segments(data, indices, segment_ids, num_segments, combine)


def softmax(sp_input: Any, name: str | None = None) -> Any:
    """Apply softmax to the values along the last axis; mirrors ``tf.sparse.softmax``.

    Parameters
    ----------
    sp_input
        A sparse tensor of two axes or more, in row-major order. What it lacks takes no part.
    name
        Accepted for TensorFlow's sake.

    Examples
    --------
    >>> tf.sparse.softmax(tf.sparse.from_dense([[1.0, 0.0, 1.0]])).values.numpy()
    array([0.5, 0.5], dtype=float32)
    """
    st = sp_input
    dims = st.dense_shape
    rows = reduce_sum(st.indices[:, :-1] * _strides(dims[:-1]), 1)
    _, group = _groups(rows)
    top = gather(segment_max(st.values, group), group)
    raised = exp(st.values - top)
    return st.with_values(raised / gather(dense_sum(raised, group), group))


def sparse_dense_matmul(
    sp_a: Any, b: Any, adjoint_a: bool = False, adjoint_b: bool = False, name: str | None = None
) -> Any:
    """Multiply a sparse and a dense matrix; mirrors ``tf.sparse.sparse_dense_matmul``.

    Parameters
    ----------
    sp_a, b
        A sparse matrix and a dense one, or a dense one and a sparse one.
    adjoint_a, adjoint_b
        Take the conjugate transpose of one.
    name
        Accepted for TensorFlow's sake.

    Raises
    ------
    InvalidArgumentError
        The sizes between do not fit.

    Examples
    --------
    >>> a = tf.sparse.from_dense([[0.0, 2.0], [1.0, 0.0]])
    >>> tf.sparse.sparse_dense_matmul(a, [[1.0], [3.0]]).numpy()
    array([[6.],
           [1.]], dtype=float32)
    """
    from .array_ops import transpose

    if isinstance(b, SparseTensor) and not isinstance(sp_a, SparseTensor):
        # (A B)' is B' A'.
        found = sparse_dense_matmul(b, sp_a, not adjoint_b, not adjoint_a)
        found = transpose(found, [1, 0])
        return conj(found) if found.dtype.is_complex else found
    dense, values = convert(b), sp_a.values
    if adjoint_b:
        dense = transpose(dense, [1, 0])
        dense = conj(dense) if dense.dtype.is_complex else dense
    rows, columns = (1, 0) if adjoint_a else (0, 1)
    if adjoint_a and values.dtype.is_complex:
        values = conj(values)
    inner = sp_a.dense_shape[columns]
    Assert(
        inner == shape(dense, int64)[0],
        ["Cannot multiply A and B because inner dimension does not match:", inner],
    )
    parts = gather(dense, sp_a.indices[:, columns]) * expand_dims(values, 1)
    return unsorted_segment_sum(parts, sp_a.indices[:, rows], sp_a.dense_shape[rows])


def bincount(
    values: Any, weights: Any = None, axis: int = 0, minlength: Any = None, maxlength: Any = None,
    binary_output: bool = False, name: str | None = None,
) -> Any:  # fmt: skip
    """Count how often each number occurs; mirrors ``tf.sparse.bincount``.

    Parameters
    ----------
    values
        Integers from 0 on: a tensor, a sparse or a ragged one.
    weights
        What each counts, in the form of `values`.
    axis
        0 counts all together, -1 each row by itself.
    minlength, maxlength
        The least size of the last axis, and what numbers must be below to be counted.
    binary_output
        Give 1 for each number that occurs.
    name
        Accepted for TensorFlow's sake.

    Returns
    -------
    SparseTensor
        Counts in the dtype of `values`, or sums of weights in theirs.

    Examples
    --------
    >>> tf.sparse.to_dense(tf.sparse.bincount([[1, 3, 1], [0, 0, 2]], axis=-1)).numpy()
    array([[0, 2, 0, 1],
           [2, 0, 1, 0]], dtype=int32)
    """
    if axis not in (0, -1):
        raise ValueError(f"Unsupported value for argument axis={axis}. Only 0 and -1 are supported")
    rows, numbers, height = _rows_of(values, axis)
    kind, numbers = numbers.dtype, cast(numbers, int64)
    if weights is None or binary_output:
        counted = ones_like(numbers, kind)
    else:
        _, counted, _ = _rows_of(weights, axis)
    low = reduce_all(numbers >= 0)
    Assert(low, ["Input values must all be non-negative"])
    if maxlength is not None:
        kept = numbers < cast(convert(maxlength), int64)
        rows, numbers, counted = (boolean_mask(x, kept) for x in (rows, numbers, counted))
    zero = convert(-1, int64)
    width = reduce_max(concat([reshape(zero, [1]), numbers], 0)) + 1
    if maxlength is not None:
        width = smaller(width, cast(convert(maxlength), int64))
    if minlength is not None:
        width = larger(width, cast(convert(minlength), int64))
    keys = rows * larger(width, convert(1, int64)) + numbers
    order = argsort(keys, stable=True)
    rows, numbers, counted = (gather(x, order) for x in (rows, numbers, counted))
    new, group = _groups(gather(keys, order))
    totals = dense_sum(counted, group)
    if binary_output:
        totals = ones_like(totals)
    rows, numbers = boolean_mask(rows, new), boolean_mask(numbers, new)
    if height is None:
        return SparseTensor(expand_dims(numbers, 1), totals, reshape(width, [1]))
    return SparseTensor(stack([rows, numbers], 1), totals, stack([height, width]))


def _rows_of(values: Any, axis: int) -> tuple[Any, Any, Any]:
    """Return the row of each value, the values in a row, and how many rows there are, if any."""
    if isinstance(values, SparseTensor):
        rows, flat, height = values.indices[:, 0], values.values, values.dense_shape[0]
        one_axis = values.shape.rank == 1
    elif isinstance(values, RaggedTensor):
        rows, flat = cast(values.value_rowids(), int64), values.flat_values
        height, one_axis = cast(values.nrows(), int64), False
    else:
        x = convert(values)
        dims = static_shape(x)
        if dims is None or not 1 <= len(dims) <= 2:
            raise ValueError("values must have one axis or two")
        one_axis, flat = len(dims) == 1, reshape(x, [-1])
        height = shape(x, int64)[0]
        from .creation import range as count_up
        from .joining import repeat

        rows = zeros_like(flat, int64)
        if not one_axis:
            rows = repeat(count_up(height), shape(x, int64)[1])
    if axis == 0 or one_axis:
        return zeros_like(flat, int64), flat, None
    return rows, flat, height
