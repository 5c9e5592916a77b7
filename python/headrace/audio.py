"""Sound: decoding and encoding files; mirrors ``tf.audio``.

Samples are float32 from -1 to 1, of shape ``[samples, channels]``. The functions take `bytes`, and
symbols inside a traced function.
"""

from __future__ import annotations

import operator
from typing import Any

import numpy as np

from . import checks
from .ops import apply_op
from .standin import is_symbol

__all__ = ["decode_audio", "decode_wav", "encode_wav"]


def decode_wav(
    contents: Any, desired_channels: int = -1, desired_samples: int = -1, name: str | None = None
) -> tuple[Any, Any]:
    """Decode a WAV file; mirrors ``tf.audio.decode_wav``.

    TensorFlow reads 16-bit PCM; here samples of 8, 16, 24 and 32 bits and floats are read.

    Parameters
    ----------
    contents
        The file: scalar bytes.
    desired_channels
        How many channels to give: further ones of the file are dropped, missing ones are the last
        one again. -1 for what there is.
    desired_samples
        How many samples of each channel to give: cut, or filled up with silence. -1 for all.

    Returns
    -------
    tuple
        The samples, float32 ``[samples, channels]``, and the sample rate, int32.

    Raises
    ------
    InvalidArgumentError
        It is no such file, or is cut off.
    ResourceExhaustedError
        The samples would take more than 2 GiB.

    Examples
    --------
    >>> file = hr.audio.encode_wav(np.array([[0.5], [-0.25]], np.float32), 8000)
    >>> samples, rate = hr.audio.decode_wav(file)
    >>> samples.tolist(), int(rate)
    ([[0.5], [-0.25]], 8000)
    """
    return _decoded("decode_wav", contents, desired_channels, desired_samples)


def decode_audio(
    contents: Any, desired_channels: int = -1, desired_samples: int = -1, name: str | None = None
) -> tuple[Any, Any]:
    """Decode a file in WAV, FLAC, MP3 or Ogg Vorbis, whichever it is.

    TensorFlow's own library reads WAV only.

    Parameters
    ----------
    contents, desired_channels, desired_samples
        See `decode_wav`. With `desired_samples`, what follows is not decoded.

    Returns
    -------
    tuple
        The samples, float32 ``[samples, channels]``, and the sample rate, int32.

    Raises
    ------
    InvalidArgumentError
        It is no such file, or is broken.
    ResourceExhaustedError
        The samples would take more than 2 GiB.

    Examples
    --------
    >>> file = hr.audio.encode_wav(np.zeros((100, 2), np.float32), 44100)
    >>> hr.audio.decode_audio(file, desired_samples=10)[0].shape
    (10, 2)
    """
    return _decoded("decode_audio", contents, desired_channels, desired_samples)


def _decoded(op: str, contents: Any, channels: Any, samples: Any, **attrs: Any) -> tuple[Any, Any]:
    attrs["desired_channels"] = operator.index(channels)
    attrs["desired_samples"] = operator.index(samples)
    decoded, rate = apply_op(op, attrs, checks.tensor(contents))
    return decoded, rate


def encode_wav(audio: Any, sample_rate: Any, name: str | None = None) -> Any:
    """Encode samples as a WAV file of 16-bit PCM; mirrors ``tf.audio.encode_wav``.

    Parameters
    ----------
    audio
        float32 of shape ``[samples, channels]``; values outside of -1 to 1 are clipped.
    sample_rate
        Samples per second and channel, a positive integer.

    Returns
    -------
    bytes
        The file.

    Raises
    ------
    InvalidArgumentError
        Another shape or dtype, or a number that a WAV file cannot hold.

    Examples
    --------
    >>> len(hr.audio.encode_wav(np.zeros((100, 1), np.float32), 8000))
    244
    """
    value = checks.tensor(audio)
    if not is_symbol(value) and not isinstance(audio, np.ndarray):
        value = np.asarray(value, np.float32)
    return apply_op("encode_wav", {}, value, checks.tensor(sample_rate))[0]
