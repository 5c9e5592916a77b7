"""Shapes that may be known in part; mirrors ``tf.TensorShape``."""

from __future__ import annotations

import operator
from collections.abc import Iterator
from typing import Any, SupportsIndex

__all__ = ["Dimension", "TensorShape", "as_shape", "dimension_value"]


class Dimension:
    """One size, as an object; mirrors ``tf.compat.v1.Dimension``."""

    __slots__ = ("value",)

    def __init__(self, value: int | None) -> None:
        self.value = value

    def __eq__(self, other: object) -> Any:
        number = other.value if isinstance(other, Dimension) else other
        return None if self.value is None or number is None else self.value == number

    def __hash__(self) -> int:
        return hash(self.value)

    def __int__(self) -> int:
        if self.value is None:
            raise TypeError("an unknown size is no number")
        return self.value

    __index__ = __int__

    def __repr__(self) -> str:
        return f"Dimension({self.value})"


def dimension_value(dimension: Any) -> int | None:
    """Return the size as a number or ``None``; mirrors ``tf.compat.dimension_value``."""
    return dimension.value if isinstance(dimension, Dimension) else dimension


def _size(value: Any) -> int | None:
    if value is None:
        return None
    if isinstance(value, Dimension):
        return value.value
    try:
        if hasattr(type(value), "_tracer"):  # a symbol has no value, whatever a run would say
            raise TypeError
        size = operator.index(value)
    except TypeError:
        raise TypeError(
            "Dimension value must be integer or None or have an __index__ method, got value "
            f"'{value!r}' with type '{type(value)!r}'"
        ) from None
    if size < 0:
        raise ValueError(f"Dimension {size} must be >= 0")
    return size


class TensorShape:
    """The shape of a tensor, perhaps known in part; mirrors ``tf.TensorShape``.

    Parameters
    ----------
    dims
        Sizes, ``None`` where unknown; ``None`` for an unknown rank.

    Raises
    ------
    ValueError
        A negative size.

    Examples
    --------
    >>> shape = tf.TensorShape([None, 3])
    >>> shape.as_list(), shape[1], shape == (None, 3)
    ([None, 3], 3, True)
    >>> shape.concatenate([4]), shape.merge_with([2, 3])
    (TensorShape([None, 3, 4]), TensorShape([2, 3]))
    """

    __slots__ = ("_dims",)

    def __init__(self, dims: Any = None) -> None:
        self._dims: tuple[int | None, ...] | None
        if isinstance(dims, TensorShape):
            self._dims = dims._dims
        elif dims is None:
            self._dims = None
        elif hasattr(dims, "dim") and hasattr(dims, "unknown_rank"):  # a TensorShapeProto
            sizes = (None if d.size == -1 else d.size for d in dims.dim)
            self._dims = None if dims.unknown_rank else tuple(sizes)
        elif isinstance(dims, str | bytes):
            raise TypeError(f"{dims!r} is no shape")
        else:
            try:
                sizes = iter(dims)
            except TypeError:
                self._dims = (_size(dims),)
            else:
                self._dims = tuple(_size(dim) for dim in sizes)

    @property
    def rank(self) -> int | None:
        """The number of axes; ``None`` if unknown."""
        return None if self._dims is None else len(self._dims)

    ndims = rank

    @property
    def dims(self) -> list[Dimension] | None:
        """The sizes as objects."""
        return None if self._dims is None else [Dimension(dim) for dim in self._dims]

    def as_list(self) -> list[int | None]:
        """Return the sizes as a list.

        Raises
        ------
        ValueError
            The rank is unknown.
        """
        if self._dims is None:
            raise ValueError("as_list() is not defined on an unknown TensorShape.")
        return list(self._dims)

    def num_elements(self) -> int | None:
        """Return the number of values; ``None`` if not known."""
        if self._dims is None:
            return None
        total = 1
        for dim in self._dims:
            if dim is None:
                return None
            total *= dim
        return total

    def is_fully_defined(self) -> bool:
        """Tell whether all sizes are known."""
        return self._dims is not None and None not in self._dims

    def is_compatible_with(self, other: Any) -> bool:
        """Tell whether a tensor could have both shapes."""
        theirs = as_shape(other)._dims
        if self._dims is None or theirs is None:
            return True
        pairs = zip(self._dims, theirs, strict=False)
        return len(self._dims) == len(theirs) and all(
            a is None or b is None or a == b for a, b in pairs
        )

    def is_subtype_of(self, other: Any) -> bool:
        """Tell whether every tensor of this shape has the other."""
        theirs = as_shape(other)._dims
        if theirs is None:
            return True
        return (
            self._dims is not None
            and len(self._dims) == len(theirs)
            and all(b is None or a == b for a, b in zip(self._dims, theirs, strict=True))
        )

    def merge_with(self, other: Any) -> TensorShape:
        """Return what both shapes say together.

        Raises
        ------
        ValueError
            They are not compatible.
        """
        theirs = as_shape(other)
        if not self.is_compatible_with(theirs):
            raise ValueError(f"Shapes {self} and {theirs} are not compatible")
        if self._dims is None or theirs._dims is None:
            return theirs if self._dims is None else self
        pairs = zip(self._dims, theirs._dims, strict=True)
        return TensorShape([b if a is None else a for a, b in pairs])

    def concatenate(self, other: Any) -> TensorShape:
        """Return the sizes of both, one after the other."""
        theirs = as_shape(other)
        if self._dims is None or theirs._dims is None:
            return TensorShape(None)
        return TensorShape(self._dims + theirs._dims)

    def most_specific_compatible_shape(self, other: Any) -> TensorShape:
        """Return the shape that tensors of both have: ``None`` where they differ."""
        theirs = as_shape(other)
        if self._dims is None or theirs._dims is None or len(self._dims) != len(theirs._dims):
            return TensorShape(None)
        pairs = zip(self._dims, theirs._dims, strict=True)
        return TensorShape([a if a == b else None for a, b in pairs])

    def most_specific_common_supertype(self, others: Any) -> TensorShape:
        """Return the shape that tensors of this and all other shapes have."""
        found = self
        for other in others:
            found = found.most_specific_compatible_shape(other)
        return found

    def with_rank(self, rank: int) -> TensorShape:
        """Return this shape, of that rank.

        Raises
        ------
        ValueError
            It has another.
        """
        if self._dims is None:
            return TensorShape([None] * rank)
        self.assert_has_rank(rank)
        return self

    def with_rank_at_least(self, rank: int) -> TensorShape:
        """Return this shape, or raise ValueError if its rank is lower."""
        if self._dims is not None and len(self._dims) < rank:
            raise ValueError(f"Shape {self} must have rank at least {rank}")
        return self

    def with_rank_at_most(self, rank: int) -> TensorShape:
        """Return this shape, or raise ValueError if its rank is higher."""
        if self._dims is not None and len(self._dims) > rank:
            raise ValueError(f"Shape {self} must have rank at most {rank}")
        return self

    def assert_has_rank(self, rank: int) -> None:
        """Raise ValueError if the rank is known to be another."""
        if self._dims is not None and len(self._dims) != rank:
            raise ValueError(f"Shape {self} must have rank {rank}")

    def assert_same_rank(self, other: Any) -> None:
        """Raise ValueError if the ranks are known to differ."""
        theirs = as_shape(other)
        if None not in (self.rank, theirs.rank) and self.rank != theirs.rank:
            raise ValueError(f"Shapes {self} and {theirs} must have the same rank")

    def assert_is_compatible_with(self, other: Any) -> None:
        """Raise ValueError if no tensor has both shapes."""
        if not self.is_compatible_with(other):
            raise ValueError(f"Shapes {self} and {other} are incompatible")

    def assert_is_fully_defined(self) -> None:
        """Raise ValueError if a size is unknown."""
        if not self.is_fully_defined():
            raise ValueError(f"Shape {self} is not fully defined")

    def __len__(self) -> int:
        if self._dims is None:
            raise ValueError("Cannot take the length of shape with unknown rank.")
        return len(self._dims)

    def __bool__(self) -> bool:
        return self._dims is not None

    def __iter__(self) -> Iterator[int | None]:
        if self._dims is None:
            raise ValueError("Cannot iterate over a shape with unknown rank.")
        return iter(self._dims)

    def __getitem__(self, key: SupportsIndex | slice) -> Any:
        if self._dims is not None:
            found = self._dims[key]
            return TensorShape(found) if isinstance(found, tuple) else found
        if not isinstance(key, slice):
            return None
        start, stop = key.start or 0, key.stop
        if stop is None or key.step is not None or start < 0 or stop < 0:
            return TensorShape(None)
        return TensorShape([None] * (stop - start))

    def __add__(self, other: Any) -> TensorShape:
        return self.concatenate(other)

    def __radd__(self, other: Any) -> TensorShape:
        return as_shape(other).concatenate(self)

    def __eq__(self, other: object) -> bool:
        try:
            theirs = as_shape(other)
        except (TypeError, ValueError):
            return NotImplemented
        return self._dims == theirs._dims

    def __hash__(self) -> int:
        return hash(self._dims)

    def __reduce__(self) -> Any:
        return TensorShape, (self._dims,)

    def __str__(self) -> str:
        if self._dims is None:
            return "<unknown>"
        inner = ", ".join(map(str, self._dims))
        return f"({inner},)" if len(self._dims) == 1 else f"({inner})"

    def __repr__(self) -> str:
        return f"TensorShape({None if self._dims is None else list(self._dims)})"


def as_shape(shape: Any) -> TensorShape:
    """Return `shape` as a `TensorShape`."""
    return shape if isinstance(shape, TensorShape) else TensorShape(shape)
