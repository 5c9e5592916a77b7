"""Functions of the user's, called with elements: to change, choose and gather them."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, SupportsIndex

from .. import checks
from ..errors import InvalidArgumentError
from ..function import Executor, Function, StateFunction
from ..generator import signature_of
from ..nest import map_structure
from ..report import error_report
from ..seeds import seed_pair
from ..spec import spec_of
from ..standin import element_in_trace
from .step import A, R, Step, T_co

if TYPE_CHECKING:
    from . import Dataset

__all__ = ["Functions"]


class Functions(Step[T_co]):
    """The methods of `Dataset` that call a function with each element, and the one that catches."""

    __slots__ = ()

    def map(
        self,
        map_func: Callable[..., R],
        num_parallel_calls: int | None = None,
        deterministic: bool | None = None,
        synchronous: bool | None = None,
        use_unbounded_threadpool: bool = False,
        name: str | None = None,
        *,
        output_signature: Any = None,
        executor: Executor = None,
        reorder_window: SupportsIndex | None = None,
    ) -> Dataset[R]:
        """Apply a function to each element; mirrors ``tf.data.Dataset.map``.

        A function that can be recorded becomes a graph and runs on many elements at once, without
        the GIL; any other runs as plain Python, once per element, in order. The results are the
        same: NumPy's. `explain` says which, and why.

        Parameters
        ----------
        map_func
            Gets the components of a plain tuple as arguments, any other element as one. A list it
            returns is a tuple of components.
        num_parallel_calls
            How many calls may run at once; `AUTOTUNE` lets headrace choose; ``None``: one.
        deterministic
            ``False``: results may come as they get ready. ``None``: what the options say.
        synchronous
            Accepted for tf.data's sake; not together with `num_parallel_calls`.
        use_unbounded_threadpool
            Accepted for tf.data's sake.
        name
            Accepted for tf.data's sake.
        output_signature
            A nest of specs of the result, for functions that run as Python; otherwise only a run
            can tell. Results are converted to it as those of `from_generator` are, or refused.
        executor
            ``"native"`` insists on a graph, ``"python"`` on Python, ``"process"`` on worker
            processes: as many as calls may run at once, fresh interpreters for each run. The
            function goes to them by name or, with the extra ``process``, by value; large arrays go
            through shared memory. A script that uses it needs ``if __name__ == "__main__":``
            around what it runs.
        reorder_window
            How many later results may overtake a slow one: every element comes at most so many
            places from its own, where ``deterministic=False`` sets no bound. Graphs keep order. The
            run has a state as little as without order, unless it is opened ``checkpointable``,
            which keeps it.

        Raises
        ------
        InvalidArgumentError
            `num_parallel_calls` is 0 or negative, or ``executor="native"`` is not possible;
            `reorder_window` is negative, has no `num_parallel_calls`, or stands beside
            `deterministic`.
        TypeError
            `map_func` is not callable.
        AbortedError
            A worker process died; the text tells how, and at which element. In the run.

        Examples
        --------
        >>> list(hr.Dataset.range(3).map(lambda x: (x, x + 0.5)))[1]
        (np.int64(1), np.float64(1.5))
        """
        if synchronous and num_parallel_calls is not None:
            raise ValueError(
                "`synchronous` is not supported with `num_parallel_calls`, but "
                f"`num_parallel_calls` was set to {num_parallel_calls}."
            )
        if output_signature is not None:
            output_signature = signature_of(None, None, output_signature)
        if reorder_window is not None:
            reorder_window = checks.integer("reorder_window", reorder_window)
            if reorder_window < 0:
                raise InvalidArgumentError(f"reorder_window must be >= 0, got {reorder_window}")
            if deterministic is not None:
                raise InvalidArgumentError(
                    "reorder_window says how far order is kept: leave deterministic out, which was "
                    f"{deterministic}"
                )
        return self._derive(
            "map",
            function=Function(map_func, executor, output_signature),
            num_parallel_calls=checks.parallelism("num_parallel_calls", num_parallel_calls),
            deterministic=deterministic,
            output_signature=output_signature,
            reorder_window=reorder_window,
        )

    def filter(
        self, predicate: Callable[..., Any], name: str | None = None, *, executor: Executor = None
    ) -> Dataset[T_co]:
        """Keep the elements of which `predicate` is true; mirrors ``tf.data.Dataset.filter``.

        Parameters
        ----------
        predicate
            Gets arguments as the function of `map` does; returns a scalar bool.
        name
            Accepted for tf.data's sake.
        executor
            See `map`.

        Raises
        ------
        ValueError
            `predicate` does not return a scalar bool.

        Examples
        --------
        >>> list(hr.Dataset.range(4).filter(lambda x: x % 2 == 1))
        [np.int64(1), np.int64(3)]
        """
        return self._derive("filter", predicate=Function(predicate, executor))

    def take_while(
        self, predicate: Callable[..., Any], name: str | None = None, *, executor: Executor = None
    ) -> Dataset[T_co]:
        """Yield the elements before the first of which `predicate` is false.

        Mirrors ``tf.data.Dataset.take_while``. Nothing that a user could notice runs past that
        element.

        Parameters
        ----------
        predicate
            Gets arguments as the function of `map` does; returns a scalar bool.
        name
            Accepted for tf.data's sake.
        executor
            See `map`.

        Raises
        ------
        ValueError
            `predicate` does not return a scalar bool.

        Examples
        --------
        >>> list(hr.Dataset.range(10).take_while(lambda x: x < 2))
        [np.int64(0), np.int64(1)]
        """
        return self._derive("take_while", predicate=Function(predicate, executor))

    def scan(
        self,
        initial_state: A,
        scan_func: Callable[[A, T_co], tuple[A, R]],
        name: str | None = None,
        *,
        executor: Executor = None,
    ) -> Dataset[R]:
        """Map elements with a state that each call hands on; mirrors ``tf.data.Dataset.scan``.

        Parameters
        ----------
        initial_state
            A nest of arrays or numbers.
        scan_func
            Gets the state and the element, as one argument each; returns the next state and what
            is yielded. The state keeps its structure and dtypes; its shapes may change.
        name
            Accepted for tf.data's sake.
        executor
            See `map`.

        Raises
        ------
        TypeError
            `scan_func` does not return a pair, or a state of another structure or dtype.

        Examples
        --------
        >>> list(hr.Dataset.range(4).scan(0, lambda total, x: (total + x, total)))
        [np.int64(0), np.int64(0), np.int64(1), np.int64(3)]
        """
        state = checks.state(initial_state)
        function = StateFunction(scan_func, executor, map_structure(spec_of, state), "scan_func")
        return self._derive("scan", initial_state=state, scan_func=function)

    def reduce(
        self,
        initial_state: A,
        reduce_func: Callable[[A, T_co], A],
        name: str | None = None,
        *,
        executor: Executor = None,
    ) -> A:
        """Run through the elements and return the last state; mirrors ``tf.data.Dataset.reduce``.

        Parameters
        ----------
        initial_state
            A nest of arrays or numbers; returned as it is if there is no element.
        reduce_func
            Gets the state and the element, as one argument each; returns the next state, of the
            same structure and dtypes.
        name
            Accepted for tf.data's sake.
        executor
            See `map`.

        Raises
        ------
        TypeError
            `reduce_func` returns a state of another structure or dtype.

        Examples
        --------
        >>> hr.Dataset.range(5).reduce(0, lambda total, x: total + x)
        np.int64(10)
        """
        state = checks.state(initial_state)
        spec = map_structure(spec_of, state)
        function = StateFunction(reduce_func, executor, spec, "reduce_func")
        reduced = self._derive("reduce", initial_state=state, reduce_func=function)
        stood: Any = element_in_trace("reduce", reduced._plan.element_spec)
        if stood is not None:
            return stood  # type: ignore[no-any-return]
        with reduced.iterator() as iterator:
            result: A = next(iterator)
        return result

    def rejection_resample(
        self,
        class_func: Callable[..., Any],
        target_dist: Any,
        initial_dist: Any = None,
        seed: SupportsIndex | None = None,
        name: str | None = None,
        *,
        executor: Executor = None,
    ) -> Dataset[tuple[Any, T_co]]:
        """Yield ``(class, element)`` so that classes come as often as wanted.

        Mirrors ``tf.data.Dataset.rejection_resample``. Elements are dropped, and some come twice.
        The dataset is read twice side by side; four times where its distribution is estimated.

        Parameters
        ----------
        class_func
            Gets arguments as the function of `map` does; returns an integer from 0 to the number
            of classes.
        target_dist
            How often each class is wanted: one float a class.
        initial_dist
            How often each class comes. ``None``: estimated on the way.
        seed
            An integer; ``None`` draws from `set_seed`'s sequence, or from the system.
        name
            Accepted for tf.data's sake.
        executor
            See `map`.

        Raises
        ------
        InvalidArgumentError
            The distributions differ in length, classes are not integers; during iteration, an
            element of a class that has no number in `target_dist`.
        ValueError
            A distribution is no vector.

        Examples
        --------
        >>> even = hr.Dataset.range(1000).rejection_resample(
        ...     lambda x: x % 2, target_dist=[0.9, 0.1], initial_dist=[0.5, 0.5], seed=1
        ... )
        >>> classes = [label for label, element in even]
        >>> round(float(np.mean(classes)), 1)
        0.1
        """
        target = checks.distribution("target_dist", target_dist)
        initial = initial_dist
        if initial is not None:
            initial = checks.distribution("initial_dist", initial, len(target))
        return self._derive(
            "rejection_resample",
            class_func=Function(class_func, executor),
            target_dist=target,
            initial_dist=initial,
            seeds=seed_pair(seed),
        )

    def ignore_errors(
        self,
        log_warning: bool = False,
        name: str | None = None,
        *,
        limit: int | None = None,
        report: Callable[[Exception], object] | list[Exception] | None = None,
    ) -> Dataset[T_co]:
        """Leave out elements that fail; mirrors ``tf.data.Dataset.ignore_errors``.

        A file that cannot be read on is left where it breaks off; `TFRecordDataset` with
        ``on_corruption="skip"`` goes on behind the damage. `take` counts elements and not errors,
        so it may stand before this step or after it. A run that goes on from a state reports errors
        anew that it meets on its way there.

        Parameters
        ----------
        log_warning
            Whether each error is logged as a warning of the logger ``headrace``.
        name
            Accepted for tf.data's sake.
        limit
            After so many errors the next ones are raised; ``None``: all are left out.
        report
            A callable that is given each error, or a list that it is appended to.

        Raises
        ------
        InvalidArgumentError
            `limit` is negative.

        Examples
        --------
        >>> errors = []
        >>> fractions = hr.Dataset.range(3).map(lambda x: 6 // int(x), executor="python")
        >>> list(fractions.ignore_errors(report=errors)), errors
        ([np.int64(6), np.int64(3)], [ZeroDivisionError('integer division or modulo by zero')])
        """
        return self._derive(
            "ignore_errors",
            limit=None if limit is None else checks.at_least("limit", limit, 0),
            report=error_report(checks.flag("log_warning", log_warning), report),
        )
