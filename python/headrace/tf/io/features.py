"""What to read from an Example, as TensorFlow's named tuples.

They say what they were given; the parser checks them, as in TensorFlow.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from ... import features as own
from ...errors import InvalidArgumentError
from ..convert import convert
from ..dtypes import as_dtype, int32, string
from ..dtypes import to_own as dtype_to_own
from ..shapes import TensorShape
from ..tensor import raw

__all__ = [
    "FixedLenFeature",
    "FixedLenSequenceFeature",
    "RaggedFeature",
    "SparseFeature",
    "VarLenFeature",
    "to_own",
]


class VarLenFeature(NamedTuple):
    """A list of any length, as a sparse tensor; mirrors ``tf.io.VarLenFeature``.

    Examples
    --------
    >>> tf.io.VarLenFeature(tf.int64)
    VarLenFeature(dtype=tf.int64)
    """

    dtype: Any

    def _own(self, key: str) -> Any:
        return own.VarLenFeature(_dtype(key, self.dtype))


class FixedLenFeature(NamedTuple):
    """As many values in each example; mirrors ``tf.io.FixedLenFeature``.

    Examples
    --------
    >>> tf.io.FixedLenFeature([], tf.int64)
    FixedLenFeature(shape=[], dtype=tf.int64, default_value=None)
    """

    shape: Any
    dtype: Any
    default_value: Any = None

    def _own(self, key: str) -> Any:
        dtype = _dtype(key, self.dtype)
        shape = _shape(key, self.shape)
        default = _default(self.default_value, self.dtype)
        if shape[:1] == [None]:
            raise ValueError(
                f"First dimension of shape for feature {key} unknown. Consider using "
                "FixedLenSequenceFeature."
            )
        if None in shape:
            raise ValueError(
                f"All dimensions of shape for feature {key} need to be known but received "
                f"{tuple(shape)}."
            )
        return own.FixedLenFeature(shape, dtype, default)


class FixedLenSequenceFeature(NamedTuple):
    """Any number of rows of one shape; mirrors ``tf.io.FixedLenSequenceFeature``.

    Examples
    --------
    >>> tf.io.FixedLenSequenceFeature([2], tf.float32, allow_missing=True).shape
    [2]
    """

    shape: Any
    dtype: Any
    allow_missing: bool = False
    default_value: Any = None

    def _own(self, key: str) -> Any:
        dtype = _dtype(key, self.dtype)
        default = _default(self.default_value, self.dtype)
        size = 1 if default is None else np.size(default)
        if size != 1:
            raise InvalidArgumentError(
                f"Cannot reshape a tensor with {size} elements to shape [] (1 elements): the "
                f"default_value of feature {key} pads a batch and must be one value"
            )
        return own.FixedLenSequenceFeature(
            _shape(key, self.shape), dtype, self.allow_missing, default
        )


class SparseFeature(NamedTuple):
    """Indices and values of a sparse tensor; mirrors ``tf.io.SparseFeature``.

    Examples
    --------
    >>> tf.io.SparseFeature("index", "value", tf.float32, 10).size
    10
    """

    index_key: Any
    value_key: Any
    dtype: Any
    size: Any
    already_sorted: bool = False

    def _own(self, key: str) -> Any:
        size = self.size if isinstance(self.size, list | tuple) else int(self.size)
        for number in size if isinstance(size, list | tuple) else [size]:
            if number is not None and number < 0:
                raise ValueError(f"Dimension {number} must be >= 0, in the size of feature {key}")
        dtype = _dtype(key, self.dtype)
        return own.SparseFeature(self.index_key, self.value_key, dtype, size, self.already_sorted)


class _RowSplits(NamedTuple):
    key: str


class _RowLengths(NamedTuple):
    key: str


class _RowStarts(NamedTuple):
    key: str


class _RowLimits(NamedTuple):
    key: str


class _ValueRowIds(NamedTuple):
    key: str


class _UniformRowLength(NamedTuple):
    length: int


class _Ragged(NamedTuple):
    dtype: Any
    value_key: Any = None
    partitions: Any = ()
    row_splits_dtype: Any = int32
    validate: bool = False


_PARTITIONS: dict[type, str] = {
    _RowSplits: "RowSplits",
    _RowLengths: "RowLengths",
    _RowStarts: "RowStarts",
    _RowLimits: "RowLimits",
    _ValueRowIds: "ValueRowIds",
    _UniformRowLength: "UniformRowLength",
}
for _partition, _name in _PARTITIONS.items():
    _partition.__name__ = _partition.__qualname__ = _name


class RaggedFeature(_Ragged):
    """A list of any length, as rows; mirrors ``tf.io.RaggedFeature``.

    Examples
    --------
    >>> tf.io.RaggedFeature(tf.int64, partitions=[tf.io.RaggedFeature.RowLengths("n")]).partitions
    (RowLengths(key='n'),)
    """

    __slots__ = ()

    RowSplits = _RowSplits
    RowLengths = _RowLengths
    RowStarts = _RowStarts
    RowLimits = _RowLimits
    ValueRowIds = _ValueRowIds
    UniformRowLength = _UniformRowLength

    def __new__(
        cls,
        dtype: Any,
        value_key: str | None = None,
        partitions: Sequence[Any] = (),
        row_splits_dtype: Any = int32,
        validate: bool = False,
    ) -> RaggedFeature:
        """Make one; the partitions are checked."""
        if value_key is not None and not isinstance(value_key, str):
            raise ValueError(f"Argument `value_key` must be a string; got {value_key!r}")
        if not isinstance(partitions, list | tuple):
            raise TypeError(f"Argument `partitions` must be a list or tuple, got {partitions!r}")
        for partition in partitions:
            if type(partition) not in _PARTITIONS:
                raise TypeError(
                    "Argument `partitions` must be a list of partition objects: "
                    f"{', '.join(_PARTITIONS.values())}; got {partition!r}"
                )
        found, splits = _as_dtype(dtype), as_dtype(row_splits_dtype)
        if found.name not in ("int64", "float32", "string"):
            raise ValueError(f"Argument `dtype` must be int64, float32, or bytes; got {found!r}")
        if splits.name not in ("int32", "int64"):
            raise ValueError(f"Argument `row_splits_dtype` must be int32 or int64; got {splits!r}")
        return super().__new__(cls, dtype, value_key, tuple(partitions), splits, validate)

    def _own(self, key: str) -> Any:
        partitions = [
            getattr(own.RaggedFeature, _PARTITIONS[type(partition)])(partition[0])
            for partition in self.partitions
        ]
        splits = dtype_to_own(self.row_splits_dtype)
        dtype = _dtype(key, self.dtype)
        return own.RaggedFeature(dtype, self.value_key, partitions, splits, self.validate)


def _dtype(key: str, dtype: Any) -> Any:
    if dtype is None:
        raise ValueError(f"Missing type for feature {key}.")
    return dtype_to_own(_as_dtype(dtype))


def _as_dtype(dtype: Any) -> Any:
    return string if dtype in (bytes, str) else as_dtype(dtype)


def _shape(key: str, shape: Any) -> list[int | None]:
    found = TensorShape([shape] if isinstance(shape, int | np.integer) else shape)
    if found.rank is None:
        raise ValueError(f"Missing shape for feature {key}.")
    return list(found)


def _default(value: Any, dtype: Any) -> Any:
    if value is None:
        return None
    found = raw(convert(value, _as_dtype(dtype)))
    return found.item() if found.dtype == object and found.ndim == 0 else np.asarray(found)


_OWN = (
    own.FixedLenFeature, own.FixedLenSequenceFeature, own.RaggedFeature, own.SparseFeature,
    own.VarLenFeature,
)  # fmt: skip


def to_own(features: Any) -> dict[str, Any]:
    """Return features as headrace's parser takes them, in the order of TensorFlow's results.

    That is by kind: sparse tensors, dense ones, ragged ones, those made of several features; and by
    name. Code that stacks the values of a parsed dict sees it.

    Raises
    ------
    ValueError
        There are none, or one cannot be read.
    """
    if not isinstance(features, Mapping):
        raise InvalidArgumentError(f"`features` must be a dict of features, got {features!r}")
    for key, feature in features.items():
        if not hasattr(feature, "_own") and not isinstance(feature, _OWN):
            raise ValueError(f"Unsupported {type(feature).__name__} {feature!r} for key {key!r}")
    found = {
        key: feature._own(key) if hasattr(feature, "_own") else feature
        for key, feature in features.items()
    }
    return dict(sorted(found.items(), key=lambda item: (_kind(*item), str(item[0]))))


def _kind(key: str, feature: Any) -> int:
    """Return where TensorFlow puts features of this kind."""
    if isinstance(feature, own.VarLenFeature):
        return 0
    if isinstance(feature, own.FixedLenFeature | own.FixedLenSequenceFeature):
        return 1
    is_ragged = isinstance(feature, own.RaggedFeature)
    return 2 if is_ragged and feature.value_key in (None, key) else 3
