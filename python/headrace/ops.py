"""One way to run an op on whatever the arguments are.

The functions in `headrace.io` and its sisters take arrays and symbols alike: on arrays the op runs
at once, on symbols it is recorded.
"""

from __future__ import annotations

import threading
from typing import Any

import numpy as np

from . import _headrace

__all__ = ["apply_op", "is_symbol", "tracing", "value"]


class _Tracing(threading.local):
    """Which trace this thread is in."""

    tracer: Any = None
    looping: bool = False  # in a part that runs in turns, of which a branch cannot see the end


tracing = _Tracing()


def refuse_in_trace(what: str) -> None:
    """Refuse what cannot be recorded, if a function is being traced."""
    if tracing.tracer is not None:
        tracing.tracer.refuse(what)


def apply_op(op: str, attrs: dict[str, Any], *args: Any, fresh: bool = False) -> list[Any]:
    """Run or record an op.

    Parameters
    ----------
    op, attrs
        Name and static arguments, as the engine knows them.
    *args
        Arrays, or symbols of one trace.
    fresh
        The results are in memory of their own, so that they may be changed in place.

    Returns
    -------
    list
        One array or symbol per result.
    """
    for arg in args:
        if getattr(type(arg), "_tracer", None) is not None:
            results: list[Any] = arg._tracer.add(op, attrs, *args, fresh=fresh)
            return results
    return _headrace.run_op(op, attrs, list(args))


def is_symbol(value: Any) -> bool:
    """Tell whether `value` is one of a trace."""
    return getattr(type(value), "_tracer", None) is not None


def value(x: Any) -> Any:
    """Return an argument as a symbol or an array; text as an array of objects.

    A list with symbols in it is the array that it stands for.
    """
    if is_symbol(x) or isinstance(x, bytes | str):
        return x
    if isinstance(x, list | tuple) and any(map(is_symbol, x)):
        return np.stack(list(x))
    array = np.asarray(x)
    return array.astype(object) if array.dtype.kind in "SU" else array
