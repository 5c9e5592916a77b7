"""Image files to tensors and back; mirrors the coders of ``tf.image`` and ``tf.io``."""

from __future__ import annotations

from typing import Any

from ... import image as own
from ..bridge import to_own
from ..convert import convert
from ..dtypes import string
from ..values import result

__all__ = ["is_jpeg"]


def _string(value: Any) -> Any:
    return to_own(convert(value, string))


def is_jpeg(contents: Any, name: str | None = None) -> Any:
    r"""Tell whether strings start as a JPEG does; mirrors ``tf.io.is_jpeg``.

    Examples
    --------
    >>> bool(tf.io.is_jpeg(b"\xff\xd8\xff\xe0"))
    True
    """
    return result(own.is_jpeg(_string(contents)))
