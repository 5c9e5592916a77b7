"""Windows and transforms of pieces that overlap by half; part of ``tf.signal``."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from .arithmetic import pow as power
from .array_ops import reverse
from .casting import cast
from .convert import convert, is_symbol
from .creation import ones, range
from .dtypes import as_dtype, float32
from .elementwise import exp, sin, sqrt, square
from .joining import concat, split
from .kernels import static_shape
from .reductions import cumsum
from .special import bessel_i0e

__all__ = [
    "inverse_mdct",
    "kaiser_bessel_derived_window",
    "kaiser_window",
    "mdct",
    "vorbis_window",
]


def kaiser_window(
    window_length: Any, beta: Any = 12.0, dtype: Any = float32, name: str | None = None
) -> Any:
    """Return a Kaiser window; mirrors ``tf.signal.kaiser_window``.

    Parameters
    ----------
    window_length
        How many values, which must be known when a function is traced.
    beta
        How narrow it is.
    dtype
        A float type.
    name
        Accepted for TensorFlow's sake.

    Examples
    --------
    >>> tf.signal.kaiser_window(3, 2.0).numpy().round(4)
    array([0.4387, 1.    , 0.4387], dtype=float32)
    """
    count, kind = _length(window_length), as_dtype(dtype)
    if count <= 1:
        return ones([count], kind)
    half = (count - 1) / 2
    place = cast(range(-half, half + 0.1, dtype=float32), kind)
    beta, one = cast(convert(beta), kind), convert(1, kind)
    inside = square(place / convert(half, kind))
    from .nn import relu

    height = beta * sqrt(relu(one - inside))
    return exp(height - beta) * (bessel_i0e(height) / bessel_i0e(beta))


def _length(window_length: Any) -> int:
    if is_symbol(window_length):
        raise ValueError("the length of a window must be known when the function is traced")
    return int(window_length)


def kaiser_bessel_derived_window(
    window_length: Any, beta: Any = 12.0, dtype: Any = float32, name: str | None = None
) -> Any:
    """Return the window of ``mdct`` that a Kaiser window gives.

    It mirrors ``tf.signal.kaiser_bessel_derived_window``; parameters are those of `kaiser_window`.

    Examples
    --------
    >>> tf.signal.kaiser_bessel_derived_window(4, 2.0).numpy().round(4)
    array([0.4834, 0.8754, 0.8754, 0.4834], dtype=float32)
    """
    half = _length(window_length) // 2
    sums = cumsum(kaiser_window(half + 1, beta, dtype))
    slope = sqrt(sums[:-1] / sums[-1])
    return concat([slope, reverse(slope, [0])], 0)


def vorbis_window(window_length: Any, dtype: Any = float32, name: str | None = None) -> Any:
    """Return the window of Vorbis; mirrors ``tf.signal.vorbis_window``.

    Examples
    --------
    >>> tf.signal.vorbis_window(4).numpy().round(4)
    array([0.228 , 0.9737, 0.9737, 0.228 ], dtype=float32)
    """
    count, kind = _length(window_length), as_dtype(dtype)
    place = cast(range(count), kind)
    angle = convert(math.pi, kind) / cast(convert(count), kind) * (place + convert(0.5, kind))
    two = convert(2.0, kind)
    return sin(convert(math.pi / 2, kind) * power(sin(angle), two))


def mdct(
    signals: Any, frame_length: Any, window_fn: Callable[..., Any] | None = vorbis_window,
    pad_end: bool = False, norm: str | None = None, name: str | None = None,
) -> Any:  # fmt: skip
    """Return the modified discrete cosine transform of pieces; mirrors ``tf.signal.mdct``.

    Parameters
    ----------
    signals
        Floats, along the last axis.
    frame_length
        How long a piece is; each begins in the middle of the one before. A multiple of 4.
    window_fn
        Gets the length, and ``dtype=``, and gives the window. None for an even one.
    pad_end
        Add zeros so that all of a signal is in pieces.
    norm
        None, or ``"ortho"``.
    name
        Accepted for TensorFlow's sake.

    Raises
    ------
    ValueError
        `frame_length` is no multiple of 4.

    Examples
    --------
    >>> tf.signal.mdct(tf.ones([16]), 8).shape
    TensorShape([3, 4])
    """
    from .signal import dct, frame

    x, count = convert(signals), _length(frame_length)
    if count % 4:
        raise ValueError("The frame length must be a multiple of 4.")
    pieces = frame(x, count, count // 2, pad_end)
    pieces = pieces * _window(window_fn, count, x.dtype)
    a, b, c, d = split(pieces, 4, axis=-1)
    folded = concat([-_turned(c) - d, a - _turned(b)], -1)
    return dct(folded, type=4, norm=norm)


def _window(window_fn: Callable[..., Any] | None, count: int, dtype: Any) -> Any:
    """Return a window; without one, what makes the squares of two pieces add up to 1."""
    return convert(math.sqrt(0.5), dtype) if window_fn is None else window_fn(count, dtype=dtype)


def _turned(x: Any) -> Any:
    dims = static_shape(x)
    return reverse(x, [len(dims) - 1 if dims is not None else -1])


def inverse_mdct(
    mdcts: Any, window_fn: Callable[..., Any] | None = vorbis_window, norm: str | None = None,
    name: str | None = None,
) -> Any:  # fmt: skip
    """Return the signal that `mdct` was taken of; mirrors ``tf.signal.inverse_mdct``.

    Parameters
    ----------
    mdcts
        What `mdct` gave.
    window_fn, norm
        As they were there.
    name
        Accepted for TensorFlow's sake.

    Examples
    --------
    >>> pieces = tf.signal.mdct(tf.ones([16]), 8)
    >>> tf.signal.inverse_mdct(pieces).numpy()[4:12].round(4)
    array([1., 1., 1., 1., 1., 1., 1., 1.], dtype=float32)
    """
    from .signal import dct, overlap_and_add

    x = convert(mdcts)
    half = (static_shape(x) or (None,))[-1]
    if half is None:
        raise ValueError("the last axis must have a known size")
    if norm is None:
        found = dct(x, type=4) * convert(0.5 / half, x.dtype)
    else:
        found = dct(x, type=4, norm=norm)
    a, b = split(found, 2, axis=-1)
    pieces = concat([b, -_turned(b), -_turned(a), -a], -1)
    pieces = pieces * _window(window_fn, 2 * half, x.dtype)
    return overlap_and_add(pieces, half)
