"""Indices of TFRecord files, made ahead of reading; part of `headrace.io`."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, SupportsIndex

from .. import _headrace, checks
from ..errors import CancelledError, InvalidArgumentError

__all__ = ["RecordIndex", "index_tfrecord"]


@dataclass(frozen=True)
class RecordIndex:
    """The index of a TFRecord file.

    Attributes
    ----------
    filename
        The file of records.
    index
        The file that says where they lie.
    records
        How many they are.
    made
        ``False``: it was there already, and fits.
    """

    filename: str
    index: str
    records: int
    made: bool


def index_tfrecord(
    filenames: Any,
    compression_type: str | None = "auto",
    *,
    into: str | os.PathLike[str] | None = None,
    force: bool = False,
    check: bool = False,
    jobs: SupportsIndex | None = None,
    progress: Callable[[str, int], object] | None = None,
) -> list[RecordIndex]:
    """Write down where the records of TFRecord files lie, for ``TFRecordDataset(index=...)``.

    Only the lengths of records are looked at, and their checksums; long payloads are not read. The
    index of a file appears whole or not at all, and one that still fits its file is kept. tf.data
    has nothing of the kind.

    Parameters
    ----------
    filenames
        A path, or many.
    compression_type
        ``"auto"`` tells it by the first bytes of each file; else as for `TFRecordDataset`.
    into
        The folder of the indices; ``None``: each lies beside its file.
    force
        ``True``: all are made anew.
    check
        ``True``: nothing is written; indices are compared with their files.
    jobs
        How many files are read at a time; ``None``: as many as there are cores.
    progress
        Called now and then with a file name and how many of its bytes were passed.

    Returns
    -------
    list of RecordIndex
        One for each file, in their order.

    Raises
    ------
    TypeError
        A file name is not a path.
    InvalidArgumentError
        An unknown compression, less than one job.
    NotFoundError, DataLossError, PermissionDeniedError
        A file is missing or damaged; an index cannot be written, or (with `check`) is missing or
        wrong.
    FailedPreconditionError
        A file was written to meanwhile; with `check`: it has changed since its index was made.

    Examples
    --------
    >>> import os, tempfile
    >>> path = os.path.join(tempfile.mkdtemp(), "a.tfrecord")
    >>> with hr.io.TFRecordWriter(path) as writer:
    ...     for record in [b"a", b"b", b"c"]:
    ...         writer.write(record)
    >>> [made] = hr.io.index_tfrecord(path)
    >>> os.path.basename(made.index), made.records
    ('.a.tfrecord.hridx', 3)
    """
    names = checks.paths(filenames)
    how = compression_type if compression_type == "auto" else checks.compression(compression_type)
    folder = None if into is None else checks.path("into", into)
    workers = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    if jobs is not None:
        workers = checks.integer("jobs", jobs)
        if workers < 1:
            raise InvalidArgumentError(f"`jobs` must be at least 1, got {workers}")
    if folder is not None:
        _refuse_same_names(names)
        if not check:
            os.makedirs(folder, exist_ok=True)

    # Loaded when needed.
    from concurrent.futures import ThreadPoolExecutor

    over = threading.Event()

    def one(name: str) -> RecordIndex:
        def told(passed: int) -> None:
            if over.is_set():
                raise CancelledError("another file failed")
            if progress is not None:
                progress(name, passed)

        made = _headrace.index_tfrecord(name, how, folder, bool(force), bool(check), told)
        return RecordIndex(name, *made)

    if len(names) < 2 or workers == 1:
        return [one(name) for name in names]
    with ThreadPoolExecutor(workers) as pool:
        running = [pool.submit(one, name) for name in names]
        try:
            return [each.result() for each in running]
        except BaseException:
            over.set()
            for each in running:
                each.cancel()
            raise


def _refuse_same_names(names: list[str]) -> None:
    seen: dict[str, str] = {}
    for name in names:
        other = seen.setdefault(os.path.basename(name), name)
        if other != name:
            raise InvalidArgumentError(
                f"{other} and {name} have one name, so that they would have one index in a folder; "
                "put indices beside the files"
            )
