"""Several datasets at once, and by which chances they are mixed."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from ..errors import InvalidArgumentError
from ..nest import flatten, same_structure
from ..spec import (
    TensorSpec,
    UnknownSpec,
)


def zip_inputs(args: tuple[Any, ...], datasets: Any) -> Any:
    """Return the nest of datasets that `zip` was given."""
    if not args and datasets is None:
        raise TypeError("Must pass at least one dataset to `zip`.")
    if args and datasets is not None:
        raise TypeError("Both `*args` and `datasets` cannot be set.")
    nest = datasets if datasets is not None else args[0] if len(args) == 1 else args
    from ..dataset import Dataset

    for leaf in flatten(nest):
        if isinstance(leaf, list):
            raise TypeError(
                f"Invalid input to `zip`. Inputs are expected to be (nested) structures of "
                f"`Dataset` objects. Python `list` is not supported and you should use `tuple` "
                f"instead. Got {leaf!r}."
            )
        if not isinstance(leaf, Dataset):
            raise TypeError(
                "Invalid input to `zip`. Inputs are expected to be (nested) structures of "
                f"`Dataset` objects. Got {leaf!r} ({type(leaf).__name__})."
            )
    return nest


def alike(first: Any, second: Any) -> bool:
    """Tell whether two element specs are equal up to shapes, as far as they are known."""
    if isinstance(first, UnknownSpec) or isinstance(second, UnknownSpec):
        return True
    return same_structure(first, second) and all(
        type(a) is type(b) and getattr(a, "dtype", None) == getattr(b, "dtype", None)
        for a, b in zip(flatten(first), flatten(second), strict=True)
    )


def same_elements(first: Any, second: Any) -> None:
    """Check that `concatenate` joins datasets of one structure and the same dtypes."""
    if not alike(first, second):
        raise TypeError(
            f"Incompatible dataset elements: the first dataset has {first!r}, the one to append "
            f"{second!r}; structure and dtypes must be equal"
        )


def mixed(datasets: Any) -> tuple[Any, ...]:
    """Return the datasets of a mix, which must be alike up to shapes."""
    from ..dataset import Dataset

    if isinstance(datasets, Dataset) or not isinstance(datasets, Iterable):
        raise TypeError(f"Invalid `datasets`. Expected a list of datasets, got {datasets!r}.")
    sources = tuple(datasets)
    if not sources:
        raise ValueError("Invalid `datasets`. `datasets` should not be empty.")
    for source in sources:
        if not isinstance(source, Dataset):
            raise TypeError(
                f"Invalid `datasets`. Expected datasets, got {source!r} ({type(source).__name__})."
            )
    first = sources[0]._plan.element_spec
    for number, source in enumerate(sources[1:], 1):
        if not alike(first, source._plan.element_spec):
            raise TypeError(
                "Invalid `datasets`. `datasets` must have compatible element specs.\n"
                f"Dataset 0 element_spec={first!r}.\n"
                f"Dataset {number} element_spec={source._plan.element_spec!r}."
            )
    return sources


def choices(dataset: Any) -> Any:
    """Return the dataset of choices, whose elements are int64 scalars."""
    from ..dataset import Dataset

    if not isinstance(dataset, Dataset):
        raise TypeError(
            "Invalid `choice_dataset`. `choice_dataset` should be a headrace.Dataset but is "
            f"{type(dataset)}."
        )
    spec = dataset._plan.element_spec
    if not isinstance(spec, UnknownSpec) and not TensorSpec((), np.int64).is_compatible_with(spec):
        raise TypeError(
            "Invalid `choice_dataset`. Elements of `choice_dataset` must be scalar int64 tensors "
            f"but are {spec!r}."
        )
    return dataset


def weights(values: Any, count: int) -> np.ndarray[Any, Any]:
    """Return the weights of `count` datasets as an array of float32 or float64.

    Python floats are float32, as in tf.data, so that the same numbers are drawn.
    """
    if not isinstance(values, np.ndarray):
        values = list(values)
    if len(values) != count:
        raise ValueError(
            "Invalid `weights`. `weights` should have the same length as `datasets` but got "
            f"`len(weights)={len(values)}` vs. `len(datasets)={count}`."
        )
    array = np.asarray(values)
    if array.dtype == np.float64 and not any(isinstance(v, np.float64) for v in values):
        array = array.astype(np.float32)
    if array.dtype not in (np.float32, np.float64):
        raise TypeError(
            "Invalid `weights`. `weights` type must be either float32 or float64 but is "
            f"{array.dtype}; write 1.0, not 1."
        )
    if array.ndim != 1:
        raise ValueError(
            "Invalid `weights`. Expected one number for each dataset, got an array of shape "
            f"{array.shape}."
        )
    return array


def distribution(name: str, value: Any, classes: int | None = None) -> list[float]:
    """Return a distribution over `classes` classes as floats."""
    try:
        array = np.asarray(value, np.float64)
    except (TypeError, ValueError):
        raise TypeError(f"`{name}` must be a vector of numbers, got {value!r}") from None
    if array.ndim != 1 or array.size == 0:
        raise ValueError(f"`{name}` must have one number a class, got shape {array.shape}")
    if classes is not None and array.size != classes:
        raise InvalidArgumentError(
            f"`{name}` has {array.size} classes, `target_dist` has {classes}; they must be the same"
        )
    return [float(number) for number in array]
