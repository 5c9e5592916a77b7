"""Random numbers that need no seed: drawn at once, or for each element of a dataset.

Outside of functions of datasets an op draws at once, as TensorFlow does eagerly: from the global
seed and its own, each call going on where the last one stopped; without either, from the system's
entropy.

Inside of a function given to a dataset the numbers belong to the element. They follow from the op's
seed (or its number in the function), the run, the epoch and the position of the element among those
that the function is called with, and from nothing else: parallelism, chunks, prefetching, skipping
and resuming change no number. Another epoch, run or element has other numbers. A function that is
traced and one that runs as Python draw the same.
"""

from __future__ import annotations

import math
import operator
from typing import Any, SupportsIndex

import numpy as np

from . import _headrace, checks, seeds
from .dtypes import DType, dtype_name
from .errors import InvalidArgumentError
from .ops import apply_op, tracing
from .stateless import (
    CLASSES,
    FLOATS,
    INTEGERS,
    check_limits,
    drawn,
    floats,
    number_dtype,
    of_dtype,
    scaled,
    sizes_of,
    uniform_between,
)

__all__ = ["categorical", "normal", "randint", "shuffle", "truncated_normal", "uniform"]

# Blocks of the generator that TensorFlow sets aside for each number.
BLOCKS_EACH = 256
_WORD = 2**64


def uniform(
    shape: Any,
    minval: Any = 0,
    maxval: Any = None,
    dtype: Any = np.float32,
    seed: SupportsIndex | None = None,
    name: str | None = None,
) -> Any:
    """Return uniform numbers; mirrors ``tf.random.uniform``.

    Inside of a function given to a dataset they are the element's own: see `headrace.random`.

    Parameters
    ----------
    shape
        Of the result: sizes, or an integer vector.
    minval, maxval
        The range, `maxval` left out. For floats `maxval` is 1 if it is not given, for integers it
        is needed. Arrays are broadcast for floats.
    dtype
        float16, bfloat16, float32, float64, int32 or int64.
    seed
        Makes the numbers reproducible without a global seed.

    Raises
    ------
    InvalidArgumentError
        The range is empty, or `dtype` does not fit.

    Examples
    --------
    >>> hr.set_seed(1)
    >>> bool((hr.random.uniform([2], seed=3) < 1).all())
    True
    >>> noisy = hr.Dataset.range(3).map(lambda x: x + hr.random.uniform([]))
    >>> first, second = list(noisy), list(noisy)
    >>> first == second
    False
    """
    kind = number_dtype(dtype, FLOATS + INTEGERS[:2])
    if dtype_name(kind) in FLOATS:
        source = source_of("RandomUniform", kind, seed, shape)
        return uniform_between(shape, source, minval, 1 if maxval is None else maxval, kind)
    if minval is None or maxval is None:
        raise InvalidArgumentError(f"{dtype_name(kind)} needs `minval` and `maxval`")
    check_limits(minval, maxval, kind)
    source = source_of("RandomUniformInt", kind, seed, shape)
    limits = of_dtype(minval, kind), of_dtype(maxval, kind)
    return drawn("stateless_uniform_int", shape, kind, source, *limits)


def randint(
    low: Any,
    high: Any = None,
    shape: Any = (),
    dtype: Any = np.int64,
    seed: SupportsIndex | None = None,
) -> Any:
    """Return integers from `low` to `high`, which is left out.

    NumPy's ``randint`` over TensorFlow's numbers: `uniform` of integers.

    Parameters
    ----------
    low, high
        The range; with `low` alone it is from 0 to `low`.
    shape
        Of the result.
    dtype
        int32 or int64.
    seed
        See `uniform`.

    Raises
    ------
    InvalidArgumentError
        The range is empty, or `dtype` does not fit.

    Examples
    --------
    >>> bool(0 <= hr.random.randint(6) < 6)
    True
    """
    low, high = (0, low) if high is None else (low, high)
    return uniform(shape, low, high, dtype, seed)


def normal(
    shape: Any,
    mean: Any = 0.0,
    stddev: Any = 1.0,
    dtype: Any = np.float32,
    seed: SupportsIndex | None = None,
    name: str | None = None,
) -> Any:
    """Return normal numbers; mirrors ``tf.random.normal``.

    Inside of a function given to a dataset they are the element's own: see `headrace.random`.

    Parameters
    ----------
    shape
        Of the result: sizes, or an integer vector.
    mean, stddev
        Mean and standard deviation; arrays are broadcast.
    dtype
        float16, bfloat16, float32 or float64.
    seed
        See `uniform`.

    Raises
    ------
    InvalidArgumentError
        `dtype` does not fit.

    Examples
    --------
    >>> hr.random.normal([2, 3]).shape
    (2, 3)
    """
    kind = number_dtype(dtype, FLOATS)
    source = source_of("RandomStandardNormal", kind, seed, shape)
    return scaled("stateless_normal", shape, source, mean, stddev, kind)


def truncated_normal(
    shape: Any,
    mean: Any = 0.0,
    stddev: Any = 1.0,
    dtype: Any = np.float32,
    seed: SupportsIndex | None = None,
    name: str | None = None,
) -> Any:
    """Return normal numbers within two deviations; mirrors ``tf.random.truncated_normal``.

    Arguments and errors are those of `normal`.

    Examples
    --------
    >>> bool((abs(hr.random.truncated_normal([100])) < 2).all())
    True
    """
    kind = number_dtype(dtype, FLOATS)
    source = source_of("TruncatedNormal", kind, seed, shape)
    return scaled("stateless_truncated_normal", shape, source, mean, stddev, kind)


def categorical(
    logits: Any,
    num_samples: int,
    dtype: Any = None,
    seed: SupportsIndex | None = None,
    name: str | None = None,
) -> Any:
    """Return draws of weighted classes; mirrors ``tf.random.categorical``.

    Inside of a function given to a dataset they are the element's own: see `headrace.random`.

    Parameters
    ----------
    logits
        Logarithms of the weights, not necessarily normalised, of shape [batch, classes].
    num_samples
        Draws for each row of `logits`.
    dtype
        int64, the default, or int32.
    seed
        See `uniform`.

    Raises
    ------
    InvalidArgumentError
        `logits` is no matrix of floats, or `dtype` does not fit.

    Examples
    --------
    >>> hr.random.categorical([[0.0, 0.0]], 5).shape
    (1, 5)
    """
    kind = number_dtype(np.int64 if dtype is None else dtype, CLASSES)
    samples, weights = checks.integer("num_samples", num_samples), floats(logits)
    batch = 1 if is_seeded_by_place() else len(weights)
    rounded = -(-samples // 4) * 8 * batch  # two words a number, for each row of whole blocks
    source = source_of("Multinomial", kind, seed, [rounded], (str(weights.dtype),))
    attrs = {"num_samples": samples, "dtype": kind}
    return apply_op("stateless_categorical", attrs, source, weights, fresh=True)[0]


def shuffle(value: Any, seed: SupportsIndex | None = None, name: str | None = None) -> Any:
    """Return an array with its rows in another order; mirrors ``tf.random.shuffle``.

    Inside of a function given to a dataset the order is the element's own: see `headrace.random`.

    Parameters
    ----------
    value
        An array; it is shuffled along its first axis.
    seed
        See `uniform`.

    Examples
    --------
    >>> sorted(hr.random.shuffle(np.arange(5)).tolist())
    [0, 1, 2, 3, 4]
    """
    array = checks.tensor(value)
    if is_seeded_by_place():
        source = source_of("RandomShuffle", None, seed, [])
    else:
        kind = str(getattr(array, "dtype", type(array)))
        count = len(array) if np.ndim(array) else 1
        source = raw_state(("RandomShuffle", kind), seed, -(-max(count - 1, 0) // 4))
    return apply_op("stateless_shuffle", {}, source, array, fresh=True)[0]


def is_seeded_by_place() -> bool:
    """Tell whether ops draw by the place of an element: inside of a function of a dataset."""
    return tracing.tracer is not None or _headrace.is_in_call()


def source_of(
    op: str,
    dtype: DType | None,
    seed: SupportsIndex | None,
    shape: Any,
    more: tuple[str, ...] = (),
) -> Any:
    """Return what an op draws from: the seed of the element, or the state of the generator.

    Parameters
    ----------
    op, dtype, more
        Which of TensorFlow's ops it is: each has a generator of its own for a seed.
    seed
        The op's seed, or None.
    shape
        Of the numbers: the generator goes on by their count.
    """
    number = None if seed is None else operator.index(seed) % seeds.MODULUS
    tracer = tracing.tracer
    if tracer is not None:
        seeds.check(seed)
        attrs = {"number": tracer.next_draw()} if number is None else {"seed": number}
        return tracer.add("element_seed", attrs)[0]
    pair = _headrace.element_seed(number)
    if pair is not None:
        return np.array(pair)
    count = math.prod(sizes_of(shape))
    key = (op, "" if dtype is None else dtype_name(dtype), *more)
    return raw_state(key, seed, max(count, 0) * BLOCKS_EACH)


def raw_state(key: tuple[str, ...], seed: SupportsIndex | None, blocks: int) -> Any:
    """Return the state of the generator of an op that draws at once, which then goes on."""
    pair = seeds.seed_pair(seed)
    if pair is None:
        return np.array([0, *seeds.entropy()], np.uint64)
    at = 0 if seed is None else seeds.reserve((*key, *map(str, pair)), blocks)
    low, high = at % _WORD, (pair[1] + at // _WORD) % _WORD
    return np.array([low, high, pair[0]], np.uint64)
