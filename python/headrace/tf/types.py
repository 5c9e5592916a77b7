"""Names for annotations; mirrors ``tf.types``."""

from __future__ import annotations

from types import SimpleNamespace as _SimpleNamespace
from typing import Any as _Any

from .names import lookup as _lookup

__all__ = ["experimental"]

experimental = _SimpleNamespace(TensorLike=_Any)

__getattr__ = _lookup(__name__)
