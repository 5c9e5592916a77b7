"""What operations raise, with codes; mirrors ``tf.errors``.

The classes are those of `headrace.errors`, so that ``except tf.errors.NotFoundError`` and ``except
FileNotFoundError`` both catch a missing file.
"""

from __future__ import annotations

from typing import Any

from ..errors import (
    AbortedError,
    AlreadyExistsError,
    CancelledError,
    DataLossError,
    FailedPreconditionError,
    HeadraceError,
    InternalError,
    InvalidArgumentError,
    NotFoundError,
    OutOfRangeError,
    PermissionDeniedError,
    ResourceExhaustedError,
    UnavailableError,
    UnimplementedError,
    UnknownError,
)
from .names import lookup as _lookup

__all__ = [
    "ABORTED",
    "ALREADY_EXISTS",
    "CANCELLED",
    "DATA_LOSS",
    "DEADLINE_EXCEEDED",
    "FAILED_PRECONDITION",
    "INTERNAL",
    "INVALID_ARGUMENT",
    "NOT_FOUND",
    "OK",
    "OUT_OF_RANGE",
    "PERMISSION_DENIED",
    "RESOURCE_EXHAUSTED",
    "UNAUTHENTICATED",
    "UNAVAILABLE",
    "UNIMPLEMENTED",
    "UNKNOWN",
    "AbortedError",
    "AlreadyExistsError",
    "CancelledError",
    "DataLossError",
    "DeadlineExceededError",
    "FailedPreconditionError",
    "InternalError",
    "InvalidArgumentError",
    "NotFoundError",
    "OpError",
    "OutOfRangeError",
    "PermissionDeniedError",
    "ResourceExhaustedError",
    "UnauthenticatedError",
    "UnavailableError",
    "UnimplementedError",
    "UnknownError",
    "error_code_from_exception_type",
    "exception_type_from_error_code",
]

OK = 0
CANCELLED = 1
UNKNOWN = 2
INVALID_ARGUMENT = 3
DEADLINE_EXCEEDED = 4
NOT_FOUND = 5
ALREADY_EXISTS = 6
PERMISSION_DENIED = 7
RESOURCE_EXHAUSTED = 8
FAILED_PRECONDITION = 9
ABORTED = 10
OUT_OF_RANGE = 11
UNIMPLEMENTED = 12
INTERNAL = 13
UNAVAILABLE = 14
DATA_LOSS = 15
UNAUTHENTICATED = 16

OpError = HeadraceError


class DeadlineExceededError(HeadraceError, TimeoutError):
    """Something took too long."""

    error_code = DEADLINE_EXCEEDED


class UnauthenticatedError(HeadraceError, PermissionError):
    """There are no valid credentials."""

    error_code = UNAUTHENTICATED


_BY_CODE: dict[int, type[Any]] = {
    cls.error_code: cls
    for cls in (
        AbortedError,
        AlreadyExistsError,
        CancelledError,
        DataLossError,
        DeadlineExceededError,
        FailedPreconditionError,
        InternalError,
        InvalidArgumentError,
        NotFoundError,
        OutOfRangeError,
        PermissionDeniedError,
        ResourceExhaustedError,
        UnauthenticatedError,
        UnavailableError,
        UnimplementedError,
        UnknownError,
    )
}


def exception_type_from_error_code(error_code: int) -> type[Any]:
    """Return the class of a code; mirrors ``tf.compat.v1.errors.exception_type_from_error_code``.

    Examples
    --------
    >>> exception_type_from_error_code(5)
    <class 'headrace.errors.NotFoundError'>
    """
    return _BY_CODE[error_code]


def error_code_from_exception_type(cls: type[Any]) -> int:
    """Return the code of a class; mirrors ``tf.compat.v1.errors.error_code_from_exception_type``.

    Examples
    --------
    >>> error_code_from_exception_type(NotFoundError)
    5
    """
    code: int = cls.error_code
    return code


__getattr__ = _lookup(__name__)
