"""Arguments and results of headrace's functions, in TensorFlow's words.

Tensors, dtypes, shapes and specs given to a method become what headrace takes; datasets it returns
become datasets of this package.
"""

from __future__ import annotations

import functools
import types
from collections.abc import Callable
from typing import Any

import numpy as np

from ... import dataset as own
from ...nest import is_structure, items, rebuild
from .. import dtypes, specs
from ..bridge import from_own, source, to_own
from ..convert import convert, is_symbol
from ..io.features import to_own as features_to_own
from ..shapes import TensorShape
from ..tensor import Tensor, raw

__all__ = ["argument", "result", "wrapped"]


def _filler(value: Any) -> Any:
    """Return a value to pad with, or a nest of them, as tensors are made of it."""
    if is_structure(value):
        return rebuild(value, [_filler(child) for _, child in items(value)])
    if isinstance(value, bool | int | float | str | bytes):
        return argument(convert(value))
    return argument(value)


def csv_defaults(values: Any) -> Any:
    """Return the defaults of CSV columns: numbers have the types that TensorFlow gives them."""
    if not isinstance(values, list | tuple):
        return argument(values)
    return [
        argument(convert(value) if isinstance(value, list | int | float) else value)
        for value in values
    ]


# Parameters whose values become tensors by TensorFlow's rules, and how.
_VALUES: dict[str, Callable[[Any], Any]] = {
    "column_defaults": csv_defaults,
    "features": features_to_own,
    "initial_state": source,
    "padding_values": _filler,
}


def argument(value: Any) -> Any:
    """Return an argument as headrace takes it."""
    if type(value) is Tensor:
        array = raw(value)
        return array if array.ndim else array[()]
    if is_symbol(value) or isinstance(value, own.Dataset) or callable(value):
        return value if not isinstance(value, dtypes.DType) else dtypes.to_own(value)
    if isinstance(value, dtypes.DType):
        return dtypes.to_own(value)
    if isinstance(value, specs.TypeSpec):
        return specs.to_own(value)
    if isinstance(value, TensorShape):
        return None if value.rank is None else tuple(value)
    if getattr(value, "_is_composite", False):
        return to_own(value)
    if hasattr(value, "__tf_tensor__"):
        return argument(value.__tf_tensor__())
    if type(value) is list:
        return [argument(item) for item in value]
    if value is not None and is_structure(value) and not isinstance(value, np.ndarray):
        return rebuild(value, [argument(child) for _, child in items(value)])
    return value


def result(value: Any) -> Any:
    """Return what headrace gave in TensorFlow's words."""
    from .dataset import adopt

    if isinstance(value, own.Dataset):
        return adopt(value)
    if isinstance(value, types.FunctionType):
        return wrapped(value)
    return value


def tensors(value: Any) -> Any:
    """Return a nest of values of the engine as tensors."""
    if is_structure(value):
        return rebuild(value, [tensors(child) for _, child in items(value)])
    return from_own(value)


def wrapped(function: Callable[..., Any]) -> Any:
    """Return a function of headrace that takes and gives TensorFlow's things."""
    names = function.__code__.co_varnames if isinstance(function, types.FunctionType) else ()
    offset = {name: k for k, name in enumerate(names)}

    @functools.wraps(function)
    def called(*args: Any, **kwargs: Any) -> Any:
        given = [argument(arg) for arg in args]
        named = {key: argument(value) for key, value in kwargs.items()}
        for name in _VALUES.keys() & offset.keys():
            if name in named:
                named[name] = _VALUES[name](kwargs[name])
            elif offset[name] < len(given):
                given[offset[name]] = _VALUES[name](args[offset[name]])
        return result(function(*given, **named))

    return called
