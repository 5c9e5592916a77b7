"""Traces by TensorFlow's rules: a function is called once with symbols when the dataset is made.

TensorFlow traces whatever it is given, side effects included, and so does this. What the engine can
evaluate becomes a graph. For the rest the trace still says what the function returns: ops without a
kernel give symbols of known dtype and shape, and a branch on a value is explored both ways, and
recorded where both are graphs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from .. import _headrace
from ..errors import HeadraceError
from ..nest import flatten, map_structure, same_structure
from ..ops import tracing
from ..purity import Refusal
from ..spec import (
    AnySpec,
    DatasetSpec,
    ObjectSpec,
    OptionalSpec,
    RaggedTensorSpec,
    SparseTensorSpec,
    TensorSpec,
    UnknownSpec,
)
from ..trace import Tracer, TraceRefused, _refusal
from .branching import Way, graph_of_branches
from .dtypes import DType
from .kernels import Dims, Out, spec, unsupported
from .rewriting import loops, rewritten

__all__ = ["TensorTracer", "Traced", "trace"]

_TRACEABLE = (TensorSpec, SparseTensorSpec, RaggedTensorSpec, DatasetSpec, OptionalSpec)
_MAX_PATHS = 16
_MAX_BRANCHES = 64


class Traced:
    """What a trace found.

    Attributes
    ----------
    graph
        The function as a graph, or None.
    element_spec
        What it returns; `UnknownSpec` if the trace could not tell.
    refusal
        Why it runs as Python.
    """

    def __init__(
        self, graph: _headrace.Graph | None, element_spec: Any, refusal: Refusal | None
    ) -> None:
        self.graph = graph
        self.element_spec = element_spec
        self.refusal = refusal


class TensorTracer(Tracer):
    """One path through a function: what is recorded, and which way the branches went."""

    def __init__(self, decisions: tuple[bool, ...] = (), called_by: str = "a dataset") -> None:
        super().__init__(tracing.tracer)
        self.called_by = called_by
        self.decisions = decisions
        self.taken: list[bool] = []
        self.iterated = False  # over an axis of unknown size
        self.way: Way | None = None  # where branches are to be recorded
        self.why: Refusal | None = None  # why the graph, if it is finished, is not the function

    def record(self, op: str, attrs: dict[str, Any], args: tuple[Any, ...], out: Out | None) -> Any:
        """Record an op, or give a symbol of shape and dtype `out` if it cannot be."""
        (made,) = self.record_all(op, attrs, args, None if out is None else [out])
        return made

    def record_all(
        self, op: str, attrs: dict[str, Any], args: tuple[Any, ...], outs: list[Out] | None
    ) -> list[Any]:
        """Record an op of several results."""
        now: Any = self._now(args)
        if now is not self:
            return now.record_all(op, attrs, args, outs)  # type: ignore[no-any-return]
        values = [self.value(arg) for arg in args]
        try:
            results = self.builder.add(op, attrs, values)
        except HeadraceError as error:
            text = f"uses {op}: {unsupported(error).removeprefix(op + ': ')}"
            if outs is None:
                self.refuse(text)
            self.doubt(text)  # even if there is no result to stand in for
            return [self._stand_in(text, out) for out in outs or []]
        made = [self.wrap(result, fresh=True) for result in results]
        for symbol, out in zip(made, outs or [], strict=False):
            if out[0] is not None:
                self._narrow(symbol, out[0])
        return made

    def part(self) -> TensorTracer:
        """Return the trace of a branch of this function."""
        part = TensorTracer((), self.called_by)
        part.outer, part.captured = self, []
        return part

    def _narrow(self, symbol: Any, dims: Dims) -> None:
        """Note sizes that our rules know and the kernel's do not."""
        own: Dims = symbol._spec.shape
        if dims is None or own == dims:
            return
        if own is not None:
            if len(own) != len(dims):
                return
            dims = tuple(b if a is None else a for a, b in zip(own, dims, strict=True))
        symbol._spec = TensorSpec(dims, symbol._spec.dtype)

    def unrecorded(self, name: str, shape: Dims, dtype: DType) -> Any:
        """Return a symbol for the result of what the engine does not have."""
        return self._stand_in(f"uses {name}, which has no kernel", (shape, dtype))

    def _stand_in(self, text: str, out: Out) -> Any:
        self.why = self.why or self.place(text)
        return self.wrap(self.builder.input(spec(*out)), fresh=True)

    def doubt(self, text: str) -> None:
        """Note that the graph would not do what the function does, so that it runs as Python."""
        self.why = self.why or self.place(text)

    def stand_in(self, name: str, element_spec: Any) -> Any:
        """Return a symbol of a spec of headrace for what the engine does not have."""
        self.why = self.why or self.place(f"uses {name}, which has no kernel")
        return self.wrap(self.builder.input(element_spec))

    def branch(self, value: Any) -> bool:
        """Choose which way a branch on a value goes in this path."""
        if tracing.looping:
            raise TraceRefused(self.place("branches on a value in a loop"))
        root: Any = self
        while root.captured is not None and root.outer is not None:
            root = root.outer
        if root.way is not None:
            found: bool = root.way.branch(value)
            return found
        self.why = self.why or self.place("branches on a value")
        if self.captured is not None and isinstance(self.outer, TensorTracer):
            return self.outer.branch(value)
        number = len(self.taken)
        if number >= _MAX_BRANCHES:
            self.refuse("branches on values without end")
        choice = self.decisions[number] if number < len(self.decisions) else False
        self.taken.append(choice)
        return choice

    def iterate(self, x: Any) -> Iterator[Any]:
        """Iterate over an axis of unknown size: once."""
        if tracing.looping:
            raise TraceRefused(self.place("iterates over a tensor in a loop"))
        self.iterated = True
        self.why = self.why or self.place("iterates over a tensor")
        dims = x._spec.shape
        yield self.wrap(self.builder.input(TensorSpec(dims and dims[1:], x._spec.dtype)))

    def wrap(self, value: int, *, fresh: bool = False) -> Any:
        """Return the symbol of a value of the graph."""
        from ..symbol import RaggedSymbol, SparseSymbol
        from .ragged_tensor import RaggedTensor
        from .sparse_tensor import SparseTensor
        from .symbol import SymbolicTensor

        found = self.builder.spec(value)
        if isinstance(found, SparseTensorSpec):
            return SparseTensor.of_symbol(SparseSymbol(self, value, found))
        if isinstance(found, RaggedTensorSpec):
            ragged = RaggedSymbol(self, value, found)
            return RaggedTensor.of_symbol(ragged) if found.ragged_rank else ragged.flat_values
        assert isinstance(found, TensorSpec)
        return SymbolicTensor(self, value, found, fresh)

    def value(self, arg: Any) -> int:
        """Return the number in the graph of a symbol or constant."""
        if getattr(type(arg), "_tracer", None) is not None:
            return super().value(arg)
        symbol = getattr(arg, "_symbol", None)
        if symbol is not None:
            return super().value(symbol)
        from .kernels import engine_value

        return super().value(engine_value(arg))

    def outputs(self, result: Any) -> Any:
        """Return what the function returned as a nest of values, by TensorFlow's rules."""
        from .bridge import component, returned

        def one(leaf: Any) -> Any:
            try:
                found = component(leaf)
            except (TypeError, ValueError):
                raise TypeError(
                    f"Unsupported return value from function passed to {self.called_by}: {leaf!r}."
                ) from None
            return self._output(found)

        return map_structure(one, returned(result))

    def input(self, spec: AnySpec) -> Any:
        """Return the stand-in for a component of the element."""
        from .bridge import from_own

        return from_own(super().input(spec))

    def packed(self, leaf: Any) -> Any:
        """Return a sparse or ragged value made of symbols as one symbol."""
        from ..symbol import RaggedSymbol, SparseSymbol
        from .bridge import spec_of

        now: Any = self._now()
        number, wanted = now._packed(leaf, spec_of(leaf)), spec_of(leaf)
        kind: Any = SparseSymbol if isinstance(wanted, SparseTensorSpec) else RaggedSymbol
        return kind(now, number, wanted)

    def _packed(self, leaf: Any, wanted: Any) -> int:
        """Return a sparse or ragged value made of symbols: packed, where that keeps all sizes."""
        from .sparse_tensor import SparseTensor

        if isinstance(leaf, SparseTensor):
            op, parts = "sparse_pack", (leaf.indices, leaf.values, leaf.dense_shape)
        else:
            op, parts = "ragged_pack", (leaf.flat_values, *leaf.nested_row_splits)
        dims = wanted.shape
        attrs = {} if dims is None else {"shape": [-1 if size is None else size for size in dims]}
        try:
            (packed,) = self.builder.add(op, attrs, [self.value(part) for part in parts])
        except HeadraceError:
            packed = -1
        if packed >= 0 and self.builder.spec(packed) == wanted:
            return packed
        self.doubt("makes a sparse or ragged value")
        return self.builder.input(wanted)

    def _output(self, leaf: Any) -> Any:
        from ..dataset import Dataset
        from . import specs
        from .bridge import spec_of, to_own
        from .data.optional import Optional
        from .tensor_array import TensorArray

        if isinstance(leaf, Dataset):
            self.meets = "datasets"
            return DatasetSpec(leaf._plan.element_spec)
        if isinstance(leaf, Optional):
            self.meets = self.meets or "optionals"
            return OptionalSpec(specs.to_own(leaf.element_spec))

        if isinstance(leaf, TensorArray):
            self.meets = self.meets or "tensor arrays"
            return ObjectSpec()
        if getattr(type(leaf), "_tracer", None) is not None:
            return self._stated(leaf)
        if getattr(leaf, "_symbol", None) is not None:
            return self.value(leaf)
        if getattr(leaf, "_is_composite", False):
            return self._packed(leaf, spec_of(leaf))
        return self.constant(to_own(leaf))

    def _stated(self, symbol: Any) -> int:
        """Return a dense value, with the sizes that our rules know and the kernel's do not."""
        number, dims = self.value(symbol), symbol._spec.shape
        if dims is None or self.builder.spec(number) == symbol._spec:
            return number
        sizes = [-1 if size is None else size for size in dims]
        return self.builder.add("ensure_shape", {"shape": sizes}, [number])[0]


def trace(function: Callable[..., Any], element_spec: Any, called_by: str = "a dataset") -> Traced:
    """Call a function with symbols and return what is known of it.

    Branches on values are tried both ways, loops for some turns. What the function itself raises
    comes through, as in TensorFlow, but not from a path that its branches may never take.
    """
    for leaf in flatten(element_spec):
        if not isinstance(leaf, _TRACEABLE) or (isinstance(leaf, DatasetSpec) and leaf.shape != ()):
            return Traced(None, UnknownSpec(), _refusal(function, f"gets {leaf!r}"))
    pending: list[tuple[bool, ...]] = [()]
    asks = False  # Python asks for values
    found: list[Any] = []
    first: Traced | None = None
    error: Exception | None = None
    for _ in range(_MAX_PATHS):
        if not pending:
            break
        decisions = pending.pop()
        tracer = TensorTracer(decisions, called_by)
        try:
            graph, gives = _call(tracer, function, element_spec)
        except TraceRefused as refused:
            graph = _graph_of_loops(function, element_spec, called_by)
            if graph is not None:
                return Traced(graph, None, None)
            return Traced(None, UnknownSpec(), tracer.refusal or refused.refusal)
        except Exception as raised:
            if not tracer.taken:
                # Such as `len` of a tensor, which only AutoGraph knows.
                graph = None
                if isinstance(raised, TypeError):
                    graph = _graph_of_loops(function, element_spec, called_by)
                if graph is None:
                    raise
                return Traced(graph, None, None)
            error = error or raised
        else:
            found.append(gives)
            why = tracer.why
            if graph is None:
                why = why or _refusal(function, f"works with {tracer.meets}")
            first = first or Traced(graph if why is None else None, None, why)
        asks_now = bool(tracer.taken) or tracer.iterated
        if asks_now and not asks and loops(function):
            graph = _graph_of_loops(function, element_spec, called_by)
            if graph is not None:
                return Traced(graph, None, None)
        asks = asks or asks_now
        for number in range(len(decisions), len(tracer.taken)):
            pending.append((*tracer.taken[:number], True))
    if first is None:
        assert error is not None
        raise error
    if len(found) > 1 and error is None and not pending:
        graph = graph_of_branches(TensorTracer((), called_by), function, element_spec)
        if graph is not None:
            return Traced(graph, None, None)
    if asks:
        graph = _graph_of_loops(function, element_spec, called_by)
        if graph is not None:
            return Traced(graph, None, None)
    first.element_spec = map_structure(_text_as_bytes, _joined(found))
    if first.refusal is not None:
        first.refusal = first.refusal.giving(first.element_spec)
    return first


def _graph_of_loops(
    function: Callable[..., Any], element_spec: Any, called_by: str
) -> _headrace.Graph | None:
    """Return the graph of a function that loops on values, None if there is none."""
    again = rewritten(function)
    if again is None:
        return None
    try:
        graph: _headrace.Graph | None
        graph = graph_of_branches(TensorTracer((), called_by), again, element_spec)
        return graph
    except Exception:  # it runs as Python, which shows whether that was the function's own
        return None


def _call(
    tracer: TensorTracer, function: Callable[..., Any], element_spec: Any
) -> tuple[_headrace.Graph | None, Any]:
    """Return the graph of one path, none where there are datasets, and what it gives."""
    element = map_structure(tracer.input, element_spec)
    outer, tracing.tracer = tracing.tracer, tracer
    try:
        result = function(*element) if type(element) is tuple else function(element)
        outputs = tracer.outputs(result)
        if tracer.meets:
            return None, map_structure(tracer.spec, outputs)
        graph = tracer.builder.finish(outputs)
        return graph, graph.structure_spec
    finally:
        tracing.tracer = outer


def _joined(specs: list[Any]) -> Any:
    """Return the spec that the results of all paths have."""
    first = specs[0]
    for other in specs[1:]:
        if not same_structure(first, other):
            return UnknownSpec()
        pairs = list(zip(flatten(first), flatten(other), strict=True))
        if any(type(a) is not type(b) or (a != b and _dtype(a) != _dtype(b)) for a, b in pairs):
            return UnknownSpec()
        if any(isinstance(a, DatasetSpec | OptionalSpec) and a != b for a, b in pairs):
            return UnknownSpec()
        first = _filled(first, [_wider(a, b) for a, b in pairs])
    return first


def _text_as_bytes(spec: Any) -> Any:
    """Return the spec of what a function that runs as Python gives: text is bytes there."""
    if getattr(spec, "dtype", None) is not str:
        return spec
    if isinstance(spec, RaggedTensorSpec):
        return RaggedTensorSpec(spec.shape, bytes, spec.ragged_rank, spec.row_splits_dtype)
    return type(spec)(spec.shape, bytes)


def _dtype(spec: Any) -> Any:
    return getattr(spec, "dtype", None)


def _filled(structure: Any, leaves: list[Any]) -> Any:
    found = iter(leaves)
    return map_structure(lambda _: next(found), structure)


def _wider(a: Any, b: Any) -> Any:
    if a == b:
        return a
    shapes = a.shape, b.shape
    if None in shapes or len(a.shape) != len(b.shape):
        shape = None
    else:
        shape = tuple(x if x == y else None for x, y in zip(*shapes, strict=True))
    if isinstance(a, RaggedTensorSpec):
        return RaggedTensorSpec(shape, a.dtype, a.ragged_rank, a.row_splits_dtype)
    return type(a)(shape, a.dtype)
