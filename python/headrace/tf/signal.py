"""Signals: pieces, windows, spectra; mirrors ``tf.signal``."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from .. import cosines
from .. import signal as own
from ..errors import InvalidArgumentError
from .arithmetic import multiply
from .array_ops import transpose
from .casting import cast
from .convert import convert
from .dtypes import DType, as_dtype, complex64, complex128, float32, float64
from .elementwise import real
from .joining import concat, pad, roll
from .kernels import run, static_shape
from .lapped import (
    inverse_mdct,
    kaiser_bessel_derived_window,
    kaiser_window,
    mdct,
    vorbis_window,
)
from .names import lookup
from .sizes import sizes_of, vector
from .tensor import Tensor, raw, wrap

__all__ = [
    "dct",
    "fft",
    "fft2d",
    "fft3d",
    "fftshift",
    "frame",
    "hamming_window",
    "hann_window",
    "idct",
    "ifft",
    "ifft2d",
    "ifft3d",
    "ifftshift",
    "inverse_mdct",
    "inverse_stft",
    "inverse_stft_window_fn",
    "irfft",
    "irfft2d",
    "irfft3d",
    "kaiser_bessel_derived_window",
    "kaiser_window",
    "linear_to_mel_weight_matrix",
    "mdct",
    "mfccs_from_log_mel_spectrograms",
    "overlap_and_add",
    "rfft",
    "rfft2d",
    "rfft3d",
    "stft",
    "vorbis_window",
]

_COMPLEX = {float32: complex64, float64: complex128}
_REAL = {complex64: float32, complex128: float64}


def hann_window(
    window_length: Any, periodic: Any = True, dtype: Any = float32, name: str | None = None
) -> Any:
    """Return a Hann window; mirrors ``tf.signal.hann_window``.

    Examples
    --------
    >>> tf.signal.hann_window(4).shape
    TensorShape([4])
    """
    return wrap(own.hann_window(int(window_length), bool(periodic), _floats(dtype)))


def hamming_window(
    window_length: Any, periodic: Any = True, dtype: Any = float32, name: str | None = None
) -> Any:
    """Return a Hamming window; mirrors ``tf.signal.hamming_window``.

    Examples
    --------
    >>> tf.signal.hamming_window(4).shape
    TensorShape([4])
    """
    return wrap(own.hamming_window(int(window_length), bool(periodic), _floats(dtype)))


def _floats(dtype: Any) -> Any:
    kind = as_dtype(dtype)
    if not kind.is_floating:
        raise ValueError(f"dtype must be a floating point type. Found {kind}")
    return kind.as_numpy_dtype


def frame(
    signal: Any,
    frame_length: Any,
    frame_step: Any,
    pad_end: bool = False,
    pad_value: Any = 0,
    axis: int = -1,
    name: str | None = None,
) -> Any:
    """Cut a signal into pieces that may overlap; mirrors ``tf.signal.frame``.

    Examples
    --------
    >>> tf.signal.frame([1, 2, 3, 4, 5], 3, 2).numpy()
    array([[1, 2, 3],
           [3, 4, 5]], dtype=int32)
    """
    x = convert(signal)
    length, step = int(frame_length), int(frame_step)
    attrs: dict[str, Any] = {"frame_length": length, "frame_step": step}
    if pad_end:
        attrs["pad_value"] = float(pad_value)
    dims = static_shape(x)
    place = int(axis)
    if dims is None and place != -1:
        raise InvalidArgumentError("an axis other than -1 needs a signal of known rank")
    if dims is None:
        return run("frame", (x,), (None, x.dtype), **attrs)
    if not -len(dims) <= place < len(dims):
        raise InvalidArgumentError(f"axis {place} is none of a signal of {len(dims)} axes")
    place %= len(dims)
    # The axis goes to the end, and comes back as two.
    rest = [k for k in range(len(dims)) if k != place]
    moved = x if place == len(dims) - 1 else transpose(x, [*rest, place])
    samples, frames = dims[place], None
    if samples is not None and step > 0:
        frames = -(-samples // step) if pad_end else max(0, 1 + (samples - length) // step)
    made = run("frame", (moved,), ((*(dims[k] for k in rest), frames, length), x.dtype), **attrs)
    if place == len(dims) - 1:
        return made
    last = len(dims) - 1
    return transpose(made, [*range(place), last, last + 1, *range(place, last)])


def overlap_and_add(signal: Any, frame_step: Any, name: str | None = None) -> Any:
    """Add up pieces that overlap; mirrors ``tf.signal.overlap_and_add``.

    Examples
    --------
    >>> tf.signal.overlap_and_add([[1, 2, 3], [10, 20, 30]], 2).numpy()
    array([ 1,  2, 13, 20, 30], dtype=int32)
    """
    x = convert(signal)
    dims, step, out = static_shape(x), int(frame_step), None
    if dims is not None and len(dims) >= 2:
        frames, length = dims[-2:]
        known = frames and length is not None
        out = (*dims[:-2], (frames - 1) * step + length if known else None)  # type: ignore[operator]
    return run("overlap_and_add", (x,), (out, x.dtype), frame_step=step)


def stft(
    signals: Any,
    frame_length: Any,
    frame_step: Any,
    fft_length: Any = None,
    window_fn: Callable[..., Any] | None = hann_window,
    pad_end: bool = False,
    name: str | None = None,
) -> Any:
    """Return the spectra of pieces of a signal; mirrors ``tf.signal.stft``.

    Examples
    --------
    >>> tf.signal.stft(tf.ones([4]), 2, 2, window_fn=None).numpy()
    array([[2.+0.j, 0.+0.j],
           [2.+0.j, 0.+0.j]], dtype=complex64)
    """
    x = convert(signals)
    _check("Treal", x, tuple(_COMPLEX))
    length = int(frame_length)
    pieces = frame(x, length, frame_step, pad_end)
    if window_fn is not None:
        pieces = multiply(pieces, window_fn(length, dtype=x.dtype))
    points = _points(length, fft_length)
    return _along("rfft", pieces, -1, points, _COMPLEX[x.dtype])


def _points(length: int, fft_length: Any) -> int:
    return own.fft_points(length, None if fft_length is None else int(fft_length))


def inverse_stft(
    stfts: Any,
    frame_length: Any,
    frame_step: Any,
    fft_length: Any = None,
    window_fn: Callable[..., Any] | None = hann_window,
    name: str | None = None,
) -> Any:
    """Make a signal of the spectra of its pieces; mirrors ``tf.signal.inverse_stft``.

    Examples
    --------
    >>> spectra = tf.signal.stft(tf.ones([8]), 4, 2)
    >>> window = tf.signal.inverse_stft_window_fn(2)
    >>> tf.signal.inverse_stft(spectra, 4, 2, window_fn=window).shape
    TensorShape([8])
    """
    x = convert(stfts)
    _check("Tcomplex", x, tuple(_REAL))
    length = int(frame_length)
    points = _points(length, fft_length)
    pieces = _along("irfft", x, -1, points, _REAL[x.dtype])
    if length > points:
        rank = len(static_shape(pieces) or ())
        pieces = pad(pieces, [[0, 0]] * (rank - 1) + [[0, length - points]])
    pieces = pieces[..., :length]
    if window_fn is not None:
        pieces = multiply(pieces, window_fn(length, dtype=pieces.dtype))
    return overlap_and_add(pieces, frame_step)


def inverse_stft_window_fn(
    frame_step: Any, forward_window_fn: Callable[..., Any] = hann_window, name: str | None = None
) -> Callable[..., Any]:
    """Return the window that undoes a window; mirrors ``tf.signal.inverse_stft_window_fn``.

    Examples
    --------
    >>> tf.signal.inverse_stft_window_fn(2)(4, tf.float32).shape
    TensorShape([4])
    """

    def forward(length: Any, dtype: Any) -> Any:
        return raw(convert(forward_window_fn(length, dtype=as_dtype(dtype))))

    made = own.inverse_stft_window_fn(int(frame_step), forward)

    def window(frame_length: Any, dtype: Any) -> Any:
        return wrap(made(int(frame_length), dtype=as_dtype(dtype).as_numpy_dtype))

    return window


def linear_to_mel_weight_matrix(
    num_mel_bins: Any = 20,
    num_spectrogram_bins: Any = 129,
    sample_rate: Any = 8000,
    lower_edge_hertz: Any = 125.0,
    upper_edge_hertz: Any = 3800.0,
    dtype: Any = float32,
    name: str | None = None,
) -> Any:
    """Return what turns a spectrum into bands of the mel scale.

    Mirrors ``tf.signal.linear_to_mel_weight_matrix``.

    Examples
    --------
    >>> tf.signal.linear_to_mel_weight_matrix(10, 65).shape
    TensorShape([65, 10])
    """
    edges = float(sample_rate), float(lower_edge_hertz), float(upper_edge_hertz)
    sizes = int(num_mel_bins), int(num_spectrogram_bins)
    return wrap(own.linear_to_mel_weight_matrix(*sizes, *edges, _floats(dtype)))


def mfccs_from_log_mel_spectrograms(log_mel_spectrograms: Any, name: str | None = None) -> Any:
    """Return the cepstral coefficients of logarithms of mel bands.

    Mirrors ``tf.signal.mfccs_from_log_mel_spectrograms``.

    Examples
    --------
    >>> tf.signal.mfccs_from_log_mel_spectrograms(tf.ones([3, 8])).shape
    TensorShape([3, 8])
    """
    x = convert(log_mel_spectrograms)
    dims = static_shape(x)
    if not dims or dims[-1] is None:
        raise InvalidArgumentError("the number of mel bands must be known when tracing")
    return multiply(dct(x), 1.0 / math.sqrt(2.0 * max(dims[-1], 1)))


def dct(
    input: Any,
    type: int = 2,
    n: Any = None,
    axis: int = -1,
    norm: str | None = None,
    name: str | None = None,
) -> Any:
    """Return the discrete cosine transform of the last axis; mirrors ``tf.signal.dct``.

    Examples
    --------
    >>> tf.signal.dct([1.0, 1.0, 1.0, 1.0], type=3, norm="ortho").shape
    TensorShape([4])
    """
    return _cosines(input, type, n, axis, norm)


def idct(
    input: Any,
    type: int = 2,
    n: Any = None,
    axis: int = -1,
    norm: str | None = None,
    name: str | None = None,
) -> Any:
    """Return the transform that undoes `dct`, but for a factor; mirrors ``tf.signal.idct``.

    Examples
    --------
    >>> tf.signal.idct([8.0, 0.0, 0.0, 0.0]).numpy()
    array([8., 8., 8., 8.], dtype=float32)
    """
    return _cosines(input, cosines.inverse(type), n, axis, norm)


class _Tensors:
    """What cosine transforms are made of."""

    real = staticmethod(real)

    def rfft(self, x: Any, n: int) -> Any:
        return _along("rfft", x, -1, n, _COMPLEX[x.dtype])

    def irfft(self, x: Any, n: int) -> Any:
        return _along("irfft", x, -1, n, _REAL[x.dtype])

    def scaled(self, x: Any, factors: Any) -> Any:
        if np.iscomplexobj(factors):
            x = cast(x, _COMPLEX.get(x.dtype, x.dtype))
        return multiply(x, wrap(np.asarray(factors, x.dtype.as_numpy_dtype)))

    def joined(self, parts: list[Any]) -> Any:
        return concat(parts, -1)

    def filled(self, x: Any, more: int) -> Any:
        dims = static_shape(x)
        if dims is None:
            raise InvalidArgumentError("zeros need samples of known rank when tracing")
        return pad(x, [[0, 0]] * (len(dims) - 1) + [[0, more]])


def _cosines(input: Any, type: int, n: Any, axis: int, norm: Any) -> Any:
    if axis != -1:
        raise NotImplementedError(f"axis must be -1. Got: {axis}")
    x = convert(input, None, float32)
    _check("Treal", x, tuple(_COMPLEX))
    count = None if n is None else int(n)
    return cosines.transformed(_Tensors(), x, static_shape(x), type, count, axis, norm)


def _check(attr: str, x: Any, valid: tuple[DType, ...]) -> None:
    if x.dtype not in valid:
        names = ", ".join(kind.name for kind in valid)
        raise InvalidArgumentError(
            f"Value for attr '{attr}' of {x.dtype.name} is not in the list of allowed values: "
            f"{names}"
        )


def _along(op: str, x: Any, axis: int, n: int | None, dtype: DType) -> Any:
    """Transform along an axis, counted from the end."""
    dims = static_shape(x)
    if axis != -1:
        if dims is None:
            raise InvalidArgumentError("transforms of several axes need a tensor of known rank")
        order = list(range(len(dims)))
        order[axis], order[-1] = order[-1], order[axis]
        return transpose(_along(op, transpose(x, order), -1, n, dtype), order)
    out = None
    if dims is not None:
        last = dims[-1] if n is None else n
        if op == "irfft" and n is None and last is not None:
            last = 2 * (last - 1)
        if op == "rfft" and last is not None:
            last = last // 2 + 1
        out = (*dims[:-1], last)
    attrs = {} if n is None else {"n": n}
    return run(op, (x,), (out, dtype), **attrs)


def _check_rank(x: Any, axes: int) -> None:
    dims = static_shape(x)
    if dims is not None and len(dims) < axes:
        raise InvalidArgumentError(f"Input must have rank of at least {axes} but got: {len(dims)}")


def _complex(axes: int, op: str, name: str) -> Callable[..., Any]:
    def function(input: Any, name: str | None = None) -> Any:
        x = convert(input)
        _check("Tcomplex", x, tuple(_REAL))
        _check_rank(x, axes)
        for axis in range(1, axes + 1):
            x = _along(op, x, -axis, None, x.dtype)
        return x

    return _named(function, name)


def _named(function: Callable[..., Any], name: str) -> Callable[..., Any]:
    function.__name__ = function.__qualname__ = name
    function.__doc__ = f"Return Fourier transforms of the last axes; mirrors ``tf.signal.{name}``."
    return function


def _lengths(fft_length: Any, axes: int) -> list[int | None]:
    if fft_length is None:
        return [None] * axes
    sizes = sizes_of(fft_length)
    if sizes is None or vector(sizes) is None or isinstance(fft_length, int):
        raise InvalidArgumentError("fft_length must be a vector that is known when tracing")
    if len(sizes) != axes:
        raise InvalidArgumentError(f"fft_length must have shape [{axes}], got shape [{len(sizes)}]")
    return list(sizes)


def _from_real(axes: int, name: str) -> Callable[..., Any]:
    def function(input_tensor: Any, fft_length: Any = None, name: str | None = None) -> Any:
        x = convert(input_tensor, None, float32)
        _check("Treal", x, tuple(_COMPLEX))
        _check_rank(x, axes)
        *others, last = _lengths(fft_length, axes)
        x = _along("rfft", x, -1, last, _COMPLEX[x.dtype])
        for axis, n in enumerate(reversed(others), 2):
            x = _along("fft", x, -axis, n, x.dtype)
        return x

    return _named(function, name)


def _to_real(axes: int, name: str) -> Callable[..., Any]:
    def function(input_tensor: Any, fft_length: Any = None, name: str | None = None) -> Any:
        x = convert(input_tensor, None, complex64)
        _check("Tcomplex", x, tuple(_REAL))
        _check_rank(x, axes)
        *others, last = _lengths(fft_length, axes)
        for axis, n in enumerate(reversed(others), 2):
            x = _along("ifft", x, -axis, n, x.dtype)
        return _along("irfft", x, -1, last, _REAL[x.dtype])

    return _named(function, name)


fft, ifft = _complex(1, "fft", "fft"), _complex(1, "ifft", "ifft")
fft2d, ifft2d = _complex(2, "fft", "fft2d"), _complex(2, "ifft", "ifft2d")
fft3d, ifft3d = _complex(3, "fft", "fft3d"), _complex(3, "ifft", "ifft3d")
rfft, rfft2d, rfft3d = (_from_real(k, f"rfft{end}") for k, end in enumerate(("", "2d", "3d"), 1))
irfft, irfft2d, irfft3d = (_to_real(k, f"irfft{end}") for k, end in enumerate(("", "2d", "3d"), 1))


def fftshift(x: Any, axes: Any = None, name: str | None = None) -> Any:
    """Move the frequency 0 to the middle; mirrors ``tf.signal.fftshift``.

    Examples
    --------
    >>> tf.signal.fftshift([0, 1, 2, -2, -1]).numpy()
    array([-2, -1,  0,  1,  2], dtype=int32)
    """
    return _shifted(convert(x), axes, 1)


def ifftshift(x: Any, axes: Any = None, name: str | None = None) -> Any:
    """Undo `fftshift`; mirrors ``tf.signal.ifftshift``."""
    return _shifted(convert(x), axes, -1)


def _shifted(x: Any, axes: Any, way: int) -> Any:
    dims = static_shape(x)
    if dims is None:
        raise InvalidArgumentError("a shift needs a tensor of known rank")
    places = list(range(len(dims))) if axes is None else axes
    places = [places] if isinstance(places, int | Tensor) else list(places)
    sizes = [dims[int(place)] for place in places]
    if None in sizes:
        raise InvalidArgumentError("a shift needs axes of known size")
    return roll(x, [way * (size // 2) for size in sizes], [int(p) for p in places])  # type: ignore[operator]


__getattr__ = lookup(__name__)
