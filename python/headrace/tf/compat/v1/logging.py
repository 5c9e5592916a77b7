"""Messages of programs; mirrors ``tf.compat.v1.logging``."""

from __future__ import annotations

import logging as _logging
from typing import Any

from ...logs import get_logger
from ...names import lookup as _lookup

__all__ = [
    "DEBUG",
    "ERROR",
    "FATAL",
    "INFO",
    "WARN",
    "debug",
    "error",
    "fatal",
    "get_verbosity",
    "info",
    "log",
    "set_verbosity",
    "warn",
    "warning",
]

DEBUG, INFO, WARN, ERROR, FATAL = (
    _logging.DEBUG,
    _logging.INFO,
    _logging.WARNING,
    _logging.ERROR,
    _logging.CRITICAL,
)


def log(level: int, msg: str, *args: Any, **kwargs: Any) -> None:
    """Write a message of a level."""
    get_logger().log(level, msg, *args, **kwargs)


def debug(msg: str, *args: Any, **kwargs: Any) -> None:
    """Write a message for those who look for mistakes."""
    log(DEBUG, msg, *args, **kwargs)


def info(msg: str, *args: Any, **kwargs: Any) -> None:
    """Write a message."""
    log(INFO, msg, *args, **kwargs)


def warning(msg: str, *args: Any, **kwargs: Any) -> None:
    """Write a warning."""
    log(WARN, msg, *args, **kwargs)


warn = warning


def error(msg: str, *args: Any, **kwargs: Any) -> None:
    """Write what went wrong."""
    log(ERROR, msg, *args, **kwargs)


def fatal(msg: str, *args: Any, **kwargs: Any) -> None:
    """Write what the program cannot go on after."""
    log(FATAL, msg, *args, **kwargs)


def get_verbosity() -> int:
    """Return the level from which on messages are written."""
    return get_logger().getEffectiveLevel()


def set_verbosity(v: int) -> None:
    """Set the level from which on messages are written."""
    get_logger().setLevel(v)


__getattr__ = _lookup(__name__)
