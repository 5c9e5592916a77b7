"""Indexing of symbols: what the engine can record, and what is known of the rest."""

from __future__ import annotations

from typing import Any

from .convert import constant, convert, is_symbol
from .kernels import Dims, run, static_shape

__all__ = ["index"]


def index(x: Any, parts: list[Any]) -> Any:
    """Record ``x[parts]``, where `x` or parts of the key are symbols."""
    static = _static(x, parts)
    if static is not None:
        return static
    dims = static_shape(x)
    out = _shape(dims, parts)
    if not any(map(is_symbol, _flat(parts))):
        key = [_encoded(part) for part in parts]
        result = run("slice", (x,), (out, x.dtype), key=key)
        known = getattr(x, "_static", None)
        if known is not None and len(parts) == 1 and isinstance(parts[0], slice):
            result._static = tuple(known[parts[0]])
        return result
    if len(parts) == 1 and is_symbol(parts[0]):
        return run("getitem", (x, parts[0]), (out, x.dtype))
    if is_symbol(parts[0]) and not any(map(is_symbol, _flat(parts[1:]))):
        row = run("getitem", (x, parts[0]), (None if dims is None else dims[1:], x.dtype))
        return index(row, parts[1:])
    inputs: list[Any] = []
    key = [_coded(part, inputs) for part in parts]
    x = convert(x)
    return run("index", (x, *inputs), (out, x.dtype), key=key)


def _coded(part: Any, inputs: list[Any]) -> Any:
    """Return a part of a key as the engine knows it; symbols go to `inputs`."""
    if isinstance(part, slice):
        return [_coded(end, inputs) for end in (part.start, part.stop, part.step)]
    if is_symbol(part):
        inputs.append(part)
        return "i"
    return _encoded(part)


def _flat(parts: list[Any]) -> list[Any]:
    flat: list[Any] = []
    for part in parts:
        if type(part) is slice:
            flat += [part.start, part.stop, part.step]
        else:
            flat.append(part)
    return flat


def _encoded(part: Any) -> Any:
    if part is Ellipsis:
        return "..."
    return [part.start, part.stop, part.step] if isinstance(part, slice) else part


def _static(x: Any, parts: list[Any]) -> Any:
    """Return an item of a shape tensor whose value is known without a run."""
    known = getattr(x, "_static", None)
    if known is None or len(parts) != 1 or not isinstance(parts[0], int):
        return None
    if not -len(known) <= parts[0] < len(known) or known[parts[0]] is None:
        return None
    return constant(known[parts[0]], x.dtype)


def _shape(dims: Dims, parts: list[Any]) -> Dims:
    """Return what is known of the shape of the result."""
    if dims is None:
        return None
    count = sum(part is not None and part is not Ellipsis for part in parts)
    result: list[int | None] = []
    axis = 0
    whole = [*parts] if any(part is Ellipsis for part in parts) else [*parts, Ellipsis]
    for part in whole:
        if part is Ellipsis:
            rest = len(dims) - count
            result += dims[axis : axis + rest]
            axis += rest
        elif part is None:
            result.append(1)
        elif isinstance(part, slice):
            result.append(_length(dims[axis] if axis < len(dims) else None, part))
            axis += 1
        else:
            axis += 1
    return tuple(result)


def _length(size: int | None, part: slice) -> int | None:
    if any(map(is_symbol, (part.start, part.stop, part.step))):
        return None
    if size is None:
        return None
    return len(range(*part.indices(size)))
