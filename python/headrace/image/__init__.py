"""Images: decoding, encoding, and what training does to them; mirrors ``tf.image``.

Functions take arrays and, inside a traced function, symbols alike. An image is height x width x
channels, a batch of images has an axis in front.
"""

from .codecs import (
    is_jpeg,
)
from .geometry import (
    central_crop,
    crop_to_bounding_box,
    flip_left_right,
    flip_up_down,
    pad_to_bounding_box,
    resize_with_crop_or_pad,
    rot90,
    transpose,
)
from .resizing import (
    ResizeMethod,
    resize,
    resize_with_pad,
)

__all__ = [
    "ResizeMethod",
    "central_crop",
    "crop_to_bounding_box",
    "flip_left_right",
    "flip_up_down",
    "is_jpeg",
    "pad_to_bounding_box",
    "resize",
    "resize_with_crop_or_pad",
    "resize_with_pad",
    "rot90",
    "transpose",
]
