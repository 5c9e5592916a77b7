"""Running the engine's ops on strings over dense, ragged and sparse tensors, and symbols."""

from __future__ import annotations

from typing import Any

from .. import _headrace
from ..errors import InvalidArgumentError
from .bridge import from_own
from .convert import convert, is_symbol
from .dtypes import DType, string
from .kernels import engine_value, run, static_shape, symbol_of
from .ragged_tensor import RaggedTensor
from .tensor import raw

__all__ = ["as_vector", "cut", "each", "innermost", "one_text", "ragged_or_not"]


def one_text(value: Any, name: str = "the text") -> bytes | str:
    """Return a static text, which may be a scalar tensor.

    Raises
    ------
    InvalidArgumentError
        It is an array.
    """
    if isinstance(value, bytes | str):
        return value
    found = raw(convert(value, string))
    if found.ndim:
        shape = ",".join(map(str, found.shape))
        raise InvalidArgumentError(f"{name} must be scalar, but received [{shape}]")
    return bytes(found.item())


def ragged_or_not(value: Any) -> Any:
    """Return a ragged value of TensorFlow 1 as a ragged tensor, anything else as it is."""
    kind = type(value)
    if getattr(kind, "_is_leaf", False) and hasattr(kind, "ragged_rank"):
        return value.to_tensor()
    return value


def as_vector(input: Any) -> Any:
    """Return strings of an unknown rank as a vector, for which TensorFlow takes them.

    What is none in the run is refused there.
    """
    if isinstance(input, RaggedTensor):
        return input
    x = convert(input, string)
    if not is_symbol(x) or static_shape(x) is not None:
        return x
    return run("ensure_shape", (x,), ((None,), string), shape=[-1])


def each(op: str, input: Any, out: DType, source: DType | None = string, **attrs: Any) -> Any:
    """Run an op that gives one value of dtype `out` for each value of dtype `source`."""
    symbol = getattr(input, "_symbol", None) if isinstance(input, RaggedTensor) else None
    if symbol is not None:
        (result,) = symbol._tracer.add(op, attrs, symbol)
        return result
    mapper = getattr(type(input), "_map_values", None)
    if mapper is not None:
        return mapper(lambda values: each(op, values, out, source, **attrs), input)
    x = convert(input) if source is None else convert(input, source)
    return run(op, (x,), (static_shape(x), out), **attrs)


def cut(op: str, input: Any, **attrs: Any) -> list[Any]:
    """Run an op that gives several values for each string: vectors, or ragged tensors."""
    input = ragged_or_not(input)
    if isinstance(input, RaggedTensor):
        if input._symbol is not None:
            found: list[Any] = input._symbol._tracer.add(op, attrs, input._symbol)
            return found
        inner = cut(op, input.flat_values, **attrs)
        return [input.with_flat_values(part) for part in inner]
    x = convert(input, string)
    if is_symbol(x):
        if static_shape(x) is None:
            raise ValueError("Rank of `input` must be statically known.")
        made: list[Any] = x._tracer.add(op, attrs, x)
        return made
    array = raw(x)
    flat = engine_value(x) if array.ndim == 0 else array.reshape(-1)
    parts = [from_own(part) for part in _headrace.run_op(op, attrs, [flat])]
    for size in reversed(array.shape[1:]):
        parts = [_uniform(part, size, array.shape) for part in parts]
    return parts


def _uniform(part: Any, size: int, shape: tuple[int, ...]) -> Any:
    rows = None if size else shape[0]
    return RaggedTensor.from_uniform_row_length(part, size, rows)


def innermost(op: str, input: Any, dtype: DType, **attrs: Any) -> Any:
    """Run an op that makes one value of each row along the innermost axis of a ragged tensor."""
    if input._symbol is not None:
        (result,) = input._symbol._tracer.add(op, attrs, input._symbol)
        return result
    own = input._to_own()
    if own is input:  # made of symbols
        packed = symbol_of((input.flat_values, *input.nested_row_splits))._tracer.packed(input)
        (result,) = packed._tracer.add(op, attrs, packed)
        return result
    (made,) = _headrace.run_op(op, attrs, [own])
    return from_own(made)
