"""Ragged values by the names of TensorFlow 1; mirrors ``tf.compat.v1.ragged``."""

from __future__ import annotations

from typing import Any

from ... import ragged as _ragged
from ...dtypes import as_dtype

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
        return self.to_tensor().dtype.as_numpy_dtype

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

    Examples
    --------
    >>> tf.compat.v1.ragged.constant_value([[1], [2, 3]]).to_list()
    [[1], [2, 3]]
    """
    made = _ragged.constant(
        pylist, dtype, ragged_rank, inner_shape, row_splits_dtype=as_dtype(row_splits_dtype)
    )
    return _value(made)


def _value(tensor: Any) -> Any:
    if isinstance(tensor, _ragged.RaggedTensor):
        return RaggedTensorValue(_value(tensor.values), tensor.row_splits.numpy())
    return tensor.numpy()


def __getattr__(name: str) -> Any:
    return getattr(_ragged, name)
