"""Neighbours along an axis: ``sliding_window_view``, ``convolve``, ``gradient``, ``trapezoid``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ..ufuncs import convert, einsum
from .products import common_operands
from .registry import function, ints, plain, symbol
from .shapes import axis_of

if TYPE_CHECKING:
    from ..trace import Tracer

__all__: list[str] = []


@function("lib.stride_tricks.sliding_window_view")
def _sliding_window_view(
    t: Tracer,
    x: Any,
    window_shape: Any,
    axis: Any = None,
    *,
    subok: Any = False,
    writeable: Any = False,
) -> Any:
    plain(t, "np.lib.stride_tricks.sliding_window_view", writeable=writeable)
    x = symbol(t, x)
    sizes = ints(t, window_shape)
    places = list(range(x.ndim)) if axis is None else [axis_of(k, x.ndim) for k in ints(t, axis)]
    if len(sizes) != len(places):
        raise ValueError("there must be a window size for each axis, and an axis for each size")
    for place, size in zip(places, sizes, strict=True):
        x = np.moveaxis(_windows(t, x, place, size), place + 1, -1)
    return x


def _windows(t: Tracer, x: Any, axis: int, size: int) -> Any:
    """Return all windows along an axis, as an axis of their own behind it."""
    if size < 0:
        raise ValueError("`window_shape` cannot contain negative values")
    count = x.shape[axis] - size + 1
    if count < 1:
        raise ValueError("window shape cannot be larger than input array shape")
    return np.take(x, np.arange(count)[:, None] + np.arange(size), axis)


def _whole(t: Tracer, a: Any, v: Any) -> tuple[Any, int]:
    """Return the sums of products at all places where two rows overlap, and the shorter length."""
    if len(v) > len(a):
        a, v = v, a
    if not len(v):
        raise ValueError("v cannot be empty")
    if a.dtype.kind not in "iufc":
        t.refuse(f"uses np.convolve or np.correlate of {a.dtype}")
    edge = np.zeros(len(v) - 1, a.dtype)
    row = np.concatenate([edge, a, edge])
    return einsum(t, "ij,j->i", _windows(t, row, 0, len(v)), v[::-1]), len(v)


def _part(whole: Any, short: int, mode: Any, shift: int) -> Any:
    """Return the part of the places that a mode asks for."""
    modes = {0: "valid", 1: "same", 2: "full"}
    mode = modes.get(mode, mode)
    long = len(whole) - short + 1
    if mode == "full":
        return whole
    if mode == "valid":
        return whole[short - 1 : long]
    if mode == "same":
        return whole[shift : shift + long]
    raise ValueError(f"mode must be one of 'valid', 'same', or 'full' (got {mode!r})")


@function("convolve")
def _convolve(t: Tracer, a: Any, v: Any, mode: Any = "full") -> Any:
    a, v = (np.atleast_1d(x) for x in common_operands(t, a, v))
    if a.ndim > 1 or v.ndim > 1:
        raise ValueError("object too deep for desired array")
    whole, short = _whole(t, a, v)
    return _part(whole, short, mode, (short - 1) // 2)


@function("correlate")
def _correlate(t: Tracer, a: Any, v: Any, mode: Any = "valid") -> Any:
    a, v = common_operands(t, a, v)
    if a.ndim != 1 or v.ndim != 1:
        raise ValueError("object of too small depth for desired array")
    back = (np.conjugate(v) if v.dtype.kind == "c" else v)[::-1]
    swapped = len(v) > len(a)
    whole, short = _whole(t, a, back)
    # Where the second is the longer, NumPy turns the result of the other order round.
    return _part(whole, short, mode, short // 2 if not swapped else (short - 1) // 2)


@function("gradient")
def _gradient(t: Tracer, f: Any, *varargs: Any, axis: Any = None, edge_order: Any = 1) -> Any:
    f = symbol(t, f)
    if edge_order != 1 or any(np.ndim(step) for step in varargs):
        t.refuse("uses np.gradient with edge_order=2 or coordinates", "give a step for each axis")
    places = list(range(f.ndim)) if axis is None else [axis_of(k, f.ndim) for k in ints(t, axis)]
    steps = varargs * len(places) if len(varargs) == 1 else varargs or (1.0,) * len(places)
    if len(steps) != len(places):
        raise TypeError("invalid number of arguments")
    if f.dtype.kind in "biu":
        f = convert(t, f, np.dtype(np.float64))
    found = []
    for place, step in zip(places, steps, strict=True):
        if f.shape[place] < 2:
            raise ValueError("Shape of array too small to calculate a numerical gradient")
        before = (slice(None),) * place

        def part(start: int, stop: int | None, before: Any = before) -> Any:
            return f[(*before, slice(start, stop))]

        middle = (part(2, None) - part(0, -2)) / (2.0 * step)
        first = (part(1, 2) - part(0, 1)) / step
        last = (part(-1, None) - part(-2, -1)) / step
        found.append(np.concatenate([first, middle, last], place))
    return found[0] if len(found) == 1 else tuple(found)


@function("trapezoid")
def _trapezoid(t: Tracer, y: Any, x: Any = None, dx: Any = 1.0, axis: Any = -1) -> Any:
    y = symbol(t, y)
    place = axis_of(ints(t, axis)[0], y.ndim)
    before = (slice(None),) * place
    step: Any = dx
    if x is not None:
        step = np.diff(symbol(t, x)) if np.ndim(x) == 1 else np.diff(symbol(t, x), axis=place)
        if np.ndim(x) == 1:
            step = step[(slice(None), *(None,) * (y.ndim - place - 1))]
    pairs = y[(*before, slice(1, None))] + y[(*before, slice(None, -1))]
    return (step * pairs / 2.0).sum(place)
