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

__all__ = [
    "call_ufunc",
    "call_ufunc_method",
    "convert",
    "einsum",
    "is_operand",
    "is_text",
    "text",
]

# Made once: a union of types takes longer to make than to look through.
_OPERANDS = (bool, int, float, complex, np.ndarray, np.generic, list, tuple, bytes, str)
_TEXT = (bytes, str)
_ARRAYS = (np.ndarray, np.generic)

# ufunc names whose op is named differently.
_RENAMED = {
    "conj": "conjugate",
    "degrees": "rad2deg",
    "divide": "true_divide",
    "fabs": "absolute",
    "float_power": "power",
    "radians": "deg2rad",
}
_NAMES = """
add subtract multiply true_divide floor_divide remainder fmod power maximum minimum fmax fmin
arctan2 hypot copysign nextafter heaviside logaddexp logaddexp2 gcd lcm ldexp equal not_equal less
less_equal greater greater_equal logical_and logical_or logical_xor bitwise_and bitwise_or
bitwise_xor left_shift right_shift negative absolute sign square floor ceil trunc rint sqrt cbrt exp
log log2 log10 log1p expm1 exp2 sin cos tan arcsin arccos arctan sinh cosh tanh arcsinh arccosh
arctanh deg2rad rad2deg reciprocal spacing signbit modf frexp bitwise_count logical_not invert isnan
isinf isfinite conjugate
"""
_UFUNCS = frozenset(_NAMES.split())
# Products over named axes; vecdot and vecmat conjugate their first operand.
_PRODUCTS = {
    "matmul": "...ij,...jk->...ik",
    "matvec": "...ij,...j->...i",
    "vecdot": "...i,...i->...",
    "vecmat": "...i,...ij->...j",
}
_REDUCED = {
    "add": "sum",
    "multiply": "prod",
    "maximum": "max",
    "minimum": "min",
    "logical_and": "all",
    "logical_or": "any",
}
_REDUCED |= {
    name: f"reduce_{name}"
    for name in ("fmax", "fmin", "logical_xor", "bitwise_and", "bitwise_or", "bitwise_xor")
}
_COMPARISONS = {"equal", "not_equal", "less", "less_equal", "greater", "greater_equal"}


def is_operand(value: Any) -> bool:
    """Tell whether an operator of a symbol takes `value`."""
    return type(value) is Symbol or isinstance(value, _OPERANDS)


def _weak(value: Any) -> Any:
    """Return the dtype of an operand; for a Python number, its class."""
    if type(value) is Symbol:
        return value._spec.dtype
    if type(value) in (int, float, complex):
        return type(value)
    return np.asarray(value).dtype


# ---------------------------------------------------------------------- ufuncs


def call_ufunc(tracer: Tracer, ufunc: np.ufunc, inputs: tuple[Any, ...], kwargs: Any) -> Any:
    """Record a ufunc; refuses what is not recorded."""
    name = _RENAMED.get(ufunc.__name__, ufunc.__name__)
    dtype = kwargs.pop("dtype", None) if kwargs else None
    if kwargs:
        _refuse_arguments(tracer, ufunc.__name__, kwargs)
    if ufunc is np.divmod:
        return (
            call_ufunc(tracer, np.floor_divide, inputs, {}),
            call_ufunc(tracer, np.remainder, inputs, {}),
        )
    if any(map(is_text, inputs)):
        return _of_text(tracer, name, inputs)
    if name == "power":
        ufunc, name, inputs = _simple_power(ufunc, name, inputs)
    if name not in _UFUNCS and name not in _PRODUCTS and ufunc is not np.positive:
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
    if name in _PRODUCTS:
        return _product(tracer, name, args)
    if types[0] == np.bool_ and name in ("add", "multiply"):
        name = "logical_or" if name == "add" else "logical_and"
    results = tracer.add(name, {}, *args)
    for result, wanted in zip(results, loop[ufunc.nin :], strict=True):
        if result._spec.dtype != wanted:
            tracer.refuse(f"uses np.{ufunc.__name__} for {types[0]}")
    return results[0] if ufunc.nout == 1 else tuple(results)


def _refuse_arguments(tracer: Tracer, name: str, kwargs: Any) -> None:
    """Refuse what a ufunc is given beside its operands and dtype."""
    given = {key: value for key, value in kwargs.items() if value is not None}
    if "out" in given:
        tracer.refuse(f"uses np.{name} with out=, which writes to an array", "use the result")
    if "where" in given:
        tracer.refuse(
            f"uses np.{name} with where=, which leaves values undefined",
            "use np.where(condition, a, b)",
        )
    if given:
        tracer.refuse(f"uses np.{name} with {', '.join(sorted(given))}=")


def _product(tracer: Tracer, name: str, args: list[Any]) -> Any:
    """Record matrix and vector products; vectors are operands of ``matmul`` too."""
    a, b = args
    if name == "matmul":
        if 0 in (a.ndim, b.ndim):
            raise ValueError("matmul: an input operand does not have enough dimensions")
        left = "...ij" if a.ndim > 1 else "j"
        right = "...jk" if b.ndim > 1 else "j"
        equation = f"{left},{right}->...{'i' * (a.ndim > 1)}{'k' * (b.ndim > 1)}"
    else:
        equation = _PRODUCTS[name]
        if name != "matvec" and a.dtype.kind == "c":
            a = np.conjugate(a)
    return einsum(tracer, equation, a, b)


def einsum(tracer: Tracer, equation: str, *args: Any, broadcast: bool = False) -> Any:
    """Record sums of products of symbols of one dtype."""
    (result,) = tracer.add("einsum", {"equation": equation, "broadcast": broadcast}, *args)
    return result


def call_ufunc_method(
    tracer: Tracer, ufunc: np.ufunc, method: str, inputs: tuple[Any, ...], kwargs: Any
) -> Any:
    """Record ``ufunc.reduce``, ``accumulate`` and ``outer``; refuses others."""
    name = ufunc.__name__
    if method == "outer" and ufunc.nin == 2 and ufunc.signature is None:
        return _outer(tracer, ufunc, inputs, kwargs)
    handled = method in ("reduce", "accumulate") and name in _REDUCED
    if not handled or any(is_text(value) for value in inputs):
        tracer.refuse(f"uses np.{name}.{method}, which is not recorded")
    from .numpy_ops.reductions import IDENTITIES, accumulate, chosen, reduce

    given = {key: value for key, value in kwargs.items() if value is not np._NoValue}
    where = given.pop("where", True)
    if where is not True:
        if _REDUCED[name] not in IDENTITIES or method != "reduce":
            tracer.refuse(f"uses np.{name}.{method} with where=", "use np.where(condition, a, b)")
        inputs = (chosen(tracer, inputs[0], where, IDENTITIES[_REDUCED[name]]),)
    if given.pop("out", None) not in (None, (None,)):
        tracer.refuse(f"uses np.{name}.{method} with out=, which writes to an array")
    if method == "accumulate":
        return accumulate(tracer, name, inputs[0], **given)
    given.setdefault("axis", 0)
    return reduce(tracer, _REDUCED[name], inputs[0], **given)


def _outer(tracer: Tracer, ufunc: np.ufunc, inputs: tuple[Any, ...], kwargs: Any) -> Any:
    from .numpy_ops.registry import symbol

    a, b = (symbol(tracer, value) for value in inputs)
    if a.ndim and b.ndim:
        a = a._op("expand_dims", axis=list(range(a.ndim, a.ndim + b.ndim)))
    return call_ufunc(tracer, ufunc, (a, b), kwargs)


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
        return tracer.number(np.asarray(value, dtype))  # OverflowError where NumPy raises it
    else:
        array = np.asarray(value)
        array = array.copy() if array.dtype == dtype else array.astype(dtype)
    return tracer.wrap(tracer.constant(array))


def is_text(value: Any) -> bool:
    """Tell whether an operand is text or an array of objects."""
    if type(value) is Symbol:
        return isinstance(value._spec.dtype, type)
    return isinstance(value, _TEXT) or (isinstance(value, _ARRAYS) and value.dtype.kind in "SUOT")


def _of_text(tracer: Tracer, name: str, inputs: tuple[Any, ...]) -> Any:
    """Record comparing and joining text."""
    if name not in _COMPARISONS and name != "add":
        tracer.refuse(f"uses {name} of text, which is not recorded")
    args = [value if type(value) is Symbol else text(tracer, value) for value in inputs]
    if args[0]._spec.dtype != args[1]._spec.dtype:
        if name == "add":
            tracer.refuse("uses add of text and something else, or of bytes and str")
        tracer.refuse("compares bytes with str or numbers")
    op, attrs = ("string_join", {"separator": ""}) if name == "add" else (name, {})
    (result,) = tracer.add(op, attrs, *args)
    return result


def text(tracer: Tracer, value: Any) -> Any:
    """Return constant text as a symbol."""
    return tracer.wrap(tracer.constant(value))
