"""Sums, means, extremes along axes; part of ``tf.math``."""

from __future__ import annotations

import builtins
from collections.abc import Callable
from typing import Any

import numpy as np

from ..errors import InvalidArgumentError
from .arithmetic import abs as abs_of
from .arithmetic import add, subtract
from .casting import cast
from .composite import or_ragged
from .convert import convert, is_symbol
from .dtypes import DType, as_dtype, float32, float64, int32, int64
from .dtypes import bool as bool_
from .elementwise import exp, log, sqrt, square
from .kernels import Dims, axis_of, run, static_shape
from .operands import check_dtype
from .tensor import Tensor, raw, wrap

__all__ = [
    "argmax",
    "argmin",
    "bincount",
    "count_nonzero",
    "cumprod",
    "cumsum",
    "reduce_all",
    "reduce_any",
    "reduce_euclidean_norm",
    "reduce_logsumexp",
    "reduce_max",
    "reduce_mean",
    "reduce_min",
    "reduce_prod",
    "reduce_std",
    "reduce_sum",
    "reduce_variance",
    "segment_max",
    "segment_mean",
    "segment_min",
    "segment_prod",
    "segment_sum",
    "unsorted_segment_max",
    "unsorted_segment_min",
    "unsorted_segment_prod",
    "unsorted_segment_sum",
    "zero_fraction",
]


def axes_of(axis: Any, rank: int | None) -> list[int] | None:
    """Return the axes of a reduction as a list of numbers; None for all.

    Raises
    ------
    InvalidArgumentError
        An axis that is not there.
    """
    if axis is None:
        return None
    if type(axis) is Tensor or isinstance(axis, np.ndarray):
        axis = raw(axis).tolist()
    found = [int(k) for k in (axis if isinstance(axis, list | tuple | range) else (axis,))]
    if rank is not None:
        for k in found:
            if not -rank <= k < rank:
                raise InvalidArgumentError(
                    f"Invalid reduction dimension ({k} for input with {rank} dimension(s))"
                )
    return found


def _rest(dims: Dims, axes: list[int] | None, keepdims: builtins.bool) -> Dims:
    """Return the shape that is left."""
    if dims is None:
        return () if axes is None and not keepdims else None
    gone = range(len(dims)) if axes is None else [k % len(dims) for k in axes]
    if keepdims:
        return tuple(1 if k in gone else dim for k, dim in enumerate(dims))
    return tuple(dim for k, dim in enumerate(dims) if k not in gone)


def _reduce(
    kernel: str, x: Any, axis: Any, keepdims: builtins.bool, gives: DType, **attrs: Any
) -> Any:
    if is_symbol(axis):
        return _along_computed(kernel, x, axis, keepdims, gives, **attrs)
    dims = static_shape(x)
    axes = axes_of(axis, None if dims is None else len(dims))
    if axes == []:
        return x
    out = (_rest(dims, axes, keepdims), gives)
    return run(kernel, (x,), out, axis=axes, keepdims=bool(keepdims), **attrs)


def _along_computed(
    kernel: str, x: Any, axis: Any, keepdims: builtins.bool, gives: DType, **attrs: Any
) -> Any:
    """Reduce along an axis that only a run knows: each of them is a branch."""
    from .arithmetic import floormod
    from .comparison import equal, logical_and
    from .control import Assert, cond

    dims, given = static_shape(x), static_shape(axis)
    if dims is None or given not in ((), (1,)):
        return axis._tracer.unrecorded("axes that a run computes", None, gives)
    place, rank = axis if given == () else axis[0], len(dims)
    there = logical_and(place >= -rank, place < rank)
    Assert(there, ["Invalid reduction dimension", place, f"for input with {rank} dimension(s)"])
    place = floormod(place, max(rank, 1))

    def along(k: int) -> Any:
        def reduced() -> Any:
            return _reduce(kernel, x, k, keepdims, gives, **attrs)

        return cond(equal(place, k), reduced, lambda: along(k + 1)) if k < rank - 1 else reduced()

    return along(0) if rank else x


def _ragged(name: str, x: Any, axis: Any, keepdims: builtins.bool) -> Any:
    reducer = getattr(x, "_reduce", None)
    return None if reducer is None else reducer(name, axis, keepdims)


def _number(op: str, name: str, kernel: str) -> Callable[..., Any]:
    def reduce(
        input_tensor: Any, axis: Any = None, keepdims: builtins.bool = False,
        name: str | None = None,
    ) -> Any:  # fmt: skip
        found = _ragged(label, input_tensor, axis, keepdims)
        if found is not None:
            return found
        x = convert(input_tensor)
        check_dtype(op, x, allowed=x.dtype.is_numeric)
        if kernel in ("max", "min") and not is_symbol(x) and 0 in raw(x).shape:
            return _extreme_of_nothing(kernel, x, axis, keepdims)
        attrs = {"dtype": x.dtype.dtype} if kernel in ("sum", "prod") else {}
        return _reduce(kernel, x, axis, keepdims, x.dtype, **attrs)

    label = name
    reduce.__name__ = reduce.__qualname__ = name
    reduce.__doc__ = f"Reduce along axes, all if ``axis`` is None; mirrors ``tf.math.{name}``."
    return reduce


def _extreme_of_nothing(kernel: str, x: Any, axis: Any, keepdims: builtins.bool) -> Any:
    low, high = (-np.inf, np.inf) if x.dtype.is_floating else (x.dtype.min, x.dtype.max)
    array = raw(x)
    axes = axes_of(axis, array.ndim)
    reduce = np.max if kernel == "max" else np.min
    start = array.dtype.type(low if kernel == "max" else high)
    found = reduce(array, None if axes is None else tuple(axes), keepdims=keepdims, initial=start)
    return convert(np.asarray(found, array.dtype))


reduce_sum = _number("Sum", "reduce_sum", "sum")
reduce_prod = _number("Prod", "reduce_prod", "prod")
reduce_max = _number("Max", "reduce_max", "max")
reduce_min = _number("Min", "reduce_min", "min")


def reduce_mean(
    input_tensor: Any, axis: Any = None, keepdims: builtins.bool = False, name: str | None = None
) -> Any:
    """Return the mean along axes; integers stay integers; mirrors ``tf.math.reduce_mean``.

    Examples
    --------
    >>> tf.reduce_mean([1, 2]).numpy(), tf.reduce_mean([1.0, 2.0]).numpy()
    (np.int32(1), np.float32(1.5))
    """
    found = _ragged("reduce_mean", input_tensor, axis, keepdims)
    if found is not None:
        return found
    x = convert(input_tensor)
    check_dtype("Mean", x, allowed=x.dtype.is_numeric)
    return _reduce("mean", x, axis, keepdims, x.dtype, dtype=x.dtype.dtype)


def _logical(name: str, kernel: str) -> Callable[..., Any]:
    def reduce(
        input_tensor: Any, axis: Any = None, keepdims: builtins.bool = False,
        name: str | None = None,
    ) -> Any:  # fmt: skip
        found = _ragged(label, input_tensor, axis, keepdims)
        if found is not None:
            return found
        return _reduce(kernel, convert(input_tensor, bool_), axis, keepdims, bool_)

    label = name
    reduce.__name__ = reduce.__qualname__ = name
    reduce.__doc__ = f"Combine bools along axes; mirrors ``tf.math.{name}``."
    return reduce


reduce_any = _logical("reduce_any", "any")
reduce_all = _logical("reduce_all", "all")


@or_ragged
def reduce_variance(
    input_tensor: Any, axis: Any = None, keepdims: builtins.bool = False, name: str | None = None
) -> Any:
    """Return the variance along axes; mirrors ``tf.math.reduce_variance``."""
    x = convert(input_tensor)
    if x.dtype.is_integer:
        raise TypeError("Input must be either real or complex.")
    away = subtract(x, reduce_mean(x, axis, keepdims=True))
    if x.dtype.is_complex:
        away = abs_of(away)
    return reduce_mean(square(away), axis, keepdims)


def reduce_std(
    input_tensor: Any, axis: Any = None, keepdims: builtins.bool = False, name: str | None = None
) -> Any:
    """Return the standard deviation along axes; mirrors ``tf.math.reduce_std``."""
    return sqrt(reduce_variance(input_tensor, axis, keepdims))


def reduce_euclidean_norm(
    input_tensor: Any, axis: Any = None, keepdims: builtins.bool = False, name: str | None = None
) -> Any:
    """Return the length along axes; mirrors ``tf.math.reduce_euclidean_norm``."""
    x = convert(input_tensor)
    wide = cast(x, float64) if x.dtype.is_integer else abs_of(x) if x.dtype.is_complex else x
    return cast(sqrt(reduce_sum(square(wide), axis, keepdims)), x.dtype)


def reduce_logsumexp(
    input_tensor: Any, axis: Any = None, keepdims: builtins.bool = False, name: str | None = None
) -> Any:
    """Return ``log(sum(exp(x)))`` without overflow; mirrors ``tf.math.reduce_logsumexp``."""
    x = convert(input_tensor)
    from .elementwise import is_finite
    from .gathering import where

    top = reduce_max(x, axis, keepdims=True)
    top = where(is_finite(top), top, wrap(np.zeros((), x.dtype.dtype)))
    total = log(reduce_sum(exp(subtract(x, top)), axis, keepdims=True))
    return _reduce("sum", add(total, top), axis, keepdims, x.dtype, dtype=x.dtype.dtype)


def _position(name: str) -> Callable[..., Any]:
    def find(
        input: Any, axis: Any = None, output_type: Any = int64, name: str | None = None
    ) -> Any:
        from .comparison import not_equal
        from .gathering import where

        x = convert(input)
        place = 0 if axis is None else axes_of(axis, None)[0]  # type: ignore[index]
        dims = static_shape(x)
        if dims is not None:
            place = axis_of(place, len(dims))
        if x.dtype.is_floating:  # what is no number is never the extreme
            low = np.asarray(-np.inf if label == "argmax" else np.inf, x.dtype.dtype)
            x = where(not_equal(x, x), wrap(low), x)
        out = (_rest(dims, [place], False), int64)
        return cast(run(label, (x,), out, axis=place), as_dtype(output_type))

    label = name
    find.__name__ = find.__qualname__ = name
    find.__doc__ = f"Return where the extreme is along an axis; mirrors ``tf.math.{name}``."
    return find


argmax = _position("argmax")
argmin = _position("argmin")


def count_nonzero(
    input: Any, axis: Any = None, keepdims: builtins.bool = False, dtype: Any = int64,
    name: str | None = None,
) -> Any:  # fmt: skip
    """Count what is not zero along axes; mirrors ``tf.math.count_nonzero``."""
    from .comparison import not_equal
    from .creation import zeros_like

    x = convert(input)
    return reduce_sum(cast(not_equal(x, zeros_like(x)), dtype), axis, keepdims)


def zero_fraction(value: Any, name: str | None = None) -> Any:
    """Return the share of zeros; mirrors ``tf.math.zero_fraction``."""
    from .comparison import equal
    from .creation import zeros_like
    from .dtypes import float32

    x = convert(value)
    return reduce_mean(cast(equal(x, zeros_like(x)), float32))


def _running(name: str, kernel: str) -> Callable[..., Any]:
    def accumulate(
        x: Any, axis: int = 0, exclusive: builtins.bool = False, reverse: builtins.bool = False,
        name: str | None = None,
    ) -> Any:  # fmt: skip
        x = convert(x)
        check_dtype(label.capitalize(), x, allowed=x.dtype.is_numeric)
        dims = static_shape(x)
        (along,) = axes_of(axis, None if dims is None else len(dims)) or [0]
        flags = {"exclusive": bool(exclusive), "reverse": bool(reverse)}
        attrs = {"op": kernel, "axis": along, **flags}
        return run("cumulate", (x,), (dims, x.dtype), **attrs)

    label = name
    accumulate.__name__ = accumulate.__qualname__ = name
    accumulate.__doc__ = f"Accumulate along an axis; mirrors ``tf.math.{name}``."
    return or_ragged(accumulate) if name == "cumsum" else accumulate


cumsum = _running("cumsum", "add")
cumprod = _running("cumprod", "multiply")


@or_ragged
def bincount(
    arr: Any, weights: Any = None, minlength: Any = None, maxlength: Any = None,
    dtype: Any = int32, name: str | None = None, axis: Any = None,
    binary_output: builtins.bool = False,
) -> Any:  # fmt: skip
    """Count how often each number occurs; mirrors ``tf.math.bincount`` of dense values.

    With ``axis=-1`` the numbers of each row are counted on their own.

    Raises
    ------
    ValueError
        Another `axis` than 0 and -1, or weights for a binary output.
    InvalidArgumentError
        A number is negative, or the weights are of another shape.

    Examples
    --------
    >>> tf.math.bincount([[1, 2], [2, 2]], axis=-1).numpy()
    array([[0, 1, 1],
           [0, 0, 2]], dtype=int32)
    """
    if axis not in (None, 0, -1):
        raise ValueError(f"axis={axis} is not supported, only 0 and -1 are")
    x = convert(arr)
    shares = None if weights is None else convert(weights)
    target = as_dtype(dtype) if shares is None else shares.dtype
    low = 0 if minlength is None else int(minlength)
    if shares is not None and binary_output:
        raise ValueError("Arguments `binary_output` and `weights` are mutually exclusive")
    shapes = [None if part is None else static_shape(part) for part in (x, shares)]
    if None not in shapes and shapes[0] != shapes[1]:
        text = f"`weights` must be the same shape as `arr`, got {shapes[1]} and {shapes[0]}"
        raise InvalidArgumentError(text)
    if axis == -1 and len(static_shape(x) or ()) > 1:
        return _counted_rows(x, shares, low, maxlength, target, binary_output)

    from .array_ops import reshape

    args = tuple(reshape(part, [-1]) for part in (x, shares) if part is not None)
    most = None if maxlength is None else int(maxlength)
    attrs = {"minlength": low, "maxlength": most, "dtype": target.dtype}
    found = run("bincount", args, ((None,), target), **attrs)
    return cast(found > 0, target) if binary_output else found


def _counted_rows(
    x: Any, shares: Any, low: int, most: Any, target: DType, binary: builtins.bool
) -> Any:
    """Count the numbers of each row: all of them at once, those of a row behind those before it."""
    from .arithmetic import maximum, minimum
    from .array_ops import reshape, shape
    from .creation import ones_like
    from .creation import range as numbers
    from .debugging import assert_non_negative
    from .gathering import where

    assert_non_negative(x, "Input arr must be non-negative!")
    x = cast(x, int64)
    count = maximum(reduce_max(x) + 1, low)
    if most is not None:
        count = minimum(count, convert(int(most), int64))
    rows = shape(x, int64)[0]
    weights = ones_like(x, target) if shares is None else shares
    places = where(x < count, numbers(rows)[:, None] * count + x, convert(-1, int64))
    found = unsorted_segment_sum(reshape(weights, [-1]), reshape(places, [-1]), rows * count)
    found = reshape(found, [rows, count])
    return cast(found > 0, target) if binary else found


# -------------------------------------------------------------------- segments


def _segments(name: str, op: str, empty: Any) -> Callable[..., Any]:
    def combine(data: Any, segment_ids: Any, name: str | None = None) -> Any:
        x, ids = convert(data), convert(segment_ids)
        check_dtype(label, x, allowed=x.dtype.is_integer or x.dtype.is_floating)
        dims = static_shape(x)
        out = None if dims is None else (None, *dims[1:])
        attrs = {"op": op, "sorted": True, "empty": np.asarray(empty, x.dtype.dtype)}
        return run("segments", (x, ids), (out, x.dtype), **attrs)

    label = name
    combine.__name__ = combine.__qualname__ = name
    combine.__doc__ = f"""Combine the rows of each segment; mirrors ``tf.math.{name}``.

    Parameters
    ----------
    data
        Rows along the first axis.
    segment_ids
        The segment of each row, ascending. A segment without rows is {empty}.

    Raises
    ------
    InvalidArgumentError
        The ids are not ascending, negative, or not as many as rows.
    """
    return combine


def _unsorted(name: str, op: str, empty: Callable[[DType], Any]) -> Callable[..., Any]:
    def combine(data: Any, segment_ids: Any, num_segments: Any, name: str | None = None) -> Any:
        x, ids, count = convert(data), convert(segment_ids), convert(num_segments)
        check_dtype(label, x, allowed=x.dtype.is_integer or x.dtype.is_floating)
        dims, lead = static_shape(x), static_shape(ids)
        known = None if is_symbol(count) else int(raw(count))
        out = None if dims is None or lead is None else (known, *dims[len(lead) :])
        attrs = {"op": op, "empty": np.asarray(empty(x.dtype), x.dtype.dtype), "count": known}
        args = (x, ids) if known is not None else (x, ids, count)
        return run("segments", args, (out, x.dtype), **attrs)

    label = name
    combine.__name__ = combine.__qualname__ = name
    combine.__doc__ = f"""Combine the rows of each segment; mirrors ``tf.math.{name}``.

    Parameters
    ----------
    data
        Values; their first axes are those of the ids.
    segment_ids
        The segment of each row, in any order. Negative ones are left out.
    num_segments
        How many segments there are.

    Raises
    ------
    InvalidArgumentError
        An id is no segment, or the shapes do not fit.
    """
    return combine


def _lowest(dtype: DType) -> Any:
    return dtype.min


def _highest(dtype: DType) -> Any:
    return dtype.max


segment_sum = _segments("segment_sum", "add", 0)
segment_prod = _segments("segment_prod", "multiply", 1)
segment_max = _segments("segment_max", "max", 0)
segment_min = _segments("segment_min", "min", 0)
unsorted_segment_sum = _unsorted("unsorted_segment_sum", "add", lambda _: 0)
unsorted_segment_prod = _unsorted("unsorted_segment_prod", "multiply", lambda _: 1)
unsorted_segment_max = _unsorted("unsorted_segment_max", "max", _lowest)
unsorted_segment_min = _unsorted("unsorted_segment_min", "min", _highest)


def segment_mean(data: Any, segment_ids: Any, name: str | None = None) -> Any:
    """Return the mean of the rows of each segment; mirrors ``tf.math.segment_mean``."""
    from .arithmetic import maximum, truncatediv
    from .creation import ones_like

    x = convert(data)
    sums, counts = segment_sum(x, segment_ids), segment_sum(ones_like(x), segment_ids)
    counts = maximum(counts, np.asarray(1, x.dtype.dtype))
    return truncatediv(sums, counts) if x.dtype.is_integer else sums / counts


def _divisor(data: Any, segment_ids: Any, num_segments: Any) -> tuple[Any, Any]:
    """Return the sums of unsorted segments, and how many rows each has, at least 1."""
    from .arithmetic import maximum
    from .array_ops import expand_dims
    from .creation import ones_like

    x, ids = convert(data), convert(segment_ids)
    small = x.dtype.is_integer and x.dtype.size < 4
    kind = x.dtype if x.dtype.is_floating else float32 if small else float64
    counts = unsorted_segment_sum(cast(ones_like(ids), kind), ids, num_segments)
    dims, lead = static_shape(x), static_shape(ids)
    if dims is None or lead is None:
        raise ValueError("the mean of segments needs data and segment_ids of known rank")
    for _ in dims[len(lead) :]:
        counts = expand_dims(counts, -1)
    sums = unsorted_segment_sum(x, ids, num_segments)
    return sums, maximum(counts, np.asarray(1, kind.dtype))


def unsorted_segment_mean(
    data: Any, segment_ids: Any, num_segments: Any, name: str | None = None
) -> Any:
    """Return the mean of each segment, in any order; mirrors ``tf.math.unsorted_segment_mean``."""
    sums, counts = _divisor(data, segment_ids, num_segments)
    return cast(sums, counts.dtype) / counts


def unsorted_segment_sqrt_n(
    data: Any, segment_ids: Any, num_segments: Any, name: str | None = None
) -> Any:
    """Return sums by the roots of counts; mirrors ``tf.math.unsorted_segment_sqrt_n``."""
    sums, counts = _divisor(data, segment_ids, num_segments)
    check_dtype("Sqrt", sums, allowed=sums.dtype.is_floating)
    return sums / sqrt(counts)
