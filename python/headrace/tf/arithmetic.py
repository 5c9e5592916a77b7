"""Arithmetic and comparison of two tensors, with TensorFlow's dtypes.

The second operand takes the first one's dtype where it can: a number or array does, a tensor of
another dtype is an error. So `add(1.5, 1)` is float32 and `add(1, 1.5)` raises.
"""

from __future__ import annotations

import builtins
from collections.abc import Callable
from typing import Any

import numpy as np

from ..errors import InvalidArgumentError
from .convert import convert, is_dense, is_symbol
from .dtypes import DType, float32, float64, string
from .dtypes import bool as bool_
from .kernels import DTypeError, broadcast, run, static_shape
from .shapes import TensorShape
from .tensor import raw, wrap

__all__ = [
    "OPERATORS",
    "UNARY",
    "abs",
    "add",
    "add_n",
    "divide",
    "divide_no_nan",
    "equal",
    "floordiv",
    "floormod",
    "greater",
    "greater_equal",
    "less",
    "less_equal",
    "logical_and",
    "logical_not",
    "logical_or",
    "logical_xor",
    "matmul",
    "maximum",
    "minimum",
    "mod",
    "multiply",
    "multiply_no_nan",
    "negative",
    "not_equal",
    "pow",
    "realdiv",
    "scalar_mul",
    "squared_difference",
    "subtract",
    "truediv",
    "truncatediv",
    "truncatemod",
]


def composite(function: Callable[..., Any], *args: Any) -> Any:
    """Apply `function` to the values of a ragged or sparse argument; None if there is none."""
    for arg in args:
        mapper = getattr(type(arg), "_map_values", None)
        if mapper is not None:
            return mapper(function, *args)
    return None


def is_composite(*args: Any) -> builtins.bool:
    """Tell whether there is a ragged or sparse value among arguments."""
    return any(getattr(arg, "_is_composite", False) for arg in args)


# A Python number takes the dtype of the tensor behind it: what TensorFlow's own functions do that
# are not written in Python.
_OF_THE_TENSOR = frozenset(
    {"Sub", "Mul", "FloorMod", "Xlogy", "Xdivy", "Atan2", "MulNoNan", "SquaredDifference"}
)


def operands(op: str, x: Any, y: Any, *, strict: builtins.bool = False) -> tuple[Any, Any]:
    """Return two operands as tensors of one dtype.

    Parameters
    ----------
    op
        TensorFlow's name, for messages.
    x, y
        The first that is a tensor decides the dtype; else `x` does.
    strict
        Whether a number of another kind is a TypeError.

    Raises
    ------
    DTypeError
        The dtypes differ.
    """
    if not is_dense(x) and is_dense(y):
        number = op in _OF_THE_TENSOR and isinstance(x, builtins.int | builtins.float)
        x = convert(x, y.dtype) if strict or number else x
    x = convert(x)
    y = y if is_dense(y) else _with_dtype(y, x.dtype, strict)
    if x.dtype is not y.dtype:
        raise DTypeError(
            f"cannot compute {op} as input #1(zero-based) was expected to be a {_short(x.dtype)} "
            f"tensor but is a {_short(y.dtype)} tensor; tf.cast brings one to the other's dtype"
        )
    return x, y


def _with_dtype(value: Any, dtype: DType, strict: builtins.bool) -> Any:
    return convert(value, dtype) if strict else convert(value, None, dtype)


def _short(dtype: DType) -> str:
    return {"float32": "float", "float64": "double", "float16": "half"}.get(dtype.name, dtype.name)


def check_dtype(op: str, x: Any, *, allowed: builtins.bool) -> None:
    """Raise TensorFlow's error for a dtype that an op does not take."""
    if not allowed:
        raise DTypeError(
            f"Value for attr 'T' of {x.dtype.name} is not in the list of allowed values of {op}"
        )


def _broadcast(x: Any, y: Any) -> Any:
    return broadcast(static_shape(x), static_shape(y))


def _numeric(op: str, kernel: str, x: Any, y: Any, strict: builtins.bool = False) -> Any:
    x, y = operands(op, x, y, strict=strict)
    check_dtype(op, x, allowed=x.dtype.is_numeric)
    return run(kernel, (x, y), (_broadcast(x, y), x.dtype))


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
        return run("string_join", (x, y), (_broadcast(x, y), string), separator="")
    check_dtype("AddV2", x, allowed=x.dtype.is_numeric)
    return run("add", (x, y), (_broadcast(x, y), x.dtype))


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
    return run("true_divide", (x, y), (_broadcast(x, y), x.dtype))


def divide(x: Any, y: Any, name: str | None = None) -> Any:
    """Return ``x / y``; mirrors ``tf.math.divide``."""
    return truediv(x, y)


def realdiv(x: Any, y: Any, name: str | None = None) -> Any:
    """Return ``x / y`` of floats; mirrors ``tf.realdiv``."""
    x, y = operands("RealDiv", x, y)
    check_dtype("RealDiv", x, allowed=x.dtype.is_floating or x.dtype.is_complex)
    return run("true_divide", (x, y), (_broadcast(x, y), x.dtype))


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
        return run("floor", (truediv(x, y),), (_broadcast(x, y), x.dtype))
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
    rest = run("fmod", (x, y), (_broadcast(x, y), x.dtype))
    return _numeric("TruncateDiv", "floor_divide", subtract(x, rest), y)


def truncatemod(x: Any, y: Any, name: str | None = None) -> Any:
    """Return the rest of ``x / y`` with the sign of `x`; mirrors ``tf.truncatemod``."""
    x, y = operands("TruncateMod", x, y)
    _no_zero(y)
    check_dtype("TruncateMod", x, allowed=x.dtype.is_integer or x.dtype.is_floating)
    return run("fmod", (x, y), (_broadcast(x, y), x.dtype))


def pow(x: Any, y: Any, name: str | None = None) -> Any:
    """Return `x` to the power `y`; mirrors ``tf.math.pow``."""
    if is_composite(x, y):
        return composite(pow, x, y)
    x, y = operands("Pow", x, y, strict=True)
    check_dtype("Pow", x, allowed=x.dtype.is_numeric)
    if x.dtype.is_integer and not is_symbol(y) and (raw(y) < 0).any():
        raise InvalidArgumentError("Integers to negative integer powers are not allowed")
    return run("power", (x, y), (_broadcast(x, y), x.dtype))


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


def squared_difference(x: Any, y: Any, name: str | None = None) -> Any:
    """Return ``(x - y) ** 2``; mirrors ``tf.math.squared_difference``."""
    x, y = operands("SquaredDifference", x, y)
    away = subtract(x, y)
    if away.dtype.is_complex:
        from .elementwise import conj

        return multiply(conj(away), away)
    return multiply(away, away)


def divide_no_nan(x: Any, y: Any, name: str | None = None) -> Any:
    """Return ``x / y``, 0 where `y` is 0; mirrors ``tf.math.divide_no_nan``."""
    from .creation import ones_like, zeros_like
    from .gathering import where

    x, y = operands("DivNoNan", x, y)
    zero = equal(y, zeros_like(y))
    found = truediv(x, where(zero, ones_like(y), y))
    return where(zero, zeros_like(found), found)


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
    total = convert(inputs[0])
    for item in inputs[1:]:
        total = add(total, item)
    return total


# ------------------------------------------------------------------ comparison


def _comparison(op: str, kernel: str) -> Callable[..., Any]:
    def compare(x: Any, y: Any, name: str | None = None) -> Any:
        if is_composite(x, y):
            return composite(compare, x, y)
        x, y = operands(op, x, y, strict=True)
        check_dtype(op, x, allowed=x.dtype.is_integer or x.dtype.is_floating)
        return run(kernel, (x, y), (_broadcast(x, y), bool_))

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
    return run("equal", (x, y), (_broadcast(x, y), bool_))


def not_equal(x: Any, y: Any, name: str | None = None) -> Any:
    """Return where values differ; mirrors ``tf.math.not_equal``."""
    if is_composite(x, y):
        return composite(not_equal, x, y)
    x, y = operands("NotEqual", x, y, strict=True)
    return run("not_equal", (x, y), (_broadcast(x, y), bool_))


def _operator_equal(x: Any, y: Any) -> Any:
    return False if y is None else _equal_or(equal, x, y, otherwise=False)


def _operator_not_equal(x: Any, y: Any) -> Any:
    return True if y is None else _equal_or(not_equal, x, y, otherwise=True)


def _equal_or(compare: Callable[..., Any], x: Any, y: Any, *, otherwise: builtins.bool) -> Any:
    """Compare, as ``==`` does: tensors of shapes that do not fit are unequal as a whole."""
    if is_composite(x, y):
        return compare(x, y)
    x, y = operands("Equal", x, y, strict=True)
    try:
        _broadcast(x, y)
    except InvalidArgumentError:
        return wrap(np.bool_(otherwise))
    return compare(x, y)


# --------------------------------------------------------------------- logical


def _logical(op: str, kernel: str) -> Callable[..., Any]:
    def combine(x: Any, y: Any, name: str | None = None) -> Any:
        if is_composite(x, y):
            return composite(combine, x, y)
        x, y = convert(x, bool_), convert(y, bool_)
        return run(kernel, (x, y), (_broadcast(x, y), bool_))

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


def _bits(op: str, kernel: str, logical: Callable[..., Any]) -> Callable[..., Any]:
    def combine(x: Any, y: Any) -> Any:
        if is_composite(x, y):
            return composite(combine, x, y)
        x, y = operands(op, x, y)
        if x.dtype is bool_:
            return logical(x, y)
        check_dtype(op, x, allowed=x.dtype.is_integer)
        return run(kernel, (x, y), (_broadcast(x, y), x.dtype))

    return combine


# ----------------------------------------------------------------- one operand


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


# ---------------------------------------------------------------------- matrix


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
    "eq": _operator_equal,
    "ne": _operator_not_equal,
}
UNARY: dict[str, Callable[[Any], Any]] = {"negative": negative, "abs": abs, "invert": _invert}
