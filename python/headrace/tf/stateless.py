"""Random numbers that are a function of a seed; mirrors ``tf.random.stateless_*``."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..errors import InvalidArgumentError
from ..stateless import check_algorithm
from .array_ops import broadcast_to
from .convert import convert
from .dtypes import (
    DType,
    as_dtype,
    bfloat16,
    float16,
    float32,
    float64,
    int32,
    int64,
    uint32,
    uint64,
)
from .joining import stack
from .kernels import broadcast, run, static_shape
from .sizes import known_sizes, sizes_of, vector

__all__ = [
    "fold_in",
    "index_shuffle",
    "split",
    "stateless_categorical",
    "stateless_normal",
    "stateless_shuffle",
    "stateless_truncated_normal",
    "stateless_uniform",
]

FLOATS = (float16, bfloat16, float32, float64)
_INTEGERS = (int32, int64, uint32, uint64)


def stateless_uniform(
    shape: Any,
    seed: Any,
    minval: Any = 0,
    maxval: Any = None,
    dtype: Any = float32,
    name: str | None = None,
    alg: Any = "auto_select",
) -> Any:
    """Return uniform numbers for a seed; mirrors ``tf.random.stateless_uniform``.

    Examples
    --------
    >>> tf.random.stateless_uniform([2], seed=[1, 2]).numpy()
    array([0.8440604 , 0.19204533], dtype=float32)
    """
    kind = among("dtype", dtype, FLOATS + _INTEGERS)
    check_limits(minval, maxval, kind)
    check_algorithm(alg)
    source = seed_of(seed)
    if kind.is_integer and minval is None:
        return drawn("stateless_uniform_full_int", shape, kind, source)
    low, high = convert(minval, kind), convert(1 if maxval is None else maxval, kind)
    return between(shape, kind, source, low, high)


def stateless_normal(
    shape: Any,
    seed: Any,
    mean: Any = 0.0,
    stddev: Any = 1.0,
    dtype: Any = float32,
    name: str | None = None,
    alg: Any = "auto_select",
) -> Any:
    """Return normal numbers for a seed; mirrors ``tf.random.stateless_normal``.

    Examples
    --------
    >>> tf.random.stateless_normal([2], seed=[1, 2]).numpy()
    array([0.5441101 , 0.20738031], dtype=float32)
    """
    return _scaled("stateless_normal", shape, seed, mean, stddev, dtype, alg)


def stateless_truncated_normal(
    shape: Any,
    seed: Any,
    mean: Any = 0.0,
    stddev: Any = 1.0,
    dtype: Any = float32,
    name: str | None = None,
    alg: Any = "auto_select",
) -> Any:
    """Return normal numbers within two deviations of the mean.

    Mirrors ``tf.random.stateless_truncated_normal``.

    Examples
    --------
    >>> float(tf.reduce_max(tf.random.stateless_truncated_normal([1000], seed=[1, 2]))) < 2
    True
    """
    return _scaled("stateless_truncated_normal", shape, seed, mean, stddev, dtype, alg)


def stateless_categorical(
    logits: Any, num_samples: Any, seed: Any, dtype: Any = int64, name: str | None = None
) -> Any:
    """Return draws of weighted classes for a seed; mirrors ``tf.random.stateless_categorical``.

    Examples
    --------
    >>> tf.random.stateless_categorical([[0.0, 2.0]], 5, seed=[1, 2]).numpy()
    array([[1, 1, 1, 1, 1]])
    """
    return classes(convert(logits), num_samples, seed_of(seed), dtype)


def stateless_shuffle(
    value: Any, seed: Any, alg: Any = "auto_select", name: str | None = None
) -> Any:
    """Return a tensor with its rows in another order.

    Mirrors ``tf.random.experimental.stateless_shuffle``.

    Examples
    --------
    >>> tf.random.experimental.stateless_shuffle(tf.range(5), seed=[1, 2]).numpy()
    array([0, 2, 1, 4, 3], dtype=int32)
    """
    check_algorithm(alg)
    return shuffled(convert(value), seed_of(seed))


def index_shuffle(index: Any, seed: Any, max_index: Any) -> Any:
    """Return the place of a number in a random order of the numbers from 0 to a limit.

    Mirrors ``tf.random.experimental.index_shuffle``.

    Examples
    --------
    >>> sorted(int(tf.random.experimental.index_shuffle(k, [5, 9], 3)) for k in range(4))
    [0, 1, 2, 3]
    """
    at = convert(index)
    most, keys = convert(max_index, at.dtype), convert(seed)
    dims = static_shape(keys)
    if dims is None or not dims or dims[-1] not in (2, None) or len(dims) > 2:
        raise InvalidArgumentError(f"seed must have shape [2] or [n, 2], got {dims}")
    shape = broadcast(broadcast(static_shape(at), static_shape(most)), dims[:-1])
    if shape is None or None in shape:
        raise InvalidArgumentError("index, seed and max_index must be of known shape")
    at, most = (x if static_shape(x) == shape else broadcast_to(x, list(shape)) for x in (at, most))
    if dims != (*shape, 2):
        keys = broadcast_to(keys, [*shape, 2])
    return run("index_shuffle", (at, keys, most), (shape, at.dtype))


def split(seed: Any, num: int = 2, alg: Any = "auto_select") -> Any:
    """Return `num` seeds made from one; mirrors ``tf.random.split``.

    Examples
    --------
    >>> tf.random.split([1, 2], 3).shape
    TensorShape([3, 2])
    """
    source = convert(seed)
    return stateless_uniform([num, 2], source, None, None, source.dtype, alg=alg)


def fold_in(seed: Any, data: Any, alg: Any = "auto_select") -> Any:
    """Return a seed made from a seed and an integer; mirrors ``tf.random.fold_in``.

    Examples
    --------
    >>> tf.random.fold_in([1, 2], 5).numpy()
    array([1105988140,          5], dtype=int32)
    """
    own = convert(data)
    return stack([stateless_uniform([], seed, None, None, own.dtype, alg=alg), own])


def _scaled(op: str, shape: Any, seed: Any, mean: Any, stddev: Any, dtype: Any, alg: Any) -> Any:
    kind = as_dtype(dtype)
    center, width = convert(mean, kind), convert(stddev, kind)
    check_algorithm(alg)
    among("dtype", kind, FLOATS)
    return drawn(op, shape, kind, seed_of(seed)) * width + center


def classes(logits: Any, num_samples: Any, seed: Any, dtype: Any) -> Any:
    """Draw classes with a seed at hand."""
    kind = among("dtype", dtype or int64, (int32, int64))
    samples = int(num_samples)
    dims = static_shape(logits)
    if dims is not None and len(dims) != 2:
        sizes = ",".join(map(str, dims))
        raise InvalidArgumentError(f"logits should be a matrix, got shape [{sizes}]")
    if samples < 0:
        raise InvalidArgumentError(f"num_samples should be non-negative, got {samples}")
    out = (None if dims is None else dims[0], samples), kind
    attrs = {"num_samples": samples, "dtype": kind.dtype}
    return run("stateless_categorical", (seed, logits), out, **attrs)


def between(shape: Any, dtype: DType, seed: Any, low: Any, high: Any) -> Any:
    """Draw from a range with a seed at hand.

    Raises
    ------
    InvalidArgumentError
        Limits of integers are no scalars.
    """
    if not dtype.is_integer:
        return drawn("stateless_uniform", shape, dtype, seed) * (high - low) + low
    for limit, text in ((low, "minval"), (high, "maxval")):
        dims = static_shape(limit)
        if dims not in ((), None):
            sizes = ",".join(map(str, dims or ()))
            raise InvalidArgumentError(f"{text} must be 0-D, got shape [{sizes}]")
    return drawn("stateless_uniform_int", shape, dtype, seed, low, high)


def shuffled(value: Any, seed: Any) -> Any:
    """Shuffle with a seed at hand."""
    return run("stateless_shuffle", (seed, value), (static_shape(value), value.dtype))


def drawn(op: str, shape: Any, dtype: DType, seed: Any, *limits: Any) -> Any:
    """Draw numbers of a shape with a seed at hand.

    Raises
    ------
    InvalidArgumentError
        The shape is no vector of sizes.
    """
    if isinstance(shape, int | np.integer):
        raise InvalidArgumentError("shape must be a vector of {int32,int64}, got shape []")
    sizes = sizes_of(shape)
    out = known_sizes(sizes), dtype
    if sizes is not None and (plain := vector(sizes)) is not None:
        if any(size < 0 for size in plain):
            raise InvalidArgumentError(f"Dimension {min(plain)} must be >= 0")
        return run(op, (seed, *limits), out, dtype=dtype.dtype, shape=plain)
    return run(op, (seed, convert(shape), *limits), out, dtype=dtype.dtype)


def seed_of(value: Any) -> Any:
    """Return a seed as a tensor.

    Raises
    ------
    InvalidArgumentError
        It is no pair of integers.
    """
    seed = convert(value)
    if seed.dtype not in (int32, int64):
        raise InvalidArgumentError(
            f"Value for attr 'Tseed' of {seed.dtype.name} is not in the list of allowed values: "
            "int32, int64"
        )
    dims = static_shape(seed)
    if dims is not None and (len(dims) != 1 or dims[0] not in (2, None)):
        sizes = ",".join(map(str, dims))
        raise InvalidArgumentError(f"seed must have shape [2], not [{sizes}]")
    return seed


def among(name: str, dtype: Any, valid: tuple[DType, ...]) -> DType:
    """Return a dtype that an op gives.

    Raises
    ------
    ValueError
        It is not among `valid`.
    """
    kind = as_dtype(dtype)
    if kind not in valid:
        raise ValueError(
            f"Argument `{name}` got invalid value {kind!r}. Accepted dtypes are {valid}."
        )
    return kind


def check_limits(minval: Any, maxval: Any, dtype: DType) -> None:
    """Refuse limits that integers of this dtype do not have.

    Raises
    ------
    ValueError
        Only one is given, or `dtype` is unsigned.
    """
    if not dtype.is_integer:
        return
    if (minval is None) != (maxval is None):
        raise ValueError(
            f"For integer `dtype` argument {dtype!r}, argument `minval` and `maxval` must be both "
            f"None or not None. Got `minval`={minval} and `maxval`={maxval}."
        )
    if minval is not None and dtype in (uint32, uint64):
        raise ValueError(
            f"Argument `dtype` got invalid value {dtype!r} when argument `minval` is not None. "
            "Please don't use unsigned integers in this case."
        )
