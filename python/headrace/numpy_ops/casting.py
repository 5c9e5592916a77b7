"""Conversions, copies and parts of values: ``astype``, ``copy``, ``real``, ``result_type``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ..dtypes import as_dtype
from ..errors import HeadraceError
from ..symbol import Symbol
from .registry import common, copied, function, method

if TYPE_CHECKING:
    from ..trace import Tracer

__all__ = ["astype"]


def astype(x: Symbol, dtype: Any, casting: Any = "unsafe", copy: bool = True) -> Any:
    """Record ``x.astype(dtype)``."""
    tracer = x._tracer
    try:
        target = as_dtype(dtype)
    except HeadraceError:
        target = bytes
    if isinstance(target, type) or isinstance(x._spec.dtype, type):
        tracer.refuse(f"converts {x._spec.dtype!r} to {dtype!r}")
    if not np.can_cast(x.dtype, target, casting):
        raise TypeError(f"cannot cast from {x.dtype} to {target} by the rule {casting!r}")
    if x.dtype == target:
        return copied(x) if copy else x
    return x._op("cast", dtype=target)


@function("astype")
def _astype(t: Tracer, x: Any, dtype: Any, /, *, copy: Any = True, device: Any = None) -> Any:
    return astype(x, dtype, copy=copy)


@function("copy")
def _copy(t: Tracer, a: Any, order: Any = "K", subok: Any = False) -> Any:
    return copied(a)


@function("real")
def _real(t: Tracer, val: Any) -> Any:
    return val.real


@function("imag")
def _imag(t: Tracer, val: Any) -> Any:
    return val.imag


@method("conj", "conjugate")
def _conjugate(t: Tracer, x: Any) -> Any:
    return np.conjugate(x)


@function("result_type")
def _result_type(t: Tracer, *values: Any) -> Any:
    return common(values)
