"""What a dataset is made of: a step of a plan, with its inputs and arguments."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, Generic, TypeVar

from .. import _headrace, standin
from ..nest import flatten, map_structure
from ..options import Options
from ..recipe import pack_arrays, unpack_arrays

if TYPE_CHECKING:
    from . import Dataset

__all__ = [
    "CLASSES", "A", "B", "C", "R", "Step", "T_co", "class_name", "dataset_of_plan", "make_step",
]  # fmt: skip

T_co = TypeVar("T_co", covariant=True)
R = TypeVar("R")
A = TypeVar("A")
B = TypeVar("B")
C = TypeVar("C")

_STRIDE = 32

# The classes of ops that have one of their own.
CLASSES: dict[str, type[Dataset[Any]]] = {}


class Step(Generic[T_co]):
    """A step and all before it, as the methods of a dataset see themselves."""

    __slots__ = ("__weakref__", "_args", "_depth", "_inputs", "_op", "_options", "_plan")

    # Subclasses with rules of their own for functions and results say so here.
    _family: ClassVar[type[Dataset[Any]] | None] = None
    _is_leaf = True
    _plan: _headrace.Plan
    _op: str
    _inputs: Any  # a nest of datasets
    _depth: int  # steps on the longest way to a source
    _args: dict[str, Any]
    _options: Options | None

    def _derive(self, op: str, **args: Any) -> Dataset[Any]:
        return make_step(op, (self,), **args)

    @classmethod
    def _adapted(cls, op: str, inputs: Any, args: dict[str, Any]) -> dict[str, Any]:
        """Return the arguments of a step as this family of datasets has them."""
        return args

    @classmethod
    def _class_of(cls, op: str) -> type[Dataset[Any]]:
        """Return the class of the result of a step."""
        return CLASSES.get(op, cls)  # type: ignore[arg-type]

    def __reduce__(self) -> tuple[Any, ...]:
        if self._op == "nested":
            raise TypeError("a dataset that is part of an element does not pickle")
        drawing = _drawing(self)
        seeds = None if drawing is None else drawing.seeds()
        args = pack_arrays(self._args)
        return _restore, (self._stones(), self._op, self._inputs, args, seeds)

    def _stones(self) -> tuple[Step[Any], ...]:
        """Return the steps below this one that are to be pickled before it, the deepest first.

        Pickling goes down to what it has not met, and plans may be deeper than Python's stack. Once
        every 32nd step has been met, it need not go deeper than that.
        """
        if self._depth % _STRIDE:
            return ()
        stones: list[Step[Any]] = []
        pending: list[Step[Any]] = [*flatten(self._inputs)]
        seen: set[int] = set()
        while pending:
            step = pending.pop()
            if step._depth >= _STRIDE and id(step) not in seen:
                seen.add(id(step))
                stones += [] if step._depth % _STRIDE else [step]
                pending += flatten(step._inputs)
        return tuple(sorted(stones, key=lambda step: step._depth))


def make_step(op: str, inputs: Any, **args: Any) -> Dataset[Any]:
    """Make a dataset of one more step. `inputs` is a nest of datasets, plain for most ops."""
    from . import Dataset

    family = next((d._family for d in flatten(inputs) if d._family is not None), Dataset)
    args = family._adapted(op, inputs, args)
    plans = map_structure(lambda dataset: dataset._plan, inputs)
    if op == "with_options":
        plan = plans[0]
    elif op == "zip":
        plan = _headrace.zip(plans)
    elif op in ("choose_from_datasets", "sample_from_datasets"):
        plan = getattr(_headrace, op)(list(plans[0]), plans[1], **args)
    else:
        plan = getattr(_headrace, op)(*plans, **args)
    if any(map(standin.is_symbolic, args.values())):
        plan = _headrace.placeholder(standin.of_plan(plan, args))
    dataset: Dataset[Any] = object.__new__(family._class_of(op))
    dataset._plan = plan
    dataset._op = op
    dataset._inputs = inputs
    dataset._depth = 1 + max((step._depth for step in flatten(inputs)), default=0)
    dataset._args = args
    dataset._options = args.get("options")
    return dataset


def dataset_of_plan(plan: _headrace.Plan) -> Dataset[Any]:
    """Return a plan that is a component of an element as a dataset."""
    from . import Dataset

    dataset: Dataset[Any] = object.__new__(Dataset)
    dataset._plan = plan
    dataset._op = "nested"
    dataset._inputs = ()
    dataset._depth = 1
    dataset._args = {}
    dataset._options = None
    return dataset


def _restore(
    _stones: tuple[Step[Any], ...],
    op: str,
    inputs: Any,
    args: dict[str, Any],
    seeds: tuple[int, int, int] | None,
) -> Dataset[Any]:
    args = unpack_arrays(args)
    if seeds is None:
        return make_step(op, inputs, **args)
    dataset = make_step(op, inputs, **(args | {"seeds": seeds[:2]}))
    drawing = _drawing(dataset)
    if drawing is not None:
        drawing.advance_seeds(seeds[2])
    return dataset


def _drawing(dataset: Step[Any]) -> _headrace.Plan | None:
    """Return the node of a dataset's own step that draws seeds."""
    match dataset._op:
        case "random" | "shuffle":
            return dataset._plan
        case "sample_from_datasets":
            return dataset._plan.inputs[0]
        case "rejection_resample":
            if dataset._plan.name == "reject":
                return dataset._plan
            # Where nothing is to be rejected, nothing is drawn.
            return dataset._plan.inputs[0] if dataset._plan.name == dataset._op else None
    return None


_CLASS_NAMES = {
    "from_tensors": "TensorDataset",
    "from_tensor_slices": "TensorSliceDataset",
    "from_generator": "GeneratorDataset",
    "fixed_length_record": "FixedLengthRecordDataset",
    "text_line": "TextLineDataset",
    "tfrecord": "TFRecordDataset",
    "with_options": "OptionsDataset",
}


def class_name(op: str) -> str:
    """Return what the class of a step would be called, as tf.data calls it."""
    return _CLASS_NAMES.get(op) or "".join(part.title() for part in op.split("_")) + "Dataset"
