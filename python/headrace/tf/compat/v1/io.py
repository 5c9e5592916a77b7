"""Reading and writing by the names of TensorFlow 1; mirrors ``tf.compat.v1.io``."""

from __future__ import annotations

from typing import Any

from ... import io as _io
from . import decode_csv, decode_raw, parse_example, parse_single_example
from .python_io import TFRecordCompressionType, tf_record_iterator

__all__ = [
    "TFRecordCompressionType",
    "decode_csv",
    "decode_raw",
    "parse_example",
    "parse_single_example",
    "tf_record_iterator",
]


def __getattr__(name: str) -> Any:
    return getattr(_io, name)
