"""`TensorArray`: a list of tensors that is written by number.

Outside of a trace, and in one where the numbers are known, it is a Python list. Where a number is a
symbol the trace only tells what comes out; the function then runs as Python.
"""

from __future__ import annotations

import copy
import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from ..errors import InvalidArgumentError, OutOfRangeError
from .convert import convert, is_symbol
from .creation import zeros
from .dtypes import as_dtype, int32
from .joining import concat, stack, unstack
from .joining import split as split_tensor
from .kernels import static_shape
from .shapes import TensorShape
from .tensor import raw, wrap

__all__ = ["TensorArray"]


def _writes(method: Callable[..., TensorArray]) -> Callable[..., TensorArray]:
    """Make a method that writes leave the array alone where it is a value."""

    @functools.wraps(method)
    def written(self: TensorArray, *args: Any, **kwargs: Any) -> TensorArray:
        if not self._is_value:
            return method(self, *args, **kwargs)
        made = self._copy()
        made._is_value = False
        method(made, *args, **kwargs)
        made._is_value = True
        return made

    return written


class TensorArray:
    """A list of tensors of one dtype; mirrors ``tf.TensorArray``.

    Methods that write return the array, as in TensorFlow; the old one is the same, but for arrays
    that a function of a dataset gets, which are values: there the old one stays what it was.

    Parameters
    ----------
    dtype
        Of all tensors.
    size
        How many there are, 0 by default.
    dynamic_size
        Whether writing past the end makes it longer.
    clear_after_read
        Whether a tensor can be read only once, which is so by default.
    infer_shape
        Whether all tensors must have the shape of the first.
    element_shape
        What is known of their shape.
    tensor_array_name, handle, flow, colocate_with_first_write_call, name
        Accepted for TensorFlow's sake.

    Raises
    ------
    OutOfRangeError
        A number below 0 or past the end.
    InvalidArgumentError
        A tensor of another dtype, or one that is read again.
    ValueError
        A tensor of another shape.

    Examples
    --------
    >>> numbers = tf.TensorArray(tf.int32, size=2)
    >>> numbers = numbers.write(0, 5).write(1, 6)
    >>> numbers.stack().numpy()
    array([5, 6], dtype=int32)
    """

    _is_no_tensor = True  # control flow hands it on as it is
    _is_component = True  # an opaque object to the engine

    def __init__(
        self,
        dtype: Any,
        size: Any = None,
        dynamic_size: bool | None = None,
        clear_after_read: bool | None = None,
        tensor_array_name: str | None = None,
        handle: Any = None,
        flow: Any = None,
        infer_shape: bool = True,
        element_shape: Any = None,
        colocate_with_first_write_call: bool = True,
        name: str | None = None,
    ) -> None:
        self._dtype = as_dtype(dtype)
        self._dynamic = bool(dynamic_size)
        self._clears = True if clear_after_read is None else bool(clear_after_read)
        self._infers = infer_shape
        self._shape = TensorShape(element_shape)
        self._cleared: set[int] = set()
        # None where nothing was written yet; the whole is None where only a run knows the numbers.
        self._tensors: list[Any] | None = None
        self._symbol: Any = None
        self._is_value = False
        if size is not None and is_symbol(size):
            self._forget(size)
        else:
            self._tensors = [None] * (0 if size is None else int(size))

    @property
    def dtype(self) -> Any:
        """The dtype of the tensors."""
        return self._dtype

    @property
    def dynamic_size(self) -> bool:
        """Whether writing past the end makes it longer."""
        return self._dynamic

    @property
    def element_shape(self) -> TensorShape:
        """What is known of the tensors' shape."""
        return self._shape

    @property
    def handle(self) -> None:
        """None: there is no resource behind it."""
        return None

    @property
    def flow(self) -> Any:
        """A scalar without meaning, as in TensorFlow."""
        return wrap(np.int32(0))

    def identity(self) -> TensorArray:
        """Return the array."""
        return self

    def mark_used(self) -> None:
        """Do nothing."""

    def _copy(self) -> TensorArray:
        """Return an array that is written apart: elements and states are handed over by value."""
        made: TensorArray = copy.copy(self)
        made._cleared = set(self._cleared)
        made._tensors = None if self._tensors is None else list(self._tensors)
        return made

    def _from_own(self) -> TensorArray:
        """Return an array that a function gets: what it writes is another array."""
        made = self._copy()
        made._is_value = True
        return made

    _to_own = _copy

    def _forget(self, symbol: Any) -> None:
        """Go on without the tensors: a run knows which of them is which."""
        self._tensors, self._symbol = None, symbol

    def _unknown(self, shape: Any, dtype: Any = None) -> Any:
        name = "a TensorArray with numbers that a run computes"
        return self._symbol._tracer.unrecorded(name, shape, dtype or self._dtype)

    def _dims(self) -> Any:
        return None if self._shape.rank is None else tuple(self._shape)

    def _row_shape(self) -> Any:
        dims = self._dims()
        return None if dims is None else (None, *dims)

    def _accept(self, value: Any) -> Any:
        """Return a value to be written as a tensor that fits."""
        tensor = convert(value, self._dtype if not hasattr(value, "dtype") else None)
        if tensor.dtype is not self._dtype:
            raise InvalidArgumentError(
                f"TensorArray dtype is {self._dtype.name} but Op is trying to write dtype "
                f"{tensor.dtype.name} "
            )
        shape = TensorShape(static_shape(tensor))
        if not self._shape.is_compatible_with(shape):
            raise ValueError(f"Incompatible shape for value ({shape}), expected ({self._shape})")
        if self._infers:
            self._shape = self._shape.merge_with(shape)
        return tensor

    def _zeros(self) -> Any:
        if not self._shape.is_fully_defined():
            raise ValueError(
                f"Cannot convert a partially known TensorShape {self._shape} to a Tensor."
            )
        return zeros(self._dims(), self._dtype)

    def size(self, name: str | None = None) -> Any:
        """Return how many tensors there are, an int32 tensor."""
        if self._tensors is None:
            return self._unknown((), int32)
        return wrap(np.int32(len(self._tensors)))

    def read(self, index: Any, name: str | None = None) -> Any:
        """Return tensor `index`; zeros if it was never written and its shape is known."""
        if is_symbol(index) and self._tensors is not None:
            self._forget(index)
        if self._tensors is None:
            return self._unknown(self._dims())
        at = int(index)
        if at < 0:
            raise OutOfRangeError(f"Reading from negative indices (index {at}) is not allowed.")
        if at >= len(self._tensors):
            raise OutOfRangeError(
                f"Tried to read from index {at} but array size is: {len(self._tensors)} "
            )
        tensor = self._tensors[at]
        if tensor is None:
            if at in self._cleared:
                raise InvalidArgumentError(
                    f"Could not read index {at} twice because it was cleared after a previous read "
                    "(perhaps try setting clear_after_read = false?)"
                )
            tensor = self._zeros()
        if self._clears:
            self._tensors[at] = None
            self._cleared.add(at)
        return tensor

    @_writes
    def write(self, index: Any, value: Any, name: str | None = None) -> TensorArray:
        """Put `value` in place `index`."""
        tensor = self._accept(value)
        if is_symbol(index) and self._tensors is not None:
            self._forget(index)
        if self._tensors is None:
            return self
        at = int(index)
        if at < 0:
            raise OutOfRangeError(f"Writing to negative indices (index {at}) is not allowed.")
        if at >= len(self._tensors):
            if not self._dynamic:
                raise OutOfRangeError(
                    f"Tried to write to index {at} but array is not resizeable and size is: "
                    f"{len(self._tensors)} "
                )
            self._tensors += [None] * (at + 1 - len(self._tensors))
        self._tensors[at] = tensor
        return self

    def stack(self, name: str | None = None) -> Any:
        """Return all tensors in one, along a new first axis."""
        if self._tensors is None:
            return self._unknown(self._row_shape())
        return self._stacked([self._zeros() if t is None else t for t in self._tensors])

    def _stacked(self, tensors: list[Any]) -> Any:
        if tensors:
            return stack(tensors)
        dims = self._dims()
        known = dims is not None and None not in dims
        return zeros((0, *dims) if known else (0,), self._dtype)

    def gather(self, indices: Any, name: str | None = None) -> Any:
        """Return the tensors of these numbers in one."""
        if is_symbol(indices) and self._tensors is not None:
            self._forget(indices)
        if self._tensors is None:
            return self._unknown(self._row_shape())
        picked = []
        for index in np.asarray(raw(convert(indices)) if len(indices) else [], np.int64).tolist():
            if not 0 <= index < len(self._tensors):
                raise OutOfRangeError(
                    f"Tried to read from index {index} but array size is: {len(self._tensors)} "
                )
            tensor = self._tensors[index]
            picked.append(self._zeros() if tensor is None else tensor)
        return self._stacked(picked)

    def concat(self, name: str | None = None) -> Any:
        """Return all tensors joined along their first axis."""
        dims = self._dims()
        if self._tensors is None:
            return self._unknown(None if dims is None else (None, *dims[1:]))
        tensors = [self._zeros() if t is None else t for t in self._tensors]
        for index, tensor in enumerate(tensors):
            if static_shape(tensor) == ():
                raise InvalidArgumentError(
                    f"Concat saw a scalar shape at index {index} but requires at least vectors."
                )
        return concat(tensors, 0) if tensors else self._stacked([])

    @_writes
    def unstack(self, value: Any, name: str | None = None) -> TensorArray:
        """Fill the array with the slices of `value`."""
        tensor = convert(value, self._dtype if not hasattr(value, "dtype") else None)
        dims = static_shape(tensor)
        if dims == ():
            raise ValueError("a scalar has no slices: unstack needs a tensor with an axis")
        if self._tensors is not None and is_symbol(tensor) and (dims is None or dims[0] is None):
            self._forget(tensor)
        if self._tensors is None:
            if self._infers and dims is not None:
                self._shape = self._shape.merge_with(TensorShape(dims[1:]))
            return self
        tensors = unstack(tensor)
        self._check_count(len(tensors), "unstack")
        self._tensors = [self._accept(item) for item in tensors]
        return self

    def _check_count(self, count: int, what: str) -> None:
        size = len(self._tensors or ())
        if count > size and not self._dynamic:
            raise ValueError(
                f"Cannot {what} {count} tensors into a TensorArray of static size {size} "
            )

    @_writes
    def scatter(self, indices: Any, value: Any, name: str | None = None) -> TensorArray:
        """Write the slices of `value` in the places `indices`."""
        tensor = convert(value, self._dtype if not hasattr(value, "dtype") else None)
        if is_symbol(indices) and self._tensors is not None:
            self._forget(indices)
        if self._tensors is None:
            return self.unstack(tensor)
        numbers = np.asarray(raw(convert(indices)), np.int64).tolist()
        for index, item in zip(numbers, unstack(tensor), strict=False):
            self.write(index, item)
        return self

    @_writes
    def split(self, value: Any, lengths: Any, name: str | None = None) -> TensorArray:
        """Fill the array with pieces of `value` of these lengths."""
        tensor = convert(value, self._dtype if not hasattr(value, "dtype") else None)
        if is_symbol(lengths) and self._tensors is not None:
            self._forget(lengths)
        if self._tensors is None:
            return self
        sizes = np.asarray(raw(convert(lengths)), np.int64).tolist()
        dims = static_shape(tensor)
        if dims == ():
            raise InvalidArgumentError(
                "Expected value to be at least a vector, but received shape: [] "
            )
        if dims is not None and dims[0] is not None and sum(sizes) != dims[0]:
            raise InvalidArgumentError(
                "Expected sum of lengths to be equal to values.shape[0], but sum of lengths is "
                f"{sum(sizes)} and value's shape is: {list(dims)} "
            )
        if len(sizes) != len(self._tensors) and not self._dynamic:
            raise InvalidArgumentError(
                "TensorArray's size is not equal to the size of lengths "
                f"({len(self._tensors)} vs. {len(sizes)}), and the TensorArray is not marked as "
                "dynamically resizeable."
            )
        self._tensors = list(split_tensor(tensor, sizes))
        return self

    def close(self, name: str | None = None) -> None:
        """Drop all tensors."""
        if self._tensors is not None:
            self._tensors = []

    def grad(self, source: Any, flow: Any = None, name: str | None = None) -> Any:
        """Refuse: there are no gradients here."""
        raise NotImplementedError("a TensorArray has no gradients in headrace")
