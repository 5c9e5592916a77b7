"""What ``tf.data.experimental`` has: headrace's functions with TensorFlow's arguments."""

from __future__ import annotations

import types
from typing import Any

from ... import experimental as own
from ... import options
from ...checks import AUTOTUNE, INFINITE_CARDINALITY, UNKNOWN_CARDINALITY
from ...dataset import Dataset as OwnDataset
from ..names import lookup
from .arguments import wrapped
from .optional import Optional
from .readers import reader

__all__ = ["AUTOTUNE", "INFINITE_CARDINALITY", "UNKNOWN_CARDINALITY", "Optional"]

_missing = lookup(__name__)


def get_single_element(dataset: Any) -> Any:
    """Return the one element of a dataset."""
    return dataset.get_single_element()


def get_structure(dataset_or_iterator: Any) -> Any:
    """Return the element spec of a dataset or iterator."""
    try:
        return dataset_or_iterator.element_spec
    except AttributeError:
        raise TypeError(
            f"`dataset_or_iterator` must be a `tf.data.Dataset` or tf.data.Iterator object, but "
            f"got {type(dataset_or_iterator)}."
        ) from None


def cardinality(dataset: Any) -> Any:
    """Return how many elements a dataset has, an int64 tensor."""
    return dataset.cardinality()


def get_next_as_optional(iterator: Any) -> Any:
    """Return the next element of an iterator as an optional."""
    return iterator.get_next_as_optional()


def enable_debug_mode() -> None:
    """Do nothing: functions that run as Python can be debugged as they are."""


def __getattr__(name: str) -> Any:
    found = getattr(own, name, None)
    if found is None:
        found = getattr(options, name, None)
    if name.startswith("_") or found is None or isinstance(found, types.ModuleType):
        made = None if name.startswith("_") else reader(name)
        return _missing(name) if made is None else made
    if isinstance(found, type) and issubclass(found, OwnDataset):
        return reader(name)
    return wrapped(found) if isinstance(found, types.FunctionType) else found


def __dir__() -> list[str]:
    return sorted({*own.__all__, *(name for name in globals() if not name.startswith("_"))})
