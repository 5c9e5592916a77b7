"""Order: ``sort``, ``partition``, ``lexsort``, ``median``, ``percentile``, and those without NaN.

NumPy promises the order of equal values in ``argsort`` for ``kind="stable"`` alone; what it gives
otherwise depends on the processor. The positions recorded here are the stable ones whatever the
kind, and a partition is wholly sorted. Where the first element of a run shows another order in what
the function gives, it runs as Python.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ..ufuncs import convert
from .reductions import keep
from .registry import axes, function, ints, method, plain, symbol

if TYPE_CHECKING:
    from ..trace import Tracer

__all__: list[str] = []


def _sorted(t: Tracer, op: str, a: Any, axis: Any, order: Any, **attrs: Any) -> Any:
    plain(t, f"np.{op}", order=order)
    a = symbol(t, a)
    if axis is None:
        a, axis = a._op("reshape", shape=[-1]), 0
    return a._op(op, axis=ints(t, axis)[0], **attrs)


@function("sort")
def _sort(
    t: Tracer, a: Any, axis: Any = -1, kind: Any = None, order: Any = None, *, stable: Any = None
) -> Any:
    return _sorted(t, "sort", a, axis, order)


@function("argsort")
@method("argsort")
def _argsort(
    t: Tracer, a: Any, axis: Any = -1, kind: Any = None, order: Any = None, *, stable: Any = None
) -> Any:
    promised = stable is True or kind in ("stable", "mergesort")
    return _sorted(t, "argsort", a, axis, order, stable=promised)


def _check_places(t: Tracer, a: Any, kth: Any, axis: Any) -> None:
    """Raise for places that are out of range, as NumPy does."""
    size = None if axis is None else a._spec.shape[ints(t, axis)[0]]
    for place in ints(t, kth):
        if size is not None and not -size <= place < size:
            raise ValueError(f"kth(={place}) out of bounds ({size})")


@function("partition")
def _partition(
    t: Tracer, a: Any, kth: Any, axis: Any = -1, kind: Any = None, order: Any = None
) -> Any:
    a = symbol(t, a)
    _check_places(t, a, kth, axis)
    return _sorted(t, "sort", a, axis, order)


@function("argpartition")
@method("argpartition")
def _argpartition(
    t: Tracer, a: Any, kth: Any, axis: Any = -1, kind: Any = None, order: Any = None
) -> Any:
    a = symbol(t, a)
    _check_places(t, a, kth, axis)
    return _sorted(t, "argsort", a, axis, order, stable=False)


@function("lexsort")
def _lexsort(t: Tracer, keys: Any, axis: Any = -1) -> Any:
    (place,) = ints(t, axis)
    order = None
    # The last key counts most: each stable sort keeps the order of the keys before it.
    for key in keys:
        key = symbol(t, key)
        if order is None:
            order = key._op("argsort", axis=place, stable=True)
            continue
        moved = key._op("take_along_axis", order, axis=place)
        again = moved._op("argsort", axis=place, stable=True)
        order = order._op("take_along_axis", again, axis=place)
    if order is None:
        raise TypeError("need sequence of keys with len > 0 in lexsort")
    return order


def _median(name: str, **attrs: Any) -> Any:
    def handler(
        t: Tracer,
        a: Any,
        axis: Any = None,
        out: Any = None,
        overwrite_input: Any = False,
        keepdims: Any = False,
    ) -> Any:
        plain(t, f"np.{name}", out=out, overwrite_input=overwrite_input)
        a = symbol(t, a)
        if a.dtype.kind in "biu":
            a = convert(t, a, np.dtype(np.float64))
        return a._op("median", axis=axes(t, axis), keepdims=keep(keepdims), **attrs)

    return handler


def _shares(t: Tracer, name: str, a: Any, q: Any, axis: Any, keepdims: Any, **attrs: Any) -> Any:
    """Record quantiles at constant shares `q` of 1 or 100."""
    a = symbol(t, a)
    if not isinstance(q, int | float | list | tuple | np.ndarray | np.generic):
        t.refuse(f"uses np.{name} at a share that only a run knows")
    if np.ndim(q) > 1 or a.dtype.kind not in "biuf":
        t.refuse(f"uses np.{name} of {a.dtype} at {q!r}")
    if a.dtype in (np.int8, np.int16):
        t.refuse(f"uses np.{name} of {a.dtype}, which overflows", "use x.astype(np.int32)")
    # NumPy's own rules for the dtype, which depend on its version.
    result = getattr(np, name)(np.zeros(1, a.dtype), q).dtype
    weak = type(q) in (int, float) and a.dtype.kind == "f"
    shares = np.true_divide(q, 100) if "percentile" in name else np.asarray(q, np.float64)
    if not np.all((shares >= 0) & (shares <= 1)):
        t.refuse(f"uses np.{name} at {q!r}, which is out of range")
    if a.dtype.kind in "biu":
        a = convert(t, a, np.dtype(np.float64))
    wide = not weak and result == np.float64
    if result != (np.float64 if wide else a.dtype):
        t.refuse(f"uses np.{name} of {a.dtype} that gives {result}")
    if wide and attrs and a.dtype != np.float64:
        # Of a row that is all NaN, NumPy gives the dtype of the values instead.
        t.refuse(
            f"uses np.{name} of {a.dtype} at several shares, whose dtype depends on the values",
            "use x.astype(np.float64), or one share as a Python float",
        )
    found = float(shares) if np.ndim(shares) == 0 else [float(share) for share in shares]
    attrs |= {"axis": axes(t, axis), "keepdims": keep(keepdims)}
    return a._op("quantile", q=found, wide=wide, **attrs)


def _quantile(name: str, **attrs: Any) -> Any:
    def handler(
        t: Tracer,
        a: Any,
        q: Any,
        axis: Any = None,
        out: Any = None,
        overwrite_input: Any = False,
        method: Any = "linear",
        keepdims: Any = False,
        *,
        weights: Any = None,
        interpolation: Any = None,
    ) -> Any:
        plain(
            t, f"np.{name}", out=out, overwrite_input=overwrite_input, weights=weights,
            interpolation=interpolation,
        )  # fmt: skip
        if method != "linear":
            t.refuse(f"uses np.{name} with method={method!r}")
        return _shares(t, name, a, q, axis, keepdims, **attrs)

    return handler


function("median")(_median("median"))
function("nanmedian")(_median("nanmedian", skip_nan=True))
for _name in ("percentile", "quantile"):
    function(_name)(_quantile(_name))
    function(f"nan{_name}")(_quantile(f"nan{_name}", skip_nan=True))
