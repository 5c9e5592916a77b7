"""Shapes and joining: `reshape`, `concat`, `stack`, `split`, `transpose`, `pad` and more."""

from __future__ import annotations

import builtins
from typing import Any

import numpy as np

from ..errors import InvalidArgumentError
from .convert import convert, is_dense, is_symbol
from .dtypes import as_dtype, int32
from .kernels import python, run, static_shape
from .shapes import TensorShape
from .sizes import known_sizes, number, sizes_of, vector
from .tensor import Tensor, raw, wrap

__all__ = [
    "broadcast_dynamic_shape",
    "broadcast_static_shape",
    "broadcast_to",
    "concat",
    "ensure_shape",
    "expand_dims",
    "identity",
    "identity_n",
    "pad",
    "rank",
    "repeat",
    "reshape",
    "reverse",
    "roll",
    "shape",
    "shape_n",
    "size",
    "slice",
    "split",
    "squeeze",
    "stack",
    "stop_gradient",
    "strided_slice",
    "tile",
    "transpose",
    "unstack",
]


def shape(input: Any, out_type: Any = None, name: str | None = None) -> Any:
    """Return the sizes as a tensor; mirrors ``tf.shape``.

    Examples
    --------
    >>> tf.shape([[1, 2]]).numpy()
    array([1, 2], dtype=int32)
    """
    from .casting import cast

    target = int32 if out_type is None else as_dtype(out_type)
    dynamic = getattr(input, "_dynamic_shape", None)
    if dynamic is not None:
        return dynamic(target)
    x = convert(input)
    dims = static_shape(x)
    if dims is not None and None not in dims:
        return wrap(np.asarray(dims, target.dtype))
    found = cast(run("shape", (x,), ((None if dims is None else len(dims),), target)), target)
    found._static = dims
    return found


def shape_n(input: Any, out_type: Any = int32, name: str | None = None) -> list[Any]:
    """Return the sizes of each tensor; mirrors ``tf.shape_n``."""
    return [shape(x, out_type) for x in input]


def size(input: Any, out_type: Any = None, name: str | None = None) -> Any:
    """Return the number of values; mirrors ``tf.size``."""
    from .reductions import reduce_prod

    target = int32 if out_type is None else as_dtype(out_type)
    values = getattr(input, "flat_values", None)
    if values is not None and getattr(input, "_is_composite", False):
        return size(values, target)
    dims = shape(input, target)
    return wrap(np.asarray(raw(dims).prod(), target.dtype)) if is_plain(dims) else reduce_prod(dims)


def is_plain(x: Any) -> builtins.bool:
    """Tell whether `x` is a tensor whose value is known."""
    return type(x) is Tensor


def rank(input: Any, name: str | None = None) -> Any:
    """Return the number of axes; mirrors ``tf.rank``."""
    ragged = getattr(input, "_is_composite", False)
    x = input if ragged else convert(input)
    axes = x.shape.rank
    if axes is None:
        return size(shape(x))
    return wrap(np.int32(axes))


def reshape(tensor: Any, shape: Any, name: str | None = None) -> Any:
    """Return the same values in another shape; mirrors ``tf.reshape``.

    Parameters
    ----------
    tensor
        The values.
    shape
        Sizes, at most one of them -1; tensors among them are fine.

    Raises
    ------
    InvalidArgumentError
        The number of values does not fit.

    Examples
    --------
    >>> tf.reshape([1, 2, 3, 4], [2, -1]).numpy()
    array([[1, 2],
           [3, 4]], dtype=int32)
    """
    x = convert(tensor)
    sizes = sizes_of(shape)
    dims = static_shape(x)
    unknown = [] if sizes is None else [k for k, item in enumerate(sizes) if is_symbol(item)]
    if sizes is not None and len(unknown) == 1 and -1 not in _plain(sizes):
        # The one size that only a run knows follows from the others.
        sizes[unknown[0]], unknown = -1, []
    if sizes is None or unknown:
        symbol = (
            shape if is_symbol(shape) else next(item for item in sizes or () if is_symbol(item))
        )
        return symbol._tracer.unrecorded(
            "reshape to a shape that a run computes", known_sizes(sizes), x.dtype
        )
    if dims is not None and None not in dims:
        _check_reshape(dims, sizes)
    return run("reshape", (x,), (_reshaped(dims, sizes), x.dtype), shape=sizes)


def _plain(sizes: list[Any]) -> list[Any]:
    return [item for item in sizes if not is_symbol(item)]


def _reshaped(dims: Any, sizes: list[int]) -> Any:
    """Return the resulting shape, with -1 worked out where that is possible."""
    if -1 not in sizes or dims is None or None in dims:
        return tuple(None if item == -1 else item for item in sizes)
    rest = int(np.prod([item for item in sizes if item != -1], dtype=int))
    total = int(np.prod(dims, dtype=int))
    return tuple((total // rest if rest else 0) if item == -1 else item for item in sizes)


def _check_reshape(dims: Any, sizes: list[int]) -> None:
    total = int(np.prod(dims, dtype=int))
    wanted = int(np.prod([item for item in sizes if item != -1], dtype=int))
    if sizes.count(-1) > 1:
        raise InvalidArgumentError("Only one input size may be -1, not both")
    if -1 not in sizes and total != wanted:
        raise InvalidArgumentError(
            f"Input to reshape is a tensor with {total} values, but the requested shape has "
            f"{wanted}"
        )
    if -1 in sizes and wanted and total % wanted:
        raise InvalidArgumentError(
            f"Input to reshape is a tensor with {total} values, but the requested shape requires "
            f"a multiple of {wanted}"
        )


def expand_dims(input: Any, axis: Any, name: str | None = None) -> Any:
    """Insert an axis of size 1; mirrors ``tf.expand_dims``."""
    expander = getattr(input, "_expand_dims", None)
    if expander is not None:
        return expander(axis)
    x, place = convert(input), number(axis)
    dims = static_shape(x)
    if dims is not None and not -len(dims) - 1 <= place <= len(dims):
        raise InvalidArgumentError(
            f"Tried to expand dim index {place} for tensor with {len(dims)} dimensions."
        )
    out: Any = None
    if dims is not None:
        at = place % (len(dims) + 1)
        out = (*dims[:at], 1, *dims[at:])
    return run("expand_dims", (x,), (out, x.dtype), axis=place)


def squeeze(input: Any, axis: Any = None, name: str | None = None) -> Any:
    """Remove axes of size 1; mirrors ``tf.squeeze``."""
    x = convert(input)
    dims = static_shape(x)
    axes = None if axis is None else [int(k) for k in np.atleast_1d(raw(axis))]
    if axes == []:
        axes = None
    out: Any = None
    if dims is not None and axes is not None:
        for k in axes:
            if not -len(dims) <= k < len(dims):
                raise InvalidArgumentError(
                    f"Tried to squeeze dim index {k} for tensor with {len(dims)} dimensions."
                )
            if dims[k] not in (None, 1):
                raise InvalidArgumentError(
                    f"Can not squeeze dim[{k}], expected a dimension of 1, got {dims[k]}"
                )
        gone = [k % len(dims) for k in axes]
        out = tuple(dim for k, dim in enumerate(dims) if k not in gone)
    elif dims is not None and None not in dims:
        out = tuple(dim for dim in dims if dim != 1)
    return run("squeeze", (x,), (out, x.dtype), axis=axes)


def transpose(
    a: Any, perm: Any = None, conjugate: builtins.bool = False, name: str | None = None
) -> Any:
    """Permute the axes, reverse them by default; mirrors ``tf.transpose``."""
    from .elementwise import conj

    x = convert(a)
    axes = None if perm is None else [int(k) for k in raw(convert(perm))]
    dims = static_shape(x)
    order = axes if axes is not None or dims is None else list(range(len(dims)))[::-1]
    if dims is not None and sorted(k % max(len(dims), 1) for k in order or ()) != list(
        range(len(dims))
    ):
        raise InvalidArgumentError(
            f"transpose expects a vector of size {len(dims)}. But input(1) is {axes}"
        )
    out = None if dims is None or order is None else tuple(dims[k] for k in order)
    found = run("transpose", (x,), (out, x.dtype), axes=axes)
    return conj(found) if conjugate else found


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
    tensors, place = _alike(values), number(axis)
    if len(tensors) == 1:
        return identity(tensors[0])
    shapes = [static_shape(x) for x in tensors]
    out = _joined(shapes, place)
    dtype = tensors[0].dtype
    return run("concatenate", tuple(tensors), (out, dtype), axis=place)


def _alike(values: Any) -> list[Any]:
    """Return values as tensors of one dtype: that of the first tensor, or of the first value."""
    from .kernels import DTypeError

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
        values = unstack(values)
    for value in values:
        joiner = getattr(type(value), "_stack", None)
        if joiner is not None:
            return joiner(values, number(axis))
    tensors, place = _alike(values), number(axis)
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
    count = dims[axis] if num is None else num
    if count is None:
        raise ValueError(f"Cannot infer argument `num` from shape {TensorShape(dims)}")
    whole: list[Any] = [builtins.slice(None)] * (axis % len(dims))
    return [x[(*whole, k)] for k in range(count)]


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
    place %= len(dims)
    whole = dims[place]
    if isinstance(num_or_size_splits, int | np.integer) or np.ndim(raw(num_or_size_splits)) == 0:
        count = int(num_or_size_splits)
        if whole is None:
            each = [(*dims[:place], None, *dims[place + 1 :])] * count
            outs: list[Any] = [(dims, x.dtype) for dims in each]
            pieces: list[Any] = python("split", lambda a: np.split(a, count, place), outs, x)
            return pieces
        if count < 1 or whole % count:
            raise InvalidArgumentError(
                "Number of ways to split should evenly divide the split dimension, but got "
                f"split_dim {place} (size = {whole}) and num_split {count}"
            )
        sizes = [whole // count] * count
    else:
        sizes = [int(item) for item in raw(convert(num_or_size_splits))]
        if -1 in sizes and whole is not None:
            sizes[sizes.index(-1)] = whole - (sum(sizes) + 1)
        if whole is not None and sum(sizes) != whole:
            raise InvalidArgumentError(
                "Determined shape must either match input shape along split_dim exactly if fully "
                f"specified, or be less than the size of the input along split_dim if not: {sizes}"
            )
    ends = np.cumsum(sizes)
    front: list[Any] = [builtins.slice(None)] * place
    return [
        x[(*front, builtins.slice(int(end) - length, int(end)))]
        for end, length in zip(ends, sizes, strict=True)
    ]


def reverse(tensor: Any, axis: Any, name: str | None = None) -> Any:
    """Reverse along axes; mirrors ``tf.reverse``."""
    mapper = getattr(tensor, "_reverse", None)
    if mapper is not None:
        return mapper(axis)
    x = convert(tensor)
    dims = static_shape(x)
    if dims is None:
        raise ValueError("reverse needs a tensor of known rank")
    flipped = [int(k) % max(len(dims), 1) for k in np.atleast_1d(raw(axis))]
    key = [builtins.slice(None, None, -1 if k in flipped else None) for k in range(len(dims))]
    return x[tuple(key)] if key else x


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
        args: tuple[Any, ...] = (x, convert(multiples))
        return python("tile", np.tile, (out, x.dtype), *args)
    if out is None or None in out:
        return python("tile", lambda a: np.tile(a, counts), (out, x.dtype), x)
    # Each axis gets one of size 1 before it, which is broadcast.
    spread, target = [], []
    for dim, count in zip(dims or (), counts, strict=True):
        spread += [1, dim]
        target += [count, dim]
    wide = run("broadcast_to", (reshape(x, spread),), (tuple(target), x.dtype), shape=target)
    return reshape(wide, list(out))


def repeat(input: Any, repeats: Any, axis: int | None = None, name: str | None = None) -> Any:
    """Repeat each value; mirrors ``tf.repeat``."""
    x, counts = convert(input), convert(repeats)
    dims = static_shape(x)
    out: Any = (None,)
    if axis is not None:
        out = (
            None
            if dims is None
            else tuple(None if k == axis % len(dims) else d for k, d in enumerate(dims))
        )
    return python("repeat", lambda a, n: np.repeat(a, n, axis), (out, x.dtype), x, counts)


def roll(input: Any, shift: Any, axis: Any, name: str | None = None) -> Any:
    """Move values along an axis, round the end; mirrors ``tf.roll``."""
    x = convert(input)
    args = (x, convert(shift), convert(axis))
    compute = lambda a, s, k: np.roll(a, s.tolist(), k.tolist())  # noqa: E731
    return python("roll", compute, (static_shape(x), x.dtype), *args)


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
            f"Value of argument `mode` expected to be one of {sorted(kinds)}. Received {mode}"
        )
    out: Any = dims and (None,) * len(dims)
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
    if kind == "constant" and x.dtype.name == "string" and not is_dense(constant_values):
        filler = convert(b"" if constant_values == 0 else constant_values)
    if (
        kind == "constant"
        and is_plain(given)
        and is_plain(filler)
        and out is not None
        and None not in out
    ):
        return _pad_recorded(x, raw(given).reshape(-1, 2).tolist(), filler)
    extra = () if filler is None else (filler,)

    def compute(array: Any, ends: Any, value: Any = None) -> Any:
        if value is None:
            return np.pad(array, ends, kind)  # type: ignore[call-overload]
        return np.pad(array, ends, "constant", constant_values=value.item())

    return python("pad", compute, (out, x.dtype), x, given, *extra)


def _pad_recorded(x: Any, ends: list[list[int]], filler: Any) -> Any:
    """Pad by joining constant pieces, which the engine can record."""
    value = raw(filler).item()
    for axis, (before, after) in enumerate(ends):
        pieces = [x]
        for count, front in ((before, True), (after, False)):
            if count:
                dims = list(static_shape(x) or ())
                dims[axis] = count
                piece = wrap(np.full(dims, value, x.dtype.dtype))
                pieces = [piece, *pieces] if front else [*pieces, piece]
        x = concat(pieces, axis) if len(pieces) > 1 else x
    return x


def slice(input_: Any, begin: Any, size: Any, name: str | None = None) -> Any:
    """Return a block; mirrors ``tf.slice``.

    Examples
    --------
    >>> tf.slice([1, 2, 3], [1], [-1]).numpy()
    array([2, 3], dtype=int32)
    """
    slicer = getattr(input_, "_slice", None)
    if slicer is not None:
        return slicer(begin, size)
    x = convert(input_)
    dims = static_shape(x)
    starts, sizes = sizes_of(begin), sizes_of(size)
    if starts is None or sizes is None:
        return python(
            "slice",
            _block,
            (dims and (None,) * len(dims), x.dtype),
            x,
            convert(begin),
            convert(size),
        )
    if not _plain_all(starts, sizes):
        out = tuple(None if is_symbol(item) or item == -1 else item for item in sizes)
        return python("slice", _block, (out, x.dtype), x, convert(starts), convert(sizes))
    if dims is not None:
        for k, (start, length) in enumerate(zip(starts, sizes, strict=True)):
            if dims[k] is None:
                continue
            if not 0 <= start <= dims[k]:
                raise InvalidArgumentError(
                    f"Expected begin[{k}] in [0, {dims[k]}], but got {start}"
                )
            if length != -1 and not 0 <= length <= dims[k] - start:
                raise InvalidArgumentError(
                    f"Expected size[{k}] in [0, {dims[k] - start}], but got {length}"
                )
    key = [
        builtins.slice(start, None if length == -1 else start + length)
        for start, length in zip(starts, sizes, strict=True)
    ]
    return x[tuple(key)] if key else x


def _plain_all(*lists: list[Any]) -> builtins.bool:
    return not any(is_symbol(item) for items in lists for item in items)


def _block(array: Any, starts: Any, sizes: Any) -> Any:
    pairs = zip(starts.tolist(), sizes.tolist(), strict=True)
    return array[tuple(builtins.slice(a, None if n == -1 else a + n) for a, n in pairs)]


def strided_slice(
    input_: Any, begin: Any, end: Any, strides: Any = None, begin_mask: int = 0, end_mask: int = 0,
    ellipsis_mask: int = 0, new_axis_mask: int = 0, shrink_axis_mask: int = 0, var: Any = None,
    name: str | None = None,
) -> Any:  # fmt: skip
    """Return ``input_[begin:end:strides]`` with masks; mirrors ``tf.strided_slice``."""
    starts, stops = sizes_of(begin) or [], sizes_of(end) or []
    steps = [1] * len(starts) if strides is None else sizes_of(strides) or []
    key: list[Any] = []
    for k, (start, stop, step) in enumerate(zip(starts, stops, steps, strict=True)):
        bit = 1 << k
        if ellipsis_mask & bit:
            key.append(Ellipsis)
        elif new_axis_mask & bit:
            key.append(None)
        elif shrink_axis_mask & bit:
            key.append(start)
        else:
            key.append(
                builtins.slice(
                    None if begin_mask & bit else start, None if end_mask & bit else stop, step
                )
            )
    return convert(input_)[tuple(key)]


def broadcast_to(input: Any, shape: Any, name: str | None = None) -> Any:
    """Repeat axes of size 1; mirrors ``tf.broadcast_to``."""
    x, sizes = convert(input), sizes_of(shape)
    if sizes is None or vector(sizes) is None:
        return python(
            "broadcast_to", np.broadcast_to, (known_sizes(sizes), x.dtype), x, convert(shape)
        )
    return run("broadcast_to", (x,), (tuple(sizes), x.dtype), shape=sizes)


def broadcast_static_shape(shape_x: Any, shape_y: Any) -> TensorShape:
    """Return the shape that two shapes have together; mirrors ``tf.broadcast_static_shape``."""
    from .kernels import broadcast

    first, second = TensorShape(shape_x), TensorShape(shape_y)
    dims = [None if s.rank is None else tuple(s) for s in (first, second)]
    try:
        return TensorShape(broadcast(*dims))
    except InvalidArgumentError:
        raise ValueError(f"Incompatible shapes for broadcasting: {first} and {second}") from None


def broadcast_dynamic_shape(shape_x: Any, shape_y: Any) -> Any:
    """Return the shape that two shape tensors have together."""
    x, y = convert(shape_x), convert(shape_y)
    compute = lambda a, b: np.asarray(np.broadcast_shapes(tuple(a), tuple(b)), a.dtype)  # noqa: E731
    return python("broadcast_dynamic_shape", compute, ((None,), x.dtype), x, y)


def ensure_shape(x: Any, shape: Any, name: str | None = None) -> Any:
    """Check the shape, and state it; mirrors ``tf.ensure_shape``.

    Raises
    ------
    InvalidArgumentError
        It is another.
    """
    checker = getattr(x, "_ensure_shape", None)
    if checker is not None:
        return checker(shape)
    x = convert(x)
    known, wanted = TensorShape(static_shape(x)), TensorShape(shape)
    if not known.is_compatible_with(wanted):
        shown = "[" + ",".join("?" if d is None else str(d) for d in wanted) + "]"
        own = "[" + ",".join("?" if d is None else str(d) for d in known) + "]"
        raise InvalidArgumentError(
            f"Shape of tensor input {own} is not compatible with expected shape {shown}."
        )
    if is_symbol(x) and not known.is_subtype_of(wanted):
        merged = known.merge_with(wanted)
        sizes = [-1 if size is None else size for size in wanted]
        return run("ensure_shape", (x,), (tuple(merged), x.dtype), shape=sizes)
    return x


def identity(input: Any, name: str | None = None) -> Any:
    """Return the same tensor; mirrors ``tf.identity``."""
    if getattr(input, "_is_composite", False):
        return input
    return convert(input)


def identity_n(input: Any, name: str | None = None) -> list[Any]:
    """Return the same tensors; mirrors ``tf.identity_n``."""
    return [identity(x) for x in input]


def stop_gradient(input: Any, name: str | None = None) -> Any:
    """Return the same tensor: there are no gradients; mirrors ``tf.stop_gradient``."""
    return identity(input)
