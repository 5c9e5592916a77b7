"""Regular expressions, in RE2's syntax; part of `headrace.strings`."""

from __future__ import annotations

from typing import Any

from .. import checks
from ..ops import apply_op
from .parts import _text

__all__ = ["regex_full_match", "regex_replace"]


def regex_replace(
    input: Any,
    pattern: str,
    rewrite: str,
    replace_global: bool = True,
    name: str | None = None,
) -> Any:
    r"""Replace what a pattern matches; mirrors ``tf.strings.regex_replace``.

    Parameters
    ----------
    input
        A string, or an array of them.
    pattern
        A regular expression of RE2's: no look-around, no references back, linear time.
    rewrite
        What comes in place of a match; ``\0`` is the match, ``\1`` its first group.
    replace_global
        Whether every match is replaced, or the first.

    Raises
    ------
    InvalidArgumentError
        `pattern` or `rewrite` is none, or too large.

    Examples
    --------
    >>> hr.strings.regex_replace("a1b22", r"[a-z](\d+)", r"<\1>")
    '<1><22>'
    """
    attrs = {
        "pattern": _static("pattern", pattern),
        "rewrite": _static("rewrite", rewrite),
        "replace_global": checks.flag("replace_global", replace_global),
    }
    return apply_op("regex_replace", attrs, checks.tensor(input))[0]


def regex_full_match(input: Any, pattern: str, name: str | None = None) -> Any:
    r"""Tell which strings a pattern matches as a whole; mirrors ``tf.strings.regex_full_match``.

    Parameters
    ----------
    input
        A string, or an array of them.
    pattern
        A regular expression of RE2's.

    Returns
    -------
    numpy.ndarray
        bool, of the shape of `input`.

    Raises
    ------
    InvalidArgumentError
        `pattern` is none, or too large.

    Examples
    --------
    >>> hr.strings.regex_full_match([b"a1", b"b"], r"\w\d")
    array([ True, False])
    """
    attrs = {"pattern": _static("pattern", pattern)}
    return apply_op("regex_full_match", attrs, checks.tensor(input))[0]


def _static(name: str, value: Any) -> str:
    text = _text(name, value)
    return text.decode() if isinstance(text, bytes) else text
