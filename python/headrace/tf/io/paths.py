"""Local paths, and what the system says of them as errors of ``tf.errors``."""

from __future__ import annotations

import os
from typing import Any, NamedTuple, NoReturn

from ...errors import UnimplementedError, from_os_error

__all__ = ["FileStatistics", "local_path", "raise_as_own", "stat"]


def local_path(name: Any) -> str:
    """Return a local path; URLs of other file systems are refused."""
    path = os.fsdecode(name)
    scheme, colon, rest = path.partition("://")
    if not colon:
        return path
    if scheme == "file":
        return rest
    raise UnimplementedError(f"File system scheme '{scheme}' not implemented (file: '{path}')")


def raise_as_own(error: OSError, path: str) -> NoReturn:
    """Raise the error of ``tf.errors`` that stands for one of the system."""
    raise from_os_error(error, path) from None


class FileStatistics(NamedTuple):
    """What is known of a file: bytes, time of the last change in ns, whether it is a folder."""

    length: int
    mtime_nsec: int
    is_directory: bool


def stat(path: Any) -> FileStatistics:
    """Return size, time and kind of a path; mirrors ``tf.io.gfile.stat``.

    Raises
    ------
    NotFoundError
        There is no such path.

    Examples
    --------
    >>> stat("/").is_directory
    True
    """
    path = local_path(path)
    try:
        found = os.stat(path)
    except OSError as error:
        raise_as_own(error, path)
    is_directory = os.path.isdir(path)
    return FileStatistics(found.st_size, found.st_mtime_ns, is_directory)
