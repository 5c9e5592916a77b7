"""Sparse values: to dense arrays and back; mirrors ``tf.sparse``.

Functions take a `SparseTensor` and, inside a traced function, what stands for one.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .dtypes import filler
from .ops import apply_op, is_symbol, value
from .tensors import SparseTensor

__all__ = ["from_dense", "to_dense"]


def to_dense(sp_input: Any, default_value: Any = None) -> Any:
    """Return the dense array; mirrors ``tf.sparse.to_dense``.

    Parameters
    ----------
    sp_input
        The sparse value.
    default_value
        What stands where nothing is stored: zero, or empty text, by default.

    Raises
    ------
    InvalidArgumentError
        An index is outside of the dense shape, or the array would be out of all proportion.

    Examples
    --------
    >>> hr.sparse.to_dense(hr.SparseTensor([[0], [2]], [5, 7], [4]))
    array([5, 0, 7, 0])
    """
    parts = (sp_input.indices, sp_input.values, sp_input.dense_shape)
    fill = filler(sp_input.dtype, default_value)
    return apply_op("sparse_to_dense", {"strict": False}, *parts, fill)[0]


def from_dense(tensor: Any) -> Any:
    """Return what is not zero or empty as a sparse value; mirrors ``tf.sparse.from_dense``.

    Parameters
    ----------
    tensor
        An array of known rank, at least 1.

    Examples
    --------
    >>> hr.sparse.from_dense(np.array([0, 7, 0]))
    SparseTensor(indices=[[1]], values=[7], dense_shape=[3])
    """
    x = value(tensor)
    indices = apply_op("argwhere", {}, x)[0]
    values = apply_op("gather_nd", {}, x, indices)[0]
    shape = apply_op("shape", {}, x)[0]
    if is_symbol(x):
        return apply_op("sparse_pack", {}, indices, values, shape)[0]
    return SparseTensor(indices, np.asarray(values), shape)
