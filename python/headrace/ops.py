"""One way to run an op on whatever the arguments are.

The functions in `headrace.io` and its sisters take arrays and symbols alike: on arrays the op runs
at once, on symbols it is recorded.
"""

from __future__ import annotations

import threading
from typing import Any

from . import _headrace

__all__ = ["apply_op", "tracing"]


class _Tracing(threading.local):
    """Which trace this thread is in."""

    tracer: Any = None


tracing = _Tracing()


def refuse_in_trace(what: str) -> None:
    """Refuse what cannot be recorded, if a function is being traced."""
    if tracing.tracer is not None:
        tracing.tracer.refuse(what)


def apply_op(op: str, attrs: dict[str, Any], *args: Any) -> list[Any]:
    """Run or record an op.

    Parameters
    ----------
    op, attrs
        Name and static arguments, as the engine knows them.
    *args
        Arrays, or symbols of one trace.

    Returns
    -------
    list
        One array or symbol per result.
    """
    for arg in args:
        if getattr(type(arg), "_tracer", None) is not None:
            results: list[Any] = arg._tracer.add(op, attrs, *args, fresh=False)
            return results
    return _headrace.run_op(op, attrs, list(args))
