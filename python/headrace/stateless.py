"""Random numbers that are a function of a seed: TensorFlow's stateless ops, bit for bit.

A seed is two integers, and equal seeds give equal numbers, wherever and in whatever order they are
asked for. Seeds and other arguments may be symbols of a traced function; the numbers are then drawn
for each element by its own seed. The names are those of ``tf.random``.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from . import checks
from .dtypes import DType, as_dtype, dtype_name
from .errors import InvalidArgumentError
from .ops import apply_op

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

FLOATS = ("float16", "bfloat16", "float32", "float64")
LIMITED = ("int32", "int64")
INTEGERS = (*LIMITED, "uint32", "uint64")
CLASSES = ("int32", "int64")


def stateless_uniform(
    shape: Any,
    seed: Any,
    minval: Any = 0,
    maxval: Any = None,
    dtype: Any = np.float32,
    name: str | None = None,
    alg: str = "auto_select",
) -> Any:
    """Return uniform numbers for a seed; mirrors ``tf.random.stateless_uniform``.

    Parameters
    ----------
    shape
        Of the result: sizes, or an integer vector.
    seed
        Two integers.
    minval, maxval
        The range, `maxval` left out. `maxval` is 1 for floats if it is not given; integers need
        both, or ``None`` for both: then any integer is equally likely. Arrays are broadcast for
        floats.
    dtype
        float16, bfloat16, float32, float64, int32, int64; without limits uint32 and uint64 too.
    alg
        ``"philox"``, or ``"auto_select"``, which is the same.

    Returns
    -------
    numpy.ndarray
        `shape` numbers of `dtype`.

    Raises
    ------
    InvalidArgumentError
        The seed is not two integers, the range is empty, `dtype` does not fit, or `alg` is another.

    Examples
    --------
    >>> hr.random.stateless_uniform([2], seed=[1, 2])
    array([0.8440604 , 0.19204533], dtype=float32)
    >>> hr.random.stateless_uniform([3], seed=[1, 2], minval=0, maxval=10, dtype=np.int64)
    array([4, 8, 7])
    """
    check_algorithm(alg)
    kind = number_dtype(dtype, FLOATS + INTEGERS)
    seed = seed_of(seed)
    if dtype_name(kind) in FLOATS:
        return uniform_between(shape, seed, minval, 1 if maxval is None else maxval, kind)
    check_limits(minval, maxval, kind)
    if minval is None:
        return drawn("stateless_uniform_full_int", shape, kind, seed)
    limits = of_dtype(minval, kind), of_dtype(maxval, kind)
    return drawn("stateless_uniform_int", shape, kind, seed, *limits)


def stateless_normal(
    shape: Any,
    seed: Any,
    mean: Any = 0.0,
    stddev: Any = 1.0,
    dtype: Any = np.float32,
    name: str | None = None,
    alg: str = "auto_select",
) -> Any:
    """Return normal numbers for a seed; mirrors ``tf.random.stateless_normal``.

    Parameters
    ----------
    shape
        Of the result: sizes, or an integer vector.
    seed
        Two integers.
    mean, stddev
        Mean and standard deviation; arrays are broadcast.
    dtype
        float16, bfloat16, float32 or float64.
    alg
        See `stateless_uniform`.

    Raises
    ------
    InvalidArgumentError
        The seed is not two integers, `dtype` does not fit, or `alg` is another.

    Examples
    --------
    >>> hr.random.stateless_normal([2], seed=[1, 2])
    array([0.5441101 , 0.20738031], dtype=float32)
    """
    check_algorithm(alg)
    kind = number_dtype(dtype, FLOATS)
    return scaled("stateless_normal", shape, seed_of(seed), mean, stddev, kind)


def stateless_truncated_normal(
    shape: Any,
    seed: Any,
    mean: Any = 0.0,
    stddev: Any = 1.0,
    dtype: Any = np.float32,
    name: str | None = None,
    alg: str = "auto_select",
) -> Any:
    """Return normal numbers within two deviations of the mean.

    Mirrors ``tf.random.stateless_truncated_normal``.

    Arguments and errors are those of `stateless_normal`.

    Examples
    --------
    >>> x = hr.random.stateless_truncated_normal([1000], seed=[1, 2], stddev=3.0)
    >>> bool((abs(x) < 6).all())
    True
    """
    check_algorithm(alg)
    kind = number_dtype(dtype, FLOATS)
    return scaled("stateless_truncated_normal", shape, seed_of(seed), mean, stddev, kind)


def stateless_categorical(
    logits: Any, num_samples: int, seed: Any, dtype: Any = np.int64, name: str | None = None
) -> Any:
    """Return draws of weighted classes for a seed; mirrors ``tf.random.stateless_categorical``.

    Parameters
    ----------
    logits
        Logarithms of the weights, not necessarily normalised, of shape [batch, classes].
    num_samples
        Draws for each row of `logits`.
    seed
        Two integers.
    dtype
        int32 or int64.

    Returns
    -------
    numpy.ndarray
        Numbers of classes, of shape [batch, num_samples].

    Raises
    ------
    InvalidArgumentError
        `logits` is no matrix of floats, the seed is not two integers, or `dtype` does not fit.

    Examples
    --------
    >>> hr.random.stateless_categorical(np.log([[1.0, 1.0, 8.0]]), 6, seed=[1, 2])
    array([[2, 2, 1, 2, 2, 2]])
    """
    kind = number_dtype(dtype, CLASSES)
    samples = checks.integer("num_samples", num_samples)
    attrs = {"num_samples": samples, "dtype": kind}
    return apply_op("stateless_categorical", attrs, seed_of(seed), floats(logits), fresh=True)[0]


def stateless_shuffle(
    value: Any, seed: Any, alg: str = "auto_select", name: str | None = None
) -> Any:
    """Return an array with its rows in another order.

    Mirrors ``tf.random.experimental.stateless_shuffle``.

    Parameters
    ----------
    value
        An array; it is shuffled along its first axis.
    seed
        Two integers.
    alg
        See `stateless_uniform`.

    Raises
    ------
    InvalidArgumentError
        The seed is not two integers, or `alg` is another.

    Examples
    --------
    >>> hr.random.stateless_shuffle(np.arange(5), seed=[1, 2])
    array([0, 2, 1, 4, 3])
    """
    check_algorithm(alg)
    return apply_op("stateless_shuffle", {}, seed_of(seed), checks.tensor(value), fresh=True)[0]


def index_shuffle(index: Any, seed: Any, max_index: Any) -> Any:
    """Return the place of a number in a random order of the numbers from 0 to a limit.

    The order is not made, so the limit may be large. Mirrors
    ``tf.random.experimental.index_shuffle``.

    Parameters
    ----------
    index
        Integers of 32 or 64 bits, from 0 to `max_index`: one, or a vector.
    seed
        Two integers, or ``[n, 2]``.
    max_index
        The largest number: one, or a vector.

    Returns
    -------
    array
        Of the dtype of `index`.

    Raises
    ------
    InvalidArgumentError
        An index is above its limit, or shapes or dtypes do not fit.

    Examples
    --------
    >>> sorted(hr.random.index_shuffle(np.arange(5), [5, 9], 4).tolist())
    [0, 1, 2, 3, 4]
    """
    at = checks.tensor(index)
    most = max_index if is_symbol(max_index) else np.asarray(max_index, at.dtype)
    keys = checks.tensor(seed)
    shape = np.broadcast_shapes(tuple(at.shape), tuple(most.shape), tuple(keys.shape[:-1]))
    at, most = (x if tuple(x.shape) == shape else np.broadcast_to(x, shape) for x in (at, most))
    if tuple(keys.shape) != (*shape, 2):
        keys = np.broadcast_to(keys, (*shape, 2))
    return apply_op("index_shuffle", {}, at, keys, most)[0]


def split(seed: Any, num: int = 2, alg: str = "auto_select") -> Any:
    """Return `num` seeds made from one; mirrors ``tf.random.split``.

    Examples
    --------
    >>> hr.random.split(np.array([1, 2]), 3).shape
    (3, 2)
    """
    seed = seed_of(seed)
    return stateless_uniform([num, 2], seed, None, None, seed.dtype, alg=alg)


def fold_in(seed: Any, data: Any, alg: str = "auto_select") -> Any:
    """Return a seed made from a seed and an integer; mirrors ``tf.random.fold_in``.

    Examples
    --------
    >>> seeds = [hr.random.fold_in([1, 2], epoch) for epoch in range(2)]
    >>> bool((seeds[0] != seeds[1]).any())
    True
    """
    data = data if is_symbol(data) else np.asarray(data)
    drawn = stateless_uniform([], seed_of(seed), None, None, data.dtype, alg=alg)
    return np.stack([drawn, data])


def uniform_between(shape: Any, source: Any, minval: Any, maxval: Any, dtype: DType) -> Any:
    """Draw floats from a range with a seed at hand."""
    numbers = drawn("stateless_uniform", shape, dtype, source)
    if is_plain(minval, 0) and is_plain(maxval, 1):
        return numbers
    low, high = of_dtype(minval, dtype), of_dtype(maxval, dtype)
    return numbers * (high - low) + low


def scaled(op: str, shape: Any, source: Any, mean: Any, stddev: Any, dtype: DType) -> Any:
    """Draw normal numbers with a seed at hand."""
    numbers = drawn(op, shape, dtype, source)
    if is_plain(mean, 0) and is_plain(stddev, 1):
        return numbers
    return numbers * of_dtype(stddev, dtype) + of_dtype(mean, dtype)


def drawn(op: str, shape: Any, dtype: DType, seed: Any, *limits: Any) -> Any:
    """Draw numbers of a shape with a seed at hand."""
    attrs: dict[str, Any] = {"dtype": dtype}
    sizes = sizes_of(shape)
    if isinstance(sizes, list):
        attrs["shape"] = sizes
        return apply_op(op, attrs, seed, *limits, fresh=True)[0]
    return apply_op(op, attrs, seed, sizes, *limits, fresh=True)[0]


def is_symbol(value: Any) -> bool:
    """Tell whether a value is a symbol of a trace."""
    return getattr(type(value), "_tracer", None) is not None


def is_plain(value: Any, number: int) -> bool:
    """Tell whether a value is this very Python number."""
    return type(value) in (int, float) and bool(value == number)


def sizes_of(shape: Any) -> Any:
    """Return a shape as a list of ints, or as a symbol or an array where a run computes it."""
    if is_symbol(shape):
        return shape
    if isinstance(shape, list | tuple) and any(map(is_symbol, shape)):
        return np.stack([size if is_symbol(size) else np.int64(size) for size in shape])
    if isinstance(shape, np.ndarray | np.generic):
        if shape.dtype.kind not in "iu":
            raise InvalidArgumentError(f"a shape has integers, got {shape.dtype}")
        shape = shape.tolist()
    if isinstance(shape, list | tuple | range):
        return [checks.integer("shape", size) for size in shape]
    return [checks.integer("shape", shape)]


def seed_of(seed: Any) -> Any:
    """Return a seed as an array of two integers, or a symbol.

    Raises
    ------
    InvalidArgumentError
        It is something else.
    """
    if is_symbol(seed):
        return seed
    if isinstance(seed, list | tuple) and any(map(is_symbol, seed)):
        return np.stack([part if is_symbol(part) else np.int64(part) for part in seed])
    found = np.asarray(seed)
    if found.dtype.kind not in "iu" or found.shape != (2,):
        raise InvalidArgumentError(
            f"a seed is two integers, got {found.dtype} of shape {found.shape}; give seed=[1, 2]"
        )
    return found


def floats(value: Any) -> Any:
    """Return logits as an array of floats, or a symbol."""
    if is_symbol(value):
        return value
    found = np.asarray(value)
    return found.astype(np.float32) if found.dtype.kind in "iub" else found


def number_dtype(dtype: Any, valid: tuple[str, ...]) -> DType:
    """Return the dtype of a result.

    Raises
    ------
    InvalidArgumentError
        It is not among `valid`.
    """
    found = as_dtype(dtype)
    if dtype_name(found) not in valid:
        raise InvalidArgumentError(f"`dtype` is one of {', '.join(valid)}, got {dtype!r}")
    return found


def of_dtype(value: Any, dtype: DType) -> Any:
    """Return a limit, mean or deviation as `dtype`.

    Raises
    ------
    InvalidArgumentError
        It does not fit.
    """
    if is_symbol(value):
        return value.astype(dtype)
    try:
        found = np.asarray(value)
        if isinstance(dtype, type) or found.dtype.kind not in "iufV":
            raise TypeError(f"it is of dtype {found.dtype}")
        if dtype.kind in "iu" and (
            found.dtype.kind not in "iu" or (found != found.astype(dtype)).any()
        ):
            raise TypeError("it does not fit")
        return found.astype(dtype)
    except (TypeError, ValueError, OverflowError) as error:
        raise InvalidArgumentError(
            f"expected a number of {dtype}, got {value!r}: {error}"
        ) from None


def check_limits(minval: Any, maxval: Any, dtype: DType) -> None:
    """Refuse limits that integers of this dtype do not have.

    Raises
    ------
    InvalidArgumentError
        Only one is given, or `dtype` is unsigned.
    """
    if (minval is None) != (maxval is None):
        raise InvalidArgumentError(
            f"integers need both `minval` and `maxval`, or None for both, got {minval!r} and "
            f"{maxval!r}"
        )
    if minval is not None and dtype_name(dtype) not in LIMITED:
        raise InvalidArgumentError(
            f"{dtype_name(dtype)} has no limits: give minval=None, maxval=None, or int32 or int64"
        )


def check_algorithm(alg: Any) -> None:
    """Refuse any algorithm but Philox.

    Raises
    ------
    InvalidArgumentError
        It is another one.
    TypeError
        It is no name of one.
    """
    number = getattr(alg, "value", alg)  # tf.random.Algorithm
    if isinstance(number, str):
        plain = number.strip().lower().replace("-", "").replace("_", "")
        number = {"philox": 1, "threefry": 2, "autoselect": 3}.get(plain, 0)
    elif number is not None and not isinstance(number, int):
        raise TypeError(f"`alg` is the name of an algorithm, got {alg!r}")
    if number == 2:
        raise InvalidArgumentError('`alg` is ThreeFry, which is not built; use "philox"')
    if number not in (None, 1, 3):
        raise InvalidArgumentError(f'`alg` is "philox" or "auto_select", got {alg!r}')
