"""Datasets of the records of TFRecord files."""

from __future__ import annotations

import os
from collections.abc import Iterator as PyIterator
from typing import Any

from . import checks
from .dataset import Dataset, make_step
from .dataset.step import CLASSES

__all__ = ["TFRecordDataset"]


class TFRecordDataset(Dataset[bytes]):
    """Yield the records of TFRecord files; mirrors ``tf.data.TFRecordDataset``.

    Both checksums of each record are checked. Files are opened when their turn comes. One without
    records is named in a warning of the logger ``headrace``, once in the life of the process;
    ``logging.getLogger("headrace").setLevel("ERROR")`` turns that off.

    Parameters
    ----------
    filenames
        A path, many, or a dataset of them. Paths are taken as they are, without globbing.
    compression_type
        ``None`` or ``""``, ``"GZIP"``, ``"ZLIB"``.
    buffer_size
        Bytes of a read; ``None`` lets headrace choose.
    num_parallel_reads
        ``None`` or 1: one file after the other. More: so many files are read at a time, and one
        record comes from each in turn; `AUTOTUNE`: as many as there are cores.
    name
        Accepted for tf.data's sake.
    index
        Where records lie is written down in a small file, so that the dataset knows its length, has
        random access (``dataset[i]``, ``shuffle(None)``), and skips and shards without reading.
        ``"auto"``: beside each file, under a hidden name; a pass that reads a file whole leaves
        it behind, and what is missing or stale is made when a length or an element by
        number is asked for. Where it cannot be written it is kept in
        memory. A path: the folder (or, for a single file, the index) that ``headrace index`` or
        `headrace.io.index_tfrecord` wrote; it is never written to, and an index that is missing or
        stale is an error. tf.data has nothing of the kind.
    on_corruption
        ``"raise"``, or ``"skip"``: damaged records are left out, and reading goes on with the next
        record there is. tf.data has no such argument.
    corruption_limit
        With ``"skip"``: after so many damaged places the next ones raise; ``None``: none does.

    Raises
    ------
    TypeError
        A file name is not a path.
    InvalidArgumentError
        An unknown compression or `on_corruption`; a `corruption_limit` that is negative, or given
        without ``"skip"``; ``"skip"`` with an index; one index for several files.
    NotFoundError, FailedPreconditionError
        An index that was given by its path is missing, or not that of the file.
    NotFoundError, DataLossError
        During iteration: a file is missing or damaged; the text has file, record and byte.

    Notes
    -----
    With ``on_corruption="skip"`` no record comes that was not written: both its checksums hold. A
    damaged payload is passed over by its length, and a length by its checksum. Where both are gone,
    or bytes are missing or too many, the next record is searched for. It counts where the records
    from there on lead to the end of the file or are far more than one record is likely to hold, or
    the damaged record is seen to end before it; so what only looks like records, within a damaged
    record that holds a file itself, is not taken for them. In doubt a stretch between two places of
    such damage is left out. A file that is cut off loses its last record, and a damaged compressed
    stream all from there on. A file of another kind (compressed in another way, a Git LFS pointer)
    raises.

    `Iterator.report` tells file, offset and bytes of each damaged place, and a warning of the
    logger ``headrace`` names each damaged file once. Places are counted over all files in the order
    of the elements, from the start of each epoch.

    Examples
    --------
    >>> hr.TFRecordDataset(["a.tfrecord", "b.tfrecord"])
    <TFRecordDataset element_spec=TensorSpec(shape=(), dtype=bytes)>
    >>> import os, tempfile
    >>> path = os.path.join(tempfile.mkdtemp(), "a.tfrecord")
    >>> with hr.io.TFRecordWriter(path) as writer:
    ...     for record in [b"a", b"b", b"c"]:
    ...         writer.write(record)
    >>> records = hr.TFRecordDataset(path, index="auto")
    >>> len(records), records[1]
    (3, b'b')

    Leaving damage out, and asking what it was:

    >>> path = os.path.join(tempfile.mkdtemp(), "a.tfrecord")
    >>> with hr.io.TFRecordWriter(path) as writer:
    ...     for record in (b"one", b"two", b"three"):
    ...         writer.write(record)
    >>> with open(path, "r+b") as file:
    ...     _ = file.seek(19 + 12), file.write(b"?")
    >>> iterator = iter(hr.TFRecordDataset(path, on_corruption="skip"))
    >>> list(iterator)
    [b'one', b'three']
    >>> [(place.offset, place.bytes) for place in iterator.report().places]
    [(19, 19)]
    """

    __slots__ = ()

    def __new__(
        cls,
        filenames: Any,
        compression_type: str | None = None,
        buffer_size: int | None = None,
        num_parallel_reads: int | None = None,
        name: str | None = None,
        *,
        index: str | os.PathLike[str] | None = None,
        on_corruption: str = "raise",
        corruption_limit: int | None = None,
    ) -> TFRecordDataset:
        """Check the arguments and make the plan."""
        from .readers import RECORD, reader

        if isinstance(filenames, PyIterator):
            filenames = list(filenames)
        salvage = checks.on_corruption(on_corruption, corruption_limit, index)
        size = None if buffer_size is None else checks.integer("buffer_size", buffer_size)
        compression = checks.compression(compression_type)
        args = {
            "compression_type": compression,
            "buffer_size": size,
            "num_parallel_reads": num_parallel_reads,
            "index": checks.index_place(index),
            "salvage": salvage,
        }
        made: Any = reader("tfrecord", filenames, num_parallel_reads, args, RECORD)
        if salvage:
            made = made._derive("salvage", corruption_limit=corruption_limit)
        in_turn = made._op == "interleave" and not isinstance(filenames, Dataset)
        if args["index"] is not None and in_turn:
            one_by_one = make_step("tfrecord", (), filenames=checks.paths(filenames), **args)
            cycle = made._args["cycle_length"]
            made = make_step("counted", (made, one_by_one), cycle_length=cycle)
        return made  # type: ignore[no-any-return]

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        pass


CLASSES.update(tfrecord=TFRecordDataset, counted=TFRecordDataset, salvage=TFRecordDataset)
