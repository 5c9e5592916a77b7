"""Tracing: running a function once with stand-ins to learn what it computes.

`trace` first asks `headrace.purity` whether anybody could notice that the function was called. Then
it calls it with `Symbol` arguments, which record what is done to them. A function that reads more
than names and constants is called twice, and the two graphs must be the same. A use that cannot be
recorded refuses, with the line of the user's code. tf.data traces once and runs side effects then;
here a function with side effects is never traced.

The module can be called: ``headrace.trace(function, spec)`` is `headrace.traced.traced`.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import FrameType, ModuleType
from typing import Any, NoReturn

import numpy as np

from . import _headrace
from .dataset import Dataset
from .dtypes import DType, as_dtype
from .errors import HeadraceError
from .nest import flatten, is_structure, items, map_structure, rebuild
from .ops import tracing
from .optional import Optional, SymbolicOptional
from .purity import Refusal, Witness, examine
from .spec import (
    AnySpec,
    DatasetSpec,
    ObjectSpec,
    OptionalSpec,
    RaggedTensorSpec,
    SparseTensorSpec,
    TensorSpec,
    UnknownSpec,
    object_dtype,
)
from .standin import stand_in
from .symbol import RaggedSymbol, SparseSymbol, Symbol
from .tensors import RaggedTensor, SparseTensor

__all__ = ["TraceRefused", "Tracer", "trace", "witnessed"]

_TEXT = (bytes, str)
_COMPOSITE = (SparseTensor, RaggedTensor)
_COPY_BELOW = 1 << 20  # larger captured arrays are borrowed for the run


class TraceRefused(BaseException):
    """A use of a symbol that cannot be recorded.

    Not an `Exception`, so that the function under trace does not catch it.
    """

    def __init__(self, refusal: Refusal) -> None:
        super().__init__(str(refusal))
        self.refusal = refusal


def trace(
    function: Callable[..., Any], element_spec: Any
) -> tuple[_headrace.Graph, None] | tuple[None, Refusal]:
    """Return the graph of a function, or why there is none.

    Parameters
    ----------
    function
        Called with the components of a plain tuple as arguments, with any other element as one.
    element_spec
        What its elements look like.

    Examples
    --------
    >>> graph, refusal = trace(lambda x: x * 2, TensorSpec((), np.int64))
    >>> refusal is None
    True
    >>> graph, refusal = trace(lambda x: print(x), TensorSpec((), np.int64))
    >>> graph is None
    True
    """
    found, _ = witnessed(function, element_spec)
    return (None, found) if isinstance(found, Refusal) else (found, None)


def witnessed(
    function: Callable[..., Any], element_spec: Any
) -> tuple[_headrace.Graph | Refusal, Witness]:
    """Trace as `trace` does; return as well what tells whether a later trace would give the same.

    Examples
    --------
    >>> graph, witness = witnessed(lambda x: np.sqrt(x), TensorSpec((), np.int64))
    >>> witness.holds()
    True
    """
    refusal, witness = examine(function, _record_types(element_spec))
    if refusal is not None:
        return refusal, witness
    first = _record(function, element_spec)
    if isinstance(first, Refusal) or witness.is_whole:
        return first, witness
    second = _record(function, element_spec)
    if isinstance(second, Refusal) or first == second:
        return second, witness
    return _refusal(function, "does something else each time it is traced"), witness


def _record_types(spec: Any) -> set[type]:
    """Return the namedtuple, dataclass and attrs classes in a structure."""
    if not is_structure(spec) or spec is None:
        return set()
    own = set() if type(spec) in (tuple, dict) else {type(spec)}
    return own.union(*(_record_types(child) for _, child in items(spec)))


def _record(function: Callable[..., Any], spec: Any) -> _headrace.Graph | Refusal:
    for leaf in flatten(spec):
        if type(leaf) is ObjectSpec or type(leaf) is UnknownSpec:
            return _refusal(function, "gets opaque objects")
        if isinstance(leaf, DatasetSpec) and leaf.shape != ():
            return _refusal(function, "gets a batch of datasets")
    tracer = Tracer(tracing.tracer)
    element = map_structure(tracer.input, spec)
    outer, tracing.tracer = tracing.tracer, tracer
    try:
        result = function(*element) if type(element) is tuple else function(element)
        if tracer.refusal is None:
            try:
                outputs = tracer.outputs(result)
            except TraceRefused as refused:  # no line of the function runs any more
                return _refusal(function, refused.refusal.reason)
            if not tracer.meets:
                return tracer.builder.finish(outputs)
            gives = map_structure(tracer.spec, outputs)
            return _refusal(function, f"works with {tracer.meets}").giving(gives)
    except TraceRefused:
        pass
    except HeadraceError as error:
        return tracer.refusal or _raised(function, error, str(error))
    except Exception as error:
        text = f"raises {type(error).__name__} when it is traced: {error}"
        return tracer.refusal or _raised(function, error, text)
    finally:
        tracing.tracer = outer
    assert tracer.refusal is not None
    return tracer.refusal


def _raised(function: Callable[..., Any], error: Exception, reason: str) -> Refusal:
    """Make a refusal for the last line of the user's code that an exception came through."""
    found, trace = None, error.__traceback__
    while trace is not None:
        if not _is_ours(trace.tb_frame.f_globals.get("__name__", "")):
            found = trace
        trace = trace.tb_next
    if found is None:
        return _refusal(function, reason)
    code = found.tb_frame.f_code
    return Refusal(reason, "", code.co_filename, found.tb_lineno, code.co_qualname)


def _refusal(function: Callable[..., Any], reason: str) -> Refusal:
    code = getattr(function, "__code__", None)
    name = str(getattr(function, "__qualname__", type(function).__name__))
    if code is None:
        return Refusal(reason, "", None, None, name)
    return Refusal(reason, "", code.co_filename, code.co_firstlineno, name)


class Tracer:
    """One trace: what is recorded so far, and the first refusal.

    Attributes
    ----------
    builder
        The graph being built.
    refusal
        Why it cannot be finished; stays even if the function swallows the exception.
    outer
        The trace that this one is part of: that of a function which makes datasets.
    draws
        Random ops without a seed so far.
    meets
        ``"datasets"`` or ``"optionals"`` where such are among what goes in, is used or comes out:
        there will be no graph, only a spec. Else empty.
    captured
        The symbols of outer traces that it uses, where it is a part of their function: a branch,
        or what is mapped over an axis. None for a function of its own.
    maps_rows
        It is mapped over an axis.
    """

    def __init__(self, outer: Tracer | None = None) -> None:
        self.builder = _headrace.GraphBuilder()
        self.refusal: Refusal | None = None
        self.outer = outer
        self.meets = ""
        self.draws = 0
        self.captured: list[Any] | None = None
        self.maps_rows = False
        self._inputs: dict[tuple[int, int], int] = {}

    def part(self) -> Tracer:
        """Return the trace of a part of this function, such as a branch."""
        part = Tracer(self)
        part.captured = []
        return part

    def _now(self, args: tuple[Any, ...] = ()) -> Tracer:
        """Return the trace that records an op of a value of this one and of other arguments.

        That is the innermost of their functions, or the part of it that runs now.
        """
        owners = {id(self)}
        owners.update(id(arg._tracer) for arg in args if hasattr(type(arg), "_tracer"))
        tracer: Tracer | None = tracing.tracer
        found = tracer
        while tracer is not None and id(tracer) not in owners:
            if tracer.captured is None:
                found = tracer.outer
            tracer = tracer.outer
        return self if tracer is None or found is None else found

    def place(self, reason: str, hint: str = "") -> Refusal:
        """Make a refusal for the line of the user's code that runs now."""
        frame: FrameType | None = sys._getframe(1)
        while frame is not None and _is_ours(frame.f_globals.get("__name__", "")):
            frame = frame.f_back
        if frame is None:
            return Refusal(reason, hint, None, None)
        code = frame.f_code
        return Refusal(reason, hint, code.co_filename, frame.f_lineno, code.co_qualname)

    def refuse(self, reason: str, hint: str = "") -> NoReturn:
        """Stop the trace."""
        self.refusal = self.refusal or self.place(reason, hint)
        raise TraceRefused(self.refusal)

    def next_draw(self) -> int:
        """Return the number of a random op without a seed."""
        if self.captured is not None and self.outer is not None:
            return self.outer.next_draw()
        self.draws += 1
        return self.draws - 1

    def input(self, spec: AnySpec) -> Any:
        """Return the stand-in for a component of the element, or for what a dataset would give."""
        if isinstance(spec, DatasetSpec):
            self.meets = "datasets"
            return stand_in(spec.element_spec)
        if isinstance(spec, OptionalSpec):
            self.meets = self.meets or "optionals"
            return SymbolicOptional(self, spec.element_spec)
        return self.wrap(self.builder.input(spec))

    def spec(self, output: Any) -> AnySpec:
        """Return the spec of one of the `outputs`."""
        is_spec = isinstance(output, DatasetSpec | ObjectSpec | OptionalSpec)
        return output if is_spec else self.builder.spec(output)

    def wrap(self, value: int, *, fresh: bool = False) -> Any:
        """Return the symbol of a value of the graph; `fresh` if its memory is nobody else's."""
        spec = self.builder.spec(value)
        if type(spec) is TensorSpec:
            return Symbol(self, value, spec, fresh)
        if isinstance(spec, SparseTensorSpec):
            return SparseSymbol(self, value, spec)
        assert isinstance(spec, RaggedTensorSpec)
        ragged = RaggedSymbol(self, value, spec)
        return ragged if spec.ragged_rank else ragged.flat_values

    def add(self, op: str, attrs: dict[str, Any], *args: Any, fresh: bool = True) -> list[Any]:
        """Record an op and return the symbols of its results.

        Raises
        ------
        TraceRefused
            The engine has no such op for these arguments.
        """
        return self._now(args)._add(op, attrs, args, fresh)

    def _add(self, op: str, attrs: dict[str, Any], args: tuple[Any, ...], fresh: bool) -> list[Any]:
        if op == "element_seed" and self.captured is not None and self.outer is not None:
            # A part does not know at which element it runs, and a row is no element.
            if self.maps_rows:
                self.refuse("draws random numbers for each row")
            return self.outer._add(op, attrs, args, fresh)
        values = [self.value(arg) for arg in args]
        try:
            results = self.builder.add(op, attrs, values)
        except HeadraceError as error:
            text = error.message or str(error)
            self.refuse(f"uses {op}: {text.removeprefix(op + ': ')}")
        return [self.wrap(result, fresh=fresh) for result in results]

    def value(self, arg: Any) -> int:
        """Return the number in the graph of a symbol or constant."""
        tracer = getattr(type(arg), "_tracer", None)
        if tracer is not None:
            if arg._tracer is self:
                return int(arg._value)
            if not self._is_within(arg._tracer):
                self.refuse("uses a value of another function's trace")
            if self.captured is not None:
                return self._capture(arg)
            # Each call of the outer function makes this graph anew, with the value in it.
            return int(self.builder.input(arg._spec))
        return self.constant(arg)

    def _capture(self, symbol: Any) -> int:
        """Return the input that stands for a symbol of an outer trace."""
        assert self.captured is not None
        key = (id(symbol._tracer), symbol._value)
        if key not in self._inputs:
            self._inputs[key] = self.builder.input(symbol._spec)
            self.captured.append(symbol)
        return self._inputs[key]

    def _is_within(self, tracer: Tracer) -> bool:
        outer = self.outer
        while outer is not None and outer is not tracer:
            outer = outer.outer
        return outer is not None

    def number(self, array: np.ndarray[Any, Any]) -> Any:
        """Put an array that is nobody else's, of a dtype that graphs have, into the graph."""
        return self.wrap(self.builder.constant(array))

    def constant(self, value: Any, dtype: DType | None = None) -> int:
        """Put an array, number or text into the graph; small arrays are copied.

        Raises
        ------
        TraceRefused
            It is not a value the engine carries.
        """
        if isinstance(value, _TEXT):
            return self.builder.constant(value)
        if isinstance(value, _COMPOSITE):
            self.refuse("captures a sparse or ragged value")
        array = np.asarray(value, dtype if isinstance(dtype, np.dtype) else None)
        if array.dtype.kind in "SU":
            array = np.asarray(value, dtype=object)
        try:
            as_dtype(object_dtype(array) if array.dtype.kind == "O" else array.dtype)
        except (HeadraceError, TypeError):
            self.refuse(f"uses {_described(value)}")
        if isinstance(value, np.ndarray) and array.nbytes < _COPY_BELOW:
            array = array.copy()
        return self.builder.constant(array)

    def outputs(self, result: Any) -> Any:
        """Return what the function returned as a nest of values; lists become tuples."""
        kind = type(result)
        if getattr(kind, "_tracer", None) is not None:
            return self.value(result)
        if kind is list:
            return tuple(self.outputs(item) for item in result)
        if isinstance(result, Dataset):
            self.meets = "datasets"
            return DatasetSpec(result._plan.element_spec)
        if isinstance(result, Optional):
            self.meets = self.meets or "optionals"
            return OptionalSpec(result.element_spec)
        if is_structure(result):
            return rebuild(result, [self.outputs(child) for _, child in items(result)])
        if isinstance(result, np.ndarray | np.generic | bool | int | float | complex | bytes | str):
            return self.constant(result)
        return self.refuse(f"returns {_described(result)}")


def _is_ours(module: str) -> bool:
    return module.partition(".")[0] in ("headrace", "numpy")


def _described(value: Any) -> str:
    kind = type(value)
    name = kind.__name__ if kind.__module__ == "builtins" else f"{kind.__module__}.{kind.__name__}"
    if isinstance(value, np.ndarray | np.generic):
        return f"an array of dtype {value.dtype}"
    return f"an object of {name}"


class _Callable(ModuleType):
    """A module that is a function too."""

    def __call__(self, function: Callable[..., Any], spec: Any) -> Any:
        from .traced import traced

        return traced(function, spec)


sys.modules[__name__].__class__ = _Callable
