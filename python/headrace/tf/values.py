"""What headrace's functions give, as TensorFlow's values."""

from __future__ import annotations

from typing import Any, TypeVar

from .bridge import from_own
from .convert import is_symbol

__all__ = ["result", "results"]

N = TypeVar("N")


def result(value: Any) -> Any:
    """Return a tensor; symbols of a traced function stay."""
    if is_symbol(value) or getattr(value, "_is_composite", False):
        return value
    return from_own(value)


def results(nest: N) -> N:
    """Return a dict, tuple or list of values as tensors."""
    made: Any
    if isinstance(nest, dict):
        made = {key: results(value) for key, value in nest.items()}
    elif isinstance(nest, tuple | list):
        made = type(nest)(results(value) for value in nest)
    else:
        made = result(nest)
    return made  # type: ignore[no-any-return]
