"""NumPy functions and array methods on symbols: which ops they record.

One handler per function, shared with the method of the same name where the arguments agree. Dtypes
are NumPy 2's. Arguments a handler does not know refuse.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from .dtypes import as_dtype
from .errors import HeadraceError
from .symbol import Symbol
from .ufuncs import call_ufunc, convert, is_text, text

if TYPE_CHECKING:
    from .trace import Tracer

__all__ = ["METHODS", "astype", "call_function", "copied"]

Number = bool | int | float | complex


# ------------------------------------------------------- methods and functions


def astype(x: Symbol, dtype: Any, casting: Any = "unsafe", copy: bool = True) -> Any:
    """Record ``x.astype(dtype)``."""
    tracer = x._tracer
    try:
        target = as_dtype(dtype)
    except HeadraceError:
        target = bytes
    if isinstance(target, type) or isinstance(x._spec.dtype, type):
        tracer.refuse(f"converts {x._spec.dtype!r} to {dtype!r}")
    if not np.can_cast(x.dtype, target, casting):
        raise TypeError(f"cannot cast from {x.dtype} to {target} by the rule {casting!r}")
    if x.dtype == target:
        return copied(x) if copy else x
    return x._op("cast", dtype=target)


def copied(x: Symbol) -> Any:
    """Return the same value as memory of its own."""
    return x._tracer.wrap(x._value, fresh=True)


def _plain(tracer: Tracer, what: str, **values: Any) -> None:
    """Refuse arguments that are not at their defaults, which are falsy or NumPy's ``_NoValue``."""
    for name, value in values.items():
        if value is not None and value is not False and value is not np._NoValue:
            tracer.refuse(f"uses {what} with {name}=")


def _symbol(tracer: Tracer, value: Any) -> Any:
    if type(value) is Symbol:
        return value
    if isinstance(value, Number | np.ndarray | np.generic | list | tuple):
        return tracer.wrap(tracer.constant(value))
    return tracer.refuse(f"uses a NumPy function of {type(value).__name__}")


def _ints(tracer: Tracer, values: Any) -> list[int]:
    items = values if isinstance(values, Sequence) else (values,)
    for item in items:
        if not isinstance(item, int | np.integer):
            tracer.refuse("uses a shape or axis that only a run knows")
    return [int(item) for item in items]


def _axis(tracer: Tracer, axis: Any) -> Any:
    return None if axis is None else _ints(tracer, axis)


def _reshape(t: Tracer, x: Any, *shape: Any, order: str = "C", copy: Any = None) -> Any:
    if order != "C":
        t.refuse(f"reshapes in order {order!r}")
    dims = shape[0] if len(shape) == 1 else shape
    return _symbol(t, x)._view("reshape", shape=_ints(t, dims))


def _np_reshape(t: Tracer, a: Any, shape: Any, order: str = "C", *, copy: Any = None) -> Any:
    return _reshape(t, a, shape, order=order)


def _ravel(t: Tracer, x: Any, order: str = "C") -> Any:
    return _reshape(t, x, -1, order=order)


def _flatten(t: Tracer, x: Any, order: str = "C") -> Any:
    return copied(_reshape(t, copied(x), -1, order=order))


def _transpose(t: Tracer, x: Any, *axes: Any) -> Any:
    order = axes[0] if len(axes) == 1 else axes or None
    return _symbol(t, x)._view("transpose", axes=_axis(t, order))


def _np_transpose(t: Tracer, a: Any, axes: Any = None) -> Any:
    return _transpose(t, a, axes)


def _swapaxes(t: Tracer, x: Any, axis1: Any, axis2: Any) -> Any:
    x = _symbol(t, x)
    order = list(range(x.ndim))
    order[axis1], order[axis2] = order[axis2], order[axis1]
    return x._view("transpose", axes=order)


def _moveaxis(t: Tracer, a: Any, source: Any, destination: Any) -> Any:
    a = _symbol(t, a)
    sources = [axis % a.ndim for axis in _ints(t, source)]
    targets = [axis % a.ndim for axis in _ints(t, destination)]
    order = [axis for axis in range(a.ndim) if axis not in sources]
    for target, origin in sorted(zip(targets, sources, strict=True)):
        order.insert(target, origin)
    return a._view("transpose", axes=order)


def _expand_dims(t: Tracer, a: Any, axis: Any) -> Any:
    return _symbol(t, a)._view("expand_dims", axis=_ints(t, axis))


def _squeeze(t: Tracer, x: Any, axis: Any = None) -> Any:
    return _symbol(t, x)._view("squeeze", axis=_axis(t, axis))


def _flip(t: Tracer, m: Any, axis: Any = None) -> Any:
    m = _symbol(t, m)
    flipped = range(m.ndim) if axis is None else [k % m.ndim for k in _ints(t, axis)]
    whole, back = slice(None), slice(None, None, -1)
    return m[tuple(back if k in flipped else whole for k in range(m.ndim))]


def _broadcast_to(t: Tracer, array: Any, shape: Any, subok: bool = False) -> Any:
    return _symbol(t, array)._view("broadcast_to", shape=_ints(t, shape))


def _joined(t: Tracer, op: str, arrays: Any, axis: Any, dtype: Any = None) -> Any:
    if not isinstance(arrays, list | tuple):
        t.refuse(f"uses np.{op} of something else than a list or tuple")
    symbols = [_symbol(t, array) for array in arrays]
    if any(isinstance(symbol._spec.dtype, type) for symbol in symbols):
        found = None
    else:
        found = (
            np.dtype(dtype) if dtype is not None else np.result_type(*(s.dtype for s in symbols))
        )
    args = [s if found is None else convert(t, s, found) for s in symbols]
    (result,) = t.add(op, {"axis": _ints(t, axis)[0]}, *args)
    return result


def _concatenate(
    t: Tracer,
    arrays: Any,
    /,
    axis: Any = 0,
    out: Any = None,
    *,
    dtype: Any = None,
    casting: Any = None,
) -> Any:
    _plain(t, "np.concatenate", out=out, casting=casting)
    if axis is None:
        arrays, axis = [_ravel(t, array) for array in arrays], 0
    return _joined(t, "concatenate", arrays, axis, dtype)


def _stack(
    t: Tracer,
    arrays: Any,
    axis: Any = 0,
    out: Any = None,
    *,
    dtype: Any = None,
    casting: Any = None,
) -> Any:
    _plain(t, "np.stack", out=out, casting=casting)
    return _joined(t, "stack", arrays, axis, dtype)


def _at_least(t: Tracer, x: Any, ndim: int) -> Any:
    x = _symbol(t, x)
    missing = ndim - x.ndim
    return x if missing <= 0 else x._view("expand_dims", axis=list(range(missing)))


def _vstack(t: Tracer, tup: Any, *, dtype: Any = None, casting: Any = None) -> Any:
    _plain(t, "np.vstack", casting=casting)
    return _joined(t, "concatenate", [_at_least(t, x, 2) for x in tup], 0, dtype)


def _hstack(t: Tracer, tup: Any, *, dtype: Any = None, casting: Any = None) -> Any:
    _plain(t, "np.hstack", casting=casting)
    arrays = [_at_least(t, x, 1) for x in tup]
    return _joined(t, "concatenate", arrays, 0 if arrays[0].ndim == 1 else 1, dtype)


def _common(values: Sequence[Any]) -> np.dtype[Any]:
    """Return the common dtype of operands; Python numbers are weak."""
    kinds = [value.dtype if type(value) is Symbol else value for value in values]
    return np.result_type(*kinds)


def _where(t: Tracer, condition: Any, x: Any = None, y: Any = None) -> Any:
    if x is None or y is None:
        t.refuse("uses np.where with one argument, whose size only a run knows")
    if any(map(is_text, (x, y))):
        args = [value if type(value) is Symbol else text(t, value) for value in (x, y)]
    else:
        dtype = _common((x, y))
        args = [convert(t, value, dtype) for value in (x, y)]
    (result,) = t.add("select", {}, convert(t, condition, np.dtype(bool)), *args)
    return result


def _clip(
    t: Tracer,
    a: Any,
    a_min: Any = np._NoValue,
    a_max: Any = np._NoValue,
    out: Any = None,
    *,
    min: Any = np._NoValue,
    max: Any = np._NoValue,
) -> Any:
    _plain(t, "np.clip", out=out)
    low = min if a_min is np._NoValue else a_min
    high = max if a_max is np._NoValue else a_max
    low, high = (None if end is np._NoValue else end for end in (low, high))
    given = [end for end in (low, high) if end is not None]
    result = convert(t, a, _common([a, *given]))
    if low is not None:
        result = call_ufunc(t, np.maximum, (result, low), {})
    if high is not None:
        result = call_ufunc(t, np.minimum, (result, high), {})
    return result


def _method_clip(t: Tracer, x: Any, min: Any = None, max: Any = None, out: Any = None) -> Any:
    return _clip(t, x, min, max, out)


# ------------------------------------------------------------------ reductions


def _sum_dtype(x: Any, dtype: Any) -> Any:
    """Return the dtype in which NumPy sums: small integers and bools widen."""
    if dtype is not None:
        return np.dtype(dtype)
    if x.dtype.kind in "bi" and x.dtype.itemsize < 8:
        return np.dtype(np.int64)
    if x.dtype.kind == "u" and x.dtype.itemsize < 8:
        return np.dtype(np.uint64)
    return x.dtype


def _summing(op: str) -> Callable[..., Any]:
    def reduce(
        t: Tracer,
        a: Any,
        axis: Any = None,
        dtype: Any = None,
        out: Any = None,
        keepdims: Any = False,
        initial: Any = None,
        where: Any = None,
    ) -> Any:
        _plain(t, f"np.{op}", out=out, initial=initial, where=where)
        a = _symbol(t, a)
        attrs = {"axis": _axis(t, axis), "keepdims": _keep(keepdims), "dtype": _sum_dtype(a, dtype)}
        return a._op(op, **attrs)

    return reduce


def _keep(keepdims: Any) -> bool:
    return keepdims is not np._NoValue and bool(keepdims)


def _mean(
    t: Tracer,
    a: Any,
    axis: Any = None,
    dtype: Any = None,
    out: Any = None,
    keepdims: Any = False,
    where: Any = None,
) -> Any:
    _plain(t, "np.mean", out=out, where=where)
    a = _symbol(t, a)
    if dtype is None and a.dtype.kind in "biu":
        dtype = np.float64
    target = a.dtype if dtype is None else np.dtype(dtype)
    axes = _axis(t, axis)
    return convert(t, a, target)._op("mean", axis=axes, keepdims=_keep(keepdims), dtype=target)


def _var(
    t: Tracer,
    a: Any,
    axis: Any = None,
    dtype: Any = None,
    out: Any = None,
    ddof: Any = 0,
    keepdims: Any = False,
    where: Any = None,
    mean: Any = None,
    correction: Any = None,
) -> Any:
    _plain(t, "np.var", dtype=dtype, out=out, where=where, mean=mean, correction=correction)
    a = _symbol(t, a)
    if a.dtype.kind in "cV" or a.dtype == np.float16:
        t.refuse(f"uses np.var of {a.dtype}")
    away = a - _mean(t, a, axis, keepdims=True)
    total = METHODS["sum"](t, away * away, axis, keepdims=keepdims)
    axes = range(a.ndim) if axis is None else _ints(t, axis)
    count = 1
    for k in axes:
        count *= a.shape[k]
    return total / max(count - ddof, 0)


def _std(
    t: Tracer,
    a: Any,
    axis: Any = None,
    dtype: Any = None,
    out: Any = None,
    ddof: Any = 0,
    keepdims: Any = False,
    **rest: Any,
) -> Any:
    return np.sqrt(_var(t, a, axis, dtype, out, ddof, keepdims, **rest))


def _ordering(op: str) -> Callable[..., Any]:
    def reduce(
        t: Tracer,
        a: Any,
        axis: Any = None,
        out: Any = None,
        keepdims: Any = False,
        initial: Any = None,
        where: Any = None,
    ) -> Any:
        _plain(t, f"np.{op}", out=out, initial=initial, where=where)
        return _symbol(t, a)._op(op, axis=_axis(t, axis), keepdims=_keep(keepdims))

    return reduce


def _logical(op: str) -> Callable[..., Any]:
    def reduce(
        t: Tracer,
        a: Any,
        axis: Any = None,
        out: Any = None,
        keepdims: Any = False,
        *,
        where: Any = None,
    ) -> Any:
        _plain(t, f"np.{op}", out=out, where=where)
        return _symbol(t, a)._op(op, axis=_axis(t, axis), keepdims=_keep(keepdims))

    return reduce


def _position(op: str) -> Callable[..., Any]:
    def reduce(
        t: Tracer, a: Any, axis: Any = None, out: Any = None, *, keepdims: Any = False
    ) -> Any:
        _plain(t, f"np.{op}", out=out)
        place = None if axis is None else _ints(t, axis)[0]
        return _symbol(t, a)._op(op, axis=place, keepdims=_keep(keepdims))

    return reduce


# ------------------------------------------------------------------ the tables


def _round(t: Tracer, a: Any, decimals: Any = 0, out: Any = None) -> Any:
    _plain(t, "np.round", out=out)
    a = _symbol(t, a)
    if decimals != 0:
        t.refuse("rounds to decimals")
    if a.dtype.kind in "bcV":
        t.refuse(f"rounds {a.dtype}")
    return a._op("rint") if a.dtype.kind == "f" else copied(a)


def _like(value: Any) -> Callable[..., Any]:
    def make(
        t: Tracer,
        a: Any,
        dtype: Any = None,
        order: Any = "K",
        subok: Any = True,
        shape: Any = None,
        *,
        device: Any = None,
    ) -> Any:
        shape = a.shape if shape is None else shape
        if not isinstance(shape, tuple):
            t.refuse("reads a shape that only a run knows")
        return np.full(shape, value, a.dtype if dtype is None else dtype)

    return make


def _np_copy(t: Tracer, a: Any, order: Any = "K", subok: Any = False) -> Any:
    return copied(a)


def _np_astype(t: Tracer, x: Any, dtype: Any, /, *, copy: Any = True, device: Any = None) -> Any:
    return astype(x, dtype, copy=copy)


def _result_type(t: Tracer, *values: Any) -> Any:
    return _common(values)


METHODS: dict[str, Callable[..., Any]] = {
    "all": _logical("all"),
    "any": _logical("any"),
    "argmax": _position("argmax"),
    "argmin": _position("argmin"),
    "clip": _method_clip,
    "conj": lambda t, x: np.conjugate(x),
    "conjugate": lambda t, x: np.conjugate(x),
    "flatten": _flatten,
    "max": _ordering("max"),
    "mean": _mean,
    "min": _ordering("min"),
    "prod": _summing("prod"),
    "ravel": _ravel,
    "reshape": _reshape,
    "round": _round,
    "squeeze": _squeeze,
    "std": _std,
    "sum": _summing("sum"),
    "swapaxes": _swapaxes,
    "transpose": _transpose,
    "var": _var,
}

# Functions with the arguments of the method of the same name.
_SHARED = "all any argmax argmin max mean min prod ravel round squeeze std sum swapaxes var"

_FUNCTIONS: dict[str, Callable[..., Any]] = {
    **{name: METHODS[name] for name in _SHARED.split()},
    "amax": METHODS["max"],
    "amin": METHODS["min"],
    "astype": _np_astype,
    "atleast_1d": lambda t, x: _at_least(t, x, 1),
    "atleast_2d": lambda t, x: _at_least(t, x, 2),
    "broadcast_to": _broadcast_to,
    "clip": _clip,
    "concatenate": _concatenate,
    "copy": _np_copy,
    "expand_dims": _expand_dims,
    "flip": _flip,
    "fliplr": lambda t, m: _flip(t, m, 1),
    "flipud": lambda t, m: _flip(t, m, 0),
    "hstack": _hstack,
    "imag": lambda t, val: val.imag,
    "moveaxis": _moveaxis,
    "ndim": lambda t, a: a.ndim,
    "ones_like": _like(1),
    "real": lambda t, val: val.real,
    "reshape": _np_reshape,
    "result_type": _result_type,
    "shape": lambda t, a: a.shape,
    "size": lambda t, a, axis=None: a.size if axis is None else a.shape[axis],
    "stack": _stack,
    "transpose": _np_transpose,
    "vstack": _vstack,
    "where": _where,
    "zeros_like": _like(0),
}


def call_function(tracer: Tracer, func: Any, args: tuple[Any, ...], kwargs: Any) -> Any:
    """Record a NumPy function that is not a ufunc; refuses what is not recorded."""
    name = getattr(func, "__name__", repr(func))
    handler = _FUNCTIONS.get(name)
    if handler is None or getattr(np, name, None) is not func:
        tracer.refuse(f"uses np.{name}, which is not recorded")
    return handler(tracer, *args, **kwargs)
