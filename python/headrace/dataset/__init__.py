"""Datasets: pipelines as immutable plans.

Each method checks its arguments, works out what its elements look like and how many there are, and
returns a new plan; nothing is read until iteration. Names, arguments and behaviour are those of
``tf.data.Dataset``; elements are NumPy arrays, NumPy scalars, ``bytes`` and ``str``.

`Dataset` is put together from classes of methods on one subject each.
"""

from __future__ import annotations

from collections.abc import Callable
from types import FunctionType

from ..checks import AUTOTUNE, INFINITE_CARDINALITY, UNKNOWN_CARDINALITY
from .batching import Batching
from .combining import Combining
from .functions import Functions
from .grouping import Grouping
from .keeping import Keeping
from .order import Order
from .running import Running
from .sources import Sources
from .step import R, T_co, dataset_of_plan, make_step

__all__ = [
    "AUTOTUNE",
    "INFINITE_CARDINALITY",
    "UNKNOWN_CARDINALITY",
    "Dataset",
    "dataset_of_plan",
    "make_step",
]


class Dataset(
    Sources,
    Functions[T_co],
    Order[T_co],
    Batching[T_co],
    Grouping[T_co],
    Combining[T_co],
    Keeping[T_co],
    Running[T_co],
):
    """A pipeline that yields elements; mirrors ``tf.data.Dataset``.

    Make one with a source (`range`, `from_tensors`, `from_tensor_slices`, `from_generator`,
    `TFRecordDataset`), then chain transformations. Iterating starts a run; each run is its own.
    Elements are nests of components: tuples, dicts, namedtuples, dataclasses and attrs classes are
    structure, a list is one tensor.

    Examples
    --------
    >>> dataset = hr.Dataset.range(5).map(lambda x: x * 2).batch(3)
    >>> for batch in dataset:
    ...     print(batch)
    [0 2 4]
    [6 8]
    """

    __slots__ = ()

    def __init__(self) -> None:
        raise TypeError("make a dataset with a source such as headrace.Dataset.range(10)")

    def apply(self, transformation_func: Callable[[Dataset[T_co]], Dataset[R]]) -> Dataset[R]:
        """Return ``transformation_func(self)``; mirrors ``tf.data.Dataset.apply``.

        Parameters
        ----------
        transformation_func
            A function from dataset to dataset.

        Raises
        ------
        TypeError
            It returns something else.

        Examples
        --------
        >>> len(hr.Dataset.range(9).apply(lambda dataset: dataset.batch(4)))
        3
        """
        result = transformation_func(self)
        if not isinstance(result, Dataset):
            raise TypeError(
                f"`transformation_func` must return a headrace.Dataset object. Got {type(result)}."
            )
        return result


def _claim_methods() -> None:
    """Let the methods be those of `Dataset` in errors of Python, in pickles and in `help`."""
    for kind in Dataset.__mro__[:-2]:
        for entry in vars(kind).values():
            function = getattr(entry, "__func__", entry)
            if isinstance(function, FunctionType):
                function.__module__ = __name__
                function.__qualname__ = f"Dataset.{function.__name__}"


_claim_methods()
