"""Symbols: what a traced function gets in place of values.

A `Symbol` stands for the array, NumPy scalar, `bytes` or `str` that the component is in a run, and
does what that would do: the same dtypes, the same errors, or it refuses. Operators, NumPy functions
and array methods record; whatever needs a value (`if`, `int`, `str`, iteration over an unknown
length) refuses with the user's line.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np

from .dtypes import DType, dtype_name
from .spec import RaggedTensorSpec, SparseTensorSpec, TensorSpec

if TYPE_CHECKING:
    from .trace import Tracer

__all__ = ["RaggedSymbol", "SparseSymbol", "Symbol"]

_BRANCH_HINT = "use np.where(condition, a, b), and & or | for `and` and `or`, to make it traceable"


class PartialShape:
    """The shape of a symbol whose sizes are not all known: sizes that are known can be read."""

    __slots__ = ("_dims", "_tracer_of")

    def __init__(self, dims: tuple[int | None, ...], tracer: Tracer) -> None:
        self._dims = dims
        self._tracer_of = tracer

    def _refuse(self, *_: Any) -> NoReturn:
        self._tracer_of.refuse("reads a size that only a run knows")

    def __getitem__(self, key: Any) -> Any:
        found = self._dims[key]
        if found is None or (isinstance(found, tuple) and None in found):
            self._refuse()
        return found

    def __len__(self) -> int:
        return len(self._dims)

    def __repr__(self) -> str:
        return repr(self._dims)

    __iter__ = __eq__ = __ne__ = __add__ = __radd__ = __contains__ = __hash__ = _refuse
    __lt__ = __le__ = __gt__ = __ge__ = __mul__ = __rmul__ = _refuse


def _binary(ufunc: np.ufunc) -> Any:
    def forward(self: Symbol, other: Any) -> Any:
        return self._apply(ufunc, self, other)

    return forward


def _reflected(ufunc: np.ufunc) -> Any:
    def backward(self: Symbol, other: Any) -> Any:
        return self._apply(ufunc, other, self)

    return backward


def _inplace(ufunc: np.ufunc) -> Any:
    def update(self: Symbol, other: Any) -> Any:
        return self._update(self._apply(ufunc, self, other), other)

    return update


def _unary(ufunc: np.ufunc) -> Any:
    def forward(self: Symbol) -> Any:
        return self._apply(ufunc, self)

    return forward


def _refused(what: str, hint: str = "") -> Any:
    def refuse(self: Any, *_: Any) -> NoReturn:
        raise self._tracer.refuse(what, hint)

    return refuse


class Symbol:
    """Stands for one dense component.

    Attributes
    ----------
    shape, dtype, ndim, size, T, real, imag, nbytes, itemsize
        As of the array. What only a run knows refuses.
    """

    __slots__ = ("_fresh", "_spec", "_tracer", "_value", "_viewed")
    _is_leaf = True

    def __init__(self, tracer: Tracer, value: int, spec: TensorSpec, fresh: bool) -> None:
        self._tracer = tracer
        self._value = value
        self._spec = spec
        # In-place operators may change an array that is the function's own and has no views.
        self._fresh = fresh
        self._viewed = False

    # `isinstance` answers as it will in a run.
    @property
    def __class__(self) -> Any:
        if self._spec.shape is None:
            self._tracer.refuse("asks for the type of a value that may be a scalar or an array")
        if self._spec.shape != ():
            return np.ndarray
        dtype = self._spec.dtype
        return dtype if isinstance(dtype, type) else dtype.type

    @__class__.setter
    def __class__(self, kind: Any) -> None:
        self._tracer.refuse("changes the class of a value")

    # What is known without a run.

    def _dims(self) -> tuple[int | None, ...]:
        if self._spec.shape is None:
            self._tracer.refuse("reads a rank that only a run knows")
        dims: tuple[int | None, ...] = self._spec.shape
        return dims

    def _own(self, name: str) -> None:
        """Refuse what `bytes` and `str` do not have."""
        if self._is_text_scalar():
            kind = dtype_name(self._spec.dtype)
            self._tracer.refuse(f"uses .{name} of {kind}")

    def _is_text_scalar(self) -> bool:
        return isinstance(self._spec.dtype, type) and self._spec.shape == ()

    @property
    def dtype(self) -> np.dtype[Any]:
        """Type of the values."""
        self._own("dtype")
        dtype: DType = self._spec.dtype
        return np.dtype(object) if isinstance(dtype, type) else dtype

    @property
    def shape(self) -> Any:
        """Sizes; those that only a run knows refuse."""
        self._own("shape")
        dims = self._dims()
        return PartialShape(dims, self._tracer) if None in dims else dims

    @property
    def ndim(self) -> int:
        """Number of axes."""
        self._own("ndim")
        return len(self._dims())

    @property
    def size(self) -> int:
        """Number of values."""
        self._own("size")
        total = 1
        for dim in self._dims():
            if dim is None:
                self._tracer.refuse("reads a size that only a run knows")
            total *= dim
        return total

    @property
    def itemsize(self) -> int:
        """Bytes of a value."""
        return self.dtype.itemsize

    @property
    def nbytes(self) -> int:
        """Bytes of all values."""
        return self.size * self.itemsize

    @property
    def T(self) -> Any:
        """The transposed array."""
        return self.transpose()

    @property
    def mT(self) -> Any:
        """The array with its last two axes in each other's place."""
        if self.ndim < 2:
            raise ValueError("matrix transpose with ndim < 2 is undefined")
        return self.swapaxes(-1, -2)

    @property
    def real(self) -> Any:
        """The real part."""
        return self._op("real") if self.dtype.kind == "c" else self

    @property
    def imag(self) -> Any:
        """The imaginary part."""
        if self.dtype.kind != "c":
            self._tracer.refuse("reads the imaginary part of a real value")
        return self._op("imag")

    # Recording.

    def _op(self, op: str, *args: Any, **attrs: Any) -> Any:
        (result,) = self._tracer.add(op, attrs, self, *args)
        return result

    def _view(self, op: str, **attrs: Any) -> Any:
        """Record an op whose result shares memory with this value."""
        self._viewed = True
        (result,) = self._tracer.add(op, attrs, self, fresh=False)
        return result

    def _apply(self, ufunc: np.ufunc, *args: Any) -> Any:
        if not all(map(ufuncs.is_operand, args)):
            return NotImplemented
        return ufuncs.call_ufunc(self._tracer, ufunc, args, {})

    def _update(self, result: Any, other: Any) -> Any:
        """Do ``self op= other``: scalars are bound anew, arrays change in place."""
        if result is NotImplemented or self._spec.shape == ():
            return result
        if not self._fresh or self._viewed:
            self._tracer.refuse(
                "changes an array in place that may be seen elsewhere", "write x = x + 1"
            )
        scalar = np.isscalar(other) or getattr(other, "shape", None) == ()
        if not scalar and (result._spec.shape != self._spec.shape or None in self._dims()):
            self._tracer.refuse("changes an array in place, perhaps to another shape")
        if not np.can_cast(result.dtype, self.dtype, "same_kind"):
            self._tracer.refuse(f"changes a {self.dtype} in place to {result.dtype}")
        changed = result if result.dtype == self.dtype else result._op("cast", dtype=self.dtype)
        if changed._tracer is not self._tracer:
            self._tracer.refuse("changes an array of the function around in place")
        self._value = changed._value
        return self

    __add__, __radd__, __iadd__ = _binary(np.add), _reflected(np.add), _inplace(np.add)
    __sub__, __rsub__ = _binary(np.subtract), _reflected(np.subtract)
    __isub__ = _inplace(np.subtract)
    __mul__, __rmul__ = _binary(np.multiply), _reflected(np.multiply)
    __imul__ = _inplace(np.multiply)
    __truediv__, __rtruediv__ = _binary(np.true_divide), _reflected(np.true_divide)
    __itruediv__ = _inplace(np.true_divide)
    __floordiv__, __rfloordiv__ = _binary(np.floor_divide), _reflected(np.floor_divide)
    __ifloordiv__ = _inplace(np.floor_divide)
    __mod__, __rmod__ = _binary(np.remainder), _reflected(np.remainder)
    __imod__ = _inplace(np.remainder)
    __divmod__, __rdivmod__ = _binary(np.divmod), _reflected(np.divmod)
    __rpow__, __ipow__ = _reflected(np.power), _inplace(np.power)
    __matmul__, __rmatmul__ = _binary(np.matmul), _reflected(np.matmul)
    __imatmul__ = _inplace(np.matmul)
    __and__, __rand__ = _binary(np.bitwise_and), _reflected(np.bitwise_and)
    __iand__ = _inplace(np.bitwise_and)
    __or__, __ror__ = _binary(np.bitwise_or), _reflected(np.bitwise_or)
    __ior__ = _inplace(np.bitwise_or)
    __xor__, __rxor__ = _binary(np.bitwise_xor), _reflected(np.bitwise_xor)
    __ixor__ = _inplace(np.bitwise_xor)
    __lshift__, __rlshift__ = _binary(np.left_shift), _reflected(np.left_shift)
    __ilshift__ = _inplace(np.left_shift)
    __rshift__, __rrshift__ = _binary(np.right_shift), _reflected(np.right_shift)
    __irshift__ = _inplace(np.right_shift)
    __eq__, __ne__ = _binary(np.equal), _binary(np.not_equal)
    __lt__, __le__ = _binary(np.less), _binary(np.less_equal)
    __gt__, __ge__ = _binary(np.greater), _binary(np.greater_equal)
    __neg__, __abs__ = _unary(np.negative), _unary(np.absolute)
    __invert__, __pos__ = _unary(np.invert), _unary(np.positive)

    def __pow__(self, other: Any, modulo: Any = None) -> Any:
        if modulo is not None:
            self._tracer.refuse("uses pow with three arguments")
        return self._apply(np.power, self, other)

    # NumPy's protocols.

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **kwargs: Any) -> Any:
        if method != "__call__":
            return ufuncs.call_ufunc_method(self._tracer, ufunc, method, inputs, kwargs)
        return ufuncs.call_ufunc(self._tracer, ufunc, inputs, kwargs)

    def __array_function__(self, func: Any, types: Any, args: Any, kwargs: Any) -> Any:
        from .numpy_ops import call_function

        return call_function(self._tracer, func, args, kwargs)

    # Indexing.

    def __getitem__(self, key: Any) -> Any:
        from .indexing import getitem

        self._own("__getitem__")
        return getitem(self, key)

    def __iter__(self) -> Iterator[Any]:
        self._own("__iter__")
        if self.ndim == 0:
            raise TypeError("iteration over a 0-d array")
        return iter([self[row] for row in range(len(self))])

    def __len__(self) -> int:
        self._own("__len__")
        dims = self._dims()
        if not dims:
            raise TypeError("len() of unsized object")
        if dims[0] is None:
            self._tracer.refuse("reads a length that only a run knows")
        return dims[0]

    # Methods of arrays.

    def astype(
        self,
        dtype: Any,
        order: str = "K",
        casting: str = "unsafe",
        subok: bool = True,
        copy: bool = True,
    ) -> Any:
        """Convert, as ``ndarray.astype``."""
        from .numpy_ops import astype

        self._own("astype")
        return astype(self, dtype, casting, copy)

    def copy(self, order: str = "C") -> Any:
        """Return a copy, which may be changed in place."""
        from .numpy_ops import copied

        self._own("copy")
        return copied(self)

    def __getattr__(self, name: str) -> Any:
        """Look up a method of arrays among NumPy's functions; refuse what is not recorded."""
        from .numpy_ops import METHODS

        if name.startswith("__array_"):
            if name == "__array__":
                self._tracer.refuse(
                    "makes an array of a value", "write x.astype(dtype), to make it traceable"
                )
            raise AttributeError(name)
        kind = np.ndarray if self._spec.shape is None else self.__class__
        if not hasattr(kind, name):
            raise AttributeError(f"{kind.__name__!r} object has no attribute {name!r}")
        self._own(name)
        handler = METHODS.get(name)
        if handler is None:
            self._tracer.refuse(f"uses .{name}, which is not recorded")
        return lambda *args, **kwargs: handler(self._tracer, self, *args, **kwargs)

    # Uses that need a value.

    __bool__ = _refused("branches on a value", _BRANCH_HINT)
    __int__ = _refused("makes a Python int of a value", "use x.astype(np.int64)")
    __float__ = _refused("makes a Python float of a value", "use x.astype(np.float64)")
    __complex__ = _refused("makes a Python complex of a value", "use x.astype(np.complex128)")
    __index__ = _refused("uses a value as a Python index")
    __hash__ = _refused("hashes a value")
    __str__ = _refused("makes text of a value")
    __format__ = _refused("makes text of a value")
    __bytes__ = _refused("makes bytes of a value")
    __round__ = _refused("rounds to a Python int", "use np.rint(x)")
    __contains__ = _refused("looks for a value in an array", "use (x == value).any()")
    __setitem__ = _refused("assigns to items of an array", "use np.where(condition, a, b)")
    __delitem__ = _refused("deletes items of an array")
    __reduce_ex__ = _refused("copies or pickles a value", "use x.copy()")

    def __repr__(self) -> str:
        return f"<symbol {self._spec!r}>"


class SparseSymbol:
    """Stands for a `SparseTensor`; its parts can be read."""

    __slots__ = ("_spec", "_tracer", "_value")
    __bool__ = _refused("branches on a value", _BRANCH_HINT)
    __hash__ = _refused("hashes a value")
    __eq__ = _refused("compares a sparse value")

    def __init__(self, tracer: Tracer, value: int, spec: SparseTensorSpec) -> None:
        self._tracer = tracer
        self._value = value
        self._spec = spec

    def _part(self, part: str) -> Any:
        (result,) = self._tracer.add("sparse_part", {"part": part}, self, fresh=False)
        return result

    @property
    def values(self) -> Any:
        """The values, shape ``[n]``."""
        return self._part("values")

    @property
    def indices(self) -> Any:
        """The indices, int64 of shape ``[n, rank]``."""
        return self._part("indices")

    @property
    def dense_shape(self) -> Any:
        """The dense shape, int64 of shape ``[rank]``."""
        return self._part("dense_shape")

    @property
    def dtype(self) -> DType:
        """Type of the values."""
        return self._spec.dtype

    def to_dense(self, default_value: Any = None) -> Any:
        """Return the dense array."""
        from .sparse import to_dense

        return to_dense(self, default_value)

    def __getattr__(self, name: str) -> NoReturn:
        self._tracer.refuse(f"uses .{name} of a sparse value")


class RaggedSymbol:
    """Stands for a `RaggedTensor`; its parts can be read."""

    __slots__ = ("_spec", "_tracer", "_value")
    __bool__ = _refused("branches on a value", _BRANCH_HINT)
    __hash__ = _refused("hashes a value")
    __eq__ = _refused("compares a ragged value")
    __len__ = _refused("reads a length that only a run knows")
    __iter__ = _refused("iterates over a ragged value")
    __getitem__ = _refused("takes a row of a ragged value")

    def __init__(self, tracer: Tracer, value: int, spec: RaggedTensorSpec) -> None:
        self._tracer = tracer
        self._value = value
        self._spec = spec

    def _part(self, part: str, index: int = 0) -> Any:
        attrs = {"part": part, "index": index}
        (result,) = self._tracer.add("ragged_part", attrs, self, fresh=False)
        return result

    @property
    def flat_values(self) -> Any:
        """The innermost values."""
        return self._part("values")

    @property
    def values(self) -> Any:
        """The values, where there is one ragged axis."""
        if self._spec.ragged_rank != 1:
            self._tracer.refuse("reads rows of rows")
        return self._part("values")

    @property
    def row_splits(self) -> Any:
        """The outermost row splits."""
        return self._part("splits")

    @property
    def ragged_rank(self) -> int:
        """Number of nested row partitions."""
        return self._spec.ragged_rank

    @property
    def dtype(self) -> DType:
        """Type of the values."""
        return self._spec.dtype

    def row_lengths(self) -> Any:
        """Return the length of each row."""
        splits = self.row_splits
        return splits[1:] - splits[:-1]

    def to_tensor(self, default_value: Any = None) -> Any:
        """Return a dense array as wide as the longest row."""
        from .ragged import to_tensor

        return to_tensor(self, default_value)

    def __getattr__(self, name: str) -> NoReturn:
        self._tracer.refuse(f"uses .{name} of a ragged value")


from . import ufuncs  # noqa: E402 (it needs the class)
