"""Order: ``sort``, ``argsort``, ``median``, ``percentile``, ``quantile``.

NumPy promises the order of equal values in ``argsort`` for ``kind="stable"`` alone; what it gives
otherwise depends on the processor. The positions recorded here are the stable ones whatever the
kind. Where the first element of a run shows another order, the function runs as Python.
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


@function("median")
def _median(
    t: Tracer,
    a: Any,
    axis: Any = None,
    out: Any = None,
    overwrite_input: Any = False,
    keepdims: Any = False,
) -> Any:
    plain(t, "np.median", out=out, overwrite_input=overwrite_input)
    a = symbol(t, a)
    if a.dtype.kind in "biu":
        a = convert(t, a, np.dtype(np.float64))
    return a._op("median", axis=axes(t, axis), keepdims=keep(keepdims))


def _shares(t: Tracer, name: str, a: Any, q: Any, axis: Any, keepdims: Any) -> Any:
    """Record quantiles at constant shares `q` of 1 or 100."""
    a = symbol(t, a)
    if not isinstance(q, int | float | list | tuple | np.ndarray | np.generic):
        t.refuse(f"uses np.{name} at a share that only a run knows")
    if np.ndim(q) > 1 or a.dtype.kind not in "biuf":
        t.refuse(f"uses np.{name} of {a.dtype} at {q!r}")
    # NumPy's own rules for the dtype, which depend on its version.
    result = getattr(np, name)(np.zeros(1, a.dtype), q).dtype
    weak = type(q) in (int, float) and a.dtype.kind == "f"
    shares = np.true_divide(q, 100) if name == "percentile" else np.asarray(q, np.float64)
    if not np.all((shares >= 0) & (shares <= 1)):
        t.refuse(f"uses np.{name} at {q!r}, which is out of range")
    if a.dtype.kind in "biu":
        a = convert(t, a, np.dtype(np.float64))
    wide = not weak and result == np.float64
    if result != (np.float64 if wide else a.dtype):
        t.refuse(f"uses np.{name} of {a.dtype} that gives {result}")
    found = float(shares) if np.ndim(shares) == 0 else [float(share) for share in shares]
    attrs = {"axis": axes(t, axis), "keepdims": keep(keepdims)}
    return a._op("quantile", q=found, wide=wide, **attrs)


def _quantile(name: str) -> Any:
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
        return _shares(t, name, a, q, axis, keepdims)

    return handler


for _name in ("percentile", "quantile"):
    function(_name)(_quantile(_name))
