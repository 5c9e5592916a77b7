"""Diagonals of matrices, and matrices of diagonals: the part of ``tf.linalg`` about them.

A band of several diagonals is a row for each, the highest first, and the shorter ones are padded on
one side, as `align` says. Which place of a band belongs to which of a matrix, the sizes alone say.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..errors import InvalidArgumentError, UnimplementedError
from .array_ops import broadcast_to, reshape, shape
from .convert import convert
from .gathering import gather, where
from .joining import concat
from .kernels import run, static_shape
from .operands import operands
from .tensor import raw

__all__ = ["diag", "diag_part", "set_diag", "tensor_diag", "tensor_diag_part"]

_ALIGNS = ("RIGHT_LEFT", "LEFT_RIGHT", "LEFT_LEFT", "RIGHT_RIGHT")


class _Band:
    """The diagonals from `low` to `high`, as `k` names them."""

    def __init__(self, k: Any, align: str) -> None:
        both = np.reshape(raw(convert(k)), -1).tolist()
        if len(both) not in (1, 2) or both[0] > both[-1]:
            raise InvalidArgumentError(f"k is one diagonal, or the lowest and highest, got {k!r}")
        if align not in _ALIGNS:
            raise InvalidArgumentError(f"align is one of {', '.join(_ALIGNS)}, got {align!r}")
        self.low, self.high = int(both[0]), int(both[-1])
        self.above, self.below = align.split("_")

    @property
    def count(self) -> int:
        """How many diagonals there are."""
        return self.high - self.low + 1

    def longest(self, rows: int, columns: int) -> int:
        """Return how long the longest diagonal is, after a check that there are such."""
        for k in (self.low, self.high):
            if k != 0 and not -rows < k < columns:
                raise InvalidArgumentError(f"a {rows} x {columns} matrix has no diagonal k={k}")
        return min(rows + min(self.high, 0), columns - max(self.low, 0))

    def places(self, rows: int, columns: int) -> Any:
        """Return for each place of a matrix that of the band, counted row by row, or -1."""
        longest = self.longest(rows, columns)
        row, column = np.indices((rows, columns))
        k = column - row
        size = np.minimum(rows + np.minimum(k, 0), columns - np.maximum(k, 0))
        is_left = (k >= 0) & (self.above == "LEFT") | (k <= 0) & (self.below == "LEFT")
        along = np.minimum(row, column) + np.where(is_left, 0, longest - size)
        found = (self.high - k) * longest + along
        return np.where((self.low <= k) & (k <= self.high), found, -1)


def _sizes(x: Any, op: str) -> tuple[int, int]:
    dims = static_shape(x)
    if dims is None or len(dims) < 2 or dims[-2] is None or dims[-1] is None:
        raise UnimplementedError(f"{op} needs matrices of known size, got {dims}")
    return dims[-2], dims[-1]


def _flat(x: Any, axes: int) -> Any:
    """Return a tensor whose last axes are one."""
    dims = static_shape(x) or ()
    outer = dims[: len(dims) - axes]
    if None in outer:
        return reshape(x, concat([shape(x)[: len(outer)], [-1]], 0))
    return reshape(x, [*outer, -1] if 0 not in outer else [*outer, int(np.prod(dims[-axes:]))])  # type: ignore[arg-type]


def _put(others: Any, values: Any, sizes: tuple[int, int], band: _Band) -> Any:
    """Return matrices with a band of flat values, and what `others` has everywhere else."""
    places = band.places(*sizes)
    if not (places >= 0).any():
        return broadcast_to(others, (*(static_shape(values) or ())[:-1], *sizes))
    spread = gather(values, np.maximum(places, 0).tolist(), axis=-1)
    return where(places >= 0, spread, others)


def diag(
    diagonal: Any, name: str = "diag", k: Any = 0, num_rows: Any = -1, num_cols: Any = -1,
    padding_value: Any = 0, align: str = "RIGHT_LEFT",
) -> Any:  # fmt: skip
    """Return matrices with diagonals; mirrors ``tf.linalg.diag``.

    Parameters
    ----------
    diagonal
        The values, along the last axis; of several diagonals, one row for each.
    k
        Which diagonal: above the main one if positive, below it if negative; or the lowest and the
        highest of a band.
    num_rows, num_cols
        Sizes of the matrices; -1: as large as the diagonals need.
    padding_value
        What is everywhere else.
    align
        On which side the shorter diagonals stand in their rows, above the main one and below it.

    Examples
    --------
    >>> tf.linalg.diag([1, 2], k=1).numpy().tolist()
    [[0, 1, 0], [0, 0, 2], [0, 0, 0]]
    """
    x, band = convert(diagonal), _Band(k, align)
    dims = static_shape(x)
    axes = 1 if band.count == 1 else 2
    if dims is not None and len(dims) < axes:
        raise InvalidArgumentError(f"diagonal must be at least {axes}-dim, received shape: {dims}")
    asked, length = (int(num_rows), int(num_cols)), None if dims is None else dims[-1]
    if axes == 1 and asked == (-1, -1) and not np.any(raw(convert(padding_value))):
        side = None if length is None else length + abs(band.low)
        out = None if dims is None else (*dims[:-1], side, side)
        return run("diag", (x,), (out, x.dtype), offset=band.low)
    if length is None or dims is None:
        raise UnimplementedError("sizes and a padding_value need a diagonal of known length")
    needed = (length + max(-band.high, 0), length + max(band.low, 0))
    if asked == (-1, -1):
        needed = (max(needed), max(needed))
    rows, columns = (n if a == -1 else a for n, a in zip(needed, asked, strict=True))
    if band.longest(rows, columns) != length or (axes == 2 and dims[-2] != band.count):
        raise InvalidArgumentError(
            f"a {rows} x {columns} matrix has no diagonals of shape {list(dims[-axes:])} at k={k}"
        )
    return _put(convert(padding_value, x.dtype), _flat(x, axes), (rows, columns), band)


def diag_part(
    input: Any, name: str = "diag_part", k: Any = 0, padding_value: Any = 0,
    align: str = "RIGHT_LEFT",
) -> Any:  # fmt: skip
    """Return diagonals of matrices; mirrors ``tf.linalg.diag_part``.

    Parameters
    ----------
    input
        The matrices, along the last two axes.
    k
        Which diagonal: above the main one if positive, below it if negative; or the lowest and the
        highest of a band, which is a row for each, the highest first.
    padding_value
        What fills the rows of shorter diagonals.
    align
        On which side these stand, above the main diagonal and below it.

    Examples
    --------
    >>> tf.linalg.diag_part([[1, 2], [3, 4]], k=-1).numpy()
    array([3], dtype=int32)
    >>> tf.linalg.diag_part([[1, 2], [3, 4]], k=(-1, 0)).numpy().tolist()
    [[1, 4], [3, 0]]
    """
    x, band = convert(input), _Band(k, align)
    dims = static_shape(x)
    if band.count == 1:
        rows, columns = (None, None) if dims is None else dims[-2:]
        size = None if rows is None or columns is None else band.longest(rows, columns)
        out = (None if dims is None else (*dims[:-2], size), x.dtype)
        return run("diagonal", (x,), out, offset=band.low, axis1=-2, axis2=-1)
    sizes = _sizes(x, "diag_part of a band")
    longest, places = band.longest(*sizes), band.places(*sizes)
    wanted = np.full(band.count * longest, -1)
    (own,) = np.nonzero(places.reshape(-1) >= 0)
    wanted[places.reshape(-1)[own]] = own
    at = wanted.reshape(band.count, longest)
    found = gather(_flat(x, 2), np.maximum(at, 0).tolist(), axis=-1)
    return where(at >= 0, found, convert(padding_value, x.dtype))


def set_diag(
    input: Any, diagonal: Any, name: str = "set_diag", k: Any = 0, align: str = "RIGHT_LEFT"
) -> Any:
    """Replace diagonals of matrices; mirrors ``tf.linalg.set_diag``.

    Parameters
    ----------
    input
        The matrices, along the last two axes.
    diagonal
        The values, as `diag_part` gives them.
    k, align
        As of `diag_part`.

    Examples
    --------
    >>> tf.linalg.set_diag([[1, 2], [3, 4]], [7, 8]).numpy()
    array([[7, 2],
           [3, 8]], dtype=int32)
    """
    x, values = operands("MatrixSetDiagV3", input, diagonal, strict=True)
    band, sizes = _Band(k, align), _sizes(x, "set_diag")
    longest, found = band.longest(*sizes), static_shape(values)
    axes = 1 if band.count == 1 else 2
    wanted = (band.count, longest)[-axes:]
    sizes_of = zip(() if found is None else found[-axes:], wanted, strict=False)
    if found is not None and any(a not in (b, None) for a, b in sizes_of):
        raise InvalidArgumentError(
            f"diagonals k={k} of {sizes[0]} x {sizes[1]} are of shape {list(wanted)}, got "
            f"{list(found)}"
        )
    return _put(x, _flat(values, axes), sizes, band)


def tensor_diag(diagonal: Any, name: str | None = None) -> Any:
    """Return a tensor of twice the axes with a diagonal; mirrors ``tf.linalg.tensor_diag``.

    Examples
    --------
    >>> tf.linalg.tensor_diag([1, 2]).numpy()
    array([[1, 0],
           [0, 2]], dtype=int32)
    """
    x = convert(diagonal)
    dims = static_shape(x)
    if dims is None or None in dims:
        raise InvalidArgumentError("tensor_diag needs a tensor of known shape")
    return reshape(diag(reshape(x, [-1])), [*dims, *dims])


def tensor_diag_part(input: Any, name: str | None = None) -> Any:
    """Return the diagonal that `tensor_diag` makes; mirrors ``tf.linalg.tensor_diag_part``.

    Examples
    --------
    >>> tf.linalg.tensor_diag_part([[1, 0], [0, 2]]).numpy()
    array([1, 2], dtype=int32)
    """
    x = convert(input)
    dims = static_shape(x)
    if dims is None or None in dims or len(dims) % 2 or dims[: len(dims) // 2] * 2 != dims:
        raise InvalidArgumentError(f"tensor_diag_part needs a shape twice over, got {dims}")
    half = dims[: len(dims) // 2]
    count = int(np.prod(half, dtype=np.int64))  # type: ignore[arg-type]
    return reshape(diag_part(reshape(x, [count, count])), list(half))
