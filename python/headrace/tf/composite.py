"""What sparse and ragged tensors share: operators that go to their values."""

from __future__ import annotations

import functools
import importlib
from collections.abc import Callable
from typing import Any, TypeVar

from . import operators

__all__ = ["Composite", "by_value", "or_ragged"]

F = TypeVar("F", bound=Callable[..., Any])


def or_ragged(function: F) -> F:
    """Hand calls with ragged tensors to the function of the same name in `ragged_moves`."""

    @functools.wraps(function)
    def called(*args: Any, **kwargs: Any) -> Any:
        for value in (*args, *kwargs.values()):
            if getattr(type(value), "_is_ragged", False):
                moves = importlib.import_module(".ragged_moves", __package__)
                return getattr(moves, function.__name__)(*args, **kwargs)
        return function(*args, **kwargs)

    return called  # type: ignore[return-value]


def by_value(function: F) -> F:
    """Let a function that works value by value take ragged tensors."""

    @functools.wraps(function)
    def called(*args: Any, **kwargs: Any) -> Any:
        names, given = list(kwargs), (*args, *kwargs.values())
        for value in given:
            if getattr(type(value), "_is_ragged", False):
                return value._map_values(
                    lambda *parts: function(
                        *parts[: len(args)], **dict(zip(names, parts[len(args) :], strict=True))
                    ),
                    *given,
                )
        return function(*args, **kwargs)

    return called  # type: ignore[return-value]


class Composite:
    """A tensor made of several, with operators of its own."""

    __slots__ = ()
    _is_composite = True
    _is_tensor = True
    _overrides_tensors = True
    __array_priority__ = 200

    __add__, __radd__ = operators.methods("add")
    __sub__, __rsub__ = operators.methods("subtract")
    __mul__, __rmul__ = operators.methods("multiply")
    __truediv__, __rtruediv__ = operators.methods("truediv")
    __floordiv__, __rfloordiv__ = operators.methods("floordiv")
    __mod__, __rmod__ = operators.methods("floormod")
    __pow__, __rpow__ = operators.methods("pow")
    __and__, __rand__ = operators.methods("and")
    __or__, __ror__ = operators.methods("or")
    __xor__, __rxor__ = operators.methods("xor")
    __lt__, __le__ = operators.method("less"), operators.method("less_equal")
    __gt__, __ge__ = operators.method("greater"), operators.method("greater_equal")
    __neg__, __abs__ = operators.unary("negative"), operators.unary("abs")
    __invert__ = operators.unary("invert")

    def get_shape(self) -> Any:
        """Return the shape."""
        return self.shape  # type: ignore[attr-defined]

    @property
    def op(self) -> Any:
        """None: there are no graph operations to look at."""
        return None

    @property
    def graph(self) -> Any:
        """None: there is no graph to look at."""
        return None

    def consumers(self) -> list[Any]:
        """Return an empty list: there is no graph."""
        return []
