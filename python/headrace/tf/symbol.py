"""Symbols by TensorFlow's rules: what a traced function gets in place of tensors.

A `SymbolicTensor` records what is done to it as headrace's symbols do, with TensorFlow's dtypes and
errors. What the engine has no kernel of still gives a symbol whose shape and dtype are known, so
that the element spec of the function is known; the function then runs as Python.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np

from ..spec import TensorSpec
from ..symbol import Symbol
from .dtypes import DType, from_own
from .operators import Operators
from .shapes import TensorShape
from .tensor import Reference, Tensor

if TYPE_CHECKING:
    from .tracer import TensorTracer

__all__ = ["SymbolicTensor"]


_REFLECTED = {
    np.add: "__radd__",
    np.subtract: "__rsub__",
    np.multiply: "__rmul__",
    np.true_divide: "__rtruediv__",
    np.floor_divide: "__rfloordiv__",
    np.remainder: "__rmod__",
    np.power: "__rpow__",
    np.matmul: "__rmatmul__",
    np.equal: "__eq__",
    np.not_equal: "__ne__",
    np.less: "__gt__",
    np.less_equal: "__ge__",
    np.greater: "__lt__",
    np.greater_equal: "__le__",
    np.bitwise_and: "__rand__",
    np.bitwise_or: "__ror__",
    np.bitwise_xor: "__rxor__",
}


class SymbolicTensor(Operators, Symbol):
    """Stands for one dense component of an element, or for what was computed of it."""

    __slots__ = ("_static",)
    _tracer: TensorTracer

    def __init__(self, tracer: Any, value: int, spec: TensorSpec, fresh: bool = False) -> None:
        super().__init__(tracer, value, spec, fresh)
        self._static: tuple[Any, ...] | None = None  # the values known of a shape tensor

    @property
    def __class__(self) -> Any:
        return Tensor

    @__class__.setter
    def __class__(self, kind: Any) -> None:
        raise TypeError("the class of a tensor cannot be set")

    @property
    def shape(self) -> Any:
        """The sizes that are known, a `TensorShape`."""
        return TensorShape(self._spec.shape)

    @property
    def dtype(self) -> Any:
        """The type of the values, a `DType`."""
        found: DType = from_own(self._spec.dtype)
        return found

    @property
    def ndim(self) -> Any:
        """The number of axes; ``None`` if unknown."""
        return self.shape.rank

    @property
    def name(self) -> str:
        """A name, as tensors of graphs have one."""
        return f"args_{self._value}:0"

    @property
    def op(self) -> Any:
        """None: there are no graph operations to look at."""
        return None

    @property
    def graph(self) -> Any:
        """None: there is no graph to look at."""
        return None

    @property
    def device(self) -> str:
        """An empty text, as in TensorFlow's functions."""
        return ""

    def get_shape(self) -> TensorShape:
        """Return the shape."""
        return TensorShape(self._spec.shape)

    def set_shape(self, shape: Any) -> None:
        """State what the shape will be; a run checks it.

        Raises
        ------
        ValueError
            It contradicts what is known.
        """
        known = self.get_shape()
        merged = known.merge_with(shape)
        if merged != known:
            from .array_ops import ensure_shape

            stated = ensure_shape(self, merged)
            self._value, self._spec = stated._value, stated._spec

    def ref(self) -> Reference:
        """Return a hashable reference to this symbol."""
        return Reference(self)

    experimental_ref = ref

    def __pos__(self) -> Any:
        raise TypeError("bad operand type for unary +: 'Tensor'")

    def __len__(self) -> int:
        dims = self._spec.shape
        if dims == ():
            raise TypeError("Scalar tensor has no `len()`")
        if dims is None or dims[0] is None:
            raise TypeError(
                "len is not well defined for a symbolic Tensor of unknown size. Please call "
                "`x.shape` rather than `len(x)` for shape information."
            )
        return dims[0]

    def __iter__(self) -> Iterator[Any]:
        dims = self._spec.shape
        if dims == ():
            raise TypeError("Cannot iterate over a scalar tensor.")
        if dims is not None and dims[0] is not None:
            return iter([self[row] for row in range(dims[0])])
        return self._tracer.iterate(self)

    def __bool__(self) -> bool:
        return self._tracer.branch(self)

    def __hash__(self) -> int:
        raise TypeError("Tensor is unhashable. Instead, use tensor.ref() as the key.")

    # What only a value has: the function runs as Python.

    def _needs_value(self, what: str) -> NoReturn:
        self._tracer.refuse(f"{what} of a tensor")

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        if name != "numpy" and not hasattr(np.ndarray, name):
            raise AttributeError(f"'SymbolicTensor' object has no attribute {name!r}")
        return self._needs_value(f"uses .{name}")

    def __array__(self, *args: Any, **kwargs: Any) -> Any:
        self._needs_value("makes a NumPy array")

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **kwargs: Any) -> Any:
        reflected = _REFLECTED.get(ufunc)  # an operator of an array or a NumPy scalar comes here
        if reflected and method == "__call__" and not kwargs and not isinstance(inputs[0], Symbol):
            return getattr(self, reflected)(inputs[0])
        return self._needs_value(f"uses np.{ufunc.__name__}")

    def __array_function__(self, func: Any, types: Any, args: Any, kwargs: Any) -> Any:
        self._needs_value(f"uses np.{getattr(func, '__name__', 'function')}")

    def __int__(self) -> int:
        self._needs_value("makes a Python int")

    def __index__(self) -> int:
        self._needs_value("makes a Python int")

    def __float__(self) -> float:
        self._needs_value("makes a Python float")

    def __complex__(self) -> complex:
        self._needs_value("makes a Python complex")

    def __repr__(self) -> str:
        return f"<tf.Tensor '{self.name}' shape={self.shape} dtype={self.dtype.name}>"

    def __str__(self) -> str:
        return f'Tensor("{self.name}", shape={self.shape}, dtype={self.dtype.name})'

    def __format__(self, spec: str) -> str:
        return str(self)

    def _no_item(self, *_: Any) -> NoReturn:
        raise TypeError("'Tensor' object does not support item assignment")

    __setitem__ = __delitem__ = _no_item

    def __contains__(self, value: Any) -> bool:
        self._needs_value("looks for a value")

    def __copy__(self) -> Any:
        return self

    def __deepcopy__(self, memo: Any) -> Any:
        return self
