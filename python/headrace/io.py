"""Reading and writing: Example messages, raw bytes, TFRecord files; mirrors ``tf.io``.

The parsing functions take arrays and, inside a traced function, symbols alike.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from itertools import pairwise
from types import TracebackType
from typing import Any, Self

import numpy as np

from . import _headrace, checks
from .dtypes import as_dtype
from .errors import InvalidArgumentError, from_os_error
from .features import (
    FixedLenFeature,
    FixedLenSequenceFeature,
    RaggedFeature,
    SparseFeature,
    VarLenFeature,
    feature_attrs,
)
from .ops import apply_op, refuse_in_trace

__all__ = [
    "FixedLenFeature",
    "FixedLenSequenceFeature",
    "RaggedFeature",
    "SparseFeature",
    "TFRecordOptions",
    "TFRecordWriter",
    "VarLenFeature",
    "decode_base64",
    "decode_compressed",
    "decode_csv",
    "decode_raw",
    "encode_base64",
    "parse_example",
    "parse_sequence_example",
    "parse_single_example",
    "parse_single_sequence_example",
    "parse_tensor",
    "read_file",
    "serialize_example",
    "serialize_tensor",
    "write_file",
]


def parse_single_example(
    serialized: Any, features: Mapping[str, Any], name: str | None = None
) -> dict[str, Any]:
    """Parse one `tf.train.Example`; mirrors ``tf.io.parse_single_example``.

    Parameters
    ----------
    serialized
        The message: scalar bytes.
    features
        What to read, by name. Features of the message that are not named are skipped unread.

    Returns
    -------
    dict
        One value per feature: an array or scalar for `FixedLenFeature` and
        `FixedLenSequenceFeature`, a `SparseTensor` for `VarLenFeature` and `SparseFeature`, an
        array or `RaggedTensor` for `RaggedFeature`.

    Raises
    ------
    InvalidArgumentError
        A feature is missing, or of another type or size.

    Examples
    --------
    >>> message = hr.io.serialize_example({"x": [1.5, 2.5], "y": 7})
    >>> hr.io.parse_single_example(message, {"y": hr.io.FixedLenFeature([], np.int64)})
    {'y': np.int64(7)}
    """
    attrs = {"features": feature_attrs(features)}
    return dict(zip(features, apply_op("parse_single_example", attrs, serialized), strict=True))


def parse_example(
    serialized: Any,
    features: Mapping[str, Any],
    example_names: Any = None,
    name: str | None = None,
) -> dict[str, Any]:
    """Parse a batch of `tf.train.Example` messages; mirrors ``tf.io.parse_example``.

    Parameters
    ----------
    serialized
        The messages: a vector of bytes.
    features
        What to read, by name.
    example_names
        Names of the examples for error messages, a vector of bytes.

    Returns
    -------
    dict
        As `parse_single_example`, with a batch axis in front. Sequences are padded, a
        `RaggedFeature` gives a `RaggedTensor`.

    Raises
    ------
    InvalidArgumentError
        A feature is missing, or of another type or size; the text names the example.

    Examples
    --------
    >>> messages = [hr.io.serialize_example({"y": y}) for y in (3, 4)]
    >>> hr.io.parse_example(messages, {"y": hr.io.FixedLenFeature([], np.int64)})
    {'y': array([3, 4])}
    """
    attrs = {"features": feature_attrs(features)}
    args = [checks.tensor(serialized)]
    if example_names is not None:
        args.append(checks.tensor(example_names))
    return dict(zip(features, apply_op("parse_example", attrs, *args), strict=True))


def parse_single_sequence_example(
    serialized: Any,
    context_features: Mapping[str, Any] | None = None,
    sequence_features: Mapping[str, Any] | None = None,
    example_name: Any = None,
    name: str | None = None,
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Parse one `tf.train.SequenceExample`; mirrors ``tf.io.parse_single_sequence_example``.

    Parameters
    ----------
    serialized
        The message: scalar bytes.
    context_features
        What to read from the context: `FixedLenFeature`, `VarLenFeature`, `RaggedFeature`.
    sequence_features
        What to read from the steps: `FixedLenSequenceFeature` (an array of shape
        ``[steps, *shape]``), `VarLenFeature`, `RaggedFeature`.
    example_name
        Name of the example for error messages.

    Returns
    -------
    tuple of two dicts
        One value per feature of the context, and of the steps.

    Raises
    ------
    InvalidArgumentError
        A feature is missing, or of another type or size.

    Examples
    --------
    >>> from headrace.tf import train
    >>> message = train.SequenceExample()
    >>> for x in (1, 2):
    ...     step = message.feature_lists.feature_list["x"].feature.add()
    ...     step.int64_list.value.append(x)
    >>> hr.io.parse_single_sequence_example(
    ...     message.SerializeToString(),
    ...     sequence_features={"x": hr.io.FixedLenSequenceFeature([], np.int64)},
    ... )
    ({}, {'x': array([1, 2])})
    """
    context, steps, _ = _parse_sequences(
        "parse_single_sequence_example",
        serialized,
        context_features or {},
        sequence_features or {},
        example_name,
    )
    return context, steps


def parse_sequence_example(
    serialized: Any,
    context_features: Mapping[str, Any] | None = None,
    sequence_features: Mapping[str, Any] | None = None,
    example_names: Any = None,
    name: str | None = None,
) -> tuple[dict[str, Any], dict[str, Any], dict[str, Any]]:
    """Parse a batch of `tf.train.SequenceExample`; mirrors ``tf.io.parse_sequence_example``.

    Parameters
    ----------
    serialized
        The messages: a vector of bytes.
    context_features, sequence_features
        What to read, as for `parse_single_sequence_example`.
    example_names
        Names of the examples for error messages, a vector of bytes.

    Returns
    -------
    tuple of three dicts
        The context; the steps, dense ones padded with zeros to the longest; the number of steps
        of each example, for each dense feature of the steps.

    Raises
    ------
    InvalidArgumentError
        A feature is missing, or of another type or size.

    Examples
    --------
    >>> from headrace.tf import train
    >>> messages = [train.SequenceExample().SerializeToString()]
    >>> x = hr.io.FixedLenSequenceFeature([], np.int64, allow_missing=True)
    >>> hr.io.parse_sequence_example(messages, sequence_features={"x": x})[2]
    {'x': array([0])}
    """
    return _parse_sequences(
        "parse_sequence_example",
        serialized,
        context_features or {},
        sequence_features or {},
        example_names,
    )


def _parse_sequences(
    op: str, serialized: Any, context: Mapping[str, Any], steps: Mapping[str, Any], names: Any
) -> tuple[dict[str, Any], dict[str, Any], dict[str, Any]]:
    if not context and not steps:
        raise InvalidArgumentError(
            "Both context_features and sequence_features are None, but at least one should have "
            "values."
        )
    attrs = {
        "context_features": feature_attrs(context, "context"),
        "sequence_features": feature_attrs(steps, "steps"),
    }
    args = [checks.tensor(serialized)]
    if names is not None:
        args.append(checks.tensor(names))
    results = iter(apply_op(op, attrs, *args))
    dense = [key for key in steps if isinstance(steps[key], FixedLenSequenceFeature)]
    first, second = (dict(zip(part, results, strict=False)) for part in (context, steps))
    return first, second, dict(zip(dense, results, strict=False))


def decode_raw(
    input_bytes: Any,
    out_type: Any,
    little_endian: bool = True,
    fixed_length: int | None = None,
    name: str | None = None,
) -> Any:
    """Read bytes as an array of numbers; mirrors ``tf.io.decode_raw``.

    Parameters
    ----------
    input_bytes
        Bytes, or an array of bytes of equal lengths.
    out_type
        Dtype of the result.
    little_endian
        Byte order of the input.
    fixed_length
        Cut or pad with zeros to this many bytes.

    Returns
    -------
    numpy.ndarray
        Of shape ``[..., n]``.

    Raises
    ------
    InvalidArgumentError
        The length is not a multiple of the size of a number.

    Examples
    --------
    >>> hr.io.decode_raw(np.int16(7).tobytes(), np.int16)
    array([7], dtype=int16)
    """
    attrs = {
        "out_type": as_dtype(out_type),
        "little_endian": checks.flag("little_endian", little_endian),
        "fixed_length": fixed_length,
    }
    return apply_op("decode_raw", attrs, checks.tensor(input_bytes))[0]


def decode_csv(
    records: Any,
    record_defaults: Sequence[Any],
    field_delim: str = ",",
    use_quote_delim: bool = True,
    na_value: str = "",
    select_cols: Sequence[int] | None = None,
    name: str | None = None,
) -> list[Any]:
    """Read records of CSV; mirrors ``tf.io.decode_csv``.

    Parameters
    ----------
    records
        Bytes or text, or an array of it: one record each.
    record_defaults
        One entry per column. A scalar, or a list of one, is the default of empty fields and gives
        the column its dtype; a dtype, or an empty array, says that a field must not be empty.
        int32, int64, float32, float64 and bytes are possible; Python's int and float are int64
        and float64.
    field_delim
        What separates fields: one character.
    use_quote_delim
        Fields in double quotes can hold separators.
    na_value
        A text that is as good as an empty field.
    select_cols
        Numbers of the columns to read, ascending; others are skipped.

    Returns
    -------
    list
        One array per column, of the shape of `records`.

    Raises
    ------
    InvalidArgumentError
        A record has another number of fields, or a field is empty or no such number.

    Examples
    --------
    >>> hr.io.decode_csv([b"1,a", b",b"], [np.int32(7), b""])
    [array([1, 7], dtype=int32), array([b'a', b'b'], dtype=object)]
    """
    columns = None if select_cols is None else [int(column) for column in select_cols]
    if columns is not None:
        if any(later <= earlier for earlier, later in pairwise(columns)):
            raise InvalidArgumentError(f"select_cols is not strictly increasing: {columns}")
        if columns and columns[0] < 0:
            raise InvalidArgumentError(f"select_cols contains negative values: {columns}")
        if len(columns) != len(record_defaults):
            raise InvalidArgumentError(
                "Length of select_cols and record_defaults do not match: "
                f"{len(columns)} and {len(record_defaults)}"
            )
    attrs = {
        "outputs": [_csv_column(number, entry) for number, entry in enumerate(record_defaults)],
        "field_delim": field_delim,
        "use_quote_delim": checks.flag("use_quote_delim", use_quote_delim),
        "na_value": na_value,
        "select_cols": columns,
    }
    return apply_op("decode_csv", attrs, checks.tensor(records))


def _csv_column(number: int, entry: Any) -> list[Any]:
    """Return dtype and default of a column."""
    if isinstance(entry, type | np.dtype):
        found = as_dtype(entry)
        return [bytes if found is str else found, None]
    array = np.asarray(checks.tensor(entry))
    if array.dtype.kind in "SUO":
        array = array.astype(object)
        text = [item.encode() if isinstance(item, str) else item for item in array.flat]
        if not all(isinstance(item, bytes) for item in text):
            raise InvalidArgumentError(f"record_defaults[{number}] is no default: {entry!r}")
        default: Any = text[0] if text else None
        dtype: Any = bytes
    else:
        dtype = array.dtype
        default = array.reshape(-1)[0] if array.size else None
    if array.ndim > 1 or array.size > 1:
        raise InvalidArgumentError(
            "Each record default should be at most rank 1, one value or none: "
            f"record_defaults[{number}] has shape {array.shape}"
        )
    return [dtype, default]


def decode_base64(input: Any, name: str | None = None) -> Any:
    """Decode text of the URL alphabet; mirrors ``tf.io.decode_base64``.

    Parameters
    ----------
    input
        Bytes or text, or an array of it, filled up with ``=`` or not.

    Raises
    ------
    InvalidArgumentError
        It is no such text.

    Examples
    --------
    >>> hr.io.decode_base64("aGk")
    b'hi'
    """
    return apply_op("decode_base64", {}, checks.tensor(input))[0]


def encode_base64(input: Any, pad: bool = False, name: str | None = None) -> Any:
    """Encode bytes in the URL alphabet; mirrors ``tf.io.encode_base64``.

    Parameters
    ----------
    input
        Bytes or text, or an array of it.
    pad
        Fill up with ``=`` to a multiple of four.

    Examples
    --------
    >>> hr.io.encode_base64(b"a", pad=True)
    b'YQ=='
    """
    attrs = {"pad": checks.flag("pad", pad)}
    return apply_op("encode_base64", attrs, checks.tensor(input))[0]


def decode_compressed(
    bytes: Any, compression_type: str | None = "", name: str | None = None
) -> Any:
    """Decompress bytes; mirrors ``tf.io.decode_compressed``.

    Parameters
    ----------
    bytes
        Bytes, or an array of them.
    compression_type
        ``None`` or ``""``, ``"GZIP"``, ``"ZLIB"``.

    Raises
    ------
    DataLossError
        They are damaged, or not compressed so.
    ResourceExhaustedError
        A value is larger than 2 GiB.

    Examples
    --------
    >>> import zlib
    >>> hr.io.decode_compressed(zlib.compress(b"text"), "ZLIB")
    b'text'
    """
    attrs = {"compression_type": checks.compression(compression_type)}
    return apply_op("decode_compressed", attrs, checks.tensor(bytes))[0]


def serialize_tensor(tensor: Any, name: str | None = None) -> Any:
    """Write an array as a `TensorProto`; mirrors ``tf.io.serialize_tensor``.

    Parameters
    ----------
    tensor
        An array or scalar of any dtype.

    Returns
    -------
    bytes
        The message; TensorFlow reads it.

    Examples
    --------
    >>> message = hr.io.serialize_tensor(np.array([1, 2], np.int16))
    >>> hr.io.parse_tensor(message, np.int16)
    array([1, 2], dtype=int16)
    """
    return apply_op("serialize_tensor", {}, checks.tensor(tensor))[0]


def parse_tensor(serialized: Any, out_type: Any, name: str | None = None) -> Any:
    """Read a `TensorProto`; mirrors ``tf.io.parse_tensor``.

    Parameters
    ----------
    serialized
        The message: scalar bytes.
    out_type
        The dtype that it has.

    Raises
    ------
    InvalidArgumentError
        It is no tensor, or one of another dtype.

    Examples
    --------
    >>> hr.io.parse_tensor(hr.io.serialize_tensor(b"a"), "string")
    b'a'
    """
    return apply_op("parse_tensor", {"out_type": as_dtype(out_type)}, checks.tensor(serialized))[0]


def read_file(filename: Any, name: str | None = None) -> Any:
    """Return what a file holds; mirrors ``tf.io.read_file``.

    Parameters
    ----------
    filename
        The path: text or bytes.

    Returns
    -------
    bytes
        The whole file.

    Raises
    ------
    NotFoundError, PermissionDeniedError, FailedPreconditionError
        There is no such file, it may not be read, or is a folder.

    Examples
    --------
    >>> import tempfile, os
    >>> path = os.path.join(tempfile.mkdtemp(), "a.txt")
    >>> hr.io.write_file(path, "text")
    >>> hr.io.read_file(path)
    b'text'
    """
    if isinstance(filename, os.PathLike):
        filename = os.fspath(filename)
    return apply_op("read_file", {}, checks.tensor(filename))[0]


def write_file(filename: Any, contents: Any, name: str | None = None) -> None:
    """Make or replace a file, and its folders; mirrors ``tf.io.write_file``.

    Parameters
    ----------
    filename
        The path: text or bytes.
    contents
        What it is to hold: bytes, or text as UTF-8.

    Raises
    ------
    PermissionDeniedError, FailedPreconditionError
        It may not be made, or something on the way is a file.

    Examples
    --------
    >>> import tempfile, os
    >>> hr.io.write_file(os.path.join(tempfile.mkdtemp(), "new", "a.txt"), b"text")
    """
    refuse_in_trace("writes a file")
    path = os.fsdecode(_scalar_text(filename))
    data = _scalar_text(contents)
    try:
        os.makedirs(os.path.dirname(path) or ".", exist_ok=True)
        with open(path, "wb") as file:
            file.write(data.encode() if isinstance(data, str) else data)
    except OSError as error:
        raise from_os_error(error, path) from None


def _scalar_text(value: Any) -> Any:
    if isinstance(value, np.ndarray | np.generic) and value.ndim == 0:
        value = value.item()
    if isinstance(value, str | bytes | os.PathLike):
        return value
    raise TypeError(f"expected one text or bytes, got {value!r} ({type(value).__name__})")


def serialize_example(features: Mapping[str, Any]) -> bytes:
    """Write a `tf.train.Example`.

    Parameters
    ----------
    features
        Values by name: numbers, bytes, text (as UTF-8), or arrays and lists of these, flattened.
        Integers and bools become int64 lists, floats float lists.

    Returns
    -------
    bytes
        The message; TensorFlow reads it.

    Raises
    ------
    InvalidArgumentError
        A value that an Example cannot hold, by the name of its feature.

    Examples
    --------
    >>> message = hr.io.serialize_example({"label": 3})
    >>> hr.io.parse_single_example(message, {"label": hr.io.FixedLenFeature([], np.int64)})
    {'label': np.int64(3)}
    """
    return _headrace.serialize_example(features if type(features) is dict else dict(features))


class TFRecordOptions:
    """How a TFRecord file is written; mirrors ``tf.io.TFRecordOptions``.

    Parameters
    ----------
    compression_type
        ``None`` or ``""``, ``"GZIP"``, ``"ZLIB"``.
    compression_level
        0 (none) to 9 (smallest); ``None`` for the usual.
    flush_mode, input_buffer_size, output_buffer_size, window_bits, compression_method, mem_level,
    compression_strategy
        Accepted for tf.io's sake.

    Examples
    --------
    >>> hr.io.TFRecordOptions("GZIP", compression_level=9)
    TFRecordOptions(compression_type='GZIP', compression_level=9)
    """

    def __init__(
        self,
        compression_type: str | None = None,
        flush_mode: int | None = None,
        input_buffer_size: int | None = None,
        output_buffer_size: int | None = None,
        window_bits: int | None = None,
        compression_level: int | None = None,
        compression_method: int | None = None,
        mem_level: int | None = None,
        compression_strategy: int | None = None,
    ) -> None:
        if compression_level is not None and not -1 <= compression_level <= 9:
            raise InvalidArgumentError(
                f"compression_level must be 0 to 9, or -1 for the usual, got {compression_level}"
            )
        self.compression_type = checks.compression(compression_type)
        self.compression_level = None if compression_level == -1 else compression_level

    def __repr__(self) -> str:
        return (
            f"TFRecordOptions(compression_type={self.compression_type!r}, "
            f"compression_level={self.compression_level!r})"
        )


class TFRecordWriter:
    """Writes a TFRecord file; mirrors ``tf.io.TFRecordWriter``.

    Parameters
    ----------
    path
        The file; one that exists is replaced.
    options
        A `TFRecordOptions`, or the name of a compression.

    Raises
    ------
    InvalidArgumentError
        An unknown compression.
    NotFoundError, PermissionDeniedError
        The file cannot be made.

    Examples
    --------
    >>> import tempfile, os
    >>> path = os.path.join(tempfile.mkdtemp(), "a.tfrecord")
    >>> with hr.io.TFRecordWriter(path) as writer:
    ...     writer.write(b"one")
    >>> list(hr.TFRecordDataset(path))
    [b'one']
    """

    def __init__(
        self, path: str | bytes | os.PathLike[str], options: TFRecordOptions | str | None = None
    ) -> None:
        if options is None or isinstance(options, str):
            options = TFRecordOptions(options)
        elif not isinstance(options, TFRecordOptions):
            raise TypeError(f"`options` must be a TFRecordOptions or a name, got {options!r}")
        self._writer = _headrace.RecordWriter(
            os.fsdecode(path), options.compression_type, options.compression_level
        )

    def write(self, record: bytes | bytearray | memoryview) -> None:
        """Append a record.

        Parameters
        ----------
        record
            Bytes, or an object that has them as its buffer.

        Raises
        ------
        TypeError
            `record` is not bytes.
        """
        if not isinstance(record, bytes):
            record = _as_bytes(record)
        self._writer.write(record)

    def flush(self) -> None:
        """Hand everything written so far to the file; readers see it then."""
        self._writer.flush()

    def close(self) -> None:
        """Finish the file. Closing twice does nothing."""
        self._writer.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()


def _as_bytes(record: Any) -> bytes:
    kind = type(record).__name__
    if isinstance(record, str):
        raise TypeError("a record is bytes, got str; write text.encode()")
    if hasattr(record, "SerializeToString"):
        raise TypeError(f"a record is bytes, got {kind}; write message.SerializeToString()")
    try:
        return bytes(memoryview(record))
    except TypeError:
        raise TypeError(f"a record is bytes, got {kind}") from None
