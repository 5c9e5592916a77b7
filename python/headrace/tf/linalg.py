"""Products and lengths; the part of ``tf.linalg`` that input code uses."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..errors import InvalidArgumentError
from .arithmetic import divide, matmul, maximum, multiply
from .array_ops import expand_dims, squeeze
from .convert import convert
from .creation import eye
from .diagonals import diag, diag_part, set_diag, tensor_diag, tensor_diag_part
from .elementwise import rsqrt, sqrt, square
from .kernels import axis_of, python, run, static_shape
from .matrices import (
    adjoint,
    cholesky,
    cholesky_solve,
    cross,
    det,
    eigh,
    inv,
    logdet,
    lstsq,
    matrix_rank,
    matrix_transpose,
    pinv,
    qr,
    slogdet,
    solve,
    svd,
    triangular_solve,
)
from .names import lookup
from .operands import check_dtype, operands
from .reductions import reduce_max, reduce_sum
from .tensor import raw

__all__ = [
    "adjoint",
    "band_part",
    "cholesky",
    "cholesky_solve",
    "cross",
    "det",
    "diag",
    "diag_part",
    "eigh",
    "einsum",
    "eye",
    "global_norm",
    "inv",
    "l2_normalize",
    "logdet",
    "lstsq",
    "matmul",
    "matrix_rank",
    "matrix_transpose",
    "matvec",
    "norm",
    "normalize",
    "pinv",
    "qr",
    "set_diag",
    "slogdet",
    "solve",
    "svd",
    "tensor_diag",
    "tensor_diag_part",
    "tensordot",
    "trace",
    "triangular_solve",
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
    if dims is None or others is None:
        return python("tensordot", lambda p, q: np.tensordot(p, q, along), (None, x.dtype), x, y)
    first: Any
    second: Any
    if isinstance(along, int):
        if along > min(len(dims), len(others)):
            text = f"tensors of {len(dims)} and {len(others)} axes do not share {along} of them"
            raise InvalidArgumentError(text)
        first, second = range(len(dims) - along, len(dims)), range(along)
    else:
        first = [axis_of(k, len(dims)) for k in np.atleast_1d(along[0]).tolist()]
        second = [axis_of(k, len(others)) for k in np.atleast_1d(along[1]).tolist()]
    left, right = letters(len(dims)), letters(len(dims) + len(others))[len(dims) :]
    for i, j in zip(first, second, strict=True):
        if None not in (dims[i], others[j]) and dims[i] != others[j]:
            raise InvalidArgumentError(f"Matrix size-incompatible: {dims} and {others} at {axes}")
        right[j] = left[i]
    kept = [letter for k, letter in enumerate(left) if k not in first]
    kept += [letter for k, letter in enumerate(right) if k not in second]
    rest = [d for k, d in enumerate(dims) if k not in first]
    rest += [d for k, d in enumerate(others) if k not in second]
    equation = f"{''.join(left)},{''.join(right)}->{''.join(kept)}"
    return run("einsum", (x, y), (tuple(rest), x.dtype), equation=equation)


def letters(count: int) -> list[str]:
    """Return names for axes."""
    return list("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"[:count])


def einsum(equation: str, *inputs: Any, **kwargs: Any) -> Any:
    """Sum products as an equation says; mirrors ``tf.einsum``.

    Examples
    --------
    >>> tf.einsum("ij,j->i", [[1, 2], [3, 4]], [1, 1]).numpy()
    array([3, 7], dtype=int32)
    """
    from ..numpy_ops.products import equation_of

    tensors = [convert(x) for x in inputs]
    for x in tensors[1:]:
        operands("Einsum", tensors[0], x)
    text = equation_of(equation)
    output = text.split("->")[1]
    out = (None if "..." in output else (None,) * len(output), tensors[0].dtype)
    return run("einsum", tuple(tensors), out, equation=text)


def norm(
    tensor: Any, ord: Any = "euclidean", axis: Any = None, keepdims: bool = False,
    name: str | None = None,
) -> Any:  # fmt: skip
    """Return the length of vectors along an axis, or of the whole; mirrors ``tf.norm``.

    Along two axes it is the norm of matrices.

    Raises
    ------
    ValueError
        `ord` is no norm of what `axis` says, or `axis` is no axis and no two of them.

    Examples
    --------
    >>> tf.norm([3.0, 4.0]).numpy()
    np.float32(5.0)
    """
    from .arithmetic import abs
    from .casting import cast

    x = convert(tensor)
    check_dtype("Sqrt", x, allowed=x.dtype.is_floating or x.dtype.is_complex or ord == 1)
    of_matrices = isinstance(axis, list | tuple | np.ndarray) and len(axis) == 2
    _check_norm(ord, axis, of_matrices)
    if of_matrices and ord == 2:
        return _spectral_norm(x, axis, keepdims)
    if of_matrices and ord in (1, np.inf):
        # The largest of the sums along columns, or along rows.
        summed, rest = (axis[0], axis[1]) if ord == 1 else (axis[1], axis[0])
        found = reduce_max(reduce_sum(abs(x), summed, True), rest, True)
        return found if keepdims else squeeze(found, [int(k) for k in axis])
    if ord in ("euclidean", "fro", 2):
        return cast(sqrt(reduce_sum(square(abs(x)), axis, keepdims)), x.dtype)
    if ord == 1:
        return reduce_sum(abs(x), axis, keepdims)
    if ord == np.inf:
        return reduce_max(abs(x), axis, keepdims)
    return reduce_sum(abs(x) ** ord, axis, keepdims) ** (1.0 / ord)


def _check_norm(ord: Any, axis: Any, of_matrices: bool) -> None:
    if of_matrices:
        valid = ord in ("euclidean", "fro", 1, 2, np.inf)
    else:
        if not (axis is None or isinstance(axis, int)):
            raise ValueError(
                f"'axis' must be None, an integer, or a tuple of 2 unique integers, got {axis}"
            )
        valid = ord == "euclidean" or (not isinstance(ord, str) and ord > 0)
    if of_matrices and int(axis[0]) == int(axis[1]):
        raise ValueError(
            f"'axis' must be None, an integer, or a tuple of 2 unique integers, got {axis}"
        )
    if not valid:
        raise ValueError(f"'ord' is no norm of {'matrices' if of_matrices else 'vectors'}: {ord}")


def _spectral_norm(x: Any, axis: Any, keepdims: bool) -> Any:
    """Return the largest singular value of the matrices along two axes."""
    from .array_ops import transpose
    from .matrices import svd

    dims = static_shape(x)
    if dims is None:
        raise ValueError("the norm of matrices needs a tensor of known rank")
    rows, columns = (axis_of(int(k), len(dims)) for k in axis)
    outer = [k for k in range(len(dims)) if k not in (rows, columns)]
    found = reduce_max(svd(transpose(x, [*outer, rows, columns]), compute_uv=False), -1)
    for k in sorted((rows, columns)) if keepdims else ():
        found = expand_dims(found, k)
    return found


def normalize(
    tensor: Any, ord: Any = "euclidean", axis: Any = None, name: str | None = None
) -> tuple[Any, Any]:
    """Return a tensor divided by its `norm`, and that; mirrors ``tf.linalg.normalize``."""
    length = norm(tensor, ord, axis, keepdims=True)
    return divide(convert(tensor), length), length


def l2_normalize(
    x: Any, axis: Any = None, epsilon: float = 1e-12, name: str | None = None, dim: Any = None
) -> Any:
    """Return vectors of length 1; mirrors ``tf.math.l2_normalize``."""
    from .arithmetic import abs
    from .casting import cast

    x = convert(x)
    size = abs(x) if x.dtype.is_complex else x
    total = reduce_sum(square(size), dim if axis is None else axis, keepdims=True)
    return multiply(x, cast(rsqrt(maximum(total, epsilon)), x.dtype))


def matvec(
    a: Any, b: Any, transpose_a: bool = False, adjoint_a: bool = False, a_is_sparse: bool = False,
    b_is_sparse: bool = False, name: str | None = None,
) -> Any:  # fmt: skip
    """Multiply a matrix and a vector; mirrors ``tf.linalg.matvec``."""
    return squeeze(matmul(a, expand_dims(b, -1), transpose_a, adjoint_a=adjoint_a), -1)


def trace(x: Any, name: str | None = None) -> Any:
    """Return the sum of the diagonal; mirrors ``tf.linalg.trace``."""
    x = convert(x)
    return reduce_sum(diag_part(x), -1)


def band_part(input: Any, num_lower: Any, num_upper: Any, name: str | None = None) -> Any:
    """Keep a band around the diagonal; mirrors ``tf.linalg.band_part``."""
    x = convert(input)
    low, high = int(num_lower), int(num_upper)
    band = {"lower": None if low < 0 else -low, "upper": None if high < 0 else high}
    return run("band_part", (x,), (static_shape(x), x.dtype), **band)


def global_norm(t_list: Any, name: str | None = None) -> Any:
    """Return the length of several tensors together; mirrors ``tf.linalg.global_norm``."""
    from .numerics import global_norm as length

    return length(t_list)


__getattr__ = lookup(__name__)
