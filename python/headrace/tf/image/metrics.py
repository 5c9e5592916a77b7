"""How images differ, from each other and within; mirrors ``tf.image``."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ...errors import InvalidArgumentError
from ..arithmetic import abs, maximum
from ..array_ops import shape as size_of
from ..casting import cast
from ..control import Assert
from ..convert import convert
from ..creation import zeros_like
from ..dtypes import float32
from ..elementwise import log, square
from ..joining import concat, pad, stack
from ..kernels import DTypeError, static_shape
from ..reductions import reduce_mean, reduce_min, reduce_prod, reduce_sum
from .arguments import shown
from .colour import convert_image_dtype

__all__ = ["image_gradients", "psnr", "sobel_edges", "ssim", "ssim_multiscale", "total_variation"]


def total_variation(images: Any, name: str | None = None) -> Any:
    """Add up the differences of neighbours; mirrors ``tf.image.total_variation``.

    Parameters
    ----------
    images
        One image or a batch of images.
    name
        Accepted for TensorFlow's sake.

    Returns
    -------
    tensor
        A number for each image.

    Raises
    ------
    ValueError
        `images` have neither 3 nor 4 axes.

    Examples
    --------
    >>> tf.image.total_variation([[[1.0], [3.0]], [[1.0], [4.0]]]).numpy()
    np.float32(6.0)
    """
    x = convert(images)
    shape = static_shape(x)
    if shape is not None and len(shape) not in (3, 4):
        raise ValueError("'images' must be either 3 or 4-dimensional.")
    down = x[..., 1:, :, :] - x[..., :-1, :, :]
    across = x[..., 1:, :] - x[..., :-1, :]
    axes = [-3, -2, -1]
    return reduce_sum(abs(down), axes) + reduce_sum(abs(across), axes)


def image_gradients(image: Any) -> tuple[Any, Any]:
    """Give the differences to the next row and column; mirrors ``tf.image.image_gradients``.

    Parameters
    ----------
    image
        A batch of images.

    Returns
    -------
    dy, dx
        Of the shape of `image`; zeros at the end of the axis.

    Raises
    ------
    ValueError
        `image` has not 4 axes.

    Examples
    --------
    >>> dy, dx = tf.image.image_gradients(tf.constant([[[[1.0], [3.0]]]]))
    >>> dx.numpy().reshape(-1)
    array([2., 0.], dtype=float32)
    """
    x = convert(image)
    shape = static_shape(x)
    if shape is None or len(shape) != 4:
        raise ValueError(
            f"image_gradients expects a 4D tensor [batch_size, h, w, d], not {shown(shape)}."
        )
    down = x[:, 1:] - x[:, :-1]
    across = x[:, :, 1:] - x[:, :, :-1]
    return (
        concat([down, zeros_like(x[:, :1])], 1),
        concat([across, zeros_like(x[:, :, :1])], 2),
    )


def sobel_edges(image: Any) -> Any:
    """Give the edges that Sobel's filters find; mirrors ``tf.image.sobel_edges``.

    Parameters
    ----------
    image
        A batch of images of floats, at least 2 x 2.

    Returns
    -------
    tensor
        ``[batch, height, width, channels, 2]``: vertical and horizontal change.

    Examples
    --------
    >>> tf.image.sobel_edges(tf.ones([1, 4, 5, 3])).shape
    TensorShape([1, 4, 5, 3, 2])
    """
    x = convert(image)
    x = pad(x, [[0, 0], [1, 1], [1, 1], [0, 0]], "REFLECT")
    smooth, change = (1.0, 2.0, 1.0), (-1.0, 0.0, 1.0)
    vertical = _filtered(_filtered(x, smooth, 2), change, 1)
    horizontal = _filtered(_filtered(x, smooth, 1), change, 2)
    return stack([vertical, horizontal], -1)


def _filtered(x: Any, weights: Any, axis: int) -> Any:
    """Sum weighted neighbours along axis 1 or 2 from the front, of 3 from behind."""
    total: Any = None
    for k, weight in enumerate(weights):
        if weight == 0.0:
            continue
        part = slice(k, k + 1 - len(weights) or None)
        shifted = x[..., part, :, :] if axis == 1 else x[..., part, :]
        total = shifted * weight if total is None else total + shifted * weight
    return total


def _of_one_dtype(a: Any, b: Any) -> tuple[Any, Any]:
    x, y = convert(a), convert(b)
    if x.dtype != y.dtype:
        raise DTypeError(f"images of {x.dtype.name} and of {y.dtype.name} have no one range")
    return x, y


def _compared(a: Any, b: Any, max_val: Any) -> tuple[Any, Any, Any]:
    """Return two images and their largest value as float32, of one range."""
    x, y = convert(a), convert(b)
    one, other = static_shape(x), static_shape(y)
    for shape in (one, other):
        if shape is not None and len(shape) < 3:
            raise InvalidArgumentError(f"Shape {shown(shape)} must have rank at least 3")
    if one is not None and other is not None:
        if any(None not in (i, j) and i != j for i, j in zip(one[-3:], other[-3:], strict=True)):
            raise InvalidArgumentError(f"Shapes {one[-3:]} and {other[-3:]} are incompatible")
        for i, j in zip(reversed(one[:-3]), reversed(other[:-3]), strict=False):
            if None not in (i, j) and i != j and 1 not in (i, j):
                raise InvalidArgumentError(f"Two images are not compatible: {one} and {other}")
    most = convert_image_dtype(cast(convert(max_val), x.dtype), float32)
    return convert_image_dtype(x, float32), convert_image_dtype(y, float32), most


def psnr(a: Any, b: Any, max_val: Any, name: str | None = None) -> Any:
    """Give the peak signal-to-noise ratio in decibels; mirrors ``tf.image.psnr``.

    Parameters
    ----------
    a, b
        Images, or arrays of images, of one shape.
    max_val
        The largest value an image may have.
    name
        Accepted for TensorFlow's sake.

    Returns
    -------
    tensor
        float32, a number for each image.

    Raises
    ------
    ValueError
        The shapes do not fit.

    Examples
    --------
    >>> image = tf.ones([2, 2, 3])
    >>> round(float(tf.image.psnr(image, image * 0.9, 1.0)), 3)
    20.0
    """
    x, y, most = _compared(a, b, max_val)
    error = reduce_mean(square(x - y), [-3, -2, -1])
    return 20.0 * log(most) / np.float32(math.log(10.0)) - np.float32(10 / math.log(10)) * log(
        error
    )


def ssim(
    img1: Any,
    img2: Any,
    max_val: Any,
    filter_size: int = 11,
    filter_sigma: float = 1.5,
    k1: float = 0.01,
    k2: float = 0.03,
    return_index_map: bool = False,
) -> Any:
    """Give the structural similarity of images; mirrors ``tf.image.ssim``.

    Parameters
    ----------
    img1, img2
        Images, or arrays of images, of one shape.
    max_val
        The largest value an image may have.
    filter_size, filter_sigma
        Size and width of the window that is compared at a time.
    k1, k2
        Constants that keep quotients from becoming unstable.
    return_index_map
        Give a value for each place, not for each image.

    Returns
    -------
    tensor
        float32.

    Raises
    ------
    ValueError
        The shapes do not fit, or an image is smaller than the window.

    Examples
    --------
    >>> image = tf.ones([12, 12, 3])
    >>> tf.image.ssim(image, image, 1.0).numpy()
    np.float32(1.0)
    """
    x, y, most = _compared(*_of_one_dtype(img1, img2), max_val)
    for shape in (static_shape(x), static_shape(y)):
        sides = () if shape is None else shape[-3:-1]
        if any(side is not None and side < filter_size for side in sides):
            raise InvalidArgumentError(
                f"images of shape {shape} are smaller than the window of {filter_size}"
            )
    window = _window(filter_size, filter_sigma)
    brightness, structure = _similarity(x, y, most, window, k1, k2)
    similarity = brightness * structure
    if not return_index_map:
        similarity = reduce_mean(similarity, [-3, -2])
    return reduce_mean(similarity, [-1])


def _window(size: int, sigma: float) -> list[float]:
    """Return the weights of a bell along one axis; they add up to 1."""
    places = np.arange(size, dtype=np.float64) - (size - 1) / 2
    weights = np.exp(-0.5 * (places / sigma) ** 2)
    return [float(weight) for weight in weights / weights.sum()]


def _similarity(
    x: Any, y: Any, most: Any, window: list[float], k1: float, k2: float
) -> tuple[Any, Any]:
    """Return how alike brightness and structure are at each place."""

    def local(values: Any) -> Any:
        return _filtered(_filtered(values, window, 1), window, 2)

    low, high = (k1 * most) * (k1 * most), (k2 * most) * (k2 * most)
    mean_x, mean_y = local(x), local(y)
    product, squares = mean_x * mean_y * 2.0, mean_x * mean_x + mean_y * mean_y
    both, own = local(x * y) * 2.0, local(x * x + y * y)
    brightness = (product + low) / (squares + low)
    return brightness, (both - product + high) / (own - squares + high)


_FACTORS = (0.0448, 0.2856, 0.3001, 0.2363, 0.1333)


def ssim_multiscale(
    img1: Any,
    img2: Any,
    max_val: Any,
    power_factors: Any = _FACTORS,
    filter_size: int = 11,
    filter_sigma: float = 1.5,
    k1: float = 0.01,
    k2: float = 0.03,
) -> Any:
    """Give the structural similarity over several sizes; mirrors ``tf.image.ssim_multiscale``.

    Parameters
    ----------
    img1, img2
        Images, or arrays of images, of one shape.
    max_val
        The largest value an image may have.
    power_factors
        The weight of each size; images are halved from one to the next.
    filter_size, filter_sigma, k1, k2
        As of `ssim`.

    Returns
    -------
    tensor
        float32, a number for each image.

    Raises
    ------
    ValueError
        The shapes do not fit, or an image becomes smaller than the window.

    Examples
    --------
    >>> image = tf.ones([64, 64, 3])
    >>> tf.image.ssim_multiscale(image, image, 1.0, filter_size=4).numpy()
    np.float32(1.0)
    """
    x, y, most = _compared(*_of_one_dtype(img1, img2), max_val)
    window = _window(filter_size, filter_sigma)
    factors = np.asarray(power_factors, np.float32)

    scores = []
    for scale in range(len(factors)):
        if scale > 0:
            x, y = _halved(x), _halved(y)
        for image in (x, y):
            _check_size(image, filter_size)
        brightness, structure = _similarity(x, y, most, window, k1, k2)
        last = scale == len(factors) - 1
        score = brightness * structure if last else structure
        scores.append(maximum(reduce_mean(score, [-3, -2]), np.float32(0)))
    return reduce_mean(reduce_prod(stack(scores, -1) ** factors, -1), -1)


def _check_size(image: Any, least: int) -> None:
    """Refuse images that are smaller than a window, in a run where only that knows."""
    sides = (static_shape(image) or (None,) * 3)[-3:-1]
    if any(side is not None and side < least for side in sides):
        raise InvalidArgumentError(
            f"images of sides {sides} are smaller than the window of {least}"
        )
    if None in sides:
        smallest = reduce_min(size_of(image)[-3:-1])
        Assert(smallest >= least, ["images are smaller than the window of", least])


def _halved(x: Any) -> Any:
    """Return the means of squares of four pixels; odd sizes repeat the last row or column."""
    dims = static_shape(x)
    if dims is None:
        raise InvalidArgumentError("images must have a known number of axes")
    if None in dims[-3:-1]:
        sides = size_of(x)
        behind = [sides[k] % 2 if k - len(dims) in (-3, -2) else 0 for k in range(len(dims))]
        odd: Any = stack([[0, more] for more in behind])
    else:
        rest = [[0, (size or 0) % 2] for size in dims[-3:-1]]
        odd = [[0, 0]] * (len(dims) - 3) + rest + [[0, 0]]
    x = pad(x, odd, "SYMMETRIC")
    rows = x[..., ::2, :, :] + x[..., 1::2, :, :]
    return (rows[..., ::2, :] + rows[..., 1::2, :]) * np.float32(0.25)
