"""Other sizes for images as TensorFlow 1 gives them; mirrors ``tf.compat.v1.image``.

The values of a result lie at the corners of pixels, not in their middles, unless
``half_pixel_centers`` says so; with ``align_corners`` the last ones lie on the last ones of the
image. An image that has the size already is given back as it is, with its dtype.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ....errors import InvalidArgumentError
from ....image import resizing
from ...array_ops import ensure_shape
from ...convert import convert, is_symbol
from ...dtypes import bfloat16, float16, float32, float64, int8, int16, int32, int64, uint8, uint16
from ...image import pad_to_bounding_box
from ...image.arguments import call, framed, number, of_size, positive, shown
from ...image.resizing import images_of, size_of
from ...kernels import DTypeError, static_shape

__all__ = [
    "ResizeMethod",
    "resize",
    "resize_area",
    "resize_bicubic",
    "resize_bilinear",
    "resize_image_with_pad",
    "resize_images",
    "resize_nearest_neighbor",
]

_TYPES = (uint8, int8, uint16, int16, int32, int64, float16, bfloat16, float32, float64)


class ResizeMethod:
    """Numbers of the methods; mirrors ``tf.compat.v1.image.ResizeMethod``."""

    BILINEAR = 0
    NEAREST_NEIGHBOR = 1
    BICUBIC = 2
    AREA = 3


_METHODS = {name: name for name in ("bilinear", "nearest", "bicubic", "area")}
_METHODS |= dict(enumerate(_METHODS))  # type: ignore[arg-type]


def _method(method: Any) -> str:
    try:
        return _METHODS[method]
    except (KeyError, TypeError):
        raise ValueError(f"Resize method is not implemented: {method}") from None


def _grid(align_corners: Any, half_pixel_centers: Any = False) -> str:
    for name, flag in (
        ("align_corners", align_corners),
        ("half_pixel_centers", half_pixel_centers),
    ):
        if not isinstance(flag, bool | np.bool_):
            raise TypeError(f"Expected bool for argument {name!r} not {flag!r}.")
    if align_corners and half_pixel_centers:
        raise InvalidArgumentError("If half_pixel_centers is True, align_corners must be False.")
    return "half_pixels" if half_pixel_centers else "aligned" if align_corners else "corners"


def _stretched(x: Any, size: Any, method: str, fit: str, grid: str) -> Any:
    """Resize images of a dtype that TensorFlow resizes."""
    if x.dtype not in _TYPES:
        raise DTypeError(f"images of {x.dtype.name} cannot be resized; cast them to float32 before")
    if (static_shape(x) or (None,))[-1] == 0:
        raise InvalidArgumentError("image must have at least one channel")
    return call(resizing.resized, x, size, method=method, fit=fit, antialias=False, grid=grid)


def resize(
    images: Any, size: Any, method: Any = ResizeMethod.BILINEAR, align_corners: bool = False,
    preserve_aspect_ratio: bool = False, name: str | None = None,
) -> Any:  # fmt: skip
    """Resize images; mirrors ``tf.compat.v1.image.resize`` and ``resize_images``.

    Parameters
    ----------
    images
        One image or a batch of images.
    size
        New height and width, int32.
    method
        A `ResizeMethod`, or the name of one in ``tf.image.ResizeMethod`` that is as old.
    align_corners
        Lay the last pixels of image and result on each other.
    preserve_aspect_ratio
        Give the largest image of the same proportions that is within `size`.
    name
        Accepted for TensorFlow's sake.

    Raises
    ------
    ValueError
        `images` have another rank, `size` is not two integers, there is no such method.

    Examples
    --------
    >>> image = tf.constant([[[1.0], [2.0], [3.0]]])
    >>> tf.compat.v1.image.resize(image, [1, 2])[0, :, 0].numpy()
    array([1. , 2.5], dtype=float32)
    >>> tf.compat.v1.image.resize(image, [1, 2], align_corners=True)[0, :, 0].numpy()
    array([1., 3.], dtype=float32)
    """
    x, shape = images_of(images)
    size = size_of(size)
    if _unchanged(x, shape, size, preserve_aspect_ratio):
        return x
    fit = "within" if preserve_aspect_ratio else "fill"
    return _stretched(x, size, _method(method), fit, _grid(align_corners))


resize_images = resize


def _unchanged(x: Any, shape: tuple[int | None, ...], size: Any, preserve: bool) -> bool:
    """Tell whether images are known to have the size that is asked for."""
    own = shape[-3:-1]
    if is_symbol(size) or None in own or (preserve and is_symbol(x)):
        return False
    wanted = np.asarray(size)
    if preserve and 0 not in own:
        scale = np.float32(np.min(wanted.astype(np.float32) / np.asarray(own, np.float32)))
        wanted = np.rint(scale * np.asarray(own, np.float32)).astype(np.int64)
    return tuple(wanted.tolist()) == own


def _legacy(images: Any, size: Any, method: str, grid: str) -> Any:
    """Resize a batch of images, whatever size they have."""
    x = convert(images)
    shape = static_shape(x)
    if shape is not None and len(shape) != 4:
        raise InvalidArgumentError(f"input must be 4-dimensional, got shape {shown(shape)}")
    x = ensure_shape(x, [None] * 4)
    size = convert(size, int32)
    wanted = static_shape(size)
    if wanted is not None and wanted not in ((2,), (None,)):
        raise InvalidArgumentError(f"shape_t must have two elements, got shape {shown(wanted)}")
    return _stretched(x, size_of(size), method, "fill", grid)


def resize_bilinear(
    images: Any, size: Any, align_corners: bool = False, name: str | None = None,
    half_pixel_centers: bool = False,
) -> Any:  # fmt: skip
    """Resize a batch of images; mirrors ``tf.compat.v1.image.resize_bilinear``.

    Raises
    ------
    InvalidArgumentError
        `images` are no batch, `size` is not two positive integers, or both flags are set.

    Examples
    --------
    >>> batch = tf.constant([[[[1.0], [2.0], [3.0]]]])
    >>> tf.compat.v1.image.resize_bilinear(batch, [1, 2], half_pixel_centers=True).numpy().ravel()
    array([1.25, 2.75], dtype=float32)
    """
    return _legacy(images, size, "bilinear", _grid(align_corners, half_pixel_centers))


def resize_bicubic(
    images: Any, size: Any, align_corners: bool = False, name: str | None = None,
    half_pixel_centers: bool = False,
) -> Any:  # fmt: skip
    """Resize a batch of images; mirrors ``tf.compat.v1.image.resize_bicubic``.

    Raises
    ------
    InvalidArgumentError
        As of `resize_bilinear`.

    Examples
    --------
    >>> batch = tf.constant([[[[1.0], [2.0], [3.0]]]])
    >>> tf.compat.v1.image.resize_bicubic(batch, [1, 2]).numpy().ravel()
    array([1.     , 2.59375], dtype=float32)
    """
    return _legacy(images, size, "bicubic", _grid(align_corners, half_pixel_centers))


def resize_nearest_neighbor(
    images: Any, size: Any, align_corners: bool = False, name: str | None = None,
    half_pixel_centers: bool = False,
) -> Any:  # fmt: skip
    """Resize a batch of images, which keeps its dtype.

    Mirrors ``tf.compat.v1.image.resize_nearest_neighbor``.

    Raises
    ------
    InvalidArgumentError
        As of `resize_bilinear`.

    Examples
    --------
    >>> batch = tf.constant([[[[1], [2], [3]]]])
    >>> tf.compat.v1.image.resize_nearest_neighbor(batch, [1, 2]).numpy().ravel()
    array([1, 2], dtype=int32)
    """
    return _legacy(images, size, "nearest", _grid(align_corners, half_pixel_centers))


def resize_area(
    images: Any, size: Any, align_corners: bool = False, name: str | None = None
) -> Any:
    """Resize a batch of images; mirrors ``tf.compat.v1.image.resize_area``.

    Raises
    ------
    InvalidArgumentError
        `images` are no batch, or `size` is not two positive integers.

    Examples
    --------
    >>> batch = tf.constant([[[[1.0], [2.0], [3.0], [4.0]]]])
    >>> tf.compat.v1.image.resize_area(batch, [1, 2]).numpy().ravel()
    array([1.5, 3.5], dtype=float32)
    """
    return _legacy(images, size, "area", _grid(align_corners))


def resize_image_with_pad(
    image: Any, target_height: Any, target_width: Any, method: Any = ResizeMethod.BILINEAR,
    align_corners: bool = False,
) -> Any:  # fmt: skip
    """Resize images to fit, with zeros around them.

    Mirrors ``tf.compat.v1.image.resize_image_with_pad``.

    Parameters
    ----------
    image
        One image or a batch of images.
    target_height, target_width
        The size of the result.
    method, align_corners
        As of `resize`.

    Raises
    ------
    ValueError
        `image` has another rank or no pixels, a size is not above zero, there is no such method.

    Examples
    --------
    >>> tf.compat.v1.image.resize_image_with_pad(tf.ones([2, 4, 1]), 3, 2)[:, :, 0].numpy()
    array([[0., 0.],
           [1., 1.],
           [0., 0.]], dtype=float32)
    """
    x = framed(image)
    height, width = number(target_height), number(target_width)
    positive(target_width=width, target_height=height)
    place = None if is_symbol(x) else _padded(static_shape(x), height, width)
    if place is not None:
        return pad_to_bounding_box(x, *place, height, width)
    chosen, grid = _method(method), _grid(align_corners)
    return of_size(_stretched(x, [height, width], chosen, "pad", grid), height, width)


def _padded(shape: Any, height: Any, width: Any) -> tuple[int, int] | None:
    """Return where an image lies that fits as it is; ``None`` if it has to be resized."""
    if is_symbol(height) or is_symbol(width):
        return None
    own = np.asarray(shape[-3:-1], np.float32)
    wanted = np.asarray([height, width], np.float32)
    fitted = own / np.max(own / wanted)
    if not np.array_equal(np.floor(fitted), own):
        return None
    top, left = np.maximum(np.floor((wanted - fitted) / 2), 0).astype(int).tolist()
    return top, left
