"""Indexing of symbols: which op a key records.

Integers, slices, axes and an ellipsis are a view, as in NumPy; arrays of integers and masks, given
or computed, are a copy, and their axes go where NumPy puts them. Ends of slices may be computed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from .symbol import Symbol
from .ufuncs import is_text

if TYPE_CHECKING:
    from .trace import Tracer

__all__ = ["getitem"]

_WHOLE = slice(None)


def getitem(x: Symbol, key: Any) -> Any:
    """Record ``x[key]``."""
    tracer = x._tracer
    parts = list(key) if isinstance(key, tuple) else [key]
    inputs: list[Any] = []
    coded = [_code(tracer, part, inputs) for part in parts]
    fresh = any(_is_array(item) for item in inputs)
    if not fresh:
        x._viewed = True
    if not inputs:
        (view,) = tracer.add("slice", {"key": coded}, x, fresh=False)
        return view
    if coded == ["i"] and not fresh:
        (item,) = tracer.add("getitem", {}, x, inputs[0], fresh=False)
        return item
    axis = _only_axis(coded, inputs)
    if axis is not None:
        (taken,) = tracer.add("take", {"axis": axis}, x, inputs[0])
        return taken
    (found,) = tracer.add("index", {"key": coded}, x, *inputs, fresh=fresh)
    return found


def _only_axis(coded: list[Any], inputs: list[Any]) -> int | None:
    """Return the axis of one array of integers beside whole slices; None for any other key."""
    if len(inputs) != 1 or inputs[0].dtype.kind == "b" or coded.count("i") != 1:
        return None
    at = coded.index("i")
    if any(part != [None, None, None] for k, part in enumerate(coded) if k != at):
        return None
    return at


def _is_array(value: Any) -> bool:
    return value._spec.shape != () if type(value) is Symbol else value.ndim > 0


def _code(tracer: Tracer, part: Any, inputs: list[Any]) -> Any:
    """Return a part of a key as the engine knows it; arrays and symbols go to `inputs`."""
    kind = type(part)  # a symbol says that it is an array or a scalar
    if part is None:
        return None
    if part is Ellipsis:
        return "..."
    if kind is slice:
        return [_end(tracer, end, inputs) for end in (part.start, part.stop, part.step)]
    if issubclass(kind, int | np.integer) and kind is not bool:
        return int(part)
    inputs.append(_array(tracer, part))
    return "i"


def _end(tracer: Tracer, end: Any, inputs: list[Any]) -> Any:
    if end is None:
        return None
    if type(end) is Symbol:
        if end._spec.shape != () or is_text(end) or end.dtype.kind not in "iu":
            tracer.refuse("slices with something else than an integer")
        inputs.append(end)
        return "i"
    if isinstance(end, int | np.integer):
        return int(end)
    return tracer.refuse(f"slices with {type(end).__name__}")


def _array(tracer: Tracer, part: Any) -> Any:
    """Return an array of a key: of integers or a mask."""
    if type(part) is list and any(type(item) is Symbol for item in part):
        part = np.stack(part)
    if type(part) is Symbol:
        if part._spec.shape is None:
            tracer.refuse("indexes with an array of a rank that only a run knows")
        kind, rank = "O" if is_text(part) else part.dtype.kind, len(part._spec.shape)
    elif isinstance(part, list | np.ndarray | np.generic | bool):
        empty = type(part) is list and not part
        part = np.asarray(part, np.int64 if empty else None)
        kind, rank = part.dtype.kind, part.ndim
    else:
        return tracer.refuse(f"indexes with {type(part).__name__}")
    if kind not in "biu":
        raise IndexError("arrays used as indices must be of integer (or boolean) type")
    if kind == "b" and rank == 0:
        tracer.refuse("indexes with a single truth value", "use np.where(condition, a, b)")
    return part
