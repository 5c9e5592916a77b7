"""Functions beyond the elementary ones: ``tf.math.lgamma``, ``erfinv``, ``bessel_i0`` and more.

They are computed in float64 whatever the dtype; ``tf.math.special`` has those that are there too.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .arithmetic import subtract
from .convert import convert
from .dtypes import float32, float64
from .elementwise import _of_floats
from .kernels import DTypeError, broadcast, run, static_shape
from .names import lookup
from .operands import check_dtype, operands

__all__ = [
    "bessel_i0",
    "bessel_i0e",
    "bessel_i1",
    "bessel_i1e",
    "bessel_j0",
    "bessel_j1",
    "bessel_k0",
    "bessel_k0e",
    "bessel_k1",
    "bessel_k1e",
    "bessel_y0",
    "bessel_y1",
    "dawsn",
    "expint",
    "spence",
]

erfc = _of_floats("erfc", "Erfc", "erfc")
erfinv = _of_floats("erfinv", "Erfinv", "erfinv")
erfcinv = _of_floats("erfcinv", "Ndtri", "erfcinv")
ndtri = _of_floats("ndtri", "Ndtri", "ndtri")
lgamma = _of_floats("lgamma", "Lgamma", "lgamma")
digamma = _of_floats("digamma", "Digamma", "digamma")
bessel_i0 = _of_floats("bessel_i0", "BesselI0", "bessel_i0")
bessel_i0e = _of_floats("bessel_i0e", "BesselI0e", "bessel_i0e")
bessel_i1 = _of_floats("bessel_i1", "BesselI1", "bessel_i1")
bessel_i1e = _of_floats("bessel_i1e", "BesselI1e", "bessel_i1e")
bessel_j0 = _of_floats("special.bessel_j0", "BesselJ0", "bessel_j0")
bessel_j1 = _of_floats("special.bessel_j1", "BesselJ1", "bessel_j1")
bessel_k0 = _of_floats("special.bessel_k0", "BesselK0", "bessel_k0")
bessel_k0e = _of_floats("special.bessel_k0e", "BesselK0e", "bessel_k0e")
bessel_k1 = _of_floats("special.bessel_k1", "BesselK1", "bessel_k1")
bessel_k1e = _of_floats("special.bessel_k1e", "BesselK1e", "bessel_k1e")
bessel_y0 = _of_floats("special.bessel_y0", "BesselY0", "bessel_y0")
bessel_y1 = _of_floats("special.bessel_y1", "BesselY1", "bessel_y1")
dawsn = _of_floats("special.dawsn", "Dawsn", "dawsn")
expint = _of_floats("special.expint", "Expint", "expint")
spence = _of_floats("special.spence", "Spence", "spence")


def _of_two(name: str, op: str, *, halves: bool = False) -> Callable[..., Any]:
    """Make a function of two floats of one dtype."""

    def function(a: Any, x: Any, name: str | None = None) -> Any:
        first, second = operands(op, a, x)
        wide = first.dtype is float32 or first.dtype is float64
        check_dtype(op, first, allowed=wide or (halves and first.dtype.is_floating))
        dims = broadcast(static_shape(first), static_shape(second))
        return run(op.lower(), (first, second), (dims, first.dtype))

    function.__name__ = function.__qualname__ = name
    function.__doc__ = f"Compute of each pair of values; mirrors ``tf.math.{name}``."
    return function


igamma = _of_two("igamma", "Igamma", halves=True)
igammac = _of_two("igammac", "Igammac", halves=True)
polygamma = _of_two("polygamma", "Polygamma")
_zeta = _of_two("zeta", "Zeta")


def zeta(x: Any, q: Any, name: str | None = None) -> Any:
    """Return Hurwitz' zeta function, the sum of ``(q + k) ** -x``; mirrors ``tf.math.zeta``.

    Parameters
    ----------
    x, q
        Floats of 32 or 64 bits, of one dtype.
    name
        Accepted for TensorFlow's sake.

    Raises
    ------
    DTypeError
        Other dtypes.

    Examples
    --------
    >>> tf.math.zeta(2.0, 1.0).numpy()
    np.float32(1.644934)
    """
    return _zeta(x, q)


def lbeta(x: Any, name: str | None = None) -> Any:
    """Return the logarithm of the beta function of the last axis; mirrors ``tf.math.lbeta``.

    Parameters
    ----------
    x
        Floats; the last axis has the arguments.
    name
        Accepted for TensorFlow's sake.

    Examples
    --------
    >>> tf.math.lbeta([2.0, 3.0]).numpy().round(5)
    np.float32(-2.48491)
    """
    from .reductions import reduce_sum

    x = convert(x)
    if static_shape(x) == ():
        raise ValueError("lbeta needs a tensor with an axis, not a scalar")
    if not x.dtype.is_floating:
        raise DTypeError(f"lbeta does not take {x.dtype.name}")
    parts = reduce_sum(lgamma(x), axis=-1)
    return subtract(parts, lgamma(reduce_sum(x, axis=-1)))


__getattr__ = lookup(__name__)
