"""Text: cutting, joining, patterns, numbers, hashes, Unicode; mirrors ``tf.strings``.

Functions take one string or an array of them, `bytes` or `str`, and give back what they got; ragged
arrays stay ragged. Inside a traced function they take symbols.
"""

from .conversions import (
    as_string,
    format,
    to_hash_bucket,
    to_hash_bucket_fast,
    to_hash_bucket_strong,
    to_number,
)
from .parts import (
    bytes_split,
    join,
    length,
    lower,
    ngrams,
    reduce_join,
    split,
    strip,
    substr,
    unsorted_segment_join,
    upper,
)
from .patterns import regex_full_match, regex_replace
from .unicode import (
    unicode_decode,
    unicode_decode_with_offsets,
    unicode_encode,
    unicode_script,
    unicode_split,
    unicode_split_with_offsets,
    unicode_transcode,
)

__all__ = [
    "as_string",
    "bytes_split",
    "format",
    "join",
    "length",
    "lower",
    "ngrams",
    "reduce_join",
    "regex_full_match",
    "regex_replace",
    "split",
    "strip",
    "substr",
    "to_hash_bucket",
    "to_hash_bucket_fast",
    "to_hash_bucket_strong",
    "to_number",
    "unicode_decode",
    "unicode_decode_with_offsets",
    "unicode_encode",
    "unicode_script",
    "unicode_split",
    "unicode_split_with_offsets",
    "unicode_transcode",
    "unsorted_segment_join",
    "upper",
]
