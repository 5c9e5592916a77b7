"""Options: what holds for a whole pipeline.

Set fields, then give the object to `Dataset.with_options`. A field that is ``None`` says nothing:
the default, or what a dataset further up says, holds. Mirrors ``tf.data.Options``; names that older
releases of TensorFlow had are accepted too.
"""

from __future__ import annotations

import enum
from typing import Any, ClassVar

from .errors import InvalidArgumentError

__all__ = [
    "AutoShardPolicy",
    "AutotuneAlgorithm",
    "AutotuneOptions",
    "DistributeOptions",
    "ExternalStatePolicy",
    "OptimizationOptions",
    "Options",
    "ServiceOptions",
    "ThreadingOptions",
]


class AutotuneAlgorithm(enum.Enum):
    """How `AUTOTUNE` chooses; mirrors ``tf.data.experimental.AutotuneAlgorithm``.

    ``MAX_PARALLELISM`` gives each step as many tasks as it may have, from the start. All others
    are one: numbers are moved by what more and fewer tasks bring.
    """

    DEFAULT = 0
    HILL_CLIMB = 1
    GRADIENT_DESCENT = 2
    MAX_PARALLELISM = 3
    STAGE_BASED = 4


class AutoShardPolicy(enum.IntEnum):
    """How a dataset is split between workers; mirrors ``tf.data.experimental.AutoShardPolicy``."""

    OFF = -1
    AUTO = 0
    FILE = 1
    DATA = 2
    HINT = 3


class ExternalStatePolicy(enum.Enum):
    """What to do with state outside a pipeline when it is saved.

    Mirrors ``tf.data.experimental.ExternalStatePolicy``. Kept and compared; states of iterators
    never hold state of Python functions.
    """

    WARN = 0
    IGNORE = 1
    FAIL = 2


class _Fields:
    """Named fields with types: setting an unknown name or a wrong type is an error."""

    _types: ClassVar[dict[str, type]] = {}
    # Values that say nothing, where that is not None.
    _silent: ClassVar[dict[str, Any]] = {}
    # Other names of fields.
    _aliases: ClassVar[dict[str, str]] = {}
    _frozen = False

    def __init__(self, **values: Any) -> None:
        for name in self._types:
            object.__setattr__(self, name, self._default(name))
        for name, value in values.items():
            setattr(self, name, value)

    @classmethod
    def _default(cls, name: str) -> Any:
        kind = cls._types[name]
        return kind() if issubclass(kind, _Fields) else cls._silent.get(name)

    def __getattr__(self, name: str) -> Any:
        # Only for names that are no fields.
        if name in self._aliases:
            return getattr(self, self._aliases[name])
        raise AttributeError(f"{type(self).__name__} has no property {name}{self._nearest(name)}")

    def __setattr__(self, name: str, value: Any) -> None:
        if self._frozen:
            raise ValueError(
                "Mutating the options that `Dataset.options()` returned has no effect. Use "
                "`Dataset.with_options(options)` to set or update the options of a dataset."
            )
        name = self._aliases.get(name, name)
        kind = self._types.get(name)
        if kind is None:
            raise AttributeError(
                f"Cannot set the property {name} on {type(self).__name__}{self._nearest(name)}"
            )
        group = issubclass(kind, _Fields)
        if value is None and not group:
            value = self._silent.get(name)
        elif not isinstance(value, kind) or (kind is int and isinstance(value, bool)):
            raise TypeError(
                f'Property "{name}" must be of type {kind}, got: {value!r} (type: {type(value)}).'
            )
        elif isinstance(value, int) and kind is int and value < 0:
            raise InvalidArgumentError(f"`{name}` must be at least 0, got {value}")
        object.__setattr__(self, name, value)

    def __delattr__(self, name: str) -> None:
        raise AttributeError(f"cannot delete the property {name}; set it to None")

    def _nearest(self, name: str) -> str:
        import difflib

        known = [field for field in (*self._types, *self._aliases) if not field.startswith("_")]
        close = difflib.get_close_matches(name, known, 1, cutoff=0.4)
        guess = f"; did you mean {close[0]}?" if close else "."
        return f"{guess} Its properties are {', '.join(known)}."

    def __eq__(self, other: object) -> bool:
        if type(other) is not type(self):
            return NotImplemented
        return all(getattr(self, name) == getattr(other, name) for name in self._types)

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        said = (f"{name}={value!r}" for name, value in self._said())
        return f"{type(self).__name__}({', '.join(said)})"

    def _said(self) -> list[tuple[str, Any]]:
        """Return the fields that say something."""
        values = ((name, getattr(self, name)) for name in self._types)
        return [(name, value) for name, value in values if value != self._default(name)]

    def _merge(self, later: Any) -> Any:
        merged = type(self)()
        for name, kind in self._types.items():
            ours, theirs = getattr(self, name), getattr(later, name)
            if issubclass(kind, _Fields):
                value = ours._merge(theirs)
            elif kind is list:
                value = None if ours is theirs is None else [*(ours or ()), *(theirs or ())]
            else:
                value = ours if theirs == self._default(name) else theirs
            object.__setattr__(merged, name, value)
        return merged

    def _freeze(self) -> Any:
        for name in self._types:
            value = getattr(self, name)
            if isinstance(value, _Fields):
                value._freeze()
        object.__setattr__(self, "_frozen", True)
        return self

    def __getstate__(self) -> dict[str, Any]:
        # A copy may be changed.
        return {name: getattr(self, name) for name in self._types}

    def __setstate__(self, state: dict[str, Any]) -> None:
        for name in self._types:
            value = state[name] if name in state else self._default(name)
            object.__setattr__(self, name, value)

    def _to_dict(self) -> dict[str, Any]:
        plain = {}
        for name, value in self._said():
            if isinstance(value, _Fields):
                value = value._to_dict()
            plain[name] = value.name if isinstance(value, enum.Enum) else value
        return plain


class AutotuneOptions(_Fields):
    """What `AUTOTUNE` may use; mirrors ``tf.data.experimental.AutotuneOptions``.

    Attributes
    ----------
    enabled
        ``False``: numbers of tasks and sizes of windows stay what they are at first, as many tasks
        as there are cores.
    cpu_budget
        How many tasks a step with `AUTOTUNE` may have; 0 or ``None``: as many as there are cores,
        or twice that and 12 where its function is Python, which may sleep or wait.
    ram_budget
        Bytes that all buffers of one iterator may take together; 0 or ``None``: a quarter of the
        memory of the machine, or of what its control group may use. Steps that run ahead stand
        still when it is used up; the element that the user waits for is made in any case. What a
        step must hold (the buffer of a `Dataset.shuffle`, a batch in the making) counts and never
        waits: where that alone is more, the logger ``headrace`` warns once, and what runs ahead has
        an eighth of the budget. `Iterator.stats` tells what each step takes. Arrays that were given
        to the dataset are not its buffers.
    autotune_algorithm
        An `AutotuneAlgorithm`.
    initial_parallelism
        How many tasks a step with `AUTOTUNE` has at first; 0 or ``None``: as many as there are
        cores, and from 2 to 4 where its function is Python.
    min_parallelism
        A step with `AUTOTUNE` has at least so many tasks.

    Examples
    --------
    >>> AutotuneOptions(cpu_budget=2)
    AutotuneOptions(cpu_budget=2)
    """

    _types: ClassVar[dict[str, type]] = {
        "enabled": bool,
        "cpu_budget": int,
        "ram_budget": int,
        "autotune_algorithm": AutotuneAlgorithm,
        "initial_parallelism": int,
        "min_parallelism": int,
    }
    enabled: bool | None
    cpu_budget: int | None
    ram_budget: int | None
    autotune_algorithm: AutotuneAlgorithm | None
    initial_parallelism: int | None
    min_parallelism: int | None


class DistributeOptions(_Fields):
    """How a pipeline is split; mirrors ``tf.data.experimental.DistributeOptions``.

    Kept and compared: nothing is split without being asked, see `Dataset.shard`.

    Attributes
    ----------
    auto_shard_policy
        An `AutoShardPolicy`; ``AUTO`` says nothing.
    num_devices
        How many devices the pipeline feeds.

    Examples
    --------
    >>> DistributeOptions(auto_shard_policy=AutoShardPolicy.OFF)
    DistributeOptions(auto_shard_policy=<AutoShardPolicy.OFF: -1>)
    """

    _types: ClassVar[dict[str, type]] = {
        "auto_shard_policy": AutoShardPolicy,
        "num_devices": int,
        "auto_shard": bool,  # before there were policies
    }
    _silent: ClassVar[dict[str, Any]] = {"auto_shard_policy": AutoShardPolicy.AUTO}
    auto_shard_policy: AutoShardPolicy
    num_devices: int | None
    auto_shard: bool | None


class ServiceOptions(_Fields):
    """Options of the tf.data service, which there is none of; kept and compared.

    Attributes
    ----------
    pinned
        Whether a client would use pinned memory.
    """

    _types: ClassVar[dict[str, type]] = {"pinned": bool}
    pinned: bool | None


class ThreadingOptions(_Fields):
    """How many threads a run may use; mirrors ``tf.data.ThreadingOptions``.

    Attributes
    ----------
    private_threadpool_size
        How many tasks of one iterator run at once; 0 or ``None``: as many as there are cores. The
        threads themselves are shared by the whole process.
    max_intra_op_parallelism
        How many threads one op may use; kept, each op uses one.

    Examples
    --------
    >>> ThreadingOptions(private_threadpool_size=1)
    ThreadingOptions(private_threadpool_size=1)
    """

    _types: ClassVar[dict[str, type]] = {
        "private_threadpool_size": int,
        "max_intra_op_parallelism": int,
    }
    private_threadpool_size: int | None
    max_intra_op_parallelism: int | None


class _MapVectorization(_Fields):
    """The older form of a rewrite: a group with a switch."""

    _types: ClassVar[dict[str, type]] = {"enabled": bool, "use_choose_fastest": bool}
    enabled: bool | None
    use_choose_fastest: bool | None


class OptimizationOptions(_Fields):
    """Switches of the rewrites; mirrors ``tf.data.experimental.OptimizationOptions``.

    A rewrite changes how a pipeline runs, never what it yields. `Dataset.explain` tells which are
    made. Switches of tf.data that are not listed here are accepted and have no effect: graphs run
    on many elements at once anyway, batches are cut without a copy (``map_and_batch_fusion``), and
    `skip`, `take` and `shard` reach down to the source as they run.

    Attributes
    ----------
    apply_default_optimizations
        ``False``: only rewrites that are switched on are made.
    inject_prefetch
        Pipelines without side effects or random order read ahead of the user, as if they ended in
        ``prefetch(AUTOTUNE)``; on unless ``False``.
    map_fusion
        Neighbouring maps that run as graphs become one step; on unless ``False``.
    map_and_filter_fusion
        Maps and a filter on them that run as graphs become one step; on unless ``False``.
    filter_fusion
        Neighbouring filters that run as graphs become one step; off unless ``True``.
    noop_elimination
        Steps that change nothing (``take(-1)``, ``skip(0)``, ``repeat(1)``) are taken out, so that
        their neighbours can be fused; on unless ``False``.
    map_parallelization
        Maps that run as graphs get ``num_parallel_calls=AUTOTUNE`` where reading ahead cannot be
        noticed; off unless ``True``.
    parallel_batch
        Batches whose rows are copied together (padded and ragged ones, and those of shapes that may
        differ) are put together several at once where reading ahead cannot be noticed; off unless
        ``True``.
    shuffle_and_repeat_fusion
        A `shuffle` and the `repeat` right above it have one buffer, which the next epoch fills
        while this one leaves it, so that epochs begin without a pause. Where the input draws seeds
        or calls Python, the next epoch begins when it is asked for. The order is the same either
        way; on unless ``False``.

    Examples
    --------
    >>> OptimizationOptions(inject_prefetch=True)
    OptimizationOptions(inject_prefetch=True)
    """

    _types: ClassVar[dict[str, type]] = {
        "apply_default_optimizations": bool,
        "filter_fusion": bool,
        "filter_parallelization": bool,
        "inject_prefetch": bool,
        "map_and_batch_fusion": bool,
        "map_and_filter_fusion": bool,
        "map_fusion": bool,
        "map_parallelization": bool,
        "noop_elimination": bool,
        "parallel_batch": bool,
        "seq_interleave_prefetch": bool,
        "shuffle_and_repeat_fusion": bool,
        # Of older releases.
        "autotune": bool,
        "autotune_buffers": bool,
        "autotune_cpu_budget": int,
        "autotune_ram_budget": int,
        "hoist_random_uniform": bool,
        "map_vectorization": _MapVectorization,
        "reorder_data_discarding_ops": bool,
    }
    apply_default_optimizations: bool | None
    filter_fusion: bool | None
    filter_parallelization: bool | None
    inject_prefetch: bool | None
    map_and_batch_fusion: bool | None
    map_and_filter_fusion: bool | None
    map_fusion: bool | None
    map_parallelization: bool | None
    noop_elimination: bool | None
    parallel_batch: bool | None
    seq_interleave_prefetch: bool | None
    shuffle_and_repeat_fusion: bool | None
    autotune: bool | None
    autotune_buffers: bool | None
    autotune_cpu_budget: int | None
    autotune_ram_budget: int | None
    hoist_random_uniform: bool | None
    map_vectorization: _MapVectorization
    reorder_data_discarding_ops: bool | None

    def __setattr__(self, name: str, value: Any) -> None:
        if name == "map_vectorization" and isinstance(value, bool):
            value = _MapVectorization(enabled=value)
        super().__setattr__(name, value)


class Options(_Fields):
    """Options of a pipeline; mirrors ``tf.data.Options``.

    Attributes
    ----------
    autotune
        An `AutotuneOptions`.
    deterministic
        ``False``: parallel steps may yield elements as they get ready. ``None`` means ``True``.
    dataset_name
        A name for the pipeline; kept.
    experimental_distribute
        A `DistributeOptions`.
    experimental_external_state_policy
        An `ExternalStatePolicy`; kept.
    experimental_optimization
        An `OptimizationOptions`.
    experimental_service
        A `ServiceOptions`.
    experimental_slack, experimental_symbolic_checkpoint, experimental_warm_start
        Bools; kept. States of iterators are symbolic anyway, see `Iterator.state`.
    framework_type
        A list of names; merging joins them. Kept.
    threading
        A `ThreadingOptions`.

    ``experimental_deterministic``, ``experimental_threading`` and ``experimental_autotune`` are
    other names for `deterministic`, `threading` and ``autotune.enabled``.

    Raises
    ------
    AttributeError
        A property that does not exist; the text names the nearest.
    TypeError
        A value of the wrong type.
    InvalidArgumentError
        A negative number.
    ValueError
        Changing what `Dataset.options` returned.

    Examples
    --------
    >>> options = Options()
    >>> options.deterministic = False
    >>> options.threading.private_threadpool_size = 2
    >>> hr.Dataset.range(3).with_options(options).options()
    Options(deterministic=False, threading=ThreadingOptions(private_threadpool_size=2))
    """

    _types: ClassVar[dict[str, type]] = {
        "autotune": AutotuneOptions,
        "dataset_name": str,
        "deterministic": bool,
        "experimental_distribute": DistributeOptions,
        "experimental_external_state_policy": ExternalStatePolicy,
        "experimental_optimization": OptimizationOptions,
        "experimental_service": ServiceOptions,
        "experimental_slack": bool,
        "experimental_symbolic_checkpoint": bool,
        "experimental_warm_start": bool,
        "framework_type": list,
        "threading": ThreadingOptions,
        "_chunk_rows": int,  # tests force the size of chunks with it
    }
    _aliases: ClassVar[dict[str, str]] = {
        "experimental_deterministic": "deterministic",
        "experimental_threading": "threading",
    }
    autotune: AutotuneOptions
    dataset_name: str | None
    deterministic: bool | None
    experimental_deterministic: bool | None
    experimental_distribute: DistributeOptions
    experimental_external_state_policy: ExternalStatePolicy | None
    experimental_optimization: OptimizationOptions
    experimental_service: ServiceOptions
    experimental_slack: bool | None
    experimental_symbolic_checkpoint: bool | None
    experimental_threading: ThreadingOptions
    experimental_warm_start: bool | None
    framework_type: list[str] | None
    threading: ThreadingOptions
    _chunk_rows: int | None

    @property
    def experimental_autotune(self) -> bool | None:
        """An older name for ``autotune.enabled``."""
        return self.autotune.enabled

    def __setattr__(self, name: str, value: Any) -> None:
        if name == "experimental_autotune":
            self.autotune.enabled = value
        else:
            super().__setattr__(name, value)

    def merge(self, options: Options) -> Options:
        """Return both together; where both say something, `options` wins.

        Parameters
        ----------
        options
            The later ones.

        Examples
        --------
        >>> Options(deterministic=True).merge(Options(deterministic=False))
        Options(deterministic=False)
        """
        if not isinstance(options, Options):
            raise TypeError(
                "Could not merge incompatible options: `options` must be an Options, got "
                f"{options!r} ({type(options).__name__})"
            )
        merged: Options = self._merge(options)
        return merged

    def to_json(self) -> str:
        """Return what is set, as the engine reads it."""
        values = self._to_dict()
        if not values:
            return "{}"
        import json

        values = {name.removeprefix("_"): value for name, value in values.items()}
        if "experimental_optimization" in values:
            values["optimization"] = values.pop("experimental_optimization")
        for name in ("cpu_budget", "ram_budget"):
            older = getattr(self.experimental_optimization, f"autotune_{name}")
            if older is not None and getattr(self.autotune, name) is None:
                values.setdefault("autotune", {})[name] = older
        if self.experimental_optimization.autotune is False and self.autotune.enabled is None:
            values.setdefault("autotune", {})["enabled"] = False
        return json.dumps(values)
