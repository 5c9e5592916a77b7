"""`SparseTensor`: an array in coordinate form.

Its parts may be tensors, or symbols in a traced function.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from .. import spec as own_spec
from .. import tensors as own
from . import dtypes
from .composite import Composite
from .convert import convert, is_symbol
from .dtypes import DType, int64
from .kernels import run_all, static_shape, symbol_of
from .shapes import TensorShape
from .tensor import raw, wrap

__all__ = ["SparseTensor", "SparseTensorValue", "made", "parts"]


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
        from .sparse import to_dense

        return to_dense(self).numpy()

    def eval(self, feed_dict: Any = None, session: Any = None) -> Any:
        """Return the value itself."""
        return self

    @staticmethod
    def _map_values(function: Callable[..., Any], *args: Any) -> Any:
        from .sparse import map_values

        return map_values(function, *args)

    @staticmethod
    def _concat(values: Any, axis: int) -> Any:
        from .sparse_moves import concat

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
