"""Pickling of plans: what a dataset was made from, not what it became.

A dataset pickles as the name of its op, the arguments, and its inputs; unpickling builds the plan
anew. Arrays go by value, memory-mapped files as file, offset, dtype and shape. Functions that
pickle cannot find by name go through cloudpickle where it is installed.
"""

from __future__ import annotations

import io
import pickle
from collections import ChainMap
from collections.abc import Callable
from types import CodeType
from typing import Any, ClassVar

import numpy as np

__all__ = ["MappedArray", "dump_callable", "load_callable", "pack_arrays", "unpack_arrays"]

# What cloudpickle puts in place of the name of a file.
_NO_FILE = "<dynamic-code>"


class MappedArray:
    """A contiguous piece of a memory-mapped file, as it is pickled.

    Parameters
    ----------
    filename, offset, dtype, shape
        Where the piece lies and what it holds; `offset` in bytes from the start of the file.
    """

    __slots__ = ("dtype", "filename", "offset", "shape")

    def __init__(self, filename: str, offset: int, dtype: str, shape: tuple[int, ...]) -> None:
        self.filename = filename
        self.offset = offset
        self.dtype = dtype
        self.shape = shape

    def __reduce__(self) -> tuple[Any, ...]:
        return MappedArray, (self.filename, self.offset, self.dtype, self.shape)

    def open(self) -> np.memmap[Any, Any]:
        """Map the piece again, read-only."""
        return np.memmap(self.filename, self.dtype, "r", self.offset, self.shape)


def pack_arrays(value: Any) -> Any:
    """Return `value` with each memory-mapped array replaced by its place in the file."""
    from .nest import map_structure

    return map_structure(lambda leaf: _mapped(leaf) or leaf if _is_map(leaf) else leaf, value)


def unpack_arrays(value: Any) -> Any:
    """Undo `pack_arrays`."""
    from .nest import map_structure

    return map_structure(lambda leaf: leaf.open() if isinstance(leaf, MappedArray) else leaf, value)


def _is_map(leaf: Any) -> bool:
    return isinstance(leaf, np.memmap) and leaf.filename is not None


def _mapped(array: np.memmap[Any, Any]) -> MappedArray | None:
    """Find the place of `array` in its file; None for views that are not contiguous."""
    import mmap
    import os

    owner: Any = array
    while isinstance(owner, np.ndarray):
        owner = owner.base
    if not isinstance(owner, mmap.mmap) or not array.flags.c_contiguous or array.size == 0:
        return None
    # A view of a memmap keeps the `offset` of the whole map; the pointers tell where it begins.
    start = array.offset - array.offset % mmap.ALLOCATIONGRANULARITY
    base = np.frombuffer(owner, np.uint8).ctypes.data
    offset = start + array.ctypes.data - base
    return MappedArray(os.fspath(array.filename or ""), offset, array.dtype.str, array.shape)


def dump_callable(function: Callable[..., Any], name: str) -> bytes:
    """Pickle a function, by name where it can be imported, else with cloudpickle.

    Raises
    ------
    pickle.PicklingError
        Neither works; the text names the function and what would help.
    """
    try:
        import cloudpickle  # type: ignore[import-not-found, import-untyped, unused-ignore]
    except ImportError:
        cloudpickle = None
    try:
        if cloudpickle is not None:
            return _dump_by_value(cloudpickle, function)
        return pickle.dumps(function)
    except Exception as error:
        hint = (
            "what it captures does not pickle"
            if cloudpickle is not None
            else "lambdas and closures need cloudpickle: pip install headrace[process]"
        )
        raise pickle.PicklingError(f"{name} cannot be pickled ({error}); {hint}") from error


def _dump_by_value(cloudpickle: Any, function: Callable[..., Any]) -> bytes:
    """Pickle with cloudpickle, and let code keep the name of its file, which tracebacks show."""
    reduce = cloudpickle.Pickler.dispatch_table.get(CodeType)

    def with_file(code: CodeType) -> Any:
        made, parts = reduce(code)
        return made, tuple(code.co_filename if part == _NO_FILE else part for part in parts)

    class Pickler(cloudpickle.Pickler):  # type: ignore[misc, unused-ignore]
        dispatch_table: ClassVar[Any] = ChainMap(
            {CodeType: with_file}, cloudpickle.Pickler.dispatch_table
        )

    if reduce is None:
        return cloudpickle.dumps(function)  # type: ignore[no-any-return, unused-ignore]
    with io.BytesIO() as buffer:
        Pickler(buffer).dump(function)
        return buffer.getvalue()


def load_callable(blob: bytes) -> Callable[..., Any]:
    """Undo `dump_callable`."""
    function: Callable[..., Any] = pickle.loads(blob)
    return function
