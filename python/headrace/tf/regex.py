"""RE2's patterns, which TensorFlow takes, for Python's ``re``."""

from __future__ import annotations

import functools
import re

from ..errors import InvalidArgumentError

__all__ = ["compiled", "rewrite_of"]

_POSIX = {
    "alnum": "0-9A-Za-z",
    "alpha": "A-Za-z",
    "ascii": r"\x00-\x7F",
    "blank": r"\t ",
    "cntrl": r"\x00-\x1F\x7F",
    "digit": "0-9",
    "graph": "!-~",
    "lower": "a-z",
    "print": " -~",
    "punct": r"!-/:-@\[-`{-~",
    "space": r"\t\n\v\f\r ",
    "upper": "A-Z",
    "word": "0-9A-Za-z_",
    "xdigit": "0-9A-Fa-f",
}


# A dot matches a character, not a byte that is part of none: those are decoded to surrogates.
_ANY = r"[^\n\udc80-\udcff]"


@functools.lru_cache(256)
def compiled(pattern: str) -> re.Pattern[str]:
    """Return a pattern of RE2's as one of Python's.

    Raises
    ------
    InvalidArgumentError
        It is no pattern.

    Examples
    --------
    >>> compiled("[[:digit:]]+$").sub("#", "a12")
    'a#'
    """
    try:
        return re.compile(_translated(pattern), re.ASCII)
    except re.error as error:
        raise InvalidArgumentError(f"Invalid pattern: {pattern}, error: {error}") from None


def _translated(pattern: str) -> str:
    """Spell classes of POSIX out, and let ``$`` be the very end."""
    text = re.sub(r"\[:(\^?)(\w+):\]", _posix, pattern)
    result, inside, k = [], False, 0
    while k < len(text):
        char = text[k]
        if char == "\\" and k + 1 < len(text):
            result.append({"z": r"\Z", "C": "(?s:.)"}.get(text[k + 1], text[k : k + 2]))
            k += 2
            continue
        if char == "[" and not inside:
            inside = True
        elif char == "]" and inside and text[k - 1 : k] != "[":
            inside = False
        result.append(char if inside else {"$": r"\Z", ".": _ANY}.get(char, char))
        k += 1
    return "".join(result)


def _posix(match: re.Match[str]) -> str:
    found = _POSIX.get(match[2])
    return match[0] if found is None or match[1] else found


def rewrite_of(rewrite: str) -> str:
    r"""Return a replacement of RE2's, where ``\0`` is the whole match, as one of Python's.

    Raises
    ------
    InvalidArgumentError
        A backslash before something else than a digit or a backslash.
    """
    result, k = [], 0
    while k < len(rewrite):
        char = rewrite[k]
        if char != "\\":
            result.append(char)
            k += 1
            continue
        following = rewrite[k + 1 : k + 2]
        if following.isdigit():
            result.append(f"\\g<{following}>")
        elif following == "\\":
            result.append("\\\\")
        else:
            raise InvalidArgumentError(
                f"Invalid rewrite: {rewrite}: '\\' must be followed by a digit or '\\'"
            )
        k += 2
    return "".join(result)
