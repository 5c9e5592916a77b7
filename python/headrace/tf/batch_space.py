"""Blocks of places as elements of a batch: `space_to_batch` and back."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..errors import InvalidArgumentError
from .array_ops import reshape, shape, transpose
from .convert import convert, is_symbol
from .joining import pad
from .kernels import static_shape
from .tensor import raw

__all__ = ["batch_to_space", "space_to_batch"]


def _blocks(x: Any, block_shape: Any, borders: Any) -> tuple[list[int], list[list[int]]]:
    """Return the sizes of blocks and the borders of each axis as numbers."""
    if is_symbol(block_shape) or is_symbol(borders):
        raise InvalidArgumentError("blocks and borders must be known when a function is traced")
    sizes = [int(k) for k in np.atleast_1d(raw(convert(block_shape))).tolist()]
    given = raw(convert(borders)).reshape(-1, 2).tolist()
    dims = static_shape(x)
    if len(sizes) == 1 and len(given) > 1:
        sizes = sizes * len(given)
    if dims is None or len(dims) < 1 + len(sizes) or len(given) != len(sizes):
        raise InvalidArgumentError(
            f"blocks of {sizes} with borders {given} do not fit a tensor of shape {dims}"
        )
    if min(sizes) < 1 or any(k < 0 for pair in given for k in pair):
        raise InvalidArgumentError(f"blocks must be >= 1 and borders >= 0: {sizes}, {given}")
    return sizes, given


def _sizes(x: Any) -> list[Any]:
    """Return the sizes: numbers where they are known."""
    dims = static_shape(x)
    assert dims is not None
    found = shape(x) if None in dims else None
    return [size if found is None or size is not None else found[k] for k, size in enumerate(dims)]


def space_to_batch(input: Any, block_shape: Any, paddings: Any, name: str | None = None) -> Any:
    """Lay the places of blocks out along the batch; mirrors ``tf.space_to_batch``.

    Parameters
    ----------
    input
        A batch, with the axes to be cut behind the first one.
    block_shape
        The size of a block along each of them.
    paddings
        For each of them, how many zeros before and after.
    name
        Accepted for TensorFlow's sake.

    Raises
    ------
    InvalidArgumentError
        A padded axis is no multiple of its block.

    Examples
    --------
    >>> tf.space_to_batch([[[[1], [2]], [[3], [4]]]], [2, 2], [[0, 0], [0, 0]]).shape
    TensorShape([4, 1, 1, 1])
    """
    x = convert(input)
    blocks, borders = _blocks(x, block_shape, paddings)
    rank, count = len(static_shape(x) or ()), len(blocks)
    x = pad(x, [[0, 0], *borders, *[[0, 0]] * (rank - 1 - count)])
    sizes = _sizes(x)
    for size, block in zip(sizes[1:], blocks, strict=False):
        if not is_symbol(size) and size % block:
            raise InvalidArgumentError(
                f"padded_shape={size} is not divisible by block_shape={block}"
            )
    cut = [[size // block, block] for size, block in zip(sizes[1:], blocks, strict=False)]
    rest = sizes[1 + count :]
    x = reshape(x, [sizes[0], *(part for pair in cut for part in pair), *rest])
    within = [2 + 2 * k for k in range(count)]
    outside = [1 + 2 * k for k in range(count)]
    behind = range(1 + 2 * count, 1 + 2 * count + len(rest))
    x = transpose(x, [*within, 0, *outside, *behind])
    return reshape(x, [sizes[0] * math.prod(blocks), *(pair[0] for pair in cut), *rest])


def batch_to_space(input: Any, block_shape: Any, crops: Any, name: str | None = None) -> Any:
    """Put blocks together again; mirrors ``tf.batch_to_space``.

    Parameters
    ----------
    input
        What `space_to_batch` gives.
    block_shape
        The size of a block along each axis.
    crops
        For each of them, how many places to leave out in front and behind.
    name
        Accepted for TensorFlow's sake.

    Raises
    ------
    InvalidArgumentError
        The batch is no multiple of a block.

    Examples
    --------
    >>> blocks = tf.constant([[[[1]]], [[[2]]], [[[3]]], [[[4]]]])
    >>> tf.batch_to_space(blocks, [2, 2], [[0, 0], [0, 0]])[0, :, :, 0].numpy()
    array([[1, 2],
           [3, 4]], dtype=int32)
    """
    x = convert(input)
    blocks, borders = _blocks(x, block_shape, crops)
    count, sizes, all_ = len(blocks), _sizes(x), math.prod(blocks)
    if not is_symbol(sizes[0]) and sizes[0] % all_:
        raise InvalidArgumentError(
            f"Input batch dimension ({sizes[0]}) is not divisible by product of block sizes "
            f"({all_})"
        )
    rest = sizes[1 + count :]
    x = reshape(x, [*blocks, sizes[0] // all_, *sizes[1:]])
    pairs = [axis for k in range(count) for axis in (count + 1 + k, k)]
    behind = range(2 * count + 1, 2 * count + 1 + len(rest))
    x = transpose(x, [count, *pairs, *behind])
    joined = [size * block for size, block in zip(sizes[1:], blocks, strict=False)]
    x = reshape(x, [sizes[0] // all_, *joined, *rest])
    kept = [slice(a, size - b) for size, (a, b) in zip(joined, borders, strict=True)]
    return x[(slice(None), *kept)]
