"""NumPy functions and array methods on symbols: which ops they record.

One handler per function, shared with the method of the same name where the arguments agree, in a
module for each family. Dtypes are NumPy 2's. Arguments a handler does not know refuse.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from . import (  # noqa: F401 (they register)
    bits,
    casting,
    creation,
    cumulative,
    indexing,
    joining,
    matrices,
    moving,
    nans,
    products,
    reductions,
    rounding,
    selecting,
    sets,
    shapes,
    sorting,
    statistics,
    windows,
)
from .casting import astype
from .registry import FUNCTIONS, METHODS, copied

if TYPE_CHECKING:
    from ..trace import Tracer

__all__ = ["METHODS", "astype", "call_function", "copied"]


def name_of(func: Any) -> str:
    """Return a function of NumPy as users write it."""
    module = str(getattr(func, "__module__", "numpy")).removeprefix("numpy")
    return f"np{module}.{getattr(func, '__name__', func)}"


def call_function(tracer: Tracer, func: Any, args: tuple[Any, ...], kwargs: Any) -> Any:
    """Record a NumPy function that is not a ufunc; refuses what is not recorded."""
    handler = FUNCTIONS.get(func)
    if handler is None and str(getattr(func, "__module__", "")).startswith("numpy.fft"):
        from . import fourier  # noqa: F401 (it registers)

        handler = FUNCTIONS.get(func)
    if handler is None:
        tracer.refuse(f"uses {name_of(func)}, which is not recorded")
    return handler(tracer, *args, **kwargs)
