"""Between TensorFlow's values and headrace's: what functions and datasets hand over.

The engine knows plain arrays, `bytes`, `headrace.SparseTensor` and `headrace.RaggedTensor`; users
of this package see `tf.Tensor`, `tf.SparseTensor` and `tf.RaggedTensor`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import spec as own_spec
from .. import tensors as own
from ..checks import holds_datasets
from ..dataset import Dataset
from ..nest import is_structure, items, map_structure, rebuild
from ..optional import Optional
from .convert import convert, is_dense
from .tensor import Tensor, raw, wrap

__all__ = [
    "component",
    "from_own",
    "from_own_nest",
    "over",
    "returned",
    "source",
    "spec_of",
    "to_own",
]


def component(leaf: Any) -> Any:
    """Return a leaf of an element as a tensor, by TensorFlow's rules.

    Raises
    ------
    ValueError, TypeError
        It is no tensor.
    """
    if is_dense(leaf) or getattr(leaf, "_is_composite", False) or isinstance(leaf, Dataset):
        return leaf
    if isinstance(leaf, own.SparseTensor | own.RaggedTensor):
        return from_own(leaf)
    if getattr(type(leaf), "_is_component", False):  # optionals and the like
        return leaf
    if holds_datasets(leaf):
        return leaf
    kind = type(leaf)
    if getattr(kind, "_is_leaf", False) and hasattr(kind, "to_tensor"):  # values of TensorFlow 1
        return leaf.to_tensor()
    return convert(leaf)


def returned(result: Any) -> Any:
    """Return what a function gave as a structure: a list is a tuple, lists in it are tensors."""
    return tuple(result) if type(result) is list else result


def source(value: Any) -> Any:
    """Return a nest given as data as the engine takes it."""
    if is_structure(value):
        return rebuild(value, [source(child) for _, child in items(value)])
    return to_own(component(value))


def to_own(value: Any) -> Any:
    """Return a tensor as the engine takes it."""
    if type(value) is Tensor:
        array = raw(value)
        if array.ndim == 0 and array.dtype == object:
            return array.item()
        return array
    if type(value) is list and holds_datasets(value):
        return [to_own(item) for item in value]
    if getattr(type(value), "_is_component", False):
        return value._to_own()
    if not getattr(value, "_is_composite", False):
        return value
    found = value._to_own()
    if found is not value:
        return found
    return value._symbol if value._symbol is not None else _stand_in(value)


def _stand_in(value: Any) -> Any:
    """Return a symbol for a sparse or ragged value that was made of symbols."""
    from .convert import tracer_now

    return tracer_now().packed(value)


def from_own(value: Any) -> Any:
    """Return what the engine hands out as a tensor; the array is not copied."""
    kind = type(value)
    if kind is np.ndarray:
        return _array(value)
    if is_dense(value):
        return value
    if isinstance(value, np.ndarray):
        return _array(np.asarray(value))
    if isinstance(value, np.generic | bytes | str | bool | int | float | complex):
        return wrap(value)
    if isinstance(value, own.SparseTensor):
        from .sparse_tensor import SparseTensor

        return SparseTensor.of_own(value)
    if isinstance(value, own.RaggedTensor):
        from .ragged_tensor import RaggedTensor

        return RaggedTensor.of_own(value)
    if isinstance(value, Dataset):
        from .data.dataset import adopt

        return adopt(value)
    if isinstance(value, Optional):
        from .data.optional import from_own as optional

        return optional(value)
    if hasattr(kind, "_from_own"):
        return value._from_own()
    return value


def _array(array: Any) -> Any:
    """Text becomes bytes, a batch of datasets an object array; everything else is a view."""
    if array.dtype == object and array.size and isinstance(array.flat[0], Dataset):
        adopted = np.empty(array.size, object)
        for place, item in enumerate(array.flat):
            adopted[place] = from_own(item)  # one by one: NumPy would look into datasets
        return adopted.reshape(array.shape)
    if array.dtype == object and array.size and any(type(item) is str for item in array.flat):
        return convert(array)
    return wrap(array)


def over(function: Any) -> Any:
    r"""Return a function of headrace's ops that takes and gives tensors.

    Arguments that are tensors, or lists of text, become what headrace takes; results become
    tensors, symbols stay what they are.

    Examples
    --------
    >>> over(hr.io.decode_raw)(tf.constant(b"\x01\x02"), np.uint8).numpy()
    array([1, 2], dtype=uint8)
    """
    import functools

    @functools.wraps(function)
    def called(*args: Any, **kwargs: Any) -> Any:
        given = [to_own(arg) for arg in args]
        named = {key: to_own(value) for key, value in kwargs.items()}
        return from_own_nest(function(*given, **named))

    return called


def from_own_nest(element: Any) -> Any:
    """Return an element of the engine with tensors as its leaves."""
    if isinstance(element, np.generic | bytes):
        return wrap(element)
    if type(element) is tuple:
        return tuple(map(from_own_nest, element))
    return map_structure(from_own, element)


def spec_of(value: Any) -> Any:
    """Return headrace's spec of a tensor, symbol, sparse or ragged value."""
    found = getattr(value, "_own_spec", None)
    if found is not None:
        return found()
    if type(value) is Tensor:
        return own_spec.spec_of(to_own(value))
    return getattr(value, "_spec", None) or own_spec.spec_of(value)
