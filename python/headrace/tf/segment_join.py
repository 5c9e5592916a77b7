"""Joining the strings of segments: TensorFlow puts no separator behind what is empty so far."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from .arithmetic import maximum, minimum
from .array_ops import reshape, size
from .casting import cast
from .comparison import greater_equal, not_equal
from .convert import convert, is_symbol
from .creation import range as numbers
from .dtypes import int64, string
from .gathering import boolean_mask, gather, where
from .kernels import run, static_shape
from .reductions import unsorted_segment_min
from .tensor import raw

__all__ = ["segment_join"]


def segment_join(x: Any, ids: Any, count: int, mark: bytes | str) -> Any:
    """Join the strings of each of `count` segments.

    Empty strings at the front of a segment are left out before a separator could stand behind them.
    """
    dims, of_ids = static_shape(x), static_shape(ids)
    shape = None if dims is None or of_ids is None else (count, *dims[len(of_ids) :])
    attrs = {"num_segments": count, "separator": mark}
    sizes = None if dims is None or of_ids is None else dims[len(of_ids) :]
    if not mark or not count or sizes is None or None in sizes or not _fits(dims, ids, count):
        return run("unsorted_segment_join", (x, ids), (shape, string), **attrs)
    inner = math.prod(sizes)  # type: ignore[arg-type]
    places = reshape(cast(ids, int64), [-1])
    if sizes:
        places = reshape(reshape(places, [-1, 1]) * inner + numbers(np.int64(inner)), [-1])
    texts, total = reshape(x, [-1]), count * inner
    if total:
        texts, places = _without_front(texts, places, total)
    attrs = {"num_segments": total, "separator": mark}
    joined = run("unsorted_segment_join", (texts, places), ((total,), string), **attrs)
    return reshape(joined, [count, *sizes])


def _fits(dims: Any, ids: Any, count: int) -> bool:
    """Tell whether each string is known to have a number; if not, the engine says what is wrong."""
    of_ids = static_shape(ids) or ()
    if dims[: len(of_ids)] != of_ids or None in of_ids:
        return False
    return is_symbol(ids) or bool(((raw(ids) >= 0) & (raw(ids) < count)).all())


def _without_front(texts: Any, places: Any, count: int) -> tuple[Any, Any]:
    order = numbers(size(texts, int64))
    filled = where(not_equal(texts, ""), order, convert(np.int64(2**62)))
    first = unsorted_segment_min(filled, places, count)
    known = minimum(maximum(places, np.int64(0)), np.int64(count - 1))
    kept = greater_equal(order, gather(first, known))
    return boolean_mask(texts, kept), boolean_mask(places, kept)
