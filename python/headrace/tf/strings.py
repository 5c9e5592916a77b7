"""Text; mirrors ``tf.strings``.

Strings are bytes. Functions that look at characters take UTF-8. The ops are those of
`headrace.strings`, with TensorFlow's dtypes, shapes and errors.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..errors import InvalidArgumentError
from ..strings.conversions import bucket_attrs
from .convert import convert, is_dense, is_symbol
from .dtypes import as_dtype, float32, int32, int64, string
from .dtypes import bool as bool_
from .kernels import DTypeError, broadcast, check_allowed, run, static_shape
from .names import lookup
from .ragged_format import format_ragged
from .ragged_join import ragged_join
from .ragged_tensor import RaggedTensor
from .segment_join import segment_join
from .tensor import raw
from .text_ops import each, one_text, ragged_or_not
from .unicode import (
    bytes_split,
    ngrams,
    split,
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


_UNITS = ("BYTE", "UTF8_CHAR")


def length(input: Any, unit: str = "BYTE", name: str | None = None) -> Any:
    """Return the number of bytes, or of characters; mirrors ``tf.strings.length``.

    Examples
    --------
    >>> tf.strings.length(["é", "ab"], unit="UTF8_CHAR").numpy()
    array([1, 2], dtype=int32)
    """
    check_allowed("unit", unit, *_UNITS)
    return each("string_length", input, int32, unit=unit, dtype=np.dtype(np.int32))


def _cased(name: str) -> Callable[..., Any]:
    def change(input: Any, encoding: str = "", name: str | None = None) -> Any:
        if encoding not in ("", "utf-8"):
            raise InvalidArgumentError(
                f"only utf-8 or '' (no encoding) is supported, received {encoding}"
            )
        return each(f"string_{label}", input, string, encoding=encoding)

    label = name
    change.__name__ = change.__qualname__ = name
    change.__doc__ = f"Change case: of ASCII, or of all with utf-8; mirrors ``tf.strings.{name}``."
    return change


lower = _cased("lower")
upper = _cased("upper")


def strip(input: Any, name: str | None = None) -> Any:
    """Remove white space at both ends; mirrors ``tf.strings.strip``."""
    return each("string_strip", input, string)


def substr(input: Any, pos: Any, len: Any, unit: str = "BYTE", name: str | None = None) -> Any:
    """Return a part of each string; mirrors ``tf.strings.substr``.

    Raises
    ------
    InvalidArgumentError
        A position is outside of its string.

    Examples
    --------
    >>> tf.strings.substr("hello", 1, 3).numpy()
    b'ell'
    """
    mapper = getattr(type(input), "_map_values", None)
    if mapper is not None:
        return mapper(lambda values: substr(values, pos, len, unit), input)
    x = convert(input, string)
    check_allowed("unit", unit, *_UNITS)
    start, count = _places(pos, len)
    shapes = static_shape(start), static_shape(count)
    if None not in shapes and shapes[0] != shapes[1]:
        first, second = (f"[{','.join(map(str, shape or ()))}]" for shape in shapes)
        raise InvalidArgumentError(
            f"pos and len should have the same shape, got: {first} vs. {second}"
        )
    shape = broadcast(static_shape(x), *shapes)
    return run("substr", (x, start, count), (shape, string), unit=unit)


def _places(pos: Any, len: Any) -> tuple[Any, Any]:
    """Return two integers or arrays of them, of the type of the one that has a type."""
    kind = next((value.dtype for value in (pos, len) if is_dense(value)), None)
    return _index("T", convert(pos, kind)), _index("T", convert(len, kind))


def join(inputs: Any, separator: str = "", name: str | None = None) -> Any:
    """Join strings value by value; mirrors ``tf.strings.join``.

    Examples
    --------
    >>> tf.strings.join(["a", ["b", "c"]], "-").numpy()
    array([b'a-b', b'a-c'], dtype=object)
    """
    if not isinstance(separator, str | bytes):
        raise TypeError(f"Expected string for argument 'separator' not {separator!r}.")
    if isinstance(inputs, str | bytes):
        raise TypeError(f"Expected list for 'inputs' argument to 'string_join' Op, not {inputs!r}.")
    for item in inputs:
        mapper = getattr(type(item), "_map_values", None)
        if mapper is not None:
            return mapper(lambda *values: join(values, separator), *inputs)
    tensors = tuple(convert(x, string) for x in inputs)
    known = [shape for shape in map(static_shape, tensors) if shape]
    for shape in known[1:]:
        pairs = zip(known[0], shape, strict=False)
        if len(shape) != len(known[0]) or any(a != b and None not in (a, b) for a, b in pairs):
            first, second = (f"[{','.join(map(str, s))}]" for s in (known[0], shape))
            raise InvalidArgumentError(f"Input shapes do not match: {first} vs. {second}")
    whole = broadcast(*map(static_shape, tensors)) if tensors else ()
    return run("string_join", tensors, (whole, string), separator=separator)


def reduce_join(
    inputs: Any, axis: Any = None, keepdims: bool = False, separator: str = "",
    name: str | None = None,
) -> Any:  # fmt: skip
    """Join strings along axes; mirrors ``tf.strings.reduce_join``.

    Raises
    ------
    OutOfRangeError
        There is no such axis.
    """
    if is_symbol(axis):
        return axis._tracer.unrecorded(
            "reduce_join along an axis that a run computes", None, string
        )
    axes = None if axis is None else raw(_whole_numbers(axis)).reshape(-1).tolist()
    mark = one_text(separator, "separator")
    inputs = ragged_or_not(inputs)
    if isinstance(inputs, RaggedTensor):
        return ragged_join(inputs, axes, bool(keepdims), mark)
    x = convert(inputs, string)
    dims = static_shape(x)
    if dims is None:
        shape: Any = () if axes is None and not keepdims else None
    else:
        gone = range(len(dims)) if axes is None else [k % max(len(dims), 1) for k in axes]
        kept = [1 if k in gone else dim for k, dim in enumerate(dims) if keepdims or k not in gone]
        shape = tuple(kept)
    attrs = {"axis": axes, "keepdims": bool(keepdims), "separator": mark}
    return run("reduce_join", (x,), (shape, string), **attrs)


def _index(attr: str, value: Any) -> Any:
    """Return positions or numbers of segments, which are int32 or int64."""
    x = convert(value)
    if x.dtype not in (int32, int64):
        word = {"float32": "float", "float64": "double"}.get(x.dtype.name, x.dtype.name)
        raise DTypeError(
            f"Value for attr '{attr}' of {word} is not in the list of allowed values: int32, int64"
        )
    return x


def _whole_numbers(axis: Any) -> Any:
    """Return axes as they are given, int32 or int64; an empty list is none of float32."""
    return convert(axis, int32 if isinstance(axis, list | tuple) and not axis else None)


def unsorted_segment_join(
    inputs: Any, segment_ids: Any, num_segments: Any, separator: str = "", name: str | None = None
) -> Any:
    """Join the strings of each segment; mirrors ``tf.strings.unsorted_segment_join``.

    Empty strings at the front of a segment have no separator behind them, as in TensorFlow.

    Raises
    ------
    InvalidArgumentError
        A number is not below `num_segments`, or negative.
    """
    x, ids = convert(inputs, string), _index("Tindices", segment_ids)
    count = int(num_segments)
    if count < 0:
        raise InvalidArgumentError(f"Number of segments must be non-negative but got {count}")
    if static_shape(ids) == ():
        raise InvalidArgumentError("Segment_id cannot have rank 0")
    return segment_join(x, ids, count, one_text(separator, "separator"))


def regex_replace(
    input: Any, pattern: str, rewrite: str, replace_global: bool = True, name: str | None = None
) -> Any:
    r"""Replace what a pattern matches; mirrors ``tf.strings.regex_replace``.

    Examples
    --------
    >>> tf.strings.regex_replace("a1b22", r"\d+", "#").numpy()
    b'a#b#'
    """
    found, rewritten = _static(pattern, "Pattern"), _static(rewrite, "Rewrite")
    bad = _wrong_escape(rewritten)
    if bad is not None:
        # TensorFlow goes on with what stands before a wrong escape, or replaces nothing.
        rewritten = rewritten[:bad] if replace_global else r"\0"
    attrs: dict[str, Any] = {"rewrite": rewritten, "replace_global": bool(replace_global)}
    return each("regex_replace", input, string, pattern=found, **attrs)


def _wrong_escape(rewrite: str) -> int | None:
    """Return the place of a backslash before neither a digit nor a backslash."""
    k = 0
    while (k := rewrite.find("\\", k)) >= 0:
        if rewrite[k + 1 : k + 2] not in tuple("0123456789\\"):
            return k
        k += 2
    return None


def regex_full_match(input: Any, pattern: str, name: str | None = None) -> Any:
    """Tell which strings a pattern matches as a whole; mirrors ``tf.strings.regex_full_match``."""
    return each("regex_full_match", input, bool_, pattern=_static(pattern, "Pattern"))


def _static(value: Any, name: str) -> str:
    text = one_text(value, name)
    return text.decode() if isinstance(text, bytes) else text


def to_number(input: Any, out_type: Any = float32, name: str | None = None) -> Any:
    """Read numbers; mirrors ``tf.strings.to_number``.

    Raises
    ------
    InvalidArgumentError
        Text that is no number of this type.

    Examples
    --------
    >>> tf.strings.to_number(["1.5", "2"]).numpy()
    array([1.5, 2. ], dtype=float32)
    """
    target = as_dtype(out_type)
    if target.name not in ("float32", "float64", "int32", "int64", "uint32", "uint64"):
        raise DTypeError(
            f"Value for attr 'out_type' of {target.name} is not in the list of allowed values: "
            "float, double, int32, int64, uint32, uint64"
        )
    return each("string_to_number", input, target, out_type=target.dtype)


def as_string(
    input: Any, precision: int = -1, scientific: bool = False, shortest: bool = False,
    width: int = -1, fill: str = "", name: str | None = None,
) -> Any:  # fmt: skip
    """Write values as text; mirrors ``tf.strings.as_string``.

    Examples
    --------
    >>> tf.strings.as_string([1.5, 2.0], precision=1).numpy()
    array([b'1.5', b'2.0'], dtype=object)
    """
    attrs: dict[str, Any] = {
        "precision": precision, "scientific": scientific, "shortest": shortest, "width": width,
        "fill": fill,
    }  # fmt: skip
    return each("as_string", input, string, None, **attrs)


def format(
    template: str, inputs: Any, placeholder: str = "{}", summarize: int = 3, name: str | None = None
) -> Any:
    """Put values into a template; mirrors ``tf.strings.format``.

    Examples
    --------
    >>> tf.strings.format("x: {}", tf.range(10)).numpy()
    b'x: [0 1 2 ... 7 8 9]'
    """
    given = inputs if isinstance(inputs, list | tuple) else [inputs]
    text = _static(template, "template")
    rows = [isinstance(ragged_or_not(item), RaggedTensor) for item in given]
    if any(rows):
        return format_ragged(text, list(map(ragged_or_not, given)), placeholder, summarize)
    items = tuple(map(convert, given))
    if text.count(placeholder) != len(items):
        raise ValueError(
            f"The template expects {text.count(placeholder)} tensors, but the inputs only has "
            f"{len(items)}. Please ensure the number of placeholders in template matches inputs "
            "length."
        )
    attrs = {"template": text, "placeholder": placeholder, "summarize": summarize}
    return run("string_format", items, ((), string), **attrs)


def _buckets(kind: str, num_buckets: int, key: Any = None) -> dict[str, Any]:
    if num_buckets < 1:
        raise InvalidArgumentError(
            f"Value for attr 'num_buckets' of {num_buckets} must be at least minimum 1"
        )
    return bucket_attrs(kind, num_buckets, key)


def to_hash_bucket_fast(input: Any, num_buckets: int, name: str | None = None) -> Any:
    """Return a bucket by FarmHash; mirrors ``tf.strings.to_hash_bucket_fast``."""
    return each("string_hash_bucket", input, int64, **_buckets("fast", num_buckets))


def to_hash_bucket(input: Any, num_buckets: int, name: str | None = None) -> Any:
    """Return a bucket by Murmur hash; mirrors ``tf.strings.to_hash_bucket``."""
    return each("string_hash_bucket", input, int64, **_buckets("", num_buckets))


def to_hash_bucket_strong(input: Any, num_buckets: int, key: Any, name: str | None = None) -> Any:
    """Return a bucket by SipHash; mirrors ``tf.strings.to_hash_bucket_strong``."""
    return each("string_hash_bucket", input, int64, **_buckets("strong", num_buckets, key))


__getattr__ = lookup(__name__)
