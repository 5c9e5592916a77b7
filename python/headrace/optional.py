"""A value that may be missing."""

from __future__ import annotations

from typing import Any, Generic, TypeVar

from .errors import InvalidArgumentError
from .nest import map_structure

__all__ = ["Optional"]

T_co = TypeVar("T_co", covariant=True)


class Optional(Generic[T_co]):
    """An element, or nothing; mirrors ``tf.experimental.Optional``.

    Made by `from_value`, `empty` and `Iterator.get_next_as_optional`. It may be a component of
    elements, whose spec is an `OptionalSpec`; there are no batches of it.

    Examples
    --------
    >>> numbers = iter(hr.Dataset.range(1))
    >>> first, second = numbers.get_next_as_optional(), numbers.get_next_as_optional()
    >>> first.has_value(), first.get_value(), second.has_value()
    (True, np.int64(0), False)
    """

    __slots__ = ("_element_spec", "_has_value", "_value")

    _element_spec: Any
    _has_value: bool
    _value: T_co

    def __init__(self) -> None:
        raise TypeError("make an Optional with Optional.from_value or Optional.empty")

    @staticmethod
    def from_value(value: Any) -> Optional[Any]:
        """Return an optional with a value.

        Parameters
        ----------
        value
            A nest of arrays, numbers, text, sparse or ragged values or opaque objects.

        Examples
        --------
        >>> Optional.from_value((1, "a")).element_spec[1]
        TensorSpec(shape=(), dtype=str)
        """
        from . import checks, standin

        def found_of(leaf: Any) -> Any:
            return checks.tensor(leaf) if type(leaf) is list else leaf

        found = map_structure(found_of, value)
        return _make(standin.of_values(found), True, found)

    @staticmethod
    def empty(element_spec: Any) -> Optional[Any]:
        """Return an optional without a value.

        Parameters
        ----------
        element_spec
            What a value would look like: a nest of specs.

        Examples
        --------
        >>> Optional.empty(hr.TensorSpec((), np.int64)).has_value()
        False
        """
        return _make(element_spec, False, None)

    @property
    def element_spec(self) -> Any:
        """What the value looks like, or would look like."""
        return self._element_spec

    def has_value(self, name: str | None = None) -> bool:
        """Tell whether there is a value."""
        return self._has_value

    def get_value(self, name: str | None = None) -> T_co:
        """Return the value.

        Raises
        ------
        InvalidArgumentError
            There is none.
        """
        if not self._has_value:
            raise InvalidArgumentError("The given optional does not have a value.")
        return self._value

    def __repr__(self) -> str:
        return f"Optional({self._value!r})" if self._has_value else "Optional()"

    def __reduce__(self) -> tuple[Any, ...]:
        return _make, (self._element_spec, self._has_value, self._value)


class SymbolicOptional(Optional[Any]):
    """Stands for an optional of a run while a function is looked at: its value is symbols."""

    __slots__ = ("_tracing",)

    def __init__(self, tracer: Any, element_spec: Any) -> None:
        self._tracing = tracer
        self._element_spec = element_spec

    def has_value(self, name: str | None = None) -> Any:
        """Return a symbol for the answer."""
        from .spec import TensorSpec

        return self._tracing.input(TensorSpec((), bool))

    def get_value(self, name: str | None = None) -> Any:
        """Return symbols for the value."""
        return map_structure(self._tracing.input, self._element_spec)


def _make(element_spec: Any, has_value: bool, value: Any) -> Optional[Any]:
    optional: Optional[Any] = object.__new__(Optional)
    optional._element_spec = element_spec
    optional._has_value = has_value
    optional._value = value
    return optional
