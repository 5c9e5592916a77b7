"""Functions that make constants shaped like a value."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from .registry import function

if TYPE_CHECKING:
    from ..trace import Tracer

__all__: list[str] = []


def _like(value: Any) -> Callable[..., Any]:
    def make(
        t: Tracer,
        a: Any,
        dtype: Any = None,
        order: Any = "K",
        subok: Any = True,
        shape: Any = None,
        *,
        device: Any = None,
    ) -> Any:
        shape = a.shape if shape is None else shape
        if not isinstance(shape, tuple):
            t.refuse("reads a shape that only a run knows")
        return np.full(shape, value, a.dtype if dtype is None else dtype)

    return make


function("ones_like")(_like(1))
function("zeros_like")(_like(0))
