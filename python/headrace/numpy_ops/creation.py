"""Functions that make arrays of one value, or of even steps, with symbols among the arguments."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from ..symbol import Symbol
from ..ufuncs import convert, is_text
from .registry import common, function, ints, symbol

if TYPE_CHECKING:
    from ..trace import Tracer

__all__: list[str] = []


def _full(t: Tracer, a: Any, value: Any, dtype: Any, shape: Any) -> Any:
    if dtype is None and (is_text(a) or is_text(value)):
        t.refuse("fills an array of text")
    target = a.dtype if dtype is None else np.dtype(dtype)
    sizes = a._spec.shape if shape is None else tuple(ints(t, shape))
    known = sizes is not None and None not in sizes
    if known and type(value) is not Symbol:
        return np.full(sizes, value, target)
    filler = convert(t, value, target) if type(value) is Symbol else np.asarray(value, target)
    if known:
        return np.broadcast_to(symbol(t, filler), sizes).copy()
    if len(filler.shape):
        t.refuse("fills an array of a shape that only a run knows with more than one value")
    return a._op("full_like", filler)


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
        return _full(t, a, value, dtype, shape)

    return make


function("ones_like")(_like(1))
function("zeros_like")(_like(0))


@function("full_like")
def _full_like(
    t: Tracer,
    a: Any,
    fill_value: Any,
    dtype: Any = None,
    order: Any = "K",
    subok: Any = True,
    shape: Any = None,
    *,
    device: Any = None,
) -> Any:
    return _full(t, a, fill_value, dtype, shape)


@function("linspace")
def _linspace(
    t: Tracer,
    start: Any,
    stop: Any,
    num: Any = 50,
    endpoint: Any = True,
    retstep: Any = False,
    dtype: Any = None,
    axis: Any = 0,
    *,
    device: Any = None,
) -> Any:
    (count,) = ints(t, num)
    if count < 0:
        raise ValueError(f"Number of samples, {count}, must be non-negative.")
    steps = count - 1 if endpoint else count
    kind = common([start, stop, float(count)])
    if kind.kind != "f":
        t.refuse(f"uses np.linspace of {kind}")
    first, last = (convert(t, 1.0 * end, kind) for end in (start, stop))
    delta = last - first
    axes = max(delta.ndim, 0)
    y = np.arange(count, dtype=kind).reshape((-1,) + (1,) * axes)
    if steps > 0:
        step = delta / steps
        # A step that underflows is made up for by dividing last.
        zero = (step == 0).any() if axes else step == 0
        y = np.where(zero, symbol(t, y) / steps * delta, symbol(t, y) * step)
    else:
        step = np.nan
        y = symbol(t, y) * delta
    y = y + first
    if endpoint and count > 1:
        y = np.concatenate((y[:-1], np.broadcast_to(last, delta.shape)[None]))
    if axis != 0:
        y = np.moveaxis(y, 0, axis)
    target = kind if dtype is None else np.dtype(dtype)
    if target.kind in "iu":
        y = np.floor(y)
    y = convert(t, y, target)
    return (y, step) if retstep else y


@function("logspace")
def _logspace(
    t: Tracer,
    start: Any,
    stop: Any,
    num: Any = 50,
    endpoint: Any = True,
    base: Any = 10.0,
    dtype: Any = None,
    axis: Any = 0,
) -> Any:
    if not isinstance(base, int | float):
        t.refuse("uses np.logspace of a base that is no number")
    found = np.power(base, np.linspace(start, stop, num, endpoint, axis=axis))
    return found if dtype is None else convert(t, found, np.dtype(dtype))
