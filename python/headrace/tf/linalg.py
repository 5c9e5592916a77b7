"""Products and lengths; the part of ``tf.linalg`` that input code uses."""

from __future__ import annotations

from typing import Any

import numpy as np

from .arithmetic import check_dtype, divide, matmul, maximum, multiply, operands
from .array_ops import expand_dims, squeeze
from .convert import convert
from .creation import eye
from .elementwise import rsqrt, sqrt, square
from .kernels import python, static_shape
from .names import lookup
from .reductions import reduce_max, reduce_sum
from .tensor import raw

__all__ = [
    "band_part",
    "diag",
    "diag_part",
    "einsum",
    "eye",
    "l2_normalize",
    "matmul",
    "matrix_transpose",
    "matvec",
    "norm",
    "normalize",
    "tensordot",
    "trace",
]


def tensordot(a: Any, b: Any, axes: Any, name: str | None = None) -> Any:
    """Sum products over axes; mirrors ``tf.tensordot``.

    Examples
    --------
    >>> tf.tensordot([1, 2], [3, 4], 1).numpy()
    np.int32(11)
    """
    x, y = operands("MatMul", a, b, strict=True)
    along = raw(axes).tolist() if hasattr(axes, "numpy") else axes
    dims, others = static_shape(x), static_shape(y)
    out: Any = None
    if dims is not None and others is not None:
        first: Any
        second: Any
        if isinstance(along, int):
            first, second = range(len(dims) - along, len(dims)), range(along)
        else:
            first = [k % len(dims) for k in np.atleast_1d(along[0]).tolist()]
            second = [k % len(others) for k in np.atleast_1d(along[1]).tolist()]
        kept = [d for k, d in enumerate(dims) if k not in first]
        out = (*kept, *(d for k, d in enumerate(others) if k not in second))
    return python("tensordot", lambda p, q: np.tensordot(p, q, along), (out, x.dtype), x, y)


def einsum(equation: str, *inputs: Any, **kwargs: Any) -> Any:
    """Sum products as an equation says; mirrors ``tf.einsum``."""
    tensors = [convert(x) for x in inputs]
    for x in tensors[1:]:
        operands("Einsum", tensors[0], x)
    rank = len(equation.split("->")[1]) if "->" in equation and "..." not in equation else None
    out = (None if rank is None else (None,) * rank, tensors[0].dtype)
    return python("einsum", lambda *arrays: np.einsum(equation, *arrays), out, *tensors)


def norm(
    tensor: Any, ord: Any = "euclidean", axis: Any = None, keepdims: bool = False,
    name: str | None = None,
) -> Any:  # fmt: skip
    """Return the length of a vector, or of the whole; mirrors ``tf.norm``.

    Examples
    --------
    >>> tf.norm([3.0, 4.0]).numpy()
    np.float32(5.0)
    """
    from .arithmetic import abs

    x = convert(tensor)
    check_dtype("Sqrt", x, allowed=x.dtype.is_floating or x.dtype.is_complex)
    if ord in ("euclidean", "fro", 2):
        return sqrt(reduce_sum(square(x), axis, keepdims))
    if ord == 1:
        return reduce_sum(abs(x), axis, keepdims)
    if ord == np.inf:
        return reduce_max(abs(x), axis, keepdims)
    return reduce_sum(abs(x) ** ord, axis, keepdims) ** (1.0 / ord)


def normalize(
    tensor: Any, ord: Any = "euclidean", axis: Any = None, name: str | None = None
) -> tuple[Any, Any]:
    """Return a tensor divided by its `norm`, and that; mirrors ``tf.linalg.normalize``."""
    length = norm(tensor, ord, axis, keepdims=True)
    return divide(convert(tensor), length), length


def l2_normalize(x: Any, axis: Any = None, epsilon: float = 1e-12, name: str | None = None) -> Any:
    """Return vectors of length 1; mirrors ``tf.math.l2_normalize``."""
    x = convert(x)
    total = reduce_sum(square(x), axis, keepdims=True)
    return multiply(x, rsqrt(maximum(total, epsilon)))


def matvec(a: Any, b: Any, transpose_a: bool = False, **kwargs: Any) -> Any:
    """Multiply a matrix and a vector; mirrors ``tf.linalg.matvec``."""
    return squeeze(matmul(a, expand_dims(b, -1), transpose_a), -1)


def matrix_transpose(a: Any, name: str | None = None, conjugate: bool = False) -> Any:
    """Exchange the last two axes; mirrors ``tf.linalg.matrix_transpose``."""
    from .array_ops import transpose

    x = convert(a)
    rank = len(static_shape(x) or ())
    return transpose(x, [*range(rank - 2), rank - 1, rank - 2], conjugate)


def trace(x: Any, name: str | None = None) -> Any:
    """Return the sum of the diagonal; mirrors ``tf.linalg.trace``."""
    x = convert(x)
    dims = static_shape(x)
    out = (None if dims is None else dims[:-2], x.dtype)
    return python("trace", lambda a: np.trace(a, axis1=-2, axis2=-1, dtype=a.dtype), out, x)


def diag(diagonal: Any, name: str = "diag", **kwargs: Any) -> Any:
    """Return a matrix with a diagonal; mirrors ``tf.linalg.diag``."""
    x = convert(diagonal)
    dims = static_shape(x)
    out = (None if dims is None else (*dims, dims[-1]), x.dtype)
    return python("diag", lambda a: a[..., None] * np.eye(a.shape[-1], dtype=a.dtype), out, x)


def diag_part(input: Any, name: str = "diag_part", **kwargs: Any) -> Any:
    """Return the diagonal of a matrix; mirrors ``tf.linalg.diag_part``."""
    x = convert(input)
    dims = static_shape(x)
    out = (None if dims is None else (*dims[:-2], None), x.dtype)
    return python("diag_part", lambda a: np.diagonal(a, axis1=-2, axis2=-1).copy(), out, x)


def band_part(input: Any, num_lower: Any, num_upper: Any, name: str | None = None) -> Any:
    """Keep a band around the diagonal; mirrors ``tf.linalg.band_part``."""
    x = convert(input)
    low, high = int(num_lower), int(num_upper)

    def compute(array: Any) -> Any:
        rows, columns = np.indices(array.shape[-2:])
        keep = ((low < 0) | (rows - columns <= low)) & ((high < 0) | (columns - rows <= high))
        return np.where(keep, array, array.dtype.type(0))

    return python("band_part", compute, (static_shape(x), x.dtype), x)


__getattr__ = lookup(__name__)
