"""A plan as text: what `Dataset.explain` prints.

One line per step, the last step on top, its inputs below. Functions say how they run: as a graph,
which is printed, or as Python, with the reason. Nothing is run; functions are traced anew, as an
iterator would.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from .checks import INFINITE_CARDINALITY, UNKNOWN_CARDINALITY
from .dtypes import dtype_name
from .errors import InvalidArgumentError
from .function import Function
from .generator import Source
from .nest import flatten, is_structure, map_structure
from .spec import (
    DatasetSpec,
    ObjectSpec,
    OptionalSpec,
    RaggedTensorSpec,
    Shape,
    SparseTensorSpec,
    TensorSpec,
    UnknownSpec,
)
from .tensors import RaggedTensor, SparseTensor

if TYPE_CHECKING:
    from .dataset import Dataset

__all__ = ["explain"]

# Arguments at these values say nothing new.
_DEFAULTS: dict[str, tuple[Any, ...]] = {
    "start": (0,),
    "step": (1,),
    "dtype": ("int64",),
    "reshuffle": (True,),
    "drop_remainder": (False,),
}


def explain(dataset: Dataset[Any], rewritten: bool = False) -> str:
    """Return the plan of `dataset` as text: as it was built, or as it runs."""
    options = dataset._merged_options().to_json()
    if rewritten:
        return dataset._plan.explain(options).rstrip()
    return "\n".join(_lines(dataset, dataset._plan.rewrites(options)))


def _vanishes(dataset: Dataset[Any]) -> bool:
    """Tell whether a step changes nothing, so that it opens as its input."""
    count = dataset._args.get("count", dataset._args.get("buffer_size"))
    match dataset._op:
        case "repeat":
            return bool(count == 1)
        case "skip" | "prefetch":
            return bool(count == 0)
        case "take":
            return count is not None and bool(count < 0)
        case "shard":
            return bool(dataset._args["num_shards"] == 1)
    return False


# Steps that skip elements by skipping those of their input, and call no function for them.
_BATCHES = ("batch", "padded_batch")
_SKIPS_THROUGH = {
    *_BATCHES,
    "enumerate",
    "map",
    "prefetch",
    "shard",
    "skip",
    "take",
    "with_options",
}


# The steps that a skip passes through from a step on, and where it ends, by the step.
_Ways = dict[int, tuple[dict[str, None], str]]


def _reach(dataset: Dataset[Any], ways: _Ways) -> list[str]:
    """Tell how far down a step reaches that leaves elements out."""
    (below,) = flatten(dataset._inputs)
    passed = []
    while below._op in _SKIPS_THROUGH and id(below) not in ways:
        passed.append(below)
        (below,) = flatten(below._inputs)
    ops, end = ways.get(id(below), ({}, below._op))
    for step in reversed(passed):
        ops = {step._op: None, **ops}
        ways[id(step)] = ops, end
    through = [op for op in ops if op != "with_options"]
    if not through:
        return []
    way = f"through {', '.join(through)} down to {end}"
    if dataset._op == "take":
        return [f"asks {way} for no more than it takes"]
    return [f"skips {way}, which make no element for it"]


def _lines(root: Dataset[Any], rewrites: Sequence[str]) -> list[str]:
    lines: list[str] = []
    ways: _Ways = {}
    # What stands before the line of each step, and before those below it; plans may be deeper than
    # Python's stack.
    pending = [(root, "", "")]
    while pending:
        dataset, head, tail = pending.pop()
        details = [*rewrites, *_details(dataset, ways)]
        rewrites = ()
        inputs = flatten(dataset._inputs)
        lines.append(f"{head}{_title(dataset)}")
        bar = "│  " if inputs else "   "
        lines += [f"{tail}{bar}{line}" for line in details]
        children = [(child, f"{tail}├─ ", f"{tail}│  ") for child in inputs[:-1]]
        children += [(child, f"{tail}└─ ", f"{tail}   ") for child in inputs[-1:]]
        pending += reversed(children)
    return lines


def _details(dataset: Dataset[Any], ways: _Ways) -> list[str]:
    details = _functions(dataset)
    if _vanishes(dataset):
        details.append("changes nothing, so it is left out")
    elif dataset._op in ("skip", "shard", "take"):
        details += _reach(dataset, ways)
    elif dataset._op == "batch":
        details += dataset._plan.notes
    return details


def _title(dataset: Dataset[Any]) -> str:
    args = ", ".join(
        f"{name}={_value(value)}"
        for name, value in dataset._args.items()
        if value is not None and value not in _default(name, value)
    )
    spec = _spec(dataset._plan.element_spec)
    return f"{dataset._op}({args}): {spec}, {_count(dataset._plan.cardinality)}"


def _default(name: str, value: Any) -> tuple[Any, ...]:
    return _DEFAULTS.get(name, ()) if isinstance(value, bool | int | str) else ()


def _count(cardinality: int) -> str:
    if cardinality == INFINITE_CARDINALITY:
        return "without end"
    if cardinality == UNKNOWN_CARDINALITY:
        return "unknown number of elements"
    return f"{cardinality:,} element{'' if cardinality == 1 else 's'}"


def _value(value: Any) -> str:
    if isinstance(value, Function | Source):
        return value.name
    if isinstance(value, np.ndarray | SparseTensor | RaggedTensor):
        return f"{dtype_name(value.dtype)}{list(value.shape)}"
    if is_structure(value) and value is not None:
        return repr(map_structure(lambda leaf: _Raw(_value(leaf)), value))
    text = repr(value)
    return text if len(text) <= 60 else text[:57] + "..."


class _Raw:
    """Prints as the text it holds."""

    def __init__(self, text: str) -> None:
        self.text = text

    def __repr__(self) -> str:
        return self.text


def _spec(spec: Any) -> str:
    if isinstance(spec, UnknownSpec):
        return "elements known in a run only"
    return (
        repr(map_structure(lambda leaf: _Raw(_leaf(leaf)), spec))
        if is_structure(spec)
        else _leaf(spec)
    )


def _leaf(spec: Any) -> str:
    if isinstance(spec, ObjectSpec):
        return "object"
    if isinstance(spec, DatasetSpec):
        inner = _spec(spec.element_spec)
        return (
            f"dataset of {inner}"
            if spec.shape == ()
            else f"datasets {_shape(spec.shape)} of {inner}"
        )
    if isinstance(spec, OptionalSpec):
        return f"optional {_spec(spec.element_spec)}"
    kind = {SparseTensorSpec: "sparse ", RaggedTensorSpec: "ragged "}.get(type(spec), "")
    if not isinstance(spec, TensorSpec | SparseTensorSpec | RaggedTensorSpec):
        return repr(spec)
    return f"{kind}{spec.dtype_name} {_shape(spec.shape)}"


def _shape(shape: Shape) -> str:
    if shape is None:
        return "of unknown rank"
    return "(" + ", ".join("?" if dim is None else str(dim) for dim in shape) + ")"


def _functions(dataset: Dataset[Any]) -> list[str]:
    """Tell how each function of a step runs."""
    lines = []
    for function in dataset._args.values():
        if not isinstance(function, Function):
            continue
        (source,) = flatten(dataset._inputs)
        try:
            prepared = function.prepare(function.arguments(source._plan.element_spec))
        except (InvalidArgumentError, TypeError) as error:
            prepared = str(error), None
        if isinstance(prepared, tuple):
            lines.append(f"runs as Python: {prepared[0]}")
        else:
            lines.append("runs as a graph, without the GIL:")
            lines += [f"  {line}" for line in str(prepared).splitlines()]
    return lines
