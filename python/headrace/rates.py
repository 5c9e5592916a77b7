"""Gamma, Poisson and binomial numbers: random numbers with parameters for each.

As with their sisters in `headrace.stateless` and `headrace.drawing`, seeds and parameters may be
symbols of a traced function.
"""

from __future__ import annotations

import math
from typing import Any, SupportsIndex

import numpy as np

from . import checks
from .drawing import BLOCKS_EACH, is_seeded_by_place, raw_state, source_of
from .dtypes import DType, dtype_name
from .stateless import drawn, is_symbol, number_dtype, of_dtype, seed_of, sizes_of

__all__ = ["gamma", "poisson", "stateless_binomial", "stateless_gamma", "stateless_poisson"]

_FLOATS = ("float16", "float32", "float64")
_COUNTS = (*_FLOATS, "int32", "int64")


def gamma(
    shape: Any,
    alpha: Any,
    beta: Any = None,
    dtype: Any = np.float32,
    seed: SupportsIndex | None = None,
    name: str | None = None,
) -> Any:
    """Return gamma-distributed numbers; mirrors ``tf.random.gamma``.

    Inside of a function given to a dataset they are the element's own: see `headrace.random`.

    Parameters
    ----------
    shape
        So many for each of the parameters.
    alpha
        Shapes of the distributions.
    beta
        Their rates, 1 if it is not given.
    dtype
        float16, float32 or float64.
    seed
        See `uniform`.

    Returns
    -------
    numpy.ndarray
        Of shape `shape` followed by that of the parameters together.

    Raises
    ------
    InvalidArgumentError
        `dtype` does not fit.

    Examples
    --------
    >>> x = hr.random.gamma([1000], [1.0, 9.0])
    >>> x.shape, bool(x[:, 0].mean() < 2 < 8 < x[:, 1].mean())
    ((1000, 2), True)
    """
    kind = number_dtype(dtype, _FLOATS)
    shapes, rates = parameters(alpha, beta, kind)
    sizes = joined(shape, shapes)
    source = counted("RandomGamma", kind, seed, sizes)
    return scaled_gamma(sizes, source, shapes, rates, kind)


def stateless_gamma(
    shape: Any,
    seed: Any,
    alpha: Any,
    beta: Any = None,
    dtype: Any = np.float32,
    name: str | None = None,
) -> Any:
    """Return gamma-distributed numbers for a seed; mirrors ``tf.random.stateless_gamma``.

    Parameters
    ----------
    shape
        Of the result; it ends with that of the parameters.
    seed
        Two integers.
    alpha, beta, dtype
        See `gamma`.

    Raises
    ------
    InvalidArgumentError
        The seed is not two integers, or shapes or `dtype` do not fit.

    Examples
    --------
    >>> hr.random.stateless_gamma([2], [1, 2], alpha=1.0)
    array([3.4994423, 1.7193093], dtype=float32)
    """
    kind = number_dtype(dtype, _FLOATS)
    shapes, rates = parameters(alpha, beta, kind)
    return scaled_gamma(shape, seed_of(seed), shapes, rates, kind)


def joined(shape: Any, parameters: Any) -> Any:
    """Return a shape followed by that of the parameters, as `sizes_of` does."""
    sizes = sizes_of(shape)
    if isinstance(sizes, list):
        return [*sizes, *parameters.shape]
    return np.concatenate([sizes, np.asarray(parameters.shape, np.int64)])


def poisson(
    shape: Any,
    lam: Any,
    dtype: Any = np.float32,
    seed: SupportsIndex | None = None,
    name: str | None = None,
) -> Any:
    """Return Poisson-distributed numbers; mirrors ``tf.random.poisson``.

    Inside of a function given to a dataset they are the element's own: see `headrace.random`.

    Parameters
    ----------
    shape
        So many for each of the means.
    lam
        Means.
    dtype
        float16, float32, float64, int32 or int64.
    seed
        See `uniform`.

    Raises
    ------
    InvalidArgumentError
        `dtype` does not fit, or a mean is too large for it.

    Examples
    --------
    >>> hr.random.poisson([3], [1.0, 20.0], np.int64).shape
    (3, 2)
    """
    kind = number_dtype(dtype, _COUNTS)
    means = lam if is_symbol(lam) else np.asarray(lam)
    sizes = joined(shape, means)
    source = counted("RandomPoissonV2", kind, seed, sizes)
    return drawn("stateless_poisson", sizes, kind, source, means)


def stateless_poisson(
    shape: Any, seed: Any, lam: Any, dtype: Any = np.int32, name: str | None = None
) -> Any:
    """Return Poisson-distributed numbers for a seed; mirrors ``tf.random.stateless_poisson``.

    Parameters
    ----------
    shape
        Of the result; it ends with that of `lam`.
    seed
        Two integers.
    lam, dtype
        See `poisson`.

    Raises
    ------
    InvalidArgumentError
        The seed is not two integers, shapes or `dtype` do not fit, or a mean is too large.

    Examples
    --------
    >>> hr.random.stateless_poisson([4], [1, 2], [0.5, 5.0, 20.0, 1000.0])
    array([   3,    5,   27, 1037], dtype=int32)
    """
    kind = number_dtype(dtype, _COUNTS)
    return drawn("stateless_poisson", shape, kind, seed_of(seed), checks.tensor(lam))


def stateless_binomial(
    shape: Any,
    seed: Any,
    counts: Any,
    probs: Any,
    output_dtype: Any = np.int32,
    name: str | None = None,
) -> Any:
    """Return binomial numbers for a seed; mirrors ``tf.random.stateless_binomial``.

    Parameters
    ----------
    shape
        Of the result; it ends with that of the parameters together.
    seed
        Two integers.
    counts
        Of so many events,
    probs
        each comes true with this probability.
    output_dtype
        float16, float32, float64, int32 or int64.
    name
        Accepted for TensorFlow's sake.

    Raises
    ------
    InvalidArgumentError
        The seed is not two integers, or shapes or the dtype do not fit.

    Examples
    --------
    >>> found = hr.random.stateless_binomial([1000], [1, 2], 10.0, 0.25)
    >>> bool((found >= 0).all() and (found <= 10).all() and 2 < found.mean() < 3)
    True
    """
    kind = number_dtype(output_dtype, _COUNTS)
    likely = probs if is_symbol(probs) else np.asarray(probs)
    if likely.dtype.kind != "f":
        likely = likely.astype(np.float64)
    number = counts if is_symbol(counts) else np.asarray(counts)
    number = number.astype(likely.dtype)
    together = np.broadcast_shapes(tuple(number.shape), tuple(likely.shape))
    number, likely = (
        x if tuple(x.shape) == together else np.broadcast_to(x, together) for x in (number, likely)
    )
    return drawn("stateless_binomial", shape, kind, seed_of(seed), number, likely)


def parameters(alpha: Any, beta: Any, dtype: DType) -> tuple[Any, Any]:
    """Return shapes and rates of one shape; no rates if they are 1."""
    shapes = of_dtype(alpha, dtype)
    if beta is None:
        return shapes, None
    rates = of_dtype(beta, dtype)
    together = np.broadcast_shapes(tuple(shapes.shape), tuple(rates.shape))
    if tuple(shapes.shape) != together:
        shapes = np.broadcast_to(shapes, together)
    return shapes, rates


def scaled_gamma(sizes: Any, source: Any, shapes: Any, rates: Any, dtype: DType) -> Any:
    """Draw with a seed at hand."""
    made = drawn("stateless_gamma", sizes, dtype, source, shapes)
    least = np.finfo(np.dtype(dtype)).tiny
    return np.maximum(made if rates is None else made / rates, least)


def counted(op: str, dtype: DType, seed: SupportsIndex | None, sizes: Any) -> Any:
    """Return what an op draws from that keeps a stretch of the generator for each number."""
    if is_seeded_by_place():
        return source_of(op, dtype, seed, [])
    return raw_state((op, dtype_name(dtype)), seed, math.prod(sizes) * BLOCKS_EACH)
