"""Images: decoding, encoding, and what training does to them; mirrors ``tf.image``.

Functions take arrays and, inside a traced function, symbols alike. An image is height x width x
channels, a batch of images has an axis in front.
"""

from .codecs import is_jpeg
from .resizing import ResizeMethod, resize, resize_with_pad

__all__ = [
    "ResizeMethod",
    "is_jpeg",
    "resize",
    "resize_with_pad",
]
