"""Functions that make transformations for `Dataset.apply`; mirrors ``tf.data.experimental``.

Most of them are methods of `Dataset` by now and stay here for code that uses them so.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import Any, SupportsIndex, TypeAlias

import numpy as np

from . import checks
from .checks import AUTOTUNE, INFINITE_CARDINALITY, UNKNOWN_CARDINALITY
from .dataset import Dataset
from .errors import UnimplementedError
from .feature_datasets import make_batched_features_dataset, parse_example_dataset
from .io import TFRecordWriter as RecordWriter
from .iterator import Iterator
from .make_csv import make_csv_dataset
from .nest import map_structure
from .optional import Optional
from .options import (
    AutoShardPolicy,
    AutotuneAlgorithm,
    AutotuneOptions,
    DistributeOptions,
    ExternalStatePolicy,
    OptimizationOptions,
    ThreadingOptions,
)
from .readers import CsvDataset
from .spec import UnknownSpec

__all__ = [
    "AUTOTUNE",
    "INFINITE_CARDINALITY",
    "UNKNOWN_CARDINALITY",
    "AutoShardPolicy",
    "AutotuneAlgorithm",
    "AutotuneOptions",
    "Counter",
    "CsvDataset",
    "DistributeOptions",
    "ExternalStatePolicy",
    "OptimizationOptions",
    "Optional",
    "RandomDataset",
    "TFRecordWriter",
    "ThreadingOptions",
    "assert_cardinality",
    "at",
    "bucket_by_sequence_length",
    "cardinality",
    "choose_from_datasets",
    "copy_to_device",
    "dense_to_ragged_batch",
    "dense_to_sparse_batch",
    "enumerate_dataset",
    "from_list",
    "get_next_as_optional",
    "get_single_element",
    "get_structure",
    "group_by_window",
    "ignore_errors",
    "load",
    "make_batched_features_dataset",
    "make_csv_dataset",
    "map_and_batch",
    "pad_to_cardinality",
    "parallel_interleave",
    "parse_example_dataset",
    "prefetch_to_device",
    "rejection_resample",
    "sample_from_datasets",
    "save",
    "scan",
    "shuffle_and_repeat",
    "snapshot",
    "take_while",
    "unbatch",
    "unique",
]

Transformation: TypeAlias = Callable[[Dataset[Any]], Dataset[Any]]


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


def assert_cardinality(expected_cardinality: SupportsIndex) -> Transformation:
    """Promise how many elements there are; mirrors ``tf.data.experimental.assert_cardinality``.

    Parameters
    ----------
    expected_cardinality
        How many, or `INFINITE_CARDINALITY`.

    Raises
    ------
    InvalidArgumentError
        Another negative number.
    FailedPreconditionError
        During iteration, if there are more or fewer.

    Examples
    --------
    >>> odd = hr.Dataset.range(5).filter(lambda x: x % 2 == 1)
    >>> len(odd.apply(assert_cardinality(2)))
    2
    """
    count = checks.at_least("expected_cardinality", expected_cardinality, INFINITE_CARDINALITY)
    return lambda dataset: dataset._derive("assert_cardinality", expected=count)


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


def dense_to_ragged_batch(
    batch_size: SupportsIndex, drop_remainder: bool = False, row_splits_dtype: Any = np.int64
) -> Transformation:
    """Make `Dataset.ragged_batch`; mirrors ``tf.data.experimental.dense_to_ragged_batch``.

    Examples
    --------
    >>> list(hr.Dataset.range(3).apply(dense_to_ragged_batch(2)))
    [array([0, 1]), array([2])]
    """
    return lambda dataset: dataset.ragged_batch(batch_size, drop_remainder, row_splits_dtype)


def dense_to_sparse_batch(batch_size: SupportsIndex, row_shape: Any) -> Transformation:
    """Make `Dataset.sparse_batch`; mirrors ``tf.data.experimental.dense_to_sparse_batch``.

    Examples
    --------
    >>> hr.Dataset.range(3).apply(dense_to_sparse_batch(2, [])).element_spec
    SparseTensorSpec(shape=(None,), dtype=int64)
    """
    return lambda dataset: dataset.sparse_batch(batch_size, row_shape)


def enumerate_dataset(start: SupportsIndex = 0) -> Transformation:
    """Make `Dataset.enumerate`; mirrors ``tf.data.experimental.enumerate_dataset``.

    Examples
    --------
    >>> list(hr.Dataset.range(1).apply(enumerate_dataset(7)))
    [(np.int64(7), np.int64(0))]
    """
    return lambda dataset: dataset.enumerate(start)


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


def ignore_errors(log_warning: bool = False) -> Transformation:
    """Make `Dataset.ignore_errors`; mirrors ``tf.data.experimental.ignore_errors``.

    Examples
    --------
    >>> len(list(hr.Dataset.range(3).apply(ignore_errors())))
    3
    """
    return lambda dataset: dataset.ignore_errors(log_warning)


def map_and_batch(
    map_func: Callable[..., Any],
    batch_size: SupportsIndex,
    num_parallel_batches: int | None = None,
    drop_remainder: bool = False,
    num_parallel_calls: int | None = None,
) -> Transformation:
    """Make `Dataset.map` and `Dataset.batch`; mirrors ``tf.data.experimental.map_and_batch``.

    Raises
    ------
    ValueError
        Both `num_parallel_batches` and `num_parallel_calls` are given.

    Examples
    --------
    >>> list(hr.Dataset.range(3).apply(map_and_batch(lambda x: x + 1, 2)))
    [array([1, 2]), array([3])]
    """
    if num_parallel_batches is not None and num_parallel_calls is not None:
        raise ValueError(
            "`map_and_batch` allows only one of `num_parallel_batches` and `num_parallel_calls` to "
            f"be set, but `num_parallel_batches` was set to {num_parallel_batches} and "
            f"`num_parallel_calls` was set to {num_parallel_calls}."
        )
    calls = num_parallel_calls
    if num_parallel_batches is not None:
        calls = checks.batch_size(batch_size) * num_parallel_batches
    return lambda dataset: dataset.map(map_func, calls).batch(
        batch_size, drop_remainder, num_parallel_calls=calls
    )


def pad_to_cardinality(cardinality: SupportsIndex, mask_key: str = "valid") -> Transformation:
    """Add elements of zeros up to a number; mirrors ``tf.data.experimental.pad_to_cardinality``.

    Ranks that train together take equally many steps so: the mask tells which rows count.

    Parameters
    ----------
    cardinality
        How many elements there will be.
    mask_key
        A component of this name is added: true for elements of the dataset, false for others.

    Raises
    ------
    ValueError
        The elements are no dicts, their number is not known or larger, or a shape is not known.

    Examples
    --------
    >>> rows = hr.Dataset.from_tensor_slices({"x": [7]})
    >>> list(rows.apply(pad_to_cardinality(2)))
    [{'x': np.int64(7), 'valid': np.True_}, {'x': np.int64(0), 'valid': np.False_}]
    """
    count = checks.at_least("cardinality", cardinality, 0)

    def transform(dataset: Dataset[Any]) -> Dataset[Any]:
        spec, present = dataset._plan.element_spec, dataset._plan.cardinality
        if not isinstance(spec, dict):
            raise ValueError("`pad_to_cardinality` requires its input dataset to be a dictionary.")
        if not 0 <= present <= count:
            raise ValueError(
                "The dataset passed into `pad_to_cardinality` must have a known cardinality of at "
                f"most {count}, but has cardinality {present}."
            )
        filler = map_structure(checks.zeros, spec) | {mask_key: np.False_}
        valid = Dataset.from_tensors(np.True_).repeat(present)
        masked = Dataset.zip(dataset, valid).map(lambda row, mask: row | {mask_key: mask})
        return masked.concatenate(Dataset.from_tensors(filler).repeat(count - present))

    return transform


def bucket_by_sequence_length(
    element_length_func: Callable[..., Any],
    bucket_boundaries: Iterable[SupportsIndex],
    bucket_batch_sizes: Iterable[SupportsIndex],
    padded_shapes: Any = None,
    padding_values: Any = None,
    pad_to_bucket_boundary: bool = False,
    no_padding: bool = False,
    drop_remainder: bool = False,
) -> Transformation:
    """Make the method; mirrors ``tf.data.experimental.bucket_by_sequence_length``.

    Examples
    --------
    >>> rows = hr.Dataset.range(3).batch(2)
    >>> list(rows.apply(bucket_by_sequence_length(len, [2], [1, 1])))
    [array([[0, 1]]), array([[2]])]
    """
    return lambda dataset: dataset.bucket_by_sequence_length(
        element_length_func,
        bucket_boundaries,
        bucket_batch_sizes,
        padded_shapes,
        padding_values,
        pad_to_bucket_boundary,
        no_padding,
        drop_remainder,
    )


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


def group_by_window(
    key_func: Callable[..., Any],
    reduce_func: Callable[..., Dataset[Any]],
    window_size: SupportsIndex | None = None,
    window_size_func: Callable[[Any], Any] | None = None,
) -> Transformation:
    """Make `Dataset.group_by_window`; mirrors ``tf.data.experimental.group_by_window``.

    Examples
    --------
    >>> odd_and_even = group_by_window(lambda x: x % 2, lambda key, group: group.batch(9), 9)
    >>> list(hr.Dataset.range(5).apply(odd_and_even))
    [array([0, 2, 4]), array([1, 3])]
    """
    return lambda dataset: dataset.group_by_window(
        key_func, reduce_func, window_size, window_size_func
    )


def load(
    path: Any,
    element_spec: Any = None,
    compression: str | None = None,
    reader_func: Callable[..., Any] | None = None,
) -> Dataset[Any]:
    """Read what `save` wrote; mirrors ``tf.data.experimental.load``. See `Dataset.load`."""
    return Dataset.load(path, element_spec, compression, reader_func)


def parallel_interleave(
    map_func: Callable[..., Dataset[Any]],
    cycle_length: int,
    block_length: SupportsIndex = 1,
    sloppy: bool | None = False,
    buffer_output_elements: int | None = None,
    prefetch_input_elements: int | None = None,
) -> Transformation:
    """Make a parallel `Dataset.interleave`; mirrors ``tf.data.experimental.parallel_interleave``.

    The order is that of `Dataset.interleave`. tf.data's old op differs from it where a dataset ends
    within a block: there the next one gets only the rest of the block.

    Parameters
    ----------
    map_func, cycle_length, block_length
        See `Dataset.interleave`; `cycle_length` datasets are read at once.
    sloppy
        Whether elements may come as they get ready.
    buffer_output_elements, prefetch_input_elements
        Accepted for tf.data's sake.

    Examples
    --------
    >>> twice = parallel_interleave(lambda x: hr.Dataset.from_tensors(x).repeat(2), 2)
    >>> [int(x) for x in hr.Dataset.range(3).apply(twice)]
    [0, 1, 0, 1, 2, 2]
    """
    return lambda dataset: dataset.interleave(
        map_func,
        cycle_length,
        block_length,
        num_parallel_calls=cycle_length,
        deterministic=None if sloppy is None else not sloppy,
    )


def save(
    dataset: Dataset[Any],
    path: Any,
    compression: str | None = None,
    shard_func: Callable[..., Any] | None = None,
    checkpoint_args: Any = None,
) -> None:
    """Write a dataset into files; mirrors ``tf.data.experimental.save``. See `Dataset.save`."""
    dataset.save(path, compression, shard_func, checkpoint_args)


def snapshot(
    path: Any,
    compression: str | None = "AUTO",
    reader_func: Callable[..., Any] | None = None,
    shard_func: Callable[..., Any] | None = None,
) -> Transformation:
    """Make `Dataset.snapshot`; mirrors ``tf.data.experimental.snapshot``."""
    return lambda dataset: dataset.snapshot(path, compression, reader_func, shard_func)


def scan(initial_state: Any, scan_func: Callable[..., Any]) -> Transformation:
    """Make `Dataset.scan`; mirrors ``tf.data.experimental.scan``.

    Examples
    --------
    >>> list(hr.Dataset.range(3).apply(scan(0, lambda s, x: (s + x, s + x))))
    [np.int64(0), np.int64(1), np.int64(3)]
    """
    return lambda dataset: dataset.scan(initial_state, scan_func)


def shuffle_and_repeat(
    buffer_size: int, count: int | None = None, seed: int | None = None
) -> Transformation:
    """Make `Dataset.shuffle` and `repeat`; mirrors ``tf.data.experimental.shuffle_and_repeat``.

    Examples
    --------
    >>> len(hr.Dataset.range(3).apply(shuffle_and_repeat(3, 2)))
    6
    """
    return lambda dataset: dataset.shuffle(buffer_size, seed).repeat(count)


def take_while(predicate: Callable[..., Any]) -> Transformation:
    """Make `Dataset.take_while`; mirrors ``tf.data.experimental.take_while``.

    Examples
    --------
    >>> list(hr.Dataset.range(9).apply(take_while(lambda x: x < 2)))
    [np.int64(0), np.int64(1)]
    """
    return lambda dataset: dataset.take_while(predicate)


def unbatch() -> Transformation:
    """Make `Dataset.unbatch`; mirrors ``tf.data.experimental.unbatch``.

    Examples
    --------
    >>> list(hr.Dataset.from_tensors([1, 2]).apply(unbatch()))
    [np.int64(1), np.int64(2)]
    """
    return lambda dataset: dataset.unbatch()


def unique() -> Transformation:
    """Make `Dataset.unique`; mirrors ``tf.data.experimental.unique``.

    Examples
    --------
    >>> list(hr.Dataset.from_tensor_slices(["a", "a"]).apply(unique()))
    ['a']
    """
    return lambda dataset: dataset.unique()


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


def rejection_resample(
    class_func: Callable[..., Any],
    target_dist: Any,
    initial_dist: Any = None,
    seed: SupportsIndex | None = None,
) -> Transformation:
    """Make `Dataset.rejection_resample`; mirrors ``tf.data.experimental.rejection_resample``.

    Examples
    --------
    >>> same = rejection_resample(lambda x: x % 2, [0.5, 0.5], [0.5, 0.5])
    >>> list(hr.Dataset.range(2).apply(same))
    [(np.int64(0), np.int64(0)), (np.int64(1), np.int64(1))]
    """
    return lambda dataset: dataset.rejection_resample(class_func, target_dist, initial_dist, seed)


def get_next_as_optional(iterator: Iterator[Any]) -> Optional[Any]:
    """Return `Iterator.get_next_as_optional`.

    Mirrors ``tf.data.experimental.get_next_as_optional``.

    Examples
    --------
    >>> get_next_as_optional(iter(hr.Dataset.range(3)))
    Optional(np.int64(0))
    """
    return iterator.get_next_as_optional()


_CPU = re.compile(
    r"(/job:\w+)?(/replica:\d+)?(/task:\d+)?/?(device:)?cpu(:\d+|:\*)?", re.IGNORECASE
)


def _only_the_cpu(device: Any) -> None:
    if not isinstance(device, str):
        raise TypeError(f"a device is named by a str such as '/cpu:0', got {device!r}")
    if not _CPU.fullmatch(device):
        raise UnimplementedError(
            f"device {device!r}: elements stay in the memory of the CPU; move them in the loop"
        )


def copy_to_device(target_device: str, source_device: str = "/cpu:0") -> Transformation:
    """Leave elements where they are; mirrors ``tf.data.experimental.copy_to_device``.

    Raises
    ------
    UnimplementedError
        A device other than the CPU.

    Examples
    --------
    >>> len(hr.Dataset.range(3).apply(copy_to_device("/cpu:0")))
    3
    """
    _only_the_cpu(target_device)
    _only_the_cpu(source_device)
    return lambda dataset: dataset


def prefetch_to_device(device: str, buffer_size: SupportsIndex | None = None) -> Transformation:
    """Make `Dataset.prefetch`; mirrors ``tf.data.experimental.prefetch_to_device``.

    Raises
    ------
    UnimplementedError
        A device other than the CPU.

    Examples
    --------
    >>> len(hr.Dataset.range(3).apply(prefetch_to_device("/cpu:0", 2)))
    3
    """
    _only_the_cpu(device)
    return lambda dataset: dataset.prefetch(AUTOTUNE if buffer_size is None else buffer_size)
