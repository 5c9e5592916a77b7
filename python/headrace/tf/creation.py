"""New tensors: `zeros`, `fill`, `range`, `eye` and more."""

from __future__ import annotations

import builtins
import math
from typing import Any

import numpy as np

from ..errors import InvalidArgumentError, ResourceExhaustedError
from .convert import convert, is_dense, is_symbol
from .dtypes import (
    DType,
    as_dtype,
    bfloat16,
    float16,
    float32,
    float64,
    int8,
    int16,
    int32,
    int64,
    string,
    uint16,
    uint32,
    uint64,
)
from .dtypes import bool as bool_
from .kernels import DTypeError, axis_of, broadcast, python, run, sized, static_shape
from .sizes import known_sizes, sizes_of, vector
from .tensor import raw, wrap

__all__ = [
    "eye",
    "fill",
    "linspace",
    "meshgrid",
    "ones",
    "ones_like",
    "range",
    "sequence_mask",
    "zeros",
    "zeros_like",
]


def _filled(shape: Any, value: Any, dtype: DType) -> Any:
    """Return a tensor of one value, a stand-in where only a run knows the shape."""
    sizes = sizes_of(shape)
    kind = dtype.dtype
    if sizes is not None and (plain := vector(sizes)) is not None:
        if any(size < 0 for size in plain):
            raise InvalidArgumentError(f"Dimension {min(plain)} must be >= 0")
        return wrap(_full(plain, value, kind))
    value = value != 0 if dtype is bool_ else value
    return sized("fill", (convert(shape), convert(value, dtype)), known_sizes(sizes), dtype)


def _full(sizes: Any, value: Any, kind: Any) -> Any:
    """Return an array of one value; sizes that no memory holds have TensorFlow's errors."""
    shape = f"[{','.join(map(str, sizes))}]"
    if math.prod(sizes) > 2**63 - 1:
        raise InvalidArgumentError(f"Shape {shape} would have more than 2**63 - 1 elements")
    try:
        return np.full(sizes, value, kind)
    except (MemoryError, ValueError):  # ValueError: as many bytes have no address
        raise ResourceExhaustedError(f"OOM when allocating tensor with shape{shape}") from None


def zeros(shape: Any, dtype: Any = float32, name: str | None = None, layout: Any = None) -> Any:
    """Return zeros, or empty strings; mirrors ``tf.zeros``.

    Examples
    --------
    >>> tf.zeros([2]).numpy()
    array([0., 0.], dtype=float32)
    """
    target = as_dtype(dtype)
    return _filled(shape, b"" if target is string else 0, target)


def ones(shape: Any, dtype: Any = float32, name: str | None = None, layout: Any = None) -> Any:
    """Return ones; mirrors ``tf.ones``."""
    return _filled(shape, 1, as_dtype(dtype))


def fill(dims: Any, value: Any, name: str | None = None, layout: Any = None) -> Any:
    """Return a tensor of one value; mirrors ``tf.fill``.

    Examples
    --------
    >>> tf.fill([2], 7).numpy()
    array([7, 7], dtype=int32)
    """
    from .array_ops import broadcast_to

    filler = convert(value)
    if static_shape(filler) not in ((), None):
        raise InvalidArgumentError(f"value must be a scalar. Got shape {filler.shape}")
    if is_symbol(filler):
        return broadcast_to(filler, dims)
    return _filled(dims, raw(filler).item(), filler.dtype)


def _like(input: Any, dtype: Any, value: int) -> Any:
    mapper = getattr(type(input), "_map_values", None)
    if mapper is not None:
        return mapper(lambda values: _like(values, dtype, value), input)
    x = convert(input)
    target = x.dtype if dtype is None else as_dtype(dtype)
    if target is string and value and dtype is None:
        raise DTypeError("there are no ones of dtype string")
    filler: Any = (b"" if value == 0 else b"1") if target is string else value
    filler = value != 0 if target is bool_ else filler
    dims = static_shape(x)
    if dims is not None and None not in dims:
        return _filled(dims, filler, target)
    return run("full_like", (x, convert(filler, target)), (dims, target))


def zeros_like(input: Any, dtype: Any = None, name: str | None = None, layout: Any = None) -> Any:
    """Return zeros of the shape of another tensor; mirrors ``tf.zeros_like``."""
    return _like(input, dtype, 0)


def ones_like(input: Any, dtype: Any = None, name: str | None = None, layout: Any = None) -> Any:
    """Return ones of the shape of another tensor; mirrors ``tf.ones_like``."""
    return _like(input, dtype, 1)


_ORDER = (int32, int64, float16, bfloat16, float32, float64)


def range(
    start: Any, limit: Any = None, delta: Any = 1, dtype: Any = None, name: str = "range"
) -> Any:
    """Return evenly spaced numbers; mirrors ``tf.range``.

    Examples
    --------
    >>> tf.range(3).numpy(), tf.range(1, 2, 0.5).numpy()
    (array([0, 1, 2], dtype=int32), array([1. , 1.5], dtype=float32))
    """
    if limit is None:
        start, limit = 0, start
    ends = [start, limit, delta]
    if dtype is not None:
        target = as_dtype(dtype)
        tensors = [_as(end, target) for end in ends]
    else:
        tensors = [convert(end) for end in ends]
        kinds = [x.dtype for x in tensors]
        target = max((kind for kind in kinds if kind in _ORDER), key=_ORDER.index, default=kinds[0])
        tensors = [_as(x, target) for x in tensors]

    if target not in _RANGES:
        raise DTypeError(f"there are no ranges of dtype {target.name}")
    if not any(map(is_symbol, tensors)):
        _check_range(*map(raw, tensors))
    if target.is_integer or any(map(is_symbol, tensors)):
        return run("range", tuple(tensors), ((None,), target), rounded=False)
    first, last, step = map(raw, tensors)
    count = int(np.ceil(np.abs((last - first) / step))) if (last - first) * step > 0 else 0
    return wrap((first + np.arange(count, dtype=target.dtype) * step).astype(target.dtype))


_RANGES = (*_ORDER, int8, int16, uint16, uint32, uint64)


def _check_range(first: Any, last: Any, step: Any) -> None:
    if step == 0:
        raise InvalidArgumentError("Requires delta != 0: 0")
    if first > last if step > 0 else first < last:
        order, sign = ("<=", ">") if step > 0 else (">=", "<")
        raise InvalidArgumentError(
            f"Requires start {order} limit when delta {sign} 0: {first}/{last}"
        )


def _as(value: Any, dtype: DType) -> Any:
    from .casting import cast

    return cast(value, dtype) if is_dense(value) else cast(convert(value), dtype)


def linspace(start: Any, stop: Any, num: Any, name: str | None = None, axis: int = 0) -> Any:
    """Return `num` values from `start` to `stop`; mirrors ``tf.linspace``."""
    from .array_ops import broadcast_to, expand_dims
    from .casting import cast
    from .joining import concat

    first = convert(start)
    last = convert(stop, first.dtype)
    if first.dtype.is_integer:
        kind = float32 if first.dtype.size < 4 else float64
        first, last = cast(first, kind), cast(last, kind)
    kind, dims = first.dtype, broadcast(static_shape(first), static_shape(last))
    if dims is None:
        compute = lambda low, high, n: np.linspace(low, high, int(n), axis=axis)  # noqa: E731
        return python("linspace of an unknown rank", compute, (None, kind), first, last,
                      convert(num))  # fmt: skip
    place = axis_of(axis, len(dims) + 1)
    if is_symbol(num) or None in dims:
        return _linspace_of_computed(first, last, cast(convert(num), int32), place)
    count = int(num)
    if count < 1:
        return zeros((*dims[:place], 0, *dims[place:]), kind)
    # As TensorFlow does, so that each value is rounded alike: both ends are as given.
    steps = np.arange(1, max(count - 1, 1), dtype=kind.dtype)
    steps = steps.reshape([-1 if k == place else 1 for k in _axes(len(dims) + 1)])
    first, last = (expand_dims(broadcast_to(x, dims), place) for x in (first, last))
    step = (last - first) / max(count - 1, 1)
    return concat([first, first + step * steps, last] if count > 1 else [first], place)


def _linspace_of_computed(first: Any, last: Any, num: Any, place: int) -> Any:
    """Return what `linspace` does where only a run knows the number of values, or the sizes."""
    from .arithmetic import maximum
    from .array_ops import expand_dims, reshape
    from .casting import cast
    from .joining import concat

    first, last = first + zeros_like(last), last + zeros_like(first)
    rank = len(static_shape(first) or ())
    gaps = maximum(num - 1, 1)
    steps = cast(range(1, gaps), first.dtype)
    steps = reshape(steps, [-1 if k == place else 1 for k in _axes(rank + 1)])
    first, last = expand_dims(first, place), expand_dims(last, place)
    step = (last - first) / cast(gaps, first.dtype)
    found = concat([first, first + step * steps, last], place)
    return found[(*[slice(None)] * place, slice(None, num))]


_axes = builtins.range


def eye(
    num_rows: Any, num_columns: Any = None, batch_shape: Any = None, dtype: Any = float32,
    name: str | None = None,
) -> Any:  # fmt: skip
    """Return identity matrices; mirrors ``tf.eye``."""
    if is_symbol(num_rows) or is_symbol(num_columns):
        from .array_ops import broadcast_to
        from .casting import cast
        from .comparison import equal

        columns = num_rows if num_columns is None else num_columns
        ones = cast(equal(range(num_rows)[:, None], range(columns)), dtype)
        outer = sizes_of(batch_shape) if batch_shape is not None else []
        return broadcast_to(ones, [*(outer or ()), num_rows, columns]) if outer else ones
    for count in (num_rows, num_columns):
        if count is not None and count < 0:
            raise InvalidArgumentError(f"Dimension {int(count)} must be >= 0")
    matrix = np.eye(int(num_rows), None if num_columns is None else int(num_columns))
    matrix = matrix.astype(as_dtype(dtype).dtype)
    if batch_shape is not None:
        matrix = np.broadcast_to(matrix, (*(sizes_of(batch_shape) or ()), *matrix.shape)).copy()
    return wrap(matrix)


def meshgrid(*args: Any, indexing: str = "xy", **kwargs: Any) -> list[Any]:
    """Return coordinate grids; mirrors ``tf.meshgrid``."""
    from .array_ops import broadcast_to, reshape, size

    if indexing not in ("xy", "ij"):
        raise ValueError(
            f"Argument `indexing` parameter must be either 'xy' or 'ij', got '{indexing}'"
        )
    tensors = [convert(arg) for arg in args]
    for x in tensors[1:]:
        if x.dtype is not tensors[0].dtype and bool_ not in (x.dtype, tensors[0].dtype):
            raise DTypeError(
                f"grids are of one dtype, got {tensors[0].dtype.name} and {x.dtype.name}"
            )
    rank = len(tensors)
    flat = [reshape(x, [-1]) for x in tensors]
    order = [*_axes(rank)]
    if indexing == "xy" and rank > 1:
        order[:2] = [1, 0]
    whole: list[Any] = [None] * rank
    for x, axis in zip(flat, order, strict=True):
        count = size(x)
        whole[axis] = count if is_symbol(count) else int(count)
    return [
        broadcast_to(reshape(x, [-1 if k == axis else 1 for k in _axes(rank)]), whole)
        for x, axis in zip(flat, order, strict=True)
    ]


def sequence_mask(
    lengths: Any, maxlen: Any = None, dtype: Any = bool_, name: str | None = None
) -> Any:
    """Return which positions lie before each length; mirrors ``tf.sequence_mask``."""
    from .casting import cast

    x, target = convert(lengths), as_dtype(dtype)
    dims = static_shape(x)
    width = None if maxlen is None or is_symbol(maxlen) else int(maxlen)
    if width is not None and width < 0:
        raise InvalidArgumentError(f"maxlen must not be negative, got {width}")
    if not x.dtype.is_integer:
        x = cast(x, int32)
    if maxlen is None or width is not None:
        out = (None if dims is None else (*dims, width), bool_)
        return cast(run("sequence_mask", (x,), out, maxlen=width), target)
    from .array_ops import expand_dims
    from .comparison import less

    return cast(less(cast(range(maxlen), x.dtype), expand_dims(x, -1)), target)
