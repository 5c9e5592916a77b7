"""What ``tf.experimental`` has for input code."""

from __future__ import annotations

from .data.optional import Optional
from .names import lookup

__all__ = ["Optional"]

__getattr__ = lookup(__name__)
