"""An open file; mirrors ``tf.io.gfile.GFile``."""

from __future__ import annotations

import os
from types import TracebackType
from typing import IO, Any, Self

from ...errors import (
    InvalidArgumentError,
    OutOfRangeError,
    PermissionDeniedError,
)
from .paths import local_path, raise_as_own, stat

__all__ = ["GFile"]


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
        path = local_path(self._name)
        try:
            return open(path, mode)
        except OSError as error:
            raise_as_own(error, path)

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
