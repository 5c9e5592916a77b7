"""Mathematics with the arguments of TensorFlow 1; mirrors ``tf.compat.v1.math``."""

from __future__ import annotations

from typing import Any

from ... import math as _math
from .arguments import arranged

__all__ = list(_math.__all__)


def __getattr__(name: str) -> Any:
    found = getattr(_math, name)
    return arranged(name, found) if name in __all__ else found
