"""Conversions, bounds and reductions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..ops import is_symbol, value

__all__ = [
    "cast",
    "clip_by_value",
    "divide_no_nan",
    "reduce_all",
    "reduce_any",
    "reduce_max",
    "reduce_mean",
    "reduce_min",
    "reduce_prod",
    "reduce_std",
    "reduce_sum",
    "reduce_variance",
]


def cast(x: Any, dtype: Any) -> Any:
    """Convert to another dtype, as ``ndarray.astype`` does; mirrors ``tf.cast``.

    Parameters
    ----------
    x
        Numbers or truth values, of any shape.
    dtype
        The dtype of the result, which has the same shape.

    Raises
    ------
    TypeError, ValueError
        Text among numbers.

    Examples
    --------
    >>> hr.math.cast(np.array([1.7, -1.7]), np.int32)
    array([ 1, -1], dtype=int32)
    """
    x = value(x)
    if is_symbol(x):
        return x.astype(dtype)
    found = np.asarray(x).astype(dtype)
    return found if found.ndim else found[()]


def clip_by_value(t: Any, clip_value_min: Any, clip_value_max: Any) -> Any:
    """Bring values between two bounds; mirrors ``tf.clip_by_value``.

    Parameters
    ----------
    t
        Numbers, of any shape.
    clip_value_min, clip_value_max
        The bounds, which broadcast against `t`.

    Examples
    --------
    >>> hr.math.clip_by_value(np.array([-5, 0, 9]), 0, 4)
    array([0, 0, 4])
    """
    return np.clip(value(t), clip_value_min, clip_value_max)


def divide_no_nan(x: Any, y: Any) -> Any:
    """Divide, with 0 where the divisor is 0; mirrors ``tf.math.divide_no_nan``.

    Parameters
    ----------
    x, y
        Numbers that broadcast against each other; integers give float64.

    Examples
    --------
    >>> hr.math.divide_no_nan(np.array([3.0, 1.0]), np.array([2.0, 0.0]))
    array([1.5, 0. ])
    """
    x, y = value(x), value(y)
    nothing = np.equal(y, 0)
    quotient = np.true_divide(x, np.where(nothing, np.ones_like(y), y))
    return np.where(nothing, np.zeros_like(quotient), quotient)


def _reduction(name: str, function: Callable[..., Any], what: str, example: str) -> Any:
    def reduce(input_tensor: Any, axis: Any = None, keepdims: bool = False) -> Any:
        axis = tuple(axis) if isinstance(axis, list) else axis
        return function(value(input_tensor), axis=axis, keepdims=keepdims)

    reduce.__name__ = reduce.__qualname__ = name
    place = "math.reduce" if name in ("reduce_std", "reduce_variance") else "reduce"
    reduce.__doc__ = f"""Return {what} along axes; mirrors ``tf.{name.replace("reduce", place)}``.

    Parameters
    ----------
    input_tensor
        The values.
    axis
        An axis, several, or None for all. Each is gone from the result, or of size 1 with
        `keepdims`.
    keepdims
        Keep the axes.

    Examples
    --------
    {example}
    """
    return reduce


reduce_sum = _reduction(
    "reduce_sum",
    np.sum,
    "the sum",
    ">>> hr.math.reduce_sum(np.array([[1, 2], [3, 4]]), axis=1)\n    array([3, 7])",
)
reduce_mean = _reduction(
    "reduce_mean",
    np.mean,
    "the mean (float64 of integers)",
    ">>> hr.math.reduce_mean(np.array([1, 2]))\n    np.float64(1.5)",
)
reduce_prod = _reduction(
    "reduce_prod",
    np.prod,
    "the product",
    ">>> hr.math.reduce_prod(np.array([2, 3]))\n    np.int64(6)",
)
reduce_max = _reduction(
    "reduce_max",
    np.max,
    "the greatest value",
    ">>> hr.math.reduce_max(np.array([2, 3]))\n    np.int64(3)",
)
reduce_min = _reduction(
    "reduce_min",
    np.min,
    "the least value",
    ">>> hr.math.reduce_min(np.array([2, 3]))\n    np.int64(2)",
)
reduce_any = _reduction(
    "reduce_any",
    np.any,
    "whether any is true",
    ">>> hr.math.reduce_any(np.array([True, False]))\n    np.True_",
)
reduce_all = _reduction(
    "reduce_all",
    np.all,
    "whether all are true",
    ">>> hr.math.reduce_all(np.array([True, False]))\n    np.False_",
)
reduce_std = _reduction(
    "reduce_std",
    np.std,
    "the standard deviation",
    ">>> hr.math.reduce_std(np.array([1.0, 3.0]))\n    np.float64(1.0)",
)
reduce_variance = _reduction(
    "reduce_variance",
    np.var,
    "the variance",
    ">>> hr.math.reduce_variance(np.array([1.0, 5.0]))\n    np.float64(4.0)",
)
