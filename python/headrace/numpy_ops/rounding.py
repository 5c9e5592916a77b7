"""Functions of single values that are no ufuncs.

``fix``, ``nan_to_num``, ``isposinf`` and the like, ``interp``, ``sinc``, ``angle``, ``polyval``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ..ufuncs import convert
from .registry import copied, function, plain, symbol

if TYPE_CHECKING:
    from ..trace import Tracer

__all__: list[str] = []


@function("fix")
def _fix(t: Tracer, x: Any, out: Any = None) -> Any:
    plain(t, "np.fix", out=out)
    return np.trunc(x)


@function("nan_to_num")
def _nan_to_num(
    t: Tracer, x: Any, copy: Any = True, nan: Any = 0.0, posinf: Any = None, neginf: Any = None
) -> Any:
    x = symbol(t, x)
    if copy is not True:
        t.refuse("uses np.nan_to_num with copy=, which may write to an array")
    if x.dtype.kind not in "fc":
        if x.dtype.kind == "V":
            t.refuse(f"uses np.nan_to_num of {x.dtype}")
        return copied(x)
    if x.dtype.kind == "c":
        t.refuse("uses np.nan_to_num of complex numbers")
    info = np.finfo(x.dtype)
    high = info.max if posinf is None else posinf
    low = info.min if neginf is None else neginf

    def number(value: Any) -> Any:
        return convert(t, value, x.dtype) if type(value) is float else np.asarray(value, x.dtype)

    found = np.where(np.isnan(x), number(nan), x)
    found = np.where(x == np.inf, number(high), found)
    return np.where(x == -np.inf, number(low), found)


@function("isposinf")
def _isposinf(t: Tracer, x: Any, out: Any = None) -> Any:
    plain(t, "np.isposinf", out=out)
    return np.isinf(x) & ~np.signbit(x)


@function("isneginf")
def _isneginf(t: Tracer, x: Any, out: Any = None) -> Any:
    plain(t, "np.isneginf", out=out)
    return np.isinf(x) & np.signbit(x)


@function("isreal")
def _isreal(t: Tracer, x: Any) -> Any:
    x = symbol(t, x)
    return x.imag == 0 if x.dtype.kind == "c" else np.equal(x, x) | True


@function("iscomplex")
def _iscomplex(t: Tracer, x: Any) -> Any:
    x = symbol(t, x)
    return x.imag != 0 if x.dtype.kind == "c" else np.not_equal(x, x) & False


@function("angle")
def _angle(t: Tracer, z: Any, deg: Any = False) -> Any:
    z = symbol(t, z)
    found = np.arctan2(z.imag, z.real) if z.dtype.kind == "c" else np.arctan2(0, z)
    return found * (180 / np.pi) if deg else found


@function("polyval")
def _polyval(t: Tracer, p: Any, x: Any) -> Any:
    p = symbol(t, p)
    x = symbol(t, x)
    found = np.zeros_like(x)
    for coefficient in p:
        found = found * x + coefficient
    return found


@function("sinc")
def _sinc(t: Tracer, x: Any) -> Any:
    x = symbol(t, x)
    if x.dtype.kind != "f":
        x = convert(t, x, np.result_type(x.dtype, 1.0))
    y = np.pi * np.where(x == 0, 1.0e-20, x)
    found = np.sin(y) / y
    return np.where(y == 0, np.asarray(1, found.dtype), found)


@function("i0")
def _i0(t: Tracer, x: Any) -> Any:
    x = symbol(t, x)
    if x.dtype.kind == "c":
        raise TypeError("i0 not supported for complex values")
    if x.dtype.kind != "f":
        x = convert(t, x, np.dtype(np.float64))
    return t.add("i0", {}, x)[0]


@function("interp")
def _interp(
    t: Tracer, x: Any, xp: Any, fp: Any, left: Any = None, right: Any = None, period: Any = None
) -> Any:
    plain(t, "np.interp", period=period)
    if not all(isinstance(points, np.ndarray | list | tuple | range) for points in (xp, fp)):
        t.refuse("uses np.interp with points that only a run knows")
    places, values = np.asarray(xp, np.float64), np.asarray(fp)
    if values.dtype.kind == "c" or places.ndim != 1 or values.ndim != 1:
        t.refuse("uses np.interp with points that are not real numbers in a row")
    low, high = (None if end is None else float(end) for end in (left, right))
    attrs = {"xp": places, "fp": values.astype(np.float64), "left": low, "right": high}
    return convert(t, symbol(t, x), np.dtype(np.float64))._op("interp", **attrs)
