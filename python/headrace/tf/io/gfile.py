"""Files by path; mirrors ``tf.io.gfile`` for local paths.

Errors are those of ``tf.errors``, which are Python's as well: a missing file is a `NotFoundError`
and a `FileNotFoundError`.
"""

from __future__ import annotations

import os
import posixpath
import re
import shutil
from collections.abc import Callable, Iterator
from types import TracebackType
from typing import IO, Any, NamedTuple, NoReturn, Self

from ...errors import (
    AlreadyExistsError,
    FailedPreconditionError,
    HeadraceError,
    InvalidArgumentError,
    NotFoundError,
    OutOfRangeError,
    PermissionDeniedError,
    UnimplementedError,
    from_os_error,
)

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


def _path(name: Any) -> str:
    """Return a local path; URLs of other file systems are refused."""
    path = os.fsdecode(name)
    scheme, colon, rest = path.partition("://")
    if not colon:
        return path
    if scheme == "file":
        return rest
    raise UnimplementedError(f"File system scheme '{scheme}' not implemented (file: '{path}')")


def _raise(error: OSError, path: str) -> NoReturn:
    raise from_os_error(error, path) from None


class GFile:
    r"""A file; mirrors ``tf.io.gfile.GFile``.

    It is opened when it is first used. Text is UTF-8; positions and sizes count bytes.

    Parameters
    ----------
    name
        Its path.
    mode
        ``r``, ``w``, ``a``, ``r+``, ``w+`` or ``a+``; with ``b`` for bytes.

    Raises
    ------
    InvalidArgumentError
        Another mode.

    Examples
    --------
    >>> import tempfile, os
    >>> path = os.path.join(tempfile.mkdtemp(), "a.txt")
    >>> with GFile(path, "w") as file:
    ...     file.write("one\ntwo")
    >>> list(GFile(path))
    ['one\n', 'two']
    """

    def __init__(self, name: Any, mode: str = "r") -> None:
        plain = mode.replace("b", "")
        if plain not in ("r", "w", "a", "r+", "w+", "a+"):
            raise InvalidArgumentError(
                f"mode is not 'r' or 'w' or 'a' or 'r+' or 'w+' or 'a+': {mode!r}"
            )
        self._name = name
        self._mode = mode
        self._plain = plain
        # Reading and writing have a position each, so that each has a file of its own.
        self._reading: IO[bytes] | None = None
        self._writing: IO[bytes] | None = None

    @property
    def name(self) -> Any:
        """The path, as it was given."""
        return self._name

    @property
    def mode(self) -> str:
        """The mode, as it was given."""
        return self._mode

    def _reader(self) -> IO[bytes]:
        if self._plain in ("w", "a"):
            raise PermissionDeniedError("File isn't open for reading")
        if self._reading is None:
            self._reading = self._open("rb")
        return self._reading

    def _writer(self) -> IO[bytes]:
        if self._plain == "r":
            raise PermissionDeniedError("File isn't open for writing")
        if self._writing is None:
            self._writing = self._open("ab" if self._plain[0] == "a" else "wb")
        return self._writing

    def _open(self, mode: str) -> IO[bytes]:
        path = _path(self._name)
        try:
            return open(path, mode)
        except OSError as error:
            _raise(error, path)

    def _text(self, data: bytes) -> Any:
        return data if "b" in self._mode else data.decode()

    def size(self) -> int:
        """Return how many bytes the file has."""
        return stat(self._name).length

    def read(self, n: int = -1) -> Any:
        """Return the next `n` bytes as text or bytes, or all that is left.

        Raises
        ------
        OutOfRangeError
            The position is past the end.
        InvalidArgumentError
            `n` is less than -1.
        """
        file = self._reader()
        if n < -1:
            raise InvalidArgumentError(f"the number of bytes to read must be -1 or more, got {n}")
        if file.tell() > os.fstat(file.fileno()).st_size:
            raise OutOfRangeError("reached end of file")
        return self._text(file.read(n))

    def readline(self) -> Any:
        """Return the next line with its end, empty at the end of the file."""
        return self._text(self._reader().readline())

    def readlines(self) -> list[Any]:
        """Return all lines that are left."""
        return list(self)

    def write(self, file_content: str | bytes) -> None:
        """Write text, as UTF-8, or bytes."""
        file = self._writer()
        if not isinstance(file_content, str | bytes):
            raise TypeError(f"Expected binary or unicode string, got {file_content!r}")
        file.write(file_content.encode() if isinstance(file_content, str) else file_content)

    def seek(self, offset: int | None = None, whence: int = 0, position: int | None = None) -> None:
        """Go to a position, counted from the start, from here (1) or from the end (2).

        Raises
        ------
        InvalidArgumentError
            The position is negative, or `whence` is another number.
        """
        file = self._reader()
        if offset is None and position is None:
            raise TypeError("seek(): offset argument required")
        if offset is not None and position is not None:
            raise TypeError("seek(): offset and position may not be set simultaneously.")
        bases = {0: 0, 1: file.tell(), 2: os.fstat(file.fileno()).st_size}
        if whence not in bases:
            raise InvalidArgumentError(
                f"Invalid whence argument: {whence}. Valid values are 0, 1, or 2."
            )
        target = bases[whence] + (offset or position or 0)
        if target < 0:
            raise InvalidArgumentError(f"Seeking to a negative position: {target}")
        file.seek(target)

    def seekable(self) -> bool:
        """Tell whether the position can be set: it can."""
        return True

    def tell(self) -> int:
        """Return the position of reading, or of writing if there is no reading."""
        return (self._writer() if self._plain in ("w", "a") else self._reader()).tell()

    def next(self) -> Any:
        """Return the next line; StopIteration at the end."""
        line = self.readline()
        if not line:
            raise StopIteration
        return line

    __next__ = next

    def __iter__(self) -> Self:
        return self

    def flush(self) -> None:
        """Hand what was written to the operating system."""
        if self._writing is not None:
            self._writing.flush()

    def close(self) -> None:
        """Close the file; the next use opens it again."""
        for file in (self._reading, self._writing):
            if file is not None:
                file.close()
        self._reading = self._writing = None

    def __del__(self) -> None:
        if hasattr(self, "_writing"):
            self.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()


class FileStatistics(NamedTuple):
    """What is known of a file: bytes, time of the last change in ns, whether it is a folder."""

    length: int
    mtime_nsec: int
    is_directory: bool


def exists(path: Any) -> bool:
    """Tell whether there is a file or folder; mirrors ``tf.io.gfile.exists``.

    Examples
    --------
    >>> exists("/"), exists("/no/such/thing")
    (True, False)
    """
    return os.path.exists(_path(path))


def isdir(path: Any) -> bool:
    """Tell whether a path is a folder; mirrors ``tf.io.gfile.isdir``.

    Examples
    --------
    >>> isdir("/")
    True
    """
    return os.path.isdir(_path(path))


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
    path = _path(path)
    try:
        found = os.stat(path)
    except OSError as error:
        _raise(error, path)
    is_directory = os.path.isdir(path)
    return FileStatistics(found.st_size, found.st_mtime_ns, is_directory)


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
    path = _path(path)
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
    path = _path(path)
    try:
        os.mkdir(path)
    except FileExistsError:
        return
    except OSError as error:
        _raise(error, path)


def makedirs(path: Any) -> None:
    """Make a folder and its parents; mirrors ``tf.io.gfile.makedirs``.

    Raises
    ------
    FailedPreconditionError
        Something on the way is a file.
    """
    path = _path(path)
    try:
        os.makedirs(path, exist_ok=True)
    except (FileExistsError, NotADirectoryError):
        while path and not os.path.exists(path):
            path = os.path.dirname(path)
        raise FailedPreconditionError(f"{path} is not a directory", file=path) from None
    except OSError as error:
        _raise(error, path)


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
    src, dst = _path(src), _path(dst)
    _check_free(dst, overwrite)
    if os.path.isdir(src):
        raise InvalidArgumentError(f"{src} is a directory; Invalid argument", file=src)
    try:
        source = open(src, "rb")  # noqa: SIM115 (whose errors are those of `src`)
    except OSError as error:
        _raise(error, src)
    with source:
        try:
            with open(dst, "wb") as target:
                shutil.copyfileobj(source, target, 1 << 20)
        except OSError as error:
            _raise(error, dst)


def rename(src: Any, dst: Any, overwrite: bool = False) -> None:
    """Rename a file or folder; mirrors ``tf.io.gfile.rename``.

    Raises
    ------
    NotFoundError
        There is no `src`.
    AlreadyExistsError
        There is a `dst`, and `overwrite` is not set.
    """
    src, dst = _path(src), _path(dst)
    _check_free(dst, overwrite)
    try:
        os.replace(src, dst)
    except OSError as error:
        _raise(error, src)


def remove(path: Any) -> None:
    """Remove a file; mirrors ``tf.io.gfile.remove``.

    Raises
    ------
    NotFoundError
        There is no such file.
    FailedPreconditionError
        It is a folder.
    """
    path = _path(path)
    try:
        os.remove(path)
    except OSError as error:
        _raise(error, path)


def rmtree(path: Any) -> None:
    """Remove a folder and all in it, or a file; mirrors ``tf.io.gfile.rmtree``.

    Raises
    ------
    NotFoundError
        There is no such path.
    """
    path = _path(path)
    if not os.path.lexists(path):
        raise NotFoundError(f"{path} not found", file=path)
    try:
        if os.path.isdir(path) and not os.path.islink(path):
            shutil.rmtree(path)
        else:
            os.remove(path)
    except OSError as error:
        _raise(error, path)


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
    top = _path(top)
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
        found.extend(_matches(_path(one)))
    return found


def _matches(pattern: str) -> list[str]:
    if not pattern:
        return []
    head = re.match(r"[^*?\[\\]*", pattern)
    fixed = (head.group() if head else "").rpartition("/")
    if len(fixed[0] + fixed[1]) == len(pattern) or (head and head.end() == len(pattern)):
        return [pattern] if os.path.exists(pattern) else []
    found = [fixed[0] + fixed[1] or "./"]
    for part in pattern[len(fixed[0] + fixed[1]) :].split("/"):
        matches = _component(part)
        found = [
            os.path.join(folder, name)
            for folder in found
            for name in _names(folder)
            if matches(name)
        ]
    return sorted(found)


def _names(folder: str) -> list[str]:
    try:
        return os.listdir(folder)
    except OSError:
        return []


def _component(pattern: str) -> Callable[[str], Any]:
    """Return what tells whether a name matches a pattern without ``/``."""
    parts: list[str] = []
    at = 0
    while at < len(pattern):
        character = pattern[at]
        at += 1
        if character == "*":
            parts.append(".*")
        elif character == "?":
            parts.append(".")
        elif character == "[" and (end := _end_of_set(pattern, at)) > 0:
            inside = pattern[at:end].replace("\\", "\\\\")
            not_these = "^" if inside[0] in "!^" else ""
            inside = re.sub(r"([\[&~|])", r"\\\1", inside[len(not_these) :])
            inside = "\\" + inside if inside[0] in "]^" else inside
            parts.append(f"[{not_these}{inside}]")
            at = end + 1
        else:
            if character == "\\" and at < len(pattern):
                character = pattern[at]
                at += 1
            parts.append(re.escape(character))
    return re.compile("".join(parts), re.DOTALL).fullmatch


def _end_of_set(pattern: str, start: int) -> int:
    """Return where the set that begins at `start` ends, or -1."""
    first = start + 1 if pattern[start : start + 1] in ("!", "^") else start
    return pattern.find("]", first + 1)
