"""Reading and writing: Example messages, raw bytes, files; mirrors ``tf.io``.

The functions take arrays and, inside a traced function, symbols alike.
"""

from ..features import (
    FixedLenFeature,
    FixedLenSequenceFeature,
    RaggedFeature,
    SparseFeature,
    VarLenFeature,
)
from .coding import (
    decode_base64,
    decode_compressed,
    decode_csv,
    decode_json_example,
    decode_raw,
    encode_base64,
    parse_tensor,
    serialize_tensor,
)
from .files import matching_files, read_file, write_file
from .indexing import RecordIndex, index_tfrecord
from .parsing import (
    parse_example,
    parse_sequence_example,
    parse_single_example,
    parse_single_sequence_example,
    serialize_example,
)
from .records import TFRecordOptions, TFRecordWriter

__all__ = [
    "FixedLenFeature",
    "FixedLenSequenceFeature",
    "RaggedFeature",
    "RecordIndex",
    "SparseFeature",
    "TFRecordOptions",
    "TFRecordWriter",
    "VarLenFeature",
    "decode_base64",
    "decode_compressed",
    "decode_csv",
    "decode_json_example",
    "decode_raw",
    "encode_base64",
    "index_tfrecord",
    "matching_files",
    "parse_example",
    "parse_sequence_example",
    "parse_single_example",
    "parse_single_sequence_example",
    "parse_tensor",
    "read_file",
    "serialize_example",
    "serialize_tensor",
    "write_file",
]
