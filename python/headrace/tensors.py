"""Sparse and ragged values: small classes over NumPy arrays.

What parsing a feature of varying length yields. Both are containers to read, hand on and
convert; they have no arithmetic of their own.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .dtypes import DType
from .spec import object_dtype

__all__ = ["RaggedTensor", "SparseTensor"]


def _values(values: ArrayLike) -> NDArray[Any]:
    """Text becomes an object array: NumPy's own text dtypes lose NULs or pad."""
    array = np.asarray(values)
    return array.astype(object) if array.dtype.kind in "SU" else array


def _dtype(values: NDArray[Any]) -> DType:
    return object_dtype(values) if values.dtype.kind == "O" else values.dtype


class SparseTensor:
    """An array in coordinate form; mirrors ``tf.sparse.SparseTensor``.

    Parameters
    ----------
    indices
        int64 of shape ``[n, rank]``, in row-major order.
    values
        The values, shape ``[n]``; an object array for bytes.
    dense_shape
        int64 of shape ``[rank]``.

    Examples
    --------
    >>> SparseTensor([[0], [2]], [5, 7], [4]).to_dense()
    array([5, 0, 7, 0])
    """

    __slots__ = ("dense_shape", "indices", "values")
    __hash__ = None  # type: ignore[assignment]

    def __init__(self, indices: ArrayLike, values: ArrayLike, dense_shape: ArrayLike) -> None:
        self.values: NDArray[Any] = _values(values)
        self.dense_shape: NDArray[np.int64] = np.asarray(dense_shape, np.int64)
        self.indices: NDArray[np.int64] = np.asarray(indices, np.int64)
        if self.indices.size == 0:
            self.indices = self.indices.reshape(len(self.values), self.dense_shape.size)
        if self.indices.shape != (len(self.values), self.dense_shape.size):
            raise ValueError(
                f"indices of shape {self.indices.shape} do not fit {len(self.values)} values and "
                f"rank {self.dense_shape.size}"
            )

    @property
    def shape(self) -> tuple[int, ...]:
        """The dense shape as a tuple."""
        return tuple(self.dense_shape.tolist())

    @property
    def dtype(self) -> DType:
        """Type of the values."""
        return _dtype(self.values)

    def to_dense(self, default_value: Any = None) -> NDArray[Any]:
        """Return the dense array, `default_value` (zero, or empty) where nothing is stored.

        Raises
        ------
        IndexError
            An index is outside of the dense shape.
        """
        if default_value is None:
            default_value = b"" if self.dtype is bytes else "" if self.dtype is str else 0
        dense = np.full(self.shape, default_value, self.values.dtype)
        dense[tuple(self.indices.T)] = self.values
        return dense

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, SparseTensor):
            return NotImplemented
        return (
            self.values.dtype == other.values.dtype
            and np.array_equal(self.dense_shape, other.dense_shape)
            and np.array_equal(self.indices, other.indices)
            and np.array_equal(self.values, other.values)
        )

    def __reduce__(self) -> tuple[Any, ...]:
        return SparseTensor, (self.indices, self.values, self.dense_shape)

    def __repr__(self) -> str:
        return (
            f"SparseTensor(indices={self.indices.tolist()}, values={self.values.tolist()}, "
            f"dense_shape={self.dense_shape.tolist()})"
        )


class RaggedTensor:
    """Rows of differing lengths, perhaps nested; mirrors ``tf.RaggedTensor``.

    Row ``i`` is ``values[row_splits[i]:row_splits[i + 1]]``. The splits are not checked: a
    `RaggedFeature` without ``validate`` hands on what the file says.

    Parameters
    ----------
    values
        An array, or another `RaggedTensor` for more than one ragged axis.
    row_splits
        int32 or int64 of shape ``[rows + 1]``, from 0 to ``len(values)``, never falling.

    Examples
    --------
    >>> ragged = RaggedTensor([1, 2, 3], [0, 2, 2, 3])
    >>> ragged.to_list(), ragged.shape
    ([[1, 2], [], [3]], (3, None))
    """

    __slots__ = ("row_splits", "values")
    __hash__ = None  # type: ignore[assignment]

    def __init__(self, values: ArrayLike | RaggedTensor, row_splits: ArrayLike) -> None:
        self.values: NDArray[Any] | RaggedTensor = (
            values if isinstance(values, RaggedTensor) else _values(values)
        )
        splits = np.asarray(row_splits)
        self.row_splits: NDArray[Any] = (
            splits if splits.dtype == np.int32 else splits.astype(np.int64)
        )
        if self.row_splits.ndim != 1 or self.row_splits.size == 0:
            raise ValueError(f"row_splits must be a vector of at least 1, got {row_splits!r}")

    @classmethod
    def from_row_lengths(
        cls, values: ArrayLike | RaggedTensor, row_lengths: ArrayLike
    ) -> RaggedTensor:
        """Make one from the length of each row.

        Examples
        --------
        >>> RaggedTensor.from_row_lengths([1, 2, 3], [1, 2])
        RaggedTensor(values=[1, 2, 3], row_splits=[0, 1, 3])
        """
        lengths = np.asarray(row_lengths)
        splits = np.zeros(lengths.size + 1, np.int32 if lengths.dtype == np.int32 else np.int64)
        np.cumsum(lengths, out=splits[1:])
        return cls(values, splits)

    @property
    def flat_values(self) -> NDArray[Any]:
        """The innermost values."""
        values = self.values
        return values.flat_values if isinstance(values, RaggedTensor) else values

    @property
    def dtype(self) -> DType:
        """Type of the values."""
        return _dtype(self.flat_values)

    @property
    def ragged_rank(self) -> int:
        """Number of nested row partitions."""
        return 1 + (self.values.ragged_rank if isinstance(self.values, RaggedTensor) else 0)

    @property
    def shape(self) -> tuple[int | None, ...]:
        """Sizes, ``None`` at ragged axes."""
        return (len(self), None, *self.values.shape[1:])

    def row_lengths(self) -> NDArray[Any]:
        """Return the length of each row, of the dtype of the row splits."""
        return np.diff(self.row_splits)

    def to_list(self) -> list[Any]:
        """Return nested lists of Python values."""
        values = self.values
        items = values.to_list() if isinstance(values, RaggedTensor) else values.tolist()
        splits = self.row_splits.tolist()
        return [items[start:stop] for start, stop in pairwise(splits)]

    def to_tensor(self, default_value: Any = None) -> NDArray[Any]:
        """Return a dense array as wide as the longest row, padded with `default_value`.

        Parameters
        ----------
        default_value
            The padding; zero, or empty for text, if not given.
        """
        if default_value is None:
            default_value = b"" if self.dtype is bytes else "" if self.dtype is str else 0
        values = self.values
        inner = values.to_tensor(default_value) if isinstance(values, RaggedTensor) else values
        lengths = self.row_lengths()
        width = int(lengths.max(initial=0))
        dense = np.full((len(self), width, *inner.shape[1:]), default_value, inner.dtype)
        dense[np.arange(width) < lengths[:, None]] = inner
        return dense

    def __len__(self) -> int:
        return len(self.row_splits) - 1

    def __getitem__(self, row: int) -> NDArray[Any] | RaggedTensor:
        """Return one row."""
        count = len(self)
        if not -count <= row < count:
            raise IndexError(f"row {row} is outside of {count} rows")
        row %= count
        start, stop = int(self.row_splits[row]), int(self.row_splits[row + 1])
        values = self.values
        if not isinstance(values, RaggedTensor):
            return values[start:stop]
        splits = values.row_splits[start : stop + 1]
        return RaggedTensor(values.values[splits[0] : splits[-1]], splits - splits[0])  # type: ignore[index, misc, unused-ignore]

    def __iter__(self) -> Iterator[NDArray[Any] | RaggedTensor]:
        return (self[row] for row in range(len(self)))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, RaggedTensor):
            return NotImplemented
        if self.ragged_rank != other.ragged_rank or self.dtype != other.dtype:
            return False
        if not np.array_equal(self.row_splits, other.row_splits):
            return False
        if isinstance(self.values, RaggedTensor):
            return self.values == other.values
        return np.array_equal(self.values, other.flat_values)

    def __reduce__(self) -> tuple[Any, ...]:
        return RaggedTensor, (self.values, self.row_splits)

    def __repr__(self) -> str:
        values = self.values if isinstance(self.values, RaggedTensor) else self.values.tolist()
        return f"RaggedTensor(values={values}, row_splits={self.row_splits.tolist()})"
