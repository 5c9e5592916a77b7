"""Comparisons and logic, value by value; mirrors that part of ``tf.math``."""

from __future__ import annotations

import builtins
from collections.abc import Callable
from typing import Any

import numpy as np

from ..errors import InvalidArgumentError
from .convert import convert
from .dtypes import bool as bool_
from .kernels import run, static_shape
from .operands import check_dtype, common_shape, composite, is_composite, operands
from .tensor import wrap

__all__ = [
    "equal",
    "greater",
    "greater_equal",
    "less",
    "less_equal",
    "logical_and",
    "logical_not",
    "logical_or",
    "logical_xor",
    "not_equal",
    "operator_equal",
    "operator_not_equal",
]


def _comparison(op: str, kernel: str) -> Callable[..., Any]:
    def compare(x: Any, y: Any, name: str | None = None) -> Any:
        if is_composite(x, y):
            return composite(compare, x, y)
        x, y = operands(op, x, y, strict=True)
        check_dtype(op, x, allowed=x.dtype.is_integer or x.dtype.is_floating)
        return run(kernel, (x, y), (common_shape(x, y), bool_))

    compare.__doc__ = f"Compare value by value; mirrors ``tf.math.{kernel}``."
    compare.__name__ = compare.__qualname__ = kernel
    return compare


less = _comparison("Less", "less")
less_equal = _comparison("LessEqual", "less_equal")
greater = _comparison("Greater", "greater")
greater_equal = _comparison("GreaterEqual", "greater_equal")


def equal(x: Any, y: Any, name: str | None = None) -> Any:
    """Return where values are equal; mirrors ``tf.math.equal``.

    Examples
    --------
    >>> tf.equal(["a", "b"], "a").numpy()
    array([ True, False])
    """
    if is_composite(x, y):
        return composite(equal, x, y)
    x, y = operands("Equal", x, y, strict=True)
    return run("equal", (x, y), (common_shape(x, y), bool_))


def not_equal(x: Any, y: Any, name: str | None = None) -> Any:
    """Return where values differ; mirrors ``tf.math.not_equal``."""
    if is_composite(x, y):
        return composite(not_equal, x, y)
    x, y = operands("NotEqual", x, y, strict=True)
    return run("not_equal", (x, y), (common_shape(x, y), bool_))


def operator_equal(x: Any, y: Any) -> Any:
    """Return ``x == y``, as the operator of a tensor does."""
    return False if y is None else _equal_or(equal, x, y, otherwise=False)


def operator_not_equal(x: Any, y: Any) -> Any:
    """Return ``x != y``, as the operator of a tensor does."""
    return True if y is None else _equal_or(not_equal, x, y, otherwise=True)


def _equal_or(compare: Callable[..., Any], x: Any, y: Any, *, otherwise: builtins.bool) -> Any:
    """Compare, as ``==`` does: tensors of shapes that do not fit are unequal as a whole."""
    if is_composite(x, y):
        return compare(x, y)
    x, y = operands("Equal", x, y, strict=True)
    try:
        common_shape(x, y)
    except InvalidArgumentError:
        return wrap(np.bool_(otherwise))
    return compare(x, y)


def _logical(op: str, kernel: str) -> Callable[..., Any]:
    def combine(x: Any, y: Any, name: str | None = None) -> Any:
        if is_composite(x, y):
            return composite(combine, x, y)
        x, y = convert(x, bool_), convert(y, bool_)
        return run(kernel, (x, y), (common_shape(x, y), bool_))

    combine.__doc__ = f"Combine bools value by value; mirrors ``tf.math.{kernel}``."
    combine.__name__ = combine.__qualname__ = kernel
    return combine


logical_and = _logical("LogicalAnd", "logical_and")
logical_or = _logical("LogicalOr", "logical_or")
logical_xor = _logical("LogicalXor", "logical_xor")


def logical_not(x: Any, name: str | None = None) -> Any:
    """Return where values are false; mirrors ``tf.math.logical_not``."""
    if is_composite(x):
        return composite(logical_not, x)
    x = convert(x, bool_)
    return run("logical_not", (x,), (static_shape(x), bool_))
