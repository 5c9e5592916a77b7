"""The input signature of a `tf.function`: arguments become tensors of the types that it says."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

from .convert import convert, is_dense
from .specs import TensorSpec, TypeSpec

__all__ = ["binder"]

Arguments = tuple[tuple[Any, ...], dict[str, Any]]


def binder(function: Callable[..., Any], specs: Any) -> Callable[..., Arguments]:
    """Return what makes the arguments of a call those that `specs` describe, in their order.

    Raises
    ------
    TypeError
        `specs` is no list or tuple; in a call, there are more arguments than parameters, or
        fewer, or one is of another type.
    """
    if not isinstance(specs, list | tuple):
        raise TypeError(
            f"input_signature must be either a tuple or a list, got {type(specs).__name__}"
        )
    known = inspect.signature(function)
    names = [name for name in known.parameters if name != "self"]

    def bind(args: tuple[Any, ...], kwargs: dict[str, Any]) -> Arguments:
        try:
            found = known.bind(*args, **kwargs)
            found.apply_defaults()
            place = 0
            for name in names:
                kind = known.parameters[name].kind
                given = found.arguments[name]
                if kind is inspect.Parameter.VAR_POSITIONAL:
                    found.arguments[name] = _all(specs[place:], given)
                    place = len(specs)
                elif kind is not inspect.Parameter.VAR_KEYWORD and place < len(specs):
                    found.arguments[name] = _bound(specs[place], given)
                    place += 1
        except (TypeError, ValueError) as error:
            raise TypeError(
                f"Binding inputs to tf.function failed due to `{error}`. Received args: {args} "
                f"and kwargs: {kwargs} for signature: {specs}."
            ) from error
        return found.args, found.kwargs

    return bind


def _all(specs: Any, values: tuple[Any, ...]) -> tuple[Any, ...]:
    if len(specs) < len(values):
        raise TypeError("too many positional arguments")
    if len(specs) > len(values):
        raise TypeError("missing a required argument")
    return tuple(map(_bound, specs, values))


def _bound(spec: Any, value: Any) -> Any:
    """Return a nest as tensors of the types of a nest of specs."""
    if isinstance(spec, dict):
        if not isinstance(value, dict) or spec.keys() != value.keys():
            raise TypeError(f"{value} has different keys than {spec}")
        return {key: _bound(spec[key], child) for key, child in value.items()}
    if isinstance(spec, list | tuple):
        if isinstance(value, list) is not isinstance(spec, list):
            raise TypeError(f"Can not cast {value} to {type(spec).__name__} type.")
        if len(spec) != len(value):
            raise TypeError(f"Can not cast {value} to {len(spec)} values.")
        children = map(_bound, spec, value)
        return type(spec)(*children) if hasattr(spec, "_fields") else type(spec)(children)
    if not isinstance(spec, TypeSpec):
        return value
    if isinstance(spec, TensorSpec):
        value = value if is_dense(value) else convert(value, spec.dtype)
        kind = TensorSpec(value.shape, value.dtype)
        if kind.dtype != spec.dtype or not spec.shape.is_compatible_with(kind.shape):
            raise TypeError(f"Can not cast {kind} to {spec}")
    elif not spec.is_compatible_with(value):
        raise TypeError(f"Can not cast {value!r} to {spec}")
    return value
