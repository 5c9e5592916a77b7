"""Files by path; mirrors ``tf.io.gfile`` for local paths.

Errors are those of ``tf.errors``, which are Python's as well: a missing file is a `NotFoundError`
and a `FileNotFoundError`.
"""

from __future__ import annotations

import os
import posixpath
import shutil
from collections.abc import Callable, Iterator
from typing import Any

from ...errors import (
    AlreadyExistsError,
    FailedPreconditionError,
    HeadraceError,
    InvalidArgumentError,
    NotFoundError,
)
from .open_file import GFile
from .paths import local_path, raise_as_own, stat
from .patterns import paths_like

__all__ = [
    "GFile",
    "copy",
    "exists",
    "get_registered_schemes",
    "glob",
    "isdir",
    "join",
    "listdir",
    "makedirs",
    "mkdir",
    "remove",
    "rename",
    "rmtree",
    "stat",
    "walk",
]


def exists(path: Any) -> bool:
    """Tell whether there is a file or folder; mirrors ``tf.io.gfile.exists``.

    Examples
    --------
    >>> exists("/"), exists("/no/such/thing")
    (True, False)
    """
    return os.path.exists(local_path(path))


def isdir(path: Any) -> bool:
    """Tell whether a path is a folder; mirrors ``tf.io.gfile.isdir``.

    Examples
    --------
    >>> isdir("/")
    True
    """
    return os.path.isdir(local_path(path))


def listdir(path: Any) -> list[str]:
    """Return the names in a folder; mirrors ``tf.io.gfile.listdir``.

    Raises
    ------
    NotFoundError
        There is no such folder.

    Examples
    --------
    >>> listdir("/no/such/folder")
    Traceback (most recent call last):
    ...
    headrace.errors.NotFoundError: Could not find directory /no/such/folder
    """
    path = local_path(path)
    if not os.path.isdir(path):
        raise NotFoundError(f"Could not find directory {path}", file=path)
    return os.listdir(path)


def mkdir(path: Any) -> None:
    """Make a folder whose parent exists; mirrors ``tf.io.gfile.mkdir``.

    Raises
    ------
    NotFoundError
        There is no such parent.
    """
    path = local_path(path)
    try:
        os.mkdir(path)
    except FileExistsError:
        return
    except OSError as error:
        raise_as_own(error, path)


def makedirs(path: Any) -> None:
    """Make a folder and its parents; mirrors ``tf.io.gfile.makedirs``.

    Raises
    ------
    FailedPreconditionError
        Something on the way is a file.
    """
    path = local_path(path)
    try:
        os.makedirs(path, exist_ok=True)
    except (FileExistsError, NotADirectoryError):
        while path and not os.path.exists(path):
            path = os.path.dirname(path)
        raise FailedPreconditionError(f"{path} is not a directory", file=path) from None
    except OSError as error:
        raise_as_own(error, path)


def _check_free(path: str, overwrite: bool) -> None:
    if not overwrite and os.path.exists(path):
        raise AlreadyExistsError(f"file already exists: {path}", file=path)


def copy(src: Any, dst: Any, overwrite: bool = False) -> None:
    """Copy a file; mirrors ``tf.io.gfile.copy``.

    Raises
    ------
    NotFoundError
        There is no `src`.
    AlreadyExistsError
        There is a `dst`, and `overwrite` is not set.
    """
    src, dst = local_path(src), local_path(dst)
    _check_free(dst, overwrite)
    if os.path.isdir(src):
        raise InvalidArgumentError(f"{src} is a directory; Invalid argument", file=src)
    try:
        source = open(src, "rb")  # noqa: SIM115 (whose errors are those of `src`)
    except OSError as error:
        raise_as_own(error, src)
    with source:
        try:
            with open(dst, "wb") as target:
                shutil.copyfileobj(source, target, 1 << 20)
        except OSError as error:
            raise_as_own(error, dst)


def rename(src: Any, dst: Any, overwrite: bool = False) -> None:
    """Rename a file or folder; mirrors ``tf.io.gfile.rename``.

    Raises
    ------
    NotFoundError
        There is no `src`.
    AlreadyExistsError
        There is a `dst`, and `overwrite` is not set.
    """
    src, dst = local_path(src), local_path(dst)
    _check_free(dst, overwrite)
    try:
        os.replace(src, dst)
    except OSError as error:
        raise_as_own(error, src)


def remove(path: Any) -> None:
    """Remove a file; mirrors ``tf.io.gfile.remove``.

    Raises
    ------
    NotFoundError
        There is no such file.
    FailedPreconditionError
        It is a folder.
    """
    path = local_path(path)
    try:
        os.remove(path)
    except OSError as error:
        raise_as_own(error, path)


def rmtree(path: Any) -> None:
    """Remove a folder and all in it, or a file; mirrors ``tf.io.gfile.rmtree``.

    Raises
    ------
    NotFoundError
        There is no such path.
    """
    path = local_path(path)
    if not os.path.lexists(path):
        raise NotFoundError(f"{path} not found", file=path)
    try:
        if os.path.isdir(path) and not os.path.islink(path):
            shutil.rmtree(path)
        else:
            os.remove(path)
    except OSError as error:
        raise_as_own(error, path)


def join(path: Any, *paths: Any) -> Any:
    """Join parts of a path; mirrors ``tf.io.gfile.join``.

    Examples
    --------
    >>> join("data", "train.tfrecord")
    'data/train.tfrecord'
    """
    return posixpath.join(os.fspath(path), *map(os.fspath, paths))


def get_registered_schemes() -> list[str]:
    """Return the schemes of paths that exist; mirrors ``tf.io.gfile.get_registered_schemes``.

    Examples
    --------
    >>> get_registered_schemes()
    ['file', '']
    """
    return ["file", ""]


def walk(
    top: Any, topdown: bool = True, onerror: Callable[[HeadraceError], object] | None = None
) -> Iterator[tuple[str, list[str], list[str]]]:
    """Go through a folder and those in it; mirrors ``tf.io.gfile.walk``.

    Parameters
    ----------
    top
        The folder.
    topdown
        A folder comes before those in it.
    onerror
        Called with the error if a folder cannot be read.

    Yields
    ------
    tuple
        The folder, the names of the folders in it, the names of the files.
    """
    top = local_path(top)
    try:
        names = sorted(listdir(top))
    except HeadraceError as error:
        if onerror is not None:
            onerror(error)
        return
    folders = [name for name in names if os.path.isdir(os.path.join(top, name))]
    here = (top, folders, [name for name in names if name not in folders])
    if topdown:
        yield here
    for folder in folders:
        yield from walk(os.path.join(top, folder), topdown, onerror)
    if not topdown:
        yield here


def glob(pattern: Any) -> list[str]:
    """Return the paths that match one pattern or several; mirrors ``tf.io.gfile.glob``.

    Parameters
    ----------
    pattern
        ``*`` and ``?`` stand for anything but ``/``, a dot included, ``[a-c]`` for one of some
        letters, and a backslash takes away the meaning of the next letter.

    Returns
    -------
    list of str
        In ascending order for each pattern. Patterns without a folder give paths that begin with
        ``./``, as in TensorFlow.

    Examples
    --------
    >>> glob("/no/such/*")
    []
    """
    if isinstance(pattern, str | os.PathLike):
        pattern = [pattern]
    found: list[str] = []
    for one in pattern:
        if not isinstance(one, str | bytes | os.PathLike):
            raise TypeError(f"Expected binary or unicode string, got {one!r}")
        found.extend(paths_like(local_path(one)))
    return found
