"""Datasets of parsed Examples: what ``tf.data.experimental`` has for files of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from . import io
from .checks import AUTOTUNE
from .dataset import Dataset
from .features import feature_attrs
from .spec import TensorSpec, UnknownSpec
from .tfrecord import TFRecordDataset

__all__ = ["make_batched_features_dataset", "parse_example_dataset"]


def parse_example_dataset(
    features: Mapping[str, Any],
    num_parallel_calls: int | None = 1,
    deterministic: bool | None = None,
) -> Callable[[Dataset[Any]], Dataset[Any]]:
    """Parse batches of Examples; mirrors ``tf.data.experimental.parse_example_dataset``.

    Parameters
    ----------
    features
        What to read, by name, as for `headrace.io.parse_example`.
    num_parallel_calls, deterministic
        As of `Dataset.map`.

    Raises
    ------
    ValueError, TypeError
        No features, or the dataset does not yield vectors of bytes.

    Examples
    --------
    >>> messages = [hr.io.serialize_example({"y": y}) for y in (3, 4)]
    >>> features = {"y": hr.io.FixedLenFeature([], np.int64)}
    >>> dataset = hr.Dataset.from_tensor_slices(messages).batch(2)
    >>> list(dataset.apply(parse_example_dataset(features)))
    [{'y': array([3, 4])}]
    """
    if features is None:
        raise ValueError("Argument `features` is required, but not specified.")
    feature_attrs(features)

    def parse(messages: Any) -> Any:
        return io.parse_example(messages, features)

    def transform(dataset: Dataset[Any]) -> Dataset[Any]:
        spec = dataset._plan.element_spec
        texts = isinstance(spec, TensorSpec) and spec.dtype in (bytes, str)
        vectors = texts and (spec.shape is None or len(spec.shape) == 1)
        if not isinstance(spec, UnknownSpec) and not vectors:
            raise TypeError(
                "Input dataset should be a dataset of vectors of strings, its elements are "
                f"{spec!r}"
            )
        return dataset.map(
            parse, num_parallel_calls=num_parallel_calls, deterministic=deterministic
        )

    return transform


def make_batched_features_dataset(
    file_pattern: Any,
    batch_size: int,
    features: Mapping[str, Any],
    reader: Callable[..., Dataset[Any]] | None = None,
    label_key: str | None = None,
    reader_args: Any = None,
    num_epochs: int | None = None,
    shuffle: bool = True,
    shuffle_buffer_size: int = 10000,
    shuffle_seed: int | None = None,
    prefetch_buffer_size: int | None = None,
    reader_num_threads: int | None = None,
    parser_num_threads: int | None = None,
    sloppy_ordering: bool = False,
    drop_final_batch: bool = False,
) -> Dataset[Any]:
    """Read files of Examples as batches of features.

    Mirrors ``tf.data.experimental.make_batched_features_dataset``.

    Parameters
    ----------
    file_pattern
        A pattern of files, or several.
    batch_size
        Examples in a batch.
    features
        What to read, by name, as for `headrace.io.parse_example`.
    reader, reader_args
        Makes the dataset of a file, `TFRecordDataset` if not given; pairs are a key and a message.
    label_key
        Name of the feature that is the label: elements are pairs of features and label then.
    num_epochs
        Passes over the files; without end if not given, and all batches are whole then.
    shuffle, shuffle_buffer_size, shuffle_seed
        Shuffle the files, and the Examples in a buffer.
    prefetch_buffer_size, reader_num_threads, parser_num_threads
        Batches read ahead, files read and batches parsed beside each other; AUTOTUNE, 1 and 2 if
        not given.
    sloppy_ordering
        Give Examples as they come.
    drop_final_batch
        Leave out a last batch that is not whole.

    Raises
    ------
    ValueError
        There is no feature `label_key`, or no file matches.

    Examples
    --------
    >>> import tempfile, os
    >>> path = os.path.join(tempfile.mkdtemp(), "a.tfrecord")
    >>> with hr.io.TFRecordWriter(path) as writer:
    ...     for y in range(3):
    ...         writer.write(hr.io.serialize_example({"y": y}))
    >>> features = {"y": hr.io.FixedLenFeature([], np.int64)}
    >>> batches = make_batched_features_dataset(path, 2, features, num_epochs=1, shuffle=False)
    >>> [batch["y"].tolist() for batch in batches]
    [[0, 1], [2]]
    """
    if label_key is not None and label_key not in features:
        raise ValueError(
            f"The `label_key` provided ({label_key!r}) must be one of the `features` keys: "
            f"{list(features)}."
        )
    make = TFRecordDataset if reader is None else reader
    arguments = tuple(reader_args or ())
    threads = 1 if reader_num_threads is None else reader_num_threads

    def read(filename: Any) -> Dataset[Any]:
        return make(filename, *arguments)

    dataset = Dataset.list_files(file_pattern, shuffle=bool(shuffle), seed=shuffle_seed).interleave(
        read,
        cycle_length=None if threads == AUTOTUNE else threads,
        block_length=1,
        num_parallel_calls=None if threads == 1 else threads,
        deterministic=not sloppy_ordering,
    )
    if type(dataset._plan.element_spec) is tuple:
        dataset = dataset.map(_message)
    if shuffle:
        dataset = dataset.shuffle(shuffle_buffer_size, shuffle_seed)
    if num_epochs != 1:
        dataset = dataset.repeat(num_epochs)
    dataset = dataset.batch(batch_size, drop_remainder=drop_final_batch or num_epochs is None)
    parsers = 2 if parser_num_threads is None else parser_num_threads
    dataset = dataset.apply(parse_example_dataset(features, parsers))
    if label_key is not None:

        def with_label(parsed: dict[str, Any]) -> Any:
            rest = {key: value for key, value in parsed.items() if key != label_key}
            return rest, parsed[label_key]

        dataset = dataset.map(with_label)
    return dataset.prefetch(AUTOTUNE if prefetch_buffer_size is None else prefetch_buffer_size)


def _message(key: Any, value: Any) -> Any:
    return value
