"""The part of ``tf.nn`` that input code uses: activations, moments, filters of images.

A convolution is a product of the filter and the patches of the images under it.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..errors import InvalidArgumentError
from .arithmetic import abs as magnitude
from .arithmetic import divide, maximum, minimum, multiply, subtract
from .array_ops import ensure_shape, expand_dims, reshape, shape, squeeze, transpose
from .batch_space import space_to_batch
from .casting import cast
from .composite import by_value
from .convert import convert, is_symbol
from .creation import ones_like
from .dtypes import float16, float32
from .elementwise import (
    erf,
    expm1,
    log_softmax,
    sigmoid,
    softmax,
    softplus,
    softsign,
    square,
    tanh,
)
from .gathering import gather, where
from .image.boxes import extract_patches
from .joining import concat, pad
from .kernels import run, static_shape
from .linalg import l2_normalize
from .names import lookup
from .normalizing import (
    avg_pool1d,
    batch_normalization,
    collapse_repeated,
    dropout,
    local_response_normalization,
    lrn,
    max_pool1d,
    weighted_moments,
)
from .operands import operands
from .reductions import reduce_max, reduce_mean, reduce_sum, zero_fraction
from .sorting import in_top_k, top_k

__all__ = [
    "avg_pool",
    "avg_pool1d",
    "avg_pool2d",
    "batch_normalization",
    "bias_add",
    "collapse_repeated",
    "conv1d",
    "conv2d",
    "convolution",
    "crelu",
    "depth_to_space",
    "depthwise_conv2d",
    "dropout",
    "elu",
    "embedding_lookup",
    "gelu",
    "in_top_k",
    "l2_loss",
    "l2_normalize",
    "leaky_relu",
    "local_response_normalization",
    "log_softmax",
    "lrn",
    "max_pool",
    "max_pool1d",
    "max_pool2d",
    "moments",
    "relu",
    "relu6",
    "selu",
    "separable_conv2d",
    "sigmoid",
    "silu",
    "softmax",
    "softplus",
    "softsign",
    "space_to_batch",
    "space_to_depth",
    "swish",
    "tanh",
    "top_k",
    "weighted_moments",
    "zero_fraction",
]


@by_value
def relu(features: Any, name: str | None = None) -> Any:
    """Return what is above zero; mirrors ``tf.nn.relu``.

    Examples
    --------
    >>> tf.nn.relu([-1.0, 2.0]).numpy()
    array([0., 2.], dtype=float32)
    """
    x = convert(features)
    return maximum(x, _like(0, x))


@by_value
def relu6(features: Any, name: str | None = None) -> Any:
    """Return what is from zero to six; mirrors ``tf.nn.relu6``."""
    x = convert(features)
    return minimum(relu(x), _like(6, x))


def _like(number: float, x: Any) -> Any:
    return convert(np.asarray(number, x.dtype.as_numpy_dtype))


@by_value
def leaky_relu(features: Any, alpha: Any = 0.2, name: str | None = None) -> Any:
    """Return values, those below zero times `alpha`; mirrors ``tf.nn.leaky_relu``."""
    x = convert(features)
    if x.dtype.is_integer:
        x = cast(x, float32)
    return where(x > _like(0, x), x, multiply(x, convert(alpha, x.dtype)))


@by_value
def elu(features: Any, name: str | None = None) -> Any:
    """Return values, of those below zero ``exp(x) - 1``; mirrors ``tf.nn.elu``."""
    x = convert(features)
    return where(x > _like(0, x), x, expm1(minimum(x, _like(0, x))))


@by_value
def selu(features: Any, name: str | None = None) -> Any:
    """Return scaled `elu`; mirrors ``tf.nn.selu``."""
    x = convert(features)
    scale, alpha = 1.0507009873554805, 1.6732632423543772
    low = multiply(expm1(minimum(x, _like(0, x))), _like(scale * alpha, x))
    return where(x > _like(0, x), multiply(x, _like(scale, x)), low)


def crelu(features: Any, axis: int = -1, name: str | None = None) -> Any:
    """Return `relu` of values and of their opposites; mirrors ``tf.nn.crelu``."""
    x = convert(features)
    return relu(concat([x, -x], axis))


@by_value
def gelu(features: Any, approximate: bool = False, name: str | None = None) -> Any:
    """Return values times their share of the normal distribution; mirrors ``tf.nn.gelu``."""
    x = convert(features)
    half = _like(0.5, x)
    if approximate:
        inner = multiply(_like(0.7978845608028654, x), x + _like(0.044715, x) * x * x * x)
        return half * x * (_like(1, x) + tanh(inner))
    return half * x * (_like(1, x) + erf(divide(x, _like(math.sqrt(2.0), x))))


@by_value
def silu(features: Any, beta: Any = 1.0, name: str | None = None) -> Any:
    """Return values times their `sigmoid`; mirrors ``tf.nn.silu``."""
    x = convert(features)
    return multiply(x, sigmoid(multiply(convert(beta, x.dtype), x)))


swish = silu


def l2_loss(t: Any, name: str | None = None) -> Any:
    """Return half of the sum of squares; mirrors ``tf.nn.l2_loss``."""
    return divide(reduce_sum(square(convert(t))), 2.0)


def moments(
    x: Any, axes: Any, shift: Any = None, keepdims: bool = False, name: str | None = None
) -> tuple[Any, Any]:
    """Return mean and variance along axes; mirrors ``tf.nn.moments``.

    Examples
    --------
    >>> [float(y) for y in tf.nn.moments(tf.constant([1.0, 3.0]), [0])]
    [2.0, 1.0]
    """
    y = convert(x)
    small = y.dtype == float16
    wide = cast(y, float32) if small else y
    mean = reduce_mean(wide, axes, keepdims=True)
    away = subtract(wide, mean)
    away = cast(magnitude(away), y.dtype) if y.dtype.is_complex else away
    variance = reduce_mean(square(away), axes, keepdims=keepdims)
    if not keepdims:
        mean = reduce_mean(wide, axes)
    return (cast(mean, float16), cast(variance, float16)) if small else (mean, variance)


def bias_add(value: Any, bias: Any, data_format: str | None = None, name: Any = None) -> Any:
    """Add a number to each channel; mirrors ``tf.nn.bias_add``."""
    x, b = operands("BiasAdd", value, bias, strict=True)
    if data_format is not None and data_format.startswith("NC"):
        rank = len(static_shape(x) or ())
        b = reshape(b, [1, -1] + [1] * (rank - 2))
    return x + b


def embedding_lookup(params: Any, ids: Any, max_norm: Any = None, name: str | None = None) -> Any:
    """Return rows by their numbers; mirrors ``tf.nn.embedding_lookup``.

    Examples
    --------
    >>> tf.nn.embedding_lookup(tf.constant([[1, 2], [3, 4]]), [1, 0]).numpy()
    array([[3, 4],
           [1, 2]], dtype=int32)
    """
    if max_norm is not None:
        raise NotImplementedError("max_norm of embedding_lookup")
    if isinstance(params, list | tuple):
        if len(params) > 1:
            raise NotImplementedError("embedding_lookup in several pieces of a table")
        (params,) = params
    return gather(params, ids)


# ------------------------------------------------------------------- filters


def _pair(value: Any) -> list[int]:
    """Return strides or rates of height and width."""
    if value is None:
        return [1, 1]
    items = [value] if isinstance(value, int | np.integer) else [int(item) for item in value]
    if len(items) == 1:
        return [int(items[0])] * 2
    return [int(item) for item in (items[1:3] if len(items) == 4 else items)]


def _check(op: str, data_format: str | None) -> None:
    if data_format not in (None, "NHWC"):
        raise InvalidArgumentError(
            f"{op}: images are [batch, height, width, channels] here, got data_format="
            f"{data_format!r}: transpose them"
        )


def _padded(x: Any, padding: Any, value: Any = 0) -> tuple[Any, str]:
    """Return images with explicit padding put around them, and the padding that is left."""
    if isinstance(padding, str):
        return x, padding.upper()
    return pad(x, [[int(k) for k in pair] for pair in padding], constant_values=value), "VALID"


def _patches(x: Any, size: list[int], strides: list[int], rates: list[int], padding: str) -> Any:
    """Return patches ``[batch, rows, columns, height * width * channels]``."""
    windows, steps, gaps = ([1, *pair, 1] for pair in (size, strides, rates))
    return extract_patches(x, windows, steps, gaps, padding)


def _known(what: str, x: Any) -> list[int]:
    """Return a shape, which must be known and have four axes."""
    dims = static_shape(x)
    if dims is None or len(dims) != 4 or None in dims:
        raise InvalidArgumentError(f"{what}, got {dims}")
    return list(dims)  # type: ignore[arg-type]


def _sizes(op: str, x: Any) -> list[Any]:
    """Return the sizes of a batch of images, as symbols where only a run knows them."""
    dims = static_shape(x)
    if dims is None or len(dims) != 4 or dims[3] is None:
        raise InvalidArgumentError(f"{op}: a batch of images of known channels, got {dims}")
    return [shape(x)[k] if size is None else size for k, size in enumerate(dims)]


def _channels(x: Any) -> int | None:
    """Return how many channels images have, where that is known."""
    return (static_shape(x) or (None,))[-1]


def conv2d(
    input: Any,
    filters: Any,
    strides: Any,
    padding: Any,
    data_format: str = "NHWC",
    dilations: Any = None,
    name: str | None = None,
) -> Any:
    """Filter images; mirrors ``tf.nn.conv2d``.

    Parameters
    ----------
    input
        Floats ``[batch, height, width, channels]``.
    filters
        ``[height, width, channels, out]``, of a shape known when tracing.
    strides, dilations
        One, two or four integers.
    padding
        ``"SAME"``, ``"VALID"``, or so many zeros before and after each axis.

    Raises
    ------
    InvalidArgumentError
        Shapes do not fit.

    Examples
    --------
    >>> image = tf.reshape(tf.range(9.0), [1, 3, 3, 1])
    >>> tf.nn.conv2d(image, tf.ones([2, 2, 1, 1]), 1, "VALID").numpy().ravel()
    array([ 8., 12., 20., 24.], dtype=float32)
    """
    _check("conv2d", data_format)
    x, w = operands("Conv2D", input, filters, strict=True)
    height, width, channels, out = _known("conv2d: filters of known shape with 4 axes", w)
    given = _channels(x)
    if given is not None and given != channels:
        raise InvalidArgumentError(
            f"conv2d: input of {given} channels and filters of {channels} (shape {w.shape})"
        )
    x, padding = _padded(x, padding)
    found = _patches(x, [height, width], _pair(strides), _pair(dilations), padding)
    weights = reshape(w, [height * width * channels, out])
    dims = static_shape(found)
    known = (*(dims[:3] if dims else (None,) * 3), out)
    return run("einsum", (found, weights), (known, x.dtype), equation="bhwk,ko->bhwo")


def depthwise_conv2d(
    input: Any,
    filter: Any,
    strides: Any,
    padding: Any,
    data_format: str | None = None,
    dilations: Any = None,
    name: str | None = None,
) -> Any:
    """Filter each channel of images by itself; mirrors ``tf.nn.depthwise_conv2d``.

    Parameters
    ----------
    input
        Floats ``[batch, height, width, channels]``.
    filter
        ``[height, width, channels, multiplier]``, of a shape known when tracing.
    strides, padding, dilations
        As of `conv2d`.

    Raises
    ------
    InvalidArgumentError
        Shapes do not fit.

    Examples
    --------
    >>> image = tf.reshape(tf.range(8.0), [1, 2, 2, 2])
    >>> tf.nn.depthwise_conv2d(image, tf.ones([2, 2, 2, 1]), [1, 1, 1, 1], "VALID").numpy().ravel()
    array([12., 16.], dtype=float32)
    """
    _check("depthwise_conv2d", data_format)
    x, w = operands("DepthwiseConv2dNative", input, filter, strict=True)
    height, width, channels, times = _known(
        "depthwise_conv2d: filters of known shape with 4 axes", w
    )
    given = _channels(x)
    if given is not None and given != channels:
        raise InvalidArgumentError(
            f"depthwise_conv2d: input of {given} channels and a filter of {channels}"
        )
    x, padding = _padded(x, padding)
    found = _patches(x, [height, width], _pair(strides), _pair(dilations), padding)
    dims = static_shape(found)
    before = dims[:3] if dims else (None, None, None)
    split = _split_last(found, [height * width, channels])
    weights = reshape(w, [height * width, channels, times])
    known = (*before, channels, times)
    made = run("einsum", (split, weights), (known, x.dtype), equation="bhwkc,kcm->bhwcm")
    return _split_last(made, [channels * times], taken=2)


def _split_last(x: Any, sizes: list[int], taken: int = 1) -> Any:
    """Reshape the last axes to others, whatever is known of those before."""
    dims = static_shape(x)
    if dims is not None and None not in dims:
        return reshape(x, [*dims[: len(dims) - taken], *sizes])
    kept = len(dims or ()) - taken
    made = reshape(x, concat([shape(x)[:kept], sizes], 0))
    return made if dims is None else ensure_shape(made, [*dims[:kept], *sizes])


def separable_conv2d(
    input: Any,
    depthwise_filter: Any,
    pointwise_filter: Any,
    strides: Any,
    padding: Any,
    data_format: str | None = None,
    dilations: Any = None,
    name: str | None = None,
) -> Any:
    """Filter channels, then mix them; mirrors ``tf.nn.separable_conv2d``."""
    found = depthwise_conv2d(input, depthwise_filter, strides, padding, data_format, dilations)
    return conv2d(found, pointwise_filter, 1, "VALID")


def conv1d(
    input: Any,
    filters: Any,
    stride: Any,
    padding: Any,
    data_format: str = "NWC",
    dilations: Any = None,
    name: str | None = None,
) -> Any:
    """Filter sequences ``[batch, width, channels]``; mirrors ``tf.nn.conv1d``."""
    if data_format != "NWC":
        raise InvalidArgumentError(f"conv1d: data_format is NWC here, got {data_format!r}")
    along = [int(k) for k in np.atleast_1d(stride)][-1]
    rate = 1 if dilations is None else [int(k) for k in np.atleast_1d(dilations)][-1]
    x, w = expand_dims(convert(input), 1), expand_dims(convert(filters), 0)
    return squeeze(conv2d(x, w, [1, along], padding, dilations=[1, rate]), 1)


def convolution(
    input: Any,
    filters: Any,
    strides: Any = None,
    padding: Any = "VALID",
    data_format: str | None = None,
    dilations: Any = None,
    name: str | None = None,
) -> Any:
    """Filter sequences or images; mirrors ``tf.nn.convolution``."""
    w = convert(filters)
    if len(static_shape(w) or ()) == 3:
        return conv1d(input, w, strides or 1, padding, data_format or "NWC", dilations)
    return conv2d(input, w, strides or 1, padding, data_format or "NHWC", dilations)


def max_pool2d(
    input: Any,
    ksize: Any,
    strides: Any,
    padding: Any,
    data_format: str = "NHWC",
    name: str | None = None,
) -> Any:
    """Return the largest value of each window; mirrors ``tf.nn.max_pool2d``.

    Examples
    --------
    >>> image = tf.reshape(tf.range(4.0), [1, 2, 2, 1])
    >>> float(tf.nn.max_pool2d(image, 2, 2, "VALID")[0, 0, 0, 0])
    3.0
    """
    _check("max_pool2d", data_format)
    x = convert(input)
    kind = x.dtype.as_numpy_dtype
    least = -np.inf if x.dtype.is_floating else np.iinfo(kind).min
    # Around images there is nothing, and not zeros: what is padded is found by patches of ones.
    x, padding = _padded(x, padding, least)
    size, steps = _pair(ksize), _pair(strides)
    windows, inside = _windows(x, size, steps, padding)
    if inside is not None:
        windows = where(inside > _like(0, inside), windows, convert(np.asarray(least, kind)))
    return reduce_max(windows, -2)


def avg_pool2d(
    input: Any,
    ksize: Any,
    strides: Any,
    padding: Any,
    data_format: str = "NHWC",
    name: str | None = None,
) -> Any:
    """Return the mean of each window; mirrors ``tf.nn.avg_pool2d``.

    Examples
    --------
    >>> image = tf.reshape(tf.range(4.0), [1, 2, 2, 1])
    >>> float(tf.nn.avg_pool2d(image, 2, 2, "VALID")[0, 0, 0, 0])
    1.5
    """
    _check("avg_pool2d", data_format)
    x, padding = _padded(convert(input), padding)
    windows, inside = _windows(x, _pair(ksize), _pair(strides), padding)
    if inside is None:
        return reduce_mean(windows, -2)
    return divide(reduce_sum(windows, -2), reduce_sum(inside, -2))


def _windows(x: Any, size: list[int], steps: list[int], padding: str) -> tuple[Any, Any]:
    """Return ``[..., height * width, channels]`` values, and ones where there are some."""
    channels = _channels(x)
    if channels is None:
        raise InvalidArgumentError("windows need images of a known number of channels")
    sizes = [size[0] * size[1], channels]
    windows = _split_last(_patches(x, size, steps, [1, 1], padding), sizes)
    if padding == "VALID":
        return windows, None
    return windows, _split_last(_patches(ones_like(x), size, steps, [1, 1], padding), sizes)


max_pool, avg_pool = max_pool2d, avg_pool2d


def space_to_depth(input: Any, block_size: int, data_format: str = "NHWC", name: Any = None) -> Any:
    """Lay blocks of pixels out along channels; mirrors ``tf.nn.space_to_depth``.

    Examples
    --------
    >>> tf.nn.space_to_depth(tf.ones([1, 4, 4, 3]), 2).shape
    TensorShape([1, 2, 2, 12])
    """
    _check("space_to_depth", data_format)
    x = convert(input)
    batch, height, width, depth = _sizes("space_to_depth", x)
    if any(not is_symbol(size) and size % block_size for size in (height, width)):
        raise InvalidArgumentError(
            f"space_to_depth: height {height} and width {width} must be multiples of {block_size}"
        )
    h, w = height // block_size, width // block_size
    parts = transpose(reshape(x, [batch, h, block_size, w, block_size, depth]), [0, 1, 3, 2, 4, 5])
    return reshape(parts, [batch, h, w, block_size * block_size * depth])


def depth_to_space(input: Any, block_size: int, data_format: str = "NHWC", name: Any = None) -> Any:
    """Undo `space_to_depth`; mirrors ``tf.nn.depth_to_space``.

    Examples
    --------
    >>> tf.nn.depth_to_space(tf.ones([1, 2, 2, 12]), 2).shape
    TensorShape([1, 4, 4, 3])
    """
    _check("depth_to_space", data_format)
    x = convert(input)
    batch, height, width, depth = _sizes("depth_to_space", x)
    if depth % (block_size * block_size):
        raise InvalidArgumentError(
            f"depth_to_space: {depth} channels are no multiple of {block_size * block_size}"
        )
    left = depth // (block_size * block_size)
    parts = transpose(
        reshape(x, [batch, height, width, block_size, block_size, left]), [0, 1, 3, 2, 4, 5]
    )
    return reshape(parts, [batch, height * block_size, width * block_size, left])


__getattr__ = lookup(__name__)
