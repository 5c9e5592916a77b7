"""Functions that change the shape or the order of the axes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from .registry import axes, copied, function, ints, method, symbol

if TYPE_CHECKING:
    from ..trace import Tracer

__all__ = ["at_least", "axis_of", "ravel"]


@function("ndim")
def _ndim(t: Tracer, a: Any) -> Any:
    return a.ndim


@function("shape")
def _shape(t: Tracer, a: Any) -> Any:
    return a.shape


@function("size")
def _size(t: Tracer, a: Any, axis: Any = None) -> Any:
    return a.size if axis is None else a.shape[axis]


@method("reshape")
def _reshape(t: Tracer, x: Any, *shape: Any, order: str = "C", copy: Any = None) -> Any:
    if order != "C":
        t.refuse(f"reshapes in order {order!r}")
    dims = shape[0] if len(shape) == 1 else shape
    return symbol(t, x)._view("reshape", shape=ints(t, dims))


@function("reshape")
def _np_reshape(t: Tracer, a: Any, shape: Any, order: str = "C", *, copy: Any = None) -> Any:
    return _reshape(t, a, shape, order=order)


@function("ravel")
@method("ravel")
def ravel(t: Tracer, x: Any, order: str = "C") -> Any:
    """Record a reshape to one axis."""
    return _reshape(t, x, -1, order=order)


@method("flatten")
def _flatten(t: Tracer, x: Any, order: str = "C") -> Any:
    return copied(_reshape(t, copied(x), -1, order=order))


@method("transpose")
def _transpose(t: Tracer, x: Any, *order: Any) -> Any:
    given = order[0] if len(order) == 1 else order or None
    return symbol(t, x)._view("transpose", axes=axes(t, given))


@function("transpose")
def _np_transpose(t: Tracer, a: Any, axes: Any = None) -> Any:
    return _transpose(t, a, axes)


@function("swapaxes")
@method("swapaxes")
def _swapaxes(t: Tracer, x: Any, axis1: Any, axis2: Any) -> Any:
    x = symbol(t, x)
    order = list(range(x.ndim))
    first, second = (axis_of(axis, x.ndim) for axis in ints(t, [axis1, axis2]))
    order[first], order[second] = second, first
    return x._view("transpose", axes=order)


@function("moveaxis")
def _moveaxis(t: Tracer, a: Any, source: Any, destination: Any) -> Any:
    a = symbol(t, a)
    sources = [axis_of(axis, a.ndim) for axis in ints(t, source)]
    targets = [axis_of(axis, a.ndim) for axis in ints(t, destination)]
    if len(set(sources)) < len(sources) or len(set(targets)) < len(targets):
        raise ValueError("repeated axis")
    order = [axis for axis in range(a.ndim) if axis not in sources]
    for target, origin in sorted(zip(targets, sources, strict=True)):
        order.insert(target, origin)
    return a._view("transpose", axes=order)


@function("expand_dims")
def _expand_dims(t: Tracer, a: Any, axis: Any) -> Any:
    return symbol(t, a)._view("expand_dims", axis=ints(t, axis))


@function("squeeze")
@method("squeeze")
def _squeeze(t: Tracer, x: Any, axis: Any = None) -> Any:
    return symbol(t, x)._view("squeeze", axis=axes(t, axis))


@function("flip")
def _flip(t: Tracer, m: Any, axis: Any = None) -> Any:
    m = symbol(t, m)
    flipped = range(m.ndim) if axis is None else [axis_of(k, m.ndim) for k in ints(t, axis)]
    whole, back = slice(None), slice(None, None, -1)
    return m[tuple(back if k in flipped else whole for k in range(m.ndim))]


@function("fliplr")
def _fliplr(t: Tracer, m: Any) -> Any:
    return _flip(t, m, 1)


@function("flipud")
def _flipud(t: Tracer, m: Any) -> Any:
    return _flip(t, m, 0)


@function("broadcast_to")
def _broadcast_to(t: Tracer, array: Any, shape: Any, subok: bool = False) -> Any:
    return symbol(t, array)._view("broadcast_to", shape=ints(t, shape))


def at_least(t: Tracer, x: Any, ndim: int) -> Any:
    """Put axes of size 1 in front, to make `ndim` of them."""
    x = symbol(t, x)
    missing = ndim - x.ndim
    return x if missing <= 0 else x._view("expand_dims", axis=list(range(missing)))


@function("atleast_1d")
def _atleast_1d(t: Tracer, *arys: Any) -> Any:
    found = tuple(at_least(t, x, 1) for x in arys)
    return found[0] if len(found) == 1 else found


@function("atleast_2d")
def _atleast_2d(t: Tracer, *arys: Any) -> Any:
    found = tuple(at_least(t, x, 2) for x in arys)
    return found[0] if len(found) == 1 else found


def axis_of(axis: int, rank: int) -> int:
    """Return an axis from 0 on.

    Raises
    ------
    AxisError
        There is no such axis.
    """
    if not -rank <= axis < rank:
        raise np.exceptions.AxisError(axis, rank)
    return axis % rank


@function("rollaxis")
def _rollaxis(t: Tracer, a: Any, axis: Any, start: Any = 0) -> Any:
    a = symbol(t, a)
    axis, (start,) = axis_of(ints(t, axis)[0], a.ndim), ints(t, start)
    start = start + a.ndim if start < 0 else start
    if not 0 <= start <= a.ndim:
        raise np.exceptions.AxisError(start, a.ndim + 1)
    order = [k for k in range(a.ndim) if k != axis]
    order.insert(start - (axis < start), axis)
    return a._view("transpose", axes=order)


@function("matrix_transpose", "linalg.matrix_transpose")
def _matrix_transpose(t: Tracer, x: Any, /) -> Any:
    return _swapaxes(t, x, -1, -2)


@function("atleast_3d")
def _atleast_3d(t: Tracer, *arys: Any) -> Any:
    found = []
    for x in arys:
        x = symbol(t, x)
        axes = {0: [0, 1, 2], 1: [0, 2], 2: [2]}.get(x.ndim)
        found.append(x if axes is None else x._view("expand_dims", axis=axes))
    return found[0] if len(found) == 1 else tuple(found)


@function("broadcast_arrays")
def _broadcast_arrays(t: Tracer, *args: Any, subok: bool = False) -> Any:
    arrays = [symbol(t, x) for x in args]
    shape = np.broadcast_shapes(*(tuple(ints(t, list(x.shape))) for x in arrays))
    return tuple(x if x.shape == shape else _broadcast_to(t, x, shape) for x in arrays)


@function("meshgrid")
def _meshgrid(
    t: Tracer, *xi: Any, copy: bool = True, sparse: bool = False, indexing: str = "xy"
) -> Any:
    if indexing not in ("xy", "ij"):
        raise ValueError("Valid values for `indexing` are 'xy' and 'ij'.")
    rank = len(xi)
    found = []
    for k, x in enumerate(xi):
        axis = 1 - k if indexing == "xy" and rank > 1 and k < 2 else k
        flat = _reshape(t, symbol(t, x), -1)
        found.append(_reshape(t, flat, [-1 if axis == own else 1 for own in range(rank)]))
    if not sparse:
        found = list(_broadcast_arrays(t, *found))
    return tuple(copied(x) for x in found) if copy else tuple(found)
