"""Paths that match a pattern, as TensorFlow matches them."""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from typing import Any

__all__ = ["paths_like"]


def paths_like(pattern: str) -> list[str]:
    """Return the paths that match `pattern`, in order; folders that cannot be read have none."""
    if not pattern:
        return []
    head = re.match(r"[^*?\[\\]*", pattern)
    fixed = (head.group() if head else "").rpartition("/")
    if len(fixed[0] + fixed[1]) == len(pattern) or (head and head.end() == len(pattern)):
        return [pattern] if os.path.exists(pattern) else []
    found = [fixed[0] + fixed[1] or "./"]
    for part in pattern[len(fixed[0] + fixed[1]) :].split("/"):
        matches = _component(part)
        found = [
            os.path.join(folder, name)
            for folder in found
            for name in _names(folder)
            if matches(name)
        ]
    return sorted(found)


def _names(folder: str) -> list[str]:
    try:
        return os.listdir(folder)
    except OSError:
        return []


def _component(pattern: str) -> Callable[[str], Any]:
    """Return what tells whether a name matches a pattern without ``/``."""
    parts: list[str] = []
    at = 0
    while at < len(pattern):
        character = pattern[at]
        at += 1
        if character == "*":
            parts.append(".*")
        elif character == "?":
            parts.append(".")
        elif character == "[" and (end := _end_of_set(pattern, at)) > 0:
            inside = pattern[at:end].replace("\\", "\\\\")
            not_these = "^" if inside[0] in "!^" else ""
            inside = re.sub(r"([\[&~|])", r"\\\1", inside[len(not_these) :])
            inside = "\\" + inside if inside[0] in "]^" else inside
            parts.append(f"[{not_these}{inside}]")
            at = end + 1
        else:
            if character == "\\" and at < len(pattern):
                character = pattern[at]
                at += 1
            parts.append(re.escape(character))
    return re.compile("".join(parts), re.DOTALL).fullmatch


def _end_of_set(pattern: str, start: int) -> int:
    """Return where the set that begins at `start` ends, or -1."""
    first = start + 1 if pattern[start : start + 1] in ("!", "^") else start
    return pattern.find("]", first + 1)
