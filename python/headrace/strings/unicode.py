"""Characters and encodings; part of `headrace.strings`."""

from __future__ import annotations

import codecs
import functools
from typing import Any

import numpy as np

from .. import checks
from ..errors import InvalidArgumentError
from ..ops import apply_op, refuse_in_trace
from ..tensors import RaggedTensor

__all__ = [
    "unicode_decode",
    "unicode_decode_with_offsets",
    "unicode_encode",
    "unicode_script",
    "unicode_split",
    "unicode_split_with_offsets",
    "unicode_transcode",
]

# What the engine decodes; for others Python's codecs make UTF-8 first.
_ENGINE = frozenset(
    (
        *("utf8", "utf16", "utf16be", "utf16le", "utf32", "utf32be", "utf32le"),
        *("usascii", "ascii", "iso88591", "latin1"),
    )
)


def unicode_decode(
    input: Any,
    input_encoding: str,
    errors: str = "replace",
    replacement_char: int = 65533,
    replace_control_characters: bool = False,
    name: str | None = None,
) -> Any:
    """Return the code points of strings; mirrors ``tf.strings.unicode_decode``.

    Parameters
    ----------
    input
        A string, or an array of them.
    input_encoding
        ``"UTF-8"``, ``"UTF-16"``, ``"UTF-32"`` (also ``-BE`` and ``-LE``), ``"US-ASCII"`` or
        ``"ISO-8859-1"``; other encodings that Python knows do not run in a graph.
    errors
        What becomes of broken characters: ``"replace"``, ``"ignore"`` or ``"strict"``, an error.
    replacement_char
        The code point that replaces them.
    replace_control_characters
        Whether the control characters below U+0020 are treated as broken.

    Returns
    -------
    numpy.ndarray or RaggedTensor
        int32; a vector for a string, a `RaggedTensor` for an array of them.

    Raises
    ------
    InvalidArgumentError
        An unknown encoding, or a broken character under ``errors="strict"``.

    Examples
    --------
    >>> hr.strings.unicode_decode("aé", "UTF-8")
    array([ 97, 233], dtype=int32)
    """
    attrs = _reading(input_encoding, errors, replacement_char, replace_control_characters)
    return _decoded("unicode_decode", attrs, input)[0]


def unicode_decode_with_offsets(
    input: Any,
    input_encoding: str,
    errors: str = "replace",
    replacement_char: int = 65533,
    replace_control_characters: bool = False,
    name: str | None = None,
) -> tuple[Any, Any]:
    """Return code points and where each begins; mirrors ``tf.strings.unicode_decode_with_offsets``.

    Parameters
    ----------
    input, input_encoding, errors, replacement_char, replace_control_characters
        See `unicode_decode`.

    Returns
    -------
    tuple
        The code points, int32, and their first bytes, int64, alike in shape.

    Examples
    --------
    >>> hr.strings.unicode_decode_with_offsets("éa", "UTF-8")
    (array([233,  97], dtype=int32), array([0, 2]))
    """
    attrs = _reading(input_encoding, errors, replacement_char, replace_control_characters)
    codes, starts = _decoded("unicode_decode", attrs | {"offsets": True}, input)
    return codes, starts


def unicode_split(
    input: Any,
    input_encoding: str,
    errors: str = "replace",
    replacement_char: int = 65533,
    name: str | None = None,
) -> Any:
    """Cut strings into characters; mirrors ``tf.strings.unicode_split``.

    Parameters
    ----------
    input, input_encoding, errors, replacement_char
        See `unicode_decode`.

    Returns
    -------
    numpy.ndarray or RaggedTensor
        Strings in the encoding of the input.

    Examples
    --------
    >>> hr.strings.unicode_split("aé", "UTF-8")
    array(['a', 'é'], dtype=object)
    """
    attrs = _reading(input_encoding, errors, replacement_char, False)
    return _decoded("unicode_split", attrs, input)[0]


def unicode_split_with_offsets(
    input: Any,
    input_encoding: str,
    errors: str = "replace",
    replacement_char: int = 65533,
    name: str | None = None,
) -> tuple[Any, Any]:
    """Return characters and where each begins; mirrors ``tf.strings.unicode_split_with_offsets``.

    Parameters
    ----------
    input, input_encoding, errors, replacement_char
        See `unicode_decode`.

    Examples
    --------
    >>> hr.strings.unicode_split_with_offsets("éa", "UTF-8")
    (array(['é', 'a'], dtype=object), array([0, 2]))
    """
    attrs = _reading(input_encoding, errors, replacement_char, False)
    characters, starts = _decoded("unicode_split", attrs | {"offsets": True}, input)
    return characters, starts


def unicode_transcode(
    input: Any,
    input_encoding: str,
    output_encoding: str,
    errors: str = "replace",
    replacement_char: int = 65533,
    replace_control_characters: bool = False,
    name: str | None = None,
) -> Any:
    r"""Change the encoding of strings; mirrors ``tf.strings.unicode_transcode``.

    Parameters
    ----------
    input, input_encoding, errors, replacement_char, replace_control_characters
        See `unicode_decode`.
    output_encoding
        ``"UTF-8"``, ``"UTF-16-BE"`` or ``"UTF-32-BE"``.

    Returns
    -------
    bytes or numpy.ndarray
        `bytes`; a `str` that becomes UTF-8 stays `str`.

    Examples
    --------
    >>> hr.strings.unicode_transcode("é", "UTF-8", "UTF-16-BE")
    b'\x00\xe9'
    """
    attrs = _reading(input_encoding, errors, replacement_char, replace_control_characters)
    return _decoded("unicode_transcode", attrs | {"output_encoding": output_encoding}, input)[0]


def unicode_encode(
    input: Any,
    output_encoding: str,
    errors: str = "replace",
    replacement_char: int = 65533,
    name: str | None = None,
) -> Any:
    """Make strings of code points; mirrors ``tf.strings.unicode_encode``.

    Parameters
    ----------
    input
        Integers; the last axis is a string. It may be ragged.
    output_encoding
        ``"UTF-8"``, ``"UTF-16-BE"`` or ``"UTF-32-BE"``.
    errors, replacement_char
        What becomes of numbers that are no code points; see `unicode_decode`.

    Returns
    -------
    bytes or numpy.ndarray
        `bytes`, one axis less.

    Raises
    ------
    InvalidArgumentError
        A number is no code point and ``errors="strict"``.

    Examples
    --------
    >>> hr.strings.unicode_encode(np.array([97, 233]), "UTF-8").decode()
    'aé'
    """
    attrs = {
        "output_encoding": output_encoding,
        "errors": errors,
        "replacement_char": replacement_char,
    }
    return apply_op("unicode_encode", attrs, checks.tensor(input))[0]


def unicode_script(input: Any, name: str | None = None) -> Any:
    """Return the script of each code point; mirrors ``tf.strings.unicode_script``.

    Parameters
    ----------
    input
        Integers.

    Returns
    -------
    numpy.ndarray
        int32: ICU's numbers of scripts, such as 25 for Latin; -1 for what is no code point.

    Examples
    --------
    >>> hr.strings.unicode_script(np.array([ord("a"), ord("я")]))
    array([25,  8], dtype=int32)
    """
    return apply_op("unicode_script", {}, checks.tensor(input))[0]


def _reading(encoding: str, errors: str, replacement: int, controls: bool) -> dict[str, Any]:
    return {
        "input_encoding": encoding,
        "errors": errors,
        "replacement_char": replacement,
        "replace_control_characters": checks.flag("replace_control_characters", controls),
    }


def _decoded(op: str, attrs: dict[str, Any], input: Any) -> list[Any]:
    value = checks.tensor(input)
    encoding = attrs["input_encoding"]
    if is_of_engine(encoding):
        return apply_op(op, attrs, value)
    if op == "unicode_split":
        raise InvalidArgumentError(
            f"unicode_split of {encoding} is not there: transcode to UTF-8 first"
        )
    text = to_utf8(value, encoding, attrs["errors"], attrs["replacement_char"])
    results = apply_op(op, attrs | {"input_encoding": "UTF-8"}, text)
    if "offsets" in attrs:
        results[1] = in_bytes_of(results[0], results[1], encoding)
    return results


def in_bytes_of(codes: Any, starts: Any, encoding: str) -> Any:
    """Return where characters begin in an encoding, of their beginnings in UTF-8.

    A broken character, which has no bytes there, is taken for one byte.
    """
    if isinstance(codes, RaggedTensor):
        inner = codes.values
        if isinstance(inner, RaggedTensor):
            return RaggedTensor(in_bytes_of(inner, starts.values, encoding), codes.row_splits)
        rows = [in_bytes_of(row, None, encoding) for row in codes]
        flat = np.concatenate(rows) if rows else np.zeros(0, np.int64)
        return RaggedTensor(flat, codes.row_splits)
    codec = _codec(encoding)
    sizes = [len(chr(code).encode(codec, "ignore")) or 1 for code in codes.tolist()]
    return np.concatenate(([0], np.cumsum(sizes)))[: len(sizes)].astype(np.int64)


def is_of_engine(encoding: str) -> bool:
    """Tell whether the engine decodes an encoding, or nobody does."""
    plain = "".join(filter(str.isalnum, encoding.lower()))
    if plain in _ENGINE:
        return True
    try:
        return not codecs.lookup(encoding)._is_text_encoding
    except LookupError:
        return True


def to_utf8(value: Any, encoding: str, errors: str, replacement: int) -> Any:
    """Return strings of an encoding that Python knows as UTF-8."""
    refuse_in_trace(f"reads {encoding}")
    if isinstance(value, RaggedTensor):
        inner = to_utf8(value.values, encoding, errors, replacement)
        return RaggedTensor(inner, value.row_splits)
    array = np.asarray(value, object)
    made = np.empty(array.size, object)
    made[:] = [_one(item, encoding, errors, replacement) for item in array.reshape(-1).tolist()]
    return made.reshape(array.shape) if array.ndim else made[0]


def _one(item: Any, encoding: str, errors: str, replacement: int) -> bytes:
    data = item.encode() if isinstance(item, str) else item
    codec = _codec(encoding)
    try:
        text = data.decode(codec, _handler(codec, errors))
    except UnicodeDecodeError as error:
        raise InvalidArgumentError(f"Invalid formatting on input string; {error}") from None
    text = str(text).translate(_AS_ICU.get(codec, {}))
    return text.replace(_BROKEN, chr(replacement)).encode()


# Stands for what is no character; no codec gives it.
_BROKEN = "\udfff"


def _codec(encoding: str) -> str:
    """Return the codec of Python that reads an encoding most as ICU, and so TensorFlow, does."""
    name = codecs.lookup(encoding).name
    return {"shift_jis": "cp932", "big5": "cp950"}.get(name, name)


@functools.cache
def _handler(codec: str, errors: str) -> str:
    """Return the name under which Python knows how to go on behind bytes that are broken."""
    more = _MORE.get(codec, {})

    def broken(error: UnicodeError) -> tuple[str, int]:
        if not isinstance(error, UnicodeDecodeError):
            raise error
        found = more.get(error.object[error.start])
        if found is not None:
            return found, error.start + 1
        if errors == "strict":
            raise error
        return _BROKEN if errors == "replace" else "", error.end

    name = f"headrace.{errors}.{codec}"
    codecs.register_error(name, broken)
    return name


_CONTROLS = {byte: chr(byte) for byte in range(0x80, 0xA0)}
_SINGLE = {byte: text for byte, text in _CONTROLS.items() if byte not in (0x8E, 0x8F)}

# Bytes that stand for nothing in Python's codecs, and for a character in ICU's.
_MORE = {
    **{f"cp{page}": _CONTROLS for page in range(1250, 1259)},
    "cp1253": _CONTROLS | {0xAA: "\xaa"},
    "cp950": {0x80: "\x80"},
    "euc_jp": _SINGLE,
    "euc_kr": _SINGLE,
    "gb2312": _SINGLE,
    "gbk": {0x80: "€"},
}

# Characters that ICU has in another form.
_AS_ICU = {"euc_jp": str.maketrans("〜‖−¢£¬", "～∥－￠￡￢")}
