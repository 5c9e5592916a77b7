"""What sparse and ragged tensors share: operators that go to their values."""

from __future__ import annotations

from typing import Any

from . import operators

__all__ = ["Composite"]


class Composite:
    """A tensor made of several, with operators of its own."""

    __slots__ = ()
    _is_composite = True
    _is_tensor = True
    _overrides_tensors = True
    __array_priority__ = 200

    __add__, __radd__ = operators.methods("add")
    __sub__, __rsub__ = operators.methods("subtract")
    __mul__, __rmul__ = operators.methods("multiply")
    __truediv__, __rtruediv__ = operators.methods("truediv")
    __floordiv__, __rfloordiv__ = operators.methods("floordiv")
    __mod__, __rmod__ = operators.methods("floormod")
    __pow__, __rpow__ = operators.methods("pow")
    __and__, __rand__ = operators.methods("and")
    __or__, __ror__ = operators.methods("or")
    __xor__, __rxor__ = operators.methods("xor")
    __lt__, __le__ = operators.method("less"), operators.method("less_equal")
    __gt__, __ge__ = operators.method("greater"), operators.method("greater_equal")
    __neg__, __abs__ = operators.unary("negative"), operators.unary("abs")
    __invert__ = operators.unary("invert")

    def get_shape(self) -> Any:
        """Return the shape."""
        return self.shape  # type: ignore[attr-defined]

    @property
    def op(self) -> Any:
        """None: there are no graph operations to look at."""
        return None

    @property
    def graph(self) -> Any:
        """None: there is no graph to look at."""
        return None

    def consumers(self) -> list[Any]:
        """Return an empty list: there is no graph."""
        return []
