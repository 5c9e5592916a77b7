"""Values that can be changed; `Variable`.

A function that reads or changes one runs as Python, so that it does so each time it is called.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from .convert import convert, tracer_now
from .kernels import static_shape
from .tensor import raw

__all__ = ["Module", "Variable"]


class Module:
    """A holder of variables; mirrors ``tf.Module``."""

    def __init__(self, name: str | None = None) -> None:
        self.name = name


class Variable:
    """A value that can be changed; mirrors ``tf.Variable``, as far as input code needs it.

    Parameters
    ----------
    initial_value
        The first value, or a function that gives it.
    dtype
        The type of the value.

    Examples
    --------
    >>> counter = tf.Variable(1)
    >>> counter.assign_add(2).numpy(), (counter * 2).numpy()
    (np.int32(3), np.int32(6))
    """

    __array_priority__ = 100

    def __init__(
        self, initial_value: Any = None, trainable: bool | None = None, validate_shape: bool = True,
        caching_device: Any = None, name: str | None = None, variable_def: Any = None,
        dtype: Any = None, import_scope: Any = None, constraint: Any = None,
        synchronization: Any = None, aggregation: Any = None, shape: Any = None, **options: Any,
    ) -> None:  # fmt: skip
        value = initial_value() if callable(initial_value) else initial_value
        self._value = convert(value, dtype)
        self.name = f"{name or 'Variable'}:0"
        self.trainable = trainable is not False

    @property
    def shape(self) -> Any:
        """The sizes."""
        return self._value.shape

    @property
    def dtype(self) -> Any:
        """The type of the value."""
        return self._value.dtype

    def value(self) -> Any:
        """Return the present value, a tensor."""
        return self._value if (symbol := self._symbol("reads")) is None else symbol

    read_value = value
    __tf_tensor__ = value

    def _symbol(self, what: str) -> Any:
        """Return a stand-in for the value where a function is traced; None elsewhere."""
        tracer: Any = tracer_now()
        if tracer is None or not hasattr(tracer, "unrecorded"):
            return None
        tracer.doubt(f"{what} a variable")
        return tracer.unrecorded("a variable", static_shape(self._value), self._value.dtype)

    def numpy(self) -> Any:
        """Return the present value as NumPy has it."""
        return self._value.numpy()

    def assign(
        self, value: Any, use_locking: bool = False, name: str | None = None,
        read_value: bool = True,
    ) -> Any:  # fmt: skip
        """Set the value."""
        found = convert(value, self._value.dtype)
        symbol = self._symbol("changes")
        if symbol is not None:
            return symbol
        self._value = found
        return self

    def assign_add(
        self, delta: Any, use_locking: bool = False, name: str | None = None,
        read_value: bool = True,
    ) -> Any:  # fmt: skip
        """Add to the value."""
        symbol = self._symbol("changes")
        return self.assign(self._value + delta) if symbol is None else symbol + delta

    def assign_sub(
        self, delta: Any, use_locking: bool = False, name: str | None = None,
        read_value: bool = True,
    ) -> Any:  # fmt: skip
        """Subtract from the value."""
        symbol = self._symbol("changes")
        return self.assign(self._value - delta) if symbol is None else symbol - delta

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        array = raw(self._value)
        return array if dtype is None else array.astype(dtype)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        return getattr(self.value(), name)

    def __bool__(self) -> bool:
        return bool(self.value())

    def __int__(self) -> int:
        return int(self.value())

    def __float__(self) -> float:
        return float(self.value())

    def __index__(self) -> int:
        return int(self.value())

    def __len__(self) -> int:
        return len(self.value())

    def __iter__(self) -> Iterator[Any]:
        return iter(self.value())

    def __getitem__(self, key: Any) -> Any:
        return self.value()[key]

    def __hash__(self) -> int:
        return id(self)

    def __repr__(self) -> str:
        shape, dtype = raw(self._value).shape, self.dtype.name
        return f"<tf.Variable '{self.name}' shape={shape} dtype={dtype}, numpy={self.numpy()!r}>"


def _forward(name: str) -> Any:
    def call(self: Variable, *args: Any) -> Any:
        return getattr(self.value(), name)(*args)

    return call


for _name in [
    "add",
    "radd",
    "sub",
    "rsub",
    "mul",
    "rmul",
    "truediv",
    "rtruediv",
    "floordiv",
    "rfloordiv",
    "mod",
    "rmod",
    "pow",
    "rpow",
    "matmul",
    "lt",
    "le",
    "gt",
    "ge",
    "eq",
    "ne",
    "neg",
    "abs",
    "invert",
    "and",
    "or",
    "xor",
]:
    setattr(Variable, f"__{_name}__", _forward(f"__{_name}__"))
