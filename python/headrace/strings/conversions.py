"""Strings to numbers, numbers to strings, and hashes; part of `headrace.strings`."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import Any

import numpy as np

from .. import checks
from ..dtypes import as_dtype
from ..errors import InvalidArgumentError
from ..ops import apply_op

__all__ = [
    "as_string",
    "format",
    "to_hash_bucket",
    "to_hash_bucket_fast",
    "to_hash_bucket_strong",
    "to_number",
]


def to_number(input: Any, out_type: Any = np.float32, name: str | None = None) -> Any:
    """Read the numbers that strings are; mirrors ``tf.strings.to_number``.

    White space around a number is skipped. Integers are decimal and must fit; floats may also be
    hexadecimal, ``inf`` or ``nan``, and too large ones are infinite.

    Parameters
    ----------
    input
        A string, or an array of them.
    out_type
        float32, float64, int32, int64, uint32 or uint64.

    Returns
    -------
    numpy.ndarray
        Of the shape of `input`.

    Raises
    ------
    InvalidArgumentError
        A text is no number of this type.

    Examples
    --------
    >>> hr.strings.to_number(["1.5", " 2 "], np.float64)
    array([1.5, 2. ])
    """
    return apply_op("string_to_number", {"out_type": as_dtype(out_type)}, checks.tensor(input))[0]


def as_string(
    input: Any,
    precision: int = -1,
    scientific: bool = False,
    shortest: bool = False,
    width: int = -1,
    fill: str = "",
    name: str | None = None,
    *,
    dtype: Any = bytes,
) -> Any:
    """Write values as text, as C's ``printf`` does; mirrors ``tf.strings.as_string``.

    Parameters
    ----------
    input
        An array of numbers, booleans or strings.
    precision
        Digits after the point of floats; -1 for the usual 6.
    scientific, shortest
        ``%e`` or ``%g`` in place of ``%f``.
    width
        The least length; shorter text is filled up at its left.
    fill
        ``"0"``, ``" "``, ``"+"``, ``"-"`` or ``"#"``: the flag of the format.
    dtype
        `bytes` or `str`: what numbers become. Strings stay what they are.

    Raises
    ------
    InvalidArgumentError
        An option that values of this type do not have.

    Examples
    --------
    >>> hr.strings.as_string([1.5, 2.0], precision=1)
    array([b'1.5', b'2.0'], dtype=object)
    >>> hr.strings.as_string(7, width=3, fill="0", dtype=str)
    '007'
    """
    attrs = {
        "precision": operator.index(precision),
        "scientific": checks.flag("scientific", scientific),
        "shortest": checks.flag("shortest", shortest),
        "width": operator.index(width),
        "fill": fill,
        "dtype": as_dtype(dtype),
    }
    return apply_op("as_string", attrs, checks.tensor(input))[0]


def format(
    template: bytes | str,
    inputs: Any = (),
    placeholder: str = "{}",
    summarize: int = 3,
    name: str | None = None,
) -> Any:
    """Put values into a template; mirrors ``tf.strings.format``.

    Parameters
    ----------
    template
        A text; `bytes` give `bytes`.
    inputs
        A value, or a list of them, one for each placeholder.
    placeholder
        What stands for a value.
    summarize
        How many values at each end of an axis are written; -1 for all.

    Raises
    ------
    InvalidArgumentError
        There are more or fewer values than places.

    Examples
    --------
    >>> hr.strings.format("x = {}", np.arange(10))
    'x = [0 1 2 ... 7 8 9]'
    """
    values = inputs if isinstance(inputs, list | tuple) else [inputs]
    kind = bytes if isinstance(template, bytes) else str
    attrs = {
        "template": template.decode() if isinstance(template, bytes) else template,
        "placeholder": placeholder,
        "summarize": operator.index(summarize),
        "dtype": kind,
    }
    return apply_op("string_format", attrs, *map(checks.tensor, values))[0]


def to_hash_bucket_fast(input: Any, num_buckets: int, name: str | None = None) -> Any:
    """Return a bucket for each string by FarmHash; mirrors ``tf.strings.to_hash_bucket_fast``.

    Parameters
    ----------
    input
        A string, or an array of them.
    num_buckets
        How many there are.

    Returns
    -------
    numpy.ndarray
        int64 from 0 to ``num_buckets - 1``, the same for ever and on every machine.

    Examples
    --------
    >>> hr.strings.to_hash_bucket_fast(["a", "b"], 1000)
    array([939, 822])
    """
    return _bucket("fast", input, num_buckets)


def to_hash_bucket(input: Any, num_buckets: int, name: str | None = None) -> Any:
    """Return a bucket for each string by Murmur hash; mirrors ``tf.strings.to_hash_bucket``.

    Parameters
    ----------
    input
        A string, or an array of them.
    num_buckets
        How many there are.

    Examples
    --------
    >>> hr.strings.to_hash_bucket(["a", "b"], 1000).dtype
    dtype('int64')
    """
    return _bucket("", input, num_buckets)


def to_hash_bucket_strong(
    input: Any, num_buckets: int, key: Sequence[int], name: str | None = None
) -> Any:
    """Return a bucket for each string by SipHash; mirrors ``tf.strings.to_hash_bucket_strong``.

    Parameters
    ----------
    input
        A string, or an array of them.
    num_buckets
        How many there are.
    key
        Two integers; who does not know them cannot choose strings that meet in a bucket.

    Raises
    ------
    InvalidArgumentError
        `key` has not two integers.

    Examples
    --------
    >>> hr.strings.to_hash_bucket_strong("a", 1000, [1, 2]).dtype
    dtype('int64')
    """
    return _bucket("strong", input, num_buckets, key)


def _bucket(hash: str, input: Any, num_buckets: int, key: Any = None) -> Any:
    return apply_op(
        "string_hash_bucket", bucket_attrs(hash, num_buckets, key), checks.tensor(input)
    )[0]


def bucket_attrs(hash: str, num_buckets: Any, key: Any = None) -> dict[str, Any]:
    """Return the static arguments of the engine's hashes."""
    if key is not None:
        key = [_signed(operator.index(part)) for part in key]
    return {"hash": hash, "num_buckets": operator.index(num_buckets), "key": key}


def _signed(value: int) -> int:
    """Return 64 bits as the signed number that they are."""
    if not -(2**63) <= value < 2**64:
        raise InvalidArgumentError(f"a key is two integers of 64 bits, got {value}")
    return value - 2**64 if value >= 2**63 else value
