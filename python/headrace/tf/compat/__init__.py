"""Text and bytes, and the names of older versions; mirrors ``tf.compat``."""

from __future__ import annotations

import importlib
import numbers
import os
from typing import Any

import numpy as np

from ..names import lookup as _lookup

__all__ = [
    "as_bytes",
    "as_str",
    "as_str_any",
    "as_text",
    "bytes_or_text_types",
    "complex_types",
    "integral_types",
    "path_to_bytes",
    "path_to_str",
    "real_types",
]

_SUBMODULES = ("v1",)

# For `isinstance`: what Python and NumPy have of text and of each kind of number.
bytes_or_text_types = (bytes, str)
integral_types = (numbers.Integral, np.integer)
real_types = (numbers.Real, np.integer, np.floating)
complex_types = (numbers.Complex, np.number)


def as_bytes(bytes_or_text: Any, encoding: str = "utf-8") -> bytes:
    """Return text as bytes; mirrors ``tf.compat.as_bytes``.

    Raises
    ------
    TypeError
        It is neither text nor bytes.

    Examples
    --------
    >>> as_bytes("a"), as_bytes(b"b")
    (b'a', b'b')
    """
    if isinstance(bytes_or_text, bytearray | bytes):
        return bytes(bytes_or_text)
    if isinstance(bytes_or_text, str):
        return bytes_or_text.encode(encoding)
    raise TypeError(f"Expected binary or unicode string, got {bytes_or_text!r}")


def as_text(bytes_or_text: Any, encoding: str = "utf-8") -> str:
    """Return bytes as text; mirrors ``tf.compat.as_text`` and ``tf.compat.as_str``.

    Raises
    ------
    TypeError
        It is neither text nor bytes.

    Examples
    --------
    >>> as_text(b"a"), as_str("b")
    ('a', 'b')
    """
    if isinstance(bytes_or_text, str):
        return bytes_or_text
    if isinstance(bytes_or_text, bytearray | bytes):
        return bytes_or_text.decode(encoding)
    raise TypeError(f"Expected binary or unicode string, got {bytes_or_text!r}")


as_str = as_text


def as_str_any(value: Any, encoding: str = "utf-8") -> str:
    """Return bytes as text and anything else as its `str`; mirrors ``tf.compat.as_str_any``.

    Examples
    --------
    >>> as_str_any(b"a"), as_str_any(1)
    ('a', '1')
    """
    return as_text(value, encoding) if isinstance(value, bytes | bytearray) else str(value)


def path_to_str(path: Any) -> Any:
    """Return a path object as text; mirrors ``tf.compat.path_to_str``.

    Examples
    --------
    >>> import pathlib
    >>> path_to_str(pathlib.Path("a") / "b")
    'a/b'
    """
    return as_text(os.fspath(path)) if hasattr(path, "__fspath__") else path


def path_to_bytes(path: Any) -> bytes:
    """Return a path as bytes; mirrors ``tf.compat.path_to_bytes``.

    Examples
    --------
    >>> path_to_bytes("a")
    b'a'
    """
    return as_bytes(os.fspath(path))


_find = _lookup(__name__, _SUBMODULES)


def __getattr__(name: str) -> Any:
    return importlib.import_module("headrace.tf") if name == "v2" else _find(name)
