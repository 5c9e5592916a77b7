"""Parts of images, images with zeros around them, images turned; mirrors ``tf.image``."""

from __future__ import annotations

from typing import Any

from ...errors import InvalidArgumentError
from ...image import geometry as own
from ..array_ops import reverse
from ..array_ops import transpose as transposed
from ..convert import convert, is_symbol
from ..dtypes import int32, string
from ..kernels import static_shape
from ..tensor import raw
from .arguments import at_least_3d, call, framed, image_or_batch, number, of_size, positive

__all__ = [
    "central_crop",
    "crop_to_bounding_box",
    "flip_left_right",
    "flip_up_down",
    "pad_to_bounding_box",
    "resize_with_crop_or_pad",
    "rot90",
    "transpose",
]


def _at_least_zero(dot: str, **values: Any) -> None:
    for name, value in values.items():
        if not is_symbol(value) and value < 0:
            raise ValueError(f"{name} must be >= 0{dot}")


def _countable(height: Any, width: Any) -> None:
    if not is_symbol(height) and not is_symbol(width) and height * width >= 1 << 63:
        raise InvalidArgumentError(f"Encountered overflow when multiplying {height} with {width}")


def crop_to_bounding_box(
    image: Any, offset_height: Any, offset_width: Any, target_height: Any, target_width: Any
) -> Any:
    """Cut a rectangle out of images; mirrors ``tf.image.crop_to_bounding_box``.

    Parameters
    ----------
    image
        One image or a batch of images.
    offset_height, offset_width
        The first row and column that are kept.
    target_height, target_width
        The size of the result.

    Raises
    ------
    ValueError
        `image` has another rank or no pixels, or the rectangle is not within it.

    Examples
    --------
    >>> tf.image.crop_to_bounding_box(tf.ones([4, 6, 3]), 1, 2, 2, 2).shape
    TensorShape([2, 2, 3])
    """
    x = framed(image)
    top, left = number(offset_height), number(offset_width)
    height, width = number(target_height), number(target_width)
    _at_least_zero(".", offset_width=left, offset_height=top)
    positive(target_width=width, target_height=height)
    shape = static_shape(x)
    if shape is not None:
        for name, size, start, kept in (
            ("width", shape[-2], left, width),
            ("height", shape[-3], top, height),
        ):
            known = size is not None and not is_symbol(start) and not is_symbol(kept)
            if known and size < start + kept:
                raise ValueError(f"{name} must be >= target + offset.")
    found = call(own.crop_to_bounding_box, x, top, left, height, width)
    return of_size(found, height, width)


def pad_to_bounding_box(
    image: Any, offset_height: Any, offset_width: Any, target_height: Any, target_width: Any
) -> Any:
    """Put zeros around images; mirrors ``tf.image.pad_to_bounding_box``.

    Parameters
    ----------
    image
        One image or a batch of images.
    offset_height, offset_width
        Rows of zeros above, columns of zeros to the left.
    target_height, target_width
        The size of the result.

    Raises
    ------
    ValueError
        `image` has another rank or no pixels, or does not fit there.

    Examples
    --------
    >>> tf.image.pad_to_bounding_box(tf.ones([1, 2, 1]), 1, 0, 2, 3)[:, :, 0].numpy()
    array([[0., 0., 0.],
           [1., 1., 0.]], dtype=float32)
    """
    x = framed(image)
    top, left = number(offset_height), number(offset_width)
    height, width = number(target_height), number(target_width)
    _at_least_zero("", offset_height=top, offset_width=left)
    _countable(height, width)
    shape = static_shape(x)
    if shape is not None:
        for name, size, start, whole in (
            ("width", shape[-2], left, width),
            ("height", shape[-3], top, height),
        ):
            known = size is not None and not is_symbol(start) and not is_symbol(whole)
            if known and size > whole - start:
                raise ValueError(f"{name} must be <= target - offset")
    found = call(own.pad_to_bounding_box, x, top, left, height, width)
    return of_size(found, height, width)


def resize_with_crop_or_pad(image: Any, target_height: Any, target_width: Any) -> Any:
    """Crop images or put zeros around them; mirrors ``tf.image.resize_with_crop_or_pad``.

    Parameters
    ----------
    image
        One image or a batch of images.
    target_height, target_width
        The size of the result.

    Raises
    ------
    ValueError
        `image` has another rank or no pixels, or a size is not above zero.

    Examples
    --------
    >>> tf.image.resize_with_crop_or_pad(tf.ones([2, 4, 1]), 3, 2)[:, :, 0].numpy()
    array([[1., 1.],
           [1., 1.],
           [0., 0.]], dtype=float32)
    """
    x = framed(image)
    height, width = number(target_height), number(target_width)
    positive(target_width=width, target_height=height)
    _countable(height, width)
    return of_size(call(own.resize_with_crop_or_pad, x, height, width), height, width)


def central_crop(image: Any, central_fraction: Any) -> Any:
    """Keep the middle of images; mirrors ``tf.image.central_crop``.

    Parameters
    ----------
    image
        One image or a batch of images.
    central_fraction
        The share of height and of width that is kept.

    Raises
    ------
    ValueError
        `image` has another rank or no pixels, or the share is not above 0 and at most 1.

    Examples
    --------
    >>> tf.image.central_crop(tf.ones([4, 6, 3]), 0.5).shape
    TensorShape([2, 4, 3])
    """
    x = convert(image)
    fraction = central_fraction
    if not is_symbol(fraction):
        # A Python number is a double, a tensor has its own precision.
        fraction = float(raw(fraction)) if hasattr(fraction, "dtype") else float(fraction)
        if not 0.0 < fraction <= 1.0:
            raise ValueError("central_fraction must be within (0, 1]")
        if fraction == 1.0:
            return x
    x = at_least_3d(x)
    shape = static_shape(x)
    if shape is None or len(shape) > 4:
        rank = None if shape is None else len(shape)
        raise ValueError(
            f"`image` should either be a Tensor with rank = 3 or rank = 4. Had rank = {rank}."
        )
    return call(own.central_crop, x, fraction)


def flip_left_right(image: Any) -> Any:
    """Mirror images, left to right; mirrors ``tf.image.flip_left_right``.

    Parameters
    ----------
    image
        One image or a batch of images.

    Raises
    ------
    ValueError
        `image` has another rank or no pixels.

    Examples
    --------
    >>> tf.image.flip_left_right([[[1], [2]]]).numpy().tolist()
    [[[2], [1]]]
    """
    x = _turnable(image)
    return reverse(x, [-2]) if x.dtype is string else call(own.flip_left_right, x)


def flip_up_down(image: Any) -> Any:
    """Turn images upside down; mirrors ``tf.image.flip_up_down``.

    Parameters
    ----------
    image
        One image or a batch of images.

    Raises
    ------
    ValueError
        `image` has another rank or no pixels.

    Examples
    --------
    >>> tf.image.flip_up_down([[[1]], [[2]]]).numpy().tolist()
    [[[2]], [[1]]]
    """
    x = _turnable(image)
    return reverse(x, [-3]) if x.dtype is string else call(own.flip_up_down, x)


def transpose(image: Any, name: str | None = None) -> Any:
    """Exchange height and width; mirrors ``tf.image.transpose``.

    Parameters
    ----------
    image
        One image or a batch of images.
    name
        Accepted for TensorFlow's sake.

    Raises
    ------
    ValueError
        `image` has another rank or no pixels.

    Examples
    --------
    >>> tf.image.transpose(tf.ones([4, 6, 3])).shape
    TensorShape([6, 4, 3])
    """
    x = _turnable(image)
    return _text_transposed(x) if x.dtype is string else call(own.transpose, x)


def rot90(image: Any, k: Any = 1, name: str | None = None) -> Any:
    """Turn images by right angles, against the clock; mirrors ``tf.image.rot90``.

    Parameters
    ----------
    image
        One image or a batch of images.
    k
        How often, int32.
    name
        Accepted for TensorFlow's sake.

    Raises
    ------
    ValueError
        `image` has another rank or no pixels, or `k` is not a scalar.

    Examples
    --------
    >>> tf.image.rot90([[[1], [2]]]).numpy().tolist()
    [[[2]], [[1]]]
    """
    x = _turnable(image)
    times = convert(k, int32)
    shape = static_shape(times)
    if shape is not None and shape != ():
        raise ValueError(f"Shape {shape} must have rank 0")
    known = times if is_symbol(times) else int(raw(times))
    if x.dtype is string and not is_symbol(known):
        known %= 4
        turned = x if known % 2 == 0 else _text_transposed(x)
        axes: list[list[int]] = [[], [-3], [-3, -2], [-2]]
        return reverse(turned, axes[known])
    return call(own.rot90, x, known)


def _text_transposed(x: Any) -> Any:
    """Exchange height and width of images whose values are strings."""
    rank = len(static_shape(x) or (0, 0, 0))
    return transposed(x, [*range(rank - 3), rank - 2, rank - 3, rank - 1])


def _turnable(image: Any) -> Any:
    x = at_least_3d(image)
    return image_or_batch(x)
