"""Random numbers that need no seed; mirrors ``tf.random.uniform`` and its sisters.

Called as they are they draw TensorFlow's eager numbers: from the global seed and their own, each
call going on where the last with that seed stopped. Inside of functions of datasets the numbers
belong to the element, and are not those that TensorFlow's graphs draw: see `headrace.drawing`.
"""

from __future__ import annotations

from typing import Any

from ..drawing import is_seeded_by_place, raw_state, source_of
from .convert import convert, is_symbol
from .dtypes import as_dtype, float32, int32, int64, string
from .kernels import static_shape
from .sizes import sizes_of
from .stateless import FLOATS, among, between, classes, drawn, shuffled
from .tensor import wrap

__all__ = ["categorical", "normal", "shuffle", "truncated_normal", "uniform"]


def uniform(
    shape: Any,
    minval: Any = 0,
    maxval: Any = None,
    dtype: Any = float32,
    seed: int | None = None,
    name: str | None = None,
) -> Any:
    """Return uniform numbers; mirrors ``tf.random.uniform``.

    Examples
    --------
    >>> tf.random.set_seed(5)
    >>> tf.random.uniform([2]).numpy()
    array([0.6263931, 0.5298432], dtype=float32)
    """
    kind = among("dtype", dtype, (*FLOATS, int32, int64))
    if maxval is None:
        if kind.is_integer:
            raise ValueError(f"Must specify maxval for integer dtype {kind!r}")
        maxval = 1
    low, high = convert(minval, kind), convert(maxval, kind)
    op = "RandomUniformInt" if kind.is_integer else "RandomUniform"
    return between(shape, kind, _source(op, kind, seed, shape), low, high)


def normal(
    shape: Any,
    mean: Any = 0.0,
    stddev: Any = 1.0,
    dtype: Any = float32,
    seed: int | None = None,
    name: str | None = None,
) -> Any:
    """Return normal numbers; mirrors ``tf.random.normal``.

    Examples
    --------
    >>> tf.random.set_seed(5)
    >>> tf.random.normal([2]).numpy()
    array([-0.18030666, -0.95028627], dtype=float32)
    """
    ops = "RandomStandardNormal", "stateless_normal"
    return _scaled(ops, shape, mean, stddev, dtype, seed)


def truncated_normal(
    shape: Any,
    mean: Any = 0.0,
    stddev: Any = 1.0,
    dtype: Any = float32,
    seed: int | None = None,
    name: str | None = None,
) -> Any:
    """Return normal numbers within two deviations; mirrors ``tf.random.truncated_normal``.

    Examples
    --------
    >>> tf.random.set_seed(5)
    >>> tf.random.truncated_normal([2]).numpy()
    array([-0.18030666, -0.95028627], dtype=float32)
    """
    ops = "TruncatedNormal", "stateless_truncated_normal"
    return _scaled(ops, shape, mean, stddev, dtype, seed)


def categorical(
    logits: Any,
    num_samples: Any,
    dtype: Any = None,
    seed: int | None = None,
    name: str | None = None,
) -> Any:
    """Return draws of weighted classes; mirrors ``tf.random.categorical``.

    Examples
    --------
    >>> tf.random.set_seed(5)
    >>> tf.random.categorical([[0.0, 1.0]], 5).numpy()
    array([[0, 0, 1, 1, 1]])
    """
    weights, samples = convert(logits), int(num_samples)
    kind = as_dtype(dtype or int64)
    # Two words of the generator a number, in whole blocks for each row.
    rows = 1 if is_symbol(weights) else (static_shape(weights) or (1,))[0] or 0
    reserved = [rows * -(-max(samples, 0) // 4) * 8]
    source = _source("Multinomial", kind, seed, reserved, (weights.dtype.name,))
    return classes(weights, samples, source, kind)


def shuffle(value: Any, seed: int | None = None, name: str | None = None) -> Any:
    """Return a tensor with its rows in another order; mirrors ``tf.random.shuffle``.

    Examples
    --------
    >>> tf.random.set_seed(5)
    >>> tf.random.shuffle(tf.range(5)).numpy()
    array([0, 4, 1, 3, 2], dtype=int32)
    """
    found = convert(value)
    if is_seeded_by_place():
        return shuffled(found, _source("RandomShuffle", None, seed, []))
    count = (static_shape(found) or (1,))[0] or 0
    kind = "string" if found.dtype is string else found.dtype.name
    state = raw_state(("RandomShuffle", kind), seed, -(-max(count - 1, 0) // 4))
    return shuffled(found, wrap(state))


def _scaled(
    ops: tuple[str, str], shape: Any, mean: Any, stddev: Any, dtype: Any, seed: int | None
) -> Any:
    kind = as_dtype(dtype)
    center, width = convert(mean, kind), convert(stddev, kind)
    among("dtype", kind, FLOATS)
    return drawn(ops[1], shape, kind, _source(ops[0], kind, seed, shape)) * width + center


def _source(op: str, kind: Any, seed: int | None, shape: Any, more: tuple[str, ...] = ()) -> Any:
    sizes = sizes_of(shape)
    found = source_of(op, None if kind is None else kind.dtype, seed, sizes, more)
    return found if is_symbol(found) else wrap(found)
