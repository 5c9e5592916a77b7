"""Sources, mixes and looks at datasets under ``tf.data.experimental``'s names."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, SupportsIndex

import numpy as np

from .. import checks
from ..dataset import Dataset
from ..io import TFRecordWriter as RecordWriter
from ..iterator import Iterator
from ..optional import Optional
from ..spec import UnknownSpec

__all__ = [
    "Counter",
    "RandomDataset",
    "TFRecordWriter",
    "at",
    "cardinality",
    "choose_from_datasets",
    "from_list",
    "get_next_as_optional",
    "get_single_element",
    "get_structure",
    "load",
    "sample_from_datasets",
    "save",
]


def Counter(start: float = 0, step: float = 1, dtype: Any = np.int64) -> Dataset[Any]:
    """Make `Dataset.counter`; mirrors ``tf.data.experimental.Counter``.

    Examples
    --------
    >>> list(Counter(5).take(2))
    [np.int64(5), np.int64(6)]
    """
    return Dataset.counter(start, step, dtype)


class TFRecordWriter:
    """Writes datasets, or records, to a TFRecord file.

    Mirrors ``tf.data.experimental.TFRecordWriter``, which writes datasets only.

    Parameters
    ----------
    filename
        The file; one that exists is replaced.
    compression_type
        ``None`` or ``""``, ``"GZIP"``, ``"ZLIB"``.

    Examples
    --------
    >>> import tempfile, os
    >>> path = os.path.join(tempfile.mkdtemp(), "a.tfrecord")
    >>> TFRecordWriter(path).write(hr.Dataset.from_tensor_slices([b"a", b"b"]))
    >>> list(hr.TFRecordDataset(path))
    [b'a', b'b']
    """

    def __init__(self, filename: Any, compression_type: str | None = None) -> None:
        self._filename = checks.paths([filename])[0]
        self._compression_type = checks.compression(compression_type)
        self._writer: RecordWriter | None = None

    def write(self, dataset: Dataset[Any] | bytes) -> None:
        """Write each element of a dataset, scalar bytes or text, as a record; or one record.

        A dataset makes the file anew. Records are appended until `close`, and each is in the file
        when this returns.

        Raises
        ------
        TypeError
            Elements are anything else.
        """
        if isinstance(dataset, bytes):
            if self._writer is None:
                self._writer = RecordWriter(self._filename, self._compression_type)
            self._writer.write(dataset)
            self._writer.flush()
            return
        if not isinstance(dataset, Dataset):
            raise TypeError(
                f"Invalid `dataset`. Expected a `tf.data.Dataset` object but got {type(dataset)}."
            )
        spec = dataset._plan.element_spec
        known = isinstance(getattr(spec, "dtype", None), type)
        if not isinstance(spec, UnknownSpec) and not (known and spec.shape in ((), None)):
            raise TypeError(
                "Invalid `dataset`. Expected a `dataset` that produces scalar `tf.string` "
                f"elements, but got a dataset which produces elements of {spec!r}."
            )
        self.close()
        with RecordWriter(self._filename, self._compression_type) as writer:
            for record in dataset.as_numpy_iterator():
                writer.write(record.encode() if isinstance(record, str) else record)

    def close(self) -> None:
        """Finish the file. Closing twice does nothing."""
        if self._writer is not None:
            self._writer.close()
            self._writer = None

    def __enter__(self) -> TFRecordWriter:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()


def RandomDataset(
    seed: SupportsIndex | None = None,
    rerandomize_each_iteration: bool | None = None,
    name: str | None = None,
) -> Dataset[np.int64]:
    """Make `Dataset.random`; mirrors ``tf.data.experimental.RandomDataset``.

    Examples
    --------
    >>> next(iter(RandomDataset(seed=4))) == next(iter(hr.Dataset.random(seed=4)))
    np.True_
    """
    return Dataset.random(seed, rerandomize_each_iteration, name)


def from_list(elements: list[Any], name: str | None = None) -> Dataset[Any]:
    """Yield the elements of a list; mirrors ``tf.data.experimental.from_list``.

    Parameters
    ----------
    elements
        Nests of one structure, whose components have one shape each.
    name
        Accepted for tf.data's sake.

    Raises
    ------
    ValueError
        The list is empty or no list, or elements are nested differently.

    Examples
    --------
    >>> list(from_list([(1, "a"), (2, "b")]))
    [(np.int64(1), 'a'), (np.int64(2), 'b')]
    """
    return Dataset.from_tensor_slices(checks.columns(elements))


def load(
    path: Any,
    element_spec: Any = None,
    compression: str | None = None,
    reader_func: Callable[..., Any] | None = None,
) -> Dataset[Any]:
    """Read what `save` wrote; mirrors ``tf.data.experimental.load``. See `Dataset.load`."""
    return Dataset.load(path, element_spec, compression, reader_func)


def save(
    dataset: Dataset[Any],
    path: Any,
    compression: str | None = None,
    shard_func: Callable[..., Any] | None = None,
    checkpoint_args: Any = None,
) -> None:
    """Write a dataset into files; mirrors ``tf.data.experimental.save``. See `Dataset.save`."""
    dataset.save(path, compression, shard_func, checkpoint_args)


def choose_from_datasets(
    datasets: Iterable[Dataset[Any]],
    choice_dataset: Dataset[Any],
    stop_on_empty_dataset: bool = False,
) -> Dataset[Any]:
    """Make `Dataset.choose_from_datasets`, going on where a dataset has ended.

    Mirrors ``tf.data.experimental.choose_from_datasets``.

    Examples
    --------
    >>> pair = [hr.Dataset.range(1), hr.Dataset.range(10, 13)]
    >>> [int(x) for x in choose_from_datasets(pair, hr.Dataset.range(2).repeat(3))]
    [0, 10, 11, 12]
    """
    return Dataset.choose_from_datasets(datasets, choice_dataset, stop_on_empty_dataset)


def sample_from_datasets(
    datasets: Iterable[Dataset[Any]],
    weights: Any = None,
    seed: SupportsIndex | None = None,
    stop_on_empty_dataset: bool = False,
) -> Dataset[Any]:
    """Make `Dataset.sample_from_datasets`; mirrors ``tf.data.experimental.sample_from_datasets``.

    Examples
    --------
    >>> len(list(sample_from_datasets([hr.Dataset.range(3), hr.Dataset.range(2)])))
    5
    """
    return Dataset.sample_from_datasets(datasets, weights, seed, stop_on_empty_dataset)


def at(dataset: Dataset[Any], index: SupportsIndex) -> Any:
    """Return element `index` of `dataset`; mirrors ``tf.data.experimental.at``.

    Elements before it are not made. See ``dataset[index]``, which counts from the end too.

    Raises
    ------
    OutOfRangeError
        There is no such element.
    FailedPreconditionError
        The number of elements is infinite or unknown.
    UnimplementedError
        A step of the pipeline has to run through its elements.

    Examples
    --------
    >>> at(hr.Dataset.range(10).map(lambda x: x * x), 7)
    np.int64(49)
    """
    return dataset._at(checks.integer("index", index))


def cardinality(dataset: Dataset[Any]) -> int:
    """Return how many elements `dataset` has; mirrors ``tf.data.experimental.cardinality``.

    Examples
    --------
    >>> cardinality(hr.Dataset.range(3))
    3
    """
    return dataset.cardinality()


def get_single_element(dataset: Dataset[Any]) -> Any:
    """Return the only element; mirrors ``tf.data.experimental.get_single_element``.

    Examples
    --------
    >>> get_single_element(hr.Dataset.from_tensors("a"))
    'a'
    """
    return dataset.get_single_element()


def get_structure(dataset_or_iterator: Any) -> Any:
    """Return the element spec; mirrors ``tf.data.experimental.get_structure``.

    Raises
    ------
    TypeError
        The argument has none.

    Examples
    --------
    >>> get_structure(hr.Dataset.range(3))
    TensorSpec(shape=(), dtype=int64)
    """
    try:
        return dataset_or_iterator.element_spec
    except AttributeError:
        raise TypeError(
            "`dataset_or_iterator` must be a Dataset or an iterator of one, got "
            f"{dataset_or_iterator!r}"
        ) from None


def get_next_as_optional(iterator: Iterator[Any]) -> Optional[Any]:
    """Return `Iterator.get_next_as_optional`.

    Mirrors ``tf.data.experimental.get_next_as_optional``.

    Examples
    --------
    >>> get_next_as_optional(iter(hr.Dataset.range(3)))
    Optional(np.int64(0))
    """
    return iterator.get_next_as_optional()
