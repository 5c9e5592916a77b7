"""`Dataset.from_source`: objects that have their elements by number.

An object that says of what dtype and shape it is (an array of NumPy, h5py, zarr and the like) is
asked for slices; any other for one element at a time.
"""

from __future__ import annotations

import operator
from typing import Any

import numpy as np

from .checks import tensor
from .convert import SPECS, Converter
from .dtypes import as_dtype
from .nest import flatten, map_structure
from .spec import TensorSpec, UnknownSpec

__all__ = ["Source"]


class Source:
    """An object with numbered elements.

    Parameters
    ----------
    source
        Has ``__len__`` and ``__getitem__``.
    output_signature
        A nest of specs of its elements; ``None``: what its dtype and shape say, or a run.
    live
        Whether an element may be another when it is asked for again.

    Raises
    ------
    TypeError
        It has not, or a leaf of the signature is no spec.
    """

    def __init__(self, source: Any, output_signature: Any = None, live: bool = False) -> None:
        kind = type(source).__name__
        for method in ("__len__", "__getitem__"):
            if not hasattr(type(source), method):
                raise TypeError(f"`source` must have {method}, but {kind} has not")
        if isinstance(source, dict):
            raise TypeError("`source` must have its elements by number; a dict has them by key")
        self.source = source
        self.live = live
        self.length = operator.index(len(source))
        self.name = kind
        stated = _row_spec(source)
        self.stacked = stated is not None and output_signature is None
        self.element_spec = UnknownSpec() if stated is None else stated
        self._convert = None
        if output_signature is not None:
            for leaf in flatten(output_signature):
                if not isinstance(leaf, SPECS):
                    raise TypeError(f"`output_signature` must be a nest of specs, got {leaf!r}")
            self.element_spec = output_signature
            self._convert = Converter(output_signature, f"`source` {kind} gave an element").convert

    def item(self, index: int) -> Any:
        """Return one element as a nest of arrays."""
        value = self.source[index]
        if self._convert is not None:
            return self._convert(value, index)
        return map_structure(tensor, value)

    def slice(self, start: int, stop: int) -> Any:
        """Return rows that follow each other."""
        return np.asarray(self.source[start:stop])

    def pick(self, indices: list[int]) -> Any:
        """Return rows at any places."""
        if isinstance(self.source, np.ndarray):
            return self.source[indices]
        # Such objects differ in which lists of numbers they take, so each row is asked for.
        return np.stack([np.asarray(self.source[index]) for index in indices])

    def __repr__(self) -> str:
        return f"<{self.name} of {self.length:,} elements>"

    def __reduce__(self) -> tuple[Any, ...]:
        signature = None if self._convert is None else self.element_spec
        return Source, (self.source, signature, self.live)


def _row_spec(source: Any) -> TensorSpec | None:
    """Return the spec of the rows of something like an array; None for anything else."""
    dtype, shape = getattr(source, "dtype", None), getattr(source, "shape", None)
    if dtype is None or not isinstance(shape, tuple) or not shape:
        return None
    try:
        dtype = np.dtype(dtype)
        if dtype.kind not in "biufc":
            return None
        return TensorSpec(shape[1:], as_dtype(dtype))
    except TypeError:
        return None
