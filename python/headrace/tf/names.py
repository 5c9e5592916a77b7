"""Names that are looked up when they are used, and what to say of those that do not exist."""

from __future__ import annotations

import difflib
import importlib
import importlib.util
import sys
import types
from collections.abc import Callable
from typing import Any

__all__ = ["lookup", "names"]

# What takes the place of names that programs have beside their input code.
_ELSEWHERE = {
    "GradientTape": "training is done with JAX, PyTorch or Keras",
    "Session": "there are no graphs and sessions; iterate over the dataset",
    "data.experimental.service": "`Dataset.shard` divides the elements among workers",
    "distribute": "of it there is `InputContext` only; `Dataset.shard` divides the elements",
    "estimator": "give what `input_fn` returns to the training loop, or to Keras",
    "feature_column": "do it in a map, with tf.lookup, tf.strings and tf.one_hot",
    "keras": "Keras 3 is a package of its own (`import keras`) and takes datasets as they are",
    "placeholder": "there are no graphs and sessions; functions get their arguments",
    "saved_model": "models are kept with Keras, JAX or PyTorch",
    "summary": "TensorBoard's writers come with PyTorch and tensorboardX",
    "get_variable": "there are no graphs and sessions; tf.Variable holds a value",
}
_ALSO = {
    "contrib": "estimator", "gradients": "GradientTape", "initializers": "keras",
    "global_variables_initializer": "Session", "layers": "keras", "losses": "keras",
    "metrics": "keras", "optimizers": "keras", "tables_initializer": "Session",
}  # fmt: skip


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
    >>> lookup("headrace.tf")("keras")
    Traceback (most recent call last):
    ...
    AttributeError: tf.keras is not in headrace.tf; Keras 3 is a package of its own (`import
    keras`) and takes datasets as they are
    """
    shown = "tf" + module.removeprefix("headrace.tf")

    def find(name: str) -> Any:
        full = f"{module}.{name}"
        if name in submodules and importlib.util.find_spec(full) is not None:
            return importlib.import_module(full)
        if name.startswith("__"):
            raise AttributeError(f"module {module!r} has no attribute {name!r}")
        raise AttributeError(f"{shown}.{name} is not in headrace.tf{hint(name)}", name=name)

    def hint(name: str) -> str:
        path = f"{shown}.{name}".removeprefix("tf.").removeprefix("compat.v1.")
        elsewhere = _ELSEWHERE.get(_ALSO.get(path, path))
        if elsewhere is not None:
            return f"; {elsewhere}"
        own = sys.modules.get(module)
        known = set(submodules) if own is None else {*submodules, *dir(own)}
        near = difflib.get_close_matches(name, sorted(known - {name}), n=1, cutoff=0.5)
        return f"; the nearest name is {shown}.{near[0]}" if near else ""

    return find


def names(space: dict[str, Any], submodules: tuple[str, ...] = ()) -> list[str]:
    """Return the names of a module for `dir`: submodules, and what is no module of our own."""
    own = (key for key, value in space.items() if not isinstance(value, types.ModuleType))
    return sorted({*submodules, *(key for key in own if not key.startswith("_"))})
