"""Running sums and differences: ``cumsum``, ``cumprod``, ``diff``, ``ediff1d``."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from .reductions import accumulate
from .registry import function, ints, method, plain, symbol

if TYPE_CHECKING:
    from ..trace import Tracer

__all__ = ["cumulate"]


def cumulate(t: Tracer, op: str, a: Any, axis: Any, dtype: Any = None) -> Any:
    """Record a running sum or product; of all values if `axis` is None."""
    a = symbol(t, a)
    if axis is None:
        a, axis = a._op("reshape", shape=[-1]), 0
    return accumulate(t, op, a, axis, dtype)


def _running(name: str, op: str) -> Callable[..., Any]:
    def handler(t: Tracer, a: Any, axis: Any = None, dtype: Any = None, out: Any = None) -> Any:
        plain(t, f"np.{name}", out=out)
        return cumulate(t, op, a, axis, dtype)

    return handler


def _cumulative(name: str, op: str) -> Callable[..., Any]:
    def handler(
        t: Tracer,
        x: Any,
        /,
        *,
        axis: Any = None,
        dtype: Any = None,
        out: Any = None,
        include_initial: Any = False,
    ) -> Any:
        plain(t, f"np.{name}", out=out, include_initial=include_initial)
        x = symbol(t, x)
        if axis is None and x.ndim > 1:
            t.refuse(f"uses np.{name} of several axes without saying which")
        return accumulate(t, op, x, 0 if axis is None else axis, dtype)

    return handler


@function("diff")
def _diff(
    t: Tracer,
    a: Any,
    n: Any = 1,
    axis: Any = -1,
    prepend: Any = np._NoValue,
    append: Any = np._NoValue,
) -> Any:
    a = symbol(t, a)
    (place,) = ints(t, axis)
    (times,) = ints(t, n)
    if times < 0 or not -a.ndim <= place < a.ndim:
        t.refuse(f"uses np.diff with n={n} and axis={axis}")
    place %= a.ndim
    if times == 0:
        return a
    ends = [end for end in (prepend, append) if end is not np._NoValue]
    if ends:
        whole = list(a.shape)
        whole[place] = 1

        def part(end: Any) -> list[Any]:
            if end is np._NoValue:
                return []
            return [np.broadcast_to(end, whole) if np.ndim(end) == 0 else end]

        a = np.concatenate([*part(prepend), a, *part(append)], place)
    subtract = np.not_equal if a.dtype == np.bool_ else np.subtract
    before = (*(slice(None),) * place, slice(None, -1))
    after = (*(slice(None),) * place, slice(1, None))
    for _ in range(times):
        a = subtract(a[after], a[before])
    return a


@function("ediff1d")
def _ediff1d(t: Tracer, ary: Any, to_end: Any = None, to_begin: Any = None) -> Any:
    plain(t, "np.ediff1d", to_end=to_end, to_begin=to_begin)
    flat = symbol(t, ary)._op("reshape", shape=[-1])
    return np.subtract(flat[1:], flat[:-1])


for _name, _op in (("cumsum", "add"), ("cumprod", "multiply")):
    _handler = _running(_name, _op)
    function(_name)(_handler)
    method(_name)(_handler)
for _name, _op in (("cumulative_sum", "add"), ("cumulative_prod", "multiply")):
    function(_name)(_cumulative(_name, _op))
