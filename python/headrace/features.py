"""What to read from a `tf.train.Example` or `SequenceExample`: one description per feature.

Small immutable records with tf.io's names and arguments. They say how a feature of a message, which
is a list of numbers or byte strings, becomes an array.
"""

from __future__ import annotations

import operator
from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np

from .convert import to_dtype
from .dtypes import DType, as_dtype, dtype_name
from .errors import InvalidArgumentError
from .spec import Shape, _Spec, as_shape

__all__ = [
    "Feature",
    "FixedLenFeature",
    "FixedLenSequenceFeature",
    "RaggedFeature",
    "SparseFeature",
    "VarLenFeature",
    "feature_attrs",
]


def _dtype(dtype: Any) -> DType:
    """Return a dtype that an Example can hold; text means byte strings."""
    found = as_dtype(dtype)
    if found is str:
        return bytes
    if found is bytes or found in (np.dtype(np.int64), np.dtype(np.float32)):
        return found
    raise InvalidArgumentError(
        f"an Example holds int64, float32 and bytes, not {dtype_name(found)}; read one of these "
        "and convert with .astype"
    )


def _dims(shape: Any) -> tuple[int, ...]:
    dims: Shape = as_shape(shape)
    if dims is None or None in dims:
        raise InvalidArgumentError(
            f"the shape of a feature must be known, got {shape!r}; for lists of varying length use "
            "VarLenFeature, RaggedFeature or FixedLenSequenceFeature"
        )
    return tuple(dim for dim in dims if dim is not None)


class _Feature(_Spec):
    __slots__ = ()

    def _set(self, **values: Any) -> None:
        for name, value in values.items():
            object.__setattr__(self, name, value)

    def __eq__(self, other: object) -> bool:
        if type(other) is not type(self):
            return NotImplemented
        pairs = zip(self._key(), other._key(), strict=True)
        return all(np.array_equal(a, b) if isinstance(a, np.ndarray) else a == b for a, b in pairs)

    def __hash__(self) -> int:
        return hash((type(self), repr(self._key())))


class FixedLenFeature(_Feature):
    """A feature of as many values in each example; mirrors ``tf.io.FixedLenFeature``.

    Parameters
    ----------
    shape
        Shape of the value, without a batch axis.
    dtype
        int64, float32 or bytes (also written ``"string"``).
    default_value
        For examples without the feature: a scalar, or an array of `shape`.

    Raises
    ------
    InvalidArgumentError
        Another dtype, an unknown size, or a default that does not fit.

    Examples
    --------
    >>> hr.io.FixedLenFeature([784], np.float32)
    FixedLenFeature(shape=(784,), dtype=float32, default_value=None)
    """

    __slots__ = ("default_value", "dtype", "shape")
    _fields = ("shape", "dtype", "default_value")
    shape: tuple[int, ...]
    dtype: DType
    default_value: Any

    def __init__(self, shape: Any, dtype: Any, default_value: Any = None) -> None:
        self._set(shape=_dims(shape), dtype=_dtype(dtype), default_value=default_value)

    def _attrs(self, name: str, part: str | None = None) -> dict[str, Any]:
        default = _default(name, self.default_value, self.dtype)
        if default is not None:
            if default.size != int(np.prod(self.shape, dtype=np.int64)):
                raise InvalidArgumentError(
                    f'default_value of feature "{name}" has shape {default.shape}, the feature has '
                    f"shape {self.shape}"
                )
            default = default.reshape(self.shape)
        return {"shape": list(self.shape), "dtype": self.dtype, "default_value": default}


class VarLenFeature(_Feature):
    """A list of any length, as `SparseTensor`; mirrors ``tf.io.VarLenFeature``.

    Parameters
    ----------
    dtype
        int64, float32 or bytes.

    Examples
    --------
    >>> hr.io.VarLenFeature(np.int64)
    VarLenFeature(dtype=int64)
    """

    __slots__ = ("dtype",)
    _fields = ("dtype",)
    dtype: DType

    def __init__(self, dtype: Any) -> None:
        self._set(dtype=_dtype(dtype))

    def _attrs(self, name: str, part: str | None = None) -> dict[str, Any]:
        return {"dtype": self.dtype}


class FixedLenSequenceFeature(_Feature):
    """A list of any number of rows of one shape; mirrors ``tf.io.FixedLenSequenceFeature``.

    A dense array of shape ``[n, *shape]``; in a batch shorter ones are padded.

    Parameters
    ----------
    shape
        Shape of a row.
    dtype
        int64, float32 or bytes.
    allow_missing
        An example without the feature has no rows. Must be true but for the steps of a
        SequenceExample, as in TensorFlow.
    default_value
        The padding, a scalar.

    Examples
    --------
    >>> hr.io.FixedLenSequenceFeature([], np.int64, allow_missing=True).shape
    ()
    """

    __slots__ = ("allow_missing", "default_value", "dtype", "shape")
    _fields = ("shape", "dtype", "allow_missing", "default_value")
    shape: tuple[int, ...]
    dtype: DType
    allow_missing: bool
    default_value: Any

    def __init__(
        self, shape: Any, dtype: Any, allow_missing: bool = False, default_value: Any = None
    ) -> None:
        self._set(
            shape=_dims(shape),
            dtype=_dtype(dtype),
            allow_missing=bool(allow_missing),
            default_value=default_value,
        )

    def _attrs(self, name: str, part: str | None = None) -> dict[str, Any]:
        if part == "steps":
            if self.default_value is not None:
                raise InvalidArgumentError(
                    f"Value feature_list.dense_defaults[{name}] must be None: the steps of a "
                    "sequence have no default_value, and a batch is padded with zeros"
                )
        elif not self.allow_missing:
            raise InvalidArgumentError(
                "Unsupported: FixedLenSequenceFeature requires allow_missing to be True. Feature "
                f'"{name}" has allow_missing=False.'
            )
        return {
            "shape": list(self.shape),
            "dtype": self.dtype,
            "allow_missing": self.allow_missing,
            "default_value": _default(name, self.default_value, self.dtype),
        }


class _Partition(_Feature):
    """How a `RaggedFeature` splits its values into rows; `key` names another feature."""

    __slots__ = ("key",)
    _fields = ("key",)
    key: str

    def __init__(self, key: str) -> None:
        self._set(key=str(key))

    def _attr(self) -> list[Any]:
        return [type(self).__name__, self.key]


class RowSplits(_Partition):
    """Rows begin and end at these numbers."""

    __slots__ = ()


class RowLengths(_Partition):
    """Rows have these lengths."""

    __slots__ = ()


class RowStarts(_Partition):
    """Rows begin at these numbers."""

    __slots__ = ()


class RowLimits(_Partition):
    """Rows end before these numbers."""

    __slots__ = ()


class ValueRowIds(_Partition):
    """Each value belongs to the row of this number."""

    __slots__ = ()


class UniformRowLength(_Feature):
    """All rows have one length."""

    __slots__ = ("length",)
    _fields = ("length",)
    length: int

    def __init__(self, length: int) -> None:
        self._set(length=operator.index(length))

    def _attr(self) -> list[Any]:
        return [type(self).__name__, self.length]


class RaggedFeature(_Feature):
    """A list of any length, as rows; mirrors ``tf.io.RaggedFeature``.

    Without partitions, one example gives a vector and a batch a `RaggedTensor`.

    Parameters
    ----------
    dtype
        int64, float32 or bytes.
    value_key
        Name of the feature that holds the values; that of the description if not given.
    partitions
        How the values are split into rows, outermost first: ``RaggedFeature.RowLengths("key")``,
        ``RowSplits``, ``RowStarts``, ``RowLimits``, ``ValueRowIds``, ``UniformRowLength(3)``.
    row_splits_dtype
        int32 or int64.
    validate
        Check that the partitions fit the values.

    Examples
    --------
    >>> hr.io.RaggedFeature(np.int64, partitions=[hr.io.RaggedFeature.RowLengths("n")]).partitions
    (RowLengths(key='n'),)
    """

    __slots__ = ("dtype", "partitions", "row_splits_dtype", "validate", "value_key")
    _fields = ("dtype", "value_key", "partitions", "row_splits_dtype", "validate")
    dtype: DType
    value_key: str | None
    partitions: tuple[_Partition | UniformRowLength, ...]
    row_splits_dtype: DType
    validate: bool

    RowSplits = RowSplits
    RowLengths = RowLengths
    RowStarts = RowStarts
    RowLimits = RowLimits
    ValueRowIds = ValueRowIds
    UniformRowLength = UniformRowLength

    def __init__(
        self,
        dtype: Any,
        value_key: str | None = None,
        partitions: Sequence[Any] = (),
        row_splits_dtype: Any = np.int32,
        validate: bool = False,
    ) -> None:
        for partition in partitions:
            if not isinstance(partition, _Partition | UniformRowLength):
                raise TypeError(f"`partitions` must hold partitions, got {partition!r}")
        splits = as_dtype(row_splits_dtype)
        if splits not in (np.dtype(np.int32), np.dtype(np.int64)):
            raise InvalidArgumentError(
                f"row_splits_dtype must be int32 or int64, got {row_splits_dtype!r}"
            )
        self._set(
            dtype=_dtype(dtype),
            value_key=value_key,
            partitions=tuple(partitions),
            row_splits_dtype=splits,
            validate=bool(validate),
        )

    def _attrs(self, name: str, part: str | None = None) -> dict[str, Any]:
        return {
            "dtype": self.dtype,
            "value_key": name if self.value_key is None else self.value_key,
            "partitions": [partition._attr() for partition in self.partitions],
            "row_splits_dtype": self.row_splits_dtype,
            "validate": self.validate,
        }


class SparseFeature(_Feature):
    """Indices and values of a `SparseTensor`; mirrors ``tf.io.SparseFeature``.

    Parameters
    ----------
    index_key
        Name of the feature with the indices, or one name per axis.
    value_key
        Name of the feature with the values.
    dtype
        int64, float32 or bytes.
    size
        Size of the dense axis, or of each axis.
    already_sorted
        The indices are in order; saves the sorting.

    Examples
    --------
    >>> hr.io.SparseFeature("index", "value", np.float32, 10).size
    10
    """

    __slots__ = ("already_sorted", "dtype", "index_key", "size", "value_key")
    _fields = ("index_key", "value_key", "dtype", "size", "already_sorted")
    index_key: str | list[str]
    value_key: str
    dtype: DType
    size: int | list[int]
    already_sorted: bool

    def __init__(
        self,
        index_key: str | Sequence[str],
        value_key: str,
        dtype: Any,
        size: int | Sequence[int],
        already_sorted: bool = False,
    ) -> None:
        many = not isinstance(index_key, str)
        sizes = list(size) if isinstance(size, Sequence) else operator.index(size)
        if many != isinstance(sizes, list) or (
            isinstance(sizes, list) and len(sizes) != len(index_key)
        ):
            raise InvalidArgumentError(
                f"`size` must have one number for each index_key, got {size!r} for {index_key!r}"
            )
        self._set(
            index_key=index_key if isinstance(index_key, str) else list(index_key),
            value_key=value_key,
            dtype=_dtype(dtype),
            size=sizes,
            already_sorted=bool(already_sorted),
        )

    def _attrs(self, name: str, part: str | None = None) -> dict[str, Any]:
        keys = [self.index_key] if isinstance(self.index_key, str) else self.index_key
        return {
            "index_key": keys,
            "value_key": self.value_key,
            "dtype": self.dtype,
            "size": self.size if isinstance(self.size, list) else [self.size],
            "already_sorted": self.already_sorted,
        }


Feature: TypeAlias = (
    FixedLenFeature | VarLenFeature | FixedLenSequenceFeature | RaggedFeature | SparseFeature
)


def _default(name: str, value: Any, dtype: DType) -> Any:
    if value is None:
        return None
    try:
        converted = to_dtype(value, dtype)
    except (TypeError, OverflowError) as error:
        raise InvalidArgumentError(f'default_value of feature "{name}": {error}') from None
    return np.asarray(converted, object if dtype is bytes else None)


_KINDS: dict[str, tuple[type, ...]] = {
    "context": (FixedLenFeature, VarLenFeature, RaggedFeature),
    "steps": (FixedLenSequenceFeature, VarLenFeature, RaggedFeature),
}


def feature_attrs(features: Mapping[str, Any], part: str | None = None) -> list[dict[str, Any]]:
    """Return what the parser needs of each feature, in order.

    Parameters
    ----------
    features
        The descriptions by name.
    part
        Of a SequenceExample: ``"context"`` or ``"steps"``, where there may be none.

    Raises
    ------
    TypeError, InvalidArgumentError
        `features` is not a mapping from names to descriptions, or is empty.
    """
    if not isinstance(features, Mapping):
        raise TypeError(f"`features` must be a dict of features, got {features!r}")
    if not features and part is None:
        raise InvalidArgumentError("Invalid argument: features cannot be empty.")
    attrs = []
    for name, given in features.items():
        # The features of headrace.tf say which of these they stand for.
        feature = given._own(name) if hasattr(given, "_own") else given
        if not isinstance(feature, Feature):
            raise TypeError(
                f'feature "{name}" must be a FixedLenFeature or its kin, got {feature!r}'
            )
        if part is not None and not isinstance(feature, _KINDS[part]):
            valid = ", ".join(kind.__name__ for kind in _KINDS[part])
            raise InvalidArgumentError(
                f"Unsupported {type(feature).__name__} {feature!r} for key {name!r}; valid here "
                f"are {valid}"
            )
        own = feature._attrs(name, part)
        attrs.append({"name": name, "kind": type(feature).__name__, **own})
    return attrs
