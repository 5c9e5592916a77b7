"""Other sizes for images; mirrors ``tf.image``."""

from __future__ import annotations

from typing import Any

from ...errors import InvalidArgumentError
from ...image import resizing
from ...image.resizing import ResizeMethod
from ..convert import convert, is_symbol
from ..dtypes import int32
from ..kernels import DTypeError, static_shape
from ..tensor import raw
from .arguments import call, framed, number, of_size, positive

__all__ = ["ResizeMethod", "resize", "resize_with_pad"]

_METHODS = frozenset(ResizeMethod)


def resize(
    images: Any,
    size: Any,
    method: str = "bilinear",
    preserve_aspect_ratio: bool = False,
    antialias: bool = False,
    name: str | None = None,
) -> Any:
    """Resize images; mirrors ``tf.image.resize``.

    Parameters
    ----------
    images
        One image or a batch of images.
    size
        New height and width, int32.
    method
        A `ResizeMethod` or its name.
    preserve_aspect_ratio
        Give the largest image of the same proportions that is within `size`.
    antialias
        Widen the filter when an image becomes smaller.
    name
        Accepted for TensorFlow's sake.

    Raises
    ------
    ValueError
        `images` have another rank, `size` is not two integers, there is no such method.

    Examples
    --------
    >>> tf.image.resize(tf.ones([4, 6, 3]), [2, 3]).shape
    TensorShape([2, 3, 3])
    """
    x, shape = images_of(images)
    if method not in _METHODS:
        raise ValueError(f"Resize method is not implemented: {method}")
    if not (x.dtype.is_integer or x.dtype.is_floating):
        raise DTypeError(f"images of {x.dtype.name} cannot be resized; cast them to float32 before")
    if shape[-1] == 0:
        raise InvalidArgumentError("image must have at least one channel")
    fit = "within" if preserve_aspect_ratio else "fill"
    wanted = size_of(size)
    found = call(resizing.resized, x, wanted, method=method, fit=fit, antialias=antialias)
    if preserve_aspect_ratio or not is_symbol(wanted) or not isinstance(size, list | tuple):
        return found
    return of_size(found, *map(number, size))


def images_of(images: Any) -> tuple[Any, tuple[int | None, ...]]:
    """Return images as a tensor, and what is known of their shape."""
    x = convert(images)
    shape = static_shape(x)
    if shape is None:
        raise ValueError("'images' contains no shape.")
    if len(shape) not in (3, 4):
        raise ValueError("'images' must have either 3 or 4 dimensions.")
    return x, shape


def size_of(size: Any) -> Any:
    """Return the size as integers, or as a symbol of two."""
    try:
        x = convert(size, int32)
    except (TypeError, ValueError):
        raise ValueError("'size' must be a 1-D int32 Tensor") from None
    shape = static_shape(x)
    if shape is not None and shape not in ((2,), (None,)):
        raise ValueError("'size' must be a 1-D Tensor of 2 elements: new_height, new_width")
    return x if is_symbol(x) else raw(x)


def resize_with_pad(
    image: Any,
    target_height: Any,
    target_width: Any,
    method: str = "bilinear",
    antialias: bool = False,
) -> Any:
    """Resize images to fit, with zeros around them; mirrors ``tf.image.resize_with_pad``.

    Parameters
    ----------
    image
        One image or a batch of images.
    target_height, target_width
        The size of the result.
    method, antialias
        As of `resize`.

    Raises
    ------
    ValueError
        `image` has another rank or no pixels, a size is not above zero, there is no such method.

    Examples
    --------
    >>> tf.image.resize_with_pad(tf.ones([2, 4, 1]), 3, 2)[:, :, 0].numpy()
    array([[0., 0.],
           [1., 1.],
           [0., 0.]], dtype=float32)
    """
    x = framed(image)
    height, width = number(target_height), number(target_width)
    positive(target_width=width, target_height=height)
    if method not in _METHODS:
        raise ValueError(f"Resize method is not implemented: {method}")
    found = call(resizing.resize_with_pad, x, height, width, method=method, antialias=antialias)
    return of_size(found, height, width)
