"""Functions of numbers that input code uses now and then; mirrors ``tf`` and ``tf.math``."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..errors import InvalidArgumentError
from .arithmetic import add, divide, maximum, minimum, multiply, subtract
from .array_ops import reshape, shape, transpose
from .casting import cast
from .comparison import less, less_equal
from .composite import by_value
from .convert import convert
from .creation import range as numbers
from .creation import zeros_like
from .dtypes import as_dtype, complex64, complex128, float32, float64, int32, int64
from .elementwise import atan2, exp, floor, imag, is_finite, log, log1p, real, sqrt, square
from .gathering import gather, one_hot, scatter_nd, where
from .joining import stack
from .kernels import broadcast, run, static_shape
from .operands import check_dtype
from .operands import operands as alike
from .reductions import cumsum, reduce_all, reduce_max, reduce_sum

__all__ = [
    "angle",
    "clip_by_global_norm",
    "clip_by_norm",
    "complex",
    "confusion_matrix",
    "cumulative_logsumexp",
    "global_norm",
    "histogram_fixed_width",
    "histogram_fixed_width_bins",
    "is_non_decreasing",
    "is_strictly_increasing",
    "nextafter",
    "polyval",
    "reverse_sequence",
    "unravel_index",
    "xlog1py",
]


def clip_by_norm(t: Any, clip_norm: Any, axes: Any = None, name: str | None = None) -> Any:
    """Shorten what is longer than a length; mirrors ``tf.clip_by_norm``.

    Examples
    --------
    >>> tf.clip_by_norm([3.0, 4.0], 1.0).numpy()
    array([0.6, 0.8], dtype=float32)
    """
    x = convert(t, None, float32)
    limit = convert(clip_norm, x.dtype)
    total = reduce_sum(square(x), axes, keepdims=True)
    empty = total <= convert(0, x.dtype)
    length = where(empty, total, sqrt(where(empty, total + convert(1, x.dtype), total)))
    return divide(multiply(x, limit), maximum(length, limit))


def global_norm(t_list: Any, name: str | None = None) -> Any:
    """Return the length of several tensors together; mirrors ``tf.linalg.global_norm``."""
    squares = [reduce_sum(square(convert(x, None, float32))) for x in t_list if x is not None]
    return sqrt(reduce_sum(stack(squares)))


def clip_by_global_norm(
    t_list: Any, clip_norm: Any, use_norm: Any = None, name: str | None = None
) -> tuple[list[Any], Any]:
    """Shorten several tensors together; mirrors ``tf.clip_by_global_norm``.

    Examples
    --------
    >>> clipped, length = tf.clip_by_global_norm([tf.constant([3.0]), tf.constant([4.0])], 1.0)
    >>> float(length)
    5.0
    """
    total = global_norm(t_list) if use_norm is None else convert(use_norm)
    limit = convert(clip_norm, total.dtype)
    scale = multiply(limit, minimum(divide(1.0, total), divide(1.0, limit)))
    return [None if x is None else multiply(convert(x), scale) for x in t_list], total


def complex(real: Any, imag: Any, name: str | None = None) -> Any:
    """Return complex numbers of their parts; mirrors ``tf.complex``.

    Examples
    --------
    >>> tf.complex([1.0], [2.0]).numpy()
    array([1.+2.j], dtype=complex64)
    """
    a, b = alike("Complex", convert(real, None, float32), convert(imag, None, float32), strict=True)
    if a.dtype not in (float32, float64):
        raise TypeError(f"real and imag have incorrect types: {a.dtype.name} {b.dtype.name}")
    kind = complex64 if a.dtype == float32 else complex128
    return add(cast(a, kind), multiply(cast(b, kind), convert(1j, kind)))


@by_value
def angle(input: Any, name: str | None = None) -> Any:
    """Return the angles of complex numbers; mirrors ``tf.math.angle``."""
    x = convert(input)
    if not x.dtype.is_complex:
        return where(x < convert(0, x.dtype), convert(math.pi, x.dtype), zeros_like(x))
    return atan2(imag(x), real(x))


def polyval(coeffs: Any, x: Any, name: str | None = None) -> Any:
    """Return the value of a polynomial; mirrors ``tf.math.polyval``.

    Examples
    --------
    >>> tf.math.polyval([2.0, 0.0, 1.0], 3.0).numpy()
    np.float32(19.0)
    """
    if not isinstance(coeffs, list):
        raise ValueError(f"Argument coeffs must be list type. Received type {type(coeffs)}.")
    at = convert(x)
    if not coeffs:
        return zeros_like(at)
    found = convert(coeffs[0], at.dtype)
    for coefficient in coeffs[1:]:
        found = add(convert(coefficient, at.dtype), multiply(found, at))
    return found


def xlog1py(x: Any, y: Any, name: str | None = None) -> Any:
    """Return ``x * log1p(y)``, 0 where `x` is; mirrors ``tf.math.xlog1py``."""
    a, b = alike("Xlog1py", x, y)
    zero = convert(0, a.dtype)
    return where(a == zero, zero, multiply(a, log1p(b)))


def nextafter(x1: Any, x2: Any, name: str | None = None) -> Any:
    """Return the next number in a direction; mirrors ``tf.math.nextafter``."""
    a, b = alike("NextAfter", x1, x2, strict=True)
    check_dtype("NextAfter", a, allowed=a.dtype in (float32, float64))
    return run("nextafter", (a, b), (broadcast(static_shape(a), static_shape(b)), a.dtype))


def is_non_decreasing(x: Any, name: str | None = None) -> Any:
    """Tell whether no value is below the one before; mirrors ``tf.math.is_non_decreasing``.

    Examples
    --------
    >>> bool(tf.math.is_non_decreasing([1, 1, 2]))
    True
    """
    flat = reshape(x, [-1])
    return reduce_all(less_equal(flat[:-1], flat[1:]))


def is_strictly_increasing(x: Any, name: str | None = None) -> Any:
    """Tell whether each value is above the one before; mirrors ``tf.math``'s function."""
    flat = reshape(x, [-1])
    return reduce_all(less(flat[:-1], flat[1:]))


def cumulative_logsumexp(
    x: Any, axis: int = 0, exclusive: bool = False, reverse: bool = False, name: str | None = None
) -> Any:
    """Return logarithms of running sums of powers; mirrors ``tf.math.cumulative_logsumexp``."""
    y = convert(x, None, float32)
    largest = reduce_max(y, axis, keepdims=True)
    largest = where(is_finite(largest), largest, zeros_like(largest))
    total = cumsum(exp(subtract(y, largest)), axis, exclusive, reverse)
    return add(log(total), largest)


def confusion_matrix(
    labels: Any,
    predictions: Any,
    num_classes: Any = None,
    weights: Any = None,
    dtype: Any = int32,
    name: str | None = None,
) -> Any:
    """Count pairs of classes; mirrors ``tf.math.confusion_matrix``.

    Examples
    --------
    >>> tf.math.confusion_matrix([0, 1, 1], [0, 1, 0]).numpy()
    array([[1, 0],
           [1, 1]], dtype=int32)
    """
    kind = as_dtype(dtype)
    a, b = cast(labels, int64), cast(predictions, int64)
    if num_classes is None:
        from .convert import is_symbol
        from .tensor import raw

        if is_symbol(a) or is_symbol(b):
            raise InvalidArgumentError("num_classes must be given when tracing")
        both = [raw(x) for x in (a, b)]
        num_classes = max((int(x.max()) + 1 for x in both if x.size), default=1)
    size = int(num_classes)
    ones = convert(1, kind) if weights is None else cast(weights, kind)
    updates = add(cast(zeros_like(a), kind), ones)
    return scatter_nd(stack([a, b], axis=1), updates, [size, size])


def histogram_fixed_width_bins(
    values: Any, value_range: Any, nbins: Any = 100, dtype: Any = int32, name: str | None = None
) -> Any:
    """Return the bin of each value; mirrors ``tf.histogram_fixed_width_bins``.

    Examples
    --------
    >>> tf.histogram_fixed_width_bins([-1.0, 0.0, 1.5, 2.0, 5.0, 15.0], [0.0, 5.0], 5).numpy()
    array([0, 0, 1, 2, 4, 4], dtype=int32)
    """
    x = convert(values)
    low, high = (convert(end, x.dtype) for end in (value_range[0], value_range[1]))
    count = int(nbins)
    share = divide(subtract(x, low), subtract(high, low))
    place = floor(multiply(cast(count, share.dtype), share))
    limit = cast(count - 1, place.dtype)
    return cast(maximum(minimum(place, limit), zeros_like(place)), as_dtype(dtype))


def histogram_fixed_width(
    values: Any, value_range: Any, nbins: Any = 100, dtype: Any = int32, name: str | None = None
) -> Any:
    """Count values in bins of one width; mirrors ``tf.histogram_fixed_width``.

    Examples
    --------
    >>> tf.histogram_fixed_width([-1.0, 0.0, 1.5, 2.0, 5.0, 15.0], [0.0, 5.0], 5).numpy()
    array([2, 1, 1, 0, 2], dtype=int32)
    """
    places = reshape(histogram_fixed_width_bins(values, value_range, nbins), [-1])
    return reduce_sum(one_hot(places, int(nbins), dtype=as_dtype(dtype)), 0)


def unravel_index(indices: Any, dims: Any, name: str | None = None) -> Any:
    """Return places along axes of places in a flat array; mirrors ``tf.unravel_index``.

    Examples
    --------
    >>> tf.unravel_index([2, 5, 7], [3, 3]).numpy()
    array([[0, 1, 2],
           [2, 2, 1]], dtype=int32)
    """
    at, sizes = alike("UnravelIndex", indices, dims, strict=True)
    count = (static_shape(sizes) or (None,))[0]
    if count is None:
        raise InvalidArgumentError("the number of axes must be known when tracing")
    parts = []
    for axis in reversed(range(count)):
        parts.append(at % sizes[axis])
        at = at // sizes[axis]
    return stack(parts[::-1], 0)


def reverse_sequence(
    input: Any,
    seq_lengths: Any,
    seq_axis: int | None = None,
    batch_axis: int | None = None,
    name: str | None = None,
) -> Any:
    """Turn the first values of each row round; mirrors ``tf.reverse_sequence``.

    Examples
    --------
    >>> tf.reverse_sequence([[1, 2, 3], [4, 5, 6]], [2, 3], seq_axis=1).numpy()
    array([[2, 1, 3],
           [6, 5, 4]], dtype=int32)
    """
    from .control import Assert

    x, lengths = convert(input), cast(seq_lengths, int64)
    along, rows = seq_axis or 0, batch_axis or 0
    dims = static_shape(x)
    if dims is None:
        raise InvalidArgumentError("reverse_sequence needs a tensor of known rank")
    along, rows = along % len(dims), rows % len(dims)
    if along == rows:
        raise InvalidArgumentError(f"batch_axis == seq_axis {along}")
    others = [k for k in range(len(dims)) if k not in (along, rows)]
    order = [rows, along, *others]
    x = transpose(x, order)
    count = cast(shape(x)[1], int64)
    fits = reduce_all(less_equal(lengths, count))
    Assert(fits, ["seq_lengths are longer than the axis:", lengths])
    places = cast(numbers(count), int64)
    turned = lengths[:, None] - 1 - places
    at = where(turned >= convert(0, int64), turned, places)
    return transpose(gather(x, at, axis=1, batch_dims=1), np.argsort(order).tolist())
