"""Inverses, determinants and systems of small matrices: ``tf.linalg``."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from ..errors import InvalidArgumentError
from .array_ops import broadcast_to, transpose
from .convert import convert
from .dtypes import DType, complex64, complex128, float32, float64
from .elementwise import conj, log, real
from .kernels import Dims, broadcast, python, run, run_all, static_shape
from .operands import operands

__all__ = [
    "adjoint",
    "cholesky",
    "cholesky_solve",
    "cross",
    "det",
    "eigh",
    "inv",
    "logdet",
    "lstsq",
    "matrix_rank",
    "matrix_transpose",
    "pinv",
    "qr",
    "slogdet",
    "solve",
    "svd",
    "triangular_solve",
]

_FIELDS = (float32, float64, complex64, complex128)
_REAL = {complex64: float32, complex128: float64}


class LogMatrixDeterminant(NamedTuple):
    """What `slogdet` gives."""

    sign: Any
    log_abs_determinant: Any


def _square(op: str, value: Any) -> Any:
    x = convert(value)
    if x.dtype not in _FIELDS:
        raise InvalidArgumentError(
            f"Value for attr 'T' of {x.dtype.name} is not in the list of allowed values of {op}: "
            "float32, float64, complex64, complex128"
        )
    dims = static_shape(x)
    if dims is not None and len(dims) < 2:
        raise InvalidArgumentError(f"Input must have rank >= 2, got {len(dims)}")
    return x


def _batch(x: Any) -> Dims:
    """Return the shape before the matrices."""
    dims = static_shape(x)
    return None if dims is None else dims[:-2]


def matrix_transpose(a: Any, name: str = "matrix_transpose", conjugate: bool = False) -> Any:
    """Exchange the last two axes; mirrors ``tf.linalg.matrix_transpose``.

    Examples
    --------
    >>> tf.linalg.matrix_transpose([[1, 2, 3]]).numpy().tolist()
    [[1], [2], [3]]
    """
    x = convert(a)
    dims = static_shape(x)
    if dims is None:
        raise InvalidArgumentError("matrices must be of known rank here")
    rank = len(dims)
    if rank < 2:
        raise ValueError(f"Argument `a` should be a (batch) matrix with rank >= 2, got rank {rank}")
    return transpose(x, [*range(rank - 2), rank - 1, rank - 2], conjugate)


def inv(input: Any, adjoint: bool = False, name: str | None = None) -> Any:
    """Return inverses of matrices; mirrors ``tf.linalg.inv``.

    Examples
    --------
    >>> tf.linalg.inv([[2.0, 0.0], [0.0, 4.0]]).numpy()
    array([[0.5 , 0.  ],
           [0.  , 0.25]], dtype=float32)
    """
    x = _square("inv", input)
    found = run("matrix_inverse", (x,), (static_shape(x), x.dtype))
    return _adjoint(found) if adjoint else found


def det(input: Any, name: str | None = None) -> Any:
    """Return determinants of matrices; mirrors ``tf.linalg.det``.

    Examples
    --------
    >>> tf.linalg.det([[2.0, 0.0], [0.0, 4.0]]).numpy()
    np.float32(8.0)
    """
    x = _square("det", input)
    return run("det", (x,), (_batch(x), x.dtype))


def slogdet(input: Any, name: str | None = None) -> LogMatrixDeterminant:
    """Return signs, and logarithms of magnitudes, of determinants; mirrors ``tf.linalg.slogdet``.

    Examples
    --------
    >>> [float(x) for x in tf.linalg.slogdet([[-1.0, 0.0], [0.0, 1.0]])]
    [-1.0, 0.0]
    """
    x = _square("slogdet", input)
    batch = _batch(x)
    outs = [(batch, x.dtype), (batch, _REAL.get(x.dtype, x.dtype))]
    return LogMatrixDeterminant(*run_all("slogdet", (x,), outs))


def logdet(matrix: Any, name: str | None = None) -> Any:
    """Return logarithms of determinants of positive matrices; mirrors ``tf.linalg.logdet``.

    Examples
    --------
    >>> tf.linalg.logdet([[1.0, 0.0], [0.0, 1.0]]).numpy()
    np.float32(0.0)
    """
    from .diagonals import diag_part
    from .reductions import reduce_sum

    return 2.0 * reduce_sum(log(real(diag_part(cholesky(matrix)))), axis=-1)


def cholesky(input: Any, name: str | None = None) -> Any:
    """Return triangles whose squares are positive matrices; mirrors ``tf.linalg.cholesky``.

    Of matrices that are not positive, NaN.

    Examples
    --------
    >>> tf.linalg.cholesky([[4.0, 2.0], [2.0, 5.0]]).numpy()
    array([[2., 0.],
           [1., 2.]], dtype=float32)
    """
    x = _square("cholesky", input)
    return run("cholesky", (x,), (static_shape(x), x.dtype), or_nan=True)


def solve(matrix: Any, rhs: Any, adjoint: bool = False, name: str | None = None) -> Any:
    """Solve systems of equations; mirrors ``tf.linalg.solve``.

    Examples
    --------
    >>> tf.linalg.solve([[2.0, 0.0], [0.0, 4.0]], [[1.0], [1.0]]).numpy()
    array([[0.5 ],
           [0.25]], dtype=float32)
    """
    a, b = operands("MatrixSolve", matrix, rhs, strict=True)
    a, b = _square("solve", a), _square("solve", b)
    if adjoint:
        a = _adjoint(a)
    before = broadcast(_batch(a), _batch(b))
    if before is not None and None not in before:
        for_all = [list(before) + list(dims[-2:]) for dims in map(static_shape, (a, b)) if dims]
        if all(None not in dims for dims in for_all):
            a, b = broadcast_to(a, for_all[0]), broadcast_to(b, for_all[1])
    return run("matrix_solve", (a, b), (static_shape(b), b.dtype))


def triangular_solve(
    matrix: Any, rhs: Any, lower: bool = True, adjoint: bool = False, name: str | None = None
) -> Any:
    """Solve systems of which one triangle is zero; mirrors ``tf.linalg.triangular_solve``.

    Parameters
    ----------
    matrix, rhs
        The factors, of which one triangle is read, and the right sides.
    lower
        Whether it is the lower one.
    adjoint
        Solve for the conjugate transpose.
    name
        Accepted for TensorFlow's sake.

    Examples
    --------
    >>> tf.linalg.triangular_solve([[2.0, 9.0], [1.0, 4.0]], [[2.0], [5.0]]).numpy()
    array([[1.],
           [1.]], dtype=float32)
    """
    from .linalg import band_part

    a, b = operands("MatrixTriangularSolve", matrix, rhs, strict=True)
    return solve(band_part(a, -1, 0) if lower else band_part(a, 0, -1), b, adjoint)


def cholesky_solve(chol: Any, rhs: Any, name: str | None = None) -> Any:
    """Solve systems by their Cholesky factor; mirrors ``tf.linalg.cholesky_solve``.

    Parameters
    ----------
    chol, rhs
        What `cholesky` gave, and the right sides.
    name
        Accepted for TensorFlow's sake.

    Examples
    --------
    >>> tf.linalg.cholesky_solve([[2.0, 0.0], [0.0, 1.0]], [[4.0], [3.0]]).numpy()
    array([[1.],
           [3.]], dtype=float32)
    """
    return triangular_solve(chol, triangular_solve(chol, rhs), adjoint=True)


def adjoint(matrix: Any, name: str | None = None) -> Any:
    """Exchange the last two axes and conjugate; mirrors ``tf.linalg.adjoint``."""
    return _adjoint(convert(matrix))


def _adjoint(x: Any) -> Any:
    found = matrix_transpose(x)
    return conj(found) if x.dtype.is_complex else found


def cross(a: Any, b: Any, name: str | None = None) -> Any:
    """Return cross products of vectors of three; mirrors ``tf.linalg.cross``.

    Examples
    --------
    >>> tf.linalg.cross([1, 0, 0], [0, 1, 0]).numpy()
    array([0, 0, 1], dtype=int32)
    """
    from .joining import stack

    x, y = operands("Cross", a, b, strict=True)
    for operand in (x, y):
        dims = static_shape(operand)
        if dims is not None and (not dims or dims[-1] not in (3, None)):
            raise InvalidArgumentError(
                f"Cross-products are only defined for 3-element vectors, got shape {list(dims)}"
            )
    parts = []
    for i in range(3):
        j, k = (i + 1) % 3, (i + 2) % 3
        parts.append(x[..., j] * y[..., k] - x[..., k] * y[..., j])
    return stack(parts, -1)


# ------------------------------------------------------------------ computed by NumPy
#
# Decompositions are open up to signs and orders, and no input pipeline was found that computes
# one for each element: they have no kernel, and a function that uses one runs as Python.


def _numpy(
    op: str, compute: Callable[..., Any], shapes: Callable[..., Any], *args: Any, **options: Any
) -> Any:
    x = _square(op, args[0])
    return python(op, compute, shapes(static_shape(x), x.dtype), x, *args[1:], **options)


def _unknown(dims: Dims, dtype: DType) -> Any:
    return (None, dtype)


def pinv(a: Any, rcond: Any = None, validate_args: bool = False, name: str | None = None) -> Any:
    """Return pseudo-inverses of matrices; mirrors ``tf.linalg.pinv``. Computed by NumPy."""

    def compute(x: Any) -> Any:
        if rcond is None:
            return np.linalg.pinv(x, 10 * max(x.shape[-2:]) * np.finfo(x.dtype).eps)
        return np.linalg.pinv(x, rcond)

    return _numpy("pinv", compute, _unknown, a)


def svd(
    tensor: Any, full_matrices: bool = False, compute_uv: bool = True, name: str | None = None
) -> Any:
    """Return singular values, and vectors; mirrors ``tf.linalg.svd``. Computed by NumPy."""

    def compute(x: Any) -> Any:
        if not compute_uv:
            return np.linalg.svd(x, compute_uv=False)
        u, s, vh = np.linalg.svd(x, full_matrices)
        return [s, u, np.conj(np.swapaxes(vh, -1, -2))]

    def shapes(dims: Dims, dtype: DType) -> Any:
        values = (None, _REAL.get(dtype, dtype))
        return [values, (None, dtype), (None, dtype)] if compute_uv else values

    found = _numpy("svd", compute, shapes, tensor)
    return tuple(found) if compute_uv else found


def qr(input: Any, full_matrices: bool = False, name: str | None = None) -> Any:
    """Return orthogonal and triangular factors; mirrors ``tf.linalg.qr``. Computed by NumPy."""
    mode: Any = "complete" if full_matrices else "reduced"

    def compute(x: Any) -> Any:
        return list(np.linalg.qr(x, mode))

    return tuple(_numpy("qr", compute, lambda dims, dtype: [(None, dtype)] * 2, input))


def eigh(tensor: Any, name: str | None = None) -> Any:
    """Return eigenvalues and vectors of Hermitian matrices; mirrors ``tf.linalg.eigh``.

    Computed by NumPy.
    """

    def shapes(dims: Dims, dtype: DType) -> Any:
        return [(None if dims is None else dims[:-1], dtype), (dims, dtype)]

    def compute(x: Any) -> Any:
        values, vectors = np.linalg.eigh(x)
        return [values.astype(vectors.dtype), vectors]

    return tuple(_numpy("eigh", compute, shapes, tensor))


def lstsq(
    matrix: Any,
    rhs: Any,
    l2_regularizer: float = 0.0,
    fast: bool = True,
    name: str | None = None,
) -> Any:
    """Solve systems as nearly as can be; mirrors ``tf.linalg.lstsq``. Computed by NumPy."""
    if l2_regularizer != 0.0:
        raise NotImplementedError("l2_regularizer of lstsq")
    x, b = operands("MatrixSolveLs", matrix, rhs, strict=True)

    def compute(x: Any, b: Any) -> Any:
        return (np.linalg.pinv(x) @ b).astype(x.dtype)

    return _numpy("lstsq", compute, _unknown, x, b)


def matrix_rank(a: Any, tol: Any = None, validate_args: bool = False, name: Any = None) -> Any:
    """Return ranks of matrices, int32; mirrors ``tf.linalg.matrix_rank``. Computed by NumPy."""
    from .dtypes import int32

    def compute(x: Any) -> Any:
        return np.asarray(np.linalg.matrix_rank(x, tol), np.int32)

    return _numpy("matrix_rank", compute, lambda dims, dtype: (dims and dims[:-2], int32), a)
