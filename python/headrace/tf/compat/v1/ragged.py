"""Ragged values by the names of TensorFlow 1; mirrors ``tf.compat.v1.ragged``."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ... import ragged as _ragged
from ...dtypes import DType, as_dtype
from ...shapes import TensorShape

__all__ = ["RaggedTensorValue", "constant_value"]


class RaggedTensorValue:
    """A ragged tensor as values and splits; mirrors ``tf.compat.v1.ragged.RaggedTensorValue``.

    Examples
    --------
    >>> value = tf.compat.v1.ragged.RaggedTensorValue([3, 1, 4], [0, 2, 3])
    >>> value.to_list()
    [[3, 1], [4]]
    """

    __slots__ = ("row_splits", "values")
    _is_leaf = True

    def __init__(self, values: Any, row_splits: Any) -> None:
        self.values = values
        self.row_splits = row_splits

    def __repr__(self) -> str:
        return f"tf.RaggedTensorValue(values={self.values!r}, row_splits={self.row_splits!r})"

    @staticmethod
    def _map_values(function: Callable[..., Any], *args: Any) -> Any:
        tensors = [x.to_tensor() if isinstance(x, RaggedTensorValue) else x for x in args]
        return _ragged.map_flat_values(function, *tensors)

    def to_tensor(self) -> Any:
        """Return it as a `tf.RaggedTensor`."""
        values = self.values.to_tensor() if isinstance(self.values, type(self)) else self.values
        return _ragged.RaggedTensor.from_row_splits(values, self.row_splits)

    def to_list(self) -> Any:
        """Return it as nested lists."""
        return self.to_tensor().to_list()

    @property
    def dtype(self) -> Any:
        """The type of the values, NumPy's."""
        return np.asarray(self.flat_values).dtype

    @property
    def ragged_rank(self) -> int:
        """The number of ragged axes."""
        return 1 + (self.values.ragged_rank if isinstance(self.values, type(self)) else 0)

    @property
    def flat_values(self) -> Any:
        """The innermost values."""
        return self.values.flat_values if isinstance(self.values, type(self)) else self.values

    @property
    def shape(self) -> tuple[int | None, ...]:
        """The sizes; ``None`` for a ragged axis."""
        return tuple(self.to_tensor().shape)


def constant_value(
    pylist: Any,
    dtype: Any = None,
    ragged_rank: int | None = None,
    inner_shape: Any = None,
    row_splits_dtype: Any = "int64",
) -> Any:
    """Return nested lists as a ragged value; mirrors ``tf.compat.v1.ragged.constant_value``.

    The values are an array of NumPy's type, or of `dtype`, which may be one of NumPy.

    Raises
    ------
    ValueError
        There are fewer levels of lists than ragged axes, or values at several levels.

    Examples
    --------
    >>> tf.compat.v1.ragged.constant_value([[1], [2, 3]]).to_list()
    [[1], [2, 3]]
    """
    inner = None if inner_shape is None else list(TensorShape(inner_shape))
    level, splits = _ragged.flattened(pylist, ragged_rank, inner, as_dtype(row_splits_dtype).dtype)
    made: Any = np.array(level, dtype.as_numpy_dtype if isinstance(dtype, DType) else dtype)
    if inner is not None:
        made = made.reshape(-1, *inner)
    for found in reversed(splits):
        made = RaggedTensorValue(made, np.asarray(found))
    return made


def __getattr__(name: str) -> Any:
    return getattr(_ragged, name)
