"""Square matrices: ``linalg.inv``, ``solve``, ``det``, ``slogdet``, ``cholesky``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ..symbol import Symbol
from ..ufuncs import convert
from .registry import function, symbol

if TYPE_CHECKING:
    from ..trace import Tracer

__all__ = ["square"]


def square(t: Tracer, name: str, *values: Any) -> list[Symbol]:
    """Return operands as symbols of the dtype that NumPy's linear algebra computes in."""
    found = [symbol(t, value) for value in values]
    kinds = []
    for x in found:
        if x.dtype.kind not in "biufc" or x.dtype == np.float16:
            t.refuse(f"uses np.linalg.{name} of {x.dtype}")
        kinds.append(x.dtype if x.dtype.kind in "fc" else np.dtype(np.float64))
    return [convert(t, x, np.result_type(*kinds)) for x in found]


@function("linalg.inv")
def _inv(t: Tracer, a: Any) -> Any:
    (a,) = square(t, "inv", a)
    return a._op("matrix_inverse")


@function("linalg.det")
def _det(t: Tracer, a: Any) -> Any:
    (a,) = square(t, "det", a)
    return a._op("det")


@function("linalg.slogdet")
def _slogdet(t: Tracer, a: Any) -> Any:
    (a,) = square(t, "slogdet", a)
    return type(np.linalg.slogdet(np.eye(1)))(*t.add("slogdet", {}, a))


@function("linalg.cholesky")
def _cholesky(t: Tracer, a: Any, /, *, upper: Any = False) -> Any:
    (a,) = square(t, "cholesky", a)
    if not upper:
        return a._op("cholesky")
    # NumPy reads the upper triangle then.
    turned: Any = np.matrix_transpose(a)
    return np.matrix_transpose(turned._op("cholesky"))


@function("linalg.solve")
def _solve(t: Tracer, a: Any, b: Any) -> Any:
    a, b = square(t, "solve", a, b)
    vector = b.ndim == 1
    if vector:
        b = b._op("expand_dims", axis=[-1])
    if a.ndim < 2 or b.ndim < 2:
        raise np.linalg.LinAlgError("the array must be at least two-dimensional")
    if a.shape[:-2] != b.shape[:-2]:
        before = np.broadcast_shapes(a.shape[:-2], b.shape[:-2])
        a = np.broadcast_to(a, (*before, *a.shape[-2:]))
        b = np.broadcast_to(b, (*before, *b.shape[-2:]))
    (found,) = t.add("matrix_solve", {}, a, b)
    return found._op("squeeze", axis=[found.ndim - 1]) if vector else found
