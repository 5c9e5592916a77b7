"""The types of values, and the many ways to write them.

Numbers have NumPy's dtypes. Text has none there that keeps its bytes (``S`` strips trailing NULs,
``U`` pads), so the dtype of byte strings is the class ``bytes`` and that of text the class ``str``.
"""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np

from .errors import InvalidArgumentError

__all__ = ["DType", "as_dtype", "dtype_name", "numpy_dtype"]

DType: TypeAlias = "np.dtype[Any] | type[bytes] | type[str]"

_NAMES = """
bool int8 int16 int32 int64 uint8 uint16 uint32 uint64 float16 bfloat16 float32 float64 complex64
complex128
"""
_NUMBERS = frozenset(_NAMES.split())
# What is asked for most: dtypes in the form that the answer has, and the engine's names of them.
_KNOWN: dict[Any, DType] = {
    key: np.dtype(name)
    for name in sorted(_NUMBERS - {"bfloat16"})
    for key in (name, np.dtype(name), np.dtype(name).type)
}

_NAME_OF = {np.dtype(name): name for name in _NUMBERS - {"bfloat16"}}


def as_dtype(dtype: Any) -> DType:
    """Return the dtype that `dtype` means.

    Parameters
    ----------
    dtype
        A NumPy dtype, scalar type or name, or a ``tf.DType``; ``bytes``, ``"bytes"`` or
        ``"string"`` for byte strings; ``str`` or ``"str"`` for text.

    Returns
    -------
    numpy.dtype or type
        A NumPy dtype, or the class ``bytes`` or ``str``.

    Raises
    ------
    InvalidArgumentError
        Types that headrace does not carry, such as ``datetime64`` or ``object``.

    Examples
    --------
    >>> as_dtype("float32"), as_dtype(np.str_), as_dtype("string")
    (dtype('float32'), <class 'str'>, <class 'bytes'>)
    """
    if type(dtype) in (str, type) or isinstance(dtype, np.dtype):
        known = _KNOWN.get(dtype)
        if known is not None:
            return known
    if hasattr(dtype, "as_numpy_dtype"):  # tf.DType
        dtype = "string" if dtype.name == "string" else dtype.as_numpy_dtype
    if dtype is bytes:
        return bytes
    if dtype is str:
        return str
    if isinstance(dtype, str):
        if dtype in ("bytes", "string"):
            return bytes
        if dtype == "str":
            return str
        if dtype == "bfloat16":
            return _bfloat16()
    try:
        found = np.dtype(dtype)
    except TypeError:
        raise InvalidArgumentError(f"{dtype!r} is not a dtype; {_valid()}") from None
    if found.kind == "S":
        return bytes
    if found.kind in "UT":
        return str
    if found.name not in _NUMBERS:
        raise InvalidArgumentError(f"dtype {found.name!r} is not supported; {_valid()}")
    native: np.dtype[Any] = found.newbyteorder("=") if found.kind != "V" else found
    return native


def _bfloat16() -> np.dtype[Any]:
    try:
        import ml_dtypes  # type: ignore[import-not-found, import-untyped, unused-ignore]
    except ImportError:
        raise InvalidArgumentError("bfloat16 needs ml_dtypes: pip install ml_dtypes") from None
    found: np.dtype[Any] = np.dtype(ml_dtypes.bfloat16)
    return found


def _valid() -> str:
    return "valid are NumPy's bool, integers, floats and complex numbers, bytes and str"


def dtype_name(dtype: DType) -> str:
    """Return the name the engine knows `dtype` by.

    Examples
    --------
    >>> dtype_name(np.dtype(np.int64)), dtype_name(bytes)
    ('int64', 'bytes')
    """
    if isinstance(dtype, type):
        return dtype.__name__
    return _NAME_OF.get(dtype) or dtype.name  # NumPy puts a name together each time


def numpy_dtype(dtype: DType) -> np.dtype[Any]:
    """Return the dtype of arrays that hold values of `dtype`: object for bytes and text."""
    return np.dtype(object) if isinstance(dtype, type) else dtype


def filler(dtype: DType, value: Any = None) -> Any:
    """Return a scalar to fill up arrays of `dtype` with: `value`, else zero or empty text."""
    if dtype is bytes:
        return b"" if value is None else value
    if dtype is str:
        return "" if value is None else value
    return np.asarray(0 if value is None else value, dtype)[()]
