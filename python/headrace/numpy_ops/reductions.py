"""Reductions: sums and products, means, extremes and their places, truth of all or any."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from ..ufuncs import convert
from .registry import axes, copied, function, ints, method, plain, symbol

if TYPE_CHECKING:
    from ..trace import Tracer

__all__ = [
    "IDENTITIES",
    "accumulate",
    "chosen",
    "extreme",
    "keep",
    "mean",
    "reduce",
    "squares",
    "sum_dtype",
    "summing",
    "typed",
]

# What changes nothing where it stands in the place of a value that is left out.
IDENTITIES = {"sum": 0, "prod": 1, "all": 1, "any": 0}


def sum_dtype(x: Any, dtype: Any) -> Any:
    """Return the dtype in which NumPy sums: small integers and bools widen."""
    if dtype is not None:
        return np.dtype(dtype)
    if x.dtype.kind in "bi" and x.dtype.itemsize < 8:
        return np.dtype(np.int64)
    if x.dtype.kind == "u" and x.dtype.itemsize < 8:
        return np.dtype(np.uint64)
    return x.dtype


def keep(keepdims: Any) -> bool:
    """Return whether reduced axes stay, with size 1."""
    return keepdims is not np._NoValue and bool(keepdims)


def _mask(t: Tracer, where: Any) -> Any:
    """Return ``where=`` as a symbol; None if it chooses all."""
    if where is None or where is np._NoValue or where is True:
        return None
    mask = symbol(t, where)
    if mask.dtype != np.bool_:
        t.refuse(f"chooses values by where= of {mask.dtype}", "compare it: where=x != 0")
    return mask


def chosen(t: Tracer, a: Any, where: Any, otherwise: Any) -> Any:
    """Return values with `otherwise` for those that ``where=`` leaves out."""
    a, mask = symbol(t, a), _mask(t, where)
    if mask is None:
        return a
    found: Any = np.where(mask, a, np.asarray(otherwise, a.dtype))
    if found._spec.shape != a._spec.shape:
        t.refuse("chooses values by where= of another shape")
    return found


def reduce(
    t: Tracer,
    op: str,
    a: Any,
    axis: Any = None,
    dtype: Any = None,
    keepdims: Any = False,
    initial: Any = None,
) -> Any:
    """Record a reduction by the op of the engine, with the dtypes of NumPy."""
    a = symbol(t, a)
    attrs: dict[str, Any] = {"axis": axes(t, axis), "keepdims": keep(keepdims)}
    if op in ("sum", "prod"):
        attrs["dtype"] = result = sum_dtype(a, dtype)
        if result == np.bool_:
            t.refuse(f"uses np.{op} with dtype=bool")
    else:
        result = a.dtype
        if dtype is not None and np.dtype(dtype) != result:
            a, result = convert(t, a, np.dtype(dtype)), np.dtype(dtype)
    if initial is not None and initial is not np._NoValue:
        if op not in ("sum", "prod", "max", "min", "reduce_fmax", "reduce_fmin"):
            t.refuse(f"uses the reduction {op} with initial=")
        attrs["initial"] = _initial(t, initial, result)
    return a._op(op, **attrs)


def _initial(t: Tracer, value: Any, dtype: Any) -> Any:
    """Return a constant as a scalar array of `dtype`."""
    if not isinstance(value, bool | int | float | complex | np.generic):
        t.refuse("uses a reduction with initial= that is no number")
    start = np.asarray(value, dtype)
    if start != value and value == value:
        t.refuse(f"uses a reduction with initial={value}, which {dtype} cannot hold")
    return start


def accumulate(t: Tracer, name: str, a: Any, axis: Any = 0, dtype: Any = None) -> Any:
    """Record ``ufunc.accumulate``."""
    a = symbol(t, a)
    if name in ("add", "multiply"):
        target = sum_dtype(a, dtype)
    elif name.startswith("logical"):
        target = np.dtype(bool)
    else:
        target = a.dtype if dtype is None else np.dtype(dtype)
    if target == np.bool_ and name in ("add", "multiply"):
        t.refuse(f"uses np.{name}.accumulate with dtype=bool")
    place = ints(t, axis)[0]
    (result,) = t.add("cumulate", {"op": name, "axis": place}, convert(t, a, target))
    return result


def summing(
    name: str, op: str = "", values: Callable[[Tracer, Any], Any] = symbol
) -> Callable[..., Any]:
    """Return the handler of a sum or product: `op` over what `values` makes of the argument."""

    def handler(
        t: Tracer,
        a: Any,
        axis: Any = None,
        dtype: Any = None,
        out: Any = None,
        keepdims: Any = False,
        initial: Any = None,
        where: Any = None,
    ) -> Any:
        plain(t, f"np.{name}", out=out)
        found = chosen(t, values(t, a), where, IDENTITIES[op or name])
        return reduce(t, op or name, found, axis, dtype, keepdims, initial)

    return handler


@function("mean")
@method("mean")
def mean(
    t: Tracer,
    a: Any,
    axis: Any = None,
    dtype: Any = None,
    out: Any = None,
    keepdims: Any = False,
    where: Any = None,
) -> Any:
    """Record ``np.mean``."""
    plain(t, "np.mean", out=out)
    a = symbol(t, a)
    if dtype is None and a.dtype.kind in "biu":
        dtype = np.float64
    target = a.dtype if dtype is None else np.dtype(dtype)
    mask = _mask(t, where)
    if mask is not None:
        return _mean_of(t, convert(t, a, target), mask, axis, keepdims)[0]
    attrs = {"axis": axes(t, axis), "keepdims": keep(keepdims), "dtype": target}
    return convert(t, a, target)._op("mean", **attrs)


def _mean_of(t: Tracer, a: Any, mask: Any, axis: Any, keepdims: Any) -> tuple[Any, Any]:
    """Return the mean of the values that a mask chooses, and how many they are."""
    if a.dtype.itemsize < 4:  # NumPy adds these up in a wider type
        t.refuse(f"uses np.mean or np.var of {a.dtype} with where=")
    total = reduce(t, "sum", chosen(t, a, mask, 0), axis, None, keepdims)
    count = reduce(t, "sum", np.broadcast_to(mask, a.shape), axis, None, keepdims)
    return typed(np.true_divide(total, count), total.dtype), count


def typed(value: Any, dtype: Any) -> Any:
    """Return `value` with a dtype, itself if it has that."""
    return value if value.dtype == dtype else value.astype(dtype)


def squares(away: Any) -> Any:
    """Return the squares of absolute values."""
    return np.multiply(away, np.conjugate(away)).real if away.dtype.kind == "c" else away * away


@function("var")
@method("var")
def _var(
    t: Tracer,
    a: Any,
    axis: Any = None,
    dtype: Any = None,
    out: Any = None,
    ddof: Any = 0,
    keepdims: Any = False,
    where: Any = None,
    mean: Any = None,
    correction: Any = None,
) -> Any:
    plain(t, "np.var", out=out, mean=mean)
    a, mask = symbol(t, a), _mask(t, where)
    if correction is not None and correction is not np._NoValue:
        ddof = correction
    if not isinstance(ddof, int | float | np.integer | np.floating):
        t.refuse("uses np.var with ddof= that only a run knows")
    if dtype is None and a.dtype.kind in "biu":
        dtype = np.float64
    target = a.dtype if dtype is None else np.dtype(dtype)
    if not np.can_cast(a.dtype, target):
        t.refuse(f"uses np.var of {a.dtype} with dtype={target}")
    a = convert(t, a, target)
    if mask is not None:
        middle, _ = _mean_of(t, a, mask, axis, True)
        square = squares(np.subtract(a, middle))
        total = reduce(t, "sum", chosen(t, square, mask, 0), axis, None, keepdims)
        count = reduce(t, "sum", np.broadcast_to(mask, a.shape), axis, None, keepdims)
        return typed(np.true_divide(total, np.maximum(np.subtract(count, ddof), 0)), total.dtype)
    attrs = {"axis": axes(t, axis), "keepdims": keep(keepdims), "ddof": float(ddof)}
    return a._op("var", **attrs)


@function("std")
@method("std")
def _std(t: Tracer, a: Any, *args: Any, **kwargs: Any) -> Any:
    return np.sqrt(_var(t, a, *args, **kwargs))


def extreme(name: str, op: str = "", of_numbers: str = "") -> Callable[..., Any]:
    """Return the handler of a largest or least value.

    `op` is the op of the engine for floats, `of_numbers` for types that have no NaN.
    """

    def handler(
        t: Tracer,
        a: Any,
        axis: Any = None,
        out: Any = None,
        keepdims: Any = False,
        initial: Any = None,
        where: Any = None,
    ) -> Any:
        plain(t, f"np.{name}", out=out)
        a = symbol(t, a)
        if op and a.dtype.kind == "c":
            t.refuse(f"uses np.{name} of complex numbers")
        chosen_op = op if op and a.dtype.kind in "fV" else of_numbers or name
        if _mask(t, where) is not None:
            if initial is None or initial is np._NoValue:
                t.refuse(f"uses np.{name} with where= and without initial=", "give initial=")
            a = chosen(t, a, where, _initial(t, initial, a.dtype))
        return reduce(t, chosen_op, a, axis, None, keepdims, initial)

    return handler


def _logical(op: str) -> Callable[..., Any]:
    def handler(
        t: Tracer,
        a: Any,
        axis: Any = None,
        out: Any = None,
        keepdims: Any = False,
        *,
        where: Any = None,
    ) -> Any:
        plain(t, f"np.{op}", out=out)
        return reduce(t, op, chosen(t, a, where, IDENTITIES[op]), axis, None, keepdims)

    return handler


def _position(op: str) -> Callable[..., Any]:
    def handler(
        t: Tracer, a: Any, axis: Any = None, out: Any = None, *, keepdims: Any = False
    ) -> Any:
        plain(t, f"np.{op}", out=out)
        place = None if axis is None else ints(t, axis)[0]
        return symbol(t, a)._op(op, axis=place, keepdims=keep(keepdims))

    return handler


@function("count_nonzero")
def _count_nonzero(t: Tracer, a: Any, axis: Any = None, *, keepdims: Any = False) -> Any:
    if axis is None and not keepdims and not isinstance(np.count_nonzero([1]), np.generic):
        # Older NumPys give a Python int, whose dtype is weak.
        t.refuse("uses np.count_nonzero without an axis", "use (x != 0).sum()")
    return reduce(t, "count_nonzero", a, axis, None, keepdims)


@function("ptp")
def _ptp(t: Tracer, a: Any, axis: Any = None, out: Any = None, keepdims: Any = False) -> Any:
    plain(t, "np.ptp", out=out)
    largest, least = (reduce(t, op, a, axis, None, keepdims) for op in ("max", "min"))
    return np.subtract(largest, least)


@function("average")
def _average(
    t: Tracer,
    a: Any,
    axis: Any = None,
    weights: Any = None,
    returned: Any = False,
    *,
    keepdims: Any = False,
) -> Any:
    plain(t, "np.average", returned=returned)
    a = symbol(t, a)
    if weights is None:
        return mean(t, a, axis, keepdims=keepdims)
    # A sum of weights that is 0 is an error, which must be known now.
    if not isinstance(weights, np.ndarray | list | tuple):
        t.refuse("uses np.average with weights that only a run knows")
    shares = np.asarray(weights)
    place = axes(t, axis)
    if shares.ndim == 1 and a.ndim != 1 and place is not None and len(place) == 1:
        if shares.size != a.shape[place[0]]:
            t.refuse("uses np.average with weights of another length than the axis")
        spread = [1] * a.ndim
        spread[place[0]] = shares.size
        shares = shares.reshape(spread)
    elif shares.shape != a.shape:
        t.refuse("uses np.average with weights of another shape")
    along = None if place is None else tuple(place)
    integers = a.dtype.kind in "biu"
    dtype = np.result_type(a.dtype, shares.dtype, *([np.float64] if integers else []))
    total = shares.sum(along, dtype, keepdims=keep(keepdims))
    if not np.all(total):
        t.refuse("uses np.average with weights that add up to 0")
    product = np.multiply(a, shares, dtype=dtype)
    return np.true_divide(reduce(t, "sum", product, place, None, keepdims), total)


@function("round", "around")
@method("round")
def _round(t: Tracer, a: Any, decimals: Any = 0, out: Any = None) -> Any:
    plain(t, "np.round", out=out)
    a = symbol(t, a)
    if not isinstance(decimals, int | np.integer):
        t.refuse("rounds to decimals that only a run knows")
    if a.dtype.kind in "bV":
        t.refuse(f"rounds {a.dtype}")
    if a.dtype.kind in "iu":
        if decimals < 0:
            t.refuse("rounds integers to tens")
        return copied(a)
    if decimals == 0:
        return a._op("rint")
    power = 10.0 ** abs(int(decimals))
    if decimals > 0:
        return np.true_divide(np.rint(np.multiply(a, power)), power)
    return np.multiply(np.rint(np.true_divide(a, power)), power)


def _enter(names: str, maker: Callable[[str], Callable[..., Any]]) -> None:
    for name in names.split():
        handler = maker(name)
        function(name, f"a{name}" if name in ("max", "min") else name)(handler)
        method(name)(handler)


_enter("all any", _logical)
_enter("argmax argmin", _position)
_enter("max min", extreme)
_enter("prod sum", summing)
