"""`headrace.trace`: the graph of a function, to be looked at and called."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from . import _headrace
from .dataset import Dataset
from .errors import InvalidArgumentError
from .function import Function

__all__ = ["Traced", "traced"]


class Traced:
    """A function as the graph that `Dataset.map` would run; prints as its ops.

    Calling it evaluates the graph on one element: arrays, numbers or text of the dtypes that it was
    traced for. Mirrors ``tf.function(f).get_concrete_function(spec)``.

    Attributes
    ----------
    spec
        What its argument looks like; a plain tuple is several arguments.
    element_spec
        What it gives.
    """

    def __init__(self, function: Function, spec: Any, graph: _headrace.Graph) -> None:
        self.spec = spec
        self.element_spec = graph.structure_spec
        self._graph = graph
        self._function = _Fixed(function, graph)

    def __call__(self, *args: Any) -> Any:
        """Return what the graph gives for one element.

        Raises
        ------
        InvalidArgumentError
            It has other dtypes, shapes or another structure than `spec`.
        """
        if type(self.spec) is not tuple and len(args) != 1:
            raise InvalidArgumentError(f"expected one argument, got {len(args)}")
        element = args if type(self.spec) is tuple else args[0]
        dataset = Dataset.from_tensors(element)
        mapped = dataset._derive(
            "map",
            function=self._function,
            num_parallel_calls=None,
            deterministic=None,
            output_signature=None,
        )
        return mapped.get_single_element()

    def __repr__(self) -> str:
        lines = "\n".join(f"  {line}" for line in str(self._graph).splitlines())
        return f"<graph of {self._function.name}:\n{lines}>"


class _Fixed(Function):
    """A function that is a graph already."""

    on_trial = False

    def __init__(self, function: Function, graph: _headrace.Graph) -> None:
        super().__init__(function.function)
        self._graph = graph

    def prepare(self, element_spec: Any) -> _headrace.Graph:
        return self._graph


def traced(function: Callable[..., Any], spec: Any) -> Traced:
    """Record a function as `Dataset.map` would, for elements that look like `spec`.

    Parameters
    ----------
    function
        Gets the components of a plain tuple as arguments, any other element as one.
    spec
        A nest of specs, such as an `element_spec`.

    Raises
    ------
    InvalidArgumentError
        It cannot be recorded: the text names the line where recording stopped, and what would
        mend it, as that of ``executor="native"`` does.
    TypeError
        `function` is not callable.

    Examples
    --------
    >>> double = hr.trace(lambda x: x * 2, hr.TensorSpec((3,), np.float32))
    >>> double(np.ones(3, np.float32))
    array([2., 2., 2.], dtype=float32)
    >>> "multiply" in repr(double)
    True
    >>> hr.trace(lambda x: int(x), hr.TensorSpec((), np.int64))
    Traceback (most recent call last):
    headrace.errors.InvalidArgumentError: ... makes a Python int of a value ... x.astype(np.int64)
    """
    wrapped = Function(function, "native")
    graph = wrapped.prepare(spec)
    if isinstance(graph, tuple):
        raise InvalidArgumentError(f"not traceable: {graph[0]}")
    return Traced(wrapped, spec, graph)
