"""Text as TensorFlow 1 has it; mirrors ``tf.compat.v1.strings``: cut strings are sparse."""

from __future__ import annotations

from typing import Any

import numpy as np

from ....errors import InvalidArgumentError
from ... import dtypes
from ... import strings as _strings
from ...convert import convert, is_symbol
from ...kernels import static_shape
from ...names import lookup
from ...ragged_tensor import RaggedTensor
from ...strings import *  # noqa: F403
from ...tensor import raw
from ...text_ops import one_text

__all__ = [*_strings.__all__, "string_split"]


def split(  # type: ignore[no-redef]
    input: Any = None, sep: Any = None, maxsplit: int = -1, result_type: str = "SparseTensor",
    source: Any = None, name: str | None = None,
) -> Any:  # fmt: skip
    """Cut strings at a separator, or at white space; mirrors ``tf.compat.v1.strings.split``.

    Raises
    ------
    ValueError
        There is no such `result_type`, or the strings are given twice.

    Examples
    --------
    >>> tf.compat.v1.strings.split(["a b", "c"]).values.numpy()
    array([b'a', b'b', b'c'], dtype=object)
    """
    if input is not None and source is not None:
        raise ValueError("Cannot specify both 'source' and 'input'.")
    given = source if input is None else input
    if not isinstance(given, RaggedTensor | list | tuple | np.ndarray) and not is_symbol(given):
        given = [given]
    elif getattr(given, "shape", None) is not None and given.shape == ():
        given = raw(given).reshape(1) if not is_symbol(given) else given
    return _as(_strings.split(given, sep, maxsplit), result_type)


def string_split(
    source: Any, sep: Any = None, skip_empty: bool = True, delimiter: Any = None,
    result_type: str = "SparseTensor", name: str | None = None,
) -> Any:  # fmt: skip
    """Cut strings at each of some characters; mirrors ``tf.compat.v1.string_split``.

    Parameters
    ----------
    source
        A vector of strings.
    sep, delimiter
        The characters to cut at; none to cut everywhere.
    skip_empty
        Whether empty pieces are left out.
    result_type
        ``"SparseTensor"`` or ``"RaggedTensor"``.

    Examples
    --------
    >>> tf.compat.v1.string_split(["a b", "c"]).values.numpy()
    array([b'a', b'b', b'c'], dtype=object)
    """
    if sep is not None and delimiter is not None:
        raise ValueError("Cannot specify both 'delimiter' and 'sep'.")
    marks = " " if sep is None and delimiter is None else delimiter if sep is None else sep
    if np.ndim(raw(marks)) != 0:
        raise InvalidArgumentError(f"delimiter must be one text, got {marks!r}")
    found = one_text(marks)
    text = found.decode() if isinstance(found, bytes) else found
    source = convert(source, dtypes.string)
    if len(static_shape(source) or (0,)) != 1:
        raise InvalidArgumentError(f"input must be a vector, got shape: {source.shape}")
    if not text:
        rows = _strings.bytes_split(source)
    else:
        marks = "".join(f"\\x{{{ord(mark):X}}}" for mark in text)
        rows = _strings.split(_strings.regex_replace(source, f"[{marks}]", text[0]), text[0])
    # Of symbols it stays as it is: a sparse result makes the function run as Python.
    if skip_empty and not is_symbol(rows.flat_values):
        values, lengths = raw(rows.flat_values), raw(rows.row_lengths())
        full = values != b""
        owners = np.repeat(np.arange(lengths.size), lengths)[full]
        kept = np.bincount(owners, minlength=lengths.size).astype(np.int64)
        rows = RaggedTensor.from_row_lengths(values[full], kept)
    return _as(rows, result_type)


def _as(rows: Any, result_type: str) -> Any:
    if result_type == "RaggedTensor":
        return rows
    if result_type == "SparseTensor":
        return rows.to_sparse()
    raise ValueError("result_type must be 'RaggedTensor' or 'SparseTensor'.")


__getattr__ = lookup(__name__)
