"""Reading and writing; mirrors ``tf.io``.

Functions take tensors and, in a traced function, the stand-ins of tensors; what they do is
`headrace.io`.
"""

from __future__ import annotations

import importlib
import importlib.util
from typing import Any

from ..names import lookup as _lookup
from .coding import (
    decode_base64,
    decode_compressed,
    decode_csv,
    decode_json_example,
    decode_raw,
    deserialize_many_sparse,
    encode_base64,
    parse_tensor,
    serialize_many_sparse,
    serialize_sparse,
    serialize_tensor,
)
from .features import (
    FixedLenFeature,
    FixedLenSequenceFeature,
    RaggedFeature,
    SparseFeature,
    VarLenFeature,
)
from .files import TFRecordOptions, TFRecordWriter, matching_files, read_file, write_file
from .parsing import (
    parse_example,
    parse_sequence_example,
    parse_single_example,
    parse_single_sequence_example,
)

__all__ = [
    "FixedLenFeature",
    "FixedLenSequenceFeature",
    "RaggedFeature",
    "SparseFeature",
    "TFRecordOptions",
    "TFRecordWriter",
    "VarLenFeature",
    "decode_base64",
    "decode_compressed",
    "decode_csv",
    "decode_json_example",
    "decode_raw",
    "deserialize_many_sparse",
    "encode_base64",
    "matching_files",
    "parse_example",
    "parse_sequence_example",
    "parse_single_example",
    "parse_single_sequence_example",
    "parse_tensor",
    "read_file",
    "serialize_many_sparse",
    "serialize_sparse",
    "serialize_tensor",
    "write_file",
]

_SUBMODULES = ("gfile",)
# These are also functions of tf.image.
_OF_IMAGES = (
    "decode_and_crop_jpeg",
    "decode_bmp",
    "decode_gif",
    "decode_image",
    "decode_jpeg",
    "decode_png",
    "decode_webp",
    "encode_jpeg",
    "encode_png",
    "extract_jpeg_shape",
    "is_jpeg",
)
_find = _lookup(__name__, _SUBMODULES)


def __getattr__(name: str) -> Any:
    if name in _OF_IMAGES and importlib.util.find_spec("headrace.tf.image") is not None:
        return getattr(importlib.import_module("headrace.tf.image"), name)
    return _find(name)
