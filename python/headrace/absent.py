"""What to say of names that the package does not have: where they are, or what is like them."""

from __future__ import annotations

import difflib
from importlib import import_module

__all__ = ["absent"]

_MODULES = (
    "io", "image", "audio", "strings", "math", "random", "control", "debugging", "experimental",
    "ragged", "signal", "sparse", "errors",
)  # fmt: skip


def absent(name: str, there: list[str]) -> str:
    """Return the text of the `AttributeError` for a name that is not among those `there`.

    Examples
    --------
    >>> absent("one_hot", [])
    "module 'headrace' has no attribute 'one_hot'; there is headrace.math.one_hot"
    >>> absent("TFRecordsDataset", ["TFRecordDataset"])
    "module 'headrace' has no attribute 'TFRecordsDataset'; the nearest name is TFRecordDataset"
    """
    text = f"module 'headrace' has no attribute {name!r}"
    if name == "data":
        return f"{text}; what is in tf.data is in headrace itself: headrace.Dataset"
    if name in ("nn", "train", "Variable", "function", "constant", "Tensor"):
        return f"{text}; TensorFlow's names are in headrace.tf, arrays here are NumPy's"
    for module in _MODULES:
        if name in import_module(f".{module}", __package__).__all__:
            return f"{text}; there is headrace.{module}.{name}"
    if hasattr(import_module(".dataset", __package__).Dataset, name):
        return f"{text}; there is headrace.Dataset.{name}"
    near = difflib.get_close_matches(name, there, n=1)
    return f"{text}; the nearest name is {near[0]}" if near else text
