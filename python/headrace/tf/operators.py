"""Operators and indexing of tensors, by TensorFlow's rules; shared by values and symbols.

The other operand takes the tensor's dtype where it can; tensors of two dtypes are an error. Small
integers divide to float32, larger ones to float64.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

__all__ = ["Operators", "apply", "getitem", "method", "methods", "unary"]


def apply(name: str, x: Any, y: Any) -> Any:
    """Apply the operator of this name."""
    from .arithmetic import OPERATORS

    return OPERATORS[name](x, y)


def _defers(self: Any, other: Any) -> bool:
    """Tell whether `other` has operators for tensors of its own, and `self` has none."""
    return getattr(type(other), "_overrides_tensors", False) and not getattr(
        type(self), "_overrides_tensors", False
    )


def method(name: str) -> Any:
    """Return the method of an operator."""

    def forward(self: Any, other: Any) -> Any:
        return NotImplemented if _defers(self, other) else apply(name, self, other)

    return forward


def methods(name: str) -> tuple[Any, Any]:
    """Return the methods of an operator, plain and reflected."""

    def backward(self: Any, other: Any) -> Any:
        from .convert import convert

        if _defers(self, other):
            return NotImplemented
        if getattr(type(self), "_overrides_tensors", False):
            return apply(name, other, self)
        return apply(name, convert(other, None, self.dtype), self)

    return method(name), backward


def unary(name: str) -> Callable[[Any], Any]:
    """Return the method of an operator of one operand."""

    def forward(self: Any) -> Any:
        from .arithmetic import UNARY

        return UNARY[name](self)

    return forward


def unsupported(self: Any, other: Any) -> Any:
    """Say that there is no such operator; Python raises TypeError."""
    return NotImplemented


_VALID = (
    "Only integers, slices (`:`), ellipsis (`...`), tf.newaxis (`None`) and scalar "
    "tf.int32/tf.int64 tensors are valid indices"
)


def _part(key: Any) -> Any:
    """Return one part of a key: an int, slice, None, ``...``, or a scalar symbol."""
    from .convert import is_symbol
    from .tensor import Tensor, raw

    if key is None or key is Ellipsis:
        return key
    if isinstance(key, slice) and not is_symbol(key):
        ends = (key.start, key.stop, key.step)
        return slice(*(None if end is None else _part(end) for end in ends))
    if is_symbol(key):
        if key._spec.shape == () and key.dtype.is_integer:
            return key
    elif type(key) is Tensor:
        array = raw(key)
        if array.ndim == 0 and array.dtype.kind in "iu":
            return int(array)
    elif isinstance(key, int | np.integer) and not isinstance(key, bool):
        return int(key)
    elif hasattr(key, "__index__") and not isinstance(key, np.ndarray | bool):
        return int(key.__index__())
    raise TypeError(f"{_VALID}, got {key!r}")


def getitem(x: Any, key: Any) -> Any:
    """Index a tensor or symbol: basic indexing, or one mask."""
    from .convert import is_dense, is_symbol
    from .gathering import boolean_mask
    from .tensor import raw, wrap

    if is_dense(key) and key.dtype.is_bool:
        return boolean_mask(x, key)
    if isinstance(key, np.ndarray) and key.dtype == bool and not is_dense(key):
        return boolean_mask(x, key)
    parts = [_part(part) for part in (key if isinstance(key, tuple | list) else (key,))]
    dynamic = any(
        is_symbol(p) or (type(p) is slice and any(map(is_symbol, (p.start, p.stop, p.step))))
        for p in parts
    )
    if is_symbol(x) or dynamic:
        from .symbolic_index import index

        return index(x, parts)
    array = raw(x)
    _check_bounds(array.shape, parts)
    found = array[tuple(parts)]
    return wrap(found)


def _check_bounds(shape: tuple[int, ...], parts: list[Any]) -> None:
    """Raise TensorFlow's error for an index that is outside."""
    from ..errors import InvalidArgumentError

    count = sum(part is not None and part is not Ellipsis for part in parts)
    if count > len(shape):
        raise InvalidArgumentError(
            f"Index out of range using input dim {len(shape)}; input has only {len(shape)} dims"
        )
    axis = 0
    for part in parts:
        if part is Ellipsis:
            axis = len(shape) - (count - axis)
        elif part is not None:
            if isinstance(part, int) and not -shape[axis] <= part < shape[axis]:
                raise InvalidArgumentError(f"slice index {part} of dimension {axis} out of bounds.")
            axis += 1


class Operators:
    """The operators of tensors, for values and symbols alike."""

    __slots__ = ()

    __add__, __radd__ = methods("add")
    __sub__, __rsub__ = methods("subtract")
    __mul__, __rmul__ = methods("multiply")
    __truediv__, __rtruediv__ = methods("truediv")
    __floordiv__, __rfloordiv__ = methods("floordiv")
    __mod__, __rmod__ = methods("floormod")
    __pow__, __rpow__ = methods("pow")
    __matmul__, __rmatmul__ = methods("matmul")
    __and__, __rand__ = methods("and")
    __or__, __ror__ = methods("or")
    __xor__, __rxor__ = methods("xor")
    __lt__, __le__ = method("less"), method("less_equal")
    __gt__, __ge__ = method("greater"), method("greater_equal")
    __eq__, __ne__ = method("eq"), method("ne")
    # Tensors are values: `x += y` binds a new one.
    __iadd__, __isub__, __imul__, __itruediv__ = __add__, __sub__, __mul__, __truediv__
    __ifloordiv__, __imod__, __ipow__, __imatmul__ = __floordiv__, __mod__, __pow__, __matmul__
    __iand__, __ior__, __ixor__ = __and__, __or__, __xor__
    __lshift__ = __rlshift__ = __rshift__ = __rrshift__ = unsupported
    __ilshift__ = __irshift__ = __divmod__ = __rdivmod__ = unsupported
    __neg__, __abs__ = unary("negative"), unary("abs")
    __invert__ = unary("invert")

    def __getitem__(self, key: Any) -> Any:
        return getitem(self, key)
