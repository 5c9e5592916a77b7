"""Signals: pieces of them, windows, spectra; mirrors ``tf.signal``.

The functions take arrays, and symbols inside a traced function. Fourier transforms themselves are
NumPy's, ``np.fft``, which are traced too.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, SupportsIndex

import numpy as np
import numpy.typing as npt

from . import checks
from .cosines import dct, idct
from .errors import InvalidArgumentError
from .ops import apply_op, value

__all__ = [
    "dct",
    "frame",
    "hamming_window",
    "hann_window",
    "idct",
    "inverse_stft",
    "inverse_stft_window_fn",
    "linear_to_mel_weight_matrix",
    "mfccs_from_log_mel_spectrograms",
    "overlap_and_add",
    "stft",
]

Window = Callable[..., Any]


def frame(
    signal: Any,
    frame_length: SupportsIndex,
    frame_step: SupportsIndex,
    pad_end: bool = False,
    pad_value: float = 0,
    axis: SupportsIndex = -1,
    name: str | None = None,
) -> Any:
    """Cut a signal into pieces that may overlap; mirrors ``tf.signal.frame``.

    Parameters
    ----------
    signal
        Numbers ``[..., samples, ...]``.
    frame_length, frame_step
        Samples of a piece, and from the start of one to the start of the next.
    pad_end
        Give a piece for each start, with `pad_value` behind the end of the signal.
    axis
        Which axis the samples are.
    name
        Accepted for TensorFlow's sake.

    Returns
    -------
    array
        ``[..., frames, frame_length, ...]``, of the dtype of `signal`.

    Raises
    ------
    InvalidArgumentError
        A length is negative, a step below one, or there is no such axis.

    Examples
    --------
    >>> hr.signal.frame(np.arange(5), 3, 2)
    array([[0, 1, 2],
           [2, 3, 4]])
    """
    samples = value(signal)
    attrs: dict[str, Any] = {
        "frame_length": checks.integer("frame_length", frame_length),
        "frame_step": checks.integer("frame_step", frame_step),
    }
    if pad_end:
        attrs["pad_value"] = float(pad_value)
    place = checks.integer("axis", axis)
    if place == -1 or place == np.ndim(samples) - 1:
        return apply_op("frame", attrs, samples)[0]
    if not -np.ndim(samples) <= place < np.ndim(samples):
        raise InvalidArgumentError(f"axis {place} is none of a signal of {np.ndim(samples)} axes")
    place %= np.ndim(samples)
    made = apply_op("frame", attrs, np.moveaxis(samples, place, -1))[0]
    return np.moveaxis(made, (-2, -1), (place, place + 1))


def overlap_and_add(signal: Any, frame_step: SupportsIndex, name: str | None = None) -> Any:
    """Add up pieces that overlap; mirrors ``tf.signal.overlap_and_add``.

    Parameters
    ----------
    signal
        Numbers ``[..., frames, frame_length]``.
    frame_step
        Samples from the start of one piece to the start of the next.
    name
        Accepted for TensorFlow's sake.

    Returns
    -------
    array
        ``[..., (frames - 1) * frame_step + frame_length]``, of the dtype of `signal`.

    Raises
    ------
    InvalidArgumentError
        `signal` has fewer than two axes, or the step is below one.

    Examples
    --------
    >>> hr.signal.overlap_and_add(np.array([[1, 2, 3], [10, 20, 30]]), 2)
    array([ 1,  2, 13, 20, 30])
    """
    step = checks.integer("frame_step", frame_step)
    return apply_op("overlap_and_add", {"frame_step": step}, value(signal))[0]


def hann_window(
    window_length: SupportsIndex,
    periodic: bool = True,
    dtype: npt.DTypeLike = np.float32,
    name: str | None = None,
) -> Any:
    """Return a Hann window; mirrors ``tf.signal.hann_window``.

    Parameters
    ----------
    window_length
        Its length.
    periodic
        It continues itself, as spectra want it; else it is symmetric.
    dtype
        A float dtype.
    name
        Accepted for TensorFlow's sake.

    Raises
    ------
    InvalidArgumentError
        The length is negative, or `dtype` is none of floats.

    Examples
    --------
    >>> hr.signal.hann_window(4).round(3).tolist()
    [0.0, 0.5, 1.0, 0.5]
    """
    return _raised_cosine(window_length, periodic, dtype, 0.5)


def hamming_window(
    window_length: SupportsIndex,
    periodic: bool = True,
    dtype: npt.DTypeLike = np.float32,
    name: str | None = None,
) -> Any:
    """Return a Hamming window; mirrors ``tf.signal.hamming_window``.

    Parameters and errors are those of `hann_window`.

    Raises
    ------
    InvalidArgumentError
        The length is negative, or `dtype` is none of floats.

    Examples
    --------
    >>> hr.signal.hamming_window(3, periodic=False).round(2)
    array([0.08, 1.  , 0.08], dtype=float32)
    """
    return _raised_cosine(window_length, periodic, dtype, 0.54)


def _raised_cosine(length: Any, periodic: bool, dtype: npt.DTypeLike, a: float) -> Any:
    size = checks.integer("window_length", length)
    kind: np.dtype[Any] = np.dtype(dtype)
    if size < 0:
        raise InvalidArgumentError(f"window_length must not be negative, got {size}")
    if kind.kind != "f":
        raise InvalidArgumentError(f"a window is of floats, got dtype {kind}")
    if size == 1:
        return np.ones(1, kind)
    # As TensorFlow has it: an odd length is periodic in no case.
    period = size if periodic and size % 2 == 0 else size - 1
    turns = kind.type(2 * np.pi) * np.arange(size, dtype=kind) / kind.type(period)
    return (kind.type(a) - kind.type(1 - a) * np.cos(turns)).astype(kind)


def stft(
    signals: Any,
    frame_length: SupportsIndex,
    frame_step: SupportsIndex,
    fft_length: SupportsIndex | None = None,
    window_fn: Window | None = hann_window,
    pad_end: bool = False,
    name: str | None = None,
) -> Any:
    """Return the spectra of pieces of a signal; mirrors ``tf.signal.stft``.

    Parameters
    ----------
    signals
        Floats ``[..., samples]``.
    frame_length, frame_step, pad_end
        The pieces: see `frame`.
    fft_length
        Each piece is cut, or filled up with zeros, to this length; by default to the next power of
        two.
    window_fn
        Called with `frame_length` and ``dtype=``, gives what pieces are multiplied with; None for
        nothing.
    name
        Accepted for TensorFlow's sake.

    Returns
    -------
    array
        complex64, or complex128 for float64: ``[..., frames, fft_length // 2 + 1]``.

    Raises
    ------
    InvalidArgumentError
        `signals` are no floats, or a length or step is no such.

    Examples
    --------
    >>> hr.signal.stft(np.ones(4, np.float32), 2, 2, window_fn=None)
    array([[2.+0.j, 0.+0.j],
           [2.+0.j, 0.+0.j]], dtype=complex64)
    """
    samples = value(signals)
    if samples.dtype.kind != "f":
        raise InvalidArgumentError(
            f"signals are of floats, got {samples.dtype}: divide by the largest value, or astype"
        )
    length = checks.integer("frame_length", frame_length)
    pieces = frame(samples, length, frame_step, pad_end)
    if window_fn is not None:
        pieces = pieces * window_fn(length, dtype=samples.dtype)
    return np.fft.rfft(pieces, fft_points(length, fft_length))


def fft_points(length: int, fft_length: SupportsIndex | None) -> int:
    """Return the length of a transform of pieces: by default the next power of two."""
    if fft_length is not None:
        return checks.integer("fft_length", fft_length)
    return 1 << max(length - 1, 0).bit_length()


def inverse_stft(
    stfts: Any,
    frame_length: SupportsIndex,
    frame_step: SupportsIndex,
    fft_length: SupportsIndex | None = None,
    window_fn: Window | None = hann_window,
    name: str | None = None,
) -> Any:
    """Make a signal of the spectra of its pieces; mirrors ``tf.signal.inverse_stft``.

    Parameters
    ----------
    stfts
        What `stft` gives: ``[..., frames, fft_length // 2 + 1]``.
    frame_length, frame_step, fft_length
        As they were given to `stft`.
    window_fn
        See `stft`. The signal comes back as it was with ``inverse_stft_window_fn(frame_step)``.
    name
        Accepted for TensorFlow's sake.

    Returns
    -------
    array
        Floats ``[..., samples]``.

    Raises
    ------
    InvalidArgumentError
        A length or step is none.

    Examples
    --------
    >>> signal = np.arange(8, dtype=np.float32)
    >>> window = hr.signal.inverse_stft_window_fn(2)
    >>> found = hr.signal.inverse_stft(hr.signal.stft(signal, 4, 2), 4, 2, window_fn=window)
    >>> found[2:6].round(3)
    array([2., 3., 4., 5.], dtype=float32)
    """
    length = checks.integer("frame_length", frame_length)
    points = fft_points(length, fft_length)
    pieces = np.fft.irfft(value(stfts), points)
    if length > points:
        pieces = np.pad(pieces, [(0, 0)] * (np.ndim(pieces) - 1) + [(0, length - points)])
    pieces = pieces[..., :length]
    if window_fn is not None:
        pieces = pieces * window_fn(length, dtype=pieces.dtype)
    return overlap_and_add(pieces, frame_step)


def inverse_stft_window_fn(
    frame_step: SupportsIndex, forward_window_fn: Window = hann_window, name: str | None = None
) -> Window:
    """Return the window that undoes a window; mirrors ``tf.signal.inverse_stft_window_fn``.

    Parameters
    ----------
    frame_step
        From the start of one piece to the start of the next.
    forward_window_fn
        The window that `stft` was given.
    name
        Accepted for TensorFlow's sake.

    Returns
    -------
    function
        For `inverse_stft`.

    Raises
    ------
    InvalidArgumentError
        The step is no integer above zero.

    Examples
    --------
    >>> hr.signal.inverse_stft_window_fn(2)(4, dtype=np.float32).shape
    (4,)
    """
    step = checks.integer("frame_step", frame_step)
    if step < 1:
        raise InvalidArgumentError(f"frame_step must be above zero, got {step}")

    def window(frame_length: Any, dtype: npt.DTypeLike = np.float32) -> Any:
        forward = np.asarray(forward_window_fn(frame_length, dtype=dtype))
        count = -(-len(forward) // step)
        squares = np.pad(forward * forward, (0, count * step - len(forward)))
        sums = np.tile(squares.reshape(count, step).sum(0), count)[: len(forward)]
        return forward / sums

    return window


def linear_to_mel_weight_matrix(
    num_mel_bins: SupportsIndex = 20,
    num_spectrogram_bins: SupportsIndex = 129,
    sample_rate: float = 8000,
    lower_edge_hertz: float = 125.0,
    upper_edge_hertz: float = 3800.0,
    dtype: npt.DTypeLike = np.float32,
    name: str | None = None,
) -> Any:
    """Return what turns a spectrum into bands of the mel scale.

    Mirrors ``tf.signal.linear_to_mel_weight_matrix``.

    Parameters
    ----------
    num_mel_bins, num_spectrogram_bins
        Bands that come out, and frequencies that go in: ``fft_length // 2 + 1``.
    sample_rate
        Samples of the signal in a second.
    lower_edge_hertz, upper_edge_hertz
        Where the lowest band starts and the highest ends.
    dtype
        A float dtype.
    name
        Accepted for TensorFlow's sake.

    Returns
    -------
    array
        ``[num_spectrogram_bins, num_mel_bins]``.

    Raises
    ------
    InvalidArgumentError
        There are no bands, the edges are in no order, or above half of `sample_rate`.

    Examples
    --------
    >>> spectra = np.ones((2, 129), np.float32)
    >>> (spectra @ hr.signal.linear_to_mel_weight_matrix()).shape
    (2, 20)
    """
    bands = checks.integer("num_mel_bins", num_mel_bins)
    bins = checks.integer("num_spectrogram_bins", num_spectrogram_bins)
    kind: np.dtype[Any] = np.dtype(dtype)
    if bands <= 0:
        raise InvalidArgumentError(f"num_mel_bins must be positive, got {bands}")
    if bins < 2:
        raise InvalidArgumentError(f"num_spectrogram_bins must be two at least, got {bins}")
    if lower_edge_hertz < 0.0 or lower_edge_hertz >= upper_edge_hertz:
        raise InvalidArgumentError(
            f"lower_edge_hertz {lower_edge_hertz} must be from 0 to below upper_edge_hertz "
            f"{upper_edge_hertz}"
        )
    if not 0 < upper_edge_hertz <= sample_rate / 2:
        raise InvalidArgumentError(
            f"upper_edge_hertz must be at most sample_rate / 2, {sample_rate / 2}, got "
            f"{upper_edge_hertz}"
        )
    if kind.kind != "f":
        raise InvalidArgumentError(f"weights are floats, got dtype {kind}")

    def mel(hertz: Any) -> Any:
        return kind.type(1127.0) * np.log1p(np.asarray(hertz, kind) / kind.type(700.0))

    linear = mel(np.linspace(0.0, sample_rate / 2, bins, dtype=kind)[1:])[:, None]
    edges = np.linspace(mel(lower_edge_hertz), mel(upper_edge_hertz), bands + 2, dtype=kind)
    lower, center, upper = edges[:-2], edges[1:-1], edges[2:]
    rising = (linear - lower) / (center - lower)
    falling = (upper - linear) / (upper - center)
    weights = np.maximum(kind.type(0), np.minimum(rising, falling))
    return np.pad(weights, [(1, 0), (0, 0)])


def mfccs_from_log_mel_spectrograms(log_mel_spectrograms: Any, name: str | None = None) -> Any:
    """Return the cepstral coefficients of logarithms of mel bands.

    Mirrors ``tf.signal.mfccs_from_log_mel_spectrograms``.

    Parameters
    ----------
    log_mel_spectrograms
        Floats ``[..., num_mel_bins]``.
    name
        Accepted for TensorFlow's sake.

    Returns
    -------
    array
        The same shape; usually the first 13 of the last axis are used.

    Raises
    ------
    InvalidArgumentError
        They are no floats, or there are no bands.

    Examples
    --------
    >>> hr.signal.mfccs_from_log_mel_spectrograms(np.ones((5, 8), np.float32)).shape
    (5, 8)
    """
    bands = value(log_mel_spectrograms)
    scale = bands.dtype.type(1.0 / math.sqrt(2.0 * max(bands.shape[-1], 1)))
    return dct(bands) * scale
