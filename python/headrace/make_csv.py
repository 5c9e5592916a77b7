"""`experimental.make_csv_dataset`: batches of named columns from CSV files.

What is not given is found out from the files: the names of the columns from their headers, the
types from their first rows, by TensorFlow's rules.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import IO, Any, SupportsIndex

import numpy as np

from . import checks
from .dataset import Dataset
from .glob import glob
from .readers import CsvDataset, Opening

__all__ = ["make_csv_dataset"]

# From the narrowest type to the one that anything is.
_TYPES: tuple[Any, ...] = (np.int32, np.int64, np.float32, np.float64, bytes)


class _CsvOpening(Opening):
    """Opens a CSV file; with `ignore_errors`, records that do not fit are left out."""

    def __init__(
        self, op: str, args: dict[str, Any], element_spec: Any, ignore_errors: bool
    ) -> None:
        super().__init__(op, args, element_spec)
        self.ignore_errors = ignore_errors

    def _open(self, filename: Any) -> Dataset[Any]:
        dataset = super()._open(filename)
        return dataset.ignore_errors() if self.ignore_errors else dataset

    def __reduce__(self) -> tuple[Any, ...]:
        return _CsvOpening, (self.op, self.args, self.element_spec, self.ignore_errors)


def make_csv_dataset(
    file_pattern: Any,
    batch_size: SupportsIndex,
    column_names: Sequence[str] | None = None,
    column_defaults: Sequence[Any] | None = None,
    label_name: str | None = None,
    select_columns: Sequence[Any] | None = None,
    field_delim: str = ",",
    use_quote_delim: bool = True,
    na_value: str = "",
    header: bool = True,
    num_epochs: SupportsIndex | None = None,
    shuffle: bool = True,
    shuffle_buffer_size: SupportsIndex = 10000,
    shuffle_seed: SupportsIndex | None = None,
    prefetch_buffer_size: SupportsIndex | None = None,
    num_parallel_reads: int | None = None,
    sloppy: bool = False,
    num_rows_for_inference: int | None = 100,
    compression_type: str | None = None,
    ignore_errors: bool = False,
    encoding: str = "utf-8",
) -> Dataset[Any]:
    r"""Yield batches of named columns; mirrors ``tf.data.experimental.make_csv_dataset``.

    Parameters
    ----------
    file_pattern
        A pattern, or many, as in `Dataset.list_files`.
    batch_size
        Rows in a batch.
    column_names
        ``None``: what the first row of each file says.
    column_defaults
        As in `CsvDataset`, one for each column that is read; ``None``: the types are found out
        (int32, int64, float32, float64, else bytes), and an empty field is 0 or empty.
    label_name
        The column that comes apart from the others: elements are then pairs.
    select_columns
        Names or numbers of the columns to read; ``None``: all.
    field_delim, use_quote_delim, na_value, compression_type
        As in `CsvDataset`.
    header
        Whether the first row of each file is one of names.
    num_epochs
        How many times over; ``None``: without end, and all batches are whole.
    shuffle
        Whether files and rows come in random order.
    shuffle_buffer_size, shuffle_seed
        As in `Dataset.shuffle`.
    prefetch_buffer_size
        As in `Dataset.prefetch`; ``None``: `AUTOTUNE`.
    num_parallel_reads
        How many files are read at a time; ``None``: 1.
    sloppy
        Whether rows may come in any order, for speed.
    num_rows_for_inference
        Of how many rows the types are found out; ``None``: all.
    ignore_errors
        Leave out the rows that do not fit.
    encoding
        Of the names, and of the fields while types are found out.

    Raises
    ------
    ValueError
        No file matches, or the columns do not fit together.

    Examples
    --------
    >>> import os, tempfile
    >>> path = os.path.join(tempfile.mkdtemp(), "a.csv")
    >>> with open(path, "w") as file:
    ...     _ = file.write("size,label\n1.5,a\n2,b\n")
    >>> list(make_csv_dataset(path, 2, label_name="label", num_epochs=1, shuffle=False))
    [({'size': array([1.5, 2. ], dtype=float32)}, array([b'a', b'b'], dtype=object))]
    """
    files = _files(file_pattern)
    look = _Look(files, field_delim, use_quote_delim, header, compression_type, encoding)
    if column_names is None:
        if not header:
            raise ValueError("give `column_names`, or files with a `header`: there is neither")
        column_names = look.names()
    names = list(column_names)
    if len(set(names)) < len(names):
        double = sorted({name for name in names if names.count(name) > 1})
        raise ValueError(f"column names must differ, but there are several of {double}")
    selected = None if select_columns is None else _numbers(select_columns, names)
    if column_defaults is None:
        column_defaults = look.defaults(len(names), selected, na_value, num_rows_for_inference)
    if selected is not None:
        if len(column_defaults) != len(selected):
            raise ValueError(
                "`column_defaults` and `select_columns` must have the same length, but have "
                f"{len(column_defaults)} and {len(selected)}"
            )
        names = [names[number] for number in selected]
    if label_name is not None and label_name not in names:
        raise ValueError(f"`label_name` must be one of the columns {names}, got {label_name!r}")
    rows: Any = CsvDataset(
        files,
        column_defaults,
        compression_type,
        None,
        header,
        field_delim,
        use_quote_delim,
        na_value,
        selected,
    )
    dataset = _rows(rows, files, shuffle, shuffle_seed, num_parallel_reads, sloppy, ignore_errors)
    if shuffle:
        dataset = dataset.shuffle(shuffle_buffer_size, shuffle_seed)
    epochs = None if num_epochs is None else checks.integer("num_epochs", num_epochs)
    if epochs != 1:
        dataset = dataset.repeat(epochs)
    dataset = dataset.batch(batch_size, drop_remainder=epochs is None)
    dataset = dataset.map(_naming(names, label_name))
    return dataset.prefetch(
        checks.AUTOTUNE if prefetch_buffer_size is None else prefetch_buffer_size
    )


def _files(file_pattern: Any) -> list[str]:
    patterns = checks.paths(file_pattern)
    if not patterns:
        raise ValueError("`file_pattern` must not be empty")
    files = sorted(path for pattern in patterns for path in glob(pattern))
    if not files:
        raise ValueError(f"No files match `file_pattern` {file_pattern}.")
    return files


def _rows(
    rows: Dataset[Any],
    files: list[str],
    shuffle: bool,
    seed: SupportsIndex | None,
    num_parallel_reads: int | None,
    sloppy: bool,
    ignore_errors: bool,
) -> Dataset[Any]:
    """Return the rows of all files, in the order of the files or in a random one."""
    names: Dataset[Any] = Dataset.from_tensor_slices(files)
    if shuffle:
        names = names.shuffle(len(files), seed)
    args = {name: value for name, value in rows._args.items() if name != "filenames"}
    opening = _CsvOpening("csv", args, rows.element_spec, ignore_errors)
    count = checks.parallelism("num_parallel_reads", num_parallel_reads)
    if count in (None, 1):
        return names._derive("flat_map", function=opening)
    return names._derive(
        "interleave",
        function=opening,
        cycle_length=None if count == checks.AUTOTUNE else count,
        block_length=None,
        num_parallel_calls=count,
        deterministic=False if sloppy else None,
    )


def _naming(names: list[str], label_name: str | None) -> Callable[..., Any]:
    """Return the function that gives the columns of a batch their names."""
    if label_name is None:

        def with_names(*columns: Any) -> Any:
            return dict(zip(names, columns, strict=True))

        return with_names
    place = names.index(label_name)
    others = names[:place] + names[place + 1 :]

    def with_label(*columns: Any) -> Any:
        features = columns[:place] + columns[place + 1 :]
        return dict(zip(others, features, strict=True)), columns[place]

    return with_label


def _numbers(select_columns: Sequence[Any], names: list[str]) -> list[int]:
    """Return the numbers of columns given by name or number, rising."""
    numbers = []
    for column in select_columns:
        if isinstance(column, str):
            if column not in names:
                raise ValueError(f"`select_columns` has {column!r}, the columns are {names}")
            numbers.append(names.index(column))
            continue
        number = checks.integer("select_columns", column)
        if not 0 <= number < len(names):
            raise ValueError(f"`select_columns` has {number}, there are {len(names)} columns")
        numbers.append(number)
    if len(set(numbers)) < len(numbers):
        raise ValueError(f"`select_columns` names a column twice: {list(select_columns)}")
    return sorted(numbers)


class _Look:
    """A look into the files, to find out what is in them."""

    def __init__(
        self,
        files: list[str],
        field_delim: str,
        use_quote_delim: bool,
        header: bool,
        compression_type: str | None,
        encoding: str,
    ) -> None:
        self.files = files
        self.header = header
        self.compression = checks.compression(compression_type)
        self.encoding = encoding
        self.delimiter = field_delim
        self.quotes = use_quote_delim

    def _open(self, path: str) -> IO[str]:
        if self.compression == "ZLIB":
            raise ValueError(
                'columns cannot be found out from files of compression_type "ZLIB": give '
                "`column_names` and `column_defaults`"
            )
        if self.compression == "GZIP":
            import gzip

            return gzip.open(path, "rt", encoding=self.encoding, newline="")
        return open(path, encoding=self.encoding, newline="")

    def _records(self, file: IO[str]) -> Iterator[list[str]]:
        import csv

        quoting: Any = csv.QUOTE_MINIMAL if self.quotes else csv.QUOTE_NONE
        return csv.reader(file, delimiter=self.delimiter, quoting=quoting)

    def names(self) -> list[str]:
        """Return the names of the columns, which must be the same in all files."""
        found: list[str] | None = None
        for path in self.files:
            with self._open(path) as file:
                names = next(self._records(file), None)
            if names is None:
                raise ValueError(f"{path} has no header line: it is empty")
            if found is not None and names != found:
                raise ValueError(
                    f"all files must have the same columns: {self.files[0]} has {found}, {path} "
                    f"has {names}"
                )
            found = names
        return found or []

    def _rows(self, count: int) -> Iterator[list[str]]:
        for path in self.files:
            with self._open(path) as file:
                records = self._records(file)
                if self.header:
                    next(records, None)
                for number, record in enumerate(records, 1 + self.header):
                    if len(record) != count:
                        raise ValueError(
                            f"types cannot be found out: row {number} of {path} has {len(record)} "
                            f"fields where there are {count} columns"
                        )
                    yield record

    def defaults(
        self, count: int, selected: list[int] | None, na_value: str, limit: int | None
    ) -> list[Any]:
        """Return zero or empty text for each column that is read, of the type that fits."""
        columns = list(range(count)) if selected is None else selected
        ranks: list[int | None] = [None] * len(columns)
        for number, record in enumerate(self._rows(count)):
            if limit is not None and number >= limit:
                break
            for place, column in enumerate(columns):
                ranks[place] = _rank(record[column], na_value, ranks[place])
        return [_TYPES[len(_TYPES) - 1 if rank is None else rank]() for rank in ranks]


def _rank(text: str, na_value: str, before: int | None) -> int | None:
    """Return the place in `_TYPES` of the narrowest that takes `text` and what was before."""
    if text in ("", na_value):
        return before
    for rank in range(before or 0, len(_TYPES) - 1):
        if _takes(_TYPES[rank], text):
            return rank
    return len(_TYPES) - 1


def _takes(kind: Any, text: str) -> bool:
    try:
        if kind in (np.int32, np.int64):
            limits = np.iinfo(kind)
            return bool(limits.min <= int(text) <= limits.max)
        with np.errstate(over="ignore"):
            return bool(kind(text) < np.inf)
    except ValueError:
        return False
