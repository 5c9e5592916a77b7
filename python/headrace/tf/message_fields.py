"""Fields of the messages of ``tf.train``: lists of values, messages, maps and lists of them."""

from __future__ import annotations

import builtins
from collections.abc import Mapping
from typing import Any, ClassVar, Generic, TypeVar, overload

from .messages import Field, Message
from .repeated import (
    BytesValues,
    FloatValues,
    IntValues,
    MessageMap,
    RepeatedMessages,
    RepeatedValues,
    Values,
)

__all__ = ["BytesField", "FloatField", "IntField", "MapField", "MessageField", "MessagesField"]

M = TypeVar("M", bound=Message)


class ValuesField(Field):
    """A list of values."""

    values: ClassVar[builtins.type[Values]]

    def __init__(self, number: int) -> None:
        super().__init__(number)
        self.kind = self.values(self)

    @overload
    def __get__(self, message: None, owner: Any) -> ValuesField: ...
    @overload
    def __get__(self, message: Message, owner: Any) -> RepeatedValues: ...
    def __get__(self, message: Message | None, owner: Any) -> Any:
        return self if message is None else RepeatedValues(message, self.name, self.kind)

    def start(self, message: Message, value: Any) -> None:
        message._data[self.name] = self.kind.convert(value)

    def copy(self, content: Any) -> Any:
        return content[:]

    def merge(self, content: Any, other: Any) -> None:
        content.extend(other)

    def build(self, tree: Any) -> Any:
        return self.kind.build(tree)

    def text(self, content: Any, indent: str, lines: list[str]) -> None:
        prefix = f"{indent}{self.name}: "
        lines.extend(prefix + self.kind.text(value) for value in content)


class IntField(ValuesField):
    """A list of int64."""

    type = 3
    cpp_type = 2
    values = IntValues


class FloatField(ValuesField):
    """A list of float."""

    type = 2
    cpp_type = 6
    values = FloatValues


class BytesField(ValuesField):
    """A list of bytes."""

    type = 12
    cpp_type = 9
    values = BytesValues


class _OfMessages(Field, Generic[M]):
    type = 11

    def __init__(self, number: int, message: builtins.type[M]) -> None:
        super().__init__(number)
        self.kind: builtins.type[M] = message
        self.message_type = message.DESCRIPTOR

    def made(self, value: Any) -> M:
        """Return a message of the field from what a constructor was given."""
        if type(value) is self.kind:
            return value._share()
        if isinstance(value, dict):
            return self.kind(**value)
        raise TypeError(
            "Parameter to initialize message field must be dict or instance of same class: "
            f"expected {self.kind} got {type(value)}."
        )


class MessageField(_OfMessages[M]):
    """A message that is there or not."""

    has_presence = True

    @overload
    def __get__(self, message: None, owner: Any) -> MessageField[M]: ...
    @overload
    def __get__(self, message: Message, owner: Any) -> M: ...
    def __get__(self, message: Message | None, owner: Any) -> Any:
        return self if message is None else message._child(self.name, self.kind)

    def start(self, message: Message, value: Any) -> None:
        made = self.made(value)
        if message._oneof is not None:
            message._data.clear()
        message._data[self.name] = made

    def copy(self, content: Any) -> Any:
        return content._share()

    def merge(self, content: Any, other: Any) -> None:
        content.MergeFrom(other)

    def build(self, tree: Any) -> Any:
        return self.kind._build(tree)

    def text(self, content: Any, indent: str, lines: list[str]) -> None:
        lines.append(f"{indent}{self.name} {{")
        content._text(indent + "  ", lines)
        lines.append(f"{indent}}}")

    def is_empty(self, content: Any) -> bool:
        return content is None

    def messages(self, content: Any) -> list[Message]:
        return [content]


class MapField(_OfMessages[M]):
    """Messages by name."""

    @overload
    def __get__(self, message: None, owner: Any) -> MapField[M]: ...
    @overload
    def __get__(self, message: Message, owner: Any) -> MessageMap[M]: ...
    def __get__(self, message: Message | None, owner: Any) -> Any:
        return self if message is None else MessageMap(message, self.name, self.kind)

    def start(self, message: Message, value: Any) -> None:
        if not isinstance(value, Mapping | MessageMap):
            kind = type(value).__name__
            raise TypeError(f"Argument for field {self.full_name} must be a dict, got {kind}")
        message._data[self.name] = {_name(key): self.made(item) for key, item in value.items()}

    def copy(self, content: Any) -> Any:
        return {key: value._share() for key, value in content.items()}

    def merge(self, content: Any, other: Any) -> None:
        content.update(self.copy(other))

    def build(self, tree: Any) -> Any:
        build = self.kind._build
        return {key: build(value) for key, value in tree.items()}

    def text(self, content: Any, indent: str, lines: list[str]) -> None:
        # protobuf's order: descending, but a name before those it begins.
        for key in sorted(content, key=lambda key: [-byte for byte in key.encode()]):
            lines.append(f"{indent}{self.name} {{")
            lines.append(f'{indent}  key: "{_escaped(key)}"')
            lines.append(f"{indent}  value {{")
            content[key]._text(indent + "    ", lines)
            lines.append(f"{indent}  }}")
            lines.append(f"{indent}}}")

    def messages(self, content: Any) -> list[Message]:
        return list(content.values())


def _name(key: Any) -> str:
    if isinstance(key, str):
        key.encode()  # a lone surrogate is no text
        return str(key)
    if isinstance(key, bytes):
        return key.decode()
    raise TypeError(f"the names of a map are str, got {key!r} ({type(key).__name__})")


def _escaped(key: str) -> str:
    return "".join(BytesValues.ESCAPES[ord(c)] if ord(c) < 0x80 else c for c in key)


class MessagesField(_OfMessages[M]):
    """A list of messages."""

    @overload
    def __get__(self, message: None, owner: Any) -> MessagesField[M]: ...
    @overload
    def __get__(self, message: Message, owner: Any) -> RepeatedMessages[M]: ...
    def __get__(self, message: Message | None, owner: Any) -> Any:
        return self if message is None else RepeatedMessages(message, self.name, self.kind)

    def start(self, message: Message, value: Any) -> None:
        try:
            items = list(value)
        except TypeError:
            text = f"Argument for field {self.full_name} is not iterable"
            raise TypeError(text) from None
        message._data[self.name] = [self.made(item) for item in items]

    def copy(self, content: Any) -> Any:
        return [value._share() for value in content]

    def merge(self, content: Any, other: Any) -> None:
        content.extend(self.copy(other))

    def build(self, tree: Any) -> Any:
        return [self.kind._build(value) for value in tree]

    def text(self, content: Any, indent: str, lines: list[str]) -> None:
        for value in content:
            lines.append(f"{indent}{self.name} {{")
            value._text(indent + "  ", lines)
            lines.append(f"{indent}}}")

    def messages(self, content: Any) -> list[Message]:
        return list(content)
