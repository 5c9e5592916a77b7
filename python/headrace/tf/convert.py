"""Values of user code as tensors, by TensorFlow's rules; `constant` and `convert_to_tensor`.

Python's ints become int32 (int64 where they do not fit), floats float32, text UTF-8 bytes; arrays
keep their dtype. In a list the first value decides, and ints give way to floats.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..ops import tracing
from ..symbol import Symbol
from .dtypes import DType, as_dtype, of_array, string
from .dtypes import bool as bool_
from .kernels import DTypeError
from .shapes import TensorShape
from .tensor import Tensor, raw, wrap

__all__ = ["constant", "convert", "convert_to_tensor", "is_tensor"]

_INT32 = (-(2**31), 2**31 - 1)
_MIXED = "Can't convert Python sequence with mixed types to Tensor."


def is_symbol(value: Any) -> bool:
    """Tell whether `value` is the stand-in of a traced function."""
    return issubclass(type(value), Symbol)


def is_dense(value: Any) -> bool:
    """Tell whether `value` is a tensor or a stand-in for one."""
    return type(value) is Tensor or is_symbol(value)


def is_tensor(x: Any) -> bool:
    """Tell whether `x` is a tensor, dense, sparse or ragged; mirrors ``tf.is_tensor``.

    Examples
    --------
    >>> tf.is_tensor(tf.constant(1)), tf.is_tensor(1)
    (True, False)
    """
    return is_dense(x) or getattr(type(x), "_is_tensor", False)


def convert_to_tensor(
    value: Any, dtype: Any = None, dtype_hint: Any = None, name: str | None = None
) -> Any:
    """Return a value as a tensor; mirrors ``tf.convert_to_tensor``.

    Parameters
    ----------
    value
        A number, text, array, tensor, or nested lists of them.
    dtype
        The type it must have; numbers and arrays are converted, tensors are not.
    dtype_hint
        The type it gets if it can.
    name
        Accepted for TensorFlow's sake.

    Raises
    ------
    ValueError
        It is no tensor, or a tensor of another dtype.
    TypeError
        Numbers or text that `dtype` cannot hold.

    Examples
    --------
    >>> tf.convert_to_tensor([1, 2.5])
    <tf.Tensor: shape=(2,), dtype=float32, numpy=array([1. , 2.5], dtype=float32)>
    """
    return convert(value, dtype, dtype_hint)


def constant(value: Any, dtype: Any = None, shape: Any = None, name: str = "Const") -> Any:
    """Return a tensor of a value; mirrors ``tf.constant``.

    Parameters
    ----------
    value
        A number, text, array, or nested lists of them.
    dtype
        The type it must have.
    shape
        The shape it is brought to; one value fills it.
    name
        Accepted for TensorFlow's sake.

    Raises
    ------
    ValueError, TypeError
        See `convert_to_tensor`.

    Examples
    --------
    >>> tf.constant([1, 2, 3, 4], shape=[2, 2]).numpy()
    array([[1, 2],
           [3, 4]], dtype=int32)
    """
    if is_dense(value) and dtype is not None and value.dtype != as_dtype(dtype):
        raise TypeError(
            f"Expected tensor {value} with dtype {as_dtype(dtype)!r}, but got dtype "
            f"{value.dtype!r}."
        )
    made = convert(value, dtype)
    if shape is None:
        return made
    sizes = TensorShape(shape)
    array = raw(made)
    if sizes.num_elements() == array.size:
        return wrap(array.reshape(tuple(sizes)))
    if array.size != 1:
        raise TypeError(
            f"Eager execution of tf.constant with unsupported shape. Tensor {made} (converted from "
            f"{value}) has {array.size} elements, but got `shape` {sizes} with "
            f"{sizes.num_elements()} elements)."
        )
    return wrap(np.full(tuple(sizes), array.reshape(-1)[0], array.dtype))


def convert(value: Any, dtype: Any = None, hint: Any = None) -> Any:
    """Return `value` as a `Tensor` or symbol; see `convert_to_tensor`."""
    wanted = None if dtype is None else as_dtype(dtype)
    kind = type(value)
    if kind is Tensor or issubclass(kind, Symbol):
        if wanted is not None and value.dtype != wanted:
            raise DTypeError(
                f"Tensor conversion requested dtype {wanted.name} for Tensor with dtype "
                f"{value.dtype.name}: {value!r}"
            )
        return value
    if wanted is None and hint is not None:
        try:
            return _plain(value, as_dtype(hint))
        except (TypeError, ValueError):
            return _plain(value, None)
    return _plain(value, wanted)


def _plain(value: Any, dtype: DType | None) -> Any:
    """Convert what is no dense tensor yet."""
    if isinstance(value, np.ndarray | np.generic):
        return _of_array(np.asarray(value), dtype)
    if isinstance(value, bool | int | float | complex | str | bytes):
        return _of_python(value, dtype)
    if isinstance(value, TensorShape):
        if not value.is_fully_defined():
            raise ValueError(f"Cannot convert a partially known TensorShape {value} to a Tensor.")
        return wrap(np.asarray(value.as_list(), np.int32 if dtype is None else dtype.dtype))
    if isinstance(value, list | tuple | range):
        return _of_sequence(value, dtype)
    as_tensor = getattr(value, "__tf_tensor__", None)
    if as_tensor is not None:
        return convert(as_tensor(), dtype)
    if hasattr(value, "__array__") and not isinstance(value, type):
        return _of_array(np.asarray(value), dtype)
    raise ValueError(
        f"Attempt to convert a value ({value!r}) with an unsupported type ({type(value)}) to a "
        "Tensor."
    )


def _of_array(array: Any, dtype: DType | None) -> Any:
    """Keep the dtype of an array, or cast it to the one wanted."""
    if array.dtype.kind in "OSU":
        if dtype is not None and dtype is not string:
            raise TypeError(f"Cannot convert {_short(array)} to EagerTensor of dtype {dtype.name}")
        return wrap(_as_bytes(array))
    own = of_array(array)
    if dtype is None or own is dtype:
        native = array if array.dtype.isnative else array.astype(array.dtype.newbyteorder("="))
        return wrap(native)
    if dtype is string:
        raise TypeError(f"Cannot convert {_short(array)} to EagerTensor of dtype {dtype.name}")
    return wrap(array.astype(dtype.dtype))


def _as_bytes(array: Any) -> Any:
    """Return an array of text as an object array of `bytes`."""
    flat = array.ravel().tolist()
    made = np.empty(len(flat), object)
    for k, item in enumerate(flat):
        if isinstance(item, str):
            item = item.encode()
        elif not isinstance(item, bytes):
            raise ValueError(
                "Failed to convert a NumPy array to a Tensor (Unsupported object type "
                f"{type(item).__name__})."
            )
        made[k] = item
    return made.reshape(array.shape)


def _kind(value: Any) -> str:
    """Say what a number or text is: b, i, f, c or s."""
    if isinstance(value, bool | np.bool_):
        return "b"
    if isinstance(value, int | np.integer):
        return "i"
    if isinstance(value, float | np.floating):
        return "f"
    return "c" if isinstance(value, complex | np.complexfloating) else "s"


def _fits(kind: str, dtype: DType) -> bool:
    """Tell whether a Python value of this kind may become `dtype`."""
    if kind == "s" or dtype is string:
        return kind == "s" and dtype is string
    if dtype is bool_:
        return kind == "b"
    if kind == "c":
        return bool(dtype.is_complex)
    return kind in "bi" or not dtype.is_integer


def _of_python(value: Any, dtype: DType | None) -> Any:
    kind = _kind(value)
    if dtype is not None and not _fits(kind, dtype):
        raise TypeError(f"Cannot convert {value!r} to EagerTensor of dtype {dtype.name}")
    if kind == "s":
        return wrap(value)
    return _numbers(np.asarray(value), kind, value, dtype)


def _numbers(array: Any, kind: str, value: Any, dtype: DType | None) -> Any:
    """Bring Python numbers, which NumPy made an array of, to TensorFlow's dtype."""
    if array.dtype == object:
        raise ValueError("Can't convert Python sequence with out-of-range integer to Tensor.")
    if dtype is not None:
        return wrap(array.astype(dtype.dtype))
    if kind == "f":
        with np.errstate(over="ignore"):
            single = array.astype(np.float32)
        if np.isinf(single).any() and not np.isinf(array).any():
            raise ValueError(
                "Can't convert Python sequence with a value out of range for a double-precision "
                "float."
            )
        return wrap(single)
    if kind == "i":
        low, high = _INT32
        large = array.size and (array.min() < low or array.max() > high)
        return wrap(array.astype(np.int64 if large else np.int32))
    return wrap(array.astype(np.complex128 if kind == "c" else np.bool_))


def _leaves(value: Any) -> Any:
    """Yield the numbers and texts of nested sequences, in order."""
    for item in value:
        if isinstance(item, list | tuple):
            yield from _leaves(item)
        elif isinstance(item, np.ndarray) and not is_symbol(item) and item.ndim:
            yield from item.ravel()
        else:
            yield item


def _holds_tensors(value: Any) -> bool:
    for item in value:
        if isinstance(item, list | tuple):
            if _holds_tensors(item):
                return True
        elif is_dense(item) or hasattr(item, "__tf_tensor__"):
            return True
        elif isinstance(item, int | float | str | bytes):
            return False  # lists of numbers are long; tensors come first in those that mix
    return False


def _of_sequence(value: Any, dtype: DType | None) -> Any:
    if type(value) is not range and (_holds_tensors(value) or _any_tensor(value)):
        return _packed(value, dtype)
    if dtype is None and type(value) is range:
        return _numbers(np.asarray(value), "i", value, None)
    first = next(iter(_leaves(value)), None)
    try:
        array = np.asarray(value)
    except UnicodeDecodeError:  # text and bytes that are not ASCII, mixed
        return _of_array(np.asarray(value, object), dtype)
    except ValueError:
        raise ValueError("Can't convert non-rectangular Python sequence to Tensor.") from None
    if first is None and array.size == 0:
        return wrap(array.astype(np.float32 if dtype is None else dtype.dtype))
    kinds = array.dtype.kind
    if kinds == "O":
        _refuse_objects(value, first)
    if kinds in "SU":
        if not all(isinstance(leaf, str | bytes) for leaf in _leaves(value)):
            raise ValueError(_MIXED)
        if dtype is not None and dtype is not string:
            raise TypeError(f"Cannot convert {_short(value)} to EagerTensor of dtype {dtype.name}")
        return wrap(_as_bytes(np.asarray(value, object)))
    kind = {"b": "b", "i": "i", "u": "i", "c": "c"}.get(kinds, "f")
    if dtype is not None:
        if not _fits(kind, dtype):
            raise TypeError(f"Cannot convert {_short(value)} to EagerTensor of dtype {dtype.name}")
        return wrap(array.astype(dtype.dtype))
    if _kind(first) == "b" and kind != "b":
        raise ValueError(_MIXED)
    if kind == "f" and isinstance(first, np.floating):
        return wrap(array.astype(first.dtype))
    return _numbers(array, kind, value, None)


def _any_tensor(value: Any) -> bool:
    """Look through a short sequence to its end."""
    return (
        isinstance(value, list | tuple)
        and len(value) <= 64
        and any(
            _any_tensor(item) if isinstance(item, list | tuple) else is_dense(item)
            for item in value
        )
    )


def _refuse_objects(value: Any, first: Any) -> None:
    leaves = list(_leaves(value))
    if all(isinstance(leaf, int | float) for leaf in leaves):
        raise ValueError("Can't convert Python sequence with out-of-range integer to Tensor.")
    if isinstance(first, int | float | str | bytes):
        raise ValueError(_MIXED)
    raise ValueError(
        f"Attempt to convert a value ({first!r}) with an unsupported type ({type(first)}) to a "
        "Tensor."
    )


def _packed(value: Any, dtype: DType | None) -> Any:
    """Stack a sequence in which there are tensors; they say the dtype."""
    from .joining import stack

    dtype = dtype or _first_tensor(value).dtype
    return stack([convert(item, dtype) for item in value])


def _first_tensor(value: Any) -> Any:
    """Return the first tensor in nested sequences, in which there is one."""
    for item in value:
        found = _first_tensor(item) if isinstance(item, list | tuple) else item
        if found is not None and (is_dense(found) or hasattr(found, "__tf_tensor__")):
            return found
    return None


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 80 else text[:77] + "..."


def tracer_now() -> Any:
    """Return the trace this thread is in, if any."""
    return tracing.tracer
