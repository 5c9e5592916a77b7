"""Where elements come from: the static methods of `Dataset` that make one of data or files."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, SupportsIndex

import numpy as np

from .. import checks, standin
from ..dtypes import as_dtype, dtype_name
from ..errors import InvalidArgumentError
from ..generator import Source, signature_of
from ..nest import map_structure
from ..seeds import seed_pair
from .step import R, make_step

if TYPE_CHECKING:
    from . import Dataset

__all__ = ["Sources"]


class Sources:
    """What `Dataset` offers to make datasets of data, of files and of nothing."""

    __slots__ = ()

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
        return make_step("range", (), start=start, stop=stop, step=step, dtype=dtype)

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
        return make_step("counter", (), start=first, step=more, dtype=dtype_name(number))

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
        return make_step("random", (), seeds=seed_pair(seed), rerandomize=anew)

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
        return make_step("from_tensors", (), value=value)

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
        return make_step("from_tensor_slices", (), value=value)

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
        return make_step("from_generator", (), source=source)

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
        from ..source import Source

        if isinstance(source, np.ndarray) and output_signature is None and not live:
            return Sources.from_tensor_slices(source)
        return make_step("from_source", (), source=Source(source, output_signature, live))

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
        from ..readers import list_files

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
        from ..saved import load

        return load(path, element_spec, compression, reader_func, wait)
