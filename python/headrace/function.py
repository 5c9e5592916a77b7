"""User functions on their way into the engine.

A `Function` knows what the user gave, its name and fingerprint for messages and states, and on
request whether it can run as a graph. The engine asks anew at each run, so that what the function
captures is up to date.
"""

from __future__ import annotations

import os.path
from collections.abc import Callable
from types import FunctionType, MethodType
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import numpy as np

from . import _headrace
from .convert import SPECS, Converter
from .errors import InvalidArgumentError
from .identity import code_of, fingerprint
from .nest import flatten, is_structure, items, rebuild, same_structure
from .recipe import dump_callable, load_callable
from .seeds import function_seeds
from .spec import DatasetSpec, TensorSpec, UnknownSpec, shape_within, spec_of

if TYPE_CHECKING:
    from .process_pool import ProcessPool
    from .purity import Refusal, Witness

__all__ = ["Executor", "Function", "GroupFunction", "StateFunction"]

# A flag of code objects: `inspect` has it too, and takes long to load.
_VARARGS = 0x04

Executor: TypeAlias = Literal["native", "python", "process"] | None


class Function:
    """A callable with what the engine needs to know of it.

    Parameters
    ----------
    function
        What the user gave.
    executor
        ``"native"`` insists on a graph, ``"python"`` on plain Python, ``"process"`` on worker
        processes; ``None`` decides between the first two.
    output_signature
        What it returns, a nest of specs; results are converted to it, or refused.

    Attributes
    ----------
    name
        Such as ``"parse at train.py:12"``.
    fingerprint
        64 bits of the qualified name, the bytecode and what it captures; the same in every process.
    reason
        Why it ran as Python when it was last prepared; ``None`` if it became a graph.
    seeds
        What random ops in it draw by.
    called
        The function, which is given a generator if it asks for one.
    silent
        Whether its calls can be noticed by nobody, as far as the last preparation saw: it is pure
        and gives datasets.
    quiet
        Whether that is so of the datasets it gives, too, whatever they are.

    Raises
    ------
    TypeError
        `function` is not callable.
    InvalidArgumentError
        `executor` is none of these.

    Examples
    --------
    >>> Function(len).name
    'len'
    """

    # Whether the first element of a run goes through both the function and its graph.
    on_trial = True
    silent = quiet = False

    def __init__(
        self,
        function: Callable[..., Any],
        executor: Executor = None,
        output_signature: Any = None,
        returns: str = "",
    ) -> None:
        if not callable(function):
            raise TypeError(
                f"a function is needed, got {function!r} ({type(function).__name__}); "
                "give the function itself, not what a call of it returns"
            )
        if executor not in (None, "native", "python", "process"):
            raise InvalidArgumentError(
                f'`executor` must be None, "native", "python" or "process", got {executor!r}'
            )
        self.function = function
        self.seeds = function_seeds()
        self.called = with_generator(function)
        self.executor = executor
        self.output_signature = output_signature
        self.returns = returns
        self.name = _name(function)
        self.callable = self.called
        # What becomes of a result before the engine gets it.
        self.finish: Callable[[Any], Any] | None = None
        if output_signature is not None:
            subject = f"{self.name} returned a result"
            self.finish = Converter(output_signature, subject, lists=True).convert
            self.callable = _finished(self.called, self.finish)
        self.fingerprint = fingerprint(function)
        self.reason: str | None = None
        # The last graph, of which elements it is, and what tells whether it would be so again.
        self._last_graph: tuple[_headrace.Graph, Any, Witness] | None = None

    def prepare(self, element_spec: Any) -> _headrace.Graph | tuple[str, Any]:
        """Return the function's graph for elements of this spec, or why it runs as Python.

        With the reason comes the spec of what it gives, `UnknownSpec` if only a run can tell.

        Raises
        ------
        InvalidArgumentError
            ``executor="native"`` and it cannot be a graph.
        TypeError
            It takes another number of arguments, or should return a dataset and returns something
            else.
        """
        self.reason = None
        if self.called is self.function:
            _check_arguments(self.function, self.name, element_spec)
        if self.executor in ("python", "process"):
            self.reason = f'executor="{self.executor}"'
            return self.reason, UnknownSpec()
        if self.called is not self.function:
            self.reason = (
                f"{self.name} gets a generator of NumPy as `rng`; draw with headrace.random instead"
            )
            if self.executor == "native":
                raise InvalidArgumentError(f"not traceable: {self.reason}")
            return self.reason, UnknownSpec()
        if isinstance(element_spec, UnknownSpec):
            self.reason = (
                "what its elements look like is known in a run only; state it with "
                "output_signature= of the step that makes them"
            )
            return self.reason, UnknownSpec()
        graph, refusal = self._trace(element_spec)
        if self.returns:
            gives = graph.structure_spec if graph is not None else UnknownSpec()
            gives = gives if refusal is None else refusal.gives
            if not isinstance(gives, DatasetSpec | UnknownSpec):
                raise TypeError(
                    f"`{self.returns}` must return a `Dataset` object. Got {gives!r} from "
                    f"{self.name}."
                )
            self.silent = isinstance(gives, DatasetSpec) and self._is_pure()
        if graph is not None and self._fits(graph):
            return graph
        if graph is not None:
            signature = self.output_signature
            self.reason = (
                f"{self.name} gives {graph.structure_spec!r} where the signature says "
                f"{signature!r}; convert with astype, or leave output_signature out"
            )
        else:
            self.reason = str(refusal)
        if self.executor == "native":
            raise InvalidArgumentError(f"not traceable: {self.reason}")
        return self.reason, UnknownSpec() if refusal is None else refusal.gives

    def _trace(self, element_spec: Any) -> tuple[_headrace.Graph, None] | tuple[None, Refusal]:
        """Return the graph, or why there is none, as `headrace.trace.trace` does.

        What the function captures is read anew; it is not traced again where that is as it was.
        """
        if self._last_graph is not None:
            graph, spec, witness = self._last_graph
            if _is_same(spec, element_spec) and witness.holds():
                return graph, None
        from .trace import witnessed

        found, witness = witnessed(self.function, element_spec)
        if not isinstance(found, _headrace.Graph):
            return None, found
        if witness.is_whole:
            self._last_graph = found, element_spec, witness
        return found, None

    def _is_pure(self) -> bool:
        """Tell whether calls cannot be noticed, of a function whose trace gave something."""
        return True

    def pool(self, is_over: Callable[[], bool]) -> ProcessPool:
        """Return worker processes for a run of it.

        Raises
        ------
        pickle.PicklingError
            It cannot be sent to them.
        """
        from .process_pool import ProcessPool

        return ProcessPool(self.function, self.name, self.finish, is_over)

    def arguments(self, element_spec: Any) -> Any:
        """Return what its arguments look like for elements of this spec."""
        return element_spec

    def _fits(self, graph: _headrace.Graph) -> bool:
        """Tell whether what the graph gives needs no conversion to the signature."""
        signature, given = self.output_signature, graph.structure_spec
        return signature is None or (
            same_structure(signature, given)
            and all(map(_is_as_declared, flatten(signature), flatten(given)))
        )

    def __reduce__(self) -> tuple[Any, ...]:
        blob = dump_callable(self.function, self.name)
        arguments = (blob, self.executor, self.output_signature, self.returns)
        return _load, arguments, {"seeds": self.seeds}

    def __repr__(self) -> str:
        return f"<function {self.name}>"


class GroupFunction(Function):
    """A function of a key, or of a key and its group, as `Dataset.group_by_window` calls it.

    Parameters
    ----------
    function
        See `Function`.
    argument
        ``"reduce_func"``, which gets a key and a dataset and returns a dataset, or
        ``"window_size_func"``, which gets a key.

    Examples
    --------
    >>> GroupFunction(int, "window_size_func").arguments(hr.TensorSpec((2,), np.float32))
    TensorSpec(shape=(), dtype=int64)
    """

    def __init__(self, function: Callable[..., Any], argument: str) -> None:
        super().__init__(function, returns="reduce_func" if argument == "reduce_func" else "")
        self.argument = argument

    def arguments(self, element_spec: Any) -> Any:
        """Return what its arguments look like for elements of this spec."""
        key = TensorSpec((), np.int64)
        return (key, DatasetSpec(element_spec)) if self.argument == "reduce_func" else key

    def __reduce__(self) -> tuple[Any, ...]:
        arguments = (dump_callable(self.function, self.name), self.argument)
        return _load_group, arguments, {"seeds": self.seeds}


def _load_group(blob: bytes, argument: str) -> GroupFunction:
    return GroupFunction(load_callable(blob), argument)


class StateFunction(Function):
    """A function of a state and an element, as `Dataset.scan` and `reduce` call it.

    Parameters
    ----------
    function, executor
        See `Function`.
    state_spec
        What the state looks like at first. It keeps its structure and dtypes.
    argument
        ``"scan_func"``, which returns the next state and an element, or ``"reduce_func"``, which
        returns the next state.

    Examples
    --------
    >>> StateFunction(max, None, hr.TensorSpec((), np.int64), "reduce_func").name
    'max'
    """

    def __init__(
        self, function: Callable[..., Any], executor: Executor, state_spec: Any, argument: str
    ) -> None:
        super().__init__(function, executor)
        self.state_spec = state_spec
        self.argument = argument
        self.finish = self._checked
        self.callable = _finished(self.called, self.finish)

    def arguments(self, element_spec: Any) -> Any:
        """Return what its arguments look like for elements of this spec."""
        if isinstance(element_spec, UnknownSpec):
            return element_spec
        return self.state_spec, element_spec

    def prepare(self, element_spec: Any) -> _headrace.Graph | tuple[str, Any]:
        """Return the graph, or why there is none; see `Function.prepare`.

        Raises
        ------
        TypeError
            It does not return a state like the first one.
        """
        prepared = super().prepare(element_spec)
        gives = prepared.structure_spec if isinstance(prepared, _headrace.Graph) else prepared[1]
        if not isinstance(gives, UnknownSpec):
            self._check(gives)
        return prepared

    def _checked(self, result: Any) -> Any:
        self._check(result)
        return result

    def _check(self, result: Any) -> None:
        """Refuse a result, or the spec of one, whose state is not like the first."""
        state = result
        if self.argument == "scan_func":
            if not isinstance(result, tuple | list) or len(result) != 2:
                raise TypeError(
                    "Invalid `scan_func`. `scan_func` should return a pair consisting of new state "
                    f"and the output value but its return type is {_kind(result)}."
                )
            state = result[0]
        seen = _specs(state)
        if not same_structure(seen, self.state_spec):
            raise TypeError(
                f"Invalid `{self.argument}`. The new state must be nested as the initial state. "
                f"Expected {self.state_spec!r}, got {seen!r}."
            )
        for expected, given in zip(flatten(self.state_spec), flatten(seen), strict=True):
            first, second = _element_type(expected), _element_type(given)
            if first != second:
                raise TypeError(
                    f"Invalid `{self.argument}`. The element types for the new state must match "
                    f"the initial state. Expected {first}, got {second}; give the initial state "
                    "the dtype that the function returns, or convert with astype."
                )

    def __reduce__(self) -> tuple[Any, ...]:
        blob = dump_callable(self.function, self.name)
        arguments = (blob, self.executor, self.state_spec, self.argument)
        return _load_state, arguments, {"seeds": self.seeds}


def _load_state(blob: bytes, executor: Executor, state_spec: Any, argument: str) -> StateFunction:
    return StateFunction(load_callable(blob), executor, state_spec, argument)


def _specs(value: Any) -> Any:
    """Return a nest of specs for what a function returned; lists in it are tuples."""
    if isinstance(value, list):
        value = tuple(value)
    if is_structure(value):
        return rebuild(value, [_specs(child) for _, child in items(value)])
    return value if isinstance(value, SPECS) else spec_of(value)


def _element_type(spec: Any) -> str:
    kind = type(spec).__name__.removesuffix("Spec")
    name = getattr(spec, "dtype_name", "")
    return name if kind == "Tensor" else f"{kind} {name}".strip()


def _kind(result: Any) -> str:
    text = repr(_specs(result))
    return text if len(text) <= 200 else text[:197] + "..."


def _load(blob: bytes, executor: Executor, output_signature: Any, returns: str) -> Function:
    return Function(load_callable(blob), executor, output_signature, returns)


def _is_as_declared(declared: Any, given: Any) -> bool:
    """Tell whether every value of `given` is one of `declared`."""
    return type(declared) is type(given) and (
        declared == given
        or (
            getattr(declared, "dtype", None) == getattr(given, "dtype", None)
            and shape_within(given.shape, declared.shape)
        )
    )


def _is_same(first: Any, second: Any) -> bool:
    """Tell whether two element specs are the same nest of the same specs."""
    if type(first) is TensorSpec:
        return bool(first == second)
    return same_structure(first, second) and flatten(first) == flatten(second)


def _finished(function: Callable[..., Any], finish: Callable[[Any], Any]) -> Callable[..., Any]:
    """Return `function` with `finish` made of its results."""

    def finished(*args: Any) -> Any:
        return finish(function(*args))

    return finished


def with_generator(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function that gives `function` its ``rng``, or itself if it asks for none.

    A function asks by a parameter named ``rng`` that is keyword-only or the last of its positional
    ones. It gets a new NumPy ``Generator`` at each call, seeded by the place of the element.
    """
    if not _asks_for_generator(function):
        return function

    def called(*args: Any) -> Any:
        key = np.array(_headrace.argument_key(), np.uint64)
        return function(*args, rng=np.random.Generator(np.random.Philox(key=key)))

    return called


def _asks_for_generator(function: Callable[..., Any]) -> bool:
    names = getattr(getattr(code_of(function), "__code__", None), "co_varnames", ())
    if "rng" not in names:  # most functions, without the cost of a look at the signature
        return False
    import inspect

    if "rng" in getattr(function, "keywords", ()):  # a partial that has one already
        return False
    try:
        parameters = list(inspect.signature(function).parameters.values())
    except (TypeError, ValueError):
        return False
    kinds = inspect.Parameter
    for parameter in parameters:
        if parameter.name == "rng" and parameter.kind is kinds.KEYWORD_ONLY:
            return True
    plain = [p.name for p in parameters if p.kind is kinds.POSITIONAL_OR_KEYWORD]
    return plain[-1:] == ["rng"] and len(parameters) > 1


def _check_arguments(function: Any, name: str, element_spec: Any) -> None:
    """Refuse a function that cannot be called with elements of this spec."""
    bound = int(isinstance(function, MethodType))
    if isinstance(element_spec, UnknownSpec) or not (bound or isinstance(function, FunctionType)):
        return
    code = function.__code__
    given = len(element_spec) if type(element_spec) is tuple else 1
    most = code.co_argcount - bound
    least = most - len(function.__defaults__ or ())
    if least <= given and (given <= most or code.co_flags & _VARARGS):
        return
    takes = str(most) if least == most else f"{least} to {most}"
    mend = ""
    if given > 1:
        mend = "; each part of a tuple is an argument of its own"
    elif not isinstance(element_spec, TensorSpec):
        mend = "; only the parts of a tuple are arguments of their own"
    plural = "" if takes == "1" else "s"
    raise TypeError(
        f"{name} takes {takes} positional argument{plural}, but is given {given}: {element_spec}"
        f"{mend}"
    )


def _name(function: Any) -> str:
    name = getattr(function, "__name__", None) or type(function).__name__
    if hasattr(function, "func") and hasattr(function, "keywords"):
        name = getattr(function.func, "__name__", name)
    code = getattr(code_of(function), "__code__", None)
    if code is None:
        return str(name)
    return f"{name} at {os.path.basename(code.co_filename)}:{code.co_firstlineno}"
