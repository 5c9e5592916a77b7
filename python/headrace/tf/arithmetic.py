"""Arithmetic and comparison of two tensors, with TensorFlow's dtypes.

The second operand takes the first one's dtype where it can: a number or array does, a tensor of
another dtype is an error. So `add(1.5, 1)` is float32 and `add(1, 1.5)` raises.
"""

from __future__ import annotations

import builtins
from collections.abc import Callable
from typing import Any

from ..errors import InvalidArgumentError
from .comparison import (
    equal,
    greater,
    greater_equal,
    less,
    less_equal,
    logical_and,
    logical_not,
    logical_or,
    logical_xor,
    not_equal,
    operator_equal,
    operator_not_equal,
)
from .composite import by_value
from .convert import convert, is_dense, is_symbol
from .dtypes import as_dtype, float32, float64, string
from .dtypes import bool as bool_
from .kernels import broadcast, run, static_shape
from .operands import check_dtype, common_shape, composite, is_composite, operands
from .shapes import TensorShape
from .tensor import raw

__all__ = [
    "OPERATORS",
    "UNARY",
    "abs",
    "accumulate_n",
    "add",
    "add_n",
    "divide",
    "divide_no_nan",
    "floordiv",
    "floormod",
    "matmul",
    "maximum",
    "minimum",
    "mod",
    "multiply",
    "multiply_no_nan",
    "negative",
    "pow",
    "realdiv",
    "scalar_mul",
    "squared_difference",
    "subtract",
    "truediv",
    "truncatediv",
    "truncatemod",
]


def _numeric(op: str, kernel: str, x: Any, y: Any, strict: builtins.bool = False) -> Any:
    x, y = operands(op, x, y, strict=strict)
    check_dtype(op, x, allowed=x.dtype.is_numeric)
    return run(kernel, (x, y), (common_shape(x, y), x.dtype))


def add(x: Any, y: Any, name: str | None = None) -> Any:
    """Return ``x + y``; text is joined; mirrors ``tf.math.add``.

    Examples
    --------
    >>> tf.add([1, 2], 3).numpy(), tf.add("a", "b").numpy()
    (array([4, 5], dtype=int32), b'ab')
    """
    if is_composite(x, y):
        return composite(add, x, y)
    x, y = operands("AddV2", x, y)
    if x.dtype is string:
        return run("string_join", (x, y), (common_shape(x, y), string), separator="")
    check_dtype("AddV2", x, allowed=x.dtype.is_numeric)
    return run("add", (x, y), (common_shape(x, y), x.dtype))


def subtract(x: Any, y: Any, name: str | None = None) -> Any:
    """Return ``x - y``; mirrors ``tf.math.subtract``."""
    if is_composite(x, y):
        return composite(subtract, x, y)
    return _numeric("Sub", "subtract", x, y)


def multiply(x: Any, y: Any, name: str | None = None) -> Any:
    """Return ``x * y``; mirrors ``tf.math.multiply``."""
    if is_composite(x, y):
        return composite(multiply, x, y)
    return _numeric("Mul", "multiply", x, y)


def scalar_mul(scalar: Any, x: Any, name: str | None = None) -> Any:
    """Return ``scalar * x``; mirrors ``tf.math.scalar_mul``."""
    x = x if is_composite(x, x) else convert(x)
    return multiply(scalar if is_dense(scalar) else convert(scalar, x.dtype), x)


def truediv(x: Any, y: Any, name: str | None = None) -> Any:
    """Return ``x / y``: small integers give float32, larger ones float64.

    Mirrors ``tf.math.truediv``.

    Examples
    --------
    >>> tf.math.truediv(1, 2)
    <tf.Tensor: shape=(), dtype=float64, numpy=0.5>
    """
    from .casting import cast

    if is_composite(x, y):
        return composite(truediv, x, y)
    x, y = operands("RealDiv", x, y)
    if x.dtype.is_integer:
        wide = float32 if x.dtype.size <= 2 else float64
        x, y = cast(x, wide), cast(y, wide)
    check_dtype("RealDiv", x, allowed=x.dtype.is_numeric)
    return run("true_divide", (x, y), (common_shape(x, y), x.dtype))


def divide(x: Any, y: Any, name: str | None = None) -> Any:
    """Return ``x / y``; mirrors ``tf.math.divide``."""
    return truediv(x, y)


def realdiv(x: Any, y: Any, name: str | None = None) -> Any:
    """Return ``x / y`` of floats; mirrors ``tf.realdiv``."""
    x, y = operands("RealDiv", x, y)
    check_dtype("RealDiv", x, allowed=x.dtype.is_floating or x.dtype.is_complex)
    return run("true_divide", (x, y), (common_shape(x, y), x.dtype))


def _no_zero(y: Any) -> None:
    """Refuse to divide integers by zero, which the engine's kernels let pass."""
    if y.dtype.is_integer:
        if is_symbol(y):
            from .control import Assert
            from .reductions import reduce_all

            zero = y.dtype.as_numpy_dtype(0)
            Assert(reduce_all(not_equal(y, zero)), ["Integer division by zero"])
        elif not raw(y).all():
            raise InvalidArgumentError("Integer division by zero")


def floordiv(x: Any, y: Any, name: str | None = None) -> Any:
    """Return ``x // y``; mirrors ``tf.math.floordiv``."""
    if is_composite(x, y):
        return composite(floordiv, x, y)
    x, y = operands("FloorDiv", x, y)
    _no_zero(y)
    if x.dtype.is_floating:  # as TensorFlow rounds: 1.0 // 0.1 is 10
        return run("floor", (truediv(x, y),), (common_shape(x, y), x.dtype))
    return _numeric("FloorDiv", "floor_divide", x, y)


def floormod(x: Any, y: Any, name: str | None = None) -> Any:
    """Return ``x % y``, with the sign of `y`; mirrors ``tf.math.floormod``."""
    if is_composite(x, y):
        return composite(floormod, x, y)
    x, y = operands("FloorMod", x, y)
    _no_zero(y)
    return _numeric("FloorMod", "remainder", x, y)


mod = floormod


def truncatediv(x: Any, y: Any, name: str | None = None) -> Any:
    """Return ``x / y`` rounded towards zero; mirrors ``tf.truncatediv``."""
    x, y = operands("TruncateDiv", x, y)
    _no_zero(y)
    rest = run("fmod", (x, y), (common_shape(x, y), x.dtype))
    return _numeric("TruncateDiv", "floor_divide", subtract(x, rest), y)


def truncatemod(x: Any, y: Any, name: str | None = None) -> Any:
    """Return the rest of ``x / y`` with the sign of `x`; mirrors ``tf.truncatemod``."""
    x, y = operands("TruncateMod", x, y)
    _no_zero(y)
    check_dtype("TruncateMod", x, allowed=x.dtype.is_integer or x.dtype.is_floating)
    return run("fmod", (x, y), (common_shape(x, y), x.dtype))


def pow(x: Any, y: Any, name: str | None = None) -> Any:
    """Return `x` to the power `y`; mirrors ``tf.math.pow``."""
    if is_composite(x, y):
        return composite(pow, x, y)
    x, y = operands("Pow", x, y, strict=True)
    check_dtype("Pow", x, allowed=x.dtype.is_numeric)
    if x.dtype.is_integer and not is_symbol(y) and (raw(y) < 0).any():
        raise InvalidArgumentError("Integers to negative integer powers are not allowed")
    return run("power", (x, y), (common_shape(x, y), x.dtype))


def maximum(x: Any, y: Any, name: str | None = None) -> Any:
    """Return the larger one, value by value; mirrors ``tf.math.maximum``."""
    if is_composite(x, y):
        return composite(maximum, x, y)
    return _numeric("Maximum", "maximum", x, y, strict=True)


def minimum(x: Any, y: Any, name: str | None = None) -> Any:
    """Return the smaller one, value by value; mirrors ``tf.math.minimum``."""
    if is_composite(x, y):
        return composite(minimum, x, y)
    return _numeric("Minimum", "minimum", x, y, strict=True)


@by_value
def squared_difference(x: Any, y: Any, name: str | None = None) -> Any:
    """Return ``(x - y) ** 2``; mirrors ``tf.math.squared_difference``."""
    x, y = operands("SquaredDifference", x, y)
    away = subtract(x, y)
    if away.dtype.is_complex:
        from .elementwise import conj

        return multiply(conj(away), away)
    return multiply(away, away)


@by_value
def divide_no_nan(x: Any, y: Any, name: str | None = None) -> Any:
    """Return ``x / y``, 0 where `y` is 0; mirrors ``tf.math.divide_no_nan``."""
    from .creation import ones_like, zeros_like
    from .gathering import where

    x, y = operands("DivNoNan", x, y)
    zero = equal(y, zeros_like(y))
    found = truediv(x, where(zero, ones_like(y), y))
    return where(zero, zeros_like(found), found)


@by_value
def multiply_no_nan(x: Any, y: Any, name: str | None = None) -> Any:
    """Return ``x * y``, 0 where `y` is 0; mirrors ``tf.math.multiply_no_nan``."""
    from .creation import zeros_like
    from .gathering import where

    x, y = operands("MulNoNan", x, y)
    return where(equal(y, zeros_like(y)), zeros_like(x), multiply(x, y))


def add_n(inputs: Any, name: str | None = None) -> Any:
    """Return the sum of some tensors; mirrors ``tf.math.add_n``."""
    if not isinstance(inputs, list | tuple) or not inputs:
        raise ValueError("inputs must be an iterable of at least one Tensor with the same dtype")
    total = inputs[0] if is_composite(inputs[0]) else convert(inputs[0])
    for item in inputs[1:]:
        total = add(total, item)
    return total


def accumulate_n(
    inputs: Any, shape: Any = None, tensor_dtype: Any = None, name: str | None = None
) -> Any:
    """Return the sum of tensors of one shape; mirrors ``tf.math.accumulate_n``.

    Parameters
    ----------
    inputs
        A list of tensors of one shape and dtype.
    shape, tensor_dtype
        What shape and dtype they have, which is checked.
    name
        Accepted for TensorFlow's sake.

    Raises
    ------
    TypeError
        `tensor_dtype` is another one.
    ValueError
        There are no tensors, or their shapes or dtypes differ.

    Examples
    --------
    >>> tf.math.accumulate_n([[1, 2], [3, 4]]).numpy()
    array([4, 6], dtype=int32)
    """
    text = "inputs must be a list of at least one Tensor with the same dtype and shape"
    if not isinstance(inputs, list | tuple) or not inputs:
        raise ValueError(text)
    found = [convert(x) for x in inputs]
    merged = TensorShape(shape)
    for x in found:
        if x.dtype is not found[0].dtype:
            raise ValueError(text)
        merged = merged.merge_with(TensorShape(static_shape(x)))
    if tensor_dtype is not None and as_dtype(tensor_dtype) is not found[0].dtype:
        raise TypeError(
            f"tensor_dtype is {as_dtype(tensor_dtype)!r}, but input is of type {found[0].dtype!r}"
        )
    return add_n(found)


def _bits(op: str, kernel: str, logical: Callable[..., Any]) -> Callable[..., Any]:
    def combine(x: Any, y: Any) -> Any:
        if is_composite(x, y):
            return composite(combine, x, y)
        x, y = operands(op, x, y)
        if x.dtype is bool_:
            return logical(x, y)
        check_dtype(op, x, allowed=x.dtype.is_integer)
        return run(kernel, (x, y), (common_shape(x, y), x.dtype))

    return combine


def negative(x: Any, name: str | None = None) -> Any:
    """Return ``-x``; mirrors ``tf.math.negative``."""
    if is_composite(x):
        return composite(negative, x)
    x = convert(x)
    check_dtype("Neg", x, allowed=x.dtype.is_numeric and not x.dtype.is_unsigned)
    return run("negative", (x,), (static_shape(x), x.dtype))


def abs(x: Any, name: str | None = None) -> Any:
    """Return the absolute value; mirrors ``tf.math.abs``."""
    if is_composite(x):
        return composite(abs, x)
    x = convert(x)
    check_dtype("Abs", x, allowed=x.dtype.is_numeric and not x.dtype.is_unsigned)
    return run("absolute", (x,), (static_shape(x), x.dtype.real_dtype))


def _invert(x: Any) -> Any:
    if x.dtype is bool_:
        return logical_not(x)
    check_dtype("Invert", x, allowed=x.dtype.is_integer)
    return run("invert", (x,), (static_shape(x), x.dtype))


def matmul(
    a: Any,
    b: Any,
    transpose_a: builtins.bool = False,
    transpose_b: builtins.bool = False,
    adjoint_a: builtins.bool = False,
    adjoint_b: builtins.bool = False,
    a_is_sparse: builtins.bool = False,
    b_is_sparse: builtins.bool = False,
    output_type: Any = None,
    grad_a: builtins.bool = False,
    grad_b: builtins.bool = False,
    name: str | None = None,
) -> Any:
    """Multiply matrices, or batches of them; mirrors ``tf.linalg.matmul``.

    Raises
    ------
    InvalidArgumentError
        A rank below 2, or sizes that do not fit.

    Examples
    --------
    >>> tf.matmul([[1, 2]], [[3], [4]]).numpy()
    array([[11]], dtype=int32)
    """
    a, b = operands("MatMul", a, b, strict=True)
    check_dtype("BatchMatMulV2", a, allowed=a.dtype.is_numeric)
    dims, others = static_shape(a), static_shape(b)
    rows = "ji" if transpose_a or adjoint_a else "ij"
    columns = "kj" if transpose_b or adjoint_b else "jk"
    equation = f"...{rows},...{columns}->...ik"
    if dims is None or others is None:
        return run("einsum", (a, b), (None, a.dtype), equation=equation)
    left, right = list(dims), list(others)
    if len(left) < 2 or len(right) < 2:
        raise InvalidArgumentError(
            f"In[0] and In[1] must have at least 2 dimensions, got {TensorShape(left)} and "
            f"{TensorShape(right)}"
        )
    if rows == "ji":
        left[-2:] = left[:-3:-1]
    if columns == "kj":
        right[-2:] = right[:-3:-1]
    if None not in (left[-1], right[-2]) and left[-1] != right[-2]:
        raise InvalidArgumentError(f"Matrix size-incompatible: In[0]: {left}, In[1]: {right}")
    if a.dtype.is_complex:
        a = run("conjugate", (a,), (dims, a.dtype)) if adjoint_a else a
        b = run("conjugate", (b,), (others, b.dtype)) if adjoint_b else b
    batch = broadcast(tuple(left[:-2]), tuple(right[:-2])) or ()
    out = ((*batch, left[-2], right[-1]), a.dtype)
    return run("einsum", (a, b), out, equation=equation)


OPERATORS: dict[str, Callable[[Any, Any], Any]] = {
    "add": add,
    "subtract": subtract,
    "multiply": multiply,
    "truediv": truediv,
    "floordiv": floordiv,
    "floormod": floormod,
    "pow": pow,
    "matmul": matmul,
    "and": _bits("BitwiseAnd", "bitwise_and", logical_and),
    "or": _bits("BitwiseOr", "bitwise_or", logical_or),
    "xor": _bits("BitwiseXor", "bitwise_xor", logical_xor),
    "less": less,
    "less_equal": less_equal,
    "greater": greater,
    "greater_equal": greater_equal,
    "eq": operator_equal,
    "ne": operator_not_equal,
}
UNARY: dict[str, Callable[[Any], Any]] = {"negative": negative, "abs": abs, "invert": _invert}
