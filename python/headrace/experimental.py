"""Functions that make transformations for `Dataset.apply`; mirrors ``tf.data.experimental``.

Most of them are methods of `Dataset` by now and stay here for code that uses them so.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, SupportsIndex

from .checks import AUTOTUNE, INFINITE_CARDINALITY, UNKNOWN_CARDINALITY
from .dataset import Dataset

__all__ = [
    "AUTOTUNE",
    "INFINITE_CARDINALITY",
    "UNKNOWN_CARDINALITY",
    "cardinality",
    "enumerate_dataset",
    "unbatch",
]


def cardinality(dataset: Dataset[Any]) -> int:
    """Return how many elements `dataset` has; mirrors ``tf.data.experimental.cardinality``.

    Examples
    --------
    >>> cardinality(hr.Dataset.range(3))
    3
    """
    return dataset.cardinality()


def enumerate_dataset(start: SupportsIndex = 0) -> Callable[[Dataset[Any]], Dataset[Any]]:
    """Make `Dataset.enumerate`; mirrors ``tf.data.experimental.enumerate_dataset``.

    Examples
    --------
    >>> list(hr.Dataset.range(1).apply(enumerate_dataset(7)))
    [(np.int64(7), np.int64(0))]
    """
    return lambda dataset: dataset.enumerate(start)


def unbatch() -> Callable[[Dataset[Any]], Dataset[Any]]:
    """Make `Dataset.unbatch`; mirrors ``tf.data.experimental.unbatch``.

    Examples
    --------
    >>> list(hr.Dataset.from_tensors([1, 2]).apply(unbatch()))
    [np.int64(1), np.int64(2)]
    """
    return lambda dataset: dataset.unbatch()
