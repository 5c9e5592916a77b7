"""Elements and their specs."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from ..errors import InvalidArgumentError
from ..nest import flatten, map_structure, same_structure
from ..spec import (
    TensorSpec,
    UnknownSpec,
    as_shape,
    object_dtype,
)
from ..standin import is_symbol, joined
from ..tensors import RaggedTensor, SparseTensor


def unbatched(element_spec: Any) -> None:
    """Check that elements can be split along axis 0, as far as they are known."""
    if isinstance(element_spec, UnknownSpec):
        return
    shapes = [getattr(spec, "shape", None) for spec in flatten(element_spec)]
    if () in shapes:
        raise ValueError("Cannot unbatch an input with scalar components.")
    sizes = [shape[0] for shape in shapes if shape is not None and shape[0] is not None]
    for size in sizes:
        if size != sizes[0]:
            raise ValueError(
                "`unbatch()` is only supported for datasets of elements whose components have a "
                f"matching leading dimension. Encountered both {sizes[0]} and {size}."
            )


def batched(element_spec: Any) -> None:
    """Check that elements can be taken for batches of one size, as far as they are known."""
    if isinstance(element_spec, UnknownSpec):
        return
    shapes = [getattr(spec, "shape", None) for spec in flatten(element_spec)]
    if () in shapes:
        raise ValueError(
            "Invalid `batch_sizes`. Expected dataset with rank of >= 1 but found a dataset with "
            "scalar elements. Fix the issue by adding the `batch` transformation to the dataset."
        )
    sizes = [shape[0] for shape in shapes if shape is not None and shape[0] is not None]
    if len(set(sizes)) > 1:
        raise ValueError(
            f"Invalid `input_dataset.` The batch dimension of component 0 is {sizes[0]}, while the "
            f"batch dimensions of all are {sizes}."
        )


def tensor(value: Any) -> Any:
    """Return a leaf given as data: an array, text, a sparse or ragged value, an opaque object.

    A list is one tensor by NumPy's rules; lists of text become object arrays, which keep every
    byte.

    Raises
    ------
    InvalidArgumentError
        Text and numbers are mixed in one list.
    """
    value = joined(value)
    if is_symbol(value):
        return value
    if isinstance(value, np.ndarray | np.generic | bytes | str | SparseTensor | RaggedTensor):
        return value
    from ..dataset import Dataset

    # NumPy would take a dataset for a sequence.
    if isinstance(value, Dataset) or holds_datasets(value):
        return value
    array = np.asarray(value)
    if array.dtype.kind in "SU":
        array = np.asarray(value, dtype=object)
        try:
            object_dtype(array)
        except TypeError as error:
            raise InvalidArgumentError(f"{error}; got {_short(value)}") from None
    if array.dtype.kind == "O" and array.ndim == 0:
        return value
    return array


def holds_datasets(value: Any) -> bool:
    """Tell whether the first leaf of nested lists, or of an object array, is a dataset."""
    from ..dataset import Dataset

    while type(value) is list and value:
        value = value[0]
    if type(value) is np.ndarray and value.dtype == object and value.size:
        value = value.flat[0]
    return isinstance(value, Dataset)


def state(value: Any) -> Any:
    """Return the initial state of `scan` or `reduce` as a nest of arrays and scalars."""
    return map_structure(lambda leaf: _scalar(tensor(leaf)), value)


def zeros(spec: Any) -> Any:
    """Return an array of zeros, or of empty text, that looks as `spec` says."""
    shape = getattr(spec, "shape", None)
    if not isinstance(spec, TensorSpec) or shape is None or None in shape:
        raise ValueError(f"Cannot make zeros of {spec!r}: its shape must be known.")
    if isinstance(spec.dtype, type):
        return np.full(shape, spec.dtype(), dtype=object) if shape else spec.dtype()
    return np.zeros(shape, spec.dtype)[()]


def _scalar(leaf: Any) -> Any:
    return leaf[()] if isinstance(leaf, np.ndarray) and leaf.ndim == 0 else leaf


def comparable(element_spec: Any) -> None:
    """Check that `unique` can compare elements, as far as they are known."""
    if isinstance(element_spec, UnknownSpec):
        return
    specs = flatten(element_spec)
    if len(specs) != 1:
        raise InvalidArgumentError(
            f"unique supports elements with a single component only, got {element_spec!r}"
        )
    dtype = getattr(specs[0], "dtype", None)
    if not isinstance(specs[0], TensorSpec) or dtype not in (np.int32, np.int64, bytes, str):
        name = getattr(specs[0], "dtype_name", "object")
        raise TypeError(
            f"`Dataset.unique` does not support type {name} -- only int32, int64, bytes and str "
            f"are supported, in dense components; got {specs[0]!r}"
        )


def single_dense(op: str, element_spec: Any) -> None:
    """Check that elements are one dense component, as far as they are known."""
    if isinstance(element_spec, UnknownSpec):
        return
    specs = flatten(element_spec)
    if len(specs) != 1 or not isinstance(specs[0], TensorSpec):
        raise TypeError(
            f"`{op}` requires an input dataset whose elements have a single dense component, but "
            f"the given dataset has {element_spec!r}"
        )


def row_shape(value: Any) -> tuple[int | None, ...]:
    """Return the row shape of `sparse_batch`."""
    for dim in value if isinstance(value, Iterable) else ():
        if isinstance(dim, int | np.integer) and dim < -1:
            raise ValueError(f"Dimension {dim} must be >= 0")
    shape = as_shape(value)
    if shape is None:
        raise InvalidArgumentError("`row_shape` must have a known rank")
    return shape


def columns(elements: Any) -> Any:
    """Return the nest of lists whose slices are the elements of a list."""
    if not isinstance(elements, list):
        raise ValueError("Invalid `elements`. `elements` must be a list.")
    if not elements:
        raise ValueError("Invalid `elements`. `elements` should not be empty.")
    first = elements[0]
    if not all(same_structure(first, element) for element in elements):
        raise ValueError("Invalid `elements`. All elements must be nested alike.")
    lists = map(list, zip(*map(flatten, elements), strict=True))
    return map_structure(lambda _: next(lists), first)


def sliceable(components: Any) -> Any:
    """Check that the components of `from_tensor_slices` have one size along axis 0."""
    from ..nest import paths as leaf_paths

    first: tuple[str, int] | None = None
    shape: tuple[int, ...]
    for path, leaf in leaf_paths(components, "tensors"):
        if isinstance(leaf, RaggedTensor | list):  # a list of datasets
            shape = (len(leaf),)
        else:
            shape = getattr(leaf, "shape", ())
        if len(shape) == 0:
            raise InvalidArgumentError(
                "Unbatching a tensor is only supported for rank >= 1: "
                f"{path} is {_short(leaf)}; use from_tensors for one element"
            )
        if first is not None and first[1] != shape[0]:
            raise InvalidArgumentError(
                f"Dimensions {first[1]} and {shape[0]} are not compatible: {first[0]} has "
                f"{first[1]} rows, {path} has {shape[0]}"
            )
        first = first or (path, shape[0])
    if first is None:
        raise InvalidArgumentError("`tensors` has no components to slice")
    return components


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 60 else text[:57] + "..."
