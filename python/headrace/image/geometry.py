"""Parts of images, images with zeros around them, images turned."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..ops import apply_op
from .arguments import image as as_image
from .arguments import is_symbol, static_ints, vector

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


def _window(kind: str, image: Any, *numbers: Any) -> Any:
    known = static_ints(numbers)
    if known is not None:
        return apply_op("image_window", {"kind": kind, "window": known}, as_image(image))[0]
    return apply_op("image_window", {"kind": kind}, as_image(image), vector(numbers))[0]


def crop_to_bounding_box(
    image: Any, offset_height: Any, offset_width: Any, target_height: Any, target_width: Any
) -> Any:
    """Cut a rectangle out of images; mirrors ``tf.image.crop_to_bounding_box``.

    Parameters
    ----------
    image
        One image ``[height, width, channels]`` or a batch of images.
    offset_height, offset_width
        The first row and column that are kept.
    target_height, target_width
        The size of the result.

    Returns
    -------
    array
        Of the dtype of `image`.

    Raises
    ------
    InvalidArgumentError
        `image` has another rank, or the rectangle is not within it.

    Examples
    --------
    >>> image = np.arange(12).reshape(3, 4, 1)
    >>> hr.image.crop_to_bounding_box(image, 1, 2, 2, 2)[:, :, 0]
    array([[ 6,  7],
           [10, 11]])
    """
    return _window("crop", image, offset_height, offset_width, target_height, target_width)


def pad_to_bounding_box(
    image: Any, offset_height: Any, offset_width: Any, target_height: Any, target_width: Any
) -> Any:
    """Put zeros around images; mirrors ``tf.image.pad_to_bounding_box``.

    Parameters
    ----------
    image
        One image ``[height, width, channels]`` or a batch of images.
    offset_height, offset_width
        Rows of zeros above, columns of zeros to the left.
    target_height, target_width
        The size of the result.

    Returns
    -------
    array
        Of the dtype of `image`.

    Raises
    ------
    InvalidArgumentError
        `image` has another rank, or does not fit into that size there.

    Examples
    --------
    >>> hr.image.pad_to_bounding_box(np.ones((1, 2, 1), int), 1, 0, 2, 3)[:, :, 0]
    array([[0, 0, 0],
           [1, 1, 0]])
    """
    return _window("pad", image, offset_height, offset_width, target_height, target_width)


def resize_with_crop_or_pad(image: Any, target_height: Any, target_width: Any) -> Any:
    """Crop images or put zeros around them; mirrors ``tf.image.resize_with_crop_or_pad``.

    Parameters
    ----------
    image
        One image ``[height, width, channels]`` or a batch of images.
    target_height, target_width
        The size of the result. What is cut off or added is shared by both sides.

    Returns
    -------
    array
        Of the dtype of `image`.

    Raises
    ------
    InvalidArgumentError
        `image` has another rank, or a size is not above zero.

    Examples
    --------
    >>> image = np.arange(1, 6).reshape(1, 5, 1)
    >>> hr.image.resize_with_crop_or_pad(image, 3, 3)[:, :, 0]
    array([[0, 0, 0],
           [2, 3, 4],
           [0, 0, 0]])
    """
    return _window("crop_or_pad", image, target_height, target_width)


def central_crop(image: Any, central_fraction: Any) -> Any:
    """Keep the middle of images; mirrors ``tf.image.central_crop``.

    Parameters
    ----------
    image
        One image ``[height, width, channels]`` or a batch of images.
    central_fraction
        The share of height and of width that is kept: above 0, at most 1.

    Returns
    -------
    array
        Of the dtype of `image`.

    Raises
    ------
    InvalidArgumentError
        `image` has another rank, or there is no such share.

    Examples
    --------
    >>> image = np.arange(16).reshape(4, 4, 1)
    >>> hr.image.central_crop(image, 0.5)[:, :, 0]
    array([[ 5,  6],
           [ 9, 10]])
    """
    if is_symbol(central_fraction):
        fraction = apply_op("cast", {"dtype": np.dtype(np.float64)}, central_fraction)[0]
        return apply_op("image_window", {"kind": "central"}, as_image(image), fraction)[0]
    attrs = {"kind": "central", "fraction": float(central_fraction)}
    return apply_op("image_window", attrs, as_image(image))[0]


def _turned(turn: str, image: Any) -> Any:
    return apply_op("image_turn", {"turn": turn}, as_image(image))[0]


def flip_left_right(image: Any) -> Any:
    """Mirror images, left to right; mirrors ``tf.image.flip_left_right``.

    Parameters
    ----------
    image
        One image ``[height, width, channels]`` or a batch of images.

    Raises
    ------
    InvalidArgumentError
        `image` has another rank.

    Examples
    --------
    >>> hr.image.flip_left_right(np.arange(3).reshape(1, 3, 1)).reshape(-1)
    array([2, 1, 0])
    """
    return _turned("flip_left_right", image)


def flip_up_down(image: Any) -> Any:
    """Turn images upside down; mirrors ``tf.image.flip_up_down``.

    Parameters
    ----------
    image
        One image ``[height, width, channels]`` or a batch of images.

    Raises
    ------
    InvalidArgumentError
        `image` has another rank.

    Examples
    --------
    >>> hr.image.flip_up_down(np.arange(3).reshape(3, 1, 1)).reshape(-1)
    array([2, 1, 0])
    """
    return _turned("flip_up_down", image)


def transpose(image: Any, name: str | None = None) -> Any:
    """Exchange height and width; mirrors ``tf.image.transpose``.

    Parameters
    ----------
    image
        One image ``[height, width, channels]`` or a batch of images.
    name
        Accepted for TensorFlow's sake.

    Raises
    ------
    InvalidArgumentError
        `image` has another rank.

    Examples
    --------
    >>> hr.image.transpose(np.zeros((2, 5, 3))).shape
    (5, 2, 3)
    """
    return _turned("transpose", image)


def rot90(image: Any, k: Any = 1, name: str | None = None) -> Any:
    """Turn images by right angles, against the clock; mirrors ``tf.image.rot90``.

    Parameters
    ----------
    image
        One image ``[height, width, channels]`` or a batch of images.
    k
        How often; below zero with the clock.
    name
        Accepted for TensorFlow's sake.

    Raises
    ------
    InvalidArgumentError
        `image` has another rank, or `k` is not an integer.

    Examples
    --------
    >>> hr.image.rot90(np.arange(4).reshape(2, 2, 1))[:, :, 0]
    array([[1, 3],
           [0, 2]])
    """
    known = static_ints([k])
    if known is not None:
        attrs = {"turn": "rot90", "k": known[0] % 4}
        return apply_op("image_turn", attrs, as_image(image))[0]
    return apply_op("image_turn", {"turn": "rot90"}, as_image(image), as_image(k))[0]
