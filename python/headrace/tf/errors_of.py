"""What a user's function raises, as TensorFlow's errors.

TensorFlow reports an exception of Python code by one of its own classes; the user's exception is
its cause here.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

from ..errors import (
    HeadraceError,
    InvalidArgumentError,
    OutOfRangeError,
    ResourceExhaustedError,
    UnimplementedError,
    UnknownError,
)

__all__ = ["as_error", "raised_as"]

_CLASSES: list[tuple[type[BaseException], type[HeadraceError]]] = [
    (NotImplementedError, UnimplementedError),
    (StopIteration, OutOfRangeError),
    (MemoryError, ResourceExhaustedError),
    (ValueError, InvalidArgumentError),
    (TypeError, InvalidArgumentError),
]


def as_error(error: Exception) -> HeadraceError:
    """Return TensorFlow's error for an exception of user code."""
    if isinstance(error, HeadraceError):
        return error
    found = next((ours for theirs, ours in _CLASSES if isinstance(error, theirs)), UnknownError)
    made = found(f"{type(error).__name__}: {error}")
    made.__cause__ = error
    return made


@contextlib.contextmanager
def raised_as(name: str) -> Iterator[None]:
    """Raise what the code inside raises as TensorFlow's error."""
    try:
        yield
    except HeadraceError:
        raise
    except Exception as error:
        raise as_error(error) from error
