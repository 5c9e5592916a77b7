"""What NumPy composes of other functions: ``cov``, ``corrcoef``, ``unwrap``, ``vander``, ``block``.

And questions about dtypes, which are answered at once.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from ..symbol import Symbol
from ..ufuncs import convert
from .registry import function, ints, plain, symbol

if TYPE_CHECKING:
    from ..trace import Tracer

__all__: list[str] = []


def _question(name: str, ask: Callable[[Any], Any]) -> None:
    def handler(t: Tracer, x: Any) -> Any:
        return ask(np.zeros((), symbol(t, x).dtype))

    function(name)(handler)


_question("iscomplexobj", np.iscomplexobj)
_question("isrealobj", np.isrealobj)


@function("common_type")
def _common_type(t: Tracer, *arrays: Any) -> Any:
    return np.common_type(*(np.zeros(1, symbol(t, x).dtype) for x in arrays))


@function("min_scalar_type")
def _min_scalar_type(t: Tracer, a: Any, /) -> Any:
    if a.ndim == 0:
        t.refuse("uses np.min_scalar_type of a number, which only a run knows")
    return a.dtype


@function("array_equiv")
def _array_equiv(t: Tracer, a1: Any, a2: Any) -> Any:
    a, b = symbol(t, a1), symbol(t, a2)
    try:
        np.broadcast_shapes(a.shape, b.shape)
    except ValueError:
        return False
    return np.equal(a, b).all()


@function("block")
def _block(t: Tracer, arrays: Any) -> Any:
    def depth(item: Any) -> int:
        return 1 + max(map(depth, item), default=0) if isinstance(item, list) else 0

    deep = depth(arrays)

    def rank(item: Any) -> int:
        return max(map(rank, item)) if isinstance(item, list) else int(np.ndim(item))

    axes = max(deep, rank(arrays))

    def joined(item: Any, level: int) -> Any:
        if isinstance(item, list):
            if not item:
                raise ValueError("List at arrays cannot be empty")
            parts = [joined(part, level + 1) for part in item]
            return np.concatenate(parts, axis=axes - deep + level) if len(parts) > 1 else parts[0]
        if level != deep:
            raise ValueError("List depths are mismatched")
        x = symbol(t, item)
        return x._op("expand_dims", axis=list(range(axes - x.ndim))) if x.ndim < axes else x

    found = joined(arrays, 0)
    return found if type(found) is not Symbol or deep else found.copy()


@function("cov")
def _cov(
    t: Tracer,
    m: Any,
    y: Any = None,
    rowvar: Any = True,
    bias: Any = False,
    ddof: Any = None,
    fweights: Any = None,
    aweights: Any = None,
    *,
    dtype: Any = None,
) -> Any:
    plain(t, "np.cov", fweights=fweights, aweights=aweights)
    both = [symbol(t, x) for x in (m, y) if x is not None]
    if any(x.ndim > 2 for x in both):
        raise ValueError("m has more than 2 dimensions")
    kind = np.result_type(*(x.dtype for x in both), np.float64) if dtype is None else dtype
    rows = []
    for x in both:
        x = convert(t, x, np.dtype(kind))
        if x.ndim < 2:
            x = np.reshape(x, (1, -1))
        elif not rowvar:
            x = x.T
        rows.append(x)
    x = np.concatenate(rows, axis=0) if len(rows) > 1 else rows[0]
    less = ints(t, ddof)[0] if ddof is not None else int(not bias)
    count = x.shape[1] - less
    if count <= 0 or x.shape[0] == 0:
        t.refuse("uses np.cov of too few observations")
    x = np.subtract(x, x.mean(axis=1, keepdims=True))
    turned = np.conjugate(x.T) if x.dtype.kind == "c" else x.T
    found = np.multiply(np.dot(x, turned), np.true_divide(1, count))
    return np.squeeze(found)


@function("corrcoef")
def _corrcoef(t: Tracer, x: Any, y: Any = None, rowvar: Any = True, *, dtype: Any = None) -> Any:
    c = _cov(t, x, y, rowvar, dtype=dtype)
    if c.ndim == 0:
        return np.true_divide(c, c)
    if c.dtype.kind == "c":
        t.refuse("uses np.corrcoef of complex numbers")
    deviations = np.sqrt(np.diagonal(c))
    c = np.true_divide(np.true_divide(c, deviations[:, None]), deviations[None, :])
    return np.clip(c, -1, 1)


@function("vander")
def _vander(t: Tracer, x: Any, N: Any = None, increasing: Any = False) -> Any:
    x = symbol(t, x)
    if x.ndim != 1:
        raise ValueError("x must be a one-dimensional array or sequence.")
    columns = x.shape[0] if N is None else ints(t, N)[0]
    kind = np.promote_types(x.dtype, int)
    parts = [np.ones((x.shape[0], min(columns, 1)), kind)]
    if columns > 1:
        wide = convert(t, x, kind)[:, None]
        parts.append(np.multiply.accumulate(np.repeat(wide, columns - 1, axis=1), axis=1))
    found = np.concatenate([symbol(t, part) for part in parts], axis=1)
    return found if increasing else found[:, ::-1]


@function("unwrap")
def _unwrap(
    t: Tracer, p: Any, discont: Any = None, axis: Any = -1, *, period: Any = 6.283185307179586
) -> Any:
    p = symbol(t, p)
    if not isinstance(period, int | float):
        t.refuse("uses np.unwrap of a period that only a run knows")
    (place,) = ints(t, axis)
    place %= p.ndim
    steps = np.diff(p, axis=place)
    kind = np.result_type(steps.dtype, period)
    if kind.kind in "iu":
        high, rest = divmod(period, 2)
        ambiguous = rest == 0
    else:
        high, ambiguous = period / 2, True
    limit = period / 2 if discont is None else discont
    found = np.add(np.mod(np.subtract(steps, -high), period), -high)
    if ambiguous:
        edge = np.logical_and(np.equal(found, -high), np.greater(steps, 0))
        found = np.where(edge, convert(t, high, found.dtype), found)
    change = np.subtract(found, steps)
    change = np.where(np.less(np.absolute(steps), limit), convert(t, 0, change.dtype), change)
    key: list[Any] = [slice(None)] * p.ndim
    key[place] = slice(0, 1)
    first = convert(t, p[tuple(key)], kind)
    key[place] = slice(1, None)
    rest_of = np.add(p[tuple(key)], np.cumsum(change, axis=place))
    return np.concatenate([first, convert(t, rest_of, kind)], axis=place)


def _poly(name: str, ufunc: np.ufunc) -> None:
    def handler(t: Tracer, a1: Any, a2: Any) -> Any:
        if isinstance(a1, np.poly1d) or isinstance(a2, np.poly1d):
            t.refuse(f"uses np.{name} of a polynomial object")
        a, b = (np.atleast_1d(symbol(t, x)) for x in (a1, a2))
        more = a.shape[0] - b.shape[0]
        # Zeros are put before the shorter one, in its own dtype.
        if more > 0:
            b = np.concatenate([convert(t, np.zeros(more), b.dtype), b])
        elif more < 0:
            a = np.concatenate([convert(t, np.zeros(-more), a.dtype), a])
        return ufunc(a, b)

    function(name)(handler)


@function("polyder")
def _polyder(t: Tracer, p: Any, m: Any = 1) -> Any:
    (times,) = ints(t, m)
    if times < 0:
        raise ValueError("Order of derivative must be positive (see polyint)")
    p = symbol(t, p)
    for _ in range(times):
        p = p[:-1] * np.arange(p.shape[0] - 1, 0, -1)
    return p


@function("polyint")
def _polyint(t: Tracer, p: Any, m: Any = 1, k: Any = None) -> Any:
    (times,) = ints(t, m)
    if times < 0:
        raise ValueError("Order of integral must be positive (see polyder)")
    plain(t, "np.polyint", k=k)
    p = symbol(t, p)
    for _ in range(times):
        p = np.concatenate((p / np.arange(p.shape[0], 0, -1), [0.0]))
    return p


_poly("polyadd", np.add)
_poly("polysub", np.subtract)
