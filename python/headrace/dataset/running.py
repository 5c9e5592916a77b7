"""Elements as the user gets them, and what can be said of them before a run."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice
from typing import TYPE_CHECKING, Any, SupportsIndex, cast

import numpy as np

from .. import _headrace, checks, length
from ..checks import INFINITE_CARDINALITY, UNKNOWN_CARDINALITY
from ..errors import HeadraceError, InvalidArgumentError
from ..iterator import Iterator
from ..nest import flatten
from ..ops import refuse_in_trace
from ..options import Options
from ..standin import element_in_trace
from .step import Step, T_co, class_name, make_step

if TYPE_CHECKING:
    from . import Dataset

__all__ = ["Running"]


class Running(Step[T_co]):
    """The methods of `Dataset` that start runs or say how, and those that tell of the plan."""

    __slots__ = ()

    def with_options(self, options: Options, name: str | None = None) -> Dataset[T_co]:
        """Return the dataset with options merged in; mirrors ``tf.data.Dataset.with_options``.

        Parameters
        ----------
        options
            Where they and earlier ones both say something, these win.
        name
            Accepted for tf.data's sake.

        Examples
        --------
        >>> hr.Dataset.range(3).with_options(hr.Options(deterministic=False)).options()
        Options(deterministic=False)
        """
        if not isinstance(options, Options):
            raise TypeError(f"`options` must be an Options, got {options!r}")
        return make_step("with_options", (self,), options=Options().merge(options))

    def options(self) -> Options:
        """Return the options of this dataset and its inputs, merged; mirrors ``tf.data``'s.

        They cannot be changed: `with_options` sets others.

        Examples
        --------
        >>> hr.Dataset.range(3).options()
        Options()
        """
        merged = self._merged_options()._freeze()
        assert isinstance(merged, Options)
        return merged

    def _merged_options(self) -> Options:
        merged = Options()
        for options in self._given_options():
            merged = merged.merge(options)
        return merged

    def _given_options(self) -> list[Options]:
        """Return the options of all steps, the first step first."""
        # From the last that speaks to the first; plans may be deeper than Python's stack.
        said: list[Options] = []
        pending: list[Step[Any]] = [self]
        seen: set[int] = set()
        while pending:
            dataset = pending.pop()
            if id(dataset) not in seen:
                seen.add(id(dataset))
                said += [] if dataset._options is None else [dataset._options]
                pending += flatten(dataset._inputs)
        return said[::-1]

    def __iter__(self) -> Iterator[T_co]:
        iterator = self.iterator()
        length.note_iteration()
        return iterator

    def iterator(
        self, state: str | Sequence[str] | None = None, *, checkpointable: bool = False
    ) -> Iterator[T_co]:
        """Start a run, from the beginning or from where another run was.

        This is the one way to load a state: an iterator that has begun cannot be moved.

        Parameters
        ----------
        state
            What `Iterator.state` gave, in this process or another, of a dataset built the same way.
            Parallelism, prefetching and options may differ. A list of the states of all shards of
            a job, in the order of their index, goes on as one shard of another number of them: what
            no shard has read yet is divided anew. Only `map`, `batch`, `prefetch` and `repeat` may
            then be above `shard`, and the shards must have read the same number of elements.
        checkpointable
            The order is kept even where ``deterministic=False`` lets elements come as they get
            ready, so that the run has states.

        Raises
        ------
        InvalidArgumentError
            The state is of another pipeline, the text names the difference; or it is none.
        FailedPreconditionError
            One of the files that the run had opened last has changed since.

        Examples
        --------
        >>> numbers = iter(hr.Dataset.range(3))
        >>> next(numbers)
        np.int64(0)
        >>> list(hr.Dataset.range(3).iterator(numbers.state()))
        [np.int64(1), np.int64(2)]
        """
        refuse_in_trace("iterates over a dataset")
        if state is not None and not isinstance(state, str):
            state = _headrace.reshard(self._plan, list(state))
        # Making options only to see that they say nothing takes longer than opening a plan.
        options = self._merged_options().to_json() if self._given_options() else "{}"
        return Iterator(self._plan, options, state, checkpointable)

    def as_numpy_iterator(self) -> Iterator[T_co]:
        """Start a run; mirrors ``tf.data.Dataset.as_numpy_iterator``.

        The same as ``iter(dataset)``: elements are NumPy's anyway.

        Examples
        --------
        >>> next(hr.Dataset.range(3).as_numpy_iterator())
        np.int64(0)
        """
        return self.iterator()

    def get_single_element(self, name: str | None = None) -> T_co:
        """Return the only element; mirrors ``tf.data.Dataset.get_single_element``.

        Parameters
        ----------
        name
            Accepted for tf.data's sake.

        Raises
        ------
        InvalidArgumentError
            There is none, or more than one.

        Examples
        --------
        >>> hr.Dataset.range(3).batch(3).get_single_element()
        array([0, 1, 2])
        """
        stood: Any = element_in_trace("get_single_element", self._plan.element_spec)
        if stood is not None:
            return stood  # type: ignore[no-any-return]
        with self.iterator() as iterator:
            elements = list(islice(iterator, 2))
        if len(elements) != 1:
            many = "had more than one element" if elements else "was empty"
            raise InvalidArgumentError(f"Dataset {many}.")
        return elements[0]

    def __getitem__(self, index: SupportsIndex) -> T_co:
        """Return element `index` without making those before it; see `headrace.experimental.at`.

        A negative `index` counts from the end. Functions are called for this element only.

        Raises
        ------
        OutOfRangeError
            There is no such element; it is an ``IndexError``.
        UnimplementedError
            A step of the pipeline has to run through its elements, such as `filter`.

        Examples
        --------
        >>> squares = hr.Dataset.range(10).map(lambda x: x * x).batch(3)
        >>> squares[1], squares[-1]
        (array([ 9, 16, 25]), array([81]))
        """
        number = checks.integer("index", index)
        if number < 0:
            number += max(0, self._plan.count())
        return self._at(number)

    def _at(self, index: int) -> T_co:
        refuse_in_trace("takes an element of a dataset")
        element: T_co = self._plan.at(index)
        return element

    @property
    def element_spec(self) -> Any:
        """What elements look like: a nest of specs, or `UnknownSpec` where only a run can tell.

        Mirrors ``tf.data.Dataset.element_spec``. Nothing is run to answer it.

        Examples
        --------
        >>> hr.Dataset.range(3).batch(2).element_spec
        TensorSpec(shape=(None,), dtype=int64)
        """
        return self._plan.element_spec

    def cardinality(self) -> int:
        """Return how many elements there are; mirrors ``tf.data.Dataset.cardinality``.

        `INFINITE_CARDINALITY` (-1) and `UNKNOWN_CARDINALITY` (-2) are the other answers.

        Examples
        --------
        >>> hr.Dataset.range(3).cardinality(), hr.Dataset.range(3).repeat().cardinality()
        (3, -1)
        """
        return self._plan.count()

    def __len__(self) -> int:
        try:
            count = self._plan.count(find=not length.is_hint())
        except HeadraceError as error:
            # `list` asks for a length as well, but can do without.
            raise TypeError(f"The dataset length is unknown: {error}") from error
        if count == INFINITE_CARDINALITY:
            raise TypeError("The dataset is infinite.")
        if count == UNKNOWN_CARDINALITY:
            raise TypeError("The dataset length is unknown.")
        return count

    def __bool__(self) -> bool:
        return True

    def fingerprint(self) -> np.uint64:
        """Return 64 bits that tell this pipeline from others; mirrors ``tf.data``'s method.

        The same in every process. Functions count by their code, not by what they capture; arrays
        are read whole.

        Examples
        --------
        >>> plans = [hr.Dataset.range(3).batch(size) for size in (1, 2, 2)]
        >>> len({plan.fingerprint() for plan in plans})
        2
        """
        return np.uint64(self._plan.fingerprint())

    def explain(self, rewritten: bool = False) -> str:
        """Return the plan as text: each step with its elements, and how each function runs.

        What an iterator rewrites is told below the last step.

        Parameters
        ----------
        rewritten
            Show the plan as it runs, after all rewrites.

        Examples
        --------
        >>> print(hr.Dataset.range(3).take(2).explain())
        take(count=2): int64 (), 2 elements
        │  read ahead of the user by an injected prefetch (inject_prefetch)
        └─ range(stop=3): int64 (), 3 elements
        """
        from ..explain import explain

        return explain(cast("Dataset[T_co]", self), checks.flag("rewritten", rewritten))

    def __debug_string__(self) -> str:
        """Return the plan as text; mirrors ``tf.data``'s method of this name."""
        return self.explain()

    def __repr__(self) -> str:
        return f"<{class_name(self._op)} element_spec={self.element_spec!r}>"
