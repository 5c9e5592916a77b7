"""Functions of single values; part of ``tf.math``."""

from __future__ import annotations

import builtins
from collections.abc import Callable
from typing import Any

from .arithmetic import add, divide, maximum, minimum, negative, subtract
from .composite import by_value, or_ragged
from .convert import convert
from .dtypes import bool as bool_
from .kernels import broadcast, run, static_shape
from .operands import check_dtype, composite, is_composite, operands

__all__ = [
    "acos",
    "acosh",
    "asin",
    "asinh",
    "atan",
    "atan2",
    "atanh",
    "ceil",
    "clip_by_value",
    "conj",
    "cos",
    "cosh",
    "erf",
    "exp",
    "expm1",
    "floor",
    "imag",
    "is_finite",
    "is_inf",
    "is_nan",
    "log",
    "log1p",
    "log_sigmoid",
    "log_softmax",
    "real",
    "reciprocal",
    "reciprocal_no_nan",
    "rint",
    "round",
    "rsqrt",
    "sigmoid",
    "sign",
    "sin",
    "sinh",
    "softmax",
    "softplus",
    "softsign",
    "sqrt",
    "square",
    "tan",
    "tanh",
    "xdivy",
    "xlogy",
]


def _of_floats(
    name: str, op: str, kernel: str, *, complex: builtins.bool = False
) -> Callable[..., Any]:
    """Make a function of floats, perhaps of complex numbers too."""

    def function(x: Any, name: str | None = None) -> Any:
        if is_composite(x):
            return composite(function, x)
        x = convert(x)
        check_dtype(op, x, allowed=x.dtype.is_floating or (complex and x.dtype.is_complex))
        return run(kernel, (x,), (static_shape(x), x.dtype))

    function.__name__ = function.__qualname__ = name
    function.__doc__ = f"Apply to each value; mirrors ``tf.math.{name}``."
    return function


exp = _of_floats("exp", "Exp", "exp", complex=True)
expm1 = _of_floats("expm1", "Expm1", "expm1", complex=True)
log = _of_floats("log", "Log", "log", complex=True)
log1p = _of_floats("log1p", "Log1p", "log1p", complex=True)
sqrt = _of_floats("sqrt", "Sqrt", "sqrt", complex=True)
sin = _of_floats("sin", "Sin", "sin", complex=True)
cos = _of_floats("cos", "Cos", "cos", complex=True)
tan = _of_floats("tan", "Tan", "tan", complex=True)
asin = _of_floats("asin", "Asin", "arcsin", complex=True)
acos = _of_floats("acos", "Acos", "arccos", complex=True)
atan = _of_floats("atan", "Atan", "arctan", complex=True)
sinh = _of_floats("sinh", "Sinh", "sinh", complex=True)
cosh = _of_floats("cosh", "Cosh", "cosh", complex=True)
tanh = _of_floats("tanh", "Tanh", "tanh", complex=True)
asinh = _of_floats("asinh", "Asinh", "arcsinh", complex=True)
acosh = _of_floats("acosh", "Acosh", "arccosh", complex=True)
atanh = _of_floats("atanh", "Atanh", "arctanh", complex=True)
floor = _of_floats("floor", "Floor", "floor")
ceil = _of_floats("ceil", "Ceil", "ceil")
rint = _of_floats("rint", "Rint", "rint")
reciprocal = _of_floats("reciprocal", "Inv", "reciprocal", complex=True)
erf = _of_floats("erf", "Erf", "erf")


def _test(name: str, op: str, kernel: str) -> Callable[..., Any]:
    def function(x: Any, name: str | None = None) -> Any:
        if is_composite(x):
            return composite(function, x)
        x = convert(x)
        check_dtype(op, x, allowed=x.dtype.is_floating)
        return run(kernel, (x,), (static_shape(x), bool_))

    function.__name__ = function.__qualname__ = name
    function.__doc__ = f"Test each value; mirrors ``tf.math.{name}``."
    return function


is_nan = _test("is_nan", "IsNan", "isnan")
is_inf = _test("is_inf", "IsInf", "isinf")
is_finite = _test("is_finite", "IsFinite", "isfinite")


def square(x: Any, name: str | None = None) -> Any:
    """Return ``x * x``; mirrors ``tf.math.square``.

    Examples
    --------
    >>> tf.square([2, 3]).numpy()
    array([4, 9], dtype=int32)
    """
    if is_composite(x):
        return composite(square, x)
    x = convert(x)
    check_dtype("Square", x, allowed=x.dtype.is_numeric)
    return run("square", (x,), (static_shape(x), x.dtype))


def sign(x: Any, name: str | None = None) -> Any:
    """Return -1, 0 or 1; mirrors ``tf.math.sign``."""
    if is_composite(x):
        return composite(sign, x)
    x = convert(x)
    check_dtype("Sign", x, allowed=x.dtype.is_numeric)
    return run("sign", (x,), (static_shape(x), x.dtype))


def round(x: Any, name: str | None = None) -> Any:
    """Round to the nearest integer, halves to even; mirrors ``tf.math.round``.

    Examples
    --------
    >>> tf.round([0.5, 1.5]).numpy()
    array([0., 2.], dtype=float32)
    """
    if is_composite(x):
        return composite(round, x)
    x = convert(x)
    return x if x.dtype.is_integer else rint(x)


def rsqrt(x: Any, name: str | None = None) -> Any:
    """Return ``1 / sqrt(x)``; mirrors ``tf.math.rsqrt``."""
    return reciprocal(sqrt(x))


@by_value
def sigmoid(x: Any, name: str | None = None) -> Any:
    """Return ``1 / (1 + exp(-x))``; mirrors ``tf.math.sigmoid``."""
    x = convert(x)
    check_dtype("Sigmoid", x, allowed=x.dtype.is_floating or x.dtype.is_complex)
    return reciprocal(add(exp(negative(x)), 1))


@by_value
def softplus(features: Any, name: str | None = None) -> Any:
    """Return ``log(1 + exp(features))``; mirrors ``tf.math.softplus``."""
    from .arithmetic import abs

    x = convert(features)
    return add(maximum(x, 0), log1p(exp(negative(abs(x)))))


@by_value
def log_sigmoid(x: Any, name: str | None = None) -> Any:
    """Return the logarithm of `sigmoid`; mirrors ``tf.math.log_sigmoid``."""
    return negative(softplus(negative(x)))


@by_value
def softsign(features: Any, name: str | None = None) -> Any:
    """Return ``x / (1 + |x|)``; mirrors ``tf.math.softsign``."""
    from .arithmetic import abs

    x = convert(features)
    return divide(x, add(abs(x), 1))


@or_ragged
def softmax(logits: Any, axis: int | None = None, name: str | None = None) -> Any:
    """Return exponentials that sum to 1 along an axis, the last; mirrors ``tf.math.softmax``."""
    from .reductions import reduce_max, reduce_sum

    x = convert(logits)
    axis = -1 if axis is None else axis
    powers = exp(subtract(x, reduce_max(x, axis, keepdims=True)))
    return divide(powers, reduce_sum(powers, axis, keepdims=True))


def log_softmax(logits: Any, axis: int | None = None, name: str | None = None) -> Any:
    """Return the logarithm of `softmax`; mirrors ``tf.math.log_softmax``."""
    from .reductions import reduce_logsumexp

    x = convert(logits)
    return subtract(x, reduce_logsumexp(x, -1 if axis is None else axis, keepdims=True))


@by_value
def reciprocal_no_nan(x: Any, name: str | None = None) -> Any:
    """Return ``1 / x``, 0 where `x` is 0; mirrors ``tf.math.reciprocal_no_nan``."""
    from .arithmetic import divide_no_nan
    from .creation import ones_like

    x = convert(x)
    return divide_no_nan(ones_like(x), x)


@by_value
def xlogy(x: Any, y: Any, name: str | None = None) -> Any:
    """Return ``x * log(y)``, 0 where `x` is 0; mirrors ``tf.math.xlogy``."""
    from .arithmetic import multiply_no_nan

    x, y = operands("Xlogy", x, y)
    return multiply_no_nan(log(y), x)


@by_value
def xdivy(x: Any, y: Any, name: str | None = None) -> Any:
    """Return ``x / y``, 0 where `x` is 0; mirrors ``tf.math.xdivy``."""
    from .arithmetic import multiply_no_nan

    x, y = operands("Xdivy", x, y)
    return multiply_no_nan(reciprocal(y), x)


@by_value
def atan2(y: Any, x: Any, name: str | None = None) -> Any:
    """Return the angle of the point (x, y); mirrors ``tf.math.atan2``."""
    y, x = operands("Atan2", y, x)
    check_dtype("Atan2", x, allowed=x.dtype.is_floating)
    return run("arctan2", (y, x), (broadcast(static_shape(y), static_shape(x)), x.dtype))


@by_value
def real(input: Any, name: str | None = None) -> Any:
    """Return the real part; mirrors ``tf.math.real``."""
    x = convert(input)
    if not x.dtype.is_complex:
        return x
    return run("real", (x,), (static_shape(x), x.dtype.real_dtype))


@by_value
def imag(input: Any, name: str | None = None) -> Any:
    """Return the imaginary part; mirrors ``tf.math.imag``."""
    from .creation import zeros_like

    x = convert(input)
    if not x.dtype.is_complex:
        return zeros_like(x)
    return run("imag", (x,), (static_shape(x), x.dtype.real_dtype))


@by_value
def conj(x: Any, name: str | None = None) -> Any:
    """Return the complex conjugate; mirrors ``tf.math.conj``."""
    x = convert(x)
    return run("conjugate", (x,), (static_shape(x), x.dtype)) if x.dtype.is_complex else x


def clip_by_value(t: Any, clip_value_min: Any, clip_value_max: Any, name: str | None = None) -> Any:
    """Bring values into a range; mirrors ``tf.clip_by_value``.

    Examples
    --------
    >>> tf.clip_by_value([1, 5], 2, 3).numpy()
    array([2, 3], dtype=int32)
    """
    if is_composite(t):
        return composite(lambda x: clip_by_value(x, clip_value_min, clip_value_max), t)
    t = convert(t)
    return maximum(minimum(t, clip_value_max), clip_value_min)
