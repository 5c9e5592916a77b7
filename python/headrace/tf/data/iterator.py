"""Iterators of ``tf.data``: they yield tensors, or NumPy's values."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ... import iterator as own
from ...errors import OutOfRangeError
from ...nest import map_structure
from ...ops import refuse_in_trace, tracing
from ..bridge import from_own_nest
from ..tensor import Tensor, raw

if TYPE_CHECKING:
    from ...report import LossReport
    from ...stats import IteratorStats
    from .dataset import Dataset

__all__ = ["Iterator", "NumpyIterator"]


class Iterator(own.Iterator[Any]):
    """One run of a dataset, which yields tensors; mirrors ``tf.data.Iterator``.

    Examples
    --------
    >>> numbers = iter(tf.data.Dataset.range(2))
    >>> numbers.get_next().numpy(), next(numbers).numpy()
    (np.int64(0), np.int64(1))
    """

    _dataset: Dataset
    _checkpointable = False
    # The run that took this one's place when a state was restored.
    _moved: Iterator | None = None

    def __iter__(self) -> Iterator:
        return self

    def __next__(self) -> Any:
        if tracing.tracer is not None:
            return self._stand_in()
        if self._moved is not None:
            return next(self._moved)
        return from_own_nest(super().__next__())

    def restore(self, state: str) -> None:
        """Go on from where a run of the dataset was when its `state` was asked for.

        Examples
        --------
        >>> numbers = iter(tf.data.Dataset.range(3))
        >>> state = numbers.state()
        >>> first = next(numbers)
        >>> numbers.restore(state)
        >>> next(numbers) == first
        <tf.Tensor: shape=(), dtype=bool, numpy=True>
        """
        moved = self._dataset.iterator(state, checkpointable=self._checkpointable)
        self.close()
        self._moved = moved

    def state(self) -> str:
        """Return where the run is; see `headrace.Iterator.state`."""
        return super().state() if self._moved is None else self._moved.state()

    def stats(self) -> IteratorStats:
        """Return counters of each step; see `headrace.Iterator.stats`."""
        return super().stats() if self._moved is None else self._moved.stats()

    def report(self) -> LossReport:
        """Return what the run has left out; see `headrace.Iterator.report`."""
        return super().report() if self._moved is None else self._moved.report()

    def close(self) -> None:
        """End the run; see `headrace.Iterator.close`."""
        super().close()
        if self._moved is not None:
            self._moved.close()

    def _stand_in(self) -> Any:
        """Return symbols for the next element: a function takes it anew at each call."""
        tracer: Any = tracing.tracer
        if not hasattr(tracer, "stand_in"):
            refuse_in_trace("takes an element of an iterator")
        tracer.doubt("takes an element of an iterator")

        def make(spec: Any) -> Any:
            return tracer.stand_in("Iterator.get_next", spec)

        return map_structure(make, self._dataset._plan.element_spec)

    @property
    def element_spec(self) -> Any:
        """What elements look like."""
        return self._dataset.element_spec

    def get_next_as_optional(self) -> Any:
        """Return the next element as an optional, empty at the end."""
        from .optional import Optional

        try:
            return Optional.from_value(self.get_next())
        except OutOfRangeError:
            return Optional.empty(self.element_spec)


class NumpyIterator:
    """One run of a dataset, which yields NumPy's values; mirrors ``tf.data.NumpyIterator``.

    Examples
    --------
    >>> numbers = tf.data.Dataset.range(3).as_numpy_iterator()
    >>> saved = numbers.save()
    >>> next(numbers), next(numbers)
    (np.int64(0), np.int64(1))
    >>> numbers.restore(saved)
    >>> list(numbers)
    [np.int64(0), np.int64(1), np.int64(2)]
    """

    def __init__(self, dataset: Dataset) -> None:
        self._dataset = dataset
        self._iterator: Iterator = dataset.iterator()

    def __iter__(self) -> NumpyIterator:
        return self

    def __next__(self) -> Any:
        return map_structure(_to_numpy, next(self._iterator))

    def next(self) -> Any:
        """Return the next element."""
        return self.__next__()

    def state(self) -> str:
        """Return where the run is; see `headrace.Iterator.state`."""
        return self._iterator.state()

    save = state

    def restore(self, state: str) -> None:
        """Go on from where a run of the dataset was when it gave `state`."""
        self._iterator.restore(state)

    def report(self) -> LossReport:
        """Return what the run has left out; see `headrace.Iterator.report`."""
        return self._iterator.report()

    def close(self) -> None:
        """End the run; see `headrace.Iterator.close`."""
        self._iterator.close()

    def __repr__(self) -> str:
        return f"NumpyIterator(iterator={self._iterator!r})"


def _to_numpy(leaf: Any) -> Any:
    found = leaf.numpy() if type(leaf) is Tensor or hasattr(leaf, "numpy") else leaf
    if isinstance(found, np.ndarray):
        found.setflags(write=False)
    return raw(found)
