"""Fourier transforms: ``np.fft``.

The engine transforms the last axis; others are moved there and back. Loaded when a function of
``np.fft`` meets a symbol, since NumPy loads that module late too.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from .registry import function, ints, plain, symbol

if TYPE_CHECKING:
    from ..trace import Tracer

__all__ = ["transform"]

# The same sums, scaled at the other end.
_SWAPPED = {None: "forward", "backward": "forward", "ortho": "ortho", "forward": "backward"}


def transform(t: Tracer, op: str, a: Any, n: Any, axis: Any, norm: Any) -> Any:
    """Record a transform along one axis."""
    a = symbol(t, a)
    (place,) = ints(t, axis)
    if a.dtype.kind not in "biufc" or (op == "irfft" and a.dtype == np.float16):
        t.refuse(f"uses np.fft.{op} of {a.dtype}")
    if not -a.ndim <= place < a.ndim:
        raise IndexError(f"axis {place} is out of bounds for array of dimension {a.ndim}")
    attrs: dict[str, Any] = {} if n is None else {"n": ints(t, n)[0]}
    if norm is not None:
        attrs["norm"] = norm
    if place % a.ndim == a.ndim - 1:
        return a._op(op, **attrs)
    return np.moveaxis(np.moveaxis(a, place, -1)._op(op, **attrs), -1, place)


def _along_one(name: str) -> None:
    def handler(
        t: Tracer, a: Any, n: Any = None, axis: Any = -1, norm: Any = None, out: Any = None
    ) -> Any:
        plain(t, f"np.fft.{name}", out=out)
        return transform(t, name, a, n, axis, norm)

    function(f"fft.{name}")(handler)


for _name in ("fft", "ifft", "rfft", "irfft"):
    _along_one(_name)


@function("fft.hfft")
def _hfft(
    t: Tracer, a: Any, n: Any = None, axis: Any = -1, norm: Any = None, out: Any = None
) -> Any:
    plain(t, "np.fft.hfft", out=out)
    return transform(t, "irfft", np.conjugate(symbol(t, a)), n, axis, _SWAPPED.get(norm, norm))


@function("fft.ihfft")
def _ihfft(
    t: Tracer, a: Any, n: Any = None, axis: Any = -1, norm: Any = None, out: Any = None
) -> Any:
    plain(t, "np.fft.ihfft", out=out)
    return np.conjugate(transform(t, "rfft", a, n, axis, _SWAPPED.get(norm, norm)))


def _several(name: str, others: str, last: str, axes: tuple[int, ...] | None) -> None:
    """Enter a transform along several axes: `last` along the last one, `others` before."""

    def handler(
        t: Tracer, a: Any, s: Any = None, axes: Any = axes, norm: Any = None, out: Any = None
    ) -> Any:
        plain(t, f"np.fft.{name}", out=out)
        a = symbol(t, a)
        sizes = None if s is None else ints(t, s)
        if axes is None:
            if sizes is not None:
                t.refuse(f"uses np.fft.{name} with s= and without axes=")
            places = list(range(a.ndim))
        else:
            places = ints(t, axes)
        if not places:
            t.refuse(f"uses np.fft.{name} along no axis")
        points = [None] * len(places) if sizes is None else [None if n == -1 else n for n in sizes]
        if len(points) != len(places):
            raise ValueError("Shape and axes have different lengths.")
        steps = list(zip(places, points, strict=True))
        if last == "irfft":
            order = [(others, step) for step in steps[:-1]] + [(last, steps[-1])]
        else:
            order = [(last, steps[-1])] + [(others, step) for step in reversed(steps[:-1])]
        for op, (place, n) in order:
            a = transform(t, op, a, n, place, norm)
        return a

    function(f"fft.{name}")(handler)


for _suffix, _axes in (("2", (-2, -1)), ("n", None)):
    for _start, _others in (("fft", "fft"), ("ifft", "ifft"), ("rfft", "fft"), ("irfft", "ifft")):
        _several(f"{_start}{_suffix}", _others, _start, _axes)


def _shifted(name: str, half: Callable[[int], int]) -> None:
    def handler(t: Tracer, x: Any, axes: Any = None) -> Any:
        x = symbol(t, x)
        places = list(range(x.ndim)) if axes is None else ints(t, axes)
        return np.roll(x, [half(x.shape[place]) for place in places], places)

    function(f"fft.{name}")(handler)


_shifted("fftshift", lambda size: size // 2)
_shifted("ifftshift", lambda size: -(size // 2))
