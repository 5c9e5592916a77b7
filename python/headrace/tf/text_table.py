"""Tables from lines of text files; mirrors ``tf.lookup.TextFileInitializer``."""

from __future__ import annotations

import enum
import os
from typing import Any

import numpy as np

from ..errors import InvalidArgumentError
from .dtypes import as_dtype, int64, string
from .tensor import raw, wrap

__all__ = ["TextFileIndex", "TextFileInitializer"]


class TextFileIndex(enum.IntEnum):
    """What of a line is meant, if not a column; mirrors ``tf.lookup.TextFileIndex``."""

    WHOLE_LINE = -2
    LINE_NUMBER = -1


class TextFileInitializer:
    r"""What a table holds at first, by a text file; mirrors ``tf.lookup.TextFileInitializer``.

    Parameters
    ----------
    filename
        The file. It is read at once.
    key_dtype, value_dtype
        Types of keys and values.
    key_index, value_index
        Which columns they are in, or a `TextFileIndex`.
    vocab_size
        How many lines are read; all by default.
    delimiter
        The character between columns.
    value_index_offset
        What is added to numbers of lines as values.

    Raises
    ------
    ValueError
        There is no name, or a type does not go with what is meant.
    InvalidArgumentError
        A line is empty or has too few columns, a number is none, the file has too few lines.

    Examples
    --------
    >>> import tempfile, os
    >>> path = os.path.join(tempfile.mkdtemp(), "words.txt")
    >>> with open(path, "w") as file:
    ...     _ = file.write("the\nof\n")
    >>> index = tf.lookup.TextFileIndex
    >>> words = tf.lookup.TextFileInitializer(
    ...     path, tf.string, index.WHOLE_LINE, tf.int64, index.LINE_NUMBER
    ... )
    >>> tf.lookup.StaticHashTable(words, -1).lookup(tf.constant(["of", "a"])).numpy()
    array([ 1, -1])
    """

    def __init__(
        self, filename: Any, key_dtype: Any, key_index: int, value_dtype: Any, value_index: int,
        vocab_size: Any = None, delimiter: str = "\t", name: str | None = None,
        value_index_offset: int = 0,
    ) -> None:  # fmt: skip
        path = raw(filename) if not isinstance(filename, os.PathLike) else os.fspath(filename)
        path = path.item() if isinstance(path, np.ndarray) else path
        if not path:
            raise ValueError("`filename` argument required for tf.lookup.TextFileInitializer")
        self.key_dtype, self.value_dtype = as_dtype(key_dtype), as_dtype(value_dtype)
        _check("key", int(key_index), self.key_dtype)
        _check("value", int(value_index), self.value_dtype)
        self._path = os.fsdecode(path)
        cut = _separator(delimiter, int(key_index), int(value_index))
        if vocab_size is not None and vocab_size <= 0:
            raise ValueError(f"`vocab_size` should be > 0, received: {vocab_size}")
        lines = self._lines(None if vocab_size is None else int(vocab_size))
        rows = [line.split(cut) if cut else [] for line in lines]
        self.keys = self._column(lines, rows, int(key_index), self.key_dtype, 0)
        offset = int(value_index_offset)
        self.values = self._column(lines, rows, int(value_index), self.value_dtype, offset)

    def _lines(self, count: int | None) -> list[bytes]:
        from .io import read_file

        text = raw(read_file(self._path)).item()
        lines: list[bytes] = text.split(b"\n")
        if not lines[-1]:
            lines.pop()
        lines = [line.removesuffix(b"\r") for line in lines]
        if count is not None:
            if len(lines) < count:
                raise InvalidArgumentError(
                    f"Invalid vocab_size in {self._path}: expected {count} lines, got {len(lines)}"
                )
            lines = lines[:count]
        for number, line in enumerate(lines):
            if not line:
                raise InvalidArgumentError(
                    f"Invalid content in {self._path}: empty line found at position {number}"
                )
        return lines

    def _column(
        self, lines: list[bytes], rows: list[list[bytes]], index: int, dtype: Any, offset: int
    ) -> Any:
        if index == TextFileIndex.LINE_NUMBER:
            return wrap(np.arange(len(lines), dtype=np.int64) + offset)
        fields = lines
        if index >= 0:
            for number, row in enumerate(rows):
                if len(row) <= index:
                    raise InvalidArgumentError(
                        f"Invalid number of columns in {self._path} line {number}: "
                        f"{len(row)} columns, of which number {index} is asked for"
                    )
            fields = [row[index] for row in rows]
        made = np.empty(len(fields), object)
        made[:] = fields
        return wrap(made if dtype is string else _numbers(fields, dtype, self._path))


def _check(what: str, index: int, dtype: Any) -> None:
    if index < TextFileIndex.WHOLE_LINE:
        raise ValueError(f"`{what}_index` should be >= -2, received: {index}.")
    if index == TextFileIndex.LINE_NUMBER and dtype is not int64:
        raise ValueError(
            f"`{what}_dtype` must be int64 if `{what}_index` is -1, received: {dtype!r}"
        )


def _separator(delimiter: str, *indices: int) -> bytes | None:
    """Return what stands between columns; None where no column is asked for."""
    if max(indices) < 0:
        return None
    cut = delimiter.encode() if isinstance(delimiter, str) else bytes(delimiter)
    if len(cut) != 1:
        raise InvalidArgumentError(f"delimiter should be only 1 char, got {delimiter!r}")
    return cut


def _numbers(fields: list[bytes], dtype: Any, path: str) -> Any:
    kind = dtype.dtype
    read: Any = int if dtype.is_integer else float
    made = np.empty(len(fields), kind)
    for number, field in enumerate(fields):
        try:
            made[number] = read(field)
        except (ValueError, OverflowError):
            raise InvalidArgumentError(
                f"Field {field.decode(errors='replace')} in line {number} is not a valid "
                f"{dtype.name} ({path})"
            ) from None
    return made
