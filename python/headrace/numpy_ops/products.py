"""Products of vectors and matrices: ``dot``, ``inner``, ``einsum``, ``linalg.norm`` and sisters."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ..symbol import Symbol
from ..ufuncs import convert, einsum
from .reductions import keep, reduce, sum_dtype
from .registry import axes, common, function, ints, method, plain, symbol

if TYPE_CHECKING:
    from ..trace import Tracer

__all__ = ["common_operands", "equation_of"]

_LETTERS = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"


def common_operands(t: Tracer, *values: Any) -> list[Any]:
    """Return operands as symbols of their common dtype."""
    dtype = common([value if type(value) is Symbol else np.asarray(value) for value in values])
    return [convert(t, symbol(t, value), dtype) for value in values]


@function("dot")
def _np_dot(t: Tracer, a: Any, b: Any, out: Any = None) -> Any:
    plain(t, "np.dot", out=out)
    a, b = common_operands(t, a, b)
    if 0 in (a.ndim, b.ndim):
        return np.multiply(a, b)
    # The last axis of `a` meets the last but one of `b`, or its only one.
    first = _LETTERS[: a.ndim - 1]
    second = _LETTERS[a.ndim : a.ndim + b.ndim - 1]
    right = f"{second[:-1]}k{second[-1:]}".replace("k", "Z") if second else "Z"
    return einsum(t, f"{first}Z,{right}->{first}{second}", a, b)


@method("dot")
def _dot(t: Tracer, a: Any, b: Any, out: Any = None) -> Any:
    return _np_dot(t, a, b, out)


@function("inner")
def _inner(t: Tracer, a: Any, b: Any, /) -> Any:
    a, b = common_operands(t, a, b)
    if 0 in (a.ndim, b.ndim):
        return np.multiply(a, b)
    first = _LETTERS[: a.ndim - 1]
    second = _LETTERS[a.ndim : a.ndim + b.ndim - 1]
    return einsum(t, f"{first}Z,{second}Z->{first}{second}", a, b)


@function("outer")
def _outer(t: Tracer, a: Any, b: Any, out: Any = None) -> Any:
    plain(t, "np.outer", out=out)
    a, b = (symbol(t, value)._op("reshape", shape=[-1]) for value in (a, b))
    return np.multiply(a._op("expand_dims", axis=[1]), b._op("expand_dims", axis=[0]))


@function("linalg.outer")
def _linalg_outer(t: Tracer, x1: Any, x2: Any, /) -> Any:
    x1, x2 = symbol(t, x1), symbol(t, x2)
    if x1.ndim != 1 or x2.ndim != 1:
        raise ValueError("Input arrays must be one-dimensional")
    return _outer(t, x1, x2)


@function("vdot")
def _vdot(t: Tracer, a: Any, b: Any, /) -> Any:
    a, b = (x._op("reshape", shape=[-1]) for x in common_operands(t, a, b))
    return einsum(t, "i,i->", np.conjugate(a) if a.dtype.kind == "c" else a, b)


def equation_of(equation: str) -> str:
    """Return an equation with its output written out, as NumPy understands it."""
    text = equation.replace(" ", "")
    if "->" in text:
        return text
    letters = text.replace(",", "").replace("...", "")
    once = sorted(letter for letter in set(letters) if letters.count(letter) == 1)
    return f"{text}->{'...' * ('...' in text)}{''.join(once)}"


@function("einsum")
def _einsum(
    t: Tracer,
    *operands: Any,
    out: Any = None,
    optimize: Any = False,
    dtype: Any = None,
    order: Any = None,
    casting: Any = None,
) -> Any:
    plain(t, "np.einsum", out=out, dtype=dtype, order=order, casting=casting)
    if not isinstance(operands[0], str):
        t.refuse("uses np.einsum without an equation")
    args = common_operands(t, *operands[1:])
    if args[0].dtype.kind == "V":
        t.refuse(f"uses np.einsum of {args[0].dtype}")
    return einsum(t, equation_of(operands[0]), *args, broadcast=True)


@function("tensordot", "linalg.tensordot")
def _tensordot(t: Tracer, a: Any, b: Any, axes: Any = 2) -> Any:
    a, b = common_operands(t, a, b)
    if isinstance(axes, int | np.integer):
        first, second = list(range(a.ndim - int(axes), a.ndim)), list(range(int(axes)))
    else:
        first, second = (ints(t, side) for side in axes)
    first, second = [k % a.ndim for k in first], [k % b.ndim for k in second]
    if len(first) != len(second):
        raise ValueError("shape-mismatch for sum")
    left, right = list(_LETTERS[: a.ndim]), list(_LETTERS[a.ndim : a.ndim + b.ndim])
    for i, j in zip(first, second, strict=True):
        right[j] = left[i]
    kept = [letter for k, letter in enumerate(left) if k not in first]
    kept += [letter for k, letter in enumerate(right) if k not in second]
    return einsum(t, f"{''.join(left)},{''.join(right)}->{''.join(kept)}", a, b)


@function("kron")
def _kron(t: Tracer, a: Any, b: Any) -> Any:
    a, b = symbol(t, a), symbol(t, b)
    rank = max(a.ndim, b.ndim)
    a, b = (x._op("expand_dims", axis=list(range(rank - x.ndim))) for x in (a, b))
    left = a._op("expand_dims", axis=[2 * k + 1 for k in range(rank)])
    right = b._op("expand_dims", axis=[2 * k for k in range(rank)])
    shape = [i * j for i, j in zip(a.shape, b.shape, strict=True)]
    return np.multiply(left, right)._op("reshape", shape=shape)


@function("trace")
@method("trace")
def _trace(
    t: Tracer, a: Any, offset: Any = 0, axis1: Any = 0, axis2: Any = 1, dtype: Any = None,
    out: Any = None,
) -> Any:  # fmt: skip
    plain(t, "np.trace", out=out)
    a = symbol(t, a)
    (shift,) = ints(t, offset)
    i, j = (ints(t, axis)[0] % a.ndim for axis in (axis1, axis2))
    if i == j:
        raise ValueError("axis1 and axis2 cannot be the same")
    key: list[Any] = [slice(None)] * a.ndim
    # A diagonal off the main one is the main one of what is left.
    key[j if shift > 0 else i] = slice(abs(shift), None)
    rows, columns = a.shape[i], a.shape[j]
    size = max(min(rows + min(shift, 0), columns - max(shift, 0)), 0)
    part = a[tuple(key)] if shift else a
    key = [slice(None)] * a.ndim
    key[i] = key[j] = slice(0, size)
    part = part[tuple(key)]
    letters = list(_LETTERS[: a.ndim])
    letters[j] = letters[i]
    kept = "".join(letter for k, letter in enumerate(letters) if k not in (i, j))
    part = convert(t, part, sum_dtype(a, dtype))
    return einsum(t, f"{''.join(letters)}->{kept}", part)


@function("cross")
def _cross(
    t: Tracer, a: Any, b: Any, axisa: Any = -1, axisb: Any = -1, axisc: Any = -1, axis: Any = None
) -> Any:
    a, b = symbol(t, a), symbol(t, b)
    ends = (axisa, axisb, axisc) if axis is None else (axis,) * 3
    if ends != (-1, -1, -1):
        first, second, result = ends
        found = _cross(t, np.moveaxis(a, first, -1), np.moveaxis(b, second, -1))
        return np.moveaxis(found, -1, result)
    if a.shape[-1] != 3 or b.shape[-1] != 3:
        t.refuse("uses np.cross of vectors that have not three parts")
    parts = []
    for i in range(3):
        j, k = (i + 1) % 3, (i + 2) % 3
        parts.append(a[..., j] * b[..., k] - a[..., k] * b[..., j])
    return np.stack(parts, -1)


@function("linalg.cross")
def _linalg_cross(t: Tracer, x1: Any, x2: Any, /, *, axis: Any = -1) -> Any:
    return _cross(t, x1, x2, axis=axis)


@function("linalg.matmul")
def _linalg_matmul(t: Tracer, x1: Any, x2: Any, /) -> Any:
    return np.matmul(symbol(t, x1), symbol(t, x2))


@function("linalg.vecdot")
def _linalg_vecdot(t: Tracer, x1: Any, x2: Any, /, *, axis: Any = -1) -> Any:
    a, b = (np.moveaxis(symbol(t, x), axis, -1) for x in (x1, x2))
    return np.vecdot(a, b)


@function("linalg.trace")
def _linalg_trace(t: Tracer, x: Any, /, *, offset: Any = 0, dtype: Any = None) -> Any:
    return _trace(t, x, offset, -2, -1, dtype)


@function("linalg.multi_dot")
def _multi_dot(t: Tracer, arrays: Any, *, out: Any = None) -> Any:
    plain(t, "np.linalg.multi_dot", out=out)
    found, *others = arrays
    for other in others:
        found = _np_dot(t, found, other)
    return found


@function("linalg.matrix_power")
def _matrix_power(t: Tracer, a: Any, n: Any) -> Any:
    a = symbol(t, a)
    (power,) = ints(t, n)
    if power < 1:
        t.refuse(f"uses np.linalg.matrix_power with n={power}")
    found = None
    while power:
        if power & 1:
            found = a if found is None else np.matmul(found, a)
        power >>= 1
        a = np.matmul(a, a) if power else a
    return found


# ----------------------------------------------------------------------- norms


@function("linalg.vector_norm")
def _linalg_vector_norm(
    t: Tracer, x: Any, /, *, axis: Any = None, keepdims: Any = False, ord: Any = 2
) -> Any:
    x = symbol(t, x)
    if axis is None:
        plain(t, "np.linalg.vector_norm", keepdims=keepdims)
        x, axis = x._op("reshape", shape=[-1]), 0
    if not isinstance(axis, int | np.integer):
        t.refuse("uses np.linalg.vector_norm along several axes")
    return _norm(t, x, ord, axis, keepdims)


@function("linalg.matrix_norm")
def _linalg_matrix_norm(t: Tracer, x: Any, /, *, keepdims: Any = False, ord: Any = "fro") -> Any:
    return _norm(t, x, ord, (-2, -1), keepdims)


@function("linalg.norm")
def _norm(t: Tracer, x: Any, ord: Any = None, axis: Any = None, keepdims: Any = False) -> Any:
    x = symbol(t, x)
    if x.dtype.kind not in "fc":
        x = convert(t, x, np.dtype(np.float64))
    if ord is not None and not isinstance(ord, int | float | str):
        t.refuse("uses np.linalg.norm of an order that only a run knows")
    whole = axis is None
    place = list(range(x.ndim)) if whole else ints(t, axis)
    if ord is None or (whole and _is_euclidean(ord, x.ndim)):
        return np.sqrt(reduce(t, "sum", _squares(x), place, None, keepdims))
    if len(place) == 1:
        return _vector_norm(t, x, ord, place, keepdims)
    if len(place) == 2:
        return _matrix_norm(t, x, ord, place, keepdims)
    raise ValueError("Improper number of dimensions to norm.")


def _is_euclidean(ord: Any, rank: int) -> bool:
    return (ord in ("f", "fro") and rank == 2) or (ord == 2 and rank == 1)


def _squares(x: Any) -> Any:
    """Return squared magnitudes."""
    if x.dtype.kind != "c":
        return np.multiply(x, x)
    return np.add(np.multiply(x.real, x.real), np.multiply(x.imag, x.imag))


def _vector_norm(t: Tracer, x: Any, ord: Any, place: list[int], keepdims: Any) -> Any:
    if isinstance(ord, str):
        raise ValueError(f"Invalid norm order '{ord}' for vectors")
    if ord == np.inf or ord == -np.inf:
        op = "max" if ord > 0 else "min"
        return reduce(t, op, np.absolute(x), place, None, keepdims)
    if ord == 0:
        zeros = np.not_equal(x, 0).astype(x.real.dtype)
        return reduce(t, "sum", zeros, place, None, keepdims)
    if ord == 1:
        return reduce(t, "sum", np.absolute(x), place, None, keepdims)
    if ord == 2:
        return np.sqrt(reduce(t, "sum", _squares(x), place, None, keepdims))
    powers = np.power(np.absolute(x), ord)
    total = reduce(t, "sum", powers, place, None, keepdims)
    return np.power(total, np.reciprocal(float(ord), dtype=total.dtype))


def _matrix_norm(t: Tracer, x: Any, ord: Any, place: list[int], keepdims: Any) -> Any:
    rows, columns = (k % x.ndim for k in place)
    if ord in ("f", "fro"):
        return np.sqrt(reduce(t, "sum", _squares(x), place, None, keepdims))
    if ord not in (1, -1, np.inf, -np.inf):
        t.refuse(f"uses np.linalg.norm of a matrix with ord={ord!r}")
    along, rest = (rows, columns) if abs(ord) == 1 else (columns, rows)
    sums = reduce(t, "sum", np.absolute(x), [along], None, True)
    found = reduce(t, "max" if ord > 0 else "min", sums, [rest], None, True)
    return found if keep(keepdims) else found._op("squeeze", axis=axes(t, [rows, columns]))
