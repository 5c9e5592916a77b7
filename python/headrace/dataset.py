"""Datasets: pipelines as immutable plans.

Each method checks its arguments, works out what its elements look like and how many there are, and
returns a new plan; nothing is read until iteration. Names, arguments and behaviour are those of
``tf.data.Dataset``; elements are NumPy arrays, NumPy scalars, ``bytes`` and ``str``.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from collections.abc import Iterator as PyIterator
from functools import partial
from itertools import islice
from typing import Any, ClassVar, Generic, Literal, SupportsIndex, TypeVar, overload

import numpy as np

from . import _headrace, checks, length, standin
from .buckets import Buckets
from .checks import AUTOTUNE, INFINITE_CARDINALITY, UNKNOWN_CARDINALITY
from .dtypes import as_dtype, dtype_name
from .errors import HeadraceError, InvalidArgumentError
from .function import Executor, Function, GroupFunction, StateFunction
from .generator import Source, signature_of
from .iterator import Iterator
from .nest import flatten, map_structure
from .ops import refuse_in_trace
from .options import Options
from .recipe import pack_arrays, unpack_arrays
from .report import error_report
from .seeds import seed_pair
from .spec import spec_of
from .tensors import SparseTensor

__all__ = ["AUTOTUNE", "INFINITE_CARDINALITY", "UNKNOWN_CARDINALITY", "Dataset", "TFRecordDataset"]

T_co = TypeVar("T_co", covariant=True)
R = TypeVar("R")
A = TypeVar("A")
B = TypeVar("B")
C = TypeVar("C")


class Dataset(Generic[T_co]):
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

    __slots__ = ("__weakref__", "_args", "_inputs", "_op", "_options", "_plan")

    # Subclasses with rules of their own for functions and results say so here.
    _family: ClassVar[type[Dataset[Any]] | None] = None
    _is_leaf = True

    _plan: _headrace.Plan
    _op: str
    _inputs: Any  # a nest of datasets
    _args: dict[str, Any]
    _options: Options | None

    def __init__(self) -> None:
        raise TypeError("make a dataset with a source such as headrace.Dataset.range(10)")

    # ------------------------------------------------------------------ sources

    @staticmethod
    def range(
        *args: SupportsIndex, output_type: Any = np.int64, name: str | None = None
    ) -> Dataset[Any]:
        """Yield numbers, as Python's ``range``; mirrors ``tf.data.Dataset.range``.

        Parameters
        ----------
        *args
            ``stop``; ``start, stop``; or ``start, stop, step``: integers.
        output_type
            Dtype of the scalars.
        name
            Accepted for tf.data's sake.

        Raises
        ------
        ValueError
            No argument or more than three.
        TypeError
            An argument is not an integer.
        InvalidArgumentError
            ``step`` is 0.

        Examples
        --------
        >>> list(hr.Dataset.range(1, 6, 2, output_type=np.float32))
        [np.float32(1.0), np.float32(3.0), np.float32(5.0)]
        """
        if not 1 <= len(args) <= 3:
            raise ValueError(f"`range` takes 1 to 3 numbers: stop, start, step; got {args}")
        numbers = [checks.integer("range", arg) for arg in args]
        start, stop, step = (0, numbers[0], 1) if len(numbers) == 1 else (*numbers, 1)[:3]
        if step == 0:
            raise InvalidArgumentError("step must be a non-zero integer.")
        dtype = dtype_name(as_dtype(output_type))
        return _make("range", (), start=start, stop=stop, step=step, dtype=dtype)

    @staticmethod
    def counter(
        start: float = 0, step: float = 1, dtype: Any = np.int64, name: str | None = None
    ) -> Dataset[Any]:
        """Yield numbers in equal steps, without end; mirrors ``tf.data.Dataset.counter``.

        Parameters
        ----------
        start, step
            The first number, and what is added for the next. Integers wrap around where `dtype`
            ends.
        dtype
            Dtype of the scalars, integers or floats.
        name
            Accepted for tf.data's sake.

        Raises
        ------
        TypeError
            `dtype` is no number, or `start` or `step` is not one of it.

        Examples
        --------
        >>> list(hr.Dataset.counter(5, -2).take(3))
        [np.int64(5), np.int64(3), np.int64(1)]
        """
        number = checks.number_dtype("dtype", dtype)
        first, more = (
            checks.number_of(*pair, number) for pair in (("start", start), ("step", step))
        )
        return _make("counter", (), start=first, step=more, dtype=dtype_name(number))

    @staticmethod
    def from_tensors(tensors: R, name: str | None = None) -> Dataset[R]:
        """Yield one element; mirrors ``tf.data.Dataset.from_tensors``.

        Parameters
        ----------
        tensors
            A nest of arrays, numbers, text, sparse or ragged values or opaque objects. A list is
            one tensor. Arrays are borrowed, not copied.
        name
            Accepted for tf.data's sake.

        Examples
        --------
        >>> list(hr.Dataset.from_tensors([1, 2]))
        [array([1, 2])]
        """
        value = map_structure(checks.tensor, tensors)
        if standin.has_symbols(value):
            return standin.stand_in(standin.of_values(value))
        return _make("from_tensors", (), value=value)

    @staticmethod
    def from_tensor_slices(tensors: R, name: str | None = None) -> Dataset[R]:
        """Yield the slices along axis 0; mirrors ``tf.data.Dataset.from_tensor_slices``.

        Parameters
        ----------
        tensors
            A nest of arrays (or lists, one tensor each) of one size along axis 0. Arrays keep
            their dtype and are borrowed: of a memory-mapped file, rows are read when asked for.
        name
            Accepted for tf.data's sake.

        Raises
        ------
        ValueError
            The sizes differ, or a component is a scalar.

        Examples
        --------
        >>> list(hr.Dataset.from_tensor_slices({"x": [1.0, 2.0], "y": ["a", "b"]}))
        [{'x': np.float64(1.0), 'y': 'a'}, {'x': np.float64(2.0), 'y': 'b'}]
        """
        value = map_structure(checks.tensor, tensors)
        if standin.has_symbols(value):
            return standin.stand_in(standin.of_slices(value))
        value = checks.sliceable(value)
        return _make("from_tensor_slices", (), value=value)

    @staticmethod
    def from_generator(
        generator: Callable[..., Iterable[Any]],
        output_types: Any = None,
        output_shapes: Any = None,
        args: tuple[Any, ...] | None = None,
        output_signature: Any = None,
        name: str | None = None,
        *,
        live: bool = False,
    ) -> Dataset[Any]:
        """Yield what a Python generator yields; mirrors ``tf.data.Dataset.from_generator``.

        Parameters
        ----------
        generator
            A callable; what it returns is iterated once per run.
        output_types, output_shapes
            Nests of dtypes and of shapes.
        args
            Arguments of `generator`, handed over as NumPy arrays.
        output_signature
            A nest of specs, in place of types and shapes.
        name
            Accepted for tf.data's sake.
        live
            Says that a second generator does not yield what the first one yielded, as one that
            reads a queue. A run is resumed by iterating anew and passing over what was handed out,
            so `Iterator.state` refuses a live one.

        Raises
        ------
        TypeError
            `generator` is not callable, or nothing says what it yields.
        InvalidArgumentError
            During iteration, for an element that does not fit: a Python number takes the declared
            dtype where its kind allows, an array where ``numpy.can_cast(..., "same_kind")`` does.

        Examples
        --------
        >>> def pairs(n):
        ...     for i in range(n):
        ...         yield i, i / 2
        >>> list(hr.Dataset.from_generator(pairs, (np.int64, np.float32), args=(2,)))
        [(np.int64(0), np.float32(0.0)), (np.int64(1), np.float32(0.5))]
        """
        if not callable(generator):
            raise TypeError("`generator` must be a Python callable.")
        signature = signature_of(output_types, output_shapes, output_signature)
        source = Source(generator, signature, tuple(args or ()), live)
        return _make("from_generator", (), source=source)

    @staticmethod
    def from_source(
        source: Any,
        output_signature: Any = None,
        name: str | None = None,
        *,
        live: bool = False,
    ) -> Dataset[Any]:
        """Yield the elements of an object that has them by number.

        The dataset knows its length and has random access, so it can be shuffled with
        ``shuffle(None)``, which holds none of it. tf.data has nothing of the kind.

        Parameters
        ----------
        source
            Anything with ``__len__`` and ``__getitem__``. One that has a dtype and a shape, as
            arrays of h5py or zarr, is asked for whole slices; any other for single elements.
        output_signature
            A nest of specs, for objects that do not say what they hold; without it, only a run
            can tell.
        name
            Accepted for the sake of the other sources.
        live
            Says that an element may be another when it is asked for again, so `Iterator.state`
            refuses to tell where a run stands.

        Raises
        ------
        TypeError
            `source` lacks one of the methods.
        InvalidArgumentError
            During iteration, for an element that does not fit.

        Examples
        --------
        >>> class Squares:
        ...     def __len__(self):
        ...         return 4
        ...     def __getitem__(self, index):
        ...         return index, index**2
        >>> list(hr.Dataset.from_source(Squares()))[3]
        (np.int64(3), np.int64(9))
        """
        from .source import Source

        if isinstance(source, np.ndarray) and output_signature is None and not live:
            return Dataset.from_tensor_slices(source)
        return _make("from_source", (), source=Source(source, output_signature, live))

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
        return _make("zip", checks.zip_inputs(args, datasets))

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
        return _make(
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
        each = weights if isinstance(weights, Dataset) else None
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
        return _make(
            "sample_from_datasets",
            (sources, each),
            logits=logits,
            seeds=seed_pair(seed),
            rerandomize=again is not None and checks.flag("rerandomize_each_iteration", again),
            stop_on_empty=stop,
        )

    @staticmethod
    def list_files(
        file_pattern: Any,
        shuffle: bool | None = None,
        seed: SupportsIndex | None = None,
        name: str | None = None,
    ) -> Dataset[Any]:
        """Yield the paths that match a pattern; mirrors ``tf.data.Dataset.list_files``.

        The folder is searched now. Paths are text if the pattern is, bytes if it is bytes.

        Parameters
        ----------
        file_pattern
            ``*``, ``?``, ``[abc]`` and ``[^a]`` stand for parts of a name, within one folder; a
            backslash takes their meaning. As in tf.data, ``**`` means no more than ``*``. Unlike
            there, a name that begins with a dot is matched only by a part of the pattern that does.
            Of a list of patterns, all matches of each.
        shuffle
            ``False``: sorted. ``None`` or ``True``: in another random order in each pass.
        seed
            As in `shuffle`.
        name
            Accepted for tf.data's sake.

        Raises
        ------
        InvalidArgumentError
            Nothing matches.

        Examples
        --------
        >>> import os, tempfile
        >>> folder = tempfile.mkdtemp()
        >>> for name in ("b.txt", "a.txt"):
        ...     open(os.path.join(folder, name), "w").close()
        >>> files = hr.Dataset.list_files(os.path.join(folder, "*.txt"), shuffle=False)
        >>> [os.path.basename(path) for path in files]
        ['a.txt', 'b.txt']
        """
        from .readers import list_files

        return list_files(file_pattern, shuffle, seed)

    @staticmethod
    def load(
        path: Any,
        element_spec: Any = None,
        compression: str | None = None,
        reader_func: Callable[..., Any] | None = None,
        wait: bool = False,
    ) -> Dataset[Any]:
        """Yield the elements of a saved dataset; mirrors ``tf.data.Dataset.load``.

        Of several shards, one element of each comes in turn.

        Parameters
        ----------
        path
            What `save` was given.
        element_spec
            What the elements look like; ``None``: as the files say, with namedtuples in place of
            instances of other classes.
        compression
            Accepted for tf.data's sake: the files say how they are compressed.
        reader_func
            Gets a dataset of the shards, each a dataset, and returns the dataset of the elements.
        wait
            Whether to wait for a dataset that is still being saved.

        Raises
        ------
        NotFoundError
            Nothing was saved there.
        FailedPreconditionError
            During iteration: the elements do not fit `element_spec`.
        DataLossError
            The files are damaged.

        Examples
        --------
        >>> import tempfile
        >>> folder = tempfile.mkdtemp()
        >>> hr.Dataset.range(3).save(folder)
        >>> list(hr.Dataset.load(folder))
        [np.int64(0), np.int64(1), np.int64(2)]
        """
        from .saved import load

        return load(path, element_spec, compression, reader_func, wait)

    @staticmethod
    def random(
        seed: SupportsIndex | None = None,
        rerandomize_each_iteration: bool | None = None,
        name: str | None = None,
    ) -> Dataset[np.int64]:
        """Yield pseudorandom numbers without end; mirrors ``tf.data.Dataset.random``.

        They are tf.data's: int64 from 0 to 2**32 - 1.

        Parameters
        ----------
        seed
            An integer; ``None`` draws from `set_seed`'s sequence, or from the system.
        rerandomize_each_iteration
            ``True``: each pass has other numbers. ``None``: the same.
        name
            Accepted for tf.data's sake.

        Examples
        --------
        >>> list(hr.Dataset.random(seed=4).take(3)) == list(hr.Dataset.random(seed=4).take(3))
        True
        """
        anew = rerandomize_each_iteration is not None and checks.flag(
            "rerandomize_each_iteration", rerandomize_each_iteration
        )
        return _make("random", (), seeds=seed_pair(seed), rerandomize=anew)

    # ---------------------------------------------------------- transformations

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
        with reduced.iterator() as iterator:
            result: A = next(iterator)
        return result

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

    def batch(
        self,
        batch_size: SupportsIndex,
        drop_remainder: bool = False,
        num_parallel_calls: int | None = None,
        deterministic: bool | None = None,
        name: str | None = None,
    ) -> Dataset[Any]:
        """Stack elements along a new axis 0; mirrors ``tf.data.Dataset.batch``.

        Parameters
        ----------
        batch_size
            Elements in a batch; the last may be shorter.
        drop_remainder
            Leave a shorter last batch out. Then the batch size is part of the element spec.
        num_parallel_calls
            How many batches may be put together at once; `AUTOTUNE` lets headrace choose; ``None``:
            one. Only rows whose shapes may differ, or that are no arrays, are copied together; of
            others a batch is a slice, for which there are no tasks.
        deterministic
            ``False``: batches that are put together at once may come as they get ready. ``None``:
            what the options say.
        name
            Accepted for tf.data's sake.

        Raises
        ------
        InvalidArgumentError
            `batch_size` is 0 or negative; during iteration, elements of different shapes.

        Examples
        --------
        >>> list(hr.Dataset.range(5).batch(2))
        [array([0, 1]), array([2, 3]), array([4])]
        """
        return self._derive(
            "batch",
            batch_size=checks.batch_size(batch_size),
            drop_remainder=checks.flag("drop_remainder", drop_remainder),
            num_parallel_calls=checks.parallelism("num_parallel_calls", num_parallel_calls),
            deterministic=deterministic,
        )

    def padded_batch(
        self,
        batch_size: SupportsIndex,
        padded_shapes: Any = None,
        padding_values: Any = None,
        drop_remainder: bool = False,
        name: str | None = None,
        *,
        num_parallel_calls: int | None = None,
        deterministic: bool | None = None,
    ) -> Dataset[Any]:
        """Stack elements padded to one shape; mirrors ``tf.data.Dataset.padded_batch``.

        Parameters
        ----------
        batch_size
            Elements in a batch; the last may be shorter.
        padded_shapes
            A nest of shapes, one per component; ``None`` or -1 for an axis pads it to the longest
            of the batch. ``None`` does that for all axes.
        padding_values
            A nest of scalars, or one for all; zero, empty text and ``False`` if not given.
        drop_remainder
            Leave a shorter last batch out.
        name
            Accepted for tf.data's sake.
        num_parallel_calls
            How many batches may be put together at once, which `tf.data` has no word for here;
            `AUTOTUNE` lets headrace choose; ``None``: one.
        deterministic
            ``False``: batches may come as they get ready. ``None``: what the options say.

        Raises
        ------
        ValueError
            A padded shape is smaller than a static shape, or a rank is unknown.
        TypeError
            A padding value of another dtype.
        DataLossError
            During iteration, an element larger than its padded shape.

        Examples
        --------
        >>> rows = hr.Dataset.range(1, 3).map(lambda n: np.arange(n), executor="python",
        ...     output_signature=hr.TensorSpec([None], np.int64))
        >>> list(rows.padded_batch(2, padding_values=-1))
        [array([[ 0, -1],
               [ 0,  1]])]
        """
        spec = self._plan.element_spec
        return self._derive(
            "padded_batch",
            batch_size=checks.batch_size(batch_size),
            padded_shapes=checks.padded_shapes(spec, padded_shapes),
            padding_values=checks.padding_values(spec, padding_values),
            drop_remainder=checks.flag("drop_remainder", drop_remainder),
            num_parallel_calls=checks.parallelism("num_parallel_calls", num_parallel_calls),
            deterministic=deterministic,
        )

    def ragged_batch(
        self,
        batch_size: SupportsIndex,
        drop_remainder: bool = False,
        row_splits_dtype: Any = np.int64,
        name: str | None = None,
        *,
        num_parallel_calls: int | None = None,
        deterministic: bool | None = None,
    ) -> Dataset[Any]:
        """Batch elements of differing shapes without padding.

        Mirrors ``tf.data.Dataset.ragged_batch``. Components of a known shape become dense batches,
        others `RaggedTensor`. Where the rank is known in a run only, all axes are ragged; tf.data
        makes a dense batch of those.

        Parameters
        ----------
        batch_size
            Elements in a batch; the last may be shorter.
        drop_remainder
            Leave a shorter last batch out.
        row_splits_dtype
            ``int64`` or ``int32``.
        name
            Accepted for tf.data's sake.
        num_parallel_calls
            How many batches may be put together at once, which `tf.data` has no word for here;
            `AUTOTUNE` lets headrace choose; ``None``: one.
        deterministic
            ``False``: batches may come as they get ready. ``None``: what the options say.

        Raises
        ------
        InvalidArgumentError
            `batch_size` is 0 or negative; during iteration, elements that differ along an axis of
            known size.

        Examples
        --------
        >>> rows = hr.Dataset.range(3).map(lambda n: np.arange(n), executor="python",
        ...     output_signature=hr.TensorSpec([None], np.int64))
        >>> next(iter(rows.ragged_batch(3))).to_list()
        [[], [0], [0, 1]]
        """
        return self._derive(
            "ragged_batch",
            batch_size=checks.batch_size(batch_size),
            drop_remainder=checks.flag("drop_remainder", drop_remainder),
            row_splits_dtype=dtype_name(as_dtype(row_splits_dtype)),
            num_parallel_calls=checks.parallelism("num_parallel_calls", num_parallel_calls),
            deterministic=deterministic,
        )

    def sparse_batch(
        self, batch_size: SupportsIndex, row_shape: Any, name: str | None = None
    ) -> Dataset[SparseTensor]:
        """Batch elements of differing shapes as rows of `SparseTensor`.

        Mirrors ``tf.data.Dataset.sparse_batch``. All values are in it, zeros too.

        Parameters
        ----------
        batch_size
            Elements in a batch; the last may be shorter.
        row_shape
            The dense shape of a row; ``None`` or -1 for an axis: as long as the longest of the
            batch.
        name
            Accepted for tf.data's sake.

        Raises
        ------
        TypeError
            The elements are not one dense component.
        InvalidArgumentError
            `batch_size` is 0 or negative, or elements have another rank than `row_shape`.
        DataLossError
            During iteration, an element larger than `row_shape`.

        Examples
        --------
        >>> batch = next(iter(hr.Dataset.from_tensor_slices([[7, 0], [8, 9]]).sparse_batch(2, [3])))
        >>> batch.values, batch.dense_shape
        (array([7, 0, 8, 9]), array([2, 3]))
        """
        checks.single_dense("sparse_batch", self._plan.element_spec)
        return self._derive(
            "sparse_batch",
            batch_size=checks.batch_size(batch_size),
            row_shape=checks.row_shape(row_shape),
        )

    def rebatch(
        self, batch_size: Any, drop_remainder: bool = False, name: str | None = None
    ) -> Dataset[Any]:
        """Cut and join batches to other sizes; mirrors ``tf.data.Dataset.rebatch``.

        The same as ``unbatch().batch(batch_size)``, without taking the batches apart.

        Parameters
        ----------
        batch_size
            Rows in a batch, or a list of sizes that are used in turn; a size of 0 in a list gives
            an empty batch.
        drop_remainder
            Leave a shorter last batch out.
        name
            Accepted for tf.data's sake.

        Raises
        ------
        ValueError
            A component is a scalar, or no size is above 0.

        Examples
        --------
        >>> list(hr.Dataset.range(6).batch(3).rebatch([1, 2]))
        [array([0]), array([1, 2]), array([3]), array([4, 5])]
        """
        checks.batched(self._plan.element_spec)
        return self._derive(
            "rebatch",
            batch_size=checks.batch_sizes(batch_size),
            drop_remainder=checks.flag("drop_remainder", drop_remainder),
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

    def pack(
        self,
        length: SupportsIndex,
        open_rows: SupportsIndex = 16,
        padding_values: Any = None,
        name: str | None = None,
    ) -> Dataset[Any]:
        """Pack several sequences into one row, first fit; tf.data has nothing like it.

        Yields ``(packed, segment_ids, positions)``: the components with `length` places along axis
        0; for each place the number of its sequence in the row, from 1 (0 is padding); and its
        position in that sequence. An element goes into the first open row with room for it; where
        none has, the oldest row is yielded. Empty sequences take no place.

        Parameters
        ----------
        length
            Places in a row.
        open_rows
            How many rows are filled at a time: more waste less, and hold more.
        padding_values
            What is put into places that are left: a nest like the elements, or one value;
            ``None``: zeros, ``b""`` or ``False``.
        name
            Accepted for tf.data's sake.

        Raises
        ------
        InvalidArgumentError
            A number is 0 or negative, or a component is no dense sequence. During iteration: a
            sequence is longer than a row, or the components of an element differ in length.

        Examples
        --------
        >>> words = hr.Dataset.range(1, 4).map(
        ...     lambda n: np.arange(n), executor="python",
        ...     output_signature=hr.TensorSpec([None], np.int64))
        >>> for packed, segment_ids, positions in words.pack(4):
        ...     print(packed, segment_ids, positions)
        [0 0 1 0] [1 2 2 0] [0 0 1 0]
        [0 1 2 0] [1 1 1 0] [0 1 2 0]
        """
        values = None
        if padding_values is not None:
            values = checks.padding_values(self.element_spec, padding_values)
        return self._derive(
            "pack",
            length=checks.integer("length", length),
            open_rows=checks.integer("open_rows", open_rows),
            padding_values=values,
        )

    def window(
        self,
        size: SupportsIndex,
        shift: SupportsIndex | None = None,
        stride: SupportsIndex = 1,
        drop_remainder: bool = False,
        name: str | None = None,
        *,
        as_arrays: bool = False,
    ) -> Dataset[Any]:
        """Yield runs of elements that follow each other; mirrors ``tf.data.Dataset.window``.

        Each component of a window is a `Dataset` of the elements in it.

        Parameters
        ----------
        size
            Elements in a window; at the end there may be fewer.
        shift
            How many elements further the next window starts; ``None``: `size`.
        stride
            How many elements further each element of a window is than the one before.
        drop_remainder
            Leave shorter windows at the end out.
        name
            Accepted for tf.data's sake.
        as_arrays
            Each component is an array with a new first axis instead, as of a batch.

        Raises
        ------
        InvalidArgumentError
            `size`, `shift` or `stride` is 0 or negative.

        Examples
        --------
        >>> windows = hr.Dataset.range(5).window(3, shift=1, drop_remainder=True)
        >>> [[x.item() for x in window] for window in windows]
        [[0, 1, 2], [1, 2, 3], [2, 3, 4]]
        >>> list(hr.Dataset.range(5).window(3, shift=2, as_arrays=True))
        [array([0, 1, 2]), array([2, 3, 4]), array([4])]
        """
        return self._derive(
            "window",
            size=checks.integer("size", size),
            shift=None if shift is None else checks.integer("shift", shift),
            stride=checks.integer("stride", stride),
            drop_remainder=checks.flag("drop_remainder", drop_remainder),
            as_arrays=checks.flag("as_arrays", as_arrays),
        )

    def group_by_window(
        self,
        key_func: Callable[..., Any],
        reduce_func: Callable[[Any, Dataset[T_co]], Dataset[R]],
        window_size: SupportsIndex | None = None,
        window_size_func: Callable[[Any], Any] | None = None,
        name: str | None = None,
        *,
        order: Literal["key", "first"] = "key",
    ) -> Dataset[R]:
        """Gather elements by key and reduce each group.

        Mirrors ``tf.data.Dataset.group_by_window``. A group is reduced as soon as it is full; those
        that are left follow at the end, in the order of their keys.

        Parameters
        ----------
        key_func
            Gets arguments as the function of `map` does; returns an int64 scalar.
        reduce_func
            Gets a key and a dataset of its elements; returns the dataset to yield from.
        window_size
            How many elements make a group.
        window_size_func
            Gets a key and returns how many, instead.
        name
            Accepted for tf.data's sake.
        order
            How the groups that are left at the end follow: by ``"key"``, as in tf.data, or as their
            ``"first"`` elements came.

        Raises
        ------
        ValueError
            Not just one of `window_size` and `window_size_func` is given, or `key_func` returns
            something else than an int64 scalar.
        TypeError
            `reduce_func` returns something else than a `Dataset`.
        InvalidArgumentError
            A size is 0 or negative, or `order` is unknown.

        Examples
        --------
        >>> numbers = hr.Dataset.range(7)
        >>> list(numbers.group_by_window(lambda x: x % 2, lambda _, group: group.batch(2), 2))
        [array([0, 2]), array([1, 3]), array([4, 6]), array([5])]
        """
        if (window_size is None) == (window_size_func is None):
            raise ValueError(
                "Either the `window_size` argument or the `window_size_func` argument must be "
                "specified, and not both."
            )
        if order not in ("key", "first"):
            raise InvalidArgumentError(f'`order` must be "key" or "first", got {order!r}')
        sizes = window_size_func and GroupFunction(window_size_func, "window_size_func")
        return self._derive(
            "group_by_window",
            key_func=Function(key_func),
            reduce_func=GroupFunction(reduce_func, "reduce_func"),
            window_size=0 if window_size is None else checks.integer("window_size", window_size),
            window_size_func=sizes,
            order=order,
        )

    def bucket_by_sequence_length(
        self,
        element_length_func: Callable[..., Any],
        bucket_boundaries: Iterable[SupportsIndex],
        bucket_batch_sizes: Iterable[SupportsIndex],
        padded_shapes: Any = None,
        padding_values: Any = None,
        pad_to_bucket_boundary: Any = False,
        no_padding: bool = False,
        drop_remainder: bool = False,
        name: str | None = None,
    ) -> Dataset[T_co]:
        """Batch elements of like lengths; mirrors ``tf.data.Dataset.bucket_by_sequence_length``.

        Parameters
        ----------
        element_length_func
            Gets arguments as the function of `map` does; returns the length, an integer.
        bucket_boundaries
            Lengths at which the next bucket begins, in ascending order.
        bucket_batch_sizes
            Batch size of each bucket: one more than boundaries.
        padded_shapes, padding_values
            See `padded_batch`.
        pad_to_bucket_boundary
            Pad unknown sizes to the longest length of the bucket, which is one below its boundary,
            not to that of the batch. An element as long as the last boundary is an error. A nest
            like the elements says so of each component.
        no_padding
            Batch without padding; elements of one batch must have one shape.
        drop_remainder
            Leave shorter batches at the end out.
        name
            Accepted for tf.data's sake.

        Raises
        ------
        ValueError
            There is not one batch size more than boundaries, or `pad_to_bucket_boundary` is a nest
            of another structure than the elements.
        InvalidArgumentError
            A batch size is 0 or negative.

        Examples
        --------
        >>> texts = hr.Dataset.range(1, 6).map(
        ...     lambda n: np.arange(n), executor="python",
        ...     output_signature=hr.TensorSpec([None], np.int64))
        >>> [b.shape for b in texts.bucket_by_sequence_length(lambda x: x.shape[0], [3], [2, 3])]
        [(2, 2), (3, 5)]
        """
        buckets = Buckets(
            self._plan.element_spec,
            element_length_func,
            bucket_boundaries,
            bucket_batch_sizes,
            padded_shapes,
            padding_values,
            map_structure(partial(checks.flag, "pad_to_bucket_boundary"), pad_to_bucket_boundary),
            checks.flag("no_padding", no_padding),
            checks.flag("drop_remainder", drop_remainder),
        )
        return self.group_by_window(
            buckets.key_func, buckets.reduce_func, window_size_func=buckets.window_size_func
        )

    def unbatch(self, name: str | None = None) -> Dataset[Any]:
        """Split elements along axis 0; mirrors ``tf.data.Dataset.unbatch``.

        Parameters
        ----------
        name
            Accepted for tf.data's sake.

        Raises
        ------
        ValueError
            A component is a scalar, or the sizes differ.

        Examples
        --------
        >>> list(hr.Dataset.from_tensors([1, 2]).unbatch())
        [np.int64(1), np.int64(2)]
        """
        checks.unbatched(self._plan.element_spec)
        return self._derive("unbatch")

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
        if not isinstance(dataset, Dataset):
            raise TypeError(f"`dataset` must be a Dataset, got {dataset!r}")
        checks.same_elements(self._plan.element_spec, dataset._plan.element_spec)
        return _make("concatenate", (self, dataset))

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

    def cache(self, filename: Any = "", name: str | None = None) -> Dataset[T_co]:
        """Keep the elements of the first pass for later ones; mirrors ``tf.data.Dataset.cache``.

        A pass counts once it has reached the end; one that is left early keeps nothing. Random
        order upstream is frozen: every pass has the first one's. In memory, the elements belong
        to this dataset, and all iterators share them.

        Parameters
        ----------
        filename
            Where to keep them: in files whose names begin with it, and which stay. While they are
            written there is a lock file; another process that reads meanwhile makes the elements
            itself. ``""``: in memory.
        name
            Accepted for tf.data's sake.

        Raises
        ------
        AlreadyExistsError
            During iteration: another iterator of this process is writing the files.
        FailedPreconditionError
            During iteration: the files hold elements of other types, of another pipeline.
        InvalidArgumentError
            During iteration: opaque objects cannot be kept in files.

        Examples
        --------
        >>> cached = hr.Dataset.range(5).shuffle(5, seed=1).cache()
        >>> list(cached) == list(cached)
        True
        """
        return self._derive("cache", filename=checks.path("filename", filename) or None)

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

    def save(
        self,
        path: Any,
        compression: str | None = None,
        shard_func: Callable[..., Any] | None = None,
        checkpoint_args: Any = None,
    ) -> None:
        """Write all elements into files, for `load`; mirrors ``tf.data.Dataset.save``.

        The format is headrace's own. What was saved there before is replaced once all is written.

        Parameters
        ----------
        path
            A folder, which is made if there is none.
        compression
            ``None``, ``"GZIP"``, or ``"AUTO"`` and ``"SNAPPY"``, which are the quickest.
        shard_func
            A function of an element that gives the number of the file it goes to, int64; ``None``:
            one file for all.
        checkpoint_args
            A dict that makes a saving one that goes on where it was interrupted, when it is called
            again with the same arguments: ``"directory"``, the folder of its checkpoints;
            ``"checkpoint_interval"``, the elements between two of them (at least; a chunk ends
            first), 1 by default; ``"max_to_keep"``, 1 by default, ``None`` for all;
            ``"checkpoint_name"``, ``"ckpt"`` by default; ``"step_counter"``, a variable to which
            the number of elements is added. The keys of ``tf.train.CheckpointManager``.

        Raises
        ------
        DataLossError
            The files of an interrupted saving are damaged or gone.
        InvalidArgumentError
            Opaque objects cannot be written; an unknown compression; a negative shard; a key that
            is none; checkpoints of another pipeline.

        Examples
        --------
        >>> import tempfile
        >>> folder = tempfile.mkdtemp()
        >>> hr.Dataset.range(4).save(folder, shard_func=lambda x: x % 2)
        >>> list(hr.Dataset.load(folder).batch(4))
        [array([0, 1, 2, 3])]
        """
        from .saved import save

        save(self, path, compression, shard_func, checkpoint_args)

    def snapshot(
        self,
        path: Any,
        compression: str | None = "AUTO",
        reader_func: Callable[..., Any] | None = None,
        shard_func: Callable[..., Any] | None = None,
        name: str | None = None,
    ) -> Dataset[T_co]:
        """Keep the elements of the first pass in files; mirrors ``tf.data.Dataset.snapshot``.

        As `cache` with a file name, but the files belong to this very pipeline: one with other
        steps, arguments or data writes its own. An iterator that finds another one writing makes
        its elements itself.

        Parameters
        ----------
        path
            A folder for the files of any number of pipelines.
        compression
            ``None``, ``"GZIP"``, or ``"AUTO"`` and ``"SNAPPY"``, which are the quickest.
        reader_func
            Gets the dataset of the shards, themselves datasets, and returns that of the elements of
            later passes: in another order, or a part of them (the cardinality stays that of the
            first pass). By default the shards are interleaved, as many as the machine has cores.
        shard_func
            Returns the number of the shard that an element is written to, an int64 from 0 on.
        name
            Accepted for tf.data's sake.

        Raises
        ------
        InvalidArgumentError
            An unknown compression. During iteration: opaque objects cannot be written, and the
            number of a shard is negative.
        TypeError
            `shard_func` returns no integer; `reader_func` no dataset, in the later pass.

        Examples
        --------
        >>> import tempfile
        >>> numbers = hr.Dataset.range(5).shuffle(5, seed=1).snapshot(tempfile.mkdtemp())
        >>> list(numbers) == list(numbers)
        True
        """
        from .saved import snapshot

        return snapshot(self, path, compression, reader_func, shard_func)

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

    # ------------------------------------------------------------------ options

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
        return _make("with_options", (self,), options=Options().merge(options))

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
        pending: list[Dataset[Any]] = [self]
        seen: set[int] = set()
        while pending:
            dataset = pending.pop()
            if id(dataset) not in seen:
                seen.add(id(dataset))
                said += [] if dataset._options is None else [dataset._options]
                pending += flatten(dataset._inputs)
        return said[::-1]

    # ---------------------------------------------------------------- iteration

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
        with self.iterator() as iterator:
            elements = list(islice(iterator, 2))
        if len(elements) != 1:
            many = "had more than one element" if elements else "was empty"
            raise InvalidArgumentError(f"Dataset {many}.")
        return elements[0]

    # ------------------------------------------------------------------ looking

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

    def __repr__(self) -> str:
        return f"<{_class_name(self._op)} element_spec={self.element_spec!r}>"

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
        from .explain import explain

        return explain(self, checks.flag("rewritten", rewritten))

    def __debug_string__(self) -> str:
        """Return the plan as text; mirrors ``tf.data``'s method of this name."""
        return self.explain()

    # ----------------------------------------------------------------- the plan

    def _derive(self, op: str, **args: Any) -> Dataset[Any]:
        return _make(op, (self,), **args)

    @classmethod
    def _adapted(cls, op: str, inputs: Any, args: dict[str, Any]) -> dict[str, Any]:
        """Return the arguments of a step as this family of datasets has them."""
        return args

    @classmethod
    def _class_of(cls, op: str) -> type[Dataset[Any]]:
        """Return the class of the result of a step."""
        return _CLASSES.get(op, cls)

    def __reduce__(self) -> tuple[Any, ...]:
        if self._op == "nested":
            raise TypeError("a dataset that is part of an element does not pickle")
        drawing = _drawing(self)
        seeds = None if drawing is None else drawing.seeds()
        return _restore, (self._op, self._inputs, pack_arrays(self._args), seeds)


class TFRecordDataset(Dataset[bytes]):
    """Yield the records of TFRecord files; mirrors ``tf.data.TFRecordDataset``.

    Both checksums of each record are checked. Files are opened when their turn comes. One without
    records is named in a warning of the logger ``headrace``, once in the life of the process;
    ``logging.getLogger("headrace").setLevel("ERROR")`` turns that off.

    Parameters
    ----------
    filenames
        A path, many, or a dataset of them. Paths are taken as they are, without globbing.
    compression_type
        ``None`` or ``""``, ``"GZIP"``, ``"ZLIB"``.
    buffer_size
        Bytes of a read; ``None`` lets headrace choose.
    num_parallel_reads
        ``None`` or 1: one file after the other. More: so many files are read at a time, and one
        record comes from each in turn; `AUTOTUNE`: as many as there are cores.
    name
        Accepted for tf.data's sake.
    index
        Where records lie is written down in a small file, so that the dataset knows its length, has
        random access (``dataset[i]``, ``shuffle(None)``), and skips and shards without reading.
        ``"auto"``: beside each file, under a hidden name; a pass that reads an uncompressed file
        whole leaves it behind, and what is missing or stale is made when a length or an element by
        number is asked for. Where it cannot be written it is kept in
        memory. A path: the folder (or, for a single file, the index) that ``headrace index`` or
        `headrace.io.index_tfrecord` wrote; it is never written to, and an index that is missing or
        stale is an error. tf.data has nothing of the kind.
    on_corruption
        ``"raise"``, or ``"skip"``: damaged records are left out, and reading goes on with the next
        record there is. tf.data has no such argument.
    corruption_limit
        With ``"skip"``: after so many damaged places the next ones raise; ``None``: none does.

    Raises
    ------
    TypeError
        A file name is not a path.
    InvalidArgumentError
        An unknown compression or `on_corruption`; a `corruption_limit` that is negative, or given
        without ``"skip"``; ``"skip"`` with an index; one index for several files.
    NotFoundError, FailedPreconditionError
        An index that was given by its path is missing, or not that of the file.
    NotFoundError, DataLossError
        During iteration: a file is missing or damaged; the text has file, record and byte.

    Notes
    -----
    With ``on_corruption="skip"`` no record comes that was not written: both its checksums hold. A
    damaged payload is passed over by its length, and a length by its checksum. Where both are gone,
    or bytes are missing or too many, the next record is searched for. It counts where the records
    from there on lead to the end of the file or are far more than one record is likely to hold, or
    the damaged record is seen to end before it; so what only looks like records, within a damaged
    record that holds a file itself, is not taken for them. In doubt a stretch between two places of
    such damage is left out. A file that is cut off loses its last record, and a damaged compressed
    stream all from there on. A file of another kind (compressed in another way, a Git LFS pointer)
    raises.

    `Iterator.report` tells file, offset and bytes of each damaged place, and a warning of the
    logger ``headrace`` names each damaged file once. Places are counted over all files in the order
    of the elements, from the start of each epoch.

    Examples
    --------
    >>> hr.TFRecordDataset(["a.tfrecord", "b.tfrecord"])
    <TFRecordDataset element_spec=TensorSpec(shape=(), dtype=bytes)>
    >>> import os, tempfile
    >>> path = os.path.join(tempfile.mkdtemp(), "a.tfrecord")
    >>> with hr.io.TFRecordWriter(path) as writer:
    ...     for record in [b"a", b"b", b"c"]:
    ...         writer.write(record)
    >>> records = hr.TFRecordDataset(path, index="auto")
    >>> len(records), records[1]
    (3, b'b')

    Leaving damage out, and asking what it was:

    >>> path = os.path.join(tempfile.mkdtemp(), "a.tfrecord")
    >>> with hr.io.TFRecordWriter(path) as writer:
    ...     for record in (b"one", b"two", b"three"):
    ...         writer.write(record)
    >>> with open(path, "r+b") as file:
    ...     _ = file.seek(19 + 12), file.write(b"?")
    >>> iterator = iter(hr.TFRecordDataset(path, on_corruption="skip"))
    >>> list(iterator)
    [b'one', b'three']
    >>> [(place.offset, place.bytes) for place in iterator.report().places]
    [(19, 19)]
    """

    __slots__ = ()

    def __new__(
        cls,
        filenames: Any,
        compression_type: str | None = None,
        buffer_size: int | None = None,
        num_parallel_reads: int | None = None,
        name: str | None = None,
        *,
        index: str | os.PathLike[str] | None = None,
        on_corruption: str = "raise",
        corruption_limit: int | None = None,
    ) -> TFRecordDataset:
        """Check the arguments and make the plan."""
        from .readers import RECORD, reader

        if isinstance(filenames, PyIterator):
            filenames = list(filenames)
        salvage = checks.on_corruption(on_corruption, corruption_limit, index)
        size = None if buffer_size is None else checks.integer("buffer_size", buffer_size)
        compression = checks.compression(compression_type)
        args = {
            "compression_type": compression,
            "buffer_size": size,
            "num_parallel_reads": num_parallel_reads,
            "index": checks.index_place(index),
            "salvage": salvage,
        }
        made: Any = reader("tfrecord", filenames, num_parallel_reads, args, RECORD)
        if salvage:
            made = made._derive("salvage", corruption_limit=corruption_limit)
        in_turn = made._op == "interleave" and not isinstance(filenames, Dataset)
        if args["index"] is not None and in_turn:
            one_by_one = _make("tfrecord", (), filenames=checks.paths(filenames), **args)
            cycle = made._args["cycle_length"]
            made = _make("counted", (made, one_by_one), cycle_length=cycle)
        return made  # type: ignore[no-any-return]

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        pass


# The classes of ops that have one of their own.
_CLASSES: dict[str, type[Dataset[Any]]] = {
    "tfrecord": TFRecordDataset,
    "counted": TFRecordDataset,
    "salvage": TFRecordDataset,
}


def _own_of_shard(count: int, index: int, place: Any, numbered: tuple[Any, Any]) -> Any:
    """Return an element of a shard, and whether its number is the one that is due in its place."""
    number, element = numbered
    return element, number == place * count + index


def _make(op: str, inputs: Any, **args: Any) -> Dataset[Any]:
    """Make a dataset of one more step. `inputs` is a nest of datasets, plain for most ops."""
    family = next((d._family for d in flatten(inputs) if d._family is not None), Dataset)
    args = family._adapted(op, inputs, args)
    plans = map_structure(lambda dataset: dataset._plan, inputs)
    if op == "with_options":
        plan = plans[0]
    elif op == "zip":
        plan = _headrace.zip(plans)
    elif op in ("choose_from_datasets", "sample_from_datasets"):
        plan = getattr(_headrace, op)(list(plans[0]), plans[1], **args)
    else:
        plan = getattr(_headrace, op)(*plans, **args)
    if any(map(standin.is_symbolic, args.values())):
        plan = _headrace.placeholder(standin.of_plan(plan, args))
    dataset: Dataset[Any] = object.__new__(family._class_of(op))
    dataset._plan = plan
    dataset._op = op
    dataset._inputs = inputs
    dataset._args = args
    dataset._options = args.get("options")
    return dataset


def dataset_of_plan(plan: _headrace.Plan) -> Dataset[Any]:
    """Return a plan that is a component of an element as a dataset."""
    dataset: Dataset[Any] = object.__new__(Dataset)
    dataset._plan = plan
    dataset._op = "nested"
    dataset._inputs = ()
    dataset._args = {}
    dataset._options = None
    return dataset


def _restore(
    op: str, inputs: Any, args: dict[str, Any], seeds: tuple[int, int, int] | None
) -> Dataset[Any]:
    args = unpack_arrays(args)
    if seeds is None:
        return _make(op, inputs, **args)
    dataset = _make(op, inputs, **(args | {"seeds": seeds[:2]}))
    drawing = _drawing(dataset)
    if drawing is not None:
        drawing.advance_seeds(seeds[2])
    return dataset


def _drawing(dataset: Dataset[Any]) -> _headrace.Plan | None:
    """Return the node of a dataset's own step that draws seeds."""
    match dataset._op:
        case "random" | "shuffle":
            return dataset._plan
        case "sample_from_datasets":
            return dataset._plan.inputs[0]
        case "rejection_resample":
            if dataset._plan.name == "reject":
                return dataset._plan
            # Where nothing is to be rejected, nothing is drawn.
            return dataset._plan.inputs[0] if dataset._plan.name == dataset._op else None
    return None


_CLASS_NAMES = {
    "from_tensors": "TensorDataset",
    "from_tensor_slices": "TensorSliceDataset",
    "from_generator": "GeneratorDataset",
    "fixed_length_record": "FixedLengthRecordDataset",
    "text_line": "TextLineDataset",
    "tfrecord": "TFRecordDataset",
    "with_options": "OptionsDataset",
}


def _class_name(op: str) -> str:
    return _CLASS_NAMES.get(op) or "".join(part.title() for part in op.split("_")) + "Dataset"
