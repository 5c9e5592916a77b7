"""Cosine transforms of four types, by Fourier transforms; mirrors ``tf.signal.dct``."""

from __future__ import annotations

import math
from typing import Any, Protocol, SupportsIndex

import numpy as np

from . import checks
from .errors import InvalidArgumentError
from .ops import is_symbol, value

__all__ = ["dct", "idct"]

_INVERSE = {1: 1, 2: 3, 3: 2, 4: 4}


def dct(
    input: Any,
    type: int = 2,
    n: SupportsIndex | None = None,
    axis: int = -1,
    norm: str | None = None,
    name: str | None = None,
) -> Any:
    """Return the discrete cosine transform of the last axis; mirrors ``tf.signal.dct``.

    Parameters
    ----------
    input
        Floats ``[..., samples]``.
    type
        1, 2 (the one that spectra of speech are made with), 3 or 4.
    n
        Samples are cut, or filled up with zeros, to this number.
    axis
        -1.
    norm
        None, or ``"ortho"`` for a transform that keeps lengths; type 1 has none.
    name
        Accepted for TensorFlow's sake.

    Raises
    ------
    InvalidArgumentError
        `input` is of no floats, `axis` is another one, or there is no such transform.

    Examples
    --------
    >>> abs(hr.signal.dct(np.ones(4, np.float32))).round(3)
    array([8., 0., 0., 0.], dtype=float32)
    """
    samples = value(input)
    if samples.dtype.kind != "f" or samples.ndim == 0:
        raise InvalidArgumentError(f"a cosine transform is of floats, got {samples.dtype}")
    dims = samples._spec.shape if is_symbol(samples) else samples.shape
    return transformed(_Numpy, samples, dims, type, n, axis, norm)


def idct(
    input: Any,
    type: int = 2,
    n: SupportsIndex | None = None,
    axis: int = -1,
    norm: str | None = None,
    name: str | None = None,
) -> Any:
    """Return the transform that undoes `dct`, but for a factor; mirrors ``tf.signal.idct``.

    Parameters
    ----------
    input, n, axis, norm, name
        As of `dct`.
    type
        That of the transform that is undone. The factor is 1 for ``norm="ortho"``, twice the number
        of samples else (twice one less for type 1).

    Raises
    ------
    InvalidArgumentError
        As of `dct`.

    Examples
    --------
    >>> samples = np.array([1, 2, 4], np.float32)
    >>> hr.signal.idct(hr.signal.dct(samples, norm="ortho"), norm="ortho").round(3)
    array([1., 2., 4.], dtype=float32)
    """
    return dct(input, inverse(type), n, axis, norm)


def inverse(type: int) -> int:
    """Return the type of the transform that undoes one."""
    return _INVERSE.get(type, type)


class Means(Protocol):
    """What transforms are made of, along the last axis of arrays or of tensors."""

    def rfft(self, x: Any, n: int) -> Any:
        """Return the Fourier transform of real numbers, filled up to `n`."""

    def irfft(self, x: Any, n: int) -> Any:
        """Return `n` real numbers of their Fourier transform."""

    def real(self, x: Any) -> Any:
        """Return the real parts."""

    def scaled(self, x: Any, factors: Any) -> Any:
        """Return a product in the precision of `x`."""

    def joined(self, parts: list[Any]) -> Any:
        """Return pieces one behind the other."""

    def filled(self, x: Any, more: int) -> Any:
        """Return `x` with zeros behind it."""


class _Arrays:
    """The means of NumPy."""

    rfft = staticmethod(np.fft.rfft)
    irfft = staticmethod(np.fft.irfft)
    real = staticmethod(np.real)

    def scaled(self, x: Any, factors: Any) -> Any:
        kind = np.result_type(x.dtype, np.float32)
        if np.iscomplexobj(factors):
            kind = np.result_type(kind, np.complex64)
        return x * np.asarray(factors, kind)

    def joined(self, parts: list[Any]) -> Any:
        return np.concatenate(parts, axis=-1)

    def filled(self, x: Any, more: int) -> Any:
        return np.pad(x, [(0, 0)] * (x.ndim - 1) + [(0, more)])


def transformed(
    means: Means, samples: Any, dims: Any, type: Any, n: Any, axis: Any, norm: Any
) -> Any:
    """Check the arguments of `dct` and transform samples of which `dims` are known."""
    if axis != -1:
        raise InvalidArgumentError(f"axis must be -1, got {axis}; np.moveaxis brings another there")
    if type not in _INVERSE:
        raise InvalidArgumentError(f"type is 1, 2, 3 or 4, got {type}")
    if norm not in (None, "ortho") or (type == 1 and norm):
        raise InvalidArgumentError(
            f'norm is None or "ortho", and None for type 1; got {norm!r} for type {type}'
        )
    whole = dims[-1] if dims else None
    if n is None and whole is None:
        raise InvalidArgumentError("the number of samples must be known when tracing")
    size = int(whole or 0) if n is None else checks.integer("n", n)
    if size < 1 + (type == 1):
        raise InvalidArgumentError(f"a transform of type {type} needs more numbers than {size}")
    if whole is None or whole < size:
        samples = means.filled(samples, size)
    if whole != size:
        samples = samples[..., :size]
    return _TYPES[type](means, samples, size, norm == "ortho")


def _first(means: Means, samples: Any, size: int, ortho: bool) -> Any:
    mirrored = means.joined([samples, samples[..., size - 2 : 0 : -1]])
    return means.real(means.rfft(mirrored, 2 * (size - 1)))


def _second(means: Means, samples: Any, size: int, ortho: bool) -> Any:
    factors = 2.0 * np.exp(-0.5j * np.pi * np.arange(size) / size)
    if ortho:
        factors *= np.where(np.arange(size) == 0, 0.5, math.sqrt(0.5)) / math.sqrt(size)
    return means.real(means.scaled(means.rfft(samples, 2 * size)[..., :size], factors))


def _third(means: Means, samples: Any, size: int, ortho: bool) -> Any:
    factors = 2.0 * np.exp(0.5j * np.pi * np.arange(size) / size)
    if ortho:
        factors *= np.where(np.arange(size) == 0, 1.0, math.sqrt(0.5)) * math.sqrt(size)
    else:
        factors *= size
    return means.irfft(means.scaled(samples, factors), 2 * size)[..., :size]


def _fourth(means: Means, samples: Any, size: int, ortho: bool) -> Any:
    factors = 2.0 * np.exp(-0.5j * np.pi * np.arange(1, 2 * size, 2) / (2 * size))
    if ortho:
        factors *= math.sqrt(0.5 / size)
    spectrum = means.rfft(samples, 4 * size)[..., 1 : 2 * size : 2]
    return means.real(means.scaled(spectrum, factors))


_TYPES = {1: _first, 2: _second, 3: _third, 4: _fourth}
_Numpy = _Arrays()
