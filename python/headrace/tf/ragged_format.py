"""Ragged values in a text; part of ``tf.strings.format``."""

from __future__ import annotations

from typing import Any

from .dtypes import string
from .kernels import symbol_of
from .ragged_tensor import RaggedTensor

__all__ = ["format_ragged"]


def format_ragged(template: str, items: list[Any], placeholder: str, summarize: int) -> Any:
    """Return a template with values put in, of which some are ragged.

    Raises
    ------
    ValueError
        There are more values than places for them, or fewer, or `summarize` is neither -1 nor
        positive.
    """
    from .strings import format, join

    if summarize != -1 and summarize < 1:
        raise ValueError(f"Expected summarize to be -1 or a positive int, got {summarize!r}")
    first, *rest = template.split(placeholder)
    if len(rest) != len(items):
        raise ValueError(
            f"num placeholders in template and num inputs must match: {len(rest)} vs {len(items)}"
        )
    pieces: list[Any] = [first]
    for item, text in zip(items, rest, strict=True):
        ragged = isinstance(item, RaggedTensor)
        shown = _text(item, summarize) if ragged else format("{}", [item], summarize=summarize)
        pieces += [shown, text]
    return join(pieces)


def _text(x: RaggedTensor, summarize: int) -> Any:
    from .strings import as_string, join, regex_replace

    parts = (x._symbol, x.flat_values, *x.nested_row_splits)
    symbol = symbol_of(parts)
    if symbol is not None:
        return symbol._tracer.unrecorded("format of a ragged tensor", (), string)
    flat = x.flat_values
    if flat.dtype == string:
        flat = join(["'", regex_replace(flat, r"([\\'])", r"\\\1"), "'"])
    else:
        flat = as_string(flat)
    return _listed(x.with_flat_values(flat).to_list(), summarize)


def _listed(values: Any, summarize: int) -> bytes:
    if isinstance(values, bytes):
        return values
    parts = [_listed(value, summarize) for value in values]
    if summarize >= 0 and len(parts) > 2 * summarize:
        parts = [*parts[:summarize], b"...", *parts[len(parts) - summarize :]]
    return b"[" + b", ".join(parts) + b"]"
