"""Tensors: NumPy arrays that follow TensorFlow's rules; mirrors ``tf.Tensor``.

A `Tensor` is an array, 0-d for scalars, so NumPy functions take it (and give plain arrays). Its
operators, indexing, shape and dtype are TensorFlow's; strings are object arrays of `bytes`.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from . import operators
from .dtypes import DType, of_array
from .operators import Operators
from .shapes import TensorShape

__all__ = ["Tensor", "raw", "wrap"]


class Tensor(Operators, np.ndarray[Any, Any]):
    """An array that follows TensorFlow's rules; mirrors ``tf.Tensor``.

    Made by `constant`, `convert_to_tensor`, every op, and by iterating over a dataset.

    Examples
    --------
    >>> x = tf.constant([1, 2])
    >>> x
    <tf.Tensor: shape=(2,), dtype=int32, numpy=array([1, 2], dtype=int32)>
    >>> (x / 2).numpy()
    array([0.5, 1. ])
    >>> x.shape.as_list(), x.dtype
    ([2], tf.int32)
    """

    __array_priority__ = 100
    _is_tensor = True

    # What TensorFlow calls it.

    @property  # type: ignore[misc]
    def shape(self) -> Any:
        """The sizes, a `TensorShape`."""
        return TensorShape(np.ndarray.shape.__get__(self))

    @property
    def dtype(self) -> Any:
        """The type of the values, a `DType`."""
        return of_array(raw(self))

    @property
    def device(self) -> Any:
        """The CPU, as TensorFlow names it."""
        return "/job:localhost/replica:0/task:0/device:CPU:0"

    @property
    def name(self) -> str:
        """Raise AttributeError: a value has no name."""
        raise AttributeError("Tensor.name is undefined when eager execution is enabled.")

    def numpy(self) -> Any:
        """Return the value as NumPy has it: an array, a NumPy scalar, or `bytes`.

        Examples
        --------
        >>> tf.constant("a").numpy(), tf.constant(1).numpy()
        (b'a', np.int32(1))
        """
        array = raw(self)
        return array if array.ndim else array[()]

    def get_shape(self) -> TensorShape:
        """Return the shape."""
        return TensorShape(np.ndarray.shape.__get__(self))

    def set_shape(self, shape: Any) -> None:
        """Check that the value has this shape.

        Raises
        ------
        ValueError
            It has another.
        """
        own = self.get_shape()
        if not own.is_compatible_with(shape):
            raise ValueError(f"Tensor's shape {own} is not compatible with supplied shape {shape}")

    def ref(self) -> Reference:
        """Return a hashable reference to this very object."""
        return Reference(self)

    experimental_ref = ref

    def eval(self, feed_dict: Any = None, session: Any = None) -> Any:
        """Raise NotImplementedError: there are no sessions."""
        raise NotImplementedError("eval is not supported, use .numpy()")

    def __setitem__(self, key: Any, value: Any) -> None:
        raise TypeError("'Tensor' object does not support item assignment")

    def __len__(self) -> int:
        if not np.ndarray.shape.__get__(self):
            raise TypeError("Scalar tensor has no `len()`")
        return super().__len__()

    def __iter__(self) -> Iterator[Any]:
        array = raw(self)
        if array.ndim == 0:
            raise TypeError("Cannot iterate over a scalar tensor.")
        return (wrap(array[row : row + 1].reshape(array.shape[1:])) for row in range(len(array)))

    def __contains__(self, value: Any) -> bool:
        return bool((raw(self) == raw(value)).any())

    def __bool__(self) -> bool:
        array = raw(self)
        if array.dtype == object and array.ndim == 0:
            return bool(array.item())
        return bool(array.any()) if array.size == 0 else bool(array)

    def __hash__(self) -> int:  # type: ignore[override]
        raise TypeError("Tensor is unhashable. Instead, use tensor.ref() as the key.")

    # Text.

    def __format__(self, spec: str) -> str:
        return format(self.numpy() if self.ndim == 0 else raw(self), spec)

    def __str__(self) -> str:
        array = raw(self)
        text = repr(array.item()) if array.dtype == object and not array.ndim else str(array)
        return f"tf.Tensor({text}, shape={array.shape}, dtype={of_array(array).name})"

    def __repr__(self) -> str:
        array = raw(self)
        if array.ndim:
            text = repr(array)
            text = "\n" + text if "\n" in text else text
        else:
            odd = array.dtype == object or array.dtype.kind == "V"
            text = repr(array.item()) if odd else str(array)
        dtype = of_array(array).name
        return f"<tf.Tensor: shape={array.shape}, dtype={dtype}, numpy={text}>"

    # NumPy's functions see a plain array.

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **kwargs: Any) -> Any:
        kwargs = {key: _plain(value) for key, value in kwargs.items()}
        if isinstance(inputs[0], np.generic) and method == "__call__" and not kwargs:
            name = _OPERATORS.get(ufunc)  # a NumPy scalar's operator comes here
            if name is not None:
                return operators.apply(name, convert_like(inputs[0], self), self)
        return getattr(ufunc, method)(*map(_plain, inputs), **kwargs)

    def __array_function__(self, func: Any, types: Any, args: Any, kwargs: Any) -> Any:
        plain = {key: _plain(value) for key, value in kwargs.items()}
        return func(*map(_plain, args), **plain)

    def __reduce__(self) -> Any:
        return _restore, (raw(self),)

    def __copy__(self) -> Tensor:
        return self

    def __deepcopy__(self, memo: Any) -> Tensor:
        return wrap(raw(self).copy())  # type: ignore[no-any-return, unused-ignore]


_OPERATORS = {
    np.add: "add",
    np.subtract: "subtract",
    np.multiply: "multiply",
    np.true_divide: "truediv",
    np.floor_divide: "floordiv",
    np.remainder: "floormod",
    np.power: "pow",
}


def convert_like(value: Any, like: Tensor) -> Any:
    """Return a NumPy scalar as a tensor of the dtype of another."""
    from .convert import convert

    return convert(value, None, like.dtype)


class Reference:
    """A hashable stand-in for a tensor, equal to another of the same object."""

    __slots__ = ("_tensor",)

    def __init__(self, tensor: Any) -> None:
        self._tensor = tensor

    def deref(self) -> Any:
        """Return the tensor."""
        return self._tensor

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Reference) and other._tensor is self._tensor

    def __hash__(self) -> int:
        return id(self._tensor)

    def __repr__(self) -> str:
        return f"<Reference wrapping {self._tensor!r}>"


def _plain(value: Any) -> Any:
    """Return `value` with tensors in it, however nested in lists and tuples, as arrays."""
    if type(value) is Tensor:
        return raw(value)
    if type(value) in (list, tuple):
        return type(value)(map(_plain, value))
    return value


def raw(value: Any) -> Any:
    """Return a tensor as the plain array it is; anything else as it is."""
    return value.view(np.ndarray) if type(value) is Tensor else value


def wrap(value: Any) -> Any:
    """Return an array, NumPy scalar, `bytes` or `str` as a tensor; the array is not copied."""
    if type(value) is np.ndarray:
        return value.view(Tensor)
    if isinstance(value, bytes | str):
        array = np.empty((), object)
        array[()] = value.encode() if isinstance(value, str) else value
        return array.view(Tensor)
    return np.asarray(value).view(Tensor)


def _restore(array: Any) -> Tensor:
    return array.view(Tensor)  # type: ignore[no-any-return]


def dtype_of(value: Any) -> DType:
    """Return the dtype of a tensor or symbol."""
    return value.dtype  # type: ignore[no-any-return]
