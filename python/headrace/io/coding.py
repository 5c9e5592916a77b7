"""Strings to arrays and back: raw bytes, CSV, base64, JSON, tensors; part of `headrace.io`."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from .. import checks
from ..dtypes import as_dtype
from ..errors import InvalidArgumentError
from ..ops import apply_op

__all__ = [
    "decode_base64",
    "decode_compressed",
    "decode_csv",
    "decode_json_example",
    "decode_raw",
    "encode_base64",
    "parse_tensor",
    "serialize_tensor",
]


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


def decode_json_example(json_examples: Any, name: str | None = None) -> Any:
    """Turn Examples in the JSON of protobuf into messages; mirrors ``tf.io.decode_json_example``.

    Parameters
    ----------
    json_examples
        Bytes or text, or an array of it: one Example each.

    Returns
    -------
    bytes or numpy.ndarray
        Serialized Examples, of the shape of `json_examples`.

    Raises
    ------
    InvalidArgumentError
        A text is no such JSON.

    Examples
    --------
    >>> text = '{"features": {"feature": {"x": {"int64List": {"value": ["3"]}}}}}'
    >>> message = hr.io.decode_json_example(text)
    >>> hr.io.parse_single_example(message, {"x": hr.io.FixedLenFeature([], np.int64)})
    {'x': np.int64(3)}
    """
    return apply_op("decode_json_example", {}, checks.tensor(json_examples))[0]
