"""What elements look like, in TensorFlow's words; mirrors ``tf.TensorSpec`` and its sisters.

They hold `TensorShape` and `DType` where headrace's own specs hold tuples and NumPy's dtypes;
`to_own` and `from_own` go between the two.
"""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from .. import spec as own
from ..nest import flatten, map_structure, same_structure
from . import dtypes
from .dtypes import DType, as_dtype, float32, int64
from .shapes import TensorShape

__all__ = [
    "DatasetSpec",
    "NoneTensorSpec",
    "OptionalSpec",
    "RaggedTensorSpec",
    "SparseTensorSpec",
    "TensorSpec",
    "TypeSpec",
    "from_own",
    "to_own",
    "type_spec_from_value",
]


class TypeSpec:
    """The type of a component of an element; mirrors ``tf.TypeSpec``."""

    __slots__ = ()
    _fields: ClassVar[tuple[str, ...]] = ()

    @property
    def value_type(self) -> Any:
        """The class of the values."""
        raise NotImplementedError

    def _key(self) -> tuple[Any, ...]:
        return tuple(getattr(self, field) for field in self._fields)

    def is_compatible_with(self, spec_or_value: Any) -> bool:
        """Tell whether a value could be described by both."""
        other = spec_or_value
        if not isinstance(other, TypeSpec):
            try:
                other = type_spec_from_value(other)
            except TypeError:
                return False
        return type(other) is type(self) and self._fits(other)

    def is_subtype_of(self, other: Any) -> bool:
        """Tell whether every value of this type is of the other."""
        return type(other) is type(self) and self.most_specific_common_supertype([other]) == other

    def most_specific_common_supertype(self, others: Any) -> Any:
        """Return the type that values of all have, or None."""
        found = self
        for other in others:
            if type(other) is not type(self):
                return None
            merged = found._merged(other)
            if merged is None:
                return None
            found = merged
        return found

    def most_specific_compatible_type(self, other: Any) -> Any:
        """Return the type that values of both have.

        Raises
        ------
        ValueError
            There is none.
        """
        found = self.most_specific_common_supertype([other])
        if found is None:
            raise ValueError(f"No TypeSpec is compatible with both {self} and {other}")
        return found

    def _fits(self, other: Any) -> bool:
        return bool(self == other)

    def _merged(self, other: Any) -> Any:
        return self if self == other else None

    def __eq__(self, other: object) -> bool:
        return type(other) is type(self) and self._key() == other._key()

    def __hash__(self) -> int:
        return hash((type(self), self._key()))

    def __reduce__(self) -> Any:
        return type(self), self._key()

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(map(repr, self._key()))})"


class _Shaped(TypeSpec):
    """What the specs with shape and dtype share."""

    __slots__ = ("_dtype", "_shape")
    _fields: ClassVar[tuple[str, ...]] = ("shape", "dtype")

    def __init__(self, shape: Any = None, dtype: Any = float32) -> None:
        self._shape = TensorShape(shape)
        self._dtype = as_dtype(dtype)

    @property
    def shape(self) -> TensorShape:
        """The sizes, as far as they are known."""
        return self._shape

    @property
    def dtype(self) -> DType:
        """The type of the values."""
        return self._dtype

    @property
    def rank(self) -> int | None:
        """The number of axes, if known."""
        return self._shape.rank

    def _fits(self, other: Any) -> bool:
        return self._dtype is other._dtype and self._shape.is_compatible_with(other._shape)

    def _with_shape(self, shape: TensorShape) -> Any:
        return type(self)(shape, self._dtype)

    def _merged(self, other: Any) -> Any:
        if self._dtype is not other._dtype:
            return None
        return self._with_shape(self._shape.most_specific_compatible_shape(other._shape))


class TensorSpec(_Shaped):
    """The type of a dense tensor; mirrors ``tf.TensorSpec``.

    Parameters
    ----------
    shape
        Sizes, ``None`` where unknown; ``None`` for an unknown rank.
    dtype
        The type of the values.
    name
        A name, part of the comparison.

    Examples
    --------
    >>> tf.TensorSpec([None, 2], tf.int32)
    TensorSpec(shape=(None, 2), dtype=tf.int32, name=None)
    """

    __slots__ = ("_name",)
    _fields: ClassVar[tuple[str, ...]] = ("shape", "dtype", "name")

    def __init__(self, shape: Any = None, dtype: Any = float32, name: str | None = None) -> None:
        super().__init__(shape, dtype)
        self._name = name

    @property
    def name(self) -> str | None:
        """The name."""
        return self._name

    @property
    def value_type(self) -> Any:
        """`tf.Tensor`."""
        from .tensor import Tensor

        return Tensor

    @classmethod
    def from_spec(cls, spec: Any, name: str | None = None) -> TensorSpec:
        """Return a spec like another, with a name."""
        return cls(spec.shape, spec.dtype, name or getattr(spec, "name", None))

    @classmethod
    def from_tensor(cls, tensor: Any, name: str | None = None) -> TensorSpec:
        """Return the spec of a tensor."""
        return cls(tensor.shape, tensor.dtype, name)

    def is_compatible_with(self, spec_or_tensor: Any) -> bool:
        """Tell whether a tensor could be described by both."""
        from .convert import is_dense

        known = isinstance(spec_or_tensor, TensorSpec | np.ndarray) or is_dense(spec_or_tensor)
        return known and super().is_compatible_with(spec_or_tensor)

    def _with_shape(self, shape: TensorShape) -> Any:
        return TensorSpec(shape, self._dtype, self._name)

    def _merged(self, other: Any) -> Any:
        found = super()._merged(other)
        if found is not None and self._name != other._name:
            found = TensorSpec(found.shape, found.dtype)
        return found

    def __repr__(self) -> str:
        return f"TensorSpec(shape={self._shape}, dtype={self._dtype!r}, name={self._name!r})"


class SparseTensorSpec(_Shaped):
    """The type of a `SparseTensor`; mirrors ``tf.SparseTensorSpec``.

    Examples
    --------
    >>> tf.SparseTensorSpec([None], tf.int32)
    SparseTensorSpec(TensorShape([None]), tf.int32)
    """

    __slots__ = ()

    @property
    def value_type(self) -> Any:
        """`tf.SparseTensor`."""
        from .sparse_tensor import SparseTensor

        return SparseTensor


class RaggedTensorSpec(_Shaped):
    """The type of a `RaggedTensor`; mirrors ``tf.RaggedTensorSpec``.

    Parameters
    ----------
    shape
        Sizes, ``None`` at ragged axes.
    dtype
        The type of the values.
    ragged_rank
        How many axes are partitioned; one less than the rank if not given.
    row_splits_dtype
        int32 or int64.
    flat_values_spec
        Accepted as ``None`` only.

    Examples
    --------
    >>> tf.RaggedTensorSpec([2, None], tf.int32).ragged_rank
    1
    """

    __slots__ = ("_ragged_rank", "_row_splits_dtype")
    _fields: ClassVar[tuple[str, ...]] = ("shape", "dtype", "ragged_rank", "row_splits_dtype")

    def __init__(
        self, shape: Any = None, dtype: Any = float32, ragged_rank: int | None = None,
        row_splits_dtype: Any = int64, flat_values_spec: Any = None,
    ) -> None:  # fmt: skip
        super().__init__(shape, dtype)
        if ragged_rank is None:
            if self._shape.rank is None:
                raise ValueError("Must specify ragged_rank or a shape with a known rank.")
            ragged_rank = self._shape.rank - 1
        if self._shape.rank is not None and ragged_rank >= max(self._shape.rank, 1):
            raise ValueError(
                f"Argument `ragged_rank` ({ragged_rank}) must be less than rank "
                f"({self._shape.rank})."
            )
        self._ragged_rank = int(ragged_rank)
        self._row_splits_dtype = as_dtype(row_splits_dtype)

    @property
    def ragged_rank(self) -> int:
        """How many axes are partitioned."""
        return self._ragged_rank

    @property
    def row_splits_dtype(self) -> DType:
        """The type of the row splits."""
        return self._row_splits_dtype

    @property
    def flat_values_spec(self) -> Any:
        """None: values are dense."""
        return None

    @property
    def value_type(self) -> Any:
        """`tf.RaggedTensor`."""
        from .ragged_tensor import RaggedTensor

        return RaggedTensor

    @classmethod
    def from_value(cls, value: Any) -> RaggedTensorSpec:
        """Return the spec of a value."""
        return type_spec_from_value(value)  # type: ignore[no-any-return]

    def _fits(self, other: Any) -> bool:
        alike = self._key()[2:] == other._key()[2:]
        return alike and super()._fits(other)

    def _with_shape(self, shape: TensorShape) -> Any:
        return RaggedTensorSpec(shape, self._dtype, self._ragged_rank, self._row_splits_dtype)

    def _merged(self, other: Any) -> Any:
        return super()._merged(other) if self._key()[2:] == other._key()[2:] else None


class NoneTensorSpec(TypeSpec):
    """The type of ``None``; mirrors ``tf.NoneTensorSpec``."""

    __slots__ = ()

    @property
    def value_type(self) -> Any:
        """The class of ``None``."""
        return type(None)


class DatasetSpec(TypeSpec):
    """The type of a dataset that is a component; mirrors ``tf.data.DatasetSpec``.

    Parameters
    ----------
    element_spec
        The type of its elements.
    dataset_shape
        The shape of the component, ``()``.

    Examples
    --------
    >>> tf.data.DatasetSpec(tf.TensorSpec([], tf.int64)).element_spec
    TensorSpec(shape=(), dtype=tf.int64, name=None)
    """

    __slots__ = ("_element_spec", "_shape")

    def __init__(self, element_spec: Any, dataset_shape: Any = ()) -> None:
        self._element_spec = element_spec
        self._shape = TensorShape(dataset_shape)

    @property
    def element_spec(self) -> Any:
        """The type of the elements."""
        return self._element_spec

    @property
    def value_type(self) -> Any:
        """`tf.data.Dataset`."""
        from .data import Dataset

        return Dataset

    @staticmethod
    def from_value(value: Any) -> DatasetSpec:
        """Return the type of a dataset."""
        return DatasetSpec(value.element_spec)

    def _fits(self, other: Any) -> bool:
        first, second = self._element_spec, other._element_spec
        return same_structure(first, second) and all(
            a.is_compatible_with(b) for a, b in zip(flatten(first), flatten(second), strict=True)
        )

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, DatasetSpec)
            and bool(self._element_spec == other._element_spec)
            and _dims(self._shape) == _dims(other._shape)
        )

    def __hash__(self) -> int:
        return hash((DatasetSpec, tuple(flatten(self._element_spec))))

    def __reduce__(self) -> Any:
        return DatasetSpec, (self._element_spec, self._shape)

    def __repr__(self) -> str:
        return f"DatasetSpec({self._element_spec!r}, {self._shape!r})"


class OptionalSpec(TypeSpec):
    """The type of an optional; mirrors ``tf.OptionalSpec``.

    Examples
    --------
    >>> tf.OptionalSpec(tf.TensorSpec([])).element_spec
    TensorSpec(shape=(), dtype=tf.float32, name=None)
    """

    __slots__ = ("_element_spec",)

    def __init__(self, element_spec: Any) -> None:
        self._element_spec = element_spec

    @property
    def element_spec(self) -> Any:
        """The type of the value."""
        return self._element_spec

    @property
    def value_type(self) -> Any:
        """The class of optionals."""
        from .data.optional import Optional

        return Optional

    def __eq__(self, other: object) -> bool:
        return isinstance(other, OptionalSpec) and bool(self._element_spec == other._element_spec)

    def __hash__(self) -> int:
        return hash((OptionalSpec, tuple(flatten(self._element_spec))))

    def __reduce__(self) -> Any:
        return OptionalSpec, (self._element_spec,)

    def __repr__(self) -> str:
        return f"OptionalSpec({self._element_spec!r},)"


def type_spec_from_value(value: Any) -> Any:
    """Return the type of a value; mirrors ``tf.type_spec_from_value``.

    Raises
    ------
    TypeError
        It is no component of an element.

    Examples
    --------
    >>> tf.type_spec_from_value("a")
    TensorSpec(shape=(), dtype=tf.string, name=None)
    """
    from ..dataset import Dataset
    from .convert import convert

    if value is None:
        return NoneTensorSpec()
    found = getattr(value, "_type_spec", None)
    if found is not None:
        return found
    if isinstance(value, Dataset):
        return DatasetSpec(from_own(value._plan.element_spec))
    try:
        tensor = convert(value)
    except (TypeError, ValueError):
        raise TypeError(
            f"Could not build a `TypeSpec` for {value!r} with type {type(value).__name__}"
        ) from None
    return TensorSpec(tensor.shape, tensor.dtype)


def _dims(shape: TensorShape) -> Any:
    return None if shape.rank is None else tuple(shape)


def to_own(spec: Any) -> Any:
    """Return a nest of specs as headrace's own."""
    return map_structure(_leaf_to_own, spec)


def _leaf_to_own(spec: Any) -> Any:
    if isinstance(spec, RaggedTensorSpec):
        splits = spec.row_splits_dtype.dtype
        kind = dtypes.to_own(spec.dtype)
        return own.RaggedTensorSpec(_dims(spec.shape), kind, spec.ragged_rank, splits)
    if isinstance(spec, SparseTensorSpec):
        return own.SparseTensorSpec(_dims(spec.shape), dtypes.to_own(spec.dtype))
    if isinstance(spec, TensorSpec):
        return own.TensorSpec(_dims(spec.shape), dtypes.to_own(spec.dtype))
    if isinstance(spec, NoneTensorSpec):
        return None
    if isinstance(spec, DatasetSpec):
        return own.DatasetSpec(to_own(spec.element_spec), _dims(spec._shape))
    if isinstance(spec, OptionalSpec):
        return own.OptionalSpec(to_own(spec.element_spec))
    return spec


def from_own(spec: Any) -> Any:
    """Return a nest of headrace's specs in TensorFlow's words."""
    return NoneTensorSpec() if spec is None else _from_own(spec)


def _from_own(spec: Any) -> Any:
    from ..nest import is_structure, items, rebuild

    if spec is None:
        return NoneTensorSpec()
    if is_structure(spec):
        return rebuild(spec, [_from_own(child) for _, child in items(spec)])
    if isinstance(spec, own.RaggedTensorSpec):
        kind, splits = dtypes.from_own(spec.dtype), dtypes.from_own(spec.row_splits_dtype)
        return RaggedTensorSpec(spec.shape, kind, spec.ragged_rank, splits)
    if isinstance(spec, own.SparseTensorSpec):
        return SparseTensorSpec(spec.shape, dtypes.from_own(spec.dtype))
    if isinstance(spec, own.TensorSpec):
        return TensorSpec(spec.shape, dtypes.from_own(spec.dtype))
    if isinstance(spec, own.DatasetSpec):
        return DatasetSpec(_from_own(spec.element_spec), spec.shape)
    if isinstance(spec, own.OptionalSpec):
        return OptionalSpec(_from_own(spec.element_spec))
    return spec
