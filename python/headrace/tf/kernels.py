"""One way to run an op on tensors and on the symbols of a traced function.

`run` asks headrace's engine: on tensors at once, on symbols it is recorded. `python` is for what
the engine has no kernel of: NumPy computes it, and a traced function that uses it runs as Python;
what it gives is known all the same.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np

from .. import _headrace
from ..errors import HeadraceError, InvalidArgumentError
from ..spec import TensorSpec
from ..symbol import Symbol
from .dtypes import DType, to_own
from .tensor import Tensor, raw, wrap

__all__ = [
    "DTypeError",
    "axis_of",
    "broadcast",
    "check_allowed",
    "python",
    "run",
    "run_all",
    "sized",
    "static_shape",
]

Dims: TypeAlias = "tuple[int | None, ...] | None"
Out: TypeAlias = "tuple[Dims, DType]"


class DTypeError(InvalidArgumentError, TypeError):
    """Tensors of dtypes that an op does not take: TypeError in a function, as in TensorFlow."""


def symbol_of(args: tuple[Any, ...]) -> Any:
    """Return the first symbol among arguments, if there is one."""
    for arg in args:
        if issubclass(type(arg), Symbol):
            return arg
    return None


def engine_value(value: Any) -> Any:
    """Return a tensor as the engine takes it: text scalars as `bytes`."""
    array = raw(value)
    if type(array) is np.ndarray and array.ndim == 0 and array.dtype == object:
        return array.item()
    return array


def run(kernel: str, args: tuple[Any, ...], out: Out | None = None, **attrs: Any) -> Any:
    """Run or record an op of the engine that has one result.

    Parameters
    ----------
    kernel, attrs
        Name and static arguments, as the engine knows them.
    args
        Tensors or symbols.
    out
        Shape and dtype of the result, for symbols that the op cannot be recorded of.
    """
    found = symbol_of(args)
    if found is not None:
        return found._tracer.record(kernel, attrs, args, out)
    (result,) = _headrace.run_op(kernel, attrs, [engine_value(arg) for arg in args])
    return wrap(result)


def run_all(kernel: str, args: tuple[Any, ...], outs: list[Out], **attrs: Any) -> list[Any]:
    """Run or record an op of the engine that has several results, as `run` does one of one."""
    found = symbol_of(args)
    if found is not None:
        made: list[Any] = found._tracer.record_all(kernel, attrs, args, outs)
        return made
    return [wrap(item) for item in _headrace.run_op(kernel, attrs, [engine_value(a) for a in args])]


def sized(op: str, args: tuple[Any, ...], dims: Dims, dtype: DType) -> Any:
    """Run or record an op whose result has a computed shape, of which `dims` are known."""
    found = run(op, args, (dims, dtype))
    if symbol_of((found,)) is None or dims is None or set(dims) == {None}:
        return found
    sizes = [-1 if size is None else size for size in dims]
    return run("ensure_shape", (found,), (dims, dtype), shape=sizes)


def python(name: str, function: Callable[..., Any], out: Out | list[Out], *args: Any) -> Any:
    """Compute with NumPy; for symbols, give stand-ins and let the function run as Python.

    Parameters
    ----------
    name
        The op, for messages.
    function
        Gets plain arrays, returns an array or a list of as many as `out`.
    out
        Shape and dtype of the result, or a list of them.
    *args
        Tensors or symbols.
    """
    found = symbol_of(args)
    if found is not None:
        outs = out if isinstance(out, list) else [out]
        made = [found._tracer.unrecorded(name, shape, dtype) for shape, dtype in outs]
        return made if isinstance(out, list) else made[0]
    result = function(*map(raw, args))
    if isinstance(out, list):
        return [wrap(item) for item in result]
    return wrap(result)


def spec(shape: Dims, dtype: DType) -> TensorSpec:
    """Return headrace's spec of a shape and dtype."""
    return TensorSpec(shape, to_own(dtype))


def static_shape(x: Any) -> Dims:
    """Return what is known of the shape of a tensor or symbol."""
    if type(x) is Tensor:
        return raw(x).shape  # type: ignore[no-any-return]
    found: Dims = x._spec.shape
    return found


def check_allowed(attr: str, value: Any, *allowed: str) -> None:
    """Refuse a word that is none of those which an argument may be, in TensorFlow's words."""
    if value not in allowed:
        words = ", ".join(f'"{word}"' for word in allowed)
        raise InvalidArgumentError(
            f"Value for attr '{attr}' of \"{value}\" is not in the list of allowed values: {words}"
        )


def axis_of(axis: int, rank: int) -> int:
    """Return an axis counted from the first one.

    Raises
    ------
    InvalidArgumentError
        There is none of that number.
    """
    if not -rank <= axis < rank:
        text = f"Expected dimension in the range [{-rank}, {rank}), but got {axis}"
        raise InvalidArgumentError(text)
    return axis % rank


def broadcast(*shapes: Dims) -> Dims:
    """Return the shape that arrays of these shapes have together.

    Raises
    ------
    InvalidArgumentError
        They do not fit.
    """
    if any(shape is None for shape in shapes):
        return None
    rank = max(map(len, shapes))  # type: ignore[arg-type]
    result: list[int | None] = []
    for axis in range(rank):
        sizes = {
            shape[axis - rank + len(shape)]  # type: ignore[index, arg-type]
            for shape in shapes
            if axis - rank + len(shape) >= 0  # type: ignore[arg-type]
        }
        known = sizes - {1, None}
        if len(known) > 1:
            first, second = (f"[{','.join(str(d) for d in s or ())}]" for s in shapes[:2])
            raise InvalidArgumentError(f"Incompatible shapes: {first} vs. {second}")
        if known:
            result.append(known.pop())
        else:
            result.append(None if None in sizes else 1)
    return tuple(result)


def unsupported(error: HeadraceError) -> str:
    """Return the text of an error of the engine."""
    return error.message or str(error)
