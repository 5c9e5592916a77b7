"""TensorFlow's names over headrace: change the import line of input code, keep the rest.

``import headrace.tf as tf`` replaces ``import tensorflow as tf``. Where TensorFlow's rules differ
from NumPy's, TensorFlow's hold here. A name that does not exist raises `AttributeError` with the
nearest one that does.
"""

from __future__ import annotations

from .names import lookup as _lookup

_SUBMODULES = (
    "audio",
    "compat",
    "data",
    "errors",
    "image",
    "io",
    "train",
)

__getattr__ = _lookup(__name__, _SUBMODULES)


def __dir__() -> list[str]:
    return sorted({*_SUBMODULES, *(name for name in globals() if not name.startswith("_"))})
