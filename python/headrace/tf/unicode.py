"""Text cut into pieces, and characters; part of ``tf.strings``."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from .. import spec as own_spec
from ..errors import InvalidArgumentError
from . import dtypes
from .convert import convert, is_symbol
from .dtypes import int32, int64, string
from .kernels import python, static_shape
from .ragged_tensor import RaggedTensor
from .tensor import raw, wrap

__all__ = [
    "bytes_split",
    "ngrams",
    "split",
    "unicode_decode",
    "unicode_decode_with_offsets",
    "unicode_encode",
    "unicode_script",
    "unicode_split",
    "unicode_split_with_offsets",
    "unicode_transcode",
]

_Pieces = Callable[[bytes], list[Any]]


def _cut(name: str, pieces: _Pieces, input: Any, dtype: Any = string, splits: Any = int64) -> Any:
    """Cut each string: a vector for one string, a ragged tensor for many."""
    if isinstance(input, RaggedTensor):
        inner = _cut(name, pieces, input.flat_values, dtype, splits)
        return input.with_flat_values(inner)
    x = convert(input, string)
    dims = static_shape(x)
    if is_symbol(x):
        if dims == ():
            return x._tracer.unrecorded(name, (None,), dtype)
        rank = 1 if dims is None else len(dims)
        shape = (*(dims or (None,)), None)
        found = own_spec.RaggedTensorSpec(shape, dtypes.to_own(dtype), rank, splits.dtype)
        return x._tracer.stand_in(name, found)
    array = raw(x)
    cut = [pieces(item) for item in array.reshape(-1)]
    flat = [piece for found in cut for piece in found]
    values = np.empty(len(flat), dtype.dtype)
    values[:] = flat
    if array.ndim == 0:
        return wrap(values)
    lengths = np.asarray([len(found) for found in cut], splits.dtype)
    made = RaggedTensor.from_row_lengths(values, lengths)
    for size in reversed(array.shape[1:]):
        made = RaggedTensor.from_uniform_row_length(made, size)
    return made


def split(input: Any, sep: Any = None, maxsplit: int = -1, name: str | None = None) -> Any:
    """Cut at a separator, or at white space; mirrors ``tf.strings.split``.

    Examples
    --------
    >>> tf.strings.split(["a b", "c"])
    <tf.RaggedTensor [[b'a', b'b'], [b'c']]>
    """
    mark = b"" if sep is None else raw(convert(sep, string)).item()

    def pieces(item: bytes) -> list[bytes]:
        if mark or maxsplit <= 0:
            return [item] if maxsplit == 0 else item.split(mark or None, maxsplit)
        found = item.split(None, maxsplit)
        # TensorFlow gives the rest after the last cut, though it be empty.
        return [*found, b""] if len(found) == maxsplit else found

    return _cut("split", pieces, input)


def bytes_split(input: Any, name: str | None = None) -> Any:
    """Cut into single bytes; mirrors ``tf.strings.bytes_split``."""
    return _cut("bytes_split", lambda item: [item[k : k + 1] for k in range(len(item))], input)


_CODECS = {"UTF-8": "utf-8", "UTF-16-BE": "utf-16-be", "UTF-32-BE": "utf-32-be"}


def _characters(
    item: bytes, encoding: str, errors: str, replacement: int, control: bool
) -> list[tuple[int, int, bytes]]:
    """Return the characters of a string: code point, where it begins, and its bytes."""
    codec = _CODECS.get(encoding, encoding.lower())
    found: list[tuple[int, int, bytes]] = []
    at = 0
    text = item.decode(codec, "surrogateescape" if codec == "utf-8" else "replace")
    k = 0
    while k < len(text):
        char = text[k]
        if codec == "utf-8" and 0xDC80 <= ord(char) <= 0xDCFF:
            size = _bad(item, at)
            if errors == "strict":
                raise InvalidArgumentError("Invalid formatting on input string")
            if errors == "replace":
                found.append((replacement, at, item[at : at + size]))
            k += size
            at += size
            continue
        piece = char.encode(codec)
        code = ord(char)
        if control and (code < 0x20 or code == 0x7F):
            if errors == "replace":
                found.append((replacement, at, piece))
        else:
            found.append((code, at, piece))
        at += len(piece)
        k += 1
    return found


def _bad(item: bytes, at: int) -> int:
    """Return how many bytes at a place are one broken character."""
    try:
        item[at:].decode("utf-8")
    except UnicodeDecodeError as error:
        return error.end - error.start
    return 1


def unicode_decode(
    input: Any, input_encoding: str, errors: str = "replace", replacement_char: int = 65533,
    replace_control_characters: bool = False, name: str | None = None,
) -> Any:  # fmt: skip
    """Return the code points; mirrors ``tf.strings.unicode_decode``.

    Examples
    --------
    >>> tf.strings.unicode_decode("aé", "UTF-8").numpy()
    array([ 97, 233], dtype=int32)
    """
    options = (input_encoding, errors, replacement_char, replace_control_characters)
    return _cut(
        "unicode_decode", lambda x: [c for c, _, _ in _characters(x, *options)], input, int32
    )


def unicode_decode_with_offsets(
    input: Any, input_encoding: str, errors: str = "replace", replacement_char: int = 65533,
    replace_control_characters: bool = False, name: str | None = None,
) -> Any:  # fmt: skip
    """Return the code points and where each begins."""
    options = (input_encoding, errors, replacement_char, replace_control_characters)
    codes = unicode_decode(input, *options)
    label = "unicode_decode_with_offsets"
    return codes, _cut(label, lambda x: [k for _, k, _ in _characters(x, *options)], input, int64)


def unicode_split(
    input: Any, input_encoding: str, errors: str = "replace", replacement_char: int = 65533,
    name: str | None = None,
) -> Any:  # fmt: skip
    """Cut into characters; mirrors ``tf.strings.unicode_split``."""

    def pieces(item: bytes) -> list[bytes]:
        found = _characters(item, input_encoding, errors, replacement_char, False)
        codec = _CODECS.get(input_encoding, "utf-8")
        return [chr(code).encode(codec) for code, _, _ in found]

    return _cut("unicode_split", pieces, input)


def unicode_split_with_offsets(
    input: Any, input_encoding: str, errors: str = "replace", replacement_char: int = 65533,
    name: str | None = None,
) -> Any:  # fmt: skip
    """Cut into characters, and say where each begins."""
    options = (input_encoding, errors, replacement_char, False)
    label = "unicode_split_with_offsets"
    at = _cut(label, lambda x: [k for _, k, _ in _characters(x, *options)], input, int64)
    return unicode_split(input, input_encoding, errors, replacement_char), at


def unicode_encode(
    input: Any, output_encoding: str, errors: str = "replace", replacement_char: int = 65533,
    name: str | None = None,
) -> Any:  # fmt: skip
    """Make strings of code points; mirrors ``tf.strings.unicode_encode``."""
    codec = _CODECS[output_encoding]

    def one(codes: Any) -> bytes:
        text = []
        for code in codes:
            good = 0 <= code < 0xD800 or 0xDFFF < code <= 0x10FFFF
            if not good and errors == "strict":
                raise InvalidArgumentError(
                    "Code point is out of range for Unicode, or a noncharacter."
                )
            if good or errors == "replace":
                text.append(chr(code if good else replacement_char))
        return "".join(text).encode(codec)

    if isinstance(input, RaggedTensor):
        if isinstance(input.values, RaggedTensor):
            return input.with_values(
                unicode_encode(input.values, output_encoding, errors, replacement_char)
            )
        rows = [raw(row) for row in input]
        made = np.empty(len(rows), object)
        made[:] = [one(row) for row in rows]
        return wrap(made)
    x = convert(input)
    dims = static_shape(x)

    def compute(array: Any) -> Any:
        flat = array.reshape(-1, array.shape[-1])
        made = np.empty(len(flat), object)
        made[:] = [one(row) for row in flat]
        return made.reshape(array.shape[:-1])

    return python("unicode_encode", compute, (None if dims is None else dims[:-1], string), x)


def unicode_transcode(
    input: Any, input_encoding: str, output_encoding: str, errors: str = "replace",
    replacement_char: int = 65533, replace_control_characters: bool = False,
    name: str | None = None,
) -> Any:  # fmt: skip
    """Change the encoding; mirrors ``tf.strings.unicode_transcode``."""
    from .strings import _each

    options = (input_encoding, errors, replacement_char, replace_control_characters)
    codec = _CODECS[output_encoding]

    def each(item: bytes) -> bytes:
        return "".join(chr(code) for code, _, _ in _characters(item, *options)).encode(codec)

    return _each("unicode_transcode", each, input)


def unicode_script(input: Any, name: str | None = None) -> Any:
    """Not there: it needs the tables of scripts of ICU."""
    raise NotImplementedError(
        "tf.strings.unicode_script needs ICU's tables, which headrace has not"
    )


def ngrams(
    data: Any, ngram_width: Any, separator: str = " ", pad_values: Any = None,
    padding_width: Any = None, preserve_short_sequences: bool = False, name: str | None = None,
) -> Any:  # fmt: skip
    """Join neighbours of each row; mirrors ``tf.strings.ngrams``."""
    widths = [ngram_width] if isinstance(ngram_width, int) else list(ngram_width)
    if pad_values is None:
        left = right = b""
    else:
        pair = (pad_values, pad_values) if isinstance(pad_values, str | bytes) else pad_values
        left, right = (raw(convert(item, string)).item() for item in pair)
    dense: Any = None if isinstance(data, RaggedTensor) else raw(convert(data, string))
    flat = data if dense is None else dense.reshape(-1, dense.shape[-1])
    rows: list[Any] = [raw(row) for row in flat]

    def one(row: list[bytes]) -> list[bytes]:
        made = []
        for width in widths:
            pad = 0
            if pad_values is not None:
                pad = width - 1 if padding_width is None else min(padding_width, width - 1)
            items = [left] * pad + list(row) + [right] * pad
            starts = range(len(items) - width + 1)
            found = [separator.encode().join(items[k : k + width]) for k in starts]
            if not found and preserve_short_sequences and row:
                found = [separator.encode().join(items)]
            made += found
        return made

    cut = [one(list(row)) for row in rows]
    values = np.empty(sum(map(len, cut)), object)
    values[:] = [item for found in cut for item in found]
    made = RaggedTensor.from_row_lengths(
        values, np.asarray([len(found) for found in cut], np.int64)
    )
    if dense is not None and len({len(found) for found in cut}) <= 1:
        tensor = made.to_tensor()
        return wrap(raw(tensor).reshape(*dense.shape[:-1], -1))
    return made
