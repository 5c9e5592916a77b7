"""Functions of which values there are and where they belong.

``unique`` and its sisters, sets made of arrays, ``isin``, ``bincount``, ``histogram``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ..symbol import Symbol
from ..ufuncs import convert, is_text
from .registry import common, function, ints, method, plain, symbol
from .shapes import ravel

if TYPE_CHECKING:
    from ..trace import Tracer

__all__: list[str] = []


@function("unique")
def _unique(
    t: Tracer,
    ar: Any,
    return_index: Any = False,
    return_inverse: Any = False,
    return_counts: Any = False,
    axis: Any = None,
    *,
    equal_nan: Any = True,
    sorted: Any = True,
) -> Any:
    x = symbol(t, ar)
    attrs: dict[str, Any] = {"equal_nan": bool(equal_nan)}
    if axis is not None:
        if is_text(x):
            raise TypeError("The axis argument to unique is not supported for dtype object")
        if return_inverse and np.unique(np.zeros((1, 1)), return_inverse=True, axis=0)[1].ndim > 1:
            t.refuse("uses np.unique with axis= and return_inverse=")
        # Slices that hold a NaN are never equal in NumPy.
        attrs = {"equal_nan": False, "axis": ints(t, axis)[0]}
    found = t.add("unique", attrs, x)
    wanted = (True, return_index, return_inverse, return_counts)
    given = [part for part, is_wanted in zip(found, wanted, strict=True) if is_wanted]
    return given[0] if len(given) == 1 else tuple(given)


def _records(name: str, *parts: int) -> None:
    """Enter a function that gives parts of `unique` as a named tuple."""
    kind: Any = getattr(np, name, None)
    if kind is None:
        return
    made = type(kind(np.zeros(1)))

    def handler(t: Tracer, x: Any, /) -> Any:
        found = t.add("unique", {"equal_nan": False}, symbol(t, x))
        return made(*(found[part] for part in parts))

    function(name)(handler)


_records("unique_all", 0, 1, 2, 3)
_records("unique_counts", 0, 3)
_records("unique_inverse", 0, 2)


def _distinct(t: Tracer, x: Any) -> Any:
    return t.add("unique", {"equal_nan": True}, x)[0]


@function("union1d")
def _union1d(t: Tracer, ar1: Any, ar2: Any) -> Any:
    first, second = (ravel(t, x) for x in _alike(t, ar1, ar2))
    return _distinct(t, np.concatenate([first, second]))


@function("setdiff1d")
def _setdiff1d(t: Tracer, ar1: Any, ar2: Any, assume_unique: Any = False) -> Any:
    first = symbol(t, ar1)
    first = ravel(t, first) if assume_unique else _distinct(t, first)
    return first[_isin(t, first, ar2, invert=True)]


@function("intersect1d")
def _intersect1d(
    t: Tracer, ar1: Any, ar2: Any, assume_unique: Any = False, return_indices: Any = False
) -> Any:
    plain(t, "np.intersect1d", return_indices=return_indices)
    first, second = _alike(t, ar1, ar2)
    common = _distinct(t, first)
    return common[_isin(t, common, second)]


@function("setxor1d")
def _setxor1d(t: Tracer, ar1: Any, ar2: Any, assume_unique: Any = False) -> Any:
    first, second = (ravel(t, x) for x in _alike(t, ar1, ar2))
    both = _distinct(t, np.concatenate([first, second]))
    return both[_isin(t, both, first) != _isin(t, both, second)]


def _alike(t: Tracer, *values: Any) -> list[Any]:
    """Return operands as symbols of their common dtype."""
    symbols = [symbol(t, value) for value in values]
    if any(map(is_text, symbols)):
        if len({x._spec.dtype for x in symbols}) > 1:
            t.refuse("compares bytes with str or numbers")
        return symbols
    dtype = common(symbols)
    return [convert(t, x, dtype) for x in symbols]


@function("isin")
def _isin(
    t: Tracer,
    element: Any,
    test_elements: Any,
    assume_unique: Any = False,
    invert: Any = False,
    *,
    kind: Any = None,
) -> Any:
    if isinstance(test_elements, set | frozenset):
        t.refuse("looks for values in a set", "use np.isin(x, list(values))")
    x, among = _alike(t, element, test_elements)
    found = x._op("isin", ravel(t, among))
    return ~found if invert else found


@function("bincount")
def _bincount(t: Tracer, x: Any, /, weights: Any = None, minlength: Any = 0) -> Any:
    x = symbol(t, x)
    if type(minlength) is Symbol:
        t.refuse("counts up to a number that only a run knows")
    if x.ndim != 1:
        raise ValueError("object of too small depth for desired array" if not x.ndim else
                         "object too deep for desired array")  # fmt: skip
    if not np.can_cast(x.dtype, np.int64, "safe"):
        raise TypeError(f"Cannot cast array data from {x.dtype!r} to dtype('int64')")
    x = convert(t, x, np.dtype(np.int64)) if x.dtype.kind == "b" else x
    if weights is None:
        return x._op("bincount", minlength=int(minlength))
    weights = symbol(t, weights)
    if weights.dtype.kind == "c":
        raise TypeError("Cannot cast complex weights to float64")
    doubles = convert(t, weights, np.dtype(np.float64))
    return x._op("bincount", doubles, minlength=int(minlength), dtype=np.dtype(np.float64))


@function("searchsorted")
@method("searchsorted")
def _searchsorted(t: Tracer, a: Any, v: Any, side: Any = "left", sorter: Any = None) -> Any:
    if side not in ("left", "right"):
        raise ValueError(f"'{side}' is an invalid value for keyword 'side'")
    if sorter is not None:
        a = np.take(symbol(t, a), sorter)
    ordered, values = _alike(t, a, v)
    if ordered.ndim != 1:
        raise ValueError("object too deep for desired array")
    return ordered._op("searchsorted", values, right=side == "right")


@function("digitize")
def _digitize(t: Tracer, x: Any, bins: Any, right: Any = False) -> Any:
    if type(bins) is Symbol:
        t.refuse("sorts into bins that only a run knows", "use np.searchsorted(bins, x)")
    edges = np.asarray(bins)
    if edges.ndim != 1 or edges.dtype.kind not in "biuf":
        t.refuse("sorts into bins that are not a list of numbers")
    x = symbol(t, x)
    if x.dtype.kind == "c":
        raise TypeError("x may not be complex")
    steps = np.diff(edges.astype(np.float64))
    side = "left" if right else "right"
    if (steps >= 0).all():
        return _searchsorted(t, edges, x, side)
    if not (steps <= 0).all():
        raise ValueError("bins must be monotonically increasing or decreasing")
    return len(edges) - _searchsorted(t, edges[::-1], x, side)


@function("histogram")
def _histogram(
    t: Tracer, a: Any, bins: Any = 10, range: Any = None, density: Any = None, weights: Any = None
) -> Any:
    plain(t, "np.histogram", density=density)
    x = ravel(t, a)
    if type(bins) is Symbol or isinstance(bins, str) or (np.ndim(bins) == 0 and range is None):
        t.refuse("counts in bins that only a run knows", "give range=, or the edges as bins=")
    if x.dtype.kind not in "iuf":
        t.refuse(f"counts {x.dtype} in bins")
    edges = np.histogram_bin_edges(np.zeros(0, x.dtype), bins, range)
    count = len(edges) - 1
    place = _searchsorted(t, edges, x, "right") - 1
    inside = (x >= edges[0]) & (x <= edges[-1])
    place = np.minimum(place, count - 1)[inside]  # the last bin holds its right edge
    if weights is None:
        return _bincount(t, place, minlength=count), edges
    shares = ravel(t, weights)
    if shares.dtype != np.float64:
        t.refuse(f"uses np.histogram with weights of {shares.dtype}")
    return _bincount(t, place, shares[inside], count), edges


@function("isclose")
def _isclose(
    t: Tracer, a: Any, b: Any, rtol: Any = 1e-05, atol: Any = 1e-08, equal_nan: Any = False
) -> Any:
    numbers = (int, float, complex)
    x, y = (v if issubclass(type(v), numbers) else symbol(t, v) for v in (a, b))
    if type(y) is Symbol:
        y = convert(t, y, np.result_type(y.dtype, 1.0))
    elif isinstance(y, int):
        y = float(y)
    close = (abs(x - y) <= atol + rtol * abs(y)) & np.isfinite(y) | (x == y)
    return close | (np.isnan(x) & np.isnan(y)) if equal_nan else close


@function("allclose")
def _allclose(
    t: Tracer, a: Any, b: Any, rtol: Any = 1e-05, atol: Any = 1e-08, equal_nan: Any = False
) -> Any:
    return _isclose(t, a, b, rtol, atol, equal_nan).all()


@function("array_equal")
def _array_equal(t: Tracer, a1: Any, a2: Any, equal_nan: Any = False) -> Any:
    first, second = symbol(t, a1), symbol(t, a2)
    shapes = [x._spec.shape for x in (first, second)]
    if any(shape is None or None in shape for shape in shapes):
        t.refuse("compares arrays of a shape that only a run knows")
    if shapes[0] != shapes[1]:
        return np.bool_(False)
    same = first == second
    if equal_nan and not is_text(first) and not is_text(second):
        same = same | (np.isnan(first) & np.isnan(second))
    return same.all()
