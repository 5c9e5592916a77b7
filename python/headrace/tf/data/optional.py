"""A value that may be missing; mirrors ``tf.experimental.Optional``."""

from __future__ import annotations

from typing import Any

from ... import optional as own
from ...errors import InvalidArgumentError
from ...nest import map_structure
from .. import specs
from ..bridge import component, from_own_nest, to_own
from ..specs import OptionalSpec, type_spec_from_value
from ..tensor import wrap

__all__ = ["Optional"]


class Optional:
    """A value, or nothing; mirrors ``tf.experimental.Optional``.

    Examples
    --------
    >>> value = tf.experimental.Optional.from_value(7)
    >>> value.has_value().numpy(), value.get_value().numpy()
    (np.True_, np.int32(7))
    """

    __slots__ = ("_has_value", "_spec", "_value")
    _is_component = True

    def __init__(self, value: Any, element_spec: Any, has_value: bool) -> None:
        self._value = value
        self._spec = element_spec
        self._has_value = has_value

    @staticmethod
    def from_value(value: Any) -> Optional:
        """Return an optional with a value."""
        found = map_structure(component, value)
        return Optional(found, map_structure(type_spec_from_value, found), True)

    @staticmethod
    def empty(element_spec: Any) -> Optional:
        """Return an optional without a value."""
        return Optional(None, element_spec, False)

    def has_value(self, name: str | None = None) -> Any:
        """Tell whether there is a value."""
        return wrap(self._has_value)

    def get_value(self, name: str | None = None) -> Any:
        """Return the value.

        Raises
        ------
        InvalidArgumentError
            There is none.
        """
        if not self._has_value:
            raise InvalidArgumentError("The given optional does not have a value.")
        return self._value

    @property
    def element_spec(self) -> Any:
        """What the value looks like."""
        return self._spec

    @property
    def value_structure(self) -> Any:
        """What the value looks like."""
        return self._spec

    @property
    def _type_spec(self) -> Any:
        return OptionalSpec(self._spec)

    def _to_own(self) -> Any:
        value = map_structure(to_own, self._value) if self._has_value else None
        return own._make(specs.to_own(self._spec), self._has_value, value)


class _Symbolic(Optional):
    """Stands for an optional of a run while a function is traced."""

    __slots__ = ("_own",)

    def __init__(self, optional: own.SymbolicOptional) -> None:
        super().__init__(None, specs.from_own(optional.element_spec), False)
        self._own = optional

    def has_value(self, name: str | None = None) -> Any:
        return self._own.has_value()

    def get_value(self, name: str | None = None) -> Any:
        return self._own.get_value()


def from_own(optional: own.Optional[Any]) -> Optional:
    """Return an optional of headrace as one of tensors."""
    if isinstance(optional, own.SymbolicOptional):
        return _Symbolic(optional)
    value = from_own_nest(optional._value) if optional._has_value else None
    return Optional(value, specs.from_own(optional.element_spec), optional._has_value)
