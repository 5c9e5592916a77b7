"""User functions on their way into the engine.

A `Function` knows what the user gave, its name and fingerprint for messages and states, and on
request whether it can run as a graph. The engine asks anew at each run, so that what the function
captures is up to date.
"""

from __future__ import annotations

import os.path
from collections.abc import Callable, Iterator
from typing import Any, Literal, TypeAlias

from . import _headrace
from .convert import Converter
from .errors import InvalidArgumentError, UnimplementedError
from .nest import flatten, same_structure
from .recipe import dump_callable, load_callable
from .spec import UnknownSpec, shape_within

__all__ = ["Executor", "Function"]

Executor: TypeAlias = Literal["native", "python"] | None


class Function:
    """A callable with what the engine needs to know of it.

    Parameters
    ----------
    function
        What the user gave.
    executor
        ``"native"`` insists on a graph, ``"python"`` on plain Python; ``None`` decides.
    output_signature
        What it returns, a nest of specs; results are converted to it, or refused.

    Attributes
    ----------
    name
        Such as ``"parse at train.py:12"``.
    fingerprint
        64 bits of the qualified name and the bytecode; the same in every process.
    reason
        Why it ran as Python when it was last prepared; ``None`` if it became a graph.

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

    def __init__(
        self,
        function: Callable[..., Any],
        executor: Executor = None,
        output_signature: Any = None,
    ) -> None:
        if not callable(function):
            raise TypeError(f"a function is needed, got {function!r} ({type(function).__name__})")
        if executor == "process":  # type: ignore[comparison-overlap]
            raise UnimplementedError('executor="process" does not exist yet; use "python"')
        if executor not in (None, "native", "python"):
            raise InvalidArgumentError(
                f'`executor` must be None, "native" or "python", got {executor!r}'
            )
        self.function = function
        self.executor = executor
        self.output_signature = output_signature
        self.name = _name(function)
        self.callable = function
        if output_signature is not None:
            self.callable = _converting(function, output_signature, self.name)
        self.fingerprint = _fingerprint(function)
        self.reason: str | None = None

    def prepare(self, element_spec: Any) -> _headrace.Graph | str:
        """Return the function's graph for elements of this spec, or why it runs as Python.

        Raises
        ------
        InvalidArgumentError
            ``executor="native"`` and it cannot be a graph.
        """
        self.reason = None
        if self.executor == "python":
            self.reason = 'executor="python"'
            return self.reason
        if isinstance(element_spec, UnknownSpec):
            self.reason = "what its elements look like is known in a run only"
            return self.reason
        from .trace import trace

        graph, refusal = trace(self.function, element_spec)
        if graph is not None and self._fits(graph):
            return graph
        if graph is not None:
            signature = self.output_signature
            self.reason = f"gives {graph.structure_spec!r} where the signature says {signature!r}"
        else:
            self.reason = str(refusal)
        if self.executor == "native":
            why = self.reason.removesuffix("; it runs as Python")
            raise InvalidArgumentError(f'executor="native" is not possible for {why}')
        return self.reason

    def _fits(self, graph: _headrace.Graph) -> bool:
        """Tell whether what the graph gives needs no conversion to the signature."""
        signature, given = self.output_signature, graph.structure_spec
        return signature is None or (
            same_structure(signature, given)
            and all(map(_is_as_declared, flatten(signature), flatten(given)))
        )

    def __reduce__(self) -> tuple[Any, ...]:
        blob = dump_callable(self.function, self.name)
        return _load, (blob, self.executor, self.output_signature)

    def __repr__(self) -> str:
        return f"<function {self.name}>"


def _load(blob: bytes, executor: Executor, output_signature: Any) -> Function:
    return Function(load_callable(blob), executor, output_signature)


def _is_as_declared(declared: Any, given: Any) -> bool:
    """Tell whether every value of `given` is one of `declared`."""
    return type(declared) is type(given) and (
        declared == given
        or (
            getattr(declared, "dtype", None) == getattr(given, "dtype", None)
            and shape_within(given.shape, declared.shape)
        )
    )


def _converting(function: Callable[..., Any], signature: Any, name: str) -> Callable[..., Any]:
    """Return `function` with its results made to fit `signature`."""
    convert = Converter(signature, f"{name} returned a result", lists=True).convert

    def converted(*args: Any) -> Any:
        return convert(function(*args))

    return converted


def _unwrapped(function: Any) -> Any:
    """Return the code-bearing function behind partials, methods and callable objects."""
    while not hasattr(function, "__code__"):
        if hasattr(function, "func") and hasattr(function, "keywords"):  # functools.partial
            function = function.func
        elif hasattr(function, "__wrapped__"):
            function = function.__wrapped__
        elif hasattr(function, "__func__"):
            function = function.__func__
        else:
            return type(function).__call__
    return function


def _name(function: Any) -> str:
    name = getattr(function, "__name__", None) or type(function).__name__
    if hasattr(function, "func") and hasattr(function, "keywords"):
        name = getattr(function.func, "__name__", name)
    code = getattr(_unwrapped(function), "__code__", None)
    if code is None:
        return str(name)
    return f"{name} at {os.path.basename(code.co_filename)}:{code.co_firstlineno}"


def _fingerprint(function: Any) -> int:
    import hashlib

    digest = hashlib.blake2b(digest_size=8)
    for part in _parts(function):
        digest.update(part.encode("utf-8", "surrogatepass"))
        digest.update(b"\0")
    return int.from_bytes(digest.digest(), "little")


def _parts(function: Any) -> Iterator[str]:
    """Yield what identifies the function; nothing that differs between two processes."""
    kind = type(function)
    yield f"{kind.__module__}.{kind.__qualname__}"
    yield str(getattr(function, "__qualname__", ""))
    bare = _unwrapped(function)
    yield str(getattr(bare, "__qualname__", ""))
    code = getattr(bare, "__code__", None)
    if code is not None:
        yield from _code_parts(code)


def _code_parts(code: Any) -> Iterator[str]:
    yield code.co_code.hex()
    yield " ".join(code.co_names)
    for constant in code.co_consts:
        if hasattr(constant, "co_code"):
            yield from _code_parts(constant)
        elif isinstance(constant, frozenset):
            yield repr(sorted(map(repr, constant)))  # the order of a set differs per process
        else:
            yield repr(constant)
