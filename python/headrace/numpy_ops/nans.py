"""Reductions that leave out NaN: ``nansum``, ``nanmean``, ``nanmax`` and their sisters."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from ..debugging import Assert
from .cumulative import cumulate
from .reductions import chosen, extreme, keep, mean, reduce, squares, summing, typed
from .registry import function, ints, plain, symbol

if TYPE_CHECKING:
    from ..trace import Tracer

__all__: list[str] = []


def _filled(t: Tracer, a: Any, value: Any) -> tuple[Any, Any]:
    """Return the values with `value` for NaN, and where NaN is; None where it cannot be."""
    a = symbol(t, a)
    if a.dtype.kind not in "fcV":
        return a, None
    missing = np.isnan(a)
    return np.where(missing, np.asarray(value, a.dtype), a), missing


def _without_nan(start: int) -> Callable[[Tracer, Any], Any]:
    return lambda t, a: _filled(t, a, start)[0]


def _running(name: str, op: str, start: int) -> Callable[..., Any]:
    without_nan = _without_nan(start)

    def handler(t: Tracer, a: Any, axis: Any = None, dtype: Any = None, out: Any = None) -> Any:
        plain(t, f"np.{name}", out=out)
        return cumulate(t, op, without_nan(t, a), axis, dtype)

    return handler


def _position(name: str, op: str, worst: float) -> Callable[..., Any]:
    def handler(
        t: Tracer, a: Any, axis: Any = None, out: Any = None, *, keepdims: Any = False
    ) -> Any:
        plain(t, f"np.{name}", out=out)
        filled, missing = _filled(t, a, worst)
        place = None if axis is None else ints(t, axis)[0]
        if missing is not None:
            some = np.logical_not(reduce(t, "all", missing, place))
            Assert(some, message="All-NaN slice encountered")
        return filled._op(op, axis=place, keepdims=keep(keepdims))

    return handler


def _marked(t: Tracer, a: Any, where: Any) -> Any:
    """Return values with NaN for those that ``where=`` leaves out, where there is NaN."""
    a = symbol(t, a)
    return chosen(t, a, where, np.nan) if a.dtype.kind in "fc" else a


def _count(t: Tracer, missing: Any, axis: Any, keepdims: Any) -> Any:
    return reduce(t, "sum", np.logical_not(missing), axis, None, keepdims)


@function("nanmean")
def _nanmean(
    t: Tracer,
    a: Any,
    axis: Any = None,
    dtype: Any = None,
    out: Any = None,
    keepdims: Any = False,
    *,
    where: Any = None,
) -> Any:
    plain(t, "np.nanmean", out=out)
    filled, missing = _filled(t, _marked(t, a, where), 0)
    if missing is None:
        return mean(t, filled, axis, dtype, keepdims=keepdims, where=where)
    total = reduce(t, "sum", filled, axis, dtype, keepdims)
    return typed(np.true_divide(total, _count(t, missing, axis, keepdims)), total.dtype)


@function("nanvar")
def _nanvar(
    t: Tracer,
    a: Any,
    axis: Any = None,
    dtype: Any = None,
    out: Any = None,
    ddof: Any = 0,
    keepdims: Any = False,
    *,
    where: Any = None,
    mean: Any = None,
    correction: Any = None,
) -> Any:
    plain(t, "np.nanvar", dtype=dtype, out=out, mean=mean)
    if correction is not None and correction is not np._NoValue:
        ddof = correction
    filled, missing = _filled(t, _marked(t, a, where), 0)
    if missing is None:
        chosen = {} if where is None or where is np._NoValue else {"where": where}
        return np.var(filled, axis, ddof=ddof, keepdims=keep(keepdims), **chosen)
    total = reduce(t, "sum", filled, axis, None, True)
    middle = typed(np.true_divide(total, _count(t, missing, axis, True)), total.dtype)
    zero = np.asarray(0, filled.dtype)
    away = np.where(missing, zero, np.subtract(filled, middle))
    total = reduce(t, "sum", squares(away), axis, None, keepdims)
    free = np.subtract(_count(t, missing, axis, keepdims), ddof)
    variance = typed(np.true_divide(total, free), total.dtype)
    return np.where(free <= 0, np.asarray(np.nan, variance.dtype), variance)


@function("nanstd")
def _nanstd(t: Tracer, a: Any, *args: Any, **kwargs: Any) -> Any:
    return np.sqrt(_nanvar(t, a, *args, **kwargs))


for _name, _op, _start in (("nansum", "sum", 0), ("nanprod", "prod", 1)):
    function(_name)(summing(_name, _op, _without_nan(_start)))
for _name, _op, _start in (("nancumsum", "add", 0), ("nancumprod", "multiply", 1)):
    function(_name)(_running(_name, _op, _start))
for _name, _op, _plain in (("nanmax", "reduce_fmax", "max"), ("nanmin", "reduce_fmin", "min")):
    function(_name)(extreme(_name, _op, _plain))
for _name, _op, _worst in (("nanargmax", "argmax", -np.inf), ("nanargmin", "argmin", np.inf)):
    function(_name)(_position(_name, _op, _worst))
