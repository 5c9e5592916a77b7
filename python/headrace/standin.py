"""Stand-ins for datasets, while a function that makes them is looked at.

A function that returns a dataset runs as Python, once per element. So that the plan knows what its
elements look like, it is called once with symbols when the plan is built. A dataset made of symbols
then cannot be a real one: it is a placeholder that has an element spec and nothing else.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from . import _headrace
from .nest import flatten, map_structure
from .ops import tracing
from .spec import (
    AnySpec,
    DatasetSpec,
    ObjectSpec,
    OptionalSpec,
    RaggedTensorSpec,
    TensorSpec,
    UnknownSpec,
    spec_of,
)

if TYPE_CHECKING:
    from .dataset import Dataset

__all__ = ["SymbolicInt", "element_in_trace", "has_symbols", "is_symbol", "is_symbolic", "stand_in"]


class SymbolicInt(int):
    """Takes the place of a symbol where a method needs a number."""


class SymbolicPaths(list[str]):
    """Takes the place of a symbol where a source needs paths."""


def is_symbol(value: Any) -> bool:
    """Tell whether `value` stands for one of a run."""
    return tracing.tracer is not None and getattr(type(value), "_tracer", None) is not None


def is_symbolic(value: Any) -> bool:
    """Tell whether `value` took the place of a symbol."""
    return type(value) in (SymbolicInt, SymbolicPaths)


def has_symbols(nest: Any) -> bool:
    """Tell whether a leaf of `nest` is a symbol."""
    return tracing.tracer is not None and any(map(is_symbol, flatten(nest)))


def joined(value: Any) -> Any:
    """Return a list that holds symbols as the one tensor it stands for."""
    if tracing.tracer is not None and type(value) is list and any(map(is_symbol, value)):
        return np.stack(value)
    return value


def stand_in(element_spec: Any) -> Dataset[Any]:
    """Return a dataset that has this element spec and cannot be run."""
    from .dataset import dataset_of_plan

    return dataset_of_plan(_headrace.placeholder(element_spec))


def element_in_trace(name: str, specs: Any) -> Any:
    """Return stand-ins for the one element of a dataset, where a trace has such; else None."""
    make = getattr(tracing.tracer, "stand_in", None)
    if make is None or any(isinstance(spec, ObjectSpec | UnknownSpec) for spec in flatten(specs)):
        return None
    return map_structure(lambda spec: make(name, spec), specs)


def of_values(values: Any) -> Any:
    """Return the specs of a nest of symbols and values."""
    return map_structure(lambda leaf: leaf._spec if is_symbol(leaf) else spec_of(leaf), values)


def of_slices(values: Any) -> Any:
    """Return the specs of the slices of a nest of symbols and values along axis 0."""
    return map_structure(_slice, of_values(values))


def _slice(spec: AnySpec) -> AnySpec:
    if isinstance(spec, OptionalSpec | ObjectSpec | UnknownSpec):
        return UnknownSpec()
    shape = None if spec.shape is None else spec.shape[1:]
    if isinstance(spec, DatasetSpec):
        return DatasetSpec(spec.element_spec, shape)
    if isinstance(spec, RaggedTensorSpec):
        if spec.ragged_rank == 1:
            return TensorSpec(shape, spec.dtype)
        return RaggedTensorSpec(shape, spec.dtype, spec.ragged_rank - 1, spec.row_splits_dtype)
    return type(spec)(shape, spec.dtype)


def of_plan(plan: _headrace.Plan, args: dict[str, Any]) -> Any:
    """Return the element spec of a plan that was made with numbers in place of symbols."""
    if not isinstance(args.get("batch_size"), SymbolicInt):
        return plan.element_spec

    def unsized(spec: Any) -> Any:
        shape = getattr(spec, "shape", None)
        if not shape:
            return spec
        dims = (None, *shape[1:])
        if isinstance(spec, RaggedTensorSpec):
            return RaggedTensorSpec(dims, spec.dtype, spec.ragged_rank, spec.row_splits_dtype)
        if isinstance(spec, DatasetSpec):
            return DatasetSpec(spec.element_spec, dims)
        return type(spec)(dims, spec.dtype)

    return map_structure(unsized, plan.element_spec)
