"""Sparse tensors; mirrors ``tf.sparse``.

A `SparseTensor` is indices, values and dense shape, which may be tensors, or symbols in a traced
function.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from .. import spec as own_spec
from .. import tensors as own
from ..errors import InvalidArgumentError
from . import dtypes
from .composite import Composite
from .convert import convert, is_symbol
from .crossing import cross, cross_hashed
from .dtypes import DType, int64
from .kernels import run_all, static_shape, symbol_of
from .names import lookup
from .shapes import TensorShape
from .tensor import raw, wrap

__all__ = [
    "SparseTensor",
    "SparseTensorValue",
    "add",
    "concat",
    "cross",
    "cross_hashed",
    "expand_dims",
    "eye",
    "fill_empty_rows",
    "from_dense",
    "map_values",
    "mask",
    "reduce_max",
    "reduce_sum",
    "reorder",
    "reset_shape",
    "reshape",
    "retain",
    "slice",
    "split",
    "to_dense",
    "to_indicator",
    "transpose",
]


class _SparseParts(NamedTuple):
    indices: Any
    values: Any
    dense_shape: Any


class SparseTensorValue(_SparseParts):
    """Indices, values and dense shape as they are; mirrors ``tf.compat.v1.SparseTensorValue``.

    Where a tensor is expected, it is one: it is no structure of three.
    """

    __slots__ = ()
    _is_leaf = True

    def to_tensor(self) -> SparseTensor:
        """Return it as a `SparseTensor`."""
        return SparseTensor.from_value(self)


class SparseTensor(Composite):
    """An array in coordinate form; mirrors ``tf.sparse.SparseTensor``.

    Parameters
    ----------
    indices
        int64 of shape ``[n, rank]``.
    values
        The values, shape ``[n]``.
    dense_shape
        int64 of shape ``[rank]``.

    Examples
    --------
    >>> sparse = tf.SparseTensor([[1]], [7], [3])
    >>> sparse.shape, tf.sparse.to_dense(sparse).numpy()
    (TensorShape([3]), array([0, 7, 0], dtype=int32))
    """

    __slots__ = ("_dense_shape", "_indices", "_static", "_symbol", "_values")

    def __init__(self, indices: Any, values: Any, dense_shape: Any) -> None:
        from .casting import cast

        self._values = convert(values)
        self._indices = cast(convert(indices), int64)
        self._dense_shape = cast(convert(dense_shape), int64)
        if not is_symbol(self._indices) and raw(self._indices).size == 0:
            rank = raw(self._dense_shape).size if not is_symbol(self._dense_shape) else -1
            self._indices = wrap(
                raw(self._indices).reshape(-1, rank)
                if rank > 0
                else raw(self._indices).reshape(0, 0)
            )
        self._symbol: Any = None
        self._static: TensorShape | None = None
        dims = static_shape(self._indices)
        if dims is not None and len(dims) != 2:
            raise ValueError(f"Shape {TensorShape(dims)} must have rank 2")

    @classmethod
    def of_own(cls, value: own.SparseTensor) -> SparseTensor:
        """Return a sparse value of the engine; nothing is copied."""
        from .bridge import from_own

        made = object.__new__(cls)
        made._indices, made._values = wrap(value.indices), from_own(value.values)
        made._dense_shape, made._symbol, made._static = wrap(value.dense_shape), None, None
        return made

    @classmethod
    def of_symbol(cls, symbol: Any) -> SparseTensor:
        """Return the stand-in for a sparse value."""
        made = object.__new__(cls)
        made._indices, made._values = symbol._part("indices"), symbol._part("values")
        made._dense_shape, made._symbol = symbol._part("dense_shape"), symbol
        made._static = TensorShape(symbol._spec.shape)
        made._dense_shape._static = symbol._spec.shape
        return made

    @classmethod
    def from_value(cls, sparse_tensor_value: Any) -> SparseTensor:
        """Return a sparse tensor like an object with the same three attributes."""
        value = sparse_tensor_value
        return cls(value.indices, value.values, value.dense_shape)

    @property
    def indices(self) -> Any:
        """Where the values are."""
        return self._indices

    @property
    def values(self) -> Any:
        """The values."""
        return self._values

    @property
    def dense_shape(self) -> Any:
        """The sizes, a tensor."""
        return self._dense_shape

    @property
    def dtype(self) -> DType:
        """The type of the values."""
        return self._values.dtype  # type: ignore[no-any-return]

    @property
    def shape(self) -> TensorShape:
        """The sizes."""
        if self._static is not None:
            return self._static
        if not is_symbol(self._dense_shape):
            return TensorShape(raw(self._dense_shape).tolist())
        if self._dense_shape._static is not None:
            return TensorShape(self._dense_shape._static)
        rank = static_shape(self._dense_shape)
        return TensorShape(None if not rank or rank[0] is None else [None] * rank[0])

    @property
    def rank(self) -> int | None:
        """The number of axes."""
        return self.shape.rank

    @property
    def _type_spec(self) -> Any:
        from .specs import SparseTensorSpec

        return SparseTensorSpec(self.shape, self.dtype)

    def _own_spec(self) -> Any:
        shape = self.shape
        dims = None if shape.rank is None else tuple(shape)
        return own_spec.SparseTensorSpec(dims, dtypes.to_own(self.dtype))

    def _to_own(self) -> Any:
        if symbol_of((self._indices, self._values, self._dense_shape)) is not None:
            return self
        return own.SparseTensor(raw(self._indices), raw(self._values), raw(self._dense_shape))

    def with_values(self, new_values: Any) -> SparseTensor:
        """Return other values in the same places."""
        return SparseTensor(self._indices, new_values, self._dense_shape)

    def _dynamic_shape(self, dtype: DType) -> Any:
        from .casting import cast

        return cast(self._dense_shape, dtype)

    def set_shape(self, shape: Any) -> None:
        """State what the shape will be."""
        self._static = self.shape.merge_with(shape)

    def numpy(self) -> Any:
        """Return the dense array."""
        return to_dense(self).numpy()

    def eval(self, feed_dict: Any = None, session: Any = None) -> Any:
        """Return the value itself."""
        return self

    @staticmethod
    def _map_values(function: Callable[..., Any], *args: Any) -> Any:
        return map_values(function, *args)

    @staticmethod
    def _concat(values: Any, axis: int) -> Any:
        return concat(axis, values)

    def __eq__(self, other: object) -> Any:
        return self is other

    def __hash__(self) -> int:
        return id(self)

    def __reduce__(self) -> Any:
        return SparseTensor, (self._indices, self._values, self._dense_shape)

    def __repr__(self) -> str:
        return (
            f"SparseTensor(indices={self._indices!s}, values={self._values!s}, "
            f"dense_shape={self._dense_shape!s})"
        )


def parts(x: Any) -> tuple[Any, ...]:
    """Return what the engine gets of a tensor: itself, or the three parts of a sparse one."""
    return (x.indices, x.values, x.dense_shape) if isinstance(x, SparseTensor) else (x,)


def made(op: str, args: tuple[Any, ...], dtype: DType, rank: int | None, **attrs: Any) -> Any:
    """Run or record an op of the engine that gives the three parts of a sparse tensor."""
    outs: list[Any] = [((None, rank), int64), ((None,), dtype), ((rank,), int64)]
    return SparseTensor(*run_all(op, args, outs, **attrs))


def _needs(name: str, st: Any, rank: Any = -1) -> Any:
    """Return a stand-in for what becomes of a sparse symbol; None for a value."""
    found = symbol_of((st._indices, st._values, st._dense_shape))
    if found is None:
        return None
    shape = st.shape
    dims = (None if shape.rank is None else (None,) * shape.rank) if rank == -1 else rank
    return found._tracer.stand_in(name, own_spec.SparseTensorSpec(dims, dtypes.to_own(st.dtype)))


def _sorted(indices: Any, values: Any, dims: Any) -> SparseTensor:
    if len(indices) > 1:
        order = np.lexsort(indices.T[::-1])
        indices, values = indices[order], values[order]
    return SparseTensor(
        np.asarray(indices, np.int64).reshape(len(values), len(dims)),
        values,
        np.asarray(dims, np.int64),
    )


def from_dense(tensor: Any, name: str | None = None) -> Any:
    """Return what is not zero, or not empty; mirrors ``tf.sparse.from_dense``."""
    x = convert(tensor)
    if is_symbol(x):
        from .array_ops import shape
        from .gathering import gather_nd, where

        indices = where(x)
        return SparseTensor(indices, gather_nd(x, indices), shape(x, int64))
    array = raw(x)
    at = np.argwhere(array != (b"" if array.dtype == object else 0))
    return SparseTensor(
        at, array[tuple(at.T)] if array.ndim else array.reshape(-1)[: len(at)], array.shape
    )


def to_dense(
    sp_input: Any, default_value: Any = None, validate_indices: bool = True, name: str | None = None
) -> Any:
    """Return the dense tensor; mirrors ``tf.sparse.to_dense``.

    Raises
    ------
    InvalidArgumentError
        Indices out of order, or outside of the shape.
    """
    st = sp_input
    found = symbol_of(parts(st))
    if found is not None:
        from .kernels import sized

        dims = None if st.shape.rank is None else tuple(st.shape)
        empty: Any = b"" if st.dtype is dtypes.string else 0
        filler = convert(empty if default_value is None else default_value, st.dtype)
        return sized("sparse_to_dense", (*parts(st), filler), dims, st.dtype)
    fill = None if default_value is None else raw(convert(default_value, st.dtype)).item()
    at, dims = raw(st._indices), raw(st._dense_shape)
    if at.size:
        outside = (at < 0).any(1) | (at >= dims).any(1)
        if outside.any():
            k = int(np.argmax(outside))
            raise InvalidArgumentError(
                f"indices[{k}] = {at[k].tolist()} is out of bounds: need 0 <= index < "
                f"{dims.tolist()}"
            )
        if validate_indices and len(at) > 1:
            flat = np.ravel_multi_index(tuple(at.T), tuple(dims))
            steps = np.diff(flat)
            if (steps <= 0).any():
                k = int(np.argmax(steps <= 0)) + 1
                what = "repeated" if steps[k - 1] == 0 else "out of order"
                raise InvalidArgumentError(f"indices[{k}] = {at[k].tolist()} is {what}")
    return wrap(st._to_own().to_dense(fill))


def reorder(sp_input: Any, name: str | None = None) -> Any:
    """Return the values in row-major order; mirrors ``tf.sparse.reorder``."""
    found = _needs("sparse.reorder", sp_input)
    if found is not None:
        return found
    return _sorted(raw(sp_input.indices), raw(sp_input.values), raw(sp_input.dense_shape))


def slice(sp_input: Any, start: Any, size: Any, name: str | None = None) -> Any:
    """Return a block; mirrors ``tf.sparse.slice``."""
    found = _needs("sparse.slice", sp_input)
    if found is not None:
        return found
    first = raw(convert(start)).astype(np.int64)
    dims = raw(sp_input.dense_shape)
    last = np.minimum(first + raw(convert(size)).astype(np.int64), dims)
    at = raw(sp_input.indices)
    keep = ((at >= first) & (at < last)).all(1)
    return SparseTensor(at[keep] - first, raw(sp_input.values)[keep], np.maximum(last - first, 0))


def reshape(sp_input: Any, shape: Any, name: str | None = None) -> Any:
    """Return the same values in another shape; mirrors ``tf.sparse.reshape``."""
    target = raw(convert(shape)) if not is_symbol(shape) else None
    found = _needs("sparse.reshape", sp_input, None if target is None else (None,) * len(target))
    if found is not None:
        return found
    assert target is not None
    dims = raw(sp_input.dense_shape)
    sizes = target.astype(np.int64)
    if -1 in sizes:
        rest = int(np.prod(sizes[sizes != -1]))
        sizes[sizes == -1] = int(np.prod(dims)) // rest if rest else 0
    if np.prod(sizes) != np.prod(dims):
        raise InvalidArgumentError(
            f"Input to reshape is a tensor with {np.prod(dims)} dense values, but the requested "
            f"shape has {np.prod(sizes)}"
        )
    flat = (
        np.ravel_multi_index(tuple(raw(sp_input.indices).T), tuple(dims))
        if np.prod(dims)
        else np.zeros(0, np.int64)
    )
    at = (
        np.stack(np.unravel_index(flat, tuple(sizes)), 1)
        if len(flat)
        else np.zeros((0, len(sizes)), np.int64)
    )
    return SparseTensor(at, sp_input.values, sizes)


def expand_dims(sp_input: Any, axis: int | None = None, name: str | None = None) -> Any:
    """Insert an axis of size 1; mirrors ``tf.sparse.expand_dims``."""
    shape = sp_input.shape
    place = (-1 if axis is None else int(axis)) % (shape.rank + 1)
    dims = (*list(shape)[:place], 1, *list(shape)[place:])
    found = _needs("sparse.expand_dims", sp_input, dims)
    if found is not None:
        return found
    at = np.insert(raw(sp_input.indices), place, 0, axis=1)
    return SparseTensor(at, sp_input.values, dims)


def concat(
    axis: int, sp_inputs: Any, expand_nonconcat_dims: bool = False, name: str | None = None
) -> Any:
    """Join along an axis; mirrors ``tf.sparse.concat``."""
    items = list(sp_inputs)
    for st in items:
        found = _needs("sparse.concat", st)
        if found is not None:
            return found
    rank = items[0].shape.rank
    along = axis % rank
    shapes = np.stack([raw(st.dense_shape) for st in items])
    others = np.delete(shapes, along, 1)
    if not expand_nonconcat_dims and (others != others[0]).any():
        raise InvalidArgumentError(
            f"Concat: the sizes of the other axes must match, got {shapes.tolist()}"
        )
    at, offset = [], 0
    for st, dims in zip(items, shapes, strict=True):
        moved = raw(st.indices).copy()
        moved[:, along] += offset
        offset += int(dims[along])
        at.append(moved)
    whole = shapes.max(0)
    whole[along] = offset
    return _sorted(np.concatenate(at), np.concatenate([raw(st.values) for st in items]), whole)


def split(
    sp_input: Any = None, num_split: int | None = None, axis: int | None = None,
    name: str | None = None,
) -> list[Any]:  # fmt: skip
    """Cut into pieces along an axis; mirrors ``tf.sparse.split``."""
    assert num_split is not None
    assert axis is not None
    dims = raw(sp_input.dense_shape)
    size, more = divmod(int(dims[axis]), num_split)
    pieces, start = [], 0
    for k in range(num_split):
        length = size + (k < more)
        first, block = np.zeros(len(dims), np.int64), dims.copy()
        first[axis], block[axis] = start, length
        pieces.append(slice(sp_input, first, block))
        start += length
    return pieces


def transpose(sp_input: Any, perm: Any = None, name: str | None = None) -> Any:
    """Permute the axes; mirrors ``tf.sparse.transpose``."""
    found = _needs("sparse.transpose", sp_input)
    if found is not None:
        return found
    dims = raw(sp_input.dense_shape)
    order = np.arange(len(dims))[::-1] if perm is None else raw(convert(perm))
    return _sorted(raw(sp_input.indices)[:, order], raw(sp_input.values), dims[order])


def retain(sp_input: Any, to_retain: Any) -> Any:
    """Keep some of the values; mirrors ``tf.sparse.retain``."""
    found = _needs("sparse.retain", sp_input)
    if found is not None:
        return found
    keep = raw(convert(to_retain))
    return SparseTensor(
        raw(sp_input.indices)[keep], raw(sp_input.values)[keep], sp_input.dense_shape
    )


def reset_shape(sp_input: Any, new_shape: Any = None) -> Any:
    """Change the dense shape; mirrors ``tf.sparse.reset_shape``."""
    found = _needs("sparse.reset_shape", sp_input)
    if found is not None:
        return found
    at = raw(sp_input.indices)
    dims = at.max(0, initial=-1) + 1 if new_shape is None else raw(convert(new_shape))
    if new_shape is not None and (dims < raw(sp_input.dense_shape)).any():
        raise InvalidArgumentError(f"the new shape {dims.tolist()} is smaller than the old one")
    return SparseTensor(at, sp_input.values, dims)


def fill_empty_rows(sp_input: Any, default_value: Any, name: str | None = None) -> Any:
    """Give each row without values one; mirrors ``tf.sparse.fill_empty_rows``."""
    at, values, dims = raw(sp_input.indices), raw(sp_input.values), raw(sp_input.dense_shape)
    empty = np.ones(int(dims[0]), np.bool_)
    empty[at[:, 0]] = False
    rows = np.flatnonzero(empty)
    more = np.zeros((len(rows), len(dims)), np.int64)
    more[:, 0] = rows
    fill = np.full(len(rows), raw(convert(default_value, sp_input.dtype)).item(), values.dtype)
    return _sorted(np.concatenate([at, more]), np.concatenate([values, fill]), dims), wrap(empty)


def to_indicator(sp_input: Any, vocab_size: int, name: str | None = None) -> Any:
    """Return which values occur in each row; mirrors ``tf.sparse.to_indicator``."""
    at, dims = raw(sp_input.indices), raw(sp_input.dense_shape)
    made = np.zeros((*dims[:-1], int(vocab_size)), np.bool_)
    made[(*at[:, :-1].T, raw(sp_input.values))] = True
    return wrap(made)


def map_values(op: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """Apply a function to the values; mirrors ``tf.sparse.map_values``."""
    first = next(arg for arg in (*args, *kwargs.values()) if isinstance(arg, SparseTensor))
    plain = [arg.values if isinstance(arg, SparseTensor) else arg for arg in args]
    named = {k: v.values if isinstance(v, SparseTensor) else v for k, v in kwargs.items()}
    return first.with_values(op(*plain, **named))


def mask(a: Any, mask_indices: Any, name: str | None = None) -> Any:
    """Not supported: slices with gradients belong to training."""
    raise NotImplementedError("tf.sparse.mask works on IndexedSlices, which headrace.tf has not")


def eye(
    num_rows: Any, num_columns: Any = None, dtype: Any = dtypes.float32, name: str | None = None
) -> Any:
    """Return an identity matrix; mirrors ``tf.sparse.eye``."""
    from .creation import eye as dense

    return from_dense(dense(num_rows, num_columns, dtype=dtype))


def add(a: Any, b: Any, threshold: Any = 0) -> Any:
    """Return the sum; mirrors ``tf.sparse.add``."""
    first, second = (to_dense(x) if isinstance(x, SparseTensor) else convert(x) for x in (a, b))
    total = first + second
    both = isinstance(a, SparseTensor) and isinstance(b, SparseTensor)
    if not both:
        return total
    at = np.unique(np.concatenate([raw(a.indices), raw(b.indices)]), axis=0)
    values = raw(total)[tuple(at.T)]
    keep = np.abs(values) > threshold if threshold else np.ones(len(at), np.bool_)
    return SparseTensor(at[keep], values[keep], raw(a.dense_shape))


def reduce_sum(
    sp_input: Any, axis: Any = None, keepdims: bool = False, output_is_sparse: bool = False,
    name: str | None = None,
) -> Any:  # fmt: skip
    """Return sums along axes; mirrors ``tf.sparse.reduce_sum``."""
    from .reductions import reduce_sum as dense

    found = dense(to_dense(sp_input, validate_indices=False), axis, keepdims)
    return from_dense(found) if output_is_sparse else found


def reduce_max(
    sp_input: Any, axis: Any = None, keepdims: bool = False, output_is_sparse: bool = False,
    name: str | None = None,
) -> Any:  # fmt: skip
    """Return the largest values along axes; mirrors ``tf.sparse.reduce_max``."""
    from .creation import zeros_like
    from .gathering import where
    from .reductions import reduce_max as dense

    st = sp_input
    low = st.dtype.min
    stored = to_dense(st.with_values(np.ones(raw(st.values).shape, np.bool_)))
    filled = to_dense(st, low)
    best = dense(filled, axis, keepdims)
    some = convert(np.any(raw(stored), None if axis is None else axis, keepdims=keepdims))
    found = where(some, best, zeros_like(best))
    return from_dense(found) if output_is_sparse else found


__getattr__ = lookup(__name__)
