"""The `Dataset` of ``tf.data``: headrace's, with tensors in and out.

Every method of `headrace.Dataset` is here, under the same name. Values become tensors by
TensorFlow's rules (lists int32 or float32, text bytes), functions get tensors and are traced when
the method is called, and iterating yields tensors.
"""

from __future__ import annotations

import functools
import inspect
import types
from collections.abc import Callable, Iterable, Sequence
from typing import Any, ClassVar, Literal

import numpy as np

from ... import _headrace
from ... import dataset as own
from ... import spec as own_spec
from ...function import Function
from ...generator import Source, signature_of
from ...nest import is_structure
from ...ops import refuse_in_trace
from ...spec import UnknownSpec
from ...standin import has_symbols, stand_in
from .. import specs
from ..bridge import source
from ..convert import convert, is_symbol
from ..dtypes import int64
from ..functions import tensor_function
from ..tensor import wrap
from .arguments import argument, tensors, wrapped
from .generator import TensorSource
from .iterator import Iterator, NumpyIterator

__all__ = ["Dataset", "adopt"]


class Dataset(own.Dataset[Any]):
    """A pipeline that yields tensors; mirrors ``tf.data.Dataset``.

    Examples
    --------
    >>> dataset = tf.data.Dataset.range(3).map(lambda x: x * 2)
    >>> list(dataset.as_numpy_iterator())
    [np.int64(0), np.int64(2), np.int64(4)]
    >>> dataset.element_spec
    TensorSpec(shape=(), dtype=tf.int64, name=None)
    """

    # Programs hang names of their own on datasets, such as `class_names`.
    __slots__ = ("__dict__",)

    _family: ClassVar[Any]

    # What functions and steps are here.

    @classmethod
    def _adapted(cls, op: str, inputs: Any, args: dict[str, Any]) -> dict[str, Any]:
        """Return the arguments of a step with functions that follow TensorFlow's rules."""
        made = {
            name: tensor_function(value, f"Dataset.{op}()")
            if isinstance(value, Function)
            else value
            for name, value in args.items()
        }
        if "predicate" in made and len(inputs) == 1:
            _check_predicate(made["predicate"], inputs[0]._plan.element_spec)
        return made

    @classmethod
    def _class_of(cls, op: str) -> type[own.Dataset[Any]]:
        """Return the class of the result of a step."""
        return Dataset

    # Sources.

    @staticmethod
    def from_tensors(tensors: Any, name: str | None = None) -> Any:
        """Yield one element; mirrors ``tf.data.Dataset.from_tensors``.

        Parameters
        ----------
        tensors
            A nest of values; each becomes a tensor, a list too.
        name
            Accepted for tf.data's sake.

        Raises
        ------
        ValueError, TypeError
            A value that is no tensor.

        Examples
        --------
        >>> tf.data.Dataset.from_tensors([1, 2]).element_spec
        TensorSpec(shape=(2,), dtype=tf.int32, name=None)
        """
        return adopt(own.Dataset.from_tensors(source(tensors)))

    @staticmethod
    def from_tensor_slices(tensors: Any, name: str | None = None) -> Any:
        """Yield the slices along axis 0; mirrors ``tf.data.Dataset.from_tensor_slices``.

        Parameters
        ----------
        tensors
            A nest of values of one size along axis 0. Arrays keep their dtype and are borrowed.
        name
            Accepted for tf.data's sake.

        Raises
        ------
        ValueError, TypeError
            A value that is no tensor, or sizes that differ.

        Examples
        --------
        >>> for value in tf.data.Dataset.from_tensor_slices(["a", "b"]):
        ...     print(value.numpy())
        b'a'
        b'b'
        """
        return adopt(own.Dataset.from_tensor_slices(source(tensors)))

    @staticmethod
    def from_generator(
        generator: Callable[..., Iterable[Any]],
        output_types: Any = None,
        output_shapes: Any = None,
        args: Any = None,
        output_signature: Any = None,
        name: str | None = None,
        *,
        live: bool = False,
    ) -> Any:
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
            See `headrace.Dataset.from_generator`.

        Raises
        ------
        TypeError
            `generator` is not callable, or nothing says what it yields.
        InvalidArgumentError
            During iteration, for an element that does not fit.

        Examples
        --------
        >>> dataset = tf.data.Dataset.from_generator(lambda: range(2), output_types=tf.int32)
        >>> list(dataset.as_numpy_iterator())
        [np.int32(0), np.int32(1)]
        """
        if not callable(generator):
            raise TypeError("`generator` must be a Python callable.")
        if output_signature is not None:
            _check_signature(output_signature)
        signature = signature_of(
            argument(output_types), argument(output_shapes), argument(output_signature)
        )
        if args is not None and not isinstance(args, tuple | list):
            raise TypeError(f"`args` must be a tuple, got {args!r}")
        if has_symbols(args):
            return adopt(stand_in(signature))
        given = tuple(np.asarray(source(arg), _text_dtype(arg)) for arg in args or ())
        plain = Source(generator, signature, given, live)
        return adopt(own.make_step("from_generator", (), source=TensorSource(plain)))

    @staticmethod
    def list_files(
        file_pattern: Any, shuffle: Any = None, seed: Any = None, name: str | None = None
    ) -> Any:
        """Yield the paths that match a pattern; mirrors ``tf.data.Dataset.list_files``.

        See `headrace.Dataset.list_files`. Hidden files match like any other, as in TensorFlow.

        Examples
        --------
        >>> import os, tempfile
        >>> folder = tempfile.mkdtemp()
        >>> open(os.path.join(folder, ".a.txt"), "w").close()
        >>> len(tf.data.Dataset.list_files(os.path.join(folder, "*.txt")))
        1
        """
        from ...readers import list_files

        given = argument(file_pattern), argument(shuffle), argument(seed)
        return adopt(list_files(*given, hidden=True, as_bytes=True))

    # Steps.

    def group_by_window(
        self,
        key_func: Callable[..., Any],
        reduce_func: Callable[..., Any],
        window_size: Any = None,
        window_size_func: Callable[..., Any] | None = None,
        name: str | None = None,
        *,
        order: Literal["key", "first"] = "key",
    ) -> Any:
        """Make a dataset of each group; mirrors ``tf.data.Dataset.group_by_window``.

        See `headrace.Dataset.group_by_window`. Keys and window sizes that are Python's become
        int64.

        Examples
        --------
        >>> groups = tf.data.Dataset.range(4).group_by_window(
        ...     lambda x: x % 2, lambda key, group: group.batch(2), window_size=2)
        >>> list(groups.as_numpy_iterator())
        [array([0, 2]), array([1, 3])]
        """
        size_func = window_size_func and _int64(window_size_func)
        size = argument(window_size)
        if size is not None and window_size_func is None and not is_symbol(size) and size < 1:
            # TensorFlow looks at it in the run.
            wrong, size = int(size), None
            size_func = _int64(lambda key: wrong)
        key = _int64(key_func)
        return super().group_by_window(key, reduce_func, size, size_func, order=order)

    def snapshot(
        self,
        path: Any,
        compression: str | None = "AUTO",
        reader_func: Callable[..., Any] | None = None,
        shard_func: Callable[..., Any] | None = None,
        name: str | None = None,
    ) -> Any:
        """Keep the elements in files; mirrors ``tf.data.Dataset.snapshot``.

        See `headrace.Dataset.snapshot`.

        Examples
        --------
        >>> import tempfile
        >>> kept = tf.data.Dataset.range(4).snapshot(
        ...     tempfile.mkdtemp(), shard_func=lambda x: x % 2,
        ...     reader_func=lambda shards: shards.flat_map(lambda shard: shard))
        >>> [list(kept.as_numpy_iterator()) for _ in range(2)][1]
        [np.int64(0), np.int64(2), np.int64(1), np.int64(3)]
        """
        reader = _adopting(reader_func)
        if reader is not None:  # TensorFlow calls it when the dataset is made
            made = reader(stand_in(own_spec.DatasetSpec(self._plan.element_spec)))
            if not isinstance(made, own.Dataset):
                raise TypeError(f"`reader_func` must return a `Dataset` object. Got {type(made)}.")
        return super().snapshot(argument(path), compression, reader, shard_func)

    @staticmethod
    def load(
        path: Any,
        element_spec: Any = None,
        compression: str | None = None,
        reader_func: Callable[..., Any] | None = None,
        wait: bool = False,
    ) -> Any:
        """Yield the elements of a saved dataset; mirrors ``tf.data.Dataset.load``.

        See `headrace.Dataset.load`.

        Examples
        --------
        >>> import tempfile
        >>> folder = tempfile.mkdtemp()
        >>> tf.data.Dataset.range(2).save(folder)
        >>> list(tf.data.Dataset.load(folder).as_numpy_iterator())
        [np.int64(0), np.int64(1)]
        """
        spec = argument(element_spec)
        reader = _adopting(reader_func)
        return adopt(own.Dataset.load(argument(path), spec, compression, reader, wait))

    # Iterating.

    def iterator(
        self, state: str | Sequence[str] | None = None, *, checkpointable: bool = False
    ) -> Iterator:
        """Start a run; see `headrace.Dataset.iterator`."""
        refuse_in_trace("iterates over a dataset")
        if state is not None and not isinstance(state, str):
            state = _headrace.reshard(self._plan, list(state))
        run = Iterator(self._plan, self.options().to_json(), state, checkpointable)
        run._dataset = self
        run._checkpointable = checkpointable
        return run

    def __iter__(self) -> Iterator:
        return self.iterator()

    def as_numpy_iterator(self) -> Any:
        """Start a run that yields NumPy's values; mirrors ``tf.data.Dataset.as_numpy_iterator``.

        Raises
        ------
        TypeError
            Elements hold datasets.

        Examples
        --------
        >>> next(tf.data.Dataset.from_tensors("a").as_numpy_iterator())
        b'a'
        """
        from ...nest import flatten

        for leaf in flatten(specs.from_own(self._plan.element_spec)):
            if isinstance(leaf, specs.DatasetSpec | specs.OptionalSpec):
                raise TypeError(
                    "`tf.data.Dataset.as_numpy_iterator()` is not supported for datasets that "
                    f"produce values of type {leaf.value_type}"
                )
        return NumpyIterator(self)

    def make_one_shot_iterator(self) -> Iterator:
        """Start a run; the method of TensorFlow 1, kept for the code that calls it.

        Examples
        --------
        >>> tf.data.Dataset.range(2).make_one_shot_iterator().get_next().numpy()
        np.int64(0)
        """
        return self.iterator()

    # Looking.

    @property
    def element_spec(self) -> Any:
        """What elements look like, a nest of `tf.TypeSpec`.

        Examples
        --------
        >>> tf.data.Dataset.range(3).batch(2).element_spec
        TensorSpec(shape=(None,), dtype=tf.int64, name=None)
        """
        return specs.from_own(self._plan.element_spec)

    def cardinality(self) -> Any:
        """Return how many elements there are, an int64 tensor.

        Examples
        --------
        >>> tf.data.Dataset.range(3).cardinality().numpy()
        np.int64(3)
        """
        return wrap(np.int64(self._plan.count()))

    def fingerprint(self) -> Any:
        """Return 64 bits that tell this pipeline from others, a uint64 tensor.

        Examples
        --------
        >>> tf.data.Dataset.range(3).fingerprint().dtype
        tf.uint64
        """
        return wrap(super().fingerprint())

    def _at(self, index: int) -> Any:
        return tensors(super()._at(index))

    @property
    def _type_spec(self) -> Any:
        return specs.DatasetSpec(self.element_spec)

    def __reduce__(self) -> tuple[Any, ...]:
        return _restored, (super().__reduce__(),)


Dataset._family = Dataset


def adopt(dataset: own.Dataset[Any], kind: type[Dataset] = Dataset) -> Any:
    """Return a dataset of headrace as one of ``tf.data``; it is the same plan."""
    if isinstance(dataset, kind):
        return dataset
    made = object.__new__(kind)
    made._plan, made._op, made._args = dataset._plan, dataset._op, dataset._args
    made._inputs, made._depth, made._options = dataset._inputs, dataset._depth, dataset._options
    return made


def _restored(reduced: tuple[Callable[..., own.Dataset[Any]], tuple[Any, ...]]) -> Any:
    make, args = reduced
    return adopt(make(*args))


def _check_predicate(predicate: Any, element_spec: Any) -> None:
    """Refuse a predicate that gives a structure; the engine checks what a tensor is."""
    if predicate.executor == "python" or isinstance(element_spec, UnknownSpec):
        return
    found = predicate.traced(element_spec)
    gives = found.element_spec if found.graph is None else found.graph.structure_spec
    if is_structure(gives):
        raise ValueError(
            "Invalid `predicate`. `predicate` must return a `tf.bool` scalar tensor, but its "
            f"return type is {gives!r}."
        )


def _check_signature(signature: Any) -> None:
    from ...nest import flatten

    for leaf in flatten(signature):
        if not isinstance(leaf, specs.TypeSpec):
            raise TypeError(
                "`output_signature` must contain objects that are subclass of `tf.TypeSpec` but "
                f"found {type(leaf)} which is not."
            )


def _int64(function: Any) -> Any:
    """Return a function whose results are int64; tensors of another dtype are refused."""
    if not callable(function):
        return function

    @functools.wraps(function)
    def called(*args: Any) -> Any:
        return convert(function(*args), int64)

    return called


def _adopting(function: Any) -> Any:
    """Return a function of a dataset that gets it as one of this package."""
    return function and functools.partial(_adopted_call, function)


def _adopted_call(function: Callable[..., Any], dataset: own.Dataset[Any]) -> Any:
    return function(adopt(dataset))


def _text_dtype(value: Any) -> Any:
    return object if isinstance(source(value), bytes) else None


def _inherit() -> None:
    """Give every method of headrace's class TensorFlow's arguments and results."""
    for name in dir(own.Dataset):
        if name.startswith("_") or name in vars(Dataset):
            continue
        entry = inspect.getattr_static(own.Dataset, name)
        if isinstance(entry, staticmethod):
            setattr(Dataset, name, staticmethod(wrapped(entry.__func__)))
        elif isinstance(entry, types.FunctionType):
            setattr(Dataset, name, wrapped(entry))


_inherit()
