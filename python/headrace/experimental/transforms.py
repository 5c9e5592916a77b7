"""Functions that make transformations for `Dataset.apply`."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import Any, SupportsIndex, TypeAlias

import numpy as np

from .. import checks
from ..checks import AUTOTUNE, INFINITE_CARDINALITY
from ..dataset import Dataset
from ..errors import UnimplementedError
from ..nest import map_structure

__all__ = [
    "assert_cardinality",
    "bucket_by_sequence_length",
    "copy_to_device",
    "dense_to_ragged_batch",
    "dense_to_sparse_batch",
    "enumerate_dataset",
    "group_by_window",
    "ignore_errors",
    "map_and_batch",
    "pad_to_cardinality",
    "parallel_interleave",
    "prefetch_to_device",
    "rejection_resample",
    "scan",
    "shuffle_and_repeat",
    "snapshot",
    "take_while",
    "unbatch",
    "unique",
]

Transformation: TypeAlias = Callable[[Dataset[Any]], Dataset[Any]]

_CPU = re.compile(
    r"(/job:\w+)?(/replica:\d+)?(/task:\d+)?/?(device:)?cpu(:\d+|:\*)?", re.IGNORECASE
)


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
