"""Functions that pick values by where they are: ``take``, ``nonzero``, ``diagonal``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ..debugging import Assert
from ..symbol import Symbol
from ..ufuncs import convert, is_text
from .registry import common, function, ints, method, plain, symbol
from .shapes import ravel

if TYPE_CHECKING:
    from ..trace import Tracer

__all__ = ["nonzero"]


def _indices(t: Tracer, indices: Any) -> Any:
    found = symbol(t, indices)
    if is_text(found) or found.dtype.kind not in "biu":
        raise TypeError("indices must be integers")
    return found if found.dtype.kind != "b" else convert(t, found, np.dtype(np.int64))


@function("take")
@method("take")
def _take(
    t: Tracer, a: Any, indices: Any, axis: Any = None, out: Any = None, mode: Any = "raise"
) -> Any:
    plain(t, "np.take", out=out)
    a = symbol(t, a)
    if axis is None:
        a, axis = ravel(t, a), 0
    if a._spec.shape == ():
        a = a._view("expand_dims", axis=[0])
    return a._op("take", _indices(t, indices), axis=ints(t, axis)[0], mode=mode)


@function("take_along_axis")
def _take_along_axis(t: Tracer, arr: Any, indices: Any, axis: Any = -1) -> Any:
    arr, at = symbol(t, arr), symbol(t, indices)
    if is_text(at) or at.dtype.kind not in "iu":
        raise IndexError("`indices` must be an integer array")
    if axis is None:
        if at.ndim != 1:
            raise ValueError("when axis=None, `indices` must have a single dimension.")
        arr, axis = ravel(t, arr), 0
    return arr._op("take_along_axis", at, axis=ints(t, axis)[0])


def nonzero(t: Tracer, a: Any) -> tuple[Any, ...]:
    """Record where a value is not zero: one array of places for each axis."""
    a = symbol(t, a)
    if a.ndim == 0:
        raise ValueError("Calling nonzero on 0d arrays is not allowed.")
    places = a._op("argwhere")
    return tuple(places[:, axis] for axis in range(a.ndim))


@function("nonzero")
@method("nonzero")
def _nonzero(t: Tracer, a: Any) -> Any:
    return nonzero(t, a)


@function("argwhere")
def _argwhere(t: Tracer, a: Any) -> Any:
    return symbol(t, a)._op("argwhere")


@function("flatnonzero")
def _flatnonzero(t: Tracer, a: Any) -> Any:
    return nonzero(t, ravel(t, a))[0]


@function("compress")
def _compress(t: Tracer, condition: Any, a: Any, axis: Any = None, out: Any = None) -> Any:
    plain(t, "np.compress", out=out)
    condition = symbol(t, condition)
    if condition.ndim != 1:
        raise ValueError("condition must be a 1-d array")
    return _take(t, a, nonzero(t, condition)[0], axis)


@method("compress")
def _method_compress(t: Tracer, x: Any, condition: Any, axis: Any = None, out: Any = None) -> Any:
    return _compress(t, condition, x, axis, out)


@function("extract")
def _extract(t: Tracer, condition: Any, arr: Any) -> Any:
    return _take(t, arr, _flatnonzero(t, condition))


@function("diagonal")
@method("diagonal")
def _diagonal(t: Tracer, a: Any, offset: Any = 0, axis1: Any = 0, axis2: Any = 1) -> Any:
    offset, axis1, axis2 = ints(t, [offset, axis1, axis2])
    return symbol(t, a)._view("diagonal", offset=offset, axis1=axis1, axis2=axis2)


@function("linalg.diagonal")
def _linalg_diagonal(t: Tracer, x: Any, /, *, offset: Any = 0) -> Any:
    return _diagonal(t, x, offset, -2, -1)


@function("diag")
def _diag(t: Tracer, v: Any, k: Any = 0) -> Any:
    v = symbol(t, v)
    (offset,) = ints(t, k)
    if v.ndim == 1:
        return v._op("diag", offset=offset)
    if v.ndim != 2:
        raise ValueError("Input must be 1- or 2-d.")
    return _diagonal(t, v, offset)


@function("diagflat")
def _diagflat(t: Tracer, v: Any, k: Any = 0) -> Any:
    return _diag(t, ravel(t, v), k)


def _triangle(t: Tracer, m: Any, **band: int) -> Any:
    m = symbol(t, m)
    if m.ndim < 2:
        t.refuse("makes a matrix of a vector by np.tril or np.triu")
    return m._op("band_part", **band)


@function("tril")
def _tril(t: Tracer, m: Any, k: Any = 0) -> Any:
    return _triangle(t, m, upper=ints(t, k)[0])


@function("triu")
def _triu(t: Tracer, m: Any, k: Any = 0) -> Any:
    return _triangle(t, m, lower=ints(t, k)[0])


def _constant_places(name: str) -> None:
    """Enter a function that reads nothing but the shape."""
    places = getattr(np, name)

    def handler(t: Tracer, arr: Any, *args: Any, **kwargs: Any) -> Any:
        return places(np.zeros(tuple(ints(t, list(arr.shape))), bool), *args, **kwargs)

    function(name)(handler)


for _name in ("diag_indices_from", "tril_indices_from", "triu_indices_from"):
    _constant_places(_name)


@function("unravel_index")
def _unravel_index(t: Tracer, indices: Any, shape: Any, order: Any = "C") -> Any:
    if order != "C":
        t.refuse(f"uses np.unravel_index in order {order!r}")
    sizes = ints(t, shape)
    at = convert(t, _indices(t, indices), np.dtype(np.int64))
    total = int(np.prod(sizes, dtype=np.int64))
    text = f"the index is out of bounds for an array with size {total}"
    Assert((at >= 0) & (at < total), [at], text)
    found = []
    for size in reversed(sizes):
        found.append(at % size)
        at = at // size
    return tuple(reversed(found))


@function("ravel_multi_index")
def _ravel_multi_index(
    t: Tracer, multi_index: Any, dims: Any, mode: Any = "raise", order: Any = "C"
) -> Any:
    if order != "C" or mode != "raise":
        t.refuse(f"uses np.ravel_multi_index with mode={mode!r} and order={order!r}")
    sizes = ints(t, dims)
    if len(multi_index) != len(sizes):
        raise ValueError(f"need {len(sizes)} arrays of indices, got {len(multi_index)}")
    found: Any = np.int64(0)
    for index, size in zip(multi_index, sizes, strict=True):
        at = convert(t, _indices(t, index), np.dtype(np.int64))
        Assert((at >= 0) & (at < size), [at], "invalid entry in coordinates array")
        found = found * size + at
    return found


@function("unstack")
def _unstack(t: Tracer, x: Any, /, *, axis: Any = 0) -> Any:
    x = symbol(t, x)
    if x.ndim == 0:
        raise ValueError("Input array must be at least 1-d.")
    whole = (slice(None),) * (ints(t, axis)[0] % x.ndim)
    return tuple(x[(*whole, k)] for k in range(x.shape[axis]))


@function("choose")
def _choose(t: Tracer, a: Any, choices: Any, out: Any = None, mode: Any = "raise") -> Any:
    plain(t, "np.choose", out=out)
    if type(choices) is Symbol:
        choices = list(choices)
    at, *rows = np.broadcast_arrays(symbol(t, a), *[symbol(t, row) for row in choices])
    dtype = common(rows) if not any(map(is_text, rows)) else None
    rows = rows if dtype is None else [convert(t, row, dtype) for row in rows]
    table: Any = np.stack(rows)
    found = table._op("take_along_axis", _indices(t, at)[None], axis=0, mode=mode)
    return found[0]


@method("choose")
def _method_choose(t: Tracer, x: Any, choices: Any, out: Any = None, mode: Any = "raise") -> Any:
    return _choose(t, x, choices, out, mode)
