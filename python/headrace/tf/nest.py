"""Nested structures as TensorFlow sees them; mirrors ``tf.nest``.

Lists are structure here and dicts are taken in the order of their sorted keys, unlike in elements
of datasets.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from .names import lookup

__all__ = [
    "assert_same_structure",
    "flatten",
    "is_nested",
    "map_structure",
    "pack_sequence_as",
]


def _fields(value: Any) -> list[str] | None:
    """Return the fields of a namedtuple or attrs instance."""
    if isinstance(value, tuple):
        return getattr(type(value), "_fields", None)
    attributes = getattr(type(value), "__attrs_attrs__", None)
    return None if attributes is None else [attribute.name for attribute in attributes]


def _children(value: Any) -> list[tuple[Any, Any]]:
    if isinstance(value, Mapping):
        return [(key, value[key]) for key in _keys(value)]
    fields = _fields(value)
    if fields is not None:
        return [(name, getattr(value, name)) for name in fields]
    return list(enumerate(value))


def _keys(value: Mapping[Any, Any]) -> list[Any]:
    try:
        return sorted(value)
    except TypeError:
        raise TypeError("nest only supports dicts with sortable keys.") from None


def is_nested(seq: Any) -> bool:
    """Tell whether a value is structure; mirrors ``tf.nest.is_nested``.

    Examples
    --------
    >>> tf.nest.is_nested([1]), tf.nest.is_nested("ab")
    (True, False)
    """
    return isinstance(seq, list | tuple | Mapping) or _fields(seq) is not None


def flatten(structure: Any, expand_composites: bool = False) -> list[Any]:
    """Return the leaves; mirrors ``tf.nest.flatten``.

    Examples
    --------
    >>> tf.nest.flatten({"b": 1, "a": [2, None]})
    [2, None, 1]
    """
    if not is_nested(structure):
        if expand_composites and getattr(structure, "_is_composite", False):
            return _parts(structure)
        return [structure]
    return [leaf for _, child in _children(structure) for leaf in flatten(child, expand_composites)]


def _parts(value: Any) -> list[Any]:
    if hasattr(value, "indices"):
        return [value.indices, value.values, value.dense_shape]
    return [value.flat_values, *value.nested_row_splits]


def _like(structure: Any, children: list[Any]) -> Any:
    """Return a structure of the same kind that holds `children`."""
    if isinstance(structure, Mapping):
        found = dict(zip(_keys(structure), children, strict=True))
        ordered = {key: found[key] for key in structure}
        kind: Any = type(structure)
        if kind is dict:
            return ordered
        if hasattr(structure, "default_factory"):
            return kind(structure.default_factory, ordered)
        return kind(ordered)
    fields = _fields(structure)
    kind = type(structure)
    if fields is not None:
        if isinstance(structure, tuple):
            return kind(*children)
        return kind(**dict(zip(fields, children, strict=True)))
    return kind(children)


def pack_sequence_as(structure: Any, flat_sequence: Any, expand_composites: bool = False) -> Any:
    """Return a structure with other leaves; mirrors ``tf.nest.pack_sequence_as``.

    Raises
    ------
    ValueError
        Too many leaves or too few.

    Examples
    --------
    >>> tf.nest.pack_sequence_as({"b": 0, "a": [0]}, [1, 2])
    {'b': 2, 'a': [1]}
    """
    flat = list(flat_sequence)
    count = len(flatten(structure))
    if count != len(flat):
        if not is_nested(structure):
            raise ValueError(
                "The target structure is of type "
                f"{type(structure)}\n  {structure!r}\nHowever the input is a sequence of length "
                f"{len(flat)}.\n  {flat!r}\nnest cannot guarantee that it is safe to map one to "
                "the other."
            )
        raise ValueError(
            f"Could not pack sequence. Structure had {count} atoms, but flat_sequence had "
            f"{len(flat)} items.  Structure: {structure!r}, flat_sequence: {flat!r}."
        )
    return _packed(structure, iter(flat))


def _packed(structure: Any, leaves: Any) -> Any:
    if not is_nested(structure):
        return next(leaves)
    return _like(structure, [_packed(child, leaves) for _, child in _children(structure)])


def assert_same_structure(
    nest1: Any, nest2: Any, check_types: bool = True, expand_composites: bool = False
) -> None:
    """Check that two structures are nested alike; mirrors ``tf.nest.assert_same_structure``.

    Raises
    ------
    ValueError
        They differ in the number of children.
    TypeError
        They differ in their types.
    """
    try:
        _compare(nest1, nest2, check_types)
    except (TypeError, ValueError) as error:
        raise type(error)(
            "The two structures don't have the same nested structure.\n\n"
            f"First structure: type={type(nest1).__name__} str={nest1}\n\n"
            f"Second structure: type={type(nest2).__name__} str={nest2}\n\n"
            f"More specifically: {error}"
        ) from None


def _compare(first: Any, second: Any, check_types: bool) -> None:
    ours, theirs = is_nested(first), is_nested(second)
    if ours != theirs:
        inner, outer = (first, second) if ours else (second, first)
        raise ValueError(
            f'Substructure "type={type(inner).__name__} str={inner}" is a sequence, while '
            f'substructure "type={type(outer).__name__} str={outer}" is not'
        )
    if not ours:
        return
    mappings = isinstance(first, Mapping) and isinstance(second, Mapping)
    if check_types and type(first) is not type(second) and not mappings:
        raise TypeError(
            f"The two structures don't have the same sequence type. First structure has type "
            f"{type(first)}, while second structure has type {type(second)}."
        )
    if mappings and set(first) != set(second):
        raise ValueError(
            f"The two dictionaries don't have the same set of keys. First structure has keys "
            f"{list(first)}, while second structure has keys {list(second)}"
        )
    left, right = _children(first), _children(second)
    if len(left) != len(right):
        raise ValueError(
            f"The two structures don't have the same number of elements. First structure: {first}."
            f" Second structure: {second}"
        )
    for (_, a), (_, b) in zip(left, right, strict=True):
        _compare(a, b, check_types)


def map_structure(
    func: Callable[..., Any], *structure: Any, check_types: bool = True, **kwargs: Any
) -> Any:
    """Return the same structure with `func` of its leaves; mirrors ``tf.nest.map_structure``.

    Examples
    --------
    >>> tf.nest.map_structure(lambda x: x + 1, {"a": (1, [2])})
    {'a': (2, [3])}
    """
    if not callable(func):
        raise TypeError(f"func must be callable, got: {func}.")
    if not structure:
        raise ValueError("Must provide at least one structure.")
    if kwargs.keys() - {"expand_composites"}:
        raise ValueError(f"Only valid keyword arguments are `check_types`, got {list(kwargs)}")
    for other in structure[1:]:
        assert_same_structure(structure[0], other, check_types)
    results = [func(*leaves) for leaves in zip(*map(flatten, structure), strict=True)]
    return _packed(structure[0], iter(results))


__getattr__ = lookup(__name__)
