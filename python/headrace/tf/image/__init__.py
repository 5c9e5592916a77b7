"""Images; mirrors ``tf.image``.

Functions take tensors and, in a traced function, the stand-ins of tensors; what they do is
`headrace.image`.
"""

from __future__ import annotations

from ..names import lookup as _lookup
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

__getattr__ = _lookup(__name__)
