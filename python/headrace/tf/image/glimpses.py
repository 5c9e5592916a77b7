"""Windows at places that are tensors; mirrors ``tf.image.extract_glimpse``."""

from __future__ import annotations

from typing import Any

from ...errors import InvalidArgumentError
from ..array_ops import ensure_shape, expand_dims, shape
from ..casting import cast
from ..convert import convert, is_symbol
from ..creation import range as numbers
from ..creation import zeros_like
from ..dtypes import float32, int32
from ..elementwise import clip_by_value
from ..gathering import gather, where
from ..kernels import static_shape
from ..random import normal, uniform
from ..reductions import reduce_max, reduce_mean, reduce_min, reduce_std
from ..tensor import raw

__all__ = ["extract_glimpse", "glimpses"]


def extract_glimpse(
    input: Any, size: Any, offsets: Any, centered: bool = True, normalized: bool = True,
    noise: str = "uniform", name: str | None = None,
) -> Any:  # fmt: skip
    """Cut a window out of each image; mirrors ``tf.image.extract_glimpse``.

    Parameters
    ----------
    input
        A batch of images, float32.
    size
        Height and width of the windows.
    offsets
        Where the windows are: y and x for each image.
    centered
        Offsets count from the middles of the images, not from their first corners.
    normalized
        Offsets count in heights and widths, not in pixels; if centered, in halves of them.
    noise
        What stands outside of the images: ``"uniform"`` or ``"gaussian"`` numbers like those of the
        image, or ``"zero"``.
    name
        Accepted for TensorFlow's sake.

    Raises
    ------
    InvalidArgumentError
        Shapes do not fit, or there is no such noise.

    Examples
    --------
    >>> image = tf.reshape(tf.range(9.0), [1, 3, 3, 1])
    >>> found = tf.image.extract_glimpse(image, [2, 2], [[1, 1]], centered=False, normalized=False)
    >>> tf.reshape(found, [-1]).numpy()
    array([4., 5., 7., 8.], dtype=float32)
    """

    def start(offset: Any, whole: Any, own: int) -> Any:
        if centered and normalized:
            return (offset + 1.0) * whole / 2.0 - own / 2.0
        if centered:
            return offset + whole / 2.0
        return offset * whole if normalized else offset

    return glimpses(input, size, offsets, start, noise)


def glimpses(input: Any, size: Any, offsets: Any, start: Any, noise: str) -> Any:
    """Cut a window out of each image, whose first row and column `start` tells."""
    x, places = convert(input, float32), convert(offsets, float32)
    sizes = convert(size, int32)
    if noise not in ("uniform", "gaussian", "zero"):
        raise InvalidArgumentError(
            f"The noise could only be uniform, gaussian, or zero, got {noise}"
        )
    if is_symbol(sizes):
        sizes._tracer.refuse("cuts glimpses whose size only a run knows")
    if static_shape(x) is None:
        x = ensure_shape(x, [None] * 4)
    if static_shape(places) is None:
        places = ensure_shape(places, [None, 2])
    dims, at = static_shape(x), static_shape(places)
    if len(dims or ()) != 4:
        raise InvalidArgumentError(f"input must be 4-dimensional, got shape {dims}")
    if static_shape(sizes) != (2,):
        raise InvalidArgumentError(f"size must be height and width, got {sizes}")
    if at is None or len(at) != 2 or at[1] not in (2, None):
        raise InvalidArgumentError(f"offsets must be a matrix of y and x, got shape {at}")
    if dims is not None and None not in (dims[0], at[0]) and dims[0] != at[0]:
        raise InvalidArgumentError(f"there are {dims[0]} images, but {at[0]} offsets")
    height, width = raw(sizes).tolist()
    if min(height, width) < 0:
        raise InvalidArgumentError(f"Expected a non-negative size, got {[height, width]}")
    whole = shape(x)
    found, inside = x, None
    for axis, own in enumerate((height, width)):
        length = whole[1 + axis]
        first = cast(start(places[:, axis], cast(length, float32), float(own)), int32)
        lines = expand_dims(first, 1) + numbers(own)
        valid = (lines >= 0) & (lines < length)
        lines = clip_by_value(lines, 0, length - 1)
        found = gather(found, lines, axis=1 + axis, batch_dims=1)
        valid = valid[:, :, None, None] if axis == 0 else valid[:, None, :, None]
        inside = valid if inside is None else inside & valid
    return where(inside, found, _noise(noise, x, found))


def _noise(noise: str, x: Any, like: Any) -> Any:
    if noise == "zero":
        return zeros_like(like)
    drawn = uniform(shape(like)) if noise == "uniform" else normal(shape(like))
    over = [1, 2, 3]
    if noise == "gaussian":
        return drawn * reduce_std(x, over, keepdims=True) + reduce_mean(x, over, keepdims=True)
    low, high = (rule(x, over, keepdims=True) for rule in (reduce_min, reduce_max))
    return low + drawn * (high - low)
