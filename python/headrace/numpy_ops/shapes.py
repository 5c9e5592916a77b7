"""Functions that change the shape or the order of the axes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .registry import axes, copied, function, ints, method, symbol

if TYPE_CHECKING:
    from ..trace import Tracer

__all__ = ["at_least", "ravel"]


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
    order[axis1], order[axis2] = order[axis2], order[axis1]
    return x._view("transpose", axes=order)


@function("moveaxis")
def _moveaxis(t: Tracer, a: Any, source: Any, destination: Any) -> Any:
    a = symbol(t, a)
    sources = [axis % a.ndim for axis in ints(t, source)]
    targets = [axis % a.ndim for axis in ints(t, destination)]
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
    flipped = range(m.ndim) if axis is None else [k % m.ndim for k in ints(t, axis)]
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
def _atleast_1d(t: Tracer, x: Any) -> Any:
    return at_least(t, x, 1)


@function("atleast_2d")
def _atleast_2d(t: Tracer, x: Any) -> Any:
    return at_least(t, x, 2)
