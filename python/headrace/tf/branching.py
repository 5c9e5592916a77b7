"""Functions that branch on values, as graphs: `if x > 0` becomes what ``tf.cond`` records.

A function is called with the first branches decided, and stopped where it comes to the next one.
Each way from there is a part of the graph that calls it again with one more decision, up to the
end. What stands in front of a branch is thus recorded by each part again; all of it gives the same,
random ops included, for their numbers are counted anew by each call. Only one part of two runs.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..errors import HeadraceError
from ..nest import map_structure
from ..ops import tracing
from ..trace import TraceRefused
from .convert import convert
from .dtypes import bool as bool_
from .kernels import run, static_shape

__all__ = ["Way", "graph_of_branches"]

# Branches in a row on one way, and calls of the function in all.
_MAX_DEPTH = 8
_MAX_CALLS = 64


class _Undecided(BaseException):
    """The function came to a branch that is not decided yet."""

    def __init__(self, value: Any) -> None:
        self.value = value


class _NoGraph(Exception):
    """The branches cannot be recorded."""


class Way:
    """The decisions on one way through a function, and how many of them it has used."""

    def __init__(self) -> None:
        self.decisions: tuple[bool, ...] = ()
        self.used = 0
        self.calls = 0

    def begin(self, decisions: tuple[bool, ...]) -> None:
        """Start the function again."""
        self.decisions, self.used = decisions, 0
        self.calls += 1
        if self.calls > _MAX_CALLS or len(decisions) > _MAX_DEPTH:
            raise _NoGraph

    def branch(self, value: Any) -> bool:
        """Return which way a branch goes, or stop the function."""
        if self.used == len(self.decisions):
            raise _Undecided(value)
        self.used += 1
        return self.decisions[self.used - 1]


def graph_of_branches(tracer: Any, function: Callable[..., Any], element_spec: Any) -> Any:
    """Return the graph of a function that branches on values, None if there is none.

    Parameters
    ----------
    tracer
        A new trace.
    function, element_spec
        As `headrace.tf.tracer.trace` takes them.
    """
    tracer.way = way = Way()
    element = map_structure(tracer.input, element_spec)

    def call(decisions: tuple[bool, ...]) -> Any:
        way.begin(decisions)
        tracer.draws = 0
        try:
            return function(*element) if type(element) is tuple else function(element)
        except _Undecided as undecided:
            value = undecided.value
        return _chosen(value, lambda: call((*decisions, True)), lambda: call((*decisions, False)))

    outer, tracing.tracer = tracing.tracer, tracer
    try:
        outputs = tracer.outputs(call(()))
        if tracer.meets or tracer.why is not None:
            return None
        return tracer.builder.finish(outputs)
    except (_NoGraph, TraceRefused, HeadraceError):
        return None
    finally:
        tracing.tracer = outer


def _chosen(value: Any, then: Callable[[], Any], other: Callable[[], Any]) -> Any:
    from .control import recorded_cond

    if static_shape(value) != () or not _is_here(value):
        raise _NoGraph
    if value.dtype is not bool_:
        if not (value.dtype.is_integer or value.dtype.is_floating):
            raise _NoGraph
        value = run("not_equal", (value, convert(0, value.dtype)), ((), bool_))
    found = recorded_cond(value, then, other)
    if found is None:
        raise _NoGraph
    return found


def _is_here(value: Any) -> bool:
    """Tell whether a symbol belongs to the part that is traced now, or to one around it."""
    tracer: Any = tracing.tracer
    while tracer is not None:
        if tracer is value._tracer:
            return True
        tracer = tracer.outer if tracer.captured is not None else None
    return False
