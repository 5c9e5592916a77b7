"""Strings to tensors and back; mirrors ``tf.io``."""

from __future__ import annotations

from typing import Any

import numpy as np

from ... import io as own
from ...errors import InvalidArgumentError
from ..bridge import to_own
from ..composite import by_value
from ..convert import convert
from ..dtypes import DType, as_dtype, int64, string
from ..dtypes import to_own as dtype_to_own
from ..kernels import DTypeError, run, static_shape
from ..tensor import raw, wrap
from ..values import result, results

__all__ = [
    "decode_base64",
    "decode_compressed",
    "decode_csv",
    "decode_json_example",
    "decode_raw",
    "deserialize_many_sparse",
    "encode_base64",
    "parse_tensor",
    "serialize_many_sparse",
    "serialize_sparse",
    "serialize_tensor",
]


def _string(value: Any) -> Any:
    return to_own(convert(value, string))


_PADDED = (
    "uint8", "int8", "uint16", "int16", "int32", "int64", "float16", "bfloat16", "float32",
    "float64",
)  # fmt: skip


def decode_raw(
    input_bytes: Any,
    out_type: Any,
    little_endian: bool = True,
    fixed_length: Any = None,
    name: str | None = None,
) -> Any:
    """Read strings as numbers; mirrors ``tf.io.decode_raw``.

    Parameters
    ----------
    input_bytes
        Strings of equal lengths.
    out_type
        Type of the numbers.
    little_endian
        Byte order of the strings.
    fixed_length
        Cut or pad with zeros to this many bytes.
    name
        Accepted for TensorFlow's sake.

    Raises
    ------
    InvalidArgumentError
        The length is not a multiple of the size of a number.

    Examples
    --------
    >>> tf.io.decode_raw("ab", tf.uint8).numpy()
    array([97, 98], dtype=uint8)
    """
    length = None if fixed_length is None else int(fixed_length)
    kind = as_dtype(out_type)
    if length is not None and kind.name not in _PADDED:
        raise DTypeError(f"strings of a fixed length are read as {_PADDED}, not as {kind.name}")
    dtype = dtype_to_own(kind)
    return result(own.decode_raw(_string(input_bytes), dtype, bool(little_endian), length))


def decode_csv(
    records: Any,
    record_defaults: Any,
    field_delim: str = ",",
    use_quote_delim: bool = True,
    na_value: str = "",
    select_cols: Any = None,
    name: str | None = None,
) -> list[Any]:
    """Read records of CSV; mirrors ``tf.io.decode_csv``.

    Parameters
    ----------
    records
        Strings, one record each.
    record_defaults
        One tensor per column: its dtype is the column's, its value stands for empty fields; an
        empty one says that a field must not be empty.
    field_delim, use_quote_delim, na_value, select_cols
        As of `headrace.io.decode_csv`.
    name
        Accepted for TensorFlow's sake.

    Returns
    -------
    list
        One tensor per column, of the shape of `records`.

    Raises
    ------
    InvalidArgumentError
        A record has another number of fields, or a field is empty or no such number.

    Examples
    --------
    >>> numbers, texts = tf.io.decode_csv(["1,a", ",b"], [[7], ["-"]])
    >>> numbers.numpy(), texts.numpy()
    (array([1, 7], dtype=int32), array([b'a', b'b'], dtype=object))
    """
    defaults = [_csv_default(default) for default in record_defaults]
    return results(
        own.decode_csv(
            _string(records),
            defaults,
            field_delim,
            bool(use_quote_delim),
            na_value,
            select_cols,
        )
    )


def _csv_default(default: Any) -> Any:
    """Return a default as headrace takes it: a dtype where there is none."""
    if isinstance(default, DType):
        return dtype_to_own(default)
    value = convert(default)
    array = raw(value)
    if array.size == 0:
        return dtype_to_own(value.dtype)
    return array


@by_value
def decode_base64(input: Any, name: str | None = None) -> Any:
    """Decode strings of the URL alphabet; mirrors ``tf.io.decode_base64``.

    Raises
    ------
    InvalidArgumentError
        They are no such text.

    Examples
    --------
    >>> tf.io.decode_base64("aGk").numpy()
    b'hi'
    """
    return result(own.decode_base64(_string(input)))


@by_value
def encode_base64(input: Any, pad: bool = False, name: str | None = None) -> Any:
    """Encode strings in the URL alphabet; mirrors ``tf.io.encode_base64``.

    Examples
    --------
    >>> tf.io.encode_base64("a", pad=True).numpy()
    b'YQ=='
    """
    return result(own.encode_base64(_string(input), bool(pad)))


def decode_compressed(bytes: Any, compression_type: str = "", name: str | None = None) -> Any:
    """Decompress strings; mirrors ``tf.io.decode_compressed``.

    Parameters
    ----------
    bytes
        The strings.
    compression_type
        ``""``, ``"GZIP"`` or ``"ZLIB"``.
    name
        Accepted for TensorFlow's sake.

    Raises
    ------
    DataLossError
        They are damaged, or not compressed so.

    Examples
    --------
    >>> import zlib
    >>> tf.io.decode_compressed(zlib.compress(b"text"), "ZLIB").numpy()
    b'text'
    """
    return result(own.decode_compressed(_string(bytes), compression_type))


def serialize_tensor(tensor: Any, name: str | None = None) -> Any:
    """Write a tensor as a `TensorProto`; mirrors ``tf.io.serialize_tensor``.

    Examples
    --------
    >>> tf.io.parse_tensor(tf.io.serialize_tensor([1, 2]), tf.int32).numpy()
    array([1, 2], dtype=int32)
    """
    return result(own.serialize_tensor(to_own(convert(tensor))))


def parse_tensor(serialized: Any, out_type: Any, name: str | None = None) -> Any:
    """Read a `TensorProto`; mirrors ``tf.io.parse_tensor``.

    Parameters
    ----------
    serialized
        The message: a scalar string.
    out_type
        The dtype that it has.
    name
        Accepted for TensorFlow's sake.

    Raises
    ------
    InvalidArgumentError
        It is no tensor, or one of another dtype.

    Examples
    --------
    >>> tf.io.parse_tensor(tf.io.serialize_tensor("a"), tf.string).numpy()
    b'a'
    """
    return result(own.parse_tensor(_string(serialized), dtype_to_own(as_dtype(out_type))))


def decode_json_example(json_examples: Any, name: str | None = None) -> Any:
    """Return Examples in JSON as serialized messages; mirrors ``tf.io.decode_json_example``.

    Parameters
    ----------
    json_examples
        Strings, each an Example in the JSON of protobuf.
    name
        Accepted for TensorFlow's sake.

    Raises
    ------
    InvalidArgumentError
        A string is no such JSON.

    Examples
    --------
    >>> text = '{"features": {"feature": {"x": {"int64List": {"value": ["3"]}}}}}'
    >>> message = tf.io.decode_json_example(text)
    >>> tf.train.Example.FromString(message.numpy()).features.feature["x"].int64_list.value
    [3]
    """
    records = convert(json_examples, string)
    return run("decode_json_example", (records,), (static_shape(records), string))


def serialize_sparse(sp_input: Any, out_type: Any = string, name: str | None = None) -> Any:
    """Return a sparse tensor as three serialized tensors; mirrors ``tf.io.serialize_sparse``.

    Examples
    --------
    >>> tf.io.serialize_sparse(tf.SparseTensor([[1]], [7], [3])).shape
    TensorShape([3])
    """
    parts = (sp_input.indices, sp_input.values, sp_input.dense_shape)
    return wrap(np.array([serialize_tensor(part).numpy() for part in parts], object))


def serialize_many_sparse(sp_input: Any, out_type: Any = string, name: str | None = None) -> Any:
    """Return each row of a sparse tensor serialized; mirrors ``tf.io.serialize_many_sparse``.

    Examples
    --------
    >>> tf.io.serialize_many_sparse(tf.SparseTensor([[1, 0]], [7], [3, 2])).shape
    TensorShape([3, 3])
    """
    from ..sparse import SparseTensor

    indices, values = raw(sp_input.indices), raw(sp_input.values)
    shape = raw(sp_input.dense_shape)
    if len(shape) < 2:
        raise InvalidArgumentError(
            f"Rank of input SparseTensor should be > 1, but saw {len(shape)}"
        )
    rows = []
    for row in range(int(shape[0])):
        here = indices[:, 0] == row
        part = SparseTensor(indices[here][:, 1:], wrap(values[here]), shape[1:])
        rows.append(raw(serialize_sparse(part)))
    return wrap(np.array(rows, object).reshape(-1, 3))


def deserialize_many_sparse(
    serialized_sparse: Any, dtype: Any, rank: int | None = None, name: str | None = None
) -> Any:
    """Join serialized sparse tensors along a new axis; mirrors ``tf.io.deserialize_many_sparse``.

    Parameters
    ----------
    serialized_sparse
        Strings of shape ``[n, 3]``, as `serialize_many_sparse` gives them.
    dtype
        Type of the values.
    rank
        Rank of each tensor, checked.
    name
        Accepted for TensorFlow's sake.

    Raises
    ------
    InvalidArgumentError
        Something is no such tensor, or the ranks differ.

    Examples
    --------
    >>> rows = tf.io.serialize_many_sparse(tf.SparseTensor([[1, 0]], [7], [3, 2]))
    >>> tf.sparse.to_dense(tf.io.deserialize_many_sparse(rows, tf.int32)).numpy()
    array([[0, 0],
           [7, 0],
           [0, 0]], dtype=int32)
    """
    from ..sparse import SparseTensor

    strings = raw(convert(serialized_sparse, string))
    if strings.ndim != 2 or strings.shape[1] != 3:
        raise InvalidArgumentError(
            f"serialized_sparse should have shape [n, 3], got {strings.shape}"
        )
    indices, values, shapes = [], [], []
    for row, parts in enumerate(strings):
        types = (int64, as_dtype(dtype), int64)
        one = [raw(parse_tensor(*pair)) for pair in zip(parts, types, strict=True)]
        if rank is not None and len(one[2]) != rank:
            raise InvalidArgumentError(f"expected rank {rank}, got {len(one[2])} in row {row}")
        indices.append(np.insert(one[0], 0, row, axis=1))
        values.append(one[1])
        shapes.append(one[2])
    if len({len(shape) for shape in shapes}) > 1:
        raise InvalidArgumentError("the serialized sparse tensors have differing ranks")
    if not shapes:
        raise InvalidArgumentError("there are no sparse tensors to join")
    shape = [len(shapes), *np.max(shapes, axis=0)]
    return SparseTensor(np.concatenate(indices), wrap(np.concatenate(values)), shape)
