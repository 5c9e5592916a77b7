"""Shapes: `reshape`, `expand_dims`, `transpose`, `slice`, `broadcast_to` and more."""

from __future__ import annotations

import builtins
from typing import Any

import numpy as np

from ..errors import InvalidArgumentError
from .composite import or_ragged
from .convert import convert, is_symbol
from .dtypes import as_dtype, int32
from .kernels import run, sized, static_shape
from .shapes import TensorShape
from .sizes import axis_number, known_sizes, sizes_of, vector
from .tensor import Tensor, raw, wrap

__all__ = [
    "broadcast_dynamic_shape",
    "broadcast_static_shape",
    "broadcast_to",
    "ensure_shape",
    "expand_dims",
    "identity",
    "identity_n",
    "rank",
    "reshape",
    "reverse",
    "shape",
    "shape_n",
    "size",
    "slice",
    "squeeze",
    "stop_gradient",
    "strided_slice",
    "transpose",
]

# As many axes as an array of NumPy can have.
_MOST_AXES = 64


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
    if sizes is not None and len(sizes) > _MOST_AXES:
        raise InvalidArgumentError(
            f"too many dimensions: must be <= {_MOST_AXES}, but received {len(sizes)}"
        )
    if sizes is None or unknown:
        return sized("reshape_by", (x, convert(shape)), known_sizes(sizes), x.dtype)
    if dims is not None and None not in dims:
        _check_reshape(dims, sizes)
        sizes = list(_reshaped(dims, sizes))
    return run("reshape", (x,), (_reshaped(dims, sizes), x.dtype), shape=sizes)


def _plain(sizes: list[Any]) -> list[Any]:
    return [item for item in sizes if not is_symbol(item)]


def _reshaped(dims: Any, sizes: list[int]) -> Any:
    """Return the resulting shape, with -1 worked out where that is possible."""
    if -1 not in sizes or dims is None or None in dims:
        return tuple(None if item == -1 else item for item in sizes)
    # Where sizes of nothing are asked for, those of the tensor do not count.
    rest = int(np.prod([item for item in sizes if item not in (-1, 0)], dtype=int))
    total = int(np.prod([item for item in dims if item or 0 not in sizes], dtype=int))
    return tuple(total // rest if item == -1 else item for item in sizes)


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
    """Insert an axis of size 1; mirrors ``tf.expand_dims``.

    Raises
    ------
    InvalidArgumentError
        There is no such place, or `axis` is more than one number.
    """
    expander = getattr(input, "_expand_dims", None)
    if expander is not None:
        return expander(axis)
    x, place = convert(input), axis_number(axis)
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


@or_ragged
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


@or_ragged
def reverse(tensor: Any, axis: Any, name: str | None = None) -> Any:
    """Reverse along axes; mirrors ``tf.reverse``."""
    mapper = getattr(tensor, "_reverse", None)
    if mapper is not None:
        return mapper(axis)
    x = convert(tensor)
    axes = raw(convert(axis))
    if axes.size and axes.dtype.kind not in "iu":
        raise InvalidArgumentError(f"axis is made of integers, got {axes.dtype}")
    if axes.ndim != 1:
        raise InvalidArgumentError(f"'dims' must be 1-dimension, not {axes.ndim}")
    dims = static_shape(x)
    if dims is None:
        if axes.tolist() not in ([0], [-1]):
            raise ValueError("reverse needs a tensor of known rank")
        back = builtins.slice(None, None, -1)
        return x[back] if axes[0] == 0 else x[..., back]
    for k in axes.tolist():
        if not -len(dims) <= k < len(dims):
            raise InvalidArgumentError(
                f"'axis' = {k} is out of valid range [{-len(dims)}, {len(dims) - 1}]"
            )
    flipped = [k % len(dims) for k in axes.tolist()]
    for k in flipped:
        if flipped.count(k) > 1:
            raise InvalidArgumentError(f"axis {k} specified more than once, in {axes.tolist()}")
    key = [builtins.slice(None, None, -1 if k in flipped else None) for k in range(len(dims))]
    return x[tuple(key)] if key else x


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
        out: Any = dims and (None,) * len(dims)
        return run("block", (x, convert(begin), convert(size)), (out, x.dtype))
    if not _plain_all(starts, sizes):
        out = tuple(None if is_symbol(item) or item == -1 else item for item in sizes)
        return sized("block", (x, convert(starts), convert(sizes)), out, x.dtype)
    if dims is not None:
        if not len(starts) == len(sizes) == len(dims):
            raise InvalidArgumentError(
                f"begin and size must have one number for each of {len(dims)} axes, got "
                f"{list(starts)} and {list(sizes)}"
            )
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


def strided_slice(
    input_: Any, begin: Any, end: Any, strides: Any = None, begin_mask: int = 0, end_mask: int = 0,
    ellipsis_mask: int = 0, new_axis_mask: int = 0, shrink_axis_mask: int = 0, var: Any = None,
    name: str | None = None,
) -> Any:  # fmt: skip
    """Return ``input_[begin:end:strides]`` with masks; mirrors ``tf.strided_slice``."""
    given = [begin, end] if strides is None else [begin, end, strides]
    parts = [sizes_of(part) for part in given]
    counts = [len(part) for part in parts if part is not None]
    x = convert(input_)
    if not counts:
        dims = static_shape(x)
        masked = ellipsis_mask or new_axis_mask or shrink_axis_mask
        out = None if dims is None or masked else (None,) * len(dims)
        return begin._tracer.unrecorded("strided_slice of an unknown number of axes", out, x.dtype)
    starts, stops, *rest = (
        sizes_of(ensure_shape(part, [counts[0]])) or [] if found is None else found
        for part, found in zip(given, parts, strict=True)
    )
    if any(len(part) != len(starts) for part in (stops, *rest)):
        shown = ", ".join(f"[{len(part)}]" for part in (starts, stops, *rest))
        raise InvalidArgumentError(
            f"Expected begin, end, and strides to be 1D equal size tensors, but got shapes {shown}"
        )
    key: list[Any] = []
    for k, (start, stop) in enumerate(zip(starts, stops, strict=True)):
        step = rest[0][k] if rest else 1
        bit = 1 << k
        if ellipsis_mask & bit:
            key.append(Ellipsis)
        elif new_axis_mask & bit:
            key.append(None)
        elif shrink_axis_mask & bit:
            key.append(start)
        elif not is_symbol(step) and step == 0:
            raise InvalidArgumentError(f"strides[{k}] must be non-zero")
        else:
            key.append(
                builtins.slice(
                    None if begin_mask & bit else start, None if end_mask & bit else stop, step
                )
            )
    return x[tuple(key)]


def broadcast_to(input: Any, shape: Any, name: str | None = None) -> Any:
    """Repeat axes of size 1; mirrors ``tf.broadcast_to``."""
    x, sizes = convert(input), sizes_of(shape)
    if sizes is None or vector(sizes) is None:
        return sized("broadcast_by", (x, convert(shape)), known_sizes(sizes), x.dtype)
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
    from .control import Assert
    from .creation import ones
    from .gathering import where
    from .joining import concat
    from .reductions import reduce_all

    sides = convert(shape_x), convert(shape_y)
    ranks = [dims[0] if dims else None for dims in map(static_shape, sides)]
    if None in ranks:
        raise InvalidArgumentError("shapes must be of known rank when they are broadcast together")
    most = max(rank or 0 for rank in ranks)
    x, y = (
        concat([ones([most - (rank or 0)], side.dtype), side], 0)
        for rank, side in zip(ranks, sides, strict=True)
    )
    Assert(reduce_all((x == y) | (x == 1) | (y == 1)), ["Incompatible shapes:", x, y])
    return where(x == 1, y, x)


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
