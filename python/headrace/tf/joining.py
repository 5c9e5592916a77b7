"""Joining and cutting: `concat`, `stack`, `split`, `tile`, `pad` and more."""

from __future__ import annotations

import builtins
import contextlib
from typing import Any

import numpy as np

from ..errors import InvalidArgumentError
from .array_ops import identity, is_plain, reshape, shape
from .composite import or_ragged
from .convert import convert, is_dense, is_symbol
from .dtypes import int32, int64
from .kernels import DTypeError, axis_of, run, static_shape
from .shapes import TensorShape
from .sizes import axis_number, known_sizes, number, sizes_of, vector
from .tensor import raw

__all__ = ["alike", "concat", "pad", "repeat", "roll", "split", "stack", "tile", "unstack"]


def concat(values: Any, axis: Any, name: str = "concat") -> Any:
    """Join along an axis; mirrors ``tf.concat``.

    Raises
    ------
    InvalidArgumentError
        Dtypes or the other sizes differ.

    Examples
    --------
    >>> tf.concat([[1, 2], [3]], axis=0).numpy()
    array([1, 2, 3], dtype=int32)
    """
    if not isinstance(values, list | tuple):
        values = [values]
    for value in values:
        joiner = getattr(type(value), "_concat", None)
        if joiner is not None:
            return joiner(values, number(axis))
    tensors, place = alike(values), axis_number(axis)
    if len(tensors) == 1:
        return identity(tensors[0])
    shapes = [static_shape(x) for x in tensors]
    out = _joined(shapes, place)
    dtype = tensors[0].dtype
    return run("concatenate", tuple(tensors), (out, dtype), axis=place)


def alike(values: Any) -> list[Any]:
    """Return values as tensors of one dtype: that of the first tensor, or of the first value."""
    first = next((value.dtype for value in values if is_dense(value)), None)
    tensors = []
    for value in values:
        tensors.append(value if is_dense(value) else convert(value, first))
        first = first or tensors[0].dtype
        if tensors[-1].dtype is not first:
            raise DTypeError(
                f"cannot join tensors of dtypes {first.name} and {tensors[-1].dtype.name}; tf.cast "
                "brings one to the other's dtype"
            )
    return tensors


def _joined(shapes: list[Any], axis: int) -> Any:
    if any(dims is None for dims in shapes):
        return None
    rank = len(shapes[0])
    if rank == 0:
        raise InvalidArgumentError("Can't concatenate scalars (use tf.stack instead)")
    if any(len(dims) != rank for dims in shapes):
        raise InvalidArgumentError(
            "ConcatOp : Dimension mismatch: shapes "
            + " vs. ".join(str(TensorShape(d)) for d in shapes)
        )
    if not -rank <= axis < rank:
        raise InvalidArgumentError(
            f"ConcatOp : Expected concatenating dimensions in the range [{-rank}, {rank}), but got "
            f"{axis}"
        )
    result: list[Any] = []
    for k in range(rank):
        sizes = [dims[k] for dims in shapes]
        if k == axis % rank:
            result.append(None if None in sizes else sum(sizes))
            continue
        known = set(sizes) - {None}
        if len(known) > 1:
            raise InvalidArgumentError(
                "ConcatOp : Dimension mismatch: shapes "
                + " vs. ".join(str(TensorShape(d)) for d in shapes)
            )
        result.append(known.pop() if known else None)
    return tuple(result)


def stack(values: Any, axis: Any = 0, name: str = "stack") -> Any:
    """Join along a new axis; mirrors ``tf.stack``.

    Examples
    --------
    >>> tf.stack([1, 2]).numpy()
    array([1, 2], dtype=int32)
    """
    if is_dense(values):
        if type(axis) is int and axis == 0:
            return values
        values = unstack(values)
    for value in values:
        joiner = getattr(type(value), "_stack", None)
        if joiner is not None:
            return joiner(values, number(axis))
    place = number(axis)
    if place == 0 and not any(map(is_dense, values)):
        # Numbers of several kinds have the type of a tensor made of them all.
        with contextlib.suppress(TypeError, ValueError):
            return convert(list(values))
    tensors = alike(values)
    if not tensors:
        raise ValueError("stack needs at least one tensor")
    merged = TensorShape(static_shape(tensors[0]))
    for x in tensors[1:]:
        try:
            merged = merged.merge_with(static_shape(x))
        except ValueError:
            raise InvalidArgumentError(
                f"Shapes of all inputs must match: values[0].shape = {merged} != "
                f"{TensorShape(static_shape(x))}"
            ) from None
    out: Any = None
    if merged.rank is not None:
        if not -merged.rank - 1 <= place <= merged.rank:
            raise ValueError(
                f"Argument `axis` = {place} not in range [{-merged.rank - 1}, {merged.rank + 1})"
            )
        at = place % (merged.rank + 1)
        dims = tuple(merged)
        out = (*dims[:at], len(tensors), *dims[at:])
    found = run("stack", tuple(tensors), (out, tensors[0].dtype), axis=place)
    if is_symbol(found) and merged.rank == 0:
        found._static = tuple(
            int(raw(x)) if is_plain(x) and x.dtype.is_integer else None for x in tensors
        )
    return found


def unstack(value: Any, num: int | None = None, axis: int = 0, name: str = "unstack") -> list[Any]:
    """Return the slices along an axis as a list; mirrors ``tf.unstack``."""
    x = convert(value)
    dims = static_shape(x)
    if dims is None:
        raise ValueError("Cannot infer argument `num` from an unknown shape")
    place = axis_of(axis, len(dims))
    count = dims[place] if num is None else num
    if count is None:
        raise ValueError(f"Cannot infer argument `num` from shape {TensorShape(dims)}")
    whole: list[Any] = [builtins.slice(None)] * place
    return [x[(*whole, k)] for k in range(count)]


@or_ragged
def split(
    value: Any, num_or_size_splits: Any, axis: Any = 0, num: int | None = None, name: str = "split"
) -> list[Any]:
    """Cut into pieces along an axis; mirrors ``tf.split``.

    Parameters
    ----------
    value
        The tensor.
    num_or_size_splits
        How many equal pieces, or their sizes, one of them perhaps -1.
    axis
        The axis.

    Examples
    --------
    >>> [x.numpy().tolist() for x in tf.split([1, 2, 3], [1, 2])]
    [[1], [2, 3]]
    """
    x, place = convert(value), number(axis)
    dims = static_shape(x)
    if dims is None:
        raise ValueError("split needs a tensor of known rank")
    place = axis_of(place, len(dims))
    whole = dims[place]
    if is_dense(num_or_size_splits) and static_shape(num_or_size_splits) == ():
        raise ValueError(
            "Rank-0 tensors are not supported as the num_or_size_splits argument to split, got "
            f"{num_or_size_splits}"
        )
    if isinstance(num_or_size_splits, int | np.integer) or np.ndim(raw(num_or_size_splits)) == 0:
        count = int(num_or_size_splits)
        if whole is None:
            return _equal_pieces(x, dims, place, count)
        if count < 1 or whole % count:
            raise InvalidArgumentError(
                "Number of ways to split should evenly divide the split dimension, but got "
                f"split_dim {place} (size = {whole}) and num_split {count}"
            )
        sizes = [whole // count] * count
    else:
        given = raw(convert(num_or_size_splits))
        if given.ndim != 1 or num not in (None, len(given)):
            raise InvalidArgumentError(
                "size of the split_tensor must be 1-D and have the same elements as outputs, got "
                f"shape {list(given.shape)}" + ("" if num is None else f" for {num} of them")
            )
        sizes = [int(item) for item in given]
        if sizes.count(-1) > 1:
            raise InvalidArgumentError("There can only be one -1 in the input.")
        if -1 in sizes and whole is not None:
            sizes[sizes.index(-1)] = whole - (sum(sizes) + 1)
        if whole is not None and (sum(sizes) != whole or min(sizes, default=0) < 0):
            raise InvalidArgumentError(
                "Determined shape must either match input shape along split_dim exactly if fully "
                f"specified, or be less than the size of the input along split_dim if not: {sizes}"
            )
    return _pieces(x, dims, place, sizes)


def _equal_pieces(x: Any, dims: Any, place: int, count: int) -> list[Any]:
    """Cut an axis whose size a run knows; there a size that does not divide is an error."""
    if count < 1:
        raise InvalidArgumentError(f"the number of pieces must be above zero, got {count}")
    front: list[Any] = [builtins.slice(None)] * place
    if dims.count(None) > 1:
        from .debugging import assert_equal

        whole = shape(x)[place]
        each = whole // count
        text = f"Number of ways to split should evenly divide the split dimension {place}"
        assert_equal(each * count, whole, text)
        return [x[(*front, builtins.slice(k * each, (k + 1) * each))] for k in range(count)]
    apart = reshape(x, [*dims[:place], count, -1, *dims[place + 1 :]])
    return [apart[(*front, k)] for k in range(count)]


def _pieces(x: Any, dims: Any, place: int, sizes: list[int]) -> list[Any]:
    """Cut pieces of these sizes; -1 is what the others leave."""

    def held(x: Any, size: int) -> Any:
        own = (*dims[:place], size, *dims[place + 1 :])
        known = [-1 if size is None else size for size in own]
        return run("ensure_shape", (x,), (own, x.dtype), shape=known)

    if dims[place] is None and -1 not in sizes:
        x = held(x, sum(sizes))
    rest = sizes.index(-1) if -1 in sizes else len(sizes)
    starts = np.concatenate([[0], np.cumsum(sizes)]).tolist()
    front: list[Any] = [builtins.slice(None)] * place
    cuts = []
    for k, size in enumerate(sizes):
        behind = sum(sizes[k + 1 :])
        if k < rest:
            cuts.append(builtins.slice(starts[k], starts[k] + size))
        elif k == rest:
            cuts.append(builtins.slice(starts[k], -behind or None))
        else:
            cuts.append(builtins.slice(-behind - size, -behind or None))
    pieces = [x[(*front, cut)] for cut in cuts]
    if dims[place] is not None or -1 not in sizes:
        return pieces
    return [x if size == -1 else held(x, size) for x, size in zip(pieces, sizes, strict=True)]


@or_ragged
def tile(input: Any, multiples: Any, name: str | None = None) -> Any:
    """Repeat the whole along each axis; mirrors ``tf.tile``."""
    tiler = getattr(input, "_tile", None)
    if tiler is not None:
        return tiler(multiples)
    x = convert(input)
    counts = sizes_of(multiples)
    dims = static_shape(x)
    known = known_sizes(counts)
    out: Any = None
    if dims is not None and known is not None:
        if len(dims) != len(known):
            raise InvalidArgumentError(
                f"Expected multiples argument to be a vector of length {len(dims)} but got length "
                f"{len(known)}"
            )
        pairs = zip(dims, known, strict=True)
        out = tuple(None if None in (a, b) else a * b for a, b in pairs)  # type: ignore[operator]
    if counts is None or vector(counts) is None:
        return run("tile", (x, convert(multiples)), (out, x.dtype))
    return run("tile", (x,), (out, x.dtype), reps=counts)


def repeat(input: Any, repeats: Any, axis: int | None = None, name: str | None = None) -> Any:
    """Repeat each value; mirrors ``tf.repeat``."""
    x, counts = convert(input), convert(repeats)
    if axis is None or static_shape(x) == ():
        x, axis = reshape(x, [-1]), 0 if axis is None else axis
    dims = static_shape(x)
    out: Any = None
    if dims is not None:
        place = axis_of(axis, len(dims))
        whole = _repeated(dims[place], counts)
        out = tuple(whole if k == place else dim for k, dim in enumerate(dims))
    return run("repeat", (x, counts), (out, x.dtype), axis=int(axis))


def _repeated(size: int | None, counts: Any) -> int | None:
    """Return the length of an axis with each value so often, where it is known."""
    if is_symbol(counts):
        return None
    given = raw(counts)
    if given.size != 1:
        return int(given.sum()) if given.ndim == 1 and (given >= 0).all() else None
    return None if size is None else size * max(int(given.reshape(())), 0)


def roll(input: Any, shift: Any, axis: Any, name: str | None = None) -> Any:
    """Move values along an axis, round the end; mirrors ``tf.roll``."""
    x = convert(input)
    along, by = raw(convert(axis)), convert(shift)
    if static_shape(by) not in (None, along.shape):
        raise InvalidArgumentError(
            f"shift and axis must have the same size, got shapes {static_shape(by)} and "
            f"{along.shape}"
        )
    axes = [number(k) for k in along.reshape(-1)]
    return run("roll", (x, by), (static_shape(x), x.dtype), axis=axes)


def pad(
    tensor: Any, paddings: Any, mode: str = "CONSTANT", constant_values: Any = 0,
    name: str | None = None,
) -> Any:  # fmt: skip
    """Add values around; mirrors ``tf.pad``.

    Parameters
    ----------
    tensor
        The tensor.
    paddings
        For each axis, how many before and how many after.
    mode
        ``"CONSTANT"``, ``"REFLECT"`` or ``"SYMMETRIC"``.
    constant_values
        The value of the first mode.

    Examples
    --------
    >>> tf.pad([1, 2], [[1, 1]]).numpy()
    array([0, 1, 2, 0], dtype=int32)
    """
    x = convert(tensor)
    given = paddings if is_dense(paddings) else convert(paddings)
    dims = static_shape(x)
    kinds = {"CONSTANT": "constant", "REFLECT": "reflect", "SYMMETRIC": "symmetric"}
    if mode.upper() not in kinds:
        raise ValueError(
            f"Value of argument `mode` expected to be one of {sorted(kinds)}. "
            f"Received `mode` = {mode.upper()}"
        )
    columns = static_shape(given)
    if columns is not None and (len(columns) != 2 or columns[1] not in (2, None)):
        text = f"paddings must be a matrix with 2 columns: {list(columns)}"
        raise InvalidArgumentError(text)
    out: Any = dims and (None,) * len(dims)
    if given.dtype not in (int32, int64):
        raise DTypeError(f"paddings are int32 or int64, got {given.dtype.name}")
    if is_plain(given) and (raw(given).ndim != 2 or raw(given).shape[1] != 2):
        raise InvalidArgumentError(
            f"paddings must be a matrix with 2 columns: {list(raw(given).shape)}"
        )
    if is_plain(given) and dims is not None:
        ends = raw(given).reshape(-1, 2).tolist()
        if len(ends) != len(dims):
            raise InvalidArgumentError(
                f"The first dimension of paddings must be the rank of inputs[{len(ends)},2] "
                f"{TensorShape(dims)}"
            )
        out = tuple(
            None if dim is None else dim + a + b for dim, (a, b) in zip(dims, ends, strict=True)
        )
    kind = kinds[mode.upper()]
    filler = convert(constant_values, None, x.dtype) if kind == "constant" else None
    if x.dtype.name == "bool" and filler is not None and filler.dtype is not x.dtype:
        filler = filler != 0
    if kind == "constant" and x.dtype.name == "string" and not is_dense(constant_values):
        filler = convert(b"" if constant_values == 0 else constant_values)
    extra = () if filler is None else (filler,)
    widths = raw(given).reshape(-1).tolist() if is_plain(given) else None
    if widths is None:
        extra = (*extra, given)
    return run("pad", (x, *extra), (out, x.dtype), mode=kind, widths=widths, strict=True)
