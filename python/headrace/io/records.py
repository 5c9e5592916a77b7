"""TFRecord files: writing; part of `headrace.io`."""

from __future__ import annotations

import os
from types import TracebackType
from typing import Any, Self

from .. import _headrace, checks
from ..errors import InvalidArgumentError

__all__ = [
    "TFRecordOptions",
    "TFRecordWriter",
]


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
