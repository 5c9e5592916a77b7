"""Functions that choose between values: ``where``, ``select``, ``clip``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ..symbol import Symbol
from ..ufuncs import call_ufunc, convert, is_text, text
from .indexing import nonzero
from .registry import common, function, method, plain, symbol

if TYPE_CHECKING:
    from ..trace import Tracer

__all__: list[str] = []


@function("where")
def _where(t: Tracer, condition: Any, x: Any = None, y: Any = None) -> Any:
    if x is None and y is None:
        return nonzero(t, condition)
    if x is None or y is None:
        raise ValueError("either both or neither of x and y should be given")
    if any(map(is_text, (x, y))):
        args = [value if type(value) is Symbol else text(t, value) for value in (x, y)]
    else:
        dtype = common((x, y))
        args = [convert(t, value, dtype) for value in (x, y)]
    (result,) = t.add("select", {}, convert(t, condition, np.dtype(bool)), *args)
    return result


@function("clip")
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
    plain(t, "np.clip", out=out)
    low = min if a_min is np._NoValue else a_min
    high = max if a_max is np._NoValue else a_max
    low, high = (None if end is np._NoValue else end for end in (low, high))
    given = [end for end in (low, high) if end is not None]
    result = convert(t, a, common([a, *given]))
    if low is not None:
        result = call_ufunc(t, np.maximum, (result, low), {})
    if high is not None:
        result = call_ufunc(t, np.minimum, (result, high), {})
    return result


@method("clip")
def _method_clip(t: Tracer, x: Any, min: Any = None, max: Any = None, out: Any = None) -> Any:
    return _clip(t, x, min, max, out)


@function("select")
def _select(t: Tracer, condlist: Any, choicelist: Any, default: Any = 0) -> Any:
    if len(condlist) != len(choicelist):
        raise ValueError("list of cases must be same length as list of conditions")
    if not len(condlist):
        raise ValueError("select with an empty condition list is not possible")
    if any(map(is_text, [*choicelist, default])):
        t.refuse("uses np.select of text")
    dtype = common([*choicelist, default])
    result = convert(t, default, dtype)
    for condition, choice in zip(reversed(condlist), reversed(choicelist), strict=True):
        found = symbol(t, condition)
        if found.dtype != np.bool_:
            raise TypeError("invalid entry in condlist: should be boolean ndarray")
        result = np.where(found, convert(t, choice, dtype), result)
    return result
