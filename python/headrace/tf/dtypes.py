"""TensorFlow's dtypes; mirrors ``tf.dtypes``.

A `DType` is one object per type, compares equal to NumPy's dtypes and to names, and NumPy takes it
where it wants a dtype.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import dtypes as own
from ..errors import InvalidArgumentError
from .names import lookup

__all__ = [
    "DType",
    "as_dtype",
    "bfloat16",
    "bool",
    "cast",
    "complex",
    "complex64",
    "complex128",
    "double",
    "float16",
    "float32",
    "float64",
    "half",
    "int8",
    "int16",
    "int32",
    "int64",
    "resource",
    "saturate_cast",
    "string",
    "uint8",
    "uint16",
    "uint32",
    "uint64",
    "variant",
]

_ENUMS = {
    "float32": 1, "float64": 2, "int32": 3, "uint8": 4, "int16": 5, "int8": 6, "string": 7,
    "complex64": 8, "int64": 9, "bool": 10, "bfloat16": 14, "uint16": 17, "complex128": 18,
    "float16": 19, "resource": 20, "variant": 21, "uint32": 22, "uint64": 23,
}  # fmt: skip
_UNSIZED = ("string", "resource", "variant")
_MADE: dict[str, DType] = {}


class DType:
    """The type of the values of a tensor; mirrors ``tf.DType``.

    Parameters
    ----------
    name
        The type's name, or what `as_dtype` takes.

    Examples
    --------
    >>> tf.float32.name, tf.float32.size, tf.float32 == np.float32
    ('float32', 4, True)
    >>> tf.int8.min, tf.int8.max
    (-128, 127)
    """

    __slots__ = ("_name", "_numpy")
    # `numpy.testing`, which keeps tensors as they are, asks the class of a dtype for it.
    _is_numeric = True
    _name: str
    _numpy: np.dtype[Any] | None

    def __new__(cls, name: Any) -> DType:
        """Return the one object of this type."""
        if isinstance(name, str) and name in _ENUMS:
            if name not in _MADE:
                made = _MADE[name] = object.__new__(cls)
                made._name = name
                made._numpy = None
            return _MADE[name]
        return as_dtype(name)

    @property
    def name(self) -> str:
        """The name, such as ``"float32"``."""
        return self._name

    @property
    def as_numpy_dtype(self) -> Any:
        """The NumPy scalar type; ``object`` for strings."""
        return np.object_ if self._name in _UNSIZED else self.dtype.type

    @property
    def dtype(self) -> np.dtype[Any]:
        """The NumPy dtype, so that NumPy takes this object for it."""
        if self._numpy is None:
            plain = object if self._name in _UNSIZED else own.as_dtype(self._name)
            self._numpy = np.dtype(plain)
        return self._numpy

    @property
    def as_datatype_enum(self) -> int:
        """The number of the type in TensorFlow's protocol buffers."""
        return _ENUMS[self._name]

    @property
    def base_dtype(self) -> DType:
        """The type itself: there are no reference types."""
        return self

    @property
    def real_dtype(self) -> DType:
        """The type of the real part."""
        return {"complex64": float32, "complex128": float64}.get(self._name, self)

    @property
    def size(self) -> int:
        """Bytes of a value; 0 for strings, as in TensorFlow."""
        return {"string": 0, "resource": 1, "variant": 1}.get(self._name) or (
            0 if self._name == "string" else self.dtype.itemsize
        )

    @property
    def is_bool(self) -> Any:
        """Whether it is bool."""
        return self._name == "bool"

    @property
    def is_floating(self) -> Any:
        """Whether it is a real floating point type."""
        return "float" in self._name

    @property
    def is_complex(self) -> Any:
        """Whether it is complex."""
        return self._name.startswith("complex")

    @property
    def is_integer(self) -> Any:
        """Whether it is an integer type; bool is none."""
        return "int" in self._name

    @property
    def is_unsigned(self) -> Any:
        """Whether it is an integer type without sign."""
        return self._name.startswith("uint")

    @property
    def is_quantized(self) -> Any:
        """False: there are no quantised types."""
        return False

    @property
    def is_numeric(self) -> Any:
        """Whether it is a number type."""
        return self.is_floating or self.is_complex or self.is_integer

    @property
    def is_numpy_compatible(self) -> Any:
        """Whether NumPy has arrays of it."""
        return self._name not in ("resource", "variant")

    @property
    def min(self) -> Any:
        """The smallest value.

        Raises
        ------
        TypeError
            The type has none.
        """
        return self._limit("min", "minimum")

    @property
    def max(self) -> Any:
        """The largest value.

        Raises
        ------
        TypeError
            The type has none.
        """
        return self._limit("max", "maximum")

    def _limit(self, which: str, word: str) -> Any:
        if self.is_integer:
            return int(getattr(np.iinfo(self.dtype), which))
        if self._name == "bfloat16":
            import ml_dtypes  # type: ignore[import-not-found, import-untyped, unused-ignore]

            finfo: Any = ml_dtypes.finfo
            return getattr(finfo(self.dtype), which)
        if self.is_floating:
            return getattr(np.finfo(self.dtype), which)
        raise TypeError(f"Cannot find {word} value of {self} with type {self}.")

    @property
    def limits(self) -> tuple[Any, Any]:
        """The range that image functions expect: 0 to `max`, or 0 to 1 for floats."""
        return (0, self.max) if self.is_integer else (0, 1)

    def is_compatible_with(self, other: Any) -> Any:
        """Tell whether `other` is the same type."""
        return self is as_dtype(other)

    def is_subtype_of(self, other: Any) -> Any:
        """Tell whether `other` is the same type."""
        return self is as_dtype(other)

    def __eq__(self, other: object) -> Any:
        if other is self:
            return True
        if other is None or isinstance(other, DType):
            return False
        try:
            return as_dtype(other) is self
        except TypeError:
            return False

    def __hash__(self) -> int:
        return _ENUMS[self._name]

    def __int__(self) -> int:
        return _ENUMS[self._name]

    def __reduce__(self) -> Any:
        return as_dtype, (self._name,)

    def __str__(self) -> str:
        return f"<dtype: {self._name!r}>"

    def __repr__(self) -> str:
        return f"tf.{self._name}"


float16 = half = DType("float16")
bfloat16 = DType("bfloat16")
float32 = DType("float32")
float64 = double = DType("float64")
int8 = DType("int8")
int16 = DType("int16")
int32 = DType("int32")
int64 = DType("int64")
uint8 = DType("uint8")
uint16 = DType("uint16")
uint32 = DType("uint32")
uint64 = DType("uint64")
bool = DType("bool")
complex64 = DType("complex64")
complex128 = DType("complex128")
string = DType("string")
resource = DType("resource")
variant = DType("variant")

_ALIASES = {"half": "float16", "float": "float32", "double": "float64"}
_NUMBERS = {number: name for name, number in _ENUMS.items()}


def as_dtype(type_value: Any) -> DType:
    """Return the `DType` that `type_value` means; mirrors ``tf.as_dtype``.

    Parameters
    ----------
    type_value
        A `DType`, a NumPy dtype or scalar type, a name, or a number of TensorFlow's enum. Python's
        ``float`` is float32 and ``bool`` is bool, as in TensorFlow.

    Raises
    ------
    TypeError
        It is none of these.

    Examples
    --------
    >>> tf.as_dtype("string"), tf.as_dtype(np.int64), tf.as_dtype(float)
    (tf.string, tf.int64, tf.float32)
    """
    if isinstance(type_value, DType):
        return type_value
    name: Any = None
    if isinstance(type_value, str):
        name = _ALIASES.get(type_value, type_value)
    elif type_value is float:
        name = "float32"
    elif isinstance(type_value, int):
        name = _NUMBERS.get(type_value)
    elif isinstance(type_value, np.dtype) or (
        isinstance(type_value, type)
        and (issubclass(type_value, np.generic) or type_value.__name__ in ("bool", "object"))
    ):
        found = np.dtype(type_value)
        name = "string" if found.kind in "OSU" else found.name
    elif hasattr(type_value, "as_datatype_enum"):  # TensorFlow's own
        name = type_value.name
    elif type(getattr(type_value, "dtype", None)) is DType:
        return type_value.dtype  # type: ignore[no-any-return]
    if name not in _ENUMS:
        raise TypeError(
            f"Cannot convert the argument `type_value`: {type_value!r} to a TensorFlow DType."
        )
    return DType(name)


def of_array(array: Any) -> DType:
    """Return the dtype of the tensor that holds an array.

    Raises
    ------
    ValueError
        NumPy types that tensors do not have, such as ``datetime64``.
    """
    dtype = array.dtype
    found = _BY_NUMPY.get(dtype)
    if found is not None:
        return found
    if dtype.kind in "OSU":
        return string
    if dtype.name in _ENUMS:
        return DType(dtype.name)
    raise ValueError(
        f"Failed to convert a NumPy array to a Tensor (Unsupported numpy type: {dtype})."
    )


_BY_NUMPY = {
    np.dtype(name): DType(name) for name in _ENUMS if name not in _UNSIZED and name != "bfloat16"
}


def to_own(dtype: Any) -> own.DType:
    """Return headrace's name for a `DType`: a NumPy dtype, or ``bytes``.

    Raises
    ------
    InvalidArgumentError
        A type that no array holds.
    """
    found = as_dtype(dtype)
    if found is string:
        return bytes
    if found._name in _UNSIZED:
        raise InvalidArgumentError(f"{found!r} is not supported as the type of values")
    return own.as_dtype(found._name)


def from_own(dtype: own.DType) -> DType:
    """Return the `DType` of a dtype of headrace."""
    return string if isinstance(dtype, type) else as_dtype(dtype)


def cast(x: Any, dtype: Any, name: str | None = None) -> Any:
    """Convert to another dtype; mirrors ``tf.dtypes.cast``."""
    from .casting import cast as convert

    return convert(x, dtype)


def saturate_cast(value: Any, dtype: Any, name: str | None = None) -> Any:
    """Convert to another dtype within its range; mirrors ``tf.dtypes.saturate_cast``."""
    from .casting import saturate_cast as convert

    return convert(value, dtype)


def complex(real: Any, imag: Any, name: str | None = None) -> Any:
    """Return complex numbers of their parts; mirrors ``tf.dtypes.complex``."""
    from .numerics import complex as made

    return made(real, imag)


__getattr__ = lookup(__name__)
