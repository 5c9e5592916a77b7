"""Numbers and switches among arguments."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np

from ..dtypes import as_dtype, dtype_name
from ..errors import InvalidArgumentError
from ..standin import SymbolicInt, is_symbol

AUTOTUNE = -1
INFINITE_CARDINALITY = -1
UNKNOWN_CARDINALITY = -2


def integer(name: str, value: Any) -> int:
    """Return `value` as an int of 64 bits; TypeError if it is not an integer."""
    if is_symbol(value):
        return SymbolicInt(name != "index")
    try:
        number = operator.index(value)
    except TypeError:
        kind = type(value).__name__
        raise TypeError(f"`{name}` must be an integer, got {value!r} ({kind})") from None
    if not -(2**63) <= number < 2**63:
        raise InvalidArgumentError(f"`{name}` must fit into 64 bits, got {number}")
    return number


def batch_size(value: Any) -> int:
    """Return a batch size, at least 1."""
    size = integer("batch_size", value)
    if size <= 0:
        raise InvalidArgumentError(f"Batch size must be greater than zero. Got batch_size={size}.")
    return size


def batch_sizes(value: Any) -> list[int]:
    """Return the batch sizes of `rebatch`: one or several, used in turn."""
    rank = np.ndim(value)
    if rank > 1:
        raise ValueError(
            "Invalid `batch_sizes`. Expected `batch_sizes` to be a scalar or a vector. Received "
            f"`batch_sizes` of rank {rank}."
        )
    if rank == 0:
        return [batch_size(value)]
    return [at_least("batch_size", size, 0) for size in value]


def at_least(name: str, value: Any, least: int) -> int:
    """Return `value` as an int that is not below `least`."""
    number = integer(name, value)
    if number < least:
        raise InvalidArgumentError(f"`{name}` must be at least {least}, got {number}")
    return number


def shard(num_shards: Any, index: Any) -> tuple[int, int]:
    """Return number of shards and index of one."""
    count, number = integer("num_shards", num_shards), integer("index", index)
    if count < 1:
        raise InvalidArgumentError(
            f"Number of shards must be greater than zero (currently num_shards = {count})."
        )
    if not 0 <= number < count:
        raise InvalidArgumentError(
            f"Index must be between 0 and {count - 1} (currently index = {number})."
        )
    return count, number


def number_dtype(name: str, value: Any) -> np.dtype[Any]:
    """Return a dtype of integers or floats."""
    dtype = as_dtype(value)
    if isinstance(dtype, type) or (dtype.kind not in "iuf" and dtype.name != "bfloat16"):
        raise TypeError(f"`{name}` must be of integers or floats, got {dtype_name(dtype)}")
    return dtype


def number_of(name: str, value: Any, dtype: np.dtype[Any]) -> int | float:
    """Return `value` as a Python number that `dtype` holds."""
    if dtype.kind not in "iu":
        return float(value)
    try:
        number = operator.index(value)
    except TypeError:
        raise TypeError(f"Cannot convert `{name}` {value!r} to {dtype}") from None
    if not np.iinfo(dtype).min <= number <= np.iinfo(dtype).max and name != "step":
        raise InvalidArgumentError(f"`{name}` {number} is out of range of {dtype}")
    return number if number < 2**63 else number - 2**64


def size(name: str, value: Any) -> int:
    """Return a number of things, at least 1, or AUTOTUNE."""
    number = integer(name, value)
    if number <= 0 and number != AUTOTUNE:
        raise InvalidArgumentError(f"{name} must be greater than zero, got {number}.")
    return number


def within_cycle(cycle_length: Any, num_parallel_calls: Any) -> None:
    """Refuse more parallel calls than datasets are open at a time."""
    if cycle_length is None or num_parallel_calls is None or is_symbol(cycle_length):
        return
    cycle, calls = operator.index(cycle_length), operator.index(num_parallel_calls)
    if cycle != AUTOTUNE and calls > cycle > 0:
        raise InvalidArgumentError(
            "If `cycle_length` is set to a fixed value, `num_parallel_calls` must be either "
            f"AUTOTUNE or a value less than or equal to `cycle_length`, got {calls} for {cycle}."
        )


def parallelism(name: str, value: Any) -> int | None:
    """Return a number of parallel calls, at least 1, or AUTOTUNE."""
    if value is None:
        return None
    count = integer(name, value)
    if count <= 0 and count != AUTOTUNE:
        raise InvalidArgumentError(
            f"{name} must be greater than zero. Got {count}; AUTOTUNE ({AUTOTUNE}) lets headrace "
            "choose."
        )
    return count


def flag(name: str, value: Any) -> bool:
    """Return `value`, which must be a bool."""
    if not isinstance(value, bool | np.bool_):
        raise TypeError(f"`{name}` must be a bool, got {value!r} ({type(value).__name__})")
    return bool(value)
