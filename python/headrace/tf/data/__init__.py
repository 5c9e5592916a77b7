"""Datasets under TensorFlow's rules; mirrors ``tf.data``.

Examples
--------
>>> dataset = tf.data.Dataset.from_tensor_slices([1, 2, 3]).batch(2)
>>> [batch.numpy().tolist() for batch in dataset]
[[1, 2], [3]]
"""

from __future__ import annotations

from typing import Any

from ...checks import AUTOTUNE, INFINITE_CARDINALITY, UNKNOWN_CARDINALITY
from ...options import Options, ThreadingOptions
from ..names import lookup
from ..specs import DatasetSpec
from .dataset import Dataset
from .iterator import Iterator, NumpyIterator
from .readers import reader

__all__ = [
    "AUTOTUNE",
    "INFINITE_CARDINALITY",
    "UNKNOWN_CARDINALITY",
    "Dataset",
    "DatasetSpec",
    "Iterator",
    "NumpyIterator",
    "Options",
    "ThreadingOptions",
]

_missing = lookup(__name__, ("experimental",))


_READERS = ("FixedLengthRecordDataset", "TFRecordDataset", "TextLineDataset")


def __getattr__(name: str) -> Any:
    found = reader(name)
    return _missing(name) if found is None else found


def __dir__() -> list[str]:
    return sorted({*__all__, *_READERS, "__all__", "experimental"})
