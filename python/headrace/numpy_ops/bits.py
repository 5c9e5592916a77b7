"""Bits of bytes: ``packbits`` and ``unpackbits``; and ``resize``, which repeats values."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from .reductions import reduce
from .registry import function, ints, symbol
from .shapes import axis_of, ravel

if TYPE_CHECKING:
    from ..trace import Tracer

__all__: list[str] = []


def _along(t: Tracer, a: Any, axis: Any) -> tuple[Any, int]:
    """Return the values with the axis of the bits at the end, and where it was."""
    if axis is None:
        return ravel(t, a), 0
    place = axis_of(ints(t, axis)[0], a.ndim)
    return np.moveaxis(a, place, -1), place


def _shifts(bitorder: Any) -> Any:
    if bitorder not in ("big", "little"):
        raise ValueError("bitorder must be either 'little' or 'big'")
    shifts = np.arange(8, dtype=np.uint8)
    return shifts if bitorder == "little" else shifts[::-1].copy()


@function("unpackbits")
def _unpackbits(
    t: Tracer, a: Any, /, axis: Any = None, count: Any = None, bitorder: Any = "big"
) -> Any:
    a = symbol(t, a)
    if a.dtype != np.uint8:
        raise TypeError("Expected an input array of unsigned byte data type")
    x, place = _along(t, a, axis)
    bits = (x[..., None] >> _shifts(bitorder)) & np.uint8(1)
    bits = bits.reshape(*ints(t, list(x.shape[:-1])), -1) if x.ndim > 1 else bits.reshape(-1)
    if count is not None:
        (wanted,) = ints(t, count)
        missing = wanted - x.shape[-1] * 8
        if missing > 0:
            zeros = np.zeros((*x.shape[:-1], missing), np.uint8)
            bits = np.concatenate([bits, zeros], -1)
        else:
            bits = bits[..., :wanted]
    return np.moveaxis(bits, -1, place)


@function("packbits")
def _packbits(t: Tracer, a: Any, /, axis: Any = None, bitorder: Any = "big") -> Any:
    a = symbol(t, a)
    if a.dtype.kind not in "biu":
        raise TypeError("Expected an input array of integer or boolean data type")
    x, place = _along(t, a, axis)
    shape = ints(t, list(x.shape))
    bits = (x != 0).astype(np.uint8)
    missing = -shape[-1] % 8
    if missing:
        bits = np.concatenate([bits, np.zeros((*shape[:-1], missing), np.uint8)], -1)
    bits = bits.reshape(*shape[:-1], (shape[-1] + missing) // 8, 8)
    packed = reduce(t, "sum", bits << _shifts(bitorder), -1, np.uint8)
    return np.moveaxis(packed, -1, place)


@function("resize")
def _resize(t: Tracer, a: Any, new_shape: Any) -> Any:
    shape = ints(t, new_shape)
    if min(shape, default=0) < 0:
        raise ValueError("all elements of `new_shape` must be non-negative")
    flat = ravel(t, a)
    count = int(np.prod(shape, dtype=np.int64))
    if not count or not len(flat):
        return np.zeros(shape, flat.dtype)
    return np.take(flat, np.arange(count) % len(flat)).reshape(shape)
