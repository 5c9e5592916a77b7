"""Images; mirrors ``tf.image``.

Functions take tensors and, in a traced function, the stand-ins of tensors.
"""

from __future__ import annotations

from ..names import lookup as _lookup
from .codecs import is_jpeg

__all__ = ["is_jpeg"]

__getattr__ = _lookup(__name__)
