"""Several datasets as one: side by side, one after another, mixed, and datasets of elements."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, SupportsIndex, overload

import numpy as np

from .. import checks
from ..function import Function
from ..seeds import seed_pair
from .step import A, B, C, R, Step, T_co, make_step

if TYPE_CHECKING:
    from . import Dataset

__all__ = ["Combining"]


class Combining(Step[T_co]):
    """The methods of `Dataset` that make one dataset of several."""

    __slots__ = ()

    @overload
    @staticmethod
    def zip(first: Dataset[A], /) -> Dataset[A]: ...
    @overload
    @staticmethod
    def zip(first: Dataset[A], second: Dataset[B], /) -> Dataset[tuple[A, B]]: ...
    @overload
    @staticmethod
    def zip(
        first: Dataset[A], second: Dataset[B], third: Dataset[C], /
    ) -> Dataset[tuple[A, B, C]]: ...
    @overload
    @staticmethod
    def zip(*args: Any, datasets: Any = None, name: str | None = None) -> Dataset[Any]: ...
    @staticmethod
    def zip(*args: Any, datasets: Any = None, name: str | None = None) -> Dataset[Any]:
        """Yield elements of several datasets side by side; mirrors ``tf.data.Dataset.zip``.

        It ends with the shortest.

        Parameters
        ----------
        *args
            Datasets, or one nest of datasets: ``zip(a, b)``, ``zip((a, b))``, ``zip({"x": a})``.
        datasets
            The nest, by name.
        name
            Accepted for tf.data's sake.

        Raises
        ------
        TypeError
            No dataset, a list, or something that is not a dataset.

        Examples
        --------
        >>> numbers = hr.Dataset.range(2)
        >>> list(hr.Dataset.zip(numbers, numbers.skip(1)))
        [(np.int64(0), np.int64(1))]
        """
        return make_step("zip", checks.zip_inputs(args, datasets))

    def concatenate(self, dataset: Dataset[Any], name: str | None = None) -> Dataset[Any]:
        """Yield another dataset after this one; mirrors ``tf.data.Dataset.concatenate``.

        Parameters
        ----------
        dataset
            Its elements have the same structure and dtypes; shapes may differ.
        name
            Accepted for tf.data's sake.

        Raises
        ------
        TypeError
            Structure or dtypes differ.

        Examples
        --------
        >>> list(hr.Dataset.range(1).concatenate(hr.Dataset.range(2)))
        [np.int64(0), np.int64(0), np.int64(1)]
        """
        if not isinstance(dataset, Step):
            raise TypeError(f"`dataset` must be a Dataset, got {dataset!r}")
        checks.same_elements(self._plan.element_spec, dataset._plan.element_spec)
        return make_step("concatenate", (self, dataset))

    @staticmethod
    def choose_from_datasets(
        datasets: Iterable[Dataset[R]],
        choice_dataset: Dataset[Any],
        stop_on_empty_dataset: bool = True,
    ) -> Dataset[R]:
        """Yield from the dataset that another names.

        Mirrors ``tf.data.Dataset.choose_from_datasets``.

        Parameters
        ----------
        datasets
            Their elements have the same structure and dtypes; shapes may differ.
        choice_dataset
            Yields int64 scalars: the number of the dataset from which the next element comes.
        stop_on_empty_dataset
            End at the first choice of a dataset that has no more; otherwise such choices are passed
            over.

        Raises
        ------
        ValueError
            `datasets` is empty.
        TypeError
            Elements differ in structure or dtypes, or choices are not int64 scalars.
        InvalidArgumentError
            During iteration, a choice that is no number of a dataset.

        Examples
        --------
        >>> tens = hr.Dataset.range(10, 20)
        >>> choices = hr.Dataset.range(2).repeat(2)
        >>> mix = hr.Dataset.choose_from_datasets([hr.Dataset.range(9), tens], choices)
        >>> [int(x) for x in mix]
        [0, 10, 1, 11]
        """
        sources = checks.mixed(datasets)
        return make_step(
            "choose_from_datasets",
            (sources, checks.choices(choice_dataset)),
            stop_on_empty=checks.flag("stop_on_empty_dataset", stop_on_empty_dataset),
        )

    @staticmethod
    def sample_from_datasets(
        datasets: Iterable[Dataset[R]],
        weights: Any = None,
        seed: SupportsIndex | None = None,
        stop_on_empty_dataset: bool = False,
        rerandomize_each_iteration: bool | None = None,
    ) -> Dataset[R]:
        """Yield from datasets drawn at random; mirrors ``tf.data.Dataset.sample_from_datasets``.

        The draws are tf.data's. ``iterator.stats()`` tells how many elements came from each.

        Parameters
        ----------
        datasets
            Their elements have the same structure and dtypes; shapes may differ.
        weights
            How often each is drawn: one float a dataset, or a dataset of float vectors, one for
            each draw. ``None``: all alike. A dataset of weight 0 is left out.
        seed
            An integer; ``None`` draws from `set_seed`'s sequence, or from the system.
        stop_on_empty_dataset
            End at the first draw of a dataset that has no more; otherwise the others go on.
        rerandomize_each_iteration
            ``True``: each run draws anew; otherwise all draw the same.

        Raises
        ------
        ValueError
            `datasets` is empty, or `weights` has another length.
        TypeError
            Elements differ in structure or dtypes, or weights are not float32 or float64.

        Examples
        --------
        >>> sources = [hr.Dataset.range(3), hr.Dataset.range(10, 13)]
        >>> [int(x) for x in hr.Dataset.sample_from_datasets(sources, [0.5, 0.5], seed=1)]
        [10, 0, 1, 2, 11, 12]
        """
        sources: tuple[Dataset[R], ...] = checks.mixed(datasets)
        stop = checks.flag("stop_on_empty_dataset", stop_on_empty_dataset)
        again = rerandomize_each_iteration
        each = weights if isinstance(weights, Step) else None
        logits: list[float] = []
        if weights is None:
            logits = [1.0] * len(sources)
        elif each is None:
            array = checks.weights(weights, len(sources))
            drawn = tuple(s for s, weight in zip(sources, array, strict=True) if weight > 0)
            if not drawn:
                return sources[0].take(0)
            sources = drawn
            logits = [float(logit) for logit in np.log(array[array > 0])]
        if each is None and len(sources) == 1:
            return sources[0]
        return make_step(
            "sample_from_datasets",
            (sources, each),
            logits=logits,
            seeds=seed_pair(seed),
            rerandomize=again is not None and checks.flag("rerandomize_each_iteration", again),
            stop_on_empty=stop,
        )

    def flat_map(self, map_func: Callable[..., Dataset[R]], name: str | None = None) -> Dataset[R]:
        """Yield the elements of the datasets made of each; mirrors ``tf.data.Dataset.flat_map``.

        Parameters
        ----------
        map_func
            Gets arguments as the function of `map` does; returns a `Dataset`. It is called once
            for each element, when the turn of its dataset comes.
        name
            Accepted for tf.data's sake.

        Raises
        ------
        TypeError
            `map_func` returns something else.

        Examples
        --------
        >>> lengths = hr.Dataset.range(1, 4)
        >>> list(lengths.flat_map(lambda n: hr.Dataset.from_tensors(n).repeat(n)))[:3]
        [np.int64(1), np.int64(2), np.int64(2)]
        """
        return self._derive("flat_map", function=Function(map_func, returns="map_func"))

    def interleave(
        self,
        map_func: Callable[..., Dataset[R]],
        cycle_length: SupportsIndex | None = None,
        block_length: SupportsIndex | None = None,
        num_parallel_calls: int | None = None,
        deterministic: bool | None = None,
        name: str | None = None,
    ) -> Dataset[R]:
        """Yield from several of the datasets made; mirrors ``tf.data.Dataset.interleave``.

        Parameters
        ----------
        map_func
            See `flat_map`.
        cycle_length
            How many datasets are open at a time; ``None`` or `AUTOTUNE`: one per core, so give a
            number where the order matters.
        block_length
            How many elements come from one dataset before the turn passes on; ``None``: 1.
        num_parallel_calls
            How many datasets are made and read ahead side by side; `AUTOTUNE`: as many of the cycle
            as bring more elements; ``None``: each is read when its turn comes. An element that
            fails, or a dataset that cannot be made, then counts as one of `block_length`, as in
            tf.data.
        deterministic
            ``False``: a dataset that has an element ready may come before its turn. ``None``: what
            the options say.
        name
            Accepted for tf.data's sake.

        Raises
        ------
        InvalidArgumentError
            A length or `num_parallel_calls` is 0 or negative.
        TypeError
            `map_func` returns something else than a `Dataset`.

        Examples
        --------
        >>> tens = hr.Dataset.range(10, 40, 10)
        >>> mixed = tens.interleave(lambda n: hr.Dataset.range(n, n + 3), 2, block_length=2)
        >>> [x.item() for x in mixed]
        [10, 11, 20, 21, 12, 22, 30, 31, 32]
        """
        checks.within_cycle(cycle_length, num_parallel_calls)
        return self._derive(
            "interleave",
            function=Function(map_func, returns="map_func"),
            cycle_length=None
            if cycle_length is None
            else checks.size("cycle_length", cycle_length),
            block_length=None
            if block_length is None
            else checks.size("block_length", block_length),
            num_parallel_calls=checks.parallelism("num_parallel_calls", num_parallel_calls),
            deterministic=deterministic,
        )
