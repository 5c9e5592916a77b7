"""Files whose names match a pattern, by the rules of ``tf.io.gfile.glob``.

``*`` stands for any text within one part of a path, ``?`` for one character, ``[abc]``, ``[a-z]``
and ``[^a]`` or ``[!a]`` for one of some; a backslash takes the meaning from the character behind
it. Folders match like files. ``**`` is two stars, which mean no more than one. A name that begins
with a dot is matched by a pattern that begins with one, as in a shell; TensorFlow takes it for any
other name, and so does ``headrace.tf``.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import re

__all__ = ["glob"]

_SPECIAL = frozenset("*?[\\")


def glob(pattern: str, hidden: bool = False) -> list[str]:
    """Return the paths that match `pattern`, sorted.

    Parameters
    ----------
    pattern
        See above.
    hidden
        Whether names that begin with a dot are matched as all others are.

    Examples
    --------
    >>> glob("no such folder/*")
    []
    """
    start, parts = ("/", pattern.lstrip("/")) if pattern.startswith("/") else ("", pattern)
    found = [start]
    names = parts.split("/")
    for place, name in enumerate(names):
        last = place == len(names) - 1
        found = [path for folder in found for path in _step(folder, name, last, hidden)]
    return sorted(path for path in found if path)


def _step(folder: str, name: str, last: bool, hidden: bool) -> list[str]:
    if not _SPECIAL.intersection(name):
        path = os.path.join(folder, name) if name else os.path.join(folder, "")
        exists = os.path.lexists(path) if last else os.path.isdir(path)
        return [path] if exists else []
    matches = _expression(name).fullmatch
    try:
        entries = [entry for entry in os.listdir(folder or ".") if matches(entry)]
    except OSError:
        return []
    if not hidden and not name.startswith("."):
        entries = [entry for entry in entries if not entry.startswith(".")]
    entries.sort()
    paths = [os.path.join(folder, entry) for entry in entries]
    return paths if last else [path for path in paths if os.path.isdir(path)]


def _expression(name: str) -> re.Pattern[str]:
    """Translate one part of a pattern into a regular expression."""
    import re

    out = []
    at = 0
    while at < len(name):
        char = name[at]
        at += 1
        if char == "*":
            out.append(".*")
        elif char == "?":
            out.append(".")
        elif char == "\\" and at < len(name):
            out.append(re.escape(name[at]))
            at += 1
        elif char == "[" and (end := name.find("]", at + 1)) >= 0:
            inside, at = name[at:end], end + 1
            inverted = inside[0] in "!^"
            body = inside[inverted:].replace("\\", r"\\").replace("[", r"\[").replace("^", r"\^")
            out.append(f"[{'^' if inverted else ''}{body}]")
        else:
            out.append(re.escape(char))
    return re.compile("".join(out), re.DOTALL)
