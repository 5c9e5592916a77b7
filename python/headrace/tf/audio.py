"""Sound; mirrors ``tf.audio``."""

from __future__ import annotations

from typing import Any

from ..audio import _decoded
from .bridge import to_own
from .convert import convert
from .dtypes import float32, int32, string
from .kernels import run
from .names import lookup
from .values import result

__all__ = ["decode_wav", "encode_wav"]


def decode_wav(
    contents: Any, desired_channels: int = -1, desired_samples: int = -1, name: str | None = None
) -> tuple[Any, Any]:
    """Decode a WAV file of 16-bit PCM; mirrors ``tf.audio.decode_wav``.

    Parameters
    ----------
    contents
        The file: a scalar string.
    desired_channels, desired_samples
        How many channels, and samples of each, to give; -1 for what there is.
    name
        Accepted for TensorFlow's sake.

    Returns
    -------
    tuple
        The samples, float32 ``[samples, channels]``, and the sample rate, int32.

    Raises
    ------
    InvalidArgumentError
        It is no such file.

    Examples
    --------
    >>> audio, rate = tf.audio.decode_wav(tf.audio.encode_wav([[0.5], [0.25]], 8000))
    >>> audio.shape, int(rate)
    (TensorShape([2, 1]), 8000)
    """
    file = to_own(convert(contents, string))
    audio, rate = _decoded("decode_wav", file, desired_channels, desired_samples, strict=True)
    return result(audio), result(rate)


def encode_wav(audio: Any, sample_rate: Any, name: str | None = None) -> Any:
    """Encode samples as a WAV file of 16-bit PCM; mirrors ``tf.audio.encode_wav``.

    Parameters
    ----------
    audio
        float32 of shape ``[samples, channels]``.
    sample_rate
        Samples per second, a scalar int32.
    name
        Accepted for TensorFlow's sake.

    Examples
    --------
    >>> len(tf.audio.encode_wav([[0.5]], 8000).numpy())
    46
    """
    args = convert(audio, float32), convert(sample_rate, int32)
    return run("encode_wav", args, ((), string))


__getattr__ = lookup(__name__)
