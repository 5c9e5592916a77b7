"""The class `tf.RaggedTensor`: values and row splits.

Both may be tensors, or symbols in a traced function.
"""

from __future__ import annotations

import builtins
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from .. import spec as own_spec
from .. import tensors as own
from ..errors import InvalidArgumentError
from . import dtypes
from .composite import Composite
from .convert import convert, is_symbol
from .dtypes import DType, as_dtype, int32, int64
from .kernels import run, static_shape
from .shapes import TensorShape
from .tensor import Tensor, raw, wrap

__all__ = ["RaggedTensor"]


class RaggedTensor(Composite):
    """Rows of differing lengths; mirrors ``tf.RaggedTensor``.

    Made by `tf.ragged.constant`, the ``from_*`` class methods, and by ops that split.

    Examples
    --------
    >>> ragged = tf.ragged.constant([[1, 2], [3]])
    >>> ragged
    <tf.RaggedTensor [[1, 2], [3]]>
    >>> ragged.shape, ragged.to_tensor().numpy().tolist()
    (TensorShape([2, None]), [[1, 2], [3, 0]])
    """

    __slots__ = ("_rows", "_splits", "_symbol", "_uniform", "_values")
    _is_ragged = True

    def __init__(self, values: Any, row_splits: Any, uniform: int | None = None) -> None:
        self._values = values
        self._splits = row_splits
        self._symbol: Any = None  # the engine's symbol, if it is this very value
        self._uniform = uniform
        self._rows: int | None = None  # their number, if it is known though the splits' is not

    # Making.

    @classmethod
    def of_own(cls, value: own.RaggedTensor) -> RaggedTensor:
        """Return a ragged value of the engine; nothing is copied."""
        inner = value.values
        values = cls.of_own(inner) if isinstance(inner, own.RaggedTensor) else _dense(inner)
        return cls(values, wrap(np.asarray(value.row_splits)))

    @classmethod
    def of_symbol(cls, symbol: Any) -> RaggedTensor:
        """Return the stand-in for a ragged value."""
        values = symbol._part("values")
        depth = symbol._spec.ragged_rank
        for index in reversed(builtins.range(depth)):
            values = cls(values, symbol._part("splits", index))
        made: RaggedTensor = values
        made._symbol = symbol
        return made

    @classmethod
    def from_row_splits(
        cls, values: Any, row_splits: Any, name: str | None = None, validate: bool = True
    ) -> RaggedTensor:
        """Make one of values and where rows begin and end."""
        splits = _splits(row_splits)
        values = values if isinstance(values, RaggedTensor) else convert(values)
        if validate and type(splits) is Tensor:
            found = raw(splits)
            if found.ndim != 1 or found.size == 0:
                raise InvalidArgumentError("row_splits must be a vector of at least one value")
            if found[0] != 0:
                raise InvalidArgumentError(
                    "Arguments do not form a valid RaggedTensor: row_splits must start with 0"
                )
            if (np.diff(found) < 0).any():
                raise InvalidArgumentError(
                    "Arguments do not form a valid RaggedTensor: row_splits must not fall"
                )
            if not is_symbol(values) and found[-1] != _count(values):
                raise InvalidArgumentError(
                    "Arguments do not form a valid RaggedTensor: row_splits must end with the "
                    f"number of values {_count(values)}, not {found[-1]}"
                )
        return cls(values, splits)

    @classmethod
    def from_row_lengths(
        cls, values: Any, row_lengths: Any, name: str | None = None, validate: bool = True
    ) -> RaggedTensor:
        """Make one of values and the length of each row."""
        lengths = _splits(row_lengths)
        size = static_shape(lengths)
        out = (None if not size or size[0] is None else size[0] + 1,)
        splits = run("row_splits", (lengths,), (out, lengths.dtype))
        return cls.from_row_splits(values, splits, validate=validate)

    @classmethod
    def from_row_starts(
        cls, values: Any, row_starts: Any, name: str | None = None, validate: bool = True
    ) -> RaggedTensor:
        """Make one of values and where each row begins."""
        from .array_ops import shape
        from .casting import cast
        from .joining import concat

        starts = _splits(row_starts)
        values = values if isinstance(values, RaggedTensor) else convert(values)
        count = values.nrows() if isinstance(values, RaggedTensor) else shape(values)[0]
        ends = concat([starts, [cast(count, starts.dtype)]], 0)
        return cls.from_row_splits(values, ends, validate=validate)

    @classmethod
    def from_row_limits(
        cls, values: Any, row_limits: Any, name: str | None = None, validate: bool = True
    ) -> RaggedTensor:
        """Make one of values and where each row ends."""
        from .joining import concat

        limits = _splits(row_limits)
        first = wrap(np.zeros(1, limits.dtype.dtype))
        return cls.from_row_splits(values, concat([first, limits], 0), validate=validate)

    @classmethod
    def from_value_rowids(
        cls, values: Any, value_rowids: Any, nrows: Any = None, name: str | None = None,
        validate: bool = True,
    ) -> RaggedTensor:  # fmt: skip
        """Make one of values and the row each belongs to."""
        from .ragged import segment_ids_to_row_splits

        rows = _splits(value_rowids)
        if validate and type(rows) is Tensor and (np.diff(raw(rows), prepend=0) < 0).any():
            raise InvalidArgumentError(
                "Arguments to from_value_rowids do not form a valid RowPartition: the numbers of "
                "rows must be ascending and not negative"
            )
        splits = segment_ids_to_row_splits(rows, nrows, rows.dtype)
        return cls.from_row_splits(values, splits, validate=validate)

    @classmethod
    def from_uniform_row_length(
        cls, values: Any, uniform_row_length: Any, nrows: Any = None, validate: bool = True,
        name: str | None = None,
    ) -> RaggedTensor:  # fmt: skip
        """Make one of values and the length that all rows have."""
        values = values if isinstance(values, RaggedTensor) else convert(values)
        length = int(uniform_row_length)
        count = int(nrows) if nrows is not None else (_count(values) // length if length else 0)
        splits = np.arange(count + 1, dtype=np.int64) * length
        made = cls.from_row_splits(values, splits)
        made._uniform = length
        return made

    @classmethod
    def from_nested_row_splits(
        cls,
        flat_values: Any,
        nested_row_splits: Any,
        name: str | None = None,
        validate: bool = True,
    ) -> RaggedTensor:
        """Make one of innermost values and the row splits of each ragged axis."""
        values = flat_values
        for splits in reversed(list(nested_row_splits)):
            values = cls.from_row_splits(values, splits, validate=validate)
        return values  # type: ignore[no-any-return]

    @classmethod
    def from_nested_row_lengths(
        cls,
        flat_values: Any,
        nested_row_lengths: Any,
        name: str | None = None,
        validate: bool = True,
    ) -> RaggedTensor:
        """Make one of innermost values and the row lengths of each ragged axis."""
        values = flat_values
        for lengths in reversed(list(nested_row_lengths)):
            values = cls.from_row_lengths(values, lengths, validate=validate)
        return values  # type: ignore[no-any-return]

    @classmethod
    def from_tensor(
        cls, tensor: Any, lengths: Any = None, padding: Any = None, ragged_rank: int = 1,
        name: str | None = None, row_splits_dtype: Any = int64,
    ) -> RaggedTensor:  # fmt: skip
        """Make one of the rows of a dense tensor, without padding at their ends."""
        x = convert(tensor)
        kind = as_dtype(row_splits_dtype)
        dims = static_shape(x)
        if dims is not None and len(dims) < 2:
            raise ValueError(f"tensor must have rank at least 2, got {TensorShape(dims)}")
        from .ragged_dense import of_tensor

        return of_tensor(x, lengths, padding, ragged_rank, kind)

    @classmethod
    def from_sparse(
        cls, st_input: Any, name: str | None = None, row_splits_dtype: Any = int64
    ) -> RaggedTensor:
        """Make one of the rows of a sparse matrix."""
        from .ragged_dense import of_sparse

        return of_sparse(st_input, as_dtype(row_splits_dtype))

    # Looking.

    @property
    def values(self) -> Any:
        """The rows, one after the other."""
        return self._values

    @property
    def row_splits(self) -> Any:
        """Where rows begin and end."""
        return self._splits

    @property
    def flat_values(self) -> Any:
        """The innermost values."""
        inner = self._values
        return inner.flat_values if isinstance(inner, RaggedTensor) else inner

    @property
    def nested_row_splits(self) -> tuple[Any, ...]:
        """The row splits of each ragged axis, outermost first."""
        inner = self._values
        rest = inner.nested_row_splits if isinstance(inner, RaggedTensor) else ()
        return (self._splits, *rest)

    @property
    def dtype(self) -> DType:
        """The type of the values."""
        return self.flat_values.dtype  # type: ignore[no-any-return]

    @property
    def row_partition(self) -> Any:
        """The ragged tensor itself, which has the methods of a partition."""
        return self

    @property
    def ragged_rank(self) -> int:
        """How many axes are partitioned."""
        inner = self._values
        return 1 + (inner.ragged_rank if isinstance(inner, RaggedTensor) else 0)

    @property
    def uniform_row_length(self) -> Any:
        """The length of all rows, if it is known to be one."""
        return None if self._uniform is None else wrap(np.int64(self._uniform))

    @property
    def shape(self) -> TensorShape:
        """The sizes, ``None`` at ragged axes."""
        rows = static_shape(self._splits)
        count = None if not rows or rows[0] is None else rows[0] - 1
        if count is None and self._symbol is not None and self._symbol._spec.shape:
            count = self._symbol._spec.shape[0]
        count = self._rows if count is None else count
        inner = self._values.shape
        if inner.rank is None:
            return TensorShape(None)
        return TensorShape([count, self._uniform, *inner[1:]])

    @property
    def rank(self) -> int | None:
        """The number of axes."""
        return self.shape.rank

    @property
    def _type_spec(self) -> Any:
        from .specs import from_own

        return from_own(self._own_spec())

    def _own_spec(self) -> own_spec.RaggedTensorSpec:
        if self._symbol is not None:
            return self._symbol._spec  # type: ignore[no-any-return]
        shape = self.shape
        return own_spec.RaggedTensorSpec(
            None if shape.rank is None else tuple(shape), dtypes.to_own(self.dtype),
            self.ragged_rank, self._splits.dtype.dtype,
        )  # fmt: skip

    def _to_own(self) -> Any:
        if is_symbol(self.flat_values) or is_symbol(self._splits):
            return self
        inner = self._values
        values = inner._to_own() if isinstance(inner, RaggedTensor) else raw(inner)
        return own.RaggedTensor(values, raw(self._splits))

    def nrows(self, out_type: Any = None, name: str | None = None) -> Any:
        """Return the number of rows."""
        from .array_ops import shape

        return shape(self._splits, out_type or self._splits.dtype)[0] - 1

    def row_lengths(self, axis: int = 1, name: str | None = None) -> Any:
        """Return the length of each row."""
        axis += (self.rank or 0) if axis < 0 else 0
        if axis == 0:
            return self.nrows()
        if axis == 1:
            return self._splits[1:] - self._splits[:-1]
        if isinstance(self._values, RaggedTensor):
            return self.with_values(self._values.row_lengths(axis - 1))
        from .array_ops import shape
        from .creation import fill

        sizes = shape(self._values, self._splits.dtype)
        return self.with_values(fill(sizes[: axis - 1], sizes[axis - 1]))

    def row_starts(self, name: str | None = None) -> Any:
        """Return where each row begins."""
        return self._splits[:-1]

    def row_limits(self, name: str | None = None) -> Any:
        """Return where each row ends."""
        return self._splits[1:]

    def value_rowids(self, name: str | None = None) -> Any:
        """Return the row each value belongs to."""
        from .ragged import row_splits_to_segment_ids

        return row_splits_to_segment_ids(self._splits)

    def nested_row_lengths(self, name: str | None = None) -> tuple[Any, ...]:
        """Return the row lengths of each ragged axis."""
        return tuple(splits[1:] - splits[:-1] for splits in self.nested_row_splits)

    def nested_value_rowids(self, name: str | None = None) -> tuple[Any, ...]:
        """Return the row of each value for each ragged axis."""
        from .ragged import row_splits_to_segment_ids

        return tuple(row_splits_to_segment_ids(splits) for splits in self.nested_row_splits)

    def bounding_shape(
        self, axis: Any = None, name: str | None = None, out_type: Any = None
    ) -> Any:
        """Return the sizes of the dense tensor that holds all rows."""
        kind = as_dtype(out_type or self._splits.dtype)
        from .gathering import gather
        from .ragged_dense import bounds

        found = bounds(self, kind)
        return found if axis is None else gather(found, axis)

    def _dynamic_shape(self, dtype: DType) -> Any:
        return self.bounding_shape(out_type=dtype)

    # Converting.

    def with_values(self, new_values: Any) -> RaggedTensor:
        """Return the same rows of other values."""
        values = new_values if isinstance(new_values, RaggedTensor) else convert(new_values)
        made = RaggedTensor(values, self._splits, self._uniform)
        made._rows = self.shape[0]
        return made

    def with_flat_values(self, new_values: Any) -> RaggedTensor:
        """Return the same nested rows of other innermost values."""
        inner = self._values
        if isinstance(inner, RaggedTensor):
            return self.with_values(inner.with_flat_values(new_values))
        return self.with_values(new_values)

    def merge_dims(self, outer_axis: int, inner_axis: int) -> Any:
        """Return the same values with the axes from one to another as one."""
        from .ragged_dense import merge_dims

        return merge_dims(self, outer_axis, inner_axis)

    def with_row_splits_dtype(self, dtype: Any) -> RaggedTensor:
        """Return the same rows with row splits of another type."""
        from .casting import cast

        inner = self._values
        values = inner.with_row_splits_dtype(dtype) if isinstance(inner, RaggedTensor) else inner
        return RaggedTensor(values, cast(self._splits, dtype), self._uniform)

    def to_list(self) -> list[Any]:
        """Return nested lists of Python values."""
        return self._to_own().to_list()  # type: ignore[no-any-return]

    def numpy(self) -> Any:
        """Return an array if all rows are of one length, else an object array of arrays."""
        own_value = self._to_own()
        rows = [
            RaggedTensor.of_own(row).numpy() if isinstance(row, own.RaggedTensor) else row
            for row in own_value
        ]
        if rows and all(row.shape == rows[0].shape and row.dtype != object for row in rows):
            return np.stack(rows)
        if rows and self.dtype.name == "string" and len({row.shape for row in rows}) == 1:
            return np.stack(rows)
        made = np.empty(len(rows), object)
        for k, row in enumerate(rows):
            made[k] = row
        return made

    def to_tensor(
        self, default_value: Any = None, name: str | None = None, shape: Any = None
    ) -> Any:
        """Return a dense tensor, short rows padded with `default_value`."""
        from .ragged_dense import to_tensor

        return to_tensor(self, default_value, shape)

    def to_sparse(self, name: str | None = None) -> Any:
        """Return the values in coordinate form."""
        from .ragged_dense import to_sparse

        return to_sparse(self)

    # Indexing.

    def __len__(self) -> int:
        raise TypeError("object of type 'RaggedTensor' has no len()")

    def __iter__(self) -> Iterator[Any]:
        count = self.shape[0]
        if count is None:
            raise TypeError("a ragged tensor of an unknown number of rows cannot be iterated over")
        return (self[row] for row in builtins.range(count))

    def __getitem__(self, key: Any) -> Any:
        from .ragged_index import getitem

        return getitem(self, key)

    def __eq__(self, other: object) -> Any:
        from .comparison import equal

        return False if other is None else equal(self, other)

    def __ne__(self, other: object) -> Any:
        from .comparison import not_equal

        return True if other is None else not_equal(self, other)

    def __hash__(self) -> int:
        return id(self)

    def __bool__(self) -> bool:
        raise TypeError("RaggedTensor may not be used as a boolean.")

    def __reduce__(self) -> Any:
        return RaggedTensor, (self._values, self._splits, self._uniform)

    def __repr__(self) -> str:
        if self._to_own() is self:
            return f"tf.RaggedTensor(values={self._values}, row_splits={self._splits})"
        return f"<tf.RaggedTensor {self.to_list()!r}>"

    # What ops ask for.

    @staticmethod
    def _map_values(function: Callable[..., Any], *args: Any) -> Any:
        from .ragged import map_flat_values

        return map_flat_values(function, *args)

    def _reduce(self, name: str, axis: Any, keepdims: bool) -> Any:
        from .ragged_reduce import reduce

        return reduce(self, name, axis, keepdims)

    @staticmethod
    def _concat(values: Any, axis: int) -> Any:
        from .ragged_index import concat

        return concat(values, axis)

    @staticmethod
    def _stack(values: Any, axis: int) -> Any:
        from .ragged import stack

        return stack(values, axis)

    def _expand_dims(self, axis: Any) -> Any:
        from .array_ops import expand_dims
        from .ragged import stack

        place = int(axis) if axis >= 0 else int(axis) + (self.rank or 0) + 1
        if place == 0:
            return stack([self], 0)
        if place == 1:
            from .creation import range as numbers

            splits = self._splits
            return RaggedTensor(self, numbers(self.nrows() + splits.dtype.as_numpy_dtype(1)), 1)
        return self.with_values(expand_dims(self._values, place - 1))

    def _gather(self, params: Any, indices: Any, axis: Any, batch_dims: int) -> Any:
        from .ragged_moves import gather

        return gather(self, indices, axis=axis, batch_dims=batch_dims)

    @staticmethod
    def _gather_by(params: Any, indices: Any, axis: Any, batch_dims: int) -> Any:
        from .ragged_moves import gather

        return gather(params, indices, axis=axis, batch_dims=batch_dims)

    def _mask(self, mask: Any) -> Any:
        from .ragged import boolean_mask

        return boolean_mask(self, mask)

    def _ensure_shape(self, shape: Any) -> Any:
        if not self.shape.is_compatible_with(shape):
            raise InvalidArgumentError(f"Shape {self.shape} is not compatible with {shape}")
        return self


def _dense(array: Any) -> Tensor:
    from .bridge import from_own

    return from_own(np.asarray(array))  # type: ignore[no-any-return]


def _count(values: Any) -> int:
    if isinstance(values, RaggedTensor):
        return int(raw(values.row_splits).shape[0]) - 1
    if raw(values).ndim == 0:
        raise InvalidArgumentError("the values of ragged rows have an axis, got a scalar")
    return int(raw(values).shape[0])


def _splits(value: Any) -> Any:
    """Return row splits as a tensor of int64, or int32 if they are an array of that."""
    if isinstance(value, np.ndarray) or is_symbol(value):
        found = convert(value)
        if found.dtype in (int32, int64):
            return found
    from .casting import cast

    return cast(convert(value), int64)


def _sums(lengths: Any) -> Any:
    return np.concatenate([np.zeros(1, lengths.dtype), np.cumsum(lengths, dtype=lengths.dtype)])
