"""What the messages of ``tf.train`` have in common: the class that protobuf would generate.

A `Message` holds the fields that are there in one dict. Copying is what constructors do all the
time (``Features(feature=...)`` copies each feature), so that a copy shares the dict with its
original until one of the two changes or hands out a message in it. A message that was read makes
the messages in it when they are asked for.
"""

from __future__ import annotations

import builtins
import weakref
from typing import Any, ClassVar, TypeVar

from .. import _headrace
from ..errors import InvalidArgumentError

__all__ = ["DecodeError", "Message"]

M = TypeVar("M", bound="Message")

# What a message may do with its dict.
_OWN = 0
_SHARED = 1  # another message has the same dict
_EXPOSED = 2  # the user may hold a message that is in it


class DecodeError(InvalidArgumentError):
    """Bytes are no message of this type."""


class Message:
    """A message of protobuf.

    Parameters
    ----------
    **fields
        Values by name. Messages are copied; a dict stands for a message.

    Raises
    ------
    ValueError
        There is no such field.
    TypeError
        A value that the field cannot hold.
    """

    __slots__ = ("__weakref__", "_data", "_link", "_state", "_stubs", "_tree", "_unknown")
    __hash__ = None  # type: ignore[assignment]
    _fields: ClassVar[dict[str, Field]] = {}
    _oneof: ClassVar[str | None] = None
    DESCRIPTOR: ClassVar[Descriptor]

    _data: dict[str, Any]
    # What was read, until the fields are asked for; there are no `_data` then.
    _tree: dict[str, Any]
    _unknown: bytes
    _state: int
    # The parent and the field that this message enters when it changes.
    _link: tuple[Message, str] | None
    # Such messages of this one.
    _stubs: dict[str, weakref.ref[Message]] | None

    def __init_subclass__(cls) -> None:
        cls._fields = {name: value for name, value in vars(cls).items() if isinstance(value, Field)}
        for name, field in cls._fields.items():
            setattr(cls, f"{name.upper()}_FIELD_NUMBER", field.number)
        cls.DESCRIPTOR = Descriptor(cls)

    def __init__(self, *args: Any, **fields: Any) -> None:
        if args:
            raise TypeError("No positional arguments allowed")
        self._data = {}
        self._unknown = b""
        self._state = _OWN
        self._link = None
        self._stubs = None
        for name, value in fields.items():
            field = self._fields.get(name)
            if field is None:
                raise _no_field(self, name)
            if value is not None:
                field.start(self, value)

    # Presence and ownership.

    def _touch(self) -> dict[str, Any]:
        """Return the fields for changing them: as its own, and of a message that is there."""
        if self._link is not None:
            parent, name = self._link
            self._link = None
            parent._enter(name, self)
        if self._state == _SHARED:
            self._data = {n: self._fields[n].copy(value) for n, value in self._data.items()}
            self._state = _OWN
        return self._data

    def _enter(self, name: str, child: Message) -> None:
        data = self._touch()
        if self._oneof is not None:
            data.clear()
        data[name] = child
        if self._stubs is not None:
            self._stubs.pop(name, None)
        self._state = _EXPOSED

    def _expose(self) -> dict[str, Any]:
        """Return the fields for handing out a message in them."""
        if self._state == _SHARED:
            self._touch()
        self._state = _EXPOSED
        return self._data

    def _share(self: M) -> M:
        """Return a copy."""
        copy = object.__new__(type(self))
        if self._state == _EXPOSED:
            copy._data = {n: self._fields[n].copy(value) for n, value in self._data.items()}
            copy._state = _OWN
        else:
            copy._data = self._data
            copy._state = self._state = _SHARED
        copy._unknown = self._unknown
        copy._link = None
        copy._stubs = None
        return copy

    def _child(self, name: str, kind: type[M]) -> M:
        """Return the message of a field; if it is not there, one that will be if it changes."""
        found = self._expose().get(name)
        if found is not None:
            return found  # type: ignore[no-any-return]
        if self._stubs is None:
            self._stubs = {}
        reference = self._stubs.get(name)
        stub = None if reference is None else reference()
        if stub is None:
            stub = kind()
            stub._link = (self, name)
            self._stubs[name] = weakref.ref(stub)
        return stub  # type: ignore[return-value]

    # The methods of protobuf.

    def SerializeToString(self, *, deterministic: bool | None = None) -> bytes:
        """Return the message as bytes. Names of maps ascend, whatever `deterministic` says."""
        return _headrace.encode_message(type(self).__name__, self)

    SerializePartialToString = SerializeToString

    @classmethod
    def FromString(cls: type[M], data: bytes) -> M:
        """Return the message that `data` holds.

        Raises
        ------
        DecodeError
            The bytes are no such message.
        """
        return cls._build(cls._decode(data))

    @classmethod
    def _decode(cls, data: Any) -> tuple[dict[str, Any], bytes]:
        if not isinstance(data, bytes):
            if not isinstance(data, bytearray | memoryview):
                raise TypeError(f"expected bytes, {type(data).__name__} found")
            data = bytes(data)
        try:
            return _headrace.decode_message(cls.__name__, data)
        except InvalidArgumentError as error:
            raise DecodeError(
                f"Error parsing message with type 'tensorflow.{cls.__name__}': Wire format was "
                f"corrupt: {error.message}"
            ) from None

    @classmethod
    def _build(cls: type[M], tree: tuple[dict[str, Any], bytes]) -> M:
        message = object.__new__(cls)
        message._tree, message._unknown = tree
        message._state = _OWN
        message._link = None
        message._stubs = None
        return message

    def __getattr__(self, name: str) -> Any:
        if name == "_data":
            try:
                tree = object.__getattribute__(self, "_tree")
                self._data = {n: self._fields[n].build(value) for n, value in tree.items()}
                del self._tree
            except AttributeError:  # another thread was faster
                pass
            return object.__getattribute__(self, "_data")
        raise AttributeError(f"{type(self).__name__!r} message has no attribute {name!r}")

    def ParseFromString(self, serialized: bytes) -> int:
        """Become the message that `serialized` holds; return its length.

        Raises
        ------
        DecodeError
            The bytes are no such message.
        """
        self.Clear()
        return self.MergeFromString(serialized)

    def MergeFromString(self, serialized: bytes) -> int:
        """Merge the message that `serialized` holds into this one; return its length.

        Raises
        ------
        DecodeError
            The bytes are no such message.
        """
        other = self.FromString(serialized)
        self.MergeFrom(other)
        return len(serialized)

    def MergeFrom(self: M, msg: M) -> None:
        """Add what is in `msg`: lists grow, names of maps and single values are replaced.

        Raises
        ------
        TypeError
            `msg` is a message of another type.
        """
        self._check(msg, "MergeFrom")
        data = self._touch()
        for name, value in list(msg._data.items()):
            if name in data:
                self._fields[name].merge(data[name], value)
            else:
                if self._oneof is not None:
                    data.clear()
                stub = (self._stubs or {}).get(name)
                child = None if stub is None else stub()
                if child is None:
                    data[name] = self._fields[name].copy(value)
                else:
                    child.MergeFrom(value)
        self._unknown += msg._unknown

    def CopyFrom(self: M, msg: M) -> None:
        """Become a copy of `msg`.

        Raises
        ------
        TypeError
            `msg` is a message of another type.
        """
        self._check(msg, "CopyFrom")
        if msg is self:
            return
        self.Clear()
        self.MergeFrom(msg)

    def _check(self, msg: Any, method: str) -> None:
        if type(msg) is not type(self):
            raise TypeError(
                f"Parameter to {method}() must be instance of same class: expected {type(self)} "
                f"got {type(msg)}."
            )

    def Clear(self) -> None:
        """Drop everything."""
        self._touch()
        self._data = {}
        self._state = _OWN
        self._unknown = b""

    def ClearField(self, field_name: str) -> None:
        """Drop a field, or whichever is there of a oneof.

        Raises
        ------
        ValueError
            There is no such field.
        """
        if field_name == self._oneof:
            self._touch().clear()
            return
        self._field(field_name)
        self._touch().pop(field_name, None)

    def HasField(self, field_name: str) -> bool:
        """Tell whether a message, or one of a oneof, is there.

        Raises
        ------
        ValueError
            There is no such field, or it is a list or a map.
        """
        if field_name == self._oneof:
            return bool(self._data)
        field = self._field(field_name)
        if not field.has_presence:
            raise ValueError(f"Field {field.full_name} does not have presence.")
        return field_name in self._data

    def _field(self, name: Any) -> Field:
        field = self._fields.get(name) if isinstance(name, str) else None
        if field is None:
            if not isinstance(name, str):
                raise ValueError(f"Expected a field name, but got non-string argument {name!r}.")
            raise _no_field(self, name)
        return field

    def WhichOneof(self, oneof_group: str | bytes) -> str | None:
        """Return the name of the field of a oneof that is there.

        Raises
        ------
        ValueError
            There is no such oneof.
        """
        name = oneof_group.decode() if isinstance(oneof_group, bytes) else oneof_group
        if name != self._oneof or name is None:
            self._field(name)
            raise ValueError(f"Expected a oneof name, but got field name {name}.")
        return next(iter(self._data), None)

    def ListFields(self) -> list[tuple[Field, Any]]:
        """Return descriptor and value of each field that is there and not empty."""
        fields = sorted(self._fields.values(), key=lambda field: field.number)
        there = (field for field in fields if not field.is_empty(self._data.get(field.name)))
        return [(field, getattr(self, field.name)) for field in there]

    def SetInParent(self) -> None:
        """Be there, even if empty."""
        self._touch()

    def ByteSize(self) -> int:
        """Return the length of the serialized message."""
        return len(self.SerializeToString())

    def IsInitialized(self) -> bool:
        """Tell whether all required fields are there; there are none."""
        return True

    def FindInitializationErrors(self) -> list[str]:
        """Return the required fields that are not there: none."""
        return []

    def DiscardUnknownFields(self) -> None:
        """Drop what was read and is not known."""
        self._unknown = b""
        for name, value in self._expose().items():
            for message in self._fields[name].messages(value):
                message.DiscardUnknownFields()

    # Python's protocols.

    def __eq__(self, other: object) -> bool:
        if type(other) is not type(self):
            return NotImplemented
        return self.SerializeToString() == other.SerializeToString()

    def __contains__(self, name: str) -> bool:
        return self.HasField(name)

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self).FromString, (self.SerializeToString(),)

    def __repr__(self) -> str:
        lines: list[str] = []
        self._text("", lines)
        return "".join(f"{line}\n" for line in lines)

    def _text(self, indent: str, lines: list[str]) -> None:
        for name, field in self._fields.items():
            if name in self._data:
                field.text(self._data[name], indent, lines)


def _no_field(message: Message, name: str) -> ValueError:
    return ValueError(f'Protocol message {type(message).__name__} has no "{name}" field.')


class Field:
    """A field of a message: the attribute, and its descriptor."""

    name: str
    full_name: str
    index: int
    # protobuf's numbers of types
    type: ClassVar[int]
    cpp_type: ClassVar[int] = 10
    has_presence: ClassVar[bool] = False
    message_type: Descriptor | None = None

    def __init__(self, number: int) -> None:
        self.number = number
        self.index = number - 1

    def __set_name__(self, owner: builtins.type[Message], name: str) -> None:
        self.name = name
        self.full_name = f"tensorflow.{owner.__name__}.{name}"

    def __set__(self, message: Message, value: Any) -> None:
        what = "message field" if self.has_presence else "map, or repeated field"
        raise AttributeError(
            f'Assignment not allowed to {what} "{self.name}" in protocol message object.'
        )

    def __delete__(self, message: Message) -> None:
        raise AttributeError("Cannot delete field attribute")

    # What `_data` holds of the field is its content.

    def start(self, message: Message, value: Any) -> None:
        """Set what a constructor was given."""
        raise NotImplementedError

    def copy(self, content: Any) -> Any:
        """Return a copy."""
        raise NotImplementedError

    def merge(self, content: Any, other: Any) -> None:
        """Add another content, which stays as it is."""
        raise NotImplementedError

    def build(self, tree: Any) -> Any:
        """Return the content that the decoder found."""
        raise NotImplementedError

    def text(self, content: Any, indent: str, lines: list[str]) -> None:
        """Append the lines of the text format."""
        raise NotImplementedError

    def is_empty(self, content: Any) -> bool:
        """Tell whether nothing is there."""
        return not content

    def messages(self, content: Any) -> list[Message]:
        """Return the messages in it."""
        return []


class Descriptor:
    """The type of a message: its name and fields.

    Attributes
    ----------
    name, full_name
        Without and with the package.
    fields, fields_by_name
        The descriptors of the fields.
    """

    def __init__(self, cls: type[Message]) -> None:
        self.name = cls.__name__
        self.full_name = f"tensorflow.{cls.__name__}"
        self.fields = list(cls._fields.values())
        self.fields_by_name = dict(cls._fields)

    def __repr__(self) -> str:
        return f"<descriptor of {self.full_name}>"
