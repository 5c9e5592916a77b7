"""Choosing values: `where`, `gather`, `boolean_mask`, `one_hot`, scatters and more."""

from __future__ import annotations

from typing import Any

from ..errors import InvalidArgumentError
from .composite import or_ragged
from .convert import convert, is_dense, is_symbol
from .dtypes import as_dtype, float32, int8, int16, int32, int64, string, uint8
from .dtypes import bool as bool_
from .kernels import DTypeError, axis_of, broadcast, run, static_shape
from .operands import operands
from .sizes import number
from .tensor import raw

__all__ = [
    "boolean_mask",
    "dynamic_partition",
    "dynamic_stitch",
    "gather",
    "gather_nd",
    "one_hot",
    "scatter_nd",
    "tensor_scatter_nd_add",
    "tensor_scatter_nd_max",
    "tensor_scatter_nd_min",
    "tensor_scatter_nd_sub",
    "tensor_scatter_nd_update",
    "where",
]


@or_ragged
def where(condition: Any, x: Any = None, y: Any = None, name: str | None = None) -> Any:
    """Choose value by value, or find what is true; mirrors ``tf.where``.

    Parameters
    ----------
    condition
        bool.
    x, y
        Where it is true, and where it is false. Without them the result is the indices of what is
        true, int64 of shape ``[n, rank]``.

    Raises
    ------
    ValueError
        Only one of `x` and `y` is given.

    Examples
    --------
    >>> tf.where([True, False], 1, [2, 3]).numpy()
    array([1, 3], dtype=int32)
    >>> tf.where([False, True]).numpy()
    array([[1]])
    """
    for arg in (condition, x, y):
        chooser = getattr(arg, "_where", None)
        if chooser is not None:
            return chooser(condition, x, y)
    if (x is None) != (y is None):
        raise ValueError("x and y must both be non-None or both be None.")
    if x is None:
        found = convert(condition)
        dims = static_shape(found)
        out = (None, None if dims is None else len(dims))
        return run("argwhere", (found,), (out, int64))
    mask = convert(condition, bool_)
    first, second = operands("SelectV2", x, y, strict=True)
    shapes = map(static_shape, (mask, first, second))
    return run("select", (mask, first, second), (broadcast(*shapes), first.dtype))


def gather(
    params: Any, indices: Any, validate_indices: Any = None, axis: Any = None, batch_dims: int = 0,
    name: str | None = None,
) -> Any:  # fmt: skip
    """Return slices at some indices along an axis; mirrors ``tf.gather``.

    Raises
    ------
    InvalidArgumentError
        An index is outside.

    Examples
    --------
    >>> tf.gather([10, 20, 30], [2, 0]).numpy()
    array([30, 10], dtype=int32)
    """
    gatherer = getattr(params, "_gather", None) or getattr(indices, "_gather_by", None)
    if gatherer is not None:
        return gatherer(params, indices, axis, batch_dims)
    x, at = convert(params), convert(indices)
    if not at.dtype.is_integer:
        raise InvalidArgumentError(
            f"Value for attr 'Tindices' of {at.dtype.name} is not in the list of allowed values: "
            "int16, int32, int64"
        )
    dims, rows = static_shape(x), static_shape(at)
    if batch_dims < 0 and rows is not None:
        batch_dims += len(rows)
    along = batch_dims if axis is None else int(axis)
    out: Any = None
    if dims is not None and rows is not None:
        along = axis_of(along, len(dims))
        out = (*dims[:along], *rows[batch_dims:], *dims[along + 1 :])
    return run("take", (x, at), (out, x.dtype), axis=along, batch_dims=batch_dims, mode="strict")


@or_ragged
def gather_nd(
    params: Any, indices: Any, batch_dims: int = 0, name: str | None = None,
    bad_indices_policy: str | None = "",
) -> Any:  # fmt: skip
    """Return slices at some index vectors; mirrors ``tf.gather_nd``.

    Raises
    ------
    InvalidArgumentError
        An index vector is outside of `params`, unless `bad_indices_policy` is ``"IGNORE"``, which
        puts zeros there.

    Examples
    --------
    >>> tf.gather_nd([[1, 2], [3, 4]], [[0, 1], [5, 0]], bad_indices_policy="IGNORE").numpy()
    array([2, 0], dtype=int32)
    """
    mode = "zero" if _ignores(bad_indices_policy) else "strict"
    x, at = convert(params), convert(indices)
    if at.dtype not in (int16, int32, int64):
        raise DTypeError(f"indices are int16, int32 or int64, got {at.dtype.name}")
    dims, rows = static_shape(x), static_shape(at)
    if rows is not None and batch_dims and batch_dims >= len(rows):
        raise ValueError(
            f"Argument `batch_dims` = {batch_dims} must be less than rank(`indices`) = {len(rows)}"
        )
    if rows == ():
        raise InvalidArgumentError("indices must be at least a vector")
    out: Any = None
    if dims is not None and rows is not None and rows[-1] is not None:
        out = (*rows[:-1], *dims[batch_dims + rows[-1] :])
    return run("gather_nd", (x, at), (out, x.dtype), batch_dims=batch_dims, mode=mode)


def _ignores(policy: str | None) -> bool:
    """Tell whether index vectors outside are ignored."""
    if policy not in ("", "DEFAULT", "ERROR", "IGNORE", None):
        raise InvalidArgumentError(
            f"bad_indices_policy is DEFAULT, ERROR or IGNORE, got {policy!r}"
        )
    return policy == "IGNORE"


def boolean_mask(
    tensor: Any, mask: Any, axis: int | None = None, name: str = "boolean_mask"
) -> Any:
    """Return the rows where a mask is true; mirrors ``tf.boolean_mask``.

    Examples
    --------
    >>> tf.boolean_mask([1, 2, 3], [True, False, True]).numpy()
    array([1, 3], dtype=int32)
    """
    masker = getattr(tensor, "_mask", None)
    if masker is not None:
        return masker(mask)
    x = convert(tensor)
    # A mask of numbers is one: TensorFlow asks where it is not zero.
    keep = convert(mask)
    keep = keep if keep.dtype is bool_ else keep != convert(0, keep.dtype)
    along = 0 if axis is None else number(axis)
    dims, rows = static_shape(x), static_shape(keep)
    if rows == ():
        raise ValueError("mask cannot be scalar.")
    if dims is not None and rows is not None:
        masked = dims[along : along + len(rows)]
        if len(masked) < len(rows):
            raise ValueError(f"Shapes {masked} and {rows} are incompatible")
        for a, b in zip(dims[along : along + len(rows)], rows, strict=False):
            if None not in (a, b) and a != b:
                raise ValueError(f"Shapes {dims[along:]} and {rows} are incompatible")
    out = (
        None if dims is None or rows is None else (*dims[:along], None, *dims[along + len(rows) :])
    )

    key: list[Any] = [[None, None, None]] * along
    return run("index", (x, keep), (out, x.dtype), key=[*key, "i"])


@or_ragged
def one_hot(
    indices: Any, depth: Any, on_value: Any = None, off_value: Any = None, axis: int | None = None,
    dtype: Any = None, name: str | None = None,
) -> Any:  # fmt: skip
    """Return vectors with one value on; mirrors ``tf.one_hot``.

    Raises
    ------
    TypeError
        The dtypes of `on_value`, `off_value` and `dtype` differ.
    InvalidArgumentError
        The indices are no integers.

    Examples
    --------
    >>> tf.one_hot([1, -1], 3).numpy()
    array([[0., 1., 0.],
           [0., 0., 0.]], dtype=float32)
    """
    from .array_ops import expand_dims, reshape
    from .casting import cast
    from .creation import range as numbers

    x = convert(indices)
    if x.dtype not in (uint8, int8, int32, int64):
        raise DTypeError(f"indices are uint8, int8, int32 or int64, got {x.dtype.name}")
    given = [convert(value, dtype) for value in (on_value, off_value) if value is not None]
    target = as_dtype(dtype) if dtype is not None else given[0].dtype if given else float32
    for value in given:
        if value.dtype is not target:
            raise TypeError(
                f"dtype {value.dtype.name} of a value does not match dtype {target.name}; "
                "on_value, off_value and dtype must agree"
            )
    on = convert(1 if on_value is None else on_value, target)
    off = convert(0 if off_value is None else off_value, target)
    last = axis in (None, -1)
    place = static_shape(x)
    at = -1 if last else int(axis or 0)
    count = depth if is_dense(depth) else convert(depth, int32)
    if static_shape(count) not in (None, ()):
        raise InvalidArgumentError(f"depth must be a scalar, but got: {count}")
    if not is_symbol(count) and raw(count) < 0:
        raise InvalidArgumentError(f"depth must be non-negative, got: {raw(count)}")
    positions = cast(numbers(count), x.dtype)
    if not last:
        if place is None:
            raise ValueError("one_hot with axis= needs indices of known rank")
        positions = reshape(positions, [-1, *[1] * (len(place) - at)])
    hot = expand_dims(x, at) == positions
    return where(hot, on, off)


def scatter_nd(
    indices: Any, updates: Any, shape: Any, bad_indices_policy: str | None = "",
    name: str | None = None,
) -> Any:  # fmt: skip
    """Add updates into zeros; mirrors ``tf.scatter_nd``.

    With ``bad_indices_policy="IGNORE"`` places that are none are ignored.

    Examples
    --------
    >>> tf.scatter_nd([[1], [3], [1]], [5, 6, 7], [4]).numpy()
    array([ 0, 12,  0,  6], dtype=int32)
    """
    from .creation import zeros

    values = convert(updates)
    # Of some there is no sum; the last one stays.
    op = "update" if values.dtype in (bool_, string) else "add"
    return _scattered(op, zeros(shape, values.dtype), indices, values, bad_indices_policy)


def _scattered(op: str, tensor: Any, indices: Any, updates: Any, policy: str | None) -> Any:
    from .array_ops import shape
    from .reductions import reduce_all

    x, at = convert(tensor), convert(indices)
    values = convert(updates, None, x.dtype)
    if values.dtype is not x.dtype:
        raise TypeError(f"expected updates of {x.dtype.name}, got {values.dtype.name}")
    if x.dtype.is_complex and op in ("add", "subtract"):
        from .elementwise import imag, real
        from .numerics import complex

        first, second = (_scattered(op, part(x), at, part(values), policy) for part in (real, imag))
        return complex(first, second)
    if _ignores(policy):
        sizes = shape(x, at.dtype)[: (static_shape(at) or (None,))[-1]]
        inside = reduce_all((at >= convert(0, at.dtype)) & (at < sizes), -1)
        at, values = boolean_mask(at, inside), boolean_mask(values, inside)
    return run("scatter", (x, at, values), (static_shape(x), x.dtype), op=op)


def _scatter(name: str, op: str, what: str) -> Any:
    def scatter(
        tensor: Any, indices: Any, updates: Any, bad_indices_policy: str | None = "",
        name: str | None = None,
    ) -> Any:  # fmt: skip
        return _scattered(op, tensor, indices, updates, bad_indices_policy)

    def update(tensor: Any, indices: Any, updates: Any, name: str | None = None) -> Any:
        return _scattered(op, tensor, indices, updates, "")

    made: Any = update if op == "update" else scatter
    made.__name__ = made.__qualname__ = name
    made.__doc__ = f"""Return a copy {what}; mirrors ``tf.{name}``.

    Parameters
    ----------
    tensor
        What is copied.
    indices
        Of shape ``[..., k]``: places in its first k axes.
    updates
        A slice of the other axes for each place.
    bad_indices_policy
        ``"IGNORE"`` for places that are none to be ignored.

    Raises
    ------
    InvalidArgumentError
        A place is none, or the shapes do not fit.
    """
    return made


tensor_scatter_nd_update = _scatter(
    "tensor_scatter_nd_update", "update", "with some slices replaced"
)
tensor_scatter_nd_add = _scatter("tensor_scatter_nd_add", "add", "with something added to slices")
tensor_scatter_nd_sub = _scatter(
    "tensor_scatter_nd_sub", "subtract", "with something taken from slices"
)
tensor_scatter_nd_max = _scatter("tensor_scatter_nd_max", "max", "with the larger values in slices")
tensor_scatter_nd_min = _scatter(
    "tensor_scatter_nd_min", "min", "with the smaller values in slices"
)


def dynamic_partition(
    data: Any, partitions: Any, num_partitions: int, name: str | None = None
) -> list[Any]:
    """Distribute rows to some tensors; mirrors ``tf.dynamic_partition``."""
    from .array_ops import expand_dims
    from .control import Assert
    from .reductions import reduce_all

    x, which = convert(data), convert(partitions)
    if which.dtype is not int32:
        raise DTypeError(f"partitions are int32, got {which.dtype.name}")
    if num_partitions < 1:
        raise InvalidArgumentError(f"num_partitions must be at least 1, got {num_partitions}")
    if static_shape(which) == ():
        x, which = expand_dims(x, 0), expand_dims(which, 0)
    fits = reduce_all((which >= convert(0, which.dtype)) & (which < num_partitions))
    Assert(fits, [f"partitions are not all in [0, {num_partitions}):", which])
    return [boolean_mask(x, which == number) for number in range(num_partitions)]


def dynamic_stitch(indices: Any, data: Any, name: str | None = None) -> Any:
    """Put rows together again; mirrors ``tf.dynamic_stitch``."""
    from .array_ops import reshape, shape
    from .creation import zeros
    from .joining import alike, concat
    from .reductions import reduce_max

    places, values = [convert(k) for k in indices], alike(list(data))
    for k in places:
        if k.dtype is not int32:
            raise DTypeError(f"indices are int32, got {k.dtype.name}")
    rank = len(static_shape(places[0]) or ())
    row = shape(values[0])[rank:]
    at = concat([reshape(k, [-1]) for k in places], 0)
    rows = concat([reshape(x, concat([[-1], row], 0)) for x in values], 0)
    count = reduce_max(concat([at, [-1]], 0)) + 1
    made = zeros(concat([[count], row], 0), rows.dtype)
    found = tensor_scatter_nd_update(made, reshape(at, [-1, 1]), rows)
    dims = static_shape(values[0])
    if is_symbol(found) and dims is not None:
        found.set_shape((None, *dims[rank:]))
    return found
