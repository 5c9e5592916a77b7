"""Images; mirrors ``tf.image``.

Functions take tensors and, in a traced function, the stand-ins of tensors; what they do is
`headrace.image`.
"""

from __future__ import annotations

from ..names import lookup as _lookup
from .codecs import is_jpeg
from .resizing import ResizeMethod, resize, resize_with_pad

__all__ = [
    "ResizeMethod",
    "is_jpeg",
    "resize",
    "resize_with_pad",
]

__getattr__ = _lookup(__name__)
