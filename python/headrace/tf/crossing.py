"""Crosses of features; mirrors ``tf.sparse.cross``."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np

from ..errors import InvalidArgumentError
from .convert import is_dense
from .dtypes import int64, string
from .kernels import python, static_shape
from .text_ops import one_text

__all__ = ["cross"]


def cross(inputs: Any, name: str | None = None, separator: Any = None) -> Any:
    """Join each value of a row of one feature with each of the others; mirrors ``tf.sparse.cross``.

    A function that uses it runs as Python.

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
    from .sparse import SparseTensor

    if not isinstance(inputs, list | tuple):
        raise TypeError("Inputs must be a list")
    if not all(isinstance(x, SparseTensor) or is_dense(x) for x in inputs):
        raise TypeError("All inputs must be Tensor or SparseTensor.")
    sparse = [x for x in inputs if isinstance(x, SparseTensor)]
    dense = [x for x in inputs if not isinstance(x, SparseTensor)]
    for x in dense:
        if len(static_shape(x) or (0, 0)) != 2:
            raise InvalidArgumentError(f"tensors [rows, values] are crossed, got shape {x.shape}")
    between = one_text("_X_" if separator is None else separator)
    between = between.encode() if isinstance(between, str) else bytes(between)
    parts = [part for x in sparse for part in (x.indices, x.values, x.dense_shape)]

    def crossed(*given: Any) -> list[Any]:
        rows = [_sparse_rows(*given[3 * k : 3 * k + 3]) for k in range(len(sparse))]
        rows += [[list(map(_text, row)) for row in x.tolist()] for x in given[3 * len(sparse) :]]
        return _joined(rows, between)

    outs = [((None, 2), int64), ((None,), string), ((2,), int64)]
    return SparseTensor(*python("sparse.cross", crossed, outs, *parts, *dense))  # type: ignore[arg-type]


def _text(value: Any) -> bytes:
    return value if isinstance(value, bytes) else str(int(value)).encode()


def _sparse_rows(indices: Any, values: Any, dims: Any) -> list[list[bytes]]:
    rows: list[list[bytes]] = [[] for _ in range(int(dims[0]))]
    for index, value in zip(indices.tolist(), values.tolist(), strict=True):
        rows[index[0]].append(_text(value))
    return rows


def _joined(features: list[list[list[bytes]]], between: bytes) -> list[Any]:
    counts = {len(rows) for rows in features}
    if len(counts) != 1:
        raise InvalidArgumentError(f"features of one number of rows are crossed, got {counts}")
    at, made, widest = [], [], 0
    for row, values in enumerate(zip(*features, strict=True)):
        found = [between.join(each) for each in itertools.product(*values)]
        at += [(row, k) for k in range(len(found))]
        made += found
        widest = max(widest, len(found))
    strings = np.empty(len(made), object)
    strings[:] = made
    return [np.array(at, np.int64).reshape(-1, 2), strings, np.array([*counts, widest])]
