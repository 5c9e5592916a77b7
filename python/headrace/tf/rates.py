"""Gamma, Poisson and binomial numbers; mirrors ``tf.random.gamma`` and its sisters."""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import rates as own
from ..errors import InvalidArgumentError
from .arithmetic import maximum
from .array_ops import broadcast_to
from .array_ops import shape as shape_of
from .casting import cast
from .convert import convert, is_symbol
from .dtypes import DType, as_dtype, float16, float32, float64, int32, int64
from .joining import concat
from .kernels import broadcast, static_shape
from .sizes import sizes_of
from .stateless import among, drawn, seed_of
from .tensor import wrap

__all__ = ["gamma", "poisson", "stateless_binomial", "stateless_gamma", "stateless_poisson"]

_FLOATS = (float16, float32, float64)
_COUNTS = (*_FLOATS, int32, int64)


def gamma(
    shape: Any,
    alpha: Any,
    beta: Any = None,
    dtype: Any = float32,
    seed: int | None = None,
    name: str | None = None,
) -> Any:
    """Return gamma-distributed numbers; mirrors ``tf.random.gamma``.

    Examples
    --------
    >>> tf.random.gamma([3], [1.0, 2.0]).shape
    TensorShape([3, 2])
    """
    kind = among("dtype", dtype, _FLOATS)
    shapes, rates = _parameters(alpha, beta, kind)
    sizes = _joined(shape, shapes)
    return _gamma(sizes, _counted("RandomGamma", kind, seed, sizes), shapes, rates, kind)


def stateless_gamma(
    shape: Any,
    seed: Any,
    alpha: Any,
    beta: Any = None,
    dtype: Any = float32,
    name: str | None = None,
) -> Any:
    """Return gamma-distributed numbers for a seed; mirrors ``tf.random.stateless_gamma``.

    Examples
    --------
    >>> tf.random.stateless_gamma([2], [1, 2], alpha=1.0).numpy()
    array([3.4994423, 1.7193093], dtype=float32)
    """
    kind = as_dtype(dtype)
    shapes, rates = _parameters(alpha, beta, kind)
    among("dtype", kind, _FLOATS)
    return _gamma(shape, seed_of(seed), shapes, rates, kind)


def poisson(
    shape: Any, lam: Any, dtype: Any = float32, seed: int | None = None, name: str | None = None
) -> Any:
    """Return Poisson-distributed numbers; mirrors ``tf.random.poisson``.

    Examples
    --------
    >>> tf.random.poisson([3], [1.0, 2.0]).shape
    TensorShape([3, 2])
    """
    kind, means = among("dtype", dtype, _COUNTS), convert(lam)
    sizes = _joined(shape, means)
    source = _counted("RandomPoissonV2", kind, seed, sizes)
    return drawn("stateless_poisson", sizes, kind, source, means)


def stateless_poisson(
    shape: Any, seed: Any, lam: Any, dtype: Any = int32, name: str | None = None
) -> Any:
    """Return Poisson-distributed numbers for a seed; mirrors ``tf.random.stateless_poisson``.

    Examples
    --------
    >>> tf.random.stateless_poisson([2], [1, 2], [0.5, 5.0]).numpy()
    array([3, 5], dtype=int32)
    """
    kind = among("dtype", dtype, _COUNTS)
    return drawn("stateless_poisson", shape, kind, seed_of(seed), convert(lam))


def stateless_binomial(
    shape: Any,
    seed: Any,
    counts: Any,
    probs: Any,
    output_dtype: Any = int32,
    name: str | None = None,
) -> Any:
    """Return binomial numbers for a seed; mirrors ``tf.random.stateless_binomial``.

    Examples
    --------
    >>> tf.random.stateless_binomial([2, 3], [1, 2], 10.0, [0.2, 0.5, 0.9]).shape
    TensorShape([2, 3])
    """
    likely = convert(probs, None, float32)
    number = convert(counts, None, likely.dtype)
    if number.dtype != likely.dtype or likely.dtype not in _FLOATS:
        raise InvalidArgumentError(
            f"counts and probs must be of one float dtype, got {number.dtype.name} and "
            f"{likely.dtype.name}"
        )
    kind, together = as_dtype(output_dtype), broadcast(static_shape(number), static_shape(likely))
    among("dtype", kind, _COUNTS)
    if together is not None:
        number, likely = (
            x if static_shape(x) == together else broadcast_to(x, list(together))
            for x in (number, likely)
        )
    return drawn("stateless_binomial", shape, kind, seed_of(seed), number, likely)


def _parameters(alpha: Any, beta: Any, kind: DType) -> tuple[Any, Any]:
    shapes = convert(alpha, kind)
    if beta is None:
        return shapes, None
    rates = convert(beta, kind)
    together = broadcast(static_shape(shapes), static_shape(rates))
    if together is not None and together != static_shape(shapes):
        shapes = broadcast_to(shapes, list(together))
    return shapes, rates


def _gamma(sizes: Any, seed: Any, shapes: Any, rates: Any, kind: DType) -> Any:
    made = drawn("stateless_gamma", sizes, kind, seed, shapes)
    tiny = wrap(np.asarray(np.finfo(kind.as_numpy_dtype).tiny, kind.as_numpy_dtype))
    return maximum(tiny, made if rates is None else made / rates)


def _counted(op: str, kind: DType, seed: int | None, sizes: Any) -> Any:
    found = own.counted(op, kind.dtype, seed, sizes)
    return found if is_symbol(found) else wrap(found)


def _joined(shape: Any, parameters: Any) -> Any:
    """Return a shape followed by that of the parameters: a list, or a symbol."""
    dims, sizes = static_shape(parameters), sizes_of(shape)
    if dims is not None and None not in dims and sizes is not None:
        return [*sizes, *dims]
    return concat([cast(shape, int32), shape_of(parameters)], 0)
