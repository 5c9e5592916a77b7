"""Operators and ufuncs on symbols: which ops they record.

Dtypes are decided by NumPy itself: ``ufunc.resolve_dtypes`` names the loop it would run, with
Python numbers as weak operands, and casts to that loop's types are recorded where needed. So the
results have NumPy 2's dtypes. Arguments a handler does not know refuse.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from .symbol import Symbol

if TYPE_CHECKING:
    from .trace import Tracer

__all__ = ["call_ufunc", "convert", "is_operand", "is_text", "text"]

Number = bool | int | float | complex

# ufunc names whose op is named differently.
_RENAMED = {"divide": "true_divide"}
_NAMES = """
add subtract multiply true_divide floor_divide remainder power maximum minimum fmax fmin arctan2
hypot copysign equal not_equal less less_equal greater greater_equal logical_and logical_or
logical_xor bitwise_and bitwise_or bitwise_xor left_shift right_shift negative absolute sign square
floor ceil trunc rint sqrt exp log log2 log10 log1p expm1 exp2 sin cos tan arcsin arccos arctan sinh
cosh tanh reciprocal logical_not invert isnan isinf isfinite conjugate
"""
_UFUNCS = frozenset(_NAMES.split())
_COMPARISONS = {"equal", "not_equal", "less", "less_equal", "greater", "greater_equal"}


def is_operand(value: Any) -> bool:
    """Tell whether an operator of a symbol takes `value`."""
    return type(value) is Symbol or isinstance(
        value, bool | int | float | complex | np.ndarray | np.generic | list | tuple | bytes | str
    )


def _weak(value: Any) -> Any:
    """Return the dtype of an operand; for a Python number, its class."""
    if type(value) is Symbol:
        return value.dtype
    if type(value) in (int, float, complex):
        return type(value)
    return np.asarray(value).dtype


# ---------------------------------------------------------------------- ufuncs


def call_ufunc(tracer: Tracer, ufunc: np.ufunc, inputs: tuple[Any, ...], kwargs: Any) -> Any:
    """Record a ufunc; refuses what is not recorded."""
    name = _RENAMED.get(ufunc.__name__, ufunc.__name__)
    dtype = kwargs.pop("dtype", None) if kwargs else None
    if kwargs:
        tracer.refuse(f"uses np.{ufunc.__name__} with {', '.join(sorted(kwargs))}=")
    if ufunc is np.divmod:
        return (
            call_ufunc(tracer, np.floor_divide, inputs, {}),
            call_ufunc(tracer, np.remainder, inputs, {}),
        )
    if any(is_text(arg) for arg in inputs):
        return _compare_text(tracer, name, inputs)
    if name == "power":
        ufunc, name, inputs = _simple_power(ufunc, name, inputs)
    if name not in _UFUNCS and ufunc is not np.positive:
        tracer.refuse(f"uses np.{ufunc.__name__}, which is not recorded")
    operands = (*map(_weak, inputs), *(None,) * ufunc.nout)
    if dtype is None:
        loop = ufunc.resolve_dtypes(operands)
    else:
        signature = (None,) * ufunc.nin + (np.dtype(dtype),) * ufunc.nout
        loop = ufunc.resolve_dtypes(operands, signature=signature)
    if ufunc is np.positive:
        return convert(tracer, inputs[0], loop[-1], fresh=True)
    types = list(loop[: ufunc.nin])
    if name == "true_divide":  # the loops of small integers convert inside
        types = [loop[-1]] * 2
    args = [convert(tracer, value, kind) for value, kind in zip(inputs, types, strict=True)]
    if types[0] == np.bool_ and name in ("add", "multiply"):
        name = "logical_or" if name == "add" else "logical_and"
    (result,) = tracer.add(name, {}, *args)
    if result.dtype != loop[-1]:
        tracer.refuse(f"uses np.{ufunc.__name__} for {types[0]}")
    return result


def _simple_power(ufunc: np.ufunc, name: str, inputs: tuple[Any, ...]) -> tuple[Any, ...]:
    """Turn ``x ** 2`` into a square, as NumPy does."""
    base, exponent = inputs
    squares = type(exponent) is int or (type(exponent) is float and base.dtype.kind in "fc")
    if type(base) is Symbol and squares and exponent == 2:
        return np.square, "square", (base,)
    return ufunc, name, inputs


def convert(tracer: Tracer, value: Any, dtype: Any, *, fresh: bool = False) -> Any:
    """Return an operand as a symbol of `dtype`; `fresh` if it must not share memory."""
    if type(value) is Symbol:
        if value.dtype == dtype:
            return tracer.wrap(value._value, fresh=True) if fresh else value
        (cast,) = tracer.add("cast", {"dtype": dtype}, value)
        return cast
    if type(value) in (int, float, complex):
        array = np.asarray(value, dtype)  # OverflowError where NumPy raises it
    else:
        array = np.asarray(value)
        array = array.copy() if array.dtype == dtype else array.astype(dtype)
    return tracer.wrap(tracer.constant(array))


def is_text(value: Any) -> bool:
    """Tell whether an operand is text or an array of objects."""
    if type(value) is Symbol:
        return isinstance(value._spec.dtype, type)
    return isinstance(value, bytes | str) or (
        isinstance(value, np.ndarray | np.generic) and value.dtype.kind in "SUOT"
    )


def _compare_text(tracer: Tracer, name: str, inputs: tuple[Any, ...]) -> Any:
    if name not in _COMPARISONS:
        tracer.refuse(f"uses {name} of text, which is not recorded")
    args = [value if type(value) is Symbol else text(tracer, value) for value in inputs]
    if args[0]._spec.dtype != args[1]._spec.dtype:
        tracer.refuse("compares bytes with str or numbers")
    (result,) = tracer.add(name, {}, *args)
    return result


def text(tracer: Tracer, value: Any) -> Any:
    """Return constant text as a symbol."""
    return tracer.wrap(tracer.constant(value))
