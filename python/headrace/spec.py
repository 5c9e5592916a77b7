"""What elements look like: one spec per component.

An element spec is a nest (tuples, dicts, namedtuples, dataclasses, attrs classes) whose leaves are
the classes below. They are immutable, compare by value and can be keys. An unknown size or rank is
``None``.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, ClassVar, TypeAlias

import numpy as np

from .dtypes import DType, as_dtype, dtype_name

__all__ = [
    "AnySpec",
    "DatasetSpec",
    "ObjectSpec",
    "OptionalSpec",
    "RaggedTensorSpec",
    "SparseTensorSpec",
    "TensorSpec",
    "UnknownSpec",
]

Shape: TypeAlias = "tuple[int | None, ...] | None"


def as_shape(shape: Any) -> Shape:
    """Return `shape` as a tuple with ``None`` for unknown sizes; ``None`` is an unknown rank.

    Raises
    ------
    ValueError
        A size below -1 (-1 means unknown).
    """
    if shape is None or (type(shape) is tuple and not shape):
        return shape
    if hasattr(shape, "as_list"):  # tf.TensorShape
        shape = shape.as_list()
    if not isinstance(shape, Iterable):
        shape = (shape,)
    dims = tuple(None if dim is None or int(dim) == -1 else int(dim) for dim in shape)
    for dim in dims:
        if dim is not None and dim < 0:
            raise ValueError(f"a size cannot be negative, got shape {tuple(shape)}")
    return dims


def shapes_compatible(first: Shape, second: Shape) -> bool:
    """Tell whether a value could have both shapes."""
    if first is None or second is None:
        return True
    return len(first) == len(second) and all(
        a is None or b is None or a == b for a, b in zip(first, second, strict=True)
    )


def shape_within(inner: Shape, outer: Shape) -> bool:
    """Tell whether every value of shape `inner` has shape `outer`."""
    if outer is None:
        return True
    return (
        inner is not None
        and len(inner) == len(outer)
        and all(o is None or i == o for i, o in zip(inner, outer, strict=True))
    )


class _Spec:
    """Immutable record: fields in `_fields`, compared, hashed, printed and pickled by them."""

    __slots__ = ()
    _is_leaf = True
    _fields: ClassVar[tuple[str, ...]] = ()

    def _key(self) -> tuple[Any, ...]:
        return tuple(getattr(self, name) for name in self._fields)

    def __setattr__(self, name: str, value: Any) -> None:
        raise AttributeError(f"{type(self).__name__} is immutable, cannot set {name!r}")

    def __delattr__(self, name: str) -> None:
        raise AttributeError(f"{type(self).__name__} is immutable, cannot delete {name!r}")

    def __eq__(self, other: object) -> bool:
        if type(other) is not type(self):
            return NotImplemented
        return self._key() == other._key()

    def __hash__(self) -> int:
        return hash((type(self), self._key()))

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), self._key()

    def __repr__(self) -> str:
        parts = (f"{name}={_text(getattr(self, name))}" for name in self._fields)
        return f"{type(self).__name__}({', '.join(parts)})"


def _text(value: Any) -> str:
    return dtype_name(value) if isinstance(value, np.dtype | type) else repr(value)


class _ArraySpec(_Spec):
    """What the specs of dense, sparse and ragged components share."""

    __slots__ = ("dtype", "shape")
    _fields: ClassVar[tuple[str, ...]] = ("shape", "dtype")
    shape: Shape
    dtype: DType

    def __init__(self, shape: Any = None, dtype: Any = np.float32) -> None:
        object.__setattr__(self, "shape", as_shape(shape))
        object.__setattr__(self, "dtype", as_dtype(dtype))

    @property
    def dtype_name(self) -> str:
        """Name of the dtype; ``bytes`` and ``str`` for text."""
        return dtype_name(self.dtype)

    @property
    def ndim(self) -> int | None:
        """Number of axes, if known."""
        return None if self.shape is None else len(self.shape)

    def is_compatible_with(self, spec_or_value: Any) -> bool:
        """Tell whether a value could be described by both.

        Parameters
        ----------
        spec_or_value
            Another spec, or a value.

        Examples
        --------
        >>> TensorSpec((None, 3), np.float32).is_compatible_with(np.zeros((2, 3), np.float32))
        True
        """
        other = spec_or_value if isinstance(spec_or_value, _Spec) else spec_of(spec_or_value)
        return (
            type(other) is type(self)
            and isinstance(other, _ArraySpec)
            and self.dtype == other.dtype
            and shapes_compatible(self.shape, other.shape)
        )


class TensorSpec(_ArraySpec):
    """A dense array, scalar, `bytes` or `str`; mirrors ``tf.TensorSpec``.

    Parameters
    ----------
    shape
        Sizes, ``None`` where unknown; ``None`` for an unknown rank.
    dtype
        Type of the values, see `headrace.dtypes.as_dtype`.

    Examples
    --------
    >>> TensorSpec((None, 3), np.float32)
    TensorSpec(shape=(None, 3), dtype=float32)
    """

    __slots__ = ()


class SparseTensorSpec(_ArraySpec):
    """A `SparseTensor` of this dense shape; mirrors ``tf.SparseTensorSpec``.

    Examples
    --------
    >>> SparseTensorSpec((None,), np.int64)
    SparseTensorSpec(shape=(None,), dtype=int64)
    """

    __slots__ = ()


class RaggedTensorSpec(_ArraySpec):
    """A `RaggedTensor`; mirrors ``tf.RaggedTensorSpec``.

    Parameters
    ----------
    shape
        Sizes, ``None`` at ragged axes.
    dtype
        Type of the values.
    ragged_rank
        Number of nested row partitions.
    row_splits_dtype
        ``int32`` or ``int64``.

    Examples
    --------
    >>> RaggedTensorSpec((2, None), np.int64, 1)
    RaggedTensorSpec(shape=(2, None), dtype=int64, ragged_rank=1, row_splits_dtype=int64)
    """

    __slots__ = ("ragged_rank", "row_splits_dtype")
    _fields: ClassVar[tuple[str, ...]] = ("shape", "dtype", "ragged_rank", "row_splits_dtype")
    ragged_rank: int
    row_splits_dtype: DType

    def __init__(
        self,
        shape: Any = None,
        dtype: Any = np.float32,
        ragged_rank: int | None = None,
        row_splits_dtype: Any = np.int64,
    ) -> None:
        super().__init__(shape, dtype)
        if ragged_rank is None:
            if self.shape is None:
                raise ValueError("an unknown shape needs ragged_rank=")
            ragged_rank = len(self.shape) - 1
        object.__setattr__(self, "ragged_rank", int(ragged_rank))
        object.__setattr__(self, "row_splits_dtype", as_dtype(row_splits_dtype))

    def is_compatible_with(self, spec_or_value: Any) -> bool:
        """Tell whether a value could be described by both; see `TensorSpec`."""
        other = spec_or_value if isinstance(spec_or_value, _Spec) else spec_of(spec_or_value)
        return (
            super().is_compatible_with(other)
            and isinstance(other, RaggedTensorSpec)
            and self.ragged_rank == other.ragged_rank
            and self.row_splits_dtype == other.row_splits_dtype
        )


class DatasetSpec(_Spec):
    """Datasets as a component; mirrors ``tf.data.DatasetSpec``.

    Parameters
    ----------
    element_spec
        What the elements of each look like: a nest of specs, or `UnknownSpec`.
    shape
        ``()`` for a single dataset. A batch of them is an object array of this shape.

    Examples
    --------
    >>> DatasetSpec(TensorSpec((), np.int64))
    DatasetSpec(element_spec=TensorSpec(shape=(), dtype=int64), shape=())
    """

    __slots__ = ("element_spec", "shape")
    _fields: ClassVar[tuple[str, ...]] = ("element_spec", "shape")
    element_spec: Any
    shape: Shape

    def __init__(self, element_spec: Any, shape: Any = ()) -> None:
        object.__setattr__(self, "element_spec", element_spec)
        object.__setattr__(self, "shape", as_shape(shape))

    def __hash__(self) -> int:
        return hash((type(self), repr(self)))  # nests may be dicts

    def is_compatible_with(self, spec_or_value: Any) -> bool:
        """Tell whether the other is datasets whose elements could be described by both."""
        other = spec_or_value if isinstance(spec_or_value, _Spec) else spec_of(spec_or_value)
        return (
            isinstance(other, DatasetSpec)
            and shapes_compatible(self.shape, other.shape)
            and _nests_compatible(self.element_spec, other.element_spec)
        )


class OptionalSpec(_Spec):
    """An `Optional` as a component; mirrors ``tf.OptionalSpec``.

    Parameters
    ----------
    element_spec
        What the value looks like: a nest of specs.

    Examples
    --------
    >>> OptionalSpec(TensorSpec((), np.int64))
    OptionalSpec(element_spec=TensorSpec(shape=(), dtype=int64))
    """

    __slots__ = ("element_spec",)
    _fields: ClassVar[tuple[str, ...]] = ("element_spec",)
    element_spec: Any

    def __init__(self, element_spec: Any) -> None:
        object.__setattr__(self, "element_spec", element_spec)

    def __hash__(self) -> int:
        return hash((type(self), repr(self.element_spec)))  # nests may be dicts

    def is_compatible_with(self, spec_or_value: Any) -> bool:
        """Tell whether the other is an optional whose value could be described by both."""
        other = spec_or_value if isinstance(spec_or_value, _Spec) else spec_of(spec_or_value)
        return isinstance(other, OptionalSpec) and _nests_compatible(
            self.element_spec, other.element_spec
        )


def _nests_compatible(own: Any, others: Any) -> bool:
    from .nest import flatten, same_structure

    if isinstance(own, UnknownSpec) or isinstance(others, UnknownSpec):
        return True
    return same_structure(own, others) and all(
        a.is_compatible_with(b) for a, b in zip(flatten(own), flatten(others), strict=True)
    )


class ObjectSpec(_Spec):
    """An opaque Python object.

    Examples
    --------
    >>> ObjectSpec()
    ObjectSpec()
    """

    __slots__ = ()

    def is_compatible_with(self, spec_or_value: Any) -> bool:
        """Tell whether the other is an opaque object too."""
        other = spec_or_value if isinstance(spec_or_value, _Spec) else spec_of(spec_or_value)
        return isinstance(other, ObjectSpec)


class UnknownSpec(_Spec):
    """The element spec of a dataset whose elements only a run can tell.

    It is the whole spec, never a leaf: the result of a function that runs as Python and has no
    ``output_signature``.

    Examples
    --------
    >>> UnknownSpec()
    UnknownSpec()
    """

    __slots__ = ()

    def is_compatible_with(self, spec_or_value: Any) -> bool:
        """Return True: nothing is known."""
        return True


AnySpec: TypeAlias = (
    TensorSpec
    | SparseTensorSpec
    | RaggedTensorSpec
    | DatasetSpec
    | OptionalSpec
    | ObjectSpec
    | UnknownSpec
)


def spec_of(value: Any) -> AnySpec:
    """Return the spec of one component.

    Parameters
    ----------
    value
        An array, scalar, `bytes`, `str`, `SparseTensor`, `RaggedTensor`, `Dataset` or `Optional`;
        anything else is an opaque object.

    Examples
    --------
    >>> spec_of(np.zeros((2, 3))), spec_of("text")
    (TensorSpec(shape=(2, 3), dtype=float64), TensorSpec(shape=(), dtype=str))
    """
    from .tensors import RaggedTensor, SparseTensor

    if isinstance(value, SparseTensor):
        return SparseTensorSpec(tuple(value.dense_shape.tolist()), value.dtype)
    if isinstance(value, RaggedTensor):
        splits = value.row_splits.dtype
        return RaggedTensorSpec(value.shape, value.dtype, value.ragged_rank, splits)
    if isinstance(value, bytes | str):
        return TensorSpec((), type(value))
    if isinstance(value, np.ndarray | np.generic | bool | int | float | complex):
        array = np.asarray(value)
        if array.dtype.kind == "O":
            return _datasets_spec(array) or TensorSpec(array.shape, object_dtype(array))
        return TensorSpec(array.shape, array.dtype)
    from .dataset import Dataset
    from .optional import Optional

    if isinstance(value, Optional):
        return OptionalSpec(value.element_spec)
    return DatasetSpec(value._plan.element_spec) if isinstance(value, Dataset) else ObjectSpec()


def _datasets_spec(array: np.ndarray[Any, Any]) -> DatasetSpec | None:
    """Return the spec of an object array of datasets; None if it holds anything else."""
    from .dataset import Dataset

    if not array.size or not all(isinstance(item, Dataset) for item in array.flat):
        return None
    return DatasetSpec(array.flat[0]._plan.element_spec, array.shape)


def object_dtype(array: np.ndarray[Any, Any]) -> DType:
    """Return ``bytes`` or ``str``, whichever the object array `array` holds; ``bytes`` if empty.

    Raises
    ------
    TypeError
        It holds anything else, or both.
    """
    kinds = {type(item) for item in array.flat}
    if kinds <= {bytes, np.bytes_}:
        return bytes
    if kinds <= {str, np.str_}:
        return str
    names = ", ".join(sorted(kind.__name__ for kind in kinds))
    raise TypeError(f"an object array must hold only bytes or only str, this one holds {names}")
