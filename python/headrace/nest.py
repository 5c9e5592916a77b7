"""Nested structures: which objects are structure and which are leaves.

Tuples, namedtuples, dicts, dataclass and attrs instances and ``None`` are structure. Everything
else is a leaf; a list given as data is one tensor, as in tf.data. The fields of a mapping keep
their order.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

__all__ = ["flatten", "is_structure", "items", "map_structure", "same_structure"]

_STRUCTURES = (tuple, Mapping)
_LEAVES = frozenset({bool, int, float, complex, str, bytes, list})


def _record_fields(kind: type) -> tuple[str, ...] | None:
    """Return the fields of a namedtuple, dataclass or attrs class; None for any other class."""
    if issubclass(kind, tuple):
        return getattr(kind, "_fields", None)
    if hasattr(kind, "__dataclass_fields__"):
        from dataclasses import fields as fields_of

        names = fields_of(kind)  # type: ignore[arg-type]
        return tuple(field.name for field in names)
    attributes = getattr(kind, "__attrs_attrs__", None)
    return None if attributes is None else tuple(attribute.name for attribute in attributes)


def is_structure(value: Any) -> bool:
    """Tell whether `value` is structure, not a leaf.

    Examples
    --------
    >>> is_structure((1, 2)), is_structure([1, 2]), is_structure(None)
    (True, False, True)
    """
    kind = type(value)
    if value is None or kind is tuple or kind is dict:
        return True
    # What most leaves are, without a look at all that `Mapping` knows of.
    if kind in _LEAVES or getattr(kind, "_is_leaf", False):
        return False
    if isinstance(value, _STRUCTURES):
        return True
    return not isinstance(value, type) and _record_fields(kind) is not None


def items(value: Any) -> list[tuple[Any, Any]]:
    """Return the keys and children of a structure, in order."""
    if value is None:
        return []
    if type(value) is tuple:
        return list(enumerate(value))
    if isinstance(value, Mapping):
        return list(value.items())
    fields = _record_fields(type(value))
    if fields is not None:
        return [(name, getattr(value, name)) for name in fields]
    return list(enumerate(value))


def rebuild(like: Any, children: list[Any]) -> Any:
    """Return a structure as `like` that holds `children` in order."""
    if like is None:
        return None
    if type(like) is tuple:
        return tuple(children)
    if isinstance(like, Mapping):
        pairs = dict(zip(like, children, strict=True))
        mapping: Any = type(like)
        return pairs if mapping is dict else mapping(pairs)
    kind = type(like)
    fields = _record_fields(kind)
    if fields is None:
        return tuple(children)
    if isinstance(like, tuple):
        return kind._make(children)
    # Fields that __init__ does not take, or takes under another name, are set as they are.
    record: Any = object.__new__(kind)
    for name, child in zip(fields, children, strict=True):
        object.__setattr__(record, name, child)
    return record


def map_structure(function: Callable[[Any], Any], value: Any) -> Any:
    """Return the same structure with `function` of each leaf.

    Examples
    --------
    >>> map_structure(str, {"a": 1, "b": (2, None)})
    {'a': '1', 'b': ('2', None)}
    """
    if type(value) is tuple:  # most are, and shallow
        return tuple([map_structure(function, child) for child in value])
    if not is_structure(value):
        return function(value)
    return rebuild(value, [map_structure(function, child) for _, child in items(value)])


def flatten(value: Any) -> list[Any]:
    """Return the leaves, depth first.

    Examples
    --------
    >>> flatten({"a": 1, "b": (2, None)})
    [1, 2]
    """
    if type(value) is tuple:
        return [leaf for child in value for leaf in flatten(child)]
    if not is_structure(value):
        return [value]
    return [leaf for _, child in items(value) for leaf in flatten(child)]


def paths(value: Any, root: str = "") -> Iterator[tuple[str, Any]]:
    """Yield where each leaf is, as an index expression, and the leaf."""
    if not is_structure(value):
        yield root, value
        return
    plain = isinstance(value, Mapping) or _record_fields(type(value)) is None
    for key, child in items(value):
        yield from paths(child, f"{root}[{key!r}]" if plain else f"{root}.{key}")


def same_structure(first: Any, second: Any) -> bool:
    """Tell whether two nests differ in their leaves only."""
    if not is_structure(first) or not is_structure(second):
        return not is_structure(first) and not is_structure(second)
    mappings = isinstance(first, Mapping), isinstance(second, Mapping)
    if any(mappings):
        if not all(mappings) or set(first) != set(second):
            return False
        return all(same_structure(first[key], second[key]) for key in first)
    if type(first) is not type(second):
        return False
    ours, theirs = items(first), items(second)
    return len(ours) == len(theirs) and all(
        same_structure(a, b) for (_, a), (_, b) in zip(ours, theirs, strict=True)
    )
