"""What ``tf.data.experimental`` has: headrace's functions with TensorFlow's arguments."""

from __future__ import annotations

import types
from collections.abc import Callable
from typing import Any

from ... import experimental as own
from ... import options
from ...checks import AUTOTUNE, INFINITE_CARDINALITY, UNKNOWN_CARDINALITY, columns
from ...dataset import Dataset as OwnDataset
from ..names import lookup
from .arguments import wrapped
from .dataset import Dataset
from .optional import Optional
from .readers import reader

__all__ = [
    "AUTOTUNE",
    "INFINITE_CARDINALITY",
    "SHARD_HINT",
    "UNKNOWN_CARDINALITY",
    "Optional",
    "cardinality",
    "copy_to_device",
    "enable_debug_mode",
    "from_list",
    "get_next_as_optional",
    "get_single_element",
    "get_structure",
    "prefetch_to_device",
]

# What `Dataset.shard` is told where somebody else decides on the shards.
SHARD_HINT = -1

_missing = lookup(__name__)
# Functions here that are static methods of Dataset, or make methods' transformations.
_STATIC = ("choose_from_datasets", "load", "sample_from_datasets")


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


def from_list(elements: Any, name: str | None = None) -> Any:
    """Return a dataset of the elements of a list; see `headrace.experimental.from_list`."""
    return Dataset.from_tensor_slices(columns(elements))


def get_next_as_optional(iterator: Any) -> Any:
    """Return the next element of an iterator as an optional."""
    return iterator.get_next_as_optional()


def copy_to_device(target_device: str, source_device: str = "/cpu:0") -> Callable[[Any], Any]:
    """Make a transformation that does nothing: elements are in the memory of the CPU."""
    return lambda dataset: dataset


def prefetch_to_device(device: str, buffer_size: int | None = None) -> Callable[[Any], Any]:
    """Make `Dataset.prefetch`: elements are in the memory of the CPU."""
    return lambda dataset: dataset.prefetch(AUTOTUNE if buffer_size is None else buffer_size)


def enable_debug_mode() -> None:
    """Do nothing: functions that run as Python can be debugged as they are."""


class Reducer:
    """Functions that make, change and finish a state; see `group_by_reducer`.

    Mirrors ``tf.data.experimental.Reducer``.

    Parameters
    ----------
    init_func
        Gets the key of a group, returns its first state.
    reduce_func
        Gets a state and an element, returns the next state.
    finalize_func
        Gets the last state, the parts of a tuple one by one, returns the element.
    """

    def __init__(
        self,
        init_func: Callable[..., Any],
        reduce_func: Callable[..., Any],
        finalize_func: Callable[..., Any],
    ) -> None:
        self.init_func = init_func
        self.reduce_func = reduce_func
        self.finalize_func = finalize_func


def group_by_reducer(key_func: Callable[..., Any], reducer: Reducer) -> Callable[[Any], Any]:
    """Reduce the elements of each key to one; mirrors ``tf.data.experimental.group_by_reducer``.

    The results come at the end of the input, in the order of the keys. The elements are held until
    then.

    Examples
    --------
    >>> count = tf.data.experimental.Reducer(lambda key: 0, lambda n, x: n + 1, lambda n: n)
    >>> parity = tf.data.experimental.group_by_reducer(lambda x: x % 2, count)
    >>> [n.numpy() for n in tf.data.Dataset.range(5).apply(parity)]
    [np.int32(3), np.int32(2)]
    """

    def reduced(key: Any, group: Any) -> Any:
        state = group.reduce(reducer.init_func(key), reducer.reduce_func)
        parts = state if isinstance(state, tuple) else (state,)
        return Dataset.from_tensors(reducer.finalize_func(*parts))

    return lambda dataset: dataset.group_by_window(key_func, reduced, window_size=2**62)


# Methods of Dataset that are functions for `apply` here.
_APPLIED = (
    "bucket_by_sequence_length",
    "group_by_window",
    "ignore_errors",
    "map_and_batch",
    "rejection_resample",
    "scan",
    "snapshot",
    "take_while",
    "unbatch",
    "unique",
)


_TABLES = ("DatasetInitializer", "SqlDataset", "index_table_from_dataset", "table_from_dataset")


def _applied(name: str) -> Callable[..., Callable[[Any], Any]]:
    """Return a function that makes a transformation out of a method."""

    def make(*args: Any, **kwargs: Any) -> Callable[[Any], Any]:
        return lambda dataset: getattr(dataset, name)(*args, **kwargs)

    make.__name__ = make.__qualname__ = name
    make.__doc__ = f"Make ``Dataset.{name}`` for ``Dataset.apply``."
    return make


def __getattr__(name: str) -> Any:
    if name in _TABLES:
        from . import tables

        return getattr(tables, name)
    if name == "RandomDataset" and hasattr(Dataset, "random"):
        return Dataset.random
    found = getattr(own, name, None)
    if found is None and name in _STATIC and hasattr(Dataset, name):
        return getattr(Dataset, name)
    if found is None and name in _APPLIED and hasattr(Dataset, name):
        return _applied(name)
    if found is None:
        found = getattr(options, name, None)
    if name.startswith("_") or found is None or isinstance(found, types.ModuleType):
        made = None if name.startswith("_") else reader(name)
        return _missing(name) if made is None else made
    if isinstance(found, type) and issubclass(found, OwnDataset):
        return reader(name)
    return wrapped(found) if isinstance(found, types.FunctionType) else found


def __dir__() -> list[str]:
    methods: list[str] = [name for name in (*_STATIC, *_APPLIED) if hasattr(Dataset, name)]
    return sorted(
        {
            *own.__all__,
            *methods,
            *_TABLES,
            *(name for name in globals() if not name.startswith("_")),
        }
    )
