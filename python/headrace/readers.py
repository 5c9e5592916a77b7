"""Datasets of the lines, records and rows of files, and of their names.

Files are opened when their turn comes, and read in large blocks, front to back.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import Any, SupportsIndex
from zlib import adler32, crc32

import numpy as np

from . import checks
from .dataset import Dataset, make_step
from .dataset.step import CLASSES
from .dtypes import as_dtype, dtype_name
from .errors import InvalidArgumentError
from .glob import glob
from .spec import DatasetSpec, TensorSpec, UnknownSpec, spec_of
from .standin import is_symbolic

__all__ = ["CsvDataset", "FixedLengthRecordDataset", "TextLineDataset"]

# What the elements of most readers look like.
RECORD = TensorSpec((), bytes)


class Opening:
    """The function of a file name that opens the file, with what the engine needs of a function.

    Parameters
    ----------
    op, args
        The reader and its arguments but the file names.
    element_spec
        What its elements look like.
    """

    on_trial = True
    silent = quiet = True

    def __init__(self, op: str, args: dict[str, Any], element_spec: Any) -> None:
        self.op = op
        self.args = args
        self.element_spec = element_spec
        self.name = f"the reader of {op} files"
        self.reason = "it opens files"
        self.callable = self._open
        # The same in every process.
        words = repr((op, sorted(args.items()))).encode()
        self.fingerprint = crc32(words) << 32 | adler32(words)

    def prepare(self, element_spec: Any) -> tuple[str, Any]:
        """Return why it is no graph, and what it gives."""
        return self.reason, DatasetSpec(self.element_spec)

    def arguments(self, element_spec: Any) -> Any:
        """Return what its arguments look like for elements of this spec."""
        return element_spec

    def _open(self, filename: Any) -> Dataset[Any]:
        return make_step(self.op, (), filenames=[os.fsdecode(filename)], **self.args)

    def __reduce__(self) -> tuple[Any, ...]:
        return Opening, (self.op, self.args, self.element_spec)

    def __repr__(self) -> str:
        return f"<{self.name}>"


def reader(
    op: str, filenames: Any, num_parallel_reads: Any, args: dict[str, Any], element_spec: Any
) -> Dataset[Any]:
    """Make the dataset of a reader: of names or a dataset of names, one by one or interleaved.

    Raises
    ------
    TypeError
        A dataset of anything but names.
    """
    count = checks.parallelism("num_parallel_reads", num_parallel_reads)
    if not isinstance(filenames, Dataset):
        filenames = checks.paths(filenames)
        if count in (None, 1) or is_symbolic(filenames):
            return make_step(op, (), filenames=filenames, **args)
        names: Any = np.array([*filenames, None], dtype=object)[:-1]
        filenames = Dataset.from_tensor_slices(names)
    named: Dataset[Any] = filenames
    spec = named._plan.element_spec
    text = isinstance(spec, TensorSpec) and spec.dtype in (bytes, str)
    if not text and not isinstance(spec, UnknownSpec):
        raise TypeError(
            "The `filenames` argument must contain `str` elements. Got a dataset of "
            f"`{spec!r}` elements."
        )
    if text and spec.shape not in ((), None):
        raise TypeError(
            "The `filenames` argument must contain `str` elements of shape [] (i.e. scalars). Got "
            f"a dataset of element shape {spec.shape}."
        )
    opening = Opening(op, args, element_spec)
    if count in (None, 1):
        return named._derive("flat_map", function=opening)
    return named._derive(
        "interleave",
        function=opening,
        cycle_length=None if count == checks.AUTOTUNE else count,
        block_length=None,
        num_parallel_calls=count,
        deterministic=None,
    )


def _buffer(buffer_size: SupportsIndex | None) -> int | None:
    if buffer_size is None:
        return None
    size = checks.integer("buffer_size", buffer_size)
    if size < 0:
        raise InvalidArgumentError(f"`buffer_size` must be >= 0 (0 == default), got {size}")
    return size or None


class _Reader(Dataset[Any]):
    """A dataset class whose constructor takes arguments."""

    __slots__ = ()

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        pass


class TextLineDataset(_Reader):
    r"""Yield the lines of text files as bytes; mirrors ``tf.data.TextLineDataset``.

    Lines end with a line feed, which is left out, and so are all carriage returns. What follows
    the last line feed is a line too, unless it is empty.

    Parameters
    ----------
    filenames
        A path, many, or a dataset of them. Paths are taken as they are, without globbing.
    compression_type
        ``None`` or ``""``, ``"GZIP"``, ``"ZLIB"``.
    buffer_size
        Bytes of a read; ``None`` or 0 lets headrace choose.
    num_parallel_reads
        ``None`` or 1: one file after the other. More: so many files are read at a time, and one
        element comes from each in turn; `AUTOTUNE`: as many as there are cores.
    name
        Accepted for tf.data's sake.

    Raises
    ------
    TypeError
        A file name is not a path.
    InvalidArgumentError
        An unknown compression, a negative `buffer_size`.
    NotFoundError, DataLossError
        During iteration: a file is missing, or its compression is damaged; the text has file, line
        and byte.

    Examples
    --------
    >>> import os, tempfile
    >>> path = os.path.join(tempfile.mkdtemp(), "a.txt")
    >>> with open(path, "w") as file:
    ...     _ = file.write("one\ntwo\n")
    >>> list(hr.TextLineDataset(path))
    [b'one', b'two']
    """

    __slots__ = ()

    def __new__(
        cls,
        filenames: Any,
        compression_type: str | None = None,
        buffer_size: SupportsIndex | None = None,
        num_parallel_reads: int | None = None,
        name: str | None = None,
    ) -> TextLineDataset:
        """Check the arguments and make the plan."""
        args = {
            "compression_type": checks.compression(compression_type),
            "buffer_size": _buffer(buffer_size),
        }
        made: Any = reader("text_line", filenames, num_parallel_reads, args, RECORD)
        return made  # type: ignore[no-any-return]


class FixedLengthRecordDataset(_Reader):
    """Yield records of one length as bytes; mirrors ``tf.data.FixedLengthRecordDataset``.

    Parameters
    ----------
    filenames
        A path, many, or a dataset of them. Paths are taken as they are, without globbing.
    record_bytes
        Length of each record.
    header_bytes, footer_bytes
        Bytes before the first record and after the last of each file; ``None``: 0.
    buffer_size
        Bytes of a read; ``None`` or 0 lets headrace choose.
    compression_type
        ``None`` or ``""``, ``"GZIP"``, ``"ZLIB"``.
    num_parallel_reads
        ``None`` or 1: one file after the other. More: so many files are read at a time, and one
        element comes from each in turn; `AUTOTUNE`: as many as there are cores.
    name
        Accepted for tf.data's sake.

    Raises
    ------
    TypeError
        A file name is not a path.
    InvalidArgumentError
        `record_bytes` below 1, or another number below 0. During iteration: the file does not
        hold a whole number of records.
    NotFoundError, DataLossError
        During iteration: a file is missing, or its compression is damaged.

    Examples
    --------
    >>> import os, tempfile
    >>> path = os.path.join(tempfile.mkdtemp(), "a.bin")
    >>> with open(path, "wb") as file:
    ...     _ = file.write(b"headabcdef")
    >>> list(hr.FixedLengthRecordDataset(path, 3, header_bytes=4))
    [b'abc', b'def']
    """

    __slots__ = ()

    def __new__(
        cls,
        filenames: Any,
        record_bytes: SupportsIndex,
        header_bytes: SupportsIndex | None = None,
        footer_bytes: SupportsIndex | None = None,
        buffer_size: SupportsIndex | None = None,
        compression_type: str | None = None,
        num_parallel_reads: int | None = None,
        name: str | None = None,
    ) -> FixedLengthRecordDataset:
        """Check the arguments and make the plan."""
        sizes = {"record_bytes": checks.integer("record_bytes", record_bytes)}
        if sizes["record_bytes"] <= 0:
            raise InvalidArgumentError(f"`record_bytes` must be > 0, got {record_bytes}")
        for label, size in [("header_bytes", header_bytes), ("footer_bytes", footer_bytes)]:
            sizes[label] = 0 if size is None else checks.integer(label, size)
            if sizes[label] < 0:
                raise InvalidArgumentError(f"`{label}` must be >= 0, got {size}")
        args = {
            **sizes,
            "compression_type": checks.compression(compression_type),
            "buffer_size": _buffer(buffer_size),
        }
        made: Any = reader("fixed_length_record", filenames, num_parallel_reads, args, RECORD)
        return made  # type: ignore[no-any-return]


class CsvDataset(_Reader):
    r"""Yield the records of CSV files as tuples; mirrors ``tf.data.experimental.CsvDataset``.

    Records and fields are those of RFC 4180; numbers may have spaces around them. A record that
    does not fit is an error, and the next one follows it.

    Parameters
    ----------
    filenames
        A path, many, or a dataset of them. Paths are taken as they are, without globbing.
    record_defaults
        One for each column: a dtype (float32, float64, int32, int64, ``bytes``, ``str``) or an
        empty array for a field that must be there, or the value of an empty one.
    compression_type
        ``None`` or ``""``, ``"GZIP"``, ``"ZLIB"``.
    buffer_size
        Bytes of a read; ``None`` or 0 lets headrace choose.
    header
        Whether the first record of each file is passed over.
    field_delim
        What stands between two fields: one character.
    use_quote_delim
        ``False``: quotes are characters like any other.
    na_value
        A text that counts as empty, too.
    select_cols, exclude_cols
        Rising numbers of the columns to read, or not to read; ``None``: all are read.

    Raises
    ------
    TypeError
        A file name is not a path.
    InvalidArgumentError
        An argument that does not fit. During iteration: a record that does not; the text has
        file, record and byte.
    NotFoundError, DataLossError
        During iteration: a file is missing, or its compression is damaged.

    Examples
    --------
    >>> import os, tempfile
    >>> path = os.path.join(tempfile.mkdtemp(), "a.csv")
    >>> with open(path, "w") as file:
    ...     _ = file.write('1,"a, b"\n,c\n')
    >>> list(CsvDataset(path, [np.int32(7), bytes]))
    [(np.int32(1), b'a, b'), (np.int32(7), b'c')]
    """

    __slots__ = ()

    def __new__(
        cls,
        filenames: Any,
        record_defaults: Any,
        compression_type: str | None = None,
        buffer_size: SupportsIndex | None = None,
        header: bool = False,
        field_delim: str | bytes = ",",
        use_quote_delim: bool = True,
        na_value: str | bytes = "",
        select_cols: Iterable[SupportsIndex] | None = None,
        exclude_cols: Iterable[SupportsIndex] | None = None,
    ) -> CsvDataset:
        """Check the arguments and make the plan."""
        delimiter = _encoded("field_delim", field_delim)
        if len(delimiter) != 1:
            raise InvalidArgumentError(f"field_delim should be only 1 char, got {field_delim!r}")
        made: CsvDataset = make_step(  # type: ignore[assignment]
            "csv",
            (),
            filenames=checks.paths(filenames),
            record_defaults=[_default(i, value) for i, value in enumerate(record_defaults)],
            compression_type=checks.compression(compression_type),
            buffer_size=_buffer(buffer_size),
            header=checks.flag("header", header),
            field_delim=delimiter,
            use_quote_delim=checks.flag("use_quote_delim", use_quote_delim),
            na_value=_encoded("na_value", na_value),
            select_cols=_columns("select_cols", select_cols),
            exclude_cols=_columns("exclude_cols", exclude_cols),
        )
        return made


CLASSES.update(
    text_line=TextLineDataset, fixed_length_record=FixedLengthRecordDataset, csv=CsvDataset
)


def _encoded(name: str, value: Any) -> bytes:
    if isinstance(value, bytes):
        return value
    if not isinstance(value, str):
        raise TypeError(f"`{name}` must be text, got {value!r} ({type(value).__name__})")
    return value.encode()


def _columns(name: str, columns: Iterable[SupportsIndex] | None) -> list[int]:
    numbers = [checks.integer(name, column) for column in columns or ()]
    if any(number < 0 for number in numbers):
        raise InvalidArgumentError(f"{name} should be non-negative indices, got {numbers}")
    return numbers


def _default(place: int, value: Any) -> tuple[str, Any]:
    """Return the dtype of a column, and its value where a field is empty; None if there is none."""
    label = f"record_defaults[{place}]"
    if isinstance(value, type | np.dtype):
        return dtype_name(as_dtype(value)), None
    value = checks.tensor(value)
    spec = spec_of(value)
    if not isinstance(spec, TensorSpec):
        raise InvalidArgumentError(f"{label} must be a dtype or a scalar, got {value!r}")
    array = np.asarray(value, dtype=object if isinstance(value, bytes | str) else None)
    if array.ndim > 1 or array.size > 1:
        raise InvalidArgumentError(f"{label} must be a scalar, or empty, got {value!r}")
    return dtype_name(spec.dtype), None if array.size == 0 else array.reshape(())[()]


def list_files(
    file_pattern: Any,
    shuffle: bool | None,
    seed: SupportsIndex | None,
    hidden: bool = False,
    as_bytes: bool = False,
) -> Dataset[Any]:
    """Make the dataset of `Dataset.list_files`; `hidden` as in `headrace.glob.glob`.

    Paths are bytes where a pattern is, or with `as_bytes`.
    """
    patterns = checks.paths(file_pattern)
    given = file_pattern if isinstance(file_pattern, list | tuple) else [file_pattern]
    as_bytes = as_bytes or any(isinstance(pattern, bytes) for pattern in given)
    files = sorted(path for pattern in patterns for path in glob(pattern, hidden))
    if not files:
        text = f"No files matched pattern: {', '.join(patterns)}"
        if any(set("[*?\\") & set(pattern) for pattern in patterns):
            text += "; to match a bracket, star or question mark itself, put a backslash before it"
        if any(glob(pattern, hidden=True) for pattern in patterns):
            text += "; hidden files are matched by a pattern that begins with a dot"
        raise InvalidArgumentError(text)
    names: Any = [os.fsencode(path) for path in files] if as_bytes else files
    dataset: Dataset[Any] = Dataset.from_tensor_slices(names)
    if shuffle is None or checks.flag("shuffle", shuffle):
        return dataset.shuffle(max(1, len(files)), seed)
    return dataset
