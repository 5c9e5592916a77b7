"""TFRecord files by the names of TensorFlow 1; mirrors ``tf.compat.v1.python_io``."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from .... import _headrace
from ...io import TFRecordOptions, TFRecordWriter
from ...names import lookup as _lookup

__all__ = ["TFRecordCompressionType", "TFRecordOptions", "TFRecordWriter", "tf_record_iterator"]


class TFRecordCompressionType:
    """Numbers of compressions."""

    NONE = 0
    ZLIB = 1
    GZIP = 2


def tf_record_iterator(path: Any, options: Any = None) -> Iterator[bytes]:
    """Go over the records of a file; mirrors ``tf.compat.v1.python_io.tf_record_iterator``.

    Parameters
    ----------
    path
        The file.
    options
        A `TFRecordOptions`, or the name of a compression.

    Raises
    ------
    DataLossError
        The file is damaged or cut off.

    Examples
    --------
    >>> import tempfile, os
    >>> path = os.path.join(tempfile.mkdtemp(), "a.tfrecord")
    >>> with TFRecordWriter(path) as writer:
    ...     writer.write(b"one")
    >>> list(tf_record_iterator(path))
    [b'one']
    """
    import os

    compression = TFRecordOptions.get_compression_type_string(options)
    return iter(_headrace.RecordReader(os.fsdecode(path), compression or None))


__getattr__ = _lookup(__name__)
