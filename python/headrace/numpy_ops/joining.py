"""Functions that make one array of several."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ..ufuncs import convert
from .registry import function, ints, plain, symbol
from .shapes import at_least, ravel

if TYPE_CHECKING:
    from ..trace import Tracer

__all__: list[str] = []


def _joined(t: Tracer, op: str, arrays: Any, axis: Any, dtype: Any = None) -> Any:
    if not isinstance(arrays, list | tuple):
        t.refuse(f"uses np.{op} of something else than a list or tuple")
    symbols = [symbol(t, array) for array in arrays]
    if any(isinstance(symbol._spec.dtype, type) for symbol in symbols):
        found = None
    else:
        found = (
            np.dtype(dtype) if dtype is not None else np.result_type(*(s.dtype for s in symbols))
        )
    args = [s if found is None else convert(t, s, found) for s in symbols]
    (result,) = t.add(op, {"axis": ints(t, axis)[0]}, *args)
    return result


@function("concatenate")
def _concatenate(
    t: Tracer,
    arrays: Any,
    /,
    axis: Any = 0,
    out: Any = None,
    *,
    dtype: Any = None,
    casting: Any = None,
) -> Any:
    plain(t, "np.concatenate", out=out, casting=None if casting == "same_kind" else casting)
    if axis is None:
        arrays, axis = [ravel(t, array) for array in arrays], 0
    return _joined(t, "concatenate", arrays, axis, dtype)


@function("stack")
def _stack(
    t: Tracer,
    arrays: Any,
    axis: Any = 0,
    out: Any = None,
    *,
    dtype: Any = None,
    casting: Any = None,
) -> Any:
    plain(t, "np.stack", out=out, casting=casting)
    return _joined(t, "stack", arrays, axis, dtype)


@function("vstack")
def _vstack(t: Tracer, tup: Any, *, dtype: Any = None, casting: Any = None) -> Any:
    plain(t, "np.vstack", casting=casting)
    return _joined(t, "concatenate", [at_least(t, x, 2) for x in tup], 0, dtype)


@function("hstack")
def _hstack(t: Tracer, tup: Any, *, dtype: Any = None, casting: Any = None) -> Any:
    plain(t, "np.hstack", casting=casting)
    arrays = [at_least(t, x, 1) for x in tup]
    return _joined(t, "concatenate", arrays, 0 if arrays[0].ndim == 1 else 1, dtype)


@function("dstack")
def _dstack(t: Tracer, tup: Any) -> Any:
    return _joined(t, "concatenate", [np.atleast_3d(symbol(t, x)) for x in tup], 2)


@function("column_stack")
def _column_stack(t: Tracer, tup: Any) -> Any:
    columns = [symbol(t, x) for x in tup]
    tall = [at_least(t, at_least(t, x, 1)[None], 2).T if x.ndim < 2 else x for x in columns]
    return _joined(t, "concatenate", tall, 1)
