"""Values of user code, made to fit what was declared of them.

Used for what generators yield and for what functions with an ``output_signature`` return. Values
are checked one by one. Python numbers take the declared dtype if no information of another kind is
lost (an int may become a float, never the other way round); arrays and NumPy scalars of another
dtype are converted only where ``numpy.can_cast(..., "same_kind")`` says so. tf.data converts with
less care: there 1.5 declared int32 may become 1.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from .dtypes import dtype_name
from .errors import InvalidArgumentError
from .nest import is_structure, items, rebuild, same_structure
from .spec import (
    AnySpec,
    DatasetSpec,
    ObjectSpec,
    OptionalSpec,
    RaggedTensorSpec,
    Shape,
    SparseTensorSpec,
    TensorSpec,
    object_dtype,
    shapes_compatible,
    spec_of,
)

__all__ = ["SPECS", "Converter", "to_dtype"]

SPECS = (
    TensorSpec,
    SparseTensorSpec,
    RaggedTensorSpec,
    DatasetSpec,
    OptionalSpec,
    ObjectSpec,
)
_KIND_ORDER = {"b": 0, "i": 1, "u": 1, "f": 2, "V": 2, "c": 3}


class Converter:
    """Converts values to one element spec.

    Parameters
    ----------
    element_spec
        A nest of specs.
    subject
        How messages begin, such as ``"`generator` f yielded an element"``.
    lists
        Whether a list may stand for a tuple, as in what a function returns.

    Examples
    --------
    >>> Converter(TensorSpec((), np.float32), "f returned a result").convert(1)
    np.float32(1.0)
    """

    def __init__(self, element_spec: Any, subject: str, *, lists: bool = False) -> None:
        self.element_spec = element_spec
        self.subject = subject
        self.lists = lists
        self._tuples = (tuple, list) if lists else tuple
        plain = type(element_spec) is tuple and all(isinstance(s, SPECS) for s in element_spec)
        self._quick = [_quick(leaf) for leaf in element_spec] if plain else None

    def convert(self, value: Any, index: int | None = None) -> Any:
        """Return `value` as a nest of arrays that fits the spec.

        Parameters
        ----------
        value
            What user code gave.
        index
            The number of the element, from 0, for messages.

        Raises
        ------
        InvalidArgumentError
            It does not fit; the text has the number, what was declared and what came.
        """
        spec = self.element_spec
        if isinstance(spec, SPECS):
            return self._leaf(value, spec, index, "")
        if self._quick is not None and isinstance(value, self._tuples) and len(spec) == len(value):
            return self._tuple(value, index)
        return self._nest(value, spec, index, "")

    def _tuple(self, value: Any, index: int | None) -> Any:
        """Convert a flat tuple; scalars of the usual types go through a table."""
        assert self._quick is not None
        result = []
        for at, (item, quick) in enumerate(zip(value, self._quick, strict=True)):
            convert = quick.get(type(item))
            try:
                result.append(convert(item) if convert else self._item(item, index, at))
            except OverflowError:
                result.append(self._item(item, index, at))
        return tuple(result)

    def _item(self, item: Any, index: int | None, at: int) -> Any:
        return self._leaf(item, self.element_spec[at], index, f"[{at}]")

    def _nest(self, value: Any, spec: Any, index: int | None, path: str) -> Any:
        if isinstance(spec, SPECS):
            return self._leaf(value, spec, index, path)
        if self.lists and isinstance(value, list):
            value = tuple(value)
        if not _same_level(value, spec):
            hint = "; a list is one tensor, yield a tuple" if isinstance(value, list) else ""
            raise InvalidArgumentError(
                f"{self.subject} that did not match the expected structure: "
                f"{_place(index, path)} is {_short(value)}, the declared structure is "
                f"{spec!r}{hint}"
            )
        found = dict(items(value))
        children = [
            self._nest(found[key], child, index, f"{path}[{key!r}]") for key, child in items(spec)
        ]
        return rebuild(spec, children)

    def _leaf(self, value: Any, spec: AnySpec, index: int | None, path: str) -> Any:
        kind = type(value)
        if spec.__class__ is TensorSpec:
            try:
                array = to_dtype(value, spec.dtype) if kind is not spec.dtype else value
            except (TypeError, ValueError, OverflowError) as error:
                seen = spec_of(value)
                raise InvalidArgumentError(
                    f"{self.subject} that could not be converted to the declared type: "
                    f"{_place(index, path)} is {_short(value)} of {_described(seen)}, declared was "
                    f"{spec!r} ({error})"
                ) from None
            shape: Shape = () if kind is bytes or kind is str else array.shape
            if not shapes_compatible(shape, spec.shape):
                raise InvalidArgumentError(
                    f"{self.subject} of shape {shape} where an element of shape {spec.shape} was "
                    f"expected: {_place(index, path)}, declared was {spec!r}"
                )
            return array
        if not spec.is_compatible_with(value):
            raise InvalidArgumentError(
                f"{self.subject} that could not be converted: {_place(index, path)} is "
                f"{_described(spec_of(value))}, declared was {spec!r}"
            )
        return value


def _quick(spec: AnySpec) -> dict[type, Callable[[Any], Any]]:
    """Return what converts scalars of each type that needs no look, for a scalar component."""
    if not isinstance(spec, TensorSpec) or spec.shape not in ((), None):
        return {}
    dtype = spec.dtype
    if isinstance(dtype, type):
        return {dtype: dtype}
    if dtype.kind == "V":  # bfloat16
        return {}
    table: dict[type, Callable[[Any], Any]] = {dtype.type: lambda item: item}
    order = _KIND_ORDER[dtype.kind]
    table |= {int: dtype.type} if order >= 1 else {bool: dtype.type}
    return table | ({float: dtype.type} if order >= 2 else {})


def _same_level(value: Any, spec: Any) -> bool:
    """Tell whether the outermost level of `value` is nested as that of `spec`."""
    if not is_structure(value):
        return False
    flat = rebuild(spec, [0 for _ in items(spec)])
    try:
        level = rebuild(value, [0 for _ in items(value)])
    except (TypeError, ValueError):
        return False
    return same_structure(level, flat)


def _place(index: int | None, path: str) -> str:
    where = "it" if index is None else f"element {index}"
    return f"{where}, component {path}" if path else where


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 80 else text[:77] + "..."


def _described(spec: AnySpec) -> str:
    if isinstance(spec, TensorSpec):
        return f"dtype {spec.dtype_name} and shape {spec.shape}"
    return "an opaque type" if isinstance(spec, ObjectSpec) else repr(spec)


def to_dtype(value: Any, dtype: Any) -> Any:
    """Return `value` as an array or NumPy scalar of the declared `dtype`; see the module's rules.

    Raises
    ------
    TypeError
        The kind of the value does not fit.
    OverflowError
        A Python integer is too large.
    """
    if isinstance(dtype, type):
        return _to_text(value, dtype)
    if isinstance(value, np.ndarray | np.generic):
        if value.dtype == dtype:
            return value
        if value.dtype.kind == "O" or not np.can_cast(value.dtype, dtype, "same_kind"):
            raise TypeError(f"{value.dtype} does not convert to {dtype} without loss of kind")
        return value.astype(dtype)
    kind = type(value)
    if kind is float or kind is int:  # the common case, five times as fast as asarray
        if _KIND_ORDER[dtype.kind] >= (2 if kind is float else 1):
            return dtype.type(value)
        raise TypeError(f"a Python {kind.__name__} does not become {dtype}")
    array = np.asarray(value)
    if array.size == 0:
        return array.astype(dtype)
    order = _KIND_ORDER.get(array.dtype.kind)
    if order is None or order > _KIND_ORDER[dtype.kind]:
        raise TypeError(f"{array.dtype} does not convert to {dtype} without loss of kind")
    # From Python's integers, so that one that is too large is an error, not cut off.
    return np.asarray(value, dtype) if array.dtype.kind in "iu" else array.astype(dtype)


def _to_text(value: Any, dtype: type) -> Any:
    """Return bytes or str, or an object array of them; text may become bytes, as UTF-8."""
    if type(value) is dtype:
        return value
    if isinstance(value, str) and dtype is bytes:
        return value.encode()
    if isinstance(value, bytes | str):
        raise TypeError(f"{type(value).__name__} does not convert to {dtype.__name__}")
    array = np.asarray(value)
    if array.size == 0:
        # An empty object array would not say which of the two it is.
        return np.empty(array.shape, dtype="U1" if dtype is str else object)
    if array.dtype.kind in "SUT":
        array = np.asarray(value, dtype=object)
    if array.dtype.kind != "O":
        raise TypeError(f"{array.dtype} does not convert to {dtype_name(dtype)}")
    if array.size and object_dtype(array) is not dtype:
        if dtype is str:
            raise TypeError("bytes does not convert to str")
        flat = [item.encode() for item in array.flat]
        array = np.array([*flat, None], dtype=object)[:-1].reshape(array.shape)
    return array
