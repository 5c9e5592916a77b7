"""Text as TensorFlow 1 has it; mirrors ``tf.compat.v1.strings``: cut strings are sparse."""

from __future__ import annotations

from typing import Any

import numpy as np

from ....errors import InvalidArgumentError
from ... import dtypes
from ... import strings as _strings
from ...array_ops import reshape
from ...convert import convert, is_symbol
from ...kernels import static_shape
from ...names import lookup
from ...ragged_tensor import RaggedTensor
from ...strings import *  # noqa: F403
from ...text_ops import as_vector, cut, one_text

__all__ = [*_strings.__all__, "string_split"]


def length(  # type: ignore[no-redef]
    input: Any, name: str | None = None, unit: str = "BYTE"
) -> Any:
    """Return the number of bytes, or of characters; mirrors ``tf.compat.v1.strings.length``.

    Examples
    --------
    >>> tf.compat.v1.strings.length("é", unit="UTF8_CHAR").numpy()
    np.int32(1)
    """
    return _strings.length(input, unit)


def substr(  # type: ignore[no-redef]
    input: Any, pos: Any, len: Any, name: str | None = None, unit: str = "BYTE"
) -> Any:
    """Return a part of each string; mirrors ``tf.compat.v1.strings.substr``.

    Examples
    --------
    >>> tf.compat.v1.strings.substr("hello", 1, 3).numpy()
    b'ell'
    """
    return _strings.substr(input, pos, len, unit)


def reduce_join(  # type: ignore[no-redef]
    inputs: Any, axis: Any = None, keep_dims: bool | None = None, separator: str = "",
    name: str | None = None, reduction_indices: Any = None, keepdims: bool | None = None,
) -> Any:  # fmt: skip
    """Join strings along axes; mirrors ``tf.compat.v1.reduce_join``.

    Raises
    ------
    ValueError
        An argument is given by its old name and its new one.

    Examples
    --------
    >>> tf.compat.v1.reduce_join(["a", "b"], reduction_indices=0, keep_dims=True).numpy()
    array([b'ab'], dtype=object)
    """
    for old, new, names in (
        (reduction_indices, axis, "'reduction_indices' and 'axis'"),
        (keep_dims, keepdims, "'keep_dims' and 'keepdims'"),
    ):
        if old is not None and new is not None:
            raise ValueError(f"Cannot specify both {names}.")
    keep = keepdims if keep_dims is None else keep_dims
    along = reduction_indices if axis is None else axis
    return _strings.reduce_join(inputs, along, bool(keep), separator)


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
        given = reshape(given, [1])
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
    found = one_text(marks)
    marks = found.encode() if isinstance(found, str) else found
    source = as_vector(convert(source, dtypes.string))
    if len(static_shape(source) or (0,)) != 1 or static_shape(source) == ():
        raise InvalidArgumentError(f"input must be a vector, got shape: {source.shape}")
    if marks:
        (rows,) = cut("string_split", source, any_of=marks, skip_empty=bool(skip_empty))
    else:
        rows = _strings.bytes_split(source)
    return _as(rows, result_type)


def _as(rows: Any, result_type: str) -> Any:
    if result_type == "RaggedTensor":
        return rows
    if result_type == "SparseTensor":
        return rows.to_sparse()
    raise ValueError("result_type must be 'RaggedTensor' or 'SparseTensor'.")


__getattr__ = lookup(__name__)
