"""Shapes and values of padding, a component each."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..nest import flatten, is_structure, items
from ..spec import (
    RaggedTensorSpec,
    Shape,
    SparseTensorSpec,
    TensorSpec,
    UnknownSpec,
    as_shape,
)


def padded_shapes(element_spec: Any, shapes: Any) -> list[Shape] | None:
    """Return one padded shape per component; None for all: as wide as the batch needs.

    Raises
    ------
    ValueError
        A rank is unknown and no shapes are given, a shape does not fit its component, or the
        shapes are nested differently.
    TypeError
        A component is sparse or ragged, or a shape is not of integers.
    """
    if isinstance(element_spec, UnknownSpec):
        return None if shapes is None else [as_shape(leaf) for leaf in _shape_leaves(shapes)]
    specs = flatten(element_spec)
    for spec in specs:
        if isinstance(spec, SparseTensorSpec | RaggedTensorSpec):
            raise TypeError(
                "`padded_batch` is only supported for datasets that produce tensor elements but "
                f"the input dataset produces {spec!r}; convert it to a dense array first"
            )
    if shapes is None:
        for number, spec in enumerate(specs):
            if getattr(spec, "shape", ()) is None:
                raise ValueError(
                    "You must provide `padded_shapes` argument because component "
                    f"{number} has unknown rank."
                )
        return None
    found = [_padded_shape(leaf) for leaf in _along(element_spec, shapes, "padded_shapes")]
    for spec, shape in zip(specs, found, strict=True):
        own = spec.shape if isinstance(spec, TensorSpec) else None
        if own is None or shape is None:
            continue
        if len(own) != len(shape):
            raise ValueError(
                f"The padded shape {shape} is not compatible with the corresponding input "
                f"component shape {own}. The ranks differ."
            )
        if any(a is not None and b is not None and b < a for a, b in zip(own, shape, strict=True)):
            raise ValueError(
                f"The padded shape {shape} is not compatible with the corresponding input "
                f"component shape {own}. It is smaller."
            )
    return found


def each(name: str, value: Any, element_spec: Any) -> list[Any]:
    """Return one value per component: those of a nest like the elements, or the same for all.

    Raises
    ------
    ValueError
        The values are nested differently.
    """
    if is_structure(value):
        return _along(element_spec, value, name)
    return [value] * len(flatten(element_spec))


def _padded_shape(shape: Any) -> Shape:
    """Return a padded shape; a list or array of sizes is one of numbers along one axis."""
    if isinstance(shape, list | np.ndarray):
        given = [-1 if size is None else size for size in shape] if type(shape) is list else shape
        sizes = np.asarray(given)
        text = f"Padded shape {shape!r} must be a 1-D tensor of tf.int64 values, but its "
        if sizes.ndim > 1:
            raise ValueError(f"{text}shape was {sizes.shape}.")
        if sizes.size and sizes.dtype.kind not in "iu":
            raise TypeError(f"{text}element type was {sizes.dtype}.")
    return as_shape(shape)


def _shape_leaves(shapes: Any) -> list[Any]:
    """Guess which tuples are shapes where no element spec tells: those of sizes only."""
    if not is_structure(shapes) or shapes == ():
        return [shapes]
    children = [child for _, child in items(shapes)]
    if all(child is None or isinstance(child, int | np.integer) for child in children):
        return [shapes]
    return [leaf for child in children for leaf in _shape_leaves(child)]


def _along(spec: Any, value: Any, name: str) -> list[Any]:
    """Flatten `value` as far as `spec` is nested."""
    if not is_structure(spec):
        return [value]
    if spec is None:
        return []
    if value is None and name == "padding_values":  # the defaults for all that is below
        return [None for _ in flatten(spec)]
    children = items(spec)
    try:
        found = dict(items(value)) if is_structure(value) else None
    except (TypeError, ValueError):
        found = None
    if found is None or set(found) != {key for key, _ in children}:
        raise ValueError(f"`{name}` {value!r} must be nested as the elements: {spec!r}")
    return [leaf for key, child in children for leaf in _along(child, found[key], name)]


def padding_values(element_spec: Any, values: Any) -> list[Any] | None:
    """Return one padding value per component, of its dtype; None for the default.

    A Python number takes the dtype of its component where its kind allows; a NumPy value must have
    that dtype.

    Raises
    ------
    TypeError
        A value of another dtype.
    """
    if values is None:
        return None
    if isinstance(element_spec, UnknownSpec):
        return flatten(values)
    specs = flatten(element_spec)
    if is_structure(values):
        given = _along(element_spec, values, "padding_values")
    else:
        given = [values for _ in specs]
    from ..convert import to_dtype

    result = []
    for value, spec in zip(given, specs, strict=True):
        if value is None or not isinstance(spec, TensorSpec):
            zero = spec.dtype() if isinstance(spec.dtype, type) else spec.dtype.type(0)
            result.append(zero if value is None else value)
            continue
        seen = getattr(value, "dtype", None)
        try:
            if seen is not None and seen.kind not in "SUO" and seen != spec.dtype:
                raise TypeError
            result.append(to_dtype(value, spec.dtype))
        except (TypeError, OverflowError):
            raise TypeError(
                f"Invalid `padding_values`. `padding_values` value {value!r} of type "
                f"{seen or type(value).__name__} does not match type {spec.dtype_name} of the "
                "corresponding input component."
            ) from None
    return result
