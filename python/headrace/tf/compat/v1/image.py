"""Images by the names of TensorFlow 1; mirrors ``tf.compat.v1.image``."""

from __future__ import annotations

from typing import Any

from ....seeds import are_required as _are_required
from ... import image as _image
from ...image import resize_with_crop_or_pad as resize_image_with_crop_or_pad
from ...image import transpose as transpose_image
from ...image.glimpses import glimpses
from ...names import lookup as _lookup
from .resizing import (
    ResizeMethod,
    resize,
    resize_area,
    resize_bicubic,
    resize_bilinear,
    resize_image_with_pad,
    resize_images,
    resize_nearest_neighbor,
)

__all__ = [
    "ResizeMethod",
    "draw_bounding_boxes",
    "extract_glimpse",
    "extract_image_patches",
    "resize",
    "resize_area",
    "resize_bicubic",
    "resize_bilinear",
    "resize_image_with_crop_or_pad",
    "resize_image_with_pad",
    "resize_images",
    "resize_nearest_neighbor",
    "sample_distorted_bounding_box",
    "transpose_image",
]


def draw_bounding_boxes(
    images: Any, boxes: Any, name: str | None = None, colors: Any = None
) -> Any:
    """Draw the edges of boxes; mirrors ``tf.compat.v1.image.draw_bounding_boxes``.

    Examples
    --------
    >>> boxes = [[[0.0, 0.0, 1.0, 1.0]]]
    >>> tf.compat.v1.image.draw_bounding_boxes(tf.zeros([1, 2, 2, 1]), boxes).shape
    TensorShape([1, 2, 2, 1])
    """
    return _image.draw_bounding_boxes(images, boxes, colors)


def extract_image_patches(
    images: Any = None, ksizes: Any = None, strides: Any = None, rates: Any = None,
    padding: Any = None, name: str | None = None, sizes: Any = None,
) -> Any:  # fmt: skip
    """Lay small parts of images out; mirrors ``tf.compat.v1.image.extract_image_patches``.

    Examples
    --------
    >>> size, step = [1, 2, 2, 1], [1, 1, 1, 1]
    >>> image = tf.ones([1, 3, 3, 1])
    >>> tf.compat.v1.image.extract_image_patches(image, size, step, step, "VALID").shape
    TensorShape([1, 2, 2, 4])
    """
    return _image.extract_patches(
        images, ksizes if sizes is None else sizes, strides, rates, padding
    )


def extract_glimpse(
    input: Any, size: Any, offsets: Any, centered: bool = True, normalized: bool = True,
    uniform_noise: bool = True, name: str | None = None,
) -> Any:  # fmt: skip
    """Cut a window out of each image; mirrors ``tf.compat.v1.image.extract_glimpse``.

    Offsets are the middles of windows; if centered, they count in halves.

    Examples
    --------
    >>> image = tf.reshape(tf.range(9.0), [1, 3, 3, 1])
    >>> found = tf.compat.v1.image.extract_glimpse(image, [1, 1], [[0, 0]])
    >>> tf.reshape(found, [-1]).numpy()
    array([4.], dtype=float32)
    """

    def start(offset: Any, whole: Any, own: int) -> Any:
        at = offset * whole if normalized else offset
        return (at / 2.0 + whole / 2.0 if centered else at) - own / 2.0

    return glimpses(input, size, offsets, start, "uniform" if uniform_noise else "gaussian")


def sample_distorted_bounding_box(
    image_size: Any, bounding_boxes: Any, seed: int | None = None, seed2: int | None = None,
    min_object_covered: Any = 0.1, aspect_ratio_range: Any = None, area_range: Any = None,
    max_attempts: int | None = None, use_image_if_no_bounding_boxes: bool | None = None,
    name: str | None = None,
) -> Any:  # fmt: skip
    """Choose a random part of an image that shows enough of an object.

    Mirrors ``tf.compat.v1.image.sample_distorted_bounding_box``, with other draws.

    Raises
    ------
    ValueError
        There is no seed, and ``tf.config.experimental.enable_op_determinism()`` asks for one.

    Examples
    --------
    >>> begin, size, box = tf.compat.v1.image.sample_distorted_bounding_box(
    ...     [40, 50, 3], [[[0.2, 0.2, 0.8, 0.8]]], seed=1, seed2=2)
    >>> size.dtype, box.shape
    (tf.int32, TensorShape([1, 1, 4]))
    """
    if not seed and not seed2 and _are_required():
        raise ValueError(
            'tf.compat.v1.image.sample_distorted_bounding_box requires "seed" or "seed2" to be '
            "non-zero when determinism is enabled."
        )
    both = ((seed or 0) << 16) ^ (seed2 or 0)
    return _image.sample_distorted_bounding_box(
        image_size, bounding_boxes, both, min_object_covered, aspect_ratio_range, area_range,
        max_attempts, use_image_if_no_bounding_boxes,
    )  # fmt: skip


_find = _lookup(__name__)


def __getattr__(name: str) -> Any:
    return getattr(_image, name) if name in _image.__all__ else _find(name)
