"""Other sizes for images."""

from __future__ import annotations

import enum
from typing import Any

from ..ops import apply_op
from .arguments import image, static_ints, vector

__all__ = ["ResizeMethod", "resize", "resize_with_pad"]


class ResizeMethod(enum.StrEnum):
    """How the values of a resized image are found; mirrors ``tf.image.ResizeMethod``."""

    BILINEAR = "bilinear"
    NEAREST_NEIGHBOR = "nearest"
    BICUBIC = "bicubic"
    AREA = "area"
    LANCZOS3 = "lanczos3"
    LANCZOS5 = "lanczos5"
    GAUSSIAN = "gaussian"
    MITCHELLCUBIC = "mitchellcubic"


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
        One image ``[height, width, channels]`` or a batch of images, of integers or floats.
    size
        New height and width: two integers, or an array of two.
    method
        ``"bilinear"``, ``"nearest"``, ``"bicubic"``, ``"area"``, ``"lanczos3"``, ``"lanczos5"``,
        ``"gaussian"`` or ``"mitchellcubic"``.
    preserve_aspect_ratio
        Give the largest image of the same proportions that is within `size`.
    antialias
        Widen the filter when an image becomes smaller, so that all of its pixels count. ``"area"``
        and ``"nearest"`` know no such thing.
    name
        Accepted for TensorFlow's sake.

    Returns
    -------
    array
        Images of the new size: float32, but ``"nearest"`` keeps the dtype.

    Raises
    ------
    InvalidArgumentError
        `images` have another rank or no pixels, `size` is not two positive integers, or there is no
        such method.

    Examples
    --------
    >>> image = np.arange(8, dtype=np.uint8).reshape(2, 4, 1)
    >>> hr.image.resize(image, [1, 2]).reshape(-1)
    array([2.5, 4.5], dtype=float32)
    """
    fit = "within" if preserve_aspect_ratio else "fill"
    return resized(images, size, method, fit, antialias)


def resize_with_pad(
    image: Any,
    target_height: Any,
    target_width: Any,
    method: str = "bilinear",
    antialias: bool = False,
) -> Any:
    """Resize images to fit within a size, with zeros around them; mirrors ``tf.image``.

    Parameters
    ----------
    image
        One image ``[height, width, channels]`` or a batch of images, of integers or floats.
    target_height, target_width
        The size of the result. The image keeps its proportions and lies in the middle.
    method, antialias
        As of `resize`.

    Returns
    -------
    array
        Images of that size: float32, but ``"nearest"`` keeps the dtype.

    Raises
    ------
    InvalidArgumentError
        As `resize`; or the image is so narrow that no pixel of it is left.

    Examples
    --------
    >>> image = np.ones((2, 4, 1), np.float32)
    >>> hr.image.resize_with_pad(image, 3, 2)[:, :, 0]
    array([[0., 0.],
           [1., 1.],
           [0., 0.]], dtype=float32)
    """
    return resized(image, (target_height, target_width), method, "pad", antialias)


def resized(
    images: Any, size: Any, method: str, fit: str, antialias: bool, grid: str = "half_pixels"
) -> Any:
    """Resize images, stretched or not."""
    attrs: dict[str, Any] = {"method": str(method), "antialias": bool(antialias), "fit": fit}
    attrs["grid"] = grid
    known = static_ints(size)
    if known is not None:
        (result,) = apply_op("image_resize", {**attrs, "size": known}, image(images))
    else:
        (result,) = apply_op("image_resize", attrs, image(images), vector(size))
    return result
