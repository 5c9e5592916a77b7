"""Arguments of image functions as TensorFlow takes them, with its checks."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..array_ops import ensure_shape
from ..bridge import to_own
from ..convert import convert, is_symbol
from ..kernels import DTypeError, static_shape
from ..tensor import raw
from ..values import results

__all__ = [
    "at_least_3d",
    "call",
    "framed",
    "image_or_batch",
    "number",
    "of_size",
    "positive",
    "shown",
    "three_d",
]


def shown(shape: Any) -> str:
    """Return a shape as TensorFlow writes it."""
    return "<unknown>" if shape is None else str(shape)


def image_or_batch(value: Any, name: str = "image") -> Any:
    """Return an image or a batch of images as a tensor.

    Raises
    ------
    ValueError
        It has neither 3 nor 4 axes, or none of them has a size.
    """
    x = convert(value)
    shape = static_shape(x)
    if shape is not None and len(shape) not in (3, 4):
        raise ValueError(f"'{name}' (shape {shown(shape)}) must have either 3 or 4 dimensions.")
    return at_least_3d(x)


def framed(value: Any) -> Any:
    """Return what gets another frame, an image or a batch of images, as a tensor.

    What is not known to be a batch is an image, as in TensorFlow: a run checks it.

    Raises
    ------
    ValueError
        It has neither 3 nor 4 axes, or none of them has a size.
    """
    x = image_or_batch(value)
    return ensure_shape(x, [None, None, None]) if static_shape(x) is None else x


def at_least_3d(value: Any) -> Any:
    """Return an image, or an array of images, as a tensor.

    Raises
    ------
    ValueError
        It has fewer than 3 axes, or one of the last three is empty.
    """
    x = convert(value)
    shape = static_shape(x)
    if shape is not None and len(shape) < 3:
        raise ValueError(f"'image' (shape {shown(shape)}) must be at least three-dimensional.")
    if shape is not None and 0 in shape[-3:]:
        raise ValueError(f"inner 3 dims of 'image.shape' must be > 0: {shown(shape)}")
    return x


def three_d(value: Any) -> Any:
    """Return an image as a tensor.

    Raises
    ------
    ValueError
        It has not 3 axes, or one of them is empty.
    """
    x = convert(value)
    shape = static_shape(x)
    if shape is not None and len(shape) != 3:
        raise ValueError(f"'image' (shape {shown(shape)}) must be three-dimensional.")
    if shape is not None and 0 in shape:
        raise ValueError(f"all dims of 'image.shape' must be > 0: {shown(shape)}")
    return x


def of_size(images: Any, height: Any, width: Any) -> Any:
    """State the sizes of images that a run makes, where one of them is known."""
    shape = static_shape(images)
    if not is_symbol(images) or shape is None:
        return images
    sizes = [None if is_symbol(size) else size for size in (height, width)]
    return ensure_shape(images, [*(None for _ in shape[:-3]), *sizes, None])


def number(value: Any) -> Any:
    """Return a Python integer where it is known, else a symbol.

    Raises
    ------
    DTypeError
        It is not an integer.
    """
    found = value if is_symbol(value) else convert(value)
    if not found.dtype.is_integer:
        raise DTypeError(f"expected int32 or int64, got {found.dtype.name}")
    return found if is_symbol(found) else int(raw(found))


def positive(**values: Any) -> None:
    """Check integers that are known.

    Raises
    ------
    ValueError
        One is not above zero.
    """
    for name, value in values.items():
        if not is_symbol(value) and value <= 0:
            raise ValueError(f"{name} must be > 0.")


def call(function: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """Call a function of `headrace.image` with tensors or symbols; its results are such, too."""
    return results(function(*map(to_own, args), **kwargs))
