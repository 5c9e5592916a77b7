"""The lists and maps of messages: views of what their message holds.

A view keeps its message and the name of the field, nothing else, so that changes through it are
changes of the message, wherever that has its values by then.
"""

from __future__ import annotations

import operator
import pickle
from array import array
from collections.abc import Callable, Iterable, Iterator, MutableMapping
from typing import TYPE_CHECKING, Any, ClassVar, Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from .messages import Field, Message

__all__ = [
    "BytesValues",
    "FloatValues",
    "IntValues",
    "MessageMap",
    "RepeatedMessages",
    "RepeatedValues",
    "Values",
]

M = TypeVar("M", bound="Message")


def _items(values: Any) -> list[Any]:
    try:
        return list(values)
    except TypeError:
        if hasattr(type(values), "__iter__") and getattr(values, "ndim", True):
            raise
        raise TypeError("must assign iterable") from None


def _vector(values: Any, kinds: str) -> NDArray[Any] | None:
    """Return a vector of numbers of these kinds as a plain array; None for all else."""
    if not isinstance(values, np.ndarray):
        return None
    array = np.asarray(values)  # not a subclass, whose dtype may be another thing
    return array if array.ndim == 1 and array.dtype.kind in kinds else None


class Values:
    """How the values of a list are checked and kept."""

    dtype: ClassVar[Any] = None

    def __init__(self, field: Field) -> None:
        self.field = field

    def new(self) -> Any:
        """Return no values."""
        raise NotImplementedError

    def check(self, value: Any) -> Any:
        """Return one value as it is kept."""
        raise NotImplementedError

    def convert(self, values: Any) -> Any:
        """Return many as they are kept."""
        raise NotImplementedError

    def build(self, tree: Any) -> Any:
        """Return what the decoder read as it is kept."""
        raise NotImplementedError

    def text(self, value: Any) -> str:
        """Return one value in the text format."""
        raise NotImplementedError


class _Numbers(Values):
    code: ClassVar[str]

    def new(self) -> Any:
        return array(self.code)

    def build(self, tree: Any) -> Any:
        values: array[Any] = array(self.code)
        values.frombytes(tree)
        return values


class IntValues(_Numbers):
    """int64, in an array of them."""

    code = "q"
    dtype = np.int64

    def _is_bool(self) -> TypeError:
        return TypeError(f"Field {self.field.full_name}: Expected an int, got a boolean.")

    def check(self, value: Any) -> int:
        if type(value) is bool:
            raise self._is_bool()
        number = operator.index(value)
        if not -(2**63) <= number < 2**63:
            raise ValueError(f"Value out of range: {_shown(number)}")
        return number

    def convert(self, values: Any) -> Any:
        vector = _vector(values, "iu")
        if vector is not None:
            if vector.dtype.kind == "u" and vector.size and (most := vector.max()) >= 2**63:
                raise ValueError(f"Value out of range: {most}")
            return self.build(np.asarray(vector, np.int64).tobytes())
        items = _items(values)
        if bool in map(type, items):
            raise self._is_bool()
        try:
            return array("q", items)
        except OverflowError:
            return array("q", [self.check(item) for item in items])

    def text(self, value: int) -> str:
        return str(value)


def _shown(number: int) -> str:
    # Python refuses to write very large numbers.
    return str(number) if number.bit_length() < 10_000 else hex(number)[:40] + "..."


class FloatValues(_Numbers):
    """Floats of 32 bits, in an array of them."""

    code = "f"
    dtype = np.float32

    def check(self, value: Any) -> float:
        return float(array("f", [value])[0])

    def convert(self, values: Any) -> Any:
        vector = _vector(values, "fiubV")
        if vector is not None:
            with np.errstate(over="ignore"):
                return self.build(vector.astype(np.float32).tobytes())
        return array("f", _items(values))

    def text(self, value: float) -> str:
        if value != value:
            return "nan"
        short = f"{value:.6g}"
        try:
            exact = array("f", [float(short)])[0] == value
        except OverflowError:
            exact = False
        return short if exact else f"{value:.9g}"


class BytesValues(Values):
    """bytes, in a list."""

    ESCAPES: ClassVar[list[str]] = [
        chr(byte) if 0x20 <= byte < 0x7F else f"\\{byte:03o}" for byte in range(256)
    ]
    for _character, _escape in zip("\n\r\t\"'\\", "nrt\"'\\", strict=True):
        ESCAPES[ord(_character)] = "\\" + _escape

    def new(self) -> Any:
        return []

    def check(self, value: Any) -> bytes:
        if type(value) is bytes:
            return value
        if isinstance(value, bytes):
            return bytes(value)
        hint = "; write text.encode()" if isinstance(value, str) else ""
        raise TypeError(f"expected bytes, {type(value).__name__} found{hint}")

    def convert(self, values: Any) -> Any:
        return [self.check(value) for value in _items(values)]

    def build(self, tree: Any) -> Any:
        return tree

    def text(self, value: bytes) -> str:
        escapes = self.ESCAPES
        return '"' + "".join([escapes[byte] for byte in value]) + '"'


class _View:
    """What lists of values and of messages have in common."""

    __slots__ = ("_message", "_name")
    __hash__ = None  # type: ignore[assignment]

    def __init__(self, message: Message, name: str) -> None:
        self._message = message
        self._name = name

    def __reduce__(self) -> Any:
        raise pickle.PickleError("can't pickle repeated message fields, convert to list first")

    def _values(self) -> Any:
        """Return the values for reading."""
        return self._message._data.get(self._name, ())

    def _own(self) -> Any:
        """Return the values for changing them; a message that is not there stays so."""
        return self._message._touch()[self._name] if self._values() else []

    def __len__(self) -> int:
        return len(self._values())

    def __repr__(self) -> str:
        return repr(list(self))

    def __iter__(self) -> Iterator[Any]:
        return iter(self._values())

    def __eq__(self, other: object) -> Any:
        if isinstance(other, list | _View):
            return list(self) == list(other)
        return NotImplemented

    def __delitem__(self, index: Any) -> None:
        """Drop values."""
        del self._own()[_index(index)]

    def pop(self, key: int = -1) -> Any:
        """Drop a value and return it."""
        values = self._own()
        if not -len(values) <= key < len(values):
            raise IndexError(f"list index ({key}) out of range")
        return values.pop(key)

    def reverse(self) -> None:
        """Turn the order round."""
        self._own().reverse()

    def clear(self) -> None:
        """Drop all values."""
        if self._values():
            del self._own()[:]

    def remove(self, item: Any) -> None:
        """Drop the first value that is equal.

        Raises
        ------
        ValueError
            There is none.
        """
        try:
            self._own().remove(item)
        except ValueError:
            raise ValueError("remove(x): x not in container") from None

    def MergeFrom(self, other: Iterable[Any]) -> None:
        """Append all values of another list."""
        self.extend(other)

    def extend(self, elem_seq: Any) -> None:
        """Append many."""
        raise NotImplementedError


def _index(index: Any) -> Any:
    if isinstance(index, slice):
        return index
    try:
        return operator.index(index)
    except TypeError:
        raise TypeError("list indices must be integers") from None


class RepeatedValues(_View):
    """The values of a list; behaves as a list of Python values.

    Parameters
    ----------
    message, name, kind
        Where they are, and what they are.
    """

    __slots__ = ("_kind",)

    def __init__(self, message: Message, name: str, kind: Values) -> None:
        super().__init__(message, name)
        self._kind = kind

    def _grown(self) -> Any:
        """Return the values for adding some."""
        data = self._message._touch()
        found = data.get(self._name)
        if found is None:
            found = data[self._name] = self._kind.new()
        return found

    def append(self, item: Any) -> None:
        """Add a value."""
        self._grown().append(self._kind.check(item))

    def extend(self, elem_seq: Any) -> None:
        """Add many values."""
        added = self._kind.convert(elem_seq)
        self._grown().extend(added)

    def insert(self, key: int, value: Any) -> None:
        """Add a value in front of another."""
        self._grown().insert(key, self._kind.check(value))

    def __getitem__(self, index: Any) -> Any:
        """Return a value, or a list of some."""
        found = (self._values() or self._kind.new())[_index(index)]
        return list(found) if isinstance(index, slice) else found

    def __setitem__(self, index: Any, value: Any) -> None:
        """Replace a value, or some."""
        index = _index(index)
        converted = (
            self._kind.convert(value) if isinstance(index, slice) else self._kind.check(value)
        )
        self._grown()[index] = converted

    def __contains__(self, value: object) -> bool:
        return value in self._values()

    def sort(self, *args: Any, key: Callable[[Any], Any] | None = None, **how: bool) -> None:
        """Put the values in order."""
        if args:
            raise TypeError("sort() takes no positional arguments")
        values = self._own()
        values[:] = self._kind.convert(sorted(values, key=key, **how)) if values else values

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        return np.array(self._values() or self._kind.new(), dtype or self._kind.dtype)

    def __deepcopy__(self, memo: Any) -> RepeatedValues:
        copied = type(self._message)()
        copied._data[self._name] = self._kind.convert(self._values())
        return RepeatedValues(copied, self._name, self._kind)


class RepeatedMessages(_View, Generic[M]):
    """The messages of a list.

    Parameters
    ----------
    message, name, kind
        Where they are, and their class.
    """

    __slots__ = ("_kind",)

    def __init__(self, message: Message, name: str, kind: type[M]) -> None:
        super().__init__(message, name)
        self._kind = kind

    def _values(self) -> Any:
        return self._message._expose().get(self._name, ())

    def _grown(self) -> list[M]:
        values: list[M] = self._message._touch().setdefault(self._name, [])
        self._message._expose()
        return values

    def _copied(self, value: Any) -> M:
        if type(value) is not self._kind:
            raise TypeError(f"Expected a message object, but got {value!r}.")
        return value._share()

    def add(self, **fields: Any) -> M:
        """Append a new message and return it."""
        made = self._kind(**fields)
        self._grown().append(made)
        return made

    def append(self, item: M) -> None:
        """Append a copy of a message."""
        self._grown().append(self._copied(item))

    def extend(self, elem_seq: Any) -> None:
        """Append copies of messages."""
        added = [self._copied(value) for value in _items(elem_seq)]
        self._grown().extend(added)

    def insert(self, key: int, value: M) -> None:
        """Add a copy of a message in front of another."""
        self._grown().insert(key, self._copied(value))

    def __getitem__(self, index: Any) -> Any:
        """Return a message, or a list of some."""
        return list(self._values())[_index(index)]

    def __setitem__(self, index: Any, value: Any) -> None:
        """Refuse: messages are changed in place."""
        raise TypeError("does not support assignment")

    def sort(self, *args: Any, key: Callable[[Any], Any] | None = None, **how: bool) -> None:
        """Put the messages in order."""
        if args:
            raise TypeError("sort() takes no positional arguments")
        self._own().sort(key=key, **how)

    def __deepcopy__(self, memo: Any) -> RepeatedMessages[M]:
        copied = type(self._message)()
        copied._data[self._name] = [value._share() for value in self._values()]
        return RepeatedMessages(copied, self._name, self._kind)


class MessageMap(MutableMapping[str, M], Generic[M]):
    """Messages by name; reading a name that is not there makes its message.

    Parameters
    ----------
    message, name, kind
        Where they are, and their class.
    """

    __slots__ = ("_kind", "_message", "_name")

    def __init__(self, message: Message, name: str, kind: type[M]) -> None:
        self._message = message
        self._name = name
        self._kind = kind

    def _values(self) -> dict[str, M]:
        found: dict[str, M] = self._message._expose().get(self._name, {})
        return found

    def __getitem__(self, key: str) -> M:
        """Return the message of a name, which is made if there is none."""
        key = self._key(key)
        found = self._values().get(key)
        if found is None:
            values = self._message._touch().setdefault(self._name, {})
            self._message._expose()
            found = values[key] = self._kind()
        return found

    get_or_create = __getitem__

    def _key(self, key: Any) -> str:
        from .message_fields import _name

        return _name(key)

    def __setitem__(self, key: str, value: M) -> None:
        """Refuse: messages are changed in place."""
        raise ValueError("Message objects may not be assigned; use map[key].CopyFrom(message)")

    def __delitem__(self, key: str) -> None:
        """Drop a name.

        Raises
        ------
        KeyError
            It is not there.
        """
        if key not in self._values():
            raise KeyError("Key not present in map")
        del self._message._touch()[self._name][key]

    def __contains__(self, key: object) -> bool:
        return self._key(key) in self._values()

    def __iter__(self) -> Iterator[str]:
        return iter(self._values())

    def __len__(self) -> int:
        return len(self._message._data.get(self._name, ()))

    def __repr__(self) -> str:
        return repr(self._values())

    def get(self, key: str, default: Any = None) -> Any:
        """Return the message of a name, or `default`."""
        return self._values().get(self._key(key), default)

    def pop(self, key: str, *default: Any) -> Any:
        """Drop a name and return its message, or the default."""
        found = self._values().get(self._key(key))
        if found is None:
            if default:
                return default[0]
            raise KeyError(key)
        del self[key]
        return found

    def setdefault(self, key: str, default: Any = None) -> Any:
        """Refuse: messages are changed in place."""
        raise NotImplementedError("Set message map value directly is not supported.")

    def clear(self) -> None:
        """Drop all names."""
        if self._values():
            self._message._touch()[self._name].clear()

    def MergeFrom(self, other: MessageMap[M]) -> None:
        """Add copies of all messages of another map."""
        values = self._message._touch().setdefault(self._name, {})
        for key, value in other.items():
            values[key] = value._share()
