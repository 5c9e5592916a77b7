"""Pools of one axis, normalizing, labels of sequences; part of ``tf.nn``."""

from __future__ import annotations

from typing import Any

from .arithmetic import pow as power
from .array_ops import expand_dims, reshape, shape, squeeze
from .casting import cast
from .comparison import not_equal
from .convert import convert, is_dense
from .creation import ones_like, sequence_mask, zeros
from .dtypes import bool as bool_
from .dtypes import float16, float32
from .elementwise import reciprocal, rsqrt, square
from .gathering import boolean_mask, where
from .joining import concat, pad
from .kernels import static_shape
from .reductions import reduce_sum

__all__ = [
    "avg_pool1d",
    "batch_normalization",
    "collapse_repeated",
    "dropout",
    "local_response_normalization",
    "lrn",
    "max_pool1d",
    "weighted_moments",
]


def _one(value: Any) -> int:
    found = [int(k) for k in (value if isinstance(value, list | tuple) else [value])]
    return found[0] if len(found) == 1 else found[1]


def _pool(pool: Any, input: Any, ksize: Any, strides: Any, padding: Any, data_format: str) -> Any:
    if data_format != "NWC":
        raise NotImplementedError(f"data_format {data_format} is for GPUs; here it is NWC")
    x = expand_dims(convert(input), 1)
    return squeeze(pool(x, [1, _one(ksize)], [1, _one(strides)], padding), [1])


def avg_pool1d(
    input: Any, ksize: Any, strides: Any, padding: Any, data_format: str = "NWC",
    name: str | None = None,
) -> Any:  # fmt: skip
    """Return the mean of each window of a row; mirrors ``tf.nn.avg_pool1d``.

    Parameters
    ----------
    input
        ``[batch, width, channels]``.
    ksize, strides
        The size of a window, and the step from one to the next.
    padding
        ``"VALID"`` or ``"SAME"``.
    data_format
        ``"NWC"``.
    name
        Accepted for TensorFlow's sake.

    Examples
    --------
    >>> row = tf.reshape(tf.range(4.0), [1, 4, 1])
    >>> tf.nn.avg_pool1d(row, 2, 2, "VALID").numpy().reshape(-1)
    array([0.5, 2.5], dtype=float32)
    """
    from .nn import avg_pool2d

    return _pool(avg_pool2d, input, ksize, strides, padding, data_format)


def max_pool1d(
    input: Any, ksize: Any, strides: Any, padding: Any, data_format: str = "NWC",
    name: str | None = None,
) -> Any:  # fmt: skip
    """Return the largest value of each window of a row; mirrors ``tf.nn.max_pool1d``.

    Parameters are those of `avg_pool1d`.

    Examples
    --------
    >>> row = tf.reshape(tf.range(4.0), [1, 4, 1])
    >>> tf.nn.max_pool1d(row, 2, 2, "VALID").numpy().reshape(-1)
    array([1., 3.], dtype=float32)
    """
    from .nn import max_pool2d

    return _pool(max_pool2d, input, ksize, strides, padding, data_format)


def batch_normalization(
    x: Any, mean: Any, variance: Any, offset: Any, scale: Any, variance_epsilon: Any,
    name: str | None = None,
) -> Any:  # fmt: skip
    """Bring values to mean `offset` and deviation `scale`; mirrors ``tf.nn.batch_normalization``.

    Parameters
    ----------
    x
        Floats.
    mean, variance
        Theirs, of a shape that fits.
    offset, scale
        What they become; None for 0 and 1.
    variance_epsilon
        Added to the variance.
    name
        Accepted for TensorFlow's sake.

    Examples
    --------
    >>> tf.nn.batch_normalization([1.0, 3.0], 2.0, 1.0, None, None, 0.0).numpy()
    array([-1.,  1.], dtype=float32)
    """
    x = convert(x)
    middle, spread = (y if is_dense(y) else convert(y, x.dtype) for y in (mean, variance))
    factor = rsqrt(spread + variance_epsilon)
    if scale is not None:
        factor = factor * scale
    away = -middle * factor if offset is None else convert(offset, middle.dtype) - middle * factor
    return x * cast(factor, x.dtype) + cast(away, x.dtype)


def local_response_normalization(
    input: Any, depth_radius: int = 5, bias: float = 1, alpha: float = 1, beta: float = 0.5,
    name: str | None = None,
) -> Any:  # fmt: skip
    """Divide by a power of the squares of near channels.

    It mirrors ``tf.nn.local_response_normalization``.

    Parameters
    ----------
    input
        Images ``[batch, height, width, channels]``.
    depth_radius
        How many channels on each side are near.
    bias, alpha, beta
        What is divided by is ``(bias + alpha * squares) ** beta``.
    name
        Accepted for TensorFlow's sake.

    Examples
    --------
    >>> tf.nn.local_response_normalization(tf.ones([1, 1, 1, 1])).numpy().reshape(-1).round(4)
    array([0.7071], dtype=float32)
    """
    x = convert(input)
    radius = int(depth_radius)
    channels = (static_shape(x) or (None,))[-1]
    if channels is None:
        raise ValueError("the number of channels must be known")
    squares = pad(square(x), [[0, 0], [0, 0], [0, 0], [radius, radius]])
    total = squares[..., :channels]
    for k in range(1, 2 * radius + 1):
        total = total + squares[..., k : k + channels]
    return x / power(total * float(alpha) + float(bias), convert(float(beta), x.dtype))


lrn = local_response_normalization


def weighted_moments(
    x: Any, axes: Any, frequency_weights: Any, keepdims: bool = False, name: str | None = None
) -> tuple[Any, Any]:
    """Return weighted mean and variance along axes; mirrors ``tf.nn.weighted_moments``.

    Parameters
    ----------
    x
        The values.
    axes
        The axes.
    frequency_weights
        What each value counts, of a shape that fits.
    keepdims
        Keep the axes, with size 1.
    name
        Accepted for TensorFlow's sake.

    Examples
    --------
    >>> mean, variance = tf.nn.weighted_moments([1.0, 4.0], [0], [2.0, 1.0])
    >>> mean.numpy(), variance.numpy()
    (np.float32(2.0), np.float32(2.0))
    """
    x = convert(x)
    weights = convert(frequency_weights)
    narrow = x.dtype is float16
    x = cast(x, float32) if narrow else x
    weights = cast(weights, x.dtype) if weights.dtype is not x.dtype else weights
    weights = weights + x * convert(0, x.dtype)
    share = reciprocal(reduce_sum(weights, axes, keepdims=True))
    mean = reduce_sum(weights * x, axes, keepdims=True) * share
    spread = reduce_sum(weights * square(x - mean), axes, keepdims=True) * share
    if not keepdims:
        mean, spread = squeeze(mean, axes), squeeze(spread, axes)
    return (cast(mean, float16), cast(spread, float16)) if narrow else (mean, spread)


def collapse_repeated(labels: Any, seq_length: Any, name: str | None = None) -> tuple[Any, Any]:
    """Keep one of labels that repeat; mirrors ``tf.nn.collapse_repeated``.

    Parameters
    ----------
    labels
        ``[batch, most]``.
    seq_length
        How many labels each row has.
    name
        Accepted for TensorFlow's sake.

    Returns
    -------
    labels, lengths
        Filled up with zeros.

    Examples
    --------
    >>> labels, lengths = tf.nn.collapse_repeated([[1, 1, 2], [3, 0, 0]], [3, 1])
    >>> labels.numpy().tolist(), lengths.numpy().tolist()
    ([[1, 2], [3, 0]], [2, 1])
    """
    from .ragged_tensor import RaggedTensor

    x, lengths = convert(labels), convert(seq_length)
    new = concat([ones_like(x[:, :1], bool_), not_equal(x[:, 1:], x[:, :-1])], 1)
    within = sequence_mask(lengths, maxlen=shape(x)[1])
    kept = where(within, new, zeros([1, 1], bool_))
    counts = reduce_sum(cast(kept, lengths.dtype), 1)
    flat = boolean_mask(reshape(x, [-1]), reshape(kept, [-1]))
    return RaggedTensor.from_row_lengths(flat, counts, validate=False).to_tensor(), counts


def dropout(
    x: Any, rate: Any, noise_shape: Any = None, seed: Any = None, name: str | None = None
) -> Any:
    """Set values to zero at random, and scale the others; mirrors ``tf.nn.dropout``.

    Parameters
    ----------
    x
        Floats.
    rate
        The part that is set to zero.
    noise_shape
        The shape of what is drawn; by default that of `x`.
    seed
        Of the draw, see ``tf.random.set_seed``.
    name
        Accepted for TensorFlow's sake.

    Raises
    ------
    ValueError
        `rate` is not in [0, 1), or `x` no floats.

    Examples
    --------
    >>> tf.nn.dropout([1.0, 2.0], 0.0).numpy()
    array([1., 2.], dtype=float32)
    """
    from .random import uniform

    x = convert(x)
    if not x.dtype.is_floating:
        raise ValueError(f"x has to be a floating point tensor, not {x.dtype.name}")
    if not is_dense(rate):
        if not 0 <= rate < 1:
            raise ValueError(f"rate must be a scalar tensor or a float in the range [0, 1): {rate}")
        if rate == 0:
            return x
        scale: Any = convert(1 / (1 - rate), x.dtype)
        rate = convert(rate, x.dtype)
    else:
        rate = cast(rate, x.dtype)
        scale = reciprocal(convert(1, x.dtype) - rate)
    drawn = uniform(shape(x) if noise_shape is None else noise_shape, seed=seed, dtype=x.dtype)
    return where(drawn >= rate, x * scale, convert(0, x.dtype))
