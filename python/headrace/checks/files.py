"""Files, their names and how they are read."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from ..errors import InvalidArgumentError
from ..standin import SymbolicPaths, has_symbols
from .numbers import at_least

_COMPRESSIONS = ("", "GZIP", "ZLIB")


def compression(value: str | None) -> str | None:
    """Return the name of a compression, None for none."""
    if value is not None and value not in _COMPRESSIONS:
        valid = ", ".join(repr(name) for name in _COMPRESSIONS)
        raise InvalidArgumentError(
            f"compression_type={value!r} is not known; valid are {valid} and None"
        )
    return value or None


def on_corruption(value: Any, limit: Any, index: Any) -> bool:
    """Return whether damage is passed over."""
    if value not in ("raise", "skip"):
        raise InvalidArgumentError(f"`on_corruption` must be 'raise' or 'skip', got {value!r}")
    if limit is not None:
        at_least("corruption_limit", limit, 0)
        if value == "raise":
            raise InvalidArgumentError(
                f"`corruption_limit` is {limit}, but damage is raised; pass on_corruption='skip'"
            )
    if value == "skip" and index is not None:
        raise InvalidArgumentError(
            "an index holds the places of all records, damaged ones too; leave out `index` or "
            "on_corruption='skip'"
        )
    return bool(value == "skip")


def paths(filenames: Any) -> list[str]:
    """Return one path or many as a list of str."""
    if has_symbols(filenames):
        return SymbolicPaths()
    if isinstance(filenames, str | bytes | os.PathLike):
        filenames = [filenames]
    elif isinstance(filenames, np.ndarray):
        filenames = filenames.ravel().tolist()
    elif not isinstance(filenames, Iterable) or isinstance(filenames, Mapping):
        filenames = [filenames]
    names = []
    for name in filenames:
        if not isinstance(name, str | bytes | os.PathLike):
            raise TypeError(
                "The `filenames` argument must contain `str` elements. Got "
                f"{name!r} ({type(name).__name__})."
            )
        names.append(os.fsdecode(name))
    return names


def index_place(index: Any) -> str | None:
    """Return where the indices of record files are: ``"auto"``, or a path."""
    if index is None or (isinstance(index, str) and index == "auto"):
        return index
    place = path("index", index)
    # A path of this name is none of our words.
    return os.path.join(os.curdir, place) if place == "auto" else place


def path(name: str, value: Any) -> str:
    """Return one path as a str."""
    if isinstance(value, np.ndarray) and value.ndim == 0:
        value = value.item()
    if not isinstance(value, str | bytes | os.PathLike):
        raise TypeError(f"`{name}` must be a path, got {value!r} ({type(value).__name__})")
    return os.fsdecode(value)
