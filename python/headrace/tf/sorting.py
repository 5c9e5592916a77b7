"""Sorting and ranking; `sort`, `argsort`, ``tf.math.top_k``, `unique`."""

from __future__ import annotations

from collections import namedtuple
from typing import Any

from ..errors import InvalidArgumentError
from .array_ops import expand_dims, shape, size
from .casting import cast
from .comparison import equal, greater, less, logical_and
from .convert import convert, is_symbol
from .creation import range as count_up
from .creation import zeros_like
from .dtypes import as_dtype, int32, int64, string
from .dtypes import bool as bool_
from .elementwise import is_finite
from .gathering import gather, one_hot, tensor_scatter_nd_update, where
from .kernels import DTypeError, run, run_all, static_shape
from .reductions import reduce_all, reduce_any, reduce_sum

__all__ = [
    "argsort",
    "in_top_k",
    "invert_permutation",
    "searchsorted",
    "sort",
    "top_k",
    "unique",
    "unique_with_counts",
]

TopKV2 = namedtuple("TopKV2", ["values", "indices"])
Unique = namedtuple("Unique", ["y", "idx"])
UniqueWithCounts = namedtuple("UniqueWithCounts", ["y", "idx", "count"])


def _falling(direction: str) -> bool:
    if direction not in ("ASCENDING", "DESCENDING"):
        raise ValueError(f"Direction {direction} should be one of 'ASCENDING' or 'DESCENDING'")
    return direction == "DESCENDING"


def _sortable(values: Any) -> Any:
    x = convert(values)
    if x.dtype in (string, bool_):
        raise DTypeError(f"values of dtype {x.dtype.name} cannot be sorted")
    return x


def argsort(
    values: Any, axis: int = -1, direction: str = "ASCENDING", stable: bool = False,
    name: str | None = None,
) -> Any:  # fmt: skip
    """Return the order that sorts along an axis; mirrors ``tf.argsort``.

    Equal values keep their order, in falling order too, whether `stable` or not.
    """
    x = _sortable(values)
    out = (static_shape(x), int64)
    return cast(run("argsort", (x,), out, axis=int(axis), descending=_falling(direction)), int32)


def sort(values: Any, axis: int = -1, direction: str = "ASCENDING", name: str | None = None) -> Any:
    """Sort along an axis; mirrors ``tf.sort``.

    Examples
    --------
    >>> tf.sort([3, 1, 2], direction="DESCENDING").numpy()
    array([3, 2, 1], dtype=int32)
    """
    x = _sortable(values)
    out = (static_shape(x), x.dtype)
    return run("sort", (x,), out, axis=int(axis), descending=_falling(direction))


def top_k(
    input: Any, k: Any = 1, sorted: bool = True, index_type: Any = int32, name: str | None = None
) -> Any:
    """Return the largest values along the last axis; mirrors ``tf.math.top_k``.

    Examples
    --------
    >>> tf.math.top_k([1, 3, 2], 2).values.numpy()
    array([3, 2], dtype=int32)
    """
    x = convert(input)
    target = as_dtype(index_type)
    dims = static_shape(x)
    if is_symbol(k):
        return _top_of_computed(x, k, target)
    count = int(k)
    if dims == ():
        raise InvalidArgumentError("input must be >= 1-D, got a scalar")
    if dims is not None and dims[-1] is not None and dims[-1] < count:
        raise InvalidArgumentError(
            f"input must have at least k columns. Had {dims[-1]}, needed {count}"
        )
    out = None if dims is None else (*dims[:-1], count)
    found, where = run_all("top_k", (x,), [(out, x.dtype), (out, int32)], k=count)
    return TopKV2(found, cast(where, target))


def _top_of_computed(x: Any, k: Any, target: Any) -> Any:
    """Return the `k` largest values where only a run knows `k`."""
    from .debugging import assert_less_equal, assert_non_negative

    dims = static_shape(x)
    if dims is None:
        out = [(None, x.dtype), (None, target)]
        return TopKV2(*(k._tracer.unrecorded("top_k of an unknown rank", *each) for each in out))
    count = cast(k, int32)
    assert_non_negative(count, "need k >= 0")
    assert_less_equal(count, shape(x)[-1], "input must have at least k columns")
    order = argsort(x, direction="DESCENDING")[..., :count]
    found = gather(x, order, axis=-1, batch_dims=len(dims) - 1)
    return TopKV2(found, cast(order, target))


def in_top_k(targets: Any, predictions: Any, k: int, name: str | None = None) -> Any:
    """Tell whether each target is among the `k` best; mirrors ``tf.math.in_top_k``."""
    x, y = convert(targets), convert(predictions)
    hot = one_hot(x, shape(y)[1], True, False, dtype=bool_)
    own = reduce_sum(where(hot, y, zeros_like(y)), 1, keepdims=True)
    better = reduce_sum(cast(greater(y, own), int32), 1)
    known = logical_and(reduce_any(hot, 1), reduce_all(is_finite(y), 1))
    return logical_and(less(better, int(k)), known)


def invert_permutation(x: Any, name: str | None = None) -> Any:
    """Return the permutation that undoes `x`; mirrors ``tf.math.invert_permutation``.

    Raises
    ------
    InvalidArgumentError
        `x` has a number twice, or one outside.
    """
    from .control import Assert

    x = convert(x)
    numbers = cast(count_up(size(x)), x.dtype)
    made = tensor_scatter_nd_update(zeros_like(x), expand_dims(x, -1), numbers)
    again = reduce_all(equal(gather(made, x), numbers))
    Assert(again, ["a number is in the permutation twice:", x])
    return made


def searchsorted(
    sorted_sequence: Any, values: Any, side: str = "left", out_type: Any = int32,
    name: str | None = None,
) -> Any:  # fmt: skip
    """Return where values would be inserted; mirrors ``tf.searchsorted``."""
    from .casting import cast

    if side not in ("left", "right"):
        raise ValueError(f"Argument `side` must be either 'right' or 'left', got {side!r}")
    x, y = convert(sorted_sequence), convert(values)
    target = as_dtype(out_type)

    attrs = {"right": side == "right", "rows": True}
    return cast(run("searchsorted", (x, y), (static_shape(y), int64), **attrs), target)


def _groups(x: Any) -> list[Any]:
    """Return distinct values as they first occur, their places, which one each is, and counts."""
    dims = static_shape(x)
    if dims is not None and len(dims) != 1:
        raise InvalidArgumentError(f"unique expects a 1D vector, got an array of rank {len(dims)}")
    outs: list[Any] = [((None,), x.dtype), ((None,), int64), (dims, int64), ((None,), int64)]
    return run_all("unique", (x,), outs, sorted=False, equal_nan=False)


def unique(x: Any, out_idx: Any = int32, name: str | None = None) -> Any:
    """Return distinct values, and which one each value is; mirrors ``tf.unique``.

    Examples
    --------
    >>> tf.unique([7, 5, 7]).y.numpy()
    array([7, 5], dtype=int32)
    """
    from .casting import cast

    x, target = convert(x), as_dtype(out_idx)

    values, _, which, _ = _groups(x)
    return Unique(values, cast(which, target))


def unique_with_counts(x: Any, out_idx: Any = int32, name: str | None = None) -> Any:
    """Return distinct values and how often each occurs; mirrors ``tf.unique_with_counts``."""
    from .casting import cast

    x, target = convert(x), as_dtype(out_idx)

    values, _, which, counts = _groups(x)
    return UniqueWithCounts(values, cast(which, target), cast(counts, target))
