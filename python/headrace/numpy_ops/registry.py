"""Which NumPy function and which method of arrays each handler records, and what handlers share.

A handler gets the tracer and the arguments of the call, with the signature of the function or
method. It refuses arguments that it does not know. `function` and `method` enter it here.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from ..symbol import Symbol

if TYPE_CHECKING:
    from ..trace import Tracer

__all__ = [
    "FUNCTIONS",
    "METHODS",
    "NAMES",
    "axes",
    "common",
    "copied",
    "function",
    "ints",
    "method",
    "plain",
    "symbol",
]

Handler = TypeVar("Handler", bound=Callable[..., Any])

# By the function itself, as NumPy's protocol hands it over.
FUNCTIONS: dict[Any, Callable[..., Any]] = {}
# The names of all of them, whether the NumPy at hand has them or not.
NAMES: set[str] = set()
# By the name of the method.
METHODS: dict[str, Callable[..., Any]] = {}


def function(*names: str) -> Callable[[Handler], Handler]:
    """Enter a handler for NumPy functions such as ``linalg.norm``; older NumPys may lack some."""

    def enter(handler: Handler) -> Handler:
        for name in names:
            NAMES.add(name)
            found: Any = np
            for part in name.split("."):
                found = getattr(found, part, None)
            if found is not None:
                FUNCTIONS[found] = handler
        return handler

    return enter


def method(*names: str) -> Callable[[Handler], Handler]:
    """Enter a handler for methods of arrays."""

    def enter(handler: Handler) -> Handler:
        METHODS.update(dict.fromkeys(names, handler))
        return handler

    return enter


def plain(tracer: Tracer, what: str, **values: Any) -> None:
    """Refuse arguments that are not at their defaults, which are falsy or NumPy's ``_NoValue``."""
    for name, value in values.items():
        if value is not None and value is not False and value is not np._NoValue:
            tracer.refuse(f"uses {what} with {name}=")


def symbol(tracer: Tracer, value: Any) -> Any:
    """Return an argument as a symbol."""
    if type(value) is Symbol:
        return value
    numbers = bool | int | float | complex
    if isinstance(value, numbers | np.ndarray | np.generic | list | tuple | bytes | str):
        return tracer.wrap(tracer.constant(value))
    return tracer.refuse(f"uses a NumPy function of {type(value).__name__}")


def ints(tracer: Tracer, values: Any) -> list[int]:
    """Return sizes or axes that are known now."""
    items = values if isinstance(values, Sequence) else (values,)
    for item in items:
        if not isinstance(item, int | np.integer):
            tracer.refuse("uses a shape or axis that only a run knows")
    return [int(item) for item in items]


def axes(tracer: Tracer, axis: Any) -> Any:
    """Return axes, or None for all."""
    return None if axis is None else ints(tracer, axis)


def common(values: Sequence[Any]) -> np.dtype[Any]:
    """Return the common dtype of operands; Python numbers are weak."""
    kinds = [value.dtype if type(value) is Symbol else value for value in values]
    return np.result_type(*kinds)


def copied(x: Symbol) -> Any:
    """Return the same value as memory of its own."""
    return x._tracer.wrap(x._value, fresh=True)
