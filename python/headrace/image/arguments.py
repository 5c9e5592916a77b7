"""Arguments of image functions: arrays and symbols as the engine takes them."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import Any

import numpy as np

from ..ops import apply_op
from ..symbol import Symbol

__all__ = ["image", "is_symbol", "static_ints", "vector"]


def is_symbol(value: Any) -> bool:
    """Tell whether `value` is the stand-in of a traced function."""
    return issubclass(type(value), Symbol)


def image(value: Any) -> Any:
    """Return an image, or any other array, as an array or symbol."""
    return value if is_symbol(value) else np.asarray(value)


def static_ints(value: Any) -> list[int] | None:
    """Return integers that are known now; None where only a run knows them."""
    if is_symbol(value):
        return None
    if isinstance(value, np.ndarray):
        items: Sequence[Any] = value.tolist() if value.dtype.kind in "iu" and value.ndim else []
        return list(items) if items and value.ndim == 1 else None
    if not isinstance(value, list | tuple) or any(is_symbol(item) for item in value):
        return None
    try:
        return [operator.index(item) for item in value]
    except TypeError:
        return None


def vector(values: Any, dtype: type[np.generic] = np.int64) -> Any:
    """Return numbers, some of which only a run knows, as one vector."""
    if is_symbol(values) or isinstance(values, np.ndarray):
        return values
    if not isinstance(values, list | tuple):
        return np.asarray(values)
    if not any(is_symbol(item) for item in values):
        return np.asarray(values)
    parts = [
        apply_op("cast", {"dtype": np.dtype(dtype)}, item)[0] if is_symbol(item) else dtype(item)
        for item in values
    ]
    return apply_op("stack", {"axis": 0}, *parts)[0]
