"""Text; mirrors ``tf.strings``.

Strings are bytes. Functions that look at characters take UTF-8.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Callable
from typing import Any

import numpy as np

from ..errors import InvalidArgumentError
from .convert import convert
from .dtypes import as_dtype, float32, int32, int64, string
from .dtypes import bool as bool_
from .hashing import farmhash64, murmur64, siphash
from .kernels import broadcast, python, run, static_shape
from .names import lookup
from .regex import compiled, rewrite_of
from .tensor import raw
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


def _each(name: str, function: Callable[..., Any], x: Any, dtype: Any = string) -> Any:
    """Apply a function of `bytes` to each value."""
    mapper = getattr(type(x), "_map_values", None)
    if mapper is not None:
        return mapper(lambda values: _each(name, function, values, dtype), x)
    x = convert(x, string)

    def compute(array: Any) -> Any:
        made = np.empty(array.size, dtype.dtype)
        made[:] = [function(item) for item in array.reshape(-1)]
        return made.reshape(array.shape)

    return python(name, compute, (static_shape(x), dtype), x)


def length(input: Any, unit: str = "BYTE", name: str | None = None) -> Any:
    """Return the number of bytes, or of characters; mirrors ``tf.strings.length``.

    Examples
    --------
    >>> tf.strings.length(["é", "ab"], unit="UTF8_CHAR").numpy()
    array([1, 2], dtype=int32)
    """
    if unit not in ("BYTE", "UTF8_CHAR"):
        raise InvalidArgumentError(f"unit must be BYTE or UTF8_CHAR, got {unit!r}")
    mapper = getattr(type(input), "_map_values", None)
    if mapper is not None:
        return mapper(lambda values: length(values, unit), input)
    x = convert(input, string)
    return run("string_length", (x,), (static_shape(x), int32), unit=unit, dtype=np.dtype(np.int32))


def _cased(name: str, plain: str) -> Callable[..., Any]:
    def change(input: Any, encoding: str = "", name: str | None = None) -> Any:
        if encoding not in ("", "utf-8"):
            raise InvalidArgumentError(f"encoding must be '' or 'utf-8', got {encoding!r}")
        if encoding:

            def each(item: bytes) -> bytes:
                changed: str = getattr(item.decode("utf-8", "replace"), label)()
                return changed.encode()

            return _each(label, each, input)
        return _each(label, getattr(bytes, label), input)

    label = plain
    change.__name__ = change.__qualname__ = name
    change.__doc__ = f"Change case: of ASCII, or of all with utf-8; mirrors ``tf.strings.{name}``."
    return change


lower = _cased("lower", "lower")
upper = _cased("upper", "upper")


def strip(input: Any, name: str | None = None) -> Any:
    """Remove white space at both ends; mirrors ``tf.strings.strip``."""
    return _each("strip", bytes.strip, input)


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
    start = convert(pos)
    count = convert(len, start.dtype)
    shape = broadcast(static_shape(x), static_shape(start), static_shape(count))
    characters = unit == "UTF8_CHAR"

    def one(text: bytes, first: int, size: int) -> bytes:
        whole: Any = text.decode("utf-8", "surrogateescape") if characters else text
        total = whole.__len__()
        if not -total <= first <= total:
            raise InvalidArgumentError(f"pos {first} out of range for string b'{text!r}'")
        first = first if first >= 0 else first + total
        found = whole[first : first + max(size, 0)]
        return bytes(found.encode("utf-8", "surrogateescape") if characters else found)

    def compute(array: Any, firsts: Any, sizes: Any) -> Any:
        each = np.broadcast_arrays(array, firsts, sizes)
        made = np.empty(each[0].size, object)
        rows = zip(*(a.reshape(-1) for a in each), strict=True)
        made[:] = [one(text, int(first), int(size)) for text, first, size in rows]
        return made.reshape(each[0].shape)

    return python("substr", compute, (shape, string), x, start, count)


def join(inputs: Any, separator: str = "", name: str | None = None) -> Any:
    """Join strings value by value; mirrors ``tf.strings.join``.

    Examples
    --------
    >>> tf.strings.join(["a", ["b", "c"]], "-").numpy()
    array([b'a-b', b'a-c'], dtype=object)
    """
    for item in inputs:
        mapper = getattr(type(item), "_map_values", None)
        if mapper is not None:
            return mapper(lambda *values: join(values, separator), *inputs)
    tensors = [convert(x, string) for x in inputs]
    shape = broadcast(*(static_shape(x) for x in tensors))
    middle = separator.encode() if isinstance(separator, str) else separator

    def compute(*arrays: Any) -> Any:
        each = np.broadcast_arrays(*arrays)
        made = np.empty(each[0].size, object)
        made[:] = [middle.join(row) for row in zip(*(a.reshape(-1) for a in each), strict=True)]
        return made.reshape(each[0].shape)

    return python("join", compute, (shape, string), *tensors)


def reduce_join(
    inputs: Any, axis: Any = None, keepdims: bool = False, separator: str = "",
    name: str | None = None,
) -> Any:  # fmt: skip
    """Join strings along axes; mirrors ``tf.strings.reduce_join``."""
    from .reductions import _rest, axes_of

    x = convert(inputs, string)
    dims = static_shape(x)
    axes = axes_of(axis, None if dims is None else len(dims))
    middle = separator.encode()

    def compute(array: Any) -> Any:
        gone = range(array.ndim) if axes is None else [k % array.ndim for k in axes]
        kept = [k for k in range(array.ndim) if k not in gone]
        sizes = [array.shape[k] for k in kept]
        flat = array.transpose([*kept, *gone]).reshape(int(np.prod(sizes, dtype=int)), -1)
        made = np.empty(flat.shape[0], object)
        made[:] = [middle.join(row) for row in flat]
        shape = [1 if k in gone else array.shape[k] for k in range(array.ndim)]
        return made.reshape(shape if keepdims else sizes)

    return python("reduce_join", compute, (_rest(dims, axes, keepdims), string), x)


def unsorted_segment_join(
    inputs: Any, segment_ids: Any, num_segments: Any, separator: str = "", name: str | None = None
) -> Any:
    """Join the strings of each segment; mirrors ``tf.strings.unsorted_segment_join``."""
    x, ids = convert(inputs, string), convert(segment_ids)
    count = int(num_segments)

    def compute(array: Any, rows: Any) -> Any:
        made = np.empty(count, object)
        made[:] = [separator.encode().join(array[rows == k]) for k in range(count)]
        return made

    return python("unsorted_segment_join", compute, ((count,), string), x, ids)


def regex_replace(
    input: Any, pattern: str, rewrite: str, replace_global: bool = True, name: str | None = None
) -> Any:
    r"""Replace what a pattern matches; mirrors ``tf.strings.regex_replace``.

    Examples
    --------
    >>> tf.strings.regex_replace("a1b22", r"\d+", "#").numpy()
    b'a#b#'
    """
    found = compiled(_text(pattern))
    template = rewrite_of(_text(rewrite))
    count = 0 if replace_global else 1

    def each(item: bytes) -> bytes:
        text = item.decode("utf-8", "surrogateescape")
        return found.sub(template, text, count=count).encode("utf-8", "surrogateescape")

    return _each("regex_replace", each, input)


def regex_full_match(input: Any, pattern: str, name: str | None = None) -> Any:
    """Tell which strings a pattern matches as a whole; mirrors ``tf.strings.regex_full_match``."""
    found = compiled(_text(pattern))

    def each(item: bytes) -> bool:
        return found.fullmatch(item.decode("utf-8", "surrogateescape")) is not None

    return _each("regex_full_match", each, input, bool_)


def _text(value: Any) -> str:
    item = raw(value)
    item = item.item() if isinstance(item, np.ndarray) else item
    return item.decode() if isinstance(item, bytes) else str(item)


_FLOAT = re.compile(
    rb"[+-]?(\d+\.?\d*(e[+-]?\d+)?|\.\d+(e[+-]?\d+)?|inf(inity)?|nan|0x[\da-f]+)", re.I
)
_INTEGER = re.compile(rb"[+-]?\d+")


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

    def each(item: bytes) -> Any:
        text = item.strip(b" \t\n\v\f\r")
        try:
            if target.is_floating:
                if _FLOAT.fullmatch(text):
                    return _number(text, target)
            elif _INTEGER.fullmatch(text):
                number = int(text)
                if target.min <= number <= target.max:
                    return number
        except (ValueError, OverflowError):
            pass
        shown = item.decode("utf-8", "replace")
        raise InvalidArgumentError(f"StringToNumberOp could not correctly convert string: {shown}")

    return _each("to_number", each, input, target)


def _number(text: bytes, target: Any) -> Any:
    # NumPy rounds the decimal digits to the type once; by way of a double it would be twice.
    if b"x" in text.lower():
        return target.dtype.type(float.fromhex(text.decode()))
    with np.errstate(over="ignore"):
        return target.dtype.type(text.decode())


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
    mapper = getattr(type(input), "_map_values", None)
    if mapper is not None:
        return mapper(lambda v: as_string(v, precision, scientific, shortest, width, fill), input)
    x = convert(input)
    if scientific and shortest:
        raise InvalidArgumentError("Cannot select both scientific and shortest notation")
    if len(fill) > 1:
        raise InvalidArgumentError(f"Fill string must be one or fewer characters, got {fill!r}")
    numeric = x.dtype.is_floating or x.dtype.is_complex
    if not numeric and (scientific or shortest or precision >= 0) and not x.dtype.is_integer:
        raise InvalidArgumentError("scientific, shortest and precision are for numbers only")
    flags = fill + (str(width) if width >= 0 else "")
    kind = "e" if scientific else "g" if shortest else "f"
    digits = f".{precision}" if precision >= 0 else ""

    def one(item: Any) -> bytes:
        if isinstance(item, bytes):
            return bytes(f"%{flags}s".encode() % item)
        if isinstance(item, bool | np.bool_):
            return (f"%{flags}s" % ("true" if item else "false")).encode()
        if isinstance(item, complex):
            parts = f"(%{flags}{digits}{kind},%{flags}{digits}{kind})"
            return (parts % (item.real, item.imag)).encode()
        if isinstance(item, float):
            return str(f"%{flags}{digits}{kind}" % item).encode()
        return str(f"%{flags}d" % item).encode()

    def compute(array: Any) -> Any:
        made = np.empty(array.size, object)
        made[:] = [one(item) for item in array.reshape(-1).tolist()]
        return made.reshape(array.shape)

    return python("as_string", compute, (static_shape(x), string), x)


def format(
    template: str, inputs: Any, placeholder: str = "{}", summarize: int = 3, name: str | None = None
) -> Any:
    """Put values into a template; mirrors ``tf.strings.format``."""
    items = [convert(x) for x in (inputs if isinstance(inputs, list | tuple) else [inputs])]
    if template.count(placeholder) != len(items):
        raise ValueError(
            f"{template.count(placeholder)} placeholder(s) in template does not match "
            f"{len(items)} tensor(s) provided as input"
        )

    def compute(*arrays: Any) -> bytes:
        text = template
        for array in arrays:
            with np.printoptions(threshold=2 * summarize, edgeitems=summarize):
                shown = f'"{array.item().decode()}"' if array.dtype == object else str(array)
            text = text.replace(placeholder, shown, 1)
        return text.encode()

    return python("format", compute, ((), string), *items)


def to_hash_bucket_fast(input: Any, num_buckets: int, name: str | None = None) -> Any:
    """Return a bucket by FarmHash; mirrors ``tf.strings.to_hash_bucket_fast``."""
    return _hashed("to_hash_bucket_fast", farmhash64, input, num_buckets)


def to_hash_bucket(input: Any, num_buckets: int, name: str | None = None) -> Any:
    """Return a bucket by Murmur hash; mirrors ``tf.strings.to_hash_bucket``."""
    return _hashed("to_hash_bucket", murmur64, input, num_buckets)


def to_hash_bucket_strong(input: Any, num_buckets: int, key: Any, name: str | None = None) -> Any:
    """Return a bucket by SipHash; mirrors ``tf.strings.to_hash_bucket_strong``."""
    pair = (int(key[0]), int(key[1]))
    digest = functools.partial(siphash, key=pair)
    return _hashed("to_hash_bucket_strong", digest, input, num_buckets)


def _hashed(name: str, digest: Callable[[bytes], int], input: Any, num_buckets: int) -> Any:
    count = int(num_buckets)
    if count < 1:
        raise InvalidArgumentError(f"num_buckets must be at least 1, got {count}")
    return _each(name, lambda item: digest(item) % count, input, int64)


__getattr__ = lookup(__name__)
