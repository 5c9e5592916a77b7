"""Crosses of features; mirrors ``tf.sparse.cross``."""

from __future__ import annotations

from typing import Any

from ..errors import InvalidArgumentError
from .convert import is_dense
from .dtypes import DType, int64, string
from .kernels import static_shape
from .text_ops import one_text

__all__ = ["cross", "cross_hashed"]

# What the hash begins with if no key is given.
_KEY = 0xDECAFCAFFE


def cross(inputs: Any, name: str | None = None, separator: Any = None) -> Any:
    """Join each value of a row of one feature with each of the others; mirrors ``tf.sparse.cross``.

    Parameters
    ----------
    inputs
        Sparse tensors and tensors ``[rows, values]`` of strings or integers. Sparse ones come first
        in what is joined.
    name
        Accepted for TensorFlow's sake.
    separator
        What stands between the parts, ``"_X_"`` by default.

    Raises
    ------
    TypeError
        `inputs` is no list of tensors.
    InvalidArgumentError
        A tensor has another rank, or another number of rows.

    Examples
    --------
    >>> found = tf.sparse.cross([tf.constant([["a"], ["b"]]), tf.constant([["c"], ["d"]])])
    >>> tf.sparse.to_dense(found).numpy().tolist()
    [[b'a_X_c'], [b'b_X_d']]
    """
    return _crossed(
        inputs, string, separator=one_text("_X_" if separator is None else separator, "separator")
    )


def cross_hashed(
    inputs: Any, num_buckets: int = 0, hash_key: int | None = None, name: str | None = None
) -> Any:
    """Give a number for each cross; mirrors ``tf.sparse.cross_hashed``, else as `cross`.

    Parameters
    ----------
    inputs, name
        As of `cross`.
    num_buckets
        Numbers are below it; of 0, all that an int64 holds.
    hash_key
        Other keys give other numbers.

    Examples
    --------
    >>> found = tf.sparse.cross_hashed([tf.constant([["a"]]), tf.constant([["c"]])], 100)
    >>> found.values.dtype, found.dense_shape.numpy().tolist()
    (tf.int64, [1, 1])
    """
    if num_buckets < 0:
        raise InvalidArgumentError(f"num_buckets must be at least 0, got {num_buckets}")
    key = _KEY if hash_key is None else int(hash_key)
    return _crossed(inputs, int64, hash_key=key, num_buckets=int(num_buckets))


def _crossed(inputs: Any, dtype: DType, **attrs: Any) -> Any:
    from .casting import cast
    from .sparse_tensor import SparseTensor, made, parts

    if not isinstance(inputs, list | tuple):
        raise TypeError("Inputs must be a list")
    if not all(isinstance(x, SparseTensor) or is_dense(x) for x in inputs):
        raise TypeError("All inputs must be Tensor or SparseTensor.")
    # TensorFlow takes numbers of any kind for integers.
    inputs = [x if x.dtype.is_integer or x.dtype is string else cast(x, int64) for x in inputs]
    sparse = [x for x in inputs if isinstance(x, SparseTensor)]
    dense = [x for x in inputs if not isinstance(x, SparseTensor)]
    for x in dense:
        if len(static_shape(x) or (0, 0)) != 2:
            raise InvalidArgumentError(f"tensors [rows, values] are crossed, got shape {x.shape}")
    args = (*(part for x in sparse for part in parts(x)), *dense)
    return made("sparse_cross", args, dtype, 2, sparse=len(sparse), **attrs)
