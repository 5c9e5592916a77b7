"""Neural networks with the arguments of TensorFlow 1; mirrors ``tf.compat.v1.nn``."""

from __future__ import annotations

from typing import Any

from ... import nn as _nn
from .arguments import arranged

__all__ = list(_nn.__all__)


def __getattr__(name: str) -> Any:
    found = getattr(_nn, name)
    return arranged(name, found) if name in __all__ else found
