"""Names that are looked up when they are used, and what to say of those that do not exist."""

from __future__ import annotations

import difflib
import importlib
import importlib.util
import sys
from collections.abc import Callable
from typing import Any

__all__ = ["lookup"]


def lookup(module: str, submodules: tuple[str, ...] = ()) -> Callable[[str], Any]:
    """Return the ``__getattr__`` of a module of TensorFlow's names.

    Parameters
    ----------
    module
        Its full name.
    submodules
        Submodules that are imported when they are first used.

    Examples
    --------
    >>> lookup("headrace.tf", ("data",))("dada")
    Traceback (most recent call last):
    ...
    AttributeError: tf.dada is not in headrace.tf; the nearest name is tf.data
    """
    shown = "tf" + module.removeprefix("headrace.tf")

    def find(name: str) -> Any:
        full = f"{module}.{name}"
        if name in submodules and importlib.util.find_spec(full) is not None:
            return importlib.import_module(full)
        if name.startswith("__"):
            raise AttributeError(f"module {module!r} has no attribute {name!r}")
        own = vars(sys.modules[module]) if module in sys.modules else {}
        known = {key for key in own if not key.startswith("_")} | set(submodules)
        near = difflib.get_close_matches(name, sorted(known), n=1, cutoff=0.5)
        hint = f"; the nearest name is {shown}.{near[0]}" if near else ""
        raise AttributeError(f"{shown}.{name} is not in headrace.tf{hint}", name=name)

    return find
