"""Strings cut, joined, measured and cased; part of `headrace.strings`."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import Any

import numpy as np

from .. import checks
from ..errors import InvalidArgumentError
from ..ops import apply_op
from ..standin import is_symbol

__all__ = [
    "bytes_split",
    "join",
    "length",
    "lower",
    "ngrams",
    "reduce_join",
    "split",
    "strip",
    "substr",
    "unsorted_segment_join",
    "upper",
]


def length(input: Any, unit: str = "BYTE", name: str | None = None) -> Any:
    """Return the length of each string; mirrors ``tf.strings.length``.

    Parameters
    ----------
    input
        A string, or an array of them.
    unit
        ``"BYTE"``, or ``"UTF8_CHAR"`` for characters.

    Returns
    -------
    numpy.ndarray
        int64 (TensorFlow's is int32), of the shape of `input`.

    Examples
    --------
    >>> hr.strings.length(["é", "ab"], unit="UTF8_CHAR")
    array([1, 2])
    """
    attrs = {"unit": unit, "dtype": np.dtype(np.int64)}
    return apply_op("string_length", attrs, checks.tensor(input))[0]


def lower(input: Any, encoding: str = "", name: str | None = None) -> Any:
    """Return strings in lower case; mirrors ``tf.strings.lower``.

    Parameters
    ----------
    input
        A string, or an array of them.
    encoding
        ``""`` for the letters of ASCII, ``"utf-8"`` for all.

    Examples
    --------
    >>> hr.strings.lower(b"ABC"), hr.strings.lower("ÉCOLE", "utf-8")
    (b'abc', 'école')
    """
    return apply_op("string_lower", {"encoding": encoding}, checks.tensor(input))[0]


def upper(input: Any, encoding: str = "", name: str | None = None) -> Any:
    """Return strings in upper case; mirrors ``tf.strings.upper``.

    Parameters
    ----------
    input
        A string, or an array of them.
    encoding
        ``""`` for the letters of ASCII, ``"utf-8"`` for all.

    Examples
    --------
    >>> hr.strings.upper(["abc", "straße"], "utf-8")
    array(['ABC', 'STRASSE'], dtype=object)
    """
    return apply_op("string_upper", {"encoding": encoding}, checks.tensor(input))[0]


def strip(input: Any, name: str | None = None) -> Any:
    r"""Remove white space of ASCII at both ends; mirrors ``tf.strings.strip``.

    Parameters
    ----------
    input
        A string, or an array of them.

    Examples
    --------
    >>> hr.strings.strip(b" a b\n")
    b'a b'
    """
    return apply_op("string_strip", {}, checks.tensor(input))[0]


def substr(input: Any, pos: Any, len: Any, unit: str = "BYTE", name: str | None = None) -> Any:
    """Return a part of each string; mirrors ``tf.strings.substr``.

    Parameters
    ----------
    input
        A string, or an array of them.
    pos
        Where the part begins; negative positions count from the end. Integers, broadcast.
    len
        How long it is at most. Integers, broadcast.
    unit
        ``"BYTE"``, or ``"UTF8_CHAR"`` for characters.

    Raises
    ------
    InvalidArgumentError
        A position is outside of its string, or a `str` would be cut within a character.

    Examples
    --------
    >>> hr.strings.substr([b"hello", b"world"], [1, -2], 3)
    array([b'ell', b'ld'], dtype=object)
    """
    args = (checks.tensor(input), _integers("pos", pos), _integers("len", len))
    return apply_op("substr", {"unit": unit}, *args)[0]


def _integers(name: str, value: Any) -> Any:
    found = checks.tensor(value)
    if not is_symbol(found) and np.asarray(found).dtype.kind not in "iu":
        raise InvalidArgumentError(f"`{name}` must be integers, got {value!r}")
    return found


def split(input: Any, sep: Any = None, maxsplit: int = -1, name: str | None = None) -> Any:
    """Cut strings at a separator, or at white space; mirrors ``tf.strings.split``.

    Parameters
    ----------
    input
        A string, or an array of them.
    sep
        Where to cut. ``None`` or an empty text: at runs of white space, none of which is in the
        pieces.
    maxsplit
        How often to cut at most; -1 for everywhere.

    Returns
    -------
    numpy.ndarray or RaggedTensor
        The pieces of a string as a vector; of an array of strings as a `RaggedTensor`, whose rank
        is one higher.

    Examples
    --------
    >>> hr.strings.split("a b  c")
    array(['a', 'b', 'c'], dtype=object)
    >>> hr.strings.split([b"1,2", b""], sep=",").to_list()
    [[b'1', b'2'], [b'']]
    """
    attrs = {"sep": _text("sep", sep or ""), "maxsplit": operator.index(maxsplit)}
    return apply_op("string_split", attrs, checks.tensor(input))[0]


def _text(name: str, value: Any) -> bytes | str:
    """Return a static text."""
    if isinstance(value, np.ndarray | np.generic) and value.ndim == 0:
        value = value.item()
    if not isinstance(value, bytes | str):
        raise TypeError(f"`{name}` must be one text, got {value!r} ({type(value).__name__})")
    return value


def bytes_split(input: Any, name: str | None = None) -> Any:
    """Cut strings into single bytes; mirrors ``tf.strings.bytes_split``.

    Parameters
    ----------
    input
        A string, or an array of them.

    Returns
    -------
    numpy.ndarray or RaggedTensor
        Bytes, arranged as `split` arranges its pieces.

    Examples
    --------
    >>> hr.strings.bytes_split(b"abc")
    array([b'a', b'b', b'c'], dtype=object)
    """
    return apply_op("bytes_split", {}, checks.tensor(input))[0]


def join(inputs: Sequence[Any], separator: bytes | str = "", name: str | None = None) -> Any:
    """Join strings value by value; mirrors ``tf.strings.join``.

    Parameters
    ----------
    inputs
        Strings or arrays of them, all `bytes` or all `str`, broadcast by NumPy's rules.
    separator
        What stands between.

    Raises
    ------
    InvalidArgumentError
        Shapes do not fit, or types differ.

    Examples
    --------
    >>> hr.strings.join(["a", ["b", "c"]], "-")
    array(['a-b', 'a-c'], dtype=object)
    """
    attrs = {"separator": _text("separator", separator)}
    return apply_op("string_join", attrs, *map(checks.tensor, inputs))[0]


def reduce_join(
    inputs: Any,
    axis: int | Sequence[int] | None = None,
    keepdims: bool = False,
    separator: bytes | str = "",
    name: str | None = None,
) -> Any:
    """Join strings along axes; mirrors ``tf.strings.reduce_join``.

    Parameters
    ----------
    inputs
        An array of strings; of a ragged one, the innermost axis can be joined.
    axis
        The axes that go, joined in the order given; ``None`` for all.
    keepdims
        Whether they stay with size 1.
    separator
        What stands between.

    Raises
    ------
    OutOfRangeError
        There is no such axis.

    Examples
    --------
    >>> hr.strings.reduce_join([["a", "b"], ["c", "d"]], axis=1, separator="-")
    array(['a-b', 'c-d'], dtype=object)
    """
    axes = [axis] if isinstance(axis, int | np.integer) else axis
    attrs = {
        "axis": None if axes is None else [operator.index(k) for k in axes],
        "keepdims": checks.flag("keepdims", keepdims),
        "separator": _text("separator", separator),
    }
    return apply_op("reduce_join", attrs, checks.tensor(inputs))[0]


def unsorted_segment_join(
    inputs: Any,
    segment_ids: Any,
    num_segments: int,
    separator: bytes | str = "",
    name: str | None = None,
) -> Any:
    """Join the strings of each segment; mirrors ``tf.strings.unsorted_segment_join``.

    Parameters
    ----------
    inputs
        An array of strings.
    segment_ids
        The segment of each: integers whose shape is the beginning of that of `inputs`.
    num_segments
        How many segments there are; those without strings are empty.
    separator
        What stands between.

    Raises
    ------
    InvalidArgumentError
        A number is not below `num_segments`, or negative.

    Examples
    --------
    >>> hr.strings.unsorted_segment_join(["a", "b", "c"], [1, 0, 1], 2, ":")
    array(['b', 'a:c'], dtype=object)
    """
    attrs = {
        "num_segments": operator.index(num_segments),
        "separator": _text("separator", separator),
    }
    args = (checks.tensor(inputs), _integers("segment_ids", segment_ids))
    return apply_op("unsorted_segment_join", attrs, *args)[0]


def ngrams(
    data: Any,
    ngram_width: int | Sequence[int],
    separator: bytes | str = " ",
    pad_values: Any = None,
    padding_width: int | None = None,
    preserve_short_sequences: bool = False,
    name: str | None = None,
) -> Any:
    """Join neighbours along the innermost axis; mirrors ``tf.strings.ngrams``.

    Parameters
    ----------
    data
        A vector of strings, an array whose last axis is one, or a ragged array.
    ngram_width
        How many are joined; of several widths, those of the first come first.
    separator
        What stands between.
    pad_values
        A text that stands before and behind each row, or a pair of them.
    padding_width
        How often; at most, and unless given, one less than the width.
    preserve_short_sequences
        Whether a row that is too short gives itself.

    Raises
    ------
    ValueError
        A width is not positive, or there is a `padding_width` without `pad_values`.

    Examples
    --------
    >>> hr.strings.ngrams(["a", "b", "c"], 2)
    array(['a b', 'b c'], dtype=object)
    """
    attrs = ngram_attrs(ngram_width, separator, pad_values, padding_width, preserve_short_sequences)
    return apply_op("string_ngrams", attrs, checks.tensor(data))[0]


def ngram_attrs(
    ngram_width: Any, separator: Any, pad_values: Any, padding_width: Any, keep_short: Any
) -> dict[str, Any]:
    """Return the static arguments of the engine's n-grams."""
    single = isinstance(ngram_width, int | np.integer)
    widths = [operator.index(width) for width in ([ngram_width] if single else ngram_width)]
    if any(width < 1 for width in widths):
        raise InvalidArgumentError(f"All ngram_widths must be greater than 0. Got {ngram_width}")
    if pad_values is None:
        if padding_width is not None:
            raise InvalidArgumentError("pad_values must be provided if padding_width is set.")
        pair: Any = ("", "")
    else:
        pair = (pad_values, pad_values) if isinstance(pad_values, bytes | str) else pad_values
        pads = pair if isinstance(pair, tuple | list) else ()
        if len(pads) != 2 or not all(isinstance(pad, bytes | str) for pad in pads):
            raise TypeError(
                "pad_values must be a string, tuple of strings, or None. There are two of them at "
                f"most, got {pad_values!r}"
            )
        if padding_width is None:
            padding_width = max(widths, default=1)
        elif padding_width < 1:
            raise InvalidArgumentError("padding_width must be greater than 0.")
    return {
        "widths": widths,
        "separator": _text("separator", separator),
        "left_pad": _text("pad_values", pair[0]),
        "right_pad": _text("pad_values", pair[1]),
        "padding_width": padding_width,
        "keep_short": checks.flag("preserve_short_sequences", keep_short),
    }
