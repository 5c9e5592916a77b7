"""Options: what holds for a whole pipeline.

Set fields, then give the object to `Dataset.with_options`. A field that is ``None`` says nothing:
the default, or what a dataset further up says, holds. Mirrors ``tf.data.Options``.
"""

from __future__ import annotations

from typing import Any, ClassVar

__all__ = ["OptimizationOptions", "Options", "ThreadingOptions"]


class _Fields:
    """Named fields with types: setting an unknown name or a wrong type is an error."""

    _types: ClassVar[dict[str, type]] = {}

    def __init__(self, **values: Any) -> None:
        for name, kind in self._types.items():
            group = issubclass(kind, _Fields)
            object.__setattr__(self, name, kind() if group else None)
        for name, value in values.items():
            setattr(self, name, value)

    def __setattr__(self, name: str, value: Any) -> None:
        kind = self._types.get(name)
        if kind is None:
            raise AttributeError(
                f"Cannot set the property {name} on {type(self).__name__}. "
                f"Its properties are {', '.join(self._types)}."
            )
        group = issubclass(kind, _Fields)
        if value is None and not group:
            pass
        elif not isinstance(value, kind) or (kind is int and isinstance(value, bool)):
            raise TypeError(
                f'Property "{name}" must be of type {kind}, got: {value!r} (type: {type(value)}).'
            )
        object.__setattr__(self, name, value)

    def __eq__(self, other: object) -> bool:
        if type(other) is not type(self):
            return NotImplemented
        return all(getattr(self, name) == getattr(other, name) for name in self._types)

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        values = ((name, getattr(self, name)) for name in self._types)
        said = (f"{name}={value!r}" for name, value in values if not _silent(value))
        return f"{type(self).__name__}({', '.join(said)})"

    def _merge(self, later: Any) -> Any:
        merged = type(self)()
        for name, kind in self._types.items():
            ours, theirs = getattr(self, name), getattr(later, name)
            if issubclass(kind, _Fields):
                setattr(merged, name, ours._merge(theirs))
            else:
                setattr(merged, name, ours if theirs is None else theirs)
        return merged

    def _to_dict(self) -> dict[str, Any]:
        values = ((name, getattr(self, name)) for name in self._types)
        return {
            name: value._to_dict() if isinstance(value, _Fields) else value
            for name, value in values
            if not _silent(value)
        }


def _silent(value: Any) -> bool:
    return value is None or (isinstance(value, _Fields) and value == type(value)())


class ThreadingOptions(_Fields):
    """How many threads a run may use; mirrors ``tf.data.ThreadingOptions``.

    Attributes
    ----------
    private_threadpool_size
        How many tasks of one iterator run at once; 0 or ``None``: as many as there are cores. The
        threads themselves are shared by the whole process.
    max_intra_op_parallelism
        How many threads one op may use.

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


class OptimizationOptions(_Fields):
    """Switches of the rewrites; mirrors ``tf.data.experimental.OptimizationOptions``.

    A rewrite changes how a pipeline runs, never what it yields.

    Attributes
    ----------
    inject_prefetch
        Pipelines without side effects or random order read ahead of the user, as if they ended in
        ``prefetch(AUTOTUNE)``; on unless ``False``.

    Examples
    --------
    >>> OptimizationOptions(inject_prefetch=True)
    OptimizationOptions(inject_prefetch=True)
    """

    _types: ClassVar[dict[str, type]] = {"inject_prefetch": bool}
    inject_prefetch: bool | None


class Options(_Fields):
    """Options of a pipeline; mirrors ``tf.data.Options``.

    Attributes
    ----------
    deterministic
        ``False``: parallel steps may yield elements as they get ready. ``None`` means ``True``.
    threading
        A `ThreadingOptions`.
    experimental_optimization
        An `OptimizationOptions`.

    Raises
    ------
    AttributeError
        A property that does not exist.
    TypeError
        A value of the wrong type.

    Examples
    --------
    >>> options = Options()
    >>> options.deterministic = False
    >>> options.threading.private_threadpool_size = 2
    >>> hr.Dataset.range(3).with_options(options).options()
    Options(deterministic=False, threading=ThreadingOptions(private_threadpool_size=2))
    """

    _types: ClassVar[dict[str, type]] = {
        "deterministic": bool,
        "threading": ThreadingOptions,
        "experimental_optimization": OptimizationOptions,
        "_chunk_rows": int,  # tests force the size of chunks with it
    }
    deterministic: bool | None
    threading: ThreadingOptions
    experimental_optimization: OptimizationOptions
    _chunk_rows: int | None

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
            raise TypeError(f"`options` must be an Options, got {options!r}")
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
        return json.dumps(values)
