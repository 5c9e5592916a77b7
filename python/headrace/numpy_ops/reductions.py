"""Reductions: sums and products, means, extremes and their places, truth of all or any."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from ..ufuncs import convert
from .registry import axes, copied, function, ints, method, plain, symbol

if TYPE_CHECKING:
    from ..trace import Tracer

__all__: list[str] = []


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
        plain(t, f"np.{op}", out=out, initial=initial, where=where)
        a = symbol(t, a)
        attrs = {"axis": axes(t, axis), "keepdims": _keep(keepdims), "dtype": _sum_dtype(a, dtype)}
        return a._op(op, **attrs)

    return reduce


def _keep(keepdims: Any) -> bool:
    return keepdims is not np._NoValue and bool(keepdims)


@function("mean")
@method("mean")
def _mean(
    t: Tracer,
    a: Any,
    axis: Any = None,
    dtype: Any = None,
    out: Any = None,
    keepdims: Any = False,
    where: Any = None,
) -> Any:
    plain(t, "np.mean", out=out, where=where)
    a = symbol(t, a)
    if dtype is None and a.dtype.kind in "biu":
        dtype = np.float64
    target = a.dtype if dtype is None else np.dtype(dtype)
    attrs = {"axis": axes(t, axis), "keepdims": _keep(keepdims), "dtype": target}
    return convert(t, a, target)._op("mean", **attrs)


@function("var")
@method("var")
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
    plain(t, "np.var", dtype=dtype, out=out, where=where, mean=mean, correction=correction)
    a = symbol(t, a)
    if a.dtype.kind in "cV" or a.dtype == np.float16:
        t.refuse(f"uses np.var of {a.dtype}")
    away = a - _mean(t, a, axis, keepdims=True)
    total = _summing("sum")(t, away * away, axis, keepdims=keepdims)
    counted = range(a.ndim) if axis is None else ints(t, axis)
    count = 1
    for k in counted:
        count *= a.shape[k]
    return total / max(count - ddof, 0)


@function("std")
@method("std")
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
        plain(t, f"np.{op}", out=out, initial=initial, where=where)
        return symbol(t, a)._op(op, axis=axes(t, axis), keepdims=_keep(keepdims))

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
        plain(t, f"np.{op}", out=out, where=where)
        return symbol(t, a)._op(op, axis=axes(t, axis), keepdims=_keep(keepdims))

    return reduce


def _position(op: str) -> Callable[..., Any]:
    def reduce(
        t: Tracer, a: Any, axis: Any = None, out: Any = None, *, keepdims: Any = False
    ) -> Any:
        plain(t, f"np.{op}", out=out)
        place = None if axis is None else ints(t, axis)[0]
        return symbol(t, a)._op(op, axis=place, keepdims=_keep(keepdims))

    return reduce


@function("round")
@method("round")
def _round(t: Tracer, a: Any, decimals: Any = 0, out: Any = None) -> Any:
    plain(t, "np.round", out=out)
    a = symbol(t, a)
    if decimals != 0:
        t.refuse("rounds to decimals")
    if a.dtype.kind in "bcV":
        t.refuse(f"rounds {a.dtype}")
    return a._op("rint") if a.dtype.kind == "f" else copied(a)


def _enter(names: str, maker: Callable[[str], Callable[..., Any]]) -> None:
    for name in names.split():
        handler = maker(name)
        function(name, f"a{name}" if name in ("max", "min") else name)(handler)
        method(name)(handler)


_enter("all any", _logical)
_enter("argmax argmin", _position)
_enter("max min", _ordering)
_enter("prod sum", _summing)
