"""`from_generator`: what its elements are declared to be, and making them so.

Values are checked against the signature one by one. Python numbers take the declared dtype if no
information of another kind is lost (an int may become a float, never the other way round); arrays
and NumPy scalars of another dtype are converted only where ``numpy.can_cast(..., "same_kind")``
says so. tf.data converts with less care: there a float64 array declared int32 fails too, but 1.5
declared int32 does not always.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from .dtypes import dtype_name
from .errors import InvalidArgumentError
from .function import _name
from .nest import flatten, is_structure, items, rebuild, same_structure
from .recipe import dump_callable, load_callable, pack_arrays, unpack_arrays
from .spec import (
    AnySpec,
    ObjectSpec,
    RaggedTensorSpec,
    Shape,
    SparseTensorSpec,
    TensorSpec,
    UnknownSpec,
    object_dtype,
    shapes_compatible,
    spec_of,
)

__all__ = ["Source", "signature_of"]

_KIND_ORDER = {"b": 0, "i": 1, "u": 1, "f": 2, "V": 2, "c": 3}
_SPECS = (TensorSpec, SparseTensorSpec, RaggedTensorSpec, ObjectSpec)


def signature_of(output_types: Any, output_shapes: Any, output_signature: Any) -> Any:
    """Return the element spec that the three arguments of `from_generator` mean.

    Raises
    ------
    TypeError
        None of them or too many are given, or a leaf is not a spec.

    Examples
    --------
    >>> signature_of((np.int64, bytes), ([], [None]), None)
    (TensorSpec(shape=(), dtype=int64), TensorSpec(shape=(None,), dtype=bytes))
    """
    if output_signature is not None:
        if output_types is not None or output_shapes is not None:
            raise TypeError(
                "The `output_types` and `output_shapes` arguments can not be used together with "
                "the `output_signature` argument."
            )
        for leaf in flatten(output_signature):
            if not isinstance(leaf, _SPECS):
                raise TypeError(
                    "`output_signature` must contain objects that are specs such as "
                    f"headrace.TensorSpec, but {leaf!r} is a {type(leaf).__name__}."
                )
        return output_signature
    if output_types is None:
        raise TypeError(
            "Either `output_signature` or `output_types` must be specified: "
            "output_signature=headrace.TensorSpec(shape=(), dtype=np.int64), for example."
        )
    return _zip_types(output_types, output_shapes)


def _zip_types(types: Any, shapes: Any) -> Any:
    """Pair types with shapes; a tuple in place of a leaf of `types` is a shape."""
    children = items(types) if _is_nest(types) else None
    if children is None:
        return TensorSpec(shapes, types)
    if shapes is None:
        return rebuild(types, [_zip_types(child, None) for _, child in children])
    found = dict(items(shapes))
    if set(found) != {key for key, _ in children}:
        raise TypeError(f"`output_shapes` {shapes!r} is not nested as `output_types` {types!r}")
    return rebuild(types, [_zip_types(child, found[key]) for key, child in children])


def _is_nest(types: Any) -> bool:
    return is_structure(types) and types is not None and not isinstance(types, np.dtype)


class Source:
    """A generator, to be opened once per run.

    Parameters
    ----------
    generator
        A callable that returns an iterable.
    element_spec
        What it is declared to yield; `UnknownSpec` is not accepted.
    args
        Arguments of `generator`; it gets them as NumPy arrays.

    Raises
    ------
    TypeError
        `generator` is not callable.
    """

    def __init__(
        self, generator: Callable[..., Any], element_spec: Any, args: tuple[Any, ...] = ()
    ) -> None:
        if not callable(generator):
            raise TypeError(
                f"`generator` must be a Python callable, got {generator!r}; wrap it in a function "
                "that makes a new one for each pass"
            )
        assert not isinstance(element_spec, UnknownSpec)
        self.generator = generator
        self.element_spec = element_spec
        self.args = tuple(np.asarray(arg) for arg in args)
        self.name = _name(generator)
        plain = type(element_spec) is tuple and all(isinstance(s, _SPECS) for s in element_spec)
        self._quick = [_quick(leaf) for leaf in element_spec] if plain else None

    def open(self) -> Iterator[Any]:
        """Return a fresh iterator of raw yields.

        Raises
        ------
        TypeError
            What `generator` returns cannot be iterated.
        """
        made = self.generator(*self.args)
        try:
            return iter(made)
        except TypeError:
            raise TypeError(f"{self.name} must return an iterable, it returned {made!r}") from None

    def convert(self, value: Any, index: int) -> Any:
        """Return a yield as a nest of arrays that fits the element spec.

        Parameters
        ----------
        value
            What the generator yielded.
        index
            The number of the element, from 0, for messages.

        Raises
        ------
        InvalidArgumentError
            It does not fit; the text has the number, what was declared and what came.
        """
        spec = self.element_spec
        if isinstance(spec, _SPECS):
            return self._leaf(value, spec, index, "")
        if self._quick is not None and type(value) is tuple and len(spec) == len(value):
            return self._tuple(value, index)
        return self._nest(value, spec, index, "")

    def _tuple(self, value: tuple[Any, ...], index: int) -> Any:
        """Convert a flat tuple; scalars of the usual types go through a table."""
        assert self._quick is not None
        result = []
        for at, (item, quick) in enumerate(zip(value, self._quick, strict=True)):
            convert = quick.get(type(item))
            try:
                result.append(convert(item) if convert else self._at(item, index, at))
            except OverflowError:
                result.append(self._at(item, index, at))
        return tuple(result)

    def _at(self, item: Any, index: int, at: int) -> Any:
        return self._leaf(item, self.element_spec[at], index, f"[{at}]")

    def _nest(self, value: Any, spec: Any, index: int, path: str) -> Any:
        if isinstance(spec, _SPECS):
            return self._leaf(value, spec, index, path)
        if not _same_level(value, spec):
            hint = "; a list is one tensor, yield a tuple" if isinstance(value, list) else ""
            raise InvalidArgumentError(
                f"`generator` {self.name} yielded an element that did not match the expected "
                f"structure: element {index}{_at(path)} is {_short(value)}, the declared structure "
                f"is {spec!r}{hint}"
            )
        found = dict(items(value))
        children = [
            self._nest(found[key], child, index, f"{path}[{key!r}]") for key, child in items(spec)
        ]
        return rebuild(spec, children)

    def _leaf(self, value: Any, spec: AnySpec, index: int, path: str) -> Any:
        kind = type(value)
        if spec.__class__ is TensorSpec:
            try:
                array = to_dtype(value, spec.dtype) if kind is not spec.dtype else value
            except (TypeError, ValueError, OverflowError) as error:
                seen = spec_of(value)
                raise InvalidArgumentError(
                    f"`generator` {self.name} yielded an element that could not be converted to "
                    f"the declared type: element {index}{_at(path)} is {_short(value)} of "
                    f"{_described(seen)}, declared was {spec!r} ({error})"
                ) from None
            shape: Shape = () if kind is bytes or kind is str else array.shape
            if not shapes_compatible(shape, spec.shape):
                raise InvalidArgumentError(
                    f"`generator` {self.name} yielded an element of shape {shape} where an element "
                    f"of shape {spec.shape} was expected: element {index}{_at(path)}, declared was "
                    f"{spec!r}"
                )
            return array
        if not spec.is_compatible_with(value):
            raise InvalidArgumentError(
                f"`generator` {self.name} yielded an element that could not be converted: element "
                f"{index}{_at(path)} is {_described(spec_of(value))}, declared was {spec!r}"
            )
        return value

    def __reduce__(self) -> tuple[Any, ...]:
        blob = dump_callable(self.generator, self.name)
        return _load, (blob, self.element_spec, pack_arrays(self.args))


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


def _load(blob: bytes, element_spec: Any, args: Any) -> Source:
    return Source(load_callable(blob), element_spec, unpack_arrays(args))


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


def _at(path: str) -> str:
    return f", component {path}" if path else ""


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
