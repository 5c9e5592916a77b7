"""Names of ``tf.autograph``: functions run as they are written."""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

from .names import lookup

__all__ = ["set_verbosity", "to_graph"]


def _do_not_convert(func: Callable[..., Any] | None = None) -> Any:
    """Return the function as it is."""
    return _do_not_convert if func is None else func


def set_verbosity(level: int, alsologtostdout: bool = False) -> None:
    """Do nothing: nothing is converted."""


def to_graph(entity: Callable[..., Any], **kwargs: Any) -> Callable[..., Any]:
    """Return the function as it is."""
    return entity


experimental = SimpleNamespace(do_not_convert=_do_not_convert)

__getattr__ = lookup(__name__)
