"""Iterators: one run of a pipeline."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Generic, Self, TypeVar

from . import _headrace
from .errors import OutOfRangeError
from .optional import Optional
from .stats import IteratorStats

if TYPE_CHECKING:
    from .report import LossReport

__all__ = ["Iterator"]

T_co = TypeVar("T_co", covariant=True)


class Iterator(_headrace.Iterator, Generic[T_co]):
    """One run of a dataset; mirrors ``tf.data.Iterator`` and ``tf.data.NumpyIterator``.

    Made by ``iter(dataset)`` or `Dataset.iterator`. Safe to share between threads: each element is
    delivered once. An element that fails raises; the next call goes on with the element after it.
    Work ahead stops when the iterator is closed or dropped. Ctrl-C, or another exception of a
    signal handler, that comes while an element is waited for closes the iterator; between two
    elements it leaves it as it is.

    A forked child cannot use an iterator of its parent's, which raises `FailedPreconditionError`
    there; datasets can be iterated over in any process.

    Raises
    ------
    StopIteration
        At the end, and at every further call.

    Examples
    --------
    >>> with hr.Dataset.range(4).iterator() as numbers:
    ...     first = next(numbers)
    ...     state = numbers.state()
    >>> first, list(hr.Dataset.range(4).iterator(state=state))
    (np.int64(0), [np.int64(1), np.int64(2), np.int64(3)])
    """

    # The engine's own methods are not wrapped: a Python frame would cost more than an element.
    if TYPE_CHECKING:

        def __iter__(self) -> Self: ...

        def __next__(self) -> T_co: ...

    def next(self) -> T_co:
        """Return the next element; the twin of ``NumpyIterator.next``."""
        return self.__next__()

    def get_next(self) -> T_co:
        """Return the next element.

        Raises
        ------
        OutOfRangeError
            At the end.

        Examples
        --------
        >>> hr.Dataset.range(1).iterator().get_next()
        np.int64(0)
        """
        try:
            return self.__next__()
        except StopIteration:
            raise OutOfRangeError("End of sequence") from None

    def get_next_as_optional(self) -> Optional[T_co]:
        """Return the next element as an `Optional`, without a value at the end.

        Mirrors ``tf.data.Iterator.get_next_as_optional``.

        Examples
        --------
        >>> hr.Dataset.range(0).iterator().get_next_as_optional().has_value()
        False
        """
        try:
            return Optional.from_value(self.__next__())
        except StopIteration:
            return Optional.empty(self.element_spec)

    @property
    def element_spec(self) -> Any:
        """What elements look like, see `Dataset.element_spec`."""
        return super().element_spec

    def state(self) -> str:
        """Return where the run is, as JSON text: at most 4 KiB for usual pipelines, never 256 KiB.

        `Dataset.iterator` goes on from it, in this process or another, on a dataset built the same
        way. It counts what was handed out, not what was read ahead; buffers are not in it, resuming
        refills them. It can be had before the first element, after an error, and at the end.

        Raises
        ------
        FailedPreconditionError
            The order is not fixed: a step has ``deterministic=False``, see ``checkpointable`` of
            `Dataset.iterator`; or a source is live.
        ResourceExhaustedError
            It would be longer than 256 KiB.
        CancelledError
            The iterator was closed.

        Examples
        --------
        >>> numbers = hr.Dataset.range(4).iterator()
        >>> isinstance(numbers.state(), str)
        True
        """
        return super().state()

    def stats(self) -> IteratorStats:
        """Return counters of each step, the last step first: a list of dicts, a table as text.

        Of each step: its ``"name"``, its ``"depth"`` in the tree of steps, the ``"elements"`` it
        handed on; nanoseconds in which it worked (``"busy_ns"``, of all its tasks together), waited
        for elements (``"input_wait_ns"``), and stood still because nobody took what it had made
        (``"output_wait_ns"``). ``"held_bytes"`` and ``"peak_bytes"`` are what it holds because its
        meaning requires it (`Dataset.shuffle`, say), now and at most; ``"queued_bytes"`` and
        ``"peak_queued_bytes"`` what it has made ahead of the step after it. The outermost step
        tells what all buffers of the iterator take together, those of nested datasets included, in
        ``"total_bytes"`` and ``"peak_total_bytes"``, and what they may take in ``"ram_budget"``
        (`AutotuneOptions`).

        Of the last second or two: ``"elements_per_second"``; ``"load"``, the part of the time in
        which it was busy, for each of its tasks; ``"limiting"``, true of the step that holds up the
        run. If the user's own code takes longer than any step, that is true of none.

        Steps that run ahead tell how many tasks they may have now (``"parallelism"``) and at most
        (``"max_parallelism"``), how far they may run ahead now (``"window"``) and at most
        (``"max_window"``), how much of that is in use (``"queued"``), and how long others waited
        for them (``"starved_ns"``). `AUTOTUNE` moves the numbers that are below their most.
        Windows count chunks of elements, or elements where a Python function gets them one by one.

        Steps that mix datasets tell in ``"shares"`` how many elements they took from each; what
        they read ahead of the user counts.

        Returns
        -------
        IteratorStats
            A list; ``print`` shows it as a table, `IteratorStats.limiting` names the step that
            holds up the run.

        Examples
        --------
        >>> numbers = iter(hr.Dataset.range(9).map(lambda x: x + 1, num_parallel_calls=2))
        >>> _ = list(numbers)
        >>> numbers.stats()[1]["name"], numbers.stats()[1]["elements"]
        ('map', 9)

        >>> sources = [hr.Dataset.range(3), hr.Dataset.range(5)]
        >>> mix = iter(hr.Dataset.sample_from_datasets(sources, seed=1))
        >>> len(list(mix)), mix.stats()[0]["shares"]
        (8, [3, 5])
        """
        return IteratorStats(super().stats())

    def report(self) -> LossReport:
        """Return which damaged places of files the run has left out so far.

        There are some where a reader was told to go on: `TFRecordDataset` with
        ``on_corruption="skip"``. What steps read ahead of the user counts. A run that goes on from
        a state reports what it meets on its way there, too. `stats` has the counts of each step, in
        ``"lost"`` and ``"lost_bytes"``.

        Examples
        --------
        >>> iter(hr.Dataset.range(3)).report().count
        0
        """
        from .report import loss_report

        return loss_report(*self.losses())

    def close(self) -> None:
        """End the run: cancel work ahead, close files and generators, and wait for that.

        A closed iterator is at its end. Closing twice does nothing.
        """
        super().close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def __reduce__(self) -> Any:
        raise TypeError(
            "an iterator cannot be pickled; pickle the dataset and iterator.state(), and go on "
            "with dataset.iterator(state=...)"
        )
