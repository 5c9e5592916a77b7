"""Reading and writing; mirrors ``tf.io``."""

from __future__ import annotations

from ..names import lookup as _lookup

_SUBMODULES = ("gfile",)

__getattr__ = _lookup(__name__, _SUBMODULES)
