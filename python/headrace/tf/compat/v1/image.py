"""Images by the names of TensorFlow 1; mirrors ``tf.compat.v1.image``."""

from __future__ import annotations

from typing import Any

from ... import image as _image

__all__ = ["draw_bounding_boxes", "extract_image_patches"]


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


def __getattr__(name: str) -> Any:
    return getattr(_image, name)
