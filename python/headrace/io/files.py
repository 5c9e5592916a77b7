"""Whole files; part of `headrace.io`."""

from __future__ import annotations

import os
from typing import Any

import numpy as np

from .. import checks
from ..errors import from_os_error
from ..ops import apply_op, refuse_in_trace

__all__ = [
    "matching_files",
    "read_file",
    "write_file",
]


def read_file(filename: Any, name: str | None = None) -> Any:
    """Return what a file holds; mirrors ``tf.io.read_file``.

    Parameters
    ----------
    filename
        The path: text or bytes.

    Returns
    -------
    bytes
        The whole file.

    Raises
    ------
    NotFoundError, PermissionDeniedError, FailedPreconditionError
        There is no such file, it may not be read, or is a folder.

    Examples
    --------
    >>> import tempfile, os
    >>> path = os.path.join(tempfile.mkdtemp(), "a.txt")
    >>> hr.io.write_file(path, "text")
    >>> hr.io.read_file(path)
    b'text'
    """
    if isinstance(filename, os.PathLike):
        filename = os.fspath(filename)
    return apply_op("read_file", {}, checks.tensor(filename))[0]


def write_file(filename: Any, contents: Any, name: str | None = None) -> None:
    """Make or replace a file, and its folders; mirrors ``tf.io.write_file``.

    Parameters
    ----------
    filename
        The path: text or bytes.
    contents
        What it is to hold: bytes, or text as UTF-8.

    Raises
    ------
    PermissionDeniedError, FailedPreconditionError
        It may not be made, or something on the way is a file.

    Examples
    --------
    >>> import tempfile, os
    >>> hr.io.write_file(os.path.join(tempfile.mkdtemp(), "new", "a.txt"), b"text")
    """
    refuse_in_trace("writes a file")
    path = os.fsdecode(_scalar_text(filename))
    data = _scalar_text(contents)
    try:
        os.makedirs(os.path.dirname(path) or ".", exist_ok=True)
        with open(path, "wb") as file:
            file.write(data.encode() if isinstance(data, str) else data)
    except OSError as error:
        raise from_os_error(error, path) from None


def _scalar_text(value: Any) -> Any:
    if isinstance(value, np.ndarray | np.generic) and value.ndim == 0:
        value = value.item()
    if isinstance(value, str | bytes | os.PathLike):
        return value
    raise TypeError(f"expected one text or bytes, got {value!r} ({type(value).__name__})")


def matching_files(pattern: Any, name: str | None = None) -> Any:
    """Return the paths that match patterns; mirrors ``tf.io.matching_files``.

    In a traced function, files are looked for when an element is made.

    Parameters
    ----------
    pattern
        One pattern or a vector of them: ``*`` and ``?`` stand for anything but ``/``, ``[a-c]`` for
        one of some letters, a backslash takes away the meaning of the next character.

    Returns
    -------
    numpy.ndarray
        `bytes` in ascending order, each path once.

    Raises
    ------
    InvalidArgumentError
        `pattern` is no text.

    Examples
    --------
    >>> hr.io.matching_files("/no/such/*")
    array([], dtype=object)
    """
    if isinstance(pattern, os.PathLike):
        pattern = os.fspath(pattern)
    return apply_op("matching_files", {}, checks.tensor(pattern))[0]
