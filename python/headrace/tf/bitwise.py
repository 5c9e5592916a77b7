"""Bits of integers; mirrors ``tf.bitwise``."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .arithmetic import OPERATORS, UNARY
from .composite import by_value
from .convert import convert
from .kernels import broadcast, run, static_shape
from .names import lookup
from .operands import check_dtype, operands

__all__ = ["bitwise_and", "bitwise_or", "bitwise_xor", "invert", "left_shift", "right_shift"]


def _of_integers(name: str, operator: Callable[[Any, Any], Any]) -> Callable[..., Any]:
    def combine(x: Any, y: Any, name: str | None = None) -> Any:
        x, y = operands(name or "Bitwise", x, y, strict=True)
        check_dtype("Bitwise", x, allowed=x.dtype.is_integer)
        return operator(x, y)

    combine.__name__ = combine.__qualname__ = name
    combine.__doc__ = f"Combine bits; mirrors ``tf.bitwise.{name}``."
    return by_value(combine)


def _shift(kernel: str) -> Callable[[Any, Any], Any]:
    def shift(x: Any, y: Any) -> Any:
        return run(kernel, (x, y), (broadcast(static_shape(x), static_shape(y)), x.dtype))

    return shift


bitwise_and = _of_integers("bitwise_and", OPERATORS["and"])
bitwise_or = _of_integers("bitwise_or", OPERATORS["or"])
bitwise_xor = _of_integers("bitwise_xor", OPERATORS["xor"])
left_shift = _of_integers("left_shift", _shift("left_shift"))
right_shift = _of_integers("right_shift", _shift("right_shift"))


@by_value
def invert(x: Any, name: str | None = None) -> Any:
    """Flip all bits; mirrors ``tf.bitwise.invert``."""
    x = convert(x)
    check_dtype("Invert", x, allowed=x.dtype.is_integer)
    return UNARY["invert"](x)


__getattr__ = lookup(__name__)
