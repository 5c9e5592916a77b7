"""Which elements come, how often, and in which order."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, Literal, SupportsIndex, overload

import numpy as np

from .. import checks
from ..checks import AUTOTUNE, UNKNOWN_CARDINALITY
from ..errors import InvalidArgumentError
from ..seeds import seed_pair
from .step import Step, T_co

if TYPE_CHECKING:
    from . import Dataset

__all__ = ["Order"]


class Order(Step[T_co]):
    """The methods of `Dataset` that leave elements as they are."""

    __slots__ = ()

    def take(self, count: SupportsIndex, name: str | None = None) -> Dataset[T_co]:
        """Yield the first `count` elements; mirrors ``tf.data.Dataset.take``.

        Above a reshuffling `shuffle`, each run takes other elements.

        Parameters
        ----------
        count
            Negative: all.
        name
            Accepted for tf.data's sake.

        Examples
        --------
        >>> list(hr.Dataset.range(10).take(2))
        [np.int64(0), np.int64(1)]
        """
        return self._derive("take", count=checks.integer("count", count))

    def skip(self, count: SupportsIndex, name: str | None = None) -> Dataset[T_co]:
        """Leave out the first `count` elements; mirrors ``tf.data.Dataset.skip``.

        A `map` further up does not run its function for elements that are skipped, so their errors
        do not show; in tf.data they do.

        Parameters
        ----------
        count
            Negative: all.
        name
            Accepted for tf.data's sake.

        Examples
        --------
        >>> list(hr.Dataset.range(4).skip(2))
        [np.int64(2), np.int64(3)]
        """
        return self._derive("skip", count=checks.integer("count", count))

    @overload
    def shard(
        self,
        num_shards: SupportsIndex,
        index: SupportsIndex,
        name: str | None = None,
        *,
        equal: Literal["drop", "wrap"] | None = None,
    ) -> Dataset[T_co]: ...
    @overload
    def shard(
        self,
        num_shards: SupportsIndex,
        index: SupportsIndex,
        name: str | None = None,
        *,
        equal: Literal["mask"],
    ) -> Dataset[tuple[T_co, np.bool]]: ...
    def shard(
        self,
        num_shards: SupportsIndex,
        index: SupportsIndex,
        name: str | None = None,
        *,
        equal: Literal["drop", "wrap", "mask"] | None = None,
    ) -> Dataset[Any]:
        """Yield every `num_shards`-th element, from `index` on; mirrors ``tf.data.Dataset.shard``.

        Put it before what is costly: the steps before it run for all elements.

        Parameters
        ----------
        num_shards
            How many shards the elements are dealt out to.
        index
            Which of them this is, from 0.
        name
            Accepted for tf.data's sake.
        equal
            Makes all shards equally long where the number of elements is no multiple of
            `num_shards`: ``"drop"`` leaves the last ones out, ``"wrap"`` gives the shards that lack
            one an element from the start, and ``"mask"`` yields pairs of the element and whether
            it is the shard's own, where ``"wrap"`` yields the element. ``None``: some have one
            element more, as in tf.data.

        Raises
        ------
        InvalidArgumentError
            `num_shards` is below 1, or `index` is not from 0 to ``num_shards - 1``.

        Examples
        --------
        >>> list(hr.Dataset.range(7).shard(3, 1))
        [np.int64(1), np.int64(4)]
        >>> [len(hr.Dataset.range(7).shard(3, i, equal="wrap")) for i in range(3)]
        [3, 3, 3]
        >>> list(hr.Dataset.range(7).shard(3, 1, equal="mask"))[-1]
        (np.int64(0), np.False_)
        """
        count, number = checks.shard(num_shards, index)
        if equal == "mask":
            # Where an element was taken a second time, its number is not the one that is due.
            numbered = self.enumerate().shard(count, number, equal="wrap").enumerate()
            return numbered.map(partial(_own_of_shard, count, number))
        if equal not in (None, "drop", "wrap"):
            raise InvalidArgumentError(
                f'`equal` must be None, "drop", "wrap" or "mask", got {equal!r}'
            )
        return self._derive("shard", num_shards=count, index=number, equal=equal)

    def repeat(self, count: SupportsIndex | None = None, name: str | None = None) -> Dataset[T_co]:
        """Yield the elements `count` times over; mirrors ``tf.data.Dataset.repeat``.

        Parameters
        ----------
        count
            ``None`` or negative: without end. Repeating an empty dataset ends at once.
        name
            Accepted for tf.data's sake.

        Raises
        ------
        TypeError
            `count` is not an integer.

        Examples
        --------
        >>> len(hr.Dataset.range(3).repeat(2))
        6
        """
        times = -1 if count is None else checks.integer("count", count)
        return self._derive("repeat", count=times)

    def shuffle(
        self,
        buffer_size: SupportsIndex | None,
        seed: SupportsIndex | None = None,
        reshuffle_each_iteration: bool | None = True,
        name: str | None = None,
    ) -> Dataset[T_co]:
        """Yield the elements in random order; mirrors ``tf.data.Dataset.shuffle``.

        The order is tf.data's, bit for bit: `buffer_size` elements are held, one of them is drawn
        and replaced by the next. With a buffer smaller than the data, sorted data stays sorted
        roughly. The seed generator belongs to this dataset: a second run over it, or over
        anything built on it, has another order.

        Parameters
        ----------
        buffer_size
            How many elements to hold; `UNKNOWN_CARDINALITY` for all. ``None`` has the order of
            holding all, but only numbers are held: elements are made when they are drawn, which
            takes random access (`from_tensor_slices`, `from_source`, `range`, `load`,
            `TFRecordDataset` with an index, and `map`, `zip` and the like above them); right above
            an index, records are read in the order in which they lie, some megabytes at a time. An
            element that fails is an error in its place of the order. tf.data has nothing of the
            kind.
        seed
            An integer; ``None`` draws from `set_seed`'s sequence, or from the system.
        reshuffle_each_iteration
            ``False``: every run has the same order.
        name
            Accepted for tf.data's sake.

        Raises
        ------
        InvalidArgumentError
            `buffer_size` is 0 or negative.
        UnimplementedError
            `buffer_size` is ``None`` and a step has no random access.

        Examples
        --------
        >>> shuffled = hr.Dataset.range(5).shuffle(5, seed=1)
        >>> first, second = list(shuffled), list(shuffled)
        >>> sorted(first) == sorted(second), first == second
        (True, False)
        """
        reshuffle = True if reshuffle_each_iteration is None else reshuffle_each_iteration
        again = checks.flag("reshuffle_each_iteration", reshuffle)
        if buffer_size is None:
            return self._derive("shuffle", buffer_size=None, seeds=seed_pair(seed), reshuffle=again)
        size = checks.integer("buffer_size", buffer_size)
        if size <= 0 and size != UNKNOWN_CARDINALITY:
            raise InvalidArgumentError(
                f"buffer_size must be greater than zero or UNKNOWN_CARDINALITY. Got {size}."
            )
        return self._derive("shuffle", buffer_size=size, seeds=seed_pair(seed), reshuffle=again)

    def unique(self, name: str | None = None) -> Dataset[T_co]:
        """Leave out elements that came before; mirrors ``tf.data.Dataset.unique``.

        All different elements are remembered: `Iterator.stats` tells in ``held_bytes`` what they
        take.

        Parameters
        ----------
        name
            Accepted for tf.data's sake.

        Raises
        ------
        TypeError
            The elements are not one component of int32, int64 or text.

        Examples
        --------
        >>> list(hr.Dataset.from_tensor_slices(["a", "b", "a"]).unique())
        ['a', 'b']
        """
        checks.comparable(self._plan.element_spec)
        return self._derive("unique")

    def enumerate(
        self, start: SupportsIndex = 0, name: str | None = None
    ) -> Dataset[tuple[np.int64, T_co]]:
        """Pair each element with its number; mirrors ``tf.data.Dataset.enumerate``.

        Parameters
        ----------
        start
            The first number, int64.
        name
            Accepted for tf.data's sake.

        Examples
        --------
        >>> list(hr.Dataset.from_tensor_slices(["a"]).enumerate(start=7))
        [(np.int64(7), 'a')]
        """
        return self._derive("enumerate", start=checks.integer("start", start))

    def prefetch(self, buffer_size: SupportsIndex | None, name: str | None = None) -> Dataset[T_co]:
        """Make elements ahead of demand; mirrors ``tf.data.Dataset.prefetch``.

        Parameters
        ----------
        buffer_size
            How many elements; 0 for none, `AUTOTUNE` or ``None`` lets headrace choose.
        name
            Accepted for tf.data's sake.

        Raises
        ------
        InvalidArgumentError
            `buffer_size` is below -1.

        Examples
        --------
        >>> len(list(hr.Dataset.range(3).prefetch(2)))
        3
        """
        size = AUTOTUNE if buffer_size is None else checks.integer("buffer_size", buffer_size)
        if size < 0 and size != AUTOTUNE:
            raise InvalidArgumentError(
                f"buffer_size must be at least 0, or AUTOTUNE ({AUTOTUNE}). Got {size}."
            )
        return self._derive("prefetch", buffer_size=size)


def _own_of_shard(count: int, index: int, place: Any, numbered: tuple[Any, Any]) -> Any:
    """Return an element of a shard, and whether its number is the one that is due in its place."""
    number, element = numbered
    return element, number == place * count + index
