"""User functions under TensorFlow's rules.

A function is traced once, when the dataset is made, as TensorFlow does: what it captures is what it
is then. Where there is a graph the engine runs it; otherwise the function runs as Python on
tensors, and its results are what the trace said.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..errors import InvalidArgumentError, OutOfRangeError
from ..function import Function, _finished
from ..nest import map_structure
from ..purity import check
from .bridge import component, from_own_nest, returned, to_own
from .errors_of import as_error
from .tracer import Traced, trace

__all__ = ["TensorFunction", "tensor_function"]


class TensorFunction(Function):
    """A `Function` that gets tensors and follows TensorFlow's rules.

    Attributes
    ----------
    user_function
        What the user gave; `function` calls it with tensors and gives plain arrays.
    """

    # A graph stands for the function as it was when it was traced; it is not called again.
    on_trial = False

    called_by = "a dataset"
    user_function: Callable[..., Any]
    _known: list[tuple[Any, Traced]]

    def traced(self, element_spec: Any) -> Traced:
        """Return what a trace for elements of this spec found, tracing once per spec."""
        for known, found in self._known:
            if known == element_spec:
                return found
        made = trace(self.user_function, element_spec, self.called_by)
        self._known.append((element_spec, made))
        return made

    def _trace(self, element_spec: Any) -> Any:
        found = self.traced(element_spec)
        return (None, found.refusal) if found.graph is None else (found.graph, None)

    def _is_pure(self) -> bool:
        return check(self.user_function, ()) is None

    def __reduce__(self) -> tuple[Any, ...]:
        kind = next((base for base in type(self).__bases__ if base is not TensorFunction), Function)
        plain: Any = object.__new__(kind)
        plain.__dict__.update(self.__dict__)
        plain.function = self.user_function
        return _restored, (plain.__reduce__(),)


def _restored(
    reduced: tuple[Callable[..., Function], tuple[Any, ...], dict[str, Any]],
) -> TensorFunction:
    make, args, state = reduced
    made = tensor_function(make(*args))
    made.__dict__.update(state)
    return made


_KINDS: dict[type[Function], type[TensorFunction]] = {}


def _kind_over(kind: type[Function]) -> type[TensorFunction]:
    """Return the class of TensorFlow's rules over a class of headrace."""
    if kind not in _KINDS:
        bases = (TensorFunction,) if kind is Function else (TensorFunction, kind)
        _KINDS[kind] = type(f"Tensor{kind.__name__}", bases, {})
    return _KINDS[kind]


def tensor_function(function: Function, called_by: str = "a dataset") -> TensorFunction:
    """Return a function of headrace as one that follows TensorFlow's rules.

    `called_by` names the method in messages, such as ``Dataset.map()``.
    """
    if isinstance(function, TensorFunction):
        return function
    made = object.__new__(_kind_over(type(function)))
    made.__dict__.update(function.__dict__)
    made._known = []
    made.called_by = called_by
    made.user_function = function.function
    made.function = made.called = _with_tensors(function.function)
    finish: Any = function.finish
    if getattr(finish, "__self__", None) is function:
        made.finish = finish = getattr(made, finish.__name__)
    made.callable = made.function if finish is None else _finished(made.function, finish)
    return made


def _with_tensors(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function of plain arrays that calls `function` with tensors."""

    def called(*args: Any) -> Any:
        try:
            result = function(*map(from_own_nest, args))
            return map_structure(_as_own, returned(result))
        except Exception as error:
            found = as_error(error)
            if isinstance(found, OutOfRangeError):  # which would end the dataset
                text = f"Function invocation produced OutOfRangeError: {found}"
                raise InvalidArgumentError(text) from error
            if found is error:
                raise
            raise found from error

    return called


def _as_own(leaf: Any) -> Any:
    return to_own(component(leaf))
