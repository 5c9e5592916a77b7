"""What headrace raises.

One class per kind of error, named as in ``tf.errors``. Each is also the natural Python class, so
``except FileNotFoundError`` and ``except headrace.errors.NotFoundError`` both catch a missing file.
The attributes say where it happened, as far as that is known.
"""

from __future__ import annotations

import errno
import os
from typing import Any

__all__ = [
    "AbortedError",
    "AlreadyExistsError",
    "CancelledError",
    "DataLossError",
    "FailedPreconditionError",
    "HeadraceError",
    "InternalError",
    "InvalidArgumentError",
    "NotFoundError",
    "OutOfRangeError",
    "PermissionDeniedError",
    "ResourceExhaustedError",
    "UnavailableError",
    "UnimplementedError",
    "UnknownError",
    "from_os_error",
]

_PLACE = ("file", "record", "offset", "feature", "node")


class HeadraceError(Exception):
    """Base of all errors of headrace; mirrors ``tf.errors.OpError``.

    Parameters
    ----------
    text
        The whole text: what was wrong, where, and what would mend it.
    *of_tensorflow
        TensorFlow's arguments are a node, an op and the message: with these, the third is the
        text.
    message
        What was wrong, without the place; `text` if not given.
    file, record, offset, feature, node
        The place: path, number of the record (from 0), byte at which the record starts, name of
        the feature, step of the pipeline.

    Attributes
    ----------
    error_code
        TensorFlow's number of the kind.
    op, node_def
        None: there is no graph.

    Examples
    --------
    >>> error = DataLossError("payload checksum does not match (a.rec, record 3)", record=3)
    >>> error.record, isinstance(error, OSError)
    (3, True)
    """

    message: str
    file: str | None
    record: int | None
    offset: int | None
    feature: str | None
    node: str | None
    # What code written for TensorFlow reads.
    error_code: int = 2
    op: None = None
    node_def: None = None

    def __init__(
        self,
        text: Any = "",
        *of_tensorflow: Any,
        message: str | None = None,
        file: str | None = None,
        record: int | None = None,
        offset: int | None = None,
        feature: str | None = None,
        node: str | None = None,
    ) -> None:
        if len(of_tensorflow) >= 2:
            text = of_tensorflow[1]
        super().__init__(text)
        self._text = str(text)
        self.message = self._text if message is None else message
        self.file = file
        self.record = record
        self.offset = offset
        self.feature = feature
        self.node = node

    def __str__(self) -> str:
        return self._text

    def __reduce__(self) -> tuple[Any, ...]:
        place = {name: getattr(self, name) for name in ("message", *_PLACE)}
        notes = getattr(self, "__notes__", None)
        return _rebuild, (type(self), self._text, place, notes)


def _rebuild(
    cls: type[HeadraceError], text: str, place: dict[str, Any], notes: list[str] | None
) -> HeadraceError:
    error = cls(text, **place)
    for note in notes or ():
        error.add_note(note)
    return error


class InvalidArgumentError(HeadraceError, ValueError):
    """A value that is not acceptable, whatever the state of the system."""

    error_code = 3


class OutOfRangeError(HeadraceError, IndexError):
    """Past the end: what `Iterator.get_next` raises when nothing is left."""

    error_code = 11


class DataLossError(HeadraceError, OSError):
    """Data is damaged or cut off."""

    error_code = 15


class NotFoundError(HeadraceError, FileNotFoundError):
    """A file does not exist."""

    error_code = 5


class PermissionDeniedError(HeadraceError, PermissionError):
    """A file may not be read or written."""

    error_code = 7


class FailedPreconditionError(HeadraceError, RuntimeError):
    """The system is not in the state that the call needs."""

    error_code = 9


class AlreadyExistsError(HeadraceError, FileExistsError):
    """What was to be made exists."""

    error_code = 6


class UnimplementedError(HeadraceError, NotImplementedError):
    """An operation or dtype that is not supported."""

    error_code = 12


class UnavailableError(HeadraceError, ConnectionError):
    """Not available now; a later try may succeed."""

    error_code = 14


class ResourceExhaustedError(HeadraceError, RuntimeError):
    """A limit was reached."""

    error_code = 8


class AbortedError(HeadraceError, RuntimeError):
    """Given up because of a conflict."""

    error_code = 10


class CancelledError(HeadraceError, RuntimeError):
    """The run was closed."""

    error_code = 1


class UnknownError(HeadraceError, RuntimeError):
    """An error without a better name."""

    error_code = 2


class InternalError(HeadraceError, RuntimeError):
    """A broken invariant of headrace: a bug. Please report it."""

    error_code = 13


_OF_SYSTEM: dict[int | None, type[HeadraceError]] = {
    errno.ENOENT: NotFoundError,
    errno.EEXIST: AlreadyExistsError,
    errno.EACCES: PermissionDeniedError,
    errno.EPERM: PermissionDeniedError,
    errno.EROFS: PermissionDeniedError,
    errno.EISDIR: FailedPreconditionError,
    errno.ENOTDIR: FailedPreconditionError,
    errno.ENOTEMPTY: FailedPreconditionError,
    errno.EINVAL: InvalidArgumentError,
    errno.ENAMETOOLONG: InvalidArgumentError,
    errno.ENOSPC: ResourceExhaustedError,
    errno.EMFILE: ResourceExhaustedError,
}


def from_os_error(error: OSError, path: str) -> HeadraceError:
    """Return the error of its kind for one of the operating system.

    Parameters
    ----------
    error
        What a call for `path` raised.
    path
        The file.

    Examples
    --------
    >>> from_os_error(FileNotFoundError(2, "No such file or directory"), "a.txt")
    NotFoundError('a.txt; No such file or directory')
    """
    text = os.strerror(error.errno) if error.errno else str(error)
    return _OF_SYSTEM.get(error.errno, UnknownError)(f"{path}; {text}", file=path)
