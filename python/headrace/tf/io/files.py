"""Files of records, and whole files; mirrors ``tf.io``."""

from __future__ import annotations

import os
from typing import Any

import numpy as np

from ... import io as own
from ..bridge import to_own
from ..convert import convert
from ..dtypes import string
from ..kernels import run
from ..tensor import raw
from ..values import result

__all__ = ["TFRecordOptions", "TFRecordWriter", "matching_files", "read_file", "write_file"]

# TensorFlow 1 had numbers for these.
_COMPRESSIONS = {0: "", 1: "ZLIB", 2: "GZIP"}


class TFRecordOptions(own.TFRecordOptions):
    """How a TFRecord file is written; mirrors ``tf.io.TFRecordOptions``.

    Parameters
    ----------
    compression_type
        ``None`` or ``""``, ``"GZIP"``, ``"ZLIB"``, or TensorFlow 1's number of one.
    *numbers, **options
        As of `headrace.io.TFRecordOptions`.

    Raises
    ------
    ValueError
        There is no such compression.

    Examples
    --------
    >>> tf.io.TFRecordOptions("GZIP").compression_type
    'GZIP'
    """

    compression_type_map = _COMPRESSIONS

    def __init__(self, compression_type: Any = None, *numbers: Any, **options: Any) -> None:
        if isinstance(compression_type, own.TFRecordOptions):
            compression_type = compression_type.compression_type
        if isinstance(compression_type, int):
            compression_type = _COMPRESSIONS.get(compression_type, str(compression_type))
        try:
            super().__init__(compression_type, *numbers, **options)
        except ValueError as error:
            if compression_type in (*_COMPRESSIONS.values(), None):
                raise
            text = f'Not a valid compression_type: "{compression_type}"; {error}'
            raise type(error)(text) from None

    @classmethod
    def get_compression_type_string(cls, options: Any) -> str:
        """Return the name of the compression of options, a name or a number."""
        return cls(options).compression_type or "" if options else ""


class TFRecordWriter(own.TFRecordWriter):
    """Writes a TFRecord file; mirrors ``tf.io.TFRecordWriter``.

    Parameters
    ----------
    path
        The file; one that exists is replaced.
    options
        A `TFRecordOptions`, or the name of a compression.

    Raises
    ------
    ValueError
        There is no such compression.
    NotFoundError, PermissionDeniedError
        The file cannot be made.

    Examples
    --------
    >>> import tempfile, os
    >>> path = os.path.join(tempfile.mkdtemp(), "a.tfrecord")
    >>> with tf.io.TFRecordWriter(path) as writer:
    ...     writer.write(b"one")
    """

    def __init__(self, path: Any, options: Any = None) -> None:
        if not isinstance(options, own.TFRecordOptions):
            options = TFRecordOptions(options)
        super().__init__(os.fsdecode(_text(path)), options)

    def write(self, record: Any) -> None:
        """Append a record: bytes, or text as UTF-8."""
        super().write(record.encode() if isinstance(record, str) else record)


def _text(value: Any) -> Any:
    """Return a scalar tensor as text or bytes."""
    if isinstance(value, np.ndarray):
        return raw(value).item() if value.ndim == 0 else value
    return value


def read_file(filename: Any, name: str | None = None) -> Any:
    """Return what a file holds, a scalar string; mirrors ``tf.io.read_file``.

    Parameters
    ----------
    filename
        The path.
    name
        Accepted for TensorFlow's sake.

    Raises
    ------
    NotFoundError, PermissionDeniedError, FailedPreconditionError
        There is no such file, it may not be read, or is a folder.

    Examples
    --------
    >>> import tempfile, os
    >>> path = os.path.join(tempfile.mkdtemp(), "a.txt")
    >>> tf.io.write_file(path, "text")
    >>> tf.io.read_file(path).numpy()
    b'text'
    """
    filename = os.fspath(filename) if isinstance(filename, os.PathLike) else filename
    return result(own.read_file(to_own(convert(filename, string))))


def write_file(filename: Any, contents: Any, name: str | None = None) -> None:
    """Make or replace a file, and its folders; mirrors ``tf.io.write_file``.

    Parameters
    ----------
    filename
        The path.
    contents
        What it is to hold, a string.
    name
        Accepted for TensorFlow's sake.

    Examples
    --------
    >>> import tempfile, os
    >>> tf.io.write_file(os.path.join(tempfile.mkdtemp(), "a.txt"), b"text")
    """
    own.write_file(_text(filename), _text(contents))


def matching_files(pattern: Any, name: str | None = None) -> Any:
    """Return the paths that match patterns, in order; mirrors ``tf.io.matching_files``.

    Parameters
    ----------
    pattern
        One pattern or several, as `tf.io.gfile.glob` takes them.
    name
        Accepted for TensorFlow's sake.

    Examples
    --------
    >>> tf.io.matching_files("/no/such/*").shape
    TensorShape([0])
    """
    return run("matching_files", (convert(pattern, string),), ((None,), string))
