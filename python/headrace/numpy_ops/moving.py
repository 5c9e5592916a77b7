"""Functions that repeat, shift, pad, turn and cut."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from ..symbol import Symbol
from ..ufuncs import convert, is_text
from .registry import function, ints, method, symbol
from .shapes import axis_of, ravel

if TYPE_CHECKING:
    from ..trace import Tracer

__all__: list[str] = []


def _is_symbolic(value: Any) -> bool:
    if type(value) is Symbol:
        return True
    return isinstance(value, list | tuple) and any(type(item) is Symbol for item in value)


def _counts(t: Tracer, value: Any) -> Any:
    """Return computed sizes as one symbol."""
    found = np.stack(list(value)) if type(value) is not Symbol else value
    if is_text(found) or found.dtype.kind not in "iu":
        raise TypeError("sizes must be integers")
    return found


@function("tile")
def _tile(t: Tracer, A: Any, reps: Any) -> Any:
    A = symbol(t, A)
    if _is_symbolic(reps):
        return A._op("tile", _counts(t, reps))
    sizes = [int(count) for count in np.atleast_1d(np.asarray(reps))]
    return A._op("tile", reps=sizes)


@function("repeat")
@method("repeat")
def _repeat(t: Tracer, a: Any, repeats: Any, axis: Any = None) -> Any:
    a = symbol(t, a)
    if axis is None:
        a, axis = ravel(t, a), 0
    if a._spec.shape == ():
        a = a._view("expand_dims", axis=[0])
    axis = ints(t, axis)[0]
    if _is_symbolic(repeats):
        return a._op("repeat", _counts(t, repeats), axis=axis)
    counts = np.asarray(repeats)
    if counts.dtype.kind not in "biu":
        raise TypeError("repeats must be integers")
    return a._op("repeat", axis=axis, repeats=[int(count) for count in counts.ravel()])


@function("roll")
def _roll(t: Tracer, a: Any, shift: Any, axis: Any = None) -> Any:
    a = symbol(t, a)
    if axis is None:
        return _roll(t, ravel(t, a), shift, 0)._op("reshape", shape=ints(t, list(a.shape)))
    axes = ints(t, axis)
    moved = _counts(t, shift) if _is_symbolic(shift) else np.atleast_1d(np.asarray(shift))
    if moved.dtype.kind not in "iu":
        t.refuse("rolls by something else than integers")
    return a._op("roll", moved, axis=axes)


_MODES = {"constant", "edge", "reflect", "symmetric", "wrap"}


@function("pad")
def _pad(t: Tracer, array: Any, pad_width: Any, mode: Any = "constant", **kwargs: Any) -> Any:
    array = symbol(t, array)
    if mode not in _MODES:
        t.refuse(f"pads by mode {mode!r}")
    fill = kwargs.pop("constant_values", 0) if mode == "constant" else 0
    if kwargs.pop("reflect_type", "even") != "even" or kwargs:
        t.refuse(f"pads with {', '.join(kwargs) or 'an odd reflection'}")
    rank = array.ndim
    if _is_symbolic(pad_width) or (
        isinstance(pad_width, list | tuple) and any(map(_is_symbolic, pad_width))
    ):
        return _pad_by_values(t, array, pad_width, mode, fill)
    if isinstance(pad_width, dict):
        pairs = np.zeros((rank, 2), np.int64)
        for axis, width in pad_width.items():
            pairs[axis] = width
    else:
        given = np.asarray(pad_width)
        if given.dtype.kind != "i":
            raise TypeError("`pad_width` must be of integral type.")
        pairs = np.broadcast_to(given, (rank, 2))
    if (pairs < 0).any():
        raise ValueError("index can't contain negative values")
    if mode != "constant":
        return array._op("pad", mode=mode, widths=pairs.ravel().tolist())
    if type(fill) is Symbol or np.ndim(fill) == 0:
        filler = _filler(t, array, fill)
        return array._op("pad", filler, widths=pairs.ravel().tolist())
    # Each end has a value of its own; later axes cover the corners.
    fills = np.broadcast_to(np.asarray(fill), (rank, 2))
    for axis in range(rank):
        for end in (0, 1):
            if pairs[axis, end]:
                widths = np.zeros((rank, 2), np.int64)
                widths[axis, end] = pairs[axis, end]
                filler = _filler(t, array, fills[axis, end])
                array = array._op("pad", filler, widths=widths.ravel().tolist())
    return array


def _filler(t: Tracer, array: Any, value: Any) -> Any:
    if is_text(array):
        if not isinstance(value, bytes | str):
            t.refuse("pads text with a number")
        return symbol(t, value)
    if type(value) is not Symbol:
        # As NumPy assigns: without regard to a loss.
        value = np.asarray(value).astype(array.dtype)
    return convert(t, value, array.dtype)


def _pad_by_values(t: Tracer, array: Any, widths: Any, mode: str, fill: Any) -> Any:
    """Pad by widths that a run computes: a pair for each axis."""
    if type(widths) is not Symbol:
        rows = [
            row if type(row) is Symbol else np.stack(list(row)) if _is_symbolic(row) else row
            for row in widths
        ]
        widths = np.stack(rows)
    if is_text(widths) or widths.dtype.kind not in "iu":
        raise TypeError("`pad_width` must be of integral type.")
    pairs = np.broadcast_to(widths, (array.ndim, 2))
    extra = (_filler(t, array, fill),) if mode == "constant" else ()
    return array._op("pad", *extra, pairs, mode=mode)


@function("rot90")
def _rot90(t: Tracer, m: Any, k: Any = 1, axes: Any = (0, 1)) -> Any:
    m = symbol(t, m)
    if len(axes) != 2:
        raise ValueError("len(axes) must be 2.")
    first, second = (axis_of(axis, m.ndim) for axis in ints(t, axes))
    if first == second:
        raise ValueError("Axes must be different.")
    turns = ints(t, k)[0] % 4
    if turns == 0:
        return m[...]
    if turns == 2:
        return np.flip(m, (first, second))
    order = list(range(m.ndim))
    order[first], order[second] = second, first
    if turns == 1:
        return np.transpose(np.flip(m, second), order)
    return np.flip(np.transpose(m, order), second)


@function("array_split")
def _array_split(t: Tracer, ary: Any, indices_or_sections: Any, axis: Any = 0) -> Any:
    ary = symbol(t, ary)
    axis = axis_of(ints(t, axis)[0], ary.ndim)
    if isinstance(indices_or_sections, Sequence | np.ndarray):
        ends = [0, *ints(t, list(indices_or_sections)), None]
    else:
        sections = ints(t, indices_or_sections)[0]
        if sections <= 0:
            raise ValueError("number sections must be larger than 0.")
        each, more = divmod(ary.shape[axis], sections)
        sizes = [0] + more * [each + 1] + (sections - more) * [each]
        ends = np.cumsum(sizes).tolist()
    whole = (slice(None),) * axis
    return [ary[(*whole, slice(a, b))] for a, b in pairwise(ends)]


@function("split")
def _split(t: Tracer, ary: Any, indices_or_sections: Any, axis: Any = 0) -> Any:
    ary = symbol(t, ary)
    if not isinstance(indices_or_sections, Sequence | np.ndarray):
        sections = ints(t, indices_or_sections)[0]
        if ary.shape[ints(t, axis)[0]] % sections:
            raise ValueError("array split does not result in an equal division")
    return _array_split(t, ary, indices_or_sections, axis)


@function("hsplit")
def _hsplit(t: Tracer, ary: Any, indices_or_sections: Any) -> Any:
    ary = symbol(t, ary)
    if ary.ndim == 0:
        raise ValueError("hsplit only works on arrays of 1 or more dimensions")
    return _split(t, ary, indices_or_sections, 1 if ary.ndim > 1 else 0)


@function("vsplit")
def _vsplit(t: Tracer, ary: Any, indices_or_sections: Any) -> Any:
    if symbol(t, ary).ndim < 2:
        raise ValueError("vsplit only works on arrays of 2 or more dimensions")
    return _split(t, ary, indices_or_sections, 0)


@function("dsplit")
def _dsplit(t: Tracer, ary: Any, indices_or_sections: Any) -> Any:
    if symbol(t, ary).ndim < 3:
        raise ValueError("dsplit only works on arrays of 3 or more dimensions")
    return _split(t, ary, indices_or_sections, 2)


@function("append")
def _append(t: Tracer, arr: Any, values: Any, axis: Any = None) -> Any:
    arr, values = symbol(t, arr), symbol(t, values)
    if axis is None:
        arr, values, axis = ravel(t, arr), ravel(t, values), 0
    return np.concatenate((arr, values), axis=axis)


@function("delete")
def _delete(t: Tracer, arr: Any, obj: Any, axis: Any = None) -> Any:
    arr = symbol(t, arr)
    if axis is None:
        arr, axis = ravel(t, arr), 0
    (axis,) = ints(t, axis)
    size = arr.shape[axis]
    if _is_symbolic(obj):
        t.refuse("deletes at places that only a run knows", "use x[np.isin(...)]")
    keep = np.delete(np.arange(size), obj)
    return np.take(arr, keep, axis=axis)


@function("insert")
def _insert(t: Tracer, arr: Any, obj: Any, values: Any, axis: Any = None) -> Any:
    arr = symbol(t, arr)
    if _is_symbolic(obj):
        t.refuse("inserts at places that only a run knows")
    if axis is None:
        arr, axis = ravel(t, arr), 0
    axis = axis_of(ints(t, axis)[0], arr.ndim)
    size = arr.shape[axis]
    added = symbol(t, values)
    if not is_text(arr):
        added = convert(t, added, arr.dtype)
    # Places in the old values are numbered on by those in the new ones.
    places = np.insert(np.arange(size), obj, np.arange(size, size + _inserted(size, obj)))
    count = len(places) - size
    if np.ndim(obj) == 0 and not isinstance(obj, slice) and added.ndim:
        added = np.moveaxis(added, 0, axis) if added.ndim == arr.ndim else added
        count = added.shape[axis] if added.ndim == arr.ndim else 1
        at = int(np.asarray(obj))
        if not -size <= at <= size:
            raise IndexError(f"index {at} is out of bounds for axis {axis} with size {size}")
        at += size if at < 0 else 0
        places = np.insert(np.arange(size), [at] * count, np.arange(size, size + count))
    shape = list(ints(t, list(arr.shape)))
    shape[axis] = count
    both = np.concatenate((arr, np.broadcast_to(added, tuple(shape))), axis=axis)
    return np.take(both, places, axis=axis)


def _inserted(size: int, obj: Any) -> int:
    return len(range(*obj.indices(size))) if isinstance(obj, slice) else _count_of(obj)


def _count_of(obj: Any) -> int:
    given = np.asarray(obj)
    return int(given.sum()) if given.dtype == bool else given.size
